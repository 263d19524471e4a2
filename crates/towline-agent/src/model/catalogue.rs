//! The models there are: their names, sizes, prices and habits (pure). What they cost in sum is the business of `cost`.
//!
//! Names, sizes and prices are those that CLI 2.1.325 works with: they follow from `modelUsage` in its result lines.

use towline_protocol::control::answer::ModelSummary;

use super::Thinking;
use crate::config::{ModelOptions, ThinkingOption};

/// What is known of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct ModelFacts {
    /// Its full name, without a date.
    pub(crate) name: &'static str,
    /// Its name for a person, such as `Opus 5.5`.
    pub(crate) display_name: &'static str,
    /// The tokens that fit into one call.
    pub(crate) context_window: u64,
    /// The most it may write in one call.
    pub(crate) max_output_tokens: u64,
    /// What it costs.
    pub(crate) prices: Prices,
    /// How it thinks.
    pub(crate) thinking: ThinkingKind,
    /// How hard it tries if nobody says; nothing where it cannot be told.
    pub(crate) effort: Option<&'static str>,
    /// What the agent may expect of it.
    pub(crate) generation: Generation,
}

/// US dollars for a million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prices {
    /// Read.
    pub(crate) input: f64,
    /// Written.
    pub(crate) output: f64,
    /// Put into the cache for five minutes.
    pub(crate) cache_write_5m: f64,
    /// Put into the cache for an hour.
    pub(crate) cache_write_1h: f64,
    /// Taken from the cache.
    pub(crate) cache_read: f64,
}

/// How a model thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ThinkingKind {
    /// As much as it wants, always: nothing switches it off.
    Always,
    /// As much as it wants, or not at all.
    Adaptive,
    /// Within a number of tokens.
    Budget,
    /// Never.
    Never,
}

/// What the agent may expect of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Generation {
    /// Today's models.
    Current,
    /// Those before.
    Previous,
    /// Those before them.
    Earlier,
}

impl Generation {
    /// Whether a file may be written that was not read before (traces `sessions-unread_*`).
    pub(crate) fn writes_unread_files(self) -> bool {
        self == Self::Current
    }

    /// Whether it is told with every turn how hard to try (traces `sessions-flag_model_opus`, `sessions-flag_fallback`).
    pub(crate) fn has_effort_per_turn(self) -> bool {
        self == Self::Current
    }

    /// Whether the tools for a list of tasks are offered (traces `sessions-tools_sonnet45`, `sessions-tools_haiku45`).
    pub(crate) fn keeps_task_list(self) -> bool {
        self == Self::Earlier
    }

    /// Whether a message of the conversation may have the role `system`.
    pub(crate) fn takes_system_messages(self) -> bool {
        self != Self::Earlier
    }
}

/// What is known of a model by its full name, with or without a date. Nothing if it is not known.
pub(crate) fn find(model: &str) -> Option<&'static ModelFacts> {
    let canonical = canonical(model);
    MODELS.iter().find(|facts| facts.name == canonical)
}

/// Whether a model is known: by an alias, by its full name, or as the responder that needs no account. Any other is
/// tried all the same.
///
/// ```
/// assert!(towline_agent::knows_model("opus"));
/// assert!(!towline_agent::knows_model("banana-9"));
/// ```
pub fn knows_model(name: &str) -> bool {
    let name = name.trim();
    let name = name.strip_suffix("[1m]").unwrap_or(name);
    name == OFFLINE || find(resolve(Some(name))).is_some()
}

/// What is known of a model, or what is taken for granted of one that is not known.
pub(crate) fn facts(model: &str) -> &'static ModelFacts {
    find(model).unwrap_or(&UNKNOWN)
}

/// The name without the date that it may end with: `claude-haiku-4-5-20251001` is `claude-haiku-4-5`.
pub(crate) fn canonical(model: &str) -> &str {
    match model.rsplit_once('-') {
        Some((name, date)) if date.len() == 8 && date.bytes().all(|byte| byte.is_ascii_digit()) => {
            name
        }
        _ => model,
    }
}

/// The full name of the model that is meant: an alias becomes its model, any other name is a full name already.
/// Without a name it is the default model.
pub(crate) fn resolve(name: Option<&str>) -> &str {
    let name = name.map(str::trim).filter(|name| !name.is_empty());
    let wanted = name.unwrap_or(DEFAULT);
    CHOICES
        .iter()
        .find(|choice| choice.alias.eq_ignore_ascii_case(wanted))
        .map_or(wanted, |choice| choice.model)
}

/// How a model is to think: what was asked for, as far as it can do that.
///
/// The real CLI lets its newest models think although it is told not to, and older ones within all they may write.
pub(crate) fn thinking(model: &str, options: &ModelOptions) -> Thinking {
    let facts = facts(model);
    let is_off = options.thinking == Some(ThinkingOption::Disabled)
        || (options.thinking.is_none() && options.max_thinking_tokens == Some(0));
    match facts.thinking {
        ThinkingKind::Always => Thinking::Adaptive,
        ThinkingKind::Never => Thinking::Disabled,
        ThinkingKind::Adaptive | ThinkingKind::Budget if is_off => Thinking::Disabled,
        ThinkingKind::Adaptive => Thinking::Adaptive,
        ThinkingKind::Budget => {
            let most = max_tokens(model, options).saturating_sub(1);
            let wanted = options.max_thinking_tokens.filter(|tokens| *tokens > 0);
            Thinking::Budget(wanted.unwrap_or(most).min(most))
        }
    }
}

/// How hard a model is to try: what was asked for, else what suits it. Nothing where it cannot be told.
pub(crate) fn effort(model: &str, options: &ModelOptions) -> Option<String> {
    let usual = facts(model).effort?;
    Some(options.effort.as_deref().unwrap_or(usual).to_owned())
}

/// The most that a model may write in one call.
pub(crate) fn max_tokens(model: &str, options: &ModelOptions) -> u64 {
    let most = facts(model).max_output_tokens;
    options
        .max_output_tokens
        .filter(|tokens| *tokens > 0)
        .map_or(most, |tokens| tokens.min(most))
}

/// The models to choose from, as `initialize` and `list_models` give them.
pub(crate) fn models() -> Vec<ModelSummary> {
    CHOICES
        .iter()
        .map(|choice| {
            let facts = facts(choice.model);
            let levels = EFFORT_LEVELS.iter().map(|level| (*level).into());
            ModelSummary {
                value: choice.alias.into(),
                resolved_model: Some(choice.model.into()),
                display_name: Some(choice.display_name.into()),
                description: Some(choice.description.into()),
                supports_effort: facts.effort.map(|_| true),
                supported_effort_levels: facts.effort.map(|_| levels.collect()),
                supports_adaptive_thinking: Some(matches!(
                    facts.thinking,
                    ThinkingKind::Always | ThinkingKind::Adaptive
                )),
                supports_fast_mode: choice.has_fast_mode.then_some(true),
                supports_auto_mode: Some(true),
                supports_thinking_off: Some(facts.thinking != ThinkingKind::Always),
                extra: Default::default(),
            }
        })
        .collect()
}

/// The name under which the offline responder is asked for.
pub(crate) const OFFLINE: &str = "offline";

/// How hard a model can be told to try.
pub(crate) const EFFORT_LEVELS: &[&str] = &["low", "medium", "high", "xhigh", "max"];

const DEFAULT: &str = "default";

/// A model that a person can choose by a short name.
struct Choice {
    alias: &'static str,
    model: &'static str,
    display_name: &'static str,
    description: &'static str,
    has_fast_mode: bool,
}

const CHOICES: &[Choice] = &[
    Choice {
        alias: DEFAULT,
        model: "claude-opus-5-5",
        display_name: "Default (recommended)",
        description: "Opus 5.5, for most work",
        has_fast_mode: true,
    },
    Choice {
        alias: "opus",
        model: "claude-opus-5-5",
        display_name: "Opus",
        description: "Opus 5.5, for hard and long tasks",
        has_fast_mode: true,
    },
    Choice {
        alias: "fable",
        model: "claude-fable-5-2",
        display_name: "Fable",
        description: "Fable 5.2, the largest model",
        has_fast_mode: true,
    },
    Choice {
        alias: "sonnet",
        model: "claude-sonnet-5-5",
        display_name: "Sonnet",
        description: "Sonnet 5.5, quicker and at half the price of Opus",
        has_fast_mode: false,
    },
    Choice {
        alias: "haiku",
        model: "claude-haiku-5-5",
        display_name: "Haiku",
        description: "Haiku 5.5, the quickest, for small questions",
        has_fast_mode: false,
    },
];

const MODELS: &[ModelFacts] = &[
    current("claude-opus-5-5", "Opus 5.5", prices(4.0, 0.2)),
    current("claude-fable-5-2", "Fable 5.2", prices(8.0, 0.2)),
    current("claude-sonnet-5-5", "Sonnet 5.5", prices(2.0, 0.1)),
    current("claude-haiku-5-5", "Haiku 5.5", prices(0.1, 0.01)),
    previous("claude-opus-5", "Opus 5", prices(5.0, 0.5)),
    previous("claude-fable-5", "Fable 5", prices(10.0, 1.0)),
    previous("claude-sonnet-5", "Sonnet 5", prices(2.0, 0.2)),
    previous("claude-opus-4-8", "Opus 4.8", prices(5.0, 0.5)),
    ModelFacts {
        generation: Generation::Earlier,
        effort: Some("xhigh"),
        ..previous("claude-opus-4-7", "Opus 4.7", prices(5.0, 0.5))
    },
    ModelFacts {
        generation: Generation::Earlier,
        context_window: 200_000,
        ..previous("claude-opus-4-6", "Opus 4.6", prices(5.0, 0.5))
    },
    ModelFacts {
        thinking: ThinkingKind::Adaptive,
        effort: Some("high"),
        ..earlier("claude-sonnet-4-6", "Sonnet 4.6", prices(3.0, 0.3))
    },
    ModelFacts {
        effort: Some("high"),
        ..earlier("claude-opus-4-5", "Opus 4.5", prices(5.0, 0.5))
    },
    earlier("claude-sonnet-4-5", "Sonnet 4.5", prices(3.0, 0.3)),
    earlier("claude-haiku-4-5", "Haiku 4.5", prices(1.0, 0.1)),
    ModelFacts {
        name: OFFLINE,
        display_name: "Offline responder",
        context_window: 200_000,
        max_output_tokens: 32_000,
        prices: prices(0.0, 0.0),
        thinking: ThinkingKind::Never,
        effort: None,
        generation: Generation::Current,
    },
];

/// What is taken for granted of a model that is not known (trace `control-09k10_bad_model_flag`).
const UNKNOWN: ModelFacts = ModelFacts {
    max_output_tokens: 32_000,
    effort: Some("high"),
    thinking: ThinkingKind::Adaptive,
    ..current("", "", prices(4.0, 0.2))
};

const fn current(name: &'static str, display_name: &'static str, prices: Prices) -> ModelFacts {
    ModelFacts {
        name,
        display_name,
        context_window: 1_000_000,
        max_output_tokens: 128_000,
        prices,
        thinking: ThinkingKind::Always,
        effort: Some("medium"),
        generation: Generation::Current,
    }
}

const fn previous(name: &'static str, display_name: &'static str, prices: Prices) -> ModelFacts {
    ModelFacts {
        max_output_tokens: 64_000,
        thinking: ThinkingKind::Adaptive,
        effort: Some("high"),
        generation: Generation::Previous,
        ..current(name, display_name, prices)
    }
}

const fn earlier(name: &'static str, display_name: &'static str, prices: Prices) -> ModelFacts {
    ModelFacts {
        name,
        display_name,
        context_window: 200_000,
        max_output_tokens: 32_000,
        prices,
        thinking: ThinkingKind::Budget,
        effort: None,
        generation: Generation::Earlier,
    }
}

/// All prices but the cache's stand in the same proportion for every model.
const fn prices(input: f64, cache_read: f64) -> Prices {
    Prices {
        input,
        output: input * 5.0,
        cache_write_5m: input * 1.25,
        cache_write_1h: input * 2.0,
        cache_read,
    }
}

#[cfg(test)]
mod tests;
