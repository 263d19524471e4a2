//! Every recorded line of the real CLI: read whole, written back equal, bytes untouched.

use std::{collections::BTreeMap, fs, path::PathBuf};

use towline_protocol::{
    Frame, Text, ToAgent, ToHost, Wire,
    trace::{Direction, TraceEntry, TraceRow},
};

/// The rows of all traces that are lines of the protocol, with the file they are from.
fn rows() -> Vec<(String, TraceRow)> {
    let mut rows = Vec::new();
    let mut files: Vec<PathBuf> =
        fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/traces"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
    files.sort();
    assert!(files.len() >= 250, "the traces are missing");
    for file in files {
        let name = file.file_stem().unwrap().to_string_lossy().into_owned();
        for line in fs::read_to_string(&file).unwrap().lines() {
            let TraceEntry::Row(row) = TraceEntry::read(&Text::from(line)).unwrap() else {
                panic!("{name}: not a row: {line}");
            };
            rows.push((name.clone(), row));
        }
    }
    rows
}

#[test]
fn probe() {
    let mut problems = BTreeMap::<String, usize>::new();
    let mut unnamed = BTreeMap::<String, usize>::new();
    for (name, row) in rows() {
        let text = row.text();
        let original: Option<serde_json::Value> = serde_json::from_str(&text).ok();
        let mut check = |kind: String, json: towline_protocol::Json, paths: Vec<String>| {
            let again: serde_json::Value = json.parse().unwrap();
            if Some(&again) != original.as_ref() {
                *problems
                    .entry(format!("changed {kind} in {name}:\n   {text}\n   {json}"))
                    .or_default() += 1;
            }
            for path in paths {
                *unnamed.entry(format!("{kind}: {path}")).or_default() += 1;
            }
        };
        match row.direction {
            Direction::Out => match Frame::<ToHost>::decode(text.clone()) {
                Ok(frame) => check(
                    frame.message.full_kind(),
                    frame.message.to_json(),
                    frame.message.unnamed_paths(),
                ),
                Err(error) => {
                    *problems
                        .entry(format!("out {name}: {error} {text}"))
                        .or_default() += 1
                }
            },
            Direction::In => match Frame::<ToAgent>::decode(text.clone()) {
                Ok(frame) => check(
                    frame.message.full_kind(),
                    frame.message.to_json(),
                    frame.message.unnamed_paths(),
                ),
                Err(error) => {
                    *problems
                        .entry(format!("in {name}: {error} {text}"))
                        .or_default() += 1
                }
            },
            _ => {}
        }
    }
    for (problem, count) in &problems {
        println!("{count} {}", problem.chars().take(900).collect::<String>());
    }
    println!("-- unnamed");
    for (path, count) in &unnamed {
        println!("{count} {path}");
    }
}
