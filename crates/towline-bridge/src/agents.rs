//! Which agents the bridge can start, and how one is started for a session. Pure: what there is on the machine is given in.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
};

use serde::Deserialize;
use thiserror::Error;
use towline_host::{AgentCommand, Effort, PermissionMode};

use crate::hub::{From, Setup, SetupOptions};

/// An agent that can be chosen.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentChoice {
    /// What people call it.
    pub name: String,
    /// Its program: a path, or a name to be found on the `PATH`.
    pub command: PathBuf,
    /// Arguments before all others. A `--model` here is the only model.
    #[serde(default)]
    pub args: Vec<String>,
    /// Variables set for it beside those of the bridge.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// The agents there are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agents {
    choices: Vec<AgentChoice>,
    default: usize,
}

/// What there is on the machine.
#[derive(Clone, Debug)]
pub struct Found {
    /// This program, which is an agent too.
    pub towline: PathBuf,
    /// `claude`, as [`AgentCommand::claude`] finds it.
    pub claude: Option<PathBuf>,
    /// Whether there is a key for the Messages API.
    pub api_key: ApiKey,
}

/// Whether there is a key for the Messages API.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ApiKey {
    /// There is one in the environment.
    Present,
    /// There is none.
    Absent,
}

/// There is no agent of that name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no agent `{wanted}`; there are: {there}")]
pub struct NoSuchAgent {
    /// The name that was asked for.
    pub wanted: String,
    /// The names that there are.
    pub there: String,
}

/// Whether the mode `bypassPermissions` can be had.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bypass {
    /// No: whoever started the bridge has not enabled it.
    Refused,
    /// Yes.
    Enabled,
}

/// Whether an answer may change permissions in other ways than were shown with its question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnyRule {
    /// No: what was suggested, and for the session the very call.
    Refused,
    /// Yes: any client can have any rule saved for ever.
    Allowed,
}

impl Agents {
    /// The agents of the configuration, `towline`, `claude` if there is one, and `offline`, which needs no account.
    ///
    /// The default is the one that is wanted; else `towline` if there is a key for it, else `claude` if there is one, else
    /// the first of the configuration, else `offline`. An agent of the configuration can take the place of another of its
    /// name.
    ///
    /// ```
    /// use towline_bridge::agents::{Agents, ApiKey, Found};
    ///
    /// let found = Found { towline: "/usr/bin/towline".into(), claude: None, api_key: ApiKey::Absent };
    /// assert_eq!(Agents::new(&found, &[], None)?.default_choice().name, "offline");
    /// # Ok::<(), towline_bridge::agents::NoSuchAgent>(())
    /// ```
    ///
    /// # Errors
    /// When there is none of the name that is wanted.
    pub fn new(
        found: &Found,
        configured: &[AgentChoice],
        wanted: Option<&str>,
    ) -> Result<Self, NoSuchAgent> {
        let mut choices = configured.to_vec();
        let claude = found
            .claude
            .as_deref()
            .map(|path| AgentChoice::of("claude", path, &[]));
        let known = [
            Some(AgentChoice::of("towline", &found.towline, &[])),
            claude,
            Some(AgentChoice::of(
                "offline",
                &found.towline,
                &["--model", "offline"],
            )),
        ];
        for choice in known.into_iter().flatten() {
            if choices.iter().all(|other| other.name != choice.name) {
                choices.push(choice);
            }
        }
        let position = |name: &str| choices.iter().position(|choice| choice.name == name);
        let default = match (wanted, configured.first()) {
            (Some(wanted), _) => position(wanted),
            (None, _) if found.api_key == ApiKey::Present => position("towline"),
            (None, _) if found.claude.is_some() => position("claude"),
            (None, Some(_)) => Some(0),
            (None, None) => position("offline"),
        };
        match default {
            Some(default) => Ok(Self { choices, default }),
            None => Err(Self {
                choices,
                default: 0,
            }
            .unknown(wanted.unwrap_or_default())),
        }
    }

    /// All of them.
    pub fn choices(&self) -> &[AgentChoice] {
        &self.choices
    }

    /// The one for who does not choose.
    pub fn default_choice(&self) -> &AgentChoice {
        &self.choices[self.default]
    }

    /// The one of a name.
    ///
    /// # Errors
    /// When there is none.
    pub fn named(&self, name: &str) -> Result<&AgentChoice, NoSuchAgent> {
        let named = self.choices.iter().find(|choice| choice.name == name);
        named.ok_or_else(|| self.unknown(name))
    }

    fn unknown(&self, wanted: &str) -> NoSuchAgent {
        let names: Vec<_> = self
            .choices
            .iter()
            .map(|choice| choice.name.as_str())
            .collect();
        NoSuchAgent {
            wanted: wanted.to_owned(),
            there: names.join(", "),
        }
    }
}

impl AgentChoice {
    fn of(name: &str, command: &Path, args: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            command: command.to_owned(),
            args: args.iter().map(|word| (*word).to_owned()).collect(),
            env: BTreeMap::new(),
        }
    }

    /// The command for a session: messages come while they are written, and questions come to the host.
    ///
    /// A mode that never asks is left out unless it is enabled: then the agent asks.
    pub fn command(&self, setup: &Setup, bypass: Bypass) -> AgentCommand {
        let mut command = AgentCommand::new(&self.command)
            .leading_args(&self.args)
            .current_dir(&setup.directory)
            .partial_messages()
            .file_checkpointing()
            // The agent runs what the model says; the key to the bridge is none of its business.
            .env_remove("TOWLINE_TOKEN")
            // A bridge is no SDK, whatever started it: what a repository brings waits for the person's trust.
            .env_remove("CLAUDE_CODE_ENTRYPOINT");
        for (name, value) in &self.env {
            command = command.env(name, value);
        }
        for directory in &setup.additional_directories {
            command = command.add_dir(directory);
        }
        if let Some(model) = &setup.model
            && !self.has_model()
        {
            command = command.model(model);
        }
        match bypass {
            Bypass::Enabled => command = command.allow_skipping_permissions(),
            Bypass::Refused => {}
        }
        let bypasses = |mode: &&PermissionMode| **mode == PermissionMode::BypassPermissions;
        let mode = setup.permission_mode.as_ref();
        if let Some(mode) = mode.filter(|mode| bypass == Bypass::Enabled || !bypasses(mode)) {
            command = command.permission_mode(mode);
        }
        with_options(with_beginning(command, setup), &setup.options)
    }

    fn has_model(&self) -> bool {
        let is_model = |word: &String| word == "--model" || word.starts_with("--model=");
        self.args.iter().any(is_model)
    }
}

fn with_beginning(command: AgentCommand, setup: &Setup) -> AgentCommand {
    match &setup.from {
        From::Nothing => match &setup.session_id {
            Some(id) => command.session_id(id),
            None => command,
        },
        From::Latest => command.continue_latest(),
        From::Session { id, fork, at } => {
            let mut command = command.resume(id.as_str());
            if let Some(message) = at {
                command = command.resume_at(message);
            }
            if *fork { command.fork() } else { command }
        }
    }
}

fn with_options(mut command: AgentCommand, options: &SetupOptions) -> AgentCommand {
    // The desk has refused words that are no effort.
    if let Some(effort) = options.effort.as_deref().and_then(effort) {
        command = command.effort(effort);
    }
    if let Some(turns) = options.max_turns {
        command = command.max_turns(turns);
    }
    if let Some(dollars) = options.max_budget_usd {
        command = command.max_budget_usd(dollars);
    }
    if let Some(model) = &options.fallback_model {
        command = command.fallback_model(model);
    }
    if options.forget {
        command = command.without_transcript();
    }
    command
}

/// How hard the model tries, by its word; nothing if there is no such word.
pub(crate) fn effort(word: &str) -> Option<Effort> {
    Some(match word {
        "low" => Effort::Low,
        "medium" => Effort::Medium,
        "high" => Effort::High,
        "xhigh" => Effort::ExtraHigh,
        "max" => Effort::Max,
        _ => return None,
    })
}

/// Without the values of the variables, which may be keys.
impl fmt::Debug for AgentChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.env.keys().collect();
        f.debug_struct("AgentChoice")
            .field("name", &self.name)
            .field("command", &self.command)
            .field("args", &self.args)
            .field("env", &names)
            .finish()
    }
}
