//! A copy of a session under new ids: [`Session::fork`]. Reads the transcript twice and holds ids only.

use std::{
    collections::HashMap,
    fs::{File, OpenOptions},
    io::{BufWriter, Write},
    path::Path,
};

use jiff::Timestamp;
use serde_json::Value;
use towline_protocol::{
    Json, SessionId, Text, Uuid, Wire,
    transcript::{ContentReplacement, CustomTitle, ForkedFrom, NewPlace, Record},
};

use crate::{
    error::{Error, Result},
    key::SessionKey,
    list::SessionSummary,
    records::{Entry, Located},
    session::Session,
};

/// How to fork a session.
///
/// ```
/// # towline_testkit::in_home!(|session| {
/// let options = ForkOptions {
///     up_to: Some("a2".to_owned()),
///     title: Some("Another way".to_owned()),
/// };
/// let fork = session.fork(&options)?;
/// assert_eq!(fork.transcript()?.tree().len(), 4);
/// # });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ForkOptions {
    /// The last record to copy, by its `uuid`; all of them if not said.
    pub up_to: Option<String>,
    /// The copy's title; the session's own with ` (fork)` behind it if not said.
    pub title: Option<String>,
}

impl Session {
    /// Copies the session into a new one of the same project, as the official SDKs do: every record gets a new id and
    /// names the one it comes from; subagents, file history and costs are not copied.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// let fork = session.fork(&ForkOptions::default())?;
    /// assert_ne!(fork.key(), session.key());
    /// assert_eq!(SessionSummary::of(fork)?.unwrap().title, "Login fails (fork)");
    /// # });
    /// ```
    ///
    /// # Errors
    /// When there is nothing to copy, there is no such record as `up_to`, or a file cannot be read or written.
    pub fn fork(&self, options: &ForkOptions) -> Result<Self> {
        let plan = Plan::read(self, options.up_to.as_deref())?;
        let title = options
            .title
            .as_deref()
            .map(str::trim)
            .filter(|title| !title.is_empty());
        let title = match title {
            Some(title) => title.to_owned(),
            None => format!("{} (fork)", self.own_title()?),
        };
        let fork = Self::new(self.project_folder().to_owned(), SessionKey::random());
        let file = create(fork.path())?;
        let copied = plan.copy(self, &fork, &title, BufWriter::new(file));
        if copied.is_err() {
            // Half a session would be taken for a whole one.
            std::fs::remove_file(fork.path()).ok();
        }
        copied.map(|()| fork)
    }

    fn own_title(&self) -> Result<String> {
        let summary = SessionSummary::of(self.clone())?;
        let title = summary.and_then(|summary| summary.custom_title.or(summary.first_prompt));
        Ok(title.unwrap_or_else(|| "Forked session".to_owned()))
    }
}

/// What is copied, learned from a first pass.
struct Plan {
    /// The new id of each record.
    ids: HashMap<String, Uuid>,
    /// The record before, for records of progress: they are not copied, and links go past them.
    passed_over: HashMap<String, Option<String>>,
    /// The line of the last record.
    last_line: u64,
    replacements: Vec<Json>,
}

impl Plan {
    fn read(session: &Session, up_to: Option<&str>) -> Result<Self> {
        let mut plan = Self {
            ids: HashMap::new(),
            passed_over: HashMap::new(),
            last_line: 0,
            replacements: Vec::new(),
        };
        let mut is_open = true;
        for located in records(session)? {
            let Located { place, record, .. } = located?;
            if let Record::ContentReplacement(record) = &record {
                plan.replacements
                    .extend(record.replacements.iter().flatten().cloned());
            }
            let Some(uuid) = copied_uuid(&record).filter(|_| is_open) else {
                continue;
            };
            if let Record::Progress(record) = &record {
                let parent = record.parent_uuid.as_option().map(ToString::to_string);
                plan.passed_over.insert(uuid.to_string(), parent);
            } else {
                plan.ids.insert(uuid.to_string(), new_uuid());
                plan.last_line = place.line;
            }
            is_open = up_to != Some(uuid.as_str());
        }
        match up_to {
            Some(uuid) if is_open => Err(Error::NoMessage {
                uuid: uuid.to_owned(),
                path: session.path().to_owned(),
            }),
            _ if plan.ids.is_empty() => Err(Error::NothingToFork {
                path: session.path().to_owned(),
            }),
            _ => Ok(plan),
        }
    }

    fn copy(self, from: &Session, to: &Session, title: &str, mut out: impl Write) -> Result<()> {
        let failed = || Error::io("write to", to.path());
        let now = Text::from(format!("{:.3}", Timestamp::now()));
        let session_id = to.key().to_id();
        let mut write = |record: &Record| -> Result<()> {
            writeln!(out, "{}", record.to_standard_json()).map_err(failed())
        };
        for located in records(from)? {
            let Located {
                place, mut record, ..
            } = located?;
            if place.line > self.last_line {
                break;
            }
            let Some((uuid, copy)) = copied_uuid(&record)
                .and_then(|uuid| Some((uuid.clone(), self.ids.get(uuid.as_str())?.clone())))
            else {
                continue;
            };
            let chain = record.chain();
            let parent = chain.and_then(|chain| self.new_parent(chain.parent_uuid));
            let logical_parent = chain.and_then(|chain| self.new_id(chain.logical_parent_uuid));
            // A resumed session goes on from the newest record.
            let timestamp = (place.line == self.last_line).then(|| now.clone());
            record.move_to(NewPlace {
                uuid: copy,
                parent_uuid: parent,
                logical_parent_uuid: logical_parent,
                session_id: session_id.clone(),
                timestamp,
                forked_from: ForkedFrom {
                    session_id: Some(from.key().to_id()),
                    message_uuid: Some(uuid),
                    ..ForkedFrom::default()
                },
            });
            self.rename_kept(&mut record);
            write(&record)?;
        }
        if !self.replacements.is_empty() {
            write(&replacement(self.replacements, &session_id, &now))?;
        }
        write(&Record::CustomTitle(Box::new(CustomTitle {
            custom_title: Some(Text::from(title)),
            session_id: Some(session_id),
            ..CustomTitle::default()
        })))?;
        out.flush().map_err(failed())
    }

    fn new_id(&self, uuid: Option<&Uuid>) -> Option<Uuid> {
        self.ids.get(uuid?.as_str()).cloned()
    }

    fn new_parent(&self, parent: Option<&Uuid>) -> Option<Uuid> {
        let mut parent = parent?.as_str();
        // No more steps than there are records, should the links run in a circle.
        for _ in 0..=self.passed_over.len() {
            match self.passed_over.get(parent) {
                Some(before) => parent = before.as_deref()?,
                None => return self.ids.get(parent).cloned(),
            }
        }
        None
    }

    /// A compaction names the messages that it kept; in the copy they have other ids.
    fn rename_kept(&self, record: &mut Record) {
        if let Record::System(record) = record
            && let Some(metadata) = &mut record.compact_metadata
            && let Ok(mut value) = metadata.parse::<Value>()
        {
            self.rename_in(&mut value);
            if let Ok(renamed) = Json::of(&value) {
                *metadata = renamed;
            }
        }
    }

    fn rename_in(&self, value: &mut Value) {
        match value {
            Value::String(text) => {
                if let Some(uuid) = self.ids.get(text.as_str()) {
                    *text = uuid.to_string();
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.rename_in(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.rename_in(field)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

/// The records of a session; what cannot be read is passed over.
fn records(session: &Session) -> Result<impl Iterator<Item = Result<Located>>> {
    let entries = session.records()?;
    Ok(entries.filter_map(|entry| match entry {
        Ok(Entry::Record(located)) => Some(Ok(*located)),
        Ok(Entry::Skipped(_)) => None,
        Err(error) => Some(Err(error)),
    }))
}

/// The id of a record that goes into a fork: one that hangs on others and is no subagent's.
fn copied_uuid(record: &Record) -> Option<&Uuid> {
    let chain = record.chain()?;
    chain.uuid.filter(|_| !chain.is_sidechain)
}

fn replacement(replacements: Vec<Json>, session_id: &SessionId, now: &Text) -> Record {
    Record::ContentReplacement(Box::new(ContentReplacement {
        session_id: Some(session_id.clone()),
        replacements: Some(replacements),
        uuid: Some(new_uuid()),
        timestamp: Some(now.clone()),
        ..ContentReplacement::default()
    }))
}

fn new_uuid() -> Uuid {
    Uuid::from(uuid::Uuid::new_v4().to_string())
}

/// Makes a file that only its owner can read, and never opens one that is there.
fn create(path: &Path) -> Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;

        options.mode(0o600);
    }
    options.open(path).map_err(Error::io("create", path))
}
