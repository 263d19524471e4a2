//! Questions to a person, and plans.

use serde_json::json;
use towline_host::{Answers, Event, PermissionMode};
use towline_testkit::script_api::Reply;

use super::{Stage, script};

fn questions() -> Reply {
    Reply::message().tool(
        "AskUserQuestion",
        json!({"questions": [
            {"question": "Which color?", "header": "Color", "multiSelect": false,
             "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]},
            {"question": "Which pets?", "header": "Pets", "multiSelect": true,
             "options": [{"label": "Cat", "description": "soft"}, {"label": "Emu", "description": "tall"}]},
        ]}),
    )
}

/// Plays the questions with one way to answer.
async fn play(name: &'static str, answer: impl Fn(towline_host::Choices)) {
    let replies = script([questions(), Reply::text("I see.")]);
    Stage::play(name, replies, async |stage| {
        let mut session = stage.start(|command| command).await;
        stage
            .turn(&mut session, "ask me", |event| {
                if let Event::Choices(choices) = event {
                    assert_eq!(choices.questions()[1].options[1].label, "Emu");
                    answer(*choices);
                }
            })
            .await;
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn one_and_several_are_chosen() {
    play("one_and_several_are_chosen", |choices| {
        choices.answer(
            Answers::new()
                .choose("Which color?", ["Blue"])
                .choose("Which pets?", ["Cat", "Emu"]),
        );
    })
    .await;
}

#[tokio::test]
async fn one_is_answered_in_free_words() {
    play("one_is_answered_in_free_words", |choices| {
        choices.answer(Answers::new().say("Which color?", "Mauve actually"));
    })
    .await;
}

#[tokio::test]
async fn all_are_answered_in_free_words() {
    play("all_are_answered_in_free_words", |choices| {
        choices.respond("as you like");
    })
    .await;
}

#[tokio::test]
async fn questions_are_denied() {
    play("questions_are_denied", |choices| {
        choices.deny("ask me later");
    })
    .await;
}

fn plan() -> Reply {
    Reply::message().tool("ExitPlanMode", json!({"plan": "1. Do it"}))
}

#[tokio::test]
async fn a_plan_is_approved() {
    let replies = script([plan(), Reply::text("I begin.")]);
    Stage::play("a_plan_is_approved", replies, async |stage| {
        let mut session = stage
            .start(|command| command.permission_mode(&PermissionMode::Plan))
            .await;
        stage
            .turn(&mut session, "plan it", |event| {
                if let Event::Plan(plan) = event {
                    assert_eq!(plan.text().unwrap(), "1. Do it");
                    plan.approve();
                }
            })
            .await;
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn a_plan_is_rejected() {
    let replies = script([plan(), Reply::text("I think again.")]);
    Stage::play("a_plan_is_rejected", replies, async |stage| {
        let mut session = stage
            .start(|command| command.permission_mode(&PermissionMode::Plan))
            .await;
        stage
            .turn(&mut session, "plan it", |event| {
                if let Event::Plan(plan) = event {
                    plan.reject("shorter, please");
                }
            })
            .await;
        stage.close(session).await;
    })
    .await;
}
