//! [`Offer`]: the things that the files that a repository brings would have, were its folder trusted. It is what a person is shown
//! before that is decided.

use std::path::PathBuf;

use serde_json::{Map, Value};
use towline_protocol::Destination;

use crate::{
    error::Result,
    home::Home,
    settings::{LARGEST, SettingsFile, project_files, read_bounded},
    workspace::Workspace,
};

/// The things that the files of a repository would have, were its folder trusted.
///
/// ```
/// # towline_testkit::in_home!(|home, project, workspace| {
/// use towline_store::OfferKind;
///
/// let settings = r#"{"permissions": {"allow": ["Bash(make:*)"], "deny": ["Bash(rm:*)"]}}"#;
/// std::fs::write(project.join(".claude/settings.local.json"), settings)?;
/// let offer = home.offer(&workspace);
/// assert_eq!(offer.items.len(), 1);
/// assert_eq!(offer.items[0].kind, OfferKind::Allow);
/// assert_eq!(offer.items[0].value, "Bash(make:*)");
/// # });
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// The things that would count, those that start programs first.
    pub items: Vec<OfferItem>,
    /// How many more rules there are than are listed; of everything else all is.
    pub more: usize,
    /// The texts of the files, whole, to tell whether they are still those that were shown.
    pub texts: Vec<(PathBuf, String)>,
}

/// One thing that would count.
///
/// ```
/// # towline_testkit::in_home!(|home, project, workspace| {
/// std::fs::write(project.join(".mcp.json"), r#"{"mcpServers": {"a": {}}}"#)?;
/// let item = home.offer(&workspace).items.remove(0);
/// assert_eq!(item.path, project.join(".mcp.json"));
/// # });
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OfferItem {
    /// Its kind.
    pub kind: OfferKind,
    /// The text, as it stands in the file: untrusted text of any length and with any characters.
    pub value: String,
    /// The file that it is in.
    pub path: PathBuf,
}

/// A kind of thing that waits for trust. What starts programs comes first, what is one of many last.
///
/// ```
/// use towline_store::OfferKind;
///
/// assert_eq!(OfferKind::Server.label(), "starts the server");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum OfferKind {
    /// A command that gives the key.
    KeyHelper,
    /// Another setting that starts a program or redirects, in the real CLI at least: the answer counts there, too.
    Program,
    /// A variable that is set.
    Variable,
    /// A command that runs at an event.
    Hook,
    /// A server that is started.
    Server,
    /// A working directory besides the project.
    Directory,
    /// A mode to begin in.
    Mode,
    /// A rule that allows.
    Allow,
}

impl OfferKind {
    /// The kind in words, such as `allows`.
    ///
    /// ```
    /// assert_eq!(towline_store::OfferKind::Hook.label(), "runs at an event");
    /// ```
    pub fn label(self) -> &'static str {
        match self {
            Self::Allow => "runs without asking",
            Self::Directory => "works in another folder",
            Self::Mode => "begins in the mode",
            Self::Hook => "runs at an event",
            Self::Server => "starts the server",
            Self::Variable => "sets the variable",
            Self::KeyHelper => "runs for the key",
            Self::Program => "starts or redirects",
        }
    }
}

impl Offer {
    /// Whether trust would change nothing.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home, workspace| {
    /// assert!(home.offer(&workspace).is_empty());
    /// # });
    /// ```
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    fn add(&mut self, kind: OfferKind, value: impl Into<String>, path: &std::path::Path) {
        self.items.push(OfferItem {
            kind,
            value: value.into(),
            path: path.to_owned(),
        });
    }

    /// Puts what is dangerous first. Only rules are cut: a thousand of them must not hide a command behind them.
    fn arrange(&mut self) {
        self.items.sort_by_key(|item| item.kind);
        let is_rule = |item: &OfferItem| item.kind == OfferKind::Allow;
        let most = self
            .items
            .partition_point(|item| !is_rule(item))
            .max(MOST_ITEMS);
        self.more = self.items.len().saturating_sub(most);
        self.items.truncate(most);
    }

    fn add_settings(
        &mut self,
        keys: &Map<String, Value>,
        saved: Option<&Value>,
        path: &std::path::Path,
    ) {
        let permissions = keys.get("permissions");
        let is_saved = |key: &str, value: &str| {
            let list = saved.and_then(|saved| saved.get("permissions")?.get(key)?.as_array());
            list.is_some_and(|list| list.iter().any(|known| known == value))
        };
        for (key, kind) in [
            ("allow", OfferKind::Allow),
            ("additionalDirectories", OfferKind::Directory),
        ] {
            let list = permissions.and_then(|permissions| permissions.get(key)?.as_array());
            let values = list.into_iter().flatten().filter_map(Value::as_str);
            for value in values.filter(|value| !is_saved(key, value)) {
                self.add(kind, value, path);
            }
        }
        let mode = permissions.and_then(|permissions| permissions.get("defaultMode")?.as_str());
        // These ask about as much as there is to ask.
        if let Some(mode) = mode.filter(|mode| !matches!(*mode, "plan" | "default" | "manual")) {
            self.add(OfferKind::Mode, mode, path);
        }
        for (event, matchers) in keys
            .get("hooks")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let matchers = matchers.as_array().into_iter().flatten();
            let hooks = matchers.filter_map(|matcher| matcher.get("hooks")?.as_array());
            for hook in hooks.flatten() {
                let command = hook.get("command").and_then(Value::as_str);
                let command = command.map_or_else(|| hook.to_string(), str::to_owned);
                self.add(OfferKind::Hook, format!("{event}: {command}"), path);
            }
        }
        for (name, value) in keys
            .get("env")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let value = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            self.add(OfferKind::Variable, format!("{name}={value}"), path);
        }
        if let Some(command) = keys.get("apiKeyHelper").and_then(Value::as_str) {
            self.add(OfferKind::KeyHelper, command, path);
        }
        for name in PROGRAMS {
            let Some(value) = keys.get(*name) else {
                continue;
            };
            let command = value.as_str().or_else(|| value.get("command")?.as_str());
            let command = command.map_or_else(|| value.to_string(), str::to_owned);
            self.add(OfferKind::Program, format!("{name}: {command}"), path);
        }
    }

    fn add_servers(&mut self, keys: &Map<String, Value>, path: &std::path::Path) {
        let servers = keys.get("mcpServers").and_then(Value::as_object);
        for (name, server) in servers.into_iter().flatten() {
            self.add(OfferKind::Server, format!("{name}: {server}"), path);
        }
    }
}

impl Home {
    /// The things that the files of a workspace would have, were it trusted, but for those that the person's own answers
    /// saved. A file that cannot be read, or is no JSON object, would have nothing.
    ///
    /// ```
    /// # towline_testkit::in_home!(|home, project, workspace| {
    /// std::fs::write(project.join(".mcp.json"), r#"{"mcpServers": {"a": {"command": "touch x"}}}"#)?;
    /// assert_eq!(home.offer(&workspace).items[0].value, r#"a: {"command":"touch x"}"#);
    /// # });
    /// ```
    pub fn offer(&self, workspace: &Workspace) -> Offer {
        let mut offer = Offer::default();
        // A rule that the person's own answer saved counts already.
        let saved = self.saved_answers(workspace).unwrap_or_default();
        let saved = |source: &Destination| -> Option<Value> {
            let (_, text) = saved.iter().find(|(from, _)| from == source)?;
            serde_json::from_str(text).ok()
        };
        // The person's own settings are no matter of trust, also where the configuration folder is in the project.
        let own = self.folder().canonicalize().ok();
        for (source, path) in project_files(workspace) {
            let is_own = path.parent().and_then(|folder| folder.canonicalize().ok()) == own;
            if own.is_some() && is_own && source == Destination::ProjectSettings {
                continue;
            }
            let saved = saved(&source);
            if let Some(file) = SettingsFile::read(source, path.clone())
                && let Some(keys) = offer.keep(path.clone(), file.text)
            {
                offer.add_settings(&keys, saved.as_ref(), &path);
            }
        }
        let path = workspace.folder().join(SERVERS);
        if let Some(text) = read_bounded(&path, LARGEST).transpose()
            && let Some(keys) = offer.keep(path.clone(), text)
        {
            offer.add_servers(&keys, &path);
        }
        offer.arrange();
        offer
    }
}

impl Offer {
    /// Keeps the text of a file, and gives its keys.
    fn keep(&mut self, path: PathBuf, text: Result<String>) -> Option<Map<String, Value>> {
        let text = text.ok()?;
        let keys = serde_json::from_str(&text).ok();
        self.texts.push((path, text));
        keys
    }
}

const SERVERS: &str = ".mcp.json";

/// Settings of the real CLI that name programs, switch servers on, bring hooks along, or say which account is used.
const PROGRAMS: &[&str] = &[
    "statusLine",
    "subagentStatusLine",
    "fileSuggestion",
    "awsAuthRefresh",
    "awsCredentialExport",
    "gcpAuthRefresh",
    "otelHeadersHelper",
    "proxyAuthHelper",
    "enabledPlugins",
    "extraKnownMarketplaces",
    "enableAllProjectMcpServers",
    "enabledMcpjsonServers",
    "forceLoginMethod",
    "forceLoginOrgUUID",
];

/// More than a person reads. Rules that are not listed are counted.
const MOST_ITEMS: usize = 1000;
