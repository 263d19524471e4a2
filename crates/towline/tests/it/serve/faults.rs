//! What can go wrong between an agent and whoever watches it: nothing is lost in silence.

use std::{fs, path::Path, process::Command, thread};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;
use towline_testkit::not_run;

use super::{Served, eventually, serve};

/// A bridge whose agent does what it is told; see `agent.sh`.
pub(super) fn bridge() -> Served {
    bridge_in(tempfile::tempdir().unwrap())
}

pub(super) fn bridge_in(folder: TempDir) -> Served {
    let config = configure(folder.path());
    Served::with(folder, |command| {
        command.arg("--config").arg(config);
    })
}

pub(super) fn configure(folder: &Path) -> std::path::PathBuf {
    let file = folder.join("serve.toml");
    let agent = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/serve/agent.sh");
    let text = format!(
        "agent = \"scripted\"\n[[agents]]\nname = \"scripted\"\ncommand = \"sh\"\nargs = [\"{agent}\"]\n"
    );
    fs::write(&file, text).unwrap();
    file
}

/// The text of the message in progress, as a client puts it together.
#[derive(Default)]
struct Draft {
    text: String,
    last_seq: u64,
}

impl Draft {
    fn take(&mut self, name: &str, data: &Value) {
        match name {
            "delta" => {
                let offset = usize::try_from(data["offset"].as_u64().unwrap()).unwrap();
                let text = data["text"].as_str().unwrap();
                assert_eq!(offset, self.text.len(), "neither a hole nor a double");
                self.text.push_str(text);
            }
            "live" => {
                let block = &data["drafts"][0]["blocks"][0];
                self.text = block["text"].as_str().unwrap_or_default().to_owned();
            }
            "frame" => {
                let seq = data["seq"].as_u64().unwrap();
                assert_eq!(seq, self.last_seq + 1, "each frame once and in order");
                self.last_seq = seq;
            }
            _ => {}
        }
    }
}

#[test]
fn a_client_that_drops_out_of_a_message_and_returns_has_all_of_it_once() {
    let served = bridge();
    let session = served.session("scripted");
    served.tell(&session, "slow 300");
    let mut draft = Draft::default();
    let is_said = |data: &Value| data["body"]["type"] == "assistant";
    let mut whole = String::new();
    let mut visits = 0;
    while whole.is_empty() {
        visits += 1;
        let mut events = served.follow(&session, draft.last_seq);
        // What it had of the message is not kept: it may have lost it.
        draft.text.clear();
        for count in 0.. {
            let (name, data) = events.next();
            if name == "frame" && is_said(&data) {
                whole.clone_from(&draft.text);
                break;
            }
            draft.take(&name, &data);
            if count > 30 && visits < 5 && name == "delta" {
                break;
            }
        }
    }
    let expected: String = (0..300).map(|number| format!("{number} ")).collect();
    assert_eq!(whole, expected);
    assert_eq!(visits, 5, "it was away in the middle of it");
}

#[test]
fn a_client_that_stops_reading_is_told_of_the_gap_and_the_others_lose_nothing() {
    let served = bridge();
    let session = served.session("scripted");
    served.tell(&session, "stream 100 2000");
    served.wait_for_status(&session, "idle");
    let seen = served.describe(&session)["record"]["last_seq"]
        .as_u64()
        .unwrap();
    let mut slow = served.follow(&session, seen);
    let mut healthy = served.follow(&session, seen);
    slow.until(|name, _| name == "live");
    healthy.until(|name, _| name == "live");
    let before = served.memory();
    served.tell(&session, "stream 40000 2000");
    let mut expected = 0;
    let mut length = 0;
    loop {
        let (name, data) = healthy.next();
        match name.as_str() {
            "delta" => {
                assert_eq!(data["offset"].as_u64().unwrap(), length);
                for piece in data["text"]
                    .as_str()
                    .unwrap()
                    .split('x')
                    .filter(|piece| !piece.is_empty())
                {
                    assert_eq!(piece, format!("{expected}:"));
                    expected += 1;
                }
                length += data["text"].as_str().unwrap().len() as u64;
            }
            "gap" => panic!("it read all the time"),
            "frame" if data["body"]["type"] == "result" => break,
            _ => {}
        }
    }
    assert_eq!(expected, 40_000, "80 MB, byte for byte");
    let after = served.memory();
    assert!(
        after < before + (16 << 10),
        "{before} KiB before, {after} KiB after"
    );

    let rest = slow.until(|name, data| name == "frame" && data["body"]["type"] == "result");
    let gap = rest
        .iter()
        .position(|(name, _)| name == "gap")
        .expect("it is told");
    let seqs = rest[gap..].iter().filter(|(name, _)| name == "frame");
    let seqs: Vec<u64> = seqs
        .map(|(_, data)| data["seq"].as_u64().unwrap())
        .collect();
    let from = rest[gap].1["after"].as_u64().unwrap();
    let expected: Vec<u64> = (from + 1..=*seqs.last().unwrap()).collect();
    assert_eq!(seqs, expected, "what lasts is all there");
    slow.until(|name, _| name == "live");
}

#[test]
fn an_app_that_stops_reading_costs_no_more_than_a_page_that_does() {
    let served = bridge();
    let session = served.session("scripted");
    served.tell(&session, "stream 100 2000");
    served.wait_for_status(&session, "idle");
    let mut slow = served.client();
    slow.expect(&[json!({"type": "project_history"})]);
    let mut healthy = served.client();
    healthy.expect(&[json!({"type": "project_history"})]);
    let before = served.memory();
    served.tell(&session, "stream 40000 2000");
    let mut length = 0;
    loop {
        let message = healthy.hear();
        match message["type"].as_str() {
            Some("stream_delta") => length += message["text"].as_str().unwrap().len(),
            Some("result") => break,
            _ => {}
        }
    }
    assert!(length > 80_000_000, "{length} bytes were heard");
    let after = served.memory();
    assert!(
        after < before + (16 << 10),
        "{before} KiB before, {after} KiB after"
    );
    // It has not lost what lasts.
    while slow.hear()["type"] != "result" {}
}

#[test]
fn an_idle_agent_that_is_killed_is_dead_and_the_next_message_resumes() {
    let served = bridge();
    let session = served.session("scripted");
    served.tell(&session, "hello");
    served.wait_for_status(&session, "idle");
    kill_process(agent(&served), Signal::KILL).unwrap();
    served.wait_for_status(&session, "dead");
    served.tell(&session, "welcome back");
    served.wait_for_status(&session, "idle");
    let arguments = fs::read_to_string(served.project().join("agent.args")).unwrap();
    let last = arguments.lines().last().unwrap();
    assert!(last.contains("--resume 00000000-"), "{last}");
}

#[test]
fn an_agent_killed_at_work_is_dead_its_question_is_over_and_the_next_message_resumes() {
    let served = bridge();
    let session = served.session("scripted");
    served.tell(&session, "ask 1");
    let question = served.wait_for_question(&session);
    assert_eq!(
        served.describe(&session)["record"]["status"],
        "waiting_approval"
    );
    kill_process(agent(&served), Signal::KILL).unwrap();
    served.wait_for_status(&session, "dead");
    let late = served.post(
        &format!("/api/sessions/{session}/questions/{question}"),
        &json!({"decision": "allow"}),
    );
    assert_eq!(late.status, 409, "{late:?}");
    assert_eq!(outcomes(&served, &session), ["agent_ended"]);

    served.tell(&session, "welcome back");
    served.wait_for_status(&session, "idle");
    let arguments = fs::read_to_string(served.project().join("agent.args")).unwrap();
    let last = arguments.lines().last().unwrap();
    assert!(
        last.contains("--resume 00000000-0000-4000-8000-000000000001"),
        "{last}"
    );
    let said = served
        .frames(&session)
        .into_iter()
        .any(|frame| frame["body"]["result"] == "welcome back");
    assert!(said);
}

#[test]
fn a_message_that_an_agent_had_not_begun_with_when_it_died_runs_with_the_next() {
    let served = bridge();
    let session = served.session("offline");
    served.tell(&session, "run kill -9 $PPID");
    let question = served.wait_for_question(&session);
    served.tell(&session, "think of the second");
    let path = format!("/api/sessions/{session}/questions/{question}");
    assert_eq!(
        served.post(&path, &json!({"decision": "allow"})).status,
        204
    );
    served.wait_for_status(&session, "dead");
    let unheard = served.describe(&session)["record"]["unheard"].clone();
    assert_eq!(unheard.as_array().map(Vec::len), Some(1), "{unheard}");
    served.tell(&session, "think of the third");
    eventually("the second and the third have run", || {
        let frames = served.frames(&session);
        let thoughts = frames.iter().map(|frame| frame["body"].to_string());
        let thoughts: String = thoughts
            .filter(|body| body.contains("\"assistant\""))
            .collect();
        thoughts.contains("of the second") && thoughts.contains("of the third")
    });
    eventually("nothing is left to do", || {
        served.describe(&session)["record"]["unheard"] == json!([])
    });
}

#[test]
fn a_bridge_killed_during_an_approval_leaves_no_orphan_and_goes_on_where_it_was() {
    let served = bridge();
    let session = served.session("scripted");
    served.tell(&session, "hello");
    served.wait_for_status(&session, "idle");
    served.tell(&session, "ask 1");
    served.wait_for_question(&session);
    let agent = agent(&served);
    let before = served.frames(&session);
    let folder = served.kill();
    eventually("the agent ends with its bridge", || {
        test_kill_process(agent).is_err()
    });

    let served = bridge_in(folder);
    let listed = served.get("/api/sessions").json();
    assert_eq!(listed["sessions"][0]["record"]["id"], session.as_str());
    assert_eq!(listed["sessions"][0]["record"]["status"], "dead");
    assert_eq!(listed["sessions"][0]["questions"], json!([]));
    let after = served.frames(&session);
    assert_eq!(after[..before.len()], before[..], "history is as it was");
    let seqs: Vec<u64> = after
        .iter()
        .map(|frame| frame["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(
        seqs,
        (1..=after.len() as u64).collect::<Vec<_>>(),
        "numbers go on"
    );
    assert_eq!(outcomes(&served, &session), ["cancelled"]);
    served.tell(&session, "again");
    served.wait_for_status(&session, "idle");
}

#[test]
fn of_two_clients_that_answer_one_question_one_wins_and_both_know() {
    let served = bridge();
    let session = served.session("scripted");
    let mut events = served.follow(&session, 0);
    served.tell(&session, "ask 1");
    let question = served.wait_for_question(&session);
    let path = format!("/api/sessions/{session}/questions/{question}");
    let statuses: Vec<u16> = thread::scope(|scope| {
        let answers = ["allow", "deny"].map(|decision| {
            let (served, path) = (&served, &path);
            scope.spawn(move || served.post(path, &json!({"decision": decision})).status)
        });
        answers
            .into_iter()
            .map(|answer| answer.join().unwrap())
            .collect()
    });
    let mut sorted = statuses.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, [204, 409]);
    let seen = events.until(|name, data| name == "frame" && data["kind"] == "answer");
    let expected = if statuses[0] == 204 {
        "allowed"
    } else {
        "denied"
    };
    assert_eq!(seen.last().unwrap().1["body"]["outcome"], expected);
}

#[test]
fn a_message_sent_twice_runs_once_even_after_a_restart() {
    let served = bridge();
    let session = served.session("scripted");
    let path = format!("/api/sessions/{session}/messages");
    let message = json!({"content": "hello", "client_message_id": "mine-1"});
    let first = served.post(&path, &message).json();
    served.wait_for_status(&session, "idle");
    let again = served.post(&path, &message).json();
    assert_eq!(
        (first["repeated"].clone(), again["repeated"].clone()),
        (json!(false), json!(true))
    );
    assert_eq!(first["seq"], again["seq"]);
    let served = bridge_in(served.kill());
    let later = served.post(&path, &message).json();
    assert_eq!(
        (later["repeated"].clone(), later["seq"].clone()),
        (json!(true), first["seq"].clone())
    );
    let inputs = served
        .frames(&session)
        .into_iter()
        .filter(|frame| frame["kind"] == "input");
    assert_eq!(inputs.count(), 1);
}

#[test]
fn on_a_full_disk_nothing_is_taken_in_everyone_is_told_and_it_goes_on_when_there_is_room() {
    let folder = tempfile::tempdir().unwrap();
    let config = configure(folder.path());
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    for name in ["home", "project"] {
        fs::create_dir(folder.path().join(name)).unwrap();
    }
    // A disk of its own, for this process alone.
    let script = "mount -t tmpfs -o size=1m tmpfs \"$DATA\" && exec \"$@\"";
    let mut command = Command::new("unshare");
    command
        .args([
            "-rm",
            "sh",
            "-c",
            script,
            "sh",
            env!("CARGO_BIN_EXE_towline"),
        ])
        .env("DATA", &data)
        .env("HOME", folder.path().join("home"));
    if !can_mount() {
        return;
    }
    let child = serve(&mut command, folder.path(), |command| {
        command.arg("--config").arg(&config);
    });
    let served = Served::of(child, folder);
    let session = served.session("scripted");
    served.tell(&session, "hello");
    served.wait_for_status(&session, "idle");
    let mut events = served.follow(&session, 0);
    events.until(|name, _| name == "live");

    let disk = served.root_folder().join(data.strip_prefix("/").unwrap());
    let filler = disk.join("filler");
    // Writing more than there is room for fails at the end, and the room is gone.
    fs::write(&filler, vec![0; 2 << 20]).unwrap_err();
    let waits = served.tell(&session, &"x".repeat(20_000));
    assert_eq!(waits.status, 503, "{waits:?}");
    assert!(waits.body.contains("do not send it again"), "{waits:?}");
    let told = events.until(|name, data| name == "trouble" && !data.is_null());
    assert!(
        told.last().unwrap().1.as_str().unwrap().contains("full"),
        "{told:?}"
    );
    let refused = served.tell(&session, "more");
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.body.contains("full"), "{refused:?}");
    assert_eq!(served.get("/healthz").status, 503);

    fs::remove_file(&filler).unwrap();
    events.until(|name, data| name == "trouble" && data.is_null());
    events.until(|name, data| name == "frame" && data["body"]["type"] == "result");
    served.tell(&session, "and on");
    events.until(|name, data| name == "frame" && data["body"]["result"] == "and on");
    let seqs: Vec<u64> = served
        .frames(&session)
        .iter()
        .map(|frame| frame["seq"].as_u64().unwrap())
        .collect();
    assert_eq!(seqs, (1..=seqs.len() as u64).collect::<Vec<_>>());
}

/// Where a test may not mount, the log's own tests stand in with a bound on the file.
fn can_mount() -> bool {
    let tried = Command::new("unshare").args(["-rm", "true"]).status();
    let can = tried.as_ref().is_ok_and(std::process::ExitStatus::success);
    if !can {
        not_run::enter_for_lack_of(&format!("mount with `unshare -rm`: {tried:?}"));
    }
    can
}

pub(super) fn agent(served: &Served) -> Pid {
    let file = served.project().join("agent.pid");
    let number: i32 = fs::read_to_string(file).unwrap().trim().parse().unwrap();
    Pid::from_raw(number).unwrap()
}

fn outcomes(served: &Served, session: &str) -> Vec<String> {
    let frames = served.frames(session).into_iter();
    let answers = frames.filter(|frame| frame["kind"] == "answer");
    answers
        .map(|frame| frame["body"]["outcome"].as_str().unwrap().to_owned())
        .collect()
}
