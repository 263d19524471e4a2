//! Scripts that cannot be used, and what is said about them; those of the documentation can.

use proptest::prelude::*;
use towline_testkit::script_api::Script;

/// What is said about a script.
fn error(script: &str) -> String {
    Script::from_toml_file("a.toml", script)
        .unwrap_err()
        .to_string()
}

/// What is said about each script.
fn said(mistakes: &[&str]) -> String {
    let said = mistakes.iter().map(|script| {
        let shown = script.trim().replace('\n', " ⏎ ");
        format!("{shown}\n  {}\n", error(script))
    });
    said.collect()
}

#[test]
fn mistakes_in_what_every_reply_has_are_named_with_their_place() {
    let mistakes = [
        "[[reply]\n",
        "[[reply]]\ntext = 'a'\ntext = 'b'",
        "x = 1",
        "reply = 3",
        "side_rules = 'no'",
        "\n[[reply]]\n\ntxt = 'a'",
        "[[reply]]\ntext = 1",
        "[[reply]]\nnothing_like_it = 1",
        "[[reply]]",
        "[[reply]]\ntext = 'a'\n[[reply]]\nname = 'b'",
        "[[reply]]\ntext = 'a'\nerror = 500",
        "[[reply]]\ntext = 'a'\ncontent = []",
        "[[reply]]\nerror = 500\nmodel = 'a'",
        "[[reply]]\ntext = 'a'\ntimes = -1",
        "[[reply]]\ntext = 'a'\ntimes = 'forevr'",
        "[[reply]]\ntext = 'a'\ncut = 'rest'",
        "[[reply]]\ntext = 'a'\ncut = 'end'",
        "[[reply]]\ntext = 'a'\nhold = 'a b'",
        "[[reply]]\ntext = 'a'\npieces = 0",
        "[[reply]]\ntext = 'a'\nheaders = { 'a b' = 'c' }",
        "[[reply]]\ntext = 'a'\nheaders = { a = [] }",
    ];
    insta::assert_snapshot!(said(&mistakes), @r#"
    [[reply]
      a.toml:1: not TOML: unclosed array table, expected `]`
    [[reply]] ⏎ text = 'a' ⏎ text = 'b'
      a.toml:3: not TOML: duplicate key
    x = 1
      a.toml:1: unknown key `x`, known are `reply`, `default`, `side_rules`, `refusals`
    reply = 3
      a.toml:1: reply 1: must be a table, is the number 3
    side_rules = 'no'
      a.toml:1: `side_rules` must be `true` or `false`, is a string
    [[reply]] ⏎  ⏎ txt = 'a'
      a.toml:4: reply 1: unknown key `txt`, did you mean `text`?
    [[reply]] ⏎ text = 1
      a.toml:2: reply 1: `text` must be a string, is the number 1
    [[reply]] ⏎ nothing_like_it = 1
      a.toml:2: reply 1: unknown key `nothing_like_it`, known are `error`, `http`, `events`, `echo`, `content`, `text`, `thinking`, `signature`, `tool`, `input`, `tool_id`, `stop_reason`, `stop_sequence`, `usage`, `model`, `id`, `name`, `when`, `times`, `side`, `headers`, `delay_ms`, `hold`, `cut`, `at`, `pieces`, `piece_delay_ms`
    [[reply]]
      a.toml:1: reply 1: says nothing, give it `text`, `thinking`, `tool`, `content`, `error`, `http`, `events` or `echo`
    [[reply]] ⏎ text = 'a' ⏎ [[reply]] ⏎ name = 'b'
      a.toml:3: reply 2: says nothing, give it `text`, `thinking`, `tool`, `content`, `error`, `http`, `events` or `echo`
    [[reply]] ⏎ text = 'a' ⏎ error = 500
      a.toml:1: reply 1: says more than one thing (error, a message), keep one
    [[reply]] ⏎ text = 'a' ⏎ content = []
      a.toml:3: reply 1: has `content` and blocks beside it, put them into `content`
    [[reply]] ⏎ error = 500 ⏎ model = 'a'
      a.toml:1: reply 1: `stop_sequence`, `usage`, `model` and `id` describe a message, give it `content`
    [[reply]] ⏎ text = 'a' ⏎ times = -1
      a.toml:3: reply 1: `times` must be a whole number that is not negative, is the number -1
    [[reply]] ⏎ text = 'a' ⏎ times = 'forevr'
      a.toml:3: reply 1: unknown `times` `forevr`, did you mean `forever`?
    [[reply]] ⏎ text = 'a' ⏎ cut = 'rest'
      a.toml:3: reply 1: unknown `cut` `rest`, did you mean `reset`?
    [[reply]] ⏎ text = 'a' ⏎ cut = 'end'
      a.toml:3: reply 1: `cut = "end"` needs a body to end, write it into `content` or `at`
    [[reply]] ⏎ text = 'a' ⏎ hold = 'a b'
      a.toml:3: reply 1: `a b` is no name for a gate, use letters, digits, `-`, `_` and `.`
    [[reply]] ⏎ text = 'a' ⏎ pieces = 0
      a.toml:3: reply 1: `pieces` must be "words", "whole" or a number of characters, is the number 0
    [[reply]] ⏎ text = 'a' ⏎ headers = { 'a b' = 'c' }
      a.toml:3: reply 1: `a b` is no header that can be sent
    [[reply]] ⏎ text = 'a' ⏎ headers = { a = [] }
      a.toml:3: reply 1, headers: `a` must be a string, is a list
    "#);
}

#[test]
fn mistakes_in_conditions_and_answers_are_named_with_their_place() {
    let mistakes = [
        "[[reply]]\ntext = 'a'\nusage = { tokens = 1 }",
        "[[reply]]\ntext = 'a'\nwhen = {}",
        "[[reply]]\ntext = 'a'\nwhen = { prompt = 'b' }",
        "[[reply]]\ntext = 'a'\nwhen = { agent = 'sub' }",
        "[[reply]]\nsignature = 'a'",
        "[[reply]]\ninput = {}",
        "[[reply]]\ntool = 'a'\ninput = 'b'",
        "[[reply]]\ntool = 'a'\ninput = '[]'",
        "[[reply]]\ntool = 'a'\ninput = { a = nan }",
        "[[reply]]\necho = false",
        "[[reply]]\nerror = 99",
        "[[reply]]\nerror = {}",
        "[[reply]]\nhttp = { status = 700 }",
        "[[reply]]\nhttp = { text = 'a' }",
        "[[reply]]\nevents = [1]",
    ];
    insta::assert_snapshot!(said(&mistakes), @"
    [[reply]] ⏎ text = 'a' ⏎ usage = { tokens = 1 }
      a.toml:3: reply 1, usage: unknown key `tokens`, known are `input_tokens`, `output_tokens`, `cache_creation_input_tokens`, `cache_read_input_tokens`
    [[reply]] ⏎ text = 'a' ⏎ when = {}
      a.toml:3: reply 1, when: has no condition, give it one or leave it out
    [[reply]] ⏎ text = 'a' ⏎ when = { prompt = 'b' }
      a.toml:3: reply 1, when: unknown key `prompt`, did you mean `prompt_contains`?
    [[reply]] ⏎ text = 'a' ⏎ when = { agent = 'sub' }
      a.toml:3: reply 1, when: unknown `agent` `sub`, did you mean `subagent`?
    [[reply]] ⏎ signature = 'a'
      a.toml:2: reply 1: `signature` needs `thinking` beside it
    [[reply]] ⏎ input = {}
      a.toml:2: reply 1: `input` needs `tool` beside it
    [[reply]] ⏎ tool = 'a' ⏎ input = 'b'
      a.toml:3: reply 1: `input` is not JSON: expected value at line 1 column 1
    [[reply]] ⏎ tool = 'a' ⏎ input = '[]'
      a.toml:3: reply 1: `input` must be a table, or a string that holds a JSON object, is a string
    [[reply]] ⏎ tool = 'a' ⏎ input = { a = nan }
      a.toml:3: `nan` is no number that JSON can hold
    [[reply]] ⏎ echo = false
      a.toml:2: reply 1: `echo` can only be `true`, leave it out
    [[reply]] ⏎ error = 99
      a.toml:2: reply 1: `error` must be an HTTP status from 200 to 599, is the number 99
    [[reply]] ⏎ error = {}
      a.toml:2: reply 1, error: needs a `status` or a `type`
    [[reply]] ⏎ http = { status = 700 }
      a.toml:2: reply 1, http: `status` must be an HTTP status from 200 to 599, is the number 700
    [[reply]] ⏎ http = { text = 'a' }
      a.toml:2: reply 1, http: unknown key `text`, known are `status`, `body`
    [[reply]] ⏎ events = [1]
      a.toml:2: reply 1, events: an event must be a table or a string that is sent as it is
    ");
}

#[test]
fn mistakes_in_content_and_acts_are_named_with_their_place() {
    let mistakes = [
        "[[reply]]\ncontent = 'a'",
        "[[reply]]\ncontent = [\n  'a',\n  { tol = 'b' },\n]",
        "[[reply]]\ncontent = [{ text = 'a', tool = 'b' }]",
        "[[reply]]\ncontent = [{ text = 'a', hold = 'b' }]",
        "[[reply]]\ncontent = [{}]",
        "[[reply]]\ncontent = [{ raw = { a = 1 } }]",
        "[[reply]]\ntext = 'a'\nat = [{ hold = 'b' }]",
        "[[reply]]\ntext = 'a'\nat = [{ after_events = 1 }]",
        "[[reply]]\ntext = 'a'\nat = [{ after_events = 1, hold = 'b', cut = 'end' }]",
        "[default]\ntexts = 'a'",
    ];
    insta::assert_snapshot!(said(&mistakes), @"
    [[reply]] ⏎ content = 'a'
      a.toml:2: reply 1: `content` must be a list, is a string
    [[reply]] ⏎ content = [ ⏎   'a', ⏎   { tol = 'b' }, ⏎ ]
      a.toml:4: reply 1, content 2: unknown key `tol`, did you mean `tool`?
    [[reply]] ⏎ content = [{ text = 'a', tool = 'b' }]
      a.toml:2: reply 1, content 1: is more than one thing, write one element for each
    [[reply]] ⏎ content = [{ text = 'a', hold = 'b' }]
      a.toml:2: reply 1, content 1: is more than one thing, write one element for each
    [[reply]] ⏎ content = [{}]
      a.toml:2: reply 1, content 1: says nothing, give it `text`, `thinking`, `redacted_thinking`, `tool`, `raw`, `hold`, `delay_ms`, `cut`, `error` or `send`
    [[reply]] ⏎ content = [{ raw = { a = 1 } }]
      a.toml:2: reply 1, content 1: `raw` needs a `type`
    [[reply]] ⏎ text = 'a' ⏎ at = [{ hold = 'b' }]
      a.toml:3: reply 1, at: needs one of `after_events` and `after_bytes`
    [[reply]] ⏎ text = 'a' ⏎ at = [{ after_events = 1 }]
      a.toml:3: reply 1, at: does nothing, give it `hold`, `delay_ms`, `cut`, `error` or `send`
    [[reply]] ⏎ text = 'a' ⏎ at = [{ after_events = 1, hold = 'b', cut = 'end' }]
      a.toml:3: reply 1, at: does more than one thing, write one element for each
    [default] ⏎ texts = 'a'
      a.toml:2: default: unknown key `texts`, did you mean `text`?
    ");
}

#[test]
fn the_script_of_the_documentation_is_one() {
    let document = include_str!("../../../../../docs/script-api.md");
    let (_, behind) = document.split_once("```toml\n").unwrap();
    let (example, _) = behind.split_once("```\n").unwrap();
    assert_eq!(Script::from_toml(example).unwrap().len(), 4);
}

/// Pieces of scripts, right and wrong.
const PIECES: &[&str] = &[
    "[[reply]]",
    "[default]",
    "text",
    "tool",
    "input",
    "content",
    "at",
    "when",
    "error",
    "http",
    "events",
    "cut",
    "after_bytes",
    "hold",
    "pieces",
    "times",
    "=",
    "{",
    "}",
    "[",
    "]",
    ",",
    "'a'",
    "''",
    "1",
    "-1",
    "1e400",
    "0xff",
    "9223372036854775807",
    "2026-01-01",
    "true",
    "inf",
    "\n",
    "\"\\u0000\"",
    "'{\"a\":null}'",
];

proptest! {
    #[test]
    fn no_script_makes_the_reader_panic(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..24)) {
        // Whatever it is, it is a script or an error.
        drop(Script::from_toml(&pieces.join(" ")));
    }
}
