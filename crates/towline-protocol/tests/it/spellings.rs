//! Every spelling of the documents is read to the same value, written back as it came, and written as the real CLI
//! writes it on demand.

use serde_json::Value;
use towline_protocol::{
    Behavior, ControlLine, Destination, PermissionAnswer, PermissionUpdate, Request, SessionId,
    System, ToAgent, ToHost, UpdateKind, Wire,
};

fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// All forms decode to one value, come back as they were, and have one standard form.
fn same<T: Wire>(standard: &str, forms: &[&str]) {
    for form in forms.iter().chain([&standard]) {
        let typed = T::from_json(*form).unwrap_or_else(|error| panic!("{form}: {error}"));
        assert_eq!(typed.unnamed_paths(), [""; 0], "{form}");
        assert_eq!(
            typed.to_json().parse::<Value>().unwrap(),
            value(form),
            "{form} changed"
        );
        assert_eq!(
            typed.to_standard_json().parse::<Value>().unwrap(),
            value(standard),
            "{form}"
        );
    }
}

#[test]
fn control_requests_flat_and_wrapped() {
    same::<ToHost>(
        r#"{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"t"}}"#,
        &[
            r#"{"type":"control_request","message":{"type":"control_request","request_id":"r","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{},"tool_use_id":"t"}}}"#,
        ],
    );
}

#[test]
fn fields_around_a_wrapped_request_are_kept() {
    for line in [
        r#"{"type":"control_request","x":1,"request_id":"o","message":{"type":"control_request","request_id":"r","request":{"subtype":"interrupt"},"y":2}}"#,
        r#"{"type":"control_request","request_id":"r","request":{"subtype":"interrupt"},"message":"words"}"#,
        r#"{"type":"control_response","response":{"subtype":"brand_new","request_id":"r"},"request_id":"o"}"#,
    ] {
        let message = ToHost::from_json(line).unwrap();
        assert_eq!(message.to_json().parse::<Value>().unwrap(), value(line));
        assert!(!message.unnamed_paths().is_empty(), "{line}");
    }
    let broken = r#"{"type":"control_request","message":{"type":"control_request","request":{"subtype":"read_file"}}}"#;
    assert_eq!(
        ToHost::from_json(broken).unwrap_err().to_string(),
        "missing field `path` in `message.request` at byte 72"
    );
}

#[test]
fn control_responses_nested_and_flat() {
    same::<ToAgent>(
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"r","response":{"behavior":"allow"}}}"#,
        &[r#"{"type":"control_response","request_id":"r","response":{"behavior":"allow"}}"#],
    );
}

#[test]
fn permission_answers_in_camel_case_and_snake_case() {
    same::<PermissionAnswer>(
        r#"{"behavior":"allow","updatedInput":{"a":1},"updatedPermissions":[],"toolUseID":"t"}"#,
        &[
            r#"{"behavior":"allow","updated_input":{"a":1},"updated_permissions":[],"tool_use_id":"t"}"#,
            r#"{"behavior":"allow","updatedInput":{"a":1},"updated_permissions":[],"toolUseId":"t"}"#,
        ],
    );
}

#[test]
fn result_fields_in_camel_case_and_snake_case() {
    same::<ToHost>(
        r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":5,"num_turns":2,"session_id":"s","modelUsage":{"m":{"contextWindow":7}}}"#,
        &[
            r#"{"type":"result","subtype":"success","isError":false,"durationMs":5,"numTurns":2,"sessionId":"s","modelUsage":{"m":{"contextWindow":7}}}"#,
            r#"{"type":"result","subtype":"success","isError":false,"duration_ms":5,"turn_count":2,"session_id":"s","model_usage":{"m":{"context_window":7}}}"#,
        ],
    );
}

#[test]
fn blocked_path_and_blocked_paths() {
    same::<Request>(
        r#"{"subtype":"can_use_tool","tool_name":"Write","input":{},"blocked_path":"/etc"}"#,
        &[r#"{"subtype":"can_use_tool","tool_name":"Write","input":{},"blocked_paths":"/etc"}"#],
    );
}

#[test]
fn two_spellings_of_one_field_on_one_line_are_both_kept() {
    for line in [
        r#"{"type":"result","is_error":true,"isError":false}"#,
        r#"{"type":"result","isError":false,"is_error":true}"#,
    ] {
        let message = ToHost::from_json(line).unwrap();
        assert_eq!(message.to_json().parse::<Value>().unwrap(), value(line));
        assert_eq!(message.unnamed_paths().len(), 1);
    }
}

#[test]
fn tools_as_names_and_as_objects() {
    let line = r#"{"type":"system","subtype":"init","tools":["Bash",{"name":"Read","description":"d","input_schema":{}}]}"#;
    let message = ToHost::from_json(line).unwrap();
    let ToHost::System(System::Init(init)) = &message else {
        panic!()
    };
    let names: Vec<_> = init
        .tools
        .iter()
        .flatten()
        .map(|tool| tool.name().as_str())
        .collect();
    assert_eq!(names, ["Bash", "Read"]);
    assert_eq!(message.to_json().parse::<Value>().unwrap(), value(line));
}

#[test]
fn content_as_text_as_blocks_and_as_an_object() {
    for (content, text) in [
        (r#""words""#, "words"),
        (
            r#"[{"type":"text","text":"Part 1"},{"type":"text","text":"Part 2"}]"#,
            "Part 1\n\nPart 2",
        ),
        (
            r#"[{"type":"image","source":{"type":"base64","data":"aa","media_type":"image/png"}}]"#,
            "",
        ),
        (r#"{"status":"running"}"#, r#"{"status":"running"}"#),
    ] {
        let line = format!(
            r#"{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"t","content":{content}}}]}}}}"#
        );
        let message = ToHost::from_json(line.as_str()).unwrap();
        let ToHost::User(user) = &message else {
            panic!()
        };
        let result = user.tool_results().next().unwrap();
        assert_eq!(result.content.as_option().unwrap().text(), text);
        assert_eq!(message.to_json().parse::<Value>().unwrap(), value(&line));
    }
}

#[test]
fn tool_use_and_tool_result_as_lines_of_their_own() {
    let call = ToHost::from_json(
        r#"{"type":"tool_use","id":"t","name":"Read","input":{"file_path":"/a"},"session_id":"s"}"#,
    );
    let ToHost::ToolUse(call) = call.unwrap() else {
        panic!()
    };
    assert_eq!(call.name.unwrap(), "Read");
    let result = ToHost::from_json(
        r#"{"type":"tool_result","tool_use_id":"t","content":"ok","is_error":false}"#,
    );
    let ToHost::ToolResult(result) = result.unwrap() else {
        panic!()
    };
    assert_eq!(result.content.as_option().unwrap().text(), "ok");
}

/// The four forms of a permission suggestion, and what each comes to in the real one.
#[test]
fn permission_suggestions_in_all_four_forms() {
    let rule = r#"{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls *"}],"behavior":"allow","destination":"session"}"#;
    for (form, standard) in [
        (rule, Some(rule)),
        (r#"{"behavior":"allow","message":"Safe to run"}"#, None),
        (
            r#"{"type":"addRules","toolName":"Bash","ruleContent":"ls *","behavior":"allow","destination":"session"}"#,
            Some(rule),
        ),
        (
            r#"{"type":"addRules","rules":[{"tool_name":"Bash","rule_content":"ls *"}],"behavior":"allow","destination":"session"}"#,
            Some(rule),
        ),
        (
            r#"{"type":"bash","action":"allow","pattern":"ls *","scope":"session"}"#,
            Some(rule),
        ),
        (
            r#"{"type":"addDirectories","directories":["/p"],"destination":"session"}"#,
            Some(r#"{"type":"addDirectories","directories":["/p"],"destination":"session"}"#),
        ),
    ] {
        let update = PermissionUpdate::from_json(form).unwrap();
        assert_eq!(update.unnamed_paths(), [""; 0], "{form}");
        assert_eq!(update.to_json().parse::<Value>().unwrap(), value(form));
        let found = update
            .standard()
            .map(|update| update.to_standard_json().parse::<Value>().unwrap());
        assert_eq!(found, standard.map(value), "{form}");
    }
    let clear =
        PermissionUpdate::from_json(r#"{"type":"clearRules","destination":"localSettings"}"#)
            .unwrap();
    assert_eq!(
        (clear.kind, clear.destination),
        (
            Some(UpdateKind::ClearRules),
            Some(Destination::LocalSettings)
        )
    );
}

#[test]
fn unknown_values_are_kept_and_visible() {
    let line = r#"{"type":"system","subtype":"status","status":null,"permissionMode":"turbo"}"#;
    let message = ToHost::from_json(line).unwrap();
    assert_eq!(message.unnamed_paths(), ["permissionMode=turbo"]);
    assert_eq!(message.to_json().parse::<Value>().unwrap(), value(line));
    assert_eq!(Behavior::from("maybe").as_str(), "maybe");
}

#[test]
fn unknown_kinds_are_kept_at_every_depth() {
    for (line, path) in [
        (r#"{"type":"brand_new","x":[1]}"#, "type=brand_new"),
        (
            r#"{"type":"system","subtype":"brand_new","x":[1]}"#,
            "subtype=brand_new",
        ),
        (
            r#"{"type":"stream_event","event":{"type":"brand_new"},"uuid":"u"}"#,
            "event.type=brand_new",
        ),
        (
            r#"{"type":"stream_event","event":{"type":"content_block_delta","index":0,"delta":{"type":"brand_new","x":1}}}"#,
            "event.delta.type=brand_new",
        ),
        (
            r#"{"type":"assistant","message":{"content":[{"type":"brand_new","x":{}},{"type":"text","text":""}]}}"#,
            "message.content[].type=brand_new",
        ),
        (
            r#"{"type":"control_request","request_id":"r","request":{"subtype":"brand_new"}}"#,
            "request.subtype=brand_new",
        ),
    ] {
        let message = ToHost::from_json(line).unwrap();
        assert_eq!(message.unnamed_paths(), [path]);
        assert_eq!(message.to_json().parse::<Value>().unwrap(), value(line));
    }
}

/// Found by fuzzing: written back with its second subtype, the line became a malformed known one.
#[test]
fn an_unknown_kind_that_says_twice_what_it_is_stays_as_it_is() {
    let line = r#"{"type":"system","subtype":"brand_new","subtype":"task_updated","x":1}"#;
    let message = ToHost::from_json(line).unwrap();
    assert_eq!(message.to_json().as_str(), line);
}

#[test]
fn a_malformed_known_message_is_an_error_with_its_place_and_not_an_other() {
    for (line, error) in [
        (
            r#"{"type":"result","is_error":"no"}"#,
            "expected true or false in `is_error` at byte 28",
        ),
        (
            r#"{"type":"assistant","message":{"content":[{"type":"text"}]}}"#,
            "missing field `text` in `message.content[0]` at byte 42",
        ),
        (
            r#"{"type":"stream_event","event":{"type":"content_block_delta","index":"0","delta":{"type":"text_delta","text":""}}}"#,
            "expected a whole number in `event.index` at byte 69",
        ),
        (r#"{"type":7}"#, "expected a string in `type` at byte 8"),
        (
            r#"{"type":"control_request","request_id":"r"}"#,
            "missing field `request` at byte 0",
        ),
        ("null", "expected an object at byte 0"),
        // Readers that take the first and readers that take the last would see two different messages.
        (
            r#"{"type":"keep_alive","type":"user"}"#,
            "`type` comes twice at byte 28",
        ),
        (
            r#"{"uuid":"u","type":"keep_alive","x":1,"type":"user"}"#,
            "`type` comes twice at byte 45",
        ),
        (
            r#"{"type":"system","subtype":"status","status":null,"subtype":"init"}"#,
            "`subtype` comes twice at byte 60",
        ),
        (
            r#"{"subtype":"status","status":null,"type":"system","type":"user"}"#,
            "`type` comes twice at byte 57",
        ),
        (
            r#"{"type":"control_request","request_id":"r","request":{"subtype":"interrupt","subtype":"initialize"}}"#,
            "`subtype` comes twice in `request` at byte 86",
        ),
    ] {
        assert_eq!(ToHost::from_json(line).unwrap_err().to_string(), error);
    }
}

#[test]
fn the_session_id_of_a_fork_is_taken_from_the_lines_that_are_sure_of_it() {
    for (line, id) in [
        (
            r#"{"type":"system","subtype":"init","session_id":"old"}"#,
            None,
        ),
        (
            r#"{"type":"stream_event","event":{"type":"message_stop"},"session_id":"old"}"#,
            None,
        ),
        (
            r#"{"type":"assistant","message":{"content":[]},"session_id":"new"}"#,
            Some("new"),
        ),
        (
            r#"{"type":"user","message":{"content":""},"session_id":""}"#,
            None,
        ),
        (r#"{"type":"result","sessionId":"new"}"#, Some("new")),
    ] {
        let message = ToHost::from_json(line).unwrap();
        assert_eq!(
            message.settled_session_id().map(SessionId::as_str),
            id,
            "{line}"
        );
    }
}

#[test]
fn a_callback_of_document_003_is_a_control_line() {
    let line = ToHost::from_json(
        r#"{"type":"callback.request","request_id":"c","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}"#,
    );
    assert!(matches!(
        ControlLine::try_from(line.unwrap()),
        Ok(ControlLine::Request(_))
    ));
}
