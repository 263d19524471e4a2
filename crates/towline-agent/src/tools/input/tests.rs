//! Inputs that are right, nearly right and wrong, and what is said about them.

use serde_json::{Value, json};

use super::super::{ToolCall, definitions};

/// What the model reads about an input; nothing if it is right.
fn complaint(tool: &str, input: &Value) -> Option<String> {
    let read = ToolCall::read(tool, input).expect("a tool of this name");
    let outcome = read.err()?;
    assert_eq!(outcome.is_error, Some(true));
    let text = outcome.content.text();
    let inner = text
        .strip_prefix("<tool_use_error>InputValidationError: ")
        .unwrap();
    Some(inner.strip_suffix("</tool_use_error>").unwrap().to_owned())
}

#[test]
fn every_issue_is_listed_in_the_words_of_the_real_cli() {
    for (tool, input, lines) in [
        (
            "Edit",
            json!({"file_path": "/a"}),
            "Edit failed due to the following issues:\nThe required parameter `old_string` is missing\nThe required \
             parameter `new_string` is missing",
        ),
        (
            "Read",
            json!({"file_path": "/a", "offset": "abc", "x": 1}),
            "Read failed due to the following issues:\nAn unexpected parameter `x` was provided\nThe parameter `offset` type \
             is expected as `number` but provided as `string`",
        ),
        (
            "Read",
            json!({"file_path": null, "y": {}, "z": 2}),
            "Read failed due to the following issues:\nAn unexpected parameter `y` was provided\nAn unexpected parameter \
             `z` was provided\nThe parameter `file_path` type is expected as `string` but provided as `null`",
        ),
        (
            "Read",
            json!({"file_path": "/a", "offset": 2.5}),
            "Read failed due to the following issue:\nThe parameter `offset` type is expected as `int` but provided as \
             `number`",
        ),
        (
            "Edit",
            json!({"file_path": "/a", "old_string": "a", "new_string": "b", "replace_all": "yes"}),
            "Edit failed due to the following issue:\nThe parameter `replace_all` type is expected as `boolean` but \
             provided as `string`",
        ),
        (
            "MultiEdit",
            json!({"file_path": "/a", "edits": [{"old_string": 1, "x": 2}]}),
            "MultiEdit failed due to the following issues:\nAn unexpected parameter `edits[0].x` was provided\nThe parameter \
             `edits[0].old_string` type is expected as `string` but provided as `number`",
        ),
        (
            "Read",
            json!("/a"),
            "Read failed due to the following issue:\nThe input is expected as `object` but provided as `string`",
        ),
        (
            "Grep",
            json!({"output_mode": "zzz"}),
            "Grep failed due to the following issues:\nThe required parameter `pattern` is missing\nThe parameter \
             `output_mode` is wrong: Invalid option: expected one of \"content\"|\"files_with_matches\"|\"count\"",
        ),
        (
            "Read",
            json!({"file_path": "/a", "limit": 10_000_000_000_000_000_000_u64}),
            "Read failed due to the following issue:\ninvalid value: integer `10000000000000000000`, expected i64",
        ),
    ] {
        assert_eq!(
            complaint(tool, &input).as_deref(),
            Some(lines),
            "{tool} {input}"
        );
    }
}

#[test]
fn hosts_get_the_issues_as_data() {
    let data = |tool: &str, input: &Value| {
        let outcome = ToolCall::read(tool, input).unwrap().unwrap_err();
        let text = outcome.data.as_str().unwrap().to_owned();
        let list = text
            .strip_prefix("InputValidationError: ")
            .unwrap()
            .to_owned();
        let value: Value = serde_json::from_str(&list).unwrap();
        (list, value)
    };
    let (list, value) = data("Edit", &json!({"file_path": "/a"}));
    assert!(list.starts_with(
        "[\n  {\n    \"expected\": \"string\",\n    \"code\": \"invalid_type\",\n    \"path\": [\n      \"old_string\"\n"
    ));
    assert_eq!(
        value[1]["message"],
        "Invalid input: expected string, received undefined"
    );
    let (_, value) = data(
        "Read",
        &json!({"file_path": "/a", "offset": 0.5, "x": 1, "y": 2}),
    );
    assert_eq!(
        value,
        json!([
            {
                "expected": "int",
                "format": "safeint",
                "code": "invalid_type",
                "path": ["offset"],
                "message": "Invalid input: expected int, received number",
            },
            {
                "code": "unrecognized_keys",
                "keys": ["x", "y"],
                "path": [],
                "message": "Unrecognized keys: \"x\", \"y\"",
            },
        ])
    );
}

#[test]
fn a_wrong_choice_alone_is_told_as_data() {
    let outcome = ToolCall::read("Grep", &json!({"pattern": "x", "output_mode": "zzz"}))
        .unwrap()
        .unwrap_err();
    let data = outcome.data.as_str().unwrap();
    assert_eq!(
        outcome.content.text().as_str(),
        format!("<tool_use_error>{data}</tool_use_error>")
    );
    assert!(
        data.contains(r#"expected one of \"content\"|\"files_with_matches\"|\"count\""#),
        "{data}"
    );
}

#[test]
fn inputs_are_taken_as_they_are_meant() {
    for (tool, input, meant) in [
        (
            "Read",
            json!({"file_path": "a", "offset": "2"}),
            Some(json!({"file_path": "a", "offset": 2})),
        ),
        (
            "Read",
            json!({"file_path": "a", "limit": 3.0}),
            Some(json!({"file_path": "a", "limit": 3})),
        ),
        (
            "Read",
            json!({"file_path": "a", "limit": "-3"}),
            Some(json!({"file_path": "a", "limit": -3})),
        ),
        (
            "Grep",
            json!({"pattern": "a", "-A": "1.5"}),
            Some(json!({"pattern": "a", "-A": 1.5})),
        ),
        (
            "Edit",
            json!({"file_path": "a", "old_string": "5", "new_string": "true"}),
            Some(
                json!({"file_path": "a", "old_string": "5", "new_string": "true", "replace_all": false}),
            ),
        ),
        (
            "Edit",
            json!({"file_path": "a", "old_string": "", "new_string": "", "replace_all": "true"}),
            Some(
                json!({"file_path": "a", "old_string": "", "new_string": "", "replace_all": true}),
            ),
        ),
        (
            "MultiEdit",
            json!({"file_path": "a", "edits": [{"new_string": "x"}]}),
            Some(json!({"file_path": "a", "edits": [{"new_string": "x", "replace_all": false}]})),
        ),
        ("Edit", json!({"file_path": "a"}), None),
        ("Read", json!({"file_path": "a", "limit": "1e3"}), None),
        ("Read", json!({"file_path": "a", "limit": ""}), None),
        ("NoSuchTool", json!({}), None),
    ] {
        assert_eq!(ToolCall::normalised(tool, &input), meant, "{tool} {input}");
    }
}

#[test]
fn schemas_are_plain_and_closed() {
    fn check(schema: &Value, at: &str) {
        let fields = schema
            .as_object()
            .unwrap_or_else(|| panic!("{at}: {schema}"));
        for noise in [
            "$schema", "$ref", "$defs", "title", "format", "anyOf", "oneOf",
        ] {
            assert!(!fields.contains_key(noise), "{at}: {noise} in {schema}");
        }
        assert!(fields["type"].is_string(), "{at}: {schema}");
        if let Some(Value::Object(properties)) = fields.get("properties") {
            assert_eq!(fields["additionalProperties"], false, "{at}");
            for (name, schema) in properties {
                assert!(
                    schema["description"].is_string(),
                    "{at}.{name} says nothing about itself"
                );
                check(schema, &format!("{at}.{name}"));
            }
        }
        if let Some(items) = fields.get("items") {
            check(items, &format!("{at}[]"));
        }
    }
    let definitions = definitions();
    for definition in definitions {
        check(&definition.schema, definition.name);
    }
    let grep = definitions
        .iter()
        .find(|definition| definition.name == "Grep")
        .unwrap();
    assert_eq!(
        grep.schema["properties"]["output_mode"]["enum"],
        json!(["content", "files_with_matches", "count"])
    );
    assert_eq!(grep.schema["properties"]["-A"]["type"], "number");
    assert_eq!(grep.schema["required"], json!(["pattern"]));
}
