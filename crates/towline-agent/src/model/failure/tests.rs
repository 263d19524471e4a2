//! The words and names of errors, by what CLI 2.1.325 says.

use serde_json::json;

use super::*;

fn of_response(status: u16, body: &str) -> ApiError {
    let context = Context {
        model: "claude-opus-5-5",
        host: "127.0.0.1:1",
        request_id: Some("req_1"),
    };
    ApiError::of_response(status, body.as_bytes(), &context)
}

fn body(kind: &str, message: &str) -> String {
    json!({"type": "error", "error": {"type": kind, "message": message}}).to_string()
}

/// Name and beginning as in the traces `sessions-errp_*`; hosts look for them.
#[test]
fn each_status_has_its_name_and_its_words() {
    for (status, kind, message, name, begins) in CASES.iter().copied() {
        let error = of_response(status, &body(kind, message));
        assert_eq!(error.status, Some(status));
        assert_eq!(error.kind.as_deref(), Some(kind));
        assert_eq!(error.name, name, "{status}");
        assert!(error.message.starts_with(begins), "{}", error.message);
        assert_eq!(error.request_id.as_deref(), Some("req_1"));
    }
}

#[test]
fn a_body_that_is_not_the_api_s_still_gives_an_error() {
    for text in [
        "",
        "<html>",
        "null",
        "[]",
        "\"x\"",
        r#"{"error":"x"}"#,
        r#"{"error":{"type":1}}"#,
        "\u{0}",
    ] {
        let error = of_response(502, text);
        assert_eq!(error.kind, None, "{text}");
        assert!(
            error.message.starts_with("API Error: 502 without a reason"),
            "{}",
            error.message
        );
    }
}

#[test]
fn a_long_message_is_cut() {
    let error = of_response(400, &body("x", &"ä".repeat(100_000)));
    assert!(error.message.chars().count() < 2_100);
}

#[test]
fn no_key_is_told_so_that_hosts_and_people_understand_it() {
    let error = ApiError::not_logged_in();
    assert_eq!((error.status, error.name), (None, "authentication_failed"));
    for words in [
        "Not logged in",
        "/login",
        "ANTHROPIC_API_KEY",
        "--model offline",
    ] {
        assert!(error.message.contains(words), "{words}");
    }
}

/// Status, the API's name and words, the protocol's name, and how the message begins.
const CASES: &[(u16, &str, &str, &str, &str)] = &[
    (
        400,
        "invalid_request_error",
        "bad thing",
        "unknown",
        "API Error: 400 bad thing",
    ),
    (
        400,
        "invalid_request_error",
        "Your credit balance is too low",
        "billing_error",
        "Credit balance is too low",
    ),
    (
        400,
        "invalid_request_error",
        "prompt is too long: 9 tokens > 8 maximum",
        "invalid_request",
        "Prompt is too long",
    ),
    (
        401,
        "authentication_error",
        "invalid x-api-key",
        "authentication_failed",
        "Invalid API key · Fix external API key",
    ),
    (
        402,
        "billing_error",
        "pay up",
        "unknown",
        "API Error: 402 pay up",
    ),
    (
        403,
        "permission_error",
        "nope",
        "authentication_failed",
        "Failed to authenticate. API Error: 403 nope",
    ),
    (
        404,
        "not_found_error",
        "no",
        "model_not_found",
        "There's an issue with the selected model (claude-opus-5-5)",
    ),
    (
        413,
        "request_too_large",
        "too big",
        "invalid_request",
        "Request too large",
    ),
    (
        429,
        "rate_limit_error",
        "slow down",
        "rate_limit",
        "API Error: Request rejected (429) · slow down",
    ),
    (
        500,
        "api_error",
        "boom",
        "server_error",
        "API Error: 500 boom.",
    ),
    (
        529,
        "overloaded_error",
        "Overloaded",
        "server_error",
        "API Error: 529 Overloaded.",
    ),
];
