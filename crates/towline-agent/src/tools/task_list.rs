//! `TaskList`: the session's tasks (trace `sessions-tool_tasks`).

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Outcome, Place, Tool, task_get};
use crate::lists::{Task, TodoStatus};

/// Lists the tasks.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct TaskList {}

impl Tool for TaskList {
    const NAME: &'static str = "TaskList";
    const DESCRIPTION: &'static str =
        "Lists the session's tasks: number, how far each is, and what it waits for.";

    fn only_reads(&self) -> bool {
        true
    }

    async fn run(self, place: &Place) -> Outcome {
        let tasks = place.lists.tasks();
        let done: Vec<_> = tasks
            .iter()
            .filter(|task| task.status == TodoStatus::Completed)
            .map(|task| task.id)
            .collect();
        let mut lines = Vec::new();
        let mut rows = Vec::new();
        for task in &tasks {
            // What is done stops nobody.
            let open = |id: &&u64| !done.contains(id);
            let waits_for: Vec<_> = task.blocked_by.iter().filter(open).copied().collect();
            lines.push(line(task, &waits_for));
            rows.push(row(task, &waits_for));
        }
        let text = if lines.is_empty() {
            "No tasks found".to_owned()
        } else {
            lines.join("\n")
        };
        Outcome::new(text.as_str(), json!({"tasks": rows}))
    }
}

fn line(task: &Task, waits_for: &[u64]) -> String {
    let mut line = format!("#{} [{}] {}", task.id, task.status.word(), task.subject);
    if let Some(owner) = &task.owner {
        line.push_str(&format!(" ({owner})"));
    }
    if !waits_for.is_empty() {
        line.push_str(&format!(" [blocked by {}]", task_get::numbers(waits_for)));
    }
    line
}

fn row(task: &Task, waits_for: &[u64]) -> Value {
    let mut row = json!({
        "id": task.id.to_string(),
        "subject": task.subject,
        "status": task.status,
        "blockedBy": task_get::ids(waits_for),
    });
    if let Some(owner) = &task.owner {
        row["owner"] = json!(owner);
    }
    row
}
