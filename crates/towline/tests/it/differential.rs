//! Command lines that a generator makes, given to the real CLI and to ours in one sandbox: ours may run nothing unasked
//! that the real CLI asks about or denies.
//!
//! `TOWLINE_SLOW=1` compares 2,000 lines; `TOWLINE_DIFFERENTIAL_LINES` says another number, `TOWLINE_DIFFERENTIAL_SEED`
//! another seed than that of the last commit. `bench/run differential N SEED` sets both. `TOWLINE_DIFFERENTIAL_FILE` names a
//! file with lines to compare instead, one `{"setting": 0, "line": "…"}` each; `TOWLINE_DIFFERENTIAL_ALL=1` prints those
//! with the same outcome too. Findings become rows of
//! `towline-permission/tests/data/more_commands.jsonl`, in whose form they are printed.

mod classes;
mod inside;
mod lines;
mod sandbox;
mod setting;

use std::{
    collections::BTreeMap,
    env, fs,
    io::{self, Write as _},
    path::Path,
    process::Command,
    sync::Mutex,
    thread,
};

use serde_json::json;
use towline_testkit::real_cli::{RealCli, is_slow_wanted};

use crate::driven::block_on;
use inside::{Batch, Outcome};
use lines::Lines;
use setting::{BASE, HOME, OUTSIDE, PROJECT, SETTINGS};

/// Lines of one session; the next ones get folders that no line has seen.
const BATCH: usize = 20;
const LINES: usize = 2_000;
/// How many of a hundred must have the same outcome.
const LEAST_SAME: usize = 93;

const REAL: &str = "/srv/programs/claude";
const OURS: &str = "/srv/programs/towline";
/// Stands before what the inner program has to say.
const MARK: &str = "outcomes: ";

/// A line with what became of it.
struct Compared {
    setting: usize,
    line: String,
    theirs: Outcome,
    ours: Outcome,
}

#[test]
fn no_command_line_is_decided_more_loosely_than_by_the_real_cli() {
    if let Some(input) = sandbox::input() {
        play_inside(&input);
        return;
    }
    if !is_slow_wanted("generated command lines beside the real CLI") {
        return;
    }
    let seed = seed();
    let wanted = number("TOWLINE_DIFFERENTIAL_LINES").unwrap_or(LINES as u64);
    tell(&format!("{wanted} lines, seed {seed}"));
    let batches = match env::var_os("TOWLINE_DIFFERENTIAL_FILE") {
        Some(file) => batches_of_file(Path::new(&file)),
        None => batches(usize::try_from(wanted).unwrap(), seed),
    };
    let compared = compare(batches);
    report(&compared, seed);
}

/// The seed is that of the last commit, so that each commit looks at other lines and can be looked at again.
fn seed() -> u64 {
    number("TOWLINE_DIFFERENTIAL_SEED").unwrap_or_else(|| {
        let output = Command::new("git")
            .args(["rev-parse", "HEAD"])
            .output()
            .unwrap();
        let hash = String::from_utf8(output.stdout).unwrap();
        u64::from_str_radix(hash.get(..12).unwrap_or("0"), 16).unwrap()
    })
}

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|text| {
        text.parse()
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    })
}

/// Lines of a file, one JSON object each with `setting` and `line`.
fn batches_of_file(file: &Path) -> Vec<Batch> {
    let text = fs::read_to_string(file).unwrap();
    let mut by_setting: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    for row in text.lines() {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        let setting = usize::try_from(row["setting"].as_u64().unwrap()).unwrap();
        by_setting
            .entry(setting)
            .or_default()
            .push(row["line"].as_str().unwrap().to_owned());
    }
    let chunks = by_setting.into_iter().flat_map(|(setting, lines)| {
        let chunks: Vec<Batch> = lines
            .chunks(5 * BATCH)
            .map(|lines| Batch {
                setting,
                lines: lines.to_vec(),
            })
            .collect();
        chunks
    });
    chunks.collect()
}

fn batches(wanted: usize, seed: u64) -> Vec<Batch> {
    let mut lines = Lines::new(seed);
    let all = wanted.div_ceil(BATCH);
    let mut batches = Vec::new();
    for number in 0..all {
        // Spread evenly, so that few lines have all settings too.
        let place = (number * 37 + 11) % 100;
        let mut sum = 0;
        let setting = SETTINGS.iter().position(|setting| {
            sum += setting.share;
            place < sum
        });
        let mut own: Vec<String> = (0..BATCH)
            .map(|_| lines.line().replace("{OUT}", OUTSIDE))
            .collect();
        // A change of directory would be seen by the lines behind it.
        own.sort_by_key(|line| line.contains("cd ") || line.contains("pushd"));
        let last = own
            .iter()
            .position(|line| line.contains("cd ") || line.contains("pushd"));
        own.truncate(last.map_or(BATCH, |last| last + 1));
        batches.push(Batch {
            setting: setting.unwrap(),
            lines: own,
        });
    }
    batches
}

/// Plays all batches, two at a time.
fn compare(batches: Vec<Batch>) -> Vec<Compared> {
    let real = RealCli::find().unwrap();
    let programs = [
        (real.program().to_owned(), REAL),
        (Path::new(env!("CARGO_BIN_EXE_towline")).to_owned(), OURS),
    ];
    let folder = tempfile::tempdir().unwrap();
    // A build meanwhile may take the files away.
    let programs = programs.map(|(path, inside)| {
        let own = folder.path().join(inside.replace('/', "_"));
        fs::hard_link(&path, &own)
            .or_else(|_| fs::copy(&path, &own).map(drop))
            .unwrap();
        (own, inside)
    });
    let open = Mutex::new(batches.into_iter().enumerate());
    let compared = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let Some((number, batch)) = open.lock().unwrap().next() else {
                        return;
                    };
                    let file = folder.path().join(format!("{number}.json"));
                    fs::write(&file, json!(batch).to_string()).unwrap();
                    let programs: Vec<_> = programs.iter().map(|(path, inside)| (path.as_path(), *inside)).collect();
                    let test = "differential::no_command_line_is_decided_more_loosely_than_by_the_real_cli";
                    let output = sandbox::run(test, &file, &programs);
                    let text = String::from_utf8_lossy(&output.stdout);
                    let found = text.lines().find_map(|line| line.split_once(MARK));
                    let Some((_, found)) = found else {
                        panic!("batch {number} {batch:?}: {text}\n{}", String::from_utf8_lossy(&output.stderr));
                    };
                    let [theirs, ours]: [Vec<Option<Outcome>>; 2] = serde_json::from_str(found).unwrap();
                    let both = theirs.into_iter().zip(ours).zip(batch.lines);
                    let decided = both.filter_map(|((theirs, ours), line)| {
                        Some(Compared { setting: batch.setting, line, theirs: theirs?, ours: ours? })
                    });
                    compared.lock().unwrap().extend(decided);
                }
            });
        }
    });
    compared.into_inner().unwrap()
}

fn play_inside(input: &str) {
    let batch: Batch = serde_json::from_str(input).unwrap();
    let found = block_on(async {
        [
            inside::play(REAL, &batch).await,
            inside::play(OURS, &batch).await,
        ]
    });
    let line = format!("{MARK}{}\n", json!(found));
    io::stdout().write_all(line.as_bytes()).unwrap();
}

fn report(compared: &[Compared], seed: u64) {
    let same = compared.iter().filter(|one| one.theirs == one.ours).count();
    let looser: Vec<_> = compared
        .iter()
        .filter(|one| one.ours == Outcome::Allow && one.theirs > Outcome::Allow)
        .collect();
    let softer: Vec<_> = compared
        .iter()
        .filter(|one| one.ours == Outcome::Ask && one.theirs == Outcome::Deny)
        .collect();
    let stricter: Vec<_> = compared
        .iter()
        .filter(|one| one.ours > one.theirs)
        .collect();
    if env::var_os("TOWLINE_DIFFERENTIAL_ALL").is_some() {
        for one in compared.iter().filter(|one| one.ours == one.theirs) {
            tell(&format!("same: {}", row(one)));
        }
    }
    for one in &stricter {
        tell(&format!("stricter: {}", row(one)));
    }
    for one in &softer {
        tell(&format!("asked, denied there: {}", row(one)));
    }
    for one in &looser {
        tell(&format!("looser: {}", row(one)));
    }
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for one in &stricter {
        *counts
            .entry(classes::class(one.setting, &one.line))
            .or_default() += 1;
    }
    for (class, count) in counts {
        tell(&format!("{count} stricter: {class}"));
    }
    tell(&format!(
        "{} lines with seed {seed}: {same} the same, {} stricter, {} asked where the real CLI denies, {} looser",
        compared.len(),
        stricter.len(),
        softer.len(),
        looser.len()
    ));
    assert!(compared.len() >= 20, "nothing was compared");
    assert_eq!(looser.len(), 0, "see the rows above");
    assert!(
        same * 100 >= LEAST_SAME * compared.len(),
        "too many differences"
    );
}

/// Prints a line even where the output of a test that passes is not shown: the seed must be known.
fn tell(line: &str) {
    io::stderr()
        .write_all(format!("{line}\n").as_bytes())
        .unwrap();
}

/// As a row of the recorded decisions.
fn row(one: &Compared) -> serde_json::Value {
    let setting = &SETTINGS[one.setting];
    let command = one
        .line
        .replace(PROJECT, "{CWD}")
        .replace(OUTSIDE, "{OUT}")
        .replace(HOME, "{HOME}")
        .replace(BASE, "{BASE}");
    json!({
        "mode": setting.mode, "allow": setting.allow, "deny": setting.deny, "ask": [],
        "rule_source": "user", "workspace_trusted": true, "tool": "Bash",
        "input": {"command": command, "description": "d"}, "decision": one.theirs, "ours": one.ours,
    })
}
