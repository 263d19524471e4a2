//! [`HostileRepository`]: a git repository that names a program wherever one can be named. Each program leaves a mark.
//!
//! Looking at such a repository must leave no mark; git by itself leaves some, which shows that the trap is a good one.

mod programs;

use std::{
    ffi::OsStr,
    fs, io,
    os::unix::{
        ffi::OsStrExt as _,
        fs::{PermissionsExt as _, symlink},
    },
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use self::programs::{Form, HOOKS};
pub use self::programs::{PROGRAM_SETTINGS, ProgramSetting, unlisted_programs};

/// Programs that leave a mark, and repositories that name them.
///
/// ```
/// use towline_testkit::hostile_repository::{HostileRepository, Way};
///
/// let folder = tempfile::tempdir()?;
/// let hostile = HostileRepository::new(folder.path())?;
/// let project = hostile.make(Way::Configuration, folder.path())?;
/// assert_eq!(hostile.marks(), [""; 0]);
/// hostile.look_with_git(&project)?;
/// assert!(!hostile.marks().is_empty());
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct HostileRepository {
    programs: PathBuf,
    mark: PathBuf,
}

/// The way in which the programs are named.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// In the repository's configuration.
    Configuration,
    /// In a file that the configuration includes.
    Include,
    /// In a file that the configuration includes under a condition.
    IncludeIf,
    /// In the configuration of a work tree.
    WorkTree,
    /// As hooks in their usual folder, and in a configuration that is otherwise plain.
    Hooks,
    /// In a linked work tree whose repository has the configuration.
    Linked,
    /// In a folder laid out as a bare repository, which came with a clone.
    BareFolder,
    /// In a submodule whose changes are to be shown.
    Submodule,
}

impl Way {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Configuration,
        Self::Include,
        Self::IncludeIf,
        Self::WorkTree,
        Self::Hooks,
        Self::Linked,
        Self::BareFolder,
        Self::Submodule,
    ];

    /// Marks that git by itself leaves.
    pub fn expected_marks(self) -> &'static [&'static str] {
        match self {
            Self::Hooks => &["post-index-change"],
            Self::BareFolder => &["core-fsmonitor"],
            Self::Submodule => &["filter-x_xff-clean"],
            _ => &["core-fsmonitor", "filter-x_xff-clean"],
        }
    }
}

impl HostileRepository {
    /// Writes the programs into a scratch folder.
    ///
    /// # Errors
    /// When they cannot be written.
    pub fn new(folder: &Path) -> io::Result<Self> {
        let folder = folder.canonicalize()?;
        let programs = folder.join("programs");
        let mark = folder.join("marks");
        fs::create_dir_all(programs.join("hooks"))?;
        let script = programs.join("script");
        let text = format!(
            "#!/bin/sh\nprintf '%s\\n' \"${{0##*/}}\" >> '{}'\nexec cat\n",
            mark.display()
        );
        fs::write(&script, text)?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
        for setting in PROGRAM_SETTINGS {
            if setting.form != Form::Hooks {
                symlink(&script, programs.join(setting.mark()))?;
            }
        }
        for hook in HOOKS {
            symlink(&script, programs.join("hooks").join(hook))?;
        }
        Ok(Self { programs, mark })
    }

    /// The names of the programs that have run.
    pub fn marks(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.mark).unwrap_or_default();
        let mut marks: Vec<String> = text.lines().map(str::to_owned).collect();
        marks.sort();
        marks.dedup();
        marks
    }

    /// Forgets the marks.
    ///
    /// # Errors
    /// When their file cannot be removed.
    pub fn forget(&self) -> io::Result<()> {
        match fs::remove_file(&self.mark) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Makes a project in a folder, with files that have changed, and names the programs in it. The path is that of the
    /// project; of a clone, that of a folder in it.
    ///
    /// # Errors
    /// When git fails, or a file cannot be written.
    pub fn make(&self, way: Way, folder: &Path) -> io::Result<PathBuf> {
        let folder = folder.canonicalize()?;
        let project = folder.join(format!("{way:?}").to_lowercase());
        fs::create_dir(&project)?;
        commit_files(&project)?;
        let git = project.join(".git");
        let evil = folder.join(format!("{way:?}.config"));
        let mut changed = project.clone();
        match way {
            Way::Configuration => append(&git.join("config"), &self.configuration(&[]))?,
            Way::Include | Way::IncludeIf => {
                fs::write(&evil, self.configuration(&[]))?;
                let section = match way {
                    Way::Include => "[include]".to_owned(),
                    _ => "[includeIf \"gitdir:**\"]".to_owned(),
                };
                let text = format!("{section}\n\tpath = {}\n", evil.display());
                append(&git.join("config"), text.as_bytes())?;
            }
            Way::WorkTree => {
                run_git(&project, &["config", "extensions.worktreeConfig", "true"])?;
                fs::write(git.join("config.worktree"), self.configuration(&[]))?;
            }
            Way::Hooks => {
                let hooks = git.join("hooks");
                fs::create_dir_all(&hooks)?;
                for hook in HOOKS {
                    symlink(self.programs.join("script"), hooks.join(hook))?;
                }
            }
            Way::Linked => {
                run_git(
                    &project,
                    &["worktree", "add", "-q", "-b", "side", "../linked-side"],
                )?;
                append(&git.join("config"), &self.configuration(&[]))?;
                changed = folder.join("linked-side");
            }
            Way::BareFolder => {
                self.commit_bare_folder(&project.join("docs"))?;
                run_git(&project, &["add", "-A"])?;
                run_git(&project, &["commit", "-q", "-m", "docs"])?;
                let clone = folder.join("clone");
                let words = [
                    "clone".as_ref(),
                    "-q".as_ref(),
                    project.as_os_str(),
                    clone.as_os_str(),
                ];
                run_git(&folder, &words)?;
                changed = clone.join("docs");
            }
            Way::Submodule => {
                let sub = project.join("sub");
                fs::create_dir(&sub)?;
                commit_files(&sub)?;
                let modules = "[submodule \"sub\"]\n\tpath = sub\n\turl = ./sub\n\tignore = none\n";
                fs::write(project.join(".gitmodules"), modules)?;
                run_git(&project, &["add", "-A"])?;
                run_git(&project, &["commit", "-q", "-m", "sub"])?;
                run_git(&project, &["config", "submodule.sub.url", "./sub"])?;
                run_git(&project, &["config", "submodule.sub.ignore", "none"])?;
                append(
                    &sub.join(".git/config"),
                    &self.configuration(&["fsmonitor"]),
                )?;
                change_files(&sub)?;
            }
        }
        change_files(&changed)?;
        Ok(changed)
    }

    /// Runs `git status` and `git diff` as a person would, who reads no configuration first.
    ///
    /// # Errors
    /// When git cannot be started. That it fails over what the programs say is no error.
    pub fn look_with_git(&self, project: &Path) -> io::Result<()> {
        for words in [&["status"][..], &["diff"]] {
            git(project).args(words).output()?;
        }
        Ok(())
    }

    /// All settings, but for some variables.
    fn configuration(&self, without: &[&str]) -> Vec<u8> {
        let mut text = Vec::new();
        for setting in PROGRAM_SETTINGS {
            let (section, subsection, variable) = setting.name;
            if without.contains(&variable) {
                continue;
            }
            let program = self.programs.join(setting.mark());
            let program = program.display();
            let value = match setting.form {
                Form::Path => program.to_string(),
                Form::Shell => format!("!{program}"),
                Form::Hooks => self.programs.join("hooks").display().to_string(),
                Form::Address => format!("ext::{program}"),
            };
            text.extend(format!("[{section}").bytes());
            if let Some(subsection) = subsection {
                text.extend([b" \"", subsection, b"\""].concat());
            }
            text.extend(format!("]\n\t{variable} = \"{value}\"\n").bytes());
        }
        text.extend(b"[filter \"evil\"]\n\trequired = true\n[log]\n\tshowSignature = true\n");
        text
    }

    /// A folder that git takes for a repository by its looks.
    fn commit_bare_folder(&self, folder: &Path) -> io::Result<()> {
        for (path, text) in [
            ("HEAD", "ref: refs/heads/main\n"),
            ("refs/keep", ""),
            ("objects/keep", ""),
        ] {
            let path = folder.join(path);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(path, text)?;
        }
        let plain = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ..\n";
        fs::write(folder.join("config"), plain)?;
        append(&folder.join("config"), &self.configuration(&[]))
    }
}

impl ProgramSetting {
    /// The name of its program, which a shell takes as it is.
    fn mark(&self) -> String {
        let (section, subsection, variable) = self.name;
        let subsection = subsection.unwrap_or_default().escape_ascii().to_string();
        let subsection = subsection.replace(['/', '\\'], "_");
        let words = [section, &subsection, variable];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        words.join("-")
    }
}

/// A repository with two files under filters and drivers, and a picture.
fn commit_files(project: &Path) -> io::Result<()> {
    run_git(project, &["init", "-q", "-b", "main"])?;
    for (path, text) in [("a.txt", "1\n"), ("b.txt", "1\n"), ("c.png", "1\n")] {
        fs::write(project.join(path), text)?;
    }
    fs::write(project.join(".gitattributes"), ATTRIBUTES)?;
    run_git(project, &["add", "-A"])?;
    run_git(project, &["commit", "-q", "-m", "first"])
}

fn change_files(project: &Path) -> io::Result<()> {
    for path in ["a.txt", "b.txt", "c.png", "new.txt"] {
        fs::write(project.join(path), "2\n")?;
    }
    // The same as before: git writes its index anew when it sees that.
    fs::write(project.join(".gitattributes"), ATTRIBUTES)
}

fn append(path: &Path, text: &[u8]) -> io::Result<()> {
    let mut all = fs::read(path)?;
    all.extend(text);
    fs::write(path, all)
}

fn git(directory: &Path) -> Command {
    let mut command = Command::new("git");
    command
        .current_dir(directory)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .stdin(Stdio::null());
    command
}

fn run_git(directory: &Path, words: &[impl AsRef<OsStr>]) -> io::Result<()> {
    let output = git(directory)
        .args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"])
        .args(words)
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let complaint = OsStr::from_bytes(&output.stderr).display().to_string();
    Err(io::Error::other(format!("git fails: {complaint}")))
}

/// The filter whose program fails over what ours says comes last: git ends there.
const ATTRIBUTES: &[u8] =
    b"a.txt filter=x\xff diff=x\xff merge=x\xff\nb.txt filter=e=v.il\nc.png filter=evil diff=evil merge=evil\n";
