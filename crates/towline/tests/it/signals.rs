//! Signals in every state: idle, while the model speaks, while a command runs, while a person is asked. What was started
//! ends with the agent, and of a command that was waited for that is told.

use rustix::process::Signal;
use serde_json::json;
use towline_testkit::{
    script_api::{Reply, Script, ScriptApi},
    waiting::eventually,
};

use crate::driven::{Driven, api, block_on, marked, prompt, towline_room};

/// What the agent does when the signal comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Nothing was said yet.
    New,
    /// The host has introduced itself.
    Greeted,
    /// A turn is over.
    Idle,
    /// The model speaks.
    Streaming,
    /// A command runs, and another one in the background.
    Running,
    /// A person is asked.
    Asking,
}

#[test]
fn a_signal_ends_it_in_every_state_with_all_that_it_started() {
    use State::{Asking, Greeted, Idle, New, Running, Streaming};
    for state in [New, Greeted, Idle, Streaming, Running, Asking] {
        for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 0)] {
            block_on(check(state, signal, code));
        }
    }
}

async fn check(state: State, signal: Signal, code: i32) {
    let shown = format!("{state:?}, {signal:?}");
    let room = towline_room();
    let api = api(script(state)).await;
    let mark = format!(
        "TOWLINE_SIGNAL_TEST={}-{state:?}-{signal:?}",
        std::process::id()
    );
    let allowed = if state == State::Running {
        "Bash"
    } else {
        "Read"
    };
    let arguments = [
        "--allowedTools",
        allowed,
        "--permission-prompt-tool",
        "stdio",
    ];
    let mut agent = Driven::start_with(&room, &api.url(), &arguments, |command| {
        let (name, value) = mark.split_once('=').unwrap();
        command.env(name, value);
    });
    bring_to(&mut agent, &api, state, &mark).await;
    agent.signal(signal);
    let ended = agent.end().await;
    assert_eq!((ended.code, &*ended.stderr), (Some(code), ""), "{shown}");
    let results = ended.lines.iter().filter(|line| line["type"] == "result");
    let results: Vec<_> = results.map(|line| line["subtype"].clone()).collect();
    // An interrupt is a way to end a turn; the others leave no time for words.
    let is_interrupted =
        signal == Signal::INT && !matches!(state, State::New | State::Greeted | State::Idle);
    let expected: &[&str] = if is_interrupted {
        &["error_during_execution"]
    } else {
        &[]
    };
    assert_eq!(results, expected, "{shown}: {:?}", ended.lines);
    if state == State::Running && signal != Signal::INT {
        let last = ended.lines.last().unwrap();
        let content = json!([{
            "tool_use_id": last["message"]["content"][0]["tool_use_id"],
            "type": "tool_result",
            "content": "Exit code 137",
            "is_error": true,
        }]);
        assert_eq!(last["message"]["content"], content, "{shown}: {last}");
        assert_eq!(last["tool_use_result"], "Error: Exit code 137", "{shown}");
        let decision = &last["tool_result_meta"][0]["permission_decision"]["decision"];
        assert_eq!(decision, "accept", "{shown}: {last}");
    }
    eventually(&format!("{shown}: the end of all commands"), || {
        marked(&mark).is_empty()
    })
    .await;
}

fn script(state: State) -> Script {
    let command = |command: &str| json!({"command": command});
    let replies = match state {
        State::New | State::Greeted | State::Idle => vec![Reply::text("Hello.")],
        State::Streaming => vec![Reply::text("one two three four").hold_after_events(5, "streams")],
        State::Running => vec![
            Reply::message().tool(
                "Bash",
                json!({"command": "(trap '' TERM; sleep 1001)", "run_in_background": true}),
            ),
            Reply::message().tool("Bash", command("sleep 1002")),
        ],
        State::Asking => vec![Reply::message().tool("Bash", command("touch asked.txt"))],
    };
    Script::new(replies)
}

async fn bring_to(agent: &mut Driven, api: &ScriptApi, state: State, mark: &str) {
    match state {
        State::New => {
            let status = format!("/proc/{}/status", agent.id());
            eventually("an agent that listens for signals", || {
                let status = std::fs::read_to_string(&status).unwrap();
                let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
                let caught = u64::from_str_radix(caught.unwrap().trim(), 16).unwrap();
                let bit = |signal: Signal| 1 << (signal.as_raw() - 1);
                let wanted = bit(Signal::INT) | bit(Signal::TERM) | bit(Signal::HUP);
                caught & wanted == wanted
            })
            .await;
        }
        State::Greeted => {
            let request = json!({"subtype": "initialize"});
            agent
                .say(&json!({"type": "control_request", "request_id": "1", "request": request}))
                .await;
            agent.hear_kind("control_response").await;
        }
        State::Idle => {
            agent.ask("hello").await;
        }
        State::Streaming => {
            agent.say(&prompt("hello")).await;
            api.wait_until_held("streams").await.unwrap();
            agent.hear(|line| line["subtype"] == "init").await;
        }
        State::Running => {
            agent.say(&prompt("hello")).await;
            eventually("the command that is waited for", || {
                let commands = marked(mark)
                    .into_iter()
                    .filter_map(|path| std::fs::read(path.with_file_name("cmdline")).ok());
                commands
                    .into_iter()
                    .any(|command| command == b"sleep\x001002\0")
            })
            .await;
        }
        State::Asking => {
            agent.say(&prompt("hello")).await;
            agent.hear_kind("control_request").await;
        }
    }
}
