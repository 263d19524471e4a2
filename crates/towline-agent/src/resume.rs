//! Going on with an earlier session: [`resume`] finds it and reads what the next request to the model must hold;
//! [`copy_history`] is what a fork begins with.
//!
//! A transcript of any size is read as a stream: its links first, then only the records of the live branch. What is held
//! is the conversation itself.

mod conversation;

use std::path::Path;

use conversation::Conversation;
use towline_protocol::{
    PermissionMode, SessionId, Text, Uuid,
    transcript::{CostState, Record, UserRecord},
};
use towline_store::{
    Home, Located, NodeId, NodeKind, Session, SessionKey, Transcript as Stored, TranscriptWriter,
};

use crate::{
    config::{SessionOptions, SessionStart},
    history::History,
    transcript::Past,
};

/// An earlier session, as far as going on with it needs.
#[derive(Clone, Debug)]
pub(crate) struct Resumed {
    /// Where it is.
    pub(crate) session: Session,
    /// Whether to go on under another id.
    pub(crate) is_fork: bool,
    /// The conversation as the model gets it.
    pub(crate) history: History,
    /// What the next record depends on.
    pub(crate) past: Past,
    /// What it has cost.
    pub(crate) cost: Option<CostState>,
    /// Its title.
    pub(crate) title: Option<Text>,
    /// The agent that it was.
    pub(crate) agent: Option<Text>,
    /// What the model was told of planning, until it was told that this is over.
    pub(crate) plan_told: Option<String>,
    /// The mode of its last prompt.
    #[cfg_attr(
        not(test),
        expect(
            dead_code,
            reason = "a session goes on in the mode that it is started in"
        )
    )]
    pub(crate) permission_mode: Option<PermissionMode>,
}

/// Why a session cannot begin as it was asked to. The texts are those that hosts know from the real CLI.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ResumeError {
    /// No session of that id, or one without a conversation.
    #[error("No conversation found with session ID: {id}")]
    Unknown {
        /// What was asked for.
        id: SessionKey,
    },
    /// Neither an id nor a path nor anybody's title.
    #[error(
        "Error: --resume requires a valid session ID or session title when used with --print. \
         `{which}` is no UUID, and no session has it as its title"
    )]
    NotASession {
        /// What was asked for.
        which: String,
    },
    /// A path that leads to no session.
    #[error("Error: --resume cannot go on with `{which}`: {problem}")]
    NotATranscript {
        /// What was asked for.
        which: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// No record of that id.
    #[error("No message found with message.uuid of: {uuid}")]
    NoMessage {
        /// What was asked for.
        uuid: String,
        /// The session.
        id: SessionKey,
    },
    /// The id for a new session is taken.
    #[error("Error: Session ID {id} is already in use.")]
    InUse {
        /// What was asked for.
        id: SessionKey,
    },
    /// The files cannot be read.
    #[error("{}", with_source(.0))]
    Store(#[from] towline_store::Error),
}

impl ResumeError {
    /// The session that was asked for, for the line that tells of the failure; nothing if none is known.
    pub(crate) fn session(&self) -> Option<&SessionKey> {
        match self {
            Self::Unknown { id } | Self::NoMessage { id, .. } | Self::InUse { id } => Some(id),
            Self::NotASession { .. } | Self::NotATranscript { .. } | Self::Store(_) => None,
        }
    }
}

fn with_source(error: &towline_store::Error) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

/// Finds the session to go on with and reads it; nothing if a new one is to begin.
pub(crate) fn resume(
    home: &Home,
    cwd: &Path,
    options: &SessionOptions,
) -> Result<Option<Resumed>, ResumeError> {
    if let Some(id) = &options.id {
        let session = home.session_in(cwd, id.clone());
        if session.path().symlink_metadata().is_ok() {
            return Err(ResumeError::InUse { id: id.clone() });
        }
    }
    match &options.start {
        SessionStart::New => Ok(None),
        SessionStart::Continue { fork } => {
            let Some(session) = home.newest(cwd)? else {
                return Ok(None);
            };
            match read(session, *fork, &UpTo::End) {
                // Nothing to go on with is no failure here.
                Err(ResumeError::Unknown { .. }) => Ok(None),
                resumed => resumed.map(Some),
            }
        }
        SessionStart::Resume {
            which,
            fork,
            at,
            drops_turn,
        } => {
            let session = home
                .find(cwd, which)
                .map_err(|error| not_found(error, cwd, which))?;
            let up_to = match (at, drops_turn) {
                (Some(uuid), _) => UpTo::Including(uuid),
                (None, Some(uuid)) => UpTo::Before(uuid),
                (None, None) => UpTo::End,
            };
            match read(session, *fork, &up_to) {
                // The words are about an id, and this was none.
                Err(ResumeError::Unknown { .. }) if which.parse::<SessionKey>().is_err() => {
                    Err(not_a_transcript(which, "it holds no conversation"))
                }
                resumed => resumed.map(Some),
            }
        }
    }
}

/// Why a session was not found, in words about what was asked for: an id, a title or a path.
fn not_found(error: towline_store::Error, cwd: &Path, which: &str) -> ResumeError {
    if let Ok(id) = which.parse() {
        return match error {
            towline_store::Error::NotFound { .. } => ResumeError::Unknown { id },
            other => ResumeError::Store(other),
        };
    }
    let path = cwd.join(which);
    let is_path = which.contains('/') || which.ends_with(".jsonl");
    match (path.symlink_metadata(), error) {
        (Ok(found), _) if found.is_dir() => not_a_transcript(which, "it is a directory"),
        (Ok(_), towline_store::Error::BadId { .. }) => not_a_transcript(
            which,
            "it is no transcript of a session, whose name is its id with `.jsonl`",
        ),
        (Err(_), towline_store::Error::BadId { .. } | towline_store::Error::NotFound { .. })
            if is_path =>
        {
            not_a_transcript(which, "there is no such file")
        }
        (_, towline_store::Error::BadId { .. }) => ResumeError::NotASession {
            which: which.to_owned(),
        },
        (_, other) => ResumeError::Store(other),
    }
}

fn not_a_transcript(which: &str, problem: &'static str) -> ResumeError {
    ResumeError::NotATranscript {
        which: which.to_owned(),
        problem,
    }
}

/// Copies the history of a session into the transcript of its fork: the same records under the same ids, but of the new
/// session, as the real CLI does. What hangs on no other record stays behind.
///
/// [`Session::fork`] is another thing: the fork of the official SDKs, in which all records have new ids.
pub(crate) fn copy_history(
    resumed: &Resumed,
    writer: &mut TranscriptWriter,
) -> Result<(), ResumeError> {
    let mut stored = resumed.session.transcript()?;
    let last = resumed.past.last.as_ref();
    let Some(leaf) = last.and_then(|uuid| stored.tree().find(uuid.as_str())) else {
        return Ok(());
    };
    let mut steps = steps(&stored, leaf);
    // As they stood in the file, so that what a compaction kept is in front of it again.
    steps.sort_by_key(|id| stored.tree().place(*id).offset);
    let session_id = writer.session().key().to_id();
    for batch in steps.chunks(COPIED_AT_ONCE) {
        let mut records = Vec::with_capacity(batch.len());
        for id in batch {
            let mut record = stored.read(*id)?.record;
            set_session(&mut record, &session_id);
            records.push(record);
        }
        writer.append(&records)?;
    }
    Ok(())
}

/// How much of a session is gone on with.
enum UpTo<'a> {
    End,
    Including(&'a str),
    Before(&'a str),
}

fn read(session: Session, is_fork: bool, up_to: &UpTo<'_>) -> Result<Resumed, ResumeError> {
    let unknown = || ResumeError::Unknown {
        id: session.key().clone(),
    };
    let mut notes = Notes::default();
    let mut stored = Stored::open_and_see(session.path(), |located| notes.see(located))?;
    let tree = stored.tree();
    let message = |uuid: &str| {
        tree.find(uuid)
            .filter(|id| matches!(tree.kind(*id), NodeKind::User | NodeKind::Assistant))
            .filter(|id| !tree.is_aside(*id))
            .ok_or_else(|| ResumeError::NoMessage {
                uuid: uuid.to_owned(),
                id: session.key().clone(),
            })
    };
    let leaf = match up_to {
        UpTo::End => tree.live_leaf().ok_or_else(unknown)?,
        UpTo::Including(uuid) => message(uuid)?,
        UpTo::Before(uuid) => tree.parent(message(uuid)?).ok_or_else(unknown)?,
    };
    let last = Uuid::from(tree.uuid(leaf));
    let mut conversation = Conversation::default();
    let mut turns = Turns::default();
    for id in steps(&stored, leaf) {
        let record = stored.read(id)?.record;
        if let Record::User(record) = &record {
            turns.see(record);
        }
        conversation.add(&record);
    }
    let plan_told = conversation.plan_told.take();
    let history = conversation.into_history();
    if history.is_empty() {
        return Err(unknown());
    }
    Ok(Resumed {
        history,
        is_fork,
        past: Past {
            last: Some(last),
            turns: turns.count,
            tools_used: notes.tools_used,
            last_prompt: notes.last_prompt,
        },
        cost: notes.cost,
        title: notes.title,
        agent: notes.agent,
        plan_told,
        permission_mode: turns.permission_mode,
        session,
    })
}

/// The records of the conversation that ends at this one.
fn steps(stored: &Stored, leaf: NodeId) -> Vec<NodeId> {
    let tree = stored.tree();
    let end = tree.place(leaf).offset;
    let steps = tree.conversation_at(leaf).into_iter().map(|step| step.id);
    // Calls beside the one that is the end were made after it.
    steps.filter(|id| tree.place(*id).offset <= end).collect()
}

/// What the records say that hang on no other.
#[derive(Debug, Default)]
struct Notes {
    title: Option<Text>,
    agent: Option<Text>,
    cost: Option<CostState>,
    tools_used: Vec<Text>,
    last_prompt: Option<Text>,
}

impl Notes {
    fn see(&mut self, located: &Located) {
        match &located.record {
            Record::CustomTitle(record) => {
                self.title = record.custom_title.as_ref().map(Text::detached);
            }
            Record::AgentSetting(record) => {
                self.agent = record.agent_setting.as_ref().map(Text::detached);
            }
            Record::CostState(record) => self.cost = Some((**record).clone()),
            Record::ToolsUsed(record) => {
                let tools = record.tools.iter().flatten();
                self.tools_used = tools.map(Text::detached).collect();
            }
            Record::LastPrompt(record) => {
                self.last_prompt = record.last_prompt.as_ref().map(Text::detached);
            }
            _ => {}
        }
    }
}

/// What the prompts of a conversation say of its turns.
#[derive(Debug, Default)]
struct Turns {
    count: u64,
    permission_mode: Option<PermissionMode>,
}

impl Turns {
    fn see(&mut self, record: &UserRecord) {
        if let Some(mode) = &record.permission_mode {
            self.permission_mode = Some(mode.clone());
        }
        let position = record.turn_position.as_ref();
        let position = position.and_then(|position| position.parse::<Position>().ok());
        let is_prompt = record.permission_mode.is_some();
        self.count = match position {
            Some(position) => self.count.max(position.turn_index),
            None => self.count + u64::from(is_prompt),
        };
    }
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Position {
    turn_index: u64,
}

fn set_session(record: &mut Record, session_id: &SessionId) {
    let slot = match record {
        Record::User(record) => &mut record.session_id,
        Record::Assistant(record) => &mut record.session_id,
        Record::System(record) => &mut record.session_id,
        Record::Attachment(record) => &mut record.session_id,
        Record::Progress(record) => &mut record.session_id,
        _ => return,
    };
    *slot = Some(session_id.clone());
}

const COPIED_AT_ONCE: usize = 64;

#[cfg(test)]
mod tests;
