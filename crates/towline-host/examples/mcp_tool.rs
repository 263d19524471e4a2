//! A tool in the program: the model adds numbers by calling a closure, over MCP and without a process of its own.
//!
//! `cargo run -p towline-host --example mcp_tool [PROGRAM [PROMPT]]`; without a program it is `claude`.

use std::io::{self, Write as _};

use serde::Deserialize;
use serde_json::json;
use towline_host::{AgentCommand, ToolServer};

#[derive(Deserialize)]
struct Terms {
    terms: Vec<f64>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let command = match arguments.next() {
        Some(program) => AgentCommand::new(program),
        None => AgentCommand::claude()?,
    };
    let prompt = arguments.next();
    let prompt = prompt.unwrap_or_else(|| "What is 17.5 and 24.5? Use the calculator.".to_owned());

    let terms = json!({"type": "array", "items": {"type": "number"}});
    let schema = json!({"type": "object", "properties": {"terms": terms}, "required": ["terms"]});
    let add = |input: Terms| async move {
        if input.terms.is_empty() {
            return Err("there is nothing to add".to_owned()); // the model reads this
        }
        Ok(input.terms.iter().sum::<f64>().to_string())
    };
    let schema = serde_json::from_value(schema)?;
    let calculator = ToolServer::new("1.0.0").tool("add", "Adds numbers", schema, add);

    let mut session = command
        .mcp_server("calculator", calculator)
        .allowed_tools(["mcp__calculator__add"])
        .spawn()
        .await?;
    let answer = session.ask(prompt).await?;
    for call in session.progress().calls().iter() {
        writeln!(io::stdout(), "[{}]", call.name)?;
    }
    writeln!(io::stdout(), "{}", answer.text)?;
    session.close().await;
    Ok(())
}
