//! [`gist`]: a line of the protocol in few words. Pure; one file a family of lines.

mod content;
mod control;
mod fields;
mod system;

pub(crate) use content::content;
pub(crate) use fields::tool_input;

use std::fmt::{self, Write};

use towline_protocol::{ResultSubtype, ToAgent, ToHost, TurnResult};

use super::{
    super::{
        message::Message,
        row::{Origin, Reading, Row},
    },
    questions::Questions,
};
use crate::terminal::Clip;

/// Writes what a row says, the most telling first.
///
/// # Errors
/// When the clip is full.
pub(crate) fn gist(row: &Row, questions: &Questions, out: &mut Clip) -> fmt::Result {
    match &row.reading {
        Reading::Message { message, .. } => match message {
            Message::ToHost(message) => to_host(message, row, questions, out),
            Message::ToAgent(message) => to_agent(message, row, questions, out),
        },
        Reading::Aside if row.origin == Origin::Argv => fields::words(&row.text, out),
        Reading::Aside | Reading::Malformed(_) => out.write_str(&row.text),
    }
}

fn to_host(message: &ToHost, row: &Row, questions: &Questions, out: &mut Clip) -> fmt::Result {
    if message.parent_tool_use_id().is_some() {
        // A subagent's.
        out.write_str("↳ ")?;
    }
    match message {
        ToHost::StreamEvent(line) => content::event(&line.event, out),
        ToHost::Assistant(line) => content::assistant(line, out),
        ToHost::User(line) => content::user(line, out),
        ToHost::System(line) => system::system(line, &row.text, out),
        ToHost::Result(result) => turn_result(result, out),
        ToHost::ControlRequest(line) | ToHost::CallbackRequest(line) => control::request(line, out),
        ToHost::ControlResponse(line) => control::response(line, questions, out),
        ToHost::ControlCancelRequest(line) => {
            control::question(Some(&line.request_id), questions, out)
        }
        ToHost::ToolUse(line) => {
            let name = line.name.as_ref().map_or("?", |name| name.as_str());
            content::call(name, line.input.as_ref(), out)
        }
        ToHost::ToolResult(line) => {
            content::outcome(line.is_error.as_option(), out)?;
            match line.content.as_option() {
                Some(content) => content::content(content, out),
                None => fields::fields(&row.text, out),
            }
        }
        ToHost::Error(line) => {
            let error = &line.error;
            let parts = [&error.kind, &error.code, &error.message];
            fields::joined(parts.into_iter().flatten(), ": ", out)
        }
        _ => fields::fields(&row.text, out),
    }
}

fn to_agent(message: &ToAgent, row: &Row, questions: &Questions, out: &mut Clip) -> fmt::Result {
    match message {
        ToAgent::User(line) => content::user(line, out),
        ToAgent::ControlRequest(line) => control::request(line, out),
        ToAgent::ControlResponse(line) | ToAgent::CallbackResponse(line) => {
            control::response(line, questions, out)
        }
        ToAgent::ControlCancelRequest(line) => {
            control::question(Some(&line.request_id), questions, out)
        }
        ToAgent::Assistant(line) => content::assistant(line, out),
        ToAgent::System(line) => system::system(line, &row.text, out),
        ToAgent::SessionCreate(line) | ToAgent::SessionSend(line) => {
            match line.message.content.as_option() {
                Some(content) => content::content(content, out),
                None => Ok(()),
            }
        }
        ToAgent::UpdateEnvironment(line) => {
            // The names only: values of the environment are often secrets.
            let mut names = line.variables.iter().map(|(name, _)| name);
            names.try_for_each(|name| write!(out, "{name} "))
        }
        ToAgent::KeepAlive(_) | ToAgent::Unknown(_) => fields::fields(&row.text, out),
    }
}

fn turn_result(result: &TurnResult, out: &mut Clip) -> fmt::Result {
    // How it ended is in its kind, but for an API failure, which the real CLI calls a success.
    if result.failed() && result.subtype == Some(ResultSubtype::Success) {
        out.write_str("failed, ")?;
    }
    if let Some(turns) = result.num_turns {
        let noun = if turns == 1 { "turn" } else { "turns" };
        write!(out, "{turns} {noun}, ")?;
    }
    if let Some(duration) = result.duration_ms {
        write!(out, "{duration} ms, ")?;
    }
    if let Some(cost) = &result.total_cost_usd {
        write!(out, "${:.4}: ", cost.as_f64())?;
    }
    if let Some(text) = result.text() {
        out.write_str(text)?;
    }
    let errors = result.errors.iter().flatten().chain(&result.error);
    fields::joined(errors, "; ", out)
}
