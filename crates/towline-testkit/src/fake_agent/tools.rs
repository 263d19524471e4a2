//! The tool calls of the fake agent: what needs permission, what a server of the host does, and subagents.

use std::io;

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use towline_protocol::{Behavior, Json, Outcome, PermissionAnswer, Wire as _};

use super::{
    FakeAgent,
    turn::{End, INTERRUPTED, shown},
};

impl<R: AsyncRead + Unpin, W: AsyncWrite + Unpin> FakeAgent<R, W> {
    pub(super) async fn run(&mut self, command: &str) -> io::Result<End> {
        let input = json!({"command": command});
        let rule = json!({"toolName": "Bash", "ruleContent": command});
        let question = json!({"tool_name": "Bash", "input": input, "permission_suggestions": [
            {"type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings"},
        ]});
        let done = |input: &Value| format!("ran {}", input["command"].as_str().unwrap_or_default());
        self.use_tool(&input, question, done).await
    }

    pub(super) async fn ask_person(&mut self, words: &str) -> io::Result<End> {
        let options = json!([
            {"label": "yes", "description": "Do it"},
            {"label": "no", "description": "Leave it"},
        ]);
        let input = json!({"questions": [
            {"question": words, "header": "Question", "options": options, "multiSelect": false},
        ]});
        let question = json!({"tool_name": "AskUserQuestion", "input": input, "requires_user_interaction": true});
        let done = |input: &Value| match (&input["response"], &input["answers"]) {
            (Value::String(words), _) => format!("heard {words}"),
            (_, answers) => format!("heard {answers}"),
        };
        self.use_tool(&input, question, done).await
    }

    pub(super) async fn plan(&mut self, words: &str) -> io::Result<End> {
        // As with the real CLI, the plan stands in the call and not in the question.
        let question =
            json!({"tool_name": "ExitPlanMode", "input": {}, "requires_user_interaction": true});
        let done = |_: &Value| "begins".to_owned();
        self.use_tool(&json!({"plan": words}), question, done).await
    }

    /// A tool call that needs permission; `done` says what comes of it.
    async fn use_tool(
        &mut self,
        called_with: &Value,
        mut question: Value,
        done: impl Fn(&Value) -> String,
    ) -> io::Result<End> {
        let tool = question["tool_name"].as_str().unwrap_or_default();
        let call = self.tool_use(None, tool, called_with).await?;
        question["subtype"] = "can_use_tool".into();
        question["tool_use_id"] = call.clone().into();
        let answer = match self.ask(&question).await? {
            Outcome::Answered(answer) => answer.unwrap_or_else(Json::empty_object),
            Outcome::Refused(failure) => PermissionAnswer::deny(failure.error).to_json(),
            Outcome::Cancelled | Outcome::TimedOut | Outcome::Closed => {
                return Ok(Err(INTERRUPTED.to_owned()));
            }
        };
        let answer = PermissionAnswer::from_json(answer.text().clone())
            .unwrap_or_else(|error| PermissionAnswer::deny(error.to_string()));
        let why = answer.message.unwrap_or_default();
        let denied = answer.behavior != Behavior::Allow;
        let words = if denied {
            format!("denied: {why}")
        } else {
            let updated = answer.updated_input.and_then(|input| input.parse().ok());
            let done = done(updated.as_ref().unwrap_or(&question["input"]));
            match answer.updated_permissions.unwrap_or_default().len() {
                0 => done,
                count => format!("{done}, with {count} changed permissions"),
            }
        };
        self.tool_result(None, &call, &words, denied).await?;
        if answer.interrupt == Some(true) {
            return Ok(Err(INTERRUPTED.to_owned()));
        }
        Ok(Ok(words))
    }

    pub(super) async fn call_mcp_tool(&mut self, words: &str) -> io::Result<End> {
        let mut words = words.splitn(3, ' ');
        let mut next = || words.next().unwrap_or_default();
        let (server, tool, arguments) = (next(), next(), next());
        let Ok(arguments) = serde_json::from_str::<Value>(arguments) else {
            return Ok(Err(format!("`{arguments}` is no JSON")));
        };
        let is_known = |announced: &Vec<String>| announced.iter().any(|known| known == server);
        if !self.announced.as_ref().is_none_or(is_known) {
            return Ok(Err(format!("nobody told of an MCP server `{server}`")));
        }
        let name = format!("mcp__{server}__{tool}");
        let call = self.tool_use(None, &name, &arguments).await?;
        if !self.greeted.iter().any(|greeted| greeted == server) {
            self.greeted.push(server.to_owned());
            let client = json!({"name": "fake", "version": "0"});
            let params =
                json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": client});
            let hello =
                json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params});
            self.mcp_message(server, hello).await?;
            let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            self.mcp_message(server, ready).await?;
        }
        let params = json!({"name": tool, "arguments": arguments});
        let request =
            json!({"jsonrpc": "2.0", "id": self.calls, "method": "tools/call", "params": params});
        let (words, failed) = match self.mcp_message(server, request).await? {
            Outcome::Answered(Some(answer)) => {
                let answer: Value = answer.parse().unwrap_or_default();
                let result = &answer["mcp_response"]["result"];
                let words = result["content"][0]["text"].as_str();
                let words = words.map_or_else(|| answer.to_string(), str::to_owned);
                (words, result["isError"] == true)
            }
            other => (shown(other), true),
        };
        self.tool_result(None, &call, &words, failed).await?;
        Ok(Ok(words))
    }

    async fn mcp_message(&mut self, server: &str, message: Value) -> io::Result<Outcome> {
        let question = json!({"subtype": "mcp_message", "server_name": server, "message": message});
        self.ask(&question).await
    }

    /// A subagent that runs a command, in the turn or behind it.
    pub(super) async fn subagent(&mut self, words: &str, in_background: bool) -> io::Result<End> {
        let input =
            json!({"description": "a task", "prompt": words, "run_in_background": in_background});
        let call = self.tool_use(None, "Task", &input).await?;
        let task = format!("task-{call}");
        self.write(json!({
            "type": "system", "subtype": "task_started", "task_id": task, "tool_use_id": call,
            "description": "a task", "task_type": "local_agent", "session_id": self.session,
        }))
        .await?;
        if in_background {
            self.tool_result(None, &call, "started", false).await?;
            self.end(Ok("it is at work".to_owned())).await?;
        }
        let inner = self
            .tool_use(Some(&call), "Bash", &json!({"command": "ls"}))
            .await?;
        self.tool_result(Some(&call), &inner, "a.txt", false)
            .await?;
        self.say(Some(&call), json!({"type": "text", "text": words}))
            .await?;
        self.write(json!({
            "type": "system", "subtype": "task_notification", "task_id": task, "tool_use_id": call,
            "status": "completed", "summary": words, "session_id": self.session,
        }))
        .await?;
        if in_background {
            self.init().await?;
        } else {
            self.tool_result(None, &call, words, false).await?;
        }
        Ok(Ok(format!("the subagent says {words}")))
    }

    async fn tool_use(
        &mut self,
        parent: Option<&str>,
        tool: &str,
        input: &Value,
    ) -> io::Result<String> {
        self.calls += 1;
        let id = format!("call-{}", self.calls);
        self.say(
            parent,
            json!({"type": "tool_use", "id": id, "name": tool, "input": input}),
        )
        .await?;
        Ok(id)
    }

    async fn tool_result(
        &mut self,
        parent: Option<&str>,
        call: &str,
        words: &str,
        failed: bool,
    ) -> io::Result<()> {
        let block = json!({"type": "tool_result", "tool_use_id": call, "content": words, "is_error": failed});
        let message = json!({"role": "user", "content": [block]});
        self.write(json!({"type": "user", "message": message, "parent_tool_use_id": parent, "session_id": self.session}))
            .await
    }
}
