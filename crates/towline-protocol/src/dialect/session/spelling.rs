//! The spellings of document 003 where they differ from the real CLI's.

use super::ErrorCode;
use crate::{
    content::Content,
    control::{
        ControlResponse, Failure, Reply, Success,
        answer::InitializeAnswer,
        request::{CanUseTool, Initialize, McpServerConfig, McpSetServers, Request},
    },
    ids::RequestId,
    json::{Json, Number, Text},
    permission::{Behavior, PermissionAnswer, PermissionUpdate, UpdateKind},
    result::TurnResult,
    system::{System, ToolDefinition, ToolListing},
    to_agent::ToAgent,
    to_host::{Assistant, ErrorBody, ErrorLine},
    tool::ToolName,
    user::User,
    wire::{Extra, Map, Nullable, OneOrMany, Parts, Wire},
};

/// An answer to `can_use_tool` in camelCase. Other answers have one spelling only.
pub(super) fn standard_answer(mut response: ControlResponse) -> ControlResponse {
    map_answer(&mut response, |answer| {
        let updates = answer.updated_permissions.take();
        answer.updated_permissions = updates.map(|updates| {
            updates
                .iter()
                .filter_map(PermissionUpdate::standard)
                .collect()
        });
        answer.to_standard_json()
    });
    response
}

/// An answer to `can_use_tool` in snake_case.
pub(super) fn dialect_answer(mut response: ControlResponse) -> ControlResponse {
    map_answer(&mut response, |answer| {
        for (name, spelled) in [
            ("updatedInput", "updated_input"),
            ("updatedPermissions", "updated_permissions"),
            ("toolUseID", "tool_use_id"),
        ] {
            answer.extra.respell(name, spelled);
        }
        answer.to_json()
    });
    response
}

fn map_answer(response: &mut ControlResponse, map: impl FnOnce(&mut PermissionAnswer) -> Json) {
    if let Reply::Success(success) = &mut response.reply
        && let Nullable::Value(json) = &mut success.response
        && let Ok(mut answer) = PermissionAnswer::read_whole(json.text())
    {
        *json = map(&mut answer);
    }
}

pub(super) fn standard_initialize(initialize: &mut Initialize) {
    if let Some(OneOrMany::One(prompt)) = &initialize.system_prompt {
        initialize.system_prompt = Some(OneOrMany::Many(vec![prompt.clone()]));
    }
    // An empty map says nothing. The real CLI has no field for servers: `Session` makes a request of them.
    if initialize
        .mcp_servers
        .as_ref()
        .is_some_and(|servers| servers_of(servers).is_empty())
    {
        initialize.mcp_servers = None;
    }
    initialize.extra.forget_spellings();
}

pub(super) fn dialect_initialize(initialize: &mut Initialize) {
    if let Some(OneOrMany::Many(parts)) = &initialize.system_prompt {
        let whole = parts
            .iter()
            .map(Text::as_str)
            .collect::<Vec<_>>()
            .join("\n\n");
        initialize.system_prompt = Some(OneOrMany::One(whole.into()));
    }
    initialize.extra.respell("systemPrompt", "system_prompt");
    initialize.extra.respell("mcpServers", "mcp_servers");
}

/// Takes the servers out of an `initialize` of the dialect, as the request of the standard wire that sets them.
pub(super) fn take_mcp_servers(line: &mut ToAgent) -> Option<(RequestId, Request)> {
    let ToAgent::ControlRequest(request) = line else {
        return None;
    };
    let Request::Initialize(initialize) = &mut request.request else {
        return None;
    };
    let servers = servers_of(initialize.mcp_servers.as_ref()?);
    if servers.is_empty() {
        return None;
    }
    initialize.mcp_servers = None;
    let id = match &request.request_id {
        Some(id) => format!("{id}/mcp_servers"),
        None => "mcp_servers".to_owned(),
    };
    let request = Request::McpSetServers(McpSetServers {
        servers,
        extra: Extra::default(),
    });
    Some((id.into(), request))
}

/// Servers by name; none if it is no map of them.
fn servers_of(json: &Json) -> Map<McpServerConfig> {
    Map::read_whole(json.text()).unwrap_or_default()
}

/// A rule suggestion as `{type, action, pattern, scope}`; others have no form in the dialect and stay as they are.
pub(super) fn dialect_question(question: &mut CanUseTool) {
    if let Nullable::Value(suggestions) = &mut question.permission_suggestions {
        for suggestion in suggestions {
            let bash_rule = match suggestion.rules.as_deref() {
                Some([rule]) if rule.tool_name == "Bash" => rule.rule_content.clone(),
                _ => None,
            };
            if suggestion.kind == Some(UpdateKind::AddRules)
                && let Some(pattern) = bash_rule
            {
                *suggestion = PermissionUpdate {
                    kind: Some(UpdateKind::Bash),
                    action: suggestion.behavior.clone(),
                    pattern: Some(pattern),
                    scope: suggestion.destination.clone(),
                    ..PermissionUpdate::default()
                };
            }
        }
    }
    if question.blocked_path == Nullable::Absent {
        question.blocked_path = Nullable::Null;
    }
}

pub(super) fn standard_question(question: &mut CanUseTool) {
    if let Nullable::Value(suggestions) = &mut question.permission_suggestions {
        for suggestion in suggestions {
            if suggestion.kind == Some(UpdateKind::Bash)
                && matches!(
                    suggestion.action,
                    Some(Behavior::Allow | Behavior::Deny | Behavior::Ask)
                )
                && let Some(standard) = suggestion.standard()
            {
                *suggestion = standard;
            }
        }
    }
    if question.blocked_path == Nullable::Null {
        question.blocked_path = Nullable::Absent;
    }
}

/// Commands with their slash, models with `display`, an account with `account_type`.
pub(super) fn dialect_initialize_answer(json: Json) -> Json {
    let Some(mut answer) = initialize_answer(&json) else {
        return json;
    };
    for command in answer.commands.iter_mut().flatten() {
        command.name = format!("/{}", command.name.trim_start_matches('/')).into();
    }
    for model in answer.models.iter_mut().flatten() {
        model.extra.respell("displayName", "display");
    }
    if let Some(account) = &mut answer.account {
        account.extra.respell("subscriptionType", "account_type");
    }
    answer.to_json()
}

pub(super) fn standard_initialize_answer(json: Json) -> Json {
    let Some(mut answer) = initialize_answer(&json) else {
        return json;
    };
    for command in answer.commands.iter_mut().flatten() {
        if let Some(bare) = command.name.strip_prefix('/') {
            command.name = bare.into();
        }
    }
    answer.to_standard_json()
}

/// The answer to `initialize`, told from other answers by its commands and models.
fn initialize_answer(json: &Json) -> Option<InitializeAnswer> {
    let answer = InitializeAnswer::read_whole(json.text()).ok()?;
    (answer.commands.is_some() && answer.models.is_some()).then_some(answer)
}

/// Tools as objects with a description.
pub(super) fn dialect_system(system: &mut System) {
    let System::Init(init) = system else { return };
    for tool in init.tools.iter_mut().flatten() {
        if let ToolListing::Name(name) = tool {
            *tool = ToolListing::Definition(Box::new(ToolDefinition {
                name: name.clone(),
                description: Some(Text::new()),
                input_schema: None,
                extra: Extra::default(),
            }));
        }
    }
}

pub(super) fn standard_system(system: &mut System) {
    let System::Init(init) = system else { return };
    for tool in init.tools.iter_mut().flatten() {
        let name: ToolName = tool.name().clone();
        *tool = ToolListing::Name(name);
    }
}

/// Model and usage beside the message, too.
pub(super) fn dialect_assistant(assistant: &mut Assistant) {
    if let Some(message) = &assistant.message {
        assistant.model = assistant.model.take().or_else(|| message.model.clone());
        assistant.usage = assistant
            .usage
            .take()
            .or_else(|| message.usage.as_option().cloned());
    }
}

pub(super) fn standard_assistant(assistant: &mut Assistant) {
    if let Some(message) = &mut assistant.message {
        if message.model.is_none() {
            message.model = assistant.model.clone();
        }
        if message.usage == Nullable::Absent {
            message.usage = assistant
                .usage
                .clone()
                .map_or(Nullable::Absent, Nullable::Value);
        }
        if let Nullable::Value(Content::Text(text)) = &message.content {
            message.content = Nullable::Value(vec![crate::Block::text(text.clone())].into());
        }
    }
    assistant.model = None;
    assistant.usage = None;
}

/// The message says what it is, as the document shows it on lines to the host alone.
pub(super) fn dialect_user(user: &mut User) {
    user.message.kind.get_or_insert_with(|| MESSAGE.into());
}

pub(super) fn standard_user(user: &mut User) {
    user.message.kind.take_if(|kind| *kind == MESSAGE);
}

const MESSAGE: &str = "message";

/// Turns and seconds in the dialect's words, beside the standard ones; errors as one string.
pub(super) fn dialect_result(result: &mut TurnResult) {
    if let Some(turns) = result.num_turns {
        result
            .extra
            .insert("turn_count", Json::from_checked(turns.to_string().into()));
    }
    if let Some(milliseconds) = result.duration_ms {
        result.duration_seconds = Some(Number::from(milliseconds as f64 / 1000.0));
    }
    if result.error.is_none() {
        let errors = result
            .errors
            .iter()
            .flatten()
            .map(Text::as_str)
            .collect::<Vec<_>>()
            .join("\n");
        result.error = (!errors.is_empty()).then(|| errors.into());
    }
}

pub(super) fn standard_result(result: &mut TurnResult) {
    result.extra.remove("turn_count");
    if result.duration_ms.is_none() {
        let seconds = result.duration_seconds.as_ref().map(Number::as_f64);
        result.duration_ms = seconds.map(|seconds| (seconds * 1000.0).round().max(0.0) as u64);
    }
    result.duration_seconds = None;
    if result.errors.is_none() {
        result.errors = result.error.clone().map(|error| vec![error]);
    }
    result.error = None;
    result.extra.forget_spellings();
}

/// What an answer tells of open questions has no place in the flat form; it is kept beside the answer.
pub(super) fn note_pending(success: &mut Success) {
    for (name, pending) in [
        (PENDING[0], success.pending_permission_requests.take()),
        (PENDING[1], success.pending_user_dialog_requests.take()),
        (PENDING[2], success.pending_elicitation_requests.take()),
    ] {
        if let Some(pending) = pending {
            success.extra.insert(name, pending.to_json());
        }
    }
}

pub(super) fn noted_pending(success: &mut Success) {
    let mut noted = |name: &str| {
        let pending = success
            .extra
            .get(name)
            .and_then(|json| Vec::read_whole(json.text()).ok());
        success.extra.remove(name);
        pending
    };
    let (permission, dialog, elicitation) =
        (noted(PENDING[0]), noted(PENDING[1]), noted(PENDING[2]));
    success.pending_permission_requests = permission;
    success.pending_user_dialog_requests = dialog;
    success.pending_elicitation_requests = elicitation;
}

const PENDING: [&str; 3] = [
    "pending_permission_requests",
    "pending_user_dialog_requests",
    "pending_elicitation_requests",
];

/// A refusal as an `error` line. The dialect has no place for the id of the request and for the rest; they are kept
/// beside the error, so that whoever asked can still know.
pub(super) fn dialect_failure(failure: &Failure) -> ErrorLine {
    let code = failure
        .error_code
        .clone()
        .unwrap_or_else(|| ErrorCode::RequestFailed.as_str().into());
    let error = ErrorBody {
        code: Some(code),
        message: Some(failure.error.clone()),
        ..ErrorBody::default()
    };
    let mut extra = Extra::default();
    let fields = Map::<Json>::read_whole(failure.to_json().text()).unwrap_or_default();
    for (name, value) in fields
        .iter()
        .filter(|(name, _)| !matches!(*name, "error" | "error_code"))
    {
        extra.insert(name, value.clone());
    }
    ErrorLine {
        error,
        session_id: None,
        extra,
    }
}

/// The refusal behind an `error` line; nothing if the line answers no request.
pub(super) fn standard_failure(line: &ErrorLine) -> Option<Failure> {
    line.extra.get("request_id")?;
    let mut fields: Map<Json> = line
        .extra
        .iter()
        .map(|(name, value)| (name, value.clone()))
        .collect();
    fields.insert(
        "error",
        line.error.message.clone().unwrap_or_default().to_json(),
    );
    let failure = Failure::read_whole(fields.to_json().text()).ok()?;
    let code = line
        .error
        .code
        .clone()
        .filter(|code| *code != ErrorCode::RequestFailed.as_str());
    Some(Failure {
        error_code: code,
        ..failure
    })
}
