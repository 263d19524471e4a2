//! The flags of agent CLIs, one method each. A flag that is set twice has its last value; lists grow.

use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

use towline_protocol::{Json, PermissionMode, SessionId, Text, Uuid};

use super::{AgentCommand, Flag, json, path};
use crate::error::Error;

/// How hard the model tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Effort {
    /// `low`
    Low,
    /// `medium`
    Medium,
    /// `high`
    High,
    /// `xhigh`
    ExtraHigh,
    /// `max`
    Max,
}

/// Whether the model thinks before it speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Thinking {
    /// As much as it finds right.
    Adaptive,
    /// Not at all.
    Disabled,
}

/// Which settings files an agent reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SettingSource {
    /// The person's.
    User,
    /// The project's.
    Project,
    /// The person's for the project.
    Local,
}

/// Which conversation.
impl AgentCommand {
    /// Continues the latest session of the directory (`--continue`).
    #[must_use]
    pub fn continue_latest(self) -> Self {
        self.switch("--continue")
    }

    /// Continues a session by its id, title or file (`--resume`).
    #[must_use]
    pub fn resume(self, session: impl Into<OsString>) -> Self {
        self.flag("--resume", session)
    }

    /// Continues as a new session and leaves the old one as it is (`--fork-session`).
    #[must_use]
    pub fn fork(self) -> Self {
        self.switch("--fork-session")
    }

    /// Continues after this message and forgets what came later (`--resume-session-at`).
    #[must_use]
    pub fn resume_at(self, message: &Uuid) -> Self {
        self.flag("--resume-session-at", message.as_str())
    }

    /// Continues without the turn of this message (`--resume-drops-turn`).
    #[must_use]
    pub fn resume_without_turn(self, message: &Uuid) -> Self {
        self.flag("--resume-drops-turn", message.as_str())
    }

    /// Continues the session that belongs to a pull request (`--from-pr`).
    #[must_use]
    pub fn from_pull_request(self, number_or_url: impl Into<OsString>) -> Self {
        self.flag("--from-pr", number_or_url)
    }

    /// Gives the new session this id (`--session-id`).
    #[must_use]
    pub fn session_id(self, id: &SessionId) -> Self {
        self.flag("--session-id", id.as_str())
    }

    /// Gives the session a title (`--name`).
    #[must_use]
    pub fn name(self, title: impl Into<OsString>) -> Self {
        self.flag("--name", title)
    }

    /// Keeps no transcript (`--no-session-persistence`).
    #[must_use]
    pub fn without_transcript(self) -> Self {
        self.switch("--no-session-persistence")
    }

    /// Has transcript records sent as lines too (`--session-mirror`).
    #[must_use]
    pub fn mirror_transcript(self) -> Self {
        self.switch("--session-mirror")
    }
}

/// Which model, and how much of it.
impl AgentCommand {
    /// The model (`--model`).
    #[must_use]
    pub fn model(self, model: impl Into<OsString>) -> Self {
        self.flag("--model", model)
    }

    /// The model to fall back to (`--fallback-model`).
    #[must_use]
    pub fn fallback_model(self, model: impl Into<OsString>) -> Self {
        self.flag("--fallback-model", model)
    }

    /// The agent definition for the main thread (`--agent`).
    #[must_use]
    pub fn agent(self, agent: impl Into<OsString>) -> Self {
        self.flag("--agent", agent)
    }

    /// How hard the model tries (`--effort`).
    #[must_use]
    pub fn effort(self, effort: Effort) -> Self {
        self.flag(
            "--effort",
            match effort {
                Effort::Low => "low",
                Effort::Medium => "medium",
                Effort::High => "high",
                Effort::ExtraHigh => "xhigh",
                Effort::Max => "max",
            },
        )
    }

    /// Whether the model thinks (`--thinking`).
    #[must_use]
    pub fn thinking(self, thinking: Thinking) -> Self {
        self.flag(
            "--thinking",
            match thinking {
                Thinking::Adaptive => "adaptive",
                Thinking::Disabled => "disabled",
            },
        )
    }

    /// How thinking is shown, such as `summarized` (`--thinking-display`).
    #[must_use]
    pub fn thinking_display(self, display: impl Into<OsString>) -> Self {
        self.flag("--thinking-display", display)
    }

    /// How much the model may think (`--max-thinking-tokens`).
    #[must_use]
    pub fn max_thinking_tokens(self, tokens: u64) -> Self {
        self.flag("--max-thinking-tokens", tokens.to_string())
    }

    /// How many steps a turn may have (`--max-turns`).
    #[must_use]
    pub fn max_turns(self, turns: u64) -> Self {
        self.flag("--max-turns", turns.to_string())
    }

    /// What the session may cost (`--max-budget-usd`).
    #[must_use]
    pub fn max_budget_usd(self, dollars: f64) -> Self {
        self.flag("--max-budget-usd", dollars.to_string())
    }

    /// How many tokens a task may take (`--task-budget`).
    #[must_use]
    pub fn task_budget(self, tokens: u64) -> Self {
        self.flag("--task-budget", tokens.to_string())
    }

    /// Features of the model's API that are in beta (`--betas`).
    #[must_use]
    pub fn betas<B: AsRef<str>>(self, betas: impl IntoIterator<Item = B>) -> Self {
        self.list("--betas", betas)
    }

    /// The form that the result must have, as JSON Schema (`--json-schema`); see
    /// [`TurnAnswer::structured`](crate::TurnAnswer::structured).
    #[must_use]
    pub fn json_schema(self, schema: &Json) -> Self {
        self.flag("--json-schema", json(schema))
    }
}

/// What the model is told.
impl AgentCommand {
    /// Takes the place of the agent's own system prompt (`--system-prompt`).
    #[must_use]
    pub fn system_prompt(self, prompt: impl Into<Text>) -> Self {
        self.prompt_flag("--system-prompt", prompt.into())
    }

    /// Takes the place of the agent's own system prompt, from a file (`--system-prompt-file`).
    #[must_use]
    pub fn system_prompt_file(self, file: impl AsRef<Path>) -> Self {
        self.flag("--system-prompt-file", path(file.as_ref()))
    }

    /// Goes behind the system prompt (`--append-system-prompt`).
    #[must_use]
    pub fn append_system_prompt(self, prompt: impl Into<Text>) -> Self {
        self.prompt_flag("--append-system-prompt", prompt.into())
    }

    /// Keeps what changes from machine to machine out of the system prompt
    /// (`--exclude-dynamic-system-prompt-sections`).
    #[must_use]
    pub fn exclude_dynamic_prompt_sections(self) -> Self {
        self.switch("--exclude-dynamic-system-prompt-sections")
    }

    /// A prompt that is too long for a command line goes with the introduction instead.
    fn prompt_flag(self, flag: &'static str, prompt: Text) -> Self {
        if prompt.len() < LONGEST_ARGUMENT {
            return self.flag(flag, prompt.as_str());
        }
        self.with_initialize(|initialize| {
            if flag == "--system-prompt" {
                initialize.system_prompt = Some(towline_protocol::OneOrMany::Many(vec![prompt]));
            } else {
                initialize.append_system_prompt = Some(prompt);
            }
        })
    }
}

/// What the agent may do.
impl AgentCommand {
    /// The permission mode to begin with (`--permission-mode`).
    #[must_use]
    pub fn permission_mode(self, mode: &PermissionMode) -> Self {
        self.flag("--permission-mode", mode.as_str())
    }

    /// Tools and rules that need no permission, such as `Read` or `Bash(git:*)` (`--allowedTools`).
    #[must_use]
    pub fn allowed_tools<R: AsRef<str>>(self, rules: impl IntoIterator<Item = R>) -> Self {
        self.list("--allowedTools", rules)
    }

    /// Tools and rules that are not to be used (`--disallowedTools`).
    #[must_use]
    pub fn disallowed_tools<R: AsRef<str>>(self, rules: impl IntoIterator<Item = R>) -> Self {
        self.list("--disallowedTools", rules)
    }

    /// The tools there are; none if the list is empty, all for `default` (`--tools`).
    #[must_use]
    pub fn tools<T: AsRef<str>>(self, tools: impl IntoIterator<Item = T>) -> Self {
        self.list("--tools", tools)
    }

    /// Directories beside the working directory (`--add-dir`).
    #[must_use]
    pub fn add_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.flags.push(Flag {
            name: "--add-dir",
            value: Some(path(directory.as_ref())),
        });
        self
    }

    /// Runs everything without asking (`--dangerously-skip-permissions`).
    #[must_use]
    pub fn dangerously_skip_permissions(self) -> Self {
        self.switch("--dangerously-skip-permissions")
    }

    /// Allows a later change to the mode that runs everything (`--allow-dangerously-skip-permissions`).
    #[must_use]
    pub fn allow_skipping_permissions(self) -> Self {
        self.switch("--allow-dangerously-skip-permissions")
    }

    /// Has an MCP tool answer questions about permissions instead of this host (`--permission-prompt-tool`).
    #[must_use]
    pub fn permission_prompt_tool(self, tool: impl Into<OsString>) -> Self {
        self.flag("--permission-prompt-tool", tool)
    }

    /// Who answers questions about permissions, such as `none` (`--permission-prompts`).
    #[must_use]
    pub fn permission_prompts(self, who: impl Into<OsString>) -> Self {
        self.flag("--permission-prompts", who)
    }

    /// Keeps copies of files, so that [`Control::rewind_files`](crate::Control::rewind_files) works.
    #[must_use]
    pub fn file_checkpointing(self) -> Self {
        self.env("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "true")
    }
}

/// What the agent reads at its start.
impl AgentCommand {
    /// MCP servers, as a file or as JSON (`--mcp-config`); see also
    /// [`remote_mcp_server`](AgentCommand::remote_mcp_server).
    #[must_use]
    pub fn mcp_config(mut self, file_or_json: impl Into<OsString>) -> Self {
        self.flags.push(Flag {
            name: "--mcp-config",
            value: Some(file_or_json.into()),
        });
        self
    }

    /// No MCP servers but those given (`--strict-mcp-config`).
    #[must_use]
    pub fn strict_mcp_config(self) -> Self {
        self.switch("--strict-mcp-config")
    }

    /// Settings, as a file or as JSON (`--settings`).
    #[must_use]
    pub fn settings(self, file_or_json: impl Into<OsString>) -> Self {
        self.flag("--settings", file_or_json)
    }

    /// Settings that nothing else can change (`--managed-settings`).
    #[must_use]
    pub fn managed_settings(self, settings: &Json) -> Self {
        self.flag("--managed-settings", json(settings))
    }

    /// Which settings files are read (`--setting-sources`); none if the list is empty.
    #[must_use]
    pub fn setting_sources(self, sources: impl IntoIterator<Item = SettingSource>) -> Self {
        let names = sources.into_iter().map(|source| match source {
            SettingSource::User => "user",
            SettingSource::Project => "project",
            SettingSource::Local => "local",
        });
        self.list("--setting-sources", names)
    }

    /// A directory with a plugin (`--plugin-dir`).
    #[must_use]
    pub fn plugin_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.flags.push(Flag {
            name: "--plugin-dir",
            value: Some(path(directory.as_ref())),
        });
        self
    }

    /// Where the project's settings are, if not in the working directory (`--project-config-root`).
    #[must_use]
    pub fn project_config_root(self, directory: impl AsRef<Path>) -> Self {
        self.flag("--project-config-root", path(directory.as_ref()))
    }

    /// Files to fetch at the start, as `id:path` (`--file`).
    #[must_use]
    pub fn file(mut self, spec: impl Into<OsString>) -> Self {
        self.flags.push(Flag {
            name: "--file",
            value: Some(spec.into()),
        });
        self
    }

    /// No slash commands and no skills (`--disable-slash-commands`).
    #[must_use]
    pub fn without_slash_commands(self) -> Self {
        self.switch("--disable-slash-commands")
    }

    /// No hooks, plugins, memory and instructions but those given (`--bare`).
    #[must_use]
    pub fn bare(self) -> Self {
        self.switch("--bare")
    }
}

/// What the agent tells.
impl AgentCommand {
    /// Messages while they are being written, as `stream_event` lines (`--include-partial-messages`).
    #[must_use]
    pub fn partial_messages(self) -> Self {
        self.switch("--include-partial-messages")
    }

    /// What the hooks of the settings do (`--include-hook-events`).
    #[must_use]
    pub fn hook_events(self) -> Self {
        self.switch("--include-hook-events")
    }

    /// An echo of what the user says (`--replay-user-messages`).
    #[must_use]
    pub fn replay_user_messages(self) -> Self {
        self.switch("--replay-user-messages")
    }

    /// What subagents say, beside what they do (`--forward-subagent-text`).
    #[must_use]
    pub fn forward_subagent_text(self) -> Self {
        self.switch("--forward-subagent-text")
    }

    /// More words on standard error (`--debug`).
    #[must_use]
    pub fn debug(self) -> Self {
        self.switch("--debug")
    }

    /// A log for debugging (`--debug-file`).
    #[must_use]
    pub fn debug_file(self, file: impl AsRef<Path>) -> Self {
        self.flag("--debug-file", path(file.as_ref()))
    }
}

impl AgentCommand {
    /// The arguments that the agent will be started with, behind the program.
    ///
    /// # Errors
    /// When one cannot be passed on: it is too long, or holds a zero byte.
    pub fn arguments(&self) -> Result<Vec<OsString>, Error> {
        let mut arguments = Arguments::default();
        arguments.flag("--output-format", Some("stream-json".as_ref()))?;
        arguments.flag("--verbose", None)?;
        let answers = self
            .flags
            .iter()
            .any(|flag| flag.name == "--permission-prompt-tool");
        if self.questions && !answers {
            arguments.flag("--permission-prompt-tool", Some("stdio".as_ref()))?;
        }
        for flag in &self.flags {
            arguments.flag(flag.name, flag.value.as_deref())?;
        }
        if let Some(servers) = self.given_mcp_config() {
            arguments.flag("--mcp-config", Some(&servers))?;
        }
        for argument in &self.trailing {
            arguments.push("an extra argument", argument.clone())?;
        }
        arguments.flag("--input-format", Some("stream-json".as_ref()))?;
        Ok(arguments.words)
    }

    fn switch(mut self, name: &'static str) -> Self {
        self.flags.retain(|flag| flag.name != name);
        self.flags.push(Flag { name, value: None });
        self
    }

    fn flag(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
        self.flags.retain(|flag| flag.name != name);
        self.flags.push(Flag {
            name,
            value: Some(value.into()),
        });
        self
    }

    fn list<V: AsRef<str>>(self, name: &'static str, values: impl IntoIterator<Item = V>) -> Self {
        let values: Vec<_> = values
            .into_iter()
            .map(|value| value.as_ref().to_owned())
            .collect();
        self.flag(name, values.join(","))
    }
}

#[derive(Debug, Default)]
struct Arguments {
    words: Vec<OsString>,
}

impl Arguments {
    fn flag(&mut self, name: &'static str, value: Option<&OsStr>) -> Result<(), Error> {
        match value {
            None => self.push(name, name.into()),
            // What looks like a flag would be taken for one.
            Some(value) if value.as_encoded_bytes().starts_with(b"-") => {
                let mut word = OsString::from(name);
                word.push("=");
                word.push(value);
                self.push(name, word)
            }
            Some(value) => {
                self.push(name, name.into())?;
                self.push(name, value.to_owned())
            }
        }
    }

    fn push(&mut self, option: &str, word: OsString) -> Result<(), Error> {
        let problem = if word.as_encoded_bytes().contains(&0) {
            "holds a zero byte, which no command line can".to_owned()
        } else if word.len() > LONGEST_ARGUMENT {
            format!(
                "is {} bytes long, and a command line takes {LONGEST_ARGUMENT}; pass a file instead",
                word.len()
            )
        } else {
            self.words.push(word);
            return Ok(());
        };
        Err(Error::Option {
            option: option.to_owned(),
            problem,
        })
    }
}

/// Linux takes 128 KiB for one argument, with its end.
const LONGEST_ARGUMENT: usize = (128 << 10) - 1;
