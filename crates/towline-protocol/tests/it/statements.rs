//! Single statements of the documents that no recorded line and no example shows.

use std::collections::HashMap;

use serde_json::Value;
use towline_protocol::{
    Accumulator, AskUserQuestionInput, Behavior, Block, CallState, Content, Destination, Frame,
    HookOutput, Json, Line, LineDecoder, PermissionAnswer, PermissionMode, PermissionUpdate,
    Request, ResultSubtype, StreamEvent, System, Text, TextOrJson, ToAgent, ToHost, UpdateKind,
    Wire, dialect::session::Session, trace::Direction,
};

use crate::data::{examples, recorded};

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// A line is read, has no part without a name, and comes back equal.
fn whole<M: Wire>(line: &str) -> M {
    let message = M::from_json(line).unwrap_or_else(|error| panic!("{line}: {error}"));
    assert_eq!(message.unnamed_paths(), [""; 0], "{line}");
    assert_eq!(message.to_json().parse::<Value>().unwrap(), value(line));
    message
}

#[test]
fn only_a_denial_carries_a_message() {
    assert_eq!(
        PermissionAnswer::allow().to_json().as_str(),
        r#"{"behavior":"allow"}"#
    );
    let with = PermissionAnswer::allow_with(Json::empty_object()).to_json();
    assert_eq!(with.as_str(), r#"{"behavior":"allow","updatedInput":{}}"#);
    assert_eq!(
        PermissionAnswer::deny("no").to_json().as_str(),
        r#"{"behavior":"deny","message":"no"}"#
    );
    let both = PermissionAnswer::deny_and_interrupt("no").to_json();
    assert_eq!(
        both.as_str(),
        r#"{"behavior":"deny","message":"no","interrupt":true}"#
    );
}

/// In every trace a question names a call that was announced before it, and each call is asked about once.
#[test]
fn a_question_is_tied_to_its_tool_call() {
    let mut asked = HashMap::new();
    let mut announced = Vec::new();
    for recorded in recorded()
        .iter()
        .filter(|recorded| recorded.row.direction == Direction::Out)
    {
        match ToHost::from_json(recorded.row.text()).unwrap() {
            ToHost::Assistant(line) => {
                let content = line
                    .message
                    .and_then(|message| message.content.into_option());
                for block in content.iter().flat_map(Content::blocks) {
                    if let Block::ToolUse(call) = block {
                        announced.push((recorded.trace.clone(), call.id.clone()));
                    }
                }
            }
            ToHost::ControlRequest(line) => {
                let Request::CanUseTool(question) = line.request else {
                    continue;
                };
                let call = (recorded.trace.clone(), question.tool_use_id.unwrap());
                assert!(announced.contains(&call), "{call:?} was not announced");
                *asked.entry(call).or_insert(0) += 1;
            }
            _ => {}
        }
    }
    assert!(asked.len() > 50 || std::env::var_os("TOWLINE_TRACES").is_some());
    assert!(asked.values().all(|times| *times == 1), "{asked:?}");
}

#[test]
fn a_line_is_given_out_as_soon_as_it_is_complete() {
    let mut decoder = LineDecoder::default();
    assert_eq!(decoder.next_line(&mut &b"{}"[..]), None);
    assert_eq!(
        decoder.next_line(&mut &b"\n"[..]),
        Some(Line::Text("{}".into()))
    );
}

#[test]
fn a_malformed_line_is_reported_with_its_text_and_the_next_one_is_read() {
    let mut decoder = LineDecoder::default();
    let mut input = &b"{\"type\":\"keep_alive\"}\nDEBUG: not json\n{\"type\":\"keep_alive\"}\n"[..];
    let mut read = Vec::new();
    while let Some(Line::Text(text)) = decoder.next_line(&mut input) {
        read.push(Frame::<ToHost>::decode(text.clone()).map_err(|error| (text, error.to_string())));
    }
    assert!(read[0].is_ok() && read[2].is_ok());
    assert_eq!(
        read[1],
        Err((
            "DEBUG: not json".into(),
            "expected a value at byte 0".into()
        ))
    );
}

#[test]
fn a_line_of_many_megabytes_is_read() {
    let text = "né\\n\\\"".repeat(1_000_000);
    let line =
        format!("{{\"type\":\"user\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n");
    let mut decoder = LineDecoder::default();
    let Some(Line::Text(text)) = decoder.next_line(&mut line.as_bytes()) else {
        panic!()
    };
    let ToAgent::User(user) = Frame::<ToAgent>::decode(text).unwrap().message else {
        panic!()
    };
    assert_eq!(
        user.message.content.as_option().unwrap().text().len(),
        5_000_000
    );
}

#[test]
fn a_system_line_without_a_subtype_is_kept() {
    let line = r#"{"type":"system","session_id":"s","status":"x"}"#;
    let message = ToHost::from_json(line).unwrap();
    assert!(matches!(&message, ToHost::System(System::Unknown(unknown)) if unknown.tag.is_none()));
    assert_eq!(message.to_json().parse::<Value>().unwrap(), value(line));
}

#[test]
fn an_assistant_may_speak_in_plain_text() {
    let line = r#"{"type":"assistant","message":{"role":"assistant","content":"Hi!"}}"#;
    let ToHost::Assistant(line) = whole(line) else {
        panic!()
    };
    assert_eq!(
        line.message.unwrap().content.as_option().unwrap().text(),
        "Hi!"
    );
}

/// The answer of document 001 §9.9: a tool result whose text is JSON.
#[test]
fn text_that_is_json_can_be_read_on_demand() {
    let example = examples()
        .into_iter()
        .find(|example| example.json.to_string().contains(r#"\"answers\""#))
        .unwrap();
    let ToAgent::User(user) = ToAgent::from_json(example.json.to_string()).unwrap() else {
        panic!()
    };
    let text = user
        .tool_results()
        .next()
        .unwrap()
        .content
        .as_option()
        .unwrap()
        .text();
    let answers = AskUserQuestionInput::from_json(text)
        .unwrap()
        .answers
        .unwrap();
    assert_eq!(answers.get("0").unwrap().as_slice(), ["Blue"]);
}

#[test]
fn images_of_every_media_type_go_both_ways() {
    for media_type in ["image/png", "image/jpeg", "image/gif", "image/webp"] {
        let block = Block::image(media_type, "iVBORw0KGgo=").to_json();
        let line = format!(r#"{{"type":"user","message":{{"role":"user","content":[{block}]}}}}"#);
        let ToAgent::User(user) = whole(&line) else {
            panic!()
        };
        let [Block::Image(image)] = user.message.content.as_option().unwrap().blocks() else {
            panic!()
        };
        assert_eq!(image.source.media_type.as_ref().unwrap(), media_type);
        let line = format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":[{block}]}}]}}}}"#
        );
        whole::<ToHost>(&line);
    }
}

fn event(event: &str) -> ToHost {
    whole(&format!(r#"{{"type":"stream_event","event":{event}}}"#))
}

#[test]
fn the_final_line_wins_over_what_the_events_built() {
    let mut accumulator = Accumulator::default();
    for line in [
        event(r#"{"type":"message_start","message":{"id":"m","content":[]}}"#),
        event(
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"draft"}}"#,
        ),
        whole(
            r#"{"type":"assistant","message":{"id":"m","content":[{"type":"text","text":"final"}]}}"#,
        ),
    ] {
        accumulator.handle(&line);
    }
    let block = &accumulator.draft(None).unwrap().blocks()[0];
    assert_eq!(block.grown(), "draft");
    assert_eq!(block.settled(), Some(&Block::text("final")));
}

#[test]
fn a_tool_call_may_start_and_stop_without_a_delta() {
    let mut accumulator = Accumulator::default();
    for line in [
        event(r#"{"type":"message_start","message":{"id":"m","content":[]}}"#),
        event(
            r#"{"type":"content_block_start","index":1,"content_block":{"type":"tool_use","id":"t","name":"TodoRead","input":{}}}"#,
        ),
        event(r#"{"type":"content_block_stop","index":1}"#),
    ] {
        accumulator.handle(&line);
    }
    let block = &accumulator.draft(None).unwrap().blocks()[0];
    assert!(block.is_complete());
    let Block::ToolUse(call) = block.built() else {
        panic!()
    };
    assert_eq!(call.input.unwrap().as_str(), "{}");
}

#[test]
fn a_result_may_be_any_value() {
    for (result, text) in [
        (r#""four""#, Some("four")),
        ("4", None),
        (r#"{"n":4}"#, None),
        ("null", None),
    ] {
        let line = format!(r#"{{"type":"result","subtype":"success","result":{result}}}"#);
        let ToHost::Result(line) = whole(&line) else {
            panic!()
        };
        assert_eq!(
            line.result
                .as_option()
                .and_then(TextOrJson::as_text)
                .map(Text::as_str),
            text
        );
    }
}

#[test]
fn every_error_subtype_of_the_documents_has_a_name() {
    for subtype in [
        "error",
        "error_max_turns",
        "error_input",
        "error_during_execution",
    ] {
        let ToHost::Result(line) = whole(&format!(
            r#"{{"type":"result","subtype":"{subtype}","error":"x"}}"#
        )) else {
            panic!()
        };
        assert!(
            !matches!(line.subtype, Some(ResultSubtype::Unknown(_))) && line.failed(),
            "{subtype}"
        );
    }
}

#[test]
fn every_permission_word_of_the_documents_has_a_name() {
    for mode in [
        "default",
        "acceptEdits",
        "bypassPermissions",
        "plan",
        "delegate",
        "dontAsk",
        "auto",
        "manual",
    ] {
        assert!(
            !matches!(PermissionMode::from(mode), PermissionMode::Unknown(_)),
            "{mode}"
        );
        whole::<Request>(&format!(
            r#"{{"subtype":"set_permission_mode","mode":"{mode}"}}"#
        ));
    }
    for behavior in ["allow", "deny", "ask", "passthrough"] {
        assert!(
            !matches!(Behavior::from(behavior), Behavior::Unknown(_)),
            "{behavior}"
        );
    }
    let destinations = [
        "session",
        "cliArg",
        "command",
        "localSettings",
        "projectSettings",
        "userSettings",
        "policySettings",
        "flagSettings",
    ];
    let kinds = [
        "addRules",
        "removeRules",
        "replaceRules",
        "clearRules",
        "setMode",
        "addDirectories",
        "removeDirectories",
    ];
    for kind in kinds {
        for destination in destinations {
            let update: PermissionUpdate = whole(&format!(
                r#"{{"type":"{kind}","rules":[{{"toolName":"Read"}}],"behavior":"ask","destination":"{destination}"}}"#
            ));
            assert!(
                !matches!(update.kind, Some(UpdateKind::Unknown(_))),
                "{kind}"
            );
            assert!(
                !matches!(update.destination, Some(Destination::Unknown(_))),
                "{destination}"
            );
        }
    }
}

#[test]
fn a_hook_may_allow_deny_or_ask() {
    for decision in [Behavior::Allow, Behavior::Deny, Behavior::Ask] {
        let output = HookOutput::pre_tool_use(decision.clone(), "why");
        let again: HookOutput = whole(output.to_json().as_str());
        assert_eq!(again.specific.unwrap().permission_decision, Some(decision));
    }
    let block: HookOutput =
        whole(r#"{"decision":"block","reason":"There are uncommitted changes."}"#);
    assert_eq!(block, HookOutput::block("There are uncommitted changes."));
}

#[test]
fn one_user_line_may_hold_several_results() {
    let mut accumulator = Accumulator::default();
    let calls = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"a","name":"Read","input":{}},{"type":"tool_use","id":"b","name":"Read","input":{}}]}}"#;
    let results = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"},{"type":"tool_result","tool_use_id":"b","content":"2","is_error":true}]}}"#;
    accumulator.handle(&whole(calls));
    let line: ToHost = whole(results);
    let ToHost::User(user) = &line else { panic!() };
    assert_eq!(user.tool_results().count(), 2);
    accumulator.handle(&line);
    let states: Vec<_> = accumulator.calls().iter().map(|call| call.state).collect();
    assert_eq!(states, [CallState::Done, CallState::Failed]);
}

#[test]
fn every_control_request_of_document_004_has_a_name() {
    for request in [
        r#"{"subtype":"initialize"}"#,
        r#"{"subtype":"set_permission_mode","mode":"acceptEdits"}"#,
        r#"{"subtype":"set_model","model":"opus"}"#,
        r#"{"subtype":"set_max_thinking_tokens","max_thinking_tokens":1000}"#,
        r#"{"subtype":"interrupt"}"#,
        r#"{"subtype":"mcp_status"}"#,
        r#"{"subtype":"mcp_set_servers","servers":{}}"#,
        r#"{"subtype":"mcp_reconnect","serverName":"calc"}"#,
        r#"{"subtype":"mcp_toggle","serverName":"calc","enabled":false}"#,
        r#"{"subtype":"mcp_message","server_name":"calc","message":{}}"#,
        r#"{"subtype":"rewind_files","user_message_id":"u"}"#,
    ] {
        assert!(
            !matches!(whole::<Request>(request), Request::Unknown(_)),
            "{request}"
        );
    }
}

/// The three flows at the end of document 003, as the host sees them.
#[test]
fn the_flows_of_document_003_pass_through_a_session() {
    let mut session = Session::default();
    let send = |session: &mut Session, line: &str| {
        session.from_host(whole(line)).unwrap()[0].kind().to_owned()
    };
    let got = |session: &mut Session, line: &str| {
        let lines = session.to_host(whole(line));
        lines
            .iter()
            .map(ToHost::full_kind)
            .collect::<Vec<_>>()
            .join(", ")
    };
    let assistant = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"hi"}]},"session_id":"s"}"#;
    let result = r#"{"type":"result","subtype":"success","session_id":"s"}"#;

    assert_eq!(
        send(
            &mut session,
            r#"{"type":"session.create","message":{"role":"user","content":"a"}}"#
        ),
        "user"
    );
    assert_eq!(got(&mut session, assistant), "assistant, session.created");
    assert_eq!(got(&mut session, result), "result/success");

    let question = r#"{"type":"control_request","request_id":"q","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}"#;
    assert_eq!(got(&mut session, question), "callback.request/can_use_tool");
    let answer = r#"{"type":"callback.response","response":{"subtype":"success","request_id":"q","response":{"behavior":"allow"}}}"#;
    assert_eq!(send(&mut session, answer), "control_response");
    let output = r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"x"}]},"session_id":"s"}"#;
    assert_eq!(got(&mut session, output), "user");

    assert_eq!(
        send(
            &mut session,
            r#"{"type":"session.send","message":{"role":"user","content":"b"}}"#
        ),
        "user"
    );
    assert_eq!(got(&mut session, assistant), "assistant");
    assert_eq!(got(&mut session, result), "result/success");

    let interrupt =
        r#"{"type":"control_request","request_id":"i","request":{"subtype":"interrupt"}}"#;
    assert_eq!(send(&mut session, interrupt), "control_request");
    let done = r#"{"type":"control_response","response":{"subtype":"success","request_id":"i","response":{"still_queued":[]}}}"#;
    let lines = session.to_host(whole(done));
    let flat =
        value(r#"{"type":"control_response","request_id":"i","response":{"still_queued":[]}}"#);
    assert_eq!(lines[0].to_json().parse::<Value>().unwrap(), flat);
}

#[test]
fn stream_events_have_names() {
    for line in ["message_stop", "ping"] {
        let ToHost::StreamEvent(line) = event(&format!(r#"{{"type":"{line}"}}"#)) else {
            panic!()
        };
        assert!(!matches!(line.event, StreamEvent::Unknown(_)));
    }
}
