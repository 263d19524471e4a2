//! The audit: what is in it, that it is only added to, and what happens when it cannot be.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tempfile::TempDir;
use towline_bridge::access::{Action, Audit, Who, input_summary};

fn start() -> Timestamp {
    "2026-11-16T12:00:00Z".parse().unwrap()
}

fn who() -> Who {
    Who {
        client: "phone".into(),
        address: "10.0.0.7".into(),
    }
}

fn stopped(session: &str) -> Action {
    Action::Stopped {
        session: session.into(),
    }
}

fn place() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.jsonl");
    (folder, path)
}

fn entries(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn each_action_is_one_line_with_who_and_when() {
    let (_folder, path) = place();
    let mut audit = Audit::new(path.clone(), 1 << 20);
    let (session, tool, input) = (
        "1a2b3c4d".to_owned(),
        "Bash".to_owned(),
        "ls\n\"x\"".to_owned(),
    );
    let approved = Action::Approved {
        session: session.clone(),
        tool: tool.clone(),
        input: input.clone(),
        extent: "once".into(),
        changes: Vec::new(),
    };
    let denied = Action::Denied {
        session: session.clone(),
        tool,
        input,
    };
    let started = Action::Started {
        session: session.clone(),
        agent: "claude".into(),
        directory: "/p".into(),
    };
    let mode = Action::ModeChanged {
        session,
        mode: "plan".into(),
    };
    let refused = Action::LoginRefused {
        reason: "wrong".into(),
    };
    let cases = [
        (
            approved,
            json!({"action": "approved", "session": "1a2b3c4d", "tool": "Bash", "input": "ls\n\"x\"", "extent": "once"}),
        ),
        (
            denied,
            json!({"action": "denied", "session": "1a2b3c4d", "tool": "Bash", "input": "ls\n\"x\""}),
        ),
        (
            started,
            json!({"action": "started", "session": "1a2b3c4d", "agent": "claude", "directory": "/p"}),
        ),
        (
            mode,
            json!({"action": "mode_changed", "session": "1a2b3c4d", "mode": "plan"}),
        ),
        (
            refused,
            json!({"action": "login_refused", "reason": "wrong"}),
        ),
    ];
    for (action, _) in &cases {
        audit.record(start(), &who(), action);
    }
    let expected: Vec<_> = cases
        .into_iter()
        .map(|(_, mut expected)| {
            expected["at"] = json!("2026-11-16T12:00:00Z");
            expected["client"] = json!("phone");
            expected["address"] = json!("10.0.0.7");
            expected
        })
        .collect();
    assert_eq!(entries(&path), expected);
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn what_was_there_stays_and_a_torn_line_stays_alone() {
    let (_folder, path) = place();
    fs::write(&path, "{\"a\":1}\n{\"torn").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    Audit::new(path.clone(), 1 << 20).record(start(), &who(), &stopped("x"));
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.starts_with("{\"a\":1}\n{\"torn\n{\"at\""), "{text}");
    assert_eq!(
        fs::metadata(&path).unwrap().permissions().mode() & 0o777,
        0o600
    );
}

#[test]
fn a_large_file_is_put_aside_and_the_oldest_goes() {
    let (folder, path) = place();
    let mut audit = Audit::new(path.clone(), 300);
    for number in 0..40 {
        audit.record(start(), &who(), &stopped(&format!("{number:04}")));
    }
    let mut names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    names.sort();
    assert_eq!(
        names,
        [
            "audit.jsonl",
            "audit.jsonl.1",
            "audit.jsonl.2",
            "audit.jsonl.3",
            "audit.jsonl.4"
        ]
    );
    let mut sessions = Vec::new();
    for name in names
        .iter()
        .rev()
        .filter(|name| *name != "audit.jsonl")
        .chain([&names[0]])
    {
        let file = folder.path().join(name);
        assert!(fs::metadata(&file).unwrap().len() < 300 + 200);
        sessions.extend(
            entries(&file)
                .iter()
                .map(|entry| entry["session"].as_str().unwrap().to_owned()),
        );
    }
    let last = (40 - sessions.len()..40).map(|number| format!("{number:04}"));
    assert_eq!(
        sessions,
        last.collect::<Vec<_>>(),
        "what is kept has no gap"
    );
}

#[test]
fn a_file_that_cannot_be_written_loses_entries_but_not_their_number() {
    let (folder, _) = place();
    let path = folder.path().join("later/audit.jsonl");
    let mut audit = Audit::new(path.clone(), 1 << 20);
    for _ in 0..3 {
        audit.record(start(), &who(), &stopped("lost"));
    }
    assert_eq!(audit.lost(), 3);
    fs::create_dir(folder.path().join("later")).unwrap();
    audit.record(start(), &who(), &stopped("kept"));
    assert_eq!(audit.lost(), 0);
    let entries = entries(&path);
    assert_eq!(
        entries[0],
        json!({"at": "2026-11-16T12:00:00Z", "action": "missing", "entries": 3})
    );
    assert_eq!(entries[1]["session"], "kept");
    assert_eq!(entries.len(), 2);
}

#[test]
fn who_hammers_at_the_door_does_not_fill_the_disk() {
    let (_folder, path) = place();
    let mut audit = Audit::new(path.clone(), 1 << 20);
    let refused = Action::LoginRefused {
        reason: "wrong".into(),
    };
    for _ in 0..1000 {
        audit.record(start(), &who(), &refused);
    }
    audit.record(start(), &who(), &stopped("x"));
    let later = start() + SignedDuration::from_secs(60);
    audit.record(later, &who(), &refused);
    let entries = entries(&path);
    let actions: Vec<_> = entries
        .iter()
        .map(|entry| entry["action"].as_str().unwrap())
        .collect();
    let mut expected = vec!["login_refused"; 10];
    expected.extend(["stopped", "logins_refused", "login_refused"]);
    assert_eq!(actions, expected);
    assert_eq!(entries[11]["more"], 990);
}

#[test]
fn an_entry_has_a_bound_whatever_a_client_calls_itself() {
    let (_folder, path) = place();
    let long = Who {
        client: "é".repeat(100_000),
        address: "x".repeat(100_000),
    };
    Audit::new(path.clone(), 1 << 20).record(start(), &long, &stopped("x"));
    assert!(fs::metadata(&path).unwrap().len() < 3000);
    assert_eq!(input_summary("short"), "short");
    assert_eq!(
        input_summary(&format!("{}; rm -rf x", "é".repeat(10_000))),
        format!(
            "{}… (9650 characters) …{}; rm -rf x",
            "é".repeat(240),
            "é".repeat(110)
        ),
    );
    assert_eq!(input_summary(&"é".repeat(400)), "é".repeat(400));
    assert_eq!(
        input_summary(&"é".repeat(401)),
        format!("{}… (41 characters) …{}", "é".repeat(240), "é".repeat(120)),
    );
}

/// A terminal would show another command than the one that was answered.
#[test]
fn what_an_input_hides_is_an_escape_in_the_file_and_the_same_value() {
    let (_folder, path) = place();
    let session = "a\u{202e}b\u{200b}c\u{e0041}\u{a0}\u{9b}\u{7f}\u{1b}é🚀";
    Audit::new(path.clone(), 1 << 20).record(start(), &who(), &stopped(session));
    let text = fs::read_to_string(&path).unwrap();
    assert!(
        text.contains(r"a\u202eb\u200bc\udb40\udc41\u00a0\u009b\u007f\u001bé🚀"),
        "{text}"
    );
    assert_eq!(entries(&path)[0]["session"], session);
}
