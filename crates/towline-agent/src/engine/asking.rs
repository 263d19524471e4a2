//! Whether a call may run: decided by the rules, or asked of the host.

use std::path::Path;

use serde_json::{Map as JsonMap, Value, json};
use towline_files::{Lookout, Reach, RealPath, resolve_paths};
use towline_permission::{
    Brought, Call as PermissionCall, Decision, Facts, Reached, Reason, Verdict as Ruling, decide,
    looks, paths,
};
use towline_protocol::{
    Behavior, Extra, Json, Nullable, Outcome as Answered, PermissionAnswer, PermissionDecision,
    PermissionMode, PermissionUpdate, Request, RequestId, Text, ToolResultMeta, ToolUseId, Wire,
    control::request::CanUseTool,
};

use super::{Engine, lines::new_uuid};
use crate::{
    Questions,
    tools::{self, Outcome, Target, ToolCall, structured_output},
    turn::{Call, Refusal, Verdict, rejected, rejected_by_user},
};

/// A decision, and what the path of the call leads to.
#[derive(Debug)]
struct Judged {
    decision: Decision,
    target: Option<Target>,
}

/// A question that the host has not answered.
#[derive(Debug)]
pub(super) struct Question {
    pub(super) call: Call,
}

impl Engine {
    /// Decides about a call, or asks.
    pub(super) fn consider(&mut self, call: Call) {
        if call.name.as_str() == structured_output::NAME && self.offered(structured_output::NAME) {
            // To answer is not to do anything.
            let meta = Some(meta(&call.id, "accept", "config", None));
            let input = call.input.clone();
            return self.verdict(&call.id, Verdict::Run { input, meta });
        }
        let read = match self.read(&call) {
            Ok(read) => read,
            Err(outcome) => return self.verdict(&call.id, wrong(outcome)),
        };
        let Judged { decision, target } = self.judge(&call);
        if let Some(target) = target {
            self.targets.insert(call.id.clone(), target);
        }
        // Nobody is asked about what cannot be done. Of a file that is forbidden not even that is told.
        let is_forbidden =
            decision.verdict == Ruling::Deny && matches!(decision.reason, Reason::Rule(_));
        if !is_forbidden && let Err(outcome) = read.check(&self.place_for(&call.id)) {
            return self.verdict(&call.id, wrong(outcome));
        }
        if let Questions::Tool(tool) = &self.config.questions {
            // MCP tools are not there yet. CLI 2.1.325 looks for this one at the first call, whatever that call is.
            let complaint = format!(
                "Error: MCP tool {tool} (passed via --permission-prompt-tool) not found. Available MCP tools: none"
            );
            return self.cannot_ask(&call, complaint);
        }
        match decision.verdict {
            Ruling::Allow => {
                let reason = self.accepted_because(&call, &decision);
                let meta = meta(&call.id, "accept", "config", reason);
                let input = call.input.clone();
                self.verdict(
                    &call.id,
                    Verdict::Run {
                        input,
                        meta: Some(meta),
                    },
                );
            }
            Ruling::Deny => self.deny(&call, &decision),
            Ruling::Ask => self.ask(call, decision),
        }
    }

    /// The call, if there is such a tool and its input is one.
    fn read(&self, call: &Call) -> Result<ToolCall, Outcome> {
        let name = call.name.as_str();
        let read = ToolCall::read(name, &call.input).filter(|_| self.offered(name));
        read.unwrap_or_else(|| Err(no_such_tool(name)))
    }

    fn judge(&mut self, call: &Call) -> Judged {
        let call = PermissionCall::new(call.name.as_str(), &call.input);
        let looks = looks(&self.session.policy, &call);
        let lookout = &mut self.lookout;
        let mut reached = |paths: Vec<String>, look: fn(&mut Lookout, &str) -> Reach| {
            let reached = paths.into_iter().map(|path| {
                let Reach { links, is_whole } = look(lookout, &path);
                (path, Reached { links, is_whole })
            });
            reached.collect()
        };
        let facts = Facts {
            globs: reached(looks.globs, Lookout::glob),
            trees: reached(looks.trees, Lookout::tree),
            ..Facts::default()
        };
        self.ruling(&call, facts)
    }

    /// The real path to open a file by, if it may be read without asking.
    pub(super) fn readable(&self, path: &Path) -> Option<RealPath> {
        let input = json!({"file_path": path});
        let judged = self.ruling(&PermissionCall::new("Read", &input), Facts::default());
        let target = judged.target.map(|target| target.real);
        target.filter(|_| judged.decision.verdict == Ruling::Allow)
    }

    /// The decision about a call, and what its path leads to: resolved once for both.
    fn ruling(&self, call: &PermissionCall<'_>, facts: Facts) -> Judged {
        let policy = &self.session.policy;
        let touched = paths(policy, call);
        let resolved = resolve_paths(touched.iter().map(String::as_str));
        let target = Target::among(&resolved, policy, call);
        let facts = Facts {
            links: resolved.links,
            directories: resolved.directories,
            ..facts
        };
        Judged {
            decision: decide(policy, call, &facts),
            target,
        }
    }

    /// Sees to it that a call opens what was decided about. Calls before it in the same message may have moved the shell or
    /// changed a link since: then it is decided about again, and where a person would have to be asked it fails.
    pub(super) fn settle_target(&mut self, call: &Call) -> Result<(), Outcome> {
        let Some(before) = self.targets.get(&call.id).cloned() else {
            return Ok(());
        };
        let now = self.judge(call);
        let Some(target) = now.target.filter(|target| *target != before) else {
            return Ok(());
        };
        if now.decision.verdict != Ruling::Allow {
            return Err(Outcome::error(format!(
                "Nothing was opened: {} led to {} when the call was allowed and leads to {} now. Make the call again.",
                before.words.display(),
                before.real.display(),
                target.real.display()
            )));
        }
        self.targets.insert(call.id.clone(), target);
        Ok(())
    }

    /// Why a call is accepted, in the real CLI's words: a rule for the whole tool counts before all else, a command line is
    /// looked at in parts, and a file inside the project is a matter of the mode.
    fn accepted_because(&self, call: &Call, decision: &Decision) -> Option<&'static str> {
        let name = call.name.as_str();
        match &decision.reason {
            _ if self.session.policy.allows_tool(name) => Some("rule"),
            Reason::Mode(PermissionMode::BypassPermissions | PermissionMode::Auto) => Some("mode"),
            _ if name == "Bash" => Some("subcommandResults"),
            Reason::Harmless if tools::is_about_files(name) => Some("mode"),
            reason => reason.kind(),
        }
    }

    fn deny(&mut self, call: &Call, decision: &Decision) {
        let is_file_rule =
            matches!(decision.reason, Reason::Rule(_)) && tools::is_about_files(call.name.as_str());
        if is_file_rule {
            // The real CLI finds this out before it thinks of permissions, and tells the host nothing.
            let outcome = Outcome::misuse(
                "File is in a directory that is denied by your permission settings.",
            );
            let meta = meta(&call.id, "reject", "config", Some("rule"));
            return self.verdict(&call.id, denied(outcome, meta));
        }
        let message = denied_because(call, decision, self.session.mode());
        let kind = match decision.reason {
            Reason::Rule(_) if call.name.as_str() == "Bash" => Some("subcommandResults"),
            ref reason => reason.kind(),
        };
        let words = in_words(&decision.reason);
        let line = self
            .lines()
            .denied(call, &message, (kind, words.as_deref()));
        self.send(line);
        let nobody_to_ask = !self.session.policy.can_ask
            && !matches!(
                decision.reason,
                Reason::Rule(_) | Reason::Mode(_) | Reason::Parts
            );
        let (kind, why) = if nobody_to_ask {
            (None, "user-rejected")
        } else {
            (kind, "permission-rule")
        };
        let mut meta = meta(&call.id, "reject", "config", kind);
        meta.non_execution_kind = Some(Text::from_static(why));
        self.verdict(&call.id, denied(Outcome::error(message), meta));
    }

    fn ask(&mut self, call: Call, decision: Decision) {
        let request = CanUseTool {
            tool_name: call.name.clone(),
            display_name: Some(call.name.as_str().into()),
            input: Json::of(&tools::shown_input(call.name.as_str(), &call.input))
                .unwrap_or_default(),
            description: self.description(&call),
            permission_suggestions: decision
                .suggestions
                .map_or(Nullable::Absent, Nullable::Value),
            blocked_path: decision
                .blocked_path
                .map_or(Nullable::Absent, |path| Nullable::Value(path.into())),
            tool_use_id: Some(call.id.clone()),
            decision_reason: in_words(&decision.reason).map(Text::from),
            decision_reason_type: decision.reason.kind().map(Text::from),
            decision_reason_hook_event: None,
            decision_reason_hook_source: None,
            classifier_approvable: None,
            suppress_always_allow_rule: None,
            default_to_no: None,
            matched_ask_rule: None,
            title: None,
            agent_id: None,
            requires_user_interaction: tools::is_question(call.name.as_str()).then_some(true),
            server_policy_ask_only: (tools::is_about_files(call.name.as_str())
                && !matches!(decision.reason, Reason::Mode(_)))
            .then_some(true),
            mcp_server: None,
            extra: Extra::default(),
        };
        let id = RequestId::from(new_uuid().as_str());
        self.questions.insert(id.clone(), Question { call });
        self.peer
            .ask_as(id, Request::CanUseTool(Box::new(request)), None);
    }

    /// Nobody can be asked who should be. To go on would be to deny in somebody's name; CLI 2.1.325 ends too.
    fn cannot_ask(&mut self, call: &Call, complaint: String) {
        let words = format!("Error calling tool ({}): {complaint}", call.name.as_str());
        let outcome = Outcome {
            data: Box::new(Value::from(words.as_str())),
            ..Outcome::misuse(words)
        };
        self.fatal.get_or_insert(complaint);
        self.verdict(&call.id, wrong(outcome));
    }

    /// What the call is about, for a person.
    fn description(&self, call: &Call) -> Option<Text> {
        let text = |key: &str| call.input.get(key).and_then(Value::as_str);
        let path = text("file_path")
            .or_else(|| text("notebook_path"))
            .or_else(|| text("path"));
        match (call.name.as_str(), path) {
            ("Bash", _) => text("description").map(Text::from),
            ("WebFetch", _) => text("url").map(Text::from),
            ("WebSearch", _) => text("query").map(Text::from),
            (_, Some(path)) => {
                let project = &self.session.policy.places.project;
                let inside = path
                    .strip_prefix(project.as_str())
                    .and_then(|rest| rest.strip_prefix('/'));
                Some(inside.unwrap_or(path).into())
            }
            _ => None,
        }
    }

    /// A question is over without an answer.
    pub(super) fn withdraw_question(&mut self, call: &ToolUseId) {
        let open = self
            .questions
            .iter()
            .find(|(_, question)| question.call.id == *call);
        if let Some(id) = open.map(|(id, _)| id.clone()) {
            self.questions.remove(&id);
            self.targets.remove(call);
            self.peer.cancel(&id);
        }
    }

    /// The host has answered, or never will.
    pub(super) fn settle_question(&mut self, question: Question, answer: Answered) {
        let call = question.call;
        let answer = match answer {
            Answered::Answered(answer) => read_answer(answer.as_ref()),
            Answered::Refused(failure) => Err(format!("Tool permission request failed: Error: {}", failure.error)),
            Answered::Closed => {
                Err("Tool permission request failed: AbortError: Tool permission stream closed before response received".into())
            }
            Answered::Cancelled | Answered::TimedOut => return,
        };
        let verdict = match answer {
            Err(problem) => {
                let mut meta = meta(&call.id, "reject", "config", Some("other"));
                meta.non_execution_kind = Some(Text::from_static("permission-rule"));
                Verdict::Refuse(Refusal {
                    outcome: Outcome::error(problem),
                    meta: Some(meta),
                    denied: true,
                    stop: false,
                })
            }
            Ok(answer) if answer.behavior == Behavior::Allow => self.allowed(&call, &answer),
            Ok(answer) => refused(&call, &answer),
        };
        self.verdict(&call.id, verdict);
    }

    fn allowed(&mut self, call: &Call, answer: &PermissionAnswer) -> Verdict {
        let before = self.session.mode().clone();
        for update in answer.updated_permissions.iter().flatten() {
            self.update_permissions(update);
        }
        self.tell_mode(&before);
        let changed = answer
            .updated_input
            .as_ref()
            .and_then(|input| input.parse::<JsonMap<String, Value>>().ok())
            .filter(|input| !input.is_empty());
        let input = match changed {
            None => call.input.clone(),
            Some(changed) => {
                tools::answered_input(call.name.as_str(), &call.input, Value::Object(changed))
            }
        };
        if let Some(Err(outcome)) = ToolCall::read(call.name.as_str(), &input) {
            return Verdict::Refuse(Refusal {
                outcome,
                meta: Some(meta(
                    &call.id,
                    "reject",
                    "permission_updated_input_invalid",
                    None,
                )),
                denied: false,
                stop: false,
            });
        }
        if input != call.input {
            // An answer that names another path allows that one.
            let target = Target::of(&self.session.policy, call.name.as_str(), &input);
            let words = |target: &Target| target.words.clone();
            let before = self.targets.get(&call.id);
            if target.as_ref().map(words) != before.map(words) {
                self.targets.remove(&call.id);
                let target = target.map(|target| (call.id.clone(), target));
                self.targets.extend(target);
            }
        }
        let meta = meta(&call.id, "accept", "user_temporary", None);
        Verdict::Run {
            input,
            meta: Some(meta),
        }
    }

    /// Changes the rules, and the settings file that keeps them.
    pub(super) fn update_permissions(&mut self, update: &PermissionUpdate) {
        let Some(update) = update.standard() else {
            return;
        };
        if let Err(dropped) = self.session.policy.apply(&update) {
            tracing::warn!("a change of the permissions was left out: {dropped}");
            return;
        }
        if let Err(problem) = self.keep(&update) {
            let line = self.lines().informational(&problem);
            self.send(line);
        }
    }

    /// Writes a change into the settings file that it is meant for, and into the person's own state: there it counts also
    /// as long as the project's files do not.
    fn keep(&self, update: &PermissionUpdate) -> Result<(), String> {
        let Some(destination) = &update.destination else {
            return Ok(());
        };
        let home = &self.config.home;
        let changed = |before: &str| {
            towline_permission::Settings::write(before, update).map_err(|error| error.to_string())
        };
        let only_session = |problem: &dyn std::fmt::Display| {
            format!("the rule holds for this session only: {problem}")
        };
        let workspace =
            towline_store::Workspace::at(&self.config.cwd).map_err(|error| only_session(&error))?;
        let Some(file) = home.settings_file(&workspace, destination) else {
            return Ok(());
        };
        let saved = home.save_answer(&workspace, destination, changed);
        let written = match &file.text {
            Ok(before) => changed(before)
                .and_then(|text| file.write(&text).map_err(|error| error.to_string())),
            Err(error) => Err(error.to_string()),
        };
        // Of a project that is trusted the file counts, and else what is saved.
        let trust = self.config.permissions.trust;
        match (written, saved, trust.admits(destination, Brought::Grant)) {
            (Ok(()), Ok(()), _) => Ok(()),
            (Err(problem), _, true) => Err(only_session(&problem)),
            (_, Err(problem), false) => Err(only_session(&problem)),
            (Err(problem), Ok(()), false) => Err(format!(
                "the rule is saved, but not in the settings file of the project: {problem}"
            )),
            (Ok(()), Err(problem), true) => Err(format!(
                "the rule holds as long as the project is trusted: {problem}"
            )),
        }
    }

    fn verdict(&mut self, call: &ToolUseId, verdict: Verdict) {
        if let Some(running) = &mut self.running {
            running.turn.handle_verdict(call, verdict);
        }
    }
}

/// The tool does not exist, or not here.
pub(super) fn no_such_tool(name: &str) -> Outcome {
    Outcome::misuse(format!("Error: No such tool available: {name}"))
}

fn denied(outcome: Outcome, meta: ToolResultMeta) -> Verdict {
    Verdict::Refuse(Refusal {
        outcome,
        meta: Some(meta),
        denied: true,
        stop: false,
    })
}

fn wrong(outcome: Outcome) -> Verdict {
    Verdict::Refuse(Refusal {
        outcome,
        meta: None,
        denied: false,
        stop: false,
    })
}

fn refused(call: &Call, answer: &PermissionAnswer) -> Verdict {
    if answer.interrupt == Some(true) {
        return Verdict::Refuse(Refusal {
            outcome: rejected(),
            meta: Some(rejected_by_user(&call.id)),
            denied: true,
            stop: true,
        });
    }
    let message = answer.message.as_deref().unwrap_or_default();
    let mut meta = meta(&call.id, "reject", "user_reject", None);
    meta.non_execution_kind = Some(Text::from_static("permission-rule"));
    Verdict::Refuse(Refusal {
        outcome: Outcome::error(message),
        meta: Some(meta),
        denied: true,
        stop: false,
    })
}

/// Reads an answer. One that is none is a denial that says so.
fn read_answer(answer: Option<&Json>) -> Result<PermissionAnswer, String> {
    let invalid = |why: &str| {
        format!(
            "The answer to the permission question is no answer: {why}. Expected {{behavior: 'allow', updatedInput?: object}} \
             or {{behavior: 'deny', message: string}}."
        )
    };
    let answer = answer.ok_or_else(|| invalid("there is none"))?;
    let answer = PermissionAnswer::from_json(answer.text().clone())
        .map_err(|error| invalid(&error.to_string()))?;
    match &answer.behavior {
        Behavior::Allow => match &answer.updated_input {
            Some(input) if !input.is_object() && !input.is_null() => {
                Err(invalid("updatedInput is not an object"))
            }
            _ => Ok(answer),
        },
        Behavior::Deny if answer.message.is_some() => Ok(answer),
        Behavior::Deny => Err(invalid("a denial needs a message")),
        other => Err(invalid(&format!("`{}` is no behavior", other.as_str()))),
    }
}

/// Who decided about a call.
fn meta(
    call: &ToolUseId,
    decision: &'static str,
    source: &'static str,
    reason: Option<&str>,
) -> ToolResultMeta {
    ToolResultMeta {
        id: call.clone(),
        permission_decision: Some(PermissionDecision {
            decision: Text::from_static(decision),
            source: Some(Text::from_static(source)),
            reason_type: reason.map(Text::from),
            extra: Extra::default(),
        }),
        non_execution_kind: None,
        extra: Extra::default(),
    }
}

/// A reason, for a person.
fn in_words(reason: &Reason) -> Option<String> {
    match reason {
        Reason::Hook(words) => words.clone(),
        Reason::WorkingDirectory(words) | Reason::Safety(words) | Reason::Other(words) => {
            Some(words.clone())
        }
        _ => None,
    }
}

/// What the model is told of a call that was denied.
fn denied_because(call: &Call, decision: &Decision, mode: &PermissionMode) -> String {
    let name = call.name.as_str();
    let what = match call.input.get("command").and_then(Value::as_str) {
        Some(command) => format!("{name} with command {command}"),
        None => name.to_owned(),
    };
    match &decision.reason {
        Reason::Mode(_) if *mode == PermissionMode::DontAsk => format!(
            "Permission to use {what} has been denied: nobody is asked in this session (mode dontAsk). \
             Do what can be done without it, and say what was left out."
        ),
        Reason::Rule(entry) => format!(
            "Permission to use {what} has been denied by the rule {}.",
            entry.rule
        ),
        Reason::Parts => format!("Permission to use {what} has been denied."),
        Reason::Mode(mode) => format!(
            "Permission to use {what} has been denied in mode {}.",
            mode.as_str()
        ),
        other => match (in_words(other), &decision.blocked_path) {
            (Some(words), _) if name == "Bash" => words,
            (_, Some(path)) => format!(
                "Permission to use {what} on {path} was requested and has not been granted yet."
            ),
            _ => format!("Permission to use {what} was requested and has not been granted yet."),
        },
    }
}
