//! Flags, files and environment become the agent's [`Config`] (pure): the one place that knows what outranks what.

use std::{
    num::NonZeroU64,
    path::{Path, PathBuf},
    time::Duration,
};

use serde_json::Value;
use towline_agent::{
    AgentOptions, Config, FileSpec, FilesToFetch, Limits, McpOptions, MemorySources, ModelOptions,
    MoreOutput, OutputOptions, PromptOptions, Provider, Secret, SessionOptions, SettingsText,
    Shell, Tools, knows_model,
};
use towline_permission::{Brought, Destination, PermissionMode, Places, Startup};

use super::{
    Refusal, api,
    arguments::RawFlags,
    choices::{Choices, Formats, InputFormat, OutputFormat},
    documents::Documents,
    flags::Id,
    surroundings::{Environment, Surroundings, is_on, number, variable},
};

/// What is to be done.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) config: Config,
    pub(super) formats: Formats,
    pub(super) prompt: Option<String>,
    /// A command that prints the key, where nothing else gives one.
    pub(super) key_helper: Option<String>,
    /// Whether the flag that only document 003 has was given: its hosts may begin with a line that any host could send.
    pub(super) expects_dialect: bool,
    /// What a person should know.
    pub(super) notices: Vec<String>,
    /// The model, if nobody here knows it.
    pub(super) unknown_model: Option<String>,
}

/// Puts it all together.
pub(super) fn plan(
    flags: &RawFlags,
    choices: Choices,
    documents: Documents,
    around: &Surroundings,
) -> Result<Plan, Refusal> {
    let mut notices = notices(flags, &documents);
    let environment = environment(&documents, around);
    let permissions = permissions(flags, &choices, &documents);
    let (policy, left_out) = permissions.policy(Places::default());
    notices.extend(left_out);
    let kept_out = kept_out(&permissions, &documents);
    // The policy has told of its own part.
    notices.extend(kept_out.iter().skip(permissions.kept_out().len()).cloned());
    if policy.mode == PermissionMode::BypassPermissions
        && around.user == 0
        && !is_on(&around.environment, "IS_SANDBOX")
    {
        return Err(Refusal::new(
            "--dangerously-skip-permissions cannot be used with root/sudo privileges for security reasons",
        ));
    }
    let model = model(flags, &choices, &documents, &environment);
    let named = model.name.as_deref().or(model.usual.as_deref());
    let unknown_model = named.filter(|name| !name.is_empty() && !knows_model(name));
    let unknown_model = unknown_model.map(ToOwned::to_owned);
    let provider = match named {
        Some("offline") => Provider::Offline,
        _ => Provider::Api(api::options(&environment)),
    };
    let needs_key = matches!(&provider, Provider::Api(api) if api.credential.is_none());
    let key_helper =
        text_setting(&documents, "apiKeyHelper", Brought::Environment).filter(|_| needs_key);
    let config = Config {
        temporary: temporary(&environment, around.user),
        entrypoint: variable(&environment, "CLAUDE_CODE_ENTRYPOINT")
            .unwrap_or("sdk-cli")
            .to_owned(),
        provider,
        model,
        prompt: prompt(flags, &choices, &documents),
        limits: Limits {
            max_turns: choices.max_turns.map(NonZeroU64::get),
            max_budget_usd: choices.max_budget_usd,
        },
        tools: Tools {
            only: only_tools(flags),
            answer: documents.answer.clone(),
        },
        mcp: servers(flags, &documents),
        files: files(choices.files, &environment),
        shell: shell(&environment),
        web: api::web(&environment),
        agents: agents(flags, choices.formats, &documents),
        settings: settings(&documents, is_bare(flags)),
        permissions,
        kept_out: for_host(kept_out, choices.formats.output),
        questions: choices.questions,
        session: SessionOptions {
            start: choices.start,
            id: choices.session_id,
            title: owned(flags, Id::Name),
            forget: flags.is_on(Id::NoSessionPersistence),
            checkpoints: is_on(&environment, "CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING"),
        },
        output: output(flags, &environment),
        environment,
        cwd: documents.folder,
        user_home: documents.user_home,
        home: documents.home,
        managed: around.managed.clone(),
    };
    Ok(Plan {
        config,
        formats: choices.formats,
        prompt: flags.prompt.clone(),
        key_helper,
        expects_dialect: flags.has(Id::Cwd),
        notices,
        unknown_model,
    })
}

fn is_bare(flags: &RawFlags) -> bool {
    flags.has(Id::Bare) || flags.has(Id::SafeMode)
}

fn prompt(flags: &RawFlags, choices: &Choices, documents: &Documents) -> PromptOptions {
    PromptOptions {
        replace: documents.system_prompt.clone(),
        append: documents.append_system_prompt.clone(),
        memory: !is_bare(flags) && !choices.sources.is_empty(),
        memory_sources: memory_sources(&choices.sources),
        outside_imports: documents.outside_imports,
        no_commands: flags.has(Id::DisableSlashCommands) || flags.has(Id::SafeMode),
    }
}

/// Notices for a host that reads lines. A person has read them on standard error already.
fn for_host(kept_out: Vec<String>, format: OutputFormat) -> Vec<String> {
    match format {
        OutputFormat::StreamJson => kept_out,
        OutputFormat::Text | OutputFormat::Json | OutputFormat::JsonArray => Vec::new(),
    }
}

fn servers(flags: &RawFlags, documents: &Documents) -> McpOptions {
    McpOptions {
        servers: documents.servers.clone(),
        strict: flags.has(Id::StrictMcpConfig) || flags.has(Id::SafeMode),
    }
}

/// Files to fetch, with a token of their own if there is one.
fn files(specs: Vec<FileSpec>, environment: &Environment) -> FilesToFetch {
    let token = variable(environment, "CLAUDE_CODE_SESSION_ACCESS_TOKEN");
    FilesToFetch {
        specs,
        token: token.map(|token| Secret(token.to_owned())),
    }
}

/// Who the session is. A host that speaks in lines may still define it.
fn agents(flags: &RawFlags, formats: Formats, documents: &Documents) -> AgentOptions {
    let main = owned(flags, Id::Agent);
    AgentOptions {
        defined: documents.agents.clone(),
        must_exist: main.is_some() && formats.input == InputFormat::Text,
        main: main.or_else(|| text_setting(documents, "agent", Brought::Text)),
    }
}

fn memory_sources(sources: &[Destination]) -> MemorySources {
    MemorySources {
        user: sources.contains(&Destination::UserSettings),
        project: sources.contains(&Destination::ProjectSettings),
        local: sources.contains(&Destination::LocalSettings),
    }
}

/// A text from the settings; the strongest file wins.
fn text_setting(documents: &Documents, key: &str, what: Brought) -> Option<String> {
    let files = documents
        .settings
        .iter()
        .rev()
        .filter(|file| documents.trust.admits(&file.source, what));
    let mut values = files.filter_map(|file| file.keys.get(key)?.as_str());
    values
        .find(|value| !value.trim().is_empty())
        .map(ToOwned::to_owned)
}

/// The variables of the process and what settings files put over them.
fn environment(documents: &Documents, around: &Surroundings) -> Environment {
    let mut environment = around.environment.clone();
    for file in &documents.settings {
        // These could send the key somewhere else.
        if !documents.trust.admits(&file.source, Brought::Environment) {
            continue;
        }
        let set = file.keys.get("env").and_then(Value::as_object);
        for (name, value) in set.into_iter().flatten() {
            let value = match value {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                Value::Bool(truth) => truth.to_string(),
                // A variable is text; nothing else can be meant.
                Value::Null | Value::Array(_) | Value::Object(_) => continue,
            };
            // No name of a variable can hold these, and the system refuses to start a command with one.
            if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
                continue;
            }
            environment.insert(name.into(), value.into());
        }
    }
    // Commands can tell that an agent runs them.
    environment.insert("CLAUDECODE".into(), "1".into());
    environment
}

fn permissions(flags: &RawFlags, choices: &Choices, documents: &Documents) -> Startup {
    let texts = |id| flags.values(id).map(ToOwned::to_owned).collect();
    // A path may hold a comma or a blank.
    let directories = flags
        .values(Id::AddDir)
        .filter(|directory| !directory.is_empty());
    Startup {
        files: documents.permissions.clone(),
        mode: choices.mode.clone(),
        bypass: choices.bypass,
        allowed_tools: texts(Id::AllowedTools),
        disallowed_tools: texts(Id::DisallowedTools),
        directories: directories
            .map(|directory| {
                documents
                    .folder
                    .join(directory)
                    .to_string_lossy()
                    .into_owned()
            })
            .collect(),
        trust: documents.trust,
        saved: documents.saved.clone(),
    }
}

fn model(
    flags: &RawFlags,
    choices: &Choices,
    documents: &Documents,
    environment: &Environment,
) -> ModelOptions {
    let usual = variable(environment, "ANTHROPIC_MODEL").map(ToOwned::to_owned);
    let usual = usual.or_else(|| text_setting(documents, "model", Brought::Text));
    let trimmed = |name: String| name.trim().to_owned();
    ModelOptions {
        name: owned(flags, Id::Model).map(trimmed),
        usual: usual.map(trimmed),
        fallback: owned(flags, Id::FallbackModel),
        thinking: choices.thinking,
        thinking_display: owned(flags, Id::ThinkingDisplay),
        max_thinking_tokens: choices
            .max_thinking_tokens
            .or_else(|| number(environment, "MAX_THINKING_TOKENS")),
        effort: owned(flags, Id::Effort).filter(|effort| EFFORTS.contains(&effort.as_str())),
        betas: list(flags, Id::Betas),
        max_output_tokens: number(environment, "CLAUDE_CODE_MAX_OUTPUT_TOKENS"),
    }
}

/// `--tools`: nothing said or `default` is all of them, and `""` is none.
fn only_tools(flags: &RawFlags) -> Option<Vec<String>> {
    let only = flags.has(Id::Tools).then(|| list(flags, Id::Tools))?;
    (!only.iter().any(|tool| tool == "default")).then_some(only)
}

fn shell(environment: &Environment) -> Shell {
    let usual = Shell::default();
    let time = |name| {
        number(environment, name)
            .filter(|time| *time > 0)
            .map(Duration::from_millis)
    };
    let default_timeout = time("BASH_DEFAULT_TIMEOUT_MS").unwrap_or(usual.default_timeout);
    let max_timeout = time("BASH_MAX_TIMEOUT_MS").unwrap_or(usual.max_timeout);
    let max_output = number(environment, "BASH_MAX_OUTPUT_LENGTH");
    let max_output = max_output.and_then(|most| usize::try_from(most).ok());
    let last_wait = match number(environment, "CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS") {
        None => usual.last_wait,
        Some(0) => None,
        Some(most) => Some(Duration::from_millis(most)),
    };
    Shell {
        last_wait,
        default_timeout,
        // What a command gets without asking it may ask for.
        max_timeout: max_timeout.max(default_timeout),
        max_output: max_output
            .filter(|most| *most > 0)
            .unwrap_or(usual.max_output)
            .min(LARGEST_OUTPUT),
    }
}

fn settings(documents: &Documents, is_bare: bool) -> Vec<SettingsText> {
    let chosen = [Destination::FlagSettings, Destination::PolicySettings];
    let files = documents.settings.iter();
    let files = files.filter(|file| !is_bare || chosen.contains(&file.source));
    let texts = files.map(|file| SettingsText {
        source: file.source.clone(),
        path: file.path.clone(),
        text: file.text.clone(),
    });
    texts.collect()
}

fn output(flags: &RawFlags, environment: &Environment) -> OutputOptions {
    OutputOptions {
        partial_messages: flags.has(Id::PartialMessages),
        replay_user_messages: flags.has(Id::ReplayUserMessages),
        session_state: is_on(environment, "CLAUDE_CODE_SDK_READS_SESSION_STATE"),
        more: MoreOutput {
            hook_events: flags.has(Id::HookEvents),
            subagent_text: flags.has(Id::SubagentText),
            transcript: flags.has(Id::SessionMirror),
        },
    }
}

/// A folder of the user's own, so that nobody else can put something there.
fn temporary(environment: &Environment, user: u32) -> PathBuf {
    let folder =
        variable(environment, "CLAUDE_CODE_TMPDIR").or_else(|| variable(environment, "TMPDIR"));
    PathBuf::from(folder.unwrap_or("/tmp")).join(format!("claude-{user}"))
}

fn notices(flags: &RawFlags, documents: &Documents) -> Vec<String> {
    let mut notices = documents.notices.clone();
    if let Some(word) = flags.surplus.first() {
        notices.push(format!("only the first word without a flag is the prompt, `{word}` is not: put quotes around it all"));
    }
    if let Some(effort) = flags.value(Id::Effort)
        && !EFFORTS.contains(&effort)
    {
        let known = EFFORTS.join(", ");
        notices.push(format!(
            "unknown --effort value '{effort}', the usual one is taken; known are {known}"
        ));
    }
    notices
}

/// Notices about each part of the project's files that does not count because the project is not trusted.
fn kept_out(permissions: &Startup, documents: &Documents) -> Vec<String> {
    let mut kept_out = permissions.kept_out();
    for file in &documents.settings {
        for key in ["apiKeyHelper", "env"] {
            let counts = documents.trust.admits(&file.source, Brought::Environment);
            if !counts && file.keys.contains_key(key) {
                let path = file.path.as_deref().unwrap_or(Path::new("--settings"));
                kept_out.push(format!(
                    "the project is not trusted, so `{key}` in {} does not count",
                    path.display()
                ));
            }
        }
    }
    if !kept_out.is_empty() {
        kept_out.push(format!(
            "to trust {}: run `towline` in it on a terminal, or open it on the page of `towline serve`, and answer the \
             question",
            documents.workspace.trusted_as().display()
        ));
    }
    kept_out
}

/// A list: each value may hold several, separated by commas or blanks.
fn list(flags: &RawFlags, id: Id) -> Vec<String> {
    let parts = flags
        .values(id)
        .flat_map(|value| value.split(|c: char| c == ',' || c.is_whitespace()));
    parts
        .filter(|part| !part.is_empty())
        .map(ToOwned::to_owned)
        .collect()
}

fn owned(flags: &RawFlags, id: Id) -> Option<String> {
    let value = flags.value(id).filter(|value| !value.trim().is_empty());
    value.map(ToOwned::to_owned)
}

const EFFORTS: [&str; 5] = ["low", "medium", "high", "xhigh", "max"];
/// What a model can take in at once, and no more.
const LARGEST_OUTPUT: usize = 150_000;
