//! `TodoWrite`: replaces the to-do list. Newer models keep their list with `TaskCreate` and its like.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Outcome, Place, Tool};
use crate::lists::Todo;

/// Replaces the to-do list.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct TodoWrite {
    /// The whole list as it is now.
    todos: Vec<Todo>,
}

impl Tool for TodoWrite {
    const NAME: &'static str = "TodoWrite";
    const DESCRIPTION: &'static str = "Replaces the to-do list of the session. For work of several steps: write the \
steps down first, have one in progress at a time, and mark each as completed as soon as it is done.";

    async fn run(self, place: &Place) -> Outcome {
        if self.todos.len() > MOST {
            return Outcome::misuse(format!("a to-do list has at most {MOST} items"));
        }
        let data_new = json!(self.todos);
        let old = place.lists.replace_todos(self.todos);
        Outcome::new(
            "Todos have been modified successfully. Keep the list up to date as you go on.",
            json!({"oldTodos": old, "newTodos": data_new}),
        )
    }
}

/// A longer list is a mistake.
const MOST: usize = 1_000;
