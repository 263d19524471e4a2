//! What a turn took, out of its `result` line. Pure.

use towline_protocol::{Frame as LineFrame, Nullable, Number, ToHost, TurnResult, peek_kind};

use crate::Frame;

/// What one turn of a session took.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// The number of the frame that ended it.
    pub seq: u64,
    /// When it ended, in milliseconds since 1970.
    pub at: u64,
    /// The model; the costliest if there were several.
    pub model: Option<String>,
    /// What it cost, in US dollars.
    pub cost_usd: f64,
    /// Tokens read, without those from the cache.
    pub input_tokens: u64,
    /// Tokens read from the cache.
    pub cached_tokens: u64,
    /// Tokens put into the cache.
    pub cache_written_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
}

/// A turn, and what its result says the session has cost so far.
pub(super) struct Counted {
    pub(super) turn: Turn,
    pub(super) total_cost_usd: f64,
}

/// The turn that a frame ends, if it does. `cost_before` is the last total that the session's results named.
///
/// CLI 2.1.325 says what was used since the last result, subagents included (306 of 311 recorded results). Where an
/// agent does not, the cost is the difference of two totals, or the total itself where it has become smaller: a new
/// process began at nothing, or the conversation was cleared. The tokens are then those of the main thread.
pub(super) fn turn_of(frame: &Frame, cost_before: impl FnOnce() -> f64) -> Option<Counted> {
    if peek_kind(&frame.body)? != "result" {
        return None;
    }
    let line = LineFrame::<ToHost>::decode(frame.body.clone()).ok()?;
    let ToHost::Result(result) = line.message else {
        return None;
    };
    let total = result.total_cost_usd.as_ref();
    let total = dollars(total.map_or(0.0, Number::as_f64));
    let mut turn = Turn {
        seq: frame.seq,
        at: frame.at,
        model: model_of(&result),
        cost_usd: 0.0,
        input_tokens: 0,
        cached_tokens: 0,
        cache_written_tokens: 0,
        output_tokens: 0,
    };
    if let Some(models) = &result.model_usage_since_last_result {
        for (_, used) in models.iter() {
            turn.cost_usd += cost(used.cost_usd.as_ref());
            turn.input_tokens += tokens(used.input_tokens);
            turn.cached_tokens += tokens(used.cache_read_input_tokens);
            turn.cache_written_tokens += tokens(used.cache_creation_input_tokens);
            turn.output_tokens += tokens(used.output_tokens);
        }
    } else {
        if total > 0.0 {
            let before = cost_before();
            turn.cost_usd = if total < before {
                total
            } else {
                total - before
            };
        }
        if let Some(used) = result.usage.as_option() {
            let cached = |count: &Nullable<u64>| tokens(count.as_option().copied());
            turn.input_tokens = tokens(used.input_tokens);
            turn.cached_tokens = cached(&used.cache_read_input_tokens);
            turn.cache_written_tokens = cached(&used.cache_creation_input_tokens);
            turn.output_tokens = tokens(used.output_tokens);
        }
    }
    turn.cost_usd = dollars(turn.cost_usd);
    Some(Counted {
        turn,
        total_cost_usd: total,
    })
}

fn model_of(result: &TurnResult) -> Option<String> {
    let models = result.model_usage_since_last_result.as_ref();
    let models = models.or(result.model_usage.as_ref())?;
    let costliest = models.iter().max_by(|(_, one), (_, other)| {
        cost(one.cost_usd.as_ref()).total_cmp(&cost(other.cost_usd.as_ref()))
    });
    costliest.map(|(name, _)| name.chars().take(LONGEST_NAME).collect())
}

fn cost(cost: Option<&Number>) -> f64 {
    dollars(cost.map_or(0.0, Number::as_f64))
}

/// Sums must stay sums, whatever an agent writes.
fn dollars(amount: f64) -> f64 {
    if amount.is_finite() {
        amount.clamp(0.0, 1e9)
    } else {
        0.0
    }
}

fn tokens(count: Option<u64>) -> u64 {
    count.unwrap_or(0).min(MOST_TOKENS)
}

const LONGEST_NAME: usize = 200;
const MOST_TOKENS: u64 = 1_000_000_000_000;

#[cfg(test)]
mod tests {
    use super::turn_of;
    use crate::{Frame, Kind};

    /// Cost, tokens by kind and model of a result, with the total before it.
    fn check(body: &str, before: f64) -> Option<(f64, [u64; 4], Option<String>)> {
        let frame = Frame {
            seq: 3,
            at: 7,
            kind: Kind::Line,
            body: body.into(),
        };
        let turn = turn_of(&frame, || before)?.turn;
        let tokens = [
            turn.input_tokens,
            turn.cached_tokens,
            turn.cache_written_tokens,
            turn.output_tokens,
        ];
        Some(((turn.cost_usd * 1e6).round() / 1e6, tokens, turn.model))
    }

    #[test]
    fn a_turn_takes_what_was_used_since_the_last_result() {
        let usage = r#""usage":{"input_tokens":200,"cache_read_input_tokens":5,"cache_creation_input_tokens":6,"output_tokens":40}"#;
        let since = r#""model_usage_since_last_result":{"small":{"inputTokens":1,"outputTokens":2,"costUSD":0.001},"large":{"inputTokens":400,"outputTokens":80,"cacheReadInputTokens":3,"cacheCreationInputTokens":4,"costUSD":0.5}}"#;
        let result = |rest: &str| format!(r#"{{"type":"result","subtype":"success",{rest}}}"#);
        let large = Some("large".to_owned());
        for (body, before, expected) in [
            // What the agent says it used counts, whatever the totals are.
            (
                result(&format!(r#""total_cost_usd":9,{usage},{since}"#)),
                1.0,
                Some((0.501, [401, 3, 4, 82], large.clone())),
            ),
            // Without that: the difference of totals, and the main thread's tokens.
            (
                result(&format!(r#""total_cost_usd":1.5,{usage}"#)),
                1.0,
                Some((0.5, [200, 5, 6, 40], None)),
            ),
            (
                result(&format!(r#""total_cost_usd":0.25,{usage}"#)),
                1.0,
                Some((0.25, [200, 5, 6, 40], None)),
            ),
            (
                result(r#""total_cost_usd":0.25,"modelUsage":{"large":{"costUSD":0.25}}"#),
                0.0,
                Some((0.25, [0; 4], large)),
            ),
            // A session that could not be resumed.
            (
                result(r#""total_cost_usd":0,"usage":null"#),
                1.0,
                Some((0.0, [0; 4], None)),
            ),
            // Nonsense stays within bounds.
            (
                result(r#""total_cost_usd":-3,"usage":{"input_tokens":18446744073709551615}"#),
                0.0,
                Some((0.0, [1_000_000_000_000, 0, 0, 0], None)),
            ),
            (r#"{"type":"assistant"}"#.to_owned(), 0.0, None),
            (
                r#"{"type":"result","total_cost_usd":"#.to_owned(),
                0.0,
                None,
            ),
            ("nonsense".to_owned(), 0.0, None),
        ] {
            assert_eq!(check(&body, before), expected, "{body}");
        }
    }
}
