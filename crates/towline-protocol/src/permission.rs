//! Permissions on the wire: modes, updates and the answer to a question. What they mean is decided elsewhere.

use crate::{
    ids::ToolUseId,
    json::{Json, Text},
    tool::ToolName,
    wire::{Extra, wire_strings, wire_structs},
};

wire_strings! {
    /// How much an agent may do without asking.
    pub enum PermissionMode {
        /// Ask for what is not plainly harmless.
        Default = "default",
        /// Another name of `default` on the command line.
        Manual = "manual",
        /// Edit files in the project without asking.
        AcceptEdits = "acceptEdits",
        /// Look, do not touch.
        Plan = "plan",
        /// Never ask.
        BypassPermissions = "bypassPermissions",
        /// Deny what would be asked.
        DontAsk = "dontAsk",
        /// Let a classifier decide.
        Auto = "auto",
        /// Ask, as `default` (document 004 §5.1).
        Delegate = "delegate",
    }

    /// What a rule or an answer says.
    pub enum Behavior {
        /// Go on.
        Allow = "allow",
        /// Do not.
        Deny = "deny",
        /// Ask first.
        Ask = "ask",
        /// No opinion (document 004 §5.3).
        Passthrough = "passthrough",
    }

    /// Where a permission update is kept.
    pub enum Destination {
        /// In memory, until the session ends.
        Session = "session",
        /// The command line's own rules, in memory.
        CliArg = "cliArg",
        /// A slash command's own rules, in memory.
        Command = "command",
        /// `.claude/settings.local.json`.
        LocalSettings = "localSettings",
        /// `.claude/settings.json`.
        ProjectSettings = "projectSettings",
        /// `~/.claude/settings.json`.
        UserSettings = "userSettings",
        /// The organisation's policy; read only.
        PolicySettings = "policySettings",
        /// Feature flags; read only.
        FlagSettings = "flagSettings",
    }

    /// What a permission update does.
    pub enum UpdateKind {
        /// Adds rules.
        AddRules = "addRules",
        /// Puts rules in the place of all that were there.
        ReplaceRules = "replaceRules",
        /// Takes rules away.
        RemoveRules = "removeRules",
        /// Takes all rules away (document 001 §3.5).
        ClearRules = "clearRules",
        /// Changes the mode.
        SetMode = "setMode",
        /// Adds working directories.
        AddDirectories = "addDirectories",
        /// Takes working directories away.
        RemoveDirectories = "removeDirectories",
        /// A rule for commands, in document 003.
        Bash = "bash",
    }
}

wire_structs! {
    /// A change of permissions: suggested with a question, or sent back with an answer.
    ///
    /// The real CLI writes `{type, rules, behavior, destination}`. The documents show three more forms, all read here:
    /// a hint `{behavior, message}` (000), one flat rule `{type, toolName, ruleContent, …}` (001) and
    /// `{type:"bash", action, pattern, scope}` (003). [`PermissionUpdate::standard`] gives the real form of each.
    #[derive(Default)]
    pub struct PermissionUpdate {
        /// What it does.
        kind: Option<UpdateKind> = "type",
        /// The rules.
        rules: Option<Vec<RuleValue>>,
        /// What the rules say.
        behavior: Option<Behavior>,
        /// Where it is kept.
        destination: Option<Destination>,
        /// The new mode.
        mode: Option<PermissionMode>,
        /// The directories.
        directories: Option<Vec<Text>>,
        /// The tool of one flat rule (001).
        tool_name: Option<ToolName> = "toolName" | "tool_name",
        /// The content of one flat rule (001).
        rule_content: Option<Text> = "ruleContent" | "rule_content",
        /// Words for a person (000).
        message: Option<Text>,
        /// What the rule says (003).
        action: Option<Behavior>,
        /// What the rule matches (003).
        pattern: Option<Text>,
        /// Where it is kept (003).
        scope: Option<Destination>,
    }

    /// One rule: `Tool` or `Tool(content)`.
    pub struct RuleValue {
        /// The tool.
        tool_name: ToolName = "toolName" | "tool_name",
        /// What of the tool; nothing for all of it.
        rule_content: Option<Text> = "ruleContent" | "rule_content",
    }

    /// The answer to `can_use_tool`.
    ///
    /// ```
    /// use towline_protocol::{PermissionAnswer, Wire};
    ///
    /// let answer = PermissionAnswer::from_json(r#"{"behavior":"allow","updated_input":{"command":"ls"}}"#)?;
    /// assert_eq!(answer.updated_input.as_ref().unwrap().as_str(), r#"{"command":"ls"}"#);
    /// assert_eq!(answer.to_standard_json().as_str(), r#"{"behavior":"allow","updatedInput":{"command":"ls"}}"#);
    /// # Ok::<(), towline_protocol::DecodeError>(())
    /// ```
    pub struct PermissionAnswer {
        /// Allow or deny.
        behavior: Behavior,
        /// The input to run with, if another one.
        updated_input: Option<Json> = "updatedInput" | "updated_input",
        /// Permissions to change from now on.
        updated_permissions: Option<Vec<PermissionUpdate>> = "updatedPermissions" | "updated_permissions",
        /// Why not, for the model to read.
        message: Option<Text>,
        /// Whether a denial also ends the turn.
        interrupt: Option<bool>,
        /// The call it answers; the real CLI ignores it.
        tool_use_id: Option<ToolUseId> = "toolUseID" | "tool_use_id" | "toolUseId",
        /// Whether the person answered once or for good.
        decision_classification: Option<Text> = "decisionClassification",
    }

    /// Where an MCP server comes from.
    pub struct McpServerOrigin {
        /// Its name.
        name: Text,
        /// Such as `sdk`, `project` or `dynamic`.
        source: Option<Text>,
    }
}

impl RuleValue {
    /// A rule for a whole tool.
    pub fn tool(name: impl Into<ToolName>) -> Self {
        Self {
            tool_name: name.into(),
            rule_content: None,
            extra: Extra::default(),
        }
    }

    /// A rule for part of what a tool can do.
    pub fn content(name: impl Into<ToolName>, content: impl Into<Text>) -> Self {
        Self {
            rule_content: Some(content.into()),
            ..Self::tool(name)
        }
    }
}

impl PermissionUpdate {
    /// An update that adds rules.
    pub fn add_rules(rules: Vec<RuleValue>, behavior: Behavior, destination: Destination) -> Self {
        Self {
            kind: Some(UpdateKind::AddRules),
            rules: Some(rules),
            behavior: Some(behavior),
            destination: Some(destination),
            ..Self::default()
        }
    }

    /// An update that changes the mode.
    pub fn set_mode(mode: PermissionMode, destination: Destination) -> Self {
        Self {
            kind: Some(UpdateKind::SetMode),
            mode: Some(mode),
            destination: Some(destination),
            ..Self::default()
        }
    }

    /// An update that adds working directories.
    pub fn add_directories(directories: Vec<Text>, destination: Destination) -> Self {
        Self {
            kind: Some(UpdateKind::AddDirectories),
            directories: Some(directories),
            destination: Some(destination),
            ..Self::default()
        }
    }

    /// The same update in the form the real CLI writes and understands; nothing for a mere hint (document 000).
    #[must_use]
    pub fn standard(&self) -> Option<Self> {
        match &self.kind {
            None => None,
            Some(UpdateKind::Bash) => Some(Self::add_rules(
                vec![RuleValue {
                    rule_content: self.pattern.clone(),
                    ..RuleValue::tool("Bash")
                }],
                self.action.clone().unwrap_or(Behavior::Allow),
                self.scope.clone().unwrap_or(Destination::Session),
            )),
            Some(_) => {
                let flat = self.tool_name.clone().map(|tool_name| {
                    vec![RuleValue {
                        rule_content: self.rule_content.clone(),
                        ..RuleValue::tool(tool_name)
                    }]
                });
                Some(Self {
                    rules: self.rules.clone().or(flat),
                    tool_name: None,
                    rule_content: None,
                    ..self.clone()
                })
            }
        }
    }
}

impl PermissionAnswer {
    /// Go on with the input as it is.
    pub fn allow() -> Self {
        Self {
            behavior: Behavior::Allow,
            updated_input: None,
            updated_permissions: None,
            message: None,
            interrupt: None,
            tool_use_id: None,
            decision_classification: None,
            extra: Extra::default(),
        }
    }

    /// Go on with another input.
    pub fn allow_with(input: Json) -> Self {
        Self {
            updated_input: Some(input),
            ..Self::allow()
        }
    }

    /// Do not; the model reads why.
    pub fn deny(message: impl Into<Text>) -> Self {
        Self {
            behavior: Behavior::Deny,
            message: Some(message.into()),
            ..Self::allow()
        }
    }

    /// Do not, and end the turn.
    pub fn deny_and_interrupt(message: impl Into<Text>) -> Self {
        Self {
            interrupt: Some(true),
            ..Self::deny(message)
        }
    }
}
