//! What hosts ask about hooks, plugins, skills and output styles: the shape of the real CLI, with what there is.

use std::path::Path;

use serde_json::json;
use towline_protocol::{
    Json, Text, Ticket,
    control::{
        answer::{
            HooksListingAnswer, ReloadOutputStylesAnswer, ReloadPluginsAnswer, ReloadSkillsAnswer,
        },
        request::RegisterRepoRoot,
    },
};

use super::{super::Engine, plain};

/// No hooks, and no events that could have any.
pub(super) fn hooks() -> HooksListingAnswer {
    HooksListingAnswer {
        events: Some(Vec::new()),
        hooks: Some(Vec::new()),
        event_catalog: Some(Vec::new()),
        policy: Json::of(&json!({
            "disabledByPolicy": false,
            "managedOnly": false,
            "pluginOnly": false,
            "allDisabled": false,
            "policyHookCount": 0,
        }))
        .ok(),
        ..HooksListingAnswer::default()
    }
}

/// No skills.
pub(super) fn skills() -> ReloadSkillsAnswer {
    ReloadSkillsAnswer {
        skills: Some(Vec::new()),
        ..ReloadSkillsAnswer::default()
    }
}

/// The one style there is.
pub(super) fn output_styles() -> ReloadOutputStylesAnswer {
    ReloadOutputStylesAnswer {
        available_output_styles: Some(vec![Text::from_static("default")]),
        ..ReloadOutputStylesAnswer::default()
    }
}

impl Engine {
    /// No plugins; commands and agents that come from elsewhere.
    pub(super) fn plugins(&self) -> ReloadPluginsAnswer {
        ReloadPluginsAnswer {
            commands: Some(self.slash_commands()),
            agents: Some(self.agents.summaries()),
            plugins: Some(Vec::new()),
            mcp_servers: Some(Vec::new()),
            error_count: Some(0),
            ..ReloadPluginsAnswer::default()
        }
    }

    /// Takes note of a directory with a repository of its own. There is nothing yet that would be loaded from it, and it
    /// gives no permission.
    pub(super) fn register_root(&mut self, ticket: Ticket, request: RegisterRepoRoot) {
        let cwd = self.session.current();
        self.errands.send_blocking(ticket, move || {
            if cwd.join(Path::new(request.directory.as_str())).is_dir() {
                Ok(None)
            } else {
                Err(plain(
                    "register_repo_root: target path could not be resolved",
                ))
            }
        });
    }
}
