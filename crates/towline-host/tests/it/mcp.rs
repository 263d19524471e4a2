//! MCP servers inside the program: an agent in memory speaks to them as the real CLI does.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde::Deserialize;
use towline_host::{AgentCommand, Session, ToAgent, ToolServer, rmcp};
use towline_testkit::waiting::eventually;

use crate::agents::FakeAgent;

#[derive(Deserialize)]
struct Terms {
    a: f64,
    b: f64,
}

/// Set when a call that never ends is given up.
struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

fn calculator(given_up: &Arc<AtomicBool>) -> ToolServer {
    let schema = || {
        serde_json::from_str(
            r#"{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}}}"#,
        )
        .unwrap()
    };
    let given_up = Arc::clone(given_up);
    ToolServer::new("1.0.0")
        .instructions("Counts.")
        .tool(
            "add",
            "Adds two numbers",
            schema(),
            |terms: Terms| async move { Ok((terms.a + terms.b).to_string()) },
        )
        .tool("divide", "Divides", schema(), |terms: Terms| async move {
            if terms.b == 0.0 {
                return Err("not by zero".to_owned());
            }
            Ok((terms.a / terms.b).to_string())
        })
        .tool("panic", "Panics", schema(), |_: Terms| async move {
            panic!("at the disco")
        })
        .tool(
            "panic_early",
            "Panics before it begins",
            schema(),
            |terms: Terms| {
                assert!(terms.a > 1.0, "at the door");
                async move { Ok(String::new()) }
            },
        )
        .tool("hang", "Never ends", schema(), move |_: Terms| {
            let given_up = Dropped(Arc::clone(&given_up));
            async move {
                let _given_up = given_up;
                std::future::pending().await
            }
        })
}

struct Conversation {
    agent: FakeAgent,
    _session: Session,
    asked: u32,
}

impl Conversation {
    async fn begin(given_up: &Arc<AtomicBool>) -> Self {
        Self::begin_with(AgentCommand::new("fake"), given_up).await
    }

    async fn begin_with(command: AgentCommand, given_up: &Arc<AtomicBool>) -> Self {
        let command = command.mcp_server("calc", calculator(given_up));
        let (session, agent) = FakeAgent::attach(command).await;
        let mut conversation = Self {
            agent,
            _session: session,
            asked: 0,
        };
        let told = conversation
            .ask(r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"claude-code","version":"2.1.325"}}}"#)
            .await;
        assert!(told.contains(r#""instructions":"Counts.""#), "{told}");
        let acknowledged = conversation
            .ask(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)
            .await;
        assert_eq!(acknowledged, r#"{"jsonrpc":"2.0","result":{}}"#);
        conversation
    }

    async fn send(&mut self, message: &str) -> String {
        self.asked += 1;
        let id = format!("m{}", self.asked);
        self.agent
            .write(&format!(
                r#"{{"type":"control_request","request_id":"{id}","request":{{"subtype":"mcp_message","server_name":"calc","message":{message}}}}}"#
            ))
            .await;
        id
    }

    /// The JSON-RPC answer to a message.
    async fn ask(&mut self, message: &str) -> String {
        let id = self.send(message).await;
        let line = self.agent.read_text().await.unwrap();
        let prefix = format!(
            r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}","response":{{"mcp_response":"#
        );
        line.strip_prefix(&prefix)
            .unwrap_or_else(|| panic!("{line}"))
            .strip_suffix("}}}")
            .unwrap()
            .to_owned()
    }

    async fn call(&mut self, id: u32, tool: &str, arguments: &str) -> String {
        self.ask(&call(id, tool, arguments)).await
    }
}

fn call(id: u32, tool: &str, arguments: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments},"_meta":{{"claudecode/toolUseId":"t1","progressToken":{id}}}}}}}"#
    )
}

#[tokio::test]
async fn tools_are_listed_and_called() {
    let mut conversation = Conversation::begin(&Arc::default()).await;
    let list = conversation
        .ask(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{}}"#)
        .await;
    for name in ["add", "divide", "panic", "hang"] {
        assert!(list.contains(&format!(r#""name":"{name}""#)), "{list}");
    }
    let sum = conversation.call(2, "add", r#"{"a":2,"b":3}"#).await;
    assert!(
        sum.contains(r#""text":"5""#) && sum.contains(r#""id":2"#),
        "{sum}"
    );
}

#[tokio::test]
async fn a_call_that_fails_is_an_answer() {
    let mut conversation = Conversation::begin(&Arc::default()).await;
    for (tool, arguments, words) in [
        ("divide", r#"{"a":1,"b":0}"#, "not by zero"),
        ("add", r#"{"a":"one"}"#, "invalid arguments"),
        ("panic", r#"{"a":1,"b":1}"#, "the tool panicked"),
        ("panic_early", r#"{"a":1,"b":1}"#, "the tool panicked"),
    ] {
        let answer = conversation.call(2, tool, arguments).await;
        assert!(
            answer.contains(words) && answer.contains(r#""isError":true"#),
            "{answer}"
        );
    }
    let answer = conversation.call(3, "no_such_tool", "{}").await;
    assert!(
        answer.contains(r#""error""#) && answer.contains("no_such_tool"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_call_that_never_ends_is_given_up_in_time() {
    let given_up = Arc::<AtomicBool>::default();
    let command = AgentCommand::new("fake").mcp_timeout(Some(Duration::from_millis(100)));
    let mut conversation = Conversation::begin_with(command, &given_up).await;
    let id = conversation
        .send(&call(2, "hang", r#"{"a":1,"b":1}"#))
        .await;
    let line = conversation.agent.read_text().await.unwrap();
    let expected = format!(
        r#""subtype":"error","request_id":"{id}","error":"The MCP server did not answer within 100 ms.""#
    );
    assert!(line.contains(&expected), "{line}");
    eventually("the call is given up", || given_up.load(Ordering::SeqCst)).await;
    let sum = conversation.call(3, "add", r#"{"a":2,"b":2}"#).await;
    assert!(sum.contains(r#""text":"4""#), "{sum}");
}

#[tokio::test]
async fn calls_run_beside_each_other() {
    let mut conversation = Conversation::begin(&Arc::default()).await;
    conversation
        .send(&call(7, "hang", r#"{"a":1,"b":1}"#))
        .await;
    let sum = conversation.call(8, "add", r#"{"a":2,"b":2}"#).await;
    assert!(sum.contains(r#""text":"4""#), "{sum}");
}

#[tokio::test]
async fn a_call_that_the_agent_takes_back_is_given_up() {
    let given_up = Arc::new(AtomicBool::new(false));
    let mut conversation = Conversation::begin(&given_up).await;
    let id = conversation
        .send(&call(7, "hang", r#"{"a":1,"b":1}"#))
        .await;
    conversation.call(8, "add", r#"{"a":1,"b":1}"#).await;
    assert!(!given_up.load(Ordering::SeqCst));
    conversation
        .agent
        .write(&format!(
            r#"{{"type":"control_cancel_request","request_id":"{id}"}}"#
        ))
        .await;
    while !given_up.load(Ordering::SeqCst) {
        tokio::task::yield_now().await;
    }
    let sum = conversation.call(9, "add", r#"{"a":1,"b":2}"#).await;
    assert!(
        sum.contains(r#""text":"3""#),
        "nothing was answered in between: {sum}"
    );
}

#[tokio::test]
async fn a_call_that_is_cancelled_by_a_notification_is_answered() {
    let mut conversation = Conversation::begin(&Arc::default()).await;
    let id = conversation
        .send(&call(7, "hang", r#"{"a":1,"b":1}"#))
        .await;
    conversation
        .send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#)
        .await;
    let answer = conversation.agent.read_text().await.unwrap();
    assert!(
        answer.contains(&id) && answer.contains("cancelled"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_call_with_the_id_of_an_open_one_ends_that_one() {
    let mut conversation = Conversation::begin(&Arc::default()).await;
    let first = conversation
        .send(&call(7, "hang", r#"{"a":1,"b":1}"#))
        .await;
    conversation
        .send(&call(7, "hang", r#"{"a":1,"b":1}"#))
        .await;
    let answer = conversation.agent.read_text().await.unwrap();
    assert!(
        answer.contains(&first) && answer.contains("same id"),
        "{answer}"
    );
}

#[tokio::test]
async fn a_server_that_is_not_there_is_refused() {
    let (mut session, mut agent) = FakeAgent::attach(AgentCommand::new("fake")).await;
    agent
        .write(r#"{"type":"control_request","request_id":"m1","request":{"subtype":"mcp_message","server_name":"calc","message":{}}}"#)
        .await;
    // A caller may know it; one who drops the question does not.
    let question = session.next().await.unwrap();
    assert_eq!(crate::agents::in_short(&question), "dialog mcp_message");
    drop(question);
    let ToAgent::ControlResponse(line) = agent.read().await else {
        panic!()
    };
    let refusal = line.outcome().unwrap_err();
    assert_eq!(refusal.error, "there is no MCP server named calc here");
}

#[tokio::test]
async fn what_is_no_json_rpc_is_refused() {
    let mut conversation = Conversation::begin(&Arc::default()).await;
    conversation.send("[1,2,3]").await;
    let ToAgent::ControlResponse(line) = conversation.agent.read().await else {
        panic!()
    };
    assert!(
        line.outcome()
            .unwrap_err()
            .error
            .starts_with("no JSON-RPC message")
    );
}

#[test]
fn the_agent_is_told_of_the_servers() {
    let command = AgentCommand::new("fake").mcp_server("calc", calculator(&Arc::default()));
    let arguments = command.arguments().unwrap();
    let place = arguments
        .iter()
        .position(|word| word == "--mcp-config")
        .unwrap();
    assert_eq!(
        arguments[place + 1],
        r#"{"mcpServers":{"calc":{"type":"sdk","name":"calc"}}}"#
    );
}

#[tokio::test(start_paused = true)]
async fn a_tool_may_take_longer_than_a_person() {
    let slow = ToolServer::new("1.0.0").tool(
        "wait",
        "Takes two hours",
        serde_json::Map::new(),
        |_: rmcp::model::JsonObject| async {
            tokio::time::sleep(Duration::from_secs(2 * 60 * 60)).await;
            Ok("done".to_owned())
        },
    );
    let (reader, writer) = towline_testkit::fake_agent::FakeAgent::start();
    let command = AgentCommand::new("fake").mcp_server("slow", slow);
    let mut session = command.attach(reader, writer).await.unwrap();
    assert_eq!(session.ask("call slow wait {}").await.unwrap().text, "done");
}

#[tokio::test]
async fn a_server_that_comes_later_is_reached_and_replaces_one_of_its_name() {
    let says = |words: &'static str| {
        let call = move |_: rmcp::model::JsonObject| async move { Ok(words.to_owned()) };
        ToolServer::new("1.0.0").tool("say", "Says something", serde_json::Map::new(), call)
    };
    let (reader, writer) = towline_testkit::fake_agent::FakeAgent::start();
    let command = AgentCommand::new("fake");
    let mut session = command.attach(reader, writer).await.unwrap();
    let refused = session.ask("call late say {}").await.unwrap_err();
    assert!(refused.to_string().contains("nobody told"), "{refused}");
    let control = session.control().clone();
    let config = control.serve_mcp("late", says("one")).await.unwrap();
    let told = [("late".to_owned(), config)];
    control.mcp_set_servers(told).await.unwrap();
    assert_eq!(session.ask("call late say {}").await.unwrap().text, "one");
    let config = control.serve_mcp("late", says("two")).await.unwrap();
    let told = [("late".to_owned(), config)];
    control.mcp_set_servers(told).await.unwrap();
    assert_eq!(session.ask("call late say {}").await.unwrap().text, "two");
}
