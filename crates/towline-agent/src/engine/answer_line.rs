//! Answers that come as a `user` line with a `tool_result` (documents 001 and 004). They are answers only while the person is
//! asked that very question; the real CLI (2.1.325) never takes them as such.

use serde_json::{Map, Value, json};
use towline_protocol::{Block, Content, Json, Outcome as Answered, ToolResultBlock, User};

use super::Engine;

impl Engine {
    /// Takes a line as the answer to the open question that it is about. Whether it was one.
    pub(super) fn take_as_answer(&mut self, line: &User) -> bool {
        let content = line.message.content.as_option();
        let Some([Block::ToolResult(result)]) = content.map(Content::blocks) else {
            return false;
        };
        let open = self.questions.iter().find(|(_, question)| {
            let call = &question.call;
            call.id == result.tool_use_id && call.name.as_str() == "AskUserQuestion"
        });
        let id = open.map(|(id, _)| id.clone());
        let (Some(id), Ok(answer)) = (id, Json::of(&permission_answer(result))) else {
            return false;
        };
        let Some(question) = self.questions.remove(&id) else {
            return false;
        };
        // It was asked in a request, which is over too.
        self.peer.cancel(&id);
        self.settle_question(question, Answered::Answered(Some(answer)));
        true
    }
}

/// The same as an answer to the permission question: the text is JSON with `answers`, or the person's own words.
fn permission_answer(result: &ToolResultBlock) -> Value {
    let text = result.content.as_option().map(Content::text);
    let text = text.unwrap_or_default();
    if result.is_error.as_option() == Some(&true) {
        return json!({"behavior": "deny", "message": text.as_str()});
    }
    let given = serde_json::from_str::<Map<String, Value>>(&text).ok();
    let given = given.filter(|given| given.contains_key("answers"));
    let given = given.map_or_else(|| json!({"response": text.as_str()}), Value::Object);
    json!({"behavior": "allow", "updatedInput": given})
}

#[cfg(test)]
mod tests {
    use towline_protocol::Wire as _;

    use super::*;

    #[test]
    fn a_result_is_read_as_the_answer_it_is_meant_to_be() {
        for (result, expected) in [
            (
                json!({"content": r#"{"answers":{"0":"Blue"}}"#}),
                json!({"behavior": "allow", "updatedInput": {"answers": {"0": "Blue"}}}),
            ),
            (
                json!({"content": [{"type": "text", "text": r#"{"answers":{"0":["Blue"]}}"#}]}),
                json!({"behavior": "allow", "updatedInput": {"answers": {"0": ["Blue"]}}}),
            ),
            (
                json!({"content": "as blue as can be"}),
                json!({"behavior": "allow", "updatedInput": {"response": "as blue as can be"}}),
            ),
            (
                json!({"content": r#"{"0":"Blue"}"#}),
                json!({"behavior": "allow", "updatedInput": {"response": r#"{"0":"Blue"}"#}}),
            ),
            (
                json!({"content": "not now", "is_error": true}),
                json!({"behavior": "deny", "message": "not now"}),
            ),
            (
                json!({}),
                json!({"behavior": "allow", "updatedInput": {"response": ""}}),
            ),
        ] {
            let mut block = result.clone();
            block["type"] = "tool_result".into();
            block["tool_use_id"] = "toolu_1".into();
            let Ok(Block::ToolResult(block)) = Block::from_json(block.to_string()) else {
                panic!("{block} is no result");
            };
            assert_eq!(permission_answer(&block), expected, "{result}");
        }
    }
}
