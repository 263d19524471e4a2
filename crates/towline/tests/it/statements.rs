//! What the documents say of an agent and no recorded conversation shows: calls that the host changes or forbids, flags
//! and requests that the model notices, what side calls cost.

use serde_json::{Value, json};
use towline_testkit::{
    real_cli::RealCli,
    script_api::{Recorded, Reply, Script, ScriptApi, Usage},
};

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
pub(crate) fn bodies(api: &ScriptApi) -> Vec<Value> {
    let requests = api.requests();
    requests.iter().map(Recorded::body).collect()
}

/// The last block that the model was sent.
pub(crate) fn last_block(body: &Value) -> Value {
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
fn a_rule_that_denies_holds_in_every_form_of_the_documents() {
    let rules = |behavior: &str| {
        let flat = json!({"type": "addRules", "toolName": "Bash", "ruleContent": "touch:*", "behavior": behavior, "destination": "session"});
        let snake = json!({"tool_name": "Bash", "rule_content": "touch:*"});
        let snake = json!({"type": "addRules", "rules": [snake], "behavior": behavior, "destination": "session"});
        let bash =
            json!({"type": "bash", "action": behavior, "pattern": "touch:*", "scope": "session"});
        (flat, snake, bash)
    };
    let (flat, snake, bash) = rules("deny");
    let hint = json!({"behavior": "deny", "message": "not again"});
    for (update, is_denied) in [
        (flat, true),
        (snake, true),
        (bash, true),
        // A hint changes nothing, and neither does what would allow in snake case, which the real CLI drops.
        (hint, false),
        (rules("allow").1, false),
    ] {
        block_on(async {
            let room = towline_room();
            let touch = |name: &str| {
                Reply::message().tool("Bash", json!({"command": format!("touch {name}")}))
            };
            let script = [touch("one"), touch("two"), Reply::text("Done.")];
            let api = api(Script::new(script)).await;
            let mut agent =
                Driven::start(&room, &api.url(), &["--permission-prompt-tool", "stdio"]);
            agent.say(&prompt("touch both")).await;
            let question = agent.hear_kind("control_request").await;
            let allow = json!({"behavior": "allow", "updatedPermissions": [update]});
            answer(&mut agent, &question, allow).await;
            let is_next =
                |line: &Value| line["type"] == "result" || line["type"] == "control_request";
            let next = agent.hear(is_next).await;
            assert!(room.project().join("one").exists(), "{update}");
            assert!(!room.project().join("two").exists(), "{update}");
            assert_eq!(next["type"] == "result", is_denied, "{update}: {next}");
        });
    }
}

#[test]
fn a_command_that_is_not_known_goes_to_the_model_as_text() {
    block_on(async {
        let room = towline_room();
        for words in ["/", "/no-such-command now", "/help"] {
            let api = api(Script::new([Reply::text("I see.")])).await;
            let mut command = room.command(&api.url());
            command.args(["-p", words, "--verbose", "--output-format", "stream-json"]);
            command.args(["--max-turns", "1"]);
            let output = tokio::process::Command::from(command)
                .output()
                .await
                .unwrap();
            let lines = String::from_utf8(output.stdout).unwrap();
            let lines: Vec<Value> = lines
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            assert_eq!(lines[0]["slash_commands"], json!(["clear"]), "{words}");
            assert_eq!(lines.last().unwrap()["result"], "I see.", "{words}");
            let said = crate::driven::said(&bodies(&api)[0]);
            assert_eq!(said.last().unwrap(), &format!("user: {words}"));
        }
    });
}

#[test]
fn initialize_sets_the_system_prompt_and_agents() {
    block_on(async {
        let room = towline_room();
        let api = api(Script::new([Reply::text("Hello.")])).await;
        let mut agent = Driven::start(&room, &api.url(), &[]);
        let reviewer = json!({"description": "Reviews", "prompt": "You review."});
        let introduction = json!({
            "subtype": "initialize", "systemPrompt": ["speak in rhymes"],
            "appendSystemPrompt": "and softly", "agents": {"reviewer": reviewer},
        });
        let told = request(&mut agent, introduction).await;
        assert_eq!(told["agents"][0]["name"], "reviewer", "{told}");
        agent.ask("hello").await;
        let system = bodies(&api)[0]["system"].to_string();
        assert!(system.contains("speak in rhymes"), "{system}");
        assert!(system.contains("and softly"), "{system}");
    });
}

#[test]
fn prompts_past_the_bound_get_an_error_line_each() {
    block_on(async {
        let room = towline_room();
        let api = api(
            Script::new([Reply::text("One.").hold("first")]).default_reply(Reply::text("All."))
        )
        .await;
        let mut agent = Driven::start(&room, &api.url(), &[]);
        agent.say(&prompt("first")).await;
        api.wait_until_held("first").await.unwrap();
        // All that may wait are taken without a word.
        let line = format!("{}\n", prompt("and this"));
        agent.write(line.repeat(10_001).as_bytes()).await.unwrap();
        let told = agent.hear_kind("error").await;
        let text = told["error"]["message"].as_str().unwrap();
        assert!(text.starts_with("too many messages wait already"), "{text}");
        api.release("first");
        for expected in ["One.", "All."] {
            assert_eq!(agent.hear_kind("result").await["result"], expected);
        }
        assert_eq!(bodies(&api).len(), 2);
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

/// A call that nothing but a mode allows, and the file it makes.
fn calls(room: &RealCli) -> [(&'static str, Value, &'static str); 2] {
    let path = room.project().join("written.txt");
    [
        (
            "Write",
            json!({"file_path": path, "content": "x"}),
            "written.txt",
        ),
        ("Bash", json!({"command": "truncate -s 0 ran"}), "ran"),
    ]
}

#[test]
fn the_mode_decides_who_is_asked() {
    // What Write and Bash come to: `run`, `ask`, or neither.
    let table: &[(&[&str], &str, [&str; 2])] = &[
        (&[], "default", ["ask", "ask"]),
        (&["--permission-mode", "default"], "default", ["ask", "ask"]),
        (
            &["--permission-mode", "acceptEdits"],
            "acceptEdits",
            ["run", "ask"],
        ),
        (&["--permission-mode", "plan"], "plan", ["ask", "ask"]),
        (
            &["--permission-mode", "dontAsk"],
            "dontAsk",
            ["deny", "deny"],
        ),
        (
            &["--permission-mode", "bypassPermissions"],
            "bypassPermissions",
            ["run", "run"],
        ),
        (
            &["--dangerously-skip-permissions"],
            "bypassPermissions",
            ["run", "run"],
        ),
        (
            &["--allowed-tools", "Bash(git:*),Bash(truncate:*) Write"],
            "default",
            ["run", "run"],
        ),
        (&["--allowedTools", "Bash"], "default", ["ask", "run"]),
    ];
    for (flags, mode, expected) in table {
        block_on(async {
            let room = towline_room();
            for ((tool, input, made), expected) in calls(&room).into_iter().zip(expected) {
                let call = Reply::message().tool(tool, input);
                let api = api(Script::new([call, Reply::text("Done.")])).await;
                let flags = [flags, &["--permission-prompt-tool", "stdio"][..]].concat();
                let mut agent = Driven::start_with(&room, &api.url(), &flags, |command| {
                    command.env("IS_SANDBOX", "1");
                });
                agent.say(&prompt("do it")).await;
                let init = agent.hear_kind("system").await;
                assert_eq!(init["permissionMode"], *mode, "{flags:?}");
                let next = agent
                    .hear(|line| {
                        let kind = line["type"].as_str().unwrap();
                        ["control_request", "result"].contains(&kind)
                    })
                    .await;
                let came_to = match (next["type"].as_str(), room.project().join(made).exists()) {
                    (Some("control_request"), false) => "ask",
                    (Some("result"), true) => "run",
                    (Some("result"), false) => "deny",
                    _ => panic!("{flags:?}, {tool}: {next}"),
                };
                assert_eq!(came_to, *expected, "{flags:?}, {tool}");
            }
        });
    }
}

#[test]
fn a_rule_for_some_commands_does_not_allow_others() {
    // Neither runs by itself, and nobody can be asked.
    let both = "Bash(git:*) Edit";
    for (rules, expected) in [
        (both, [true, true, false]),
        ("Bash(git:*)", [true, false, false]),
        ("Edit", [false, true, false]),
    ] {
        block_on(async {
            let room = towline_room();
            let new = json!({
                "file_path": room.project().join("new.txt"), "old_string": "", "new_string": "x",
            });
            let calls = [
                ("Bash", json!({"command": "git init -q made"})),
                ("Edit", new),
                ("Bash", json!({"command": "truncate -s 0 ran"})),
            ];
            for ((tool, input), is_allowed) in calls.into_iter().zip(expected) {
                let call = Reply::message().tool(tool, input.clone());
                let api = api(Script::new([call, Reply::text("Done.")])).await;
                let flags = ["--allowed-tools", rules];
                let mut agent = Driven::start(&room, &api.url(), &flags);
                let result = agent.ask("do it").await;
                let denials = result["permission_denials"].as_array().unwrap();
                assert_eq!(denials.is_empty(), is_allowed, "{rules}: {input}");
            }
        });
    }
}

#[test]
fn a_mode_that_the_host_sets_first_holds_from_the_first_turn() {
    block_on(async {
        let room = towline_room();
        let api = api(Script::new([Reply::text("A plan.")])).await;
        let flags = [
            "--permission-prompt-tool",
            "stdio",
            "--include-partial-messages",
        ];
        let mut agent = Driven::start(&room, &api.url(), &flags);
        let hello = json!({"subtype": "initialize"});
        agent
            .say(&json!({"type": "control_request", "request_id": "first", "request": hello}))
            .await;
        // Nothing says that the agent is ready: the first line is the answer.
        let answer = agent.line().await.unwrap();
        assert_eq!(answer["type"], "control_response", "{answer}");
        assert_eq!(answer["response"]["request_id"], "first");
        assert!(answer["response"]["response"]["commands"].is_array());
        request(
            &mut agent,
            json!({"subtype": "set_permission_mode", "mode": "plan"}),
        )
        .await;
        agent.say(&prompt("how would you do it?")).await;
        let init = agent.hear(|line| line["subtype"] == "init").await;
        assert_eq!(init["permissionMode"], "plan");
        let id = init["session_id"].as_str().unwrap();
        assert!(uuid::Uuid::parse_str(id).is_ok(), "{id}");
        agent.hear_kind("stream_event").await;
        let result = agent.hear_kind("result").await;
        assert_eq!(
            (&result["subtype"], &result["session_id"]),
            (&json!("success"), &init["session_id"])
        );
    });
}

#[test]
fn a_question_comes_behind_the_start_of_its_block() {
    block_on(async {
        let room = towline_room();
        let call = Reply::message().tool("Bash", json!({"command": "touch asked"}));
        let api = api(Script::new([call])).await;
        let flags = [
            "--permission-prompt-tool",
            "stdio",
            "--include-partial-messages",
        ];
        let mut agent = Driven::start(&room, &api.url(), &flags);
        agent.say(&prompt("touch it")).await;
        let is_call = |line: &Value| line["event"]["content_block"]["type"] == "tool_use";
        let start = agent
            .hear(|line| is_call(line) || line["type"] == "control_request")
            .await;
        assert_eq!(start["type"], "stream_event", "{start}");
        let question = agent.hear_kind("control_request").await;
        assert_eq!(
            question["request"]["tool_use_id"],
            start["event"]["content_block"]["id"]
        );
    });
}

#[test]
fn an_answer_to_a_question_that_was_taken_back_does_nothing() {
    block_on(async {
        let room = towline_room();
        let api = api(Script::new([
            Reply::message().tool("Bash", json!({"command": "touch late"})),
            Reply::text("Hello again."),
        ]))
        .await;
        let mut agent = Driven::start(&room, &api.url(), &["--permission-prompt-tool", "stdio"]);
        agent.say(&prompt("touch it")).await;
        let question = agent.hear_kind("control_request").await;
        request(&mut agent, json!({"subtype": "interrupt"})).await;
        agent.hear_kind("result").await;
        let allow = json!({"behavior": "allow", "updatedInput": question["request"]["input"]});
        answer(&mut agent, &question, allow).await;
        assert_eq!(agent.ask("hello?").await["result"], "Hello again.");
        assert!(!room.project().join("late").exists());
    });
}

/// A question about colours.
fn question() -> Value {
    let option = |label: &str| json!({"label": label, "description": ""});
    json!({"questions": [{
        "question": "Which colour?", "header": "Colour", "multiSelect": false,
        "options": [option("Red"), option("Blue")],
    }]})
}

#[test]
fn a_question_is_answered_by_a_line_of_the_user_too() {
    let content = r#"{"answers":{"0":"Blue"}}"#;
    for (content, is_error, told) in [
        (json!(content), false, "\"Which colour?\"=\"Blue\""),
        (json!([{"type": "text", "text": content}]), false, "Blue"),
        (json!("neither, green"), false, "neither, green"),
        (json!("ask me later"), true, "ask me later"),
    ] {
        block_on(async {
            let room = towline_room();
            let ask = Reply::message().tool("AskUserQuestion", question());
            let api = api(Script::new([ask, Reply::text("I see.")])).await;
            let mut agent =
                Driven::start(&room, &api.url(), &["--permission-prompt-tool", "stdio"]);
            agent.say(&prompt("paint it")).await;
            let asked = agent.hear_kind("control_request").await;
            let result = |id: &Value| {
                let block = json!({
                    "type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error,
                });
                json!({"type": "user", "message": {"role": "user", "content": [block]}})
            };
            agent.say(&result(&asked["request"]["tool_use_id"])).await;
            // Nobody need answer the request any more.
            let cancelled = agent.hear_kind("control_cancel_request").await;
            assert_eq!(cancelled["request_id"], asked["request_id"]);
            assert_eq!(agent.hear_kind("result").await["result"], "I see.");
            let bodies = bodies(&api);
            assert_eq!(bodies.len(), 2);
            let block = last_block(&bodies[1]);
            assert_eq!(block["type"], "tool_result", "{block}");
            let text = block["content"].as_str().unwrap();
            assert!(text.contains(told), "{text}");
        });
    }
}

#[test]
fn a_question_that_nobody_can_be_asked_is_an_error() {
    block_on(async {
        let room = towline_room();
        let ask = Reply::message().tool("AskUserQuestion", question());
        let api = api(Script::new([ask, Reply::text("Then I decide.")])).await;
        let mut agent = Driven::start(&room, &api.url(), &[]);
        agent.say(&prompt("paint it")).await;
        let told = agent.hear_kind("user").await;
        assert_eq!(told["message"]["content"][0]["is_error"], true, "{told}");
        assert_eq!(agent.hear_kind("result").await["result"], "Then I decide.");
        let block = last_block(&bodies(&api)[1]);
        assert_eq!(block["is_error"], true, "{block}");
    });
}

#[test]
fn a_bad_line_is_an_invalid_request() {
    block_on(async {
        let room = towline_room();
        let api = api(Script::new([])).await;
        let mut agent = Driven::start(&room, &api.url(), &[]);
        agent.write(b"{\"type\":\n").await.unwrap();
        let told = agent.hear_kind("error").await;
        assert_eq!(told["error"]["type"], "invalid_request", "{told}");
        assert!(!told["error"]["message"].as_str().unwrap().is_empty());
        assert_eq!(agent.close_and_end().await.lines, Vec::<Value>::new());
    });
}

#[test]
fn what_helps_to_find_a_fault_stays_out_of_the_lines() {
    block_on(async {
        let room = towline_room();
        let api = api(Script::new([Reply::text("Hello.")])).await;
        let mut agent = Driven::start(&room, &api.url(), &["--debug-to-stderr"]);
        // A line that is no JSON would be a failure here.
        assert_eq!(agent.ask("hello").await["result"], "Hello.");
        let ended = agent.close_and_end().await;
        assert!(ended.stderr.contains("a turn begins"), "{}", ended.stderr);
    });
}

#[test]
fn a_list_that_the_model_keeps_is_read_back_and_any_number_of_results_is_taken() {
    block_on(async {
        let room = towline_room();
        let todos = json!([
            {"content": "look", "status": "completed", "priority": "high"},
            {"content": "leap", "status": "in_progress"},
        ]);
        let search = json!({"query": "how to leap", "num_results": 3});
        let api = api(Script::new([
            Reply::message().tool("TodoWrite", json!({"todos": todos})),
            Reply::message().tool("TodoRead", json!({})),
            Reply::message().tool("WebSearch", search),
            Reply::text("Bend your knees."),
            Reply::text("Done."),
        ]))
        .await;
        let flags = [
            "--allowedTools",
            "TodoWrite,TodoRead,WebSearch",
            "--tools",
            "TodoWrite,TodoRead,WebSearch",
        ];
        let mut agent = Driven::start(&room, &api.url(), &flags);
        assert_eq!(agent.ask("plan it").await["result"], "Done.");
        let bodies = bodies(&api);
        let read = last_block(&bodies[2])["content"]
            .as_str()
            .unwrap()
            .to_owned();
        let read: Value = serde_json::from_str(&read).unwrap();
        let contents: Vec<_> = read
            .as_array()
            .unwrap()
            .iter()
            .map(|todo| &todo["content"])
            .collect();
        assert_eq!(contents, ["look", "leap"]);
        let found = last_block(&bodies[4]);
        assert_ne!(found["is_error"], true, "{found}");
        assert!(found.to_string().contains("Bend your knees."), "{found}");
    });
}

#[test]
fn a_session_goes_on_elsewhere_under_questions_of_its_own() {
    block_on(async {
        let room = towline_room();
        let first = api(Script::new([Reply::text("One.")])).await;
        let mut agent = Driven::start(&room, &first.url(), &[]);
        let id = agent.ask("first").await["session_id"].clone();
        agent.close_and_end().await;

        let call = Reply::message().tool("Bash", json!({"command": "touch followed"}));
        let second = api(Script::new([call, Reply::text("Two.")])).await;
        let flags = [
            "--fork-session",
            "--resume",
            id.as_str().unwrap(),
            "--permission-prompt-tool",
            "stdio",
        ];
        let mut agent = Driven::start(&room, &second.url(), &flags);
        agent.say(&prompt("and then")).await;
        let question = agent.hear_kind("control_request").await;
        answer(&mut agent, &question, json!({"behavior": "allow"})).await;
        let result = agent.hear_kind("result").await;
        assert_eq!(result["result"], "Two.");
        assert_ne!(result["session_id"], id);
        assert!(room.project().join("followed").exists());
        let said = crate::driven::said(&bodies(&second)[0]);
        assert!(said.contains(&"assistant: One.".to_owned()), "{said:?}");
    });
}
