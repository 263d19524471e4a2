//! [`Stats`]: what a trace amounts to. Pure, and of bounded size.

use std::fmt::{self, Write};

use anstyle::Style;
use towline_protocol::{Block, Content, Nullable, ToHost, TurnResult};

use super::super::{
    message::Message,
    row::{Origin, Reading, Row},
    tally::Tally,
};
use crate::terminal::{Palette, escaped};

/// The sums over the rows that were shown.
pub(crate) struct Stats {
    passed_over: u64,
    rows: u64,
    from_host: u64,
    from_agent: u64,
    unknown: u64,
    malformed: u64,
    kinds: Tally,
    tools: Tally,
    clock: Clock,
    results: Results,
}

impl Default for Stats {
    fn default() -> Self {
        Self {
            passed_over: 0,
            rows: 0,
            from_host: 0,
            from_agent: 0,
            unknown: 0,
            malformed: 0,
            kinds: Tally::new(MOST_NAMES),
            tools: Tally::new(MOST_NAMES),
            clock: Clock::default(),
            results: Results::default(),
        }
    }
}

impl Stats {
    /// Counts a row that is not shown.
    pub(crate) fn pass_over(&mut self) {
        self.passed_over += 1;
    }

    pub(crate) fn add(&mut self, row: &Row) {
        self.rows += 1;
        match row.origin {
            Origin::Host => self.from_host += 1,
            Origin::Agent => self.from_agent += 1,
            Origin::Unsaid | Origin::Argv | Origin::Stderr => {}
        }
        self.kinds.add(&row.kind, row.raw.len());
        self.unknown += u64::from(row.unknown_kinds().next().is_some());
        if self.clock.advance(row) == Recording::New {
            self.results.cost_so_far = 0.0;
        }
        match &row.reading {
            Reading::Malformed(_) => self.malformed += 1,
            Reading::Message {
                message: Message::ToHost(message),
                ..
            } => self.add_message(message),
            Reading::Message { .. } | Reading::Aside => {}
        }
    }

    /// A table of several lines.
    pub(crate) fn table(&self, palette: &Palette) -> String {
        let mut table = String::new();
        self.write_table(palette.heading, &mut table)
            .expect("a string takes any text");
        table
    }

    fn add_message(&mut self, message: &ToHost) {
        match message {
            ToHost::Assistant(line) => {
                let content = line.message.as_ref().map(|message| &message.content);
                let blocks = content.and_then(Nullable::as_option).map(Content::blocks);
                for block in blocks.unwrap_or_default() {
                    if let Block::ToolUse(call) | Block::ServerToolUse(call) = block {
                        self.tools.add(call.name.as_str(), 0);
                    }
                }
            }
            ToHost::ToolUse(line) => {
                if let Some(name) = &line.name {
                    self.tools.add(name.as_str(), 0);
                }
            }
            ToHost::Result(result) => self.results.add(result),
            _ => {}
        }
    }

    fn write_table(&self, heading: Style, table: &mut String) -> fmt::Result {
        let others = self.rows - self.from_host - self.from_agent;
        write!(table, "\n{heading}rows{heading:#}       {}", self.rows)?;
        if self.passed_over > 0 {
            write!(table, " of {}", self.rows + self.passed_over)?;
        }
        let (from_host, from_agent) = (self.from_host, self.from_agent);
        writeln!(table, "  (→ {from_host}  ← {from_agent}  · {others})")?;
        writeln!(table, "{heading}unknown{heading:#}    {}", self.unknown)?;
        writeln!(table, "{heading}malformed{heading:#}  {}", self.malformed)?;
        let seconds = self.clock.total_ms / 1000.0;
        writeln!(table, "{heading}duration{heading:#}   {seconds:.3} s")?;
        if self.results.count > 0 {
            writeln!(table, "{heading}results{heading:#}    {}", self.results)?;
        }
        if !self.kinds.is_empty() {
            writeln!(table, "{heading}   rows       bytes  kind{heading:#}")?;
            for (kind, count) in self.kinds.sorted() {
                let kind = escaped(kind);
                writeln!(table, "{:>7} {:>11}  {kind}", count.rows, count.bytes)?;
            }
        }
        if !self.tools.is_empty() {
            writeln!(table, "{heading}  calls  tool{heading:#}")?;
            for (tool, count) in self.tools.sorted() {
                writeln!(table, "{:>7}  {}", count.rows, escaped(tool))?;
            }
        }
        Ok(())
    }
}

/// How long the recordings took. A file may hold several, one behind the other.
#[derive(Default)]
struct Clock {
    total_ms: f64,
    last_ms: Option<f64>,
}

#[derive(PartialEq, Eq)]
enum Recording {
    Same,
    New,
}

impl Clock {
    fn advance(&mut self, row: &Row) -> Recording {
        let Some(now) = row.time.as_ref().map(towline_protocol::Number::as_f64) else {
            return Recording::Same;
        };
        let is_new = match self.last_ms {
            // Rows of both directions may be recorded a little out of order.
            Some(last) => row.origin == Origin::Argv || now < last - OUT_OF_ORDER_MS,
            None => true,
        };
        if is_new {
            self.last_ms = Some(now);
            return Recording::New;
        }
        let last = self.last_ms.unwrap_or(now);
        self.total_ms += (now - last).max(0.0);
        self.last_ms = Some(now.max(last));
        Recording::Same
    }
}

/// What the turns took.
#[derive(Default)]
struct Results {
    count: u64,
    input_tokens: u64,
    output_tokens: u64,
    cache_read_tokens: u64,
    cache_write_tokens: u64,
    cost: f64,
    /// A result tells the cost of its process so far, not of its turn.
    cost_so_far: f64,
}

impl Results {
    fn add(&mut self, result: &TurnResult) {
        self.count += 1;
        if let Some(usage) = result.usage.as_option() {
            let cached = |tokens: &Nullable<u64>| tokens.as_option().copied().unwrap_or(0);
            self.input_tokens += usage.input_tokens.unwrap_or(0);
            self.output_tokens += usage.output_tokens.unwrap_or(0);
            self.cache_read_tokens += cached(&usage.cache_read_input_tokens);
            self.cache_write_tokens += cached(&usage.cache_creation_input_tokens);
        }
        if let Some(total) = &result.total_cost_usd {
            let total = total.as_f64();
            // Less than before: another process.
            let before = if total < self.cost_so_far {
                0.0
            } else {
                self.cost_so_far
            };
            self.cost += total - before;
            self.cost_so_far = total;
        }
    }
}

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, tokens: {} input, {} output, {} cache read, {} cache write; ${:.4}",
            self.count,
            self.input_tokens,
            self.output_tokens,
            self.cache_read_tokens,
            self.cache_write_tokens,
            self.cost,
        )
    }
}

/// How many kinds and tools are told apart.
const MOST_NAMES: usize = 200;
const OUT_OF_ORDER_MS: f64 = 1000.0;
