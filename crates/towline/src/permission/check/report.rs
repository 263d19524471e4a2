//! What is told about a decision: to a person, and to a program.

use std::io::{self, Write};

use serde_json::{Value, json};
use towline_permission::{
    Behavior, Call, Decision, Entry, PermissionUpdate, Policy, Reason, Rule, Settings, Startup,
    Trust, Verdict,
};
use towline_protocol::Wire;
use towline_store::SettingsFile;

use super::super::settings::{Site, shown};
use crate::terminal::escaped;

/// A decision with everything that led to it.
pub(super) struct Report<'a> {
    pub(super) decision: &'a Decision,
    pub(super) call: &'a Call<'a>,
    pub(super) policy: &'a Policy,
    pub(super) files: &'a [SettingsFile],
    pub(super) startup: &'a Startup,
    pub(super) site: &'a Site,
    pub(super) notices: &'a [String],
    /// Paths outside of the working directories that the call touches, where that is not allowed.
    pub(super) outside: Vec<String>,
    /// What would allow the call, each by itself.
    pub(super) remedies: Vec<Vec<PermissionUpdate>>,
}

impl Report<'_> {
    /// For a person.
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let Decision {
            verdict,
            reason,
            parts,
            blocked_path,
            ..
        } = self.decision;
        writeln!(out, "{}: {}", word(*verdict), escaped(&gist(self.call)))?;
        writeln!(out, "  because {}", escaped(&self.why_decided(reason)))?;
        // The only part has the reason of the whole.
        for part in parts.iter().filter(|_| parts.len() > 1) {
            let (verdict, command) = (word(part.verdict), escaped(&part.command));
            let why = escaped(&self.why(&part.reason));
            writeln!(out, "  part {verdict}: {command}\n    because {why}")?;
        }
        for path in blocked_path.iter().chain(&self.outside) {
            writeln!(out, "  in the way: {}", escaped(path))?;
        }
        for (index, remedy) in self.remedies.iter().enumerate() {
            let updates: Vec<String> = remedy.iter().map(|update| self.told(update)).collect();
            let start = if index == 0 {
                "would be allowed by"
            } else {
                "or by"
            };
            writeln!(out, "  {start} {}", escaped(&updates.join(" with ")))?;
        }
        if *verdict != Verdict::Allow && self.remedies.is_empty() {
            writeln!(out, "  {}", escaped(&self.hopeless()))?;
        }
        writeln!(out, "  mode {}", self.policy.mode)?;
        if self.startup.trust != Trust::Trusted {
            let state = escaped(&self.site.home.state_file().display().to_string());
            let folder = escaped(&self.site.workspace.trusted_as().display().to_string());
            writeln!(out, "  not trusted: {state} does not say so of {folder}")?;
        }
        for file in self.files {
            let place = escaped(&shown(file));
            writeln!(out, "  settings {}: {place}", file.source)?;
        }
        Ok(())
    }

    /// For a program.
    pub(super) fn to_json(&self) -> Value {
        let decision = self.decision;
        let parts: Vec<Value> = decision
            .parts
            .iter()
            .map(|part| {
                json!({
                    "command": part.command,
                    "decision": word(part.verdict),
                    "reason": self.reason(&part.reason, &self.why(&part.reason)),
                })
            })
            .collect();
        let settings: Vec<Value> = self
            .files
            .iter()
            .map(|file| json!({"source": file.source.as_str(), "path": file.path}))
            .collect();
        let remedies = self.remedies.iter().map(|remedy| updates(remedy));
        json!({
            "decision": word(decision.verdict),
            "tool": self.call.tool,
            "input": self.call.input,
            "reason": self.reason(&decision.reason, &self.why_decided(&decision.reason)),
            "parts": parts,
            "blocked_path": decision.blocked_path,
            "paths_outside": self.outside,
            "permission_suggestions": decision.suggestions.as_deref().map(updates),
            "allowed_by": remedies.collect::<Vec<_>>(),
            "mode": self.policy.mode.as_str(),
            "cwd": self.policy.places.project,
            "trusted": self.startup.trust == Trust::Trusted,
            "settings": settings,
            "notices": self.notices,
        })
    }

    fn reason(&self, reason: &Reason, text: &str) -> Value {
        let rule = match reason {
            Reason::Rule(entry) => Some(json!({
                "rule": entry.rule.to_string(),
                "behavior": entry.behavior.as_str(),
                "source": entry.source.as_str(),
                "path": self.file_of(entry).and_then(|file| file.path.as_deref()),
            })),
            _ => None,
        };
        json!({
            "type": reason.kind(),
            "text": text,
            "rule": rule,
        })
    }

    fn why_decided(&self, reason: &Reason) -> String {
        let has_path = self.decision.blocked_path.is_some() || !self.outside.is_empty();
        let is_vague = match reason {
            Reason::Unknown => true,
            Reason::Parts => self.decision.parts.is_empty(),
            _ => false,
        };
        if is_vague && has_path {
            return "of a path that needs approval".to_owned();
        }
        self.why(reason)
    }

    fn why(&self, reason: &Reason) -> String {
        match reason {
            Reason::Rule(entry) => {
                let Entry { rule, behavior, .. } = entry;
                format!("of the {behavior} rule `{rule}` of {}", self.place(entry))
            }
            Reason::Mode(mode) => format!("of the mode {mode}"),
            Reason::Hook(why) => {
                format!("a hook says so: {}", why.as_deref().unwrap_or("no reason"))
            }
            Reason::WorkingDirectory(why) | Reason::Safety(why) | Reason::Other(why) => why.clone(),
            Reason::Parts => "of its parts".to_owned(),
            Reason::Harmless => "it changes nothing, in a place that may be looked at".to_owned(),
            _ => "no rule is about it, and such a call is asked about".to_owned(),
        }
    }

    /// Where a rule is.
    fn place(&self, entry: &Entry) -> String {
        match self.file_of(entry) {
            Some(file) => format!("{} ({})", entry.source, shown(file)),
            None => entry.source.to_string(),
        }
    }

    fn file_of(&self, entry: &Entry) -> Option<&SettingsFile> {
        let holds = |file: &&SettingsFile| {
            let settings = Settings::read(file.text.as_deref().unwrap_or_default());
            let rules = match entry.behavior {
                Behavior::Allow => settings.allow,
                Behavior::Deny => settings.deny,
                _ => settings.ask,
            };
            file.source == entry.source && rules.contains(&entry.rule)
        };
        self.files.iter().find(holds)
    }

    /// A change in words.
    fn told(&self, update: &PermissionUpdate) -> String {
        let rules = update.rules.iter().flatten().map(Rule::from);
        let rules: Vec<String> = rules.map(|rule| format!("`{rule}`")).collect();
        let directories = update.directories.iter().flatten();
        let directories: Vec<String> = directories.map(|path| format!("`{path}`")).collect();
        let what = match (&rules[..], &directories[..], &update.mode) {
            ([_], ..) => format!("the allow rule {}", rules[0]),
            ([_, ..], ..) => format!("the allow rules {}", rules.join(", ")),
            (_, [_, ..], _) => format!("the working directory {}", directories.join(", ")),
            (.., Some(mode)) => format!("the mode {mode}"),
            _ => update.to_standard_json().to_string(),
        };
        let Some(destination) = &update.destination else {
            return what;
        };
        let file = self
            .site
            .home
            .settings_file(&self.site.workspace, destination);
        match file {
            Some(file) => format!("{what} in {destination} ({})", shown(&file)),
            None => format!("{what} for the {destination}"),
        }
    }

    /// Why nothing that could be added helps.
    fn hopeless(&self) -> String {
        match &self.decision.reason {
            Reason::Rule(_) => "no rule allows it as long as that one is there".to_owned(),
            _ => "no rule allows it".to_owned(),
        }
    }
}

fn updates(updates: &[PermissionUpdate]) -> Value {
    let values = updates
        .iter()
        .filter_map(|update| serde_json::from_str(update.to_standard_json().as_str()).ok());
    Value::Array(values.collect())
}

/// The call in a few words.
fn gist(call: &Call<'_>) -> String {
    let keys = [
        "command",
        "file_path",
        "notebook_path",
        "url",
        "skill",
        "subagent_type",
        "pattern",
    ];
    match keys.iter().find_map(|key| call.text(key)) {
        Some(text) => format!("{} {text}", call.tool),
        None => call.tool.to_owned(),
    }
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
    }
}
