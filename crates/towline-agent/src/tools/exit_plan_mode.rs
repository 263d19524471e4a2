//! `ExitPlanMode`: shows the plan. It runs only after the person has approved it, so running it is the approval.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Change, Outcome, Place, Tool};

/// Shows the plan and ends the planning.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct ExitPlanMode {
    /// The plan, as Markdown.
    plan: Option<String>,
    /// What the plan will need to run; nothing is granted by it.
    #[serde(default, rename = "allowedPrompts")]
    #[expect(
        dead_code,
        reason = "models send it, and permissions are asked for one by one here"
    )]
    allowed_prompts: Option<Vec<Wish>>,
}

/// Something that the plan will need to run.
#[derive(Debug, Deserialize, JsonSchema)]
#[expect(dead_code, reason = "as above")]
struct Wish {
    /// With which tool.
    tool: String,
    /// What, in words.
    prompt: String,
}

impl Tool for ExitPlanMode {
    const NAME: &'static str = "ExitPlanMode";
    const DESCRIPTION: &'static str = "Shows the plan to the person, who approves it or not. Call it when the plan is \
complete, and only if there is something to be carried out.";

    async fn run(self, _place: &Place) -> Outcome {
        let plan = self.plan.filter(|plan| !plan.trim().is_empty());
        let text = match &plan {
            Some(plan) => format!(
                "The plan was approved. Plan mode is over: carry it out now.\n\n## Approved plan:\n{plan}"
            ),
            None => "Plan mode is over, as the person agreed: begin now.".to_owned(),
        };
        Outcome {
            changes: vec![Change::LeavePlan],
            ..Outcome::new(text.as_str(), json!({"plan": plan, "isAgent": false}))
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::ToolCall;
    use super::*;

    #[tokio::test]
    async fn planning_begins_and_ends() {
        let folder = tempfile::tempdir().unwrap();
        let (place, _events) = Place::in_folder(folder.path());
        let cases: [(&str, Value, &str, Change, Value); 3] = [
            (
                "EnterPlanMode",
                json!({}),
                "Entered plan mode. ",
                Change::EnterPlan,
                json!({"message": "Entered plan mode. Look around and work out how to go about it."}),
            ),
            (
                "ExitPlanMode",
                json!({"plan": "1. do it"}),
                "The plan was approved. Plan mode is over: carry it out now.\n\n## Approved plan:\n1. do it",
                Change::LeavePlan,
                json!({"plan": "1. do it", "isAgent": false}),
            ),
            (
                "ExitPlanMode",
                json!({"allowedPrompts": []}),
                "Plan mode is over",
                Change::LeavePlan,
                json!({"plan": null, "isAgent": false}),
            ),
        ];
        for (name, input, beginning, change, data) in cases {
            let call = ToolCall::read(name, &input).unwrap().unwrap();
            let outcome = call.run(&place).await;
            assert!(outcome.content.text().starts_with(beginning), "{outcome:?}");
            assert_eq!((outcome.changes, *outcome.data), (vec![change], data));
        }
    }
}
