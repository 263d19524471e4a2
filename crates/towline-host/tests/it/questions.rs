//! The agent's questions: every way to answer, not to answer, and to be too late.

use std::time::Duration;

use towline_host::{
    AgentCommand, Answers, Behavior, Destination, DialogAnswer, Event, HookOutput, Json,
    PermissionAnswer, PermissionMode, PermissionUpdate, RuleValue, Session, Withdrawal,
};

use crate::agents::{FakeAgent, in_short};

const BASH: &str = r#"{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"touch f"},"tool_use_id":"t1","permission_suggestions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"touch *"}],"behavior":"allow","destination":"localSettings"}]}}"#;
const ASK: &str = r#"{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool","tool_name":"AskUserQuestion","input":{"questions":[{"question":"Which color?","header":"Color","options":[{"label":"Red"},{"label":"Blue"}],"multiSelect":false},{"question":"Which pets?","header":"Pets","options":[{"label":"Cat"},{"label":"Emu"}],"multiSelect":true}]},"tool_use_id":"t1"}}"#;
const PLAN: &str = r#"{"type":"control_request","request_id":"q1","request":{"subtype":"can_use_tool","tool_name":"ExitPlanMode","input":{},"tool_use_id":"t1"}}"#;
const HOOK: &str = r#"{"type":"control_request","request_id":"q1","request":{"subtype":"hook_callback","callback_id":"guard","input":{"hook_event_name":"PreToolUse","session_id":"s1","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t1"},"tool_use_id":"t1"}}"#;
const FORM: &str = r#"{"type":"control_request","request_id":"q1","request":{"subtype":"elicitation","mcp_server_name":"calc","message":"Your name?"}}"#;

async fn started() -> (Session, FakeAgent) {
    FakeAgent::attach(AgentCommand::new("fake")).await
}

/// Asks `question`, has `answer` deal with it, and gives the body of what is written back.
async fn check(question: &str, answer: impl FnOnce(Event), expected: &str) {
    let (mut session, mut agent) = started().await;
    agent.write(question).await;
    answer(session.next().await.unwrap());
    let written = agent.read_text().await.unwrap();
    let envelope = r#"{"type":"control_response","response":{"subtype":"success","request_id":"q1","response":"#;
    let body = match written.strip_prefix(envelope) {
        Some(rest) => rest.strip_suffix("}}").unwrap(),
        None => written.as_str(),
    };
    assert_eq!(body, expected);
}

fn permission(answer: impl FnOnce(towline_host::Permission)) -> impl FnOnce(Event) {
    |event| match event {
        Event::Permission(permission) => answer(*permission),
        other => panic!("{other:?}"),
    }
}

fn choices(answer: impl FnOnce(towline_host::Choices)) -> impl FnOnce(Event) {
    |event| match event {
        Event::Choices(choices) => answer(*choices),
        other => panic!("{other:?}"),
    }
}

fn hook(answer: impl FnOnce(towline_host::Hook)) -> impl FnOnce(Event) {
    |event| match event {
        Event::Hook(hook) => answer(*hook),
        other => panic!("{other:?}"),
    }
}

fn dialog(answer: impl FnOnce(towline_host::Dialog)) -> impl FnOnce(Event) {
    |event| match event {
        Event::Dialog(dialog) => answer(*dialog),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_permission_is_allowed() {
    check(
        BASH,
        permission(towline_host::Permission::allow),
        r#"{"behavior":"allow","updatedInput":{"command":"touch f"},"toolUseID":"t1"}"#,
    )
    .await;
}

#[tokio::test]
async fn a_permission_is_allowed_with_another_input() {
    let input = Json::new(r#"{"command":"ls"}"#).unwrap();
    check(
        BASH,
        permission(|question| question.allow_with(input)),
        r#"{"behavior":"allow","updatedInput":{"command":"ls"},"toolUseID":"t1"}"#,
    )
    .await;
}

#[tokio::test]
async fn a_suggestion_is_accepted() {
    check(
        BASH,
        permission(towline_host::Permission::accept_suggestions),
        r#"{"behavior":"allow","updatedInput":{"command":"touch f"},"updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"touch *"}],"behavior":"allow","destination":"localSettings"}],"toolUseID":"t1"}"#,
    )
    .await;
}

#[tokio::test]
async fn permissions_are_changed_with_an_answer() {
    let updates = [
        PermissionUpdate::set_mode(PermissionMode::AcceptEdits, Destination::Session),
        PermissionUpdate::add_rules(
            vec![RuleValue::content("Bash", "ls:*")],
            Behavior::Allow,
            Destination::ProjectSettings,
        ),
    ];
    check(
        BASH,
        permission(|question| question.allow_and(updates)),
        r#"{"behavior":"allow","updatedInput":{"command":"touch f"},"updatedPermissions":[{"type":"setMode","destination":"session","mode":"acceptEdits"},{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"ls:*"}],"behavior":"allow","destination":"projectSettings"}],"toolUseID":"t1"}"#,
    )
    .await;
}

#[tokio::test]
async fn a_whole_tool_is_allowed_for_the_session() {
    check(
        BASH,
        permission(towline_host::Permission::allow_tool_for_session),
        r#"{"behavior":"allow","updatedInput":{"command":"touch f"},"updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash"}],"behavior":"allow","destination":"session"}],"toolUseID":"t1"}"#,
    )
    .await;
}

#[tokio::test]
async fn a_permission_is_denied() {
    check(
        BASH,
        permission(|question| question.deny("no")),
        r#"{"behavior":"deny","message":"no","toolUseID":"t1"}"#,
    )
    .await;
}

#[tokio::test]
async fn a_permission_is_denied_and_the_turn_ended() {
    check(
        BASH,
        permission(|question| question.deny_and_interrupt("stop")),
        r#"{"behavior":"deny","message":"stop","interrupt":true,"toolUseID":"t1"}"#,
    )
    .await;
}

#[tokio::test]
async fn any_other_answer_is_possible() {
    let answer = PermissionAnswer {
        decision_classification: Some("user_temporary".into()),
        ..PermissionAnswer::allow()
    };
    check(
        BASH,
        permission(|question| question.answer(answer)),
        r#"{"behavior":"allow","toolUseID":"t1","decisionClassification":"user_temporary"}"#,
    )
    .await;
}

#[tokio::test]
async fn a_permission_without_the_id_of_its_call_is_asked_for_all_the_same() {
    check(
        &BASH.replace(r#","tool_use_id":"t1""#, ""),
        permission(towline_host::Permission::allow),
        r#"{"behavior":"allow","updatedInput":{"command":"touch f"}}"#,
    )
    .await;
}

#[tokio::test]
async fn a_dropped_permission_is_denied() {
    check(
        BASH,
        drop,
        r#"{"behavior":"deny","message":"The host did not answer this question.","toolUseID":"t1"}"#,
    )
    .await;
}

#[tokio::test]
async fn questions_are_answered_by_their_text() {
    let answers = Answers::new()
        .choose("Which color?", ["Blue"])
        .choose("Which pets?", ["Cat", "Emu"]);
    let questions = r#"[{"question":"Which color?","header":"Color","options":[{"label":"Red"},{"label":"Blue"}],"multiSelect":false},{"question":"Which pets?","header":"Pets","options":[{"label":"Cat"},{"label":"Emu"}],"multiSelect":true}]"#;
    check(
        ASK,
        choices(|question| question.answer(answers)),
        &format!(
            r#"{{"behavior":"allow","updatedInput":{{"questions":{questions},"answers":{{"Which color?":"Blue","Which pets?":"Cat, Emu"}}}},"toolUseID":"t1"}}"#
        ),
    )
    .await;
    check(
        ASK,
        choices(|question| question.answer(Answers::new().say("Which color?", "Mauve actually"))),
        &format!(
            r#"{{"behavior":"allow","updatedInput":{{"questions":{questions},"answers":{{"Which color?":"Mauve actually"}}}},"toolUseID":"t1"}}"#
        ),
    )
    .await;
    check(
        ASK,
        choices(|question| question.respond("whatever you like")),
        &format!(
            r#"{{"behavior":"allow","updatedInput":{{"questions":{questions},"answers":{{}},"response":"whatever you like"}},"toolUseID":"t1"}}"#
        ),
    )
    .await;
    check(
        ASK,
        choices(|question| question.deny("ask later")),
        r#"{"behavior":"deny","message":"ask later","toolUseID":"t1"}"#,
    )
    .await;
}

#[tokio::test]
async fn a_plan_has_the_text_of_its_call() {
    let (mut session, mut agent) = started().await;
    agent.write(r#"{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"ExitPlanMode","input":{"plan":"Do it"}}]},"session_id":"s1"}"#).await;
    agent.write(PLAN).await;
    assert_eq!(in_short(&session.next().await.unwrap()), "assistant");
    let Some(Event::Plan(plan)) = session.next().await else {
        panic!()
    };
    assert_eq!(plan.text().unwrap(), "Do it");
    plan.approve_in(PermissionMode::AcceptEdits);
    assert_eq!(
        agent.read_text().await.unwrap(),
        r#"{"type":"control_response","response":{"subtype":"success","request_id":"q1","response":{"behavior":"allow","updatedInput":{},"updatedPermissions":[{"type":"setMode","destination":"session","mode":"acceptEdits"}],"toolUseID":"t1"}}}"#
    );
}

#[tokio::test]
async fn a_plan_is_approved_or_rejected() {
    let plan = |answer: fn(towline_host::Plan)| {
        move |event| match event {
            Event::Plan(plan) => answer(*plan),
            other => panic!("{other:?}"),
        }
    };
    check(
        PLAN,
        plan(towline_host::Plan::approve),
        r#"{"behavior":"allow","updatedInput":{},"toolUseID":"t1"}"#,
    )
    .await;
    check(
        PLAN,
        plan(|plan| plan.reject("shorter")),
        r#"{"behavior":"deny","message":"shorter","toolUseID":"t1"}"#,
    )
    .await;
}

#[tokio::test]
async fn hooks_answer_in_both_formats() {
    let specific = |decision: &str| {
        format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"{decision}","permissionDecisionReason":"because"}}}}"#
        )
    };
    check(HOOK, hook(|hook| hook.allow("because")), &specific("allow")).await;
    check(HOOK, hook(|hook| hook.deny("because")), &specific("deny")).await;
    check(HOOK, hook(|hook| hook.ask("because")), &specific("ask")).await;
    check(HOOK, hook(towline_host::Hook::proceed), "{}").await;
    check(
        HOOK,
        hook(towline_host::Hook::approve),
        r#"{"decision":"approve"}"#,
    )
    .await;
    check(
        HOOK,
        hook(|hook| hook.block("not yet")),
        r#"{"decision":"block","reason":"not yet"}"#,
    )
    .await;
    check(
        HOOK,
        hook(|hook| hook.add_context("it rains")),
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"it rains"}}"#,
    )
    .await;
    let output = HookOutput {
        proceed: Some(false),
        stop_reason: Some("enough".into()),
        ..HookOutput::default()
    };
    check(
        HOOK,
        hook(|hook| hook.answer(&output)),
        r#"{"continue":false,"stopReason":"enough"}"#,
    )
    .await;
}

#[tokio::test]
async fn a_hook_that_fails_or_is_dropped_is_an_error() {
    let error = |text: &str| {
        format!(
            r#"{{"type":"control_response","response":{{"subtype":"error","request_id":"q1","error":"{text}"}}}}"#
        )
    };
    check(HOOK, hook(|hook| hook.fail("broken")), &error("broken")).await;
    check(HOOK, drop, &error("The host did not answer this question.")).await;
}

#[tokio::test]
async fn a_form_is_accepted_declined_or_cancelled() {
    let content = Json::new(r#"{"name":"Ada"}"#).unwrap();
    check(
        FORM,
        dialog(|form| form.answer(&DialogAnswer::Accept(content))),
        r#"{"action":"accept","content":{"name":"Ada"}}"#,
    )
    .await;
    check(
        FORM,
        dialog(|form| form.answer(&DialogAnswer::Decline)),
        r#"{"action":"decline"}"#,
    )
    .await;
    check(FORM, drop, r#"{"action":"cancel"}"#).await;
}

#[tokio::test]
async fn a_question_of_an_unknown_kind_is_refused_and_shown() {
    let (mut session, mut agent) = started().await;
    agent
        .write(
            r#"{"type":"control_request","request_id":"q9","request":{"subtype":"tell_a_joke"}}"#,
        )
        .await;
    assert_eq!(
        in_short(&session.next().await.unwrap()),
        "malformed: a question that had to be refused"
    );
    let refusal = agent.read_text().await.unwrap();
    assert!(
        refusal.contains(r#""subtype":"error""#) && refusal.contains("q9"),
        "{refusal}"
    );
}

#[tokio::test]
async fn several_questions_are_open_at_once_and_answered_in_any_order() {
    let (mut session, mut agent) = started().await;
    let mut open = Vec::new();
    for id in ["a", "b", "c"] {
        agent.write(&BASH.replace("q1", id)).await;
        let Some(Event::Permission(question)) = session.next().await else {
            panic!()
        };
        open.push(question);
    }
    for (question, id) in open.into_iter().rev().zip(["c", "b", "a"]) {
        question.allow();
        assert!(
            agent
                .read_text()
                .await
                .unwrap()
                .contains(&format!(r#""request_id":"{id}""#))
        );
    }
}

#[tokio::test]
async fn a_cancelled_question_is_withdrawn_and_its_answer_not_sent() {
    let (mut session, mut agent) = started().await;
    agent.write(BASH).await;
    let Some(Event::Permission(mut question)) = session.next().await else {
        panic!()
    };
    let id = question.id();
    agent
        .write(r#"{"type":"control_cancel_request","request_id":"q1"}"#)
        .await;
    assert_eq!(question.withdrawn().await, Withdrawal::Cancelled);
    assert_eq!(
        question.withdrawn().await,
        Withdrawal::Cancelled,
        "and it stays so"
    );
    let Some(Event::Withdrawn {
        question: which,
        reason,
    }) = session.next().await
    else {
        panic!()
    };
    assert_eq!((which, reason), (id, Withdrawal::Cancelled));
    question.allow();
    session.send("go on").await.unwrap();
    assert!(agent.read_text().await.unwrap().contains("go on"));
}

#[tokio::test(start_paused = true)]
async fn a_question_nobody_answers_is_denied_after_an_hour() {
    let (mut session, mut agent) = started().await;
    agent.write(BASH).await;
    let Some(Event::Permission(mut question)) = session.next().await else {
        panic!()
    };
    tokio::time::advance(Duration::from_secs(59 * 60)).await;
    assert!(
        tokio::time::timeout(Duration::from_secs(1), question.withdrawn())
            .await
            .is_err()
    );
    tokio::time::advance(Duration::from_secs(60)).await;
    assert_eq!(question.withdrawn().await, Withdrawal::TimedOut);
    assert_eq!(
        in_short(&session.next().await.unwrap()),
        "withdrawn: TimedOut"
    );
    let denial = agent.read_text().await.unwrap();
    assert!(
        denial.contains(
            r#""behavior":"deny","message":"Nobody answered within 1 h, so this was denied.""#
        ),
        "{denial}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_hook_nobody_answers_is_not_said_to_be_denied() {
    let (mut session, mut agent) = started().await;
    agent
        .write(r#"{"type":"control_request","request_id":"h1","request":{"subtype":"hook_callback","callback_id":"guard","input":{"hook_event_name":"PreToolUse"}}}"#)
        .await;
    let _hook = session.next().await.unwrap();
    tokio::time::advance(Duration::from_secs(60 * 60)).await;
    let answer = agent.read_text().await.unwrap();
    assert!(
        answer.contains(r#""subtype":"error""#)
            && answer.contains(r#""error":"Nobody answered within 1 h.""#),
        "{answer}"
    );
}

#[tokio::test(start_paused = true)]
async fn without_a_time_out_a_question_stays_open() {
    let command = AgentCommand::new("fake").question_timeout(None);
    let (mut session, mut agent) = FakeAgent::attach(command).await;
    agent.write(BASH).await;
    let Some(Event::Permission(mut question)) = session.next().await else {
        panic!()
    };
    let day = Duration::from_secs(24 * 60 * 60);
    assert!(
        tokio::time::timeout(day, question.withdrawn())
            .await
            .is_err()
    );
    question.allow();
    assert!(agent.read_text().await.unwrap().contains("allow"));
}

#[tokio::test]
async fn questions_nobody_looks_at_are_denied_when_the_events_are_dropped() {
    let (session, mut agent) = started().await;
    let (control, events) = session.split();
    agent.write(BASH).await;
    control.send("are you there?").await.unwrap();
    assert!(agent.read_text().await.unwrap().contains("are you there?"));
    drop(events);
    assert!(agent.read_text().await.unwrap().contains("deny"));
    agent.write(&BASH.replace("q1", "q2")).await;
    assert!(agent.read_text().await.unwrap().contains("q2"));
}

#[tokio::test]
async fn an_agent_that_ends_withdraws_its_questions() {
    let (mut session, mut agent) = started().await;
    agent.write(BASH).await;
    let Some(Event::Permission(mut question)) = session.next().await else {
        panic!()
    };
    drop(agent);
    assert_eq!(question.withdrawn().await, Withdrawal::Closed);
    assert_eq!(
        in_short(&session.next().await.unwrap()),
        "withdrawn: Closed"
    );
    assert_eq!(in_short(&session.next().await.unwrap()), "ended");
    assert!(session.next().await.is_none());
}
