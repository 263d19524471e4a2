//! The agent's words in stream-json: the lines that `claude` writes, with their ids.

use std::io;

use serde_json::{Value, json};

use crate::{Out, turn};

/// Does what a line wants.
pub fn handle(line: &Value, out: &mut Out) -> io::Result<()> {
    match line["type"].as_str() {
        Some("control_request") => {
            let answer = json!({"claude_code_version": "2.1.325", "commands": [], "models": []});
            out.value(&json!({"type": "control_response", "response": {
                "subtype": "success", "request_id": line["request_id"], "response": answer,
            }}))
        }
        Some("user") => answer(line, out),
        _ => Ok(()),
    }
}

fn answer(line: &Value, out: &mut Out) -> io::Result<()> {
    let content = &line["message"]["content"];
    let prompt = content.as_str().or_else(|| content[0]["text"].as_str());
    let session = session();
    out.value(&json!({
        "type": "system", "subtype": "init", "cwd": "/", "session_id": session, "tools": [], "mcp_servers": [],
        "model": "bench", "permissionMode": "default", "slash_commands": [], "uuid": uuid(0),
    }))?;
    let mut speech = Speech {
        out,
        session: &session,
        messages: 0,
        lines: 0,
    };
    turn::take(prompt.unwrap_or_default(), &mut speech)?;
    out.value(&json!({
        "type": "result", "subtype": "success", "is_error": false, "duration_ms": 1, "duration_api_ms": 1,
        "num_turns": 1, "result": "", "session_id": session, "total_cost_usd": 0.0,
        "usage": {"input_tokens": 1, "output_tokens": 1}, "permission_denials": [], "uuid": uuid(1),
    }))
}

struct Speech<'a> {
    out: &'a mut Out,
    session: &'a str,
    messages: u64,
    lines: u64,
}

impl Speech<'_> {
    fn event(&mut self, event: &Value) -> io::Result<()> {
        self.lines += 1;
        let (session, uuid) = (self.session, uuid(self.lines));
        self.out.value(&json!({
            "type": "stream_event", "event": event, "session_id": session, "parent_tool_use_id": null, "uuid": uuid,
        }))
    }

    fn message(&self, content: &Value) -> Value {
        json!({
            "model": "bench", "id": format!("msg_{:024}", self.messages), "type": "message", "role": "assistant",
            "content": content, "stop_reason": null, "stop_sequence": null,
            "usage": {"input_tokens": 1, "output_tokens": 1},
        })
    }
}

impl turn::Speech for Speech<'_> {
    fn begin_message(&mut self) -> io::Result<()> {
        self.messages += 1;
        let message = self.message(&json!([]));
        self.event(&json!({"type": "message_start", "message": message}))?;
        let block = json!({"type": "text", "text": ""});
        self.event(&json!({"type": "content_block_start", "index": 0, "content_block": block}))
    }

    fn say(&mut self, piece: &str) -> io::Result<()> {
        const BEFORE: &str = r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"#;
        self.lines += 1;
        let (session, uuid) = (self.session, uuid(self.lines));
        let after =
            format!(r#"}}}},"session_id":"{session}","parent_tool_use_id":null,"uuid":"{uuid}"}}"#);
        self.out.text(BEFORE, piece, &after)
    }

    fn end_message(&mut self, whole: &str) -> io::Result<()> {
        self.lines += 1;
        let message = self.message(&json!([{"type": "text", "text": whole}]));
        let (session, uuid) = (self.session, uuid(self.lines));
        self.out.value(&json!({
            "type": "assistant", "message": message, "parent_tool_use_id": null, "session_id": session, "uuid": uuid,
        }))?;
        self.event(&json!({"type": "content_block_stop", "index": 0}))?;
        let delta = json!({"stop_reason": "end_turn", "stop_sequence": null});
        let usage = json!({"output_tokens": 1});
        self.event(&json!({"type": "message_delta", "delta": delta, "usage": usage}))?;
        self.event(&json!({"type": "message_stop"}))
    }
}

fn session() -> String {
    format!("00000000-0000-4000-8000-{:012}", std::process::id())
}

fn uuid(line: u64) -> String {
    format!("{:08x}-0000-4000-9000-{line:012x}", std::process::id())
}
