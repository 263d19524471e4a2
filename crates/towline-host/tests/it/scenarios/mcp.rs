//! MCP servers of the host.

use serde::Deserialize;
use serde_json::json;
use towline_host::{AgentCommand, Event, Json, ToolServer};
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

#[tokio::test]
async fn servers_are_looked_after() {
    Stage::play("servers_are_looked_after", script([]), async |stage| {
        let session = stage.start(with_calculator).await;
        let control = session.control();
        // It connects when it connects.
        let status = loop {
            let status = control.mcp_status().await.unwrap().servers.unwrap();
            if status.iter().any(|server| server.status == "connected") {
                break status;
            }
        };
        for server in status {
            stage.note(format!("{} is {}", server.name, server.status));
        }
        let arguments = Json::new(r#"{"a":20,"b":22}"#).unwrap();
        let answer = control.mcp_call("mcp__calc__add", arguments).await.unwrap();
        stage.note(format!(
            "{:?}",
            answer
                .content
                .unwrap()
                .iter()
                .map(|block| format!("{block:?}").contains("42"))
                .collect::<Vec<_>>()
        ));
        control.mcp_disable("calc").await.unwrap();
        control.mcp_enable("calc").await.unwrap();
        control.mcp_reconnect("calc").await.unwrap();
        let error = control.mcp_reconnect("no_such_server").await.unwrap_err();
        stage.note(error.to_string());
        let set = control.mcp_set_servers([]).await.unwrap();
        stage.note(format!("{set:?}"));
        stage.close(session).await;
    })
    .await;
}
