//! Hooks on the wire: which events there are, what a hook is told, what it may answer.

use crate::{
    ids::{AgentId, CallbackId, MessageId, SessionId, TaskId, ToolUseId},
    json::{Json, Number, Text},
    permission::{Behavior, McpServerOrigin, PermissionAnswer, PermissionMode, PermissionUpdate},
    tool::ToolName,
    wire::{Map, Nullable, wire_strings, wire_structs},
};

wire_strings! {
    /// The moments at which a hook may run.
    pub enum HookEvent {
        /// Before a tool runs.
        PreToolUse = "PreToolUse",
        /// After a tool ran.
        PostToolUse = "PostToolUse",
        /// After a tool failed.
        PostToolUseFailure = "PostToolUseFailure",
        /// After all tool calls of one message.
        PostToolBatch = "PostToolBatch",
        /// Something a person should know.
        Notification = "Notification",
        /// Before a prompt goes to the model.
        UserPromptSubmit = "UserPromptSubmit",
        /// When a slash command becomes a prompt.
        UserPromptExpansion = "UserPromptExpansion",
        /// A session begins.
        SessionStart = "SessionStart",
        /// A session ends.
        SessionEnd = "SessionEnd",
        /// The model wants to end the turn.
        Stop = "Stop",
        /// The turn ends by an API error.
        StopFailure = "StopFailure",
        /// A subagent begins.
        SubagentStart = "SubagentStart",
        /// A subagent wants to end.
        SubagentStop = "SubagentStop",
        /// Before the context is compacted.
        PreCompact = "PreCompact",
        /// After it was.
        PostCompact = "PostCompact",
        /// Before the model changes.
        PreModelSwitch = "PreModelSwitch",
        /// After it did.
        PostModelSwitch = "PostModelSwitch",
        /// While a person is asked.
        PermissionRequest = "PermissionRequest",
        /// After a call was denied.
        PermissionDenied = "PermissionDenied",
        /// Before anything else.
        Setup = "Setup",
        /// A teammate has nothing to do.
        TeammateIdle = "TeammateIdle",
        /// A task was made.
        TaskCreated = "TaskCreated",
        /// A task is done.
        TaskCompleted = "TaskCompleted",
        /// An MCP server asks the person.
        Elicitation = "Elicitation",
        /// The person answered it.
        ElicitationResult = "ElicitationResult",
        /// Settings changed.
        ConfigChange = "ConfigChange",
        /// A worktree is made.
        WorktreeCreate = "WorktreeCreate",
        /// A worktree goes away.
        WorktreeRemove = "WorktreeRemove",
        /// Instructions were loaded.
        InstructionsLoaded = "InstructionsLoaded",
        /// The working directory changed.
        CwdChanged = "CwdChanged",
        /// A watched file changed.
        FileChanged = "FileChanged",
        /// A directory was added.
        DirectoryAdded = "DirectoryAdded",
        /// A message is shown.
        MessageDisplay = "MessageDisplay",
    }

    /// The older way for a hook to decide, and the way of `Stop` (document 001 §3.6).
    pub enum HookDecision {
        /// Go on.
        Approve = "approve",
        /// Do not; for `Stop`: do not stop.
        Block = "block",
    }
}

wire_structs! {
    /// What the host wants to hear of, in `initialize`: for each event its matchers.
    pub struct HookMatcher {
        /// A regular expression over tool names; nothing for all.
        matcher: Nullable<Text>,
        /// Which functions of the host to call.
        callback_ids: Vec<CallbackId> = "hookCallbackIds" | "hook_callback_ids",
        /// Seconds to wait for an answer.
        timeout: Option<Number>,
        /// What to do when the host fails: `continue` or `block`.
        on_failure: Option<Text> = "onFailure",
    }

    /// What a hook is told. The first fields come with every event, the others as the event has them.
    #[derive(Default)]
    pub struct HookInput {
        /// The session.
        session_id: Option<SessionId>,
        /// The session's transcript on disk.
        transcript_path: Option<Text>,
        /// The working directory.
        cwd: Option<Text>,
        /// The prompt of the turn.
        prompt_id: Option<Text>,
        /// The mode.
        permission_mode: Option<PermissionMode>,
        /// The subagent, inside one.
        agent_id: Option<AgentId>,
        /// The subagent's type.
        agent_type: Option<Text>,
        /// How hard the model tries.
        effort: Option<Effort>,
        /// The event; absent only in malformed requests.
        event: Option<HookEvent> = "hook_event_name",
        /// Tool events: the tool.
        tool_name: Option<ToolName>,
        /// Tool events: its input.
        tool_input: Option<Json>,
        /// Tool events: the call.
        tool_use_id: Option<ToolUseId>,
        /// `PostToolUse`: what the tool gave.
        tool_response: Option<Json>,
        /// `PostToolUse`, `PostToolUseFailure`: how long it ran.
        duration_ms: Option<u64>,
        /// `PostToolUseFailure`, `StopFailure`: what went wrong.
        error: Option<Text>,
        /// `StopFailure`: more of it.
        error_details: Option<Text>,
        /// `PostToolUseFailure`: whether it was interrupted.
        is_interrupt: Option<bool>,
        /// `PostToolBatch`: the calls.
        tool_calls: Option<Vec<ToolCallRecord>>,
        /// Tool events of an MCP tool: its server.
        mcp_server: Option<McpServerOrigin>,
        /// `PermissionRequest`: what a person could allow for good.
        permission_suggestions: Option<Vec<PermissionUpdate>>,
        /// `PermissionDenied`, `SessionEnd`: why.
        reason: Option<Text>,
        /// `UserPromptSubmit`, `UserPromptExpansion`: the prompt.
        prompt: Option<Text>,
        /// `SessionStart`, `UserPromptSubmit`, `ConfigChange`, `DirectoryAdded`: where it comes from.
        source: Option<Text>,
        /// `Stop`, `SubagentStop`: whether a hook has already kept it from stopping.
        stop_hook_active: Option<bool>,
        /// `Stop`, `SubagentStop`, `StopFailure`: what the model said last.
        last_assistant_message: Option<Text>,
        /// `Stop`, `SubagentStop`: what still runs.
        background_tasks: Option<Vec<Json>>,
        /// `Stop`, `SubagentStop`: what is planned.
        session_crons: Option<Vec<Json>>,
        /// `SubagentStop`: the subagent's transcript.
        agent_transcript_path: Option<Text>,
        /// `SessionStart`: the model.
        model: Option<Text>,
        /// `SessionStart`, `UserPromptSubmit`: the session's title.
        session_title: Option<Text>,
        /// `SessionStart`: seconds since the model last answered.
        seconds_since_last_response: Option<Number>,
        /// `SessionStart`: tokens in the context.
        context_tokens: Option<u64>,
        /// `SessionStart`: whether the prompt cache is cold.
        prompt_cache_likely_expired: Option<bool>,
        /// `SessionStart`: what warming it will cost.
        estimated_cache_write_usd: Option<Number>,
        /// `PreCompact`, `PostCompact`, `Setup`: what set it off.
        trigger: Option<Text>,
        /// `PreCompact`: what the person asked for.
        custom_instructions: Nullable<Text>,
        /// `PostCompact`: the summary.
        compact_summary: Option<Text>,
        /// `Notification`, `Elicitation`: the words.
        message: Option<Text>,
        /// `Notification`: their title.
        title: Option<Text>,
        /// `Notification`: of which kind.
        notification_type: Option<Text>,
        /// `UserPromptExpansion`: slash command or MCP prompt.
        expansion_type: Option<Text>,
        /// `UserPromptExpansion`: the command.
        command_name: Option<Text>,
        /// `UserPromptExpansion`: its arguments.
        command_args: Option<Text>,
        /// `UserPromptExpansion`: where it is from.
        command_source: Option<Text>,
        /// `Elicitation`, `ElicitationResult`: the server.
        mcp_server_name: Option<Text>,
        /// `Elicitation`, `ElicitationResult`: form or address.
        mode: Option<Text>,
        /// `Elicitation`: the address.
        url: Option<Text>,
        /// `Elicitation`, `ElicitationResult`: which one.
        elicitation_id: Option<Text>,
        /// `Elicitation`: the form.
        requested_schema: Option<Json>,
        /// `ElicitationResult`: accept, decline or cancel.
        action: Option<Text>,
        /// `ElicitationResult`: the filled form.
        content: Option<Json>,
        /// `ConfigChange`, `FileChanged`, `InstructionsLoaded`: the file.
        file_path: Option<Text>,
        /// `FileChanged`: change, add or unlink.
        change: Option<Text> = "event",
        /// `CwdChanged`: from.
        old_cwd: Option<Text>,
        /// `CwdChanged`: to.
        new_cwd: Option<Text>,
        /// `DirectoryAdded`: which one.
        directory: Option<Text>,
        /// `InstructionsLoaded`: whose.
        memory_type: Option<Text>,
        /// `InstructionsLoaded`: why.
        load_reason: Option<Text>,
        /// `InstructionsLoaded`: for which files.
        globs: Option<Vec<Text>>,
        /// `InstructionsLoaded`: the file that set it off.
        trigger_file_path: Option<Text>,
        /// `InstructionsLoaded`: the file that includes it.
        parent_file_path: Option<Text>,
        /// `TaskCreated`, `TaskCompleted`: the task.
        task_id: Option<TaskId>,
        /// `TaskCreated`, `TaskCompleted`: what it is.
        task_subject: Option<Text>,
        /// `TaskCreated`, `TaskCompleted`: more of it.
        task_description: Option<Text>,
        /// `TeammateIdle`, `TaskCreated`, `TaskCompleted`: whose.
        teammate_name: Option<Text>,
        /// `TeammateIdle`, `TaskCreated`, `TaskCompleted`: in which team.
        team_name: Option<Text>,
        /// `WorktreeCreate`: its name.
        name: Option<Text>,
        /// `WorktreeRemove`: its path.
        worktree_path: Option<Text>,
        /// `MessageDisplay`: the turn.
        turn_id: Option<Text>,
        /// `MessageDisplay`: the message.
        message_id: Option<MessageId>,
        /// `MessageDisplay`: which piece.
        index: Option<u64>,
        /// `MessageDisplay`: whether it is the last.
        is_final: Option<bool> = "final",
        /// `MessageDisplay`: the piece.
        delta: Option<Text>,
    }

    /// How hard the model tries.
    pub struct Effort {
        /// `low`, `medium`, `high`, `xhigh` or `max`.
        level: Text,
    }

    /// One call of a `PostToolBatch`.
    pub struct ToolCallRecord {
        /// The tool.
        tool_name: ToolName,
        /// Its input.
        tool_input: Option<Json>,
        /// The call.
        tool_use_id: Option<ToolUseId>,
        /// What it gave.
        tool_response: Option<Json>,
        /// The server of an MCP tool.
        mcp_server: Option<McpServerOrigin>,
    }

    /// What a hook answers: to the host's callbacks and, printed by a command, to the settings' hooks.
    #[derive(Default)]
    pub struct HookOutput {
        /// `false` ends the turn.
        proceed: Option<bool> = "continue",
        /// Keeps the hook's output from the transcript.
        suppress_output: Option<bool> = "suppressOutput",
        /// Why the turn ends.
        stop_reason: Option<Text> = "stopReason",
        /// The verdict of `Stop` and of older hooks.
        decision: Option<HookDecision>,
        /// Why; needed with `block`.
        reason: Option<Text>,
        /// A note for the person.
        system_message: Option<Text> = "systemMessage",
        /// A sequence for the terminal.
        terminal_sequence: Option<Text> = "terminalSequence",
        /// The verdict of newer hooks.
        specific: Option<HookSpecificOutput> = "hookSpecificOutput" | "hook_specific_output",
        /// The hook goes on by itself; its answer does not count.
        is_async: Option<bool> = "async",
        /// Milliseconds it may go on.
        async_timeout: Option<u64> = "asyncTimeout",
    }

    /// The part of a hook's answer that belongs to its event.
    #[derive(Default)]
    pub struct HookSpecificOutput {
        /// The event.
        event: Option<HookEvent> = "hookEventName" | "hook_event_name",
        /// `PreToolUse`, `PreModelSwitch`: `ask` sends the question on to `can_use_tool`.
        permission_decision: Option<Behavior> = "permissionDecision" | "permission_decision",
        /// Why.
        permission_decision_reason: Option<Text> = "permissionDecisionReason" | "permission_decision_reason",
        /// `PreToolUse`: the input to run with.
        updated_input: Option<Json> = "updatedInput" | "updated_input",
        /// Words for the model.
        additional_context: Option<Text> = "additionalContext" | "additional_context",
        /// `PermissionRequest`: the answer.
        decision: Option<PermissionAnswer>,
        /// `PostToolUse`: words for the classifier.
        classifier_context: Option<Text> = "classifierContext",
        /// `PostToolUse`: what the model gets to see instead.
        updated_tool_output: Option<Json> = "updatedToolOutput",
        /// `PostToolUse` of an MCP tool: what the model gets to see instead.
        updated_mcp_tool_output: Option<Json> = "updatedMCPToolOutput",
        /// `UserPromptSubmit`, `UserPromptExpansion`: drop the prompt itself.
        suppress_original_prompt: Option<bool> = "suppressOriginalPrompt",
        /// `SessionStart`, `UserPromptSubmit`: a title.
        session_title: Option<Text> = "sessionTitle",
        /// `SessionStart`: a first prompt.
        initial_user_message: Option<Text> = "initialUserMessage",
        /// `SessionStart`, `CwdChanged`, `FileChanged`: files to watch.
        watch_paths: Option<Vec<Text>> = "watchPaths",
        /// `SessionStart`: look for skills again.
        reload_skills: Option<bool> = "reloadSkills",
        /// `PermissionDenied`: try again.
        retry: Option<bool>,
        /// `Elicitation`, `ElicitationResult`: accept, decline or cancel.
        action: Option<Text>,
        /// `Elicitation`, `ElicitationResult`: the filled form.
        content: Option<Json>,
        /// `WorktreeCreate`: where it is.
        worktree_path: Option<Text> = "worktreePath",
        /// `MessageDisplay`: what to show.
        display_content: Option<Text> = "displayContent",
    }
}

/// Matchers by event name.
pub type HookMatchers = Map<Vec<HookMatcher>>;

impl HookOutput {
    /// The verdict of a `PreToolUse` hook.
    pub fn pre_tool_use(decision: Behavior, reason: impl Into<Text>) -> Self {
        Self {
            specific: Some(HookSpecificOutput {
                event: Some(HookEvent::PreToolUse),
                permission_decision: Some(decision),
                permission_decision_reason: Some(reason.into()),
                ..HookSpecificOutput::default()
            }),
            ..Self::default()
        }
    }

    /// The verdict of a `Stop` hook that does not let the turn end.
    pub fn block(reason: impl Into<Text>) -> Self {
        Self {
            decision: Some(HookDecision::Block),
            reason: Some(reason.into()),
            ..Self::default()
        }
    }
}
