//! The version of an agent: read from what it says, and compared.

use semver::{Version, VersionReq};
use tokio::io::AsyncReadExt as _;

use super::AgentCommand;
use crate::{
    control::passed,
    error::{Ending, Error},
    process::{Exit, Process},
    session::Session,
    stderr::Stderr,
};

impl AgentCommand {
    /// Asks the program for its version (`--version`), without starting a session.
    ///
    /// It may take as long as a request: a minute, or what [`AgentCommand::request_timeout`] says.
    ///
    /// ```
    /// # towline_testkit::fake_agent::run_example(async {
    /// # use towline_host::*;
    /// # let program = towline_testkit::fake_agent::PROGRAM;
    /// let version = AgentCommand::new(program).version().await?;
    /// assert!(version >= Version::new(2, 1, 0));
    /// # Ok(())
    /// # });
    /// ```
    ///
    /// # Errors
    /// When it cannot be started, does not answer in time, or says something else.
    pub async fn version(&self) -> Result<Version, Error> {
        let flag = ["--version".into()];
        let description = self.describe(&flag);
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.leading).args(&flag);
        self.surroundings(&mut command)?;
        let mut process = Process::spawn(command).map_err(|problem| Error::Start {
            command: description.clone(),
            problem,
        })?;
        drop(process.stdin.take());
        let stderr = Stderr::default();
        let mut said = Vec::new();
        let answer = async {
            // A version is short; whatever says more is not asked to stop, just not listened to.
            let listen = async {
                if let Some(stdout) = process.stdout.take() {
                    stdout.take(LONGEST).read_to_end(&mut said).await.ok();
                }
            };
            let complaints = async {
                if let Some(pipe) = process.stderr.take() {
                    stderr.clone().drain(pipe).await;
                }
            };
            tokio::join!(listen, complaints);
            process.wait().await
        };
        let exit = tokio::select! {
            exit = answer => exit.ok(),
            after = passed(self.timeout) => {
                return Err(Error::TimedOut {
                    request: "--version".to_owned(),
                    after,
                });
            }
        };
        if !exit.is_some_and(Exit::success) {
            return Err(Error::Ended(Box::new(Ending {
                command: description,
                exit,
                closed: false,
                stderr: stderr.tail(),
            })));
        }
        let said = String::from_utf8_lossy(&said);
        parse(&said).ok_or_else(|| {
            let said: String = said.trim().chars().take(200).collect();
            Error::Version(format!("`{description}` says no version: {said:?}"))
        })
    }

    /// Compares the version that the agent told when the host introduced itself, or tells when asked for it.
    pub(super) async fn check_version(
        &self,
        session: &Session,
        wanted: &VersionReq,
    ) -> Result<(), Error> {
        let told = session.agent();
        let told = told.and_then(|agent| agent.claude_code_version.as_ref());
        let version = match told.and_then(|told| parse(told)) {
            Some(version) => version,
            None => self.version().await?,
        };
        if wanted.matches(&version) {
            return Ok(());
        }
        let command = self.describe(&[]);
        Err(Error::Version(format!(
            "`{command}` is version {version}, and {wanted} is wanted"
        )))
    }
}

/// The first word that is a version, as in `2.1.325 (Claude Code)`.
fn parse(text: &str) -> Option<Version> {
    text.split_whitespace()
        .find_map(|word| Version::parse(word.trim_start_matches('v')).ok())
}

/// More than any version.
const LONGEST: u64 = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_word_that_is_a_version_counts() {
        for (text, expected) in [
            ("2.1.325 (Claude Code)\n", Some("2.1.325")),
            ("towline v0.1.0-alpha.2", Some("0.1.0-alpha.2")),
            ("1.0", None),
            ("", None),
        ] {
            let expected = expected.map(|version| Version::parse(version).unwrap());
            assert_eq!(parse(text), expected, "{text:?}");
        }
    }

    /// Between the check of a folder and the start a link to another one came in its place.
    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn an_agent_starts_in_the_folder_that_was_opened() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::create_dir_all(path("work/inside")).unwrap();
        std::fs::create_dir(path("outside")).unwrap();
        let says = "[ -d inside ] && echo 1.0.0 || echo 2.0.0";
        let command = AgentCommand::new("/bin/sh").leading_args(["-c", says]);
        let command = command.current_dir(path("work"));
        let opened = std::fs::File::open(path("work")).unwrap();
        std::fs::rename(path("work"), path("aside")).unwrap();
        std::os::unix::fs::symlink("outside", path("work")).unwrap();
        let by_path = command.clone().version().await.unwrap();
        let by_handle = command.opened_dir(opened).version().await.unwrap();
        assert_eq!((by_path.major, by_handle.major), (2, 1));
    }

    /// A `PATH` with a relative folder started the program of the project that the agent was to work in.
    #[tokio::test]
    async fn a_program_by_name_is_not_that_of_the_project() {
        use std::os::unix::fs::PermissionsExt as _;

        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("uname");
        std::fs::write(&program, "#!/bin/sh\necho 6.6.6\n").unwrap();
        let executable = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(&program, executable).unwrap();
        for search in [".:/usr/bin:/bin", "", "."] {
            let command = AgentCommand::new("uname").env("PATH", search);
            let said = command.current_dir(folder.path()).version().await;
            assert_ne!(said.ok().map(|version| version.major), Some(6), "{search}");
        }
    }
}
