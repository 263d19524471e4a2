//! What the documents say of an agent and no recorded conversation shows: calls that the host changes or forbids, flags
//! and requests that the model notices, what side calls cost.

use serde_json::{Value, json};
use towline_testkit::script_api::{Recorded, Reply, Script, ScriptApi, Usage};

use crate::driven::{Driven, api, block_on, prompt, towline_room};

/// Answers a question of the agent.
async fn answer(agent: &mut Driven, question: &Value, answer: Value) {
    let response =
        json!({"subtype": "success", "request_id": question["request_id"], "response": answer});
    agent
        .say(&json!({"type": "control_response", "response": response}))
        .await;
}

/// Asks the agent something, and gives its answer.
async fn request(agent: &mut Driven, request: Value) -> Value {
    agent
        .say(&json!({"type": "control_request", "request_id": "r", "request": request}))
        .await;
    let heard = agent.hear_kind("control_response").await;
    assert_eq!(heard["response"]["subtype"], "success", "{heard}");
    heard["response"]["response"].clone()
}

/// The bodies of all requests to the model.
fn bodies(api: &ScriptApi) -> Vec<Value> {
    let requests = api.requests();
    requests.iter().map(Recorded::body).collect()
}

/// The last block that the model was sent.
fn last_block(body: &Value) -> Value {
    let message = body["messages"].as_array().unwrap().last().unwrap();
    message["content"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone()
}

#[test]
fn an_allowed_call_runs_with_the_input_that_the_host_gives() {
    block_on(async {
        let room = towline_room();
        let api = api(Script::new([
            Reply::message().tool("Bash", json!({"command": "touch theirs"})),
            Reply::text("Done."),
        ]))
        .await;
        let mut agent = Driven::start(&room, &api.url(), &["--permission-prompt-tool", "stdio"]);
        agent.say(&prompt("touch it")).await;
        let question = agent.hear_kind("control_request").await;
        assert_eq!(question["request"]["subtype"], "can_use_tool");
        assert_eq!(question["request"]["tool_name"], "Bash");
        let changed = json!({"command": "touch ours; echo changed"});
        let allow = json!({"behavior": "allow", "updatedInput": changed});
        answer(&mut agent, &question, allow).await;
        let result = agent.hear_kind("user").await;
        assert_eq!(result["message"]["content"][0]["content"], "changed");
        agent.hear_kind("result").await;
        assert!(room.project().join("ours").exists());
        assert!(!room.project().join("theirs").exists());
        assert_eq!(last_block(&bodies(&api)[1])["content"], "changed");
    });
}

#[test]
fn a_denied_call_does_not_run_and_the_model_is_told_why() {
    for (stop, steps) in [(false, 2), (true, 1)] {
        block_on(async {
            let room = towline_room();
            let api = api(Script::new([
                Reply::message().tool("Bash", json!({"command": "touch denied"})),
                Reply::text("Then not."),
            ]))
            .await;
            let mut agent =
                Driven::start(&room, &api.url(), &["--permission-prompt-tool", "stdio"]);
            agent.say(&prompt("touch it")).await;
            let question = agent.hear_kind("control_request").await;
            let deny = json!({"behavior": "deny", "message": "not on a Monday", "interrupt": stop});
            answer(&mut agent, &question, deny).await;
            let told = agent.hear_kind("user").await;
            assert_eq!(told["message"]["content"][0]["is_error"], true);
            let result = agent.hear_kind("result").await;
            assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
            assert!(!room.project().join("denied").exists());
            let bodies = bodies(&api);
            assert_eq!(bodies.len(), steps);
            if !stop {
                assert_eq!(result["subtype"], "success");
                let block = last_block(&bodies[1]);
                assert_eq!(
                    (&block["content"], &block["is_error"]),
                    (&json!("not on a Monday"), &json!(true))
                );
            }
        });
    }
}

/// A flag, and what the model notices of it.
type Noticed = (&'static [&'static str], fn(&Value) -> bool);

#[test]
fn flags_reach_the_model() {
    fn tool(body: &Value, name: &str) -> bool {
        let tools = body["tools"].as_array().unwrap();
        tools.iter().any(|tool| tool["name"] == name)
    }
    let table: &[Noticed] = &[
        (&[], |body| {
            let model = body["model"].as_str().unwrap();
            model.starts_with("claude-") && tool(body, "Bash") && tool(body, "AskUserQuestion")
        }),
        (&["--model", "opus"], |body| {
            body["model"].as_str().unwrap().contains("opus")
        }),
        (&["--model", "claude-of-mine"], |body| {
            body["model"] == "claude-of-mine"
        }),
        (&["--system-prompt", "speak in rhymes"], |body| {
            let system = body["system"].to_string();
            system.contains("speak in rhymes") && system.len() < 2_000
        }),
        (&["--append-system-prompt", "speak in rhymes"], |body| {
            let system = body["system"].to_string();
            system.contains("speak in rhymes") && system.len() > 2_000
        }),
        (&["--tools", "Read,Grep"], |body| {
            body["tools"].as_array().unwrap().len() == 2 && tool(body, "Read") && tool(body, "Grep")
        }),
        (&["--disallowedTools", "Bash"], |body| !tool(body, "Bash")),
        (&["--disallowedTools=AskUserQuestion"], |body| {
            !tool(body, "AskUserQuestion") && tool(body, "Bash")
        }),
        (
            &[
                "--model",
                "claude-sonnet-4-5",
                "--max-thinking-tokens",
                "2000",
            ],
            |body| body["thinking"]["budget_tokens"] == 2000,
        ),
    ];
    block_on(async {
        let room = towline_room();
        for (flags, is_noticed) in table {
            let api = api(Script::new([Reply::text("Hello.")])).await;
            let mut flags = flags.to_vec();
            flags.extend(["--permission-prompt-tool", "stdio"]);
            let mut agent = Driven::start(&room, &api.url(), &flags);
            agent.say(&prompt("hello")).await;
            let init = agent.hear_kind("system").await;
            agent.hear_kind("result").await;
            let body = &bodies(&api)[0];
            assert!(is_noticed(body), "{flags:?}: {body:#}");
            // The host is told of the same tools.
            let tools = body["tools"].as_array().unwrap().iter();
            let tools: Value = tools.map(|tool| tool["name"].clone()).collect();
            assert_eq!(init["tools"], tools, "{flags:?}");
        }
    });
}

#[test]
fn requests_of_the_host_change_what_comes_next() {
    block_on(async {
        let room = towline_room();
        let touch = || Reply::message().tool("Bash", json!({"command": "touch made"}));
        let script = [Reply::text("One."), touch(), Reply::text("Two.")];
        let api = api(Script::new(script)).await;
        let mut agent = Driven::start(&room, &api.url(), &["--permission-prompt-tool", "stdio"]);
        agent.ask("first").await;
        request(
            &mut agent,
            json!({"subtype": "set_model", "model": "claude-sonnet-4-5"}),
        )
        .await;
        request(
            &mut agent,
            json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 1500}),
        )
        .await;
        let mode = json!({"subtype": "set_permission_mode", "mode": "dontAsk"});
        assert_eq!(request(&mut agent, mode).await["mode"], "dontAsk");
        // Nobody is asked in this mode, and so the turn ends by itself.
        let result = agent.ask("second").await;
        assert_eq!(result["permission_denials"][0]["tool_name"], "Bash");
        assert!(!room.project().join("made").exists());
        let bodies = bodies(&api);
        assert_ne!(bodies[0]["model"], "claude-sonnet-4-5");
        assert_eq!(bodies[1]["model"], "claude-sonnet-4-5");
        assert_eq!(bodies[1]["thinking"]["budget_tokens"], 1500);
    });
}

#[test]
fn a_rule_that_the_host_adds_is_kept_and_counts_from_then_on() {
    block_on(async {
        let room = towline_room();
        let touch =
            |name: &str| Reply::message().tool("Bash", json!({"command": format!("touch {name}")}));
        let api = api(Script::new([
            touch("one"),
            touch("two"),
            Reply::text("Done."),
        ]))
        .await;
        let mut agent = Driven::start(&room, &api.url(), &["--permission-prompt-tool", "stdio"]);
        agent.say(&prompt("touch both")).await;
        let question = agent.hear_kind("control_request").await;
        let rule = json!({"toolName": "Bash", "ruleContent": "touch:*"});
        let update = json!({
            "type": "addRules", "rules": [rule], "behavior": "allow", "destination": "localSettings",
        });
        let allow = json!({
            "behavior": "allow",
            "updatedInput": question["request"]["input"],
            "updatedPermissions": [update],
        });
        answer(&mut agent, &question, allow).await;
        // A second question would be waited for in vain.
        agent.hear_kind("result").await;
        assert!(room.project().join("two").exists());
        let settings = room.project().join(".claude/settings.local.json");
        let settings: Value =
            serde_json::from_str(&std::fs::read_to_string(settings).unwrap()).unwrap();
        assert_eq!(settings["permissions"]["allow"], json!(["Bash(touch:*)"]));
    });
}

#[test]
fn a_picture_reaches_the_model() {
    block_on(async {
        let room = towline_room();
        let api = api(Script::new([Reply::text("Red.")])).await;
        let mut agent = Driven::start(&room, &api.url(), &[]);
        let picture = json!({
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
        });
        let content = json!([{"type": "text", "text": "which colour?"}, picture]);
        let line = json!({"type": "user", "message": {"role": "user", "content": content}});
        agent.say(&line).await;
        agent.hear_kind("result").await;
        let body = bodies(&api)[0].clone();
        let blocks = body["messages"].as_array().unwrap().iter();
        let mut blocks = blocks.flat_map(|message| message["content"].as_array().unwrap());
        let found = blocks.find(|block| block["type"] == "image").unwrap();
        assert_eq!(found["source"], picture["source"]);
    });
}

#[test]
fn what_tools_ask_the_model_is_part_of_the_cost() {
    block_on(async {
        let room = towline_room();
        let tokens = |many| Usage {
            output_tokens: Some(many),
            ..Usage::default()
        };
        let search = json!({"query": "what it costs"});
        let api = api(Script::new([
            Reply::message().tool("WebSearch", search).usage(tokens(10)),
            Reply::text("Found.").usage(tokens(700)),
            Reply::text("Done.").usage(tokens(3)),
        ]))
        .await;
        let mut agent = Driven::start(&room, &api.url(), &["--allowedTools", "WebSearch"]);
        let result = agent.ask("search for it").await;
        assert_eq!(result["result"], "Done.", "{result}");
        let usages = result["modelUsage"].as_object().unwrap();
        let output: u64 = usages
            .values()
            .map(|usage| usage["outputTokens"].as_u64().unwrap())
            .sum();
        assert_eq!(output, 713, "{result}");
    });
}
