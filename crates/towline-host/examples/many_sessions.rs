//! Many sessions, a few at a time: what they used and cost is added up.
//!
//! `cargo run -p towline-host --example many_sessions [PROGRAM [COUNT]]`; without a program it is `claude`.

use std::{
    io::{self, Write as _},
    sync::Arc,
};

use tokio::{sync::Semaphore, task::JoinSet};
use towline_host::{AgentCommand, Error, protocol::Tally};

/// How many agents run at once.
const AT_ONCE: usize = 4;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let command = match arguments.next() {
        Some(program) => AgentCommand::new(program),
        None => AgentCommand::claude()?,
    };
    let count: usize = arguments.next().map_or(Ok(8), |count| count.parse())?;

    let room = Arc::new(Semaphore::new(AT_ONCE));
    let mut sessions = JoinSet::new();
    for number in 1..=count {
        let (command, room) = (command.clone(), Arc::clone(&room));
        sessions.spawn(async move {
            let _place = room.acquire_owned().await;
            one(command.without_transcript(), number).await
        });
    }
    let mut total = Spent::default();
    while let Some(session) = sessions.join_next().await {
        match session? {
            Ok(spent) => {
                total.cost_usd += spent.cost_usd;
                total.tokens.input += spent.tokens.input;
                total.tokens.output += spent.tokens.output;
            }
            Err(error) => writeln!(io::stderr(), "a session failed: {error}")?,
        }
    }
    let Spent { tokens, cost_usd } = total;
    writeln!(
        io::stdout(),
        "{} tokens in, {} out, {cost_usd:.4} dollars",
        tokens.input,
        tokens.output
    )?;
    Ok(())
}

#[derive(Default)]
struct Spent {
    tokens: Tally,
    cost_usd: f64,
}

async fn one(command: AgentCommand, number: usize) -> Result<Spent, Error> {
    let mut session = command.without_questions().spawn().await?;
    let answer = session
        .ask(format!("Say the number {number} in French."))
        .await;
    let tokens = session.progress().usages().main();
    session.close().await;
    let answer = answer?;
    // Without a terminal there is nobody to tell.
    writeln!(io::stdout(), "{number}: {}", answer.text).ok();
    Ok(Spent {
        tokens,
        cost_usd: answer.cost_usd.unwrap_or_default(),
    })
}
