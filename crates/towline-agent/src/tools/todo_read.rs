//! `TodoRead`: the to-do list (document 001 §2.7).

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Outcome, Place, Tool};

/// Reads the to-do list.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct TodoRead {}

impl Tool for TodoRead {
    const NAME: &'static str = "TodoRead";
    const DESCRIPTION: &'static str = "Gives the to-do list of the session.";

    fn only_reads(&self) -> bool {
        true
    }

    async fn run(self, place: &Place) -> Outcome {
        let todos = json!(place.lists.todos());
        Outcome::new(todos.to_string().as_str(), json!({"todos": todos}))
    }
}
