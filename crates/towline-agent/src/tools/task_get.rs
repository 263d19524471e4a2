//! `TaskGet`: one task in full (trace `sessions-tool_tasks`).

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Outcome, Place, Tool};

/// Shows a task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskGet {
    /// Its number.
    #[serde(rename = "taskId")]
    task_id: String,
}

impl Tool for TaskGet {
    const NAME: &'static str = "TaskGet";
    const DESCRIPTION: &'static str = "Shows one task of the session's list in full.";

    fn only_reads(&self) -> bool {
        true
    }

    async fn run(self, place: &Place) -> Outcome {
        let Some(task) = number(&self.task_id).and_then(|id| place.lists.task(id)) else {
            return Outcome::new("Task not found", json!({"task": null}));
        };
        let mut text = format!(
            "Task #{}: {}\nStatus: {}\nDescription: {}",
            task.id,
            task.subject,
            task.status.word(),
            task.description
        );
        for (what, ids) in [("Blocked by", &task.blocked_by), ("Blocks", &task.blocks)] {
            if !ids.is_empty() {
                text.push_str(&format!("\n{what}: {}", numbers(ids)));
            }
        }
        let data = json!({"task": {
            "id": task.id.to_string(),
            "subject": task.subject,
            "description": task.description,
            "status": task.status,
            "blocks": ids(&task.blocks),
            "blockedBy": ids(&task.blocked_by),
        }});
        Outcome::new(text.as_str(), data)
    }
}

/// The number that an id means, also where the model wrote `#1`.
pub(super) fn number(id: &str) -> Option<u64> {
    id.trim().trim_start_matches('#').parse().ok()
}

/// `#1, #2`.
pub(super) fn numbers(ids: &[u64]) -> String {
    let ids: Vec<_> = ids.iter().map(|id| format!("#{id}")).collect();
    ids.join(", ")
}

/// `["1","2"]`.
pub(super) fn ids(ids: &[u64]) -> Value {
    ids.iter().map(u64::to_string).collect()
}
