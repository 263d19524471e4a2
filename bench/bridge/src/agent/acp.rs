//! The agent's words in ACP: JSON-RPC, a notification a piece.

use std::io;

use serde_json::{Value, json};

use crate::{Out, turn};

/// Does what a message wants.
pub fn handle(message: &Value, out: &mut Out) -> io::Result<()> {
    // What has no id wants no answer.
    let Some(id) = message.get("id") else {
        return Ok(());
    };
    let result = match message["method"].as_str() {
        Some("initialize") => {
            json!({"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []})
        }
        Some("session/new") => json!({"sessionId": session()}),
        Some("session/prompt") => {
            let prompt = message["params"]["prompt"][0]["text"].as_str();
            turn::take(prompt.unwrap_or_default(), &mut Speech { out })?;
            json!({"stopReason": "end_turn"})
        }
        _ => {
            let error = json!({"code": -32601, "message": "not known here"});
            return out.value(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
        }
    };
    out.value(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

struct Speech<'a> {
    out: &'a mut Out,
}

impl turn::Speech for Speech<'_> {
    fn begin_message(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn say(&mut self, piece: &str) -> io::Result<()> {
        let session = session();
        let before = format!(
            r#"{{"jsonrpc":"2.0","method":"session/update","params":{{"sessionId":"{session}","update":{{"sessionUpdate":"agent_message_chunk","content":{{"type":"text","text":"#
        );
        self.out.text(&before, piece, "}}}}")
    }

    fn end_message(&mut self, _whole: &str) -> io::Result<()> {
        Ok(())
    }
}

fn session() -> String {
    format!("session-{}", std::process::id())
}
