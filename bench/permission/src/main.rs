//! How long a decision takes: typical command lines under 200 rules, more rules, and long command lines.
//!
//! Prints times and the bounds they are held against, and fails where one is missed.

#[path = "../../src/figures.rs"]
mod figures;

use std::{
    hint::black_box,
    process::ExitCode,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use towline_permission::{
    Behavior, Call, Destination, Facts, PermissionMode, Places, Policy, Rule, decide,
};

use figures::Better;

fn main() -> ExitCode {
    let mut is_good = true;
    let policy = policy(200);
    println!("typical calls under 200 rules");
    let mut all = Vec::new();
    for (tool, input) in typical() {
        let median = median(501, || decision(&policy, tool, &input));
        all.push(median);
        println!("  {:>9.1} µs  {tool} {input}", micros(median));
        note(&format!("{tool} {input}"), median);
    }
    all.sort();
    is_good &= within(
        "median of them",
        all[all.len() / 2],
        Duration::from_micros(50),
    );

    println!("\nthe same command under more and more rules");
    let input = json!({"command": "cargo build --release && git status"});
    let mut last = None;
    for rules in [200, 2_000, 20_000] {
        let policy = self::policy(rules);
        let median = median(101, || decision(&policy, "Bash", &input));
        note(&format!("{rules} rules"), median);
        let each = micros(median) * 1000.0 / f64::from(rules);
        println!(
            "  {:>9.1} µs  {rules:>6} rules, {each:.0} ns each",
            micros(median)
        );
        if let Some((fewer, before)) = last {
            // Linear: not much more for each rule than with fewer of them.
            let growth = micros(median) / micros(before) / (f64::from(rules) / f64::from(fewer));
            is_good &= growth < 1.5;
        }
        last = Some((rules, median));
    }

    println!("\ncommand lines of 100 KB under 200 rules");
    for (name, line) in long_lines() {
        let input = json!({"command": line});
        let median = median(11, || decision(&policy, "Bash", &input));
        is_good &= within(name, median, Duration::from_millis(50));
    }
    if is_good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

fn decision(policy: &Policy, tool: &str, input: &Value) {
    black_box(decide(policy, &Call::new(tool, input), &Facts::default()));
}

fn median(times: usize, work: impl Fn()) -> Duration {
    work();
    let mut all: Vec<Duration> = (0..times)
        .map(|_| {
            let begin = Instant::now();
            work();
            begin.elapsed()
        })
        .collect();
    all.sort();
    all[times / 2]
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

fn note(name: &str, time: Duration) {
    figures::note(&format!("{name}, µs"), micros(time), Better::Lower);
}

fn within(what: &str, time: Duration, bound: Duration) -> bool {
    note(what, time);
    let verdict = if time <= bound { "within" } else { "MORE THAN" };
    println!(
        "  {:>9.1} µs  {what}: {verdict} {:.0} µs",
        micros(time),
        micros(bound)
    );
    time <= bound
}

/// Rules as people have them: a third for commands, a third for paths, the rest for others; most allow.
fn policy(rules: u32) -> Policy {
    let places = Places {
        project: "/home/me/project".to_owned(),
        current: "/home/me/project".to_owned(),
        home: "/home/me".to_owned(),
        config: "/home/me/.claude".to_owned(),
        flag_settings: None,
    };
    let mut policy = Policy::new(PermissionMode::Default, places);
    for number in 0..rules {
        let text = match number % 6 {
            0 => format!("Bash(tool{number} run:*)"),
            1 => format!("Bash(tool{number} * --flag)"),
            2 => format!("Read(//data/{number}/**)"),
            3 => format!("Edit(src/{number}/*.rs)"),
            4 => format!("WebFetch(domain:host{number}.example.com)"),
            _ => format!("mcp__server{number}__tool"),
        };
        let behavior = match number % 20 {
            0 => Behavior::Deny,
            1 => Behavior::Ask,
            _ => Behavior::Allow,
        };
        if let Ok(rule) = text.parse::<Rule>() {
            policy.add(rule, behavior, Destination::UserSettings);
        }
    }
    policy
}

fn typical() -> Vec<(&'static str, Value)> {
    let bash = |command: &str| ("Bash", json!({"command": command}));
    vec![
        bash("ls -la"),
        bash("npm test"),
        bash("cargo build --release && cargo test"),
        bash("git add -A && git commit -m \"fix: the thing\""),
        bash("cat src/main.rs | head -50"),
        bash("rm -rf target/debug"),
        bash("NODE_ENV=test timeout 60 npm run build 2>&1 | tail -20"),
        ("Read", json!({"file_path": "/home/me/project/src/main.rs"})),
        ("Edit", json!({"file_path": "/home/me/project/src/main.rs"})),
        ("WebFetch", json!({"url": "https://example.com/x"})),
    ]
}

fn long_lines() -> Vec<(&'static str, String)> {
    let fill = |piece: &str| piece.repeat((100 << 10) / piece.len());
    vec![
        ("one long argument", format!("echo '{}'", fill("abc def "))),
        ("many arguments", format!("rm {}", fill("some/file.txt "))),
        (
            "many commands",
            fill("npm test && ls -la; ")
                .trim_end_matches("; ")
                .to_owned(),
        ),
        (
            "a here-document",
            format!("cat <<'EOF'\n{}EOF", fill("a line of text\n")),
        ),
        ("many substitutions", format!("echo {}", fill("$(rm x) "))),
        ("no shell at all", fill("\"'$(`{<")),
    ]
}
