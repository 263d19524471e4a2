//! The catalogue against the recorded lines of the real CLI.

use serde_json::json;
use towline_protocol::Wire;

use super::*;

#[test]
fn an_alias_becomes_its_model_and_any_other_name_stays() {
    for (name, model) in [
        (None, "claude-opus-5-5"),
        (Some(""), "claude-opus-5-5"),
        (Some("default"), "claude-opus-5-5"),
        (Some("opus"), "claude-opus-5-5"),
        (Some(" Opus "), "claude-opus-5-5"),
        (Some("fable"), "claude-fable-5-2"),
        (Some("sonnet"), "claude-sonnet-5-5"),
        (Some("haiku"), "claude-haiku-5-5"),
        (Some("claude-opus-4-6"), "claude-opus-4-6"),
        (Some("no-such-model"), "no-such-model"),
        (Some("offline"), "offline"),
    ] {
        assert_eq!(resolve(name), model, "{name:?}");
    }
}

#[test]
fn a_date_is_no_part_of_the_name() {
    for (model, name) in [
        ("claude-haiku-4-5-20251001", "claude-haiku-4-5"),
        ("claude-haiku-4-5", "claude-haiku-4-5"),
        ("claude-haiku-4-5-2025100", "claude-haiku-4-5-2025100"),
        ("20251001", "20251001"),
        ("", ""),
    ] {
        assert_eq!(canonical(model), name);
    }
    assert_eq!(facts("claude-haiku-4-5-20251001").prices.input, 1.0);
}

#[test]
fn a_model_thinks_as_it_can() {
    let check = |model, options: ModelOptions, expected| {
        assert_eq!(thinking(model, &options), expected, "{model} {options:?}");
    };
    let asked = |thinking, max_thinking_tokens| ModelOptions {
        thinking,
        max_thinking_tokens,
        ..ModelOptions::default()
    };
    use ThinkingOption as Asked;
    check("claude-opus-5-5", asked(None, None), Thinking::Adaptive);
    check(
        "claude-opus-5-5",
        asked(None, Some(5_000)),
        Thinking::Adaptive,
    );
    check(
        "claude-opus-5-5",
        asked(Some(Asked::Disabled), None),
        Thinking::Adaptive,
    );
    check(
        "claude-opus-4-6",
        asked(Some(Asked::Disabled), None),
        Thinking::Disabled,
    );
    check(
        "claude-sonnet-4-5",
        asked(None, None),
        Thinking::Budget(31_999),
    );
    check(
        "claude-sonnet-4-5",
        asked(Some(Asked::Adaptive), None),
        Thinking::Budget(31_999),
    );
    check(
        "claude-sonnet-4-5",
        asked(None, Some(5_000)),
        Thinking::Budget(5_000),
    );
    check(
        "claude-sonnet-4-5",
        asked(None, Some(u64::MAX)),
        Thinking::Budget(31_999),
    );
    check(
        "claude-sonnet-4-5",
        asked(Some(Asked::Disabled), None),
        Thinking::Disabled,
    );
    check("claude-haiku-4-5", asked(None, Some(0)), Thinking::Disabled);
    check("no-such-model", asked(None, None), Thinking::Adaptive);
    check(
        "offline",
        asked(Some(Asked::Enabled), None),
        Thinking::Disabled,
    );
}

#[test]
fn effort_goes_only_to_models_that_know_it() {
    let asked = ModelOptions {
        effort: Some("max".to_owned()),
        ..ModelOptions::default()
    };
    let usual = ModelOptions::default();
    for (model, without, with) in [
        ("claude-opus-5-5", Some("medium"), Some("max")),
        ("claude-opus-4-6", Some("high"), Some("max")),
        ("claude-sonnet-4-5", None, None),
        ("no-such-model", Some("high"), Some("max")),
    ] {
        assert_eq!(effort(model, &usual).as_deref(), without, "{model}");
        assert_eq!(effort(model, &asked).as_deref(), with, "{model}");
    }
}

#[test]
fn the_output_is_as_long_as_asked_for_but_no_longer_than_it_can_be() {
    for (asked, expected) in [
        (None, 128_000),
        (Some(0), 128_000),
        (Some(5), 5),
        (Some(u64::MAX), 128_000),
    ] {
        let options = ModelOptions {
            max_output_tokens: asked,
            ..ModelOptions::default()
        };
        assert_eq!(max_tokens("claude-opus-5-5", &options), expected);
    }
}

#[test]
fn what_a_model_may_do_depends_on_its_generation() {
    for (model, unread, tasks, system) in [
        ("claude-opus-5-5", true, false, true),
        ("claude-haiku-5-5", true, false, true),
        ("claude-opus-5", false, false, true),
        ("claude-opus-4-6", false, true, false),
        ("claude-sonnet-4-5", false, true, false),
        ("claude-haiku-4-5-20251001", false, true, false),
    ] {
        let generation = facts(model).generation;
        assert_eq!(generation.writes_unread_files(), unread, "{model}");
        assert_eq!(generation.keeps_task_list(), tasks, "{model}");
        assert_eq!(generation.takes_system_messages(), system, "{model}");
    }
}

/// All but the descriptions, which are our own.
#[test]
fn the_list_of_models_is_the_one_of_the_trace() {
    let trace =
        include_str!("../../../../towline-protocol/tests/data/traces/control-01_initialize.jsonl");
    let recorded = trace
        .lines()
        .map(|row| serde_json::from_str::<serde_json::Value>(row).unwrap())
        .find_map(|row| {
            row["line"]["response"]["response"]["models"]
                .as_array()
                .cloned()
        })
        .expect("the trace has a list of models");
    let ours: Vec<_> = models()
        .iter()
        .map(|model| {
            model
                .to_standard_json()
                .parse::<serde_json::Value>()
                .unwrap()
        })
        .collect();
    assert_eq!(ours.len(), recorded.len());
    for (ours, mut recorded) in ours.into_iter().zip(recorded) {
        recorded["description"] = ours["description"].clone();
        assert_eq!(ours, recorded);
        assert_ne!(ours["description"], json!(""));
    }
}
