//! What a host can ask of the agent, each with the fields of its answer and with what it changes.

use std::fs;

use serde_json::{Value, json};
use towline_testkit::{
    real_cli::RealCli,
    script_api::{Recorded, Reply, Script, ScriptApi},
    waiting::eventually,
};

use crate::driven::{Api, Driven, api, block_on, prompt, running, towline_room};
use Brings::{Answer, Error, Success};

/// Asks, and gives what stands under `response`.
async fn ask(agent: &mut Driven, request: &Value) -> Value {
    agent
        .say(&json!({"type": "control_request", "request_id": "r", "request": request}))
        .await;
    let heard = agent.hear_kind("control_response").await;
    heard["response"].clone()
}

/// Asks for something that is granted; gives the answer, `null` if it has none.
async fn ask_and_get(agent: &mut Driven, request: Value) -> Value {
    let response = ask(agent, &request).await;
    assert_eq!(response["subtype"], "success", "{request}: {response}");
    response["response"].clone()
}

/// A model and how it was started.
async fn started(room: &RealCli, replies: Vec<Reply>, arguments: &[&str]) -> (Driven, Api) {
    let api = api(Script::new(replies)).await;
    let agent = Driven::start(room, &api.url(), arguments);
    (agent, api)
}

/// Whether a value is as wanted. `"<text>"`, `"<number>"`, `"<list>"` and `"<object>"` stand for any of their kind; an
/// object has exactly the wanted fields.
fn fits(value: &Value, wanted: &Value) -> bool {
    match wanted {
        Value::String(kind) if kind == "<text>" => value.is_string(),
        Value::String(kind) if kind == "<number>" => value.is_number(),
        Value::String(kind) if kind == "<list>" => value.is_array(),
        Value::String(kind) if kind == "<object>" => value.is_object(),
        Value::Object(fields) => value.as_object().is_some_and(|object| {
            object.len() == fields.len()
                && fields
                    .iter()
                    .all(|(name, wanted)| object.get(name).is_some_and(|value| fits(value, wanted)))
        }),
        Value::Array(items) => value.as_array().is_some_and(|list| {
            list.len() == items.len()
                && list
                    .iter()
                    .zip(items)
                    .all(|(one, wanted)| fits(one, wanted))
        }),
        plain => value == plain,
    }
}

/// What a request brings: an answer of this shape, nothing but success, or an error of these words.
enum Brings {
    Answer(Value),
    Success,
    Error(&'static str),
}

impl Brings {
    fn is(&self, response: &Value) -> bool {
        let is_success = response["subtype"] == "success";
        match self {
            Answer(wanted) => is_success && fits(&response["response"], wanted),
            Success => is_success && response.get("response").is_none(),
            Error(words) => {
                let error = response["error"].as_str();
                response["subtype"] == "error"
                    && error.is_some_and(|error| error.starts_with(words))
            }
        }
    }
}

#[test]
fn requests_are_answered_with_the_fields_of_the_real_cli() {
    let room = towline_room();
    fs::write(room.project().join("unusual.txt"), "").unwrap();
    let settings = json!({"language": "de", "permissions": {"allow": ["Read"]}});
    let project = json!(room.project().canonicalize().unwrap());
    block_on(async {
        let arguments = ["--settings", &settings.to_string()];
        let (mut agent, _api) = started(&room, vec![], &arguments).await;
        let table = [
            reports(&settings),
            commands(),
            settings_files(),
            extensions(),
            others(&project),
        ];
        for (request, brings) in table.into_iter().flatten() {
            let response = ask(&mut agent, &request).await;
            assert!(brings.is(&response), "{request}: {response}");
        }
        let ended = agent.close_and_end().await;
        assert_eq!((ended.code, &*ended.stderr), (Some(0), ""));
    });
    let local = room.project().join(".claude/settings.local.json");
    let written: Value = serde_json::from_str(&fs::read_to_string(local).unwrap()).unwrap();
    assert_eq!(written, json!({"outputStyle": "Concise"}));
}

/// What the agent reports of itself.
fn reports(settings: &Value) -> Vec<(Value, Brings)> {
    let usage = json!({
        "session": {
            "total_cost_usd": "<number>", "total_api_duration_ms": "<number>", "total_duration_ms": "<number>",
            "total_lines_added": "<number>", "total_lines_removed": "<number>", "model_usage": "<object>",
        },
        "subscription_type": null, "rate_limits_available": false, "rate_limits": null, "behaviors": null,
    });
    let in_force = json!({
        "effective": settings,
        "sources": [{"source": "flagSettings", "settings": settings}],
        "applied": {"model": "claude-opus-5-5", "effort": "<text>"},
    });
    vec![
        (json!({"subtype": "get_settings"}), Answer(in_force)),
        (json!({"subtype": "get_usage"}), Answer(usage)),
        (
            json!({"subtype": "get_session_cost"}),
            Answer(json!({"text": "<text>"})),
        ),
        (
            json!({"subtype": "list_models"}),
            Answer(json!({"models": "<list>"})),
        ),
    ]
}

/// Commands that are not there.
fn commands() -> Vec<(Value, Brings)> {
    vec![
        (
            json!({"subtype": "get_task_output", "task_id": "nope"}),
            Error("get_task_output: no command with that task_id in this session"),
        ),
        (
            json!({"subtype": "get_task_output"}),
            Error("get_task_output: "),
        ),
        (
            json!({"subtype": "stop_task", "task_id": "nope"}),
            Answer(json!({})),
        ),
        (json!({"subtype": "stop_task"}), Error("stop_task: ")),
        (json!({"subtype": "background_tasks"}), Answer(json!({}))),
        (
            json!({"subtype": "cancel_async_message"}),
            Answer(json!({"cancelled": false})),
        ),
    ]
}

/// Settings, and what a host may not set.
fn settings_files() -> Vec<(Value, Brings)> {
    let update = |settings: Value| json!({"subtype": "update_settings", "source": "localSettings", "settings": settings});
    let apply = |settings: Value| json!({"subtype": "apply_flag_settings", "settings": settings});
    vec![
        (update(json!({"outputStyle": "Concise"})), Answer(json!({}))),
        (
            update(json!({"model": "x"})),
            Error("update_settings keys not allowed: model"),
        ),
        (apply(json!({"language": "en"})), Success),
        (apply(json!(5)), Error("apply_flag_settings: ")),
    ]
}

/// Hooks, plugins, skills and styles, of which there are none.
fn extensions() -> Vec<(Value, Brings)> {
    let policy = json!({
        "disabledByPolicy": false, "managedOnly": false, "pluginOnly": false, "allDisabled": false, "policyHookCount": 0,
    });
    let hooks = json!({"events": [], "hooks": [], "eventCatalog": [], "policy": policy});
    let clear = json!({
        "name": "clear", "description": "<text>", "argumentHint": "<text>", "aliases": "<list>", "builtin": true,
    });
    let plugins = json!({"commands": [clear], "agents": [], "plugins": [], "mcpServers": [], "error_count": 0});
    let styles = json!({"available_output_styles": ["default"]});
    vec![
        (json!({"subtype": "get_hooks_listing"}), Answer(hooks)),
        (json!({"subtype": "reload_plugins"}), Answer(plugins)),
        (
            json!({"subtype": "reload_skills"}),
            Answer(json!({"skills": []})),
        ),
        (json!({"subtype": "reload_output_styles"}), Answer(styles)),
    ]
}

/// Files, directories and the rest.
fn others(project: &Value) -> Vec<(Value, Brings)> {
    let register =
        |directory: &Value| json!({"subtype": "register_repo_root", "directory": directory});
    let unresolved = "register_repo_root: target path could not be resolved";
    let think = |tokens: Value| json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": tokens});
    let suggestion = json!({"id": "file-unusual.txt", "displayText": "unusual.txt"});
    vec![
        (
            json!({"subtype": "seed_read_state", "path": "unusual.txt", "mtime": 1}),
            Success,
        ),
        (
            json!({"subtype": "file_suggestions", "query": "unus"}),
            Answer(json!({"suggestions": [suggestion], "cwd": project})),
        ),
        (
            json!({"subtype": "set_has_subscribers", "has_subscribers": true}),
            Success,
        ),
        (register(project), Success),
        (register(&json!("/nope")), Error(unresolved)),
        (register(&json!("unusual.txt")), Error(unresolved)),
        (think(json!(-5)), Success),
        (think(Value::Null), Success),
        (think(json!("abc")), Error("set_max_thinking_tokens: ")),
        (
            json!({"subtype": "side_question"}),
            Error("side_question: "),
        ),
    ]
}

#[test]
fn a_command_in_the_background_is_looked_at_and_stopped() {
    let time = format!("1000.{}77", std::process::id());
    block_on(async {
        let room = towline_room();
        let command =
            json!({"command": format!("echo first; sleep {time}"), "run_in_background": true});
        let replies = vec![
            Reply::message().tool("Bash", command),
            Reply::text("It runs."),
        ];
        let (mut agent, _api) = started(&room, replies, &["--allowedTools", "Bash"]).await;
        agent.say(&prompt("begin")).await;
        let task = agent.hear(|line| line["subtype"] == "task_started").await;
        agent.hear_kind("result").await;
        let id = task["task_id"].clone();
        eventually("the command", || !running(&time).is_empty()).await;
        let output = ask_and_get(
            &mut agent,
            json!({"subtype": "get_task_output", "task_id": id}),
        )
        .await;
        assert_eq!(
            output,
            json!({"output": "first\n", "total_bytes": 6, "truncated": false})
        );
        let stop = json!({"subtype": "stop_task", "task_id": id});
        agent
            .say(&json!({"type": "control_request", "request_id": "s", "request": stop}))
            .await;
        let updated = agent.hear(|line| line["subtype"] == "task_updated").await;
        assert_eq!(
            (&updated["task_id"], &updated["patch"]["status"]),
            (&id, &json!("killed"))
        );
        let stopped = agent.hear_kind("control_response").await;
        assert_eq!(stopped["response"]["response"], json!({}));
        assert!(running(&time).is_empty());
        agent.close_and_end().await;
    });
}

#[test]
fn a_command_that_is_waited_for_goes_on_in_the_background() {
    let time = format!("1000.{}78", std::process::id());
    block_on(async {
        let room = towline_room();
        let command = json!({"command": format!("sleep {time}")});
        let replies = vec![
            Reply::message().tool("Bash", command),
            Reply::text("It goes on."),
        ];
        let (mut agent, _api) = started(&room, replies, &["--allowedTools", "Bash"]).await;
        agent.say(&prompt("begin")).await;
        eventually("the command", || !running(&time).is_empty()).await;
        // Before the host is told of the command it is not meant, and after that it is.
        let background = json!({"subtype": "background_tasks"});
        assert_eq!(ask_and_get(&mut agent, background.clone()).await, json!({}));
        agent.hear(|line| line["subtype"] == "task_started").await;
        let answer = ask_and_get(&mut agent, background).await;
        assert_eq!(answer, json!({}));
        let result = agent.hear_kind("user").await;
        assert!(
            result["tool_use_result"]["backgroundTaskId"].is_string(),
            "{result}"
        );
        assert_eq!(agent.hear_kind("result").await["result"], "It goes on.");
        assert!(!running(&time).is_empty());
        agent.close_and_end().await;
        eventually("the end of the command", || running(&time).is_empty()).await;
    });
}

#[test]
fn a_message_that_waits_can_be_taken_back() {
    const WAITS: &str = "00000000-0000-4000-8000-0000000000aa";
    block_on(async {
        let room = towline_room();
        let replies = vec![Reply::text("one").hold("first"), Reply::text("two")];
        let (mut agent, api) = started(&room, replies, &[]).await;
        agent.say(&prompt("first")).await;
        api.wait_until_held("first").await.unwrap();
        let mut second = prompt("second");
        second["uuid"] = json!(WAITS);
        agent.say(&second).await;
        let cancel = json!({"subtype": "cancel_async_message", "message_uuid": WAITS});
        agent
            .say(&json!({"type": "control_request", "request_id": "c", "request": cancel}))
            .await;
        let told = agent.hear(|line| line["state"] == "cancelled").await;
        assert_eq!(told["command_uuid"], WAITS);
        let answer = agent.hear_kind("control_response").await;
        assert_eq!(answer["response"]["response"], json!({"cancelled": true}));
        let again = ask_and_get(&mut agent, cancel).await;
        assert_eq!(again, json!({"cancelled": false}));
        api.release("first");
        agent.hear_kind("result").await;
        let ended = agent.close_and_end().await;
        assert!(
            ended.lines.iter().all(|line| line["type"] != "result"),
            "{:?}",
            ended.lines
        );
        assert_eq!(api.requests().len(), 1);
    });
}

#[test]
fn settings_that_a_host_gives_hold_from_then_on() {
    block_on(async {
        let room = towline_room();
        let replies = vec![
            Reply::text("one"),
            Reply::message().tool("Bash", json!({"command": "echo never"})),
            Reply::text("two"),
        ];
        let (mut agent, api) = started(&room, replies, &["--allowedTools", "Bash"]).await;
        agent.ask("first").await;
        let settings = json!({"model": "sonnet", "permissions": {"deny": ["Bash"]}});
        let apply = json!({"subtype": "apply_flag_settings", "settings": settings});
        agent
            .say(&json!({"type": "control_request", "request_id": "a", "request": apply}))
            .await;
        // The host hears of another model as after `set_model`.
        let told = agent.hear(|line| line["isReplay"] == true).await;
        assert!(
            told["message"]["content"]
                .as_str()
                .unwrap()
                .contains("Set model to"),
            "{told}"
        );
        agent.hear_kind("control_response").await;
        agent.say(&prompt("second")).await;
        let denied = agent.hear_kind("user").await;
        assert_eq!(
            denied["message"]["content"][0]["is_error"], true,
            "{denied}"
        );
        agent.hear_kind("result").await;
        let models: Vec<Value> = bodies(&api)
            .iter()
            .map(|body| body["model"].clone())
            .collect();
        assert_eq!(
            models,
            ["claude-opus-5-5", "claude-sonnet-5-5", "claude-sonnet-5-5"]
        );
        agent.close_and_end().await;
    });
}

#[test]
fn a_file_that_the_host_has_shown_can_be_edited_as_it_was_then() {
    // As long as nobody has changed it since.
    for (mtime, is_error) in [(4_102_444_800_000_u64, false), (1, true)] {
        block_on(async {
            let room = towline_room();
            let file = room.project().join("a.txt");
            fs::write(&file, "one\n").unwrap();
            let edit = json!({"file_path": file, "old_string": "one", "new_string": "two"});
            let replies = vec![Reply::message().tool("Edit", edit), Reply::text("Done.")];
            let arguments = ["--allowedTools", "Edit", "--model", "claude-opus-4-6"];
            let (mut agent, _api) = started(&room, replies, &arguments).await;
            let seed = json!({"subtype": "seed_read_state", "path": file, "mtime": mtime});
            ask_and_get(&mut agent, seed).await;
            agent.say(&prompt("edit it")).await;
            let result = agent.hear_kind("user").await;
            let block = &result["message"]["content"][0];
            assert_eq!(block["is_error"] == true, is_error, "{mtime}: {result}");
            agent.hear_kind("result").await;
            agent.close_and_end().await;
        });
    }
}

#[test]
fn a_question_beside_the_conversation_knows_it_and_leaves_no_trace_in_it() {
    block_on(async {
        let room = towline_room();
        let read = json!({"command": "echo called"});
        let replies = vec![
            Reply::message().tool("Bash", read),
            Reply::text("one").hold("last"),
            Reply::text("beside").when_prompt_contains("why that?"),
            Reply::text("two"),
        ];
        let (mut agent, api) = started(&room, replies, &["--allowedTools", "Bash"]).await;
        agent.say(&prompt("first")).await;
        api.wait_until_held("last").await.unwrap();
        api.release("last");
        agent.hear_kind("result").await;
        let question = json!({"subtype": "side_question", "question": "why that?"});
        agent
            .say(&json!({"type": "control_request", "request_id": "q", "request": question}))
            .await;
        let begun = agent.hear_kind("system").await;
        assert_eq!(
            (&begun["subtype"], &begun["request_id"], &begun["status"]),
            (
                &json!("control_request_progress"),
                &json!("q"),
                &json!("started")
            )
        );
        let answer = agent.hear_kind("control_response").await;
        assert_eq!(
            answer["response"]["response"],
            json!({"response": "beside", "synthetic": false})
        );
        let usage = ask_and_get(&mut agent, json!({"subtype": "get_usage"})).await;
        let before = usage["session"]["total_cost_usd"].as_f64().unwrap();
        let result = agent.ask("second").await;
        assert_eq!(result["result"], "two");
        assert!(result["total_cost_usd"].as_f64().unwrap() > before);
        agent.close_and_end().await;
        let bodies = bodies(&api);
        let said: Vec<String> = bodies
            .iter()
            .map(|body| body["messages"].to_string())
            .collect();
        assert_eq!(said.len(), 4);
        assert!(
            said[2].contains("first")
                && said[2].contains("called")
                && said[2].contains("why that?")
        );
        assert!(!said[3].contains("why that?") && !said[3].contains("beside"));
    });
}

#[test]
fn a_session_that_the_host_ends_is_over() {
    block_on(async {
        let room = towline_room();
        let (mut agent, api) = started(&room, vec![Reply::text("never")], &[]).await;
        let answer = ask_and_get(&mut agent, json!({"subtype": "end_session"})).await;
        assert_eq!(answer, Value::Null);
        // Nobody is left to read this, which is no failure.
        agent
            .write(format!("{}\n", prompt("late")).as_bytes())
            .await
            .ok();
        let ended = agent.end().await;
        assert_eq!(
            (ended.code, &*ended.stderr, ended.lines.len()),
            (Some(0), "", 0)
        );
        assert_eq!(api.requests().len(), 0);
    });
}

/// The bodies of all requests to the model.
fn bodies(api: &ScriptApi) -> Vec<Value> {
    let requests = api.requests();
    requests.iter().map(Recorded::body).collect()
}
