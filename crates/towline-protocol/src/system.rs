//! `system` lines: what the agent tells of itself and of its surroundings.

use crate::{
    control::answer::SlashCommand,
    ids::{AgentId, RequestId, SessionId, TaskId, ToolUseId, Uuid},
    json::{Json, Number, Reader, Text, Writer},
    permission::PermissionMode,
    tool::ToolName,
    wire::{Nullable, Parts, Result, Unnamed, wire_enum, wire_strings, wire_structs},
};

wire_enum! {
    /// A `system` line, by its subtype.
    pub enum System by "subtype" inside "type" {
        /// A turn begins: who, where, with what.
        "init" => Init(Box<Init>),
        /// What the agent is doing, or that the mode changed.
        "status" => Status(Box<Status>),
        /// The context was compacted here.
        "compact_boundary" => CompactBoundary(Box<CompactBoundary>),
        /// The API failed and is tried again.
        "api_retry" => ApiRetry(Box<ApiRetry>),
        /// A call was denied without asking.
        "permission_denied" => PermissionDenied(Box<PermissionDenied>),
        /// A note for the person.
        "informational" => Informational(Box<Informational>),
        /// A short-lived note for the person.
        "notification" => Notification(Box<Notification>),
        /// The session's title changed.
        "session_title_changed" => SessionTitleChanged(Box<SessionTitleChanged>),
        /// Idle, running, or waiting for the person.
        "session_state_changed" => SessionStateChanged(Box<SessionStateChanged>),
        /// The list of background tasks changed.
        "background_tasks_changed" => BackgroundTasksChanged(Box<BackgroundTasksChanged>),
        /// A subagent or long command began.
        "task_started" => TaskStarted(Box<TaskStarted>),
        /// How it gets on.
        "task_progress" => TaskProgress(Box<TaskProgress>),
        /// It changed.
        "task_updated" => TaskUpdated(Box<TaskUpdated>),
        /// It is over.
        "task_notification" => TaskNotification(Box<TaskNotification>),
        /// A guess at how much has been thought.
        "thinking_tokens" => ThinkingTokens(Box<ThinkingTokens>),
        /// A hook began.
        "hook_started" => HookStarted(Box<HookStarted>),
        /// A hook writes.
        "hook_progress" => HookProgress(Box<HookProgress>),
        /// A hook is over.
        "hook_response" => HookResponse(Box<HookResponse>),
        /// A control request takes a while.
        "control_request_progress" => ControlRequestProgress(Box<ControlRequestProgress>),
        /// The model was overloaded; another one goes on.
        "model_fallback" => ModelFallback(Box<ModelFallback>),
        /// The model refused; another one goes on.
        "model_refusal_fallback" => ModelRefusalFallback(Box<ModelRefusal>),
        /// The model refused, and no other one goes on.
        "model_refusal_no_fallback" => ModelRefusalNoFallback(Box<ModelRefusal>),
        /// What a local command printed.
        "local_command_output" => LocalCommandOutput(Box<LocalCommandOutput>),
        /// A plugin is installed.
        "plugin_install" => PluginInstall(Box<PluginInstall>),
        /// The list of slash commands changed.
        "commands_changed" => CommandsChanged(Box<CommandsChanged>),
        /// Files were saved for the person.
        "files_persisted" => FilesPersisted(Box<FilesPersisted>),
        /// Memories were used.
        "memory_recall" => MemoryRecall(Box<MemoryRecall>),
        /// An MCP server's question was settled.
        "elicitation_complete" => ElicitationComplete(Box<ElicitationComplete>),
        /// The copy of the transcript failed.
        "mirror_error" => MirrorError(Box<MirrorError>),
        /// The transcript could not be written.
        "session_writes_lost" => SessionWritesLost(Box<SessionWritesLost>),
        /// The worker is about to end.
        "worker_shutting_down" => WorkerShuttingDown(Box<WorkerShuttingDown>),
        /// Something on the screen is out of date.
        "ui_invalidate" => UiInvalidate(Box<UiInvalidate>),
    }
}

/// The same field of every line that has a name: all of them say whose they are.
macro_rules! of_each_line {
    ($system:ident, $line:ident => $field:expr) => {
        match $system {
            System::Init($line) => $field,
            System::Status($line) => $field,
            System::CompactBoundary($line) => $field,
            System::ApiRetry($line) => $field,
            System::PermissionDenied($line) => $field,
            System::Informational($line) => $field,
            System::Notification($line) => $field,
            System::SessionTitleChanged($line) => $field,
            System::SessionStateChanged($line) => $field,
            System::BackgroundTasksChanged($line) => $field,
            System::TaskStarted($line) => $field,
            System::TaskProgress($line) => $field,
            System::TaskUpdated($line) => $field,
            System::TaskNotification($line) => $field,
            System::ThinkingTokens($line) => $field,
            System::HookStarted($line) => $field,
            System::HookProgress($line) => $field,
            System::HookResponse($line) => $field,
            System::ControlRequestProgress($line) => $field,
            System::ModelFallback($line) => $field,
            System::ModelRefusalFallback($line) => $field,
            System::ModelRefusalNoFallback($line) => $field,
            System::LocalCommandOutput($line) => $field,
            System::PluginInstall($line) => $field,
            System::CommandsChanged($line) => $field,
            System::FilesPersisted($line) => $field,
            System::MemoryRecall($line) => $field,
            System::ElicitationComplete($line) => $field,
            System::MirrorError($line) => $field,
            System::SessionWritesLost($line) => $field,
            System::WorkerShuttingDown($line) => $field,
            System::UiInvalidate($line) => $field,
            System::Unknown(_) => None,
        }
    };
}

impl System {
    /// The session the line belongs to.
    pub fn session_id(&self) -> Option<&SessionId> {
        of_each_line!(self, line => line.session_id.as_ref())
    }

    /// The id of the line.
    pub fn uuid(&self) -> Option<&Uuid> {
        of_each_line!(self, line => line.uuid.as_ref())
    }
}

wire_strings! {
    /// Whether a session works.
    pub enum SessionState {
        /// Waiting for input.
        Idle = "idle",
        /// At work.
        Running = "running",
        /// Waiting for an answer.
        RequiresAction = "requires_action",
    }

    /// How a hook ended.
    pub enum HookOutcome {
        /// With exit code 0.
        Success = "success",
        /// With another one.
        Error = "error",
        /// It took too long, or the turn ended.
        Cancelled = "cancelled",
    }
}

/// One entry of `init.tools`: a name, or (documents 001 and 003) an object with a name.
#[derive(Clone, Debug, PartialEq)]
pub enum ToolListing {
    /// As the real CLI writes it.
    Name(ToolName),
    /// As the documents show it.
    Definition(Box<ToolDefinition>),
}

impl ToolListing {
    /// The tool's name.
    pub fn name(&self) -> &ToolName {
        match self {
            Self::Name(name) => name,
            Self::Definition(definition) => &definition.name,
        }
    }
}

impl Parts for ToolListing {
    fn read(reader: &mut Reader<'_>) -> Result<Self> {
        match reader.peek() {
            b'"' => ToolName::read(reader).map(Self::Name),
            b'{' => Parts::read(reader).map(Self::Definition),
            _ => Err(reader.expected("a tool's name or definition")),
        }
    }

    fn write(&self, writer: &mut Writer) {
        match self {
            Self::Name(name) => name.write(writer),
            Self::Definition(definition) => definition.write(writer),
        }
    }

    fn unnamed(&self, found: &mut Unnamed) {
        if let Self::Definition(definition) = self {
            definition.unnamed(found);
        }
    }
}

wire_structs! {
    /// A tool with its schema.
    pub struct ToolDefinition {
        /// Its name.
        name: ToolName,
        /// What it does.
        description: Option<Text>,
        /// What it takes.
        input_schema: Option<Json> = "input_schema" | "inputSchema",
    }

    /// `init`
    #[derive(Default)]
    pub struct Init {
        /// The working directory.
        cwd: Option<Text>,
        /// The session.
        session_id: Option<SessionId>,
        /// The tools.
        tools: Option<Vec<ToolListing>>,
        /// The MCP servers.
        mcp_servers: Option<Vec<McpServerListing>>,
        /// The model.
        model: Option<Text>,
        /// The mode.
        permission_mode: Option<PermissionMode> = "permissionMode" | "permission_mode",
        /// Slash commands; without the slash, but with it in document 001.
        slash_commands: Option<Vec<Text>>,
        /// Slash commands that need a terminal.
        terminal_slash_commands: Option<Vec<Text>>,
        /// Where the key is from.
        api_key_source: Option<Text> = "apiKeySource",
        /// The agent's version.
        claude_code_version: Option<Text>,
        /// The output style.
        output_style: Option<Text>,
        /// Agents that the Task tool can start.
        agents: Option<Vec<Text>>,
        /// Skills that a person can use.
        skills: Option<Vec<Text>>,
        /// Plugins.
        plugins: Option<Vec<PluginListing>>,
        /// Plugins that failed.
        plugin_errors: Option<Vec<Json>>,
        /// What the agent can do.
        capabilities: Option<Vec<Text>>,
        /// Features of the API that are tried out.
        betas: Option<Vec<Text>>,
        /// Whether nothing is reported home.
        analytics_disabled: Option<bool>,
        /// Whether feedback is switched off.
        product_feedback_disabled: Option<bool>,
        /// This line.
        uuid: Option<Uuid>,
        /// Where memories are.
        memory_paths: Option<MemoryPaths>,
        /// The directory at the start.
        original_cwd: Option<Text>,
        /// Directories added to it.
        additional_directories: Option<Vec<Text>>,
        /// A socket for other agents.
        messaging_socket_path: Option<Text>,
        /// Fast mode.
        fast_mode_state: Option<Text>,
        /// Why fast mode is off.
        fast_mode_disabled_reason: Option<Text>,
        /// How hard the model tries.
        effort: Nullable<Text>,
        /// Whether effort is set for this turn.
        per_turn_effort_active: Option<bool>,
        /// Whether the model can be asked to think very hard.
        ultrathink_available: Option<bool>,
        /// Whether typing so is enough.
        ultrathink_typed_raises: Option<bool>,
        /// How much is shown.
        view_mode: Option<Text>,
        /// The messages that the turn answers.
        user_message_uuids: Option<Vec<Uuid>>,
        /// When, in document 001's transcripts.
        timestamp: Option<Text>,
    }

    /// An MCP server in `init`.
    pub struct McpServerListing {
        /// Its name.
        name: Text,
        /// Whether it is connected.
        status: Option<Text>,
        /// Where it comes from.
        source: Option<Text>,
    }

    /// A plugin.
    pub struct PluginListing {
        /// Its name.
        name: Text,
        /// Where it is.
        path: Option<Text>,
        /// Where it comes from.
        source: Option<Text>,
        /// Its version.
        version: Option<Text>,
    }

    /// Where memories are.
    #[derive(Default)]
    pub struct MemoryPaths {
        /// Those the agent writes itself.
        auto: Option<Text>,
        /// Those of the team.
        team: Option<Text>,
    }

    /// `status`
    #[derive(Default)]
    pub struct Status {
        /// `requesting`, `compacting`, or nothing.
        status: Nullable<Text>,
        /// The new mode, when it changed.
        permission_mode: Option<PermissionMode> = "permissionMode" | "permission_mode",
        /// How compacting went.
        compact_result: Option<Text>,
        /// Why it failed.
        compact_error: Option<Text>,
        /// How long the summary is.
        compact_output_chars: Option<u64>,
        /// The messages that the turn answers.
        user_message_uuids: Option<Vec<Uuid>>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `compact_boundary`
    #[derive(Default)]
    pub struct CompactBoundary {
        /// What was compacted.
        compact_metadata: Option<CompactMetadata>,
        /// The last message before.
        logical_parent_uuid: Nullable<Uuid>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// What a compaction did.
    #[derive(Default)]
    pub struct CompactMetadata {
        /// `manual` or `auto`.
        trigger: Option<Text>,
        /// Tokens before.
        pre_tokens: Option<u64>,
        /// Tokens after.
        post_tokens: Option<u64>,
        /// Tokens dropped so far.
        cumulative_dropped_tokens: Option<u64>,
        /// How long it took.
        duration_ms: Option<u64>,
        /// The messages that stay, as a stretch.
        preserved_segment: Option<PreservedSegment>,
        /// The messages that stay, one by one.
        preserved_messages: Option<PreservedMessages>,
    }

    /// Messages that stay.
    #[derive(Default)]
    pub struct PreservedSegment {
        /// The first.
        head_uuid: Option<Uuid>,
        /// What they now hang from.
        anchor_uuid: Option<Uuid>,
        /// The last.
        tail_uuid: Option<Uuid>,
    }

    /// Messages that stay.
    #[derive(Default)]
    pub struct PreservedMessages {
        /// What they now hang from.
        anchor_uuid: Option<Uuid>,
        /// The messages.
        uuids: Option<Vec<Uuid>>,
        /// The messages, and what lies between.
        all_uuids: Option<Vec<Uuid>>,
    }

    /// `api_retry`
    #[derive(Default)]
    pub struct ApiRetry {
        /// Which try this was.
        attempt: Option<u64>,
        /// How many there will be.
        max_retries: Option<u64>,
        /// How long until the next.
        retry_delay_ms: Option<Number>,
        /// The HTTP status; `null` when the connection failed.
        error_status: Nullable<u64>,
        /// What went wrong.
        error: Option<Text>,
        /// How long the API was silent.
        no_response: Option<Json>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `permission_denied`
    pub struct PermissionDenied {
        /// The tool.
        tool_name: ToolName,
        /// The call.
        tool_use_id: Option<ToolUseId>,
        /// What the model gets to read.
        message: Option<Text>,
        /// Why, for programs.
        decision_reason_type: Option<Text>,
        /// Why.
        decision_reason: Option<Text>,
        /// Why, more exactly.
        decision_reason_code: Option<Text>,
        /// The subagent that called.
        agent_id: Option<AgentId>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `informational`
    #[derive(Default)]
    pub struct Informational {
        /// The note.
        content: Option<Text>,
        /// `info`, `notice`, `suggestion` or `warning`.
        level: Option<Text>,
        /// What it is about, for programs.
        tag: Option<Text>,
        /// The call it is about.
        tool_use_id: Option<ToolUseId>,
        /// Whether the turn ends.
        prevent_continuation: Option<bool>,
        /// What became of a prompt that a hook stopped.
        prompt_submit_outcome: Option<Json>,
        /// The hook that did not answer.
        hook_no_verdict: Option<HookNoVerdict>,
        /// Whether the model does not see it.
        is_meta: Option<bool> = "isMeta",
        /// When.
        timestamp: Option<Text>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// A hook that did not answer.
    #[derive(Default)]
    pub struct HookNoVerdict {
        /// Its event.
        hook_event: Option<Text>,
        /// The call.
        tool_use_id: Option<ToolUseId>,
        /// Whether it took too long.
        timed_out: Option<bool>,
    }

    /// `notification`
    #[derive(Default)]
    pub struct Notification {
        /// What it is about; a later one takes its place.
        key: Option<Text>,
        /// The note.
        text: Option<Text>,
        /// `low`, `medium`, `high` or `immediate`.
        priority: Option<Text>,
        /// Its colour.
        color: Option<Text>,
        /// How long it is shown.
        timeout_ms: Option<u64>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `session_title_changed`
    #[derive(Default)]
    pub struct SessionTitleChanged {
        /// The title.
        title: Nullable<Text>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `session_state_changed`
    pub struct SessionStateChanged {
        /// The state.
        state: SessionState,
        /// Meant for the host alone.
        sdk_host_only: Option<bool>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `background_tasks_changed`
    #[derive(Default)]
    pub struct BackgroundTasksChanged {
        /// What runs now.
        tasks: Option<Vec<BackgroundTask>>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// A background task.
    #[derive(Default)]
    pub struct BackgroundTask {
        /// The task.
        task_id: TaskId,
        /// This run of it.
        run_id: Option<Text>,
        /// `local_agent`, `local_bash`, …
        task_type: Option<Text>,
        /// What it does.
        description: Option<Text>,
        /// The agent's type.
        subagent_type: Option<Text>,
        /// The task that started it.
        parent_task_id: Option<TaskId>,
        /// Whether nobody waits for it.
        ambient: Option<bool>,
    }

    /// `task_started`
    #[derive(Default)]
    pub struct TaskStarted {
        /// The task.
        task_id: TaskId,
        /// This run of it.
        run_id: Option<Text>,
        /// The call that started it.
        tool_use_id: Option<ToolUseId>,
        /// What it does.
        description: Option<Text>,
        /// The agent's type.
        subagent_type: Option<Text>,
        /// Whether nobody waits for it.
        is_backgrounded: Option<bool>,
        /// How deep in agents of agents.
        spawn_depth: Option<u64>,
        /// The task that started it.
        parent_task_id: Option<TaskId>,
        /// `local_agent`, `local_bash`, …
        task_type: Option<Text>,
        /// The workflow it runs.
        workflow_name: Option<Text>,
        /// What it was told.
        prompt: Option<Text>,
        /// Whether it is not in the transcript.
        skip_transcript: Option<bool>,
        /// Whether it need not be shown.
        ambient: Option<bool>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// What a task has used.
    #[derive(Default)]
    pub struct TaskUsage {
        /// Tokens.
        total_tokens: Option<u64>,
        /// Tool calls.
        tool_uses: Option<u64>,
        /// Time.
        duration_ms: Option<u64>,
    }

    /// `task_progress`
    pub struct TaskProgress {
        /// The task.
        task_id: TaskId,
        /// This run of it.
        run_id: Option<Text>,
        /// The call that started it.
        tool_use_id: Option<ToolUseId>,
        /// What it does now.
        description: Option<Text>,
        /// The agent's type.
        subagent_type: Option<Text>,
        /// What it has used.
        usage: Option<TaskUsage>,
        /// The tool it used last.
        last_tool_name: Option<ToolName>,
        /// How it gets on.
        summary: Option<Text>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `task_updated`
    #[derive(Default)]
    pub struct TaskUpdated {
        /// The task.
        task_id: TaskId,
        /// This run of it.
        run_id: Option<Text>,
        /// What changed.
        patch: Option<TaskPatch>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// What changed of a task.
    #[derive(Default)]
    pub struct TaskPatch {
        /// `pending`, `running`, `completed`, `failed`, `killed` or `paused`.
        status: Option<Text>,
        /// What it does.
        description: Option<Text>,
        /// When it ended, in milliseconds.
        end_time: Option<u64>,
        /// How long it was paused.
        total_paused_ms: Option<u64>,
        /// Why it failed.
        error: Option<Text>,
        /// Whether nobody waits for it any more.
        is_backgrounded: Option<bool>,
    }

    /// `task_notification`
    #[derive(Default)]
    pub struct TaskNotification {
        /// The task.
        task_id: TaskId,
        /// This run of it.
        run_id: Option<Text>,
        /// The call that started it.
        tool_use_id: Option<ToolUseId>,
        /// `completed`, `failed` or `stopped`.
        status: Text,
        /// Why.
        reason: Option<Text>,
        /// Where its output is.
        output_file: Option<Text>,
        /// What came of it.
        summary: Option<Text>,
        /// What it has used.
        usage: Option<TaskUsage>,
        /// Resources it gave.
        resource_links: Option<Vec<Json>>,
        /// Whether it is not in the transcript.
        skip_transcript: Option<bool>,
        /// Whether it need not be shown.
        ambient: Option<bool>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `thinking_tokens`
    #[derive(Default)]
    pub struct ThinkingTokens {
        /// So far.
        estimated_tokens: Option<u64>,
        /// More than the last time.
        estimated_tokens_delta: Option<u64>,
        /// The message that the turn answers.
        user_message_uuid: Option<Uuid>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `hook_started`
    #[derive(Default)]
    pub struct HookStarted {
        /// This run of the hook.
        hook_id: Option<Text>,
        /// Event and matcher, such as `PreToolUse:Bash`.
        hook_name: Option<Text>,
        /// The event.
        hook_event: Option<Text>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `hook_progress`
    #[derive(Default)]
    pub struct HookProgress {
        /// This run of the hook.
        hook_id: Option<Text>,
        /// Event and matcher.
        hook_name: Option<Text>,
        /// The event.
        hook_event: Option<Text>,
        /// Both outputs.
        output: Option<Text>,
        /// What it printed.
        stdout: Option<Text>,
        /// What it complained of.
        stderr: Option<Text>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `hook_response`
    #[derive(Default)]
    pub struct HookResponse {
        /// This run of the hook.
        hook_id: Option<Text>,
        /// Event and matcher.
        hook_name: Option<Text>,
        /// The event.
        hook_event: Option<Text>,
        /// Both outputs.
        output: Option<Text>,
        /// What it printed.
        stdout: Option<Text>,
        /// What it complained of.
        stderr: Option<Text>,
        /// How it exited.
        exit_code: Option<i64>,
        /// How it ended.
        outcome: Option<HookOutcome>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `control_request_progress`
    #[derive(Default)]
    pub struct ControlRequestProgress {
        /// The question.
        request_id: Option<RequestId>,
        /// `started` or `api_retry`.
        status: Option<Text>,
        /// Which try this was.
        attempt: Option<u64>,
        /// How many there will be.
        max_retries: Option<u64>,
        /// How long until the next.
        retry_delay_ms: Option<Number>,
        /// The HTTP status.
        error_status: Nullable<u64>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `model_fallback`
    #[derive(Default)]
    pub struct ModelFallback {
        /// Why, such as `overloaded`.
        trigger: Option<Text>,
        /// The model that was asked for.
        original_model: Option<Text>,
        /// The model that goes on.
        fallback_model: Option<Text>,
        /// For a person.
        content: Option<Text>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `model_refusal_fallback`, `model_refusal_no_fallback`
    #[derive(Default)]
    pub struct ModelRefusal {
        /// `refusal`.
        trigger: Option<Text>,
        /// `retry`, `revert` or `sticky`.
        direction: Option<Text>,
        /// `session` or `local`.
        scope: Option<Text>,
        /// The model that refused.
        original_model: Option<Text>,
        /// The model that goes on.
        fallback_model: Option<Text>,
        /// The API request.
        request_id: Nullable<Text>,
        /// Why.
        api_refusal_category: Nullable<Text>,
        /// Why, for a person.
        api_refusal_explanation: Nullable<Text>,
        /// Messages that no longer count.
        retracted_message_uuids: Option<Vec<Uuid>>,
        /// The message that was refused.
        refused_user_message_uuid: Nullable<Uuid>,
        /// For a person.
        content: Option<Text>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `local_command_output`
    #[derive(Default)]
    pub struct LocalCommandOutput {
        /// What it printed.
        content: Option<Text>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `plugin_install`
    #[derive(Default)]
    pub struct PluginInstall {
        /// `started`, `installed`, `failed` or `completed`.
        status: Option<Text>,
        /// The plugin.
        name: Option<Text>,
        /// Why it failed.
        error: Option<Text>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `commands_changed`
    #[derive(Default)]
    pub struct CommandsChanged {
        /// The commands there are now.
        commands: Option<Vec<SlashCommand>>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `files_persisted`
    #[derive(Default)]
    pub struct FilesPersisted {
        /// Those that were saved.
        files: Option<Vec<Json>>,
        /// Those that were not.
        failed: Option<Vec<Json>>,
        /// When.
        processed_at: Option<Text>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `memory_recall`
    #[derive(Default)]
    pub struct MemoryRecall {
        /// `select` or `synthesize`.
        mode: Option<Text>,
        /// The memories.
        memories: Option<Vec<Json>>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `elicitation_complete`
    #[derive(Default)]
    pub struct ElicitationComplete {
        /// The server.
        mcp_server_name: Option<Text>,
        /// Which one.
        elicitation_id: Option<Text>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `mirror_error`
    #[derive(Default)]
    pub struct MirrorError {
        /// What went wrong.
        error: Option<Text>,
        /// For which transcript.
        key: Option<Json>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `session_writes_lost`
    #[derive(Default)]
    pub struct SessionWritesLost {
        /// `ENOSPC` or `EDQUOT`.
        error_code: Option<Text>,
        /// What was lost.
        lost: Option<Vec<Text>>,
        /// Of which sessions.
        transcript_session_ids: Option<Vec<SessionId>>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `worker_shutting_down`
    #[derive(Default)]
    pub struct WorkerShuttingDown {
        /// Why.
        reason: Option<Text>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }

    /// `ui_invalidate`
    #[derive(Default)]
    pub struct UiInvalidate {
        /// What to show again.
        event: Option<Text>,
        /// The session.
        session_id: Option<SessionId>,
        /// This line.
        uuid: Option<Uuid>,
    }
}

impl Init {
    /// Whether the agent tells what becomes of each message that the host gave a uuid: by `command_lifecycle` lines, and
    /// on the result that answers it.
    pub fn tells_of_messages(&self) -> bool {
        let capabilities = self.capabilities.as_deref().unwrap_or_default();
        capabilities.iter().any(|word| word == "msg_lifecycle_v1")
    }
}

impl TaskStarted {
    /// Whether the end of the task brings a turn of its own: agents and workflows do, a command may never end.
    pub fn comes_back(&self) -> bool {
        matches!(
            self.task_type.as_deref(),
            Some("local_agent" | "local_workflow")
        )
    }
}
