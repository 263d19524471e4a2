//! The answers of the control conversation, typed: each recorded answer is read as the answer to its question.

use std::collections::BTreeMap;

use serde_json::Value;
use towline_protocol::{
    AskUserQuestionInput, ControlLine, HookOutput, Json, PermissionAnswer, Reply, Request,
    RequestId, ToAgent, ToHost, ToolInput, ToolName, Wire, control::answer::*, trace::Direction,
};

use crate::data::recorded;

#[test]
fn every_recorded_answer_of_an_agent_fits_its_question() {
    let answered = answered(&Direction::Out);
    for (trace, request, answer) in &answered {
        check_agent_answer(trace, request, answer);
    }
    let read = answered.len();
    assert!(
        read > 60 || std::env::var_os("TOWLINE_TRACES").is_some(),
        "only {read} answers"
    );
}

/// The recorded answers that went one way, each with its trace and the question it answers.
fn answered(way: &Direction) -> Vec<(String, Request, Json)> {
    let mut asked = BTreeMap::<String, Request>::new();
    let mut answered = Vec::new();
    for recorded in recorded() {
        let text = recorded.row.text();
        let line = match recorded.row.direction {
            Direction::In => ToAgent::from_json(text)
                .ok()
                .and_then(|line| line.try_into().ok()),
            Direction::Out => ToHost::from_json(text)
                .ok()
                .and_then(|line| line.try_into().ok()),
            _ => None,
        };
        let key = |id: &Option<RequestId>| format!("{} {id:?}", recorded.trace);
        match line {
            Some(ControlLine::Request(line)) if recorded.row.direction != *way => {
                asked.insert(key(&line.request_id), line.request);
            }
            Some(ControlLine::Response(line)) if recorded.row.direction == *way => {
                let Reply::Success(success) = line.reply else {
                    continue;
                };
                let question = asked.get(&key(&success.request_id));
                if let (Some(request), Some(answer)) = (question, success.response.into_option()) {
                    answered.push((recorded.trace, request.clone(), answer));
                }
            }
            _ => {}
        }
    }
    answered
}

fn check_agent_answer(trace: &str, request: &Request, answer: &Json) {
    let check = match request {
        Request::Initialize(_) => whole::<InitializeAnswer>,
        Request::Interrupt(_) => whole::<InterruptAnswer>,
        Request::SetPermissionMode(_) => whole::<ModeAnswer>,
        Request::SetModel(_) => whole::<ModelAnswer>,
        Request::McpStatus(_) => whole::<McpStatusAnswer>,
        Request::McpSetServers(_) => whole::<McpSetServersAnswer>,
        Request::McpCall(_) => whole::<McpCallAnswer>,
        Request::RewindFiles(_) => whole::<RewindAnswer>,
        Request::GetTaskOutput(_) => whole::<TaskOutputAnswer>,
        Request::GetContextUsage(_) => whole::<ContextUsageAnswer>,
        Request::GetSessionCost(_) => whole::<SessionCostAnswer>,
        Request::GetUsage(_) => whole::<UsageAnswer>,
        Request::GetSettings(_) => whole::<SettingsAnswer>,
        Request::GetBinaryVersion(_) => whole::<VersionAnswer>,
        Request::GetHooksListing(_) => whole::<HooksListingAnswer>,
        Request::ListModels(_) => whole::<ModelsAnswer>,
        Request::ListPermissionRules(_) => whole::<PermissionRulesAnswer>,
        Request::FileSuggestions(_) => whole::<FileSuggestionsAnswer>,
        Request::ReadFile(_) => whole::<ReadFileAnswer>,
        Request::ReloadPlugins(_) => whole::<ReloadPluginsAnswer>,
        Request::ReloadSkills(_) => whole::<ReloadSkillsAnswer>,
        Request::ReloadOutputStyles(_) => whole::<ReloadOutputStylesAnswer>,
        Request::CancelAsyncMessage(_) => whole::<CancelledAnswer>,
        Request::SideQuestion(_) => whole::<SideQuestionAnswer>,
        other => {
            assert_eq!(
                answer.as_str(),
                "{}",
                "{trace}: an answer to {} nobody typed",
                other.kind()
            );
            return;
        }
    };
    check(&format!("{trace} {}", request.kind()), answer);
}

#[test]
fn every_recorded_answer_of_a_host_fits_its_question() {
    let answered = answered(&Direction::In);
    for (trace, request, answer) in &answered {
        let place = format!("{trace} {}", request.kind());
        match request {
            Request::CanUseTool(question) => {
                whole::<PermissionAnswer>(&place, answer);
                let answer = PermissionAnswer::from_json(answer.text().clone()).unwrap();
                if let (Some(input), "AskUserQuestion") =
                    (&answer.updated_input, question.tool_name.as_str())
                {
                    whole::<AskUserQuestionInput>(&place, input);
                }
            }
            Request::HookCallback(_) => whole::<HookOutput>(&place, answer),
            Request::McpMessage(_) => whole::<McpMessageAnswer>(&place, answer),
            other => panic!("{place}: who answers {}?", other.kind()),
        }
    }
    let read = answered.len();
    assert!(
        read > 80 || std::env::var_os("TOWLINE_TRACES").is_some(),
        "only {read} answers"
    );
}

/// Every tool input of the traces whose tool has a type is read whole by it, or lacks what the model left out.
#[test]
fn every_recorded_tool_input_is_read_by_its_tool() {
    let mut read = BTreeMap::<String, usize>::new();
    for recorded in recorded() {
        if recorded.row.direction != Direction::Out {
            continue;
        }
        let Ok(ToHost::ControlRequest(line)) = ToHost::from_json(recorded.row.text()) else {
            continue;
        };
        let Request::CanUseTool(question) = &line.request else {
            continue;
        };
        let input = ToolInput::read(&question.tool_name, &question.input)
            .unwrap_or_else(|error| panic!("{}: {} {error}", recorded.trace, question.tool_name));
        assert_eq!(
            value(&input.to_json()),
            value(&question.input),
            "{}",
            recorded.trace
        );
        assert_eq!(
            input.unnamed_paths(),
            [""; 0],
            "{} {}",
            recorded.trace,
            question.tool_name
        );
        *read.entry(question.tool_name.to_string()).or_default() += 1;
    }
    assert!(
        read.len() >= 6 || std::env::var_os("TOWLINE_TRACES").is_some(),
        "{read:?}"
    );
}

/// One input of each tool of document 001 §2.7 and of the real CLI's schemas, all fields set.
#[test]
fn every_tool_has_a_typed_input() {
    let table = include_str!("../data/tool_inputs.jsonl");
    let mut tools = 0;
    for line in table.lines() {
        let row: Value = serde_json::from_str(line).unwrap();
        let (name, input) = (
            ToolName::from(row["name"].as_str().unwrap()),
            Json::of(&row["input"]).unwrap(),
        );
        let typed =
            ToolInput::read(&name, &input).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(
            !matches!(typed, ToolInput::Unknown(_)),
            "{name} has no type"
        );
        assert_eq!(typed.unnamed_paths(), [""; 0], "{name}");
        assert_eq!(value(&typed.to_json()), row["input"], "{name} changed");
        tools += 1;
    }
    assert!(tools >= 44, "only {tools} tools");
}

#[test]
fn answers_to_questions_are_found_however_they_are_keyed() {
    let questions = r#""questions":[
        {"question":"Which color?","header":"Color","options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}],"multiSelect":false},
        {"question":"Which pets?","header":"Pets","options":[{"label":"Cat","description":"c"},{"label":"Emu","description":"e"}],"multiSelect":true}]"#;
    let asked = AskUserQuestionInput::from_json(format!("{{{questions}}}"))
        .unwrap()
        .questions
        .unwrap();
    for answers in [
        r#"{"Which color?":"Blue","Which pets?":"Cat, Emu"}"#,
        r#"{"0":"Blue","1":["Cat","Emu"]}"#,
        r#"{"Color":"Blue","Pets":["Cat","Emu"]}"#,
    ] {
        let answer =
            AskUserQuestionInput::from_json(format!(r#"{{"answers":{answers}}}"#)).unwrap();
        let found = answer.answers_by_question(&asked);
        assert_eq!(found.get("Which color?").unwrap(), "Blue", "{answers}");
        assert_eq!(found.get("Which pets?").unwrap(), "Cat, Emu", "{answers}");
    }
}

/// The value is read by the type, every field has a name, and nothing changes on the way back.
fn whole<T: Wire>(place: &str, json: &Json) {
    let typed = T::from_json(json.text().clone())
        .unwrap_or_else(|error| panic!("{place}: {error}\n{json}"));
    assert_eq!(value(&typed.to_json()), value(json), "{place} changed");
    // A host that sent an update of no known kind on purpose.
    let unnamed = typed
        .unnamed_paths()
        .into_iter()
        .filter(|path| path != "updatedPermissions[].type=bogus");
    assert_eq!(unnamed.collect::<Vec<_>>(), [""; 0], "{place}");
}

fn value(json: &Json) -> Value {
    json.parse().unwrap()
}
