//! The files that the flags and the folder lead to: settings, prompts, servers, agents. Read here, used in
//! [`config`](super::config).

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fs::File,
    io::{self, Read as _},
    path::{Path, PathBuf},
};

use anyhow::bail;
use serde_json::{Map, Value};
use towline_agent::{AgentDefinition, AnswerForm};
use towline_permission::{Destination, Settings, Trust, TrustFacts};
use towline_store::{Home, SettingsFile, Workspace};

use super::{
    Refusal,
    arguments::RawFlags,
    choices::Choices,
    flags::Id,
    surroundings::{Surroundings, variable},
};
use crate::permission;

/// What the files say.
#[derive(Clone, Debug)]
pub(super) struct Documents {
    pub(super) workspace: Workspace,
    /// The folder to work in, links resolved.
    pub(super) folder: PathBuf,
    pub(super) user_home: PathBuf,
    pub(super) home: Home,
    /// The settings files that count and are JSON objects, the weakest first.
    pub(super) settings: Vec<SettingsDocument>,
    /// What the settings files say of permissions.
    pub(super) permissions: Vec<(Destination, Settings)>,
    /// How far the project's files are believed.
    pub(super) trust: Trust,
    /// Saved answers of the person for this folder.
    pub(super) saved: Vec<(Destination, Settings)>,
    /// Whether the project's memory files may import files from outside of it.
    pub(super) outside_imports: bool,
    pub(super) system_prompt: Option<String>,
    pub(super) append_system_prompt: Option<String>,
    pub(super) servers: BTreeMap<String, Value>,
    pub(super) agents: Vec<AgentDefinition>,
    pub(super) answer: Option<AnswerForm>,
    /// What was left out and why, for a person.
    pub(super) notices: Vec<String>,
}

/// A settings file.
#[derive(Clone, Debug)]
pub(super) struct SettingsDocument {
    pub(super) source: Destination,
    pub(super) path: Option<PathBuf>,
    pub(super) text: String,
    pub(super) keys: Map<String, Value>,
}

impl Documents {
    /// Reads them all.
    pub(super) fn read(
        flags: &RawFlags,
        choices: &Choices,
        around: &Surroundings,
    ) -> anyhow::Result<Self> {
        let workspace = workspace(flags, around)?;
        let folder = workspace.folder().to_owned();
        let home = Home::from_variables(|name| around.environment.get(OsStr::new(name)).cloned())?;
        let user_home = around
            .environment
            .get(OsStr::new("HOME"))
            .map(PathBuf::from);
        let mut notices = Vec::new();
        let files = settings_files(flags, choices, &home, &workspace, around)?;
        let permissions = permission::settings::read(&files, &mut notices)?;
        let saved = permission::settings::saved(&home, &workspace, &choices.sources, &mut notices);
        let trust = Trust::of(&TrustFacts {
            accepted: permission::settings::accepted(&home, &workspace, &mut notices),
            named_sources: flags.has(Id::SettingSources) && uses_project_files(choices),
            entrypoint: variable(&around.environment, "CLAUDE_CODE_ENTRYPOINT"),
        });
        // It stands in the same file, so whatever is wrong with that was told.
        let outside_imports = home.allows_outside_imports(&workspace).unwrap_or(false);
        if let Some(key) = &choices.session_id
            && home.session_in(&folder, key.clone()).path().exists()
        {
            bail!(Refusal::new(format!(
                "Error: Session ID {key} is already in use."
            )));
        }
        Ok(Self {
            system_prompt: prompt(flags, [Id::SystemPromptFile, Id::SystemPrompt], &folder)?,
            append_system_prompt: prompt(
                flags,
                [Id::AppendSystemPromptFile, Id::AppendSystemPrompt],
                &folder,
            )?,
            servers: servers(flags, &folder)?,
            agents: agents(flags, &folder)?,
            answer: answer(flags)?,
            settings: files.into_iter().filter_map(document).collect(),
            user_home: user_home.unwrap_or_else(|| home.folder().to_owned()),
            folder,
            workspace,
            home,
            permissions,
            trust,
            saved,
            outside_imports,
            notices,
        })
    }
}

/// Whether settings files of the project are read at all.
pub(super) fn uses_project_files(choices: &Choices) -> bool {
    let is_of_project = |source: &Destination| {
        matches!(
            source,
            Destination::ProjectSettings | Destination::LocalSettings
        )
    };
    choices.sources.iter().any(is_of_project)
}

fn workspace(flags: &RawFlags, around: &Surroundings) -> anyhow::Result<Workspace> {
    let folder = flags
        .value(Id::Cwd)
        .map_or_else(|| around.cwd.clone(), |folder| around.cwd.join(folder));
    Workspace::at(&folder).map_err(|error| {
        let shown = folder.display();
        let error = anyhow::Error::from(error);
        Refusal::new(format!("Error: cannot work in `{shown}`: {error:#}")).into()
    })
}

/// The settings files that count, the weakest first: those of the folder, what the command line gives, the policy.
fn settings_files(
    flags: &RawFlags,
    choices: &Choices,
    home: &Home,
    workspace: &Workspace,
    around: &Surroundings,
) -> anyhow::Result<Vec<SettingsFile>> {
    let is_policy = |file: &SettingsFile| file.source == Destination::PolicySettings;
    let found = home.settings(workspace, &around.managed);
    let (policy, mut files): (Vec<_>, Vec<_>) = found.into_iter().partition(is_policy);
    files.retain(|file| choices.sources.contains(&file.source));
    if let Some(value) = flags
        .value(Id::Settings)
        .filter(|value| !value.trim().is_empty())
    {
        files.push(given_settings(value, workspace.folder())?);
    }
    files.extend(policy);
    if let Some(value) = flags.value(Id::ManagedSettings) {
        object(value).map_err(|wrong| {
            Refusal::new(format!(
                "Error: --managed-settings is not a JSON object: {wrong}"
            ))
        })?;
        files.push(SettingsFile {
            source: Destination::PolicySettings,
            path: None,
            text: Ok(value.to_owned()),
        });
    }
    Ok(files)
}

fn given_settings(value: &str, folder: &Path) -> anyhow::Result<SettingsFile> {
    let path = folder.join(value);
    let file = SettingsFile::flag(value, folder).map_err(|_| {
        let mut wrong = format!("Error: Settings file not found: {}", path.display());
        if let (true, Err(error)) = (value.trim_start().starts_with('{'), object(value)) {
            wrong += &format!(" (and it is no JSON object: {error})");
        }
        Refusal::new(wrong)
    })?;
    let problem = match &file.text {
        Ok(text) => object(text).err(),
        Err(error) => Some(error.to_string()),
    };
    match problem {
        None => Ok(file),
        Some(problem) => bail!(Refusal::new(format!(
            "Error: Settings file {} cannot be used: {problem}",
            path.display()
        ))),
    }
}

fn document(file: SettingsFile) -> Option<SettingsDocument> {
    let text = file.text.ok()?;
    let keys = object(&text).ok()?;
    Some(SettingsDocument {
        source: file.source,
        path: file.path,
        text,
        keys,
    })
}

/// A prompt from a file or from the command line; the file wins, as with CLI 2.1.325.
fn prompt(
    flags: &RawFlags,
    [file, text]: [Id; 2],
    folder: &Path,
) -> anyhow::Result<Option<String>> {
    let Some(given) = flags.value(file) else {
        return Ok(flags.value(text).map(ToOwned::to_owned));
    };
    let path = folder.join(given);
    let what = match file {
        Id::AppendSystemPromptFile => "Append system prompt",
        _ => "System prompt",
    };
    match read_text(&path) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => bail!(Refusal::new(format!(
            "Error: {what} file not found: {}",
            path.display()
        ))),
        Err(error) => bail!(Refusal::new(format!(
            "Error: {what} file {} cannot be read: {error}",
            path.display()
        ))),
    }
}

fn servers(flags: &RawFlags, folder: &Path) -> anyhow::Result<BTreeMap<String, Value>> {
    let mut servers = BTreeMap::new();
    for value in flags
        .values(Id::McpConfig)
        .filter(|value| !value.trim().is_empty())
    {
        let refuse =
            |wrong: String| Refusal::new(format!("Error: Invalid MCP configuration: {wrong}"));
        let text = text_or_file(value, folder, "MCP config file").map_err(refuse)?;
        let mut config = object(&text).map_err(refuse)?;
        match config.remove("mcpServers") {
            Some(Value::Object(configured)) => servers.extend(configured),
            _ => bail!(refuse(
                "it needs an object `mcpServers`, with a server's configuration by its name"
                    .to_owned()
            )),
        }
    }
    if let Some((name, _)) = servers.iter().find(|(_, config)| !config.is_object()) {
        bail!(Refusal::new(format!(
            "Error: Invalid MCP configuration: mcpServers.{name} is not an object"
        )));
    }
    Ok(servers)
}

fn agents(flags: &RawFlags, folder: &Path) -> anyhow::Result<Vec<AgentDefinition>> {
    let Some(value) = flags
        .value(Id::Agents)
        .filter(|value| !value.trim().is_empty())
    else {
        return Ok(Vec::new());
    };
    let refuse =
        |wrong: String| Refusal::new(format!("Error: Invalid --agents configuration: {wrong}"));
    let text = text_or_file(value, folder, "file").map_err(refuse)?;
    let agents = object(&text).map_err(refuse)?;
    let agents = agents
        .iter()
        .map(|(name, definition)| AgentDefinition::read(name, definition));
    Ok(agents.collect::<Result<_, _>>().map_err(refuse)?)
}

fn answer(flags: &RawFlags) -> Result<Option<AnswerForm>, Refusal> {
    let Some(text) = flags.value(Id::JsonSchema) else {
        return Ok(None);
    };
    let refuse = |wrong: String| Refusal::new(format!("Error: --json-schema {wrong}"));
    let schema: Value = serde_json::from_str(text)
        .map_err(|error| refuse(format!("is not valid JSON: {error}")))?;
    if !schema.is_object() {
        return Err(refuse("must be a JSON object".to_owned()));
    }
    let form = AnswerForm::new(schema);
    form.map(Some)
        .map_err(|error| refuse(format!("is not a valid JSON Schema: {error}")))
}

/// JSON as it was given, or the text of the file it names.
fn text_or_file(value: &str, folder: &Path, what: &str) -> Result<String, String> {
    let is_json = value.trim_start().starts_with(['{', '[']);
    let path = folder.join(value);
    if is_json && !path.is_file() {
        return Ok(value.to_owned());
    }
    read_text(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("{what} not found: {}", path.display()),
        _ => format!("{what} {} cannot be read: {error}", path.display()),
    })
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(keys)) => Ok(keys),
        Ok(_) => Err("an object is expected".to_owned()),
        Err(error) => Err(format!("invalid JSON: {error}")),
    }
}

fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?
        .take(LARGEST + 1)
        .read_to_string(&mut text)?;
    if text.len() as u64 > LARGEST {
        return Err(io::Error::other(format!(
            "it is larger than {LARGEST} bytes"
        )));
    }
    Ok(text)
}

/// More than any prompt or list of servers has.
const LARGEST: u64 = 16 << 20;
