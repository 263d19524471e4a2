//! Runs `git` so that it only looks: nothing that a repository says is executed, nothing is fetched, nothing is asked.
//!
//! A repository can name programs in its configuration: filters, hooks, a file watcher, diff drivers, a pager. An agent may
//! have written it, or it came with a clone, and looking at a diff on a phone is no permission to run any of that. So git
//! never reads it: it works on a folder of ours (`private`) with a configuration of ours, for which the repository's own
//! is read as data (`settings`). Settings of the user and of the system are left out too, so that answers look the same
//! everywhere.

mod child;
mod objects;
mod private;
mod repository;
mod settings;

use std::{
    ffi::{OsStr, OsString},
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::process::Command;

pub(super) use self::repository::Repository;
use self::{
    child::{Keep, Limits, MOST_WORDS},
    private::PrivateFolder,
    repository::real,
    settings::Settings,
};
use super::ProjectError;
use crate::access::Roots;

/// `git` in a folder, with an end to all that it may take.
#[derive(Debug)]
pub(super) struct Git {
    /// Where it runs.
    directory: PathBuf,
    /// The folder of all files.
    work_tree: PathBuf,
    repository: Arc<Repository>,
    settings: Settings,
    private: Arc<PrivateFolder>,
    limits: Limits,
}

/// What `git` wrote.
#[derive(Debug)]
pub(super) struct Output {
    pub(super) bytes: Vec<u8>,
    /// Whether it wrote more than was wanted.
    pub(super) truncated: bool,
}

impl Git {
    /// `git` in a folder of a work tree.
    ///
    /// # Errors
    /// When there is no work tree, or it or its repository is somewhere else than it may be.
    pub(super) async fn at(
        directory: &Path,
        roots: &Arc<Roots>,
        time: Duration,
    ) -> Result<Self, ProjectError> {
        let limits = Limits::new(time);
        let (folder, allowed) = (directory.to_owned(), Arc::clone(roots));
        let found = limits.blocking(move || {
            let repository = Repository::find(&folder, &allowed)?;
            let configuration = repository.configuration(&allowed)?;
            Ok((repository, configuration))
        });
        let (repository, configuration) = found.await?;
        let mut git = Self {
            directory: directory.to_owned(),
            work_tree: repository.top.clone(),
            repository: Arc::new(repository),
            settings: Settings::default(),
            private: Arc::new(PrivateFolder::new()?),
            limits,
        };
        git.read_settings(&configuration).await?;
        git.find_work_tree(roots)?;
        git.fill_private_folder(roots).await?;
        Ok(git)
    }

    /// Reads the repository's configuration as data, and over it that of the work tree.
    async fn read_settings(&mut self, files: &[Vec<u8>; 2]) -> Result<(), ProjectError> {
        for file in files {
            let list = ["config", "--file", "-", "--no-includes", "--list", "--null"];
            // The folder is still empty: there is no repository whose configuration could be read besides.
            let command = self.command(&list, self.private.path());
            let keep = Keep::Beginning(MOST_SETTINGS);
            let (listed, complaint) = self.limits.run(command, file, keep).await?;
            if let Some(complaint) = complaint {
                return Err(ProjectError::Unusable(format!(
                    "the configuration of the repository cannot be read: {complaint}"
                )));
            }
            if listed.truncated {
                return Err(ProjectError::Unusable(
                    "the repository has too many settings".to_owned(),
                ));
            }
            self.settings.read(&listed.bytes)?;
            if !self.settings.by_work_tree {
                break;
            }
        }
        Ok(())
    }

    /// Where the files are. `core.worktree` can lead anywhere.
    fn find_work_tree(&mut self, roots: &Roots) -> Result<(), ProjectError> {
        let repository = &self.repository;
        let is_linked = repository.is_linked();
        if self.settings.is_bare && !is_linked {
            return Err(ProjectError::Unusable(format!(
                "{} has no work tree: core.bare is true",
                repository.shared.display()
            )));
        }
        let Some(path) = self.settings.work_tree.take().filter(|_| !is_linked) else {
            return Ok(());
        };
        let work_tree = real(&repository.own.join(PathBuf::from(OsString::from_vec(path))))?;
        if !self.directory.starts_with(&work_tree) {
            roots.existing(&work_tree)?;
            return Err(ProjectError::Unusable(format!(
                "the work tree of {} is elsewhere: {}",
                self.directory.display(),
                work_tree.display()
            )));
        }
        self.work_tree = work_tree;
        Ok(())
    }

    async fn fill_private_folder(&mut self, roots: &Arc<Roots>) -> Result<(), ProjectError> {
        let (repository, allowed) = (Arc::clone(&self.repository), Arc::clone(roots));
        let file = self.settings.to_file();
        let filled = self.limits.blocking(move || {
            let mut private = PrivateFolder::new()?;
            private.fill(&repository, &file, &allowed)?;
            Ok(private)
        });
        self.private = Arc::new(filled.await?);
        Ok(())
    }

    /// Lets git know of the other work trees of the repository.
    ///
    /// # Errors
    /// When one cannot be read.
    pub(super) async fn add_work_trees(&self, roots: &Arc<Roots>) -> Result<(), ProjectError> {
        let (private, repository) = (Arc::clone(&self.private), Arc::clone(&self.repository));
        let allowed = Arc::clone(roots);
        let add = move || private.add_work_trees(&repository, &allowed);
        self.limits.blocking(add).await
    }

    pub(super) fn repository(&self) -> &Repository {
        &self.repository
    }

    /// The folder of all files.
    pub(super) fn work_tree(&self) -> &Path {
        &self.work_tree
    }

    /// The folder that is looked at.
    pub(super) fn directory(&self) -> &Path {
        &self.directory
    }

    /// A name from the folder of all files as one from the folder that is looked at.
    pub(super) fn name_from_here(&self, name: &[u8]) -> String {
        let path = self.work_tree.join(OsStr::from_bytes(name));
        let name = path.strip_prefix(&self.directory).unwrap_or(&path);
        name.to_string_lossy().into_owned()
    }

    /// The commit that is checked out in a submodule; `None` when it is not there. Of its repository only `HEAD` and the
    /// branches are read.
    ///
    /// # Errors
    /// When it is somewhere else than it may be, or cannot be read.
    pub(super) async fn head_of(
        &self,
        submodule: &Path,
        roots: &Arc<Roots>,
    ) -> Result<Option<String>, ProjectError> {
        let (folder, allowed) = (submodule.to_owned(), Arc::clone(roots));
        let settings = self.settings.clone();
        let look = self.limits.blocking(move || {
            let Some(repository) = Repository::of_submodule(&folder, &allowed)? else {
                return Ok(None);
            };
            let mut private = PrivateFolder::new()?;
            let form = settings.form_of_submodule(repository.has_reftable());
            private.fill_heads(&repository, &form, &allowed)?;
            Ok(Some(private))
        });
        let Some(private) = look.await? else {
            return Ok(None);
        };
        let mut command = self.command(&["rev-parse", "--verify", "HEAD"], private.path());
        command.env("GIT_DIR", private.git_dir());
        let output = self
            .finish(command, &[], Keep::Beginning(MOST_WORDS))
            .await?;
        let id = String::from_utf8_lossy(&output.bytes).trim_end().to_owned();
        Ok((!id.is_empty()).then_some(id))
    }

    /// Has git take files for unchanged, whatever is in them: names from the folder of all files, each with a zero byte at
    /// its end.
    pub(super) async fn leave_alone(&self, names: &[u8]) -> Result<(), ProjectError> {
        let leave_alone = ["update-index", "--assume-unchanged", "-z", "--stdin"];
        self.run_at_top(&leave_alone, names, MOST_WORDS).await?;
        Ok(())
    }

    /// What a command writes, up to a bound.
    ///
    /// # Errors
    /// When it fails: what it says.
    pub(super) async fn run(
        &self,
        arguments: &[impl AsRef<OsStr>],
        input: &[u8],
        most: u64,
    ) -> Result<Output, ProjectError> {
        let command = self.command(arguments, &self.directory);
        self.finish(command, input, Keep::Beginning(most)).await
    }

    /// The same from the folder of all files: there, full names are names.
    pub(super) async fn run_at_top(
        &self,
        arguments: &[impl AsRef<OsStr>],
        input: &[u8],
        most: u64,
    ) -> Result<Output, ProjectError> {
        let command = self.command(arguments, &self.work_tree);
        self.finish(command, input, Keep::Beginning(most)).await
    }

    /// The records that a command writes and that begin like this, up to a bound of bytes.
    pub(super) async fn records(
        &self,
        arguments: &[impl AsRef<OsStr>],
        start: &'static [u8],
        most: u64,
    ) -> Result<Output, ProjectError> {
        let command = self.command(arguments, &self.directory);
        self.finish(command, &[], Keep::Records(start, most)).await
    }

    /// A few words that a command writes, without the end of the line.
    pub(super) async fn text(&self, arguments: &[&str]) -> Result<String, ProjectError> {
        let output = self.run(arguments, &[], MOST_WORDS).await?;
        Ok(String::from_utf8_lossy(&output.bytes).trim_end().to_owned())
    }

    async fn finish(
        &self,
        command: Command,
        input: &[u8],
        keep: Keep,
    ) -> Result<Output, ProjectError> {
        let (output, complaint) = self.limits.run(command, input, keep).await?;
        match (output, complaint.map(|complaint| harmless(&complaint))) {
            (output, None) => Ok(output),
            (_, Some(complaint)) if self.settings.is_partial => {
                Err(ProjectError::Unusable(format!(
                    "{complaint} (this is a partial clone, and objects that it lacks are not fetched for a look)"
                )))
            }
            (_, Some(complaint)) => Err(ProjectError::Unusable(complaint)),
        }
    }

    fn command(&self, arguments: &[impl AsRef<OsStr>], directory: &Path) -> Command {
        let mut command = Command::new("git");
        command
            .args(arguments)
            .current_dir(directory)
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", outside(&path))))
            .envs(VARIABLES.iter().copied())
            .env("GIT_DIR", self.private.git_dir())
            .env("GIT_WORK_TREE", &self.work_tree);
        if let Some(ignored) = ignore::gitignore::gitconfig_excludes_path() {
            command
                .env("GIT_CONFIG_COUNT", "1")
                .env("GIT_CONFIG_KEY_0", "core.excludesFile")
                .env("GIT_CONFIG_VALUE_0", ignored);
        }
        command
    }
}

/// The words of a complaint that may be shown. git names files in quotes, or in front of an error, and while folders and
/// links are exchanged these can be files from elsewhere.
fn harmless(complaint: &str) -> String {
    let is_harmless = |line: &&str| line.starts_with("fatal: ") && !line.contains(['\'', '"', '/']);
    let line = complaint.lines().find(is_harmless);
    line.unwrap_or("git could not finish the look; files may have changed meanwhile")
        .to_owned()
}

/// The folders for programs that do not depend on where git runs: in a project, `.` is the project's.
fn outside(path: &OsStr) -> OsString {
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute());
    let path = std::env::join_paths(folders).unwrap_or_default();
    // An empty `PATH` means the folder where git runs, too.
    if path.is_empty() { USUAL.into() } else { path }
}

const USUAL: &str = "/usr/local/bin:/usr/bin:/bin";

const VARIABLES: &[(&str, &str)] = &[
    ("GIT_ALLOW_PROTOCOL", ""),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
];

const MOST_SETTINGS: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_of_git_named_files_from_elsewhere() {
        for (complaint, shown) in [
            ("fatal: bad config line 1", "fatal: bad config line 1"),
            (
                "fatal: pathspec 'x/SECRET' is beyond a symbolic link",
                "files may",
            ),
            (
                "error: short read while indexing SECRET\nfatal: adding files failed",
                "fatal: adding files failed",
            ),
            ("error: open(\"x/SECRET\"): Permission denied", "files may"),
            ("", "files may"),
        ] {
            let words = harmless(complaint);
            assert!(
                words.contains(shown) && !words.contains("SECRET"),
                "{words}"
            );
        }
    }

    #[test]
    fn a_project_is_no_folder_for_programs() {
        for (path, expected) in [
            ("/usr/bin:/bin", "/usr/bin:/bin"),
            (".:/bin::tools:/usr/bin:", "/bin:/usr/bin"),
            ("", USUAL),
            (".", USUAL),
        ] {
            assert_eq!(outside(OsStr::new(path)), expected);
        }
    }
}
