//! Hooks of the host.

use serde_json::json;
use towline_host::{AgentCommand, Event, Hook, HookEvent, HookOn, HookOutput, Json};
use towline_testkit::script_api::Reply;

use super::{Stage, script};

fn touch() -> Reply {
    Reply::message().tool(
        "Bash",
        json!({"command": "touch made", "description": "Make a file"}),
    )
}

fn on(event: HookEvent) -> impl Fn(AgentCommand) -> AgentCommand {
    move |command| command.hook(HookOn::new(event.clone(), "hook"))
}

/// Plays one turn with a hook on an event, and lets tools run that want permission.
async fn play(name: &'static str, replies: Vec<Reply>, event: HookEvent, answer: impl Fn(Hook)) {
    Stage::play(name, script(replies), async |stage| {
        let mut session = stage.start(on(event.clone())).await;
        stage
            .turn(&mut session, "make it", |event| match event {
                Event::Hook(hook) => answer(*hook),
                Event::Permission(permission) => permission.allow(),
                _ => {}
            })
            .await;
        stage.close(session).await;
    })
    .await;
}

#[tokio::test]
async fn before_a_tool_it_is_denied() {
    play(
        "before_a_tool_it_is_denied",
        vec![touch(), Reply::text("Understood.")],
        HookEvent::PreToolUse,
        |hook| {
            assert_eq!(hook.input().tool_name.as_ref().unwrap().as_str(), "Bash");
            hook.deny("not today");
        },
    )
    .await;
}

#[tokio::test]
async fn before_a_tool_it_is_allowed() {
    play(
        "before_a_tool_it_is_allowed",
        vec![touch(), Reply::text("Made.")],
        HookEvent::PreToolUse,
        |hook| {
            hook.allow("it is fine");
        },
    )
    .await;
}

#[tokio::test]
async fn before_a_tool_the_person_is_asked() {
    play(
        "before_a_tool_the_person_is_asked",
        vec![touch(), Reply::text("Made.")],
        HookEvent::PreToolUse,
        |hook| {
            hook.ask("better ask");
        },
    )
    .await;
}

#[tokio::test]
async fn before_a_tool_nothing_is_said() {
    play(
        "before_a_tool_nothing_is_said",
        vec![touch(), Reply::text("Made.")],
        HookEvent::PreToolUse,
        Hook::proceed,
    )
    .await;
}

#[tokio::test]
async fn before_a_tool_its_input_is_changed() {
    play(
        "before_a_tool_its_input_is_changed",
        vec![touch(), Reply::text("Made.")],
        HookEvent::PreToolUse,
        |hook| {
            let mut output = HookOutput::pre_tool_use(towline_host::Behavior::Allow, "better so");
            output.specific.as_mut().unwrap().updated_input =
                Some(Json::new(r#"{"command":"touch other"}"#).unwrap());
            hook.answer(&output);
        },
    )
    .await;
}

#[tokio::test]
async fn before_a_tool_the_hook_is_dropped() {
    play(
        "before_a_tool_the_hook_is_dropped",
        vec![touch(), Reply::text("Made.")],
        HookEvent::PreToolUse,
        drop,
    )
    .await;
}

#[tokio::test]
async fn after_a_tool_something_is_added() {
    play(
        "after_a_tool_something_is_added",
        vec![touch(), Reply::text("Made.")],
        HookEvent::PostToolUse,
        |hook| {
            assert!(hook.input().tool_response.is_some());
            hook.add_context("It rains.");
        },
    )
    .await;
}

#[tokio::test]
async fn a_prompt_is_blocked() {
    play(
        "a_prompt_is_blocked",
        vec![],
        HookEvent::UserPromptSubmit,
        |hook| {
            assert_eq!(hook.input().prompt.as_deref(), Some("make it"));
            hook.block("not that word");
        },
    )
    .await;
}

#[tokio::test]
async fn the_end_of_a_turn_is_blocked_once() {
    let replies = vec![Reply::text("Done."), Reply::text("Now it is.")];
    play(
        "the_end_of_a_turn_is_blocked_once",
        replies,
        HookEvent::Stop,
        |hook| match hook.input().stop_hook_active {
            Some(true) => hook.approve(),
            _ => hook.block("run the tests first"),
        },
    )
    .await;
}
