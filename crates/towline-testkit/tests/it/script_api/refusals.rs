//! Requests that the Messages API refuses, one by one, and that a refusal uses up nothing of the script.

use proptest::prelude::*;
use serde_json::{Value, json};
use towline_testkit::script_api::{Reply, Script};

use super::serve;
use crate::client::{self, Answer};

/// Asks with this request, in which model and limit may be left out.
async fn ask(path: &str, mut request: Value) -> Answer {
    let (api, address) = serve(Script::new([Reply::text("taken")])).await;
    let fields = request.as_object_mut().unwrap();
    fields.entry("model").or_insert(json!("m"));
    fields.entry("max_tokens").or_insert(json!(9_000));
    let answer = client::post(address, path, &request.to_string()).await;
    let refused: Vec<_> = api.record().into_iter().map(|one| one.refused).collect();
    let expected = (answer.status != 200).then(|| said(&answer));
    assert_eq!(refused, [expected], "the record says why");
    answer
}

fn said(answer: &Answer) -> String {
    let error = &answer.json()["error"];
    assert_eq!(error["type"], "invalid_request_error");
    error["message"].as_str().unwrap().to_owned()
}

async fn refused(name: &str, request: Value, why: &str) {
    for path in ["/v1/messages", "/v1/messages/count_tokens"] {
        let answer = ask(path, request.clone()).await;
        assert_eq!(answer.status, 400, "{name}, {path}");
        assert_eq!(said(&answer), why, "{name}, {path}");
    }
}

async fn taken(name: &str, request: Value) {
    let answer = ask("/v1/messages", request).await;
    assert_eq!(answer.status, 200, "{name}: {}", answer.body);
}

fn user(content: impl Into<Value>) -> Value {
    json!({"role": "user", "content": content.into()})
}

fn assistant(content: impl Into<Value>) -> Value {
    json!({"role": "assistant", "content": content.into()})
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn call(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "Bash", "input": {}})
}

fn result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "done"})
}

fn thinking() -> Value {
    json!({"type": "thinking", "thinking": "hm", "signature": "s"})
}

fn marked(mut block: Value) -> Value {
    block["cache_control"] = json!({"type": "ephemeral"});
    block
}

fn lasting(mut block: Value) -> Value {
    block["cache_control"] = json!({"type": "ephemeral", "ttl": "1h"});
    block
}

/// A conversation as the only part of a request.
fn talk(messages: impl IntoIterator<Item = Value>) -> Value {
    json!({"messages": messages.into_iter().collect::<Vec<_>>()})
}

#[tokio::test]
async fn a_result_without_its_call_and_one_that_comes_twice() {
    let unexpected = |place: &str, id: &str| {
        format!(
            "messages.{place}: unexpected `tool_use_id` found in `tool_result` blocks: {id}. Each `tool_result` \
             block must have a corresponding `tool_use` block in the previous message."
        )
    };
    let begun = [user("go"), assistant(json!([call("a"), call("b")]))];
    let with = |last: Value| talk(begun.iter().cloned().chain([last]));
    refused(
        "a result at the beginning",
        talk([user(json!([result("x")]))]),
        &unexpected("0.content.0", "x"),
    )
    .await;
    refused(
        "a result of a call that was not made",
        with(user(json!([result("a"), result("b"), result("x")]))),
        &unexpected("2.content.2", "x"),
    )
    .await;
    refused(
        "a result two turns after its call",
        talk([
            user("go"),
            assistant(json!([call("a")])),
            user(json!([result("a")])),
            assistant("done"),
            user(json!([result("a")])),
        ]),
        &unexpected("4.content.0", "a"),
    )
    .await;
    refused(
        "a result twice in one message",
        with(user(json!([result("a"), result("b"), result("a")]))),
        "messages.2.content.2: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a",
    )
    .await;
    let mut twice = with(user(json!([result("a"), result("b")])));
    let more = user(json!([result("b")]));
    twice["messages"].as_array_mut().unwrap().push(more);
    refused(
        "a result twice in one turn",
        twice,
        "messages.3.content.0: each tool_use must have a single result. Found multiple `tool_result` blocks with id: b",
    )
    .await;
    taken(
        "both",
        with(user(json!([result("b"), result("a"), text("and now?")]))),
    )
    .await;
}

#[tokio::test]
async fn a_call_without_a_result_in_the_next_turn() {
    let missing = |message: usize, ids: &str| {
        format!(
            "messages.{message}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. \
             Each `tool_use` block must have a corresponding `tool_result` block in the next message."
        )
    };
    let calls = assistant(json!([text("look"), call("a"), call("b")]));
    let begun = [user("go"), calls.clone()];
    let with = |last: Value| talk(begun.iter().cloned().chain([last]));
    refused("nothing comes", talk(begun.clone()), &missing(1, "a, b")).await;
    refused("a word comes", with(user("so?")), &missing(1, "a, b")).await;
    refused(
        "one is missing",
        with(user(json!([result("a")]))),
        &missing(1, "b"),
    )
    .await;
    refused(
        "a word comes first",
        with(user(json!([result("a"), text("so?"), result("b")]))),
        &missing(1, "b"),
    )
    .await;
    refused(
        "a word comes between",
        talk([
            user("go"),
            calls.clone(),
            user(json!([result("a")])),
            user("so?"),
            user(json!([result("b")])),
        ]),
        &missing(1, "b"),
    )
    .await;
    taken(
        "results in two messages of one turn",
        talk([
            user("go"),
            calls.clone(),
            user(json!([result("a")])),
            user(json!([result("b")])),
        ]),
    )
    .await;
    let system = json!({"role": "system", "content": "it is late"});
    taken(
        "a message of the system between them",
        talk([
            user("go"),
            calls,
            system,
            user(json!([result("a"), result("b")])),
        ]),
    )
    .await;
}

#[tokio::test]
async fn calls_that_are_none() {
    refused(
        "one id for two calls",
        talk([
            user("go"),
            assistant(json!([call("a")])),
            user(json!([result("a")])),
            assistant(json!([call("a")])),
            user(json!([result("a")])),
        ]),
        "messages.3.content.0: `tool_use` ids must be unique",
    )
    .await;
    let odd = |call: Value| {
        talk([
            user("go"),
            assistant(json!([call])),
            user(json!([result("a b")])),
        ])
    };
    refused(
        "an id with a space",
        odd(call("a b")),
        "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    )
    .await;
    let mut list = call("a");
    list["input"] = json!([]);
    refused(
        "an input that is a list",
        talk([
            user("go"),
            assistant(json!([list])),
            user(json!([result("a")])),
        ]),
        "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
    )
    .await;
}

#[tokio::test]
async fn blocks_and_messages_on_the_wrong_side() {
    let sides = [
        (user(json!([call("a")])), "tool_use", "assistant"),
        (user(json!([thinking()])), "thinking", "assistant"),
        (assistant(json!([result("a")])), "tool_result", "user"),
    ];
    for (message, kind, side) in sides {
        refused(
            kind,
            talk([user("go"), message]),
            &format!("messages.1: `{kind}` blocks can only be in `{side}` messages"),
        )
        .await;
    }
    let first = "messages: first message must use the \"user\" role";
    refused(
        "the assistant begins",
        talk([assistant("hi"), user("hi")]),
        first,
    )
    .await;
    let system = json!({"role": "system", "content": "be kind"});
    refused(
        "the system begins",
        talk([system.clone(), user("hi")]),
        first,
    )
    .await;
    taken("the system follows", talk([user("hi"), system])).await;
    refused(
        "a role of another API",
        talk([user("hi"), json!({"role": "tool", "content": "done"})]),
        "messages.1.role: Input should be 'user' or 'assistant'",
    )
    .await;
    let orphan =
        json!({"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []});
    let server =
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}});
    refused(
        "a result of the API's own tool without its call",
        talk([user("go"), assistant(json!([orphan])), user("so?")]),
        "messages.1.content.0: unexpected `tool_use_id` found in `web_search_tool_result` blocks: srvtoolu_1. Each \
         `web_search_tool_result` block must have a corresponding `server_tool_use` block before it.",
    )
    .await;
    taken(
        "one with its call",
        talk([user("go"), assistant(json!([server, orphan])), user("so?")]),
    )
    .await;
}

#[tokio::test]
async fn texts_and_contents_that_hold_nothing() {
    let empty = "messages: text content blocks must be non-empty";
    let blank = "messages: text content blocks must contain non-whitespace text";
    refused("an empty text", talk([user(json!([text("")]))]), empty).await;
    refused(
        "an empty text of the assistant",
        talk([user("go"), assistant(json!([text("")])), user("so?")]),
        empty,
    )
    .await;
    refused("a blank text", talk([user(json!([text(" \n")]))]), blank).await;
    refused("a blank content", talk([user("  ")]), blank).await;
    let printed = |content: Value| {
        let mut printed = result("a");
        printed["content"] = content;
        talk([
            user("go"),
            assistant(json!([call("a")])),
            user(json!([printed])),
        ])
    };
    refused("an empty text of a tool", printed(json!([text("")])), empty).await;
    taken("a tool that printed nothing", printed(json!(""))).await;
    taken(
        "a tool that printed a space",
        printed(json!([text(" "), text("x")])),
    )
    .await;
    for content in [json!([]), json!("")] {
        refused(
            "a prompt without content",
            talk([user("go"), assistant("so"), user(content.clone())]),
            "messages.2: user messages must have non-empty content",
        )
        .await;
        taken(
            "an answer without content",
            talk([user("go"), assistant(content), user("so?")]),
        )
        .await;
    }
    let mut system = talk([user("go")]);
    system["system"] = json!([text("be kind"), text("")]);
    refused(
        "an empty text of the system",
        system,
        "system: text content blocks must be non-empty",
    )
    .await;
}

#[tokio::test]
async fn a_last_word_of_the_assistant() {
    let end = |model: &str, words: &str| {
        let mut request = talk([user("go"), assistant(words)]);
        request["model"] = json!(model);
        request
    };
    refused(
        "a model that does not go on from it",
        end("claude-opus-4-6", "so"),
        "This model does not support assistant message prefill. The conversation must end with a user message.",
    )
    .await;
    let server =
        json!({"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}});
    taken(
        "an answer that was paused",
        talk([user("go"), assistant(json!([text("I look."), server]))]),
    )
    .await;
    taken("one that does", end("claude-haiku-4-5-20251001", "so")).await;
    refused(
        "one that cannot go on from a space",
        end("claude-3-haiku", "so "),
        "messages: final assistant content cannot end with trailing whitespace",
    )
    .await;
}

#[tokio::test]
async fn thinking_out_of_place() {
    let after = |content: Value| talk([user("go"), assistant(content), user("so?")]);
    refused(
        "two thoughts in a row",
        after(json!([thinking(), thinking(), text("so")])),
        "messages.1.content.1: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be \
         modified. These blocks must remain as they were in the original response.",
    )
    .await;
    refused(
        "a thought at the very end",
        talk([user("go"), assistant(json!([text("so"), thinking()]))]),
        "messages.1: The final block in an assistant message cannot be `thinking`.",
    )
    .await;
    let mut behind = talk([
        user("go"),
        assistant(json!([text("so"), thinking(), call("a")])),
        user(json!([result("a")])),
    ]);
    taken("a thought behind a text", behind.clone()).await;
    behind["thinking"] = json!({"type": "enabled", "budget_tokens": 2_000});
    refused(
        "a thought behind a text, where each answer begins with one",
        behind,
        "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `text`. When `thinking` is \
         enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of \
         `tool_use` and `tool_result` blocks).",
    )
    .await;
    let mut unsigned = thinking();
    unsigned.as_object_mut().unwrap().remove("signature");
    refused(
        "thinking without its signature",
        after(json!([unsigned, text("so")])),
        "messages.1.content.0.thinking.signature: Field required",
    )
    .await;
    refused(
        "hidden thinking without its data",
        after(json!([json!({"type": "redacted_thinking"}), text("so")])),
        "messages.1.content.0.redacted_thinking.data: Field required",
    )
    .await;
    taken("a thought alone", after(json!([thinking()]))).await;
    taken(
        "a thought at the end",
        after(json!([text("so"), thinking()])),
    )
    .await;
    let hidden = json!({"type": "redacted_thinking", "data": "x"});
    taken(
        "a hidden thought behind one that is not",
        after(json!([thinking(), hidden, text("so")])),
    )
    .await;
    let mut budget = talk([user("go")]);
    budget["thinking"] = json!({"type": "enabled", "budget_tokens": 9_000});
    refused(
        "more to think than to say",
        budget,
        "`max_tokens` must be greater than `thinking.budget_tokens`.",
    )
    .await;
}

#[tokio::test]
async fn more_cache_marks_than_allowed_and_marks_where_none_may_be() {
    let tool = json!({"name": "Bash", "input_schema": {}});
    let marks = |messages: usize| {
        let blocks: Vec<_> = (0..messages).map(|_| marked(text("x"))).collect();
        let mut request = talk([user(blocks)]);
        request["tools"] = json!([marked(tool.clone())]);
        request["system"] = json!([marked(text("be kind"))]);
        request
    };
    taken("four", marks(2)).await;
    refused(
        "five",
        marks(3),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    )
    .await;
    let mut printed = result("a");
    printed["content"] = json!([marked(text("1")), marked(text("2")), marked(text("3"))]);
    refused(
        "those in a result count",
        talk([
            user(json!([marked(text("go"))])),
            assistant(json!([call("a")])),
            user(json!([marked(printed)])),
        ]),
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    )
    .await;
    refused(
        "on thinking",
        talk([
            user("go"),
            assistant(json!([marked(thinking()), text("so")])),
            user("and?"),
        ]),
        "messages.1.content.0.cache_control: Extra inputs are not permitted",
    )
    .await;
    let mut order = talk([user(json!([lasting(text("go"))]))]);
    order["system"] = json!([lasting(text("be kind"))]);
    taken("all of an hour", order.clone()).await;
    order["system"] = json!([marked(text("be kind"))]);
    refused(
        "an hour behind five minutes",
        order,
        "messages.0.content.0.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' \
         cache_control block. Note that blocks are processed in the following order: `tools`, `system`, `messages`.",
    )
    .await;
}

#[tokio::test]
async fn tools_with_one_name_or_an_odd_one() {
    let tools = |names: &[&str]| {
        let tools = names
            .iter()
            .map(|name| json!({"name": name, "input_schema": {}}));
        let mut request = talk([user("go")]);
        request["tools"] = tools.collect();
        request
    };
    taken("two", tools(&["Bash", "mcp__a__b-c"])).await;
    refused(
        "one name twice",
        tools(&["Bash", "Read", "Bash"]),
        "tools: Tool names must be unique.",
    )
    .await;
    let long = "x".repeat(129);
    for name in ["", "a b", "é", &long] {
        refused(
            name,
            tools(&["Bash", name]),
            "tools.1.custom.name: String should match pattern '^[a-zA-Z0-9_-]{1,128}$'",
        )
        .await;
    }
}

#[tokio::test]
async fn a_refusal_uses_up_no_reply() {
    let (api, address) = serve(Script::new([Reply::text("still there")])).await;
    let twice = talk([
        user("go"),
        assistant(json!([call("a")])),
        user(json!([result("a"), result("a")])),
    ]);
    let mut request = twice;
    request["model"] = json!("m");
    request["max_tokens"] = json!(9);
    let answer = client::post(address, "/v1/messages", &request.to_string()).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.header("x-should-retry"), Some("false"));
    assert_eq!(api.refusals(), [said(&answer)]);
    assert_eq!(client::prompt(address, "hello").await.text(), "still there");
}

#[tokio::test]
async fn a_script_may_take_what_the_api_refuses() {
    let script = Script::from_toml("refusals = false\n[[reply]]\ntext = 'taken'").unwrap();
    let (api, address) = serve(script).await;
    let mut request = talk([assistant("hi"), user("hi")]);
    request["model"] = json!("m");
    request["max_tokens"] = json!(9);
    let answer = client::post(address, "/v1/messages", &request.to_string()).await;
    assert_eq!((answer.status, api.refusals().len()), (200, 0));
}

/// A sound conversation: turns of some calls each, which may be thought about and answered in any order.
fn sound() -> impl Strategy<Value = Vec<Value>> {
    let turn = (any::<bool>(), 0..4_usize, any::<bool>());
    prop::collection::vec(turn, 1..6).prop_map(|turns| {
        let mut messages = vec![user("go")];
        for (number, (thinks, calls, reversed)) in turns.into_iter().enumerate() {
            let ids: Vec<_> = (0..calls).map(|call| format!("t{number}_{call}")).collect();
            let mut said = Vec::new();
            said.extend(thinks.then(thinking));
            said.push(text("so"));
            said.extend(ids.iter().map(|id| call(id)));
            let mut results: Vec<_> = ids.iter().map(|id| result(id)).collect();
            if reversed {
                results.reverse();
            }
            results.push(text("go on"));
            messages.extend([assistant(said), user(results)]);
        }
        messages
    })
}

fn answer_of(messages: Vec<Value>) -> Answer {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(ask("/v1/messages", talk(messages)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn a_sound_conversation_is_taken_and_none_that_lost_a_call_or_a_result(
        messages in sound(), at in any::<prop::sample::Index>()
    ) {
        prop_assert_eq!(answer_of(messages.clone()).status, 200);
        let halves: Vec<_> = messages.iter().enumerate().flat_map(|(message, said)| {
            let blocks = said["content"].as_array().into_iter().flatten().enumerate();
            blocks.filter_map(move |(block, said)| {
                let kind = said["type"].as_str()?;
                ["tool_use", "tool_result"].contains(&kind).then_some((message, block))
            })
        }).collect();
        if !halves.is_empty() {
            let (message, block) = halves[at.index(halves.len())];
            let mut spoilt = messages;
            spoilt[message]["content"].as_array_mut().unwrap().remove(block);
            prop_assert_eq!(answer_of(spoilt).status, 400);
        }
    }
}

#[tokio::test]
async fn blocks_that_the_api_does_not_know_or_that_lack_a_field() {
    let place = "messages.0.content.0";
    for (block, why) in [
        (
            json!("go"),
            ": Input should be a valid dictionary or object to extract fields from",
        ),
        (json!({"text": "go"}), ".type: Field required"),
        (
            json!({"type": "txt", "text": "go"}),
            ": Input tag 'txt' found using 'type' does not match any of the expected tags",
        ),
        (json!({"type": "text"}), ".text.text: Field required"),
        (
            json!({"type": "text", "text": null}),
            ".text.text: Input should be a valid string",
        ),
        (
            json!({"type": "tool_result", "content": "done"}),
            ".tool_result.tool_use_id: Field required",
        ),
    ] {
        let request = talk([user(json!([block]))]);
        refused(&block.to_string(), request, &format!("{place}{why}")).await;
    }
    let nameless = json!({"type": "tool_use", "id": "a", "input": {}});
    refused(
        "a call without a name",
        talk([
            user("go"),
            assistant(json!([nameless])),
            user(json!([result("a")])),
        ]),
        "messages.1.content.0.tool_use.name: Field required",
    )
    .await;
    taken(
        "blocks of the API's own tools",
        talk([user(
            json!([{"type": "text", "text": "go"}, {"type": "later_tool_result"}]),
        )]),
    )
    .await;
}

#[tokio::test]
async fn two_thoughts_in_a_row_over_two_messages_of_one_side() {
    let split = [
        user("go"),
        assistant(json!([thinking()])),
        assistant(json!([thinking(), call("a")])),
        user(json!([result("a")])),
    ];
    refused(
        "thoughts of two answers",
        talk(split),
        "messages.2.content.0: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. \
         These blocks must remain as they were in the original response.",
    )
    .await;
}
