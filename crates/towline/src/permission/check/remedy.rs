//! What would allow a call. Nothing is said that was not tried: each change is made to a copy of the policy, and the
//! call is decided again.

use towline_permission::{
    Behavior, Call, Decision, Destination, Facts, PermissionUpdate, Policy, Rule, Verdict, decide,
};

/// The changes that would each allow the call by itself: what is suggested, the very call, the whole tool. None if it is
/// allowed, or nothing helps.
pub(super) fn remedies(
    policy: &Policy,
    call: &Call<'_>,
    facts: &Facts,
    decision: &Decision,
) -> Vec<Vec<PermissionUpdate>> {
    if decision.verdict == Verdict::Allow {
        return Vec::new();
    }
    let mut found: Vec<Vec<PermissionUpdate>> = Vec::new();
    for candidate in candidates(call, decision) {
        let mut changed = policy.clone();
        let applied = candidate.iter().all(|update| changed.apply(update).is_ok());
        let helps = applied && decide(&changed, call, facts).verdict == Verdict::Allow;
        let is_more =
            |known: &Vec<PermissionUpdate>| known.iter().all(|update| candidate.contains(update));
        if helps && !found.iter().any(is_more) {
            found.push(candidate);
        }
    }
    found
}

/// What may help: each suggestion, all of them, the very call, the whole tool.
fn candidates(call: &Call<'_>, decision: &Decision) -> Vec<Vec<PermissionUpdate>> {
    let suggestions = decision.suggestions.clone().unwrap_or_default();
    let mut candidates: Vec<Vec<PermissionUpdate>> = suggestions
        .iter()
        .map(|suggestion| vec![suggestion.clone()])
        .collect();
    candidates.push(suggestions);
    let rule = |rule: Rule| {
        let rules = vec![(&rule).into()];
        vec![PermissionUpdate::add_rules(
            rules,
            Behavior::Allow,
            Destination::LocalSettings,
        )]
    };
    if let Some(command) = call.text("command").filter(|_| call.tool == "Bash") {
        candidates.push(rule(Rule::with_content("Bash", command.trim())));
    }
    if let Some(path) = &decision.blocked_path {
        for tool in ["Read", "Edit"] {
            candidates.push(rule(Rule::with_content(tool, format!("/{path}"))));
        }
    }
    if let Some(path) = call.text("file_path") {
        let tool = if call.tool == "Read" { "Read" } else { "Edit" };
        // An absolute path gets its second slash, and one in the project the slash that ties it to the project.
        let path = path.strip_prefix("./").unwrap_or(path);
        candidates.push(rule(Rule::with_content(tool, format!("/{path}"))));
    }
    candidates.push(rule(Rule::tool_wide(call.tool)));
    candidates.retain(|candidate| !candidate.is_empty());
    candidates
}
