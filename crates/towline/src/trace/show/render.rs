//! One row as text for a person, or as JSON for a program. Pure.

use std::fmt::{self, Write};

use towline_protocol::Json;

use super::{
    super::row::{Origin, Reading, Row},
    gist::gist,
    questions::Questions,
};
use crate::terminal::{Clip, Palette};

/// The row on one line of at most `width` columns.
pub(crate) fn text(
    row: &Row,
    questions: &Questions,
    palette: &Palette,
    width: Option<usize>,
) -> String {
    let mut clip = Clip::new(width);
    // The only error is that the line is full, and then it is done.
    fill(row, questions, palette, &mut clip).ok();
    let mut line = clip.finish();
    line.truncate(line.trim_end_matches(' ').len());
    line
}

fn fill(row: &Row, questions: &Questions, palette: &Palette, clip: &mut Clip) -> fmt::Result {
    let time = match &row.time {
        Some(milliseconds) => format!("{:.3}", milliseconds.as_f64() / 1000.0),
        None => "-".to_owned(),
    };
    clip.styled(palette.faint, format_args!("{:>4} {time:>8} ", row.number))?;

    let style = match row.origin {
        Origin::Host => palette.host,
        Origin::Agent => palette.agent,
        Origin::Unsaid => palette.heading,
        Origin::Argv | Origin::Stderr => palette.faint,
    };
    clip.styled(style, format_args!("{} {}", row.origin.arrow(), row.kind))?;
    let padding = KIND_COLUMNS.saturating_sub(row.kind.chars().count());
    write!(clip, "{:padding$} ", "")?;

    if let Some(problem) = problem(row) {
        let style = match row.reading {
            Reading::Malformed(_) => palette.malformed,
            Reading::Message { .. } | Reading::Aside => palette.unknown,
        };
        clip.styled(style, format_args!("{problem}"))?;
        clip.write_str("  ")?;
    }
    gist(row, questions, clip)
}

/// The row as one JSON object: `{"row":…,"t":…,"dir":…,"kind":…,"problem":…,"line":…}`.
pub(crate) fn json(row: &Row) -> String {
    let mut object = format!("{{\"row\":{}", row.number);
    let mut add = |name: &str, value: &str| {
        object.push_str(",\"");
        object.push_str(name);
        object.push_str("\":");
        object.push_str(value);
    };
    match &row.time {
        Some(time) => add("t", &time.to_string()),
        None => add("t", "null"),
    }
    match row.origin.direction() {
        Some(direction) => add("dir", &quoted(direction)),
        None => add("dir", "null"),
    }
    add("kind", &quoted(&row.kind));
    if let Some(problem) = problem(row) {
        add("problem", &quoted(&problem));
    }
    // As it was recorded, byte for byte, if that can stand in JSON.
    match Json::new(row.raw.clone()) {
        Ok(line) => add("line", line.as_str()),
        Err(_) => add("line", &quoted(&row.raw)),
    }
    object.push('}');
    object
}

/// What is wrong with the row, in words.
fn problem(row: &Row) -> Option<String> {
    if let Reading::Malformed(why) = &row.reading {
        return Some(format!("malformed: {why}"));
    }
    let unknown: Vec<&str> = row.unknown_kinds().collect();
    (!unknown.is_empty()).then(|| format!("unknown: {}", unknown.join(", ")))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Room for most kinds; a longer one moves its gist to the right.
const KIND_COLUMNS: usize = 24;
