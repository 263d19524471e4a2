//! Prints what an agent said, called and asked:
//! `cargo run -p towline-protocol --example read_trace docs/demo.jsonl`

use std::io::Write;
use towline_protocol::trace::{Direction, TraceEntry};
use towline_protocol::{Block, Content, Frame, Request, Text, ToHost};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("usage: read_trace FILE")?;
    let mut out = std::io::stdout().lock();
    for line in std::fs::read_to_string(path)?.lines() {
        let row = match TraceEntry::read(&Text::from(line))? {
            TraceEntry::Row(row) if row.direction == Direction::Out => row,
            _ => continue,
        };
        match Frame::<ToHost>::decode(row.text())?.message {
            ToHost::Assistant(line) => {
                let content = line.message.and_then(|said| said.content.into_option());
                for block in content.iter().flat_map(Content::blocks) {
                    match block {
                        Block::Text(text) => writeln!(out, "says    {}", text.text)?,
                        Block::ToolUse(call) => writeln!(out, "calls   {}", call.name)?,
                        _ => {}
                    }
                }
            }
            ToHost::ControlRequest(asked) => match asked.request {
                Request::CanUseTool(ask) => writeln!(out, "may I?  {}", ask.input)?,
                other => writeln!(out, "asks    {}", other.kind())?,
            },
            ToHost::Result(result) => writeln!(out, "failed  {}", result.failed())?,
            _ => {}
        }
    }
    Ok(())
}
