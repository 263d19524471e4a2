//! `TaskStop`: ends a task in the background.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Outcome, Place, Tool};

/// Ends a task in the background.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskStop {
    /// The task's id.
    task_id: Option<String>,
    /// The same by its old name.
    shell_id: Option<String>,
}

impl Tool for TaskStop {
    const NAME: &'static str = "TaskStop";
    const DESCRIPTION: &'static str = "Ends a task in the background, by its id.";

    async fn run(self, place: &Place) -> Outcome {
        let Some(id) = self.task_id.or(self.shell_id) else {
            return Outcome::misuse("InputValidationError: TaskStop needs a task_id");
        };
        match place.commands.status(&id) {
            None => return Outcome::misuse(format!("No task found with ID: {id}")),
            Some(status) => {
                if let Some(end) = status.end {
                    let word = end.patch_status();
                    return Outcome::misuse(format!("Task {id} is not running: it is {word}"));
                }
            }
        }
        let Some(status) = place.commands.stop(&id).await else {
            return Outcome::misuse(format!("No task found with ID: {id}"));
        };
        let command = status.task.command;
        let data = json!({
            "message": format!("Successfully stopped task: {id} ({command})"),
            "task_id": id,
            "task_type": "local_bash",
            "command": command,
        });
        Outcome::new(data.to_string().as_str(), data)
    }
}
