//! A recorded conversation: the arguments, and the lines of both sides in their order.

use std::{collections::HashSet, fs, path::Path};

use serde_json::Value;
use towline_protocol::{Text, ToHost, Wire};

/// What was recorded of one run of the real CLI.
#[derive(Clone, Debug)]
pub(crate) struct Recording {
    pub(crate) arguments: Vec<String>,
    pub(crate) rows: Vec<Row>,
}

/// One line, by who said it.
#[derive(Clone, Debug)]
pub(crate) enum Row {
    /// As it was sent, without its end.
    Host(String),
    Agent(Line),
}

/// A line of an agent.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    /// Type and subtype.
    pub(crate) kind: String,
    pub(crate) value: Value,
}

impl Line {
    pub(crate) fn of(value: Value) -> Self {
        let text = Text::from(value.to_string());
        let kind = ToHost::from_json(text).map_or_else(|_| "?".to_owned(), |line| line.full_kind());
        Self { kind, value }
    }

    /// A line as an agent wrote it; what is no JSON has no kind.
    pub(crate) fn read(text: &str) -> Self {
        serde_json::from_str(text).map_or_else(
            |_| Self {
                kind: "no JSON".to_owned(),
                value: Value::from(text),
            },
            Self::of,
        )
    }

    pub(crate) fn text(&self, pointer: &str) -> Option<&str> {
        self.value.pointer(pointer).and_then(Value::as_str)
    }

    /// A message of the model, not one that the agent wrote itself.
    pub(crate) fn is_from_the_model(&self) -> bool {
        self.kind == "assistant"
            && self.text("/message/model") != Some("<synthetic>")
            && self.value["parent_tool_use_id"].is_null()
    }

    /// A host's own line, said back by `--replay-user-messages`.
    pub(crate) fn is_said_back(&self) -> bool {
        self.value["isReplay"] == true
    }
}

impl Recording {
    /// The names of the recordings in a folder, sorted.
    pub(crate) fn names(folder: &Path) -> Vec<String> {
        let files = fs::read_dir(folder)
            .unwrap_or_else(|error| panic!("cannot list {}: {error}", folder.display()));
        let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
        let names = names.filter_map(|name| name.strip_suffix(".jsonl").map(str::to_owned));
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    /// One of the repository's own recordings.
    pub(crate) fn read(name: &str) -> Self {
        Self::read_in(Path::new(TRACES), name)
    }

    pub(crate) fn read_in(folder: &Path, name: &str) -> Self {
        let path = folder.join(format!("{name}.jsonl"));
        let text = fs::read_to_string(&path)
            .unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        let mut recording = Self {
            arguments: Vec::new(),
            rows: Vec::new(),
        };
        for row in text.lines() {
            let mut row: Value = serde_json::from_str(row)
                .unwrap_or_else(|error| panic!("{}: {error}: {row:.200}", path.display()));
            let line = row["line"].take();
            match row["dir"].as_str().unwrap() {
                "argv" => recording.arguments = serde_json::from_value(line).unwrap(),
                "in" => {
                    // What is no object was kept as it was sent.
                    let text = line.as_str().map(str::to_owned);
                    let text = text.unwrap_or_else(|| line.to_string());
                    recording.rows.push(Row::Host(text));
                }
                "out" => recording.rows.push(Row::Agent(Line::of(line))),
                other => panic!("{name}: nothing is known of rows called `{other}`"),
            }
        }
        recording
    }

    /// The lines of the agent.
    pub(crate) fn lines(&self) -> Vec<Line> {
        let lines = self.rows.iter().filter_map(|row| match row {
            Row::Agent(line) => Some(line.clone()),
            Row::Host(_) => None,
        });
        lines.collect()
    }

    /// All the UUIDs that the host made up: those must come back as they were.
    pub(crate) fn ids_of_the_host(&self) -> HashSet<String> {
        let questions: HashSet<&str> = self
            .rows
            .iter()
            .filter_map(|row| match row {
                Row::Agent(line) if line.kind.starts_with("control_request") => {
                    line.text("/request_id")
                }
                _ => None,
            })
            .collect();
        let said = self.rows.iter().filter_map(|row| match row {
            Row::Host(text) => Some(text),
            Row::Agent(_) => None,
        });
        let words = said.chain(&self.arguments).flat_map(|text| {
            text.split(|letter: char| !letter.is_ascii_hexdigit() && letter != '-')
        });
        words
            .filter(|word| is_uuid(word) && !questions.contains(word))
            .map(str::to_owned)
            .collect()
    }
}

pub(crate) fn is_uuid(text: &str) -> bool {
    uuid::Uuid::try_parse(text).is_ok() && text.len() == 36
}

pub(crate) const TRACES: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../towline-protocol/tests/data/traces"
);
