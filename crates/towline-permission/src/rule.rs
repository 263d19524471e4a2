//! [`Rule`]: `Tool` or `Tool(content)`, as it stands in a settings file.

use std::{fmt, str::FromStr};

use towline_protocol::{Behavior, Destination, RuleValue};

/// A rule. What its content means is the tool's business.
///
/// ```
/// use towline_permission::Rule;
///
/// let rule: Rule = "Bash(just deploy:*)".parse()?;
/// assert_eq!((rule.tool(), rule.content()), ("Bash", Some("just deploy:*")));
/// assert_eq!(rule.to_string(), "Bash(just deploy:*)");
/// assert!("Bash(npm".parse::<Rule>().is_err());
/// # Ok::<(), towline_permission::RuleError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    tool: String,
    content: Option<String>,
}

/// Why a text is no rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// Nothing there.
    #[error("a rule is `Tool` or `Tool(content)`, and this one is empty")]
    Empty,
    /// No name in front of the bracket.
    #[error("there is no tool in front of the bracket")]
    NoTool,
    /// The name is no name.
    #[error(
        "`{0}` is no name of a tool: names begin with a capital letter or with `mcp__`, and have no blanks"
    )]
    BadTool(String),
    /// `Tool(content` or `Tool(content)more`.
    #[error("the closing bracket is missing, or something stands behind it")]
    Unclosed,
    /// `Tool()`.
    #[error("there is nothing between the brackets; leave them out for the whole tool")]
    NoContent,
}

/// A rule with what it says and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Entry {
    /// The rule.
    pub rule: Rule,
    /// What it says.
    pub behavior: Behavior,
    /// Where it comes from.
    pub source: Destination,
}

impl Entry {
    /// A rule with what it says and where it comes from.
    pub fn new(rule: Rule, behavior: Behavior, source: Destination) -> Self {
        Self {
            rule,
            behavior,
            source,
        }
    }
}

impl Rule {
    /// A rule for a whole tool.
    pub fn tool_wide(tool: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            content: None,
        }
    }

    /// A rule for some of what a tool does.
    pub fn with_content(tool: impl Into<String>, content: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            content: Some(content.into()),
        }
    }

    /// The tool it names.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// What stands between the brackets.
    pub fn content(&self) -> Option<&str> {
        self.content.as_deref()
    }

    /// Whether it is about everything that the tool does: `Tool` or `Tool(*)`.
    pub fn is_tool_wide(&self) -> bool {
        self.content.as_deref().is_none_or(|content| content == "*")
    }
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        if text.is_empty() {
            return Err(RuleError::Empty);
        }
        let Some((tool, rest)) = text.split_once('(') else {
            check_tool(text)?;
            return Ok(Self::tool_wide(text));
        };
        if tool.is_empty() {
            return Err(RuleError::NoTool);
        }
        check_tool(tool)?;
        let content = rest.strip_suffix(')').ok_or(RuleError::Unclosed)?;
        if content.is_empty() {
            return Err(RuleError::NoContent);
        }
        Ok(Self::with_content(tool, content))
    }
}

/// `*` and `mcp__*` are names too: what they match is decided where they are used.
fn check_tool(name: &str) -> Result<(), RuleError> {
    let begins_well =
        name.starts_with("mcp__") || name.starts_with(|c: char| c.is_ascii_uppercase() || c == '*');
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '*' | '.' | ':' | '/');
    // A colon stands in the names of plugins' servers, but not behind a tool of our own.
    if begins_well
        && name.chars().all(is_plain)
        && (name.starts_with("mcp__") || !name.contains(':'))
    {
        Ok(())
    } else {
        Err(RuleError::BadTool(name.to_owned()))
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.content {
            None => f.write_str(&self.tool),
            Some(content) => write!(f, "{}({content})", self.tool),
        }
    }
}

impl From<&Rule> for RuleValue {
    fn from(rule: &Rule) -> Self {
        match &rule.content {
            None => Self::tool(rule.tool.as_str()),
            Some(content) => Self::content(rule.tool.as_str(), content.as_str()),
        }
    }
}

/// As it came over the wire, where the two parts stand apart.
impl From<&RuleValue> for Rule {
    fn from(value: &RuleValue) -> Self {
        Self {
            tool: value.tool_name.as_str().to_owned(),
            content: value.rule_content.as_ref().map(ToString::to_string),
        }
    }
}
