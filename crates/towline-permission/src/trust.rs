//! [`Trust`]: how far the files that a repository brings are believed. The one rule for all of them.
//!
//! Decided once, from facts that none of these files can change, and asked by everything that loads from a project.

use towline_protocol::Destination;

use crate::call::HookVerdict;

/// How far the files that a repository brings are believed.
///
/// CLI 2.1.325 gates rules and directories of the checked-in settings file alone. Here every file that may come with a
/// clone is under the same rule, the local settings file included: nothing keeps a repository from committing one.
///
/// ```
/// use towline_permission::{Brought, Destination, Trust, TrustFacts};
///
/// let by_sdk = Trust::of(&TrustFacts { entrypoint: Some("sdk-py"), ..TrustFacts::default() });
/// assert_eq!(by_sdk, Trust::VouchedFor);
/// assert!(by_sdk.admits(&Destination::ProjectSettings, Brought::Program));
/// assert!(!by_sdk.admits(&Destination::ProjectSettings, Brought::Grant));
/// // The person's own files are no matter of trust.
/// assert!(Trust::Neither.admits(&Destination::UserSettings, Brought::Grant));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// A person said that the folder may be trusted: all counts.
    Trusted,
    /// The host asked for these files by name, or is an official SDK: programs start, and nothing asks less.
    VouchedFor,
    /// No program starts, and nothing asks less.
    #[default]
    Neither,
}

/// The facts that trust is decided from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TrustFacts<'a> {
    /// Whether the person's own state says `hasTrustDialogAccepted` of the folder.
    pub accepted: bool,
    /// Whether `--setting-sources` names `project` or `local`.
    pub named_sources: bool,
    /// `CLAUDE_CODE_ENTRYPOINT` of the process, without what settings files would set.
    pub entrypoint: Option<&'a str>,
}

/// A kind of thing that a file of a repository can bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brought {
    /// A rule that denies or asks, `disableBypassPermissionsMode`, a mode that asks as much or more.
    Restriction,
    /// Words for the model or the person: memory files, commands, agents, the name of a model.
    Text,
    /// A program that runs without a call of the model: a hook, an MCP server.
    Program,
    /// Anything that asks less: `allow`, `additionalDirectories`, a looser mode, a hook's `allow`.
    Grant,
    /// Anything that says where the agent's requests go and with which key: `env`, `apiKeyHelper`.
    Environment,
}

impl Trust {
    /// Decides it.
    pub fn of(facts: &TrustFacts<'_>) -> Self {
        if facts.accepted {
            return Self::Trusted;
        }
        let is_sdk = facts
            .entrypoint
            .is_some_and(|entrypoint| SDKS.contains(&entrypoint));
        if facts.named_sources || is_sdk {
            return Self::VouchedFor;
        }
        Self::Neither
    }

    /// Whether something from these settings counts.
    pub fn admits(self, source: &Destination, what: Brought) -> bool {
        if !comes_with_the_repository(source) {
            return true;
        }
        match what {
            Brought::Restriction | Brought::Text => true,
            Brought::Program => self != Self::Neither,
            Brought::Grant | Brought::Environment => self == Self::Trusted,
        }
    }

    /// The part of a hook's verdict that counts: of an `allow` that is not admitted nothing, so that the call is decided as if the
    /// hook had said nothing.
    ///
    /// ```
    /// use towline_permission::{Destination, HookVerdict, Trust};
    ///
    /// let project = Destination::ProjectSettings;
    /// let ask = HookVerdict::Ask(None);
    /// assert_eq!(Trust::VouchedFor.hook_verdict(&project, HookVerdict::Allow(None)), None);
    /// assert_eq!(Trust::VouchedFor.hook_verdict(&project, ask.clone()), Some(ask));
    /// ```
    pub fn hook_verdict(self, source: &Destination, verdict: HookVerdict) -> Option<HookVerdict> {
        let what = match verdict {
            HookVerdict::Allow(_) => Brought::Grant,
            HookVerdict::Ask(_) | HookVerdict::Deny(_) => Brought::Restriction,
        };
        (self.admits(source, Brought::Program) && self.admits(source, what)).then_some(verdict)
    }
}

/// Whether a clone can bring these settings.
pub(crate) fn comes_with_the_repository(source: &Destination) -> bool {
    matches!(
        source,
        Destination::ProjectSettings | Destination::LocalSettings
    )
}

/// The official SDKs, as each names itself to the agent that it starts. `sdk-cli` is no SDK: the CLI calls itself so.
const SDKS: &[&str] = &["sdk-py", "sdk-ts"];
