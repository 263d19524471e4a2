//! What the fake agent does with a prompt: the first word says what, the others what with.

use std::{io, ops::ControlFlow};

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use towline_protocol::{Json, Outcome};

use super::FakeAgent;

/// How a turn ends: with these words of the model, or with this error.
pub(super) type End = Result<String, String>;

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> FakeAgent<R, W> {
    /// One prompt to one result; whether the agent goes on after it.
    pub(super) async fn turn(&mut self, prompt: &str) -> io::Result<ControlFlow<()>> {
        self.interrupted = false;
        self.init().await?;
        let (word, rest) = prompt.split_once(' ').unwrap_or((prompt, ""));
        let end = match word {
            "say" => Ok(rest.to_owned()),
            "stream" => self.stream(rest).await?,
            "run" => self.run(rest).await?,
            "ask" => self.ask_person(rest).await?,
            "plan" => self.plan(rest).await?,
            "hook" => self.hook(rest).await?,
            "form" => self.form(rest).await?,
            "call" => self.call_mcp_tool(rest).await?,
            "subagent" => self.subagent(rest, false).await?,
            "background" => self.subagent(rest, true).await?,
            "wait" => self.wait().await?,
            "garble" => {
                self.write_line("this is no JSON").await?;
                Ok("that was no JSON".to_owned())
            }
            "fail" => Err(rest.to_owned()),
            "crash" => return Ok(ControlFlow::Break(())),
            _ => Ok(prompt.to_owned()),
        };
        self.end(end).await?;
        Ok(ControlFlow::Continue(()))
    }

    pub(super) async fn end(&mut self, end: End) -> io::Result<()> {
        self.turns += 1;
        let mut result = json!({
            "type": "result",
            "subtype": "success",
            "is_error": end.is_err(),
            "num_turns": 1,
            "duration_ms": 1,
            // A cent a turn; like the real CLI it tells what the whole session has cost.
            "total_cost_usd": self.turns as f64 / 100.0,
            "usage": {"input_tokens": 10, "output_tokens": 5},
            "session_id": self.session,
        });
        match end {
            Ok(words) => {
                self.say(None, json!({"type": "text", "text": words}))
                    .await?;
                result["result"] = words.into();
            }
            Err(why) => {
                result["subtype"] = "error_during_execution".into();
                result["errors"] = vec![why].into();
            }
        }
        self.write(result).await
    }

    pub(super) async fn init(&mut self) -> io::Result<()> {
        self.write(json!({
            "type": "system",
            "subtype": "init",
            "session_id": self.session,
            "cwd": "/project",
            "model": "fake",
            "tools": ["Bash", "Task"],
            "slash_commands": ["compact"],
            "permissionMode": "default",
        }))
        .await
    }

    async fn stream(&mut self, words: &str) -> io::Result<End> {
        let mut events = vec![
            json!({"type": "message_start", "message": {
                "id": "stream", "role": "assistant", "model": "fake", "content": [],
                "usage": {"input_tokens": 10, "output_tokens": 1},
            }}),
            json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        ];
        events.extend(words.split_inclusive(' ').map(|word| {
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": word}})
        }));
        events.extend([
            json!({"type": "content_block_stop", "index": 0}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 5}}),
            json!({"type": "message_stop"}),
        ]);
        for event in events {
            self.write(json!({"type": "stream_event", "event": event, "session_id": self.session}))
                .await?;
        }
        Ok(Ok(words.to_owned()))
    }

    async fn hook(&mut self, name: &str) -> io::Result<End> {
        let registered = self.hooks.iter().find(|(_, matchers)| {
            let mut ids = matchers.iter().flat_map(|matcher| &matcher.callback_ids);
            ids.any(|id| id.as_str() == name)
        });
        let Some(event) = registered.map(|(event, _)| event.to_string()) else {
            return Ok(Ok(format!("there is no hook named {name}")));
        };
        let question = json!({
            "subtype": "hook_callback",
            "callback_id": name,
            "tool_use_id": "call-0",
            "input": {
                "session_id": self.session,
                "cwd": "/project",
                "hook_event_name": event,
                "tool_name": "Bash",
                "tool_input": {"command": "ls"},
            },
        });
        let outcome = self.ask(&question).await?;
        Ok(Ok(shown(outcome)))
    }

    async fn form(&mut self, words: &str) -> io::Result<End> {
        let question = json!({
            "subtype": "elicitation",
            "mcp_server_name": "calculator",
            "message": words,
            "mode": "form",
            "requested_schema": {"type": "object", "properties": {"name": {"type": "string"}}},
        });
        let outcome = self.ask(&question).await?;
        Ok(Ok(shown(outcome)))
    }

    async fn wait(&mut self) -> io::Result<End> {
        while !self.interrupted && self.listen().await? {}
        Ok(Err(INTERRUPTED.to_owned()))
    }

    /// One block of the model.
    pub(super) async fn say(&mut self, parent: Option<&str>, block: Value) -> io::Result<()> {
        let message = json!({
            "id": format!("message-{}-{}", self.turns, self.calls),
            "role": "assistant",
            "model": "fake",
            "content": [block],
            "usage": {"input_tokens": 10, "output_tokens": 5},
        });
        self.write(json!({"type": "assistant", "message": message, "parent_tool_use_id": parent, "session_id": self.session}))
            .await
    }
}

/// An answer of the host, as the model would read it.
pub(super) fn shown(outcome: Outcome) -> String {
    match outcome {
        Outcome::Answered(answer) => answer.unwrap_or_else(Json::empty_object).to_string(),
        Outcome::Refused(failure) => format!("refused: {}", failure.error),
        Outcome::Cancelled | Outcome::TimedOut | Outcome::Closed => "no answer".to_owned(),
    }
}

pub(super) const INTERRUPTED: &str = "interrupted";
