//! What the hooks of a row say of its call.

use serde_json::{Value, json};
use towline_permission::HookVerdict;

use crate::row::list;

/// The strictest verdict, and the input that a hook puts in the place of the call's.
pub(crate) fn said(row: &Value) -> (Option<HookVerdict>, Option<Value>) {
    let called_back = list(&row["hooks"]).map(|hook| hook["response"].clone());
    let run = list(&row["extra_settings"]["hooks"]["PreToolUse"])
        .flat_map(|matcher| list(&matcher["hooks"]))
        .map(|hook| output(hook["command"].as_str().unwrap()));
    let outputs: Vec<Value> = called_back.chain(run).collect();
    let input = outputs
        .iter()
        .map(|output| &output["hookSpecificOutput"]["updatedInput"])
        .find(|input| !input.is_null())
        .cloned();
    let strictness = |verdict: &HookVerdict| match verdict {
        HookVerdict::Allow(_) => 0,
        HookVerdict::Ask(_) => 1,
        HookVerdict::Deny(_) => 2,
    };
    let verdicts = outputs.iter().filter_map(verdict);
    (verdicts.max_by_key(strictness), input)
}

fn verdict(output: &Value) -> Option<HookVerdict> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let specific = &output["hookSpecificOutput"];
    let why = text(&specific["permissionDecisionReason"]);
    match specific["permissionDecision"].as_str() {
        Some("allow") => Some(HookVerdict::Allow(why)),
        Some("ask") => Some(HookVerdict::Ask(why)),
        Some("deny") => Some(HookVerdict::Deny(why)),
        _ => match output["decision"].as_str() {
            Some("approve") => Some(HookVerdict::Allow(text(&output["reason"]))),
            Some("block") => Some(HookVerdict::Deny(text(&output["reason"]))),
            _ => None,
        },
    }
}

/// What a command of the table's hooks says: they echo JSON, or exit with 2 to block.
fn output(command: &str) -> Value {
    if command.ends_with("exit 2") {
        return json!({"decision": "block"});
    }
    let quoted = command.split('\'').nth(1).unwrap_or("null");
    serde_json::from_str(quoted).unwrap()
}
