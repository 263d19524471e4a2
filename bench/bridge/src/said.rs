//! What an event of a server means to a viewer.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;

use crate::{server::Kind, sse::Event};

/// What an event means.
#[derive(Debug)]
pub enum Said<'a> {
    /// The next words.
    Words(Cow<'a, str>),
    /// Words are left out; what makes up for them follows.
    Gap,
    /// The words of the message in progress, and where they begin, in UTF-16 code units.
    Draft(usize, String),
    /// A complete line, which may hold a message: see [`whole_message`].
    Line(&'a [u8]),
    /// Something else.
    Other,
}

/// Reads an event of a server.
pub fn read<'a>(kind: Kind, event: &Event<'a>) -> Said<'a> {
    let said = match (kind, event.name) {
        (Kind::Ours, b"delta") => {
            let delta = serde_json::from_slice::<Delta<'a>>(event.data);
            delta.ok().map(|delta| Said::Words(delta.text))
        }
        (Kind::Ours, b"frame") => Some(Said::Line(event.data)),
        (Kind::Ours, b"gap") => Some(Said::Gap),
        (Kind::Ours, b"live") => draft(event.data),
        (Kind::Ours, _) => None,
        (Kind::Peer, _) => {
            let update = serde_json::from_slice::<Notification<'a>>(event.data);
            update
                .ok()
                .map(|update| Said::Words(update.params.update.content.text))
        }
        (Kind::Bare, _) => {
            let line = serde_json::from_slice::<Line<'a>>(event.data);
            line.ok().map(|line| Said::Words(line.event.delta.text))
        }
    };
    said.unwrap_or(Said::Other)
}

fn draft(data: &[u8]) -> Option<Said<'static>> {
    let live: Value = serde_json::from_slice(data).ok()?;
    let block = &live["drafts"][0]["blocks"][0];
    let offset = usize::try_from(block["offset"].as_u64()?).ok()?;
    Some(Said::Draft(offset, block["text"].as_str()?.to_owned()))
}

/// The words of a line of ours, if it is a complete message.
pub fn whole_message(line: &[u8]) -> Option<String> {
    let frame: Value = serde_json::from_slice(line).ok()?;
    let words = &frame["body"]["message"]["content"][0]["text"];
    (frame["body"]["type"] == "assistant").then(|| words.as_str().unwrap_or_default().to_owned())
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow)]
    text: Cow<'a, str>,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    event: StreamEvent<'a>,
}

#[derive(Deserialize)]
struct StreamEvent<'a> {
    #[serde(borrow)]
    delta: Delta<'a>,
}

#[derive(Deserialize)]
struct Notification<'a> {
    #[serde(borrow)]
    params: Params<'a>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow)]
    update: Update<'a>,
}

#[derive(Deserialize)]
struct Update<'a> {
    #[serde(borrow)]
    content: Delta<'a>,
}
