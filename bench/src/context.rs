//! Owns the rows that know JSON but not the protocol: serde_json's tree (the
//! reference of the proof), sonic-rs's tree, and a peek with a plain struct.

use crate::decoder::{Decoder, Outcome, Recoded, Role, read_if, recode_if, utf8};
use crate::items::Sink;
use crate::tree::{self, Tree};
use bytes::Bytes;
use serde::Deserialize;
use serde_json::Value;
use sonic_rs::{JsonContainerTrait, JsonValueTrait};
use std::borrow::Cow;

pub struct SerdeValue;

impl Decoder for SerdeValue {
    const NAME: &'static str = "serde_json::Value";
    const ROLE: Role = Role::Context;
    const COMPLETE: bool = true;

    fn read<S: Sink>(line: &Bytes, sink: &mut S) -> Outcome {
        // Faster than from_slice, which checks UTF-8 string by string.
        read_if(serde_json::from_str::<Value>(utf8(line)), |value| {
            tree::read_line(&value, sink);
        })
    }
    fn recode(line: &Bytes) -> Recoded {
        recode_if(serde_json::from_slice::<Value>(line))
    }
}

pub struct SonicValue;

impl Decoder for SonicValue {
    const NAME: &'static str = "sonic_rs::Value";
    const ROLE: Role = Role::Context;
    const COMPLETE: bool = true;

    fn read<S: Sink>(line: &Bytes, sink: &mut S) -> Outcome {
        read_if(sonic_rs::from_slice::<sonic_rs::Value>(line), |value| {
            tree::read_line(&value, sink);
        })
    }
    fn recode(line: &Bytes) -> Recoded {
        recode_if(sonic_rs::from_slice::<sonic_rs::Value>(line))
    }
}

impl Tree for sonic_rs::Value {
    fn child(&self, key: &str) -> Option<&Self> {
        self.get(key)
    }
    fn text(&self) -> Option<&str> {
        self.as_str()
    }
    fn unsigned(&self) -> Option<u64> {
        self.as_u64()
    }
    fn double(&self) -> Option<f64> {
        self.as_f64()
    }
    fn boolean(&self) -> Option<bool> {
        self.as_bool()
    }
    fn each_entry(&self, mut visit: impl FnMut(&str, &Self)) {
        for (key, value) in self.as_object().into_iter().flatten() {
            visit(key, value);
        }
    }
    fn each_element(&self, mut visit: impl FnMut(&Self)) {
        for value in self.as_array().into_iter().flatten() {
            visit(value);
        }
    }
}

/// Serde borrows a `Cow` only where it stands alone, not inside an `Option`.
#[derive(Deserialize)]
struct Borrowed<'a>(#[serde(borrow)] Cow<'a, str>);

/// The plain way to look at three fields; serde still parses the whole line.
#[derive(Deserialize)]
struct ThreeFields<'a> {
    #[serde(borrow, rename = "type")]
    kind: Borrowed<'a>,
    session_id: Option<Borrowed<'a>>,
    parent_tool_use_id: Option<Borrowed<'a>>,
}

pub struct SerdePeek;

impl Decoder for SerdePeek {
    const NAME: &'static str = "serde_json, three fields";
    const ROLE: Role = Role::Peek;
    const COMPLETE: bool = true;

    fn read<S: Sink>(line: &Bytes, sink: &mut S) -> Outcome {
        read_if(serde_json::from_slice::<ThreeFields>(line), |fields| {
            sink.tool(&fields.kind.0);
            for id in [fields.session_id, fields.parent_tool_use_id] {
                sink.maybe_id(id.as_ref().map(|id| &*id.0));
            }
        })
    }
}
