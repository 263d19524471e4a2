//! Messages in progress, as deltas of the app. Pure.
//!
//! The app adds what comes to what it has, so each piece must begin where the one before ended. A connection that comes
//! in the middle of a block gets nothing of it until it asks for the history; then it gets the block from its start. The
//! offset and the block are in fields of ours, for clients that would rather splice.

use std::collections::HashMap;

use towline_protocol::dialect::pocket::{BridgeId, Delta as Piece, ToClient};

use crate::hub::{Delta, Draft, Part};

use super::frames::json_of;

/// How far the messages in progress were told, by session and block.
#[derive(Debug, Default)]
pub(super) struct Streams {
    told: HashMap<BridgeId, HashMap<u64, u64>>,
}

impl Streams {
    /// A piece of a message in progress; nothing if what is before it was not told, or the app has no word for it.
    pub(super) fn delta(&mut self, session: &BridgeId, delta: &Delta) -> Option<ToClient> {
        // What subagents write would be mixed up with the rest; their whole messages come all the same.
        if delta.parent.is_some() {
            return None;
        }
        let told = self.told.entry(session.clone()).or_default();
        let end = told.entry(delta.block).or_default();
        if delta.offset == 0 {
            *end = 0;
        }
        if delta.offset > *end || delta.end <= *end {
            return None;
        }
        let text = delta.text();
        let rest = after(&text, *end - delta.offset).to_owned();
        let offset = std::mem::replace(end, delta.end);
        piece(session, delta.part, delta.block, offset, rest)
    }

    /// What is to be told of the messages in progress to who has everything before them.
    pub(super) fn drafts(
        &mut self,
        session: &BridgeId,
        drafts: &[(Option<towline_protocol::ToolUseId>, Draft)],
    ) -> Vec<ToClient> {
        let main = drafts.iter().find(|(parent, _)| parent.is_none());
        let blocks = main.map(|(_, draft)| draft.blocks.as_slice());
        let told = self.told.entry(session.clone()).or_default();
        let mut pieces = Vec::new();
        for block in blocks.unwrap_or_default() {
            let end = told.entry(block.block).or_default();
            let known = if *end > block.end() { 0 } else { *end };
            // Of a very long block only its end is kept.
            let offset = known.max(block.offset);
            let text = after(&block.text, offset - block.offset).to_owned();
            *end = block.end();
            pieces.extend(piece(session, block.part, block.block, offset, text));
        }
        pieces
    }

    /// A whole message has come, or the turn is over: what follows begins anew.
    pub(super) fn settle(&mut self, session: &BridgeId) {
        self.told.remove(session);
    }
}

fn piece(
    session: &BridgeId,
    part: Part,
    block: u64,
    offset: u64,
    text: String,
) -> Option<ToClient> {
    if text.is_empty() {
        return None;
    }
    let mut piece = Piece {
        text: text.into(),
        session_id: Some(session.clone()),
        ..Piece::default()
    };
    piece.extra.insert("offset", json_of(&offset));
    piece.extra.insert("block", json_of(&block));
    match part {
        Part::Text => Some(ToClient::StreamDelta(piece)),
        Part::Thinking => Some(ToClient::ThinkingDelta(piece)),
        // The app shows calls when they are complete.
        Part::ToolInput => None,
    }
}

/// What is left of a text behind so many UTF-16 code units.
fn after(text: &str, units: u64) -> &str {
    let mut passed = 0;
    let start = text.char_indices().find(|(_, character)| {
        let is_there = passed >= units;
        passed += character.len_utf16() as u64;
        is_there
    });
    start.map_or("", |(start, _)| &text[start..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hub::DraftBlock;

    fn delta(block: u64, offset: u64, text: &str) -> Delta {
        let end = offset + text.encode_utf16().count() as u64;
        Delta {
            parent: None,
            block,
            part: Part::Text,
            tool_name: None,
            offset,
            end,
            pieces: vec![text.into()],
        }
    }

    fn text(message: Option<&ToClient>) -> Option<(String, String)> {
        let Some(ToClient::StreamDelta(piece)) = message else {
            return None;
        };
        let offset = piece.extra.get("offset").unwrap().as_str().to_owned();
        Some((piece.text.to_string(), offset))
    }

    #[test]
    fn pieces_are_told_from_the_start_of_a_block_and_none_twice() {
        let session = BridgeId::from_bits(1);
        let mut streams = Streams::default();
        let mut check = |delta: Delta, expected: Option<(&str, &str)>| {
            let told = streams.delta(&session, &delta);
            let expected = expected.map(|(text, at)| (text.to_owned(), at.to_owned()));
            assert_eq!(text(told.as_ref()), expected, "{delta:?}");
        };
        check(delta(0, 5, "in the middle"), None);
        check(delta(1, 0, "än😀"), Some(("än😀", "0")));
        check(delta(1, 4, "fang"), Some(("fang", "4")));
        check(delta(1, 2, "😀fang"), None);
        check(delta(1, 4, "fang und"), Some((" und", "8")));
        check(delta(1, 0, "anew"), Some(("anew", "0")));
    }

    #[test]
    fn a_draft_is_told_as_far_as_it_is_not_known() {
        let session = BridgeId::from_bits(1);
        let block = DraftBlock::new(0, Part::Text, "one two three");
        let drafts = [(
            None,
            Draft {
                message: None,
                blocks: vec![block],
            },
        )];
        let mut streams = Streams::default();
        streams.delta(&session, &delta(0, 0, "one "));
        let rest = streams.drafts(&session, &drafts);
        assert_eq!(
            text(rest.first()),
            Some(("two three".to_owned(), "4".to_owned()))
        );
        assert!(streams.drafts(&session, &drafts).is_empty());
        streams.settle(&session);
        let whole = streams.drafts(&session, &drafts);
        assert_eq!(
            text(whole.first()),
            Some(("one two three".to_owned(), "0".to_owned()))
        );
    }
}
