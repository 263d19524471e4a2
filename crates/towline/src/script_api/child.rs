//! `towline script-api -- COMMAND`: the command that runs against the server, and how it ends with us.
//!
//! It stays in our process group: one of its own would not be in the foreground, and could not read the terminal.

use std::{
    ffi::OsString,
    os::unix::process::ExitStatusExt,
    process::{ExitCode, ExitStatus},
    sync::Arc,
    time::{Duration, SystemTime},
};

use anyhow::Context;
use tokio::process::{Child, Command};
use towline_process::{Descendants, Group, Signal, Watchdog};

use super::{
    environment,
    signals::{Heard, Signals},
};

/// Runs the command to its end and gives its exit code, as a shell would. What it leaves behind is killed.
///
/// An interrupt comes from the terminal, which sends it to the command too, so that only waiting is left to do. A
/// request to end comes to us alone and is passed on.
pub(super) async fn run(
    command: &[OsString],
    url: &str,
    signals: &mut Signals,
) -> anyhow::Result<ExitCode> {
    let (mut child, mut group) = start(command, url)?;
    loop {
        tokio::select! {
            _ = child.wait() => break,
            heard = signals.next() => match heard {
                Heard::Interrupt => {}
                Heard::End => {
                    // What it started is its own business until it has ended.
                    group.signal(Signal::TERM).ok();
                    tokio::time::timeout(GRACE, child.wait()).await.ok();
                    break;
                }
            }
        }
    }
    // Now, and not later: the command's process id may soon be somebody else's.
    group.kill(&Descendants::default());
    let status = child.wait().await.context("cannot wait for the command")?;
    Ok(code(status))
}

fn start(command: &[OsString], url: &str) -> anyhow::Result<(Child, Group)> {
    let (program, arguments) = command.split_first().context("no command")?;
    let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
    let token = format!("{}-{}", std::process::id(), since.as_nanos());
    let watchdog = Arc::new(Watchdog::new(MARK, token, GRACE));
    let mark = watchdog.mark().context("cannot start the watchdog")?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .envs(environment(url))
        .env("NO_PROXY", without_proxy("NO_PROXY"))
        .env("no_proxy", without_proxy("no_proxy"))
        // Each would win over the key and the address that we give.
        .env_remove("ANTHROPIC_AUTH_TOKEN")
        .env_remove("CLAUDE_CODE_USE_BEDROCK")
        .env_remove("CLAUDE_CODE_USE_VERTEX")
        .kill_on_drop(true);
    mark.put_on(command.as_std_mut());
    let child = command
        .spawn()
        .with_context(|| format!("cannot run `{}`", program.display()))?;
    let group = Group::within_ours(&watchdog, mark, child.id().unwrap_or_default())?;
    Ok((child, group))
}

fn code(status: ExitStatus) -> ExitCode {
    let code = status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal));
    code.and_then(|code| u8::try_from(code).ok())
        .map_or(ExitCode::FAILURE, ExitCode::from)
}

/// Hosts that need no proxy: ours, and what was set before.
fn without_proxy(name: &str) -> OsString {
    let mut hosts = OsString::from("127.0.0.1,localhost,::1");
    if let Some(others) = std::env::var_os(name).filter(|others| !others.is_empty()) {
        hosts.push(",");
        hosts.push(others);
    }
    hosts
}

/// What marks the command and all it starts. Not the mark of a host, which may run inside.
const MARK: &str = "TOWLINE_SCRIPT_API_LEASH";
const GRACE: Duration = Duration::from_secs(10);
