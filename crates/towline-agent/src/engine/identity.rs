//! Who the session is: the agent of `--agent`, of the settings, or of the session that goes on.

use serde_json::{Map, Value};
use towline_protocol::{Json, Text};

use super::{Engine, Refused};
use crate::{
    Config,
    agents::{AgentPlaces, Agents},
};

/// The agents there are at the start. A session that is to be one that nobody knows may not begin.
pub(super) fn agents(config: &Config, earlier: Option<Text>) -> Result<Agents, Box<Refused>> {
    let wanted = config.agents.main.clone();
    let wanted = wanted.or_else(|| earlier.map(|name| name.to_string()));
    let sources = match config.prompt.memory {
        true => config.prompt.memory_sources,
        false => crate::MemorySources {
            user: false,
            project: false,
            local: false,
        },
    };
    let places = AgentPlaces {
        config: config.home.folder(),
        cwd: &config.cwd,
        sources,
    };
    let agents = Agents::new(&places, &config.agents.defined, wanted);
    match agents.missing() {
        Some(name) if config.agents.must_exist => {
            let known = match agents.names() {
                names if names.is_empty() => "none".to_owned(),
                names => names.join(", "),
            };
            Err(Box::new(Refused {
                line: None,
                complaint: format!("--agent '{name}' not found. Available agents: {known}"),
            }))
        }
        _ => Ok(agents),
    }
}

impl Engine {
    /// The host defines agents; one of them may be who the session is to be.
    pub(super) fn define_agents(&mut self, definitions: &Json) {
        let definitions: Map<String, Value> = definitions.parse().unwrap_or_default();
        for wrong in self.agents.add(&definitions) {
            let words = format!("an agent of `initialize` is left out: {wrong}");
            let line = self.lines().informational(&words);
            self.send(line);
        }
        // A host that chose a model meanwhile keeps it.
        if self.results == 0 && self.running.is_none() {
            self.take_on();
        }
    }

    /// Takes the model of the agent that the session is.
    pub(super) fn take_on(&mut self) {
        if let Some(agent) = self.agents.main() {
            self.session.take_model_of(&self.config, agent);
        }
    }

    /// Notes who the session is, when it first does something.
    pub(super) fn introduce(&mut self) {
        if !self.agents.introduce() {
            return;
        }
        if let Some(agent) = self.agents.main() {
            let name = agent.name.clone();
            self.record_agent(&name);
        }
        if let Some(name) = self.agents.missing() {
            let words = format!("there is no agent '{name}'; the session goes on without it");
            let line = self.lines().informational(&words);
            self.send(line);
        }
    }

    /// The system prompt that stands in place of our own: the host's, else that of the agent.
    pub(super) fn given_prompt(&self) -> Option<String> {
        let given = self.session.system_prompt.as_ref();
        match self.agents.main() {
            // Official SDKs send an empty prompt where nobody asked for one.
            Some(agent) if given.is_none_or(String::is_empty) => Some(agent.prompt.clone()),
            _ => given.cloned(),
        }
    }
}
