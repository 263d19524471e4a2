//! The log of the bridge. `tests/data/logs` has one that each version wrote; every later version opens it and shows it
//! whole: each session with what was said of it, and each frame as it was.
//!
//! `TOWLINE_RECORD=1 cargo test …` writes one for the version of today. A log that is there is never written anew.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use rusqlite::{Connection, OpenFlags, types};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::check;
use crate::serve::{Served, eventually, http::Answer};

const LOGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/logs");
/// Stands for the folder with the home and the project, which each run has anew.
const PLACE: &str = "/towline-log";

#[test]
fn a_log_that_an_earlier_version_wrote_is_shown_whole() {
    let logs: Vec<PathBuf> = entries(Path::new(LOGS));
    let newest = logs.last().unwrap();
    assert_eq!(
        newest.file_name().unwrap().to_str(),
        Some(&*version()),
        "record a log of this version"
    );
    for log in logs {
        let expected = fs::read_to_string(log.join("shown.json")).unwrap();
        let expected: Value = serde_json::from_str(&expected).unwrap();
        let missing = missing("$", &expected, &shown(&opened(&log)));
        assert!(
            missing.is_empty(),
            "{}:\n{}",
            log.display(),
            missing.join("\n")
        );
    }
}

#[test]
fn a_log_that_an_earlier_version_wrote_keeps_each_value() {
    for log in entries(Path::new(LOGS)) {
        let recorded = log.join("folder/data/log.sqlite3");
        let recorded = Connection::open_with_flags(recorded, OpenFlags::SQLITE_OPEN_READ_ONLY);
        let before = rows(&recorded.unwrap());
        let served = opened(&log);
        let place = served.project();
        let place = place.parent().unwrap().display().to_string();
        let folder = served.end();
        let connection = open(&folder.path().join("data/log.sqlite3"));
        let lost = |connection: &Connection| -> Vec<String> {
            let after: BTreeSet<String> = rows(connection)
                .iter()
                .map(|row| row.replace(&place, PLACE))
                .collect();
            before.difference(&after).cloned().collect()
        };
        assert_eq!(lost(&connection), Vec::<String>::new(), "{}", log.display());
        for part in [
            "frames",
            "inputs",
            "questions",
            "sessions",
            "turns",
            "title')",
            "model')",
            "dropped'), '[]')",
        ] {
            assert!(before.iter().any(|row| row.contains(part)), "{part}");
        }
        // So a column that a later version empties is noticed.
        connection
            .execute("UPDATE questions SET answered_by = NULL", [])
            .unwrap();
        assert!(!lost(&connection).is_empty());
    }
}

/// Each value of a log, as `table key.column = value`, but for those about the present and the search index.
fn rows(connection: &Connection) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for (table, key, columns) in [
        ("frames", "row", &["kind", "body"][..]),
        ("inputs", "session || '/' || seq", &["client_id"]),
        (
            "questions",
            "session || '/' || asked_seq",
            &[
                "asked_at",
                "id",
                "tool",
                "answered_seq",
                "answered_at",
                "outcome",
                "answered_by",
                "message",
            ],
        ),
        (
            "sessions",
            "key",
            &[
                "id",
                "json_extract(record, '$.title')",
                "json_extract(record, '$.model')",
                "json_extract(record, '$.options')",
                "json_extract(record, '$.additional_directories')",
                // What waits when a bridge ends is dropped by the next one.
                "nullif(json_extract(record, '$.dropped'), '[]')",
            ],
        ),
        (
            "turns",
            "session || '/' || seq",
            &[
                "at",
                "model",
                "cost_usd",
                "total_cost_usd",
                "input_tokens",
                "cached_tokens",
                "cache_written_tokens",
                "output_tokens",
            ],
        ),
    ] {
        for column in columns {
            // A question that was open when the bridge ended gets its answer when it opens the log again.
            let query = format!("SELECT {key}, {column} FROM {table} WHERE {column} IS NOT NULL");
            let mut statement = connection.prepare(&query).unwrap();
            let values = statement.query_map([], |row| {
                Ok((
                    row.get::<_, types::Value>(0)?,
                    row.get::<_, types::Value>(1)?,
                ))
            });
            for value in values.unwrap() {
                let (key, value) = value.unwrap();
                found.insert(format!("{table} {key:?}.{column} = {value:?}"));
            }
        }
    }
    found
}

/// A bridge that has a copy of a recorded log.
fn opened(log: &Path) -> Served {
    let folder = tempfile::tempdir().unwrap();
    copy(&log.join("folder"), folder.path());
    let place = folder.path().canonicalize().unwrap();
    rename_place(folder.path(), PLACE, &place.display().to_string());
    offline_in(folder)
}

#[test]
fn a_new_log_has_the_tables_that_it_had_before() {
    let folder = Served::start().end();
    let connection = open(&folder.path().join("data/log.sqlite3"));
    let query = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name";
    let mut statement = connection.prepare(query).unwrap();
    let tables = statement
        .query_map([], |row| row.get::<_, String>(0))
        .unwrap();
    let tables: Vec<String> = tables.map(Result::unwrap).collect();
    check(
        "log-tables",
        &format!(
            "version {}\n\n{}",
            version_of(&connection),
            tables.join(";\n\n")
        ),
    );
}

/// Writes the log of today's version, if there is none, with everything in it that a session can have.
#[test]
fn a_log_of_this_version_is_recorded() {
    let log = Path::new(LOGS).join(version());
    if std::env::var_os("TOWLINE_RECORD").is_none_or(|value| value != "1") || log.exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("project/more")).unwrap();
    fs::write(folder.path().join("project/read.txt"), "one\ntwo\n").unwrap();
    fs::write(folder.path().join("project/more/more.txt"), "more\n").unwrap();
    let served = offline_in(folder);
    talk(&served);
    let folder = served.end();
    let place = folder.path().canonicalize().unwrap().display().to_string();
    rename_place(folder.path(), &place, PLACE);
    let kept = log.join("folder");
    for name in ["data", "home", "project"] {
        copy(&folder.path().join(name), &kept.join(name));
    }
    for name in ["token", "log.lock", "log.sqlite3-wal", "log.sqlite3-shm"] {
        fs::remove_file(kept.join("data").join(name)).ok();
    }
    let shown = shown(&opened(&log));
    fs::write(
        log.join("shown.json"),
        serde_json::to_string_pretty(&shown).unwrap() + "\n",
    )
    .unwrap();
}

/// Sessions in all states, questions with all answers.
fn talk(served: &Served) {
    let answer = |session: &str, words: &str, decision: Value| -> Answer {
        served.tell(session, words);
        let question = served.wait_for_question(session);
        let answer = served.post(
            &format!("/api/sessions/{session}/questions/{question}"),
            &decision,
        );
        served.wait_for_status(session, "idle");
        answer
    };
    let say = |session: &str, words: &str| {
        served.tell(session, words);
        served.wait_for_status(session, "idle");
    };
    let talked = served.session("offline");
    say(&talked, "say hello, zebra");
    say(&talked, "read read.txt");
    answer(
        &talked,
        "write notes.txt: written",
        json!({"decision": "allow"}),
    );
    answer(
        &talked,
        "write other.txt: denied",
        json!({"decision": "deny", "message": "not now"}),
    );
    answer(
        &talked,
        "ask Tea?",
        json!({"decision": "choose", "answers": {"Tea?": ["Yes"]}}),
    );
    answer(
        &talked,
        "plan Tidy up",
        json!({"decision": "deny", "message": "smaller"}),
    );
    let renamed = served.session("offline");
    say(&renamed, "say renamed");
    let change = json!({"title": "A title", "permission_mode": "acceptEdits"});
    let answer = served.request("PATCH", &format!("/api/sessions/{renamed}"), Some(&change));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["record"]["title"], "A title");
    let set_up = json!({
        "agent": "offline",
        "additional_directories": [served.project().join("more")],
        "model": "offline",
        "permission_mode": "plan",
        "options": {"effort": "low", "max_turns": 5, "max_budget_usd": 1.5, "fallback_model": "offline"},
    });
    let answer = served.post("/api/sessions", &set_up);
    assert_eq!(answer.status, 201, "{answer:?}");
    let set_up = answer.json()["record"]["id"].as_str().unwrap().to_owned();
    let message = json!({"content": "say set up", "client_message_id": "m1"});
    let answer = served.post(&format!("/api/sessions/{set_up}/messages"), &message);
    assert_eq!(answer.status, 202, "{answer:?}");
    served.wait_for_status(&set_up, "idle");
    let stopped = served.session("offline");
    say(&stopped, "say stopped");
    // One that the agent never begins with, because it is stopped before.
    served.tell(&stopped, "write stopped.txt: never answered");
    served.wait_for_question(&stopped);
    served.tell(&stopped, "say never");
    let answer = served.request("DELETE", &format!("/api/sessions/{stopped}"), None);
    assert_eq!(answer.status, 204, "{answer:?}");
    let open = served.session("offline");
    served.tell(&open, "write open.txt: never answered");
    served.wait_for_question(&open);
}

/// All that the bridge shows of its log: every session with its record and frames, the sums, and what is found.
fn shown(served: &Served) -> Value {
    let list = served.get("/api/sessions").json();
    let mut records: Vec<&Value> = list["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|session| &session["record"])
        .collect();
    records.sort_by_key(|record| record["created_at"].as_u64());
    let sessions = records.iter().map(|record| {
        let frames = served.frames(record["id"].as_str().unwrap());
        json!({"record": record, "frames": frames})
    });
    let sessions: Vec<Value> = sessions.collect();
    let usage = served.get("/api/usage").json();
    // The index is filled beside everything else.
    let found = || served.get("/api/search?words=zebra").json();
    eventually("the words are found", || {
        found().as_array().is_some_and(|found| !found.is_empty())
    });
    let text = json!({"sessions": sessions, "usage": usage, "found": found()}).to_string();
    let place = served.project();
    let place = place.parent().unwrap().display().to_string();
    serde_json::from_str(&text.replace(&place, PLACE)).unwrap()
}

/// Where a value lacks something of an expected one. Later versions may show more.
fn missing(path: &str, expected: &Value, shown: &Value) -> Vec<String> {
    match (expected, shown) {
        (Value::Object(expected), Value::Object(shown)) => expected
            .iter()
            .filter(|(name, _)| !(path.ends_with(".record") && VOLATILE.contains(&name.as_str())))
            .flat_map(|(name, value)| {
                let path = format!("{path}.{name}");
                match shown.get(name) {
                    Some(shown) => missing(&path, value, shown),
                    None => vec![format!("{path}: {value:.300} is missing")],
                }
            })
            .collect(),
        // What was open when the bridge ended is closed when it opens the log again.
        (Value::Array(expected), Value::Array(shown))
            if expected.len() == shown.len()
                || (path.ends_with(".frames") && expected.len() < shown.len()) =>
        {
            expected
                .iter()
                .zip(shown)
                .enumerate()
                .flat_map(|(index, (expected, shown))| {
                    missing(&format!("{path}[{index}]"), expected, shown)
                })
                .collect()
        }
        _ if expected == shown => Vec::new(),
        _ => vec![format!("{path}: {expected:.300} became {shown:.300}")],
    }
}

#[test]
fn a_field_that_is_not_shown_any_more_is_noticed() {
    let record = |name: &str| json!({"record": {"id": "a", name: null, "status": "idle"}});
    let frame = |status: &str| json!({"frames": [{"body": {"status": status}}]});
    let then = record("title");
    let mut restarted = then.clone();
    restarted["record"]["status"] = json!("asleep");
    for (expected, shown, problem) in [
        (&then, &restarted, None),
        (
            &then,
            &record("name"),
            Some("$.record.title: null is missing"),
        ),
        (
            &frame("idle"),
            &frame("asleep"),
            Some("$.frames[0].body.status: \"idle\" became \"asleep\""),
        ),
    ] {
        let problems = missing("$", expected, shown);
        assert_eq!(problems.first().map(String::as_str), problem, "{shown}");
    }
}

/// Fields of a session's record about the present: no part of the log.
const VOLATILE: &[&str] = &["status", "active_at", "last_seq"];

fn offline_in(folder: TempDir) -> Served {
    Served::with(folder, |command| {
        command.args(["--agent", "offline"]);
    })
}

/// The version of the log that this program writes.
fn version() -> String {
    let folder = Served::start().end();
    let version = version_of(&open(&folder.path().join("data/log.sqlite3")));
    format!("{version:03}")
}

fn version_of(connection: &Connection) -> u32 {
    connection
        .pragma_query_value(None, "user_version", |row| row.get(0))
        .unwrap()
}

fn open(log: &Path) -> Connection {
    Connection::open_with_flags(log, OpenFlags::SQLITE_OPEN_READ_WRITE).unwrap()
}

/// Puts another folder into all texts of a bridge's folder: the log, which becomes one file, the audit, the transcripts.
fn rename_place(folder: &Path, from: &str, to: &str) {
    let connection = open(&folder.join("data/log.sqlite3"));
    for (table, column) in [("sessions", "record"), ("frames", "body")] {
        let update = format!("UPDATE {table} SET {column} = replace({column}, ?1, ?2)");
        connection.execute(&update, [from, to]).unwrap();
    }
    connection
        .execute_batch("VACUUM; PRAGMA journal_mode = DELETE")
        .unwrap();
    let slug = |place: &str| {
        format!("{place}/project").replace(|letter: char| !letter.is_ascii_alphanumeric(), "-")
    };
    let projects = folder.join("home/.claude/projects");
    let renamed = projects.join(slug(to));
    fs::rename(projects.join(slug(from)), &renamed).unwrap();
    let transcripts = entries(&renamed);
    for path in transcripts.iter().chain([&folder.join("data/audit.jsonl")]) {
        let text = fs::read_to_string(path).unwrap();
        fs::write(path, text.replace(from, to)).unwrap();
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for path in entries(from) {
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    paths
}
