//! What hosts ask about files, settings files and running commands.

use serde_json::{Value, json};
use towline_protocol::{
    Json,
    control::{
        answer::{FileSuggestionsAnswer, ReadFileAnswer},
        request::{ReadFile, SeedReadState, UpdateSettings},
    },
};

use super::{
    super::{Engine, mention::beginning_of},
    Answered, empty, plain, value,
};

/// How much of a file a host gets.
const MAX_FILE: u64 = 10 << 20;
/// How many files are suggested.
const MAX_SUGGESTIONS: usize = 15;
/// How many files are looked at for suggestions.
const MAX_LOOKED_AT: usize = 20_000;

impl Engine {
    /// A file, if the agent itself may read it without asking.
    pub(super) fn read_file(&self, request: &ReadFile) -> Answered {
        let denied = || plain(format!("read denied: {}", request.path));
        let path = self.session.current().join(request.path.as_str());
        if !self.may_read(&path) {
            return Err(denied());
        }
        let most = request.max_bytes.unwrap_or(MAX_FILE).min(MAX_FILE);
        let (bytes, truncated) = beginning_of(&path, most).ok_or_else(denied)?;
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

    /// Files whose path holds what was typed, shortest first.
    pub(super) fn file_suggestions(&self, query: &str) -> FileSuggestionsAnswer {
        let cwd = self.session.current();
        let query = query.to_lowercase();
        let mut found = Vec::new();
        let mut folders = vec![cwd.clone()];
        let mut looked_at = 0;
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                looked_at += 1;
                let name = entry.file_name();
                if name.to_string_lossy().starts_with('.') || looked_at > MAX_LOOKED_AT {
                    continue;
                }
                let path = entry.path();
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    if name != "node_modules" && name != "target" {
                        folders.push(path);
                    }
                    continue;
                }
                let relative = path
                    .strip_prefix(&cwd)
                    .unwrap_or(&path)
                    .to_string_lossy()
                    .into_owned();
                if relative.to_lowercase().contains(&query) {
                    found.push(relative);
                }
            }
        }
        found.sort_by_key(|path| (path.len(), path.clone()));
        found.truncate(MAX_SUGGESTIONS);
        let suggestions = found.iter().filter_map(|path| {
            Json::of(&json!({"id": format!("file-{path}"), "displayText": path})).ok()
        });
        FileSuggestionsAnswer {
            suggestions: Some(suggestions.collect()),
            cwd: Some(cwd.to_string_lossy().into_owned().into()),
            ..FileSuggestionsAnswer::default()
        }
    }

    /// The host has shown the model a file already.
    pub(super) fn seed_read_state(&mut self, request: &SeedReadState) {
        let path = self.session.current().join(request.path.as_str());
        self.seed_read(&path, request.mtime.as_f64());
    }

    /// Settings as if `--settings` had named them: the model and the rules count from now on.
    pub(super) fn apply_flag_settings(&mut self, settings: &Json) -> Answered {
        let Ok(Value::Object(settings)) = settings.parse::<Value>() else {
            return Err(plain("apply_flag_settings: settings must be an object"));
        };
        if let Some(model) = settings.get("model").and_then(Value::as_str) {
            crate::model::catalogue::resolve(Some(model)).clone_into(&mut self.session.model);
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

/// The settings that a host may change.
const SETTABLE: &[&str] = &[
    "outputStyle",
    "theme",
    "verbose",
    "language",
    "spinnerTipsEnabled",
];
