//! Sessions that go on: after a restart, in a terminal, in another mode, from several clients.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use tungstenite::Error;

use super::{
    Served, eventually,
    faults::{bridge, bridge_in, configure},
};

/// The transcript of the one session that was held.
fn transcript(folder: &Path) -> PathBuf {
    let projects = fs::read_dir(folder.join("home/.claude/projects")).unwrap();
    let files = projects.flat_map(|project| fs::read_dir(project.unwrap().path()).unwrap());
    let mut files = files.map(|file| file.unwrap().path());
    let file = files.find(|file| file.extension().is_some_and(|end| end == "jsonl"));
    file.expect("a transcript")
}

/// Writes turns to a transcript, as a terminal would.
fn talk_in_a_terminal(file: &Path, turns: u32) {
    let text = fs::read_to_string(file).unwrap();
    let mut records = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let last = records.rfind(|record| record["uuid"].is_string());
    let last = last.unwrap();
    let mut parent = last["uuid"].clone();
    let mut out = fs::OpenOptions::new().append(true).open(file).unwrap();
    for turn in 0..turns {
        for role in ["user", "assistant"] {
            let number = turn * 2 + u32::from(role == "assistant");
            let uuid = format!("{number:08}-aaaa-4000-8000-000000000000");
            let mut record = last.clone();
            record["type"] = json!(role);
            record["uuid"] = json!(uuid);
            record["parentUuid"] = parent;
            let content = json!([{"type": "text", "text": format!("terminal {number}")}]);
            record["message"] = json!({"role": role, "content": content});
            if role == "assistant" {
                record["message"]["id"] = json!(format!("msg_{number}"));
                record["message"]["type"] = json!("message");
            }
            writeln!(out, "{record}").unwrap();
            parent = json!(uuid);
        }
    }
}

fn offline_in(folder: tempfile::TempDir) -> Served {
    Served::with(folder, |command| {
        command.args(["--agent", "offline"]);
    })
}

#[test]
fn of_four_hundred_turns_had_in_a_terminal_none_is_missing_and_the_next_message_comes_after_them() {
    let served = Served::start();
    let session = served.session("offline");
    served.tell(&session, "think of a walrus");
    served.wait_for_status(&session, "idle");
    let folder = served.end();
    talk_in_a_terminal(&transcript(folder.path()), 400);
    let served = offline_in(folder);

    // They are there when the session is opened.
    let said = |frames: &[Value]| -> Vec<String> {
        let texts = frames.iter().map(|frame| {
            let text = frame["body"]["message"]["content"][0]["text"].as_str();
            text.unwrap_or_default().to_owned()
        });
        texts.filter(|text| text.starts_with("terminal ")).collect()
    };
    let expected: Vec<String> = (0..800)
        .map(|number| format!("terminal {number}"))
        .collect();
    assert_eq!(said(&served.frames(&session)), expected);
    let accepted = served.tell(&session, "think of a seal").json();
    let frames = served.frames(&session);
    assert_eq!(said(&frames), expected, "once");
    let last = frames.iter().rposition(|frame| {
        let text = frame["body"]["message"]["content"][0]["text"].as_str();
        text == Some("terminal 799")
    });
    let last = frames[last.unwrap()]["seq"].as_u64().unwrap();
    assert!(accepted["seq"].as_u64().unwrap() > last, "{accepted}");
    served.wait_for_status(&session, "idle");
}

#[test]
fn the_mode_that_the_agent_says_it_is_in_is_shown_and_kept_after_a_restart() {
    let served = bridge();
    let session = served.session("scripted");
    served.tell(&session, "mode acceptEdits");
    served.wait_for_status(&session, "idle");
    let mode = |served: &Served| served.describe(&session)["record"]["permission_mode"].clone();
    assert_eq!(mode(&served), "acceptEdits");
    let served = bridge_in(served.kill());
    assert_eq!(mode(&served), "acceptEdits");
    served.tell(&session, "go on");
    served.wait_for_status(&session, "idle");
    let arguments = fs::read_to_string(served.project().join("agent.args")).unwrap();
    let last = arguments.lines().last().unwrap();
    assert!(last.contains("--permission-mode acceptEdits"), "{last}");
}

#[test]
fn a_mode_that_nobody_knows_is_refused() {
    let served = bridge();
    let session = served.session("scripted");
    let path = format!("/api/sessions/{session}");
    let refused = served.request(
        "PATCH",
        &path,
        Some(&json!({"permission_mode": "nonsense"})),
    );
    assert_eq!(refused.status, 400, "{refused:?}");
    assert!(
        refused.body.contains("no permission mode `nonsense`"),
        "{refused:?}"
    );
    let begin = json!({"agent": "scripted", "permission_mode": "nonsense"});
    assert_eq!(served.post("/api/sessions", &begin).status, 400);
}

#[test]
fn a_mode_set_while_the_agent_starts_reaches_it_and_a_stop_then_drops_what_waits() {
    let served = bridge();
    let hold = served.project().join("hold");
    fs::write(&hold, "").unwrap();
    let session = served.session("scripted");
    served.tell(&session, "delete everything");
    assert_eq!(served.describe(&session)["record"]["status"], "starting");
    let path = format!("/api/sessions/{session}");
    let stopped = served.post(&format!("{path}/interrupt"), &json!({}));
    assert_eq!(stopped.status, 204, "{stopped:?}");
    let changed = std::thread::scope(|scope| {
        let (served, path) = (&served, &path);
        let plan = json!({"permission_mode": "plan"});
        let changing = scope.spawn(move || served.request("PATCH", path, Some(&plan)));
        fs::remove_file(&hold).unwrap();
        changing.join().unwrap()
    });
    assert_eq!(
        changed.json()["record"]["permission_mode"],
        "plan",
        "{changed:?}"
    );
    let modes = fs::read_to_string(served.project().join("agent.modes")).unwrap_or_default();
    let arguments = fs::read_to_string(served.project().join("agent.args")).unwrap();
    assert!(
        modes == "plan\n" || arguments.contains("plan"),
        "{modes} {arguments}"
    );
    served.tell(&session, "look first");
    served.wait_for_status(&session, "idle");
    let frames = served.frames(&session);
    let results: Vec<_> = frames
        .iter()
        .filter_map(|frame| frame["body"]["result"].as_str())
        .collect();
    assert_eq!(results, ["look first"]);
    assert!(
        frames
            .iter()
            .any(|frame| frame["body"]["code"] == "dropped"),
        "{frames:?}"
    );
}

#[test]
fn who_resumes_a_session_that_is_here_gets_it_and_no_second_agent() {
    let served = bridge();
    let session = served.session("scripted");
    served.tell(&session, "hello");
    served.wait_for_status(&session, "idle");
    let resume = json!({"agent": "scripted", "resume": "00000000-0000-4000-8000-000000000001"});
    let answer = served.post("/api/sessions", &resume);
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["record"]["id"], session.as_str());
    let served_paths = fs::read_to_string(served.project().join("agent.args")).unwrap();
    assert_eq!(served_paths.lines().count(), 1, "one agent: {served_paths}");

    // A stopped one is opened again, over a WebSocket too.
    served.request("DELETE", &format!("/api/sessions/{session}"), None);
    let mut client = served.client();
    client.set_name("PROJECT", served.project().to_str().unwrap());
    client.set_name("S", session.as_str());
    client.say(&json!({"type": "start", "projectPath": "$PROJECT",
        "sessionId": "00000000-0000-4000-8000-000000000001"}));
    client.expect(&[json!({"type": "system", "subtype": "session_created", "sessionId": "$S"})]);
}

#[test]
fn the_limits_of_a_session_are_on_the_command_line_after_a_restart_too() {
    let served = bridge();
    let options = json!({"max_turns": 3, "max_budget_usd": 0.5, "effort": "low"});
    let begun = served.post(
        "/api/sessions",
        &json!({"agent": "scripted", "options": options}),
    );
    let session = begun.json()["record"]["id"].as_str().unwrap().to_owned();
    served.tell(&session, "hello");
    served.wait_for_status(&session, "idle");
    let served = bridge_in(served.kill());
    served.tell(&session, "go on");
    served.wait_for_status(&session, "idle");
    let arguments = fs::read_to_string(served.project().join("agent.args")).unwrap();
    let [first, last] = arguments.lines().collect::<Vec<_>>()[..] else {
        panic!("{arguments}");
    };
    for limit in ["--max-turns 3", "--max-budget-usd 0.5", "--effort low"] {
        assert!(
            first.contains(limit) && last.contains(limit),
            "{limit}: {arguments}"
        );
    }
}

#[test]
fn an_idle_agent_is_stopped_and_started_again_by_the_next_message() {
    let folder = tempfile::tempdir().unwrap();
    let config = configure(folder.path());
    let mut text = fs::read_to_string(&config).unwrap();
    text.push_str("[limits]\nidle_stop = \"1s\"\n");
    fs::write(&config, text).unwrap();
    let served = Served::with(folder, |command| {
        command.arg("--config").arg(config);
    });
    let session = served.session("scripted");
    served.tell(&session, "hello");
    served.wait_for_status(&session, "idle");
    let agent = super::faults::agent(&served);
    eventually("the agent is stopped", || {
        rustix::process::test_kill_process(agent).is_err()
    });
    assert_eq!(served.describe(&session)["record"]["status"], "idle");
    served.tell(&session, "again");
    eventually("it answers", || {
        let frames = served.frames(&session);
        frames
            .iter()
            .any(|frame| frame["body"]["result"] == "again")
    });
}

#[test]
fn who_comes_back_with_the_last_id_it_has_misses_nothing_and_gets_nothing_twice() {
    let served = bridge();
    let session = served.session("scripted");
    for words in ["one", "two"] {
        served.tell(&session, words);
        served.wait_for_status(&session, "idle");
    }
    let last = served.frames(&session).last().unwrap()["seq"]
        .as_u64()
        .unwrap();
    let is_live = |name: &str, _: &Value| name == "live";
    let seqs = |seen: Vec<(String, Value)>| -> Vec<u64> {
        let frames = seen.into_iter().filter(|(name, _)| name == "frame");
        frames
            .map(|(_, data)| data["seq"].as_u64().unwrap())
            .collect()
    };
    let path = format!("{session}/events");
    let mut events = served.follow_with(&path, "Last-Event-ID: 2\r\n");
    assert_eq!(seqs(events.until(is_live)), (3..=last).collect::<Vec<_>>());
    // The header is newer than the address of a page that was open for long.
    let mut events = served.follow_with(&format!("{path}?after=1"), "Last-Event-ID: 2\r\n");
    assert_eq!(seqs(events.until(is_live)), (3..=last).collect::<Vec<_>>());
    // A number that was never given is of another log: all is given, and the gap said.
    let mut events = served.follow_with(&path, "Last-Event-ID: 999\r\n");
    let seen = events.until(is_live);
    assert_eq!(seen[0].0, "gap", "{seen:?}");
    assert_eq!(seqs(seen), (1..=last).collect::<Vec<_>>());
}

#[test]
fn over_a_websocket_the_same_is_told_as_over_http() {
    let served = bridge();
    let session = served.session("scripted");
    for words in ["one", "two"] {
        served.tell(&session, words);
        served.wait_for_status(&session, "idle");
    }
    let frames = served.frames(&session);
    let path = format!("/ws/events?session={session}&after=2");
    let mut client = served.connect(&path).unwrap();
    let mut told = Vec::new();
    while !told.iter().any(|line: &Value| line["event"] == "live") {
        let message = client.socket.read().unwrap();
        let lines = message.to_text().unwrap().lines();
        told.extend(lines.map(|line| serde_json::from_str::<Value>(line).unwrap()));
    }
    assert_eq!(told[0]["event"], "session", "first the list: {told:?}");
    assert_eq!(told[0]["data"]["id"], session);
    let shown = told.iter().filter(|line| line["event"] == "frame");
    let shown: Vec<Value> = shown
        .map(|line| {
            let mut data = line["data"].clone();
            let of = data.as_object_mut().unwrap().remove("session");
            assert_eq!(of, Some(json!(session)));
            data
        })
        .collect();
    assert_eq!(shown, frames[2..]);

    // Who has no token, or asks for what is not there, is told so before there is a WebSocket.
    for (path, token, status) in [
        ("/ws/events", None, 401),
        ("/ws/events", Some("wrong"), 401),
        (
            "/ws/events?session=0badc0de",
            Some(served.token.as_str()),
            404,
        ),
        ("/ws/events?sesion=x", Some(&served.token), 400),
    ] {
        match served.connect_with(path, token).err() {
            Some(Error::Http(answer)) => assert_eq!(answer.status(), status, "{path}"),
            other => panic!("{path}: {other:?}"),
        }
    }
}

#[test]
fn a_client_that_says_nothing_is_pinged_and_one_that_pings_is_answered() {
    use tungstenite::Message;
    let served = bridge();
    let mut client = served.client();
    client.expect(&[json!({"type": "project_history"})]);
    client
        .socket
        .send(Message::Ping(b"here"[..].into()))
        .unwrap();
    let stream = client.socket.get_mut();
    stream
        .set_read_timeout(Some(std::time::Duration::from_secs(60)))
        .unwrap();
    let (mut is_answered, mut is_pinged) = (false, false);
    while !is_answered || !is_pinged {
        match client.socket.read().unwrap() {
            Message::Pong(said) => is_answered = said[..] == *b"here",
            Message::Ping(_) => is_pinged = true,
            _ => {}
        }
    }
}
