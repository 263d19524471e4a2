//! `towline permission check`: what would happen to a call, why, and what would change it.

mod call;
mod remedy;
mod report;
mod skill;

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::Context;
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use towline_files::{Lookout, Reach, resolve_paths};
use towline_permission::{
    Call, Decision, Destination, Facts, PermissionMode, Policy, Reached, Reason, Startup, Trust,
    TrustFacts, Verdict, decide, looks, paths,
};
use towline_store::{SettingsFile, Workspace};

use super::settings::{Site, Where, accepted, read, saved, text};
use crate::terminal::escaped;
use report::Report;

/// Tell what an agent would do with a tool call, and why.
///
/// Prints the decision, what made it, the parts of a command line, and what would allow the call. Nothing is run and
/// nothing is written; hooks are not asked.
///
/// Exits with 0 if the call would run, 10 if a person would be asked, 20 if it would be denied, 1 if that cannot be
/// told, and 2 if this command is used wrongly.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  towline permission check --bash 'npm test && rm -rf build'
  towline permission check Read '{\"file_path\": \"~/.ssh/id_ed25519\"}' --mode plan
  towline permission check --no-settings --allowed-tools 'Bash(git:*)' --bash 'git push' --json")]
pub(crate) struct Check {
    /// The tool, such as `Write` or `mcp__github__search`.
    #[arg(required_unless_present = "bash", requires = "input")]
    tool: Option<String>,

    /// Its input, a JSON object; `-` reads it from standard input.
    input: Option<String>,

    /// Check this command line of the tool `Bash`, instead of a tool and its input.
    #[arg(long, value_name = "COMMAND", conflicts_with_all = ["tool", "input"])]
    bash: Option<String>,

    /// The permission mode; by default what the settings say.
    #[arg(long, value_name = "MODE", value_parser = mode_parser())]
    mode: Option<PermissionMode>,

    /// More settings, as the agent's flag takes them: a file, or a JSON object.
    #[arg(long, value_name = "FILE|JSON")]
    settings: Option<String>,

    /// Rules that allow, as the agent's flag takes them; may be given several times.
    #[arg(long, value_name = "RULES", alias = "allowedTools")]
    allowed_tools: Vec<String>,

    /// Rules that deny, as the agent's flag takes them; may be given several times.
    #[arg(long, value_name = "RULES", alias = "disallowedTools")]
    disallowed_tools: Vec<String>,

    /// A further folder to work in; may be given several times.
    #[arg(long, value_name = "DIR")]
    add_dir: Vec<PathBuf>,

    /// Leave out all settings files but the one of `--settings`.
    #[arg(long)]
    no_settings: bool,

    /// Print one JSON object.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    place: Where,
}

impl Check {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let (tool, input) = call::read(self.tool, self.input, self.bash)?;
        let site = self.place.site()?;
        let mut notices = call::notices(&tool);
        let files = files(&site, self.settings.as_deref(), self.no_settings)?;
        let flag = files
            .iter()
            .find(|file| file.source == Destination::FlagSettings);
        let startup = Startup {
            files: read(&files, &mut notices)?,
            mode: self.mode,
            allowed_tools: self.allowed_tools,
            disallowed_tools: self.disallowed_tools,
            directories: folders(&self.add_dir)?,
            // Vouching makes no difference for rules and modes.
            trust: Trust::of(&TrustFacts {
                accepted: accepted(&site.home, &site.workspace, &mut notices),
                ..TrustFacts::default()
            }),
            saved: match self.no_settings {
                true => Vec::new(),
                false => saved(&site.home, &site.workspace, SAVED, &mut notices),
            },
            ..Startup::default()
        };
        let (mut policy, left_out) = startup.policy(site.places(flag)?);
        notices.extend(left_out);
        follow_directories(&mut policy);
        let call = Call::new(&tool, &input);
        let facts = facts(&site, &policy, &call, &mut notices);
        let decision = decide(&policy, &call, &facts);
        let report = Report {
            remedies: remedy::remedies(&policy, &call, &facts, &decision),
            outside: outside(&policy, &call, &facts, &decision),
            decision: &decision,
            call: &call,
            policy: &policy,
            files: &files,
            startup: &startup,
            site: &site,
            notices: &notices,
        };
        print(&report, self.json).context("cannot write to standard output")?;
        Ok(ExitCode::from(match decision.verdict {
            Verdict::Allow => 0,
            Verdict::Ask => 10,
            Verdict::Deny => 20,
        }))
    }
}

fn print(report: &Report<'_>, json: bool) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    if json {
        writeln!(out, "{}", report.to_json())?;
    } else {
        report.print(&mut out)?;
    }
    out.flush()?;
    if !json {
        for notice in report.notices {
            // With standard error gone there is nobody left to tell.
            writeln!(io::stderr().lock(), "towline: {}", escaped(notice)).ok();
        }
    }
    Ok(())
}

/// The settings files that count.
fn files(site: &Site, flag: Option<&str>, none: bool) -> anyhow::Result<Vec<SettingsFile>> {
    let mut files = if none { Vec::new() } else { site.files() };
    if let Some(value) = flag {
        let base = std::env::current_dir().context("cannot tell the current folder")?;
        files.push(SettingsFile::flag(value, &base)?);
    }
    Ok(files)
}

fn folders(given: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let resolved = given.iter().map(|folder| {
        let workspace = Workspace::at(folder)?;
        text(workspace.folder())
    });
    resolved.collect()
}

/// A working directory that is a link is also where it leads.
fn follow_directories(policy: &mut Policy) {
    let known = policy.directories().to_vec();
    let links = resolve_paths(known.iter().map(|known| known.path.as_str())).links;
    for directory in known {
        if let Some(target) = links.get(&directory.path) {
            policy.add_directory(target.as_str(), directory.source);
        }
    }
}

/// What the rules cannot know by themselves: where paths lead, and what a skill brings.
fn facts(site: &Site, policy: &Policy, call: &Call<'_>, notices: &mut Vec<String>) -> Facts {
    let touched = paths(policy, call);
    let resolved = resolve_paths(touched.iter().map(String::as_str));
    let looks = looks(policy, call);
    let mut lookout = Lookout::default();
    let mut reached = |paths: Vec<String>, look: fn(&mut Lookout, &str) -> Reach| {
        let reached = paths.into_iter().map(|path| {
            let Reach { links, is_whole } = look(&mut lookout, &path);
            (path, Reached { links, is_whole })
        });
        reached.collect()
    };
    Facts {
        globs: reached(looks.globs, Lookout::glob),
        trees: reached(looks.trees, Lookout::tree),
        links: resolved.links,
        directories: resolved.directories,
        skill_brings_tools: call.tool == "Skill"
            && skill::brings_tools(site, call.text("skill").unwrap_or_default(), notices),
        ..Facts::default()
    }
}

/// The paths that lead out of the working directories, unless the decision is not about them or tells them itself.
fn outside(policy: &Policy, call: &Call<'_>, facts: &Facts, decision: &Decision) -> Vec<String> {
    let is_told = decision.verdict == Verdict::Allow
        || decision.blocked_path.is_some()
        || matches!(decision.reason, Reason::Rule(_));
    if is_told {
        return Vec::new();
    }
    let places = policy.directories().iter().map(|known| &*known.path);
    let places: Vec<&str> = places.chain([&*policy.places.project]).collect();
    let is_outside = |path: &str| {
        !places
            .iter()
            .any(|place| Path::new(path).starts_with(place))
    };
    let touched = paths(policy, call).into_iter();
    let real = touched.map(|path| facts.links.get(&path).cloned().unwrap_or(path));
    let mut outside: Vec<String> = real.filter(|path| is_outside(path)).collect();
    // A file is told, and the folder that it is in need not be.
    let all = outside.clone();
    let is_parent = |path: &String| {
        all.iter()
            .any(|other| Path::new(other).parent() == Some(Path::new(path)))
    };
    outside.retain(|path| !is_parent(path));
    outside.dedup();
    outside
}

fn mode_parser() -> impl TypedValueParser<Value = PermissionMode> {
    let names = MODES.iter().map(PermissionMode::as_str);
    PossibleValuesParser::new(names).map(|name| PermissionMode::from(name.as_str()))
}

/// Where an answer is saved that is for this project alone.
const SAVED: &[Destination] = &[Destination::ProjectSettings, Destination::LocalSettings];

const MODES: &[PermissionMode] = &[
    PermissionMode::Default,
    PermissionMode::Manual,
    PermissionMode::AcceptEdits,
    PermissionMode::Plan,
    PermissionMode::BypassPermissions,
    PermissionMode::DontAsk,
    PermissionMode::Auto,
    PermissionMode::Delegate,
];
