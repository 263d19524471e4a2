//! The answers of the control conversation, each read on demand from the `response` of a
//! [`Success`](super::Success): `InitializeAnswer::from_json(json.text().clone())`.

use crate::{
    content::Block,
    ids::Uuid,
    json::{Json, Number, Text},
    message::{ModelUsages, Usage},
    permission::PermissionMode,
    wire::{Map, Nullable, OneOrMany, wire_structs},
};

wire_structs! {
    /// To `initialize`.
    #[derive(Default)]
    pub struct InitializeAnswer {
        /// Slash commands.
        commands: Option<Vec<SlashCommand>>,
        /// Agents that the Task tool can start.
        agents: Option<Vec<AgentSummary>>,
        /// The output style in use.
        output_style: Option<Text>,
        /// The output styles there are.
        available_output_styles: Option<Vec<Text>>,
        /// Where the person's own output styles are.
        user_output_styles_dir: Option<Text>,
        /// The models there are.
        models: Option<Vec<ModelSummary>>,
        /// Who pays.
        account: Option<Account>,
        /// The agent's process.
        pid: Option<u64>,
        /// The agent's version.
        claude_code_version: Option<Text>,
        /// The mode.
        current_permission_mode: Option<PermissionMode>,
        /// Whether the hooks of the request are in use.
        hooks_applied: Option<bool>,
        /// Whether the plugins of the request are in use.
        plugins_applied: Option<bool>,
        /// Whether a hook may say `onFailure`.
        hook_on_failure_supported: Option<bool>,
        /// Whether another hook's `ask` outranks the host's `allow`.
        other_hook_ask_outranks_host: Option<bool>,
        /// What became of the manifests of the request.
        sdk_mcp_manifests_parked: Option<Json>,
        /// Whether feedback can be given.
        feedback_mode: Option<Json>,
        /// Whether nothing is reported home.
        analytics_disabled: Option<bool>,
        /// Remote control: switched on by itself.
        remote_control_auto_enable: Option<bool>,
        /// Remote control: connects by itself.
        remote_control_auto_connect_default: Option<bool>,
        /// Remote control: there is some.
        remote_control_available: Option<bool>,
        /// Remote control: on by default.
        remote_control_auto_on_by_default: Option<bool>,
        /// Remote control: from an editor.
        ide_rc_auto_enable_gate: Option<bool>,
        /// Fast mode.
        fast_mode_state: Option<Text>,
        /// Why fast mode is off.
        fast_mode_disabled_reason: Option<Text>,
        /// `idle` or `running`.
        session_state: Option<Text>,
        /// What the agent can do.
        capabilities: Option<Vec<Text>>,
    }

    /// A slash command.
    pub struct SlashCommand {
        /// Its name; document 003 shows it with the slash.
        name: Text,
        /// What it does.
        description: Option<Text>,
        /// What may follow it.
        argument_hint: Option<OneOrMany<Text>> = "argumentHint" | "argument_hint",
        /// Other names.
        aliases: Option<Vec<Text>>,
        /// Whether it comes with the agent.
        builtin: Option<bool>,
    }

    /// An agent that the Task tool can start.
    pub struct AgentSummary {
        /// Its type.
        name: Text,
        /// What it is for.
        description: Option<Text>,
        /// Its model.
        model: Option<Text>,
    }

    /// A model.
    pub struct ModelSummary {
        /// The value for `set_model`.
        value: Text,
        /// Its full name.
        resolved_model: Option<Text> = "resolvedModel",
        /// Its name for a person; `display` in document 003.
        display_name: Option<Text> = "displayName" | "display",
        /// What it is for.
        description: Option<Text>,
        /// Whether effort can be set.
        supports_effort: Option<bool> = "supportsEffort",
        /// To what.
        supported_effort_levels: Option<Vec<Text>> = "supportedEffortLevels",
        /// Whether it thinks as much as it wants.
        supports_adaptive_thinking: Option<bool> = "supportsAdaptiveThinking",
        /// Whether it has a fast mode.
        supports_fast_mode: Option<bool> = "supportsFastMode",
        /// Whether it has an auto mode.
        supports_auto_mode: Option<bool> = "supportsAutoMode",
        /// Whether thinking can be switched off.
        supports_thinking_off: Option<bool> = "supportsThinkingOff",
    }

    /// Who pays.
    #[derive(Default)]
    pub struct Account {
        /// A person's address.
        email: Option<Text>,
        /// Their organisation.
        organization: Option<Text>,
        /// Their plan; `account_type` in document 003.
        subscription_type: Option<Text> = "subscriptionType" | "account_type",
        /// Where the token is from.
        token_source: Option<Text> = "tokenSource",
        /// Where the key is from.
        api_key_source: Option<Text> = "apiKeySource",
        /// Who serves the models.
        api_provider: Option<Text> = "apiProvider",
    }

    /// To `interrupt`.
    #[derive(Default)]
    pub struct InterruptAnswer {
        /// Messages that will run next.
        still_queued: Option<Vec<Uuid>>,
        /// Messages that were forgotten.
        cancelled: Option<Vec<Uuid>>,
    }

    /// To `set_permission_mode`.
    pub struct ModeAnswer {
        /// The mode.
        mode: PermissionMode,
    }

    /// To `set_model`.
    pub struct ModelAnswer {
        /// The model's full name.
        model: Text,
    }

    /// To `mcp_status`.
    #[derive(Default)]
    pub struct McpStatusAnswer {
        /// The servers.
        servers: Option<Vec<McpServerStatus>> = "mcpServers" | "mcp_servers",
    }

    /// An MCP server.
    pub struct McpServerStatus {
        /// Its name.
        name: Text,
        /// `connected`, `failed`, `needs-auth`, `pending` or `disabled`.
        status: Text,
        /// What it says it is.
        server_info: Option<Json> = "serverInfo",
        /// Why it failed.
        error: Option<Text>,
        /// How it is reached.
        config: Option<Json>,
        /// By which means.
        transport: Option<Text>,
        /// From which settings.
        scope: Option<Text>,
        /// Where it comes from.
        source: Option<Text>,
        /// Its tools.
        tools: Option<Vec<McpToolSummary>>,
    }

    /// A tool of an MCP server.
    pub struct McpToolSummary {
        /// Its name on the server.
        name: Text,
        /// What it does.
        description: Option<Text>,
        /// What it promises.
        annotations: Option<Json>,
        /// The server's own notes.
        meta: Option<Json> = "_meta",
    }

    /// To `mcp_set_servers`.
    #[derive(Default)]
    pub struct McpSetServersAnswer {
        /// Servers that are new.
        added: Option<Vec<Text>>,
        /// Servers that are gone.
        removed: Option<Vec<Text>>,
        /// Servers that failed, and why.
        errors: Option<Map<Text>>,
    }

    /// To `mcp_call`.
    #[derive(Default)]
    pub struct McpCallAnswer {
        /// What the tool gave.
        content: Option<Vec<Block>>,
        /// The same as data.
        structured_content: Option<Json> = "structuredContent",
        /// Whether it failed.
        is_error: Option<bool> = "isError" | "is_error",
    }

    /// To `mcp_message`.
    #[derive(Default)]
    pub struct McpMessageAnswer {
        /// The JSON-RPC response.
        mcp_response: Option<Json>,
    }

    /// To `rewind_files`.
    #[derive(Default)]
    pub struct RewindAnswer {
        /// Whether it can be done.
        can_rewind: Option<bool> = "canRewind",
        /// Why not.
        error: Option<Text>,
        /// Which files.
        files_changed: Option<Vec<Text>> = "filesChanged",
        /// Lines added.
        insertions: Option<u64>,
        /// Lines removed.
        deletions: Option<u64>,
        /// Links that were left alone.
        skipped_links: Option<u64> = "skippedLinks",
    }

    /// To `get_task_output`.
    #[derive(Default)]
    pub struct TaskOutputAnswer {
        /// What it has written.
        output: Text,
        /// How much that is in all.
        total_bytes: Option<u64>,
        /// Whether some is left out.
        truncated: Option<bool>,
    }

    /// To `get_context_usage`.
    #[derive(Default)]
    pub struct ContextUsageAnswer {
        /// What fills the context.
        categories: Option<Vec<ContextCategory>>,
        /// Tokens used.
        total_tokens: Option<u64> = "totalTokens",
        /// Tokens there are.
        max_tokens: Option<u64> = "maxTokens",
        /// Tokens the model has.
        raw_max_tokens: Option<u64> = "rawMaxTokens",
        /// Who set the compaction bound.
        autocompact_source: Option<Text> = "autocompactSource",
        /// How full it is.
        percentage: Option<Number>,
        /// A picture of it.
        grid_rows: Option<Vec<Vec<GridSquare>>> = "gridRows",
        /// The model.
        model: Option<Text>,
        /// Instruction files.
        memory_files: Option<Vec<Json>> = "memoryFiles",
        /// MCP tools.
        mcp_tools: Option<Vec<Json>> = "mcpTools",
        /// MCP instructions.
        mcp_instructions: Option<Vec<Json>> = "mcpInstructions",
        /// Tools behind a search.
        deferred_builtin_tools: Option<Vec<Json>> = "deferredBuiltinTools",
        /// Tools of the agent.
        system_tools: Option<Vec<Json>> = "systemTools",
        /// Parts of the system prompt.
        system_prompt_sections: Option<Vec<Json>> = "systemPromptSections",
        /// Agents.
        agents: Option<Vec<Json>>,
        /// Slash commands.
        slash_commands: Option<Json> = "slashCommands",
        /// Skills.
        skills: Option<Json>,
        /// When to compact.
        auto_compact_threshold: Option<u64> = "autoCompactThreshold",
        /// Whether to compact.
        is_auto_compact_enabled: Option<bool> = "isAutoCompactEnabled",
        /// What the messages are made of.
        message_breakdown: Option<Json> = "messageBreakdown",
        /// What the API last counted.
        api_usage: Nullable<Usage> = "apiUsage",
    }

    /// One part of the context.
    pub struct ContextCategory {
        /// Its id.
        id: Option<Text>,
        /// Its name for a person.
        name: Text,
        /// How large it is.
        tokens: u64,
        /// Its colour.
        color: Option<Text>,
        /// `used`, `free`, `buffer` or `deferred`.
        kind: Option<Text>,
        /// Whether it is not in the context yet.
        is_deferred: Option<bool> = "isDeferred",
    }

    /// One square of the context's picture.
    pub struct GridSquare {
        /// Its colour.
        color: Text,
        /// Whether it is filled.
        is_filled: bool = "isFilled",
        /// The part it shows.
        category_name: Text = "categoryName",
        /// How large that part is.
        tokens: u64,
        /// How large that part is.
        percentage: Number,
        /// How full the square is.
        square_fullness: Number = "squareFullness",
    }

    /// To `get_session_cost`.
    #[derive(Default)]
    pub struct SessionCostAnswer {
        /// For a person.
        text: Text,
    }

    /// To `get_usage`.
    #[derive(Default)]
    pub struct UsageAnswer {
        /// This session.
        session: Option<SessionTotals>,
        /// The plan.
        subscription_type: Nullable<Text>,
        /// Whether the plan has limits.
        rate_limits_available: Option<bool>,
        /// The limits.
        rate_limits: Nullable<Json>,
        /// What costs most.
        behaviors: Nullable<Json>,
    }

    /// What a session has used.
    #[derive(Default)]
    pub struct SessionTotals {
        /// Cost in US dollars.
        total_cost_usd: Option<Number>,
        /// Time in the API.
        total_api_duration_ms: Option<u64>,
        /// Time in all.
        total_duration_ms: Option<u64>,
        /// Lines added.
        total_lines_added: Option<u64>,
        /// Lines removed.
        total_lines_removed: Option<u64>,
        /// By model.
        model_usage: Option<ModelUsages>,
    }

    /// To `get_settings`.
    #[derive(Default)]
    pub struct SettingsAnswer {
        /// What holds.
        effective: Option<Json>,
        /// Where it comes from.
        sources: Option<Vec<Json>>,
        /// What it came to.
        applied: Option<Json>,
        /// What could not be read.
        errors: Option<Vec<Json>>,
    }

    /// To `get_binary_version`.
    #[derive(Default)]
    pub struct VersionAnswer {
        /// The version.
        version: Text,
        /// When it was built.
        build_time: Option<Text> = "buildTime",
    }

    /// To `get_hooks_listing`.
    #[derive(Default)]
    pub struct HooksListingAnswer {
        /// Events that have hooks.
        events: Option<Vec<Json>>,
        /// The hooks.
        hooks: Option<Vec<Json>>,
        /// Events there are.
        event_catalog: Option<Vec<Json>> = "eventCatalog",
        /// What the organisation allows.
        policy: Option<Json>,
        /// Safe mode.
        safe_mode: Option<Json> = "safeMode",
        /// Bare mode.
        bare_mode: Option<Json> = "bareMode",
        /// What could not be read.
        errors: Option<Vec<Json>>,
    }

    /// To `list_models`.
    #[derive(Default)]
    pub struct ModelsAnswer {
        /// The models.
        models: Option<Vec<ModelSummary>>,
    }

    /// To `list_permission_rules`.
    #[derive(Default)]
    pub struct PermissionRulesAnswer {
        /// Rules and directories.
        state: Option<Json>,
    }

    /// To `file_suggestions`.
    #[derive(Default)]
    pub struct FileSuggestionsAnswer {
        /// The files.
        suggestions: Option<Vec<Json>>,
        /// Where they are.
        cwd: Option<Text>,
    }

    /// To `read_file`.
    #[derive(Default)]
    pub struct ReadFileAnswer {
        /// What is in it.
        contents: Text,
        /// Where it is.
        abs_path: Option<Text> = "absPath",
        /// Whether it was not UTF-8.
        lossy: Option<bool>,
        /// Whether some is left out.
        truncated: Option<bool>,
        /// How the contents are written.
        encoding: Option<Text>,
        /// The path that was asked for.
        requested_path: Option<Text>,
    }

    /// To `reload_plugins`.
    #[derive(Default)]
    pub struct ReloadPluginsAnswer {
        /// Slash commands.
        commands: Option<Vec<SlashCommand>>,
        /// Agents.
        agents: Option<Vec<AgentSummary>>,
        /// Plugins.
        plugins: Option<Vec<Json>>,
        /// MCP servers.
        mcp_servers: Option<Vec<McpServerStatus>> = "mcpServers",
        /// How many failed.
        error_count: Option<u64>,
        /// Whether it waits for a yes.
        held: Option<bool>,
        /// What it would do to the cache.
        cache_impact: Option<Json>,
    }

    /// To `reload_skills`.
    #[derive(Default)]
    pub struct ReloadSkillsAnswer {
        /// The skills.
        skills: Option<Vec<SlashCommand>>,
    }

    /// To `reload_output_styles`.
    #[derive(Default)]
    pub struct ReloadOutputStylesAnswer {
        /// The output styles.
        available_output_styles: Option<Vec<Text>>,
    }

    /// To `cancel_async_message`.
    #[derive(Default)]
    pub struct CancelledAnswer {
        /// Whether it was still there.
        cancelled: Option<bool>,
    }

    /// To `elicitation`, by the host.
    #[derive(Default)]
    pub struct ElicitationAnswer {
        /// `accept`, `decline` or `cancel`.
        action: Option<Text>,
        /// The filled form.
        content: Option<Json>,
    }

    /// To `side_question`.
    #[derive(Default)]
    pub struct SideQuestionAnswer {
        /// What the model said.
        response: Nullable<Text>,
        /// Whether the agent said it.
        synthetic: Option<bool>,
    }
}

impl McpMessageAnswer {
    /// The answer to a notification, which has none of its own: what the official SDKs send.
    pub fn acknowledged() -> Json {
        Json::from_checked(Text::from_static(
            r#"{"mcp_response":{"jsonrpc":"2.0","result":{}}}"#,
        ))
    }
}
