//! `towline permission lint`: rules that do nothing, or not what they seem to do.

use std::{
    io::{self, Write},
    path::{PathBuf, absolute},
    process::ExitCode,
};

use anyhow::{Context, bail};
use clap::Args;
use serde_json::json;
use towline_permission::{Destination, Finding, FindingKind, lint};
use towline_store::SettingsFile;

use super::settings::{Where, shown};
use crate::terminal::escaped;

/// Report rules that are malformed, can never match, are shadowed by other rules, or are there twice.
///
/// Exits with 1 if a rule is malformed or can never match, else with 0.
#[derive(Debug, Args)]
pub(crate) struct Lint {
    /// Settings files to look at, instead of those that an agent would read here.
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Print a JSON object for each finding.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    place: Where,
}

impl Lint {
    pub(crate) fn run(self) -> anyhow::Result<ExitCode> {
        let site = self.place.site()?;
        let mut files = Vec::new();
        for path in self.files.iter().map(absolute) {
            let path = path.context("cannot tell where a file is")?;
            match SettingsFile::read(site.source_of(&path), path.clone()) {
                Some(file) => files.push(file),
                None => bail!("there is no file `{}`", path.display()),
            }
        }
        if files.is_empty() {
            files = site.files();
        }
        let texts: Vec<(Destination, &str)> = files
            .iter()
            .map(|file| (file.source.clone(), text_of(file)))
            .collect();
        let mut findings: Vec<Finding> = files
            .iter()
            .enumerate()
            .filter_map(|(index, file)| unreadable(index, file))
            .collect();
        findings.extend(lint(&texts, &site.places(None)?));
        findings.sort_by_key(|finding| finding.file);
        self.print(&files, &findings)
            .context("cannot write to standard output")?;
        let broken = findings.iter().any(|finding| finding.kind.is_error());
        Ok(ExitCode::from(u8::from(broken)))
    }

    fn print(&self, files: &[SettingsFile], findings: &[Finding]) -> io::Result<()> {
        let mut out = io::BufWriter::new(io::stdout().lock());
        for finding in findings {
            let file = &files[finding.file];
            if self.json {
                writeln!(out, "{}", to_json(file, finding))?;
            } else {
                print_finding(&mut out, file, finding)?;
            }
        }
        if !self.json {
            let errors = findings.iter().filter(|finding| finding.kind.is_error());
            let (errors, findings) = (errors.count(), findings.len());
            writeln!(
                out,
                "files {}, findings {findings}, of them errors {errors}",
                files.len()
            )?;
        }
        out.flush()
    }
}

/// A file that cannot be read says nothing, and is told by itself.
fn text_of(file: &SettingsFile) -> &str {
    file.text.as_deref().unwrap_or("{}")
}

fn unreadable(index: usize, file: &SettingsFile) -> Option<Finding> {
    let error = file.text.as_ref().err()?;
    Some(Finding {
        file: index,
        source: file.source.clone(),
        key: String::new(),
        rule: String::new(),
        kind: FindingKind::Malformed,
        why: error.to_string(),
        instead: Vec::new(),
    })
}

fn print_finding(out: &mut impl Write, file: &SettingsFile, finding: &Finding) -> io::Result<()> {
    let Finding {
        key,
        rule,
        kind,
        why,
        instead,
        ..
    } = finding;
    write!(out, "{}: ", escaped(&shown(file)))?;
    if !key.is_empty() {
        write!(out, "{key}: ")?;
    }
    write!(out, "{}", kind.as_str())?;
    if !rule.is_empty() {
        write!(out, ": `{}`", escaped(rule))?;
    }
    writeln!(out, "\n    {}", escaped(why))?;
    if !instead.is_empty() {
        let instead = escaped(&instead.join("`, `"));
        writeln!(out, "    write `{instead}`")?;
    }
    Ok(())
}

fn to_json(file: &SettingsFile, finding: &Finding) -> serde_json::Value {
    json!({
        "source": finding.source.as_str(),
        "path": file.path,
        "key": finding.key,
        "rule": finding.rule,
        "kind": finding.kind.as_str(),
        "error": finding.kind.is_error(),
        "why": finding.why,
        "instead": finding.instead,
    })
}
