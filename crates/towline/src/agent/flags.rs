//! The table of the agent's flags: a row is a name, what stands behind it, and what it does. What a flag means is in
//! [`config`](super::config).
//!
//! A table of our own and not clap: the flags must be read as the real CLI reads them (a list goes on until the next
//! flag, a value may begin with a hyphen, wrong use is one line and exit code 1), since hosts were written against that.
//! It also costs nothing at the start: nothing is built before it is needed.

use Takes::{Many, Maybe, Nothing, Switch, Value};

/// One flag.
#[derive(Debug)]
pub(super) struct Flag {
    pub(super) id: Id,
    /// How it is written; the long name last.
    pub(super) names: &'static [&'static str],
    pub(super) takes: Takes,
    pub(super) help: &'static str,
}

/// What stands behind a flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Takes {
    /// Nothing.
    Nothing,
    /// Nothing, or `=true` or `=false`.
    Switch,
    /// A value.
    Value(&'static str),
    /// A value, or nothing.
    Maybe(&'static str),
    /// Values, up to the next flag.
    Many(&'static str),
}

/// Flags that belong together.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) title: &'static str,
    pub(super) flags: &'static [Flag],
}

impl Flag {
    /// The flag of this name, in kebab case or camel case.
    pub(super) fn named(name: &str) -> Option<&'static Self> {
        let name = kebab(name);
        let mut flags = GROUPS.iter().flat_map(|group| group.flags);
        flags.find(|flag| flag.names.contains(&name.as_str()))
    }

    /// The row of a flag.
    pub(super) fn of(id: Id) -> &'static Self {
        let mut flags = GROUPS.iter().flat_map(|group| group.flags);
        let row = flags.find(|flag| flag.id == id);
        row.expect("the macro makes the ids from the rows")
    }

    /// Its long name.
    pub(super) fn long(&self) -> &'static str {
        self.names.last().copied().unwrap_or_default()
    }

    /// Its name and what stands behind it, as an error shows it.
    pub(super) fn usage(&self) -> String {
        let long = self.long();
        match self.takes {
            Nothing | Switch => long.to_owned(),
            Value(value) => format!("{long} <{value}>"),
            Maybe(value) => format!("{long} [{value}]"),
            Many(value) => format!("{long} <{value}...>"),
        }
    }
}

/// `--allowedTools` as `--allowed-tools`; everything else as it is.
fn kebab(name: &str) -> String {
    let mut kebab = String::with_capacity(name.len() + 2);
    for character in name.chars() {
        if character.is_ascii_uppercase() && name.starts_with("--") {
            kebab.push('-');
            kebab.push(character.to_ascii_lowercase());
        } else {
            kebab.push(character);
        }
    }
    kebab
}

/// Declares the flags: a row each.
macro_rules! flags {
    ($($title:literal { $( $Id:ident [$($name:literal),+] $takes:expr, $help:literal; )* })*) => {
        /// A flag by itself.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Id { $($( $Id, )*)* }

        /// All flags there are.
        pub(super) static GROUPS: &[Group] = &[$(
            Group {
                title: $title,
                flags: &[$(
                    Flag { id: Id::$Id, names: &[$($name),+], takes: $takes, help: $help },
                )*],
            },
        )*];
    };
}

flags! {
    "Input and output" {
        Print ["-p", "--print"] Nothing, "answer and exit; so it is anyway where there is no terminal";
        InputFormat ["--input-format"] Value("format"), "text (default), or stream-json: lines of JSON on standard input";
        OutputFormat ["--output-format"] Value("format"), "text (default), json (the result), or stream-json (every line)";
        Verbose ["--verbose"] Nothing, "with json, every line in one array; stream-json with -p needs it";
        PartialMessages ["--include-partial-messages"] Nothing, "write the pieces of a message as they come (stream-json)";
        SubagentText ["--forward-subagent-text"] Nothing, "write the words of subagents too";
        ReplayUserMessages ["--replay-user-messages"] Nothing, "write each user message back when it is taken up";
        JsonSchema ["--json-schema"] Value("schema"), "the answer is JSON of this schema";
        SessionMirror ["--session-mirror"] Nothing, "write the records of the transcript too";
    }
    "Session" {
        Continue ["-c", "--continue"] Nothing, "go on with the newest session of this folder";
        Resume ["-r", "--resume"] Maybe("value"), "go on with a session: its id, its title, or the path of its file";
        FromPr ["--from-pr"] Maybe("number|url"), "go on with the newest session that made this pull request";
        ForkSession ["--fork-session"] Nothing, "go on under a new id, and leave the old session as it is";
        ResumeSessionAt ["--resume-session-at"] Value("message id"), "go on from this message, and forget what followed";
        ResumeDropsTurn ["--resume-drops-turn"] Value("message id"), "with it, leave out the turn of this user message";
        SessionUuid ["--session-id"] Value("uuid"), "the id of a new session or of a fork";
        Name ["-n", "--name"] Value("name"), "a title for the session";
        NoSessionPersistence ["--no-session-persistence"] Switch, "keep nothing of the session on disk";
        File ["--file"] Many("specs"), "first fetch files of the API: file_id:relative_path, into <session id>/uploads";
        Cwd ["--cwd"] Value("folder"), "work in this folder instead of the current one";
    }
    "Model" {
        Model ["--model"] Value("model"), "an alias (opus, sonnet, haiku), a full name, or offline: no account needed";
        FallbackModel ["--fallback-model"] Value("model"), "the model to take when that one is overloaded";
        Effort ["--effort"] Value("level"), "low, medium, high, xhigh or max";
        Thinking ["--thinking"] Value("mode"), "enabled, adaptive or disabled";
        ThinkingDisplay ["--thinking-display"] Value("display"), "what is shown of that: summarized, omitted or highlights";
        MaxThinkingTokens ["--max-thinking-tokens"] Value("tokens"), "how long it may think";
        Betas ["--betas"] Many("betas"), "beta features of the API";
        SystemPrompt ["--system-prompt"] Value("prompt"), "instead of our own";
        SystemPromptFile ["--system-prompt-file"] Value("file"), "the same, from a file";
        AppendSystemPrompt ["--append-system-prompt"] Value("prompt"), "behind the system prompt";
        AppendSystemPromptFile ["--append-system-prompt-file"] Value("file"), "the same, from a file";
        MaxTurns ["--max-turns"] Value("turns"), "how often the model is called in one turn; 0 for no limit";
        MaxBudget ["--max-budget-usd"] Value("amount"), "how much may be spent";
    }
    "Tools and permissions" {
        PermissionMode ["--permission-mode"] Value("mode"), "default, acceptEdits, plan, dontAsk, auto, delegate or bypassPermissions";
        AllowedTools ["--allowed-tools"] Many("tools"), "rules that allow, such as \"Bash(git:*) Edit\"; WebFetch(domain:HOST) for private hosts";
        DisallowedTools ["--disallowed-tools"] Many("tools"), "rules that deny";
        Tools ["--tools"] Many("tools"), "offer these tools alone; \"\" for none, default for all";
        PermissionPromptTool ["--permission-prompt-tool"] Value("tool"), "who is asked: stdio for the host";
        PermissionPrompts ["--permission-prompts"] Value("target"), "host, or none: what would be asked is denied";
        SkipPermissions ["--dangerously-skip-permissions"] Nothing, "ask nothing; for a sandbox";
        AllowSkipPermissions ["--allow-dangerously-skip-permissions"] Nothing, "let that be chosen later";
        AddDir ["--add-dir"] Many("directories"), "work in these folders too";
        Agent ["--agent"] Value("agent"), "be this agent";
        Agents ["--agents"] Value("json-or-file"), "define agents";
        DisableSlashCommands ["--disable-slash-commands"] Nothing, "offer no commands and no skills";
    }
    "Settings" {
        Settings ["--settings"] Value("file-or-json"), "more settings";
        SettingSources ["--setting-sources"] Value("sources"), "which settings files count: user, project, local";
        ManagedSettings ["--managed-settings"] Value("json"), "settings that nobody overrules";
        Bare ["--bare"] Nothing, "no memory files";
        SafeMode ["--safe-mode"] Nothing, "the same, and no commands and no skills";
    }
    "Other" {
        DebugFile ["--debug-file"] Value("path"), "write down there what the agent does";
        DebugToStderr ["--debug-to-stderr"] Nothing, "say on standard error what the agent does";
        Help ["-h", "--help"] Nothing, "print this";
        Version ["-v", "--version"] Nothing, "print the version";
    }
    "Accepted, no effect" {
        Autocompact ["--autocompact"] Value("auto|tokens"), "when to compact by itself";
        AwaitInitialize ["--await-initialize"] Nothing, "wait for the host's first request";
        Brief ["--brief"] Nothing, "";
        Chrome ["--chrome"] Nothing, "";
        NoChrome ["--no-chrome"] Nothing, "";
        Debug ["-d", "--debug"] Maybe("filter"), "";
        HookEvents ["--include-hook-events"] Nothing, "write when hooks start; there are no hooks yet";
        ExcludeDynamicSections ["--exclude-dynamic-system-prompt-sections"] Nothing, "";
        Ide ["--ide"] Nothing, "";
        McpConfig ["--mcp-config"] Many("configs"), "MCP servers, files or JSON; they are not started yet";
        StrictMcpConfig ["--strict-mcp-config"] Nothing, "these servers alone";
        McpDebug ["--mcp-debug"] Nothing, "";
        PluginDir ["--plugin-dir"] Value("path"), "plugins";
        PluginUrl ["--plugin-url"] Value("url"), "plugins";
        ProjectConfigRoot ["--project-config-root"] Value("path"), "";
        PromptSuggestions ["--prompt-suggestions"] Maybe("value"), "";
        RemoteControlPrefix ["--remote-control-session-name-prefix"] Value("prefix"), "";
        ScreenReader ["--ax-screen-reader"] Nothing, "output is plain text anyway";
        SystemPromptSnapshot ["--system-prompt-snapshot"] Value("on|off"), "";
        TaskBudget ["--task-budget"] Value("tokens"), "";
    }
    "Known, and refused" {
        Background ["--bg", "--background"] Nothing, "nothing runs unseen; start it with your shell's `&`";
        Cloud ["--cloud"] Maybe("description|session_id|url"), "there is no cloud behind this program";
        Desktop ["--desktop"] Nothing, "there is no desktop application";
        Environment ["--environment"] Value("environment_id"), "there is no cloud behind this program";
        RemoteControl ["--remote-control"] Maybe("name"), "use `towline serve`";
        Restricted ["--restricted"] Nothing, "use --tools, --disallowedTools and --setting-sources=";
        Teleport ["--teleport"] Maybe("session"), "there is no cloud behind this program";
        Tmux ["--tmux"] Nothing, "start it in tmux yourself";
        Worktree ["-w", "--worktree"] Maybe("name"), "make it with `git worktree add` and use --cwd";
    }
}

/// Flags that ask for something that cannot be left out in silence.
pub(super) const REFUSED: &str = "Known, and refused";
