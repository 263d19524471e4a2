//! What the agent tells of itself: `system/init`, the answer to `initialize`, and the requests it makes of the model.

use serde_json::{Value, json};
use towline_protocol::{
    Init, Json, MemoryPaths, SessionState, System, Text, ToHost, ToolListing,
    control::answer::{Account, InitializeAnswer},
};

use super::{
    Engine,
    lines::{new_uuid, system},
};
use crate::{
    AnswerForm, Credential, Provider, SPEAKS_AS,
    model::{Request, catalogue},
    tools::{self, structured_output},
};

impl Engine {
    /// Begins a turn: who, where, with what.
    pub(super) fn init_line(&self) -> ToHost {
        let directories = self.session.policy.directories();
        let project = self.config.home.project_folder(&self.config.cwd);
        let line = Init {
            cwd: Some(text(&self.session.policy.places.current)),
            session_id: Some(self.session.id.clone()),
            tools: Some(self.tool_names().into_iter().map(listing).collect()),
            mcp_servers: Some(Vec::new()),
            model: Some(text(&self.session.model)),
            permission_mode: Some(self.session.mode().clone()),
            slash_commands: Some(
                self.slash_commands()
                    .into_iter()
                    .map(|command| command.name)
                    .collect(),
            ),
            terminal_slash_commands: Some(Vec::new()),
            api_key_source: Some(Text::from_static(self.key_source())),
            claude_code_version: Some(Text::from_static(SPEAKS_AS)),
            output_style: Some(Text::from_static("default")),
            agents: Some(self.agents.names().into_iter().map(text).collect()),
            skills: Some(Vec::new()),
            plugins: Some(Vec::new()),
            capabilities: Some(capabilities()),
            analytics_disabled: Some(true),
            product_feedback_disabled: Some(true),
            uuid: Some(new_uuid()),
            memory_paths: Some(MemoryPaths {
                auto: Some(format!("{}/memory/", project.display()).into()),
                ..MemoryPaths::default()
            }),
            original_cwd: Some(self.config.cwd.to_string_lossy().into_owned().into()),
            additional_directories: Some(
                directories
                    .iter()
                    .map(|directory| text(&directory.path))
                    .collect(),
            ),
            fast_mode_state: Some(Text::from_static("off")),
            fast_mode_disabled_reason: Some(Text::from_static("sdk_opt_in_required")),
            // Of a model that nobody knows it is not promised, though it is told how hard to try.
            per_turn_effort_active: Some(
                catalogue::find(&self.session.model)
                    .is_some_and(|facts| facts.generation.has_effort_per_turn()),
            ),
            ultrathink_available: Some(false),
            ultrathink_typed_raises: Some(false),
            view_mode: Some(Text::from_static("default")),
            user_message_uuids: self.lines().prompts.all(),
            ..Init::default()
        };
        system(System::Init(Box::new(line)))
    }

    /// The answer to `initialize`.
    pub(super) fn introduction(&self) -> InitializeAnswer {
        InitializeAnswer {
            commands: Some(self.slash_commands()),
            agents: Some(self.agents.summaries()),
            output_style: Some(Text::from_static("default")),
            available_output_styles: Some(vec![Text::from_static("default")]),
            user_output_styles_dir: Some(
                self.config
                    .home
                    .folder()
                    .join("output-styles")
                    .to_string_lossy()
                    .into_owned()
                    .into(),
            ),
            models: Some(catalogue::models()),
            account: Some(Account {
                token_source: Some(Text::from_static(self.token_source())),
                api_key_source: Some(Text::from_static(self.key_source())),
                api_provider: Some(Text::from_static("firstParty")),
                ..Account::default()
            }),
            pid: Some(std::process::id().into()),
            claude_code_version: Some(Text::from_static(SPEAKS_AS)),
            current_permission_mode: Some(self.session.mode().clone()),
            // There are no hooks yet.
            hook_on_failure_supported: Some(false),
            other_hook_ask_outranks_host: Some(true),
            feedback_mode: Json::of(&json!({"kind": "disabled"})).ok(),
            analytics_disabled: Some(true),
            remote_control_auto_enable: Some(false),
            remote_control_auto_connect_default: Some(false),
            remote_control_available: Some(false),
            remote_control_auto_on_by_default: Some(false),
            ide_rc_auto_enable_gate: Some(false),
            fast_mode_state: Some(Text::from_static("off")),
            fast_mode_disabled_reason: Some(Text::from_static("sdk_opt_in_required")),
            session_state: Some(match self.state {
                SessionState::Idle => Text::from_static("idle"),
                _ => Text::from_static("running"),
            }),
            capabilities: Some(capabilities()),
            ..InitializeAnswer::default()
        }
    }

    /// The tools that are offered, by name.
    pub(super) fn tool_names(&self) -> Vec<&'static str> {
        let all = tools::definitions()
            .iter()
            .map(|definition| definition.name)
            .chain([structured_output::NAME]);
        all.filter(|name| self.offered(name)).collect()
    }

    /// Whether a tool is offered here.
    pub(super) fn offered(&self, name: &str) -> bool {
        if name == structured_output::NAME {
            return self.config.tools.answer.is_some();
        }
        let agent = self.agents.main();
        let lists = agent.is_some_and(|agent| agent.tools.is_some());
        let named = match &self.config.tools.only {
            Some(only) => only.iter().any(|tool| tool == name),
            None => {
                lists || tools::by_default(name, self.session.facts()) || self.allowed_by_name(name)
            }
        };
        let named = named && agent.is_none_or(|agent| agent.has(name));
        let answerable = self.session.policy.can_ask || !tools::needs_person(name);
        named && answerable && !self.session.policy.forbids_tool(name)
    }

    /// A tool that `--allowedTools` names is wanted.
    fn allowed_by_name(&self, name: &str) -> bool {
        self.config.permissions.allowed_tools.iter().any(|value| {
            let mut words = value.split(|character: char| !character.is_ascii_alphanumeric());
            words.any(|word| word == name)
        })
    }

    /// A request of the model with all that belongs to it.
    pub(super) fn request(&self) -> Request {
        let offered = tools::definitions()
            .iter()
            .filter(|definition| self.offered(definition.name));
        let offered = offered.filter_map(|definition| {
            in_request(definition.name, definition.description, &definition.schema)
        });
        let answer = self.config.tools.answer.as_ref();
        let answer = answer.and_then(|form| {
            in_request(
                structured_output::NAME,
                AnswerForm::DESCRIPTION,
                form.schema(),
            )
        });
        Request {
            system: self.system_blocks(),
            tools: offered.chain(answer).collect(),
            ..self.session.request(&self.config)
        }
    }

    fn key_source(&self) -> &'static str {
        match &self.config.provider {
            Provider::Api(api) => match &api.credential {
                Some(Credential::Key(_)) => "ANTHROPIC_API_KEY",
                Some(Credential::Token(_)) | None => "none",
            },
            Provider::Offline => "none",
        }
    }

    fn token_source(&self) -> &'static str {
        match &self.config.provider {
            Provider::Api(api) => match &api.credential {
                Some(Credential::Token(_)) => "ANTHROPIC_AUTH_TOKEN",
                Some(Credential::Key(_)) | None => "none",
            },
            Provider::Offline => "none",
        }
    }
}

/// A tool as it stands in a request.
fn in_request(name: &str, description: &str, schema: &Value) -> Option<Json> {
    let tool = json!({"name": name, "description": description, "input_schema": schema});
    Json::of(&tool).ok()
}

fn listing(name: &'static str) -> ToolListing {
    ToolListing::Name(name.into())
}

fn text(text: &str) -> Text {
    text.into()
}

/// What hosts may rely on.
fn capabilities() -> Vec<Text> {
    [
        "interrupt_receipt_v1",
        "interrupt_cancel_queued_v1",
        "msg_lifecycle_v1",
    ]
    .map(Text::from_static)
    .to_vec()
}
