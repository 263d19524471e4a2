//! `TaskCreate`: adds a task to the session's list (trace `sessions-tool_tasks`).

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{Outcome, Place, Tool};
use crate::lists::{Task, TodoStatus};

/// Adds a task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskCreate {
    /// What it is, in a few words.
    subject: String,
    /// What is to be done.
    description: String,
    /// What is shown while it is being done, such as "Running tests".
    #[serde(rename = "activeForm")]
    active_form: Option<String>,
    /// Whatever else is to be kept with it.
    metadata: Option<Map<String, Value>>,
}

impl Tool for TaskCreate {
    const NAME: &'static str = "TaskCreate";
    const DESCRIPTION: &'static str =
        "Adds a task to the session's task list. For work of several steps: one task a step.";

    async fn run(self, place: &Place) -> Outcome {
        let task = place.lists.add_task(|id| Task {
            id,
            subject: self.subject,
            description: self.description,
            active_form: self.active_form,
            status: TodoStatus::Pending,
            owner: None,
            blocks: Vec::new(),
            blocked_by: Vec::new(),
            metadata: self.metadata.unwrap_or_default(),
        });
        let Some(task) = task else {
            return Outcome::misuse("the task list is full; delete tasks that are done");
        };
        let id = task.id;
        Outcome::new(
            format!("Task #{id} created successfully: {}", task.subject).as_str(),
            json!({"task": {
                "id": id.to_string(),
                "subject": task.subject,
                "description": task.description,
            }}),
        )
    }
}
