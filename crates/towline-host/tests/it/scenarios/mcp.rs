//! MCP servers of the host.

use std::time::Duration;

use serde::Deserialize;
use serde_json::json;
use towline_host::{
    AgentCommand, Control, Event, Json, ToolServer, Wire as _,
    protocol::control::request::McpServerConfig,
};
use towline_testkit::script_api::Reply;

use super::{Stage, script};

#[derive(Deserialize)]
struct Terms {
    a: f64,
    b: f64,
}

fn with_calculator(command: AgentCommand) -> AgentCommand {
    let schema = r#"{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}"#;
    let server = ToolServer::new("1.0.0").tool(
        "add",
        "Adds two numbers",
        serde_json::from_str(schema).unwrap(),
        |terms: Terms| async move {
            if terms.a < 0.0 {
                return Err("too small".to_owned());
            }
            Ok((terms.a + terms.b).to_string())
        },
    );
    command.mcp_server("calc", server)
}

#[tokio::test]
async fn a_tool_of_the_host_is_called() {
    let add = |a: i32| Reply::message().tool("mcp__calc__add", json!({"a": a, "b": 3}));
    let replies = script([add(2), add(-1), Reply::text("Five.")]);
    Stage::play("a_tool_of_the_host_is_called", replies, async |stage| {
        let mut session = stage
            .start(|command| with_calculator(command).allowed_tools(["mcp__calc__add"]))
            .await;
        stage.turn(&mut session, "two and three", drop).await;
        stage.if_real(|_, api| {
            let requests = api.requests();
            assert!(
                requests[1].body().to_string().contains(r#""5""#),
                "{}",
                requests[1].body()
            );
            assert!(requests[2].body().to_string().contains("too small"));
        });
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn a_tool_of_the_host_wants_permission() {
    let add = Reply::message().tool("mcp__calc__add", json!({"a": 2, "b": 3}));
    let replies = script([add, Reply::text("Five.")]);
    Stage::play(
        "a_tool_of_the_host_wants_permission",
        replies,
        async |stage| {
            let mut session = stage.start(with_calculator).await;
            stage
                .turn(&mut session, "two and three", |event| {
                    if let Event::Permission(permission) = event {
                        assert_eq!(permission.tool_name().mcp().unwrap().server, "calc");
                        permission.allow();
                    }
                })
                .await;
            stage.close(session).await;
        },
    )
    .await;
}

/// A server outside this program that counts letters.
const COUNTER: &str = r#"
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    method = message.get("method")
    if method == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "counter", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "count", "description": "Counts letters", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": str(len(message["params"]["arguments"]["word"]))}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

fn counter() -> McpServerConfig {
    McpServerConfig {
        command: Some("python3".into()),
        args: Some(vec!["counter.py".into()]),
        ..McpServerConfig::default()
    }
}

/// Asks until a server is as expected: it connects when it connects.
async fn until(control: &Control, server: &str, expected: &str) {
    let connects = async {
        loop {
            let status = control.mcp_status().await.unwrap().servers.unwrap();
            let found = status.iter().find(|found| found.name == server);
            if found.is_some_and(|found| found.status == expected) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let waited = tokio::time::timeout(Duration::from_secs(60), connects).await;
    waited.unwrap_or_else(|_| panic!("{server} is not {expected} after a minute"));
}

#[tokio::test]
async fn servers_are_looked_after() {
    Stage::play("servers_are_looked_after", script([]), async |stage| {
        stage.if_real(|cli, _| std::fs::write(cli.project().join("counter.py"), COUNTER).unwrap());
        let session = stage
            .start(|command| with_calculator(command).remote_mcp_server("counter", counter()))
            .await;
        let control = session.control();
        until(control, "calc", "connected").await;
        until(control, "counter", "connected").await;
        let word = Json::new(r#"{"word":"towline"}"#).unwrap();
        let answer = control.mcp_call("mcp__counter__count", word).await.unwrap();
        stage.note(format!("counted: {}", answer.content.unwrap().to_json()));
        control.mcp_disable("counter").await.unwrap();
        until(control, "counter", "disabled").await;
        control.mcp_enable("counter").await.unwrap();
        until(control, "counter", "connected").await;
        control.mcp_reconnect("counter").await.unwrap();
        until(control, "counter", "connected").await;
        stage.note(
            control
                .mcp_reconnect("no_such_server")
                .await
                .unwrap_err()
                .to_string(),
        );
        let servers = [("second".to_owned(), counter())];
        let set = control.mcp_set_servers(servers).await.unwrap();
        stage.note(format!("added: {:?}", set.added));
        until(control, "second", "connected").await;
        let set = control.mcp_set_servers([]).await.unwrap();
        stage.note(format!("removed: {:?}", set.removed));
        stage.close(session).await;
    })
    .await;
}
