//! What the calls of a session have at hand, made for each call.

use std::{path::Path, sync::Arc};

use towline_protocol::{Json, SessionId, ToolUseId};

use super::Engine;
use crate::{Config, commands::CommandOptions, tools::Place};

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
            tool_use_id: Arc::from(call.as_str()),
            commands: self.commands.clone(),
            shell: self.config.shell,
            lists: self.lists.clone(),
            web: self.config.web,
            ask: None,
            search: None,
            files: self.files.clone(),
            must_read_first: !self.session.facts().generation.writes_unread_files(),
        }
    }

    pub(super) fn set_variable(&mut self, _name: &str, _value: &str) {}
    pub(super) fn stop_command(&mut self, _id: &str) {}
    pub(super) fn command_output(&self, _id: &str) -> Option<(String, u64)> {
        None
    }
    /// The model has seen a file as it was at that time.
    pub(super) fn seed_read(&self, path: &Path, modified_ms: f64) {
        #[expect(clippy::cast_possible_truncation, reason = "a time in milliseconds; what is out of range is no time")]
        self.files.seed(path, modified_ms as i64);
    }
    pub(super) fn memory_files(&self) -> Vec<Json> {
        Vec::new()
    }
    pub(super) fn system_blocks(&self) -> Vec<Json> {
        Vec::new()
    }
}
