//! `towline script-api -- COMMAND`: the command that runs against the server, and how it ends with us.

use std::{
    ffi::OsString,
    os::unix::process::ExitStatusExt,
    process::{ExitCode, ExitStatus},
    time::Duration,
};

use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process};
use tokio::{
    process::{Child, Command},
    signal::unix::Signal as Signals,
};

use super::environment;

/// Runs the command to its end and gives its exit code, as a shell would.
///
/// An interrupt comes from the terminal, which sends it to the command too, so that only waiting is left to do. A
/// request to terminate comes to us alone and is passed on.
pub(super) async fn run(
    command: &[OsString],
    url: &str,
    interrupt: &mut Signals,
    terminate: &mut Signals,
) -> anyhow::Result<ExitCode> {
    let (program, arguments) = command.split_first().context("no command")?;
    let mut child = Command::new(program)
        .args(arguments)
        .envs(environment(url))
        .env("NO_PROXY", without_proxy("NO_PROXY"))
        .env("no_proxy", without_proxy("no_proxy"))
        // Each would win over the key and the address that we give.
        .env_remove("ANTHROPIC_AUTH_TOKEN")
        .env_remove("CLAUDE_CODE_USE_BEDROCK")
        .env_remove("CLAUDE_CODE_USE_VERTEX")
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("cannot run `{}`", program.display()))?;
    loop {
        tokio::select! {
            status = child.wait() => return Ok(code(status.context("cannot wait for the command")?)),
            _ = interrupt.recv() => {}
            _ = terminate.recv() => return end(child).await,
        }
    }
}

/// Asks the command to end, and makes it if it does not.
async fn end(mut child: Child) -> anyhow::Result<ExitCode> {
    let id = child.id().and_then(|id| i32::try_from(id).ok());
    if let Some(id) = id.and_then(Pid::from_raw) {
        // It can only be gone already.
        kill_process(id, Signal::TERM).ok();
    }
    if let Ok(status) = tokio::time::timeout(GRACE, child.wait()).await {
        return Ok(code(status.context("cannot wait for the command")?));
    }
    child.kill().await.context("cannot end the command")?;
    let status = child.wait().await.context("cannot wait for the command")?;
    Ok(code(status))
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

const GRACE: Duration = Duration::from_secs(10);
