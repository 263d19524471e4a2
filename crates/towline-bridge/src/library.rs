//! [`Library`]: everything that can be read while the bridge runs: its own log, and sessions that were held elsewhere.
//! Reading is done on other threads, with connections that are kept for the next.

use std::{
    collections::{HashMap, HashSet},
    ops::ControlFlow,
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use towline_host::SessionId;
use towline_protocol::{Text, Uuid, dialect::pocket::BridgeId};

use crate::{
    Content, Frame, Restored,
    access::Roots,
    log::{Hit, LogError, Page, Reader, SqliteLog},
    past::{History, Listed, Past, Place, Recent, Stamp},
    trust::{FolderTrust, TrustAnswer, TrustOutcome},
};

/// What can be read.
#[derive(Clone, Debug)]
pub struct Library {
    shelf: Arc<Shelf>,
    past: Past,
    /// What transcripts were like when somebody last looked for what was said elsewhere.
    looked: Arc<Mutex<HashMap<SessionId, Stamp>>>,
}

#[derive(Debug)]
struct Shelf {
    file: PathBuf,
    idle: Mutex<Vec<Reader>>,
}

impl Library {
    /// The log of a bridge, and the sessions in a configuration folder.
    pub fn new(log: &SqliteLog, past: Past) -> Self {
        let shelf = Shelf {
            file: log.file().to_owned(),
            idle: Mutex::default(),
        };
        Self {
            shelf: Arc::new(shelf),
            past,
            looked: Arc::default(),
        }
    }

    /// The sessions of the log, as a bridge takes them over.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub fn restore(&self) -> Result<Vec<Restored>, LogError> {
        self.shelf.read(restored)
    }

    /// Frames of a session after a number.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn frames(
        &self,
        session: &BridgeId,
        after: u64,
        page: Page,
    ) -> Result<Vec<Frame>, LogError> {
        let session = session.clone();
        self.of_log(move |log| log.frames(&session, after, page))
            .await
    }

    /// Where these words were said in some sessions of the bridge.
    ///
    /// # Errors
    /// When the log cannot be read.
    pub async fn search(
        &self,
        words: String,
        limit: usize,
        sessions: Vec<BridgeId>,
    ) -> Result<Vec<Hit>, LogError> {
        self.of_log(move |log| log.search_among(&sessions, &words, limit))
            .await
    }

    /// The latest sessions inside the roots, whoever held them.
    ///
    /// # Errors
    /// When they cannot be listed.
    pub async fn recent(&self, query: Recent, roots: Roots) -> Result<Listed, LogError> {
        self.of_past("list old sessions", move |past| past.recent(&query, &roots))
            .await
    }

    /// Where a session was held.
    ///
    /// # Errors
    /// When that is no session id, or it cannot be read.
    pub async fn place(&self, session: SessionId) -> Result<Place, LogError> {
        self.of_past("look at an old session", move |past| past.place(&session))
            .await
    }

    /// The last messages of a session, wherever it was held.
    ///
    /// # Errors
    /// When there is no such session, or it cannot be read.
    pub async fn history(&self, session: SessionId, page: Page) -> Result<History, LogError> {
        self.of_past("read an old session", move |past| {
            past.history(&session, page)
        })
        .await
    }

    /// Gives a session a title, wherever it was held.
    ///
    /// # Errors
    /// When there is no such session, or its transcript cannot be written.
    pub async fn rename(&self, session: SessionId, title: String) -> Result<(), LogError> {
        self.of_past("rename an old session", move |past| {
            past.rename(&session, &title)
        })
        .await
    }

    /// Whether the person trusts a folder, and what its files would have if so.
    ///
    /// # Errors
    /// When there is no such folder, or the person's state cannot be read.
    pub async fn trust_of(&self, directory: PathBuf) -> Result<FolderTrust, LogError> {
        self.of_past("tell whether the folder is trusted", move |past| {
            FolderTrust::of(past.home(), &directory)
        })
        .await
    }

    /// Records what a person said of a folder.
    ///
    /// # Errors
    /// When there is no such folder, or the person's state cannot be read or written.
    pub async fn answer_trust(
        &self,
        directory: PathBuf,
        answer: TrustAnswer,
    ) -> Result<TrustOutcome, LogError> {
        self.of_past("record whether the folder is trusted", move |past| {
            FolderTrust::answer(past.home(), &directory, &answer)
        })
        .await
    }

    /// Gives what was said in a session of the bridge elsewhere, after the last line that the log knows, page by page until
    /// there is no more. Nothing if it knows none: what was said before the bridge was there stays where it is. Nor if the
    /// transcript is as it was when somebody last looked.
    ///
    /// # Errors
    /// When the log or the session cannot be read.
    pub async fn said_elsewhere(
        &self,
        id: &BridgeId,
        last_seq: u64,
        session: SessionId,
        give: impl FnMut(Vec<Text>) -> ControlFlow<()> + Send + 'static,
    ) -> Result<(), LogError> {
        let (library, id) = (self.clone(), id.clone());
        self.of_past("read what was said elsewhere", move |past| {
            let stamp = past.stamp(&session)?;
            if library.looked().get(&session) == Some(&stamp) {
                return Ok(());
            }
            let known = library.known(&id, last_seq);
            past.since(&session, known, TAKEN_IN, give)?;
            library.looked().insert(session, stamp);
            Ok(())
        })
        .await
    }

    /// The records of transcripts that the last frames of a session are also, those of the latest frames first.
    fn known(&self, id: &BridgeId, last_seq: u64) -> impl Iterator<Item = HashSet<Uuid>> {
        let (shelf, id) = (Arc::clone(&self.shelf), id.clone());
        let mut before = last_seq;
        std::iter::from_fn(move || {
            if before == 0 {
                return None;
            }
            let after = before.saturating_sub(KNOWN.frames as u64);
            let frames = shelf.read(|log| log.frames(&id, after, KNOWN)).ok()?;
            before = after;
            Some(frames.iter().filter_map(Frame::uuid).collect())
        })
    }

    fn looked(&self) -> std::sync::MutexGuard<'_, HashMap<SessionId, Stamp>> {
        self.looked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn of_log<T: Send + 'static>(
        &self,
        read: impl FnOnce(&Reader) -> Result<T, LogError> + Send + 'static,
    ) -> Result<T, LogError> {
        let shelf = Arc::clone(&self.shelf);
        let reading = tokio::task::spawn_blocking(move || shelf.read(read));
        reading
            .await
            .unwrap_or_else(|error| Err(failed("read the log", &error)))
    }

    async fn of_past<T: Send + 'static>(
        &self,
        what: &str,
        read: impl FnOnce(&Past) -> Result<T, towline_host::store::Error> + Send + 'static,
    ) -> Result<T, LogError> {
        let past = self.past.clone();
        let reading = tokio::task::spawn_blocking(move || read(&past));
        match reading.await {
            Ok(done) => done.map_err(|error| failed(what, &error)),
            Err(error) => Err(failed(what, &error)),
        }
    }
}

impl Shelf {
    fn read<T>(&self, read: impl FnOnce(&Reader) -> Result<T, LogError>) -> Result<T, LogError> {
        let idle = self.idle().pop();
        let reader = match idle {
            Some(reader) => reader,
            None => Reader::open(&self.file)?,
        };
        let done = read(&reader);
        let mut idle = self.idle();
        if idle.len() < KEPT {
            idle.push(reader);
        }
        done
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Reader>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The sessions of a log, as a bridge takes them over.
pub(crate) fn restored(log: &Reader) -> Result<Vec<Restored>, LogError> {
    let sessions = log.sessions()?.into_iter().map(|record| {
        let taken = log
            .client_ids(&record.id, KNOWN_INPUTS)?
            .into_iter()
            .collect();
        let questions = log.questions(&record.id, OPEN_QUESTIONS)?;
        let mut open = Vec::new();
        for question in questions
            .iter()
            .rev()
            .filter(|question| question.answer.is_none())
        {
            let one = Page {
                frames: 1,
                bytes: 0,
            };
            let asked = log.frames(&record.id, question.asked_seq - 1, one)?;
            if let Some(Content::Question(question)) = asked.first().map(Frame::content) {
                open.push(question);
            }
        }
        Ok(Restored {
            record,
            open,
            taken,
        })
    });
    sessions.collect()
}

fn failed(what: &str, error: &dyn std::fmt::Display) -> LogError {
    LogError {
        what: what.to_owned(),
        why: error.to_string(),
    }
}

/// How many inputs of a session are known, so that none of them runs twice.
const KNOWN_INPUTS: usize = 1_000;
/// How many of the newest questions of a session may be open.
const OPEN_QUESTIONS: usize = 100;
/// How many frames of a session are compared with its transcript at once.
const KNOWN: Page = Page {
    frames: 200,
    bytes: 16 << 20,
};
/// How much of what was said elsewhere is taken in at once.
const TAKEN_IN: Page = Page {
    frames: 200,
    bytes: 4 << 20,
};
/// How many connections are kept.
const KEPT: usize = 2;
