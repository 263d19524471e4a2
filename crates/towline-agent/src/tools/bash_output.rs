//! `BashOutput`: what a command in the background has written since the last look. Today's CLI has `TaskOutput` instead.

use regex::RegexBuilder;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::{Outcome, Place, Tool};
use crate::commands::TaskEnd;

/// Looks at a command in the background.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct BashOutput {
    /// The command's id.
    bash_id: String,
    /// A regular expression: only lines that match are shown. The others are gone.
    filter: Option<String>,
}

impl Tool for BashOutput {
    const NAME: &'static str = "BashOutput";
    const DESCRIPTION: &'static str = "Gives what a command in the background has written since the last look, and whether it still runs.";

    fn only_reads(&self) -> bool {
        true
    }

    async fn run(self, place: &Place) -> Outcome {
        let filter = match self.filter.as_deref().map(filter).transpose() {
            Ok(filter) => filter,
            Err(error) => return Outcome::misuse(format!("the filter cannot be used: {error}")),
        };
        let Some(status) = place.commands.status(&self.bash_id) else {
            return Outcome::misuse(format!("No shell found with ID: {}", self.bash_id));
        };
        let news = match place.commands.news(&self.bash_id, MOST_SHOWN).await {
            Some(Ok(news)) => news,
            Some(Err(error)) => {
                return Outcome::error(format!("the output cannot be read: {error}"));
            }
            None => String::new(),
        };
        let news = match filter {
            Some(filter) => {
                let lines = news.lines().filter(|line| filter.is_match(line));
                lines.collect::<Vec<_>>().join("\n")
            }
            None => news,
        };
        let word = status.end.map_or("running", TaskEnd::patch_status);
        let exit_code = status.end.and_then(TaskEnd::exit_code);
        let mut text = format!("<status>{word}</status>");
        if let Some(code) = exit_code {
            text.push_str(&format!("\n\n<exit_code>{code}</exit_code>"));
        }
        if !news.is_empty() {
            text.push_str(&format!("\n\n<stdout>\n{}\n</stdout>", news.trim_end()));
        }
        let data = json!({
            "shellId": self.bash_id,
            "command": status.task.command,
            "status": word,
            "exitCode": exit_code,
            "stdout": news,
            "stderr": "",
        });
        Outcome::new(text.as_str(), data)
    }
}

fn filter(pattern: &str) -> Result<regex::Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(1 << 20).build()
}

/// The most that one look shows, in bytes; the next look goes on there.
const MOST_SHOWN: u64 = 30_000;
