//! [`Home`]: where the configuration folder is, and which sessions are in it.

use std::{
    env,
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::{
    error::{Error, Result},
    key::SessionKey,
    plain::{self, Kind},
    project::project_folder_name,
    session::Session,
};

/// The configuration folder of the CLI.
///
/// ```
/// use towline_store::Home;
///
/// let home = Home::new("/home/ann/.claude");
/// let session = home.session_in("/srv/app", "11111111-2222-4333-8444-555555555555".parse()?);
/// assert_eq!(
///     session.path().to_str().unwrap(),
///     "/home/ann/.claude/projects/-srv-app/11111111-2222-4333-8444-555555555555.jsonl",
/// );
/// # Ok::<(), towline_store::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Home {
    folder: PathBuf,
    state_file: PathBuf,
}

impl Home {
    /// The configuration in this folder, as if `CLAUDE_CONFIG_DIR` named it.
    ///
    /// ```
    /// use towline_store::Home;
    ///
    /// let home = Home::new("/srv/claude");
    /// assert_eq!(home.state_file(), "/srv/claude/.claude.json");
    /// ```
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        Self {
            state_file: folder.join(STATE_FILE),
            folder,
        }
    }

    /// The configuration that the CLI would use here: `CLAUDE_CONFIG_DIR`, else `.claude` in the home folder.
    ///
    /// ```
    /// use towline_store::Home;
    ///
    /// let home = Home::from_env()?;
    /// println!("sessions are in {}", home.projects_folder().display());
    /// # Ok::<(), towline_store::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is neither.
    pub fn from_env() -> Result<Self> {
        Self::from_variables(|name| env::var_os(name))
    }

    /// The configuration that a CLI with these variables would use: `CLAUDE_CONFIG_DIR`, else `.claude` in `HOME`.
    ///
    /// ```
    /// use towline_store::Home;
    ///
    /// let home = Home::from_variables(|name| (name == "HOME").then(|| "/home/ann".into()))?;
    /// assert_eq!(home.folder(), std::path::Path::new("/home/ann/.claude"));
    /// # Ok::<(), towline_store::Error>(())
    /// ```
    ///
    /// # Errors
    /// When there is neither.
    pub fn from_variables(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self> {
        let set = |name| variable(name).filter(|value| !value.is_empty());
        if let Some(folder) = set("CLAUDE_CONFIG_DIR") {
            return Ok(Self::new(folder));
        }
        let home = set("HOME").map(PathBuf::from).ok_or(Error::NoHome)?;
        Ok(Self {
            folder: home.join(".claude"),
            // Beside the folder and not in it, unless the folder was chosen (seen with CLI 2.1.325).
            state_file: home.join(STATE_FILE),
        })
    }

    /// The folder itself.
    ///
    /// ```
    /// use towline_store::Home;
    ///
    /// assert_eq!(Home::new("/home/ann/.claude").folder(), "/home/ann/.claude");
    /// ```
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The file in which the CLI remembers things, such as which projects are trusted: `.claude.json`.
    ///
    /// ```
    /// use towline_store::Home;
    ///
    /// // Beside the folder, unless the folder was chosen.
    /// let home = Home::from_variables(|name| (name == "HOME").then(|| "/home/ann".into()))?;
    /// assert_eq!(home.state_file(), "/home/ann/.claude.json");
    /// # Ok::<(), towline_store::Error>(())
    /// ```
    pub fn state_file(&self) -> &Path {
        &self.state_file
    }

    /// The folder that has a folder for each project.
    ///
    /// ```
    /// use towline_store::Home;
    ///
    /// let folder = Home::new("/home/ann/.claude").projects_folder();
    /// assert_eq!(folder.as_path(), "/home/ann/.claude/projects");
    /// ```
    pub fn projects_folder(&self) -> PathBuf {
        self.folder.join("projects")
    }

    /// The folder of the project that a working directory is, whether it is there or not. Links in the path are
    /// followed, as the CLI does.
    ///
    /// ```
    /// use towline_store::Home;
    ///
    /// let folder = Home::new("/home/ann/.claude").project_folder("/never/used");
    /// assert_eq!(folder.as_path(), "/home/ann/.claude/projects/-never-used");
    /// ```
    pub fn project_folder(&self, cwd: impl AsRef<Path>) -> PathBuf {
        let cwd = cwd.as_ref();
        let real = cwd.canonicalize().or_else(|_| std::path::absolute(cwd));
        let real = real.as_deref().unwrap_or(cwd);
        let name = project_folder_name(&real.to_string_lossy());
        self.projects_folder().join(name)
    }

    /// The session of that id in the project of a working directory, whether it is there or not.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home| {
    /// let session = home.session_in("/never/used", "33333333-4444-4555-8666-777777777777".parse()?);
    /// assert!(session.path().ends_with("-never-used/33333333-4444-4555-8666-777777777777.jsonl"));
    /// assert!(!session.path().exists());
    /// # });
    /// ```
    pub fn session_in(&self, cwd: impl AsRef<Path>, key: SessionKey) -> Session {
        Session::new(self.project_folder(cwd), key)
    }

    /// The session of that id in whichever project has it; the latest, if several have.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home| {
    /// let session = home.session(&"11111111-2222-4333-8444-555555555555".parse()?)?;
    /// assert!(session.path().is_file());
    /// # });
    /// ```
    ///
    /// # Errors
    /// When no project has it, or the projects cannot be listed.
    pub fn session(&self, key: &SessionKey) -> Result<Session> {
        let sessions = self.project_folders()?.into_iter();
        let sessions = sessions.map(|folder| Session::new(folder, key.clone()));
        let used = sessions.filter_map(|session| {
            let file = std::fs::symlink_metadata(session.path()).ok()?;
            // An empty file is a session that is somewhere else: the official SDKs pass it over too.
            (file.len() > 0).then_some((file.modified().ok(), session))
        });
        if let Some((_, session)) = used.max_by_key(|(modified, _)| *modified) {
            return Ok(session);
        }
        Err(Error::NotFound {
            id: key.to_string(),
            folder: self.projects_folder(),
        })
    }

    /// The folders of all projects, in the order of their names.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home, project| {
    /// let folders = home.project_folders()?;
    /// assert_eq!(folders.len(), 2);
    /// assert!(folders.contains(&home.project_folder(&project)));
    /// # });
    /// ```
    ///
    /// # Errors
    /// When they cannot be listed.
    pub fn project_folders(&self) -> Result<Vec<PathBuf>> {
        let entries = plain::entries(&self.projects_folder())?;
        let folders = entries
            .into_iter()
            .filter(|(_, kind)| *kind == Kind::Folder);
        Ok(folders.map(|(folder, _)| folder).collect())
    }

    /// The sessions of one project or of all, in no useful order. [`Home::list`](crate::Home::list) also looks into
    /// them.
    pub(crate) fn sessions(&self, scope: &Scope) -> Result<Vec<Session>> {
        let folders = match scope {
            Scope::All => self.project_folders()?,
            Scope::Project(cwd) => vec![self.project_folder(cwd)],
        };
        let mut sessions = Vec::new();
        for folder in folders
            .into_iter()
            .filter(|folder| plain::is_folder(folder))
        {
            for (path, kind) in plain::entries(&folder)? {
                if kind == Kind::File
                    && let Some(key) = key_of(&path)
                {
                    sessions.push(Session::new(folder.clone(), key));
                }
            }
        }
        Ok(sessions)
    }
}

/// Whose sessions.
///
/// ```
/// # towline_testkit::in_home!(|home, project| {
/// let count = |scope| {
///     let query = ListQuery { scope, ..ListQuery::default() };
///     home.list(&query).map(|listing| listing.sessions.len())
/// };
/// assert_eq!(count(Scope::All)?, 2);
/// assert_eq!(count(Scope::Project(project))?, 1);
/// # });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// Those of every project.
    #[default]
    All,
    /// Those of the project that this working directory is.
    Project(PathBuf),
}

fn key_of(path: &Path) -> Option<SessionKey> {
    let name = path.file_name()?.to_str()?;
    name.strip_suffix(".jsonl")?.parse().ok()
}

const STATE_FILE: &str = ".claude.json";
