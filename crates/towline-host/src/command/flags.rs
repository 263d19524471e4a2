//! The flags of agent CLIs, one method each: a table that [`flags`] makes methods of, each with an example that runs.
//!
//! A flag that is set twice has its last value; those that may be given more than once say so.

mod declare;

use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

use towline_protocol::{Json, OneOrMany, PermissionMode, SessionId, Text, Uuid};

use super::{AgentCommand, Flag, json, path};
use crate::error::Error;

use declare::flags;

/// How hard the model tries; see [`AgentCommand::effort`].
///
/// ```
/// use towline_host::{AgentCommand, Effort};
///
/// let command = AgentCommand::new("claude").effort(Effort::ExtraHigh);
/// assert!(command.to_string().contains("--effort xhigh"));
/// ```
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

impl Effort {
    fn word(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::ExtraHigh => "xhigh",
            Self::Max => "max",
        }
    }
}

/// Whether the model thinks before it speaks; see [`AgentCommand::thinking`].
///
/// ```
/// use towline_host::{AgentCommand, Thinking};
///
/// let command = AgentCommand::new("claude").thinking(Thinking::Adaptive);
/// assert!(command.to_string().contains("--thinking adaptive"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Thinking {
    /// As much as it finds right.
    Adaptive,
    /// Not at all.
    Disabled,
}

impl Thinking {
    fn word(self) -> &'static str {
        match self {
            Self::Adaptive => "adaptive",
            Self::Disabled => "disabled",
        }
    }
}

/// Which settings files an agent reads; see [`AgentCommand::setting_sources`].
///
/// ```
/// use towline_host::{AgentCommand, SettingSource};
///
/// let command = AgentCommand::new("claude").setting_sources([SettingSource::Local]);
/// assert!(command.to_string().contains("--setting-sources local"));
/// ```
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

impl SettingSource {
    fn word(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
            Self::Local => "local",
        }
    }
}

flags! {
    /// Which conversation.
    impl {
        /// Continues the latest session of the directory.
        continue_latest() = switch("--continue");
        claude.continue_latest() => "--continue";

        /// Continues a session by its id, title or file.
        resume(session: impl Into<OsString>) = flag("--resume", session);
        claude.resume("7c1f4e") => "--resume 7c1f4e";

        /// Continues as a new session and leaves the old one as it is.
        ///
        /// Goes with `resume` or `continue_latest`.
        fork() = switch("--fork-session");
        claude.resume("7c1f4e").fork() => "--resume 7c1f4e --fork-session";

        /// Continues after this message and forgets what came later.
        resume_at(message: &Uuid) = flag("--resume-session-at", message.as_str());
        claude.resume("7c1f4e").resume_at(&"a5e0".into()) => "--resume 7c1f4e --resume-session-at a5e0";

        /// Continues without the turn of this message.
        resume_without_turn(message: &Uuid) = flag("--resume-drops-turn", message.as_str());
        claude.resume("7c1f4e").resume_without_turn(&"a5e0".into()) => "--resume 7c1f4e --resume-drops-turn a5e0";

        /// Continues the session that belongs to a pull request.
        from_pull_request(number_or_url: impl Into<OsString>) = flag("--from-pr", number_or_url);
        claude.from_pull_request("17") => "--from-pr 17";

        /// Gives the new session this id, which must be a UUID.
        session_id(id: &SessionId) = flag("--session-id", id.as_str());
        claude.session_id(&"f81d4fae-7dec-11d0-a765-00a0c91e6bf6".into()) => "--session-id f81d4fae-7dec-11d0-a765-00a0c91e6bf6";

        /// Gives the session a title.
        name(title: impl Into<OsString>) = flag("--name", title);
        claude.name("Tidying up") => "--name 'Tidying up'";

        /// Keeps no transcript.
        ///
        /// The session cannot be resumed then.
        without_transcript() = switch("--no-session-persistence");
        claude.without_transcript() => "--no-session-persistence";

        /// Has transcript records sent as lines too.
        mirror_transcript() = switch("--session-mirror");
        claude.mirror_transcript() => "--session-mirror";
    }

    /// Which model, and how much of it.
    impl {
        /// Chooses the model.
        model(model: impl Into<OsString>) = flag("--model", model);
        claude.model("sonnet") => "--model sonnet";

        /// Chooses the model to fall back to.
        fallback_model(model: impl Into<OsString>) = flag("--fallback-model", model);
        claude.model("opus").fallback_model("sonnet") => "--model opus --fallback-model sonnet";

        /// Chooses the agent definition for the main thread.
        agent(agent: impl Into<OsString>) = flag("--agent", agent);
        claude.agent("reviewer") => "--agent reviewer";

        /// Says how hard the model tries.
        effort(effort: Effort) = flag("--effort", effort.word());
        claude.effort(Effort::High) => "--effort high";

        /// Says whether the model thinks before it speaks.
        thinking(thinking: Thinking) = flag("--thinking", thinking.word());
        claude.thinking(Thinking::Disabled) => "--thinking disabled";

        /// Says how thinking is shown, such as `summarized`.
        thinking_display(display: impl Into<OsString>) = flag("--thinking-display", display);
        claude.thinking_display("summarized") => "--thinking-display summarized";

        /// Bounds how much the model may think.
        max_thinking_tokens(tokens: u64) = flag("--max-thinking-tokens", tokens.to_string());
        claude.max_thinking_tokens(4096) => "--max-thinking-tokens 4096";

        /// Bounds how many steps a turn may have.
        max_turns(turns: u64) = flag("--max-turns", turns.to_string());
        claude.max_turns(20) => "--max-turns 20";

        /// Bounds what the session may cost.
        max_budget_usd(dollars: f64) = flag("--max-budget-usd", dollars.to_string());
        claude.max_budget_usd(2.5) => "--max-budget-usd 2.5";

        /// Bounds how many tokens a task may take.
        task_budget(tokens: u64) = flag("--task-budget", tokens.to_string());
        claude.task_budget(50000) => "--task-budget 50000";

        /// Uses features of the model's API that are in beta.
        betas<B: AsRef<str>>(betas: impl IntoIterator<Item = B>) = list("--betas", betas);
        claude.betas(["context-1m-2025-08-07"]) => "--betas context-1m-2025-08-07";

        /// Gives the form that the result must have, as JSON Schema; see
        /// [`TurnAnswer::structured`](crate::TurnAnswer::structured).
        json_schema(schema: &Json) = flag("--json-schema", json(schema));
        claude.json_schema(&Json::new(r#"{"type":"object"}"#)?) => "--json-schema '{…}'";
    }

    /// What the model is told.
    impl {
        /// Takes the place of the agent's own system prompt.
        system_prompt(prompt: impl Into<Text>) = prompt_flag("--system-prompt", prompt.into());
        claude.system_prompt("Answer in rhymes.") => "--system-prompt 'Answer in rhymes.'";

        /// Takes the place of the agent's own system prompt, from a file.
        system_prompt_file(file: impl AsRef<Path>) = flag("--system-prompt-file", path(file.as_ref()));
        claude.system_prompt_file("rhymes.md") => "--system-prompt-file rhymes.md";

        /// Goes behind the agent's own system prompt.
        append_system_prompt(prompt: impl Into<Text>) = prompt_flag("--append-system-prompt", prompt.into());
        claude.append_system_prompt("Be brief.") => "--append-system-prompt 'Be brief.'";

        /// Keeps what changes from machine to machine out of the system prompt.
        exclude_dynamic_prompt_sections() = switch("--exclude-dynamic-system-prompt-sections");
        claude.exclude_dynamic_prompt_sections() => "--exclude-dynamic-system-prompt-sections";
    }

    /// What the agent may do.
    impl {
        /// Sets the permission mode to begin with.
        permission_mode(mode: &PermissionMode) = flag("--permission-mode", mode.as_str());
        claude.permission_mode(&PermissionMode::Plan) => "--permission-mode plan";

        /// Names tools and rules that need no permission, such as `Read` or `Bash(git:*)`.
        allowed_tools<R: AsRef<str>>(rules: impl IntoIterator<Item = R>) = list("--allowedTools", rules);
        claude.allowed_tools(["Read", "Bash(git:*)"]) => "--allowedTools 'Read,Bash(git:*)'";

        /// Names tools and rules that are not to be used.
        disallowed_tools<R: AsRef<str>>(rules: impl IntoIterator<Item = R>) = list("--disallowedTools", rules);
        claude.disallowed_tools(["WebFetch", "WebSearch"]) => "--disallowedTools WebFetch,WebSearch";

        /// Names the tools there are; none if the list is empty, all for `default`.
        tools<T: AsRef<str>>(tools: impl IntoIterator<Item = T>) = list("--tools", tools);
        claude.tools(["Read", "Edit"]) => "--tools Read,Edit";

        /// Adds a directory beside the working directory.
        ///
        /// May be given more than once.
        add_dir(directory: impl AsRef<Path>) = one_more("--add-dir", path(directory.as_ref()));
        claude.add_dir("/srv/a").add_dir("/srv/b") => "--add-dir /srv/a --add-dir /srv/b";

        /// Runs everything without asking.
        ///
        /// Only for a sandbox.
        dangerously_skip_permissions() = switch("--dangerously-skip-permissions");
        claude.dangerously_skip_permissions() => "--dangerously-skip-permissions";

        /// Allows a later change to the mode that runs everything.
        allow_skipping_permissions() = switch("--allow-dangerously-skip-permissions");
        claude.allow_skipping_permissions() => "--allow-dangerously-skip-permissions";

        /// Has an MCP tool answer questions about permissions instead of this host.
        permission_prompt_tool(tool: impl Into<OsString>) = flag("--permission-prompt-tool", tool);
        claude.permission_prompt_tool("mcp__desk__ask") => "--permission-prompt-tool mcp__desk__ask";

        /// Says who answers questions about permissions, such as `none`.
        permission_prompts(who: impl Into<OsString>) = flag("--permission-prompts", who);
        claude.permission_prompts("none") => "--permission-prompts none";
    }

    /// What the agent reads at its start.
    impl {
        /// Adds MCP servers, as a file or as JSON; see also [`remote_mcp_server`](AgentCommand::remote_mcp_server).
        ///
        /// May be given more than once.
        mcp_config(file_or_json: impl Into<OsString>) = one_more("--mcp-config", file_or_json);
        claude.mcp_config("servers.json") => "--mcp-config servers.json";

        /// Uses no MCP servers but those given here.
        strict_mcp_config() = switch("--strict-mcp-config");
        claude.strict_mcp_config() => "--strict-mcp-config";

        /// Gives settings, as a file or as JSON.
        settings(file_or_json: impl Into<OsString>) = flag("--settings", file_or_json);
        claude.settings("settings.json") => "--settings settings.json";

        /// Gives settings that nothing else can change.
        managed_settings(settings: &Json) = flag("--managed-settings", json(settings));
        claude.managed_settings(&Json::new(r#"{"model":"opus"}"#)?) => "--managed-settings '{…}'";

        /// Says which settings files are read; none if the list is empty.
        setting_sources(sources: impl IntoIterator<Item = SettingSource>) =
            list("--setting-sources", sources.into_iter().map(SettingSource::word));
        claude.setting_sources([SettingSource::User, SettingSource::Project]) => "--setting-sources user,project";

        /// Adds a directory with a plugin.
        ///
        /// May be given more than once.
        plugin_dir(directory: impl AsRef<Path>) = one_more("--plugin-dir", path(directory.as_ref()));
        claude.plugin_dir("plugins/lint") => "--plugin-dir plugins/lint";

        /// Says where the project's settings are, if not in the working directory.
        project_config_root(directory: impl AsRef<Path>) = flag("--project-config-root", path(directory.as_ref()));
        claude.project_config_root("/srv/project") => "--project-config-root /srv/project";

        /// Fetches a file at the start, as `id:path`.
        ///
        /// May be given more than once.
        file(spec: impl Into<OsString>) = one_more("--file", spec);
        claude.file("file_abc:notes.txt") => "--file file_abc:notes.txt";

        /// Waits for `initialize` before it begins with anything, such as plugins that come with it.
        await_initialize() = switch("--await-initialize");
        claude.await_initialize() => "--await-initialize";

        /// Offers no slash commands and no skills.
        without_slash_commands() = switch("--disable-slash-commands");
        claude.without_slash_commands() => "--disable-slash-commands";

        /// Reads no hooks, plugins, memory and instructions but those given here.
        bare() = switch("--bare");
        claude.bare() => "--bare";
    }

    /// What the agent tells.
    impl {
        /// Sends messages while they are being written, as `stream_event` lines.
        partial_messages() = switch("--include-partial-messages");
        claude.partial_messages() => "--include-partial-messages";

        /// Tells what the hooks of the settings do.
        hook_events() = switch("--include-hook-events");
        claude.hook_events() => "--include-hook-events";

        /// Sends an echo of what the user says.
        replay_user_messages() = switch("--replay-user-messages");
        claude.replay_user_messages() => "--replay-user-messages";

        /// Sends what subagents say, beside what they do.
        forward_subagent_text() = switch("--forward-subagent-text");
        claude.forward_subagent_text() => "--forward-subagent-text";

        /// Writes more words on standard error.
        debug() = switch("--debug");
        claude.debug() => "--debug";

        /// The same, of some parts alone, such as `api,hooks`.
        debug_of(parts: impl Into<OsString>) = flag("--debug", parts);
        claude.debug_of("api,hooks") => "--debug api,hooks";

        /// Writes a log for debugging.
        debug_file(file: impl AsRef<Path>) = flag("--debug-file", path(file.as_ref()));
        claude.debug_file("agent.log") => "--debug-file agent.log";
    }
}

impl AgentCommand {
    /// Keeps copies of files, so that [`Control::rewind_files`](crate::Control::rewind_files) works.
    ///
    /// This one is an environment variable.
    ///
    /// ```
    /// # use towline_host::AgentCommand;
    /// let command = AgentCommand::new("claude").file_checkpointing();
    /// assert_eq!(command.environment().count(), 1);
    /// ```
    #[must_use]
    pub fn file_checkpointing(self) -> Self {
        self.env("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "true")
    }
}

impl AgentCommand {
    /// The arguments that the agent will be started with, behind the program.
    ///
    /// ```
    /// # use towline_host::AgentCommand;
    /// let arguments = AgentCommand::new("claude").model("sonnet").arguments()?;
    /// assert!(arguments.windows(2).any(|pair| pair == ["--model", "sonnet"]));
    /// # Ok::<(), towline_host::Error>(())
    /// ```
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

    /// A flag that may be given more than once.
    fn one_more(mut self, name: &'static str, value: impl Into<OsString>) -> Self {
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

    /// A prompt that is too long for a command line goes with the introduction instead.
    fn prompt_flag(mut self, flag: &'static str, prompt: Text) -> Self {
        let (short, long) = match prompt.len() {
            0..LONGEST_ARGUMENT => (Some(prompt), None),
            _ => (None, Some(prompt)),
        };
        // The last one counts, wherever the one before it went.
        self.flags.retain(|other| other.name != flag);
        self.introduces |= long.is_some();
        if flag == "--system-prompt" {
            self.initialize.system_prompt = long.map(|prompt| OneOrMany::Many(vec![prompt]));
        } else {
            self.initialize.append_system_prompt = long;
        }
        match short {
            Some(prompt) => self.flag(flag, prompt.as_str()),
            None => self,
        }
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
