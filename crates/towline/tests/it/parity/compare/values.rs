//! The fields of two lines of one kind.

use serde_json::Value;

use super::{super::recording::is_uuid, Scope, excerpt};

/// The paths where the two differ, with both sides.
pub(super) fn compare(
    scope: &Scope<'_>,
    kind: &str,
    first: &Value,
    second: &Value,
) -> Vec<(String, String)> {
    let mut comparison = Comparison {
        scope,
        kind,
        found: Vec::new(),
    };
    let wording = if is_own_words(kind, first) {
        Wording::Own
    } else {
        Wording::Compared
    };
    comparison.value("$", "", (first, second), wording);
    comparison.found
}

struct Comparison<'a> {
    scope: &'a Scope<'a>,
    kind: &'a str,
    found: Vec<(String, String)>,
}

/// Whether values count.
#[derive(Clone, Copy, PartialEq)]
enum Wording {
    Compared,
    /// An agent says it in its own words.
    Own,
    /// How full the context is: that depends on an agent's own prompt.
    Measured,
}

impl Comparison<'_> {
    fn value(&mut self, path: &str, name: &str, pair: (&Value, &Value), wording: Wording) {
        match pair {
            (Value::Object(first), Value::Object(second)) => {
                for (key, value) in first {
                    let path = format!("{path}.{key}");
                    let wording = self.wording_of(pair.0, key, wording);
                    match second.get(key) {
                        Some(other) => self.value(&path, key, (value, other), wording),
                        None => self
                            .found
                            .push((path, format!("{} is missing", excerpt(value)))),
                    }
                }
                for (key, value) in second {
                    if !first.contains_key(key) {
                        let what = format!("{} is one too many", excerpt(value));
                        self.found.push((format!("{path}.{key}"), what));
                    }
                }
            }
            (Value::Array(first), Value::Array(second)) if OFFERED.contains(&name) => {
                let types = (first.first().map(type_of), second.first().map(type_of));
                if let (Some(one), Some(other)) = types
                    && one != other
                {
                    self.found
                        .push((format!("{path}[]"), format!("{one} became {other}")));
                }
            }
            (Value::Array(first), Value::Array(second)) => {
                let path = format!("{path}[]");
                for pair in first.iter().zip(second) {
                    self.value(&path, name, pair, wording);
                }
                if first.len() != second.len() {
                    let what = format!("{} became {}", excerpt(pair.0), excerpt(pair.1));
                    self.found.push((path, what));
                }
            }
            (first, second) if type_of(first) != type_of(second) => {
                self.differs(path, first, second);
            }
            (Value::String(first), Value::String(second)) => {
                let is_free = wording != Wording::Compared || ANY_VALUE.contains(&name);
                if !is_free && !self.same_text(name, first, second) {
                    self.differs(path, pair.0, pair.1);
                }
            }
            (Value::Number(_), Value::Number(_))
                if wording == Wording::Measured || is_measured(name) => {}
            (first, second) => {
                if first != second {
                    self.differs(path, first, second);
                }
            }
        }
    }

    fn differs(&mut self, path: &str, first: &Value, second: &Value) {
        let what = format!("{} became {}", excerpt(first), excerpt(second));
        self.found.push((path.to_owned(), what));
    }

    fn same_text(&self, name: &str, first: &str, second: &str) -> bool {
        if first == second {
            return true;
        }
        if is_uuid(first) {
            return is_uuid(second) && !self.scope.ids_of_the_host.contains(first);
        }
        // New cells of notebooks get short ones.
        if name == "cell_id" && is_short_id(first) {
            return is_short_id(second);
        }
        // And stand in the whole notebooks too.
        if ["original_file", "updated_file"].contains(&name)
            && without_short_ids(first) == without_short_ids(second)
        {
            return true;
        }
        if is_time(first) {
            return is_time(second);
        }
        // A recording keeps the start of what is long.
        first
            .strip_suffix('…')
            .is_some_and(|start| second.starts_with(start))
    }

    /// Whether a field of this object is in an agent's own words.
    fn wording_of(&self, object: &Value, key: &str, around: Wording) -> Wording {
        let is_about_the_context = match key {
            "context_usage" => true,
            "response" => object["response"]["categories"].is_array(),
            _ => false,
        };
        if is_about_the_context {
            return Wording::Measured;
        }
        let is_own = match key {
            "description" | "decision_reason" | "errors" | "local_command_source" => true,
            "error" => self.kind == "control_response/error",
            "content" if object["type"] == "tool_result" => {
                let tool = object["tool_use_id"].as_str();
                let tool = tool.and_then(|id| self.scope.tools.get(id));
                let is_output = tool.is_some_and(|tool| OUTPUT_IS_COMPARED.contains(&&**tool));
                let is_remark = object["content"]
                    .as_str()
                    .is_some_and(|text| REMARKS.iter().any(|start| text.starts_with(start)));
                object["is_error"] == true || !is_output || is_remark
            }
            "content" => OWN_CONTENT.contains(&self.kind),
            "message" => self.kind == "system/permission_denied",
            "tool_use_result" => object["tool_use_result"].is_string(),
            "result" => {
                self.kind.starts_with("result/")
                    && (object["is_error"] == true || !object["local_command"].is_null())
            }
            _ => false,
        };
        if is_own { Wording::Own } else { around }
    }
}

/// A message that the agent wrote in the model's place.
fn is_own_words(kind: &str, line: &Value) -> bool {
    kind == "assistant" && line.pointer("/message/model") == Some(&Value::from("<synthetic>"))
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

fn is_short_id(text: &str) -> bool {
    text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// A text of JSON, without the short ids that stand in it.
fn without_short_ids(text: &str) -> Vec<&str> {
    let parts = text.split('"');
    parts.filter(|part| !is_short_id(part)).collect()
}

/// As in `2026-11-16T00:01:31.858Z`.
fn is_time(text: &str) -> bool {
    text.parse::<jiff::Timestamp>().is_ok()
}

/// Numbers that are measured anew in every run.
fn is_measured(name: &str) -> bool {
    MEASURED.iter().any(|end| name.ends_with(end))
}

const MEASURED: &[&str] = &[
    "_ms",
    "Ms",
    "_usd",
    "USD",
    "pid",
    "_seconds",
    "timestamp",
    "_at",
    "end_time",
];

/// Strings that name what is running.
const ANY_VALUE: &[&str] = &[
    "claude_code_version",
    "version",
    "buildTime",
    "messaging_socket_path",
    // A path with the project's own path in it, shortened where that is long.
    "auto",
    // Of a command that runs, and where its output goes.
    "task_id",
    "run_id",
    "backgroundTaskId",
    "output_file",
];

/// Lists of what an agent has to offer.
const OFFERED: &[&str] = &[
    "tools",
    "slash_commands",
    "terminal_slash_commands",
    "skills",
    "agents",
    "plugins",
    "capabilities",
    "commands",
    "models",
    "mcp_servers",
    "available_output_styles",
    "categories",
    "gridRows",
    "slashCommands",
    "mcpTools",
    "memoryFiles",
    "mcpInstructions",
];

/// Lines whose content is in an agent's own words.
const OWN_CONTENT: &[&str] = &["system/informational", "system/model_fallback"];

/// How results begin that say something about the call in an agent's own words.
const REMARKS: &[&str] = &["<system-reminder>", "Command running in background"];

/// Tools whose results are no words of the agent.
const OUTPUT_IS_COMPARED: &[&str] = &["Bash", "Read"];
