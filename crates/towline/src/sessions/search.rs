//! `towline sessions search`.

use std::{
    fmt::{self, Write as _},
    io::Write,
    path::PathBuf,
};

use anyhow::{Context, anyhow};
use clap::{Args, ValueEnum};
use jiff::{Timestamp, civil::Date, tz::TimeZone};
use serde_json::json;
use towline_store::{Hit, Pattern, Scope, SearchQuery, Speaker};

use super::{
    find::home,
    output::{CANNOT_WRITE, Look, minute, note},
};
use crate::terminal::{Clip, Palette};

/// Search what was said in sessions, what tools were given and what they gave.
#[derive(Debug, Args)]
pub(crate) struct Search {
    /// Words in this order, in upper or lower case.
    text: String,

    /// The text is a regular expression; `(?-i)` makes it see upper and lower case.
    #[arg(long)]
    regex: bool,

    /// Only in the project in this folder.
    #[arg(long, value_name = "DIR")]
    project: Option<PathBuf>,

    /// Only what this one said.
    #[arg(long, value_enum)]
    role: Option<Role>,

    /// Only what was written since then: `2026-11-16`, or with a time as in `2026-11-16T05:00:00Z`.
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    since: Option<Timestamp>,

    /// Stop after this many.
    #[arg(long, value_name = "N")]
    limit: Option<usize>,

    /// Print a JSON object for each.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    look: Look,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
    /// What tools were given and what they gave.
    Tool,
}

impl Search {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let pattern = if self.regex {
            Pattern::regex(&self.text)
        } else {
            Pattern::words(&self.text)
        };
        let query = SearchQuery {
            scope: self.project.map_or(Scope::All, Scope::Project),
            speaker: self.role.map(Role::speaker),
            since: self.since,
            ..SearchQuery::new(pattern?)
        };
        let mut screen = self.look.screen();
        let mut left = self.limit.unwrap_or(usize::MAX);
        for hit in home()?.search(query)? {
            if left == 0 {
                break;
            }
            let hit = match hit {
                Ok(hit) => hit,
                Err(problem) => {
                    note(format_args!("{:#}", anyhow::Error::from(problem)));
                    continue;
                }
            };
            left -= 1;
            let row = if self.json {
                to_json(&hit).to_string()
            } else {
                let mut clip = Clip::new(self.look.width());
                // The only error is that the row is full, and then it is done.
                fill(&hit, &screen.palette, &mut clip).ok();
                clip.finish()
            };
            writeln!(screen.out, "{row}").context(CANNOT_WRITE)?;
            // The next hit may be long in coming.
            screen.out.flush().context(CANNOT_WRITE)?;
        }
        Ok(())
    }
}

impl Role {
    fn speaker(self) -> Speaker {
        match self {
            Self::User => Speaker::User,
            Self::Assistant => Speaker::Assistant,
            Self::Tool => Speaker::Tool,
        }
    }
}

fn fill(hit: &Hit, palette: &Palette, clip: &mut Clip) -> fmt::Result {
    let key = &hit.session.key().as_str()[..8];
    clip.styled(palette.agent, format_args!("{key}"))?;
    let time = hit.time.map_or_else(|| "-".to_owned(), minute);
    let place = format!(
        "{:>16} {:>6}  {:<11}  ",
        time,
        hit.place.line,
        hit.part.name()
    );
    clip.styled(palette.faint, format_args!("  {place}"))?;
    if let Some(agent) = &hit.agent {
        clip.styled(palette.faint, format_args!("↳{agent} "))?;
    }
    write!(clip, "{}", hit.excerpt.before)?;
    clip.styled(palette.malformed, format_args!("{}", hit.excerpt.hit))?;
    write!(clip, "{}", hit.excerpt.after)
}

fn to_json(hit: &Hit) -> serde_json::Value {
    json!({
        "session_id": hit.session.key().as_str(),
        "agent_id": hit.agent,
        "uuid": hit.uuid,
        "time": hit.time.map(|time| time.to_string()),
        "part": hit.part.name(),
        "before": hit.excerpt.before,
        "hit": hit.excerpt.hit,
        "after": hit.excerpt.after,
        "path": hit.path,
        "line": hit.place.line,
    })
}

fn parse_time(text: &str) -> anyhow::Result<Timestamp> {
    let day = || text.parse::<Date>()?.to_zoned(TimeZone::UTC);
    let time = text
        .parse::<Timestamp>()
        .or_else(|_| day().map(|day| day.timestamp()));
    time.map_err(|_| {
        anyhow!("neither a day such as 2026-11-16 nor a time such as 2026-11-16T05:00:00Z")
    })
}
