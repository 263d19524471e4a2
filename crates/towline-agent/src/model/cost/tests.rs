//! Costs against the recorded results of the real CLI.

use serde_json::{Value, json};
use towline_protocol::Wire;

use super::*;

fn usage(value: &Value) -> Usage {
    Usage::from_json(value.to_string()).unwrap()
}

/// The call that the recorded sessions are made of.
fn usual() -> Usage {
    usage(
        &json!({"input_tokens": 100, "output_tokens": 20, "cache_read_input_tokens": 11, "cache_creation_input_tokens": 7}),
    )
}

/// Every price, by what CLI 2.1.325 said of this usage.
#[test]
fn each_kind_of_token_has_its_price() {
    let usage = usage(&json!({
        "input_tokens": 1000, "output_tokens": 500,
        "cache_read_input_tokens": 70, "cache_creation_input_tokens": 300,
        "cache_creation": {"ephemeral_5m_input_tokens": 100, "ephemeral_1h_input_tokens": 200},
        "server_tool_use": {"web_search_requests": 3, "web_fetch_requests": 0},
    }));
    for (model, cost) in [
        ("claude-fable-5-2", 0.062214),
        ("claude-opus-5-5", 0.046114),
        ("claude-sonnet-5-5", 0.038057),
        ("claude-haiku-5-5", 0.0304032),
        ("claude-opus-4-6", 0.050159999999999996),
        ("claude-sonnet-4-5", 0.042095999999999995),
        ("claude-haiku-4-5", 0.034032),
        ("offline", 0.0),
    ] {
        assert_eq!(usd(model, &usage), cost, "{model}");
    }
    let no_search = Usage {
        server_tool_use: Nullable::Absent,
        ..usage
    };
    for (model, cost) in [
        ("no-such-model", 0.016114),
        ("claude-opus-4-5", 0.02016),
        ("claude-opus-4-7", 0.02016),
        ("claude-opus-4-8", 0.02016),
        ("claude-sonnet-4-6", 0.012095999999999999),
        ("claude-opus-5", 0.02016),
        ("claude-sonnet-5", 0.008064),
        ("claude-fable-5", 0.04032),
    ] {
        assert_eq!(usd(model, &no_search), cost, "{model}");
    }
}

/// All results of all traces: the recorded sessions consist of calls with 100 tokens in and 20 out, with 7 and 11 of cache
/// or none.
#[test]
fn sums_are_to_the_last_digit_those_of_the_traces() {
    let folder = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../towline-protocol/tests/data/traces"
    );
    let mut compared = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        for row in std::fs::read_to_string(&path).unwrap().lines() {
            let row: Value = serde_json::from_str(row).unwrap();
            let line = &row["line"];
            if row["dir"] != "out" || line["type"] != "result" {
                continue;
            }
            for field in ["modelUsage", "model_usage_since_last_result"] {
                for (model, recorded) in line[field].as_object().into_iter().flatten() {
                    let calls = recorded["inputTokens"].as_u64().unwrap() / 100;
                    let mut call = usual();
                    if recorded["cacheReadInputTokens"] == 0 {
                        call.cache_read_input_tokens = Nullable::Value(0);
                        call.cache_creation_input_tokens = Nullable::Value(0);
                    }
                    let mut costs = Costs::default();
                    for _ in 0..calls {
                        costs.add(model, &call);
                    }
                    let ours = costs.model_usages().get(model).unwrap().to_standard_json();
                    let ours: Value = ours.parse().unwrap();
                    assert_eq!(ours, *recorded, "{} {field}", path.display());
                    compared += 1;
                }
            }
        }
    }
    assert!(compared > 500, "only {compared} compared");
}

#[test]
fn a_session_goes_on_where_it_was_left() {
    let mut costs = Costs::default();
    costs.add("claude-opus-5-5", &usual());
    costs.add("claude-haiku-5-5", &usual());
    costs.add("no-such-model", &usual());
    assert!(costs.has_unknown_model());
    let record = costs.state().to_standard_json();
    let mut restored = Costs::restore(&CostState::from_json(record.text().clone()).unwrap());
    assert_eq!(restored.total_usd(), costs.total_usd());
    assert_eq!(restored.model_usages(), costs.model_usages());
    assert!(restored.has_unknown_model());
    // What was before the resume does not count as new.
    assert!(restored.take_since_result().is_empty());
}

/// Trace `sessions-sess_resume`, whose record has the first three calls.
#[test]
fn the_real_cli_s_record_is_understood() {
    let record = json!({
        "type": "cost-state", "totalCostUSD": 0.0025116, "totalAPIDuration": 359,
        "modelUsage": {"claude-opus-5-5": {
            "inputTokens": 300, "outputTokens": 60, "thinkingTokens": 0, "cacheReadInputTokens": 33,
            "cacheCreationInputTokens": 21, "cacheCreationEphemeral5mInputTokens": 0,
            "cacheCreationEphemeral1hInputTokens": 0, "webSearchRequests": 0, "costUSD": 0.0025116,
        }},
        "hasUnknownModelCost": false,
    });
    let mut costs = Costs::restore(&CostState::from_json(record.to_string()).unwrap());
    costs.add("claude-opus-5-5", &usual());
    assert_eq!(costs.total_usd(), 0.0033488000000000003);
    let since = costs.take_since_result();
    let cost = since
        .get("claude-opus-5-5")
        .and_then(|usage| usage.cost_usd.clone());
    assert_eq!(cost.unwrap().as_f64(), 0.0008372000000000001);
}

#[test]
fn a_record_that_somebody_broke_counts_as_nothing() {
    for cost in ["-1", "1e999", "-0.5"] {
        let text =
            format!(r#"{{"totalCostUSD":{cost},"modelUsage":{{"m":{{"costUSD":{cost}}}}}}}"#);
        if let Ok(state) = CostState::from_json(text) {
            assert_eq!(Costs::restore(&state).total_usd(), 0.0, "{cost}");
        }
    }
}

#[test]
fn counts_that_are_too_large_do_not_overflow() {
    let huge = usage(
        &json!({"input_tokens": u64::MAX, "output_tokens": u64::MAX, "cache_creation_input_tokens": 1,
        "cache_creation": {"ephemeral_1h_input_tokens": u64::MAX}}),
    );
    let mut costs = Costs::default();
    let mut turn = TurnUsage::default();
    for _ in 0..3 {
        costs.add("claude-opus-5-5", &huge);
        turn.add(&huge);
    }
    assert!(costs.total_usd().is_finite());
    assert_eq!(turn.usage().input_tokens, Some(u64::MAX));
}

/// Trace `sessions-sub_custom`: two calls of the main thread.
#[test]
fn the_usage_of_a_turn_has_every_field() {
    let mut turn = TurnUsage::default();
    turn.add(&usual());
    turn.add(&usual());
    let line: Value = turn.usage().to_standard_json().parse().unwrap();
    assert_eq!(
        line,
        json!({"input_tokens": 200, "cache_creation_input_tokens": 14, "cache_read_input_tokens": 22, "output_tokens": 40,
            "output_tokens_details": {"thinking_tokens": 0},
            "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0}, "service_tier": "standard",
            "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 0},
            "inference_geo": "", "iterations": [], "speed": "standard", "fallback_credit": null})
    );
}

#[test]
fn the_end_of_a_message_completes_what_its_start_said() {
    let mut so_far = usage(
        &json!({"input_tokens": 100, "cache_read_input_tokens": 11, "output_tokens": 1, "service_tier": "standard"}),
    );
    merge(
        &mut so_far,
        &usage(
            &json!({"input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 20,
        "output_tokens_details": {"thinking_tokens": 4}}),
        ),
    );
    let expected = usage(
        &json!({"input_tokens": 100, "cache_read_input_tokens": 11, "output_tokens": 20,
        "service_tier": "standard", "output_tokens_details": {"thinking_tokens": 4}}),
    );
    assert_eq!(so_far, expected);
}
