//! `user` lines, which go both ways: what a person says, and what tools give.

use crate::{
    content::{Block, Content},
    ids::{AgentId, MessageId, SessionId, ToolUseId, Uuid},
    json::{Json, Text},
    message::Role,
    result::Origin,
    wire::{Nullable, wire_structs},
};

wire_structs! {
    /// `user`
    #[derive(Default)]
    pub struct User {
        /// The message.
        message: UserMessage,
        /// The call whose subagent it belongs to.
        parent_tool_use_id: Nullable<ToolUseId>,
        /// The session; the agent ignores what the host says here.
        session_id: Option<SessionId>,
        /// This line. Given by the host, it is told what becomes of the message, and a second one is not run.
        uuid: Option<Uuid>,
        /// When.
        timestamp: Option<Text>,
        /// What a tool gave, as data: an object of the tool's own shape, or a string.
        tool_use_result: Option<Json> = "tool_use_result" | "toolUseResult",
        /// Who allowed the calls.
        tool_result_meta: Option<Vec<ToolResultMeta>>,
        /// Whether it is an echo of what the host said, or of a local command.
        is_replay: Option<bool> = "isReplay" | "is_replay",
        /// Whether the agent made it.
        is_synthetic: Option<bool> = "isSynthetic" | "is_synthetic",
        /// `now` ends the running turn; else `next` or `later`.
        priority: Option<Text>,
        /// `false` adds the message without a turn.
        should_query: Option<bool> = "shouldQuery",
        /// Whether the host wrote it word for word.
        client_composed: Option<bool>,
        /// What the person pasted.
        pasted_content: Option<Json>,
        /// What the person pasted into the line.
        inline_pastes: Option<Vec<Text>>,
        /// Files that came with it.
        file_attachments: Option<Vec<Json>>,
        /// Who wrote it, if not the host.
        origin: Option<Origin>,
        /// The message that was refused.
        refused_message_id: Option<MessageId>,
        /// The subagent it belongs to.
        agent_id: Option<AgentId>,
        /// The subagent's type.
        subagent_type: Option<Text>,
        /// What the subagent does.
        task_description: Option<Text>,
    }

    /// The message of a `user` line.
    #[derive(Default)]
    pub struct UserMessage {
        /// Always `user`; absent in document 003.
        role: Option<Role>,
        /// What is said; the agent takes absence and `null` for no content.
        content: Nullable<Content>,
        /// `message` in document 003.
        kind: Option<Text> = "type",
    }

    /// Who allowed a call, or why it did not run.
    pub struct ToolResultMeta {
        /// The call.
        id: ToolUseId,
        /// Who decided.
        permission_decision: Option<PermissionDecision>,
        /// Why it did not run.
        non_execution_kind: Option<Text>,
    }

    /// Who decided about a call.
    pub struct PermissionDecision {
        /// `accept` or `reject`.
        decision: Text,
        /// `config`, `hook`, `user_temporary`, `user_reject`, …
        source: Option<Text>,
        /// Such as `rule` or `mode`.
        reason_type: Option<Text>,
    }
}

impl User {
    /// What a host sends: a message in the form that the official SDKs write.
    pub fn say(content: impl Into<Content>) -> Self {
        Self {
            message: UserMessage {
                role: Some(Role::User),
                content: Nullable::Value(content.into()),
                ..UserMessage::default()
            },
            session_id: Some(SessionId::default()),
            parent_tool_use_id: Nullable::Null,
            ..Self::default()
        }
    }

    /// The tool results in it.
    pub fn tool_results(&self) -> impl Iterator<Item = &crate::content::ToolResultBlock> {
        let blocks = self
            .message
            .content
            .as_option()
            .map(Content::blocks)
            .unwrap_or_default();
        blocks.iter().filter_map(|block| match block {
            Block::ToolResult(result) => Some(&**result),
            _ => None,
        })
    }
}
