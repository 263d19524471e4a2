//! What hosts ask about files and settings files.

use std::path::Path;

use serde_json::Value;
use towline_files::RealPath;
use towline_protocol::{
    Failure, Json, Text, Ticket,
    control::{
        answer::ReadFileAnswer,
        request::{ReadFile, SeedReadState, UpdateSettings},
    },
};

use super::{
    super::{Engine, mention::beginning_of},
    Answered, empty, plain,
    suggestions::suggestions,
    value,
};
use crate::tools::Target;

/// How much of a file a host gets.
const MAX_FILE: u64 = 10 << 20;

impl Engine {
    /// A file, if the agent itself may read it without asking.
    pub(super) fn read_file(&mut self, ticket: Ticket, request: ReadFile) {
        let path = self.session.current().join(request.path.as_str());
        let Some(real) = self.readable(&path) else {
            return self.reply(ticket, Err(denied(&request)));
        };
        self.errands
            .send_blocking(ticket, move || contents(&path, &real, &request));
    }

    /// Files for what a person has typed.
    pub(super) fn suggest_files(&mut self, ticket: Ticket, typed: &Text) {
        let (folder, typed) = (self.session.current(), typed.detached());
        self.errands
            .send_blocking(ticket, move || value(&suggestions(&folder, &typed)));
    }

    /// The host has shown the model a file already.
    pub(super) fn seed_read_state(&mut self, request: &SeedReadState) {
        let path = self.session.current().join(request.path.as_str());
        let input = serde_json::json!({"file_path": path});
        let Some(target) = Target::of(&self.session.policy, "Read", &input) else {
            return;
        };
        self.seed_read(&target.real, request.mtime.as_f64());
    }

    /// Settings as if `--settings` had named them: the model and the rules count from now on.
    pub(super) fn apply_flag_settings(&mut self, settings: &Json) -> Answered {
        let Ok(Value::Object(settings)) = settings.parse::<Value>() else {
            return Err(plain("apply_flag_settings: settings must be an object"));
        };
        if let Some(model) = settings.get("model").and_then(Value::as_str) {
            let model = crate::model::catalogue::resolve(Some(model));
            self.change_model(model, model);
        }
        let text = Value::Object(settings).to_string();
        let read = towline_permission::Settings::read(&text);
        let source = towline_protocol::Destination::FlagSettings;
        for (rules, behavior) in [
            (read.allow, towline_protocol::Behavior::Allow),
            (read.deny, towline_protocol::Behavior::Deny),
            (read.ask, towline_protocol::Behavior::Ask),
        ] {
            for rule in rules {
                self.session
                    .policy
                    .add(rule, behavior.clone(), source.clone());
            }
        }
        Ok(None)
    }

    /// Changes a settings file of the person. Only what changes no permission may be set this way.
    pub(super) fn update_settings(&self, request: &UpdateSettings) -> Answered {
        let Ok(Value::Object(changes)) = request.settings.parse::<Value>() else {
            return Err(plain("update_settings: settings must be an object"));
        };
        let barred: Vec<_> = changes
            .keys()
            .filter(|key| !SETTABLE.contains(&key.as_str()))
            .cloned()
            .collect();
        if !barred.is_empty() {
            return Err(plain(format!(
                "update_settings keys not allowed: {}",
                barred.join(", ")
            )));
        }
        let failed = |error: &dyn std::fmt::Display| plain(format!("update_settings: {error}"));
        let workspace =
            towline_store::Workspace::at(&self.config.cwd).map_err(|error| failed(&error))?;
        let destination = towline_protocol::Destination::from(request.source.as_str());
        let Some(file) = self.config.home.settings_file(&workspace, &destination) else {
            return Err(plain(format!(
                "update_settings: there is no file for {}",
                request.source
            )));
        };
        let before = file.text.as_ref().map_err(|error| failed(error))?;
        let mut settings: serde_json::Map<String, Value> = match before.trim() {
            "" => serde_json::Map::new(),
            text => serde_json::from_str(text).map_err(|error| failed(&error))?,
        };
        settings.extend(changes);
        let text = serde_json::to_string_pretty(&settings).map_err(|error| failed(&error))?;
        file.write(&(text + "\n")).map_err(|error| failed(&error))?;
        empty()
    }
}

fn contents(path: &Path, real: &RealPath, request: &ReadFile) -> Answered {
    let most = request.max_bytes.unwrap_or(MAX_FILE).min(MAX_FILE);
    let (bytes, truncated) = beginning_of(real, most).ok_or_else(|| denied(request))?;
    let (contents, lossy) = match String::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
    };
    value(&ReadFileAnswer {
        contents: contents.into(),
        abs_path: Some(path.to_string_lossy().into_owned().into()),
        lossy: Some(lossy),
        truncated: truncated.then_some(true),
        requested_path: Some(request.path.clone()),
        ..ReadFileAnswer::default()
    })
}

fn denied(request: &ReadFile) -> Box<Failure> {
    plain(format!("read denied: {}", request.path))
}

/// The settings that a host may change.
const SETTABLE: &[&str] = &[
    "outputStyle",
    "theme",
    "verbose",
    "language",
    "spinnerTipsEnabled",
];
