//! `towline sessions show`: a session for a person, one line a message.

mod tree;

use std::{
    fmt::{self, Write as _},
    io::Write,
};

use anyhow::Context;
use clap::Args;
use towline_protocol::{Content, Text, transcript::Record};
use towline_store::{Located, NodeId, Reason, Transcript};

use super::{
    find::{Found, home},
    output::{CANNOT_WRITE, Look, note_skipped, second},
};
use crate::{
    terminal::{Clip, Palette},
    trace::content_gist,
};

/// Show the conversation of a session, one line a message, as a resumed session would hold it.
///
/// `→` is what was said to the model or what a tool gave, `←` what the model said, `·` a note of the agent.
#[derive(Debug, Args)]
pub(crate) struct Show {
    /// The session: its id, the start of it, its title, or the path of a transcript.
    session: String,

    /// Show all branches: what was left behind by going back, and what was before a compaction.
    ///
    /// A branch that was left is set in from the one that was taken; `*` marks the live end.
    #[arg(long)]
    tree: bool,

    /// Print a JSON object for each message, with its record as it stands in the file.
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    look: Look,
}

/// A record to be shown.
struct Row {
    id: NodeId,
    /// How many branches it is set in.
    depth: usize,
    reason: Reason,
    is_live: bool,
}

impl Show {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let found = Found::find(&home()?, &self.session)?;
        let mut transcript = found.transcript()?;
        let rows = if self.tree {
            tree::rows(transcript.tree())
        } else {
            conversation(&transcript)
        };
        let mut screen = self.look.screen();
        for row in rows {
            let located = transcript.read(row.id)?;
            let line = if self.json {
                to_json(&row, &located)
            } else {
                let mut clip = Clip::new(self.look.width());
                let time = transcript
                    .tree()
                    .time(row.id)
                    .map_or("-".to_owned(), second);
                // The only error is that the line is full, and then it is done.
                fill(&row, &time, &located, &screen.palette, &mut clip).ok();
                clip.finish().trim_end_matches(' ').to_owned()
            };
            writeln!(screen.out, "{line}").context(CANNOT_WRITE)?;
        }
        screen.out.flush().context(CANNOT_WRITE)?;
        note_skipped(&transcript);
        Ok(())
    }
}

fn conversation(transcript: &Transcript) -> Vec<Row> {
    let tree = transcript.tree();
    let steps = tree.conversation().into_iter();
    let messages = steps.filter(|step| tree.is_message(step.id));
    messages
        .map(|step| Row {
            id: step.id,
            depth: 0,
            reason: step.reason,
            is_live: false,
        })
        .collect()
}

fn fill(
    row: &Row,
    time: &str,
    located: &Located,
    palette: &Palette,
    clip: &mut Clip,
) -> fmt::Result {
    let line = located.place.line;
    clip.styled(palette.faint, format_args!("{line:>5} {time:>19} "))?;
    write!(clip, "{}", "│ ".repeat(row.depth.min(DEEPEST)))?;
    let kind = located.record.kind();
    let (style, arrow) = match located.record {
        Record::User(_) => (palette.host, "→"),
        Record::Assistant(_) => (palette.agent, "←"),
        _ => (palette.faint, "·"),
    };
    clip.styled(style, format_args!("{arrow} {kind:<9} "))?;
    if row.is_live {
        clip.styled(palette.unknown, format_args!("* "))?;
    }
    match said(&located.record) {
        Some(content) => content_gist(content, clip),
        None => match &located.record {
            Record::System(record) => {
                let parts = [&record.subtype, &record.content];
                let parts: Vec<&str> = parts.into_iter().flatten().map(Text::as_str).collect();
                write!(clip, "{}", parts.join(": "))
            }
            _ => Ok(()),
        },
    }
}

/// What a message says.
pub(crate) fn said(record: &Record) -> Option<&Content> {
    match record {
        Record::User(record) => record.message.content.as_option(),
        Record::Assistant(record) => record.message.content.as_option(),
        _ => None,
    }
}

/// The row as `{"line":…,"depth":…,"reason":…,"live":…,"record":…}`.
fn to_json(row: &Row, located: &Located) -> String {
    let reason = match row.reason {
        Reason::Chain => "chain",
        Reason::Parallel => "parallel",
        Reason::Kept => "kept",
    };
    format!(
        r#"{{"line":{},"depth":{},"reason":"{reason}","live":{},"record":{}}}"#,
        located.place.line, row.depth, row.is_live, located.line
    )
}

/// Branches further in are shown no further in: the row would be all margin.
const DEEPEST: usize = 20;
