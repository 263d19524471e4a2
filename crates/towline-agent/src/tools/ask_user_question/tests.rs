//! Answers in every form, and what the model reads of them. The first group is word for word from the traces
//! `control-04_*`.

use super::super::ToolCall;
use super::*;

fn color() -> Value {
    json!({
        "question": "Which color?", "header": "Color", "multiSelect": false,
        "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cool"}],
    })
}

fn pets() -> Value {
    json!({
        "question": "Which pets?", "header": "Pets", "multiSelect": true,
        "options": [
            {"label": "Cat", "description": "c"},
            {"label": "Dog", "description": "d"},
            {"label": "Emu", "description": "e"},
        ],
    })
}

async fn run(input: &Value) -> Outcome {
    let folder = tempfile::tempdir().unwrap();
    let (place, _events) = Place::in_folder(folder.path());
    match ToolCall::read("AskUserQuestion", input).unwrap() {
        Ok(call) => call.run(&place).await,
        Err(outcome) => outcome,
    }
}

/// Adds what was answered to the two questions, and gives what the model reads.
async fn check(answered: Value, expected: &str) {
    let mut input = json!({"questions": [color(), pets()]});
    for (key, value) in answered.as_object().unwrap() {
        input[key] = value.clone();
    }
    let outcome = run(&input).await;
    assert_eq!(outcome.content.text().as_str(), expected);
    assert_eq!(outcome.is_error, None);
    if input.get("answers").is_none() {
        input["answers"] = json!({});
    }
    assert_eq!(*outcome.data, input);
}

#[tokio::test]
async fn answers_as_the_real_cli_takes_them_read_as_it_writes_them() {
    for (answered, expected) in [
        (json!({}), "The user did not answer the questions."),
        (
            json!({"answers": {}}),
            "The user did not answer the questions.",
        ),
        (
            json!({"answers": {"Which color?": "Blue"}}),
            "Your questions have been answered: \"Which color?\"=\"Blue\". You can now continue with these answers in mind.",
        ),
        (
            json!({"answers": {"0": "Blue", "Which color?": "Red", "zzz": "q"}}),
            "Your questions have been answered: \"Which color?\"=\"Red\". You can now continue with these answers in mind.",
        ),
        (
            json!({"answers": {"Which color?": "Blue", "Which pets?": ["Cat", "Emu"]}}),
            "Your questions have been answered: \"Which color?\"=\"Blue\", \"Which pets?\"=\"Cat,Emu\". You can now \
             continue with these answers in mind.",
        ),
        (
            json!({"answers": {"Which color?": "Blue", "Which pets?": "Cat, Emu"}}),
            "Your questions have been answered: \"Which color?\"=\"Blue\", \"Which pets?\"=\"Cat, Emu\". You can now \
             continue with these answers in mind.",
        ),
        (
            json!({"answers": {}, "response": "free words"}),
            "The user responded: free words",
        ),
    ] {
        check(answered, expected).await;
    }
}

#[tokio::test]
async fn words_of_their_own_are_to_be_read_with_care() {
    for (answered, expected) in [
        (
            json!({"answers": {"Which color?": "Mauve actually"}}),
            "The user answered: \"Which color?\"=\"Mauve actually\". ",
        ),
        (
            json!({
                "answers": {"Which color?": "Blue"},
                "annotations": {"Which color?": {"notes": "my note", "preview": "PV"}},
            }),
            "The user answered: \"Which color?\"=\"Blue\" selected preview:\nPV notes: my note. ",
        ),
        (
            json!({"answers": {"Which color?": "Red, Blue"}}),
            "The user answered: \"Which color?\"=\"Red, Blue\". ",
        ),
    ] {
        check(answered, &format!("{expected}{CAREFULLY}")).await;
    }
    check(
        json!({"answers": {"0": "Red"}, "response": "but hurry"}),
        &format!(
            "The user answered: \"Which color?\"=\"Red\". The user added: but hurry\n{CAREFULLY}"
        ),
    )
    .await;
}

#[tokio::test]
async fn answers_by_index_or_header_are_answers_here() {
    let both = "Your questions have been answered: \"Which color?\"=\"Blue\", \"Which pets?\"=\"Cat,Emu\". You can now \
                continue with these answers in mind.";
    check(json!({"answers": {"0": "Blue", "1": ["Cat", "Emu"]}}), both).await;
    check(
        json!({"answers": {"Color": "Blue", "Pets": ["Cat", "Emu"]}}),
        both,
    )
    .await;
    check(json!({"answers": {"Color": "Blue", "1": "Cat,Emu"}}), both).await;
    let nothing = "The user did not answer the questions.";
    check(
        json!({"answers": {"Color": null, "1": {}, "2": "x", "": "y"}}),
        nothing,
    )
    .await;
}

#[tokio::test]
async fn questions_that_nobody_could_answer_are_refused_before_anyone_is_asked() {
    let mut one_option = color();
    one_option["options"].as_array_mut().unwrap().pop();
    let mut five_options = color();
    five_options["options"] = json!(vec![json!({"label": "a", "description": "b"}); 5]);
    for (questions, words) in [
        (json!([]), "there are 0 questions"),
        (json!(vec![color(); 5]), "there are 5 questions"),
        (json!([color(), color()]), "is asked twice"),
        (json!([one_option]), "has 1 options"),
        (json!([five_options]), "has 5 options"),
        (json!([{"question": " ", "options": []}]), "has no words"),
        (
            json!([{"header": "x"}]),
            "`questions[0].question` is missing",
        ),
        (json!("x"), "type is expected as"),
    ] {
        let outcome = run(&json!({"questions": questions})).await;
        let text = outcome.content.text();
        assert!(
            text.starts_with("<tool_use_error>InputValidationError: AskUserQuestion"),
            "{text}"
        );
        assert!(text.contains(words), "{text}");
    }
}

#[test]
fn a_question_is_shown_without_what_is_for_terminals() {
    let asked = json!({"questions": [{"question": "q", "options": [
        {"label": "a", "preview": "P", "markdown": "M"},
        {"label": "b"},
        "odd",
    ]}, 7]});
    let shown = json!({"questions": [{"question": "q", "options": [
        {"label": "a", "preview": "P"},
        {"label": "b"},
        "odd",
    ]}, 7]});
    assert_eq!(input_for_question(&asked), shown);
    assert_eq!(input_for_question(&json!("odd")), json!("odd"));
}

#[tokio::test]
async fn answers_that_come_alone_belong_to_what_was_asked() {
    let asked = json!({"questions": [color()]});
    let input = input_with_answers(&asked, json!({"answers": {"0": "Red"}}));
    let outcome = run(&input).await;
    assert!(outcome.content.text().contains("\"Which color?\"=\"Red\""));
    assert_eq!(input_with_answers(&asked, Value::Null), asked);
    let other = json!({"questions": [pets()], "answers": {}});
    assert_eq!(input_with_answers(&asked, other.clone()), other);
}
