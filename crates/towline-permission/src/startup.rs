//! [`Startup`]: the settings files and the command line of a session add up to its first [`Policy`].

use towline_protocol::{Behavior, Destination, PermissionMode};

use crate::{
    path,
    policy::{Places, Policy},
    rule::{Rule, RuleError},
    settings::Settings,
};

/// What a session is started with.
///
/// ```
/// use towline_permission::{Destination, PermissionMode, Places, Settings, Startup};
///
/// let startup = Startup {
///     files: vec![(
///         Destination::ProjectSettings,
///         Settings::read(r#"{"permissions": {"allow": ["Bash(just build)"], "deny": ["Bash(shred:*)"]}}"#),
///     )],
///     trusted: false,
///     ..Startup::default()
/// };
/// let (policy, notices) = startup.policy(Places::default());
/// assert_eq!(policy.mode, PermissionMode::Default);
/// assert_eq!(policy.entries().len(), 1);
/// assert_eq!(notices.len(), 1);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Startup {
    /// The settings files, each with where it comes from. Of two from one source the later one wins.
    pub files: Vec<(Destination, Settings)>,
    /// `--permission-mode`.
    pub mode: Option<PermissionMode>,
    /// Whether bypassing was asked for on the command line.
    pub bypass: Bypass,
    /// The values of `--allowedTools`, as they are written.
    pub allowed_tools: Vec<String>,
    /// The values of `--disallowedTools`, as they are written.
    pub disallowed_tools: Vec<String>,
    /// The values of `--add-dir`.
    pub directories: Vec<String>,
    /// Whether the person said that the project may be trusted. If not, what its own file allows does not count.
    pub trusted: bool,
}

/// What the command line says of `bypassPermissions`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bypass {
    /// Nothing.
    #[default]
    No,
    /// It may be chosen later (`--allow-dangerously-skip-permissions`).
    Possible,
    /// It is the mode, whatever else says (`--dangerously-skip-permissions`).
    Yes,
}

impl Startup {
    /// The policy to begin with, and what was left out of it and why.
    pub fn policy(&self, places: Places) -> (Policy, Vec<String>) {
        let mut notices = Vec::new();
        let mut policy = Policy::new(self.first_mode(), places);
        for (source, settings) in &self.files {
            self.add_file(&mut policy, source, settings, &mut notices);
        }
        if self.only_managed_rules() {
            leave_managed_rules_alone(&mut policy, &mut notices);
            policy.only_managed_rules = true;
        }
        for (values, behavior) in [
            (&self.allowed_tools, Behavior::Allow),
            (&self.disallowed_tools, Behavior::Deny),
        ] {
            for text in values.iter().flat_map(|value| split_tools(value)) {
                if behavior == Behavior::Allow && self.only_managed_rules() {
                    notices.push(format!("the policy lets its own rules alone allow something, so `{text}` does not count"));
                    continue;
                }
                match command_line_rule(text) {
                    Ok(rule) => policy.add(rule, behavior.clone(), Destination::CliArg),
                    Err(error) => notices.push(format!("`{text}` is no rule: {error}")),
                }
            }
        }
        for directory in &self.directories {
            add_directory(&mut policy, directory, Destination::CliArg);
        }
        let disabled = self
            .files
            .iter()
            .any(|(_, settings)| settings.disable_bypass);
        if disabled && policy.mode == PermissionMode::BypassPermissions {
            notices.push(
                "`bypassPermissions` is switched off by a settings file; the mode is `default`"
                    .into(),
            );
            policy.mode = PermissionMode::Default;
        }
        policy.may_bypass = !disabled
            && (self.bypass != Bypass::No || policy.mode == PermissionMode::BypassPermissions);
        (policy, notices)
    }

    fn add_file(
        &self,
        policy: &mut Policy,
        source: &Destination,
        settings: &Settings,
        notices: &mut Vec<String>,
    ) {
        // CLI 2.1.325 gates the checked-in file alone: the others belong to the person, not to the project.
        let gated = !self.trusted && *source == Destination::ProjectSettings;
        for (rules, behavior) in [
            (&settings.allow, Behavior::Allow),
            (&settings.deny, Behavior::Deny),
            (&settings.ask, Behavior::Ask),
        ] {
            if gated && behavior == Behavior::Allow {
                continue;
            }
            for rule in rules {
                policy.add(rule.clone(), behavior.clone(), source.clone());
            }
        }
        if !gated {
            for directory in &settings.directories {
                add_directory(policy, directory, source.clone());
            }
            return;
        }
        for (key, count) in [
            ("allow", settings.allow.len()),
            ("additionalDirectories", settings.directories.len()),
        ] {
            if count > 0 {
                notices.push(format!(
                    "the project is not trusted, so {count} of its `permissions.{key}` do not count"
                ));
            }
        }
    }

    fn only_managed_rules(&self) -> bool {
        let mut files = self.files.iter();
        files.any(|(source, settings)| {
            *source == Destination::PolicySettings && settings.only_managed_rules
        })
    }

    fn first_mode(&self) -> PermissionMode {
        if self.bypass == Bypass::Yes {
            return PermissionMode::BypassPermissions;
        }
        let from_files = || {
            MODE_SOURCES.iter().find_map(|source| {
                self.files
                    .iter()
                    .rev()
                    .filter(|(from, _)| from == source)
                    .filter_map(|(_, settings)| settings.default_mode.clone())
                    .find(|mode| !is_in_project(source) || project_may_set(mode))
            })
        };
        match self.mode.clone().or_else(from_files) {
            None | Some(PermissionMode::Manual) => PermissionMode::Default,
            Some(mode) => mode,
        }
    }
}

/// Takes away what anybody else allows. CLI 2.1.325 then ignores what others deny, too; here that holds all the same.
fn leave_managed_rules_alone(policy: &mut Policy, notices: &mut Vec<String>) {
    let before = policy.entries().len();
    policy.retain(|entry| {
        entry.behavior != Behavior::Allow || entry.source == Destination::PolicySettings
    });
    let dropped = before - policy.entries().len();
    if dropped > 0 {
        notices.push(format!(
            "the policy lets its own rules alone allow something, so {dropped} others do not count"
        ));
    }
}

/// Both can come with a copy of the project. CLI 2.1.325 was seen to ignore these modes from the first; here the second
/// is no different.
fn is_in_project(source: &Destination) -> bool {
    matches!(
        source,
        Destination::ProjectSettings | Destination::LocalSettings
    )
}

/// Whoever can write a file of the project must not be able to switch the questions off with it.
fn project_may_set(mode: &PermissionMode) -> bool {
    !matches!(
        mode,
        PermissionMode::BypassPermissions | PermissionMode::Auto
    )
}

fn add_directory(policy: &mut Policy, directory: &str, source: Destination) {
    let places = &policy.places;
    let path = path::absolute(directory, &places.project, &places.home);
    policy.add_directory(path, source);
}

/// A rule of the command line. `Tool()` is the whole tool there, unlike in a settings file.
fn command_line_rule(text: &str) -> Result<Rule, RuleError> {
    match text.parse() {
        Err(RuleError::NoContent) => text.trim_end_matches("()").parse(),
        parsed => parsed,
    }
}

/// One value may name several tools: blanks and commas outside of brackets part them.
fn split_tools(value: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    value
        .split(move |character: char| {
            match character {
                '(' => depth += 1,
                ')' => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth == 0 && (character == ',' || character.is_whitespace())
        })
        .filter(|text| !text.is_empty())
        .collect()
}

/// Whose default mode counts, the strongest first.
const MODE_SOURCES: &[Destination] = &[
    Destination::PolicySettings,
    Destination::FlagSettings,
    Destination::LocalSettings,
    Destination::ProjectSettings,
    Destination::UserSettings,
];
