//! [`Session`]: the files of one session.

use std::path::{Path, PathBuf};

use crate::{
    error::{Error, Result},
    key::SessionKey,
    plain::{self, Kind},
    records::Records,
    transcript::Transcript,
};

/// A session's place on disk: `<project>/<id>.jsonl`, and the folder `<project>/<id>` beside it.
///
/// ```
/// # towline_testkit::in_home!(|home| {
/// let session = home.session(&"11111111-2222-4333-8444-555555555555".parse()?)?;
/// assert_eq!(session.path(), session.folder().with_extension("jsonl"));
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Session {
    project: PathBuf,
    key: SessionKey,
    path: PathBuf,
}

impl Session {
    /// A session in a project's folder.
    pub(crate) fn new(project: PathBuf, key: SessionKey) -> Self {
        let path = project.join(format!("{key}.jsonl"));
        Self { project, key, path }
    }

    /// The id.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// assert_eq!(session.key().as_str(), "11111111-2222-4333-8444-555555555555");
    /// # });
    /// ```
    pub fn key(&self) -> &SessionKey {
        &self.key
    }

    /// The transcript.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// assert!(session.path().ends_with("11111111-2222-4333-8444-555555555555.jsonl"));
    /// # });
    /// ```
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of the project.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home, project, session| {
    /// assert_eq!(session.project_folder(), home.project_folder(&project));
    /// # });
    /// ```
    pub fn project_folder(&self) -> &Path {
        &self.project
    }

    /// The folder for what does not stand in the transcript: subagents, long tool results. Often there is none.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// assert!(session.folder().join("subagents").is_dir());
    /// # });
    /// ```
    pub fn folder(&self) -> PathBuf {
        self.project.join(self.key.as_str())
    }

    /// Reads the transcript from the start, one record after the other.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// let mut messages = 0;
    /// for entry in session.records()? {
    ///     if let Entry::Record(located) = entry? {
    ///         messages += usize::from(matches!(located.record.kind(), "user" | "assistant"));
    ///     }
    /// }
    /// assert_eq!(messages, 7);
    /// # });
    /// ```
    ///
    /// # Errors
    /// When there is no plain file, or it may not be read.
    pub fn records(&self) -> Result<Records> {
        self.check_project()?;
        Records::open(&self.path)
    }

    /// Reads the transcript once and keeps its tree.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// let transcript = session.transcript()?;
    /// assert_eq!(transcript.tree().branches().len(), 2);
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn transcript(&self) -> Result<Transcript> {
        self.check_project()?;
        Transcript::open(&self.path)
    }

    /// The transcripts of the session's subagents, in the order of their paths.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// let subagents = session.subagents()?;
    /// assert_eq!(subagents.len(), 1);
    /// assert_eq!(Records::open(&subagents[0].path)?.count(), 2);
    /// # });
    /// ```
    ///
    /// # Errors
    /// When a folder cannot be listed.
    pub fn subagents(&self) -> Result<Vec<Subagent>> {
        let mut found = Vec::new();
        if self.check_project().is_ok() && plain::is_folder(&self.folder()) {
            collect_subagents(&self.folder().join("subagents"), DEEPEST, &mut found)?;
        }
        Ok(found)
    }

    /// The files with tool results too long for the transcript.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// let files = session.tool_results()?;
    /// assert_eq!(std::fs::read_to_string(&files[0])?, "fn login(token: Token) {}");
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the folder cannot be listed.
    pub fn tool_results(&self) -> Result<Vec<PathBuf>> {
        let folder = self.folder().join("tool-results");
        let is_there = plain::is_folder(&self.folder()) && plain::is_folder(&folder);
        if self.check_project().is_err() || !is_there {
            return Ok(Vec::new());
        }
        let entries = plain::entries(&folder)?;
        let files = entries.into_iter().filter(|(_, kind)| *kind == Kind::File);
        Ok(files.map(|(path, _)| path).collect())
    }

    /// A link in place of the project's folder would lead out of the projects.
    pub(crate) fn check_project(&self) -> Result<()> {
        if plain::is_link(&self.project) {
            return Err(Error::NotPlain {
                path: self.project.clone(),
            });
        }
        Ok(())
    }
}

/// The transcript of a subagent.
///
/// ```
/// # towline_testkit::in_home!(|session| {
/// let Subagent { id, path } = &session.subagents()?[0];
/// assert_eq!(id, "finder");
/// assert!(path.ends_with("subagents/agent-finder.jsonl"));
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subagent {
    /// The subagent's id.
    pub id: String,
    /// Its transcript.
    pub path: PathBuf,
}

impl Subagent {
    /// The file that says what the subagent is and which call started it; it may be missing.
    ///
    /// ```
    /// # towline_testkit::in_home!(|session| {
    /// let metadata = session.subagents()?[0].metadata_path();
    /// assert_eq!(std::fs::read_to_string(metadata)?, r#"{"agentType": "finder"}"#);
    /// # });
    /// ```
    pub fn metadata_path(&self) -> PathBuf {
        self.path.with_extension("meta.json")
    }
}

/// Workflows put theirs into folders of their own, so folders are searched too.
fn collect_subagents(folder: &Path, depth: usize, found: &mut Vec<Subagent>) -> Result<()> {
    if depth == 0 || !plain::is_folder(folder) {
        return Ok(());
    }
    for (path, kind) in plain::entries(folder)? {
        if kind == Kind::Folder {
            collect_subagents(&path, depth - 1, found)?;
        } else if let Some(id) = subagent_id(&path) {
            found.push(Subagent { id, path });
        }
    }
    Ok(())
}

fn subagent_id(path: &Path) -> Option<String> {
    let name = path.file_name()?.to_str()?;
    let id = name.strip_prefix("agent-")?.strip_suffix(".jsonl")?;
    Some(id.to_owned())
}

/// How many folders deep subagents are looked for.
const DEEPEST: usize = 8;
