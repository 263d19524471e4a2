//! The requests of a host that have a name, one method each.

use towline_protocol::{
    Extra, Json, Map, Nullable, Number, PermissionMode, Request, TaskId, Text, ToolName, ToolUseId,
    Uuid,
    control::{answer, request},
};

use super::Control;
use crate::error::Error;

/// Each fails when the agent refuses, does not answer in time, or is gone.
impl Control {
    /// Introduces the host. Sessions do that by themselves; again it changes what can still be changed.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn initialize(
        &self,
        initialize: request::Initialize,
    ) -> Result<answer::InitializeAnswer, Error> {
        self.typed(Request::Initialize(Box::new(initialize))).await
    }

    /// Stops the running turn. The session goes on; what is queued runs next.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn interrupt(&self) -> Result<answer::InterruptAnswer, Error> {
        self.typed(Request::interrupt()).await
    }

    /// Stops the running turn and forgets what is queued.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn interrupt_and_forget_queue(&self) -> Result<answer::InterruptAnswer, Error> {
        self.typed(Request::Interrupt(request::Interrupt {
            cancel_queued: Some(true),
            extra: Extra::default(),
        }))
        .await
    }

    /// Changes the permission mode.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn set_permission_mode(&self, mode: PermissionMode) -> Result<(), Error> {
        self.done(Request::SetPermissionMode(request::SetPermissionMode {
            mode,
            extra: Extra::default(),
        }))
        .await
    }

    /// Changes the model; to the default one if nothing is given.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn set_model(&self, model: Option<&str>) -> Result<(), Error> {
        self.done(Request::SetModel(request::SetModel {
            model: model.map_or(Nullable::Null, |model| Nullable::Value(model.into())),
            extra: Extra::default(),
        }))
        .await
    }

    /// Changes how much the model may think; without a bound if nothing is given.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn set_max_thinking_tokens(&self, tokens: Option<u64>) -> Result<(), Error> {
        self.done(Request::SetMaxThinkingTokens(
            request::SetMaxThinkingTokens {
                max_thinking_tokens: tokens.map_or(Nullable::Null, Nullable::Value),
                ..request::SetMaxThinkingTokens::default()
            },
        ))
        .await
    }

    /// How the MCP servers are.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn mcp_status(&self) -> Result<answer::McpStatusAnswer, Error> {
        self.typed(Request::McpStatus(request::McpStatus::default()))
            .await
    }

    /// Uses these MCP servers from now on.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn mcp_set_servers(
        &self,
        servers: impl IntoIterator<Item = (String, request::McpServerConfig)>,
    ) -> Result<answer::McpSetServersAnswer, Error> {
        self.typed(Request::McpSetServers(request::McpSetServers {
            servers: servers.into_iter().collect::<Map<_>>(),
            extra: Extra::default(),
        }))
        .await
    }

    /// Connects an MCP server again.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn mcp_reconnect(&self, server: &str) -> Result<(), Error> {
        self.done(Request::McpReconnect(request::McpServerName {
            server_name: server.into(),
            extra: Extra::default(),
        }))
        .await
    }

    /// Switches an MCP server on.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn mcp_enable(&self, server: &str) -> Result<(), Error> {
        self.mcp_toggle(server, true).await
    }

    /// Switches an MCP server off.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn mcp_disable(&self, server: &str) -> Result<(), Error> {
        self.mcp_toggle(server, false).await
    }

    async fn mcp_toggle(&self, server: &str, enabled: bool) -> Result<(), Error> {
        self.done(Request::McpToggle(request::McpToggle {
            server_name: server.into(),
            enabled,
            extra: Extra::default(),
        }))
        .await
    }

    /// Calls an MCP tool, past the model.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn mcp_call(
        &self,
        tool: impl Into<ToolName>,
        arguments: Json,
    ) -> Result<answer::McpCallAnswer, Error> {
        self.typed(Request::McpCall(request::McpCall {
            tool: tool.into(),
            arguments: Some(arguments),
            expires_at: None,
            timeout_ms: None,
            result_not_for_model: None,
            check_permissions: None,
            input_files: None,
            output_files: None,
            extra: Extra::default(),
        }))
        .await
    }

    /// Reads a resource of an MCP server.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn mcp_read_resource(&self, server: &str, uri: &str) -> Result<Option<Json>, Error> {
        self.request(Request::McpReadResource(request::McpReadResource {
            server_name: server.into(),
            uri: uri.into(),
            extra: Extra::default(),
        }))
        .await
    }

    /// Sends a JSON-RPC message of a server in this program to the agent.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn mcp_message(&self, server: &str, message: Json) -> Result<Option<Json>, Error> {
        self.request(Request::McpMessage(request::McpMessage {
            server_name: server.into(),
            message,
            extra: Extra::default(),
        }))
        .await
    }

    /// Puts files back to where they were at a message of the user. Needs
    /// [`AgentCommand::file_checkpointing`](crate::AgentCommand::file_checkpointing).
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn rewind_files(&self, message: &Uuid) -> Result<answer::RewindAnswer, Error> {
        self.rewind(message, None).await
    }

    /// What [`Control::rewind_files`] would change.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn preview_rewind(&self, message: &Uuid) -> Result<answer::RewindAnswer, Error> {
        self.rewind(message, Some(true)).await
    }

    async fn rewind(
        &self,
        message: &Uuid,
        dry_run: Option<bool>,
    ) -> Result<answer::RewindAnswer, Error> {
        self.typed(Request::RewindFiles(request::RewindFiles {
            user_message_id: message.clone(),
            dry_run,
            extra: Extra::default(),
        }))
        .await
    }

    /// Stops a background task.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn stop_task(&self, task: &TaskId) -> Result<(), Error> {
        self.done(Request::StopTask(task_ref(task))).await
    }

    /// What a background task has written.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn task_output(&self, task: &TaskId) -> Result<answer::TaskOutputAnswer, Error> {
        self.typed(Request::GetTaskOutput(task_ref(task))).await
    }

    /// Moves what runs to the background: one call, or all if nothing is given.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn move_to_background(&self, call: Option<&ToolUseId>) -> Result<(), Error> {
        self.done(Request::BackgroundTasks(request::BackgroundTasks {
            tool_use_id: call.cloned(),
            extra: Extra::default(),
        }))
        .await
    }

    /// What fills the context.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn context_usage(&self) -> Result<answer::ContextUsageAnswer, Error> {
        self.typed(Request::GetContextUsage(request::GetContextUsage::default()))
            .await
    }

    /// What the session has cost, in words.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn session_cost(&self) -> Result<answer::SessionCostAnswer, Error> {
        self.typed(Request::GetSessionCost(nothing())).await
    }

    /// What has been used of the plan.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn usage(&self) -> Result<answer::UsageAnswer, Error> {
        self.typed(Request::GetUsage(request::GetUsage::default()))
            .await
    }

    /// Which settings hold, and where they come from.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn settings(&self) -> Result<answer::SettingsAnswer, Error> {
        self.typed(Request::GetSettings(nothing())).await
    }

    /// Which version the agent is.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn binary_version(&self) -> Result<answer::VersionAnswer, Error> {
        self.typed(Request::GetBinaryVersion(nothing())).await
    }

    /// Which hooks there are.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn hooks_listing(&self) -> Result<answer::HooksListingAnswer, Error> {
        self.typed(Request::GetHooksListing(nothing())).await
    }

    /// Which models there are.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn models(&self) -> Result<answer::ModelsAnswer, Error> {
        self.typed(Request::ListModels(nothing())).await
    }

    /// Which permission rules hold.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn permission_rules(&self) -> Result<answer::PermissionRulesAnswer, Error> {
        self.typed(Request::ListPermissionRules(nothing())).await
    }

    /// Which files match what a person has typed.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn file_suggestions(
        &self,
        query: &str,
    ) -> Result<answer::FileSuggestionsAnswer, Error> {
        self.typed(Request::FileSuggestions(request::FileSuggestions {
            query: query.into(),
            extra: Extra::default(),
        }))
        .await
    }

    /// Reads a file where the agent is.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn read_file(&self, path: &str) -> Result<answer::ReadFileAnswer, Error> {
        self.typed(Request::ReadFile(request::ReadFile {
            path: path.into(),
            max_bytes: None,
            encoding: None,
            extra: Extra::default(),
        }))
        .await
    }

    /// Has the agent take a file for read at a time, in milliseconds since 1970.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn seed_read_state(&self, path: &str, mtime: Number) -> Result<(), Error> {
        self.done(Request::SeedReadState(request::SeedReadState {
            path: path.into(),
            mtime,
            extra: Extra::default(),
        }))
        .await
    }

    /// Has the agent look for plugins again.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn reload_plugins(&self) -> Result<answer::ReloadPluginsAnswer, Error> {
        self.typed(Request::ReloadPlugins(request::ReloadPlugins::default()))
            .await
    }

    /// Has the agent look for skills again.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn reload_skills(&self) -> Result<answer::ReloadSkillsAnswer, Error> {
        self.typed(Request::ReloadSkills(nothing())).await
    }

    /// Has the agent look for output styles again.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn reload_output_styles(&self) -> Result<answer::ReloadOutputStylesAnswer, Error> {
        self.typed(Request::ReloadOutputStyles(nothing())).await
    }

    /// Names a directory with a repository of its own.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn register_repo_root(&self, directory: &str) -> Result<Option<Json>, Error> {
        self.request(Request::RegisterRepoRoot(request::RegisterRepoRoot {
            directory: directory.into(),
            reload_claude_md: None,
            reload_plugins: None,
            reload_skills: None,
            extra: Extra::default(),
        }))
        .await
    }

    /// Changes settings for this agent alone.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn apply_flag_settings(&self, settings: Json) -> Result<(), Error> {
        self.done(Request::ApplyFlagSettings(request::ApplyFlagSettings {
            settings,
            extra: Extra::default(),
        }))
        .await
    }

    /// Changes settings in a file: `localSettings` or `userSettings`.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn update_settings(&self, source: &str, settings: Json) -> Result<(), Error> {
        self.done(Request::UpdateSettings(request::UpdateSettings {
            source: source.into(),
            settings,
            extra: Extra::default(),
        }))
        .await
    }

    /// Gives the session a title.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn rename(&self, title: &str) -> Result<(), Error> {
        self.done(Request::RenameSession(request::RenameSession {
            title: title.into(),
            source: None,
            session_id: None,
            extra: Extra::default(),
        }))
        .await
    }

    /// Tells the agent whether anyone watches.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn set_has_subscribers(&self, watched: Option<bool>) -> Result<(), Error> {
        self.done(Request::SetHasSubscribers(request::SetHasSubscribers {
            has_subscribers: watched.map_or(Nullable::Null, Nullable::Value),
            extra: Extra::default(),
        }))
        .await
    }

    /// Takes back a message that was sent with a uuid and is still queued.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn cancel_message(&self, message: &Uuid) -> Result<answer::CancelledAnswer, Error> {
        self.typed(Request::CancelAsyncMessage(request::CancelAsyncMessage {
            message_uuid: Some(message.clone()),
            extra: Extra::default(),
        }))
        .await
    }

    /// Asks the model beside the conversation.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn side_question(
        &self,
        question: impl Into<Text>,
    ) -> Result<answer::SideQuestionAnswer, Error> {
        self.typed(Request::SideQuestion(request::SideQuestion {
            question: question.into(),
            extra: Extra::default(),
        }))
        .await
    }

    /// Has the agent finish and exit.
    ///
    /// # Errors
    /// See [`Control`].
    pub async fn end_session(&self) -> Result<(), Error> {
        self.done(Request::EndSession(nothing())).await
    }
}

fn nothing() -> request::NoArguments {
    request::NoArguments::default()
}

fn task_ref(task: &TaskId) -> request::TaskRef {
    request::TaskRef {
        task_id: task.clone(),
        extra: Extra::default(),
    }
}
