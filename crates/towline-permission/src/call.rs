//! [`Call`]: what is to be decided, and what the caller knows of it.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// A tool call.
///
/// ```
/// use towline_permission::Call;
///
/// let input = serde_json::json!({"command": "ls"});
/// assert_eq!(Call::new("Bash", &input).text("command"), Some("ls"));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The tool.
    pub tool: &'a str,
    /// Its input.
    pub input: &'a Value,
}

impl<'a> Call<'a> {
    /// A call.
    pub fn new(tool: &'a str, input: &'a Value) -> Self {
        Self { tool, input }
    }

    /// A field of the input, if it is a text.
    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.input.get(key).and_then(Value::as_str)
    }
}

/// What the caller found out about a call, since a decision looks at no file itself.
///
/// ```
/// use towline_permission::{Call, Facts, HookVerdict, PermissionMode, Places, Policy, Verdict, decide, paths};
///
/// let policy = Policy::new(PermissionMode::Default, Places::default());
/// let input = serde_json::json!({"file_path": "/srv/page.html"});
/// let call = Call::new("Read", &input);
/// let mut facts = Facts { hook: Some(HookVerdict::Deny(None)), ..Facts::default() };
/// for path in paths(&policy, &call) {
///     // Here a caller would look where the path really is.
///     facts.links.insert(path.clone(), format!("/mnt{path}"));
/// }
/// assert_eq!(decide(&policy, &call, &facts).verdict, Verdict::Deny);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// For each of [`paths`](crate::paths): where it really is, if a link leads elsewhere.
    pub links: BTreeMap<String, String>,
    /// Which of [`paths`](crate::paths) are directories.
    pub directories: BTreeSet<String>,
    /// For each glob of [`looks`](crate::looks): the links on the way to what it matches.
    pub globs: BTreeMap<String, Reached>,
    /// For each tree of [`looks`](crate::looks): the links in it.
    pub trees: BTreeMap<String, Reached>,
    /// Whether the tool says of itself that it changes nothing (`readOnlyHint` of a tool of an MCP server).
    pub tool_only_reads: bool,
    /// Whether the skill that is called brings tools or hooks of its own.
    pub skill_brings_tools: bool,
    /// What the hooks that ran before the call said.
    pub hook: Option<HookVerdict>,
}

/// Links that a command may follow without naming them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reached {
    /// Where they lead, absolute and without links.
    pub links: Vec<String>,
    /// Whether all of them are known: looking ends after so many entries, or so long.
    pub is_whole: bool,
}

/// What hooks said of a call: the strictest of them counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HookVerdict {
    /// It may run, as far as the hook is concerned.
    Allow(Option<String>),
    /// A person is to be asked.
    Ask(Option<String>),
    /// It must not run.
    Deny(Option<String>),
}
