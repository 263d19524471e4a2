//! The smallest program that drives an agent and answers its questions. `cargo run -p towline-host --example hello`

use std::io::Write;
use towline_host::{AgentCommand, Error, Event};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    let mut session = AgentCommand::claude()?.model("sonnet").spawn().await?;
    session.send("Which of these files are not needed?").await?;
    while let Some(event) = session.next().await {
        match event {
            Event::Permission(question) if question.tool_name().as_str() == "Bash" => {
                question.deny("look, but do not run anything");
            }
            Event::Permission(question) => question.allow(),
            Event::Choices(choices) => choices.respond("as you think best"),
            Event::Ended(ending) => return Err(Error::Ended(Box::new(ending))),
            event => {
                if let Some(result) = event.result() {
                    let cost = session.progress().usages().cost_usd().unwrap_or_default();
                    writeln!(std::io::stdout(), "{:?} (${cost:.4})", result.text()).ok();
                    break;
                }
            }
        }
    }
    session.close().await;
    Ok(())
}
