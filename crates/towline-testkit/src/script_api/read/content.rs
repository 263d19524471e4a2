//! The content of a message in a script: blocks, and acts between them.

use super::act;
use crate::script_api::{
    Act, Fields, Json, Place, ScriptError,
    node::{Node, Value},
    reply::{Block, SIGNATURE},
};

/// Blocks in order, and where between them something happens.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) blocks: Vec<Block>,
    pub(super) acts: Vec<(Place, Act)>,
}

impl Content {
    /// The blocks that stand in the reply itself: thinking, text and a tool call, in the order of a model.
    pub(super) fn short_forms(&mut self, fields: &mut Fields<'_>) -> Result<bool, ScriptError> {
        let text = fields.text("text")?;
        if let Some(thinking) = thinking(fields)? {
            self.blocks.push(thinking);
        }
        self.blocks.extend(text.map(Block::Text));
        self.blocks.extend(tool(fields)?);
        Ok(!self.blocks.is_empty())
    }

    /// One element of the list: a string is a text, a table one block or one act.
    pub(super) fn element(&mut self, node: &Node, part: &str) -> Result<(), ScriptError> {
        if let Value::Text(text) = &node.value {
            self.blocks.push(Block::Text(text.clone()));
            return Ok(());
        }
        let mut fields = Fields::of(node, part)?;
        let mut blocks: Vec<Block> = Vec::new();
        blocks.extend(fields.text("text")?.map(Block::Text));
        blocks.extend(thinking(&mut fields)?);
        blocks.extend(
            fields
                .text("redacted_thinking")?
                .map(Block::RedactedThinking),
        );
        blocks.extend(tool(&mut fields)?);
        if let Some(raw) = fields.take("raw") {
            blocks
                .push(raw_block(raw.object()?).ok_or_else(|| raw.problem("`raw` needs a `type`"))?);
        }
        let act = act(&mut fields)?;
        let several = fields.problem("is more than one thing, write one element for each");
        let nothing = fields.problem(
            "says nothing, give it `text`, `thinking`, `redacted_thinking`, `tool`, `raw`, `hold`, `delay_ms`, \
             `cut`, `error` or `send`",
        );
        fields.finish()?;
        match (blocks.pop(), act) {
            _ if !blocks.is_empty() => Err(several),
            (Some(block), None) => {
                self.blocks.push(block);
                Ok(())
            }
            (None, Some(act)) => {
                self.acts.push((Place::Block(self.blocks.len()), act));
                Ok(())
            }
            (Some(_), Some(_)) => Err(several),
            (None, None) => Err(nothing),
        }
    }
}

fn thinking(fields: &mut Fields<'_>) -> Result<Option<Block>, ScriptError> {
    let thinking = fields.text("thinking")?;
    let signature = fields.take("signature");
    match (thinking, signature) {
        (Some(text), signature) => {
            let signature = signature.map(|field| field.text()).transpose()?;
            let signature = signature.unwrap_or_else(|| SIGNATURE.to_owned());
            Ok(Some(Block::Thinking { text, signature }))
        }
        (None, Some(signature)) => Err(signature.problem("`signature` needs `thinking` beside it")),
        (None, None) => Ok(None),
    }
}

fn tool(fields: &mut Fields<'_>) -> Result<Option<Block>, ScriptError> {
    let name = fields.text("tool")?;
    let input = fields.take("input");
    let id = fields.take("tool_id");
    let Some(name) = name else {
        return match input.or(id) {
            Some(field) => {
                let problem = format!("`{}` needs `tool` beside it", field.name);
                Err(field.problem(problem))
            }
            None => Ok(None),
        };
    };
    Ok(Some(Block::Tool {
        id: id.map(|id| id.text()).transpose()?,
        name,
        input: match input {
            Some(input) => input.object()?,
            None => Json::of(&serde_json::json!({})),
        },
    }))
}

/// A block that says what it is.
fn raw_block(block: Json) -> Option<Block> {
    let value: serde_json::Value = serde_json::from_str(block.as_str()).ok()?;
    value["type"].is_string().then_some(Block::Raw(block))
}
