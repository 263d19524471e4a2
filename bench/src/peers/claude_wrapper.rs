//! Owns the row of `claude-wrapper`. Its line type is `StreamEvent`, a JSON tree
//! with accessors, decoded with `serde_json::from_str` as its client does. The
//! items are read from that public tree: its accessors cover only a few of them
//! and copy what they return.

use crate::decoder::{Decoder, Outcome, Recoded, Role, read_if, recode_if, utf8};
use crate::items::Sink;
use crate::tree;
use bytes::Bytes;
use claude_wrapper::streaming::StreamEvent;

pub struct ClaudeWrapper;

impl Decoder for ClaudeWrapper {
    const NAME: &'static str = "claude-wrapper";
    const ROLE: Role = Role::Peer;
    const COMPLETE: bool = true;

    fn read<S: Sink>(line: &Bytes, sink: &mut S) -> Outcome {
        read_if(serde_json::from_str::<StreamEvent>(utf8(line)), |event| {
            tree::read_line(&event.data, sink);
        })
    }
    fn recode(line: &Bytes) -> Recoded {
        recode_if(serde_json::from_str::<StreamEvent>(utf8(line)))
    }
}
