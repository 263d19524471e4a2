//! One row of the table: the session it was recorded in, built again, and the call.

use serde_json::Value;
use towline_permission::{
    Bypass, Call, Decision, Destination, Facts, HookVerdict, PermissionMode, PermissionUpdate,
    Policy, Settings, Startup, Trust, Verdict, decide,
};
use towline_protocol::{PermissionAnswer, Wire};

use crate::{fixture, hooks};

/// A row, with made-up places instead of its placeholders.
pub(crate) struct Row(Value);

impl Row {
    pub(crate) fn read(line: &str) -> Self {
        Self(serde_json::from_str(&fixture::fill(line)).unwrap())
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        self.0[key].as_str().unwrap_or_default()
    }

    pub(crate) fn some_text(&self, key: &str) -> Option<&str> {
        self.0[key].as_str()
    }

    /// The texts of a list, such as the rules.
    pub(crate) fn texts(&self, key: &str) -> impl Iterator<Item = &str> {
        list(&self.0[key]).filter_map(Value::as_str)
    }

    /// The command line, if it is one.
    pub(crate) fn command(&self) -> Option<&str> {
        self.0["input"]["command"].as_str()
    }

    /// What the real CLI did; nothing if it never came to a decision.
    pub(crate) fn expected(&self) -> Option<Verdict> {
        verdict(self.text("decision"))
    }

    /// The suggestions that came with the question.
    pub(crate) fn suggestions(&self) -> Option<&Vec<Value>> {
        self.0["permission_suggestions"].as_array()
    }

    /// The call and the rules, for a person.
    pub(crate) fn describe(&self) -> String {
        let input = match &self.0["input"]["command"] {
            Value::String(command) => format!("{command:?}"),
            _ => self.0["input"].to_string(),
        };
        let mut words = vec![format!("{} {input}", self.text("tool"))];
        for key in [
            "mode",
            "allow",
            "deny",
            "ask",
            "additionalDirectories",
            "rule_source",
        ] {
            let value = &self.0[key];
            if !value.is_null() && value.as_array().is_none_or(|list| !list.is_empty()) {
                words.push(format!("{key}={value}"));
            }
        }
        words.join(" ")
    }

    /// Builds the session, plays what came before, and decides.
    pub(crate) fn play(&self) -> Decision {
        let mut policy = self.policy();
        for earlier in list(&self.0["previous_in_session"]) {
            obey(&mut policy, &earlier["control"]);
            let decision = decide_call(&policy, earlier, None);
            answer(&mut policy, earlier, &decision);
        }
        for control in list(&self.0["control"]) {
            obey(&mut policy, &control["request"]);
        }
        let (hook, input) = hooks::said(&self.0);
        let mut call = self.0.clone();
        if let Some(input) = input {
            call["input"] = input;
        }
        decide_call(&policy, &call, hook)
    }

    /// The updates of all answers of the session, in order.
    pub(crate) fn answered_updates(&self) -> Vec<PermissionUpdate> {
        let earlier = list(&self.0["previous_in_session"]);
        let answers = earlier.chain([&self.0]).map(|call| &call["response"]);
        let answers: Vec<_> = answers
            .filter(|answer| answer["behavior"] == "allow")
            .collect();
        let updates = answers.into_iter().filter_map(updates_of);
        updates.flatten().collect()
    }

    /// Whether the row names the rules of each source, which then are in its files and arguments.
    pub(crate) fn names_files(&self) -> bool {
        !self.0["rules_by_source"].is_null()
    }

    /// A file that the session found.
    pub(crate) fn extra_file(&self, path: &str) -> Value {
        self.0["extra_files"][path].clone()
    }

    /// The text of a file when the session had ended.
    pub(crate) fn file_after(&self, path: &str) -> Option<&str> {
        self.0["files_after"][path].as_str()
    }

    /// Whether the files at the end are known, and nothing but the answers of this row could have changed them.
    pub(crate) fn tells_files(&self) -> bool {
        let earlier = list(&self.0["previous_in_session"]);
        let suggested = |call: &Value| call["response"]["useSuggestions"] == true;
        !self.0["files_after"].is_null() && !earlier.chain([&self.0]).any(suggested)
    }

    /// Whether a person trusted the folder.
    pub(crate) fn is_trusted(&self) -> bool {
        self.0["workspace_trusted"] == true
    }

    pub(crate) fn policy(&self) -> Policy {
        let startup = self.startup();
        let (policy, _) = startup.policy(fixture::places());
        // Rows of an update say the mode of that moment, not of the start.
        if self.0["previous_in_session"].is_null() && self.0["control"].is_null() {
            let mode = match self.text("effective_mode") {
                "" => self.text("mode"),
                effective => effective,
            };
            // What the project's files say of the mode may count there in a folder that no person trusted.
            let is_stricter = !self.is_trusted()
                && self.text("mode").is_empty()
                && policy.mode == PermissionMode::Default;
            assert!(
                is_stricter || ["", policy.mode.as_str()].contains(&mode),
                "{}: the mode is {}, not {mode}",
                self.text("id"),
                policy.mode
            );
        }
        policy
    }

    fn startup(&self) -> Startup {
        let mut startup = Startup {
            trust: if self.is_trusted() {
                Trust::Trusted
            } else {
                Trust::Neither
            },
            mode: self.0["mode"].as_str().map(PermissionMode::from),
            ..Startup::default()
        };
        if let Some(files) = self.0["extra_files"].as_object() {
            for (path, content) in files {
                if let Some(source) = fixture::settings_source(path) {
                    let text = match content {
                        Value::String(text) => text.clone(),
                        other => other.to_string(),
                    };
                    startup.files.push((source, Settings::read(&text)));
                }
            }
        }
        if !self.names_files() {
            self.put_rules(&mut startup);
        }
        let mut arguments = list(&self.0["extra_args"]).filter_map(Value::as_str);
        while let Some(argument) = arguments.next() {
            let value =
                |arguments: &mut dyn Iterator<Item = &str>| arguments.next().unwrap().to_owned();
            match argument {
                "--allowedTools" => startup.allowed_tools.push(value(&mut arguments)),
                "--disallowedTools" => startup.disallowed_tools.push(value(&mut arguments)),
                "--add-dir" => startup.directories.push(value(&mut arguments)),
                "--permission-mode" => {
                    startup.mode = Some(PermissionMode::from(&*value(&mut arguments)));
                }
                "--settings" => {
                    let text = value(&mut arguments);
                    startup
                        .files
                        .push((Destination::FlagSettings, Settings::read(&text)));
                }
                "--tools" => drop(value(&mut arguments)),
                "--dangerously-skip-permissions" => startup.bypass = Bypass::Yes,
                "--allow-dangerously-skip-permissions" => startup.bypass = Bypass::Possible,
                other => panic!("{}: argument {other} is unknown here", self.text("id")),
            }
        }
        startup
    }

    fn put_rules(&self, startup: &mut Startup) {
        let texts = |key: &str| -> Vec<String> {
            list(&self.0[key])
                .map(|text| text.as_str().unwrap().to_owned())
                .collect()
        };
        let source = match self.text("rule_source") {
            "" => return,
            "cli" => {
                startup.allowed_tools = texts("allow");
                startup.disallowed_tools = texts("deny");
                startup.directories = texts("additionalDirectories");
                return;
            }
            "project" => Destination::ProjectSettings,
            "local" => Destination::LocalSettings,
            "user" => Destination::UserSettings,
            "flag" => Destination::FlagSettings,
            other => panic!("{}: rule source {other} is unknown here", self.text("id")),
        };
        let text = serde_json::json!({"permissions": {
            "allow": self.0["allow"], "deny": self.0["deny"], "ask": self.0["ask"],
            "additionalDirectories": self.0["additionalDirectories"],
        }});
        startup
            .files
            .push((source, Settings::read(&text.to_string())));
    }
}

pub(crate) fn verdict(word: &str) -> Option<Verdict> {
    match word {
        "allow" => Some(Verdict::Allow),
        "ask" => Some(Verdict::Ask),
        "deny" => Some(Verdict::Deny),
        _ => None,
    }
}

fn decide_call(policy: &Policy, row: &Value, hook: Option<HookVerdict>) -> Decision {
    let call = Call::new(row["tool"].as_str().unwrap(), &row["input"]);
    let facts = Facts {
        skill_brings_tools: call.text("skill") == Some("other"),
        tool_only_reads: call.tool.ends_with("__ro"),
        hook,
        ..fixture::facts(policy, &call)
    };
    decide(policy, &call, &facts)
}

/// A mode asked for by the host.
fn obey(policy: &mut Policy, control: &Value) {
    let requests = match control {
        Value::Array(requests) => requests.clone(),
        other => vec![other.clone()],
    };
    for request in requests {
        if let Some(mode) = request["mode"].as_str() {
            // A mode that is refused changes nothing, there as here.
            policy.set_mode(&PermissionMode::from(mode)).ok();
        }
    }
}

/// What the answer to an earlier question changed.
fn answer(policy: &mut Policy, row: &Value, decision: &Decision) {
    let allowed = match row["decision"].as_str() {
        Some("ask") => row["response"]["behavior"] == "allow",
        decision => decision == Some("allow"),
    };
    if !allowed {
        return;
    }
    match row["tool"].as_str() {
        Some("EnterPlanMode") => policy.enter_plan(),
        Some("ExitPlanMode") => policy.leave_plan(),
        _ => {}
    }
    for update in updates(&row["response"], decision) {
        policy.apply(&update).ok();
    }
}

fn updates(response: &Value, decision: &Decision) -> Vec<PermissionUpdate> {
    if response["useSuggestions"] == true {
        return decision.suggestions.clone().unwrap_or_default();
    }
    updates_of(response).unwrap_or_default()
}

fn updates_of(response: &Value) -> Option<Vec<PermissionUpdate>> {
    let answer = PermissionAnswer::from_json(response.to_string()).ok()?;
    answer.updated_permissions
}

pub(crate) fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}
