//! The records of recorded transcripts: each of a known type, every field with a name, nothing changed on the way.

use std::{collections::BTreeSet, fs};

use serde_json::Value;
use towline_protocol::{Wire, transcript::Record};

use crate::data::{examples, folder};

#[test]
fn every_recorded_record_is_read_whole() {
    let mut kinds = BTreeSet::new();
    for file in fs::read_dir(folder("transcripts")).unwrap() {
        let file = file.unwrap().path();
        let text = fs::read_to_string(&file).unwrap();
        for (row, line) in text.lines().enumerate() {
            let place = format!("{}:{}", file.display(), row + 1);
            let record = Record::from_json(line).unwrap_or_else(|error| panic!("{place}: {error}"));
            assert_eq!(record.unnamed_paths(), [""; 0], "{place}");
            assert_eq!(
                record.to_json().parse::<Value>().unwrap(),
                serde_json::from_str::<Value>(line).unwrap(),
                "{place} changed"
            );
            if let Some((uuid, parent)) = record.link() {
                assert_ne!(Some(uuid), parent, "{place}: a record before itself");
            }
            kinds.insert(record.kind().to_owned());
        }
    }
    assert!(kinds.len() >= 14, "{kinds:?}");
}

#[test]
fn the_transcript_of_document_001_is_read_too() {
    let records: Vec<_> = examples()
        .into_iter()
        .filter(|example| example.role == "transcript")
        .collect();
    assert_eq!(records.len(), 4);
    for example in records {
        let record = Record::from_json(example.json.to_string()).unwrap();
        assert_eq!(
            example.kind.split('/').next(),
            Some(record.kind()),
            "{}",
            example.place
        );
        assert_eq!(
            record.to_json().parse::<Value>().unwrap(),
            example.json,
            "{}",
            example.place
        );
        assert_eq!(record.unnamed_paths(), [""; 0], "{}", example.place);
    }
}
