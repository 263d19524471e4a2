//! Parity: over one scripted API, towline's agent must have recorded conversations in the same way as the real CLI had.
//!
//! `parity.toml` lists the conversations, `parity-setups.toml` has what they need besides their lines, and
//! `parity-differences.toml` the differences that are meant. In every run the lines are compared with the recorded ones;
//! with `TOWLINE_SLOW=1` also with those that the real CLI says now. `TOWLINE_PARITY=PART` has only the conversations
//! with that part in their names and prints everything, `TOWLINE_PARITY_TRACES=FOLDER` has those of another folder, and
//! `TOWLINE_PARITY_AGENT=PROGRAM` plays another program in towline's place: with the real CLI it shows that the scripts
//! say what was said when the lines were recorded.

mod compare;
mod differences;
mod play;
mod recording;
mod script;
mod setup;
mod stand_ins;
mod steps;
mod suite;

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    fmt::Write as _,
    io::Write as _,
    path::{Path, PathBuf},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use towline_testkit::{
    not_run,
    real_cli::{self, RealCli},
    tidy::History,
};

use compare::{Difference, compare};
use differences::Meant;
use play::{Played, Program, play};
use recording::{Line, Recording};
use setup::Setup;
use suite::{List, Suite, wanted};

const LEAST_IN_A_GROUP: usize = 4;
/// How many are had at the same time.
const AT_ONCE: usize = 2;
/// How long to wait for a line.
const PATIENCE: Duration = Duration::from_secs(5);
/// The real CLI takes seconds to start on a busy machine.
const PATIENCE_WITH_THE_REAL_CLI: Duration = Duration::from_secs(40);
/// A conversation that is left out is expected to differ, and most of them by lines that never come.
const PATIENCE_WITH_WHAT_IS_LEFT_OUT: Duration = Duration::from_secs(1);
/// The real CLI does not always do the same: once in a while it ends by a signal with its last line unsaid. Where it
/// strays from its own recording and from us it plays again, so often in all.
const MOST_PLAYS: usize = 6;
/// How many differences of a conversation are printed.
const MOST_SHOWN: usize = 12;

#[test]
fn the_agent_has_the_recorded_conversations_as_the_real_cli_had_them() {
    let (agent, suite, started) = (agent(), Suite::chosen(), Instant::now());
    let had = have(&suite.conversations(), |conversation| {
        let played = play(&agent, &conversation.recording, &conversation.setup, &suite);
        conversation.outcome(&suite.meant, &played)
    });
    judge(&had, &suite, started.elapsed());
}

#[test]
fn the_agent_and_the_real_cli_have_the_same_conversations_now() {
    if !real_cli::is_slow_wanted("parity with the real CLI") {
        return;
    }
    let cli = RealCli::find().unwrap();
    let cli = Program {
        path: cli.command("").get_program().into(),
        patience: PATIENCE_WITH_THE_REAL_CLI,
    };
    let (agent, suite, started) = (agent(), Suite::chosen(), Instant::now());
    let had = have(&suite.conversations(), |conversation| {
        let Conversation {
            recording, setup, ..
        } = conversation;
        let ours = play(&agent, recording, setup, &suite);
        let mut plays = 1;
        loop {
            let real = play(&cli, recording, setup, &suite);
            let outcome = conversation
                .compared(&suite.meant, (&real.lines, real.code), &ours)
                .beside(&real);
            let is_settled = outcome.is_same || conversation.outcome(&suite.meant, &real).is_same;
            if is_settled || plays == MOST_PLAYS {
                return outcome;
            }
            say(&format!(
                "== {}: the real CLI strays, play {plays}",
                conversation.name
            ));
            plays += 1;
        }
    });
    judge(&had, &suite, started.elapsed());
}

/// A conversation that comes out the same is no longer left out for its reason, unless no line could show that.
#[test]
fn what_is_left_out_still_differs() {
    if !real_cli::is_slow_wanted("parity of what is left out") {
        return;
    }
    let agent = Program {
        patience: PATIENCE_WITH_WHAT_IS_LEFT_OUT,
        ..agent()
    };
    let suite = Suite::left_out();
    let mut conversations = suite.conversations();
    conversations.retain(|conversation| !conversation.group.starts_with(SHOWN_BY_NO_LINE));
    let had = have(&conversations, |conversation| {
        // Some are left out because they are not the same every time.
        let mut outcomes = (0..MOST_PLAYS).map(|_| {
            let played = play(&agent, &conversation.recording, &conversation.setup, &suite);
            conversation.outcome(&suite.meant, &played)
        });
        let mut outcome = outcomes.next().unwrap();
        while outcome.is_same
            && let Some(another) = outcomes.next()
        {
            outcome = another;
        }
        outcome
    });
    let same: Vec<&str> = had
        .iter()
        .filter(|outcome| outcome.is_same)
        .map(|outcome| &*outcome.name)
        .collect();
    assert!(
        same.is_empty(),
        "{same:?} have become the same: move them from [left_out] of parity.toml into a group"
    );
}

#[test]
fn what_comes_later_is_not_there_yet() {
    let (_, missing) = PROTOCOL.split_once("### What is not there yet").unwrap();
    let (missing, _) = missing.split_once("\n## ").unwrap();
    for reason in List::of_the_repository().left_out.keys() {
        let part = reason.strip_prefix(SHOWN_BY_NO_LINE).unwrap_or(reason);
        if let Some((part, _)) = part.split_once(" come") {
            assert!(
                missing.contains(&format!("\n| {part}")),
                "left out for `{reason}`, and PROTOCOL.md does not have {part} among what is not there yet"
            );
        }
    }
}

/// Each version of the list that has [`GUARD`] bounds those after it.
#[test]
fn what_was_had_once_is_had_and_nothing_new_is_left_out() {
    assert!(suite::LIST.contains(GUARD), "parity.toml has lost: {GUARD}");
    let Some(history) = History::open(Path::new(ROOT)).unwrap() else {
        not_run::enter_for_lack_of("full git history");
        return;
    };
    let versions = history.versions("crates/towline/tests/data/parity.toml");
    let mut versions = versions.unwrap();
    versions.retain(|earlier| earlier.text.contains(GUARD));
    assert!(
        !versions.is_empty(),
        "no commit has a parity.toml with: {GUARD}"
    );
    for earlier in versions {
        let problems = loosened(&List::read(&earlier.text), &List::of_the_repository());
        assert_eq!(problems, [""; 0], "since {}", earlier.commit);
    }
}

/// Names that a list gives up, or leaves out, and an earlier one did not.
fn loosened(earlier: &List, now: &List) -> Vec<String> {
    let names = |part: &BTreeMap<String, Vec<String>>| -> BTreeSet<String> {
        part.values().flatten().cloned().collect()
    };
    let had = names(&now.groups);
    let lost = names(&earlier.groups).into_iter();
    let lost = lost.filter(|name| !had.contains(name));
    let left_out_before = names(&earlier.left_out);
    // For this reason the list is not checked against what the agent does.
    let unchecked = |list: &List| -> BTreeSet<String> {
        let reasons = list.left_out.iter();
        let unchecked = reasons.filter(|(reason, _)| reason.starts_with(SHOWN_BY_NO_LINE));
        unchecked.flat_map(|(_, names)| names.clone()).collect()
    };
    let unchecked_before = unchecked(earlier);
    let exempted = unchecked(now).into_iter();
    let exempted = exempted.filter(|name| !unchecked_before.contains(name));
    let left_out = names(&now.left_out).into_iter();
    let left_out = left_out.filter(|name| !left_out_before.contains(name));
    lost.map(|name| format!("{name} was had and is not any more"))
        .chain(left_out.map(|name| format!("{name} was not left out and is now")))
        .chain(exempted.map(|name| format!("{name} could be seen to differ and is now exempted")))
        .collect()
}

#[test]
fn a_list_that_is_loosened_is_noticed() {
    let list = |groups: &str| List::read(groups);
    let earlier = list("a = ['one', 'two']\nb = ['three']\n[left_out]\nlater = ['four']");
    for (now, expected) in [
        ("a = ['one', 'two', 'three', 'four']\n[left_out]", &[][..]),
        (
            "a = ['one', 'two']\n[left_out]\nlater = ['three', 'four']",
            &[
                "three was had and is not any more",
                "three was not left out and is now",
            ],
        ),
        (
            "a = ['one', 'three']\n[left_out]\nlater = ['four']",
            &["two was had and is not any more"],
        ),
        (
            "a = ['one', 'two', 'three']\n[left_out]\nlater = ['four', 'five']",
            &["five was not left out and is now"],
        ),
        (
            "a = ['one', 'two', 'three']\n[left_out]\n'shown by no line: later' = ['four']",
            &["four could be seen to differ and is now exempted"],
        ),
    ] {
        assert_eq!(loosened(&earlier, &list(now)), expected, "{now}");
    }
}

#[test]
fn every_setup_belongs_to_a_conversation() {
    let conversations = Suite::of_the_repository().conversations();
    let names: Vec<&str> = conversations.iter().map(|one| &*one.name).collect();
    for name in Setup::all().keys() {
        assert!(names.contains(&&**name), "{name} is not in parity.toml");
    }
}

#[test]
fn every_conversation_has_a_script_and_an_end() {
    for Conversation {
        name,
        recording,
        setup,
        ..
    } in Suite::chosen().conversations()
    {
        let replies = script::replies(&recording);
        let plan = steps::steps(&recording, &replies, &setup);
        assert!(
            plan.iter().any(|step| matches!(step, steps::Step::Close)),
            "{name}"
        );
        if let Some(script) = &setup.script {
            towline_testkit::script_api::Script::from_toml(script)
                .unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }
}

#[test]
fn every_recorded_conversation_is_had_or_left_out_for_a_reason() {
    let List { left_out, groups } = List::of_the_repository();
    let mut named: Vec<&String> = groups.values().chain(left_out.values()).flatten().collect();
    named.sort();
    // Each of them once.
    let recorded = Recording::names(Path::new(recording::TRACES));
    assert_eq!(named, recorded.iter().collect::<Vec<_>>());
}

/// A conversation of a suite.
#[derive(Debug)]
struct Conversation {
    group: String,
    name: String,
    recording: Recording,
    setup: Setup,
}

impl Conversation {
    /// The exit code that follows from the last result, as the real CLI has it.
    fn exit(&self) -> i32 {
        let lines = self.recording.lines();
        let mut results = lines.iter().filter(|line| line.kind.starts_with("result"));
        let failed = results.next_back();
        let failed = failed.is_some_and(|line| line.value["is_error"] == true);
        self.setup.exit.unwrap_or(failed.into())
    }

    /// Compares with what was recorded.
    fn outcome(&self, meant: &Meant, played: &Played) -> Outcome {
        self.compared(meant, (&self.recording.lines(), self.exit()), played)
    }

    fn compared(&self, meant: &Meant, first: (&[Line], i32), played: &Played) -> Outcome {
        let ids = self.recording.ids_of_the_host();
        let mut differences = compare(first.0, &played.lines, &ids);
        if first.1 != played.code {
            differences.push(Difference {
                kind: "exit".to_owned(),
                path: "$".to_owned(),
                what: format!("{} became {}", first.1, played.code),
                line: first.0.len(),
            });
        }
        let mut differences = meant.without(&self.name, differences);
        differences.extend(played.refusals.iter().map(|why| Difference {
            kind: "request".to_owned(),
            path: "$".to_owned(),
            what: format!("is refused by the API: {why}"),
            line: 0,
        }));
        let mut report = String::new();
        let is_wanted = wanted().is_some();
        if !differences.is_empty() || is_wanted {
            writeln!(report, "== {} ({})", self.name, self.group).unwrap();
            let most = if is_wanted { usize::MAX } else { MOST_SHOWN };
            for difference in differences.iter().take(most) {
                writeln!(report, "   {difference}").unwrap();
            }
            if let Some(more) = differences.len().checked_sub(most).filter(|more| *more > 0) {
                writeln!(report, "   … and {more} more").unwrap();
            }
            for note in &played.notes {
                writeln!(report, "   note: {note}").unwrap();
            }
            let stderr = played.stderr.lines().filter(|line| !line.is_empty());
            for line in stderr.take(if is_wanted { 50 } else { 3 }) {
                writeln!(report, "   stderr: {line:.300}").unwrap();
            }
        }
        if is_wanted {
            for line in &played.lines {
                writeln!(
                    report,
                    "   {:40} {:.1500}",
                    line.kind,
                    line.value.to_string()
                )
                .unwrap();
            }
        }
        Outcome {
            group: self.group.clone(),
            name: self.name.clone(),
            is_same: differences.is_empty(),
            report,
        }
    }
}

/// What came of a conversation.
struct Outcome {
    group: String,
    name: String,
    is_same: bool,
    report: String,
}

impl Outcome {
    /// The API must take what the real CLI asks: otherwise it refuses too much.
    fn beside(mut self, real: &Played) -> Self {
        for why in &real.refusals {
            self.is_same = false;
            writeln!(
                self.report,
                "== {}: the API refuses the real CLI: {why}",
                self.name
            )
            .unwrap();
        }
        self
    }
}

/// The agent that is looked at.
fn agent() -> Program {
    match env::var_os("TOWLINE_PARITY_AGENT") {
        Some(path) => Program {
            path: path.into(),
            patience: PATIENCE_WITH_THE_REAL_CLI,
        },
        None => Program {
            path: PathBuf::from(env!("CARGO_BIN_EXE_towline")),
            patience: PATIENCE,
        },
    }
}

/// Has all conversations, some at a time.
fn have(
    conversations: &[Conversation],
    one: impl Fn(&Conversation) -> Outcome + Sync,
) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let had = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(conversation) =
                    conversations.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let outcome = one(conversation);
                    had.lock().unwrap().push(outcome);
                }
            });
        }
    });
    had.into_inner().unwrap()
}

/// Prints what came of it, and fails if that is too little.
fn judge(had: &[Outcome], suite: &Suite, took: Duration) {
    let mut groups: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for outcome in had {
        say(&outcome.report);
        let (same, all) = groups.entry(&outcome.group).or_default();
        *same += usize::from(outcome.is_same);
        *all += 1;
    }
    let same: usize = groups.values().map(|(same, _)| same).sum();
    let by_group: Vec<String> = groups
        .iter()
        .map(|(group, (same, all))| format!("{group} {same}/{all}"))
        .collect();
    let by_group = by_group.join(", ");
    let summary = format!(
        "parity: {} traces, {same} same, by group {by_group} ({} s)",
        had.len(),
        took.as_secs()
    );
    say(&summary);
    assert_eq!(same, had.len(), "{summary}");
    assert!(!had.is_empty(), "no conversation has that name");
    if !suite.is_the_whole_list {
        return;
    }
    let problems = suite.meant.problems();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    let poor = groups.values().any(|(same, _)| *same < LEAST_IN_A_GROUP);
    assert!(!poor, "{summary}");
}

fn say(text: &str) {
    if !text.is_empty() {
        // A test that cannot say so is judged all the same.
        writeln!(std::io::stderr().lock(), "{}", text.trim_end()).ok();
    }
}

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
const PROTOCOL: &str = include_str!("../../../../PROTOCOL.md");
const SHOWN_BY_NO_LINE: &str = "shown by no line: ";
/// Stands in `parity.toml` since its list may only grow.
const GUARD: &str = "# The groups only grow, and [left_out] only shrinks: ";
