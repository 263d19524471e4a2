//! Parity: over one scripted API, towline's agent must have recorded conversations in the same way as the real CLI had.
//!
//! `parity.toml` lists the conversations, `parity-setups.toml` has what they need besides their lines, and
//! `parity-differences.toml` the differences that are meant. In every run the lines are compared with the recorded ones;
//! with `TOWLINE_SLOW=1` also with those that the real CLI says now. `TOWLINE_PARITY=PART` has only the conversations
//! with that part in their names and prints everything, `TOWLINE_PARITY_AGENT=PROGRAM` plays another program in
//! towline's place: with the real CLI it shows that the scripts say what was said when the lines were recorded.

mod compare;
mod differences;
mod play;
mod recording;
mod script;
mod setup;
mod stand_ins;
mod steps;

use std::{
    collections::BTreeMap,
    env,
    fmt::Write as _,
    io::Write as _,
    path::PathBuf,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use towline_testkit::real_cli::{self, RealCli};

use compare::{Difference, compare};
use differences::Meant;
use play::{Played, Program, play};
use recording::{Line, Recording};
use setup::Setup;

/// How many conversations must be the same, whatever the list says.
const LEAST_SAME: usize = 60;
const LEAST_IN_A_GROUP: usize = 4;
/// How many are had at the same time.
const AT_ONCE: usize = 2;
/// How long to wait for a line.
const PATIENCE: Duration = Duration::from_secs(5);
/// The real CLI takes seconds to start on a busy machine.
const PATIENCE_WITH_THE_REAL_CLI: Duration = Duration::from_secs(40);
/// The real CLI does not always do the same: once in a while it ends by a signal with its last line unsaid. Where it
/// strays from its own recording and from us it plays again, so often in all.
const MOST_PLAYS: usize = 6;
/// How many differences of a conversation are printed.
const MOST_SHOWN: usize = 12;

#[test]
fn the_agent_has_the_recorded_conversations_as_the_real_cli_had_them() {
    let agent = agent();
    let (meant, started) = (Meant::read(), Instant::now());
    let had = have(&conversations(), |conversation, setups| {
        let played = play(&agent, &conversation.recording, &conversation.setup, setups);
        conversation.outcome(&meant, &played)
    });
    judge(&had, &meant, started.elapsed());
}

#[test]
fn the_agent_and_the_real_cli_have_the_same_conversations_now() {
    if !real_cli::is_slow_wanted("parity with the real CLI") {
        return;
    }
    let agent = agent();
    let cli = RealCli::find().unwrap();
    let cli = Program {
        path: cli.command("").get_program().into(),
        patience: PATIENCE_WITH_THE_REAL_CLI,
    };
    let (meant, started) = (Meant::read(), Instant::now());
    let had = have(&conversations(), |conversation, setups| {
        let Conversation {
            recording, setup, ..
        } = conversation;
        let ours = play(&agent, recording, setup, setups);
        let mut plays = 1;
        loop {
            let real = play(&cli, recording, setup, setups);
            let outcome = conversation.compared(&meant, (&real.lines, real.code), &ours);
            let is_settled = outcome.is_same || conversation.outcome(&meant, &real).is_same;
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
    judge(&had, &meant, started.elapsed());
}

#[test]
fn every_setup_belongs_to_a_conversation() {
    if wanted().is_some() {
        return;
    }
    let conversations = conversations();
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
    } in conversations()
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
    let List { left_out, groups } = toml::from_str(LIST).unwrap();
    let mut named: Vec<&String> = groups.values().chain(left_out.values()).flatten().collect();
    named.sort();
    let mut recorded = Recording::names();
    recorded.sort();
    // Each of them once.
    assert_eq!(named, recorded.iter().collect::<Vec<_>>());
}

/// The list.
#[derive(serde::Deserialize)]
struct List {
    /// What is recorded and not had, by the reason.
    left_out: BTreeMap<String, Vec<String>>,
    #[serde(flatten)]
    groups: BTreeMap<String, Vec<String>>,
}

/// A conversation of the list.
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
        let differences = meant.without(&self.name, differences);
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
            is_same: differences.is_empty(),
            report,
        }
    }
}

/// What came of a conversation.
struct Outcome {
    group: String,
    is_same: bool,
    report: String,
}

/// The conversations of the list that are wanted.
fn conversations() -> Vec<Conversation> {
    let List { groups, .. } = toml::from_str(LIST).unwrap();
    let setups = Setup::all();
    let wanted = wanted();
    let mut conversations = Vec::new();
    for (group, names) in groups {
        for name in names {
            if wanted.as_ref().is_some_and(|part| !name.contains(part)) {
                continue;
            }
            conversations.push(Conversation {
                group: group.clone(),
                recording: Recording::read(&name),
                setup: setups.get(&name).cloned().unwrap_or_default(),
                name,
            });
        }
    }
    conversations
}

fn wanted() -> Option<String> {
    env::var("TOWLINE_PARITY").ok()
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
    one: impl Fn(&Conversation, &BTreeMap<String, Setup>) -> Outcome + Sync,
) -> Vec<Outcome> {
    let setups = Setup::all();
    let next = AtomicUsize::new(0);
    let had = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(conversation) =
                    conversations.get(next.fetch_add(1, Ordering::Relaxed))
                {
                    let outcome = one(conversation, &setups);
                    had.lock().unwrap().push(outcome);
                }
            });
        }
    });
    had.into_inner().unwrap()
}

/// Prints what came of it, and fails if that is too little.
fn judge(had: &[Outcome], meant: &Meant, took: Duration) {
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
    if wanted().is_some() {
        return;
    }
    let problems = meant.problems();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(same >= LEAST_SAME, "{summary}");
    let poor = groups.values().any(|(same, _)| *same < LEAST_IN_A_GROUP);
    assert!(!poor, "{summary}");
}

fn say(text: &str) {
    if !text.is_empty() {
        // A test that cannot say so is judged all the same.
        writeln!(std::io::stderr().lock(), "{}", text.trim_end()).ok();
    }
}

const LIST: &str = include_str!("../data/parity.toml");
