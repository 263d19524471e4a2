//! [`Settings`]: what one settings file says about permissions. Text in, rules and problems out.
//!
//! Which files there are, and where, is the caller's business; what they add up to is in [`Startup`](crate::Startup);
//! how an update is written back is in [`write`].

mod write;

use serde_json::{Map, Value};
use towline_protocol::PermissionMode;

use crate::rule::Rule;

/// What one settings file says about permissions.
///
/// ```
/// use towline_permission::Settings;
///
/// let settings = Settings::read(r#"{"permissions": {"allow": ["Bash(just build)", "Bash("]}}"#);
/// assert_eq!(settings.allow[0].to_string(), "Bash(just build)");
/// assert_eq!(
///     settings.problems[0].to_string(),
///     "permissions.allow[1]: `Bash(` is no rule: the closing bracket is missing, or something stands behind it; \
///      the rule is ignored"
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Settings {
    /// What may be done without asking.
    pub allow: Vec<Rule>,
    /// What must not be done.
    pub deny: Vec<Rule>,
    /// What is asked about whatever else says.
    pub ask: Vec<Rule>,
    /// The mode to begin in.
    pub default_mode: Option<PermissionMode>,
    /// Working directories besides the project, as they are written.
    pub directories: Vec<String>,
    /// Whether `bypassPermissions` is switched off.
    pub disable_bypass: bool,
    /// Whether nobody else's rules may allow something. Only a policy can say so.
    pub only_managed_rules: bool,
    /// What is wrong with the file.
    pub problems: Vec<Problem>,
}

/// Something wrong in a settings file, and what follows from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The key, such as `permissions.allow[3]`; nothing if it is the whole text.
    pub key: String,
    /// What is wrong there.
    pub wrong: String,
    /// What follows from it.
    pub effect: Effect,
}

/// What follows from a problem in a settings file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// This one entry is ignored.
    EntryIgnored,
    /// Everything in the file that would allow something is ignored. The real CLI ignores the whole file; here what
    /// it denies and asks about holds, since a typing error must not switch a protection off.
    NothingAllowed,
}

impl Settings {
    /// Reads the text of a settings file. What cannot be used is in [`Settings::problems`].
    pub fn read(text: &str) -> Self {
        let mut settings = Self::default();
        match serde_json::from_str(text) {
            Ok(Value::Object(keys)) => settings.take(&keys),
            Ok(other) => settings.reject("", format!("{} where an object belongs", kind(&other))),
            Err(error) if text.trim().is_empty() => {
                settings.reject("", format!("the file is empty ({error})"));
            }
            Err(error) => settings.reject("", format!("not JSON: {error}")),
        }
        let hopeless = settings
            .problems
            .iter()
            .any(|problem| problem.effect == Effect::NothingAllowed);
        if hopeless {
            settings.allow.clear();
            settings.directories.clear();
            settings.default_mode = None;
        }
        settings
    }

    fn take(&mut self, keys: &Map<String, Value>) {
        for (key, expected) in KNOWN_KEYS {
            if let Some(value) = keys.get(*key)
                && kind(value) != *expected
            {
                self.reject(key, format!("{} where {expected} belongs", kind(value)));
            }
        }
        self.only_managed_rules =
            keys.get("allowManagedPermissionRulesOnly") == Some(&Value::Bool(true));
        let Some(permissions) = keys.get("permissions").and_then(Value::as_object) else {
            return;
        };
        self.allow = self.rules(permissions, "allow");
        self.deny = self.rules(permissions, "deny");
        self.ask = self.rules(permissions, "ask");
        self.directories = self
            .texts(permissions, "additionalDirectories")
            .into_iter()
            .map(|(_, text)| text.to_owned())
            .collect();
        self.default_mode = self.mode(permissions);
        // Whatever it says, it is meant to switch something off: a wrong value does so, too.
        self.disable_bypass = permissions
            .get("disableBypassPermissionsMode")
            .is_some_and(|value| !value.is_null());
    }

    fn rules(&mut self, permissions: &Map<String, Value>, key: &'static str) -> Vec<Rule> {
        let mut rules = Vec::new();
        for (index, text) in self.texts(permissions, key) {
            match text.parse() {
                Ok(rule) => rules.push(rule),
                Err(error) => self.problems.push(Problem {
                    key: format!("permissions.{key}[{index}]"),
                    wrong: format!("`{text}` is no rule: {error}"),
                    effect: Effect::EntryIgnored,
                }),
            }
        }
        rules
    }

    /// The texts of a list with their places in it; what is no text is skipped, what is no list spoils the file.
    fn texts<'v>(
        &mut self,
        permissions: &'v Map<String, Value>,
        key: &'static str,
    ) -> Vec<(usize, &'v str)> {
        let list = match permissions.get(key) {
            None => return Vec::new(),
            Some(Value::Array(list)) => list,
            Some(other) => {
                self.reject(
                    &format!("permissions.{key}"),
                    format!("{} where a list belongs", kind(other)),
                );
                return Vec::new();
            }
        };
        let mut texts = Vec::new();
        for (index, value) in list.iter().enumerate() {
            match value {
                Value::String(text) => texts.push((index, text.as_str())),
                other => self.problems.push(Problem {
                    key: format!("permissions.{key}[{index}]"),
                    wrong: format!("{} where a text belongs", kind(other)),
                    effect: Effect::EntryIgnored,
                }),
            }
        }
        texts
    }

    fn mode(&mut self, permissions: &Map<String, Value>) -> Option<PermissionMode> {
        let value = permissions.get("defaultMode")?;
        let mode = value
            .as_str()
            .and_then(|text| MODES.iter().find(|mode| mode.as_str() == text).cloned());
        if mode.is_none() {
            let known: Vec<_> = MODES.iter().map(PermissionMode::as_str).collect();
            self.reject(
                "permissions.defaultMode",
                format!("{value} is no mode; there are {}", known.join(", ")),
            );
        }
        mode
    }

    fn reject(&mut self, key: &str, wrong: String) {
        self.problems.push(Problem {
            key: key.to_owned(),
            wrong,
            effect: Effect::NothingAllowed,
        });
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if !self.key.is_empty() {
            write!(f, "{}: ", self.key)?;
        }
        let effect = match self.effect {
            Effect::EntryIgnored if self.wrong.contains("is no rule") => "the rule is ignored",
            Effect::EntryIgnored => "the entry is ignored",
            Effect::NothingAllowed => "nothing that this file allows counts",
        };
        write!(f, "{}; {effect}", self.wrong)
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// `delegate` is not among them: CLI 2.1.325 drops a file that says so, and so would every rule that it allows.
const MODES: &[PermissionMode] = &[
    PermissionMode::Default,
    PermissionMode::Manual,
    PermissionMode::AcceptEdits,
    PermissionMode::Plan,
    PermissionMode::BypassPermissions,
    PermissionMode::DontAsk,
    PermissionMode::Auto,
];

/// Keys whose value of a wrong kind spoils the whole file.
const KNOWN_KEYS: &[(&str, &str)] = &[
    ("permissions", "an object"),
    ("env", "an object"),
    ("hooks", "an object"),
    ("statusLine", "an object"),
    ("model", "a text"),
    ("outputStyle", "a text"),
    ("apiKeyHelper", "a text"),
    ("language", "a text"),
    ("cleanupPeriodDays", "a number"),
    ("includeCoAuthoredBy", "a boolean"),
    ("useAutoModeDuringPlan", "a boolean"),
    ("enableAllProjectMcpServers", "a boolean"),
    ("enabledMcpjsonServers", "a list"),
    ("disabledMcpjsonServers", "a list"),
];
