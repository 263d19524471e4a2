//! `EnterPlanMode`: from here on things are looked at and thought about, and nothing is changed.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Change, Outcome, Place, Tool};

/// Begins to plan.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct EnterPlanMode {}

impl Tool for EnterPlanMode {
    const NAME: &'static str = "EnterPlanMode";
    const DESCRIPTION: &'static str = "Begins to plan: for work that is large, or where the way to do it is to be \
agreed on first. While planning, files are read and nothing is changed; ExitPlanMode shows the plan to the person.";

    async fn run(self, _place: &Place) -> Outcome {
        let message = "Entered plan mode. Look around and work out how to go about it.";
        let text = format!(
            "{message}\n\nUntil the plan is approved, change no file and run nothing that changes anything. Read what \
             matters, weigh the ways there are, ask with AskUserQuestion where a choice is the person's, and then show the \
             plan with ExitPlanMode."
        );
        Outcome {
            changes: vec![Change::EnterPlan],
            ..Outcome::new(text.as_str(), json!({"message": message}))
        }
    }
}
