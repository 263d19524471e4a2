//! What the flags say, each by itself and together (pure). Every wrong use is found here, before a file is read.
//!
//! The sentences are those of CLI 2.1.325 where it has one: hosts show them, and some look for them.

use std::num::NonZeroU64;

use towline_agent::{FileSpec, Questions, SessionStart, ThinkingOption};
use towline_permission::{Bypass, Destination, PermissionMode};
use towline_store::SessionKey;

use super::{
    Refusal,
    arguments::RawFlags,
    flags::{Flag, GROUPS, Id, REFUSED},
    pull_request::PullRequest,
};

/// How lines get in and out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Formats {
    pub(super) input: InputFormat,
    pub(super) output: OutputFormat,
}

/// `--input-format`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InputFormat {
    Text,
    StreamJson,
}

/// `--output-format`, and what `--verbose` makes of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OutputFormat {
    Text,
    /// The result alone.
    Json,
    /// All lines, in one array.
    JsonArray,
    StreamJson,
}

/// What the flags say that can be wrong by itself.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choices {
    pub(super) formats: Formats,
    pub(super) mode: Option<PermissionMode>,
    pub(super) bypass: Bypass,
    pub(super) questions: Questions,
    pub(super) thinking: Option<ThinkingOption>,
    pub(super) max_thinking_tokens: Option<u64>,
    pub(super) max_turns: Option<NonZeroU64>,
    pub(super) max_budget_usd: Option<f64>,
    pub(super) session_id: Option<SessionKey>,
    pub(super) start: SessionStart,
    /// `--fork-session`.
    pub(super) fork: bool,
    /// The settings files that count.
    pub(super) sources: Vec<Destination>,
    /// `--file`.
    pub(super) files: Vec<FileSpec>,
    /// `--from-pr`: a number, an address, or words to look for.
    pub(super) pull_request: Option<PullRequest>,
}

impl Choices {
    /// Checks the flags.
    pub(super) fn read(flags: &RawFlags) -> Result<Self, Refusal> {
        refused(flags)?;
        one_of(
            flags,
            Id::ThinkingDisplay,
            &[("summarized", ()), ("omitted", ()), ("highlights", ())],
        )?;
        if let Some(value) = flags.value(Id::TaskBudget)
            && value.parse::<NonZeroU64>().is_err()
        {
            return Err(invalid(
                Id::TaskBudget,
                value,
                "--task-budget must be a positive integer",
            ));
        }
        let choices = Self {
            formats: formats(flags)?,
            mode: one_of(flags, Id::PermissionMode, MODES)?,
            bypass: if flags.has(Id::SkipPermissions) {
                Bypass::Yes
            } else if flags.has(Id::AllowSkipPermissions) {
                Bypass::Possible
            } else {
                Bypass::No
            },
            questions: questions(flags)?,
            thinking: one_of(flags, Id::Thinking, THINKING)?,
            max_thinking_tokens: number(flags, Id::MaxThinkingTokens)?,
            max_turns: number(flags, Id::MaxTurns)?.and_then(NonZeroU64::new),
            max_budget_usd: budget(flags)?,
            session_id: session_id(flags)?,
            start: start(flags)?,
            fork: flags.has(Id::ForkSession),
            sources: sources(flags)?,
            files: files(flags)?,
            pull_request: pull_request(flags)?,
        };
        choices.check_together(flags)?;
        Ok(choices)
    }

    /// Goes on with this session, found or chosen after the flags were read.
    pub(super) fn resume(&mut self, session: String) {
        if let SessionStart::Resume { which, .. } = &mut self.start {
            *which = session;
        } else {
            self.start = SessionStart::Resume {
                which: session,
                fork: self.fork,
                at: None,
                drops_turn: None,
            };
        }
    }

    fn check_together(&self, flags: &RawFlags) -> Result<(), Refusal> {
        let Formats { input, output } = self.formats;
        let streams = output == OutputFormat::StreamJson;
        let wrong = if input == InputFormat::StreamJson && !streams {
            "Error: --input-format=stream-json requires output-format=stream-json."
        } else if streams && flags.has(Id::Print) && !flags.has(Id::Verbose) {
            // Document 003 starts an agent without either; so only who says `-p` is held to it.
            "Error: When using --print, --output-format=stream-json requires --verbose"
        } else if flags.has(Id::PartialMessages) && !streams {
            "Error: --include-partial-messages requires --print and --output-format=stream-json."
        } else if flags.has(Id::ReplayUserMessages) && input != InputFormat::StreamJson {
            "Error: --replay-user-messages requires both --input-format=stream-json and --output-format=stream-json."
        } else if flags.has(Id::ResumeDropsTurn) && !flags.has(Id::ResumeSessionAt) {
            "Error: --resume-drops-turn requires --resume-session-at"
        } else if flags.has(Id::ResumeSessionAt) && !flags.has(Id::Resume) {
            "Error: --resume-session-at requires --resume"
        } else if flags.has(Id::FromPr) && (flags.has(Id::Resume) || flags.has(Id::Continue)) {
            "Error: --from-pr cannot be used with --resume or --continue: each names the session to go on with."
        } else if self.session_id.is_some()
            && (flags.has(Id::FromPr) || flags.has(Id::Resume) || flags.has(Id::Continue))
            && !flags.has(Id::ForkSession)
        {
            "Error: --session-id can only be used with --continue or --resume if --fork-session is also specified."
        } else {
            return Ok(());
        };
        Err(Refusal::new(wrong))
    }
}

/// Flags that ask for something that would be missed if it were left out in silence.
fn refused(flags: &RawFlags) -> Result<(), Refusal> {
    let group = GROUPS.iter().find(|group| group.title == REFUSED);
    let known = group.map_or(&[][..], |group| group.flags);
    let Some(flag) = known.iter().find(|flag| flags.has(flag.id)) else {
        return Ok(());
    };
    let (name, why) = (flag.long(), flag.help);
    Err(Refusal::new(format!(
        "Error: {name} is not supported here: {why}"
    )))
}

fn formats(flags: &RawFlags) -> Result<Formats, Refusal> {
    let input = one_of(
        flags,
        Id::InputFormat,
        &[
            ("text", InputFormat::Text),
            ("stream-json", InputFormat::StreamJson),
        ],
    )?;
    let output = one_of(
        flags,
        Id::OutputFormat,
        &[
            ("text", OutputFormat::Text),
            ("json", OutputFormat::Json),
            ("stream-json", OutputFormat::StreamJson),
        ],
    )?;
    Ok(Formats {
        input: input.unwrap_or(InputFormat::Text),
        output: match output.unwrap_or(OutputFormat::Text) {
            OutputFormat::Json if flags.has(Id::Verbose) => OutputFormat::JsonArray,
            output => output,
        },
    })
}

fn questions(flags: &RawFlags) -> Result<Questions, Refusal> {
    let nobody = [("host", Questions::Host), ("none", Questions::Nobody)];
    let target = one_of(flags, Id::PermissionPrompts, &nobody)?;
    let tool = flags.value(Id::PermissionPromptTool);
    Ok(match (target, tool) {
        (Some(Questions::Nobody), _) => Questions::Nobody,
        (_, Some("stdio")) => Questions::Host,
        (_, Some(tool)) if !tool.is_empty() => Questions::Tool(tool.to_owned()),
        (Some(target), _) => target,
        (None, _) => Questions::Nobody,
    })
}

fn session_id(flags: &RawFlags) -> Result<Option<SessionKey>, Refusal> {
    let id = flags.value(Id::SessionUuid).map(str::parse).transpose();
    id.map_err(|_| Refusal::new("Error: Invalid session ID. Must be a valid UUID."))
}

/// How the conversation begins. A `--resume` without a value is asked about by whoever has a terminal.
fn start(flags: &RawFlags) -> Result<SessionStart, Refusal> {
    let fork = flags.has(Id::ForkSession);
    Ok(if flags.has(Id::Resume) {
        let which = flags.value(Id::Resume).unwrap_or_default().trim();
        let text = |id| flags.value(id).map(ToOwned::to_owned);
        SessionStart::Resume {
            which: which.to_owned(),
            fork,
            at: text(Id::ResumeSessionAt),
            drops_turn: text(Id::ResumeDropsTurn),
        }
    } else if flags.has(Id::Continue) {
        SessionStart::Continue { fork }
    } else {
        SessionStart::New
    })
}

fn files(flags: &RawFlags) -> Result<Vec<FileSpec>, Refusal> {
    let specs = flags.values(Id::File).map(|spec| {
        FileSpec::read(spec).map_err(|why| Refusal::new(format!("Error: --file {spec}: {why}")))
    });
    specs.collect()
}

/// A `--from-pr` without a value is asked about by whoever has a terminal.
fn pull_request(flags: &RawFlags) -> Result<Option<PullRequest>, Refusal> {
    if !flags.has(Id::FromPr) {
        return Ok(None);
    }
    let value = flags.value(Id::FromPr).unwrap_or_default().trim();
    if value.is_empty() {
        return Ok(Some(PullRequest::Any));
    }
    let known = PullRequest::read(value);
    known.map(Some).ok_or_else(|| {
        Refusal::new(format!(
            "Error: --from-pr {value}: the number of a pull request or its address is expected"
        ))
    })
}

fn sources(flags: &RawFlags) -> Result<Vec<Destination>, Refusal> {
    let Some(given) = flags.value(Id::SettingSources) else {
        return Ok(SOURCES.iter().map(|(_, source)| source.clone()).collect());
    };
    let names = given
        .split([',', ' '])
        .map(str::trim)
        .filter(|name| !name.is_empty());
    let sources = names.map(|name| {
        let known = SOURCES.iter().find(|(source, _)| *source == name);
        known.map(|(_, source)| source.clone()).ok_or_else(|| {
            Refusal::new(format!(
                "Error processing --setting-sources: Invalid setting source: {name}. Valid options are: user, project, local"
            ))
        })
    });
    sources.collect()
}

fn budget(flags: &RawFlags) -> Result<Option<f64>, Refusal> {
    let Some(value) = flags.value(Id::MaxBudget) else {
        return Ok(None);
    };
    match value.trim().parse::<f64>() {
        Ok(amount) if amount > 0.0 && amount.is_finite() => Ok(Some(amount)),
        _ => Err(invalid(
            Id::MaxBudget,
            value,
            "--max-budget-usd must be a positive number greater than 0",
        )),
    }
}

/// A number; nothing if it is empty or below 0, as CLI 2.1.325 takes it.
fn number(flags: &RawFlags, id: Id) -> Result<Option<u64>, Refusal> {
    let Some(value) = flags
        .value(id)
        .map(str::trim)
        .filter(|value| !value.is_empty())
    else {
        return Ok(None);
    };
    if let Ok(number) = value.parse::<u64>() {
        return Ok(Some(number));
    }
    match value.parse::<f64>() {
        Ok(number) if number < 0.0 => Ok(None),
        // A part of a turn is none.
        Ok(number) if number <= LARGEST => Ok(Some(number as u64)),
        _ => Err(invalid(id, value, "must be a number")),
    }
}

/// One of several words.
fn one_of<T: Clone>(flags: &RawFlags, id: Id, known: &[(&str, T)]) -> Result<Option<T>, Refusal> {
    let Some(value) = flags.value(id) else {
        return Ok(None);
    };
    if let Some((_, choice)) = known.iter().find(|(name, _)| *name == value) {
        return Ok(Some(choice.clone()));
    }
    let names: Vec<&str> = known.iter().map(|(name, _)| *name).collect();
    let why = format!("Allowed choices are {}.", names.join(", "));
    Err(invalid(id, value, &why))
}

fn invalid(id: Id, value: &str, why: &str) -> Refusal {
    let usage = Flag::of(id).usage();
    Refusal::new(format!(
        "error: option '{usage}' argument '{value}' is invalid. {why}"
    ))
}

/// `delegate` is of document 004; CLI 2.1.325 knows it no more.
const MODES: &[(&str, PermissionMode)] = &[
    ("acceptEdits", PermissionMode::AcceptEdits),
    ("auto", PermissionMode::Auto),
    ("bypassPermissions", PermissionMode::BypassPermissions),
    ("default", PermissionMode::Default),
    ("delegate", PermissionMode::Delegate),
    ("dontAsk", PermissionMode::DontAsk),
    ("manual", PermissionMode::Manual),
    ("plan", PermissionMode::Plan),
];

const THINKING: &[(&str, ThinkingOption)] = &[
    ("enabled", ThinkingOption::Enabled),
    ("adaptive", ThinkingOption::Adaptive),
    ("disabled", ThinkingOption::Disabled),
];

const SOURCES: &[(&str, Destination)] = &[
    ("user", Destination::UserSettings),
    ("project", Destination::ProjectSettings),
    ("local", Destination::LocalSettings),
];

/// Beyond it not every whole number has a float of its own.
const LARGEST: f64 = 9_007_199_254_740_992.0;
