//! The protocol of the phone app: every message of document 004 §8 in its shortest and its longest form, and what
//! the app has added since.

use serde_json::{Value, json};
use towline_protocol::{
    Map, OneOrMany, PermissionMode, Question, Text, Wire,
    dialect::pocket::{Answer, AnswerError, BridgeId, Status, ToClient, ToServer},
};

/// Document 004 §8.1. A row is a variant and a message; here each has two, the shortest form and the longest.
const TO_SERVER: &str = r#"
Start {"type":"start","projectPath":"/p"}
Start {"type":"start","projectPath":"/p","sessionId":"6f1e","continue":true,"permissionMode":"plan",
    "provider":"claude","model":"opus","effort":"xhigh","maxTurns":3,"maxBudgetUsd":0.5,
    "fallbackModel":"haiku","forkSession":true,"persistSession":false,"executionMode":"fullAccess",
    "planMode":false,"sandboxMode":"on","useWorktree":true,"worktreeBranch":"b",
    "existingWorktreePath":"/w","autoRename":true,"additionalWritableRoots":["/x"]}
Input {"type":"input","text":"hi"}
Input {"type":"input","text":"hi","sessionId":"1a2b3c4d","clientMessageId":"cm-1","baseSeq":7,
    "images":[{"base64":"AA==","mimeType":"image/png"}],"imageId":"i","imageBase64":"AA==",
    "mimeType":"image/png","skill":{"name":"s","path":"/s"},"skills":[{"name":"s","path":"/s"}],
    "mentions":[{"name":"m","path":"/m"}]}
Approve {"type":"approve","id":"toolu_1"}
Approve {"type":"approve","id":"toolu_1","clearContext":true,"sessionId":"1a2b3c4d"}
ApproveAlways {"type":"approve_always","id":"toolu_1"}
ApproveAlways {"type":"approve_always","id":"toolu_1","sessionId":"1a2b3c4d"}
Reject {"type":"reject","id":"toolu_1"}
Reject {"type":"reject","id":"toolu_1","message":"not now","sessionId":"1a2b3c4d"}
Answer {"type":"answer","toolUseId":"toolu_1","result":"React"}
Answer {"type":"answer","toolUseId":"toolu_1","result":"React","sessionId":"1a2b3c4d"}
ListSessions {"type":"list_sessions"}
ListSessions {"type":"list_sessions"}
StopSession {"type":"stop_session","sessionId":"1a2b3c4d"}
StopSession {"type":"stop_session","sessionId":"1a2b3c4d"}
GetHistory {"type":"get_history","sessionId":"1a2b3c4d"}
GetHistory {"type":"get_history","sessionId":"1a2b3c4d"}
ListRecentSessions {"type":"list_recent_sessions"}
ListRecentSessions {"type":"list_recent_sessions","limit":20,"offset":40,"projectPath":"/p","requestScope":"project",
    "provider":"claude","namedOnly":true,"searchQuery":"needle","requestId":"r"}
ResumeSession {"type":"resume_session","sessionId":"6f1e","projectPath":"/p"}
ResumeSession {"type":"resume_session","sessionId":"6f1e","projectPath":"/p","permissionMode":"auto",
    "provider":"codex","model":"opus","effort":"low","maxTurns":1,"maxBudgetUsd":2,"fallbackModel":"haiku",
    "forkSession":false,"persistSession":true,"executionMode":"default","planMode":true,
    "sandboxMode":"off","additionalWritableRoots":[],"resumeRequestId":"r"}
"#;

/// What the app has added to the messages for the server.
const TO_SERVER_ADDED: &str = r#"
ClientCapabilities {"type":"client_capabilities","appVersion":"1.71.0","protocolVersion":1,"minimumProtocolVersion":1,
    "supportedServerMessages":["conversation_queue","goal_state","history_delta"]}
Interrupt {"type":"interrupt","sessionId":"1a2b3c4d"}
SetPermissionMode {"type":"set_permission_mode","mode":"acceptEdits","executionMode":"acceptEdits","planMode":false,
    "sessionId":"1a2b3c4d"}
SetSandboxMode {"type":"set_sandbox_mode","sandboxMode":"on","sessionId":"1a2b3c4d"}
GetHistoryDelta {"type":"get_history_delta","sessionId":"1a2b3c4d","sinceSeq":12}
RenameSession {"type":"rename_session","sessionId":"1a2b3c4d","name":"n","provider":"claude",
    "providerSessionId":"6f1e","projectPath":"/p"}
ArchiveSession {"type":"archive_session","sessionId":"6f1e","provider":"claude","projectPath":"/p"}
ResolveSessionLink {"type":"resolve_session_link","requestId":"r","sessionId":"6f1e","provider":"claude"}
ReadFile {"type":"read_file","projectPath":"/p","filePath":"a.rs","maxLines":9,"requestId":"r"}
ListFiles {"type":"list_files","projectPath":"/p","requestId":"r"}
ListDirectory {"type":"list_directory","path":"/p","requestId":"r","includeHidden":true,"includeFiles":false}
GetDiff {"type":"get_diff","projectPath":"/p","staged":true,"requestId":"r"}
GetDiffImage {"type":"get_diff_image","projectPath":"/p","filePath":"a.png","version":"both","requestId":"r"}
ListWorktrees {"type":"list_worktrees","projectPath":"/p","requestId":"r"}
RemoveWorktree {"type":"remove_worktree","projectPath":"/p","worktreePath":"/w","requestId":"r"}
Rewind {"type":"rewind","sessionId":"1a2b3c4d","targetUuid":"u","mode":"conversation"}
RewindDryRun {"type":"rewind_dry_run","sessionId":"1a2b3c4d","targetUuid":"u"}
Fork {"type":"fork","sessionId":"1a2b3c4d","targetUuid":"u"}
ListProjectHistory {"type":"list_project_history"}
GetUsage {"type":"get_usage"}
PushRegister {"type":"push_register","token":"t","platform":"ios","requestId":"r","locale":"de","privacyMode":true}
"#;

/// Document 004 §8.2, in the same way.
const TO_CLIENT: &str = r#"
System {"type":"system","subtype":"init"}
System {"type":"system","subtype":"session_created","sessionId":"1a2b3c4d","claudeSessionId":"6f1e",
    "model":"opus","provider":"claude","projectPath":"/p","slashCommands":["compact"],"skills":["s"],
    "skillMetadata":[{"name":"s","path":"/s","description":"d","shortDescription":"d","enabled":true,
    "scope":"user","displayName":"S","defaultPrompt":"go","brandColor":"red"}],"permissionMode":"default",
    "executionMode":"default","planMode":true,"sandboxMode":"on","worktreePath":"/w","worktreeBranch":"b",
    "sourceSessionId":"0a2b3c4d","resumeRequestId":"r","clearContext":true,"tipCode":"t","historySeq":1}
Assistant {"type":"assistant","message":{"content":[]}}
Assistant {"type":"assistant","message":{"id":"msg_1","role":"assistant","model":"opus","content":[
    {"type":"text","text":"hi"},{"type":"thinking","thinking":"h"},
    {"type":"tool_use","id":"toolu_1","name":"Read","input":{}}]},
    "messageUuid":"u","sessionId":"1a2b3c4d","historySeq":2}
ToolResult {"type":"tool_result","toolUseId":"toolu_1","content":"ok"}
ToolResult {"type":"tool_result","toolUseId":"toolu_1","content":"ok","toolName":"Read",
    "images":[{"id":"i","url":"/images/i","mimeType":"image/png"}],"userMessageUuid":"u",
    "rawContentBlocks":[{"type":"text","text":"ok"}],"sessionId":"1a2b3c4d","historySeq":3}
Result {"type":"result","subtype":"success"}
Result {"type":"result","subtype":"stopped","result":"r","error":"e","cost":0.25,"duration":1200,
    "sessionId":"1a2b3c4d","stopReason":"end_turn","inputTokens":1,"cachedInputTokens":2,"outputTokens":3,
    "toolCalls":4,"fileEdits":5,"historySeq":4}
Error {"type":"error","message":"m"}
Error {"type":"error","message":"m","errorCode":"session_not_found","sessionId":"1a2b3c4d","path":"/p",
    "requestId":"r","historySeq":5}
Status {"type":"status","status":"waiting_approval"}
Status {"type":"status","status":"compacting","sessionId":"1a2b3c4d","historySeq":6}
History {"type":"history","messages":[]}
History {"type":"history","messages":[{"type":"user_input","text":"hi"},{"type":"status","status":"idle"}],
    "sessionId":"1a2b3c4d","historySeq":6}
PermissionRequest {"type":"permission_request","toolUseId":"toolu_1","toolName":"Bash","input":{"command":"ls"}}
PermissionRequest {"type":"permission_request","toolUseId":"toolu_1","toolName":"Bash","input":{"command":"ls"},
    "sessionId":"1a2b3c4d","historySeq":7}
StreamDelta {"type":"stream_delta","text":"h"}
StreamDelta {"type":"stream_delta","text":"h","sessionId":"1a2b3c4d"}
ThinkingDelta {"type":"thinking_delta","text":"h"}
ThinkingDelta {"type":"thinking_delta","text":"h","sessionId":"1a2b3c4d"}
"#;

/// What has been added to the messages for the app.
const TO_CLIENT_ADDED: &str = r#"
SessionList {"type":"session_list","sessions":[{"id":"1a2b3c4d","provider":"claude","projectPath":"/p",
    "claudeSessionId":"6f1e","name":"n","status":"dead","createdAt":"c","lastActivityAt":"l",
    "gitBranch":"main","lastMessage":"m","worktreePath":"/w","worktreeBranch":"b",
    "permissionMode":"default","executionMode":"default","planMode":false,"model":"opus",
    "sandboxEnabled":true,"pendingPermission":{"toolUseId":"toolu_1","toolName":"Bash","input":{}}}],
    "allowedDirs":["/"],"claudeModels":["opus"],"claudeModelEfforts":{"opus":["low","max"]},
    "bridgeVersion":"1"}
ProjectHistory {"type":"project_history","projects":["/p"]}
RecentSessions {"type":"recent_sessions","sessions":[{"sessionId":"6f1e","provider":"claude","name":"n","summary":"s",
    "firstPrompt":"f","lastPrompt":"l","messageCount":2,"created":"c","modified":"m","gitBranch":"",
    "projectPath":"/p","resumeCwd":"/p","isSidechain":false}],"hasMore":true,"limit":1,"offset":0,
    "projectPath":"/p","requestScope":"list","requestId":"r"}
PastHistory {"type":"past_history","claudeSessionId":"6f1e","sessionId":"1a2b3c4d","messages":[{"role":"user",
    "content":[{"type":"text","text":"hi"}],"uuid":"u","timestamp":"t"},{"role":"assistant","content":"h"}]}
InputAck {"type":"input_ack","sessionId":"1a2b3c4d","clientMessageId":"cm-1","acceptedSeq":3,"queued":false}
InputRejected {"type":"input_rejected","sessionId":"1a2b3c4d","clientMessageId":"cm-1","reason":"conflict"}
HistoryDelta {"type":"history_delta","sessionId":"1a2b3c4d","fromSeq":2,"toSeq":3,"messages":[{"seq":2,"message":
    {"type":"tool_use_summary","summary":"s","precedingToolUseIds":[]}}],"status":"running",
    "reason":"reset"}
HistorySnapshot {"type":"history_snapshot","sessionId":"1a2b3c4d","fromSeq":1,"toSeq":3,"messages":[],"status":"idle",
    "reason":"compacted"}
UserInput {"type":"user_input","text":"hi","clientMessageId":"cm-1","userMessageUuid":"u","isSynthetic":false,
    "isMeta":false,"imageCount":1,"images":[],"timestamp":"t","sessionId":"1a2b3c4d","historySeq":3}
ToolUseSummary {"type":"tool_use_summary","summary":"s","precedingToolUseIds":["toolu_1"],"sessionId":"1a2b3c4d",
    "historySeq":4}
PermissionResolved {"type":"permission_resolved","toolUseId":"toolu_1","sessionId":"1a2b3c4d","historySeq":5}
FileContent {"type":"file_content","projectPath":"/p","requestId":"r","filePath":"a.rs","kind":"text","content":"x",
    "language":"rust","error":"e","totalLines":1,"truncated":false,"base64":"AA==","mimeType":"image/png",
    "sizeBytes":1}
FileList {"type":"file_list","projectPath":"/p","requestId":"r","files":["a"],"ignored":[false],
    "modifiedAt":{"a":1.5},"totalFiles":1,"truncated":false,"error":"e"}
DirectoryListing {"type":"directory_listing","path":"/","directories":[{"name":"p","path":"/p"}],"files":[],"requestId":"r"}
DiffResult {"type":"diff_result","projectPath":"/p","requestId":"r","staged":true,"diff":"","error":"e",
    "errorCode":"path_not_allowed","imageChanges":[{"filePath":"a.png","isNew":true,"isDeleted":false,
    "isSvg":false,"oldSize":1,"newSize":2,"mimeType":"image/png","loadable":true,"autoDisplay":true}]}
DiffImageResult {"type":"diff_image_result","projectPath":"/p","requestId":"r","filePath":"a.png","version":"new",
    "base64":"AA==","oldBase64":"AA==","newBase64":"AA==","mimeType":"image/png","error":"e"}
WorktreeList {"type":"worktree_list","projectPath":"/p","requestId":"r","worktrees":[{"worktreePath":"/w","branch":"b",
    "projectPath":"/p","head":"h"}],"mainBranch":"main","error":"e"}
WorktreeRemoved {"type":"worktree_removed","projectPath":"/p","requestId":"r","worktreePath":"/w","error":"e"}
RewindPreview {"type":"rewind_preview","sessionId":"1a2b3c4d","canRewind":true,"filesChanged":["a"],"insertions":1,
    "deletions":2,"error":"e"}
RewindResult {"type":"rewind_result","sessionId":"1a2b3c4d","success":true,"mode":"both","error":"e"}
RenameResult {"type":"rename_result","sessionId":"1a2b3c4d","name":null,"success":true,"error":"e"}
ArchiveResult {"type":"archive_result","sessionId":"6f1e","success":false,"error":"e"}
SessionLinkResolution {"type":"session_link_resolution","requestId":"r","sourceSessionId":"6f1e","status":"recent",
    "bridgeSessionId":"1a2b3c4d","provider":"claude","recentSession":{"sessionId":"6f1e"}}
UsageResult {"type":"usage_result","providers":[{"provider":"claude","fiveHour":{"utilization":12.5,"resetsAt":"t"},
    "sevenDay":null,"error":"e"}]}
PushRegistrationResult {"type":"push_registration_result","token":"t","requestId":"r","success":false,"error":"e"}
"#;

/// The rows of a table; a line that begins with a space belongs to the row before.
fn rows(table: &str) -> Vec<(&str, &str)> {
    let mut rows = Vec::new();
    let mut rest = table.trim();
    while !rest.is_empty() {
        let end = rest
            .match_indices('\n')
            .find(|(at, _)| !rest[at + 1..].starts_with(' '))
            .map_or(rest.len(), |(at, _)| at);
        rows.push(rest[..end].split_once(' ').expect("a row has two columns"));
        rest = rest[end..].trim_start();
    }
    rows
}

/// Reads a message, checks that it is what it should be, and that nothing of it is lost.
fn check<M: Wire + std::fmt::Debug>(variant: &str, text: &str) -> M {
    let message = M::from_json(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    let debug = format!("{message:?}");
    assert!(debug.starts_with(&format!("{variant}(")), "{debug}");
    assert_eq!(value(message.to_json().as_str()), value(text));
    assert_eq!(value(message.to_standard_json().as_str()), value(text));
    assert_eq!(message.unnamed_paths(), Vec::<String>::new(), "{text}");
    message
}

/// Checks the longest form of a message: as `check`, and no field of it is left out of the test.
fn check_full<M: Wire + std::fmt::Debug>(variant: &str, text: &str) -> M {
    let message = check::<M>(variant, text);
    let debug = format!("{message:#?}");
    let left_out = debug.lines().find(|line| {
        line.starts_with("        ")
            && !line.starts_with("         ")
            && (line.ends_with(": None,") || line.ends_with(": Absent,"))
    });
    assert_eq!(left_out, None, "{variant}");
    message
}

/// Checks that a message cannot do without any of its fields.
fn check_required<M: Wire + std::fmt::Debug>(text: &str) {
    let fields = value(text).as_object().expect("a message").clone();
    for name in fields.keys().filter(|name| *name != "type") {
        let mut rest = fields.clone();
        rest.remove(name);
        let error = M::from_json(Value::from(rest).to_string()).expect_err(name);
        assert_eq!(
            error.to_string(),
            format!("missing field `{name}` at byte 0"),
        );
    }
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

#[test]
fn every_message_of_the_document_for_the_server_is_known() {
    let rows = rows(TO_SERVER);
    assert_eq!(rows.len(), 2 * 11);
    for pair in rows.chunks(2) {
        let [(variant, minimal), (_, full)] = pair else {
            panic!("a row is missing: {pair:?}");
        };
        check::<ToServer>(variant, minimal);
        check_required::<ToServer>(minimal);
        check_full::<ToServer>(variant, full);
    }
}

#[test]
fn every_message_of_the_document_for_the_app_is_known() {
    let rows = rows(TO_CLIENT);
    assert_eq!(rows.len(), 2 * 10);
    for pair in rows.chunks(2) {
        let [(variant, minimal), (_, full)] = pair else {
            panic!("a row is missing: {pair:?}");
        };
        check::<ToClient>(variant, minimal);
        check_required::<ToClient>(minimal);
        check_full::<ToClient>(variant, full);
    }
}

#[test]
fn every_message_that_was_added_is_known() {
    for (variant, text) in rows(TO_SERVER_ADDED) {
        let message = check_full::<ToServer>(variant, text);
        assert_eq!(message.unsupported(), None);
    }
    for (variant, text) in rows(TO_CLIENT_ADDED) {
        check_full::<ToClient>(variant, text);
    }
}

#[test]
fn a_frame_of_a_session_says_which_and_a_frame_of_its_history_has_a_number() {
    let id = BridgeId::from("99999999");
    let no_number = [
        "StreamDelta",
        "ThinkingDelta",
        "History",
        "PastHistory",
        "InputAck",
        "InputRejected",
        "HistoryDelta",
        "HistorySnapshot",
        "RewindPreview",
        "RewindResult",
    ];
    // These name a session that a list or an old link is about.
    let no_session = ["RenameResult", "ArchiveResult"];
    let full = rows(TO_CLIENT).into_iter().skip(1).step_by(2);
    for (variant, text) in full.chain(rows(TO_CLIENT_ADDED)) {
        let before = value(text);
        let in_session = before.get("sessionId").is_some() && !no_session.contains(&variant);
        let in_history = in_session && !no_number.contains(&variant);

        let mut message = ToClient::from_json(text).unwrap();
        message.address(&id);
        message.number(77);

        assert_eq!(message.session_id(), in_session.then_some(&id), "{variant}");
        assert_eq!(message.history_seq(), in_history.then_some(77), "{variant}");
        let mut expected = before;
        if in_session {
            expected["sessionId"] = json!("99999999");
        }
        if in_history {
            expected["historySeq"] = json!(77);
        }
        assert_eq!(value(message.to_json().as_str()), expected);
    }
}

#[test]
fn an_unknown_type_is_kept_and_answered() {
    let text = r#"{"cols":80,"type":"git_stage","files":["a"]}"#;
    let message = ToServer::from_json(text).unwrap();
    assert!(matches!(&message, ToServer::Unknown(unknown) if unknown.json.as_str() == text));
    assert_eq!(message.unnamed_paths(), ["type=git_stage"]);
    assert_eq!(message.to_json().as_str(), text);
    let answer = message.unsupported().unwrap();
    assert_eq!(
        value(answer.to_json().as_str()),
        json!({"type": "error", "errorCode": "unsupported_message", "message": "git_stage"}),
    );
    check::<ToClient>("Error", answer.to_json().as_str());

    let untyped = ToServer::from_json("{}").unwrap().unsupported().unwrap();
    assert_eq!(untyped, ToClient::unsupported("?"));
}

#[test]
fn a_malformed_message_is_an_error_with_its_place() {
    for (text, path, offset) in [
        (r#"{"type":"input","text":7}"#, "text", 23),
        (r#"{"type":"input"}"#, "", 0),
        (
            r#"{"type":"input","text":"","images":[{"base64":"","mimeType":1}]}"#,
            "images[0].mimeType",
            60,
        ),
        (
            r#"{"type":"start","projectPath":"/","maxTurns":"3"}"#,
            "maxTurns",
            45,
        ),
        (
            r#"{"type":"answer","toolUseId":"t","result":{}}"#,
            "result",
            42,
        ),
        (r#"{"type":"approve","toolUseId":false}"#, "toolUseId", 30),
        (r#"{"type":"input","text":"#, "text", 23),
        (r#"[]"#, "", 0),
        ("hello", "", 0),
    ] {
        let error = ToServer::from_json(text).unwrap_err();
        assert_eq!((error.path(), error.offset()), (path, offset), "{text}");
        let answer = ToClient::invalid(&error);
        assert_eq!(
            value(answer.to_json().as_str()),
            json!({"type": "error", "errorCode": "invalid_message", "message": error.to_string()}),
        );
    }
}

#[test]
fn an_unknown_field_is_kept_and_written_back() {
    let text = r#"{"type":"start","projectPath":"/p","serviceTier":"fast","model":null}"#;
    let message = ToServer::from_json(text).unwrap();
    assert_eq!(message.unnamed_paths(), ["serviceTier"]);
    assert_eq!(value(message.to_json().as_str()), value(text));

    let text = r#"{"type":"history","messages":[{"type":"goal_state","goal":null},
        {"type":"status","status":"asleep","since":1}]}"#;
    let message = ToClient::from_json(text).unwrap();
    assert_eq!(
        message.unnamed_paths(),
        [
            "messages[].type=goal_state",
            "messages[].status=asleep",
            "messages[].since"
        ],
    );
    assert_eq!(value(message.to_json().as_str()), value(text));
}

#[test]
fn a_call_may_be_named_by_either_spelling() {
    let message = ToServer::from_json(r#"{"type":"reject","toolUseId":"toolu_1"}"#).unwrap();
    let ToServer::Reject(reject) = &message else {
        panic!("not a rejection: {message:?}");
    };
    assert_eq!(reject.id, "toolu_1");
    assert_eq!(
        message.to_json().as_str(),
        r#"{"type":"reject","toolUseId":"toolu_1"}"#
    );
    assert_eq!(
        message.to_standard_json().as_str(),
        r#"{"type":"reject","id":"toolu_1"}"#
    );
}

#[test]
fn strings_have_the_words_of_the_wire() {
    for status in [
        "idle",
        "running",
        "waiting_approval",
        "starting",
        "compacting",
        "dead",
    ] {
        let read = Status::from(status);
        assert!(!matches!(read, Status::Unknown(_)), "{status}");
        assert_eq!(read.as_str(), status);
    }
    // The modes that the app sends; the type knows others that it does not.
    for mode in [
        "default",
        "auto",
        "acceptEdits",
        "bypassPermissions",
        "plan",
    ] {
        assert!(!matches!(
            PermissionMode::from(mode),
            PermissionMode::Unknown(_)
        ));
    }
}

#[test]
fn an_id_of_the_bridge_is_eight_hexadecimal_digits() {
    assert_eq!(BridgeId::from_bits(0xdead_beef), "deadbeef");
    for (id, expected) in [
        ("00000000", true),
        ("1a2b3c4d", true),
        ("1A2B3C4D", false),
        ("1a2b3c4", false),
        ("1a2b3c4d5", false),
        ("1a2b3c4g", false),
        ("6f1e5a52-9d3c-4a7e-8b1d-000000000000", false),
    ] {
        assert_eq!(BridgeId::from(id).is_well_formed(), expected, "{id}");
    }
}

/// What `answers` gives for questions with these texts: its JSON, or the reason why not.
fn answered(asked: &[&str], result: &str) -> Result<String, AnswerError> {
    let asked: Vec<Question> = asked
        .iter()
        .map(|text| {
            let question =
                json!({"question": text, "header": "h", "options": [], "multiSelect": true});
            Question::from_json(question.to_string()).expect("a question")
        })
        .collect();
    let answer = Answer {
        result: result.into(),
        ..Answer::default()
    };
    let answers: Map<OneOrMany<Text>> = answer.answers(&asked)?;
    Ok(answers.to_json().to_string())
}

#[test]
fn an_answer_is_read_in_every_form() {
    let one: &[&str] = &["Which?"];
    let two: &[&str] = &["Which?", "How many?"];
    for (asked, result, expected) in [
        (one, "React", r#"{"Which?":"React"}"#),
        (one, "", r#"{"Which?":""}"#),
        (one, "React, Vue", r#"{"Which?":"React, Vue"}"#),
        // Somebody typed JSON: that is the answer.
        (one, r#"{"a":1}"#, r#"{"Which?":"{\"a\":1}"}"#),
        (one, r#""quoted""#, r#"{"Which?":"\"quoted\""}"#),
        (
            one,
            r#"{"questions":["Which?"],"answers":{"Which?":["React","Vue"]}}"#,
            r#"{"Which?":["React","Vue"]}"#,
        ),
        (
            two,
            r#"{"questions":[{"question":"Which?","options":[{"label":"React"}]},{"question":"How many?"}],
                "answers":{"How many?":"2","Which?":["React"]}}"#,
            r#"{"Which?":["React"],"How many?":"2"}"#,
        ),
        (
            two,
            r#"{"questions":["Which?","How many?"],"answers":{"Which?":"React","How many?":[]},"more":1}"#,
            r#"{"Which?":"React","How many?":[]}"#,
        ),
    ] {
        assert_eq!(answered(asked, result).as_deref(), Ok(expected), "{result}");
    }
}

#[test]
fn an_answer_that_does_not_fit_its_questions_is_refused() {
    let two: &[&str] = &["Which?", "How many?"];
    let not_an_envelope = ["React", "", "[]", r#"{"answers":{"Which?":"a"}}"#];
    for result in not_an_envelope {
        let error = answered(two, result).unwrap_err();
        assert!(matches!(error, AnswerError::NotAnEnvelope(_)), "{result}");
    }
    for (asked, result, expected) in [
        (&[][..], "React", AnswerError::NothingAsked),
        (
            two,
            r#"{"questions":["How many?","Which?"],"answers":{}}"#,
            AnswerError::OtherQuestions,
        ),
        (
            two,
            r#"{"questions":["Which?"],"answers":{"Which?":"a"}}"#,
            AnswerError::OtherQuestions,
        ),
        (
            two,
            r#"{"questions":["Which?",7],"answers":{}}"#,
            AnswerError::OtherQuestions,
        ),
        (
            &["Which?"][..],
            r#"{"questions":["Why?"],"answers":{"Why?":"a"}}"#,
            AnswerError::OtherQuestions,
        ),
        (
            two,
            r#"{"questions":["Which?","How many?"],"answers":{"Which?":"a","Why?":"b"}}"#,
            AnswerError::NotAsked("Why?".into()),
        ),
        (
            two,
            r#"{"questions":["Which?","How many?"],"answers":{"Which?":"a"}}"#,
            AnswerError::NotAnswered("How many?".into()),
        ),
    ] {
        assert_eq!(answered(asked, result), Err(expected), "{result}");
    }
}
