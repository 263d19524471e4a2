//! The JSON reader and writer against serde_json: what one takes the other takes, and both mean the same.

use proptest::prelude::*;
use serde_json::Value;
use towline_protocol::{Json, SessionId, ToHost, ToolUseId, Wire, peek};

/// A lone half of a surrogate pair, as programs that cut texts leave behind, makes other printers give up.
#[test]
fn laid_out_for_people_json_says_the_same_with_the_same_tokens() {
    for (text, expected) in [
        ("[ ]", "[]"),
        (" {\n} ", "{}"),
        (r#""a, b: {""#, r#""a, b: {""#),
        (
            r#"["\ud83d",1e21,-0.0]"#,
            "[\n  \"\\ud83d\",\n  1e21,\n  -0.0\n]",
        ),
        (
            r#"{"a":[{"b":null},[]],"c":"\\"}"#,
            "{\n  \"a\": [\n    {\n      \"b\": null\n    },\n    []\n  ],\n  \"c\": \"\\\\\"\n}",
        ),
    ] {
        assert_eq!(Json::new(text).unwrap().pretty(), expected, "{text}");
    }
}

#[test]
fn what_is_not_json_is_refused_with_its_place() {
    for (text, error) in [
        ("", "the line ends too early at byte 0"),
        ("{", "the line ends too early at byte 1"),
        (r#"{"a""#, "the line ends too early at byte 4"),
        (r#"{"a":1,}"#, "expected a key at byte 7"),
        (
            r#"{"a":1 "b":2}"#,
            "expected `,` or a closing bracket at byte 7",
        ),
        (r#"{a:1}"#, "expected a key at byte 1"),
        (r#"{"a":01}"#, "bad number at byte 5"),
        (r#"{"a":1.}"#, "bad number at byte 5"),
        (r#"{"a":+1}"#, "expected a value at byte 5"),
        (r#"{"a":"x}"#, "the line ends inside a string at byte 8"),
        (
            "{\"a\":\"x\ty\"}",
            "control character in a string at byte 7",
        ),
        (r#"{"a":"\x"}"#, "bad escape in a string at byte 6"),
        (r#"{"a":"\u12g4"}"#, "bad escape in a string at byte 6"),
        (r#"{"a":tru}"#, "expected a value at byte 5"),
        (r#"{} {}"#, "expected the end of the line at byte 3"),
        ("[1,2", "the line ends too early at byte 4"),
    ] {
        let found = Json::new(text).unwrap_err();
        assert_eq!(found.to_string(), error, "{text}");
        assert!(found.is_syntax());
        assert!(serde_json::from_str::<Value>(text).is_err(), "{text}");
    }
}

#[test]
fn nesting_has_a_bound_and_no_stack_is_lost() {
    for (depth, ok) in [(127, true), (128, false), (1_000_000, false)] {
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(Json::new(text).is_ok(), ok, "{depth}");
        let line = format!(
            r#"{{"type":"keep_alive","x":{}{}}}"#,
            "[".repeat(depth),
            "]".repeat(depth)
        );
        assert_eq!(
            ToHost::from_json(line).is_ok(),
            ok && depth < 127,
            "{depth}"
        );
    }
}

#[test]
fn escapes_mean_what_they_mean_elsewhere() {
    for text in [
        r#""plain""#,
        r#""\"\\\/\b\f\n\r\t""#,
        r#""\u0041\u00e9\u6f22\ud83d\ude00""#,
        r#""before \u0000 after""#,
        r#""a\nlong text with an escape late in it, past the first block of sixteen bytes\n""#,
    ] {
        let line = format!(r#"{{"type":"prompt_suggestion","suggestion":{text}}}"#);
        let ToHost::PromptSuggestion(found) = ToHost::from_json(line.clone()).unwrap() else {
            panic!()
        };
        let expected: String = serde_json::from_str(text).unwrap();
        assert_eq!(found.suggestion.as_ref().unwrap(), &*expected, "{text}");
        assert_eq!(
            ToHost::PromptSuggestion(found)
                .to_json()
                .parse::<Value>()
                .unwrap(),
            serde_json::from_str::<Value>(&line).unwrap()
        );
    }
}

/// Long strings are read in large blocks, wherever their escapes stand in those and however the line goes on.
#[test]
fn escapes_are_read_at_any_place_of_a_long_string() {
    let escapes = [
        r"\n",
        r#"\""#,
        r"\\",
        r"\\\t",
        r"\u00e9",
        r"\ud83d\ude00",
        "é",
        "→",
        "",
    ];
    for before in 0..140 {
        for (behind, escape) in [0, 1, 14, 62, 63, 64, 130, 700]
            .iter()
            .zip(escapes.iter().cycle().skip(before))
        {
            for next in escapes {
                let text = format!(
                    "{}\\t{escape}{next}{}",
                    "a".repeat(before),
                    "b".repeat(*behind)
                );
                let line = format!(
                    r#"{{"type":"prompt_suggestion","suggestion":"{text}","text":["{text}"]}}"#
                );
                let ToHost::PromptSuggestion(found) = ToHost::from_json(line.clone()).unwrap()
                else {
                    panic!()
                };
                let expected: Value = serde_json::from_str(&line).unwrap();
                let suggestion = found.suggestion.as_ref().unwrap();
                assert_eq!(expected["suggestion"], suggestion.as_str(), "{text}");
                for broken in [
                    &line[..line.len() - 3],
                    &line.replace("\\t", "\\x"),
                    &line.replace("\\t", "\t"),
                ] {
                    assert!(ToHost::from_json(broken).is_err(), "{broken}");
                }
            }
        }
    }
}

/// JavaScript writes half a surrogate pair where a text was cut inside an emoji; serde_json refuses the line.
#[test]
fn half_a_surrogate_pair_becomes_a_replacement_character() {
    for text in [
        r#""\ud83d""#,
        r#""\ude00 after""#,
        r#""\ud83d\u0041""#,
        r#""\ud83d\ud83d\ude00""#,
    ] {
        let line = format!(r#"{{"type":"prompt_suggestion","suggestion":{text}}}"#);
        let ToHost::PromptSuggestion(found) = ToHost::from_json(line).unwrap() else {
            panic!()
        };
        assert!(found.suggestion.unwrap().contains('\u{fffd}'), "{text}");
    }
}

#[test]
fn keys_may_be_escaped_and_spaced_and_in_any_order() {
    let line = " { \"uuid\" : \"u1\" , \"t\\u0079pe\" : \"keep_alive\" , \"x\\ny\" : 1 } ";
    let message = ToHost::from_json(line).unwrap();
    let ToHost::KeepAlive(found) = &message else {
        panic!("{message:?}")
    };
    assert_eq!(found.extra.get("x\ny").unwrap().as_str(), "1");
    assert_eq!(
        message.to_json().parse::<Value>().unwrap(),
        serde_json::from_str::<Value>(line).unwrap()
    );
}

#[test]
fn a_key_that_comes_twice_counts_as_javascript_counts_it() {
    let line = r#"{"type":"prompt_suggestion","suggestion":"a","suggestion":"b","x":1,"x":2}"#;
    let message = ToHost::from_json(line).unwrap();
    assert_eq!(
        message.to_json().parse::<Value>().unwrap(),
        serde_json::from_str::<Value>(line).unwrap()
    );
}

#[test]
fn a_value_spread_over_lines_is_written_on_one() {
    let mut line = ToHost::from_json(r#"{"type":"keep_alive"}"#).unwrap();
    let ToHost::KeepAlive(body) = &mut line else {
        panic!()
    };
    body.extra
        .insert("config", Json::new("{\n  \"a\": \"b\\nc\"\r\n}").unwrap());
    let written = line.to_json();
    assert!(!written.as_str().contains(['\n', '\r']));
    assert_eq!(written.parse::<Value>().unwrap()["config"]["a"], "b\nc");
}

#[test]
fn numbers_keep_their_kind() {
    for number in [
        "0",
        "1.5",
        "-0",
        "1e3",
        "0.020422",
        "18446744073709551615",
        "-7",
        "1E-2",
    ] {
        let line = format!(r#"{{"type":"result","total_cost_usd":{number}}}"#);
        let again = ToHost::from_json(line.clone()).unwrap().to_json();
        assert_eq!(
            again.parse::<Value>().unwrap(),
            serde_json::from_str::<Value>(&line).unwrap()
        );
    }
    assert!(ToHost::from_json(r#"{"type":"result","total_cost_usd":1e999}"#).is_err());
}

/// Reading a map takes time in proportion to its size: this line once took half a minute.
#[test]
fn a_map_of_very_many_keys_is_read_at_once() {
    let models: Vec<_> = (0..100_000)
        .map(|model| format!(r#""m{model}":{{}}"#))
        .collect();
    let line = format!(
        r#"{{"type":"result","modelUsage":{{{}}}}}"#,
        models.join(",")
    );
    let ToHost::Result(result) = ToHost::from_json(line).unwrap() else {
        panic!()
    };
    assert_eq!(result.model_usage.unwrap().len(), 100_000);
}

/// Any JSON value.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter_map("finite", |float| serde_json::Number::from_f64(float)
            .map(Value::Number)),
        ".{0,40}".prop_map(Value::from),
        "[\"\\\\\u{0}-\u{1f}a-z]{0,40}".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(".{0,8}", inner, 0..6)
                .prop_map(|entries| Value::Object(entries.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_taken_and_any_other_text_is_not(value in value(), cut in any::<prop::sample::Index>(), junk in any::<char>()) {
        let text = value.to_string();
        prop_assert!(Json::new(text.as_str()).is_ok());
        // The same text with one character replaced: both readers agree whether that is still JSON.
        let place = cut.index(text.chars().count());
        let other: String = text.chars().enumerate().map(|(at, old)| if at == place { junk } else { old }).collect();
        let theirs = serde_json::from_str::<&serde_json::value::RawValue>(&other).is_ok();
        prop_assert_eq!(Json::new(other.as_str()).is_ok(), theirs, "{}", other);
    }

    #[test]
    fn any_field_of_any_message_is_kept(extra in value(), name in "[a-z_]{1,12}") {
        let line = serde_json::json!({"type": "stream_event", "event": {"type": "message_stop", name.as_str(): extra.clone()}, name.as_str(): extra});
        prop_assume!(line["type"] == "stream_event" && line["event"].is_object() && line["event"]["type"] == "message_stop");
        // A known name with a value of another kind is an error, not a loss.
        if let Ok(message) = ToHost::from_json(line.to_string()) {
            prop_assert_eq!(message.to_json().parse::<Value>().unwrap(), line);
        }
    }

    #[test]
    fn peek_sees_what_decode_sees(value in value(), session in "[a-z\"\\\\é]{0,9}", parent in prop::option::of("[a-z]{0,9}"), place in 0..4usize) {
        let mut fields = vec![
            format!(r#""type":"assistant""#),
            format!(r#""session_id":{}"#, Value::from(session)),
            format!(r#""parent_tool_use_id":{}"#, Value::from(parent)),
        ];
        fields.insert(place, format!(r#""message":{{"role":"assistant","usage":null,"x":{value}}}"#));
        let line = format!("{{{}}}", fields.join(","));
        let message = ToHost::from_json(line.as_str()).unwrap();
        let peek = peek(&line).unwrap();
        prop_assert_eq!(peek.kind.as_deref(), Some("assistant"));
        prop_assert_eq!(peek.session_id.as_deref(), message.session_id().map(SessionId::as_str));
        prop_assert_eq!(peek.parent_tool_use_id.as_deref(), message.parent_tool_use_id().map(ToolUseId::as_str));
    }

    #[test]
    fn no_text_makes_anything_panic(text in ".{0,60}") {
        drop(ToHost::from_json(text.as_str()));
        drop(towline_protocol::ToAgent::from_json(text.as_str()));
        drop(peek(&text));
    }
}
