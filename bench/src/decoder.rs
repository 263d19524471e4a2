//! Owns what the benchmark asks of an implementation, and the list entry made
//! from it.

use crate::items::{CheapSum, ItemHashes, Sink};
use bytes::Bytes;
use serde_json::Value;
use std::hint::black_box;

/// What became of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Read,
    /// Taken without error, but its content is gone.
    Skipped,
    Failed,
}

/// A decoded line turned back into JSON.
pub enum Recoded {
    Value(Value),
    /// The type cannot be serialised at all.
    NoEncoder,
    /// Decoding or encoding failed, or the line was skipped.
    Nothing,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Parses JSON but knows nothing of the protocol; for orientation only.
    Context,
    /// One of the crates the ratio is measured against.
    Peer,
    Ours,
    /// Reads only kind, session and parent of a line; see `tree::read_peek`.
    Peek,
}

/// One implementation: how it decodes a line and gives out the items.
pub trait Decoder {
    const NAME: &'static str;
    const ROLE: Role;
    /// Claims to read every item of every line; the run fails if it does not.
    const COMPLETE: bool;

    /// Decodes one line (without its newline) to the message type and reads the
    /// items of it, see `items`.
    fn read<S: Sink>(line: &Bytes, sink: &mut S) -> Outcome;

    /// Decodes one line and encodes the message again.
    fn recode(_line: &Bytes) -> Recoded {
        Recoded::NoEncoder
    }
}

/// A [`Decoder`] as an entry of a list.
pub struct Row {
    pub name: &'static str,
    pub role: Role,
    pub complete: bool,
    /// One pass over all lines into the cheap sink: the timed work.
    pub pass: fn(&[Bytes]) -> u32,
    pub hashes: fn(&Bytes, &mut ItemHashes) -> Outcome,
    pub recode: fn(&Bytes) -> Recoded,
}

impl Row {
    pub fn of<D: Decoder>() -> Self {
        Self {
            name: D::NAME,
            role: D::ROLE,
            complete: D::COMPLETE,
            pass: pass::<D>,
            hashes: D::read::<ItemHashes>,
            recode: D::recode,
        }
    }
}

fn pass<D: Decoder>(lines: &[Bytes]) -> u32 {
    let mut sum = CheapSum::default();
    for line in lines {
        black_box(D::read(black_box(line), &mut sum));
    }
    sum.0
}

/// The outcome of a decoder that has no way to lose a line silently.
pub fn read_if<T, E>(decoded: Result<T, E>, read: impl FnOnce(T)) -> Outcome {
    match decoded {
        Ok(message) => {
            read(message);
            Outcome::Read
        }
        Err(_) => Outcome::Failed,
    }
}

/// For peers that decode text: their own readers check UTF-8 per line too.
pub fn utf8(line: &[u8]) -> &str {
    std::str::from_utf8(line).unwrap_or("")
}

pub fn recode_if<T: serde::Serialize, E>(decoded: Result<T, E>) -> Recoded {
    let value = decoded
        .ok()
        .and_then(|message| serde_json::to_value(message).ok());
    value.map_or(Recoded::Nothing, Recoded::Value)
}
