//! What happens, written down: the records of the transcript, as they come.

use std::path::Path;

use towline_protocol::{
    Block, Content, Json, ModelMessage, Nullable, Origin as TurnOrigin, Text, ToHost, ToolUseId,
    TranscriptMirror, Uuid, Wire, transcript::Record,
};
use towline_store::{SessionKey, TranscriptWriter};

use super::{Engine, lines};
use crate::{
    Config, PullRequest, SPEAKS_AS,
    model::{ApiError, catalogue},
    repository::Repository,
    resume::{ResumeError, Resumed, copy_history},
    session::Session,
    transcript::{
        Origin, Persistence, Transcript,
        happenings::{AssistantBlock, Attachment, Failure, Prompt, Queued, Stamp, ToolResult},
    },
    turn::{Complete, Ended},
};

/// The transcript, and the file it goes to.
#[derive(Debug)]
pub(super) struct Scribe {
    pub(super) transcript: Transcript,
    /// The file; nothing for a session that is not kept.
    pub(super) writer: Option<TranscriptWriter>,
    /// Whether the host was told that something could not be written.
    pub(super) complained: bool,
}

impl Scribe {
    /// The transcript of a session that begins, or goes on.
    pub(super) fn start(
        config: &Config,
        session: &Session,
        resumed: Option<Resumed>,
    ) -> Result<Self, ResumeError> {
        let persistence = if config.session.forget {
            Persistence::Off
        } else {
            Persistence::On
        };
        let repository = Repository::find(&config.cwd);
        let origin = Origin {
            session_id: session.id.clone(),
            entrypoint: config.entrypoint.as_str().into(),
            version: Text::from_static(SPEAKS_AS),
            cwd: config.cwd.to_string_lossy().into_owned().into(),
            git_branch: Repository::branch_name(repository.as_ref()).into(),
            persistence,
        };
        let writer = match persistence {
            Persistence::Off => None,
            Persistence::On => Some(writer(config, session, resumed.as_ref())?),
        };
        let past = resumed.map(|resumed| resumed.past).unwrap_or_default();
        Ok(Self {
            transcript: Transcript::new(origin, past),
            writer,
            complained: false,
        })
    }
}

fn writer(
    config: &Config,
    session: &Session,
    resumed: Option<&Resumed>,
) -> Result<TranscriptWriter, ResumeError> {
    if let Some(resumed) = resumed.filter(|resumed| !resumed.is_fork) {
        return Ok(TranscriptWriter::open(resumed.session.clone())?);
    }
    let key: SessionKey = session.id.as_str().parse()?;
    let mut writer = TranscriptWriter::create(config.home.session_in(&config.cwd, key))?;
    if let Some(resumed) = resumed {
        copy_history(resumed, &mut writer)?;
    }
    Ok(writer)
}

impl Engine {
    /// Appends records, and shows them to a host that keeps a copy.
    fn keep_records(&mut self, records: &[Record]) {
        if records.is_empty() {
            return;
        }
        let Some(writer) = &mut self.scribe.writer else {
            return;
        };
        let written = writer.append(records);
        let file_path = writer.session().path().to_string_lossy().into_owned();
        if self.config.output.more.transcript {
            let entries = records.iter().map(Wire::to_standard_json).collect();
            self.send(ToHost::TranscriptMirror(Box::new(TranscriptMirror {
                file_path: Some(file_path.into()),
                entries: Some(entries),
                ..TranscriptMirror::default()
            })));
        }
        match written {
            Ok(()) => self.scribe.complained = false,
            Err(error) if !self.scribe.complained => {
                self.scribe.complained = true;
                let line = self.lines().informational(&format!(
                    "the transcript cannot be written: {error}; the session goes on, and it is tried again"
                ));
                self.send(line);
            }
            Err(_) => {}
        }
    }

    /// A prompt waits.
    pub(super) fn record_queued(&mut self, content: Option<&Content>, uuid: Option<Uuid>) {
        let queued = Queued {
            content: content.map(Wire::to_json),
            command_uuid: uuid,
        };
        let records = self.scribe.transcript.enqueue(lines::timestamp(), queued);
        self.keep_records(&records);
    }

    /// A turn begins. `origin` is what set it off, if the agent itself says this.
    pub(super) fn record_prompt(
        &mut self,
        content: &Content,
        uuid: Option<Uuid>,
        origin: Option<&TurnOrigin>,
    ) {
        let stamp = Stamp {
            uuid: uuid.unwrap_or_else(lines::new_uuid),
            timestamp: lines::timestamp(),
        };
        let prompt = Prompt {
            content: content.clone(),
            prompt_id: lines::new_uuid().to_string().into(),
            permission_mode: self.session.mode().clone(),
            source: Text::from_static("sdk"),
            origin: origin.map(Wire::to_standard_json),
        };
        let records = self.scribe.transcript.user_prompt(stamp, prompt);
        self.keep_records(&records);
    }

    /// Prompts wait no more.
    pub(super) fn record_taken(&mut self, waited: usize) {
        let transcript = &self.scribe.transcript;
        let records = (0..waited).flat_map(|_| transcript.dequeue(lines::timestamp()));
        let records: Vec<Record> = records.collect();
        self.keep_records(&records);
    }

    /// The model's message is complete: a record a block, under the ids of their lines.
    pub(super) fn record_message(&mut self, complete: &Complete) {
        let Some(running) = &mut self.running else {
            return;
        };
        let ids = std::mem::take(&mut running.said);
        let blocks = complete
            .message
            .content
            .as_option()
            .map(Content::blocks)
            .unwrap_or_default();
        let effort = catalogue::effort(&self.session.model, &self.config.model).map(Text::from);
        let mut records = Vec::new();
        for (place, block) in blocks.iter().enumerate() {
            let stamp = Stamp {
                uuid: ids.get(place).cloned().unwrap_or_else(lines::new_uuid),
                timestamp: lines::timestamp(),
            };
            if let Block::ToolUse(call) = block {
                running
                    .call_records
                    .insert(call.id.clone(), stamp.uuid.clone());
            }
            let said = AssistantBlock {
                message: ModelMessage {
                    content: Nullable::Value(Content::Blocks(vec![block.clone()])),
                    ..complete.message.clone()
                },
                index: complete.indices.get(place).copied(),
                request_id: complete.request_id.clone(),
                requested_model: Some(self.session.model.as_str().into()),
                effort: effort.clone(),
                failure: None,
            };
            records.extend(self.scribe.transcript.assistant(stamp, said));
        }
        self.keep_records(&records);
    }

    /// The API failed: what stands where the model's answer should be.
    pub(super) fn record_failure(
        &mut self,
        message: ModelMessage,
        uuid: Option<Uuid>,
        error: &ApiError,
    ) {
        let said = AssistantBlock {
            message,
            failure: Some(Failure {
                error: Some(error.name.into()),
                status: error.status.map(u64::from),
                kind: error.kind.as_deref().map(Text::from),
            }),
            ..AssistantBlock::default()
        };
        let stamp = stamp(uuid);
        let records = self.scribe.transcript.assistant(stamp, said);
        self.keep_records(&records);
    }

    /// A call is over.
    pub(super) fn record_result(&mut self, ended: &Ended, block: Block, uuid: Option<Uuid>) {
        let meta = ended.meta.as_ref();
        let result = ToolResult {
            block,
            data: Json::of(&ended.outcome.data).ok(),
            call: self.call_record(&ended.call.id),
            decision: meta
                .and_then(|meta| meta.permission_decision.as_ref())
                .map(Wire::to_json),
            denial_kind: meta.and_then(|meta| meta.non_execution_kind.clone()),
        };
        let mut records = self.scribe.transcript.tool_result(stamp(uuid), result);
        let output = ended.outcome.content.text();
        let made = PullRequest::made_by(ended.call.name.as_str(), &ended.call.input, &output);
        if let Some(made) = made {
            let transcript = &self.scribe.transcript;
            records.extend(transcript.pull_request(lines::timestamp(), &made));
        }
        self.keep_records(&records);
    }

    fn call_record(&self, call: &ToolUseId) -> Option<Uuid> {
        self.running.as_ref()?.call_records.get(call).cloned()
    }

    /// The agent said something in the user's place.
    pub(super) fn record_aside(&mut self, text: &str, uuid: Option<Uuid>) {
        let content = Content::Blocks(vec![Block::text(text)]);
        let records = self.scribe.transcript.aside(stamp(uuid), content);
        self.keep_records(&records);
    }

    /// Something is added to what was said.
    pub(super) fn record_attachment(&mut self, added: Attachment) {
        let records = self.scribe.transcript.attachment(stamp(None), added);
        self.keep_records(&records);
    }

    /// The turn is over.
    pub(super) fn record_rest(&mut self) {
        let cost = self.session.costs.state();
        let records = self.scribe.transcript.rest(Some(cost));
        self.keep_records(&records);
    }

    /// The shell is somewhere else now.
    pub(super) fn record_move(&mut self, path: &Path) {
        let repository = Repository::find(path);
        self.scribe.transcript.move_to(
            path.to_string_lossy().into_owned().into(),
            Repository::branch_name(repository.as_ref()).into(),
        );
    }

    /// The session is this agent.
    pub(super) fn record_agent(&mut self, name: &str) {
        let records = self.scribe.transcript.agent(name);
        self.keep_records(&records);
    }

    /// The session has a title.
    pub(super) fn record_title(&mut self, title: &str) {
        let records = self.scribe.transcript.title(title);
        self.keep_records(&records);
    }
}

fn stamp(uuid: Option<Uuid>) -> Stamp {
    Stamp {
        uuid: uuid.unwrap_or_else(lines::new_uuid),
        timestamp: lines::timestamp(),
    }
}
