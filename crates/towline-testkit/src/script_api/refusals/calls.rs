//! Calls and results: each call has one result, in the next turn, before anything else is said there.

use std::collections::HashSet;

use super::{ApiError, Block, Turn, refuse};

pub(super) fn check(turns: &[Turn<'_>]) -> Result<(), ApiError> {
    let mut all = HashSet::new();
    let mut pending: Vec<Block<'_>> = Vec::new();
    for turn in turns {
        check_results(turn, &pending)?;
        pending = turn
            .blocks()
            .filter(|block| block.kind() == "tool_use")
            .collect();
        for call in &pending {
            check_call(*call)?;
            if !all.insert(call.text("id")) {
                return refuse(format!("{}: `tool_use` ids must be unique", call.place()));
            }
        }
        check_server_results(turn)?;
    }
    unanswered(&pending)
}

/// The results of a turn against the calls of the one before.
fn check_results(turn: &Turn<'_>, calls: &[Block<'_>]) -> Result<(), ApiError> {
    let mut answered = HashSet::new();
    let mut late = HashSet::new();
    let mut words_before = None;
    for block in turn.blocks() {
        if block.kind() != "tool_result" {
            words_before.get_or_insert(block.message);
            continue;
        }
        let id = block.text("tool_use_id");
        if !calls.iter().any(|call| call.text("id") == id) {
            return refuse(format!(
                "{}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` block must \
                 have a corresponding `tool_use` block in the previous message.",
                block.place()
            ));
        }
        if !answered.insert(id) {
            return refuse(format!(
                "{}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: {id}",
                block.place()
            ));
        }
        // Also words without a block around them.
        let texts = turn
            .messages
            .iter()
            .filter(|message| message.blocks.is_none());
        let text_before = texts
            .map(|text| text.index)
            .find(|text| *text < block.message);
        if words_before.or(text_before).is_some() {
            late.insert(id);
        }
    }
    let unanswered_calls: Vec<_> = calls
        .iter()
        .filter(|call| !answered.contains(call.text("id")) || late.contains(call.text("id")))
        .copied()
        .collect();
    unanswered(&unanswered_calls)
}

fn unanswered(calls: &[Block<'_>]) -> Result<(), ApiError> {
    let Some(first) = calls.first() else {
        return Ok(());
    };
    let ids: Vec<_> = calls.iter().map(|call| call.text("id")).collect();
    refuse(format!(
        "messages.{}: `tool_use` ids were found without `tool_result` blocks immediately after: {}. Each `tool_use` \
         block must have a corresponding `tool_result` block in the next message.",
        first.message,
        ids.join(", ")
    ))
}

fn check_call(call: Block<'_>) -> Result<(), ApiError> {
    let id = call.text("id");
    let is_sound = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == '-';
    if id.is_empty() || !id.chars().all(is_sound) {
        return refuse(format!(
            "{}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
            call.place()
        ));
    }
    if !call.value["input"].is_object() {
        return refuse(format!(
            "{}.tool_use.input: Input should be a valid dictionary",
            call.place()
        ));
    }
    Ok(())
}

/// Results of the API's own tools stand behind their calls, on the same side.
fn check_server_results(turn: &Turn<'_>) -> Result<(), ApiError> {
    let mut called = HashSet::new();
    for block in turn.blocks() {
        match block.kind() {
            "server_tool_use" => {
                called.insert(block.text("id"));
            }
            "tool_result" => {}
            kind if kind.ends_with("_tool_result") && turn.role == "assistant" => {
                let id = block.text("tool_use_id");
                // Those of servers behind the API answer calls of another kind.
                if kind != "mcp_tool_result" && !called.contains(id) {
                    return refuse(format!(
                        "{}: unexpected `tool_use_id` found in `{kind}` blocks: {id}. Each `{kind}` block must have \
                         a corresponding `server_tool_use` block before it.",
                        block.place()
                    ));
                }
            }
            _ => {}
        }
    }
    Ok(())
}
