//! Gists of the control conversation: what is asked, and what is answered to which question.

use std::fmt::{self, Write};

use towline_protocol::{ControlRequest, ControlResponse, HookEvent, Request, RequestId, Wire};

use super::{super::questions::Questions, content, fields};
use crate::terminal::Clip;

pub(super) fn request(line: &ControlRequest, out: &mut Clip) -> fmt::Result {
    match &line.request {
        Request::CanUseTool(ask) => content::call(ask.tool_name.as_str(), Some(&ask.input), out)?,
        Request::HookCallback(hook) => {
            let input = &hook.input;
            out.write_str(input.event.as_ref().map_or("?", HookEvent::as_str))?;
            if let Some(tool) = &input.tool_name {
                out.gap()?;
                content::call(tool.as_str(), input.tool_input.as_ref(), out)?;
            } else if let Some(prompt) = &input.prompt {
                write!(out, " {prompt}")?;
            }
        }
        Request::McpMessage(mcp) => {
            write!(out, "{} ", mcp.server_name)?;
            fields::fields(mcp.message.text(), out)?;
        }
        Request::SetPermissionMode(set) => out.write_str(set.mode.as_str())?,
        other => fields::fields(other.to_json().text(), out)?,
    }
    match &line.request_id {
        Some(id) => {
            out.gap()?;
            write!(out, "({id})")
        }
        None => Ok(()),
    }
}

pub(super) fn response(
    line: &ControlResponse,
    questions: &Questions,
    out: &mut Clip,
) -> fmt::Result {
    question(line.request_id(), questions, out)?;
    out.write_str(": ")?;
    match line.outcome() {
        Ok(Some(answer)) => fields::fields(answer.text(), out),
        Ok(None) => out.write_str("done"),
        Err(failure) => write!(out, "error: {}", failure.error),
    }
}

/// Writes what was asked under an id.
pub(super) fn question(
    id: Option<&RequestId>,
    questions: &Questions,
    out: &mut Clip,
) -> fmt::Result {
    let Some(id) = id else {
        return out.write_str("without id");
    };
    match questions.subtype(&id.to_string()) {
        Some(subtype) => write!(out, "{subtype} ({id})"),
        None => write!(out, "({id})"),
    }
}
