//! Owns the list of what is measured. A new implementation is one file with a
//! `Decoder` and one entry here. Ours belongs into `ours.rs`: a decoder with
//! `Role::Ours`, which the ratio is about, and one with `Role::Peek`.

use crate::context::{SerdePeek, SerdeValue, SonicValue};
use crate::decoder::Row;
use crate::ours::{Towline, TowlinePeek};
use crate::peers::{CcSdk, ClaudeCodeAgentSdk, ClaudeCodes, ClaudeWrapper, Claudecode};

pub fn all() -> Vec<Row> {
    vec![
        Row::of::<SerdeValue>(),
        Row::of::<SonicValue>(),
        Row::of::<ClaudeCodes>(),
        Row::of::<ClaudeWrapper>(),
        Row::of::<Claudecode>(),
        Row::of::<CcSdk>(),
        Row::of::<ClaudeCodeAgentSdk>(),
        Row::of::<Towline>(),
        Row::of::<TowlinePeek>(),
        Row::of::<SerdePeek>(),
    ]
}
