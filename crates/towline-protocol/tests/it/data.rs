//! The test data: recorded traces and the examples of the documents.

use std::{fs, path::PathBuf};

use serde_json::Value;
use towline_protocol::{
    Text,
    trace::{TraceEntry, TraceRow},
};

/// A row of a recorded trace, with the trace it is from.
pub(crate) struct Recorded {
    pub(crate) trace: String,
    pub(crate) row: TraceRow,
}

/// All rows of all traces, or of the traces in the folder that `TOWLINE_TRACES` names.
pub(crate) fn recorded() -> Vec<Recorded> {
    let place = std::env::var_os("TOWLINE_TRACES").map_or_else(|| folder("traces"), PathBuf::from);
    let mut files: Vec<PathBuf> = fs::read_dir(&place)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.sort();
    assert!(!files.is_empty(), "no traces in {}", place.display());
    let rows = files.iter().flat_map(|file| {
        let trace = file.file_stem().unwrap().to_string_lossy().into_owned();
        let lines = fs::read_to_string(file).unwrap();
        lines
            .lines()
            .map(|line| match TraceEntry::read(&Text::from(line)).unwrap() {
                TraceEntry::Row(row) => Recorded {
                    trace: trace.clone(),
                    row,
                },
                TraceEntry::Bare(line) => panic!("{trace}: not a row: {line}"),
            })
            .collect::<Vec<_>>()
    });
    rows.collect()
}

/// The rows of one trace.
pub(crate) fn trace(name: &str) -> Vec<TraceRow> {
    let rows: Vec<_> = recorded()
        .into_iter()
        .filter(|recorded| recorded.trace == name)
        .map(|recorded| recorded.row)
        .collect();
    assert!(!rows.is_empty(), "no trace {name}");
    rows
}

/// An example of one of the documents.
pub(crate) struct Example {
    /// Document and line, such as `003:173`.
    pub(crate) place: String,
    /// What the document says it is: a line to the agent, a block, …
    pub(crate) role: String,
    /// What it must decode to, such as `control_request/can_use_tool`.
    pub(crate) kind: String,
    pub(crate) json: Value,
}

/// The examples of all five documents.
pub(crate) fn examples() -> Vec<Example> {
    let documents = ["000", "001", "002", "003", "004"];
    let examples = documents.iter().flat_map(|document| {
        let text = fs::read_to_string(folder("seeds").join(format!("{document}.jsonl"))).unwrap();
        text.lines()
            .map(|line| {
                let row: Value = serde_json::from_str(line).unwrap();
                Example {
                    place: format!("{document}:{}", row["line"]),
                    role: row["as"].as_str().unwrap().to_owned(),
                    kind: row["kind"].as_str().unwrap().to_owned(),
                    json: row["json"].clone(),
                }
            })
            .collect::<Vec<_>>()
    });
    examples.collect()
}

/// A folder of test data.
pub(crate) fn folder(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "data", name]
        .iter()
        .collect()
}
