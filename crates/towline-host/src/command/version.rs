//! The version of an agent: read from what it says, and compared.

use std::{process::Stdio, time::Duration};

use semver::{Version, VersionReq};

use super::AgentCommand;
use crate::{
    error::{Ending, Error},
    process::Exit,
    session::Session,
};

impl AgentCommand {
    /// Asks the program for its version (`--version`), without starting a session.
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
    /// When it cannot be started, does not answer within a minute, or says something else.
    pub async fn version(&self) -> Result<Version, Error> {
        let flag = ["--version".into()];
        let description = self.describe(&flag);
        let mut command = std::process::Command::new(&self.program);
        command.args(&self.leading).args(&flag);
        self.surroundings(&mut command)?;
        let mut command = tokio::process::Command::from(command);
        let output = command.stdin(Stdio::null()).kill_on_drop(true).output();
        let output = match tokio::time::timeout(PATIENCE, output).await {
            Ok(Ok(output)) => output,
            Ok(Err(source)) => {
                return Err(Error::Start {
                    command: description,
                    source,
                });
            }
            Err(_) => {
                return Err(Error::TimedOut {
                    request: "--version".to_owned(),
                    after: PATIENCE,
                });
            }
        };
        if !output.status.success() {
            return Err(Error::Ended(Box::new(Ending {
                command: description,
                exit: Some(Exit::from(output.status)),
                closed: false,
                stderr: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            })));
        }
        let said = String::from_utf8_lossy(&output.stdout);
        parse(&said).ok_or_else(|| {
            let said: String = said.trim().chars().take(200).collect();
            Error::Version(format!("`{description}` says no version: {said:?}"))
        })
    }
}

/// Compares the version that an agent told when the host introduced itself.
pub(super) fn check(session: &Session, wanted: &VersionReq, command: &str) -> Result<(), Error> {
    let told = session
        .agent()
        .and_then(|agent| agent.claude_code_version.as_ref());
    let problem = match told.and_then(|told| parse(told)) {
        Some(version) if wanted.matches(&version) => return Ok(()),
        Some(version) => format!("`{command}` is version {version}, and {wanted} is wanted"),
        None => format!("`{command}` does not say its version, and {wanted} is wanted"),
    };
    Err(Error::Version(problem))
}

/// The first word that is a version, as in `2.1.325 (Claude Code)`.
fn parse(text: &str) -> Option<Version> {
    text.split_whitespace()
        .find_map(|word| Version::parse(word.trim_start_matches('v')).ok())
}

/// `npx` may have to fetch a package first.
const PATIENCE: Duration = Duration::from_secs(60);

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
}
