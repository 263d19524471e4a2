//! `apiKeyHelper`: a command that prints the key for the API.

use std::{
    path::Path,
    process::{Command, Stdio},
    time::Duration,
};

use anyhow::{Context, bail};
use tokio::{io::AsyncReadExt as _, time::timeout};
use towline_host::process::Process;

use super::surroundings::Environment;

/// Runs the command and gives what it prints.
pub(super) async fn key(
    command: &str,
    folder: &Path,
    environment: &Environment,
) -> anyhow::Result<String> {
    key_within(command, folder, environment, PATIENCE)
        .await
        .with_context(|| format!("the settings' apiKeyHelper `{command}` gave no key"))
}

async fn key_within(
    command: &str,
    folder: &Path,
    environment: &Environment,
    patience: Duration,
) -> anyhow::Result<String> {
    let mut shell = Command::new("/bin/sh");
    shell
        .args(["-c", command])
        .current_dir(folder)
        .env_clear()
        .envs(environment);
    let mut helper = Process::spawn_with(shell, Stdio::inherit())?;
    drop(helper.stdin.take());
    let printed = async {
        let mut printed = String::new();
        if let Some(stdout) = helper.stdout.take() {
            stdout.take(LARGEST).read_to_string(&mut printed).await?;
        }
        let exit = helper.wait().await?;
        anyhow::Ok((printed, exit))
    };
    let Ok(ended) = timeout(patience, printed).await else {
        // Dropping the process ends it and all that it started.
        bail!("it took longer than {} seconds", patience.as_secs_f32());
    };
    let (printed, exit) = ended?;
    if !exit.success() {
        bail!("it ended with {exit}");
    }
    let key = printed.trim();
    if key.is_empty() || key.contains(char::is_whitespace) {
        bail!("it has to print the key and nothing else");
    }
    Ok(key.to_owned())
}

const PATIENCE: Duration = Duration::from_secs(30);
const LARGEST: u64 = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_the_command_prints_is_the_key() {
        let environment: Environment = std::env::vars_os()
            .chain([("K".into(), "k1".into())])
            .collect();
        for (command, expected) in [
            ("echo \" $K \"", "k1"),
            ("exit 3", "it ended with exit code 3"),
            ("true", "it has to print the key and nothing else"),
            ("echo two words", "it has to print the key and nothing else"),
        ] {
            let folder = std::env::temp_dir();
            let key = key_within(command, &folder, &environment, PATIENCE).await;
            let told = key.unwrap_or_else(|error| error.to_string());
            assert_eq!(told, expected, "{command}");
        }
    }

    #[tokio::test]
    async fn a_command_that_never_ends_is_ended() {
        let environment: Environment = std::env::vars_os().collect();
        let folder = std::env::temp_dir();
        let patience = Duration::from_millis(50);
        let error = key_within("exec tail -f /dev/null", &folder, &environment, patience).await;
        assert_eq!(
            error.unwrap_err().to_string(),
            "it took longer than 0.05 seconds"
        );
    }
}
