//! Which session somebody means: by id, the start of one, title, or path.

use std::{
    env,
    path::{Path, PathBuf},
};

use anyhow::{Context, bail};
use towline_store::{Home, ListQuery, Session, SessionSummary, Transcript};

/// What somebody means.
pub(crate) enum Found {
    /// A session in the store.
    Session(Session),
    /// A file somewhere else.
    File(PathBuf),
}

impl Found {
    /// Finds a session, or a file that is a transcript.
    pub(crate) fn find(home: &Home, wanted: &str) -> anyhow::Result<Self> {
        let path = Path::new(wanted);
        let is_path = wanted.contains(std::path::MAIN_SEPARATOR)
            || path
                .extension()
                .is_some_and(|extension| extension == "jsonl");
        if is_path {
            return Ok(Self::File(path.to_owned()));
        }
        find_session(home, wanted).map(Self::Session)
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Session(session) => session.path(),
            Self::File(path) => path,
        }
    }

    pub(crate) fn transcript(&self) -> anyhow::Result<Transcript> {
        Ok(match self {
            Self::Session(session) => session.transcript()?,
            Self::File(path) => Transcript::open(path)?,
        })
    }

    /// What a list would say about it; nothing for a file that is elsewhere.
    pub(crate) fn summary(&self) -> anyhow::Result<Option<SessionSummary>> {
        Ok(match self {
            Self::Session(session) => SessionSummary::of(session.clone())?,
            Self::File(_) => None,
        })
    }
}

/// Finds the one session with that id, whose id begins so, or with that title in upper or lower case.
pub(crate) fn find_session(home: &Home, wanted: &str) -> anyhow::Result<Session> {
    if let Ok(key) = wanted.parse() {
        return Ok(home.session(&key)?);
    }
    let sessions = home.list(&ListQuery::default())?.sessions;
    let mut found: Vec<&SessionSummary> = matching(&sessions, |summary| {
        let key = summary.session.key().as_str();
        wanted.len() >= SHORTEST_START && key.starts_with(&wanted.to_ascii_lowercase())
    });
    if found.is_empty() {
        let title = wanted.trim().to_lowercase();
        found = matching(&sessions, |summary| {
            let titles = summary.custom_title.iter();
            titles
                .map(|title| title.to_lowercase())
                .any(|own| own == title)
        });
        prefer_here(home, &mut found);
    }
    match found.as_slice() {
        [] => bail!(
            "no session `{wanted}`: neither an id, the start of one ({SHORTEST_START} characters or more), nor a \
             title; `towline sessions list --all` shows what there is"
        ),
        [only] => Ok(only.session.clone()),
        several => bail!(
            "`{wanted}` may be any of {}: {}",
            several.len(),
            candidates(several)
        ),
    }
}

/// The home, as the environment says.
pub(crate) fn home() -> anyhow::Result<Home> {
    Home::from_env().context("cannot tell where sessions are")
}

fn matching(
    sessions: &[SessionSummary],
    is_meant: impl Fn(&SessionSummary) -> bool,
) -> Vec<&SessionSummary> {
    sessions
        .iter()
        .filter(|summary| is_meant(summary))
        .collect()
}

/// A title here wins over the same title in another project, as for `claude --resume`.
fn prefer_here(home: &Home, found: &mut Vec<&SessionSummary>) {
    let Ok(here) = env::current_dir() else {
        return;
    };
    let here = home.project_folder(here);
    if found
        .iter()
        .any(|summary| summary.session.project_folder() == here)
    {
        found.retain(|summary| summary.session.project_folder() == here);
    }
}

fn candidates(several: &[&SessionSummary]) -> String {
    let shown = several.iter().take(SHOWN).map(|summary| {
        let title = summary
            .title
            .chars()
            .take(TITLE_CHARACTERS)
            .collect::<String>();
        format!("{} ({title})", summary.session.key())
    });
    let shown: Vec<String> = shown.collect();
    let more = if several.len() > SHOWN { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// Fewer characters would often mean a session by accident.
const SHORTEST_START: usize = 4;
const SHOWN: usize = 10;
const TITLE_CHARACTERS: usize = 40;
