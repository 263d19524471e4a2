//! Every JSON example of the five documents decodes as what its document says it is, and loses nothing.

use serde_json::Value;
use towline_protocol::{
    AskUserQuestionInput, Block, Delta, Json, ToAgent, ToHost, ToolInput, ToolName, Wire,
    dialect::session,
};

use crate::data::{Example, examples};

#[test]
fn every_example_is_what_its_document_says() {
    let examples = examples();
    assert!(examples.len() >= 90, "only {} examples", examples.len());
    for example in &examples {
        let (kind, again) = read(example);
        assert_eq!(kind, example.kind, "{}", example.place);
        assert_eq!(again, example.json, "{} changed", example.place);
    }
}

#[test]
fn no_example_of_a_line_has_a_field_without_a_name() {
    for example in examples() {
        let text = example.json.to_string();
        let unnamed = match example.role.as_str() {
            "to_agent" | "session_to_agent" => ToAgent::from_json(text).unwrap().unnamed_paths(),
            "to_host" | "session_to_host" => ToHost::from_json(text).unwrap().unnamed_paths(),
            "block" => Block::from_json(text).unwrap().unnamed_paths(),
            _ => Vec::new(),
        };
        assert!(unnamed.is_empty(), "{}: {unnamed:?}", example.place);
    }
}

/// The standard form of a seed's spelling is a line the real CLI could have written: it reads back as the same kind.
#[test]
fn the_standard_form_of_every_example_reads_back() {
    for example in examples() {
        let text = example.json.to_string();
        match example.role.as_str() {
            "to_agent" | "session_to_agent" => {
                let standard =
                    session::to_standard(ToAgent::from_json(text).unwrap()).to_standard_json();
                let again = ToAgent::from_json(standard.text().clone()).unwrap();
                assert_eq!(again.to_standard_json(), standard, "{}", example.place);
                assert!(
                    !session::is_dialect(&again),
                    "{}: {standard}",
                    example.place
                );
            }
            "to_host" | "session_to_host" => {
                let line = ToHost::from_json(text).unwrap();
                let Some(line) = session::host_to_standard(line) else {
                    continue;
                };
                let standard = line.to_standard_json();
                let again = ToHost::from_json(standard.text().clone()).unwrap();
                assert_eq!(again.to_standard_json(), standard, "{}", example.place);
            }
            _ => {}
        }
    }
}

fn read(example: &Example) -> (String, Value) {
    let text = example.json.to_string();
    let place = &example.place;
    let (kind, json) = match example.role.as_str() {
        "to_agent" | "session_to_agent" => {
            let line = ToAgent::from_json(text).unwrap_or_else(|error| panic!("{place}: {error}"));
            (line.full_kind(), line.to_json())
        }
        "to_host" | "session_to_host" => {
            let line = ToHost::from_json(text).unwrap_or_else(|error| panic!("{place}: {error}"));
            (line.full_kind(), line.to_json())
        }
        // A line of a transcript in document 001 §4.4 has the shape of a line of the stream.
        "transcript" => {
            let line = ToHost::from_json(text).unwrap_or_else(|error| panic!("{place}: {error}"));
            (line.full_kind(), line.to_json())
        }
        "block" => {
            let block = Block::from_json(text).unwrap_or_else(|error| panic!("{place}: {error}"));
            (block.kind().to_owned(), block.to_json())
        }
        "delta" => {
            let delta = Delta::from_json(text).unwrap_or_else(|error| panic!("{place}: {error}"));
            (delta.kind().to_owned(), delta.to_json())
        }
        "tool_use" => {
            let name = ToolName::from(example.json["name"].as_str().unwrap());
            let input = Json::of(&example.json["input"]).unwrap();
            let input = ToolInput::read(&name, &input).unwrap().to_json();
            let again = serde_json::json!({"name": name.as_str(), "input": input.parse::<Value>().unwrap()});
            return (name.to_string(), again);
        }
        "tool_input" => {
            let input = AskUserQuestionInput::from_json(text).unwrap();
            assert!(
                input.questions.is_some() && input.answers.is_some(),
                "{place}"
            );
            (example.kind.clone(), input.to_json())
        }
        // Settings are the permission crate's business; the protocol only keeps them.
        "settings" => (example.kind.clone(), Json::new(text).unwrap()),
        other => panic!("{place}: what is a {other}?"),
    };
    (kind, json.parse().unwrap())
}
