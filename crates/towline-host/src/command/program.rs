//! Which program: a path, `claude` wherever it is, or a package that `npx` fetches.

use std::{
    env,
    ffi::{OsStr, OsString},
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use super::AgentCommand;
use crate::error::Error;

impl AgentCommand {
    /// `claude`, from the `PATH` or one of the usual places.
    ///
    /// ```
    /// # use towline_host::{AgentCommand, Error};
    /// match AgentCommand::claude() {
    ///     Ok(command) => println!("found {:?}", command.program()),
    ///     Err(error) => eprintln!("{error}"), // says where it was looked for
    /// }
    /// ```
    ///
    /// # Errors
    /// When it is in none of them.
    pub fn claude() -> Result<Self, Error> {
        let home = env::var_os("HOME").map(PathBuf::from);
        let search = env::var_os("PATH").unwrap_or_default();
        find("claude", &search, home.as_deref()).map(Self::new)
    }

    /// A version of Claude Code that `npx` fetches from the npm registry, such as `2.1.325` or `latest`.
    ///
    /// The first time, the download is part of what the first answer takes: that to `initialize`, or to
    /// [`AgentCommand::version`]. Where a minute is not enough for both, [`AgentCommand::request_timeout`] gives more.
    ///
    /// ```
    /// # use towline_host::AgentCommand;
    /// use std::time::Duration;
    ///
    /// let command = AgentCommand::npx("latest").request_timeout(Some(Duration::from_secs(300)));
    /// assert!(command.to_string().starts_with("npx -y @anthropic-ai/claude-code@latest "));
    /// ```
    pub fn npx(version: &str) -> Self {
        Self::package(&format!("@anthropic-ai/claude-code@{version}"))
    }

    /// A version of Claude Code Router that `npx` fetches from the npm registry.
    ///
    /// It speaks the same protocol in front of other models. A download takes its time as with [`AgentCommand::npx`].
    ///
    /// ```
    /// # use towline_host::AgentCommand;
    /// let command = AgentCommand::router("latest");
    /// assert!(command.to_string().starts_with("npx -y @musistudio/claude-code-router@latest code "));
    /// ```
    pub fn router(version: &str) -> Self {
        let mut command = Self::package(&format!("@musistudio/claude-code-router@{version}"));
        command.leading.push("code".into());
        command
    }

    fn package(package: &str) -> Self {
        let mut command = Self::new("npx");
        command.leading = vec!["-y".into(), package.into()];
        command
    }

    /// Adds arguments before all others: for a program that starts the agent, such as `node` or `docker`.
    ///
    /// ```
    /// # use towline_host::AgentCommand;
    /// let command = AgentCommand::new("node").leading_args(["/opt/agent/cli.js"]).model("sonnet");
    /// assert!(command.to_string().starts_with("node /opt/agent/cli.js "));
    /// ```
    #[must_use]
    pub fn leading_args<A: Into<OsString>>(
        mut self,
        arguments: impl IntoIterator<Item = A>,
    ) -> Self {
        self.leading.extend(arguments.into_iter().map(Into::into));
        self
    }

    /// The program that will be started.
    ///
    /// ```
    /// # use towline_host::AgentCommand;
    /// assert_eq!(AgentCommand::npx("latest").program(), "npx");
    /// ```
    pub fn program(&self) -> &OsStr {
        &self.program
    }
}

fn find(name: &str, search: &OsStr, home: Option<&Path>) -> Result<OsString, Error> {
    let on_path = absolute(search).map(|directory| directory.join(name));
    let usual: Vec<_> = usual_places(home)
        .into_iter()
        .map(|directory| directory.join(name))
        .collect();
    let found = on_path.chain(usual.iter().cloned()).find(|file| runs(file));
    found.map(Into::into).ok_or_else(|| Error::NotFound {
        looked_for: name.to_owned(),
        searched: usual,
    })
}

/// A `PATH` without folders that depend on where the agent works: with `.` or `node_modules/.bin` in it, the project's own
/// program would be started for one that is given by its name. `None` where it has none of them.
pub(super) fn outside(search: &OsStr) -> Option<OsString> {
    let is_whole = env::split_paths(search).all(|directory| directory.is_absolute());
    let joined = || env::join_paths(absolute(search)).ok();
    // An empty `PATH` means the current directory, too.
    let found = || joined().filter(|path| !path.is_empty());
    (!is_whole).then(|| found().unwrap_or_else(|| USUAL.into()))
}

/// The folders of a `PATH` that do not depend on where the agent works.
fn absolute(search: &OsStr) -> impl Iterator<Item = PathBuf> {
    env::split_paths(search).filter(|directory| directory.is_absolute())
}

/// Where installers put it.
fn usual_places(home: Option<&Path>) -> Vec<PathBuf> {
    let at_home = [
        ".local/bin",
        ".claude/local",
        ".npm-global/bin",
        "node_modules/.bin",
        ".yarn/bin",
        ".bun/bin",
        ".volta/bin",
    ];
    let system = ["/usr/local/bin", "/opt/homebrew/bin", "/usr/bin"];
    let at_home = at_home.iter().filter_map(|place| Some(home?.join(place)));
    at_home.chain(system.map(PathBuf::from)).collect()
}

fn runs(file: &Path) -> bool {
    file.metadata()
        .is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

/// A word of a command line for a person: quoted where a shell would need it, and not too long.
pub(super) fn shown(word: &OsStr) -> String {
    let word = word.to_string_lossy();
    // Settings and servers may hold what is not for a log.
    let (open, is_json) = match word.split_once('{') {
        Some((before, _)) => (before, true),
        None => (&*word, false),
    };
    let mut short: String = open.chars().take(LONGEST_SHOWN).collect();
    if is_json {
        short.push_str("{…}");
    } else if short.len() < word.len() {
        short.push('…');
    }
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=./:@,+%".contains(c);
    if !short.is_empty() && short.chars().all(plain) {
        short
    } else {
        format!("'{}'", short.replace('\'', r"'\''"))
    }
}

/// The `PATH` where the given one has no folder of its own.
const USUAL: &str = "/usr/local/bin:/usr/bin:/bin";

/// Longer words are mostly prompts.
const LONGEST_SHOWN: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_goes_before_the_usual_places_and_only_what_runs_counts() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let bin = folder.path().join("bin");
        let usual = home.join(".local/bin");
        std::fs::create_dir_all(&usual).unwrap();
        std::fs::create_dir_all(&bin).unwrap();
        let find = || find("agent", bin.as_os_str(), Some(&home)).ok();
        assert_eq!(find(), None);
        std::fs::write(usual.join("agent"), "").unwrap();
        assert_eq!(find(), None, "not executable");
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(usual.join("agent"), executable.clone()).unwrap();
        assert_eq!(find(), Some(usual.join("agent").into()));
        std::fs::write(bin.join("agent"), "").unwrap();
        std::fs::set_permissions(bin.join("agent"), executable).unwrap();
        assert_eq!(find(), Some(bin.join("agent").into()));
    }

    #[test]
    fn a_relative_folder_of_the_path_led_into_the_project() {
        for (search, expected) in [
            ("/usr/bin:/bin", None),
            ("node_modules/.bin:/usr/bin", Some("/usr/bin")),
            (".:/usr/bin::/bin", Some("/usr/bin:/bin")),
            (".", Some(USUAL)),
            ("", Some(USUAL)),
        ] {
            let found = outside(OsStr::new(search));
            assert_eq!(found, expected.map(Into::into), "{search}");
        }
        let folder = tempfile::tempdir_in(".").unwrap();
        let relative = Path::new(folder.path().file_name().unwrap());
        let program = relative.join("agent");
        std::fs::write(&program, "").unwrap();
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        assert!(runs(&program), "it would be found");
        assert!(find("agent", relative.as_os_str(), None).is_err());
    }

    #[test]
    fn what_is_missing_is_named_with_the_places() {
        let error = find("agent", OsStr::new(""), Some(Path::new("/nowhere"))).unwrap_err();
        let message = error.to_string();
        assert!(
            message.contains("agent is neither on the PATH nor in /nowhere/.local/bin/agent"),
            "{message}"
        );
    }

    #[test]
    fn a_word_is_shown_as_a_shell_would_take_it() {
        for (word, expected) in [
            ("--model", "--model"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            (r#"{"env":{"KEY":"secret"}}"#, "'{…}'"),
        ] {
            assert_eq!(shown(OsStr::new(word)), expected);
        }
        assert_eq!(shown(OsStr::new(&"x".repeat(100))).chars().count(), 63);
    }
}
