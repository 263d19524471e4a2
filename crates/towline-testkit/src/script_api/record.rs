//! What was asked and how it ended, within bounds.

use std::collections::{BTreeMap, VecDeque};

use bytes::Bytes;
use serde::{Serialize, Serializer};
use serde_json::{Value, value::RawValue};

use super::Side;

/// One request that came in.
#[derive(Clone, Debug, Serialize)]
pub struct Recorded {
    /// Its number, from 1, over all kinds.
    pub index: u64,
    /// Milliseconds since the server started.
    pub at_ms: u64,
    /// What was asked for.
    pub kind: Kind,
    /// Which side request it is, where a built-in rule knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub side: Option<Side>,
    /// The HTTP method.
    pub method: String,
    /// The path with its query.
    pub path: String,
    /// The headers, in lower case; keys and tokens are blacked out.
    pub headers: BTreeMap<String, String>,
    #[serde(serialize_with = "as_json")]
    pub(super) body: Bytes,
    /// Why the API would refuse it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The reply that was chosen, by its name.
    pub reply: Option<String>,
    /// The status of the response.
    pub status: Option<u16>,
    /// How it ended; nothing while it goes on.
    pub end: Option<End>,
    /// Numbers begin anew with each reset; this tells who came before it.
    #[serde(skip)]
    pub(super) resets: u64,
}

/// What a request asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A step of the conversation.
    Message,
    /// A message that the agent wants for itself.
    Side,
    /// `/v1/messages/count_tokens`.
    CountTokens,
    /// `/v1/models`.
    Models,
    /// Whether anyone is there.
    Probe,
    /// Anything else.
    Unknown,
}

/// How a response ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// All of it was sent.
    Complete,
    /// It was cut, as the script wanted.
    Cut,
    /// The client went away first.
    ClientLeft,
    /// The server was reset while it held the response.
    Reset,
}

impl Recorded {
    /// The body; `null` if there was none, a string if it was not JSON.
    #[must_use]
    pub fn body(&self) -> Value {
        if self.body.is_empty() {
            return Value::Null;
        }
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|_| String::from_utf8_lossy(&self.body).into())
    }

    fn size(&self) -> usize {
        let headers = self
            .headers
            .iter()
            .map(|(name, value)| name.len() + value.len());
        self.body.len() + self.path.len() + headers.sum::<usize>()
    }
}

/// A body goes out as it came in, if it is JSON.
fn as_json<S: Serializer>(body: &Bytes, serializer: S) -> Result<S::Ok, S::Error> {
    if body.is_empty() {
        return serializer.serialize_none();
    }
    match serde_json::from_slice::<&RawValue>(body) {
        Ok(json) if !json.get().contains('\n') => json.serialize(serializer),
        // Laid out over several lines: made compact, so that a record stays one line.
        Ok(_) => serde_json::from_slice::<Value>(body)
            .unwrap_or_default()
            .serialize(serializer),
        Err(_) => serializer.serialize_str(&String::from_utf8_lossy(body)),
    }
}

/// The last requests, the oldest first.
#[derive(Debug)]
pub(super) struct Record {
    entries: VecDeque<Recorded>,
    bytes: usize,
    last: u64,
    pub(super) resets: u64,
    pub(super) dropped: u64,
    /// Why requests were refused, by their numbers, also of those that were dropped since.
    refusals: BTreeMap<u64, String>,
    most: usize,
    most_bytes: usize,
}

impl Record {
    pub(super) fn new(most: usize, most_bytes: usize) -> Self {
        Self {
            entries: VecDeque::new(),
            bytes: 0,
            last: 0,
            resets: 0,
            dropped: 0,
            refusals: BTreeMap::new(),
            most,
            most_bytes,
        }
    }

    /// The number of the next request.
    pub(super) fn next_index(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    pub(super) fn last(&self) -> u64 {
        self.last
    }

    pub(super) fn add(&mut self, entry: Recorded) {
        self.bytes += entry.size();
        self.entries.push_back(entry);
        while self.entries.len() > self.most || self.bytes > self.most_bytes {
            let Some(oldest) = self.entries.pop_front() else {
                break;
            };
            self.bytes -= oldest.size();
            self.dropped += 1;
        }
    }

    /// Says how a request ended, if it is still here.
    pub(super) fn update(&mut self, entry: &Recorded) {
        if let Some(why) = &entry.refused
            && entry.resets == self.resets
            && self.refusals.len() < MOST_REFUSALS
        {
            self.refusals.insert(entry.index, why.clone());
        }
        let mut entries = self.entries.iter_mut();
        let found = entries.find(|old| (old.index, old.resets) == (entry.index, entry.resets));
        if let Some(old) = found {
            old.refused.clone_from(&entry.refused);
            old.status = entry.status;
            old.end = entry.end;
        }
    }

    pub(super) fn refusals(&self) -> Vec<String> {
        self.refusals.values().cloned().collect()
    }

    pub(super) fn after(&self, index: u64) -> impl Iterator<Item = &Recorded> {
        self.entries.iter().filter(move |entry| entry.index > index)
    }

    pub(super) fn clear(&mut self) {
        *self = Self {
            resets: self.resets + 1,
            ..Self::new(self.most, self.most_bytes)
        };
    }
}

/// Enough to see that requests are refused, and why.
const MOST_REFUSALS: usize = 1_000;
/// What is written in the place of a secret.
const REDACTED: &str = "(redacted)";

/// The headers of a request without its secrets.
pub(super) fn headers(map: &hyper::HeaderMap) -> BTreeMap<String, String> {
    let mut headers = BTreeMap::new();
    for (name, value) in map {
        let value = if SECRETS.contains(&name.as_str()) {
            REDACTED.into()
        } else {
            String::from_utf8_lossy(value.as_bytes())
        };
        let all: &mut String = headers.entry(name.as_str().to_owned()).or_default();
        if !all.is_empty() {
            all.push_str(", ");
        }
        all.push_str(&value);
    }
    headers
}

const SECRETS: &[&str] = &[
    "authorization",
    "cookie",
    "proxy-authorization",
    "x-api-key",
];

#[cfg(test)]
mod tests {
    use super::{BTreeMap, Bytes, End, Kind, Record, Recorded};

    fn add(record: &mut Record) -> Recorded {
        let entry = Recorded {
            index: record.next_index(),
            at_ms: 0,
            kind: Kind::Message,
            side: None,
            method: String::new(),
            path: String::new(),
            headers: BTreeMap::new(),
            body: Bytes::new(),
            refused: None,
            reply: None,
            status: None,
            end: None,
            resets: record.resets,
        };
        record.add(entry.clone());
        entry
    }

    #[test]
    fn a_refusal_is_remembered_when_its_request_is_dropped() {
        let mut record = Record::new(1, 999);
        let mut refused = add(&mut record);
        refused.refused = Some("why".to_owned());
        record.update(&refused);
        record.update(&refused);
        add(&mut record);
        assert_eq!(record.dropped, 1);
        assert_eq!(record.refusals(), ["why"]);
        record.clear();
        record.update(&refused);
        assert_eq!(record.refusals(), [""; 0]);
    }

    #[test]
    fn who_was_held_over_a_reset_does_not_end_the_request_that_has_its_number_now() {
        let mut record = Record::new(9, 999);
        let mut old = add(&mut record);
        record.clear();
        let mut new = add(&mut record);
        assert_eq!(new.index, old.index);
        let ends = |record: &Record| -> Vec<_> { record.after(0).map(|entry| entry.end).collect() };
        old.end = Some(End::Reset);
        record.update(&old);
        assert_eq!(ends(&record), [None]);
        new.end = Some(End::Complete);
        record.update(&new);
        assert_eq!(ends(&record), [Some(End::Complete)]);
    }
}
