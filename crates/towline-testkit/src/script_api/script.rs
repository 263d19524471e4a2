//! A script: replies in order, and what is answered when none is left.

use super::{Fields, Reply, ScriptError, node::Node, read};

/// What the API answers. See [the module](super) for the order in which replies are chosen and for the file.
///
/// ```
/// use towline_testkit::script_api::{Reply, Script};
///
/// let in_rust = Script::new([Reply::text("one"), Reply::text("two")]).default_reply(Reply::echo());
/// let in_toml = Script::from_toml(
///     r#"
///     [[reply]]
///     text = "one"
///
///     [[reply]]
///     text = "two"
///
///     [default]
///     echo = true
///     "#,
/// )?;
/// assert_eq!(in_rust.len(), in_toml.len());
///
/// let error = Script::from_toml("[[reply]]\ntxt = \"one\"").unwrap_err();
/// assert_eq!(error.to_string(), "line 2: reply 1: unknown key `txt`, did you mean `text`?");
/// # Ok::<(), towline_testkit::script_api::ScriptError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Script {
    pub(super) replies: Vec<Reply>,
    pub(super) default: Option<Reply>,
    pub(super) side_rules: SideRules,
    pub(super) refusals: Refusals,
}

/// Whether requests are refused that the API would refuse.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Refusals {
    #[default]
    AsTheApi,
    Off,
}

/// Who answers the requests that an agent makes for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SideRules {
    /// The built-in rules, unless a reply asks for them by `when.side`.
    #[default]
    BuiltIn,
    /// The script, as if they were part of the conversation.
    Off,
}

impl Script {
    /// These replies, in this order.
    pub fn new(replies: impl IntoIterator<Item = Reply>) -> Self {
        Self {
            replies: replies.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Reads a script in TOML.
    ///
    /// # Errors
    /// When it is not TOML, or something in it is not known here; the error says where.
    pub fn from_toml(text: &str) -> Result<Self, ScriptError> {
        let node = Node::from_toml(text)?;
        read::script(Fields::of(&node, "")?)
    }

    /// Reads a script in TOML whose errors name this file.
    ///
    /// # Errors
    /// As [`Script::from_toml`].
    pub fn from_toml_file(file: &str, text: &str) -> Result<Self, ScriptError> {
        Self::from_toml(text).map_err(|error| error.in_file(file))
    }

    /// Is used, any number of times, when no other reply is left.
    #[must_use]
    pub fn default_reply(mut self, reply: Reply) -> Self {
        self.default = Some(reply.forever());
        self
    }

    /// Lets the replies answer side requests as well, as if they were part of the conversation.
    #[must_use]
    pub fn without_side_rules(mut self) -> Self {
        self.side_rules = SideRules::Off;
        self
    }

    /// Takes requests that the API would refuse, for conversations with an agent that makes such.
    #[must_use]
    pub fn without_refusals(mut self) -> Self {
        self.refusals = Refusals::Off;
        self
    }

    /// Goes on with another script, whose default, if it has one, wins.
    #[must_use]
    pub fn followed_by(mut self, other: Self) -> Self {
        self.replies.extend(other.replies);
        self.default = other.default.or(self.default);
        if other.side_rules == SideRules::Off {
            self.side_rules = SideRules::Off;
        }
        if other.refusals == Refusals::Off {
            self.refusals = Refusals::Off;
        }
        self
    }

    /// How many replies it has, the default not counted.
    #[must_use]
    pub fn len(&self) -> usize {
        self.replies.len()
    }

    /// Whether it has no reply and no default.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.replies.is_empty() && self.default.is_none()
    }
}

/// Reads the replies that are given while the server runs: a list of them in JSON, or one.
pub(super) fn replies_from_json(text: &[u8]) -> Result<Vec<Reply>, ScriptError> {
    read::replies(&Node::from_json(text)?)
}
