//! Killed at any moment, with no time to clean up: what is on disk is whole, the session goes on, nothing is left running.

use std::{
    collections::BTreeSet,
    fs,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use serde_json::json;
use tokio::time::timeout;
use towline_store::{Home, SessionKey};
use towline_testkit::{
    real_cli::RealCli,
    script_api::{Reply, Script},
    waiting::eventually,
};

use crate::driven::{Driven, api, block_on, marked, names, prompt, running, said, towline_room};

/// How many agents die at the same time.
const AT_ONCE: usize = 6;
/// About as many lines has the conversation: the moment is somewhere in them.
const LINES: u64 = 250;
/// The last command never ends: when nothing came for so long, the moment is now.
const QUIET: Duration = Duration::from_millis(800);
const SEEDS: std::ops::Range<u64> = 0..50;
/// In so many of the moments at least, commands run in the background.
const LEAST_IN_BACKGROUND: usize = 20;

#[test]
fn killed_at_any_moment_it_leaves_whole_files_and_a_session_that_goes_on() {
    let next = AtomicUsize::new(0);
    let seeds: Vec<u64> = SEEDS.collect();
    let reached = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let moment = block_on(die_and_go_on(*seed));
                    reached.lock().unwrap().push(moment);
                }
            });
        }
    });
    // Moments that are all alike would show little.
    let reached = reached.into_inner().unwrap();
    let calls: BTreeSet<usize> = reached.iter().map(|moment| moment.calls).collect();
    assert!(calls.len() >= 4, "only so many calls: {calls:?}");
    let in_background = |least| reached.iter().filter(|one| one.tasks >= least).count();
    let (one, both) = (in_background(1), in_background(2));
    assert!(
        one >= LEAST_IN_BACKGROUND && both >= LEAST_IN_BACKGROUND,
        "of {} moments, so many had one and two commands in the background: {one}, {both}",
        reached.len()
    );
}

/// When an agent was killed.
struct Moment {
    /// How many calls its session knows of.
    calls: usize,
    /// How many commands ran in the background, as it said.
    tasks: usize,
}

/// Kills an agent and looks at what is left.
async fn die_and_go_on(seed: u64) -> Moment {
    let room = towline_room();
    fs::write(room.project().join("old.txt"), large("old")).unwrap();
    let session = format!("00000000-0000-4000-8000-{seed:012}");
    let (was_asked, tasks) = work_and_die(&room, &session, seed).await;
    check_files(&room, seed);

    let home = Home::new(room.home().join(".claude"));
    let key: SessionKey = session.parse().unwrap();
    let stored = home.session_in(room.project().canonicalize().unwrap(), key);
    let mut has_begun = stored.path().exists();
    if has_begun {
        let transcript = stored.transcript();
        let mut transcript = transcript.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert_eq!(transcript.skipped_count(), 0, "seed {seed}");
        for record in transcript.messages(0..usize::MAX) {
            record.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        }
        has_begun = transcript.tree().live_leaf().is_some();
    }
    if !has_begun {
        assert!(
            !was_asked,
            "seed {seed}: the model was asked, and nothing was kept"
        );
        return Moment { calls: 0, tasks };
    }
    let calls = go_on(&room, &session, seed).await;
    let strange: Vec<_> = names(&room.project())
        .into_iter()
        .filter(|name| !["large.txt", "old.txt", "seen.txt"].contains(&name.as_str()))
        .collect();
    assert!(
        strange.is_empty(),
        "seed {seed}: {strange:?} was left behind"
    );
    Moment { calls, tasks }
}

/// Has the agent work, kills it, and waits until nothing of it runs. Whether the model was asked, and how many commands
/// ran in the background.
async fn work_and_die(room: &RealCli, session: &str, seed: u64) -> (bool, usize) {
    let time = unheard_of_time(seed);
    let api = api(script(room, &time)).await;
    let mark = format!("TOWLINE_CRASH_TEST={}-{seed}", std::process::id());
    let arguments = [
        ALLOWED,
        &["--include-partial-messages", "--session-id", session],
    ]
    .concat();
    let mut agent = Driven::start_with(room, &api.url(), &arguments, |command| {
        let (name, value) = mark.split_once('=').unwrap();
        command.env(name, value);
    });
    let mut random = Random(seed);
    agent.say(&prompt("begin")).await;
    let mut heard = Vec::new();
    for _ in 0..random.below(LINES) {
        let Ok(line) = timeout(QUIET, agent.line()).await else {
            break;
        };
        heard.push(line.expect("it does not end by itself"));
    }
    // The moment itself is what is random here; nothing is waited for.
    tokio::time::sleep(Duration::from_micros(random.below(8_000))).await;
    heard.extend(agent.kill().await);
    eventually(&format!("seed {seed}: the end of all commands"), || {
        marked(&mark).is_empty() && running(&time).is_empty()
    })
    .await;
    let was_asked = heard.iter().any(|line| line["type"] == "stream_event");
    let tasks = heard.iter();
    let tasks = tasks.filter(|line| line["subtype"] == "task_started");
    (was_asked, tasks.count())
}

/// A time to sleep that no other process sleeps.
fn unheard_of_time(seed: u64) -> String {
    format!("1000.{}{seed:04}", std::process::id())
}

/// Every file is as it was before a call or as it was after it.
fn check_files(room: &RealCli, seed: u64) {
    let content = |name| fs::read_to_string(room.project().join(name)).ok();
    let written = [
        None,
        Some(large("A")),
        Some(large("B")),
        Some(large("B").replace("line", "LINE")),
    ];
    assert!(
        written.contains(&content("large.txt")),
        "seed {seed}: large.txt is a mixture"
    );
    let edited = [
        Some(large("old")),
        Some(large("old").replace("row 7 ", "row seven ")),
    ];
    assert!(
        edited.contains(&content("old.txt")),
        "seed {seed}: old.txt is a mixture"
    );
}

/// A further prompt gets its answer, and the model hears all that was said before. Gives how many calls that were.
async fn go_on(room: &RealCli, session: &str, seed: u64) -> usize {
    let seen = room.project().join("seen.txt");
    let api = api(Script::new([
        Reply::message().tool("Write", json!({"file_path": seen, "content": "seen"})),
        Reply::text("It goes on."),
    ]))
    .await;
    let arguments = [ALLOWED, &["--resume", session]].concat();
    let mut agent = Driven::start(room, &api.url(), &arguments);
    let result = agent.ask("and then?").await;
    assert_eq!(result["subtype"], "success", "seed {seed}: {result}");
    assert_eq!(result["result"], "It goes on.", "seed {seed}");
    let ended = agent.close_and_end().await;
    assert_eq!((ended.code, &*ended.stderr), (Some(0), ""), "seed {seed}");
    assert_eq!(fs::read_to_string(seen).unwrap(), "seen");
    let said = said(&api.requests()[0].body());
    let at = |words: &str| said.iter().position(|one| one.contains(words));
    let (begin, then) = (at("begin"), at("and then?"));
    assert!(begin.is_some() && begin < then, "seed {seed}: {said:?}");
    said.iter().filter(|one| one.starts_with("call ")).count()
}

/// Texts that stream, files that are made, written over and edited, commands that are waited for and that are not.
fn script(room: &RealCli, time: &str) -> Script {
    let large_txt = room.project().join("large.txt");
    let old_txt = room.project().join("old.txt");
    let write = |content: &str| json!({"file_path": large_txt, "content": large(content)});
    let edit = |path, old: &str, new: &str, all: bool| json!({"file_path": path, "old_string": old, "new_string": new, "replace_all": all});
    let command = |command: &str| json!({"command": command});
    let in_background = |command: String| json!({"command": command, "run_in_background": true});
    let words = "a stream of many words that go on and on ".repeat(4);
    Script::new([
        Reply::message()
            .thinking("Where to begin?")
            .and_text(&words)
            .tool(
                "Bash",
                in_background(format!("(trap '' TERM; sleep {time})")),
            )
            // Neither the environment nor the group tells whose this one is.
            .tool("Bash", in_background(format!("env -i setsid sleep {time}"))),
        Reply::message()
            .tool("Write", write("A"))
            .tool("Read", json!({"file_path": old_txt, "limit": 20}))
            .pieces(towline_testkit::script_api::Pieces::Characters(9000)),
        Reply::message()
            .and_text(&words)
            .tool("Write", write("B"))
            .tool("Edit", edit(&old_txt, "row 7 ", "row seven ", true))
            .pieces(towline_testkit::script_api::Pieces::Characters(9000)),
        Reply::message()
            .tool(
                "Bash",
                command("(trap '' TERM; sleep 1000) & sleep 0.02; echo done"),
            )
            .tool("Edit", edit(&large_txt, "line", "LINE", true)),
        Reply::message()
            .and_text(&words)
            .tool("Bash", command("sleep 1000")),
    ])
}

/// A text that takes a while to be written.
fn large(what: &str) -> String {
    let rest = "and so on ".repeat(40);
    let rows = (0..500).map(|row| format!("row {row} of {what}: a line of some length {rest}\n"));
    rows.collect()
}

/// Numbers from a seed (SplitMix64): the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

const ALLOWED: &[&str] = &["--dangerously-skip-permissions"];
