//! The words in a frame that a person may look for. Pure; everything is bounded.

use towline_protocol::{
    Block, Content as MessageContent, Json, Leaf, ToHost, ToolResultBlock, User, Wire, peek_kind,
};

use crate::{Content, Frame, Kind};

/// What was said or done in a frame: inputs, the model's words, what tools were given and gave. Empty for the rest.
///
/// Thinking is left out, and so are echoes of inputs.
pub(crate) fn text_of(frame: &Frame) -> String {
    let mut text = Gathered::default();
    let is_said = frame.kind != Kind::Line
        || peek_kind(&frame.body).is_some_and(|kind| kind == "assistant" || kind == "user");
    if is_said {
        match frame.content() {
            Content::Line(line) => text.add_line(&line.message),
            Content::Input(input) => {
                if let Ok(content) = MessageContent::from_json(input.content.get()) {
                    text.add_content(&content);
                }
            }
            Content::Answer(answer) => text.add(&answer.message.unwrap_or_default(), LONGEST),
            Content::Question(_) | Content::Note(_) | Content::Unreadable => {}
        }
    }
    text.0
}

#[derive(Default)]
struct Gathered(String);

impl Gathered {
    fn add_line(&mut self, line: &ToHost) {
        match line {
            ToHost::Assistant(line) => {
                let message = line.message.as_ref();
                if let Some(content) = message.and_then(|message| message.content.as_option()) {
                    self.add_content(content);
                }
            }
            ToHost::User(line) if !is_echo(line) => {
                if let Some(content) = line.message.content.as_option() {
                    self.add_content(content);
                }
            }
            _ => {}
        }
    }

    fn add_content(&mut self, content: &MessageContent) {
        match content {
            MessageContent::Text(text) => self.add(text, LONGEST),
            MessageContent::Object(json) => self.add_leaves(json),
            MessageContent::Blocks(blocks) => {
                for block in blocks {
                    self.add_block(block);
                }
            }
        }
    }

    fn add_block(&mut self, block: &Block) {
        match block {
            Block::Text(block) => self.add(&block.text, LONGEST),
            Block::ToolUse(call) | Block::ServerToolUse(call) => {
                if let Some(input) = &call.input {
                    self.add_leaves(input);
                }
            }
            Block::ToolResult(result) => self.add_result(result),
            _ => {}
        }
    }

    fn add_result(&mut self, result: &ToolResultBlock) {
        match result.content.as_option() {
            Some(MessageContent::Text(text)) => self.add(text, LONGEST_OF_TOOL),
            Some(MessageContent::Object(json)) => self.add_leaves(json),
            Some(MessageContent::Blocks(blocks)) => {
                for block in blocks {
                    if let Block::Text(block) = block {
                        self.add(&block.text, LONGEST_OF_TOOL);
                    }
                }
            }
            None => {}
        }
    }

    fn add_leaves(&mut self, json: &Json) {
        let mut room = LONGEST_OF_TOOL;
        for leaf in json.leaves() {
            if room == 0 || self.0.len() >= LONGEST {
                break;
            }
            if let Leaf::Text(text) = leaf {
                self.add(&text, room);
                room = room.saturating_sub(text.len());
            }
        }
    }

    /// Adds the beginning of a text on lines of its own.
    fn add(&mut self, text: &str, most: usize) {
        if !self.0.is_empty() && !text.is_empty() {
            self.0.push('\n');
        }
        let room = most.min(LONGEST.saturating_sub(self.0.len()));
        let end = text.floor_char_boundary(room);
        let plain = text[..end].chars().map(|character| match character {
            '\n' => '\n',
            other if other.is_control() => ' ',
            other => other,
        });
        self.0.extend(plain);
    }
}

/// The input itself is in the log already.
fn is_echo(line: &User) -> bool {
    line.is_replay == Some(true)
}

/// Bytes of one frame.
const LONGEST: usize = 16 << 10;
/// Bytes of one tool's input or result.
const LONGEST_OF_TOOL: usize = 2 << 10;

#[cfg(test)]
mod tests {
    use super::{LONGEST, LONGEST_OF_TOOL, text_of};
    use crate::{Frame, Kind};

    fn check(kind: Kind, body: &str) -> String {
        text_of(&Frame {
            seq: 1,
            at: 1,
            kind,
            body: body.into(),
        })
    }

    #[test]
    fn what_was_said_and_done_is_found_in_a_frame() {
        for (kind, body, expected) in [
            (Kind::Input, r#"{"content":"fix it","by":"ann"}"#, "fix it"),
            (
                Kind::Input,
                r#"{"content":[{"type":"text","text":"look\tat"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}],"by":"ann"}"#,
                "look at",
            ),
            (
                Kind::Line,
                r#"{"type":"assistant","message":{"content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"done"}]}}"#,
                "done",
            ),
            (
                Kind::Line,
                r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"ls -l","n":1,"env":{"a":"b"}}}]}}"#,
                "ls -l\nb",
            ),
            (
                Kind::Line,
                r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"text","text":"total 0"}]}]}}"#,
                "total 0",
            ),
            (
                Kind::Line,
                r#"{"type":"user","message":{"role":"user","content":"said elsewhere"}}"#,
                "said elsewhere",
            ),
            (
                Kind::Line,
                r#"{"type":"user","isReplay":true,"message":{"role":"user","content":"an echo"}}"#,
                "",
            ),
            (Kind::Line, r#"{"type":"result","result":"done"}"#, ""),
            (Kind::Line, "nonsense", ""),
            (
                Kind::Answer,
                r#"{"id":"q","outcome":"denied","message":"not now"}"#,
                "not now",
            ),
            (Kind::Note, r#"{"code":"stderr","text":"warning"}"#, ""),
        ] {
            assert_eq!(check(kind, body), expected, "{body}");
        }
    }

    #[test]
    fn long_texts_are_cut_between_characters() {
        let long = "é".repeat(100_000);
        let said = check(
            Kind::Input,
            &format!(r#"{{"content":"{long}","by":"ann"}}"#),
        );
        assert_eq!(said.len(), LONGEST);
        let call = format!(
            r#"{{"type":"assistant","message":{{"content":[{{"type":"tool_use","id":"t","name":"Write","input":{{"a":"x{long}","b":"{long}"}}}}]}}}}"#
        );
        assert_eq!(check(Kind::Line, &call).len(), LONGEST_OF_TOOL - 1);
    }
}
