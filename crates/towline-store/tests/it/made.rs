//! Homes and transcripts made for tests.

use std::{
    fs,
    path::{Path, PathBuf},
};

use tempfile::TempDir;
use towline_store::{Home, Session, Transcript};

/// A configuration folder that goes away with the test.
pub(crate) struct Made {
    pub(crate) folder: TempDir,
    pub(crate) home: Home,
}

impl Made {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path());
        Self { folder, home }
    }

    /// A session of the project `/project`, numbered so that its id can be told.
    pub(crate) fn session(&self, number: u32) -> Session {
        self.session_in("/project", number)
    }

    pub(crate) fn session_in(&self, cwd: &str, number: u32) -> Session {
        let key = key(number).parse().unwrap();
        let session = self.home.session_in(cwd, key);
        fs::create_dir_all(session.project_folder()).unwrap();
        session
    }

    /// The same with a transcript in it.
    pub(crate) fn with(&self, number: u32, text: &str) -> Session {
        let session = self.session(number);
        fs::write(session.path(), text).unwrap();
        session
    }

    /// The same with a transcript of the real CLI.
    pub(crate) fn real(&self, number: u32, name: &str) -> Session {
        self.with(number, &real(name))
    }
}

pub(crate) fn key(number: u32) -> String {
    format!("{number:08x}-0000-4000-8000-000000000000")
}

/// A transcript that CLI 2.1.325 wrote; long texts of its own are replaced.
pub(crate) fn real(name: &str) -> String {
    fs::read_to_string(data(name)).unwrap()
}

pub(crate) fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data")
        .join(format!("{name}.jsonl"))
}

/// A record that hangs on others: kind, number, number of the parent (0 for none), text, second.
pub(crate) fn record(kind: &str, number: u32, parent: u32, text: &str, second: u32) -> String {
    let parent = match parent {
        0 => "null".to_owned(),
        parent => format!("\"{}\"", key(parent)),
    };
    let message = match kind {
        "user" => format!(r#","message":{{"role":"user","content":"{text}"}}"#),
        "assistant" => format!(
            r#","message":{{"id":"msg_{number}","role":"assistant","content":[{{"type":"text","text":"{text}"}}]}}"#
        ),
        _ => String::new(),
    };
    format!(
        r#"{{"parentUuid":{parent},"isSidechain":false,"type":"{kind}","uuid":"{}","timestamp":"2026-11-16T05:00:{second:02}.000Z","cwd":"/project"{message}}}"#,
        key(number)
    )
}

/// The texts of a conversation's messages.
pub(crate) fn texts(transcript: &mut Transcript) -> Vec<String> {
    use towline_protocol::transcript::Record;

    transcript
        .messages(0..usize::MAX)
        .map(|message| match message.unwrap().record {
            Record::User(record) => record.message.content.as_option().unwrap().text(),
            Record::Assistant(record) => record.message.content.as_option().unwrap().text(),
            other => panic!("{} is no message", other.kind()),
        })
        .map(String::from)
        .collect()
}

/// The first eight characters of the ids of a conversation's messages.
pub(crate) fn ids(transcript: &Transcript) -> Vec<String> {
    let tree = transcript.tree();
    tree.conversation()
        .into_iter()
        .filter(|step| tree.is_message(step.id))
        .map(|step| tree.uuid(step.id)[..8].to_owned())
        .collect()
}
