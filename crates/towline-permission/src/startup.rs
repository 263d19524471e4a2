//! [`Startup`]: the settings files and the command line of a session add up to its first [`Policy`].

use towline_protocol::{Behavior, Destination, PermissionMode};

use crate::{
    path,
    policy::{Places, Policy},
    rule::{Rule, RuleError},
    settings::Settings,
    trust::{Brought, Trust, comes_with_the_repository},
};

/// What a session is started with.
///
/// ```
/// use towline_permission::{Destination, PermissionMode, Places, Settings, Startup, Trust};
///
/// let startup = Startup {
///     files: vec![(
///         Destination::ProjectSettings,
///         Settings::read(r#"{"permissions": {"allow": ["Bash(just build)"], "deny": ["Bash(shred:*)"]}}"#),
///     )],
///     trust: Trust::Neither,
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
    /// How far the project's files are believed.
    pub trust: Trust,
    /// Changes that the person's answers in this folder saved, as the person's own state has it, with the file that each was meant
    /// for. Where the project's files are not believed, this is what counts of them.
    pub saved: Vec<(Destination, Settings)>,
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
        let mut notices = self.kept_out();
        let mut policy = Policy::new(self.first_mode(|_| ()), places);
        for (source, settings) in &self.files {
            self.add_file(&mut policy, source, settings);
        }
        for (source, settings) in self.counted_answers() {
            add_all(&mut policy, source, settings);
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

    /// Sentences about each part of the project's files that does not count because the project is not trusted.
    pub fn kept_out(&self) -> Vec<String> {
        let mut kept_out = Vec::new();
        self.first_mode(|sentence| kept_out.push(sentence));
        for (source, settings) in &self.files {
            if self.trust.admits(source, Brought::Grant) {
                continue;
            }
            for (key, count) in [
                ("allow", settings.allow.len()),
                ("additionalDirectories", settings.directories.len()),
            ] {
                if count > 0 {
                    kept_out.push(format!(
                        "the project is not trusted, so {count} of the `permissions.{key}` of its {} do not count",
                        file_name(source)
                    ));
                }
            }
        }
        kept_out
    }

    fn add_file(&self, policy: &mut Policy, source: &Destination, settings: &Settings) {
        if self.trust.admits(source, Brought::Grant) {
            return add_all(policy, source, settings);
        }
        let restrictions = Settings {
            allow: Vec::new(),
            directories: Vec::new(),
            ..settings.clone()
        };
        add_all(policy, source, &restrictions);
    }

    /// Saved answers that are not in a file which counts in full anyway.
    fn counted_answers(&self) -> impl Iterator<Item = &(Destination, Settings)> {
        self.saved
            .iter()
            .filter(|(source, _)| !self.trust.admits(source, Brought::Grant))
    }

    fn only_managed_rules(&self) -> bool {
        let mut files = self.files.iter();
        files.any(|(source, settings)| {
            *source == Destination::PolicySettings && settings.only_managed_rules
        })
    }

    /// The mode of the strongest that says one: each file in turn says it over the weaker ones. `ignored` is told of a mode
    /// that does not count.
    fn first_mode(&self, mut ignored: impl FnMut(String)) -> PermissionMode {
        if self.bypass == Bypass::Yes {
            return PermissionMode::BypassPermissions;
        }
        if let Some(mode) = &self.mode {
            return usual(mode);
        }
        let mut holding = PermissionMode::Default;
        for source in MODE_SOURCES {
            for mode in modes(self.files.iter(), source) {
                if comes_with_the_repository(source) && !project_may_set(&mode) {
                    continue;
                }
                if self.trust.admits(source, Brought::Grant) || !asks_less(&mode, &holding) {
                    holding = mode;
                } else {
                    ignored(format!(
                        "the project is not trusted, so `permissions.defaultMode` of its {} does not count: {mode} asks less \
                         than {holding}",
                        file_name(source)
                    ));
                }
            }
            let answered = modes(self.counted_answers(), source).into_iter();
            if let Some(mode) = answered.rev().find(project_may_set) {
                holding = mode;
            }
        }
        holding
    }
}

/// The modes that the settings of one source say, the weakest first.
fn modes<'s>(
    settings: impl Iterator<Item = &'s (Destination, Settings)>,
    source: &Destination,
) -> Vec<PermissionMode> {
    settings
        .filter(|(from, _)| from == source)
        .filter_map(|(_, settings)| settings.default_mode.as_ref().map(usual))
        .collect()
}

/// `manual` is another word for `default`.
fn usual(mode: &PermissionMode) -> PermissionMode {
    match mode {
        PermissionMode::Manual => PermissionMode::Default,
        mode => mode.clone(),
    }
}

/// Whether a mode lets something run unasked that another one does not. `plan` asks about every edit, and `dontAsk`
/// runs everything that a rule allows, an edit too.
fn asks_less(mode: &PermissionMode, than: &PermissionMode) -> bool {
    let looseness = |mode: &PermissionMode| match mode {
        PermissionMode::Plan => 0,
        PermissionMode::DontAsk => 1,
        PermissionMode::Default | PermissionMode::Manual | PermissionMode::Delegate => 2,
        PermissionMode::AcceptEdits => 3,
        PermissionMode::Auto => 4,
        PermissionMode::BypassPermissions | PermissionMode::Unknown(_) => 5,
    };
    looseness(mode) > looseness(than)
}

/// The file of a project, as a person knows it.
fn file_name(source: &Destination) -> &'static str {
    match source {
        Destination::LocalSettings => ".claude/settings.local.json",
        _ => ".claude/settings.json",
    }
}

fn add_all(policy: &mut Policy, source: &Destination, settings: &Settings) {
    for (rules, behavior) in [
        (&settings.allow, Behavior::Allow),
        (&settings.deny, Behavior::Deny),
        (&settings.ask, Behavior::Ask),
    ] {
        for rule in rules {
            policy.add(rule.clone(), behavior.clone(), source.clone());
        }
    }
    for directory in &settings.directories {
        add_directory(policy, directory, source.clone());
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

/// A file of the project switches the questions off in no folder. CLI 2.1.325 was seen to ignore these modes from the
/// checked-in file; here the local one is no different.
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

/// Whose default mode counts, the weakest first.
const MODE_SOURCES: &[Destination] = &[
    Destination::UserSettings,
    Destination::ProjectSettings,
    Destination::LocalSettings,
    Destination::FlagSettings,
    Destination::PolicySettings,
];
