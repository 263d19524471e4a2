//! [`Replay`]: plays one side of a recorded conversation against a live other side, and says where that side differs.
//!
//! A pure machine: lines and times are handed in, lines to send and differences are polled out. [`Replay::run`] is the
//! thin shell around it, over anything that can be read and written; with `tokio::io::duplex` it is a fake agent for
//! the tests of a host.
//!
//! **Order.** A recorded line of ours is sent once all lines of the other side that were recorded before it have
//! come. When they come is not compared: what a host says early is taken early.
//!
//! **Which line is meant.** An answer belongs to the recorded answer to the same question, a question to the next
//! recorded one of its subtype (one with the same content first: questions may be asked side by side), any other line
//! to the next recorded one of its kind from the same subagent. `keep_alive` belongs to nothing and is passed over.
//! A question that nothing recorded belongs to is answered with an error, because the other side waits.
//!
//! **Compared** is every field, but for
//! - ids (`id`, `uuid`, `…_id`, `…Id`, `…_uuid` and their plurals): those that the other side makes up may be others
//!   than recorded, each recorded one the same other one every time, and are put into the lines we send. Those
//!   that our side made must come back as they were sent;
//! - times (`timestamp`, `…_ms`, `…_at`, `…_seconds`) and `pid`: there must be one, of any value;
//! - fields that [`Replay::ignoring`] names.

mod compare;
mod ids;
mod key;
mod report;
mod shell;
mod trace;

pub use report::{Difference, End, FieldDifference, Report};
pub use trace::{BadTrace, Side, Trace};

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

use towline_protocol::{
    ControlLine, ControlRequest, ControlResponse, Line, Text, ToAgent, ToHost, Wire,
};

use compare::{Comparison, compare};
use ids::Ids;
use key::Key;
use report::excerpt;
use trace::Step;

/// One side of a recorded conversation, played.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
/// use towline_testkit::replay::{Replay, Trace};
///
/// let trace = Trace::read(br#"
/// {"t":1,"dir":"in","line":{"type":"control_request","request_id":"r1","request":{"subtype":"interrupt"}}}
/// {"t":2,"dir":"out","line":{"type":"control_response","response":{"subtype":"success","request_id":"r1"}}}
/// "#)?;
/// let (host, agent) = tokio::io::duplex(1024);
/// let agent = tokio::spawn(Replay::agent(trace).run(agent));
///
/// let mut host = BufReader::new(host);
/// let question = r#"{"type":"control_request","request_id":"mine","request":{"subtype":"interrupt"}}"#;
/// host.write_all(format!("{question}\n").as_bytes()).await?;
/// let mut answer = String::new();
/// host.read_line(&mut answer).await?;
/// assert!(answer.contains(r#""request_id":"mine""#));
///
/// drop(host);
/// assert!(agent.await?.is_same());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Replay {
    us: Side,
    steps: Vec<Step>,
    /// What the lines of the other side are known by; nothing for our own.
    keys: Vec<Option<Key>>,
    /// When a step was done: a line sent, or come.
    done: Vec<Option<Instant>>,
    /// The first step that is not done, as far as it was looked for.
    next: usize,
    speed: Speed,
    timeout: Duration,
    ignored: Vec<String>,
    ids: Ids,
    /// When the last step before `next` was done.
    reached: Option<Instant>,
    /// When anything last happened.
    moved: Option<Instant>,
    outputs: VecDeque<Output>,
    sent: u64,
    received: u64,
    said_close: bool,
    heard_close: bool,
    /// Whether to close as soon as all is said.
    ends: bool,
    end: Option<End>,
}

/// How fast our lines are sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Speed {
    /// As soon as their turn has come.
    #[default]
    Full,
    /// After the pause that was recorded before each.
    Recorded,
}

/// What the machine wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Output {
    /// Write this line.
    Send(Text),
    /// There are no more lines to write: end the stream.
    Close,
    /// Know this.
    Found(Difference),
}

impl Replay {
    /// How long to wait for the other side, unless told otherwise.
    pub const TIMEOUT: Duration = Duration::from_secs(60);

    /// Plays the agent to a live host.
    pub fn agent(trace: Trace) -> Self {
        Self::new(trace, Side::Agent)
    }

    /// Plays the host to a live agent.
    pub fn host(trace: Trace) -> Self {
        Self::new(trace, Side::Host)
    }

    fn new(trace: Trace, us: Side) -> Self {
        let steps = trace.into_steps();
        let keys: Vec<Option<Key>> = steps
            .iter()
            .map(|step| (step.side != us).then(|| Key::read(step.side, &step.line)))
            .collect();
        Self {
            us,
            done: vec![None; steps.len()],
            keys,
            steps,
            next: 0,
            speed: Speed::Full,
            timeout: Self::TIMEOUT,
            ignored: Vec::new(),
            ids: Ids::default(),
            reached: None,
            moved: None,
            outputs: VecDeque::new(),
            sent: 0,
            received: 0,
            said_close: false,
            heard_close: false,
            ends: us == Side::Host,
            end: None,
        }
    }

    /// Sends our lines at another speed.
    #[must_use]
    pub fn at(mut self, speed: Speed) -> Self {
        self.speed = speed;
        self
    }

    /// Closes as soon as all is said, as an agent does that ends by itself. A host always does.
    #[must_use]
    pub fn ending(mut self) -> Self {
        self.ends = true;
        self
    }

    /// Waits that long for what the other side must say next, and for its end.
    #[must_use]
    pub fn waiting(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Leaves fields out of the comparison, by their names.
    #[must_use]
    pub fn ignoring(mut self, fields: impl IntoIterator<Item = String>) -> Self {
        self.ignored.extend(fields);
        self
    }

    /// Begins: sends what comes before any line of the other side.
    pub fn start(&mut self, now: Instant) {
        // Nobody waits for a sign of life.
        for (done, key) in self.done.iter_mut().zip(&self.keys) {
            if *key == Some(Key::KeepAlive) {
                *done = Some(now);
            }
        }
        self.reached = Some(now);
        self.moved = Some(now);
        self.advance(now);
    }

    /// Takes in a line of the other side.
    pub fn handle_line(&mut self, line: Line, now: Instant) {
        let line = match line {
            Line::Text(text) | Line::InvalidUtf8 { text, .. } => text,
            Line::TooLong { limit, start } => {
                let came = format!("{start}… (longer than {limit} bytes)");
                return self.found(self.unexpected("?".to_owned(), came));
            }
        };
        self.received += 1;
        let key = Key::read(self.us.other(), &line);
        if key == Key::KeepAlive {
            return;
        }
        match self.meant(&key, &line) {
            Some((step, comparison)) => self.take(step, comparison, now),
            None => self.refuse(&line),
        }
        self.advance(now);
    }

    /// The other side says no more.
    pub fn handle_close(&mut self, now: Instant) {
        self.heard_close = true;
        self.advance(now);
        if self.waits() {
            self.give_up(End::Closed);
        }
    }

    /// Lets time pass.
    pub fn handle_timeout(&mut self, now: Instant) {
        self.advance(now);
        if self.poll_timeout().is_none_or(|due| now < due) {
            return;
        }
        if self.is_played() {
            self.end = Some(End::Played);
        } else if self.us == Side::Host && !self.said_close && self.all_sent() {
            // Some agents say their last only when their input ends.
            self.close();
            self.moved = Some(now);
        } else {
            self.give_up(End::TimedOut);
        }
    }

    /// Nothing can be written any more.
    pub fn handle_broken(&mut self, problem: String) {
        self.give_up(End::Broken(problem));
    }

    /// What to do next; nothing when all is done for now.
    pub fn poll_output(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When to call [`Replay::handle_timeout`] next.
    pub fn poll_timeout(&self) -> Option<Instant> {
        if self.end.is_some() {
            return None;
        }
        match self.steps.get(self.next) {
            Some(step) if step.side == self.us => self.due(),
            _ => self.moved?.checked_add(self.timeout),
        }
    }

    /// How it ended; nothing while it goes on.
    pub fn end(&self) -> Option<&End> {
        self.end.as_ref()
    }

    /// What came of it, given the differences that were polled out.
    pub fn report(&self, differences: Vec<Difference>, withheld: u64) -> Report {
        Report {
            differences,
            withheld,
            sent: self.sent,
            received: self.received,
            unplayed: self.done.iter().filter(|done| done.is_none()).count() as u64,
            end: self.end.clone().unwrap_or(End::Closed),
        }
    }

    /// Goes on as far as possible.
    fn advance(&mut self, now: Instant) {
        if self.end.is_some() {
            return;
        }
        while let Some(step) = self.steps.get(self.next) {
            if let Some(done) = self.done[self.next] {
                self.reached = self.reached.max(Some(done));
                self.next += 1;
            } else if step.side == self.us && self.due().is_some_and(|due| due <= now) {
                self.done[self.next] = Some(now);
                self.moved = Some(now);
                self.sent += 1;
                let line = self.ids.told_to_the_other_side(&step.line);
                self.outputs.push_back(Output::Send(line));
            } else {
                return;
            }
        }
        if self.ends {
            self.close();
        }
        if self.heard_close {
            self.end = Some(End::Played);
        }
    }

    /// When the next line of ours is to be sent.
    fn due(&self) -> Option<Instant> {
        let pause = match self.speed {
            Speed::Full => Duration::ZERO,
            Speed::Recorded => {
                let before = self.next.checked_sub(1).map(|before| &self.steps[before]);
                let time = self.steps[self.next].time;
                time.saturating_sub(before.map_or(time, |before| before.time))
            }
        };
        self.reached?.checked_add(pause)
    }

    /// The recorded line that a live one belongs to, and how the two compare.
    fn meant(&self, key: &Key, line: &Text) -> Option<(usize, Comparison)> {
        let key = self.ids.recorded_key(key);
        let mut candidates = (self.next..self.steps.len())
            .filter(|&step| self.done[step].is_none() && self.keys[step].as_ref() == Some(&key))
            .map(|step| {
                let recorded = &self.steps[step].line;
                (step, compare(recorded, line, &self.ids, &self.ignored))
            });
        let first = candidates.next()?;
        if !matches!(key, Key::Question(_)) || first.1.is_same() {
            return Some(first);
        }
        let same = candidates.find(|(_, comparison)| comparison.is_same());
        same.or(Some(first))
    }

    fn take(&mut self, step: usize, comparison: Comparison, now: Instant) {
        self.done[step] = Some(now);
        self.moved = Some(now);
        let fields = self.ids.learn(comparison);
        if !fields.is_empty() {
            let step = &self.steps[step];
            self.found(Difference::Changed {
                row: step.row,
                kind: step.kind(),
                fields,
            });
        }
    }

    /// Reports a line that nothing recorded belongs to, and answers it if somebody waits for that.
    fn refuse(&mut self, line: &Text) {
        let step = Step::live(self.us.other(), line.clone());
        let difference = self.unexpected(step.kind(), excerpt(line));
        self.found(difference);
        let (ours, question): (fn(ControlLine) -> Text, _) = match self.us {
            Side::Agent => (
                |answer| ToHost::from(answer).to_standard_json().text().clone(),
                ToAgent::from_json(line.clone())
                    .ok()
                    .and_then(|line| ControlLine::try_from(line).ok()),
            ),
            Side::Host => (
                |answer| ToAgent::from(answer).to_standard_json().text().clone(),
                ToHost::from_json(line.clone())
                    .ok()
                    .and_then(|line| ControlLine::try_from(line).ok()),
            ),
        };
        if let Some(ControlLine::Request(ControlRequest { request_id, .. })) = question
            && !self.said_close
        {
            let refusal = ControlResponse::error(request_id, "the trace has no answer to this");
            let refusal = ours(ControlLine::Response(refusal));
            self.outputs.push_back(Output::Send(refusal));
        }
    }

    fn unexpected(&self, kind: String, came: String) -> Difference {
        let before = self.next.checked_sub(1).map(|before| &self.steps[before]);
        Difference::Unexpected {
            after_row: before.map_or(0, |step| step.row),
            kind,
            came,
        }
    }

    fn found(&mut self, difference: Difference) {
        self.outputs.push_back(Output::Found(difference));
    }

    fn close(&mut self) {
        if !self.said_close {
            self.said_close = true;
            self.outputs.push_back(Output::Close);
        }
    }

    /// Ends, and says what was waited for: all that keeps our next line back.
    fn give_up(&mut self, end: End) {
        if self.end.is_some() {
            return;
        }
        self.end = Some(end);
        let waited_for = self.steps[self.next..]
            .iter()
            .zip(&self.done[self.next..])
            .filter(|(_, done)| done.is_none())
            .map(|(step, _)| step)
            .take_while(|step| step.side != self.us);
        let missing: Vec<Difference> = waited_for
            .map(|step| Difference::Missing {
                row: step.row,
                kind: step.kind(),
                expected: excerpt(&step.line),
            })
            .collect();
        self.outputs.extend(missing.into_iter().map(Output::Found));
    }

    /// Whether only the other side can bring it forward.
    fn waits(&self) -> bool {
        let next = self.steps.get(self.next);
        self.end.is_none() && next.is_some_and(|step| step.side != self.us)
    }

    fn is_played(&self) -> bool {
        self.next == self.steps.len()
    }

    fn all_sent(&self) -> bool {
        let left = self.steps[self.next..].iter().zip(&self.done[self.next..]);
        left.into_iter()
            .all(|(step, done)| done.is_some() || step.side != self.us)
    }
}
