//! What somebody asked for and does not get, told to the host with the next turn: nothing is dropped in silence.

use std::path::Path;

use serde_json::{Map, Value};
use towline_files::RealPath;
use towline_permission::{Brought, Destination};
use towline_protocol::control::request::Initialize;

use super::Engine;
use crate::{
    Config, SettingsText,
    memory::{Memory, read_text},
};

/// What is to be told of how the session was started.
pub(super) fn of_start(config: &Config, memory: &Memory) -> Vec<String> {
    let mut notices = config.kept_out.clone();
    if !memory.left_out.is_empty() {
        notices.push(format!(
            "of the memory files, {}",
            memory.left_out.join("; ")
        ));
    }
    let trust = config.permissions.trust;
    let with_hooks = config.settings.iter().filter(|file| has_hooks(&file.text));
    let (with_hooks, untrusted): (Vec<_>, Vec<_>) =
        with_hooks.partition(|file| trust.admits(&file.source, Brought::Program));
    if !with_hooks.is_empty() {
        notices.push(format!(
            "hooks are not there yet; those in {} do not run",
            places(&with_hooks)
        ));
    }
    if !untrusted.is_empty() {
        notices.push(format!(
            "the project is not trusted, so the hooks in {} do not run",
            places(&untrusted)
        ));
    }
    let mut servers: Vec<String> = config.mcp.servers.keys().cloned().collect();
    let mut untrusted = Vec::new();
    if !config.mcp.strict {
        match trust.admits(&Destination::ProjectSettings, Brought::Program) {
            true => servers.extend(servers_of_project(&config.cwd)),
            false => untrusted = servers_of_project(&config.cwd),
        }
    }
    notices.extend(without_servers(&servers));
    if !untrusted.is_empty() {
        notices.push(format!(
            "the project is not trusted, so the MCP servers of its .mcp.json are not started: {}",
            untrusted.join(", ")
        ));
    }
    notices
}

/// Where settings are, for a person.
fn places(files: &[&SettingsText]) -> String {
    let places = files.iter().map(|file| match &file.path {
        Some(path) => path.display().to_string(),
        None => "the settings of the command line".to_owned(),
    });
    places.collect::<Vec<_>>().join(", ")
}

impl Engine {
    /// Notes what the host introduces itself with and is not there.
    pub(super) fn note_missing(&mut self, request: &Initialize) {
        let hooks = request.hooks.as_option();
        if hooks.is_some_and(|hooks| hooks.iter().next().is_some()) {
            let words = "hooks are not there yet; those of `initialize` are not called";
            self.notices.push(words.to_owned());
        }
        let named = request.sdk_mcp_servers.iter().flatten();
        let mut servers: Vec<String> = named.map(ToString::to_string).collect();
        let configured = request.mcp_servers.as_ref();
        let configured = configured.and_then(|servers| servers.parse::<Map<_, Value>>().ok());
        servers.extend(configured.into_iter().flatten().map(|(name, _)| name));
        self.notices.extend(without_servers(&servers));
    }

    /// Tells what there is to know.
    pub(super) fn tell_notices(&mut self) {
        for notice in std::mem::take(&mut self.notices) {
            let line = self.lines().informational(&notice);
            self.send(line);
        }
    }
}

fn has_hooks(settings: &str) -> bool {
    let keys = serde_json::from_str::<Map<String, Value>>(settings).unwrap_or_default();
    let hooks = keys.get("hooks").and_then(Value::as_object);
    hooks.is_some_and(|hooks| !hooks.is_empty())
}

fn without_servers(servers: &[String]) -> Option<String> {
    (!servers.is_empty()).then(|| {
        format!(
            "MCP servers are not there yet; not started: {}",
            servers.join(", ")
        )
    })
}

/// The servers that a project brings along, in `.mcp.json`.
fn servers_of_project(folder: &Path) -> Vec<String> {
    let text = RealPath::resolve(&folder.join(".mcp.json"))
        .and_then(|file| read_text(&file, LARGEST))
        .unwrap_or_default();
    let mut keys = serde_json::from_str::<Map<String, Value>>(&text).unwrap_or_default();
    match keys.remove("mcpServers") {
        Some(Value::Object(servers)) => servers.into_iter().map(|(name, _)| name).collect(),
        _ => Vec::new(),
    }
}

const LARGEST: usize = 1 << 20;
