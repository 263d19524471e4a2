//! What the model is told of each tool's input, against what the real CLI (2.1.325) tells it: the same names, and nothing
//! required that the real CLI leaves open.

use std::collections::BTreeSet;

use serde_json::Value;

use super::definitions;

#[test]
fn inputs_have_the_names_that_models_know() {
    let definitions = definitions();
    for (name, required, optional) in KNOWN {
        let tool = definitions.iter().find(|tool| tool.name == *name).unwrap();
        let object = &tool.schema;
        assert_eq!(object["type"], "object", "{name}");
        let properties = object["properties"].as_object();
        let found: BTreeSet<&str> = properties
            .into_iter()
            .flatten()
            .map(|(key, _)| key.as_str())
            .collect();
        let known: BTreeSet<&str> = required.iter().chain(*optional).copied().collect();
        let missing: Vec<_> = known.difference(&found).collect();
        assert!(missing.is_empty(), "{name}: {missing:?}");
        let demanded = object["required"].as_array().into_iter().flatten();
        for demanded in demanded.filter_map(Value::as_str) {
            assert!(required.contains(&demanded), "{name}: {demanded}");
        }
        assert!(!tool.description.is_empty());
    }
}

#[test]
fn what_a_question_needs_is_in_its_schema() {
    let definitions = definitions();
    let tool = definitions
        .iter()
        .find(|tool| tool.name == "AskUserQuestion")
        .unwrap();
    let questions = &tool.schema["properties"]["questions"];
    assert_eq!(
        (&questions["minItems"], &questions["maxItems"]),
        (&1.into(), &4.into())
    );
    let question = &questions["items"]["properties"];
    let says = |field: &Value, words: &str| field["description"].as_str().unwrap().contains(words);
    assert!(says(&question["header"], "at most 12 characters"));
    let options = &question["options"];
    let choice = &options["items"]["properties"];
    assert!(says(&choice["label"], "One to five words"));
    assert_eq!(
        (&options["minItems"], &options["maxItems"]),
        (&2.into(), &4.into())
    );
}

/// Name, what is required, what is not.
type Known = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const KNOWN: &[Known] = &[
    (
        "AskUserQuestion",
        &["questions"],
        &["answers", "annotations"],
    ),
    (
        "Bash",
        &["command"],
        &[
            "timeout",
            "description",
            "run_in_background",
            "dangerouslyDisableSandbox",
        ],
    ),
    ("EnterPlanMode", &[], &[]),
    ("ExitPlanMode", &[], &["plan"]),
    (
        "TaskCreate",
        &["subject", "description"],
        &["activeForm", "metadata"],
    ),
    ("TaskGet", &["taskId"], &[]),
    ("TaskList", &[], &[]),
    ("TaskStop", &[], &["task_id", "shell_id"]),
    (
        "TaskUpdate",
        &["taskId"],
        &[
            "subject",
            "description",
            "activeForm",
            "status",
            "addBlocks",
            "addBlockedBy",
            "owner",
            "metadata",
        ],
    ),
    ("TodoWrite", &["todos"], &[]),
    ("WebFetch", &["url", "prompt"], &["offset"]),
    (
        "WebSearch",
        &["query"],
        &["allowed_domains", "blocked_domains"],
    ),
];
