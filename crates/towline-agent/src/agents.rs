//! Agents by name: what a session is told to be (`--agent`), from files, the command line and the host.
//!
//! Later ones go over earlier ones of the same name: the user's files, the project's, `--agents`, those of `initialize`.

mod files;
mod frontmatter;

use std::collections::BTreeMap;

use serde_json::{Map, Value};
use towline_protocol::control::answer::AgentSummary;

pub(crate) use files::AgentPlaces;

/// What somebody can be: a prompt, and the tools and the model that go with it.
///
/// ```
/// use serde_json::json;
/// use towline_agent::AgentDefinition;
///
/// let agent = json!({"description": "Reviews", "prompt": "You review.", "tools": ["Read", "Bash(git:*)"]});
/// let agent = AgentDefinition::read("reviewer", &agent)?;
/// assert_eq!(agent.tools.as_deref(), Some(&["Read".to_owned(), "Bash".to_owned()][..]));
///
/// let wrong = AgentDefinition::read("reviewer", &json!({"description": "Reviews"})).unwrap_err();
/// assert_eq!(wrong, "reviewer.prompt: a string is expected");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentDefinition {
    /// What it is called.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What it is told to be.
    pub prompt: String,
    /// The tools it has; nothing for all of them.
    pub tools: Option<Vec<String>>,
    /// The tools it has not.
    pub disallowed_tools: Vec<String>,
    /// Its model: an alias or a full name; nothing for that of the session.
    pub model: Option<String>,
}

impl AgentDefinition {
    /// Reads a definition as `--agents` and `initialize` have it.
    ///
    /// # Errors
    /// What is wrong, and in which field.
    pub fn read(name: &str, definition: &Value) -> Result<Self, String> {
        let Value::Object(fields) = definition else {
            return Err(format!("{name}: an object is expected"));
        };
        let text = |field: &str| match fields.get(field) {
            Some(Value::String(text)) => Ok(text.clone()),
            _ => Err(format!("{name}.{field}: a string is expected")),
        };
        let list = |field: &str| match fields.get(field) {
            None => Ok(None),
            Some(Value::Array(items)) => {
                let names = items
                    .iter()
                    .map(|item| item.as_str().map(ToOwned::to_owned));
                let names: Option<Vec<String>> = names.collect();
                names
                    .map(Some)
                    .ok_or_else(|| format!("{name}.{field}: strings are expected"))
            }
            Some(_) => Err(format!("{name}.{field}: an array is expected")),
        };
        let model = match fields.get("model") {
            None | Some(Value::Null) => None,
            Some(_) => Some(text("model")?),
        };
        Ok(Self {
            name: name.to_owned(),
            description: text("description")?,
            prompt: text("prompt")?,
            tools: tools(list("tools")?),
            disallowed_tools: tools(list("disallowedTools")?).unwrap_or_default(),
            model: model.filter(|model| !is_inherited(model)),
        })
    }

    /// Whether it has a tool, as far as it says.
    pub(crate) fn has(&self, tool: &str) -> bool {
        let listed = self
            .tools
            .as_ref()
            .is_none_or(|tools| tools.iter().any(|name| name == tool));
        listed && !self.disallowed_tools.iter().any(|name| name == tool)
    }
}

/// The agents that a session knows, and the one that it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Agents {
    known: BTreeMap<String, AgentDefinition>,
    /// The name of the one that the session is.
    wanted: Option<String>,
    /// Whether that was noted.
    is_introduced: bool,
}

impl Agents {
    /// The agents of files and of the command line. `wanted` is the one that the session is to be.
    pub(crate) fn new(
        places: &AgentPlaces<'_>,
        defined: &[AgentDefinition],
        wanted: Option<String>,
    ) -> Self {
        let all = files::read(places)
            .into_iter()
            .chain(defined.iter().cloned());
        Self {
            known: all.map(|agent| (agent.name.clone(), agent)).collect(),
            wanted,
            is_introduced: false,
        }
    }

    /// Whether it is to be noted now who the session is: once a session.
    pub(crate) fn introduce(&mut self) -> bool {
        !std::mem::replace(&mut self.is_introduced, true)
    }

    /// Another session begins, and is the same.
    pub(crate) fn forget_introduction(&mut self) {
        self.is_introduced = false;
    }

    /// Adds those that the host defines. What cannot be read is left out and told.
    pub(crate) fn add(&mut self, definitions: &Map<String, Value>) -> Vec<String> {
        let mut left_out = Vec::new();
        for (name, definition) in definitions {
            match AgentDefinition::read(name, definition) {
                Ok(agent) => drop(self.known.insert(name.clone(), agent)),
                Err(wrong) => left_out.push(wrong),
            }
        }
        left_out
    }

    /// The agent that the session is; nothing if it is none, or nobody knows that one.
    pub(crate) fn main(&self) -> Option<&AgentDefinition> {
        self.known.get(self.wanted.as_ref()?)
    }

    /// The name of the agent that the session is to be, if nobody knows that one.
    pub(crate) fn missing(&self) -> Option<&str> {
        let wanted = self.wanted.as_deref()?;
        (!self.known.contains_key(wanted)).then_some(wanted)
    }

    /// Their names, as a person would order them.
    pub(crate) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.known.keys().map(String::as_str).collect();
        names.sort_by_key(|name| name.to_lowercase());
        names
    }

    /// What a host is told of them.
    pub(crate) fn summaries(&self) -> Vec<AgentSummary> {
        let known = self
            .names()
            .into_iter()
            .filter_map(|name| self.known.get(name));
        known
            .map(|agent| AgentSummary {
                name: agent.name.as_str().into(),
                description: Some(agent.description.as_str().into()),
                model: agent.model.as_deref().map(Into::into),
                extra: Default::default(),
            })
            .collect()
    }
}

/// Tools by name alone: a rule's content is for permissions. All of them if one is `*`.
fn tools(listed: Option<Vec<String>>) -> Option<Vec<String>> {
    let names = listed?.into_iter().map(|tool| {
        let name = tool.split_once('(').map_or(tool.as_str(), |(name, _)| name);
        name.trim().to_owned()
    });
    let names: Vec<String> = names.filter(|name| !name.is_empty()).collect();
    (!names.iter().any(|name| name == "*")).then_some(names)
}

fn is_inherited(model: &str) -> bool {
    model.trim().is_empty() || model.trim() == "inherit"
}

#[cfg(test)]
mod tests;
