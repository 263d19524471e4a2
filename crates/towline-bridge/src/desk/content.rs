//! [`Unsayable`]: why something is no message of a person. What reaches an agent as one is what the Messages API takes as one.

use thiserror::Error;
use towline_protocol::{Block, Content, Wire as _};

/// Why something cannot be said.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum Unsayable {
    /// There is nothing in it.
    #[error("nothing is said: the content is empty; send words, a picture or a document")]
    Nothing,
    /// It is neither words nor blocks.
    #[error(
        "the content cannot be read: {0}; send a string, or a list of blocks of type text, image or document"
    )]
    Unreadable(String),
    /// Something else than a person says it.
    #[error(
        "block {number} of the content is of type {kind:?}; send blocks of type text, image or document, \
         and answer a question under its own name"
    )]
    Block {
        /// Which, from 1 on.
        number: usize,
        /// What it says it is.
        kind: String,
    },
}

impl Unsayable {
    /// Checks what somebody wants to say.
    pub(super) fn check(content: &str) -> Result<(), Self> {
        let unreadable = |error: &dyn std::fmt::Display| Self::Unreadable(error.to_string());
        let content = Content::from_json(content.to_owned()).map_err(|error| unreadable(&error))?;
        let blocks = match &content {
            Content::Text(text) => return something(!text.trim().is_empty()),
            Content::Object(_) => return Err(unreadable(&"it is an object")),
            Content::Blocks(blocks) => blocks,
        };
        let mut is_said = false;
        for (index, block) in blocks.iter().enumerate() {
            is_said |= match block {
                Block::Text(block) => !block.text.trim().is_empty(),
                Block::Image(_) | Block::Document(_) => true,
                other => {
                    return Err(Self::Block {
                        number: index + 1,
                        kind: other.kind().to_owned(),
                    });
                }
            };
        }
        something(is_said)
    }
}

fn something(is_said: bool) -> Result<(), Unsayable> {
    if is_said {
        Ok(())
    } else {
        Err(Unsayable::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &str, expected: Result<(), &str>) {
        let checked = Unsayable::check(content).map_err(|why| why.to_string());
        match (checked, expected) {
            (Ok(()), Ok(())) => {}
            (Err(why), Err(words)) => assert!(why.contains(words), "{content}: {why}"),
            (checked, expected) => panic!("{content}: {checked:?} instead of {expected:?}"),
        }
    }

    #[test]
    fn a_person_says_words_pictures_and_documents() {
        for content in [
            r#""hello""#,
            r#"[{"type":"text","text":"hello"}]"#,
            r#"[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]"#,
            r#"[{"type":"document","source":{"type":"url","url":"https://example.com/a.pdf"}},{"type":"text","text":""}]"#,
        ] {
            check(content, Ok(()));
        }
    }

    #[test]
    fn what_is_empty_or_of_another_form_is_no_message() {
        for (content, words) in [
            (r#""""#, "nothing is said"),
            (r#"" \n""#, "nothing is said"),
            ("[]", "nothing is said"),
            (r#"[{"type":"text","text":" "}]"#, "nothing is said"),
            (r#"{"a":1}"#, "it is an object"),
            ("7", "cannot be read"),
            ("null", "cannot be read"),
            (r#"["hello"]"#, "cannot be read"),
            (r#"[{"text":"hello"}]"#, "block 1"),
            (r#"[{"type":"text"}]"#, "cannot be read"),
            (r#"[{"type":"image"}]"#, "cannot be read"),
            (
                r#"[{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"t","content":"x"}]"#,
                r#"block 2 of the content is of type "tool_result""#,
            ),
            (
                r#"[{"type":"tool_use","id":"t","name":"Bash","input":{}}]"#,
                "tool_use",
            ),
            (r#"[{"type":"thinking","thinking":"x"}]"#, "thinking"),
            (r#"[{"type":"audio","source":{}}]"#, "audio"),
        ] {
            check(content, Err(words));
        }
    }
}
