//! The host's requests, answered.

mod commands;
mod extensions;
mod files;
mod report;
mod suggestions;

use towline_permission::Dropped;
use towline_protocol::{
    DecodeError, Failure, Json, PermissionMode, Reply, Request, RequestId, Success, Text, Ticket,
    ToHost, User, Uuid, Wire,
    control::{
        ControlResponse,
        answer::{
            CancelledAnswer, InterruptAnswer, ModeAnswer, ModelAnswer, ModelsAnswer, VersionAnswer,
        },
        request::{Initialize, Interrupt as InterruptRequest, SetMaxThinkingTokens, SetModel},
    },
};

use super::{Engine, Phase, lines};
use crate::{AnswerForm, SPEAKS_AS, model::catalogue, turn::Interrupt};

/// An answer: a value or none, or why there is neither.
pub(super) type Answered = Result<Option<Json>, Box<Failure>>;

impl Engine {
    /// Answers a request.
    pub(super) fn answer(&mut self, ticket: Ticket, id: Option<RequestId>, request: Request) {
        if let Request::Initialize(request) = &request {
            return self.initialize(ticket, request);
        }
        match request {
            Request::StopTask(request) => {
                self.stop_task(ticket, request.task_id.to_string());
            }
            Request::GetTaskOutput(request) => {
                self.task_output(ticket, request.task_id.to_string());
            }
            Request::FileSuggestions(request) => self.suggest_files(ticket, &request.query),
            Request::ReadFile(request) => self.read_file(ticket, request),
            Request::SetPermissionMode(request) => {
                let before = self.session.mode().clone();
                let answer = self.set_mode(&request.mode);
                self.reply(ticket, answer);
                // The answer comes first (trace `control-06a_control_requests`).
                while let Some(output) = self.peer.poll_output() {
                    self.carry_out_peer(output);
                }
                self.tell_mode(&before);
            }
            Request::RegisterRepoRoot(request) => self.register_root(ticket, request),
            Request::SideQuestion(request) => {
                self.answer_beside(ticket, id, &request.question);
            }
            request => {
                let answer = self.answer_to(request);
                self.reply(ticket, answer);
            }
        }
    }

    pub(super) fn reply(&mut self, ticket: Ticket, answer: Answered) {
        // What became of a command is told before the answer to whoever wanted it so (trace `control-06d_stop_task`).
        self.handle_tasks();
        // The answer may be one that the model gave beside the conversation.
        self.count_side_calls();
        let reply = match answer {
            Ok(value) => Reply::Success(Box::new(Success {
                response: value.map_or(
                    towline_protocol::Nullable::Absent,
                    towline_protocol::Nullable::Value,
                ),
                ..Success::default()
            })),
            Err(failure) => Reply::Error(failure),
        };
        self.peer.reply(ticket, reply);
    }

    fn answer_to(&mut self, request: Request) -> Answered {
        match request {
            Request::Interrupt(request) => Ok(Some(self.interrupt(&request))),
            Request::SetModel(request) => self.set_model(&request),
            Request::SetMaxThinkingTokens(request) => {
                self.set_thinking(&request);
                Ok(None)
            }
            Request::GetContextUsage(_) => value(&self.context_usage()),
            Request::GetSessionCost(_) => value(&self.session_cost()),
            Request::GetUsage(_) => value(&self.usage()),
            Request::GetSettings(_) => value(&self.settings()),
            Request::GetHooksListing(_) => value(&extensions::hooks()),
            Request::ReloadPlugins(_) => value(&self.plugins()),
            Request::ReloadSkills(_) => value(&extensions::skills()),
            Request::ReloadOutputStyles(_) => value(&extensions::output_styles()),
            Request::GetBinaryVersion(_) => value(&VersionAnswer {
                version: Text::from_static(SPEAKS_AS),
                build_time: Some(Text::from_static(env!("CARGO_PKG_VERSION"))),
                ..VersionAnswer::default()
            }),
            Request::ListModels(_) => value(&ModelsAnswer {
                models: Some(catalogue::models()),
                ..ModelsAnswer::default()
            }),
            Request::ListPermissionRules(_) => value(&self.permission_rules()),
            Request::SeedReadState(request) => {
                self.seed_read_state(&request);
                Ok(None)
            }
            Request::ApplyFlagSettings(request) => self.apply_flag_settings(&request.settings),
            Request::UpdateSettings(request) => self.update_settings(&request),
            Request::RenameSession(request) => {
                self.rename(&request.title);
                Ok(None)
            }
            Request::SetHasSubscribers(_) => Ok(None),
            Request::CancelAsyncMessage(request) => {
                let cancelled = request
                    .message_uuid
                    .as_ref()
                    .is_some_and(|id| self.cancel_prompt(id));
                value(&CancelledAnswer {
                    cancelled: Some(cancelled),
                    ..CancelledAnswer::default()
                })
            }
            Request::BackgroundTasks(_) => {
                self.commands.background_all();
                empty()
            }
            Request::EndSession(_) => {
                self.phase = Phase::Over;
                Ok(None)
            }
            other => Err(Box::new(unsupported(other.kind()))),
        }
    }

    fn initialize(&mut self, ticket: Ticket, request: &Initialize) {
        if let Some(schema) = &request.json_schema {
            let schema = schema.parse().unwrap_or_default();
            match AnswerForm::new(schema) {
                Ok(form) => self.config.tools.answer = Some(form),
                Err(error) => {
                    let wrong =
                        format!("initialize: jsonSchema is not a valid JSON Schema: {error}");
                    return self.reply(ticket, Err(plain(wrong)));
                }
            }
        }
        if let Some(agents) = &request.agents {
            self.define_agents(agents);
        }
        if let Some(prompt) = &request.system_prompt {
            let parts: Vec<&str> = prompt.as_slice().iter().map(Text::as_str).collect();
            self.session.system_prompt = Some(parts.join("\n\n"));
        }
        if let Some(prompt) = &request.append_system_prompt {
            self.session.append_system_prompt = Some(prompt.to_string());
        }
        if let Some(instructions) = &request.plan_mode_instructions {
            self.session.plan_instructions = Some(instructions.to_string());
        }
        if let Some(title) = &request.title {
            self.rename(title);
        }
        self.note_missing(request);
        let response = self.introduction().to_standard_json();
        self.peer.reply(
            ticket,
            Reply::Success(Box::new(Success {
                response: towline_protocol::Nullable::Value(response),
                pending_permission_requests: Some(Vec::new()),
                pending_user_dialog_requests: Some(Vec::new()),
                ..Success::default()
            })),
        );
        if self.was_initialized || !self.inbox.is_empty() || self.running.is_some() {
            // A host that introduces itself late is told what runs already.
            self.tasks_to_tell = true;
        }
        self.was_initialized = true;
    }

    /// Ends what runs. What waits goes on, unless it is to be forgotten too.
    fn interrupt(&mut self, request: &InterruptRequest) -> Json {
        let cancelled = (request.cancel_queued == Some(true)).then(|| self.inbox.cancel_all());
        for id in cancelled.iter().flatten() {
            let line = self.lines().lifecycle(id, "cancelled");
            self.send(line);
        }
        if let Some(running) = &mut self.running {
            running.turn.handle_interrupt(Interrupt::Stop);
            // The questions are taken back before the interrupt is answered, as the real CLI does.
            let open: Vec<_> = self.questions.drain().map(|(id, _)| id).collect();
            for id in open {
                self.peer.cancel(&id);
            }
        }
        InterruptAnswer {
            still_queued: Some(self.inbox.ids()),
            cancelled,
            ..InterruptAnswer::default()
        }
        .to_standard_json()
    }

    fn cancel_prompt(&mut self, id: &Uuid) -> bool {
        let cancelled = self.inbox.cancel(id);
        if cancelled {
            let line = self.lines().lifecycle(id, "cancelled");
            self.send(line);
        }
        cancelled
    }

    fn set_mode(&mut self, mode: &PermissionMode) -> Answered {
        self.session.policy.set_mode(mode).map_err(|dropped| match dropped {
            Dropped::BypassNotLaunched => Box::new(failure(
                "Cannot set permission mode to bypassPermissions because the session was not launched with --dangerously-skip-permissions",
                "bypass_not_launched",
            )),
            _ => Box::new(invalid_mode()),
        })?;
        value(&ModeAnswer {
            mode: self.session.mode().clone(),
            extra: towline_protocol::Extra::default(),
        })
    }

    fn set_model(&mut self, request: &SetModel) -> Answered {
        let name = request.model.as_option().map(Text::as_str);
        let model = catalogue::resolve(name).to_owned();
        let shown = match name {
            Some(name) if name != model => format!("{name} ({model})"),
            _ => model.clone(),
        };
        self.change_model(&model, &shown);
        value(&ModelAnswer {
            model: model.into(),
            extra: towline_protocol::Extra::default(),
        })
    }

    /// Goes on with another model, by its full name and as it is shown.
    fn change_model(&mut self, model: &str, shown: &str) {
        let changed = model != self.session.model;
        model.clone_into(&mut self.session.model);
        if changed && self.results > 0 {
            let text =
                format!("<local-command-stdout>Set model to `{shown}`</local-command-stdout>");
            let mut line = User::say(text.as_str());
            line.session_id = Some(self.session.id.clone());
            line.uuid = Some(lines::new_uuid());
            line.timestamp = Some(lines::timestamp());
            line.is_replay = Some(true);
            self.send(ToHost::User(Box::new(line)));
        }
    }

    fn set_thinking(&mut self, request: &SetMaxThinkingTokens) {
        let tokens = request.max_thinking_tokens.as_option();
        // Less than nothing is nothing.
        self.config.model.max_thinking_tokens =
            tokens.map(|tokens| u64::try_from(*tokens).unwrap_or(0));
    }

    /// A line that cannot be read. Where somebody waits for an answer, that is the answer.
    pub(super) fn handle_unreadable(&mut self, text: &Text, error: &DecodeError) {
        let line: Option<serde_json::Value> = serde_json::from_str(text).ok();
        let field = |name: &str| line.as_ref().and_then(|line| line.get(name));
        let is_request =
            field("type").and_then(serde_json::Value::as_str) == Some("control_request");
        let Some(request) = field("request").filter(|request| is_request && request.is_object())
        else {
            let problem = format!("this line cannot be read: {error}");
            return self.send(lines::error(problem, &self.session.id));
        };
        let id = field("request_id").and_then(|id| Json::of(id).ok());
        let id = id.and_then(|id| Wire::from_json(id.text().clone()).ok());
        let failure = match request.get("subtype") {
            Some(serde_json::Value::String(subtype)) => self.misused(subtype, error),
            Some(other) => unsupported(&other.to_string()),
            None => unsupported("undefined"),
        };
        let reply = Reply::Error(Box::new(Failure {
            request_id: id,
            ..failure
        }));
        self.send(ToHost::ControlResponse(Box::new(ControlResponse {
            reply,
            extra: towline_protocol::Extra::default(),
        })));
    }

    /// A request whose fields are wrong.
    fn misused(&self, subtype: &str, error: &DecodeError) -> Failure {
        match subtype {
            "set_permission_mode" => invalid_mode(),
            "set_model" => Failure {
                model: Some(self.session.model.as_str().into()),
                ..failure("set_model: model must be a string", "invalid_request")
            },
            other => Failure {
                error: format!("{other}: {error}").into(),
                ..Failure::default()
            },
        }
    }
}

pub(super) fn value(answer: &impl Wire) -> Answered {
    Ok(Some(answer.to_standard_json()))
}

pub(super) fn empty() -> Answered {
    Ok(Json::new("{}").ok())
}

fn failure(error: &str, code: &'static str) -> Failure {
    Failure {
        error: error.into(),
        error_code: Some(Text::from_static(code)),
        ..Failure::default()
    }
}

pub(super) fn plain(error: impl Into<Text>) -> Box<Failure> {
    Box::new(Failure {
        error: error.into(),
        ..Failure::default()
    })
}

fn unsupported(subtype: &str) -> Failure {
    failure(
        &format!("Unsupported control request subtype: {subtype}"),
        "unsupported_request",
    )
}

fn invalid_mode() -> Failure {
    failure(
        "Cannot set permission mode: must be one of acceptEdits, auto, bypassPermissions, default, delegate, dontAsk, plan",
        "invalid_mode",
    )
}
