//! The requests of a host that have a name: a table that [`requests`] makes methods of, each with an example that runs.

mod declare;

use towline_protocol::{
    Extra, Json, Map, Nullable, Number, PermissionMode, Request, TaskId, Text, ToolName, ToolUseId,
    Uuid,
    control::{answer, request},
};

use super::Control;
use crate::error::Error;

use declare::requests;

// The turn.
requests! {
    /// Introduces the host.
    ///
    /// Sessions do that by themselves; again it changes what can still be changed.
    initialize(initialize: request::Initialize) -> answer::InitializeAnswer =
        typed(Request::Initialize(Box::new(initialize)));
    control.initialize(Initialize::default()).await?.output_style.as_deref() => Some("default");

    /// Stops the running turn.
    ///
    /// The session goes on; what is queued runs next.
    interrupt() -> answer::InterruptAnswer = typed(Request::interrupt());
    control.interrupt().await?.still_queued => Some(vec![]);

    /// Stops the running turn and forgets what is queued.
    interrupt_and_forget_queue() -> answer::InterruptAnswer = typed(Request::Interrupt(request::Interrupt {
        cancel_queued: Some(true),
        extra: Extra::default(),
    }));
    control.interrupt_and_forget_queue().await?.cancelled => Some(vec![]);

    /// Takes back a message that was sent with a uuid and is still queued.
    cancel_message(message: &Uuid) -> answer::CancelledAnswer =
        typed(Request::CancelAsyncMessage(request::CancelAsyncMessage {
            message_uuid: Some(message.clone()),
            extra: Extra::default(),
        }));
    control.cancel_message(&"a5e0".into()).await?.cancelled => Some(false);

    /// Asks the model beside the conversation.
    side_question(question: impl Into<Text>) -> answer::SideQuestionAnswer =
        typed(Request::SideQuestion(request::SideQuestion {
            question: question.into(),
            extra: Extra::default(),
        }));
    control.side_question("Why that way?").await?.response.as_option().is_some() => true;

    /// Has the agent finish what it does, and exit.
    end_session() -> () = done(Request::EndSession(nothing()));
    control.end_session().await?;
}

// The model and the mode.
requests! {
    /// Changes the permission mode.
    set_permission_mode(mode: PermissionMode) -> () = done(Request::SetPermissionMode(request::SetPermissionMode {
        mode,
        extra: Extra::default(),
    }));
    control.set_permission_mode(PermissionMode::Plan).await?;

    /// Changes the model; to the default one if nothing is given.
    set_model(model: Option<&str>) -> () = done(Request::SetModel(request::SetModel {
        model: model.map_or(Nullable::Null, |model| Nullable::Value(model.into())),
        extra: Extra::default(),
    }));
    control.set_model(Some("opus")).await?;

    /// Changes how much the model may think; without a bound if nothing is given.
    set_max_thinking_tokens(tokens: Option<u64>) -> () =
        done(Request::SetMaxThinkingTokens(request::SetMaxThinkingTokens {
            max_thinking_tokens: tokens.map_or(Nullable::Null, |tokens| {
                Nullable::Value(i64::try_from(tokens).unwrap_or(i64::MAX))
            }),
            ..request::SetMaxThinkingTokens::default()
        }));
    control.set_max_thinking_tokens(Some(4096)).await?;

    /// Lists the models there are.
    models() -> answer::ModelsAnswer = typed(Request::ListModels(nothing()));
    control.models().await?.models.unwrap_or_default()[0].value => "opus";
}

// MCP servers.
requests! {
    /// Tells how the MCP servers are.
    mcp_status() -> answer::McpStatusAnswer = typed(Request::McpStatus(request::McpStatus::default()));
    control.mcp_status().await?.servers.unwrap_or_default()[0].status => "connected";

    /// Uses these MCP servers from now on.
    mcp_set_servers(servers: impl IntoIterator<Item = (String, request::McpServerConfig)>) ->
        answer::McpSetServersAnswer = typed(Request::McpSetServers(request::McpSetServers {
            servers: servers.into_iter().collect::<Map<_>>(),
            extra: Extra::default(),
        }));
    control.mcp_set_servers([("files".into(), McpServerConfig::default())]).await?.added => Some(vec!["files".into()]);

    /// Connects an MCP server again.
    mcp_reconnect(server: &str) -> () = done(Request::McpReconnect(request::McpServerName {
        server_name: server.into(),
        extra: Extra::default(),
    }));
    control.mcp_reconnect("calculator").await?;

    /// Switches an MCP server on.
    mcp_enable(server: &str) -> () = done(mcp_toggle(server, true));
    control.mcp_enable("calculator").await?;

    /// Switches an MCP server off.
    mcp_disable(server: &str) -> () = done(mcp_toggle(server, false));
    control.mcp_disable("calculator").await?;

    /// Calls an MCP tool, past the model.
    mcp_call(tool: impl Into<ToolName>, arguments: Json) -> answer::McpCallAnswer =
        typed(Request::McpCall(request::McpCall {
            tool: tool.into(),
            arguments: Some(arguments),
            expires_at: None,
            timeout_ms: None,
            result_not_for_model: None,
            check_permissions: None,
            input_files: None,
            output_files: None,
            extra: Extra::default(),
        }));
    control.mcp_call("mcp__calculator__add", Json::new(r#"{"a":1,"b":2}"#)?).await?.is_error => Some(false);

    /// Reads a resource of an MCP server.
    mcp_read_resource(server: &str, uri: &str) -> Option<Json> =
        request(Request::McpReadResource(request::McpReadResource {
            server_name: server.into(),
            uri: uri.into(),
            extra: Extra::default(),
        }));
    control.mcp_read_resource("files", "file:///notes").await?.is_some() => true;

    /// Sends a JSON-RPC message of a server in this program to the agent.
    mcp_message(server: &str, message: Json) -> Option<Json> = request(Request::McpMessage(request::McpMessage {
        server_name: server.into(),
        message,
        extra: Extra::default(),
    }));
    control.mcp_message("calculator", Json::new(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#)?).await?;
}

// Files.
requests! {
    /// Puts files back to where they were at a message of the user.
    ///
    /// Needs [`AgentCommand::file_checkpointing`](crate::AgentCommand::file_checkpointing).
    rewind_files(message: &Uuid) -> answer::RewindAnswer = typed(rewind(message, None));
    control.rewind_files(&"a5e0".into()).await?.files_changed => Some(vec!["/project/a.txt".into()]);

    /// Tells what [`Control::rewind_files`] would change.
    preview_rewind(message: &Uuid) -> answer::RewindAnswer = typed(rewind(message, Some(true)));
    control.preview_rewind(&"a5e0".into()).await?.can_rewind => Some(true);

    /// Finds the files that match what a person has typed.
    file_suggestions(query: &str) -> answer::FileSuggestionsAnswer =
        typed(Request::FileSuggestions(request::FileSuggestions {
            query: query.into(),
            extra: Extra::default(),
        }));
    control.file_suggestions("main").await?.suggestions.unwrap_or_default().len() => 1;

    /// Reads a file where the agent is.
    read_file(path: &str) -> answer::ReadFileAnswer = typed(Request::ReadFile(request::ReadFile {
        path: path.into(),
        max_bytes: None,
        encoding: None,
        extra: Extra::default(),
    }));
    control.read_file("a.txt").await?.contents => "hello\n";

    /// Has the agent believe that it has read a file, at a time in milliseconds since 1970.
    seed_read_state(path: &str, mtime: Number) -> () = done(Request::SeedReadState(request::SeedReadState {
        path: path.into(),
        mtime,
        extra: Extra::default(),
    }));
    control.seed_read_state("/project/a.txt", 1_700_000_000_000u64.into()).await?;

    /// Names a directory with a repository of its own.
    register_repo_root(directory: &str) -> Option<Json> =
        request(Request::RegisterRepoRoot(request::RegisterRepoRoot {
            directory: directory.into(),
            reload_claude_md: None,
            reload_plugins: None,
            reload_skills: None,
            extra: Extra::default(),
        }));
    control.register_repo_root("/project/vendor").await?;
}

// What runs in the background.
requests! {
    /// Stops a background task.
    stop_task(task: &TaskId) -> () = done(Request::StopTask(task_ref(task)));
    control.stop_task(&"b1".into()).await?;

    /// Tells what a background task has written.
    task_output(task: &TaskId) -> answer::TaskOutputAnswer = typed(Request::GetTaskOutput(task_ref(task)));
    control.task_output(&"b1".into()).await?.output => "all tests pass\n";

    /// Moves what runs to the background: one call, or all if nothing is given.
    move_to_background(call: Option<&ToolUseId>) -> () = done(Request::BackgroundTasks(request::BackgroundTasks {
        tool_use_id: call.cloned(),
        extra: Extra::default(),
    }));
    control.move_to_background(None).await?;
}

// How the session and the agent are.
requests! {
    /// Tells what fills the context.
    context_usage() -> answer::ContextUsageAnswer =
        typed(Request::GetContextUsage(request::GetContextUsage::default()));
    control.context_usage().await?.total_tokens => Some(1200);

    /// Tells what the session has cost, in words.
    session_cost() -> answer::SessionCostAnswer = typed(Request::GetSessionCost(nothing()));
    control.session_cost().await?.text => "Total cost: $0.01";

    /// Tells what has been used of the plan.
    usage() -> answer::UsageAnswer = typed(Request::GetUsage(request::GetUsage::default()));
    control.usage().await?.session.is_some() => true;

    /// Tells which version the agent is.
    binary_version() -> answer::VersionAnswer = typed(Request::GetBinaryVersion(nothing()));
    control.binary_version().await?.version => "2.1.325";

    /// Gives the session a title.
    rename(title: &str) -> () = done(Request::RenameSession(request::RenameSession {
        title: title.into(),
        source: None,
        session_id: None,
        extra: Extra::default(),
    }));
    control.rename("Tidying up").await?;

    /// Tells the agent whether anyone watches; that it is not known, if nothing is given.
    set_has_subscribers(watched: Option<bool>) -> () = done(Request::SetHasSubscribers(request::SetHasSubscribers {
        has_subscribers: watched.map_or(Nullable::Null, Nullable::Value),
        extra: Extra::default(),
    }));
    control.set_has_subscribers(Some(true)).await?;
}

// Settings.
requests! {
    /// Tells which settings hold, and where they come from.
    settings() -> answer::SettingsAnswer = typed(Request::GetSettings(nothing()));
    control.settings().await?.sources.unwrap_or_default().len() => 1;

    /// Changes settings for this agent alone.
    apply_flag_settings(settings: Json) -> () = done(Request::ApplyFlagSettings(request::ApplyFlagSettings {
        settings,
        extra: Extra::default(),
    }));
    control.apply_flag_settings(Json::new(r#"{"model":"opus"}"#)?).await?;

    /// Changes settings in a file: `localSettings` or `userSettings`.
    update_settings(source: &str, settings: Json) -> () = done(Request::UpdateSettings(request::UpdateSettings {
        source: source.into(),
        settings,
        extra: Extra::default(),
    }));
    control.update_settings("localSettings", Json::new(r#"{"model":"opus"}"#)?).await?;

    /// Lists the hooks there are.
    hooks_listing() -> answer::HooksListingAnswer = typed(Request::GetHooksListing(nothing()));
    control.hooks_listing().await?.hooks.unwrap_or_default().len() => 0;

    /// Lists the permission rules that hold.
    permission_rules() -> answer::PermissionRulesAnswer = typed(Request::ListPermissionRules(nothing()));
    control.permission_rules().await?.state.is_some() => true;

    /// Has the agent look for plugins again.
    reload_plugins() -> answer::ReloadPluginsAnswer =
        typed(Request::ReloadPlugins(request::ReloadPlugins::default()));
    control.reload_plugins().await?.error_count => Some(0);

    /// Has the agent look for skills again.
    reload_skills() -> answer::ReloadSkillsAnswer = typed(Request::ReloadSkills(nothing()));
    control.reload_skills().await?.skills.unwrap_or_default()[0].name => "review";

    /// Has the agent look for output styles again.
    reload_output_styles() -> answer::ReloadOutputStylesAnswer = typed(Request::ReloadOutputStyles(nothing()));
    control.reload_output_styles().await?.available_output_styles.unwrap_or_default().len() => 2;
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

fn mcp_toggle(server: &str, enabled: bool) -> Request {
    Request::McpToggle(request::McpToggle {
        server_name: server.into(),
        enabled,
        extra: Extra::default(),
    })
}

fn rewind(message: &Uuid, dry_run: Option<bool>) -> Request {
    Request::RewindFiles(request::RewindFiles {
        user_message_id: message.clone(),
        dry_run,
        extra: Extra::default(),
    })
}
