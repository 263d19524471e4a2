//! `towline sessions export`: a session for other programs or for a person, whole.

mod markdown;

use std::{
    fs::{File, OpenOptions},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::{Args, ValueEnum};
use serde_json::json;
use towline_store::{Located, NodeId, SessionSummary, Transcript, open_plain};

use super::{
    find::{Found, home},
    list::to_json,
    output::{CANNOT_WRITE, note_skipped},
};
use markdown::Markdown;

/// Write a session to standard output or a file.
#[derive(Debug, Args)]
pub(crate) struct Export {
    /// The session: its id, the start of it, its title, or the path of a transcript.
    session: String,

    /// The form.
    #[arg(long, value_enum, default_value_t = Format::Markdown)]
    format: Format,

    /// The file; one that is there already is left alone.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    /// The conversation for a person, tool calls folded.
    Markdown,
    /// The conversation as one JSON object, messages as they stand in the file.
    Json,
    /// The transcript itself, byte for byte.
    Jsonl,
}

impl Export {
    pub(crate) fn run(self) -> anyhow::Result<()> {
        let found = Found::find(&home()?, &self.session)?;
        if let Format::Jsonl = self.format {
            // Checked and opened as all transcripts are; a stream of any size.
            let mut file = open_plain(found.path())?;
            let mut out = self.out()?;
            io::copy(&mut file, &mut out).context(CANNOT_WRITE)?;
            return out.flush().context(CANNOT_WRITE);
        }
        let mut transcript = found.transcript()?;
        let summary = found.summary()?;
        let mut out = self.out()?;
        match self.format {
            Format::Json => json(summary.as_ref(), &mut transcript, &mut out)?,
            Format::Markdown | Format::Jsonl => {
                let mut markdown = Markdown::new(&mut out);
                markdown
                    .heading(summary.as_ref(), found.path())
                    .context(CANNOT_WRITE)?;
                for_each_message(&mut transcript, |message| {
                    markdown.message(message).context(CANNOT_WRITE)
                })?;
            }
        }
        out.flush().context(CANNOT_WRITE)?;
        note_skipped(&transcript);
        Ok(())
    }

    fn out(&self) -> anyhow::Result<Box<dyn Write>> {
        Ok(match &self.output {
            Some(path) => Box::new(BufWriter::new(create(path)?)),
            None => Box::new(BufWriter::new(io::stdout().lock())),
        })
    }
}

fn create(path: &Path) -> anyhow::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    options
        .open(path)
        .with_context(|| format!("cannot create `{}`", path.display()))
}

fn json(
    summary: Option<&SessionSummary>,
    transcript: &mut Transcript,
    out: &mut impl Write,
) -> anyhow::Result<()> {
    let session = summary.map_or_else(|| json!({"path": transcript.path()}), to_json);
    write!(out, "{{\"session\":{session},\"messages\":[").context(CANNOT_WRITE)?;
    let mut between = "\n";
    for_each_message(transcript, |message| {
        write!(out, "{between}{}", message.line).context(CANNOT_WRITE)?;
        between = ",\n";
        Ok(())
    })?;
    writeln!(out, "\n]}}").context(CANNOT_WRITE)
}

/// The messages of the conversation, one after the other.
fn for_each_message(
    transcript: &mut Transcript,
    mut each: impl FnMut(&Located) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let tree = transcript.tree();
    let steps = tree.conversation().into_iter();
    let ids: Vec<NodeId> = steps
        .map(|step| step.id)
        .filter(|id| tree.is_message(*id))
        .collect();
    for id in ids {
        each(&transcript.read(id)?)?;
    }
    Ok(())
}
