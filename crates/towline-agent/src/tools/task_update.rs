//! `TaskUpdate`: changes a task, or deletes it (trace `sessions-tool_tasks`).

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::{
    Outcome, Place, Tool,
    task_get::{number, numbers},
};
use crate::lists::{Task, TodoStatus};

/// Changes a task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct TaskUpdate {
    /// Its number.
    task_id: String,
    /// What it is, in a few words.
    subject: Option<String>,
    /// What is to be done.
    description: Option<String>,
    /// What is shown while it is being done.
    active_form: Option<String>,
    /// How far it is; `deleted` removes it.
    status: Option<NewStatus>,
    /// Tasks that wait for this one.
    #[serde(default)]
    add_blocks: Vec<String>,
    /// Tasks that this one waits for.
    #[serde(default)]
    add_blocked_by: Vec<String>,
    /// Who does it.
    owner: Option<String>,
    /// What else to keep; `null` removes.
    metadata: Option<Map<String, Value>>,
}

#[derive(Clone, Copy, Debug, Deserialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum NewStatus {
    Pending,
    InProgress,
    Completed,
    Deleted,
}

impl Tool for TaskUpdate {
    const NAME: &'static str = "TaskUpdate";
    const DESCRIPTION: &'static str = "Changes a task of the session's list: how far it is, its words, what it waits \
for. Mark a task as in_progress before you begin it and as completed once it is done.";

    async fn run(self, place: &Place) -> Outcome {
        let task = number(&self.task_id).and_then(|id| place.lists.task(id));
        let Some(task) = task else {
            return not_found(&self.task_id);
        };
        if self.status == Some(NewStatus::Deleted) {
            place.lists.remove_task(task.id);
            let change = Some(json!({"from": task.status, "to": "deleted"}));
            return updated(task.id, &["deleted"], change);
        }
        let unknown = self.unknown_tasks(place);
        if !unknown.is_empty() {
            return Outcome::misuse(format!("there is no task {}", unknown.join(", ")));
        }
        let mut fields = place
            .lists
            .change_task(task.id, |task| self.apply(task))
            .unwrap_or_default();
        let mut link = |name, links: Vec<(u64, u64)>| {
            let mut new = false;
            for (blocker, blocked) in links {
                new |= place.lists.block(blocker, blocked);
            }
            if new {
                fields.push(name);
            }
        };
        let others = |ids: &[String]| ids.iter().filter_map(|id| number(id)).collect::<Vec<_>>();
        let blocks = others(&self.add_blocks).into_iter();
        link("blocks", blocks.map(|other| (task.id, other)).collect());
        let blocked_by = others(&self.add_blocked_by).into_iter();
        link(
            "blockedBy",
            blocked_by.map(|other| (other, task.id)).collect(),
        );
        let now = place
            .lists
            .task(task.id)
            .map_or(task.status, |task| task.status);
        let change = (now != task.status).then(|| json!({"from": task.status, "to": now}));
        updated(task.id, &fields, change)
    }
}

impl TaskUpdate {
    /// Does what is about this task alone, and says which fields that changed.
    fn apply(&self, task: &mut Task) -> Vec<&'static str> {
        let mut fields = Vec::new();
        let mut set = |name, field: &mut String, new: &Option<String>| {
            if let Some(new) = new.as_ref().filter(|new| *new != field) {
                field.clone_from(new);
                fields.push(name);
            }
        };
        set("subject", &mut task.subject, &self.subject);
        set("description", &mut task.description, &self.description);
        for (name, field, new) in [
            ("activeForm", &mut task.active_form, &self.active_form),
            ("owner", &mut task.owner, &self.owner),
        ] {
            if new.is_some() && new != field {
                field.clone_from(new);
                fields.push(name);
            }
        }
        if let Some(metadata) = &self.metadata {
            for (key, value) in metadata {
                if value.is_null() {
                    task.metadata.remove(key);
                } else {
                    task.metadata.insert(key.clone(), value.clone());
                }
            }
            fields.push("metadata");
        }
        let status = match self.status {
            Some(NewStatus::Pending) => TodoStatus::Pending,
            Some(NewStatus::InProgress) => TodoStatus::InProgress,
            Some(NewStatus::Completed) => TodoStatus::Completed,
            Some(NewStatus::Deleted) | None => task.status,
        };
        if status != task.status {
            task.status = status;
            fields.push("status");
        }
        fields
    }

    fn unknown_tasks(&self, place: &Place) -> Vec<String> {
        let named = self.add_blocks.iter().chain(&self.add_blocked_by);
        let is_unknown = |id: &&String| number(id).and_then(|id| place.lists.task(id)).is_none();
        named.filter(is_unknown).cloned().collect()
    }
}

fn updated(id: u64, fields: &[&str], status_change: Option<Value>) -> Outcome {
    let text = if fields.is_empty() {
        format!("Task {} is unchanged", numbers(&[id]))
    } else {
        format!("Updated task {} {}", numbers(&[id]), fields.join(", "))
    };
    let mut data = json!({"success": true, "taskId": id.to_string(), "updatedFields": fields});
    if let Some(change) = status_change {
        data["statusChange"] = change;
    }
    Outcome::new(text.as_str(), data)
}

/// Not an error to the model: the list may have changed.
fn not_found(id: &str) -> Outcome {
    let error = "Task not found";
    Outcome::new(
        error,
        json!({"success": false, "taskId": id, "updatedFields": [], "error": error}),
    )
}
