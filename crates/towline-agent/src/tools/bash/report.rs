//! What the model and the host are told of a command: texts and `tool_use_result`, in the shapes of the real CLI (traces
//! `sessions-bash_default_timeout`, `control-06d_stop_task`, `control-11_tools_default`).

use std::{io, path::PathBuf, time::Duration};

use serde_json::{Value, json};

use super::super::{Outcome, Place};
use crate::commands::{Ended, Task, TaskEnd};

/// A command was started in the background.
pub(super) fn started(task: &Task) -> Outcome {
    let text = format!(
        "Command running in background with ID: {}. Output is being written to: {}. You will be told when it is over; \
         TaskOutput shows how far it is, TaskStop ends it.",
        task.id,
        output_file(task)
    );
    in_background(task, &text)
}

/// A command that was waited for goes on in the background.
pub(super) fn backgrounded(task: &Task) -> Outcome {
    let text = format!(
        "The command was moved to the background (ID: {}). Output is being written to: {}. You will be told when it \
         is over.",
        task.id,
        output_file(task)
    );
    in_background(task, &text)
}

fn in_background(task: &Task, text: &str) -> Outcome {
    let mut data = data("", "");
    data["backgroundTaskId"] = json!(task.id);
    Outcome {
        is_error: Some(false),
        ..Outcome::new(text, data)
    }
}

fn output_file(task: &Task) -> String {
    let path = task.output_file.as_ref();
    path.map_or_else(String::new, |path| path.display().to_string())
}

/// A command that was waited for is over. `note` is what is to be said about the shell's directory.
pub(super) async fn ended(
    ended: &Ended,
    place: &Place,
    timeout: Duration,
    note: Option<String>,
) -> Outcome {
    let outcome = match ended.end {
        TaskEnd::Exited(0) => succeeded(ended, place, note).await,
        TaskEnd::Exited(code) => failed(ended, &format!("Exit code {code}"), place, note).await,
        TaskEnd::TimedOut => {
            let time = in_words(timeout);
            let first = format!("Exit code 143\nCommand timed out after {time}");
            failed(ended, &first, place, note).await
        }
        TaskEnd::WroteTooMuch => {
            let first = "Exit code 143\nCommand was ended: it wrote more than 1 GB";
            failed(ended, first, place, note).await
        }
        TaskEnd::Stopped => {
            failed(
                ended,
                "Exit code 137\nCommand was ended from outside",
                place,
                note,
            )
            .await
        }
    };
    outcome.unwrap_or_else(|error| {
        Outcome::error(format!("the output of the command cannot be read: {error}"))
    })
}

/// Whether a command says nothing when all goes well, so that nothing is not a surprise. A simple look at its first words is
/// enough: it is for those who show it.
pub(super) fn is_silent(command: &str) -> bool {
    let mut parts = command.split([';', '|', '&', '\n']).map(str::trim);
    parts.all(|part| {
        part.is_empty() || SILENT.contains(&part.split_whitespace().next().unwrap_or_default())
    })
}

async fn succeeded(ended: &Ended, place: &Place, note: Option<String>) -> io::Result<Outcome> {
    // Four bytes a character at most: what is cut here is too long in any case.
    let most = place.shell.max_output;
    let output = ended.first(most as u64 * 4).await?;
    let shown = trim(&output.text);
    let note = note.unwrap_or_default();
    let is_long = output.is_cut || shown.chars().nth(most).is_some();
    if !is_long {
        let text = match (shown, note.as_str()) {
            ("", "") => NOTHING.to_owned(),
            (text, "") | ("", text) => text.to_owned(),
            (text, note) => format!("{text}\n{note}"),
        };
        return Ok(Outcome {
            is_error: Some(false),
            ..Outcome::new(text.as_str(), data(shown, &note))
        });
    }
    let path = keep(ended, place).await?;
    let mut text = persisted(&path, output.total_bytes, shown);
    if !note.is_empty() {
        text = format!("{text}\n{note}");
    }
    let mut data = data(&first_characters(shown, most), &note);
    data["persistedOutputPath"] = json!(path);
    data["persistedOutputSize"] = json!(output.total_bytes);
    Ok(Outcome {
        is_error: Some(false),
        ..Outcome::new(text.as_str(), data)
    })
}

async fn failed(
    ended: &Ended,
    first: &str,
    place: &Place,
    note: Option<String>,
) -> io::Result<Outcome> {
    // Four bytes a character at most: what is cut here is too long in any case.
    let head = ended.first(MOST_OF_FAILED as u64 * 4).await?;
    let text = trim(&head.text);
    let is_long = head.is_cut || text.chars().nth(MOST_OF_FAILED).is_some();
    let output = if is_long {
        let tail = ended.last(MOST_OF_FAILED as u64 / 2 * 4).await?;
        join_cut(text, &gap(ended, place).await, trim(&tail.text))
    } else {
        text.to_owned()
    };
    let parts = [first, &output, note.as_deref().unwrap_or_default()];
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    Ok(Outcome::error(parts.join("\n")))
}

/// What stands in place of the middle of an output: where it is.
async fn gap(ended: &Ended, place: &Place) -> String {
    if ended.end == TaskEnd::WroteTooMuch {
        return "... [the middle of the output is left out, and not kept: it is too much] ..."
            .to_owned();
    }
    match keep(ended, place).await {
        Ok(path) => format!(
            "... [the middle of the output is left out; full output saved to: {}] ...",
            path.display()
        ),
        // The command is what this is about; that it failed is told in any case.
        Err(error) => {
            format!(
                "... [the middle of the output is left out, and could not be kept: {error}] ..."
            )
        }
    }
}

/// The beginning of one text and the end of another, and between them what is to be said of the gap.
fn join_cut(head: &str, gap: &str, tail: &str) -> String {
    let half = MOST_OF_FAILED / 2;
    let head = first_characters(head, half);
    let skipped = tail.chars().count().saturating_sub(half);
    let tail: String = tail.chars().skip(skipped).collect();
    format!("{head}\n\n{gap}\n\n{tail}")
}

/// Moves the output to where the session keeps what is too long to show.
async fn keep(ended: &Ended, place: &Place) -> io::Result<PathBuf> {
    tokio::fs::create_dir_all(&place.results).await?;
    let path = place.results.join(format!("{}.txt", ended.id()));
    // The two folders may be on different disks.
    if tokio::fs::rename(ended.output(), &path).await.is_err() {
        tokio::fs::copy(ended.output(), &path).await?;
    }
    Ok(path)
}

fn persisted(path: &std::path::Path, size: u64, text: &str) -> String {
    let size = in_bytes(size);
    let preview = first_characters(text, PREVIEW);
    format!(
        "<persisted-output>\nOutput too large ({size}). Full output saved to: {}\n\nPreview (first 2KB):\n{preview}\n...\n</persisted-output>",
        path.display()
    )
}

/// `tool_use_result`.
fn data(stdout: &str, stderr: &str) -> Value {
    json!({
        "stdout": stdout,
        "stderr": stderr,
        "interrupted": false,
        "isImage": false,
        "noOutputExpected": false,
    })
}

/// Without the blank lines at the end.
fn trim(text: &str) -> &str {
    text.trim_end()
}

fn first_characters(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// `2s`, `1.5s`, `2m 0s`.
fn in_words(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds >= 60 {
        format!("{}m {}s", seconds / 60, seconds % 60)
    } else if time.subsec_millis() == 0 {
        format!("{seconds}s")
    } else {
        let tenths = time.as_millis() / 100;
        format!("{}.{}s", tenths / 10, tenths % 10)
    }
}

/// `106.3KB`.
fn in_bytes(size: u64) -> String {
    let (unit, name) = if size < 1 << 20 {
        (1 << 10, "KB")
    } else if size < 1 << 30 {
        (1 << 20, "MB")
    } else {
        (1 << 30, "GB")
    };
    let tenths = size.saturating_mul(10) / unit;
    format!("{}.{}{name}", tenths / 10, tenths % 10)
}

/// What stands for no output.
const NOTHING: &str = "(Bash completed with no output)";

/// Commands that say nothing when all goes well.
const SILENT: &[&str] = &[
    "cd", "chgrp", "chmod", "chown", "cp", "export", "ln", "mkdir", "mv", "rm", "rmdir", "touch",
    "unset", "wait",
];

/// The longest output of a command that failed.
const MOST_OF_FAILED: usize = 10_000;

/// How much is shown of an output that is too long.
const PREVIEW: usize = 2_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_written_as_people_write_them() {
        for (milliseconds, text) in [
            (1, "0.0s"),
            (1_000, "1s"),
            (1_500, "1.5s"),
            (60_000, "1m 0s"),
            (125_000, "2m 5s"),
        ] {
            assert_eq!(in_words(Duration::from_millis(milliseconds)), text);
        }
        for (size, text) in [
            (0, "0.0KB"),
            (108_894, "106.3KB"),
            (5 << 20, "5.0MB"),
            (3 << 30, "3.0GB"),
        ] {
            assert_eq!(in_bytes(size), text);
        }
    }
}
