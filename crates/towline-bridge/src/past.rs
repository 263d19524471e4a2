//! Sessions that were held elsewhere, such as in a terminal: listed, searched and read where they lie, never copied.
//!
//! Everything is synchronous and bounded: by counts, by bytes, and a search by time.

use std::{
    collections::{HashMap, HashSet},
    fs::Metadata,
    ops::ControlFlow,
    path::PathBuf,
    time::{Duration, Instant, SystemTime},
};

use towline_host::store::{
    Error, Excerpt, Home, ListQuery, Located, NodeId, Pattern, Scope, SearchQuery, SessionSummary,
    Transcript,
};
use towline_protocol::{
    Assistant, Content, Frame as LineFrame, Json, Nullable, SessionId, Text, ToHost, User, Uuid,
    Wire, transcript::Record,
};

use crate::{access::Roots, log::Page};

/// The sessions in a configuration folder.
///
/// ```
/// use std::time::Duration;
/// use towline_bridge::{
///     access::Roots,
///     past::{Past, Recent},
/// };
/// use towline_host::store::Home;
///
/// # let folder = tempfile::tempdir().unwrap();
/// let past = Past::new(Home::new(folder.path()));
/// let roots = Roots::new([folder.path()]).unwrap();
/// let query = Recent {
///     limit: 20,
///     offset: 0,
///     project: None,
///     words: Some("parser".to_owned()),
///     time: Duration::from_secs(2),
/// };
/// let listed = past.recent(&query, &roots)?;
/// assert!(listed.sessions.is_empty());
/// # Ok::<(), towline_host::store::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Past {
    home: Home,
}

/// Which sessions to list.
#[derive(Clone, Debug)]
pub struct Recent {
    /// How many at most.
    pub limit: usize,
    /// How many of the newest to pass over.
    pub offset: usize,
    /// Those of the project that this working directory is; of all projects if not said.
    pub project: Option<PathBuf>,
    /// Those in which these words were said, in this order and in upper or lower case.
    pub words: Option<String>,
    /// How long words are looked for. What was found until then is given.
    pub time: Duration,
}

/// The sessions that were found.
#[derive(Debug, Default)]
pub struct Listed {
    /// The sessions, the latest first.
    pub sessions: Vec<PastSession>,
    /// Whether the time was over before all sessions were searched.
    pub is_cut_short: bool,
    /// Files that could not be looked at.
    pub problems: Vec<Error>,
}

/// A session that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct PastSession {
    /// What the list of sessions says of it.
    pub summary: SessionSummary,
    /// The words around what was looked for; nothing if it is in the title alone.
    pub excerpt: Option<Excerpt>,
}

/// Where a session was held.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// There is no such session.
    Nowhere,
    /// It does not say.
    Unsaid,
    /// In this directory.
    In(PathBuf),
}

/// The end of a session's conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct History {
    /// The messages, the oldest first.
    pub messages: Vec<PastMessage>,
    /// How many there are before these.
    pub earlier: usize,
}

/// A message of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct PastMessage {
    /// `user` or `assistant`.
    pub role: &'static str,
    /// A string or blocks, as they stand in the transcript.
    pub content: Json,
    /// The record.
    pub uuid: Option<Uuid>,
    /// When it was written, as the record says it.
    pub timestamp: Option<Text>,
}

/// What a transcript is like: it has changed if this has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    length: u64,
    changed: Option<SystemTime>,
}

impl Past {
    /// The sessions in this configuration folder.
    pub fn new(home: Home) -> Self {
        Self { home }
    }

    /// The configuration folder, which also has what the person said of folders.
    pub fn home(&self) -> &Home {
        &self.home
    }

    /// The latest sessions that were held inside the roots: the others are neither shown nor counted. A file that cannot
    /// be looked at is a problem of the list, not an error.
    ///
    /// # Errors
    /// When a folder cannot be listed, or the words are too many to look for at once.
    pub fn recent(&self, query: &Recent, roots: &Roots) -> Result<Listed, Error> {
        let mut inside = Inside::new(roots);
        let scope = query.project.clone().map_or(Scope::All, Scope::Project);
        let words = query.words.as_deref().map(str::trim);
        match words.filter(|words| !words.is_empty()) {
            Some(words) => self.with_words(query, scope, words, &mut inside),
            None => {
                let wanted = ListQuery {
                    scope,
                    offset: query.offset,
                    limit: Some(query.limit),
                };
                let listing = self.home.list_where(&wanted, |held| inside.has(held))?;
                let sessions = listing.sessions.into_iter().map(|summary| PastSession {
                    summary,
                    excerpt: None,
                });
                Ok(Listed {
                    sessions: sessions.collect(),
                    is_cut_short: false,
                    problems: listing.problems,
                })
            }
        }
    }

    fn with_words(
        &self,
        query: &Recent,
        scope: Scope,
        words: &str,
        inside: &mut Inside<'_>,
    ) -> Result<Listed, Error> {
        let end = Instant::now().checked_add(query.time);
        let sought = SearchQuery::new(Pattern::words(words)?);
        let all = ListQuery {
            scope,
            ..ListQuery::default()
        };
        let listing = self.home.list_where(&all, |held| inside.has(held))?;
        let mut listed = Listed {
            problems: listing.problems,
            ..Listed::default()
        };
        let mut to_pass = query.offset;
        for summary in listing.sessions {
            if listed.sessions.len() >= query.limit {
                break;
            }
            if end.is_some_and(|end| Instant::now() >= end) {
                listed.is_cut_short = true;
                break;
            }
            let mut excerpt = None;
            for hit in summary.session.search(sought.clone()) {
                match hit {
                    Ok(hit) => {
                        excerpt = Some(hit.excerpt);
                        break;
                    }
                    Err(error) => listed.problems.push(error),
                }
            }
            if excerpt.is_none() && !is_titled(&summary, words) {
                continue;
            }
            if to_pass > 0 {
                to_pass -= 1;
            } else {
                listed.sessions.push(PastSession { summary, excerpt });
            }
        }
        Ok(listed)
    }

    /// Where a session was held.
    ///
    /// # Errors
    /// When that is no session id, or the transcript cannot be read.
    pub fn place(&self, session: &SessionId) -> Result<Place, Error> {
        let key = session.as_str().parse()?;
        let found = match self.home.session(&key) {
            Ok(found) => found,
            Err(Error::NotFound { .. }) => return Ok(Place::Nowhere),
            Err(error) => return Err(error),
        };
        let directory = SessionSummary::of(found)?.and_then(|summary| summary.cwd);
        Ok(directory.map_or(Place::Unsaid, Place::In))
    }

    /// The last messages of what a resumed session would hold, as many as the page holds.
    ///
    /// # Errors
    /// When there is no such session, or its transcript cannot be read.
    pub fn history(&self, session: &SessionId, page: Page) -> Result<History, Error> {
        let mut transcript = self.transcript(session)?;
        let ids = said(&transcript);
        let (records, earlier) = last_of(&mut transcript, &ids, page)?;
        let messages = records.iter().filter_map(message).collect();
        Ok(History { messages, earlier })
    }

    /// Gives what was said after the last record that is known, in the conversation that a resumed session would hold, the
    /// oldest first, as lines that an agent would have written: a page at a time, until there is no more or nobody wants
    /// it.
    ///
    /// What is known is asked for set by set until one of them has a record of the session. It is all of it if none has one,
    /// and nothing if nothing is known.
    ///
    /// # Errors
    /// When there is no such session, or its transcript cannot be read.
    pub fn since(
        &self,
        session: &SessionId,
        known: impl IntoIterator<Item = HashSet<Uuid>>,
        page: Page,
        mut give: impl FnMut(Vec<Text>) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let mut transcript = self.transcript(session)?;
        let tree = transcript.tree();
        let mut is_anything_known = false;
        // By the place in the file and not in the conversation: a compaction takes what is known out of the latter.
        let last = known.into_iter().find_map(|known| {
            is_anything_known |= !known.is_empty();
            let is_known = |id: &NodeId| known.contains(tree.uuid(*id).as_str());
            tree.nodes().rev().find(is_known)
        });
        if !is_anything_known {
            return Ok(());
        }
        let mut ids = said(&transcript);
        ids.retain(|id| last.is_none_or(|last| *id > last));
        let mut rest = ids.as_slice();
        while !rest.is_empty() {
            let count = fitting(&transcript, rest.iter(), page);
            let (first, later) = rest.split_at(count);
            let records = first.iter().map(|id| transcript.read(*id));
            let records = records.collect::<Result<Vec<_>, _>>()?;
            let lines: Vec<_> = records
                .iter()
                .filter_map(|record| line(record, session))
                .collect();
            if !lines.is_empty() && give(lines).is_break() {
                return Ok(());
            }
            rest = later;
        }
        Ok(())
    }

    /// What the transcript of a session is like now.
    ///
    /// # Errors
    /// When there is no such session.
    pub fn stamp(&self, session: &SessionId) -> Result<Stamp, Error> {
        let key = session.as_str().parse()?;
        let session = self.home.session(&key)?;
        let metadata = session.path().metadata().ok();
        Ok(Stamp {
            length: metadata.as_ref().map_or(0, Metadata::len),
            changed: metadata.and_then(|metadata| metadata.modified().ok()),
        })
    }

    /// Gives a session a title.
    ///
    /// # Errors
    /// When there is no such session, or its transcript cannot be written.
    pub fn rename(&self, session: &SessionId, title: &str) -> Result<(), Error> {
        let key = session.as_str().parse()?;
        self.home.session(&key)?.rename(title)
    }

    fn transcript(&self, session: &SessionId) -> Result<Transcript, Error> {
        let key = session.as_str().parse()?;
        self.home.session(&key)?.transcript()
    }
}

/// Which sessions may be seen. Many were held in few directories, and each of those is looked at once.
struct Inside<'a> {
    roots: &'a Roots,
    known: HashMap<PathBuf, bool>,
}

impl<'a> Inside<'a> {
    fn new(roots: &'a Roots) -> Self {
        Self {
            roots,
            known: HashMap::new(),
        }
    }

    fn has(&mut self, held: &SessionSummary) -> bool {
        let Some(directory) = &held.cwd else {
            return false;
        };
        if let Some(known) = self.known.get(directory) {
            return *known;
        }
        let is_inside = self.roots.resolve(directory).is_ok();
        self.known.insert(directory.clone(), is_inside);
        is_inside
    }
}

fn is_titled(summary: &SessionSummary, words: &str) -> bool {
    let plain = |text: &str| {
        text.to_lowercase()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    };
    plain(&summary.title).contains(&plain(words))
}

/// The messages of the conversation, the oldest first.
fn said(transcript: &Transcript) -> Vec<NodeId> {
    let tree = transcript.tree();
    let steps = tree.conversation().into_iter().map(|step| step.id);
    steps.filter(|id| tree.is_message(*id)).collect()
}

/// Reads the last of these records, as many as the page holds and at least one; and says how many are before them.
fn last_of(
    transcript: &mut Transcript,
    ids: &[NodeId],
    page: Page,
) -> Result<(Vec<Located>, usize), Error> {
    let count = fitting(transcript, ids.iter().rev(), page);
    let earlier = ids.len() - count;
    let records = ids[earlier..].iter().map(|id| transcript.read(*id));
    Ok((records.collect::<Result<_, _>>()?, earlier))
}

/// How many of these records a page holds; at least one.
fn fitting<'a>(
    transcript: &Transcript,
    ids: impl Iterator<Item = &'a NodeId>,
    page: Page,
) -> usize {
    let mut bytes = 0u64;
    let most = u64::try_from(page.bytes).unwrap_or(u64::MAX);
    ids.take(page.frames.max(1))
        .enumerate()
        .take_while(|(index, id)| {
            bytes = bytes.saturating_add(transcript.tree().place(**id).length);
            *index == 0 || bytes <= most
        })
        .count()
}

fn message(located: &Located) -> Option<PastMessage> {
    let (role, content) = match &located.record {
        Record::User(record) => ("user", record.message.content.as_option()),
        Record::Assistant(record) => ("assistant", record.message.content.as_option()),
        _ => return None,
    };
    Some(PastMessage {
        role,
        content: content.map_or_else(|| Content::Blocks(Vec::new()).to_json(), Wire::to_json),
        uuid: located.record.chain()?.uuid.cloned(),
        timestamp: located.record.timestamp().cloned(),
    })
}

/// The line that the agent would have written when it wrote the record.
fn line(located: &Located, session: &SessionId) -> Option<Text> {
    let uuid = located.record.chain()?.uuid.cloned();
    let session_id = Some(session.clone());
    let parent_tool_use_id = Nullable::Null;
    let line = match &located.record {
        Record::User(record) => ToHost::User(Box::new(User {
            message: record.message.clone(),
            parent_tool_use_id,
            session_id,
            uuid,
            ..User::default()
        })),
        Record::Assistant(record) => ToHost::Assistant(Box::new(Assistant {
            message: Some(record.message.clone()),
            parent_tool_use_id,
            session_id,
            uuid,
            ..Assistant::default()
        })),
        _ => return None,
    };
    Some(LineFrame::encode(line).line().clone())
}
