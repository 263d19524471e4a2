//! [`Transcript`]: what happens in a session, as the records that the real CLI would write. Pure: ids and times come from
//! the caller, and the records are written by the store.
//!
//! Records hang on each other by `parentUuid`. A block of the model's message hangs on the record before; a tool's
//! result hangs on the record of its own call, so that calls that ran beside each other fork and the next message goes
//! on from the last result (trace of a parallel call, CLI 2.1.325).

pub(crate) mod happenings;

use happenings::{AssistantBlock, Attachment, Compacted, Prompt, Queued, Stamp, ToolResult};
use towline_protocol::{
    Block, Content, Nullable, Role, SessionId, Text, UserMessage, Uuid,
    transcript::{
        AgentName, AgentSetting, AssistantRecord, AttachmentRecord, CostState, CustomTitle,
        LastPrompt, ModeRecord, PrLink, QueueOperation, Record, SystemRecord, ToolsUsed,
        UserRecord,
    },
};

use crate::PullRequest;

/// The transcript of a session, as far as the next record depends on it.
#[derive(Clone, Debug)]
pub(crate) struct Transcript {
    origin: Origin,
    /// The record that the next one hangs on.
    last: Option<Uuid>,
    /// The prompt of the running turn.
    prompt_id: Option<Text>,
    last_prompt: Option<Text>,
    /// How many turns there were.
    turns: u64,
    tools_used: Vec<Text>,
}

/// What every record says of the session.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    /// The session.
    pub(crate) session_id: SessionId,
    /// How the agent was started, such as `sdk-cli`.
    pub(crate) entrypoint: Text,
    /// The agent's version.
    pub(crate) version: Text,
    /// The working directory.
    pub(crate) cwd: Text,
    /// The branch, `HEAD` without one.
    pub(crate) git_branch: Text,
    /// Whether records are wanted. If not, only the chain is kept.
    pub(crate) persistence: Persistence,
}

/// Whether a session is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Persistence {
    /// It is.
    On,
    /// It is not (`--no-session-persistence`).
    Off,
}

/// Where an earlier session ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Past {
    /// The record to go on from.
    pub(crate) last: Option<Uuid>,
    /// How many turns there were.
    pub(crate) turns: u64,
    /// The tools used so far.
    pub(crate) tools_used: Vec<Text>,
    /// The last prompt.
    pub(crate) last_prompt: Option<Text>,
}

/// Fills in what every record of the chain says. The kinds have the same fields and no trait in common.
macro_rules! chained {
    ($self:ident, $stamp:expr, $Kind:ident { $($fields:tt)* }) => {{
        let stamp: Stamp = $stamp;
        let parent = $self.last.replace(stamp.uuid.clone());
        $Kind {
            parent_uuid: parent.into(),
            is_sidechain: Some(false),
            uuid: Some(stamp.uuid),
            timestamp: Some(stamp.timestamp),
            session_id: Some($self.origin.session_id.clone()),
            user_type: Some(Text::from_static("external")),
            entrypoint: Some($self.origin.entrypoint.clone()),
            cwd: Some($self.origin.cwd.clone()),
            version: Some($self.origin.version.clone()),
            git_branch: Some($self.origin.git_branch.clone()),
            $($fields)*
            ..$Kind::default()
        }
    }};
}

impl Transcript {
    /// The transcript of a session that goes on from a past, or from nothing.
    pub(crate) fn new(origin: Origin, past: Past) -> Self {
        Self {
            origin,
            last: past.last,
            prompt_id: None,
            last_prompt: past.last_prompt,
            turns: past.turns,
            tools_used: past.tools_used,
        }
    }

    /// The record that the next one hangs on.
    #[cfg(test)]
    pub(crate) fn last(&self) -> Option<&Uuid> {
        self.last.as_ref()
    }

    /// How many turns there were.
    #[cfg(test)]
    pub(crate) fn turns(&self) -> u64 {
        self.turns
    }

    /// The working directory or its branch is another one now.
    pub(crate) fn move_to(&mut self, cwd: Text, git_branch: Text) {
        self.origin.cwd = cwd;
        self.origin.git_branch = git_branch;
    }

    /// A prompt waits.
    pub(crate) fn enqueue(&self, timestamp: Text, queued: Queued) -> Vec<Record> {
        self.kept(Record::QueueOperation(Box::new(QueueOperation {
            content: queued.content,
            command_uuid: queued.command_uuid,
            ..self.queue_operation("enqueue", timestamp)
        })))
    }

    /// A prompt waits no more.
    pub(crate) fn dequeue(&self, timestamp: Text) -> Vec<Record> {
        let operation = self.queue_operation("dequeue", timestamp);
        self.kept(Record::QueueOperation(Box::new(operation)))
    }

    /// A turn begins.
    pub(crate) fn user_prompt(&mut self, stamp: Stamp, prompt: Prompt) -> Vec<Record> {
        self.turns += 1;
        self.prompt_id = Some(prompt.prompt_id.clone());
        if prompt.origin.is_none() {
            self.last_prompt = Some(shortened(&prompt.content.text()));
        }
        let position = format!(r#"{{"promptIndex":0,"turnIndex":{}}}"#, self.turns);
        let record = chained!(
            self,
            stamp,
            UserRecord {
                message: said(prompt.content),
                prompt_id: Some(prompt.prompt_id),
                permission_mode: Some(prompt.permission_mode),
                prompt_source: Some(prompt.source.clone()),
                turn_origin: Some(prompt.source),
                turn_position: towline_protocol::Json::new(position).ok(),
                origin: prompt.origin,
            }
        );
        let mut records = self.kept(Record::User(Box::new(record)));
        // Else a prompt on a new branch would be lost with a crash: the branch that was named before would count.
        records.extend(self.rest(None));
        records
    }

    /// The agent itself says something to the model: a skill's text, a hook's feedback, that it was interrupted.
    pub(crate) fn aside(&mut self, stamp: Stamp, content: Content) -> Vec<Record> {
        let record = chained!(
            self,
            stamp,
            UserRecord {
                message: said(content),
                prompt_id: self.prompt_id.clone(),
                is_meta: Some(true),
            }
        );
        self.kept(Record::User(Box::new(record)))
    }

    /// Something is added to the prompt.
    pub(crate) fn attachment(&mut self, stamp: Stamp, added: Attachment) -> Vec<Record> {
        let has_text = added.rendered.is_some();
        let rendered = added.rendered.and_then(|text| {
            towline_protocol::Json::of(&serde_json::json!([{"content": text}])).ok()
        });
        let record = chained!(
            self,
            stamp,
            AttachmentRecord {
                attachment: Some(added.attachment),
                rendered,
                rendered_role: has_text.then_some(Text::from_static("user")),
            }
        );
        self.kept(Record::Attachment(Box::new(record)))
    }

    /// A block of the model's message, which is over: its stop reason and usage are final.
    pub(crate) fn assistant(&mut self, stamp: Stamp, block: AssistantBlock) -> Vec<Record> {
        let mut records = self.tools_used_by(block.message.content.as_option());
        let made_by = block
            .failure
            .is_none()
            .then_some(Text::from_static("model"));
        let failure = block.failure.unwrap_or_default();
        let is_failure = made_by.is_none();
        let record = chained!(
            self,
            stamp,
            AssistantRecord {
                message: block.message,
                api_block_index: block.index,
                request_id: block.request_id,
                requested_model: block.requested_model,
                effort: block.effort,
                made_by,
                error: failure.error,
                is_api_error_message: is_failure.then_some(true),
                api_error_status: failure.status.map_or(Nullable::Absent, Nullable::Value),
                api_error_type: failure.kind,
            }
        );
        records.extend(self.kept(Record::Assistant(Box::new(record))));
        records
    }

    /// What a tool gave.
    pub(crate) fn tool_result(&mut self, stamp: Stamp, result: ToolResult) -> Vec<Record> {
        // It hangs on its own call, wherever the chain is by now.
        if let Some(call) = &result.call {
            self.last = Some(call.clone());
        }
        let record = chained!(
            self,
            stamp,
            UserRecord {
                message: said(Content::Blocks(vec![result.block])),
                prompt_id: self.prompt_id.clone(),
                tool_use_result: result.data,
                source_tool_assistant_uuid: result.call,
                permission_decision: result.decision,
                tool_denial_kind: result.denial_kind,
            }
        );
        self.kept(Record::User(Box::new(record)))
    }

    /// The conversation was compacted: a boundary that hangs on nothing, and the summary behind it.
    #[cfg_attr(
        not(test),
        expect(
            dead_code,
            reason = "read already, and written once there is something to write"
        )
    )]
    pub(crate) fn compacted(&mut self, stamps: [Stamp; 2], compacted: Compacted) -> Vec<Record> {
        let [boundary, summary] = stamps;
        let before = self.last.take();
        let boundary = chained!(
            self,
            boundary,
            SystemRecord {
                logical_parent_uuid: before.map_or(Nullable::Absent, Nullable::Value),
                subtype: Some(Text::from_static("compact_boundary")),
                content: Some(Text::from_static("Conversation compacted")),
                level: Some(Text::from_static("info")),
                is_meta: Some(false),
                compact_metadata: Some(compacted.metadata),
            }
        );
        let summary = chained!(
            self,
            summary,
            UserRecord {
                message: said(Content::Text(compacted.summary)),
                prompt_id: self.prompt_id.clone(),
                is_visible_in_transcript_only: Some(true),
                is_compact_summary: Some(true),
            }
        );
        let mut records = self.kept(Record::System(Box::new(boundary)));
        records.extend(self.kept(Record::User(Box::new(summary))));
        // Else the conversation before would still be the one that was named last.
        records.extend(self.rest(None));
        records
    }

    /// The turn is over: the last prompt with the record to go on from, and what the session has cost if that is known.
    pub(crate) fn rest(&self, cost: Option<CostState>) -> Vec<Record> {
        let mut records = Vec::new();
        if self.last.is_some() {
            records.extend(self.kept(Record::LastPrompt(Box::new(LastPrompt {
                last_prompt: self.last_prompt.clone(),
                leaf_uuid: self.last.clone(),
                session_id: Some(self.origin.session_id.clone()),
                ..LastPrompt::default()
            }))));
        }
        if let Some(cost) = cost {
            records.extend(self.kept(Record::CostState(Box::new(CostState {
                session_id: Some(self.origin.session_id.clone()),
                ..cost
            }))));
        }
        records
    }

    /// The session is this agent.
    pub(crate) fn agent(&self, name: &str) -> Vec<Record> {
        self.kept(Record::AgentSetting(Box::new(AgentSetting {
            agent_setting: Some(name.into()),
            session_id: Some(self.origin.session_id.clone()),
            ..AgentSetting::default()
        })))
    }

    /// The session has made a pull request.
    pub(crate) fn pull_request(&self, timestamp: Text, made: &PullRequest) -> Vec<Record> {
        self.kept(Record::PrLink(Box::new(PrLink {
            session_id: Some(self.origin.session_id.clone()),
            pr_number: Some(made.number),
            pr_url: Some(made.url.as_str().into()),
            pr_repository: Some(made.repository.as_str().into()),
            timestamp: Some(timestamp),
            ..PrLink::default()
        })))
    }

    /// The session has a title.
    pub(crate) fn title(&self, title: &str) -> Vec<Record> {
        let session_id = Some(self.origin.session_id.clone());
        let mut records = self.kept(Record::CustomTitle(Box::new(CustomTitle {
            custom_title: Some(title.into()),
            session_id: session_id.clone(),
            ..CustomTitle::default()
        })));
        records.extend(self.kept(Record::AgentName(Box::new(AgentName {
            agent_name: Some(title.into()),
            session_id,
            ..AgentName::default()
        }))));
        records
    }

    /// The mode of a session that goes on; the real CLI writes `normal`.
    #[cfg_attr(
        not(test),
        expect(
            dead_code,
            reason = "read already, and written once there is something to write"
        )
    )]
    pub(crate) fn mode(&self, mode: &str) -> Vec<Record> {
        self.kept(Record::Mode(Box::new(ModeRecord {
            mode: Some(mode.into()),
            session_id: Some(self.origin.session_id.clone()),
            ..ModeRecord::default()
        })))
    }

    /// A record of all tools used so far, if these blocks use a new one.
    fn tools_used_by(&mut self, content: Option<&Content>) -> Vec<Record> {
        let before = self.tools_used.len();
        for block in content.map(Content::blocks).unwrap_or_default() {
            if let Block::ToolUse(call) = block {
                let name = Text::from(call.name.as_str());
                if !self.tools_used.contains(&name) {
                    self.tools_used.push(name);
                }
            }
        }
        if self.tools_used.len() == before {
            return Vec::new();
        }
        self.kept(Record::ToolsUsed(Box::new(ToolsUsed {
            tools: Some(self.tools_used.clone()),
            session_id: Some(self.origin.session_id.clone()),
            ..ToolsUsed::default()
        })))
    }

    fn queue_operation(&self, operation: &'static str, timestamp: Text) -> QueueOperation {
        QueueOperation {
            operation: Some(Text::from_static(operation)),
            timestamp: Some(timestamp),
            session_id: Some(self.origin.session_id.clone()),
            ..QueueOperation::default()
        }
    }

    fn kept(&self, record: Record) -> Vec<Record> {
        match self.origin.persistence {
            Persistence::On => vec![record],
            Persistence::Off => Vec::new(),
        }
    }
}

fn said(content: Content) -> UserMessage {
    UserMessage {
        role: Some(Role::User),
        content: Nullable::Value(content),
        ..UserMessage::default()
    }
}

/// A prompt as lists of sessions show it: on one line, and not at full length.
fn shortened(text: &str) -> Text {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LONGEST_LAST_PROMPT) {
        Some((end, _)) => format!("{}…", &line[..end]).into(),
        None => line.into(),
    }
}

const LONGEST_LAST_PROMPT: usize = 200;

#[cfg(test)]
pub(crate) mod tests;
