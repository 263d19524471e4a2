//! Logs, sessions and frames made for tests.

use std::process::{Child, Command, Stdio};

use tempfile::TempDir;
use towline_bridge::{
    Frame, Kind, SessionRecord, Usage,
    hub::SetupOptions,
    log::{Log, Page, SqliteLog, Write},
};
use towline_protocol::dialect::pocket::{BridgeId, Status};

/// A log in a folder that goes away with the test.
pub(crate) struct Made {
    pub(crate) folder: TempDir,
    pub(crate) log: SqliteLog,
}

impl Made {
    /// A log with the session `s` in it.
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut log = SqliteLog::open(folder.path()).unwrap();
        log.write(&[session("s", 1)]).unwrap();
        Self { folder, log }
    }

    /// The same log, opened again.
    pub(crate) fn reopened(self) -> Self {
        let Self { folder, log } = self;
        drop(log);
        let log = SqliteLog::open(folder.path()).unwrap();
        Self { folder, log }
    }

    /// Writes frames of the session `s`, numbered from `first` on, in one batch.
    pub(crate) fn write(&mut self, first: u64, bodies: &[(Kind, &str)]) {
        let batch: Vec<Write> = bodies
            .iter()
            .zip(first..)
            .map(|((kind, body), seq)| of("s", frame(seq, *kind, body)))
            .collect();
        self.log.write(&batch).unwrap();
    }
}

pub(crate) fn record(id: &str, active_at: u64) -> SessionRecord {
    SessionRecord {
        id: id.into(),
        agent_session_id: None,
        agent: "claude".to_owned(),
        directory: "/app".to_owned(),
        additional_directories: Vec::new(),
        title: None,
        model: None,
        permission_mode: None,
        options: SetupOptions::default(),
        created_at: 1,
        active_at,
        status: Status::Idle,
        last_seq: 0,
        last_message: None,
        unheard: Vec::new(),
        dropped: Vec::new(),
        usage: Usage::default(),
        archived: false,
    }
}

pub(crate) fn session(id: &str, active_at: u64) -> Write {
    Write::Session(Box::new(record(id, active_at)))
}

pub(crate) fn frame(seq: u64, kind: Kind, body: &str) -> Frame {
    Frame {
        seq,
        at: seq.wrapping_add(1000),
        kind,
        body: body.into(),
    }
}

/// A line with a text of that many bytes and more.
pub(crate) fn line(seq: u64, bytes: usize) -> Frame {
    let text = "lorem ipsum ".repeat(bytes / 12 + 1);
    let body = format!(
        r#"{{"type":"assistant","message":{{"content":[{{"type":"text","text":"number {seq} {text}"}}]}}}}"#
    );
    frame(seq, Kind::Line, &body)
}

pub(crate) fn of(session: &str, frame: Frame) -> Write {
    Write::Frame {
        session: session.into(),
        frame,
    }
}

pub(crate) fn id(session: &str) -> BridgeId {
    session.into()
}

/// All frames of a session, page by page.
pub(crate) fn all_frames(log: &impl Log, session: &str) -> Vec<Frame> {
    let page = Page {
        frames: 7,
        bytes: 1 << 20,
    };
    let mut frames: Vec<Frame> = Vec::new();
    loop {
        let after = frames.last().map_or(0, |frame| frame.seq);
        let more = log.frames(&id(session), after, page).unwrap();
        if more.is_empty() {
            return frames;
        }
        frames.extend(more);
    }
}

/// A child process that ends with the test, however that ends.
pub(crate) struct Killed(pub(crate) Child);

impl Drop for Killed {
    fn drop(&mut self) {
        // It may have ended already.
        let _gone = self.0.kill();
        let _status = self.0.wait();
    }
}

/// This test binary again, running one test alone with a folder to work in.
pub(crate) fn again(mut command: Command, folder: &TempDir) -> Killed {
    command
        .env(FOLDER, folder.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Killed(command.spawn().unwrap())
}

/// The folder to work in, in a process that [`again`] started.
pub(crate) fn given_folder() -> Option<std::path::PathBuf> {
    std::env::var_os(FOLDER).map(Into::into)
}

const FOLDER: &str = "TOWLINE_BRIDGE_TEST_FOLDER";
