//! Chat with an agent in a terminal: what it writes appears as it is written; Ctrl-D ends.
//!
//! `cargo run -p towline-host --example chat [PROGRAM]`; without a program it is `claude`.

use std::io::{self, Write as _};

use tokio::io::{AsyncBufReadExt as _, BufReader};
use towline_host::{
    AgentCommand, Error, Event, Session, StreamEvent, ToHost,
    protocol::{BlockDelta, Delta},
};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let command = match std::env::args_os().nth(1) {
        Some(program) => AgentCommand::new(program),
        None => AgentCommand::claude()?,
    };
    let mut session = command.partial_messages().spawn().await?;
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    say("> ");
    while let Ok(Some(line)) = lines.next_line().await {
        session.send(line).await?;
        turn(&mut session).await?;
        say("\n> ");
    }
    session.close().await;
    Ok(())
}

async fn turn(session: &mut Session) -> Result<(), Error> {
    while let Some(event) = session.next().await {
        match event {
            Event::Message(frame) => match &frame.message {
                ToHost::StreamEvent(line) => {
                    if let StreamEvent::BlockDelta(BlockDelta {
                        delta: Delta::Text(delta),
                        ..
                    }) = &line.event
                    {
                        say(&delta.text);
                    }
                }
                ToHost::Result(result) => {
                    for error in result.errors.iter().flatten() {
                        say(error);
                    }
                    return Ok(());
                }
                _ => {}
            },
            Event::Permission(permission) => permission.deny("this chat allows no tools"),
            Event::Ended(ending) => return Err(Error::Ended(Box::new(ending))),
            _ => {}
        }
    }
    Ok(())
}

fn say(words: &str) {
    let mut terminal = io::stdout().lock();
    // Without a terminal there is nobody to talk to.
    write!(terminal, "{words}")
        .and_then(|()| terminal.flush())
        .ok();
}
