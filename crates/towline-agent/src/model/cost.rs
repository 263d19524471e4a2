//! What calls of the model take: tokens and money, added up by model, by turn and by session (pure).

use towline_protocol::{
    CacheCreation, ModelUsage, ModelUsages, Nullable, Number, OutputTokensDetails, ServerToolUse,
    Usage, transcript::CostState,
};

use super::catalogue::{self, OFFLINE};

/// Bytes of text that make a token, roughly; only the API knows better.
pub(crate) const BYTES_IN_TOKEN: usize = 4;

/// What a session has taken so far, subagents and side calls included.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Costs {
    session: Ledger,
    /// The same since the last result. Added up by itself: a difference of sums would not be the same number.
    since_result: Ledger,
    total_usd: f64,
    has_unknown_model: bool,
}

impl Costs {
    /// Goes on from where a session was left, by the last `cost-state` of its transcript.
    pub(crate) fn restore(state: &CostState) -> Self {
        let mut session = Ledger::default();
        for (model, usage) in state.model_usage.iter().flat_map(ModelUsages::iter) {
            session.entry(model).add(Spent::of_model_usage(usage));
        }
        Self {
            session,
            since_result: Ledger::default(),
            total_usd: state.total_cost_usd.as_ref().map_or(0.0, usable),
            has_unknown_model: state.has_unknown_model_cost.unwrap_or(false),
        }
    }

    /// Adds one call of a model, by its full name and the final usage of its message, and gives its cost.
    pub(crate) fn add(&mut self, model: &str, usage: &Usage) -> f64 {
        let spent = Spent::of_usage(model, usage);
        self.session.entry(model).add(spent);
        self.since_result.entry(model).add(spent);
        self.total_usd += spent.usd;
        self.has_unknown_model |= catalogue::find(model).is_none();
        spent.usd
    }

    /// What it has cost, in US dollars.
    pub(crate) fn total_usd(&self) -> f64 {
        self.total_usd
    }

    /// Whether a model without a price of its own was called; then the cost is a guess.
    #[cfg(test)]
    pub(crate) fn has_unknown_model(&self) -> bool {
        self.has_unknown_model
    }

    /// What each model has taken in the session so far.
    pub(crate) fn model_usages(&self) -> ModelUsages {
        self.session.model_usages()
    }

    /// What each model has taken since this was last asked.
    pub(crate) fn take_since_result(&mut self) -> ModelUsages {
        std::mem::take(&mut self.since_result).model_usages()
    }

    /// The record for the transcript, as far as it is about tokens and money.
    pub(crate) fn state(&self) -> CostState {
        let usages = self.session.0.iter().map(|(model, spent)| {
            // The record has no more than what cannot be looked up again.
            let usage = spent.model_usage();
            (model.as_str(), usage)
        });
        CostState {
            total_cost_usd: Some(money(self.total_usd)),
            model_usage: Some(usages.collect()),
            has_unknown_model_cost: Some(self.has_unknown_model),
            ..CostState::default()
        }
    }
}

/// What one call costs, in US dollars.
#[cfg(test)]
pub(crate) fn usd(model: &str, usage: &Usage) -> f64 {
    Spent::of_usage(model, usage).usd
}

/// The usage of a message so far: what `message_start` said, and what a `message_delta` says now. Its counts are totals.
pub(crate) fn merge(usage: &mut Usage, delta: &Usage) {
    fn replace<T: Clone>(old: &mut Nullable<T>, new: &Nullable<T>) {
        if let Nullable::Value(_) = new {
            *old = new.clone();
        }
    }
    // A zero here means that the event does not say: the tokens that were read are known from the start.
    if let Some(tokens) = delta.input_tokens.filter(|tokens| *tokens > 0) {
        usage.input_tokens = Some(tokens);
    }
    if delta.output_tokens.is_some() {
        usage.output_tokens = delta.output_tokens;
    }
    for (old, new) in [
        (
            &mut usage.cache_creation_input_tokens,
            &delta.cache_creation_input_tokens,
        ),
        (
            &mut usage.cache_read_input_tokens,
            &delta.cache_read_input_tokens,
        ),
    ] {
        if new.as_option().is_some_and(|tokens| *tokens > 0) {
            *old = *new;
        }
    }
    replace(
        &mut usage.output_tokens_details,
        &delta.output_tokens_details,
    );
    replace(&mut usage.server_tool_use, &delta.server_tool_use);
    replace(&mut usage.cache_creation, &delta.cache_creation);
    replace(&mut usage.service_tier, &delta.service_tier);
    replace(&mut usage.inference_geo, &delta.inference_geo);
    replace(&mut usage.iterations, &delta.iterations);
    replace(&mut usage.speed, &delta.speed);
    replace(&mut usage.fallback_credit, &delta.fallback_credit);
}

/// The tokens of a turn, as a result line has them: the sum over its calls, with every field there.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct TurnUsage {
    spent: Spent,
    web_fetches: u64,
}

impl TurnUsage {
    /// Adds one call, by the final usage of its message.
    pub(crate) fn add(&mut self, usage: &Usage) {
        self.spent.add(Spent::of_usage(OFFLINE, usage));
        let tools = usage.server_tool_use.as_option();
        let fetches = tools.and_then(|tools| tools.web_fetch_requests);
        self.web_fetches = self.web_fetches.saturating_add(fetches.unwrap_or(0));
    }

    /// As it stands on the line (trace `control-02a_user_forms`).
    pub(crate) fn usage(&self) -> Usage {
        let spent = &self.spent;
        Usage {
            input_tokens: Some(spent.input),
            output_tokens: Some(spent.output),
            cache_creation_input_tokens: Nullable::Value(spent.cache_write),
            cache_read_input_tokens: Nullable::Value(spent.cache_read),
            output_tokens_details: Nullable::Value(OutputTokensDetails {
                thinking_tokens: Some(spent.thinking),
                ..OutputTokensDetails::default()
            }),
            server_tool_use: Nullable::Value(ServerToolUse {
                web_search_requests: Some(spent.web_searches),
                web_fetch_requests: Some(self.web_fetches),
                ..ServerToolUse::default()
            }),
            service_tier: Nullable::Value("standard".into()),
            cache_creation: Nullable::Value(CacheCreation {
                ephemeral_1h_input_tokens: Some(spent.cache_write_1h),
                ephemeral_5m_input_tokens: Some(spent.cache_write_5m),
                ..CacheCreation::default()
            }),
            inference_geo: Nullable::Value("".into()),
            iterations: Nullable::Value(Vec::new()),
            speed: Nullable::Value("standard".into()),
            fallback_credit: Nullable::Null,
            ..Usage::default()
        }
    }
}

/// What each model has taken, in the order in which they were first called.
#[derive(Clone, Debug, Default, PartialEq)]
struct Ledger(Vec<(String, Spent)>);

impl Ledger {
    fn entry(&mut self, model: &str) -> &mut Spent {
        let place = self.0.iter().position(|(known, _)| known == model);
        let place = place.unwrap_or_else(|| {
            self.0.push((model.to_owned(), Spent::default()));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }

    fn model_usages(&self) -> ModelUsages {
        let described = self.0.iter().map(|(model, spent)| {
            let facts = catalogue::facts(model);
            let is_known = catalogue::find(model).is_some();
            let usage = ModelUsage {
                context_window: Some(facts.context_window),
                max_output_tokens: Some(facts.max_output_tokens),
                canonical_model: Some(catalogue::canonical(model).into()),
                provider: Some(
                    if model == OFFLINE {
                        OFFLINE
                    } else {
                        "firstParty"
                    }
                    .into(),
                ),
                cost_basis: Some(if is_known { "list" } else { "unknown" }.into()),
                ..spent.model_usage()
            };
            (model.as_str(), usage)
        });
        described.collect()
    }
}

/// Tokens and money. Sums that would overflow stay at the largest number: a server's counts are not to be trusted.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Spent {
    input: u64,
    output: u64,
    cache_read: u64,
    /// All that was put into the cache; where the API does not say for how long, it is five minutes.
    cache_write: u64,
    cache_write_5m: u64,
    cache_write_1h: u64,
    thinking: u64,
    web_searches: u64,
    usd: f64,
}

impl Spent {
    fn of_usage(model: &str, usage: &Usage) -> Self {
        let count = |tokens: &Nullable<u64>| tokens.as_option().copied().unwrap_or(0);
        let by_time = usage.cache_creation.as_option();
        let tools = usage.server_tool_use.as_option();
        let details = usage.output_tokens_details.as_option();
        let mut spent = Self {
            input: usage.input_tokens.unwrap_or(0),
            output: usage.output_tokens.unwrap_or(0),
            cache_read: count(&usage.cache_read_input_tokens),
            cache_write: count(&usage.cache_creation_input_tokens),
            cache_write_5m: by_time
                .and_then(|by_time| by_time.ephemeral_5m_input_tokens)
                .unwrap_or(0),
            cache_write_1h: by_time
                .and_then(|by_time| by_time.ephemeral_1h_input_tokens)
                .unwrap_or(0),
            thinking: details
                .and_then(|details| details.thinking_tokens)
                .unwrap_or(0),
            web_searches: tools
                .and_then(|tools| tools.web_search_requests)
                .unwrap_or(0),
            usd: 0.0,
        };
        spent.usd = spent.price(model);
        spent
    }

    fn of_model_usage(usage: &ModelUsage) -> Self {
        Self {
            input: usage.input_tokens.unwrap_or(0),
            output: usage.output_tokens.unwrap_or(0),
            cache_read: usage.cache_read_input_tokens.unwrap_or(0),
            cache_write: usage.cache_creation_input_tokens.unwrap_or(0),
            cache_write_5m: usage.cache_creation_5m.unwrap_or(0),
            cache_write_1h: usage.cache_creation_1h.unwrap_or(0),
            thinking: usage.thinking_tokens.unwrap_or(0),
            web_searches: usage.web_search_requests.unwrap_or(0),
            usd: usage.cost_usd.as_ref().map_or(0.0, usable),
        }
    }

    fn model_usage(&self) -> ModelUsage {
        ModelUsage {
            input_tokens: Some(self.input),
            output_tokens: Some(self.output),
            cache_read_input_tokens: Some(self.cache_read),
            cache_creation_input_tokens: Some(self.cache_write),
            web_search_requests: Some(self.web_searches),
            cost_usd: Some(money(self.usd)),
            thinking_tokens: Some(self.thinking),
            cache_creation_5m: Some(self.cache_write_5m),
            cache_creation_1h: Some(self.cache_write_1h),
            ..ModelUsage::default()
        }
    }

    fn add(&mut self, more: Self) {
        for (sum, more) in [
            (&mut self.input, more.input),
            (&mut self.output, more.output),
            (&mut self.cache_read, more.cache_read),
            (&mut self.cache_write, more.cache_write),
            (&mut self.cache_write_5m, more.cache_write_5m),
            (&mut self.cache_write_1h, more.cache_write_1h),
            (&mut self.thinking, more.thinking),
            (&mut self.web_searches, more.web_searches),
        ] {
            *sum = sum.saturating_add(more);
        }
        self.usd += more.usd;
    }

    /// The order of these operations is the real CLI's: in another one the last digit of the sum differs.
    fn price(&self, model: &str) -> f64 {
        let prices = catalogue::facts(model).prices;
        let millions = |tokens: u64| tokens as f64 / 1_000_000.0;
        let for_an_hour = self.cache_write_1h.min(self.cache_write);
        let shorter = self.cache_write - for_an_hour;
        let cache_write = millions(shorter) * prices.cache_write_5m
            + millions(for_an_hour) * prices.cache_write_1h;
        let web_searches = if model == OFFLINE {
            0.0
        } else {
            self.web_searches as f64 * WEB_SEARCH_USD
        };
        millions(self.input) * prices.input
            + millions(self.output) * prices.output
            + millions(self.cache_read) * prices.cache_read
            + cache_write
            + web_searches
    }
}

/// A sum of money as the lines have it: a whole number where it is one.
fn money(usd: f64) -> Number {
    if usd == 0.0 {
        Number::from(0)
    } else {
        Number::from(usd)
    }
}

/// A transcript is a file that anyone can write.
fn usable(number: &Number) -> f64 {
    let usd = number.as_f64();
    if usd.is_finite() && usd >= 0.0 {
        usd
    } else {
        0.0
    }
}

/// One search of the API's own tool.
const WEB_SEARCH_USD: f64 = 0.01;

#[cfg(test)]
mod tests;
