//! The order in which things are asked.

use crate::{
    bash,
    call::{Call, Facts},
    decision::{Decision, Reason},
    policy::Policy,
};

/// Decides about a call.
pub fn decide(policy: &Policy, call: &Call<'_>, facts: &Facts) -> Decision {
    match call.tool {
        "Bash" => bash::decide(policy, call, facts),
        _ => Decision::ask(Reason::Unknown),
    }
}

/// The paths that a call touches. Where they really are is for the caller to find out, see [`Facts::links`].
pub fn paths(policy: &Policy, call: &Call<'_>) -> Vec<String> {
    match call.tool {
        "Bash" => bash::paths(policy, call.text("command").unwrap_or_default()),
        _ => Vec::new(),
    }
}
