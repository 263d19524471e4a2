//! Whether a call that failed is tried again, how, and when (pure). The clock and the dice are the caller's.
//!
//! What is done follows CLI 2.1.325 (traces `control-09l*` to `control-09r*`, `sessions-errp_*`):
//!
//! | what happened | what is done | told |
//! |---|---|---|
//! | 401, 408, 409, 429, 5xx; no connection, a stream cut off | again, as often as allowed | yes |
//! | 529 for the third time, with a fallback model | goes on with that model | yes |
//! | 400 or 422, with features that can be left out | once more without them | no |
//! | 404 | once more | no |
//! | a stream that is empty, malformed or says `error` | once more, in one piece | no |
//! | anything else | nothing | |

use std::time::Duration;

use jiff::Timestamp;

use super::{ApiError, Retry};

/// The tries of one call.
#[derive(Clone, Debug)]
pub(crate) struct Retries {
    max_retries: u64,
    base_delay: Duration,
    model: String,
    fallback: Option<String>,
    /// How often it was tried again and told.
    told: u64,
    overloaded: u64,
    form: Form,
    looked_twice: bool,
}

/// What the next request is like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form {
    /// Without the features that an API may not know.
    pub(crate) plain: bool,
    /// The answer in one piece instead of a stream.
    pub(crate) whole: bool,
}

/// What went wrong with one try.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Failure {
    /// The API said no, or there was no API to say anything.
    Refused {
        /// What it said.
        error: Box<ApiError>,
        /// When it wants to be asked again.
        retry_after: Option<Duration>,
        /// Whether the request had features that can be left out.
        can_be_plainer: bool,
    },
    /// The API answered with a stream that is empty, malformed, or says that it failed.
    Useless(ApiError),
    /// Asking again cannot help.
    Final(ApiError),
}

/// What is done about it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Decision {
    /// Again, after its delay. It is told.
    Tell(Retry),
    /// Again at once. Nobody needs to know.
    Again,
    /// Again at once, with another model. It is told.
    Fallback {
        /// The model that is overloaded.
        from: String,
        /// The one that goes on.
        to: String,
    },
    /// It is over.
    GiveUp(ApiError),
}

impl Retries {
    /// No try yet. The first delay is about `base_delay`, and each is twice the one before.
    pub(crate) fn new(
        model: &str,
        fallback: Option<&str>,
        max_retries: u64,
        base_delay: Duration,
    ) -> Self {
        Self {
            max_retries,
            base_delay,
            model: model.to_owned(),
            fallback: fallback.filter(|name| *name != model).map(str::to_owned),
            told: 0,
            overloaded: 0,
            form: Form::default(),
            looked_twice: false,
        }
    }

    /// The model to ask.
    pub(crate) fn model(&self) -> &str {
        &self.model
    }

    /// What the next request is like.
    pub(crate) fn form(&self) -> Form {
        self.form
    }

    /// A try failed. `jitter` is a number from 0 to 1.
    pub(crate) fn handle_failure(&mut self, failure: Failure, jitter: f64) -> Decision {
        let (error, retry_after, can_be_plainer) = match failure {
            Failure::Final(error) => return Decision::GiveUp(error),
            Failure::Useless(error) if self.form.whole => return Decision::GiveUp(error),
            Failure::Useless(_) => {
                self.form.whole = true;
                return Decision::Again;
            }
            Failure::Refused {
                error,
                retry_after,
                can_be_plainer,
            } => (*error, retry_after, can_be_plainer),
        };
        match error.status {
            Some(400 | 422) if can_be_plainer && !self.form.plain && error.is_about_features() => {
                self.form.plain = true;
                Decision::Again
            }
            Some(404) if !self.looked_twice => {
                self.looked_twice = true;
                Decision::Again
            }
            Some(529) if self.is_overloaded_again() => self.fall_back(error, retry_after, jitter),
            None | Some(401 | 408 | 409 | 429 | 500..) => self.tell(error, retry_after, jitter),
            Some(_) => Decision::GiveUp(error),
        }
    }

    /// Whether the model was overloaded once too often.
    fn is_overloaded_again(&mut self) -> bool {
        self.overloaded += 1;
        self.overloaded >= OVERLOADED_AT_MOST
    }

    fn fall_back(
        &mut self,
        error: ApiError,
        retry_after: Option<Duration>,
        jitter: f64,
    ) -> Decision {
        let Some(to) = self.fallback.take() else {
            return self.tell(error, retry_after, jitter);
        };
        let from = std::mem::replace(&mut self.model, to.clone());
        self.told = 0;
        self.overloaded = 0;
        self.form = Form::default();
        Decision::Fallback { from, to }
    }

    fn tell(&mut self, error: ApiError, retry_after: Option<Duration>, jitter: f64) -> Decision {
        if self.told >= self.max_retries {
            return Decision::GiveUp(error);
        }
        self.told += 1;
        let delay = match retry_after {
            Some(delay) => delay.min(LONGEST_WISH),
            None => self.backoff(jitter),
        };
        Decision::Tell(Retry {
            attempt: self.told,
            max_retries: self.max_retries,
            delay_ms: u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
            error: ApiError {
                name: error.name_while_retrying(),
                ..error
            },
        })
    }

    /// Twice as long each time, and up to a quarter more, so that many agents do not come back at the same moment.
    fn backoff(&self, jitter: f64) -> Duration {
        let doublings = u32::try_from(self.told.saturating_sub(1)).unwrap_or(u32::MAX);
        let factor = 2_u32.saturating_pow(doublings.min(30));
        let delay = self.base_delay.saturating_mul(factor).min(LONGEST_DELAY);
        let jitter = if jitter.is_finite() {
            jitter.clamp(0.0, 1.0)
        } else {
            0.0
        };
        delay + delay.mul_f64(jitter / 4.0)
    }
}

/// What a `retry-after` header asks for: seconds, or a date.
pub(crate) fn retry_after(header: &str, now: Timestamp) -> Option<Duration> {
    let header = header.trim();
    if let Ok(seconds) = header.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = jiff::fmt::rfc2822::DateTimeParser::new()
        .parse_timestamp(header)
        .ok()?;
    // A date that is over means now.
    Some(Duration::try_from(date.duration_since(now)).unwrap_or(Duration::ZERO))
}

/// So often a model may be overloaded before another one is asked (trace `sessions-flag_fallback`).
const OVERLOADED_AT_MOST: u64 = 3;

/// No delay of ours is longer, jitter apart.
const LONGEST_DELAY: Duration = Duration::from_secs(32);

/// No longer does a person wait because the API wants it: better an error than an agent that seems dead.
const LONGEST_WISH: Duration = Duration::from_secs(600);

#[cfg(test)]
mod tests;
