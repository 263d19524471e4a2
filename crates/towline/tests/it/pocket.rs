//! `/ws`: every message of both tables of document 004 §8, and those that the app has added since, against an agent that
//! really works.

use std::{fs, process::Command};

use serde_json::{Value, json};
use towline_testkit::real_cli::{self, RealCli};

use crate::{
    sdks::in_the_room,
    serve::{Client, Served, serve},
};

/// What a client says, and what it must hear for that.
struct Row {
    say: Value,
    hear: Vec<Value>,
}

fn row(say: Value, hear: impl IntoIterator<Item = Value>) -> Row {
    Row {
        say,
        hear: hear.into_iter().collect(),
    }
}

/// Plays the rows; the types that were heard and said in them.
fn play(client: &mut Client, rows: &[Row]) -> (Vec<String>, Vec<String>) {
    let (mut said, mut heard) = (Vec::new(), Vec::new());
    for Row { say, hear } in rows {
        client.say(say);
        said.push(say["type"].as_str().unwrap().to_owned());
        for message in client.expect(hear) {
            heard.push(message["type"].as_str().unwrap().to_owned());
        }
    }
    (said, heard)
}

fn idle() -> Value {
    json!({"type": "status", "sessionId": "$S", "status": "idle"})
}

fn success() -> Value {
    json!({"type": "result", "subtype": "success", "sessionId": "$S", "historySeq": "*", "cost": "*", "duration": "*"})
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table, a row a message")]
fn every_message_of_the_document_works_with_towlines_own_agent() {
    let bridge = Served::start();
    let project = bridge.project();
    fs::write(project.join("a.txt"), "alpha\n").unwrap();
    let mut client = bridge.client();
    client.set_name("PROJECT", project.to_str().unwrap());
    let greeting = client.expect(&[
        json!({"type": "session_list", "sessions": [], "allowedDirs": ["$PROJECT"], "bridgeVersion": "*"}),
        json!({"type": "project_history", "projects": []}),
    ]);
    assert_eq!(greeting.len(), 2, "{greeting:#?}");

    let rows = [
        row(
            json!({"type": "client_capabilities", "protocolVersion": 1, "supportedServerMessages": ["history_delta"]}),
            [],
        ),
        row(
            json!({"type": "start", "projectPath": "$PROJECT", "permissionMode": "default"}),
            [
                json!({"type": "system", "subtype": "session_created", "sessionId": "$S", "projectPath": "$PROJECT",
                       "permissionMode": "default", "executionMode": "default", "planMode": false}),
                json!({"type": "session_list", "sessions": [{"id": "$S", "projectPath": "$PROJECT"}]}),
                idle(),
            ],
        ),
        // Thoughts, words, a call that is approved, what it gave, how it ended.
        row(
            json!({"type": "input", "text": "think hard about it then write made.txt: hello", "sessionId": "$S",
                   "clientMessageId": "m1"}),
            [
                json!({"type": "input_ack", "sessionId": "$S", "clientMessageId": "m1", "acceptedSeq": "*", "queued": false}),
                json!({"type": "status", "sessionId": "$S", "status": "running"}),
                json!({"type": "system", "subtype": "init", "sessionId": "$S", "claudeSessionId": "$AGENT", "model": "*",
                       "slashCommands": "*"}),
                json!({"type": "thinking_delta", "text": "*", "sessionId": "$S", "offset": 0}),
                json!({"type": "assistant", "sessionId": "$S", "historySeq": "*", "messageUuid": "*",
                       "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "$CALL", "name": "Write"}]}}),
                json!({"type": "permission_request", "sessionId": "$S", "toolUseId": "$CALL", "toolName": "Write",
                       "input": {"file_path": "*", "content": "hello"}}),
                json!({"type": "status", "sessionId": "$S", "status": "waiting_approval"}),
                json!({"type": "session_list", "sessions": [{"id": "$S", "status": "waiting_approval",
                       "pendingPermission": {"toolUseId": "$CALL", "toolName": "Write", "input": "*"}}]}),
            ],
        ),
        row(
            json!({"type": "approve", "id": "$CALL", "sessionId": "$S"}),
            [
                json!({"type": "permission_resolved", "toolUseId": "$CALL", "sessionId": "$S", "outcome": "allowed"}),
                json!({"type": "tool_result", "toolUseId": "$CALL", "toolName": "Write", "content": "*", "sessionId": "$S",
                       "historySeq": "*"}),
                json!({"type": "stream_delta", "text": "*", "sessionId": "$S", "offset": 0, "block": 0}),
                success(),
                idle(),
            ],
        ),
        row(
            json!({"type": "approve", "id": "$CALL", "sessionId": "$S"}),
            [json!({"type": "error", "message": "~was faster and allowed it", "sessionId": "$S"})],
        ),
        // A call that is rejected, without naming the session.
        row(
            json!({"type": "input", "text": "run touch never"}),
            [
                json!({"type": "input_ack", "sessionId": "$S"}),
                json!({"type": "permission_request", "toolUseId": "$CALL2", "toolName": "Bash"}),
            ],
        ),
        row(
            json!({"type": "reject", "id": "$CALL2", "message": "not today"}),
            [
                json!({"type": "permission_resolved", "toolUseId": "$CALL2", "outcome": "denied"}),
                json!({"type": "tool_result", "toolUseId": "$CALL2", "content": "~not today", "isError": true}),
                idle(),
            ],
        ),
        // A call whose like is allowed for the session: the second is not asked about.
        row(
            json!({"type": "input", "text": "write b.txt: one then write c.txt: two", "sessionId": "$S"}),
            [json!({"type": "permission_request", "toolUseId": "$CALL3", "toolName": "Write"})],
        ),
        row(
            json!({"type": "approve_always", "id": "$CALL3", "sessionId": "$S"}),
            [
                json!({"type": "permission_resolved", "toolUseId": "$CALL3", "outcome": "allowed_for_session"}),
                json!({"type": "tool_result", "toolUseId": "$CALL3"}),
                json!({"type": "tool_result", "toolUseId": "$CALL4", "content": "~c.txt"}),
                success(),
                idle(),
            ],
        ),
        row(
            json!({"type": "input", "text": "ask Which colour? red, green", "sessionId": "$S"}),
            [
                json!({"type": "permission_request", "toolUseId": "$CALL5", "toolName": "AskUserQuestion",
                    "input": {"questions": [{"question": "$Q"}]}}),
            ],
        ),
        row(
            json!({"type": "answer", "toolUseId": "$CALL5", "result": "green", "sessionId": "$S"}),
            [
                json!({"type": "permission_resolved", "toolUseId": "$CALL5", "outcome": "answered"}),
                json!({"type": "tool_result", "toolUseId": "$CALL5", "content": "~green"}),
                idle(),
            ],
        ),
        row(
            json!({"type": "set_permission_mode", "mode": "plan", "sessionId": "$S"}),
            [
                json!({"type": "system", "subtype": "set_permission_mode", "permissionMode": "plan", "planMode": true}),
            ],
        ),
        row(
            json!({"type": "input", "text": "plan paint it green", "sessionId": "$S"}),
            [
                json!({"type": "permission_request", "toolUseId": "$CALL6", "toolName": "ExitPlanMode",
                    "input": {"plan": "~paint it green"}}),
            ],
        ),
        row(
            json!({"type": "approve", "id": "$CALL6", "clearContext": true, "sessionId": "$S"}),
            [json!({"type": "error", "message": "~clearContext"})],
        ),
        row(
            json!({"type": "approve", "id": "$CALL6", "sessionId": "$S"}),
            [
                json!({"type": "permission_resolved", "toolUseId": "$CALL6"}),
                idle(),
            ],
        ),
        row(
            json!({"type": "list_sessions"}),
            [
                json!({"type": "session_list", "sessions": [{"id": "$S", "claudeSessionId": "$AGENT", "status": "idle"}]}),
            ],
        ),
        row(
            json!({"type": "get_history", "sessionId": "$S"}),
            [
                json!({"type": "history", "sessionId": "$S", "messages": [
                    {"type": "user_input", "text": "~think hard", "clientMessageId": "m1", "historySeq": "*"},
                    {"type": "assistant"}, {"type": "permission_request"}, {"type": "permission_resolved"},
                    {"type": "tool_result", "toolName": "Write"}, {"type": "result"},
                ]}),
                idle(),
            ],
        ),
        row(
            json!({"type": "list_recent_sessions", "limit": 5, "requestId": "r1"}),
            [
                json!({"type": "recent_sessions", "requestId": "r1", "hasMore": false,
                    "sessions": [{"sessionId": "$AGENT", "projectPath": "$PROJECT", "firstPrompt": "~think hard"}]}),
            ],
        ),
        row(
            json!({"type": "stop_session", "sessionId": "$S"}),
            [
                json!({"type": "result", "subtype": "stopped", "sessionId": "$S"}),
                json!({"type": "session_list", "sessions": []}),
            ],
        ),
        row(
            json!({"type": "resume_session", "sessionId": "$AGENT", "projectPath": "$PROJECT", "resumeRequestId": "r2"}),
            [
                json!({"type": "system", "subtype": "session_resume_started", "resumeRequestId": "r2"}),
                json!({"type": "system", "subtype": "session_created", "sessionId": "$S", "claudeSessionId": "$AGENT",
                       "resumeRequestId": "r2"}),
                json!({"type": "session_list", "sessions": [{"id": "$S"}]}),
            ],
        ),
        row(
            json!({"type": "input", "text": "read a.txt", "sessionId": "$S"}),
            [
                json!({"type": "tool_result", "toolName": "Read", "content": "~alpha"}),
                idle(),
            ],
        ),
    ];
    let (said, heard) = play(&mut client, &rows);
    assert_eq!(
        fs::read_to_string(project.join("made.txt")).unwrap(),
        "hello"
    );
    assert!(!project.join("never").exists());

    assert_all_are_there(&said, &heard);
}

/// Every message of both tables was said or heard.
fn assert_all_are_there(said: &[String], heard: &[String]) {
    for kind in TO_SERVER {
        assert!(
            said.iter().any(|said| said == kind),
            "`{kind}` was not said"
        );
    }
    for kind in TO_CLIENT {
        assert!(
            heard.iter().any(|heard| heard == kind),
            "`{kind}` was not heard"
        );
    }
}

/// The tables of document 004 §8.
const TO_SERVER: [&str; 11] = [
    "start",
    "input",
    "approve",
    "approve_always",
    "reject",
    "answer",
    "list_sessions",
    "stop_session",
    "get_history",
    "list_recent_sessions",
    "resume_session",
];
const TO_CLIENT: [&str; 10] = [
    "system",
    "assistant",
    "tool_result",
    "result",
    "error",
    "status",
    "history",
    "permission_request",
    "stream_delta",
    "thinking_delta",
];

#[test]
#[expect(clippy::too_many_lines, reason = "a table, a row a message")]
fn what_the_app_has_added_since_is_answered_or_clearly_refused() {
    let bridge = Served::start();
    let project = bridge.project();
    let git = |arguments: &[&str]| {
        let done = Command::new("git")
            .args(arguments)
            .current_dir(&project)
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    };
    fs::write(project.join("a.txt"), "alpha\n").unwrap();
    git(&["init", "-q", "-b", "trunk"]);
    git(&["add", "."]);
    git(&[
        "-c",
        "user.name=a",
        "-c",
        "user.email=a@b",
        "commit",
        "-q",
        "-m",
        "first",
    ]);
    git(&["worktree", "add", "-q", "-b", "side", "side"]);
    fs::write(project.join("a.txt"), "beta\n").unwrap();
    let mut client = bridge.client();
    client.set_name("PROJECT", project.to_str().unwrap());
    client.set_name("SIDE", project.join("side").to_str().unwrap());
    let outside = "/etc";
    let rows = [
        row(
            json!({"type": "start", "projectPath": outside}),
            [json!({"type": "error", "errorCode": "path_not_allowed"})],
        ),
        row(
            json!({"type": "start", "projectPath": "$PROJECT", "permissionMode": "bypassPermissions"}),
            [json!({"type": "error", "message": "~not enabled here"})],
        ),
        row(
            json!({"type": "start", "projectPath": "$PROJECT", "useWorktree": true}),
            [json!({"type": "error", "message": "~existingWorktreePath"})],
        ),
        row(
            json!({"type": "start", "projectPath": "$PROJECT", "sandboxMode": "on"}),
            [json!({"type": "error", "message": "~no sandbox"})],
        ),
        row(
            json!({"type": "start", "projectPath": "$PROJECT", "provider": "codex"}),
            [json!({"type": "error", "message": "~no agent `codex`"})],
        ),
        row(
            json!({"type": "start", "projectPath": "$PROJECT", "effort": "enormous"}),
            [json!({"type": "error", "message": "~enormous"})],
        ),
        row(
            json!({"type": "input", "text": "hello?"}),
            [json!({"type": "input_rejected", "reason": "~start one first"})],
        ),
        row(
            json!({"type": "start", "projectPath": "$PROJECT", "existingWorktreePath": "$SIDE", "model": "offline",
                   "executionMode": "acceptEdits", "maxTurns": 9, "effort": "low"}),
            [
                json!({"type": "system", "subtype": "session_created", "sessionId": "$S", "projectPath": "$SIDE",
                       "executionMode": "acceptEdits", "permissionMode": "acceptEdits"}),
                idle(),
            ],
        ),
        row(
            json!({"type": "input", "sessionId": "$S", "text": "write made.txt: one",
                   "images": [{"base64": PIXEL, "mimeType": "image/png"}]}),
            [
                json!({"type": "tool_result", "toolName": "Write"}),
                json!({"type": "system", "subtype": "init", "claudeSessionId": "$AGENT"}),
                idle(),
            ],
        ),
        row(
            json!({"type": "input", "sessionId": "$S", "text": "look", "clientMessageId": "m",
                   "images": [{"base64": "!", "mimeType": "image/png"}]}),
            [json!({"type": "input_rejected", "reason": "~base64", "clientMessageId": "m"})],
        ),
        row(
            json!({"type": "get_history_delta", "sessionId": "$S", "sinceSeq": 0}),
            [
                json!({"type": "history_delta", "sessionId": "$S", "fromSeq": 1, "status": "idle", "messages": [
                    {"seq": 1, "message": {"type": "user_input", "imageCount": 1, "userMessageUuid": "$MESSAGE"}},
                    {"seq": "*", "message": {"type": "result"}},
                ]}),
                idle(),
            ],
        ),
        row(
            json!({"type": "get_history_delta", "sessionId": "$S", "sinceSeq": 100_000}),
            [json!({"type": "history_snapshot", "reason": "reset", "fromSeq": 1})],
        ),
        row(
            json!({"type": "get_history", "sessionId": "00000000"}),
            [json!({"type": "error", "errorCode": "session_not_found"})],
        ),
        row(
            json!({"type": "rename_session", "sessionId": "$S", "name": "Paint"}),
            [
                json!({"type": "rename_result", "sessionId": "$S", "name": "Paint", "success": true}),
                json!({"type": "session_list", "sessions": [{"id": "$S", "name": "Paint"}]}),
            ],
        ),
        row(
            json!({"type": "resolve_session_link", "requestId": "l1", "sessionId": "$AGENT"}),
            [
                json!({"type": "session_link_resolution", "requestId": "l1", "status": "live", "bridgeSessionId": "$S"}),
            ],
        ),
        row(
            json!({"type": "resolve_session_link", "requestId": "l2", "sessionId": "nobody"}),
            [
                json!({"type": "session_link_resolution", "requestId": "l2", "status": "unavailable"}),
            ],
        ),
        row(
            json!({"type": "read_file", "projectPath": "$PROJECT", "filePath": "a.txt", "requestId": "f"}),
            [json!({"type": "file_content", "requestId": "f", "content": "beta\n"})],
        ),
        row(
            json!({"type": "read_file", "projectPath": "$PROJECT", "filePath": "../../etc/passwd"}),
            [json!({"type": "file_content", "content": "", "error": "*"})],
        ),
        row(
            json!({"type": "list_files", "projectPath": "$PROJECT"}),
            [json!({"type": "file_list", "files": ["a.txt"]})],
        ),
        row(
            json!({"type": "list_directory", "path": "$PROJECT", "includeFiles": true}),
            [
                json!({"type": "directory_listing", "directories": [{"name": "side"}], "files": [{"name": "a.txt"}]}),
            ],
        ),
        row(
            json!({"type": "list_directory", "path": outside, "requestId": "d"}),
            [json!({"type": "error", "errorCode": "path_not_allowed", "requestId": "d"})],
        ),
        row(
            json!({"type": "get_diff", "projectPath": "$PROJECT"}),
            [json!({"type": "diff_result", "diff": "~+beta"})],
        ),
        row(
            json!({"type": "get_diff_image", "projectPath": "$PROJECT", "filePath": "no.png", "version": "new"}),
            [json!({"type": "diff_image_result", "filePath": "no.png", "error": "*"})],
        ),
        row(
            json!({"type": "list_worktrees", "projectPath": "$PROJECT"}),
            [
                json!({"type": "worktree_list", "mainBranch": "trunk", "worktrees": [{"branch": "side"}]}),
            ],
        ),
        row(
            json!({"type": "remove_worktree", "projectPath": "$PROJECT", "worktreePath": "$SIDE"}),
            [json!({"type": "worktree_removed", "worktreePath": "$SIDE", "error": "*"})],
        ),
        row(
            json!({"type": "rewind_dry_run", "sessionId": "$S", "targetUuid": "$MESSAGE"}),
            [json!({"type": "rewind_preview", "sessionId": "$S", "canRewind": "*"})],
        ),
        row(
            json!({"type": "rewind", "sessionId": "$S", "targetUuid": "$MESSAGE", "mode": "nonsense"}),
            [
                json!({"type": "rewind_result", "sessionId": "$S", "success": false, "error": "~nonsense"}),
            ],
        ),
        row(
            json!({"type": "set_sandbox_mode", "sandboxMode": "on", "sessionId": "$S"}),
            [
                json!({"type": "error", "errorCode": "unsupported_message", "message": "set_sandbox_mode"}),
            ],
        ),
        row(
            json!({"type": "list_project_history"}),
            [json!({"type": "project_history", "projects": ["$SIDE"]})],
        ),
        row(
            json!({"type": "get_usage"}),
            [json!({"type": "usage_result", "providers": [{"provider": "claude", "error": "*"}]})],
        ),
        row(
            json!({"type": "push_register", "token": "t", "platform": "ios"}),
            [
                json!({"type": "push_registration_result", "token": "t", "success": false, "error": "*"}),
            ],
        ),
        row(
            json!({"type": "take_screenshot"}),
            [
                json!({"type": "error", "errorCode": "unsupported_message", "message": "take_screenshot"}),
            ],
        ),
        row(
            json!({"type": "input", "text": 1}),
            [json!({"type": "error", "errorCode": "invalid_message", "message": "~`text`"})],
        ),
        row(
            json!({"type": "resume_session", "sessionId": "no", "projectPath": outside, "resumeRequestId": "r"}),
            [
                json!({"type": "system", "subtype": "session_resume_failed", "resumeRequestId": "r", "message": "*"}),
                json!({"type": "error", "errorCode": "path_not_allowed"}),
            ],
        ),
        row(
            json!({"type": "input", "text": "run sleep 30", "sessionId": "$S"}),
            [
                json!({"type": "assistant", "message": {"content": [{"type": "tool_use", "name": "Bash"}]}}),
            ],
        ),
        row(
            json!({"type": "interrupt", "sessionId": "$S"}),
            [json!({"type": "result", "subtype": "stopped"}), idle()],
        ),
        row(
            json!({"type": "archive_session", "sessionId": "$AGENT"}),
            [
                json!({"type": "archive_result", "sessionId": "$AGENT", "success": true}),
                json!({"type": "session_list", "sessions": []}),
            ],
        ),
        row(
            json!({"type": "archive_session", "sessionId": "nobody"}),
            [json!({"type": "archive_result", "success": false, "error": "~nobody"})],
        ),
    ];
    play(&mut client, &rows);
}

#[test]
fn going_back_and_copies_go_on_from_the_message_that_is_named() {
    let bridge = Served::start();
    let mut client = bridge.client();
    client.set_name("PROJECT", bridge.project().to_str().unwrap());
    play(
        &mut client,
        &[
            row(
                json!({"type": "start", "projectPath": "$PROJECT"}),
                [
                    json!({"type": "system", "subtype": "session_created", "sessionId": "$S"}),
                    idle(),
                ],
            ),
            row(
                json!({"type": "fork", "sessionId": "$S", "targetUuid": "u"}),
                [json!({"type": "error", "message": "~nothing was said yet", "sessionId": "$S"})],
            ),
            row(
                json!({"type": "input", "text": "think one", "sessionId": "$S"}),
                [
                    json!({"type": "assistant", "messageUuid": "$FIRST",
                           "message": {"content": [{"type": "text", "text": "~I have thought"}]}}),
                    idle(),
                ],
            ),
            row(
                json!({"type": "input", "text": "think two", "sessionId": "$S"}),
                [json!({"type": "result"}), idle()],
            ),
            row(
                json!({"type": "fork", "sessionId": "$S", "targetUuid": "$FIRST"}),
                [
                    json!({"type": "system", "subtype": "session_created", "sourceSessionId": "$S", "sessionId": "$COPY"}),
                ],
            ),
            row(
                json!({"type": "input", "text": "think three", "sessionId": "$COPY"}),
                [json!({"type": "result", "subtype": "success", "sessionId": "$COPY"})],
            ),
            row(
                json!({"type": "rewind", "sessionId": "$S", "targetUuid": "$FIRST", "mode": "conversation"}),
                [
                    json!({"type": "rewind_result", "sessionId": "$S", "success": true, "mode": "conversation"}),
                    json!({"type": "system", "subtype": "rewound", "sessionId": "$S"}),
                    idle(),
                ],
            ),
            row(
                json!({"type": "input", "text": "think four", "sessionId": "$S"}),
                [json!({"type": "result", "subtype": "success", "sessionId": "$S"})],
            ),
        ],
    );
    assert_ne!(client.name("S"), client.name("COPY"));
    // What was gone back over is in no conversation any more.
    let said = |session: &str| {
        let mut client = bridge.client();
        client.set_name("PROJECT", bridge.project().to_str().unwrap());
        client.say(&json!({"type": "get_history", "sessionId": session}));
        let heard = client.expect(&[json!({"type": "history"})]);
        heard.last().unwrap().to_string()
    };
    assert!(said(&client.name("S")).contains("think four"));
    assert!(!said(&client.name("COPY")).contains("think two"));
}

#[test]
fn a_session_from_a_terminal_is_continued_with_what_was_said_there() {
    let bridge = Served::start();
    let (project, home) = (
        bridge.project(),
        bridge.project().parent().unwrap().join("home"),
    );
    let ran = Command::new(env!("CARGO_BIN_EXE_towline"))
        .args(["-p", "--model", "offline", "think of the sea"])
        .env_clear()
        .env("HOME", &home)
        .env("PATH", "/usr/bin:/bin")
        .current_dir(&project)
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    let past = json!({"type": "past_history", "claudeSessionId": "$AGENT", "sessionId": "$S", "messages": [
        {"role": "user", "content": "~think of the sea"}, {"role": "assistant"},
    ]});
    let mut client = bridge.client();
    client.set_name("PROJECT", project.to_str().unwrap());
    play(
        &mut client,
        &[
            row(
                json!({"type": "list_recent_sessions"}),
                [json!({"type": "recent_sessions", "sessions": [{"sessionId": "$AGENT"}]})],
            ),
            row(
                json!({"type": "resolve_session_link", "requestId": "l", "sessionId": "$AGENT"}),
                [
                    json!({"type": "session_link_resolution", "status": "recent", "recentSession": {"sessionId": "$AGENT"}}),
                ],
            ),
            row(
                json!({"type": "start", "projectPath": "$PROJECT", "continue": true}),
                [
                    json!({"type": "system", "subtype": "session_created", "claudeSessionId": "$AGENT", "sessionId": "$S"}),
                    past.clone(),
                    idle(),
                ],
            ),
            row(
                json!({"type": "input", "text": "think of the land"}),
                [
                    json!({"type": "system", "subtype": "init", "claudeSessionId": "$AGENT"}),
                    idle(),
                ],
            ),
            row(
                json!({"type": "get_history", "sessionId": "$S"}),
                [
                    past,
                    json!({"type": "history", "messages": [{"type": "user_input", "text": "think of the land"}]}),
                ],
            ),
        ],
    );
}

#[test]
fn two_clients_answer_one_question_and_the_second_is_told_who_was_faster() {
    let bridge = Served::start();
    let (mut first, mut second) = (bridge.client(), bridge.client());
    first.set_name("PROJECT", bridge.project().to_str().unwrap());
    play(
        &mut first,
        &[
            row(
                json!({"type": "start", "projectPath": "$PROJECT"}),
                [
                    json!({"type": "system", "subtype": "session_created", "sessionId": "$S"}),
                    idle(),
                ],
            ),
            row(
                json!({"type": "input", "text": "run touch x", "clientMessageId": "m1"}),
                [json!({"type": "permission_request", "toolUseId": "$CALL"})],
            ),
        ],
    );
    // The other client sees what was said, and the question.
    second.expect(&[
        json!({"type": "user_input", "text": "run touch x", "clientMessageId": "m1", "sessionId": "$S", "historySeq": 1}),
        json!({"type": "permission_request", "toolUseId": "$CALL"}),
    ]);
    second.say(&json!({"type": "reject", "id": "$CALL"}));
    let resolved =
        json!({"type": "permission_resolved", "toolUseId": "$CALL", "outcome": "denied"});
    second.expect(std::slice::from_ref(&resolved));
    let heard = first.expect(&[resolved]);
    assert!(
        heard.iter().all(|message| message["type"] != "user_input"),
        "its own words: {heard:#?}"
    );
    first.say(&json!({"type": "approve", "id": "$CALL", "sessionId": "$S"}));
    first.expect(&[json!({"type": "error", "message": "~was faster and denied it"})]);
}

#[test]
fn without_the_token_nobody_gets_in_and_every_way_to_show_it_works() {
    let bridge = Served::start();
    for (path, token) in [
        ("/ws", None),
        ("/ws?token=wrong", None),
        ("/ws", Some("wrong")),
        ("/ws/session", None),
    ] {
        let Err(tungstenite::Error::Http(response)) = bridge.connect_with(path, token) else {
            panic!("{path} {token:?} got in");
        };
        assert_eq!(response.status(), 401, "{path} {token:?}");
    }
    let mut client = bridge
        .connect_with(&format!("/ws?token={}", bridge.token), None)
        .unwrap();
    client.expect(&[json!({"type": "session_list"})]);
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table, a row a message")]
fn every_message_of_the_document_works_with_the_real_cli() {
    if !real_cli::is_slow_wanted("the phone app's protocol with the real CLI") {
        return;
    }
    let bridge = with_the_real_cli(include_str!("../data/pocket.toml"));
    let mut client = bridge.client();
    client.set_name("PROJECT", bridge.project().to_str().unwrap());
    let rows = [
        row(
            json!({"type": "start", "projectPath": "$PROJECT"}),
            [
                json!({"type": "system", "subtype": "session_created", "sessionId": "$S"}),
                idle(),
            ],
        ),
        // A call that is approved.
        row(
            json!({"type": "input", "text": "make it", "sessionId": "$S", "clientMessageId": "m1"}),
            [
                json!({"type": "input_ack", "clientMessageId": "m1", "acceptedSeq": 1}),
                json!({"type": "status", "sessionId": "$S", "status": "running"}),
                json!({"type": "system", "subtype": "init", "sessionId": "$S", "claudeSessionId": "$AGENT"}),
                json!({"type": "thinking_delta", "text": "*", "sessionId": "$S"}),
                json!({"type": "permission_request", "toolUseId": "$CALL", "toolName": "Bash"}),
                json!({"type": "status", "sessionId": "$S", "status": "waiting_approval"}),
            ],
        ),
        row(
            json!({"type": "approve", "id": "$CALL", "sessionId": "$S"}),
            [
                json!({"type": "permission_resolved", "toolUseId": "$CALL", "outcome": "allowed"}),
                json!({"type": "tool_result", "toolUseId": "$CALL", "toolName": "Bash"}),
                json!({"type": "stream_delta", "text": "*", "offset": 0}),
                json!({"type": "assistant", "message": {"content": [{"type": "text", "text": "Made."}]}}),
                success(),
                idle(),
            ],
        ),
        row(
            json!({"type": "approve", "id": "$CALL", "sessionId": "$S"}),
            [json!({"type": "error", "message": "~was faster and allowed it", "sessionId": "$S"})],
        ),
        // One that is not.
        row(
            json!({"type": "input", "text": "never do it"}),
            [json!({"type": "permission_request", "toolUseId": "$CALL2", "toolName": "Bash"})],
        ),
        row(
            json!({"type": "reject", "id": "$CALL2", "message": "not today"}),
            [
                json!({"type": "permission_resolved", "toolUseId": "$CALL2", "outcome": "denied"}),
                json!({"type": "tool_result", "toolUseId": "$CALL2", "content": "~not today", "isError": true}),
                idle(),
            ],
        ),
        // One whose like is allowed for the session: the second is not asked about.
        row(
            json!({"type": "input", "text": "two of a kind", "sessionId": "$S"}),
            [json!({"type": "permission_request", "toolUseId": "$CALL3", "toolName": "Write"})],
        ),
        row(
            json!({"type": "approve_always", "id": "$CALL3", "sessionId": "$S"}),
            [
                json!({"type": "permission_resolved", "toolUseId": "$CALL3", "outcome": "allowed_for_session"}),
                json!({"type": "tool_result", "toolUseId": "$CALL3"}),
                json!({"type": "tool_result", "toolName": "Write", "content": "~second.txt"}),
                success(),
                idle(),
            ],
        ),
        row(
            json!({"type": "input", "text": "which colour", "sessionId": "$S"}),
            [
                json!({"type": "permission_request", "toolUseId": "$CALL4", "toolName": "AskUserQuestion"}),
            ],
        ),
        row(
            json!({"type": "answer", "toolUseId": "$CALL4", "result": "green", "sessionId": "$S"}),
            [
                json!({"type": "permission_resolved", "toolUseId": "$CALL4", "outcome": "answered"}),
                json!({"type": "tool_result", "toolUseId": "$CALL4", "content": "~green"}),
                idle(),
            ],
        ),
        row(
            json!({"type": "list_sessions"}),
            [
                json!({"type": "session_list", "sessions": [{"id": "$S", "claudeSessionId": "$AGENT", "status": "idle"}]}),
            ],
        ),
        row(
            json!({"type": "get_history", "sessionId": "$S"}),
            [json!({"type": "history", "messages": [
                {"type": "user_input", "text": "make it"}, {"type": "permission_request"},
                {"type": "permission_resolved"}, {"type": "tool_result"}, {"type": "result"},
            ]})],
        ),
        row(
            json!({"type": "list_recent_sessions", "limit": 5}),
            [json!({"type": "recent_sessions",
                    "sessions": [{"sessionId": "$AGENT", "projectPath": "$PROJECT", "firstPrompt": "make it"}]})],
        ),
        row(
            json!({"type": "stop_session", "sessionId": "$S"}),
            [json!({"type": "result", "subtype": "stopped"})],
        ),
        row(
            json!({"type": "resume_session", "sessionId": "$AGENT", "projectPath": "$PROJECT"}),
            [
                json!({"type": "system", "subtype": "session_created", "sessionId": "$S2", "claudeSessionId": "$AGENT"}),
            ],
        ),
        row(
            json!({"type": "input", "text": "goodbye", "sessionId": "$S2"}),
            [
                json!({"type": "result", "subtype": "success", "result": "Goodbye."}),
                json!({"type": "status", "sessionId": "$S2", "status": "idle"}),
            ],
        ),
    ];
    let (said, heard) = play(&mut client, &rows);
    assert_all_are_there(&said, &heard);
    let project = bridge.project();
    let is_there =
        ["made", "never", "first.txt", "second.txt"].map(|name| project.join(name).exists());
    assert_eq!(is_there, [true, false, true, true]);
}

/// A bridge whose agent is the real CLI, over a script in which `$PROJECT` is the folder of the session.
pub(crate) fn with_the_real_cli(script: &str) -> Served {
    let cli = RealCli::find().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let project = folder.path().join("project");
    fs::create_dir(&project).unwrap();
    let script = script.replace("$PROJECT", project.to_str().unwrap());
    let [script_file, config] = ["script.toml", "serve.toml"].map(|name| folder.path().join(name));
    fs::write(&script_file, script).unwrap();
    let program = cli.command("").get_program().to_str().unwrap().to_owned();
    let agent = format!("[[agents]]\nname = \"real\"\ncommand = {program:?}\n");
    fs::write(&config, agent).unwrap();
    let towline = env!("CARGO_BIN_EXE_towline");
    let mut command = in_the_room(&cli, Command::new(towline));
    command
        .arg("script-api")
        .arg(script_file)
        .args(["--", towline]);
    let child = serve(&mut command, folder.path(), |command| {
        command
            .arg("--config")
            .arg(&config)
            .args(["--agent", "real"]);
    });
    Served::of(child, folder)
}

/// A PNG of one pixel.
pub(crate) const PIXEL: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
