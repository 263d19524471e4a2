//! What the calls of a session have at hand, made for each call.

use std::{path::Path, sync::Arc};

use serde_json::json;
use towline_protocol::{Behavior, Json, SessionId, ToolUseId};

use super::Engine;
use crate::{
    Config, PromptOptions, Web,
    commands::CommandOptions,
    context::{Surroundings, system_blocks},
    memory::{Memory, MemoryKind, MemoryPlaces},
    model::cost::BYTES_IN_TOKEN,
    tools::{Hidden, Place},
};

/// How commands are run, and where their output goes.
pub(super) fn command_options(config: &Config, session: &SessionId) -> CommandOptions {
    let mut environment = config.environment.clone();
    // By this a program knows that an agent runs it.
    environment.insert("CLAUDECODE".into(), "1".into());
    let project = config.home.project_folder(&config.cwd);
    let project = project.file_name().unwrap_or_default();
    CommandOptions {
        environment,
        folder: config
            .temporary
            .join(project)
            .join(session.as_str())
            .join("tasks"),
    }
}

impl Engine {
    /// What one call has at hand.
    pub(super) fn place_for(&self, call: &ToolUseId) -> Place {
        let directories = self.session.policy.directories();
        let folder = self.config.home.project_folder(&self.config.cwd);
        Place {
            project: self.config.cwd.as_path().into(),
            current: self.session.current(),
            directories: directories
                .iter()
                .map(|directory| directory.path.clone().into())
                .collect(),
            results: folder
                .join(self.session.id.as_str())
                .join("tool-results")
                .into(),
            target: self.targets.get(call).cloned(),
            hidden: Hidden::default(),
            tool_use_id: Arc::from(call.as_str()),
            commands: self.commands.clone(),
            shell: self.config.shell,
            lists: self.lists.clone(),
            web: self.web(),
            ask: Some(self.side_question()),
            search: self.side_search(),
            files: self.files.clone(),
            must_read_first: !self.session.facts().generation.writes_unread_files(),
        }
    }

    /// How pages are fetched: whoever allows a host by its name means it, wherever it is. A rule for all hosts, or one
    /// without a host, says nothing of that.
    fn web(&self) -> Web {
        let mut web = self.config.web.clone();
        let rules = self.session.policy.entries().iter();
        let allowed = rules.filter(|entry| entry.behavior == Behavior::Allow);
        let rules = allowed.map(|entry| &entry.rule);
        let rules = rules.filter(|rule| rule.tool() == "WebFetch");
        let hosts = rules.filter_map(|rule| rule.content()?.strip_prefix("domain:"));
        web.private_hosts.extend(hosts.map(ToOwned::to_owned));
        web
    }

    /// Commands that are started from now on get this variable.
    pub(super) fn set_variable(&mut self, name: &str, value: &str) {
        self.commands.set_variable(name, value);
    }

    /// The model has seen a file as it was at that time.
    pub(super) fn seed_read(&self, path: &Path, modified_ms: f64) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a time in milliseconds; what is out of range is no time"
        )]
        self.files.seed(path, modified_ms as i64);
    }

    /// The memory files, for a report.
    pub(super) fn memory_files(&self) -> Vec<Json> {
        let files = self.memory.files.iter();
        let files = files.map(|file| {
            let kind = match file.kind {
                MemoryKind::Managed => "Managed",
                MemoryKind::User => "User",
                MemoryKind::Project => "Project",
                MemoryKind::Local => "Local",
            };
            json!({"path": file.path, "type": kind, "tokens": file.text.len() / BYTES_IN_TOKEN})
        });
        files.filter_map(|file| Json::of(&file).ok()).collect()
    }

    /// What the model is told before anything else.
    pub(super) fn system_blocks(&self) -> Vec<Json> {
        let directories = self.session.policy.directories();
        let surroundings = Surroundings {
            cwd: self.session.current(),
            directories: directories
                .iter()
                .map(|directory| directory.path.clone().into())
                .collect(),
            shell: Some("bash".to_owned()),
            date: jiff::Zoned::now().date().to_string(),
            model: self.session.model.clone(),
            ..self.surroundings.clone()
        };
        let options = PromptOptions {
            replace: self.given_prompt(),
            append: self.session.append_system_prompt.clone(),
            ..self.config.prompt.clone()
        };
        system_blocks(&options, &surroundings, self.memory.text().as_deref())
    }
}

/// The memory files that count.
pub(super) fn memory(config: &Config) -> Memory {
    if !config.prompt.memory {
        return Memory::default();
    }
    Memory::read(&MemoryPlaces {
        managed: &config.managed,
        config: config.home.folder(),
        user_home: &config.user_home,
        cwd: &config.cwd,
        sources: config.prompt.memory_sources,
        outside_imports: config.prompt.outside_imports,
    })
}
