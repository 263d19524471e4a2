//! The call that is asked about, as it was written on the command line.

use std::io::{self, Read};

use anyhow::{Context, bail};
use serde_json::{Value, json};
use towline_protocol::{Json, ToolInput, ToolName};

/// The tool and its input.
pub(super) fn read(
    tool: Option<String>,
    input: Option<String>,
    bash: Option<String>,
) -> anyhow::Result<(String, Value)> {
    if let Some(command) = bash {
        return Ok(("Bash".to_owned(), json!({"command": command})));
    }
    let (Some(tool), Some(input)) = (tool, input) else {
        bail!("a tool and its input are needed");
    };
    let input = match &*input {
        "-" => from_stdin()?,
        _ => input,
    };
    let input: Value = serde_json::from_str(&input).with_context(|| {
        format!("the input of `{tool}` is not JSON; for a command line there is --bash")
    })?;
    let Some(fields) = input.as_object() else {
        bail!("the input of `{tool}` must be a JSON object, such as {{\"file_path\": \"a.txt\"}}");
    };
    if let Some(needed) = needed_field(&tool)
        && !fields.get(needed).is_some_and(Value::is_string)
    {
        bail!(
            "the input of `{tool}` needs a text `{needed}`: without it an agent refuses the call"
        );
    }
    Ok((tool, input))
}

/// What is odd about the tool.
pub(super) fn notices(tool: &str) -> Vec<String> {
    let empty = Json::new("{}").ok();
    let name = ToolName::from(tool);
    let read = empty.and_then(|empty| ToolInput::read(&name, &empty).ok());
    if matches!(read, Some(ToolInput::Unknown(_))) {
        return vec![format!(
            "no tool `{tool}` is known here; an agent that does not have it refuses the call"
        )];
    }
    Vec::new()
}

/// The field that the decision is about.
fn needed_field(tool: &str) -> Option<&'static str> {
    Some(match tool {
        "Bash" => "command",
        "Read" | "Write" | "Edit" | "MultiEdit" => "file_path",
        "NotebookEdit" | "NotebookRead" => "notebook_path",
        "Glob" | "Grep" => "pattern",
        "WebFetch" => "url",
        "Skill" => "skill",
        _ => return None,
    })
}

fn from_stdin() -> anyhow::Result<String> {
    let mut text = String::new();
    let mut stdin = io::stdin().lock().take(LARGEST + 1);
    stdin
        .read_to_string(&mut text)
        .context("cannot read the input from standard input")?;
    if text.len() as u64 > LARGEST {
        bail!("the input on standard input is larger than {LARGEST} bytes");
    }
    Ok(text)
}

/// As large as a line of the protocol may be.
const LARGEST: u64 = 64 << 20;
