//! What git says of a repository, in a child process that cannot hold anybody up.

use std::{collections::BTreeMap, ffi::OsString, path::Path, process::Stdio, time::Duration};

use tokio::{io::AsyncReadExt, process::Command, time::timeout};

/// The changed files, at most so many, as `git status` lists them; nothing if there is no git, no repository, or no
/// answer in time. Takes no lock of the repository.
pub(crate) async fn git_status(
    cwd: &Path,
    environment: &BTreeMap<OsString, OsString>,
    patience: Duration,
) -> Option<String> {
    let mut child = Command::new("git")
        .args(["--no-optional-locks", "status", "--short", "--branch"])
        .current_dir(cwd)
        .env_clear()
        .envs(environment)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .ok()?;
    let output = child.stdout.take()?;
    let mut bytes = Vec::new();
    let answer = async {
        output.take(MOST_BYTES).read_to_end(&mut bytes).await.ok()?;
        if (bytes.len() as u64) < MOST_BYTES {
            child
                .wait()
                .await
                .ok()
                .filter(std::process::ExitStatus::success)?;
        }
        Some(())
    };
    timeout(patience, answer).await.ok().flatten()?;
    Some(shortened(&String::from_utf8_lossy(&bytes)))
}

fn shortened(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().take(MOST_LINES + 1).collect();
    if lines.len() > MOST_LINES || text.len() as u64 >= MOST_BYTES {
        // The last one may be cut off.
        lines.pop();
        lines.push("… and more");
    }
    lines.join("\n")
}

const MOST_BYTES: u64 = 16 << 10;
const MOST_LINES: usize = 100;

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, ffi::OsString, time::Duration};

    use super::{git_status, shortened};

    /// Stands in for `git`: a script of that name in a folder that is the whole `PATH`.
    async fn with_git(script: Option<&str>, patience: Duration) -> Option<String> {
        use std::{fs, os::unix::fs::PermissionsExt};

        let folder = tempfile::tempdir().unwrap();
        if let Some(script) = script {
            let git = folder.path().join("git");
            fs::write(&git, format!("#!/bin/sh\n{script}\n")).unwrap();
            fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let path: OsString = folder.path().into();
        let environment = BTreeMap::from([(OsString::from("PATH"), path)]);
        git_status(folder.path(), &environment, patience).await
    }

    #[tokio::test]
    async fn git_is_asked_and_nobody_minds_if_it_does_not_answer() {
        let long = Duration::from_secs(60);
        let said = with_git(Some("echo '## main'; echo ' M a.rs'"), long).await;
        assert_eq!(said.as_deref(), Some("## main\n M a.rs"));
        assert_eq!(with_git(Some("echo no; exit 128"), long).await, None);
        assert_eq!(with_git(None, long).await, None);
        let short = Duration::from_millis(50);
        assert_eq!(with_git(Some("while :; do :; done"), short).await, None);
        let endless = with_git(Some("while :; do echo ' M file'; done"), long).await;
        assert!(endless.unwrap().ends_with("… and more"));
    }

    #[test]
    fn a_long_answer_is_cut_at_a_line() {
        assert_eq!(shortened("a\nb\n"), "a\nb");
        let many = "line\n".repeat(500);
        assert_eq!(shortened(&many).lines().count(), 101);
    }
}
