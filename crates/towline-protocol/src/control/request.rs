//! The questions of the control conversation, in both directions: `{"subtype":…, …}`.

use crate::{
    hook::{HookInput, HookMatchers},
    ids::{AgentId, CallbackId, SessionId, TaskId, ToolUseId, Uuid},
    json::{Json, Number, Text},
    permission::{McpServerOrigin, PermissionMode, PermissionUpdate},
    tool::ToolName,
    wire::{Map, Nullable, OneOrMany, wire_enum, wire_structs},
};

wire_enum! {
    /// A question. The first three are the agent's to the host, the others the host's to the agent; `mcp_message`
    /// goes both ways.
    pub enum Request by "subtype" {
        /// May this tool run?
        "can_use_tool" => CanUseTool(Box<CanUseTool>),
        /// A hook of the host is due.
        "hook_callback" => HookCallback(Box<HookCallback>),
        /// An MCP server asks the person.
        "elicitation" => Elicitation(Box<Elicitation>),
        /// A dialog for the person.
        "request_user_dialog" => RequestUserDialog(RequestUserDialog),
        /// A JSON-RPC message for an MCP server of the host, or from one.
        "mcp_message" => McpMessage(McpMessage),
        /// The host says who it is and what it wants.
        "initialize" => Initialize(Box<Initialize>),
        /// Stop what you are doing.
        "interrupt" => Interrupt(Interrupt),
        /// Change the permission mode.
        "set_permission_mode" => SetPermissionMode(SetPermissionMode),
        /// Change the model.
        "set_model" => SetModel(SetModel),
        /// Change how much to think.
        "set_max_thinking_tokens" => SetMaxThinkingTokens(SetMaxThinkingTokens),
        /// How are the MCP servers?
        "mcp_status" => McpStatus(McpStatus),
        /// Use these MCP servers.
        "mcp_set_servers" => McpSetServers(McpSetServers),
        /// Connect an MCP server again.
        "mcp_reconnect" => McpReconnect(McpServerName),
        /// Switch an MCP server on or off.
        "mcp_toggle" => McpToggle(McpToggle),
        /// Call an MCP tool, past the model.
        "mcp_call" => McpCall(McpCall),
        /// Read an MCP resource.
        "mcp_read_resource" => McpReadResource(McpReadResource),
        /// Put files back to where they were at a message.
        "rewind_files" => RewindFiles(RewindFiles),
        /// Stop a background task.
        "stop_task" => StopTask(TaskRef),
        /// Move what runs to the background.
        "background_tasks" => BackgroundTasks(BackgroundTasks),
        /// What has a background task written?
        "get_task_output" => GetTaskOutput(TaskRef),
        /// What fills the context?
        "get_context_usage" => GetContextUsage(GetContextUsage),
        /// What has the session cost?
        "get_session_cost" => GetSessionCost(NoArguments),
        /// What has been used?
        "get_usage" => GetUsage(GetUsage),
        /// Which settings hold?
        "get_settings" => GetSettings(NoArguments),
        /// Which version is this?
        "get_binary_version" => GetBinaryVersion(NoArguments),
        /// Which hooks are there?
        "get_hooks_listing" => GetHooksListing(NoArguments),
        /// Which models are there?
        "list_models" => ListModels(NoArguments),
        /// Which permission rules hold?
        "list_permission_rules" => ListPermissionRules(NoArguments),
        /// Which files match?
        "file_suggestions" => FileSuggestions(FileSuggestions),
        /// What is in this file?
        "read_file" => ReadFile(ReadFile),
        /// This file counts as read.
        "seed_read_state" => SeedReadState(SeedReadState),
        /// Look for plugins again.
        "reload_plugins" => ReloadPlugins(ReloadPlugins),
        /// Look for skills again.
        "reload_skills" => ReloadSkills(NoArguments),
        /// Look for output styles again.
        "reload_output_styles" => ReloadOutputStyles(NoArguments),
        /// A directory with a repository of its own.
        "register_repo_root" => RegisterRepoRoot(RegisterRepoRoot),
        /// Settings for this process.
        "apply_flag_settings" => ApplyFlagSettings(ApplyFlagSettings),
        /// Settings to be written to a file.
        "update_settings" => UpdateSettings(UpdateSettings),
        /// Give the session a title.
        "rename_session" => RenameSession(RenameSession),
        /// Give the session a colour.
        "set_color" => SetColor(SetColor),
        /// Whether anyone watches.
        "set_has_subscribers" => SetHasSubscribers(SetHasSubscribers),
        /// Forget a queued message.
        "cancel_async_message" => CancelAsyncMessage(CancelAsyncMessage),
        /// Ask the model beside the conversation.
        "side_question" => SideQuestion(SideQuestion),
        /// Finish and exit.
        "end_session" => EndSession(NoArguments),
    }
}

wire_structs! {
    /// `can_use_tool`
    pub struct CanUseTool {
        /// The tool.
        tool_name: ToolName,
        /// Its name for a person.
        display_name: Option<Text>,
        /// Its input, raw; [`ToolInput::read`](crate::ToolInput::read) gives it typed.
        input: Json,
        /// The call in one line.
        description: Option<Text>,
        /// What a person could allow for good.
        permission_suggestions: Nullable<Vec<PermissionUpdate>>,
        /// The path that made it a question.
        blocked_path: Nullable<Text> = "blocked_path" | "blocked_paths",
        /// The call; absent in old versions (document 001 §3.5).
        tool_use_id: Option<ToolUseId>,
        /// Why it is a question.
        decision_reason: Option<Text>,
        /// Why, for programs, such as `rule`, `mode`, `hook` or `workingDir`.
        decision_reason_type: Option<Text>,
        /// The event of the hook that asked.
        decision_reason_hook_event: Option<Text>,
        /// Where the hook that asked comes from.
        decision_reason_hook_source: Option<Text>,
        /// Whether a classifier could allow it.
        classifier_approvable: Option<bool>,
        /// Whether "always" makes no sense.
        suppress_always_allow_rule: Option<bool>,
        /// Whether "no" should be the default.
        default_to_no: Option<bool>,
        /// The rule that asked.
        matched_ask_rule: Option<Json>,
        /// A headline.
        title: Option<Text>,
        /// The subagent that asks.
        agent_id: Option<AgentId>,
        /// Only a person can answer: AskUserQuestion, ExitPlanMode.
        requires_user_interaction: Option<bool>,
        /// A server's policy allows asking only.
        server_policy_ask_only: Option<bool>,
        /// The server of an MCP tool.
        mcp_server: Option<McpServerOrigin>,
    }

    /// `hook_callback`
    pub struct HookCallback {
        /// The function of the host, as given in `initialize`.
        callback_id: CallbackId,
        /// What it is told.
        input: HookInput,
        /// The call; a fresh id for events that have none.
        tool_use_id: Option<ToolUseId>,
    }

    /// `elicitation`
    #[derive(Default)]
    pub struct Elicitation {
        /// The server that asks.
        mcp_server_name: Option<Text>,
        /// Its words.
        message: Option<Text>,
        /// `form` or `url`.
        mode: Option<Text>,
        /// Where to go.
        url: Option<Text>,
        /// Which one.
        elicitation_id: Option<Text>,
        /// The form.
        requested_schema: Option<Json>,
        /// The order of the form's fields.
        property_order: Option<Vec<Text>>,
        /// A headline.
        title: Option<Text>,
        /// The server's name for a person.
        display_name: Option<Text>,
        /// More about it.
        description: Option<Text>,
    }

    /// `request_user_dialog`
    pub struct RequestUserDialog {
        /// Which dialog.
        dialog_kind: Text,
        /// What it shows.
        payload: Json,
        /// The call it belongs to.
        tool_use_id: Option<ToolUseId>,
    }

    /// `mcp_message`
    pub struct McpMessage {
        /// The server.
        server_name: Text = "server_name" | "serverName",
        /// The JSON-RPC message.
        message: Json,
    }

    /// `initialize`
    #[derive(Default)]
    pub struct Initialize {
        /// Hooks of the host, by event.
        hooks: Nullable<HookMatchers>,
        /// MCP servers that live in the host.
        sdk_mcp_servers: Option<Vec<Text>> = "sdkMcpServers",
        /// Time-outs and tool policies of those servers.
        sdk_mcp_server_configs: Option<Json> = "sdkMcpServerConfigs",
        /// What those servers would answer when asked.
        sdk_mcp_server_manifests: Option<Json> = "sdkMcpServerManifests",
        /// Who wrote the manifests.
        sdk_mcp_server_manifests_origin: Option<Text> = "sdkMcpServerManifestsOrigin",
        /// The schema the result must have.
        json_schema: Option<Json> = "jsonSchema",
        /// In place of the default system prompt.
        system_prompt: Option<OneOrMany<Text>> = "systemPrompt" | "system_prompt",
        /// Behind the system prompt.
        append_system_prompt: Option<Text> = "appendSystemPrompt" | "append_system_prompt",
        /// Keep the system prompt as it is at the start.
        system_prompt_snapshot: Option<bool> = "systemPromptSnapshot",
        /// What to do in plan mode.
        plan_mode_instructions: Option<Text> = "planModeInstructions",
        /// Tools to use in place of others.
        tool_aliases: Option<Map<Text>> = "toolAliases",
        /// Leave out what changes from start to start.
        exclude_dynamic_sections: Option<bool> = "excludeDynamicSections",
        /// Agent definitions by name.
        agents: Option<Json>,
        /// A title for the session.
        title: Option<Text>,
        /// Skills to offer.
        skills: Option<Vec<Text>>,
        /// Suggest next prompts.
        prompt_suggestions: Option<bool> = "promptSuggestions",
        /// Tell how agents get on.
        agent_progress_summaries: Option<bool> = "agentProgressSummaries",
        /// Send the words of subagents too.
        forward_subagent_text: Option<bool> = "forwardSubagentText",
        /// Dialogs the host can show.
        supported_dialog_kinds: Option<Vec<Text>> = "supportedDialogKinds",
        /// The host can stop single tasks.
        per_task_stop_affordance: Option<bool> = "perTaskStopAffordance",
        /// Plugins to load.
        plugins: Option<Json>,
        /// MCP servers by name (document 003).
        mcp_servers: Option<Json> = "mcpServers" | "mcp_servers",
    }

    /// `interrupt`
    #[derive(Default)]
    pub struct Interrupt {
        /// Forget what is queued, too.
        cancel_queued: Option<bool>,
    }

    /// `set_permission_mode`
    pub struct SetPermissionMode {
        /// The new mode.
        mode: PermissionMode,
    }

    /// `set_model`
    #[derive(Default)]
    pub struct SetModel {
        /// The new model; the default one if absent.
        model: Nullable<Text>,
    }

    /// `set_max_thinking_tokens`
    #[derive(Default)]
    pub struct SetMaxThinkingTokens {
        /// The new bound; none if `null`. The real CLI takes one below zero, too.
        max_thinking_tokens: Nullable<i64>,
        /// How thinking is shown.
        thinking_display: Nullable<Text>,
    }

    /// `mcp_status`
    #[derive(Default)]
    pub struct McpStatus {
        /// Answer at once, whatever still connects.
        live_reply: Option<bool> = "liveReply",
    }

    /// `mcp_set_servers`
    pub struct McpSetServers {
        /// Configurations by name.
        servers: Map<McpServerConfig>,
    }

    /// How to reach an MCP server.
    #[derive(Default)]
    pub struct McpServerConfig {
        /// `stdio` if absent, `sse`, `http` or `sdk`.
        kind: Option<Text> = "type",
        /// stdio: the program.
        command: Option<Text>,
        /// stdio: its arguments.
        args: Option<Vec<Text>>,
        /// stdio: its environment.
        env: Option<Map<Text>>,
        /// sse, http: the address.
        url: Option<Text>,
        /// sse, http: headers to send.
        headers: Option<Map<Text>>,
        /// sdk: the name under which the host knows it.
        name: Option<Text>,
        /// How long a call may take.
        timeout: Option<Number>,
        /// What its tools may do.
        tools: Option<Json>,
        /// Offer its tools without a search.
        always_load: Option<bool> = "alwaysLoad",
    }

    /// `mcp_reconnect`
    pub struct McpServerName {
        /// The server.
        server_name: Text = "serverName" | "server_name",
    }

    /// `mcp_toggle`
    pub struct McpToggle {
        /// The server.
        server_name: Text = "serverName" | "server_name",
        /// On or off.
        enabled: bool,
    }

    /// `mcp_call`
    pub struct McpCall {
        /// The tool's full name.
        tool: ToolName,
        /// Its arguments.
        arguments: Option<Json>,
        /// When the call no longer matters.
        expires_at: Option<Text>,
        /// How long it may take.
        timeout_ms: Option<u64>,
        /// Keep the result from the model.
        result_not_for_model: Option<bool>,
        /// Ask for permission as the model would have to.
        check_permissions: Option<bool>,
        /// Files that go in.
        input_files: Option<Json>,
        /// Files that come out.
        output_files: Option<Json>,
    }

    /// `mcp_read_resource`
    pub struct McpReadResource {
        /// The server.
        server_name: Text = "serverName" | "server_name",
        /// The resource.
        uri: Text,
    }

    /// `rewind_files`
    pub struct RewindFiles {
        /// The message to go back to.
        user_message_id: Uuid,
        /// Only tell what would change.
        dry_run: Option<bool>,
    }

    /// `stop_task`, `get_task_output`
    pub struct TaskRef {
        /// The task.
        task_id: TaskId,
    }

    /// `background_tasks`
    #[derive(Default)]
    pub struct BackgroundTasks {
        /// Only this call.
        tool_use_id: Option<ToolUseId>,
    }

    /// `get_context_usage`
    #[derive(Default)]
    pub struct GetContextUsage {
        /// `summary` or `full`.
        detail: Option<Text>,
    }

    /// `get_usage`
    #[derive(Default)]
    pub struct GetUsage {
        /// Leave out what costs time to find.
        skip_behaviors: Option<bool>,
    }

    /// A question without arguments.
    #[derive(Default)]
    pub struct NoArguments {}

    /// `file_suggestions`
    pub struct FileSuggestions {
        /// What to look for.
        query: Text,
    }

    /// `read_file`
    pub struct ReadFile {
        /// Which file.
        path: Text,
        /// How much of it.
        max_bytes: Option<u64>,
        /// `utf-8` or `base64`.
        encoding: Option<Text>,
    }

    /// `seed_read_state`
    pub struct SeedReadState {
        /// Which file.
        path: Text,
        /// When it was read.
        mtime: Number,
    }

    /// `reload_plugins`
    #[derive(Default)]
    pub struct ReloadPlugins {
        /// Ask before the prompt cache is lost.
        hold_on_cache_impact: Option<bool>,
        /// Plugins to add.
        add_plugins: Option<Json>,
        /// Not while a turn runs.
        refuse_if_busy: Option<bool>,
    }

    /// `register_repo_root`
    pub struct RegisterRepoRoot {
        /// The directory.
        directory: Text,
        /// Read its instructions.
        reload_claude_md: Option<bool>,
        /// Look for its plugins.
        reload_plugins: Option<bool>,
        /// Look for its skills.
        reload_skills: Option<bool>,
    }

    /// `apply_flag_settings`
    pub struct ApplyFlagSettings {
        /// The settings.
        settings: Json,
    }

    /// `update_settings`
    pub struct UpdateSettings {
        /// Which file: `localSettings` or `userSettings`.
        source: Text,
        /// The settings.
        settings: Json,
    }

    /// `rename_session`
    pub struct RenameSession {
        /// The title.
        title: Text,
        /// Who renames.
        source: Option<Text>,
        /// Which session, if another one.
        session_id: Option<SessionId>,
    }

    /// `set_color`
    pub struct SetColor {
        /// The colour.
        color: Text,
    }

    /// `set_has_subscribers`
    pub struct SetHasSubscribers {
        /// Whether anyone watches.
        has_subscribers: Nullable<bool>,
    }

    /// `cancel_async_message`
    #[derive(Default)]
    pub struct CancelAsyncMessage {
        /// The message; the real CLI answers `cancelled: false` without it.
        message_uuid: Option<Uuid>,
    }

    /// `side_question`
    pub struct SideQuestion {
        /// The question.
        question: Text,
    }
}

impl Request {
    /// A question about the session that has no arguments.
    pub fn interrupt() -> Self {
        Self::Interrupt(Interrupt::default())
    }
}
