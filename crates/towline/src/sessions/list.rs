//! `towline sessions list`.

use std::{
    env,
    fmt::{self, Write as _},
    io::Write,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Args;
use serde_json::json;
use towline_store::{ListQuery, Scope, SessionSummary};

use super::{
    find::home,
    output::{CANNOT_WRITE, Look, minute, note},
};
use crate::terminal::{Clip, Palette};

/// List sessions, the newest first.
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Those of the project in this folder; by default those of the current one.
    #[arg(long, value_name = "DIR", conflicts_with = "all")]
    project: Option<PathBuf>,

    /// Those of every project.
    #[arg(long)]
    all: bool,

    /// No more than this many.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Pass over this many of the newest.
    #[arg(long, value_name = "N", default_value_t = 0)]
    offset: usize,

    /// Print a JSON object for each.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    look: Look,
}

impl List {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let scope = if self.all {
            Scope::All
        } else {
            Scope::Project(folder(self.project.as_deref())?)
        };
        let listing = home()?.list(&ListQuery {
            scope: scope.clone(),
            offset: self.offset,
            limit: self.limit,
        })?;
        let mut screen = self.look.screen();
        for summary in &listing.sessions {
            let row = if self.json {
                to_json(summary).to_string()
            } else {
                let mut clip = Clip::new(self.look.width());
                // The only error is that the row is full, and then it is done.
                fill(summary, &scope, &screen.palette, &mut clip).ok();
                clip.finish()
            };
            writeln!(screen.out, "{row}").context(CANNOT_WRITE)?;
        }
        screen.out.flush().context(CANNOT_WRITE)?;
        for problem in listing.problems {
            note(format_args!("{:#}", anyhow::Error::from(problem)));
        }
        if let Scope::Project(project) = scope
            && listing.sessions.is_empty()
            && self.offset == 0
        {
            let project = project.display();
            note(format_args!(
                "no sessions in `{project}`; --all lists those of every project"
            ));
        }
        Ok(())
    }
}

/// A project's folder, the current one unless another is given.
pub(crate) fn folder(given: Option<&Path>) -> anyhow::Result<PathBuf> {
    match given {
        Some(folder) => Ok(folder.to_owned()),
        None => env::current_dir().context("cannot tell the current folder"),
    }
}

fn fill(
    summary: &SessionSummary,
    scope: &Scope,
    palette: &Palette,
    clip: &mut Clip,
) -> fmt::Result {
    let key = &summary.session.key().as_str()[..8];
    clip.styled(palette.agent, format_args!("{key}"))?;
    let modified = minute(summary.modified);
    clip.styled(
        palette.faint,
        format_args!("  {modified}  {:>6}  ", size(summary.size)),
    )?;
    clip.styled(palette.heading, format_args!("{}", summary.title))?;
    if let Some(tag) = &summary.tag {
        clip.styled(palette.unknown, format_args!("  #{tag}"))?;
    }
    let cwd = summary.cwd.as_ref().filter(|_| *scope == Scope::All);
    let cwd = cwd.map(|cwd| cwd.display().to_string());
    let branch = summary
        .git_branch
        .as_ref()
        .filter(|branch| *branch != "HEAD");
    let places: Vec<String> = cwd.into_iter().chain(branch.cloned()).collect();
    if !places.is_empty() {
        clip.styled(palette.faint, format_args!("  {}", places.join(" ")))?;
    }
    write!(clip, "")
}

/// The session as JSON; times in ISO 8601.
pub(crate) fn to_json(summary: &SessionSummary) -> serde_json::Value {
    json!({
        "session_id": summary.session.key().as_str(),
        "title": summary.title,
        "custom_title": summary.custom_title,
        "first_prompt": summary.first_prompt,
        "last_prompt": summary.last_prompt,
        "cwd": summary.cwd,
        "git_branch": summary.git_branch,
        "tag": summary.tag,
        "created": summary.created.map(|time| time.to_string()),
        "modified": summary.modified.to_string(),
        "size": summary.size,
        "path": summary.session.path(),
    })
}

fn size(bytes: u64) -> String {
    let mut rest = bytes as f64;
    for unit in ["B", "K", "M", "G"] {
        if rest < 1000.0 {
            let digits = usize::from(rest < 10.0 && unit != "B");
            return format!("{rest:.digits$}{unit}");
        }
        rest /= 1024.0;
    }
    format!("{rest:.0}T")
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_short() {
        for (bytes, text) in [
            (0, "0B"),
            (999, "999B"),
            (1000, "1.0K"),
            (147_224, "144K"),
            (5 << 30, "5.0G"),
            (u64::MAX, "16777216T"),
        ] {
            assert_eq!(size(bytes), text);
        }
    }
}
