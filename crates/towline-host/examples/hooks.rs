//! Hooks in the program: one looks at each command before it runs and stops `rm`, one hears of the end of the turn.
//!
//! `cargo run -p towline-host --example hooks [PROGRAM [PROMPT]]`; without a program it is `claude`.

use std::{
    io::{self, Write as _},
    time::Duration,
};

use towline_host::{AgentCommand, Error, Event, Hook, HookEvent, HookOn};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let command = match arguments.next() {
        Some(program) => AgentCommand::new(program),
        None => AgentCommand::claude()?,
    };
    let prompt = arguments.next();
    let prompt = prompt.unwrap_or_else(|| "Run `echo hello`, then `rm -rf build`.".to_owned());

    let guard = HookOn::new(HookEvent::PreToolUse, "guard")
        .matching("Bash")
        .timeout(Duration::from_secs(10))
        .block_on_failure();
    let mut session = command
        .hook(guard)
        .hook(HookOn::new(HookEvent::Stop, "end"))
        .spawn()
        .await?;
    session.send(prompt).await?;
    while let Some(event) = session.next().await {
        if let Some(result) = event.result() {
            writeln!(
                io::stdout(),
                "{}",
                result.text().cloned().unwrap_or_default()
            )?;
            break;
        }
        match event {
            Event::Hook(hook) => answer(*hook)?,
            Event::Ended(ending) => return Err(Error::Ended(Box::new(ending)).into()),
            _ => {}
        }
    }
    session.close().await;
    Ok(())
}

fn answer(hook: Hook) -> io::Result<()> {
    let input = hook.input();
    let command: Option<Command> = input.tool_input.as_ref().and_then(|json| json.parse().ok());
    let command = command.map(|input| input.command).unwrap_or_default();
    writeln!(io::stdout(), "[{}] {command}", hook.callback_id())?;
    match hook.event() {
        Some(HookEvent::PreToolUse) if command.starts_with("rm ") => {
            hook.deny("nothing is removed here");
        }
        Some(HookEvent::PreToolUse) => hook.allow("it only looks"),
        _ => hook.proceed(),
    }
    Ok(())
}

/// What a hook is told of a `Bash` call.
#[derive(serde::Deserialize)]
struct Command {
    command: String,
}
