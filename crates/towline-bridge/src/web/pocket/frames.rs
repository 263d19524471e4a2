//! What happened in a session, as messages of the app. Pure.
//!
//! A frame is one message, or none, or (a line with several tool results) a few. Its number stands on the last of them:
//! whoever has a number has all of its frame.

use std::collections::HashMap;

use towline_protocol::{
    Block, Content as Words, Json, Nullable, PermissionMode, System as Line, TerminalReason, Text,
    ToHost, ToolName, ToolUseId, TurnResult, User, Wire,
    dialect::pocket::{
        Assistant, BridgeId, ErrorCode, ExecutionMode, Outcome, PermissionRequest,
        PermissionResolved, Problem, System, SystemKind, ToClient, ToolResult, ToolUseSummary,
        TurnEnd, UserInput,
    },
};

use crate::{Answered, Content, Frame, Input, Note, NoteCode, Question};

/// Translates frames, in order; knows which tool a call was for.
#[derive(Debug, Default)]
pub(super) struct Teller {
    tools: HashMap<ToolUseId, ToolName>,
}

impl Teller {
    /// The messages that a frame is, with their session and number.
    pub(super) fn tell(&mut self, session: &BridgeId, frame: &Frame) -> Vec<ToClient> {
        let mut messages = match frame.content() {
            Content::Line(line) => self.line(&line.message),
            Content::Input(input) => vec![said(&input, frame.at)],
            Content::Question(question) => vec![asked(&question)],
            Content::Answer(answered) => vec![resolved(&answered)],
            Content::Note(note) => vec![noted(&note)],
            Content::Unreadable => vec![ToClient::error(
                ErrorCode::InvalidMessage,
                "something happened that this version cannot show",
            )],
        };
        for message in &mut messages {
            message.address(session);
        }
        if let Some(last) = messages.last_mut() {
            last.number(frame.seq);
        }
        messages
    }

    /// Takes over what another one knows.
    pub(super) fn learn(&mut self, other: Self) {
        self.tools.extend(other.tools);
    }

    fn line(&mut self, line: &ToHost) -> Vec<ToClient> {
        match line {
            ToHost::Assistant(line) => {
                let Some(message) = line.message.clone() else {
                    return Vec::new();
                };
                let blocks = message.content.as_option().map(Words::blocks);
                for block in blocks.unwrap_or_default() {
                    if let Block::ToolUse(call) = block {
                        if self.tools.len() >= MOST_CALLS {
                            self.tools.clear();
                        }
                        self.tools.insert(call.id.detached(), call.name.detached());
                    }
                }
                let mut assistant = Assistant {
                    message,
                    message_uuid: line.uuid.clone(),
                    ..Assistant::default()
                };
                if let Some(call) = line.parent_tool_use_id.as_option() {
                    let call = json_of(call.as_str());
                    assistant.extra.insert("parentToolUseId", call);
                }
                vec![ToClient::Assistant(Box::new(assistant))]
            }
            ToHost::User(line) => self.user(line),
            ToHost::Result(result) => vec![ended(result)],
            ToHost::System(Line::Init(init)) => {
                let mut system = System {
                    claude_session_id: init.session_id.clone(),
                    model: init.model.clone(),
                    project_path: init.cwd.clone(),
                    slash_commands: init.slash_commands.clone(),
                    skills: init.skills.clone(),
                    ..told(SystemKind::Init)
                };
                in_mode(&mut system, init.permission_mode.as_ref());
                vec![ToClient::System(Box::new(system))]
            }
            ToHost::ToolUseSummary(line) => vec![ToClient::ToolUseSummary(ToolUseSummary {
                summary: line.summary.clone().unwrap_or_default(),
                preceding_tool_use_ids: line.preceding_tool_use_ids.clone().unwrap_or_default(),
                ..ToolUseSummary::default()
            })],
            ToHost::Error(line) => {
                let message = line.error.message.clone();
                vec![problem(message.unwrap_or_else(|| "an error".into()))]
            }
            // The app has no word for the rest.
            _ => Vec::new(),
        }
    }

    fn user(&mut self, line: &User) -> Vec<ToClient> {
        let results: Vec<_> = line
            .tool_results()
            .map(|result| {
                let content = result.content.as_option();
                let blocks = content.map(Words::blocks).unwrap_or_default();
                let mut told = ToolResult {
                    tool_use_id: result.tool_use_id.clone(),
                    content: content.map(Words::text).unwrap_or_default(),
                    tool_name: self.tools.remove(&result.tool_use_id),
                    user_message_uuid: line.uuid.clone(),
                    raw_content_blocks: (!blocks.is_empty()).then(|| blocks.to_vec()),
                    ..ToolResult::default()
                };
                if result.is_error.as_option() == Some(&true) {
                    told.extra.insert("isError", json_of(&true));
                }
                ToClient::ToolResult(Box::new(told))
            })
            .collect();
        let words = line.message.content.as_option();
        let words = words.map(Words::text).unwrap_or_default();
        // What a subagent was told is its own business.
        if !results.is_empty() || words.is_empty() || line.parent_tool_use_id.as_option().is_some()
        {
            return results;
        }
        vec![ToClient::UserInput(Box::new(UserInput {
            text: words,
            user_message_uuid: line.uuid.clone(),
            is_synthetic: line.is_synthetic,
            timestamp: line.timestamp.clone(),
            ..UserInput::default()
        }))]
    }
}

/// The mode in the app's two ways to say it.
pub(super) fn in_mode(system: &mut System, mode: Option<&PermissionMode>) {
    system.permission_mode = mode.cloned();
    (system.execution_mode, system.plan_mode) = steps(mode);
}

/// The mode in the app's three steps, and whether it only looks.
pub(super) fn steps(mode: Option<&PermissionMode>) -> (Option<ExecutionMode>, Option<bool>) {
    let Some(mode) = mode else {
        return (None, None);
    };
    let step = match mode {
        PermissionMode::AcceptEdits => ExecutionMode::AcceptEdits,
        PermissionMode::BypassPermissions => ExecutionMode::FullAccess,
        _ => ExecutionMode::Default,
    };
    (Some(step), Some(*mode == PermissionMode::Plan))
}

/// A `system` message of that kind.
pub(super) fn told(subtype: SystemKind) -> System {
    System {
        subtype,
        ..System::default()
    }
}

/// An error for a person.
pub(super) fn problem(message: impl Into<Text>) -> ToClient {
    ToClient::Error(Box::new(Problem {
        message: message.into(),
        ..Problem::default()
    }))
}

/// A value of ours as JSON.
pub(super) fn json_of<T: serde::Serialize + ?Sized>(value: &T) -> Json {
    Json::of(value).unwrap_or_else(|_| Json::empty_object())
}

/// A time of the log as the app has it.
pub(super) fn time(at: u64) -> Option<Text> {
    let at = jiff::Timestamp::from_millisecond(i64::try_from(at).ok()?).ok()?;
    Some(at.to_string().into())
}

fn said(input: &Input, at: u64) -> ToClient {
    let content = Words::from_json(input.content.get().to_owned());
    let (text, pictures) = match &content {
        Ok(content) => {
            let is_picture = |block: &&Block| matches!(block, Block::Image(_));
            let pictures = content.blocks().iter().filter(is_picture).count();
            (content.text(), pictures as u64)
        }
        Err(_) => (Text::default(), 0),
    };
    ToClient::UserInput(Box::new(UserInput {
        text,
        client_message_id: input.client_message_id.clone(),
        user_message_uuid: input.uuid.clone(),
        image_count: (pictures > 0).then_some(pictures),
        timestamp: time(at),
        ..UserInput::default()
    }))
}

fn asked(question: &Question) -> ToClient {
    ToClient::PermissionRequest(Box::new(PermissionRequest {
        tool_use_id: question.id.as_str().into(),
        tool_name: question.tool_name.clone(),
        input: Json::new(question.input.get()).unwrap_or_else(|_| Json::empty_object()),
        ..PermissionRequest::default()
    }))
}

fn resolved(answered: &Answered) -> ToClient {
    let mut resolved = PermissionResolved {
        tool_use_id: answered.id.as_str().into(),
        ..PermissionResolved::default()
    };
    let outcome = json_of(&answered.outcome);
    resolved.extra.insert("outcome", outcome);
    if let Some(by) = &answered.by {
        resolved.extra.insert("by", json_of(by));
    }
    ToClient::PermissionResolved(resolved)
}

fn noted(note: &Note) -> ToClient {
    let mut system = match note.code {
        NoteCode::StartFailed
        | NoteCode::AgentDied
        | NoteCode::CutOff
        | NoteCode::Unheard
        | NoteCode::Malformed => return problem(note.text.as_str()),
        NoteCode::Stopped | NoteCode::Dropped => {
            return ToClient::Result(Box::new(TurnEnd {
                subtype: Outcome::Stopped,
                result: Some(note.text.as_str().into()),
                ..TurnEnd::default()
            }));
        }
        NoteCode::ModeChanged => {
            let mut system = told(SystemKind::SetPermissionMode);
            in_mode(&mut system, Some(&note.text.as_str().into()));
            return ToClient::System(Box::new(system));
        }
        NoteCode::ModelChanged => System {
            model: Some(note.text.as_str().into()),
            ..told("set_model".into())
        },
        NoteCode::Stderr => told("stderr".into()),
        NoteCode::TakenIn => told("continued_elsewhere".into()),
        NoteCode::Forgotten => told("forgotten".into()),
        NoteCode::Rewound => told("rewound".into()),
    };
    system.extra.insert("message", json_of(&note.text));
    ToClient::System(Box::new(system))
}

fn ended(result: &TurnResult) -> ToClient {
    let stopped = matches!(
        result.terminal_reason,
        Some(TerminalReason::AbortedStreaming | TerminalReason::AbortedTools)
    );
    let subtype = match result.failed() {
        _ if stopped => Outcome::Stopped,
        true => Outcome::Error,
        false => Outcome::Success,
    };
    let words = result.result.as_option();
    let words = words.and_then(|words| words.as_text().cloned());
    let errors = result.errors.iter().flatten().map(Text::as_str);
    let errors = errors.collect::<Vec<_>>().join("\n");
    let error = match (&result.error, errors.is_empty()) {
        (Some(error), _) => Some(error.clone()),
        (None, false) => Some(errors.into()),
        (None, true) => words.clone().filter(|_| subtype == Outcome::Error),
    };
    let usage = result.usage.as_option();
    ToClient::Result(Box::new(TurnEnd {
        result: words,
        error: error.filter(|_| subtype != Outcome::Success),
        subtype,
        cost: result.total_cost_usd.clone(),
        duration: result.duration_ms.map(Into::into),
        stop_reason: match result.stop_reason.as_option() {
            Some(reason) => Nullable::Value(reason.clone()),
            None => Nullable::Absent,
        },
        input_tokens: usage.and_then(|usage| usage.input_tokens),
        cached_input_tokens: usage
            .and_then(|usage| usage.cache_read_input_tokens.as_option().copied()),
        output_tokens: usage.and_then(|usage| usage.output_tokens),
        ..TurnEnd::default()
    }))
}

/// How many calls may be open before they are forgotten.
const MOST_CALLS: usize = 4096;
