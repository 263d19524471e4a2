//! Any text given to the decoder, in both directions: no panic, the same verdict as serde_json on what is JSON, and
//! nothing lost between reading and writing.

#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::{Value, value::RawValue};
use towline_protocol::{
    Frame, Json, Text, ToAgent, ToHost, Wire,
    dialect::session,
    peek,
};

fuzz_target!(|text: &str| {
    let ours = Json::new(text).is_ok();
    let theirs = serde_json::from_str::<&RawValue>(text).is_ok();
    // Half a surrogate pair is legal here and in JavaScript, and both raw readers only check its digits.
    assert_eq!(ours, theirs, "{text}");

    if let Some(message) = round_trip::<ToHost>(text) {
        if let Some(id) = message.session_id()
            && serde_json::from_str::<Unrepeated>(text).is_ok()
            && !text.contains("sessionId")
        {
            let found = peek(text).expect("what decodes can be peeked at");
            assert_eq!(found.session_id.as_deref(), Some(id.as_str()));
        }
        drop(message.unnamed_paths());
        drop(session::host_to_standard(session::host_to_dialect(message)));
    }
    if let Some(message) = round_trip::<ToAgent>(text) {
        drop(session::to_dialect(session::to_standard(message), true));
    }
});

/// Reads a line and writes it again: the bytes are kept, and the value is the same where serde_json can compare.
fn round_trip<M: Wire + Clone + PartialEq + std::fmt::Debug>(text: &str) -> Option<M> {
    let frame = Frame::<M>::decode(text).ok()?;
    assert_eq!(frame.bytes(), text.as_bytes());
    let again = frame.message.to_json();
    // A key that comes twice has no one meaning.
    if let Ok(before) = serde_json::from_str::<Value>(text)
        && serde_json::from_str::<Unrepeated>(text).is_ok()
    {
        let after: Value = again.parse().expect("what was written is JSON");
        assert_eq!(after, before);
    }
    M::from_json(Text::clone(again.text())).expect("what was written can be read");
    M::from_json(Text::clone(frame.message.to_standard_json().text())).expect("the standard form can be read");
    Some(frame.message)
}

/// JSON in which no object has a key twice.
struct Unrepeated;

impl<'de> serde::Deserialize<'de> for Unrepeated {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Unrepeated)
    }
}

impl<'de> serde::de::Visitor<'de> for Unrepeated {
    type Value = Self;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("JSON without repeated keys")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self, A::Error> {
        let mut keys = std::collections::HashSet::new();
        while let Some((key, _)) = map.next_entry::<String, Unrepeated>()? {
            if !keys.insert(key) {
                return Err(serde::de::Error::custom("a key comes twice"));
            }
        }
        Ok(self)
    }

    fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut seq: A) -> Result<Self, A::Error> {
        while seq.next_element::<Unrepeated>()?.is_some() {}
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }
}
