//! [`Relay`]: what to say to whom when somebody has said something. Pure: lines in, lines out.

use towline_host::process::Exit;
use towline_protocol::{
    Line, Text, ToAgent, ToHost, Wire,
    dialect::session::{ErrorCode, Opening, Session, error},
};

/// One connection between a host that speaks the dialect and an agent that does not.
#[derive(Debug)]
pub(super) struct Relay {
    session: Session,
    /// The agent has been told something and has not said how its turn ended.
    owes_a_result: bool,
    /// The host may still say something.
    is_host_there: bool,
}

/// A line, and who is to get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Say {
    ToHost(Text),
    ToAgent(Text),
}

impl Relay {
    pub(super) fn new(opening: Opening) -> Self {
        Self {
            session: Session::opened(opening),
            owes_a_result: false,
            is_host_there: true,
        }
    }

    /// The host says something. Nothing that is wrong with it reaches the agent: the real CLI ends at a line that it
    /// cannot read.
    pub(super) fn handle_host(&mut self, line: Line) -> Vec<Say> {
        let line = match line {
            Line::Text(text) | Line::InvalidUtf8 { text, .. } => text,
            Line::TooLong { limit, .. } => {
                let problem = format!("a line longer than {limit} bytes");
                return vec![tell(&ErrorCode::InvalidMessage, problem)];
            }
        };
        let line = match ToAgent::from_json(line) {
            Ok(line) => line,
            Err(problem) => return vec![tell(&ErrorCode::InvalidMessage, problem.to_string())],
        };
        match self.session.from_host(line) {
            Err(refusal) => vec![Say::ToHost(refusal.to_json().text().clone())],
            Ok(lines) => lines
                .iter()
                .map(|line| {
                    self.owes_a_result |= matches!(line, ToAgent::User(_));
                    Say::ToAgent(line.to_standard_json().text().clone())
                })
                .collect(),
        }
    }

    /// The host says no more.
    pub(super) fn handle_host_end(&mut self) {
        self.is_host_there = false;
    }

    /// The agent says something. A line that the dialect has no other form for goes on byte by byte.
    pub(super) fn handle_agent(&mut self, line: Line) -> Vec<Say> {
        let text = match line {
            Line::Text(text) | Line::InvalidUtf8 { text, .. } => text,
            Line::TooLong { limit, start } => {
                let problem = format!("a line longer than {limit} bytes: {start}…");
                return vec![tell(&ErrorCode::AgentLine, problem)];
            }
        };
        let line = match ToHost::from_json(text.clone()) {
            Ok(line) => line,
            Err(problem) => {
                let start = &text[..text.floor_char_boundary(SHOWN)];
                return vec![tell(&ErrorCode::AgentLine, format!("{problem}: {start}"))];
            }
        };
        if matches!(line, ToHost::Result(_)) {
            self.owes_a_result = false;
        }
        let said = self.session.to_host(line.clone());
        said.iter()
            .map(|said| {
                Say::ToHost(if *said == line {
                    text.clone()
                } else {
                    said.to_json().text().clone()
                })
            })
            .collect()
    }

    /// The agent has ended. Nothing is to be said of it if the host ended first and got all its results.
    pub(super) fn handle_agent_end(&mut self, exit: Exit, complaints: &str) -> Option<Say> {
        let is_expected = !self.is_host_there && !self.owes_a_result;
        if is_expected && !matches!(exit, Exit::Signal(_)) {
            return None;
        }
        let complaints = complaints.trim();
        let message = if complaints.is_empty() {
            format!("the agent ended: {exit}")
        } else {
            format!("the agent ended: {exit}; it said: {complaints}")
        };
        Some(tell(&ErrorCode::AgentExited, message))
    }
}

fn tell(code: &ErrorCode, message: impl Into<Text>) -> Say {
    Say::ToHost(error(code, message).to_json().text().clone())
}

/// How much of a line is shown that cannot be read.
const SHOWN: usize = 200;
