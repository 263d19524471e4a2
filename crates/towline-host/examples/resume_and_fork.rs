//! Continues a conversation in a new process, and then once more as a fork that leaves the first one as it is.
//!
//! `cargo run -p towline-host --example resume_and_fork [PROGRAM]`; without a program it is `claude`.

use std::io::{self, Write as _};

use towline_host::{AgentCommand, SessionId};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let command = match std::env::args_os().nth(1) {
        Some(program) => AgentCommand::new(program),
        None => AgentCommand::claude()?,
    };
    let first = talk(command.clone(), "Think of an animal.").await?;
    let resumed = command.clone().resume(first.as_str());
    let second = talk(resumed, "What does it eat?").await?;
    let forked = command.resume(first.as_str()).fork();
    let third = talk(forked, "Think of another one.").await?;

    let same = |id: &SessionId| if *id == first { "the same" } else { "another" };
    writeln!(io::stdout(), "resumed: {} session", same(&second))?;
    writeln!(io::stdout(), "forked: {} session", same(&third))?;
    Ok(())
}

/// One prompt to one answer, in a process of its own.
async fn talk(
    command: AgentCommand,
    prompt: &str,
) -> Result<SessionId, Box<dyn std::error::Error>> {
    let answer = command.ask(prompt).await?;
    let id = answer.session_id.ok_or("the agent has no session ids")?;
    writeln!(io::stdout(), "{id}\n  {prompt}\n  {}", answer.text)?;
    Ok(id)
}
