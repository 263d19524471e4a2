//! Thinking: signed, as it came, in front of the calls that it led to, and not the last word of a request.

use serde_json::Value;

use super::{ApiError, Block, Message, Turn, refuse};

pub(super) fn check(
    body: &Value,
    messages: &[Message<'_>],
    turns: &[Turn<'_>],
) -> Result<(), ApiError> {
    let thinking = &body["thinking"];
    // A request that only wants its tokens counted has no limit.
    if let (Some(budget), Some(most)) = (
        thinking["budget_tokens"].as_u64(),
        body["max_tokens"].as_u64(),
    ) && budget >= most
    {
        return refuse("`max_tokens` must be greater than `thinking.budget_tokens`.");
    }
    let answers = messages
        .iter()
        .filter(|message| message.role == "assistant");
    answers.clone().try_for_each(check_fields)?;
    let Some(latest) = answers.clone().next_back() else {
        return Ok(());
    };
    let said = turns.iter().rfind(|turn| turn.role == "assistant");
    said.map_or(Ok(()), check_unchanged)?;
    if thinking["type"] == "enabled" {
        check_start(latest)?;
    }
    if latest.index + 1 == messages.len() {
        check_end(latest)?;
    }
    Ok(())
}

fn check_fields(message: &Message<'_>) -> Result<(), ApiError> {
    for block in message.blocks().filter(is_thinking) {
        let field = if block.kind() == "thinking" {
            "signature"
        } else {
            "data"
        };
        if !block.value[field].is_string() {
            return refuse(format!(
                "{}.{}.{field}: Field required",
                block.place(),
                block.kind()
            ));
        }
    }
    Ok(())
}

/// Two thoughts in a row come from two answers that were put together, in one message or in two.
fn check_unchanged(latest: &Turn<'_>) -> Result<(), ApiError> {
    let pairs = latest.blocks().zip(latest.blocks().skip(1));
    for (first, second) in pairs {
        if first.kind() == "thinking" && second.kind() == "thinking" {
            return refuse(format!(
                "{}: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. \
                 These blocks must remain as they were in the original response.",
                second.place()
            ));
        }
    }
    Ok(())
}

/// The API wants thinking in front of calls where it was asked for with a budget. Scripts may leave it out, so only
/// thinking that stands elsewhere is refused.
fn check_start(latest: &Message<'_>) -> Result<(), ApiError> {
    let has = |kind: fn(&Block<'_>) -> bool| latest.blocks().any(|block| kind(&block));
    let Some(first) = latest.blocks().next() else {
        return Ok(());
    };
    if is_thinking(&first) || !has(is_thinking) || !has(|block| block.kind() == "tool_use") {
        return Ok(());
    }
    refuse(format!(
        "{}.type: Expected `thinking` or `redacted_thinking`, but found `{}`. When `thinking` is enabled, a final \
         `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and \
         `tool_result` blocks).",
        first.place(),
        first.kind()
    ))
}

fn check_end(latest: &Message<'_>) -> Result<(), ApiError> {
    match latest.blocks().next_back() {
        Some(last) if is_thinking(&last) => refuse(format!(
            "messages.{}: The final block in an assistant message cannot be `{}`.",
            last.message,
            last.kind()
        )),
        _ => Ok(()),
    }
}

fn is_thinking(block: &Block<'_>) -> bool {
    matches!(block.kind(), "thinking" | "redacted_thinking")
}
