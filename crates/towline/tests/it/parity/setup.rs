//! What a recorded conversation needs besides its lines: files, variables, a hand-made script, and what the host did that
//! no line shows. It stands in `parity-setups.toml`; most conversations need nothing.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::Deserialize;

/// What one conversation needs.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Setup {
    /// Variables that are set besides those of the clean room; an empty one is taken away.
    pub(crate) environment: BTreeMap<String, String>,
    /// Files in the project.
    pub(crate) files: BTreeMap<PathBuf, Content>,
    /// What the file outside of the project holds.
    pub(crate) outside: Option<String>,
    /// What was recorded as the project is the folder that was added beside it.
    pub(crate) is_added: bool,
    /// The folder below the project where it runs.
    pub(crate) folder: Option<PathBuf>,
    /// What the API answers, where that cannot be read off the lines. A gate called `open` is never released.
    pub(crate) script: Option<String>,
    /// Whether the API takes from the real CLI what it would refuse. From ours it takes no such thing.
    pub(crate) is_refused: bool,
    /// Lines that the host said before all others, though they were not recorded.
    pub(crate) first: Vec<String>,
    /// After how many lines of the agent the host closed its input; else at the end.
    pub(crate) close_after: Option<usize>,
    /// The signal that the host sent.
    pub(crate) signal: Option<Sent>,
    /// The last line had no end.
    pub(crate) unterminated: bool,
    /// The exit code, where it does not follow from the last result.
    pub(crate) exit: Option<i32>,
    /// Conversations that were had before in the same home.
    pub(crate) before: Vec<Before>,
}

/// A file's content.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Content {
    Text(String),
    /// The text so many times; `{n}` in it is the number, from 1.
    Rows {
        rows: String,
        times: usize,
    },
    Bytes {
        base64: String,
    },
}

impl Setup {
    /// Whether a signal ends the agent, rather than the end of its input.
    pub(crate) fn ends_by_signal(&self) -> bool {
        let signal = self.signal.as_ref().map(|sent| sent.name);
        matches!(signal, Some(Signal::Hangup | Signal::Terminate))
    }
}

/// A signal, after so many lines of the agent.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sent {
    pub(crate) name: Signal,
    pub(crate) after: usize,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Signal {
    Interrupt,
    Hangup,
    Terminate,
}

/// An earlier conversation of the same program.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Before {
    pub(crate) trace: String,
    /// The session that it gets instead of the recorded one.
    pub(crate) session: Option<String>,
    /// Replace those of its own setup.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) script: Option<String>,
}

impl Setup {
    /// The setups of the repository's own recordings, by their names.
    pub(crate) fn all() -> BTreeMap<String, Self> {
        Self::read(SETUPS)
    }

    pub(crate) fn read(text: &str) -> BTreeMap<String, Self> {
        toml::from_str(text).unwrap_or_else(|error| panic!("parity-setups.toml: {error}"))
    }

    /// Puts the files where they belong.
    pub(crate) fn write_files(&self, project: &Path, outside: &Path) {
        for (name, content) in &self.files {
            let path = project.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content.bytes()).unwrap();
        }
        if let Some(content) = &self.outside {
            fs::write(outside, content).unwrap();
        }
        if let Some(folder) = &self.folder {
            fs::create_dir_all(project.join(folder)).unwrap();
        }
    }
}

impl Before {
    /// What it needs, but for conversations before it.
    pub(crate) fn setup(&self, setups: &BTreeMap<String, Setup>) -> Setup {
        let mut setup = setups.get(&self.trace).cloned().unwrap_or_default();
        setup.folder = self.folder.clone().or(setup.folder);
        setup.script = self.script.clone().or(setup.script);
        setup
    }
}

impl Content {
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Text(text) => text.clone().into_bytes(),
            Self::Rows { rows, times } => {
                let rows = (1..=*times).map(|number| rows.replace("{n}", &number.to_string()));
                rows.collect::<String>().into_bytes()
            }
            Self::Bytes { base64 } => STANDARD.decode(base64).unwrap(),
        }
    }
}

const SETUPS: &str = include_str!("../../data/parity-setups.toml");
