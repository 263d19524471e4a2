//! [`MadeHome`]: a configuration folder with sessions in it, for the examples of `towline-store`.
//!
//! | session | what is in it |
//! |---|---|
//! | [`LOGIN`](MadeHome::LOGIN) | the newest: two branches behind `a2`; a subagent and a tool result beside it |
//! | [`LOGS`](MadeHome::LOGS) | of another project: calls that ran beside each other, and a compaction that kept `a3` |
//!
//! The ids of records tell what they are: `u` a prompt, `a` the model, `r` a result, `c` a compaction, `s` its summary.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use tempfile::TempDir;

/// A configuration folder that goes away with its owner; see the [module](self) for what is in it.
///
/// Most examples are better off with [`in_home!`](crate::in_home).
///
/// ```
/// use towline_testkit::made_home::MadeHome;
///
/// let made = MadeHome::new(|config, _cwd| config.join("projects/all"))?;
/// let transcript = format!("projects/all/{}.jsonl", MadeHome::LOGIN);
/// assert!(made.config().join(transcript).is_file());
/// assert!(made.project().join(".git").is_dir());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct MadeHome {
    root: PathBuf,
    _folder: TempDir,
}

impl MadeHome {
    /// The session about a login, in the [`project`](Self::project).
    pub const LOGIN: &str = "11111111-2222-4333-8444-555555555555";
    /// The session about logs, in another project.
    pub const LOGS: &str = "22222222-3333-4444-8555-666666666666";

    /// Makes one. Where a configuration folder keeps the sessions of a working directory is for the caller to say.
    ///
    /// # Errors
    /// When the files cannot be written.
    pub fn new(project_folder: impl Fn(&Path, &Path) -> PathBuf) -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let made = Self {
            root: folder.path().canonicalize()?,
            _folder: folder,
        };
        made.write_project()?;
        let sessions = |cwd: &Path| {
            fs::create_dir_all(cwd)?;
            let sessions = project_folder(&made.config(), cwd);
            fs::create_dir_all(&sessions).map(|()| sessions)
        };
        let project = made.project();
        let login = sessions(&project)?.join(Self::LOGIN);
        write_session(
            &login,
            &project,
            include_str!("made_home/login.jsonl"),
            NEWEST,
        )?;
        write_beside(&login)?;
        let project = made.root.join("logs");
        let logs = sessions(&project)?.join(Self::LOGS);
        write_session(
            &logs,
            &project,
            include_str!("made_home/logs.jsonl"),
            NEWEST - MINUTE,
        )?;
        Ok(made)
    }

    /// The configuration folder.
    pub fn config(&self) -> PathBuf {
        self.root.join("config")
    }

    /// The working directory: a repository with settings, which is trusted.
    pub fn project(&self) -> PathBuf {
        self.root.join("app")
    }

    fn write_project(&self) -> io::Result<()> {
        let project = self.project();
        for folder in [".git", ".claude", "src"] {
            fs::create_dir_all(project.join(folder))?;
        }
        fs::write(project.join(".claude/settings.json"), SETTINGS)?;
        let projects =
            serde_json::json!({ project.to_string_lossy(): {"hasTrustDialogAccepted": true} });
        let state = serde_json::json!({ "projects": projects });
        fs::create_dir_all(self.config())?;
        fs::write(self.config().join(".claude.json"), state.to_string())
    }
}

/// Writes the transcript beside what would be the session's folder.
fn write_session(session: &Path, cwd: &Path, records: &str, written: Duration) -> io::Result<()> {
    let path = session.with_extension("jsonl");
    fs::write(&path, records.replace(PROJECT, &cwd.to_string_lossy()))?;
    let file = File::options().append(true).open(path)?;
    file.set_modified(SystemTime::UNIX_EPOCH + written)
}

fn write_beside(session: &Path) -> io::Result<()> {
    let subagents = session.join("subagents");
    fs::create_dir_all(&subagents)?;
    let records = include_str!("made_home/subagent.jsonl");
    fs::write(subagents.join("agent-finder.jsonl"), records)?;
    fs::write(subagents.join("agent-finder.meta.json"), AGENT)?;
    let results = session.join("tool-results");
    fs::create_dir_all(&results)?;
    fs::write(results.join("call_1.txt"), "fn login(token: Token) {}")
}

/// Runs an example for `towline-store` in a [`MadeHome`](crate::made_home::MadeHome).
///
/// `in_home!(|home, session| { … })` gives what is named, in any number and order:
///
/// | name | what it is |
/// |---|---|
/// | `home` | the `Home` |
/// | `project` | the path of the working directory |
/// | `workspace` | the `Workspace` there |
/// | `session`, `transcript`, `tree` | of the session about a login |
/// | `compacted` | the `Tree` of the session about logs |
///
/// The example may use all names of `towline_store` and `?`. The macro names `towline_store` and does not depend on it:
/// that must be a dependency where the macro is used.
///
/// ```text
/// /// # towline_testkit::in_home!(|home, project, session| {
/// /// assert_eq!(home.newest(&project)?, Some(session));
/// /// # });
/// ```
#[macro_export]
macro_rules! in_home {
    (|$($name:ident),+| { $($body:tt)* }) => {{
        use ::towline_store::*;
        use $crate::made_home::MadeHome;
        let example = || -> ::std::result::Result<(), ::std::boxed::Box<dyn ::std::error::Error>> {
            let made = MadeHome::new(|config, cwd| Home::new(config).project_folder(cwd))?;
            $($crate::in_home!(@$name $name made);)+
            $($body)*
            Ok(())
        };
        if let Err(error) = example() {
            panic!("the example fails: {error}");
        }
    }};
    (@home $name:ident $made:ident) => {
        let $name = Home::new($made.config());
    };
    (@project $name:ident $made:ident) => {
        let $name = $made.project();
    };
    (@workspace $name:ident $made:ident) => {
        let $name = Workspace::at(&$made.project())?;
    };
    (@session $name:ident $made:ident) => {
        let $name = Home::new($made.config()).session(&MadeHome::LOGIN.parse()?)?;
    };
    (@transcript $name:ident $made:ident) => {
        $crate::in_home!(@session session $made);
        let mut $name = session.transcript()?;
    };
    (@tree $name:ident $made:ident) => {
        $crate::in_home!(@transcript transcript $made);
        let $name = transcript.tree();
    };
    (@compacted $name:ident $made:ident) => {
        let transcript = Home::new($made.config()).session(&MadeHome::LOGS.parse()?)?.transcript()?;
        let $name = transcript.tree();
    };
}

/// Stands for the working directory in the records.
const PROJECT: &str = "PROJECT";
const SETTINGS: &str = r#"{"model": "opus"}"#;
const AGENT: &str = r#"{"agentType": "finder"}"#;
/// 2026-11-16T05:10:00Z, some minutes behind the last record.
const NEWEST: Duration = Duration::from_secs(1_794_805_800);
const MINUTE: Duration = Duration::from_secs(60);
