//! [`Lists`]: what the model keeps track of in a session, as a to-do list or as tasks that wait for each other.
//!
//! It owns what the lists hold; what is said about them is the business of the tools.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The lists of a session. Clones are the same lists.
#[derive(Clone, Debug, Default)]
pub(crate) struct Lists {
    content: Arc<Mutex<Content>>,
}

#[derive(Debug, Default)]
struct Content {
    todos: Vec<Todo>,
    tasks: BTreeMap<u64, Task>,
    newest: u64,
}

/// An item of the to-do list.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
pub(crate) struct Todo {
    /// What is to be done, such as "Fix the parser".
    content: String,
    /// How far it is.
    status: TodoStatus,
    /// The same while it is being done, such as "Fixing the parser".
    #[serde(rename = "activeForm", skip_serializing_if = "Option::is_none")]
    active_form: Option<String>,
    /// How much it matters.
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<String>,
    /// A name for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
}

/// How far something is.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum TodoStatus {
    /// Not begun.
    Pending,
    /// Begun.
    InProgress,
    /// Done.
    Completed,
}

/// A task.
#[derive(Clone, Debug)]
pub(crate) struct Task {
    /// Its number.
    pub(crate) id: u64,
    /// What it is, in a few words.
    pub(crate) subject: String,
    /// What is to be done.
    pub(crate) description: String,
    /// What is shown while it is being done.
    pub(crate) active_form: Option<String>,
    /// How far it is.
    pub(crate) status: TodoStatus,
    /// Who does it.
    pub(crate) owner: Option<String>,
    /// Tasks that wait for it.
    pub(crate) blocks: Vec<u64>,
    /// Tasks that it waits for.
    pub(crate) blocked_by: Vec<u64>,
    /// Whatever else is known.
    pub(crate) metadata: Map<String, Value>,
}

impl TodoStatus {
    /// As it is written.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
        }
    }
}

impl Lists {
    /// The to-do list.
    pub(crate) fn todos(&self) -> Vec<Todo> {
        self.content().todos.clone()
    }

    /// Replaces the to-do list and gives the one before.
    pub(crate) fn replace_todos(&self, todos: Vec<Todo>) -> Vec<Todo> {
        std::mem::replace(&mut self.content().todos, todos)
    }

    /// The tasks by number.
    pub(crate) fn tasks(&self) -> Vec<Task> {
        self.content().tasks.values().cloned().collect()
    }

    /// One task.
    pub(crate) fn task(&self, id: u64) -> Option<Task> {
        self.content().tasks.get(&id).cloned()
    }

    /// Adds a task under the next number. Nothing if there are too many.
    pub(crate) fn add_task(&self, make: impl FnOnce(u64) -> Task) -> Option<Task> {
        let mut content = self.content();
        if content.tasks.len() >= MOST_TASKS {
            return None;
        }
        content.newest += 1;
        let task = make(content.newest);
        content.tasks.insert(task.id, task.clone());
        Some(task)
    }

    /// Changes a task. Nothing if there is none with this number.
    pub(crate) fn change_task<T>(&self, id: u64, change: impl FnOnce(&mut Task) -> T) -> Option<T> {
        self.content().tasks.get_mut(&id).map(change)
    }

    /// Has one task wait for another. Whether that is new, and both are there.
    pub(crate) fn block(&self, blocker: u64, blocked: u64) -> bool {
        let mut content = self.content();
        let tasks = &mut content.tasks;
        if blocker == blocked || !tasks.contains_key(&blocked) {
            return false;
        }
        let Some(task) = tasks.get_mut(&blocker) else {
            return false;
        };
        if task.blocks.contains(&blocked) {
            return false;
        }
        task.blocks.push(blocked);
        if let Some(task) = tasks.get_mut(&blocked) {
            task.blocked_by.push(blocker);
        }
        true
    }

    /// Removes a task. Nobody waits for it any more.
    pub(crate) fn remove_task(&self, id: u64) -> Option<Task> {
        let mut content = self.content();
        let removed = content.tasks.remove(&id);
        for task in content.tasks.values_mut() {
            task.blocks.retain(|other| *other != id);
            task.blocked_by.retain(|other| *other != id);
        }
        removed
    }

    fn content(&self) -> MutexGuard<'_, Content> {
        // Every change is whole before the lock is let go, also in a panic.
        self.content.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A longer list is a mistake.
const MOST_TASKS: usize = 1_000;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::tools::{Place, ToolCall};

    /// Makes calls one after the other, and compares content and data of each.
    async fn check(calls: &[(&str, Value, &str, Value)]) {
        let folder = tempfile::tempdir().unwrap();
        let (place, _events) = Place::in_folder(folder.path());
        for (name, input, content, data) in calls {
            let outcome = match ToolCall::read(name, input).unwrap() {
                Ok(call) => call.run(&place).await,
                Err(outcome) => outcome,
            };
            assert_eq!(outcome.content.text().as_str(), *content, "{name} {input}");
            assert_eq!(*outcome.data, *data, "{name} {input}");
        }
    }

    #[tokio::test]
    async fn tasks_are_kept_as_the_real_cli_keeps_them() {
        let updated = |from: &str, to: &str| json!({"success": true, "taskId": "1", "updatedFields": ["status"], "statusChange": {"from": from, "to": to}});
        // Trace `sessions-tool_tasks`, call by call.
        check(&[
            ("TaskCreate", json!({"subject": "s1", "description": "d1", "activeForm": "Doing s1"}), "Task #1 created successfully: s1", json!({"task": {"id": "1", "subject": "s1", "description": "d1"}})),
            ("TaskCreate", json!({"subject": "s2", "description": "d2"}), "Task #2 created successfully: s2", json!({"task": {"id": "2", "subject": "s2", "description": "d2"}})),
            ("TaskUpdate", json!({"taskId": "1", "status": "in_progress"}), "Updated task #1 status", updated("pending", "in_progress")),
            ("TaskList", json!({}), "#1 [in_progress] s1\n#2 [pending] s2", json!({"tasks": [{"id": "1", "subject": "s1", "status": "in_progress", "blockedBy": []}, {"id": "2", "subject": "s2", "status": "pending", "blockedBy": []}]})),
            ("TaskGet", json!({"taskId": "1"}), "Task #1: s1\nStatus: in_progress\nDescription: d1", json!({"task": {"id": "1", "subject": "s1", "description": "d1", "status": "in_progress", "blocks": [], "blockedBy": []}})),
            ("TaskUpdate", json!({"taskId": "9", "status": "completed"}), "Task not found", json!({"success": false, "taskId": "9", "updatedFields": [], "error": "Task not found"})),
            ("TaskUpdate", json!({"taskId": "1", "status": "completed"}), "Updated task #1 status", updated("in_progress", "completed")),
        ])
        .await;
    }

    #[tokio::test]
    async fn tasks_wait_for_each_other_until_one_is_done_or_deleted() {
        let created = |id: &str| json!({"task": {"id": id, "subject": "s", "description": "d"}});
        let new = || json!({"subject": "s", "description": "d"});
        let row = |id: &str, status: &str, blocked_by: &[&str]| json!({"id": id, "subject": "s", "status": status, "blockedBy": blocked_by});
        check(&[
            ("TaskList", json!({}), "No tasks found", json!({"tasks": []})),
            ("TaskGet", json!({"taskId": "1"}), "Task not found", json!({"task": null})),
            ("TaskCreate", new(), "Task #1 created successfully: s", created("1")),
            ("TaskCreate", new(), "Task #2 created successfully: s", created("2")),
            ("TaskUpdate", json!({"taskId": "2", "addBlockedBy": ["1"], "owner": "me"}), "Updated task #2 owner, blockedBy", json!({"success": true, "taskId": "2", "updatedFields": ["owner", "blockedBy"]})),
            ("TaskUpdate", json!({"taskId": "2", "addBlockedBy": ["1"]}), "Task #2 is unchanged", json!({"success": true, "taskId": "2", "updatedFields": []})),
            ("TaskUpdate", json!({"taskId": "2", "addBlocks": ["7"]}), "<tool_use_error>there is no task 7</tool_use_error>", json!("Error: there is no task 7")),
            ("TaskGet", json!({"taskId": "#1"}), "Task #1: s\nStatus: pending\nDescription: d\nBlocks: #2", json!({"task": {"id": "1", "subject": "s", "description": "d", "status": "pending", "blocks": ["2"], "blockedBy": []}})),
            ("TaskList", json!({}), "#1 [pending] s\n#2 [pending] s (me) [blocked by #1]", json!({"tasks": [row("1", "pending", &[]), {"id": "2", "subject": "s", "status": "pending", "blockedBy": ["1"], "owner": "me"}]})),
            ("TaskUpdate", json!({"taskId": "1", "status": "deleted"}), "Updated task #1 deleted", json!({"success": true, "taskId": "1", "updatedFields": ["deleted"], "statusChange": {"from": "pending", "to": "deleted"}})),
            ("TaskList", json!({}), "#2 [pending] s (me)", json!({"tasks": [{"id": "2", "subject": "s", "status": "pending", "blockedBy": [], "owner": "me"}]})),
        ])
        .await;
    }

    #[tokio::test]
    async fn the_to_do_list_is_replaced_and_read() {
        let one = json!([{"content": "a", "status": "pending", "activeForm": "doing a"}]);
        let two = json!([{"content": "a", "status": "completed", "priority": "high"}]);
        let done = "Todos have been modified successfully. Keep the list up to date as you go on.";
        check(&[
            ("TodoRead", json!({}), "[]", json!({"todos": []})),
            (
                "TodoWrite",
                json!({"todos": one}),
                done,
                json!({"oldTodos": [], "newTodos": one}),
            ),
            (
                "TodoWrite",
                json!({"todos": two}),
                done,
                json!({"oldTodos": one, "newTodos": two}),
            ),
            (
                "TodoRead",
                json!({}),
                two.to_string().as_str(),
                json!({"todos": two}),
            ),
        ])
        .await;
    }
}
