//! `TaskOutput`: how a task in the background is, and what it has written; waits for its end if wanted.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Outcome, Place, Tool};
use crate::commands::TaskEnd;

/// Looks at a task in the background.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TaskOutput {
    /// The task's id.
    task_id: String,
    /// Whether to wait until it is over; so unless this is false.
    block: Option<bool>,
    /// How long to wait, in milliseconds: 30,000 unless said otherwise, at most 600,000.
    timeout: Option<f64>,
}

impl Tool for TaskOutput {
    const NAME: &'static str = "TaskOutput";
    const DESCRIPTION: &'static str = "Gives the state and the output of a task in the background, by its id. Waits \
until the task is over unless `block` is false.";

    fn only_reads(&self) -> bool {
        true
    }

    async fn run(self, place: &Place) -> Outcome {
        let id = &self.task_id;
        let waits = self.block != Some(false);
        let status = if waits {
            place.commands.wait(id, patience(self.timeout)).await
        } else {
            place.commands.status(id)
        };
        let Some(status) = status else {
            return Outcome::misuse(format!("No task found with ID: {id}"));
        };
        let output = match place.commands.output(id, MOST_SHOWN).await {
            Some(Ok(output)) => output,
            Some(Err(error)) => {
                return Outcome::error(format!("the output cannot be read: {error}"));
            }
            None => return Outcome::misuse(format!("No task found with ID: {id}")),
        };
        let retrieval = match (status.end, waits) {
            (Some(_), _) => "success",
            (None, true) => "timeout",
            (None, false) => "not_ready",
        };
        let word = status.end.map_or("running", TaskEnd::patch_status);
        let exit_code = status.end.and_then(TaskEnd::exit_code);
        let mut parts = vec![
            format!("<retrieval_status>{retrieval}</retrieval_status>"),
            format!("<task_id>{id}</task_id>"),
            "<task_type>local_bash</task_type>".to_owned(),
            format!("<status>{word}</status>"),
        ];
        parts.extend(exit_code.map(|code| format!("<exit_code>{code}</exit_code>")));
        let mut text = output.text.trim_end().to_owned();
        if output.is_cut {
            let all = output.total_bytes;
            text = format!("[the last {MOST_SHOWN} of {all} bytes]\n{text}");
        }
        if !text.is_empty() {
            parts.push(format!("<output>\n{text}\n</output>"));
        }
        let data = json!({
            "retrieval_status": retrieval,
            "task": {
                "task_id": id,
                "task_type": "local_bash",
                "status": word,
                "description": status.task.description,
                "output": text,
                "exitCode": exit_code,
            },
        });
        Outcome::new(parts.join("\n\n").as_str(), data)
    }
}

fn patience(wanted: Option<f64>) -> Duration {
    let wanted = wanted.unwrap_or(30_000.0).clamp(0.0, 600_000.0);
    // What is no number passes through `clamp`.
    Duration::try_from_secs_f64(wanted / 1000.0).unwrap_or_default()
}

/// The end of the output, in bytes.
const MOST_SHOWN: u64 = 30_000;
