//! Tables of failures and what is done about them.

use super::*;

fn status(status: u16) -> ApiError {
    let context = super::super::failure::Context {
        model: "m",
        host: "h",
        request_id: None,
    };
    ApiError::of_response(status, b"{}", &context)
}

fn refused(status_code: u16) -> Failure {
    Failure::Refused {
        error: Box::new(status(status_code)),
        retry_after: None,
        can_be_plainer: true,
    }
}

fn no_connection() -> Failure {
    Failure::Refused {
        error: Box::new(ApiError::connection("refused", "h")),
        retry_after: None,
        can_be_plainer: true,
    }
}

fn useless() -> Failure {
    Failure::Useless(ApiError::unreadable("empty"))
}

/// What is done, in a few words.
fn shown(decision: &Decision) -> String {
    match decision {
        Decision::Again => "again".to_owned(),
        Decision::Tell(retry) => format!(
            "{}/{} after {} ms: {}",
            retry.attempt, retry.max_retries, retry.delay_ms, retry.error.name
        ),
        Decision::Fallback { from, to } => format!("{from} to {to}"),
        Decision::GiveUp(error) => format!("over: {}", error.name),
    }
}

fn check(retries: &mut Retries, failures: impl IntoIterator<Item = Failure>, expected: &[&str]) {
    let done: Vec<_> = failures
        .into_iter()
        .map(|failure| shown(&retries.handle_failure(failure, 0.0)))
        .collect();
    assert_eq!(done, expected);
}

fn retries(max_retries: u64) -> Retries {
    Retries::new("one", None, max_retries, Duration::from_millis(500))
}

#[test]
fn each_failure_is_met_as_the_real_cli_meets_it() {
    for (failure, first, last) in [
        (
            refused(401),
            "1/1 after 500 ms: authentication_failed",
            "over: authentication_failed",
        ),
        (
            refused(408),
            "1/1 after 500 ms: server_error",
            "over: unknown",
        ),
        (
            refused(409),
            "1/1 after 500 ms: server_error",
            "over: unknown",
        ),
        (
            refused(429),
            "1/1 after 500 ms: rate_limit",
            "over: rate_limit",
        ),
        (
            refused(500),
            "1/1 after 500 ms: server_error",
            "over: server_error",
        ),
        (
            refused(503),
            "1/1 after 500 ms: server_error",
            "over: server_error",
        ),
        (
            refused(529),
            "1/1 after 500 ms: overloaded",
            "over: server_error",
        ),
        (
            no_connection(),
            "1/1 after 500 ms: unknown",
            "over: server_error",
        ),
        (refused(400), "again", "over: unknown"),
        (refused(422), "again", "over: unknown"),
        (refused(404), "again", "over: model_not_found"),
        (useless(), "again", "over: unknown"),
    ] {
        check(&mut retries(1), [failure.clone(), failure], &[first, last]);
    }
    for (failure, expected) in [
        (refused(402), "over: unknown"),
        (refused(403), "over: authentication_failed"),
        (refused(413), "over: invalid_request"),
        (refused(418), "over: unknown"),
        (refused(301), "over: unknown"),
        (
            Failure::Final(ApiError::unreadable("a page")),
            "over: unknown",
        ),
    ] {
        check(&mut retries(10), [failure], &[expected]);
    }
}

#[test]
fn a_plainer_request_is_tried_once_and_only_if_there_is_one() {
    let mut first = retries(3);
    assert_eq!(first.form(), Form::default());
    check(&mut first, [refused(400)], &["again"]);
    assert_eq!(
        first.form(),
        Form {
            plain: true,
            whole: false
        }
    );
    check(&mut first, [refused(400)], &["over: unknown"]);
    let nothing_to_leave_out = Failure::Refused {
        error: Box::new(status(400)),
        retry_after: None,
        can_be_plainer: false,
    };
    check(&mut retries(3), [nothing_to_leave_out], &["over: unknown"]);
    let too_long = Failure::Refused {
        error: Box::new(ApiError {
            name: "invalid_request",
            ..status(400)
        }),
        retry_after: None,
        can_be_plainer: true,
    };
    check(&mut retries(3), [too_long], &["over: invalid_request"]);
}

#[test]
fn a_useless_stream_is_asked_for_in_one_piece_and_that_may_be_retried_too() {
    let mut retries = retries(2);
    check(&mut retries, [useless()], &["again"]);
    assert_eq!(
        retries.form(),
        Form {
            plain: false,
            whole: true
        }
    );
    check(
        &mut retries,
        [refused(500)],
        &["1/2 after 500 ms: server_error"],
    );
    assert!(retries.form().whole);
}

#[test]
fn delays_double_up_to_a_bound() {
    let mut retries = retries(20);
    let delays: Vec<_> = (0..9)
        .map(|_| match retries.handle_failure(refused(500), 0.0) {
            Decision::Tell(retry) => retry.delay_ms,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(
        delays,
        [
            500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 32_000, 32_000
        ]
    );
}

#[test]
fn jitter_adds_up_to_a_quarter_whatever_the_dice_say() {
    for (jitter, delay) in [
        (0.0, 500),
        (0.5, 562),
        (1.0, 625),
        (7.0, 625),
        (-7.0, 500),
        (f64::NAN, 500),
        (f64::INFINITY, 500),
    ] {
        let Decision::Tell(retry) = retries(1).handle_failure(refused(500), jitter) else {
            panic!("not tried again");
        };
        assert_eq!(retry.delay_ms, delay, "{jitter}");
    }
}

#[test]
fn the_api_s_own_wish_comes_first_within_reason() {
    for (wish, delay) in [
        (Duration::ZERO, 0),
        (Duration::from_secs(1), 1_000),
        (Duration::from_secs(86_400), 600_000),
        (Duration::MAX, 600_000),
    ] {
        let failure = Failure::Refused {
            error: Box::new(status(429)),
            retry_after: Some(wish),
            can_be_plainer: true,
        };
        let Decision::Tell(retry) = retries(1).handle_failure(failure, 1.0) else {
            panic!("not tried again");
        };
        assert_eq!(retry.delay_ms, delay);
    }
}

#[test]
fn another_model_goes_on_after_the_third_overload() {
    let mut retries = Retries::new("one", Some("two"), 10, Duration::from_millis(500));
    check(
        &mut retries,
        [refused(529), refused(529), refused(529), refused(529)],
        &[
            "1/10 after 500 ms: overloaded",
            "2/10 after 1000 ms: overloaded",
            "one to two",
            "1/10 after 500 ms: overloaded",
        ],
    );
    assert_eq!(retries.model(), "two");
    let mut same = Retries::new("one", Some("one"), 3, Duration::ZERO);
    check(
        &mut same,
        [refused(529), refused(529), refused(529), refused(529)],
        &[
            "1/3 after 0 ms: overloaded",
            "2/3 after 0 ms: overloaded",
            "3/3 after 0 ms: overloaded",
            "over: server_error",
        ],
    );
}

#[test]
fn no_retries_means_none() {
    check(&mut retries(0), [refused(500)], &["over: server_error"]);
}

#[test]
fn the_header_is_seconds_or_a_date() {
    let now: Timestamp = "2026-11-16T12:00:00Z".parse().unwrap();
    for (header, expected) in [
        ("0", Some(0.0)),
        (" 2 ", Some(2.0)),
        ("1.5", Some(1.5)),
        ("Mon, 16 Nov 2026 12:00:30 GMT", Some(30.0)),
        ("Mon, 16 Nov 2026 11:00:00 GMT", Some(0.0)),
        ("-1", None),
        ("NaN", None),
        ("1e400", None),
        ("soon", None),
        ("", None),
    ] {
        let expected = expected.map(Duration::from_secs_f64);
        assert_eq!(retry_after(header, now), expected, "{header:?}");
    }
}
