//! `KillShell`, once `KillBash`: ends a command in the background. Today's CLI has `TaskStop` instead.

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Outcome, Place, Tool};

/// Ends a command in the background.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KillShell {
    /// The command's id.
    shell_id: String,
}

/// The same by its old name.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct KillBash {
    /// The command's id.
    shell_id: String,
}

impl Tool for KillShell {
    const NAME: &'static str = "KillShell";
    const DESCRIPTION: &'static str = "Ends a command in the background.";

    async fn run(self, place: &Place) -> Outcome {
        kill(&self.shell_id, place).await
    }
}

impl Tool for KillBash {
    const NAME: &'static str = "KillBash";
    const DESCRIPTION: &'static str = KillShell::DESCRIPTION;

    async fn run(self, place: &Place) -> Outcome {
        kill(&self.shell_id, place).await
    }
}

async fn kill(id: &str, place: &Place) -> Outcome {
    match place.commands.status(id) {
        None => return Outcome::misuse(format!("No shell found with ID: {id}")),
        Some(status) => {
            if let Some(end) = status.end {
                let word = end.patch_status();
                return Outcome::misuse(format!("Shell {id} is not running: it is {word}"));
            }
        }
    }
    let Some(status) = place.commands.stop(id).await else {
        return Outcome::misuse(format!("No shell found with ID: {id}"));
    };
    let message = format!("Successfully killed shell: {id} ({})", status.task.command);
    let data = json!({"message": message, "shell_id": id});
    Outcome::new(data.to_string().as_str(), data)
}
