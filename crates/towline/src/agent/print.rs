//! The agent's lines as `--output-format text` and `json` show them (pure).

use towline_agent::Limits;
use towline_protocol::{Line, ResultSubtype, System, Text, ToHost, TurnResult, Wire};

use super::choices::OutputFormat;
use crate::terminal::escaped;

/// Takes the agent's lines and says what to print.
#[derive(Debug)]
pub(super) struct Printer {
    format: OutputFormat,
    limits: Limits,
    /// Whether a turn has begun.
    begun: bool,
    /// How many lines are in the array so far.
    listed: usize,
    last: Option<(Text, Box<TurnResult>)>,
}

/// What is to be printed at once.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Printed {
    pub(super) stdout: Option<String>,
    pub(super) stderr: Option<String>,
}

/// What is left to print when the agent has ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Ending {
    pub(super) stdout: String,
    pub(super) stderr: String,
    /// Whether the last turn failed.
    pub(super) failed: bool,
}

impl Printer {
    pub(super) fn new(format: OutputFormat, limits: Limits) -> Self {
        Self {
            format,
            limits,
            begun: false,
            listed: 0,
            last: None,
        }
    }

    /// A line of the agent; gives what is to be printed at once.
    pub(super) fn handle(&mut self, line: Line) -> Printed {
        let mut printed = Printed::default();
        let (Line::Text(text) | Line::InvalidUtf8 { text, .. }) = line else {
            return printed;
        };
        match ToHost::from_json(text.clone()) {
            Ok(ToHost::Result(result)) => self.last = Some((text.clone(), result)),
            Ok(ToHost::System(System::Init(_))) => self.begun = true,
            Ok(ToHost::System(System::Informational(notice)))
                if self.format != OutputFormat::JsonArray =>
            {
                // What a host reads in the lines a person would never see.
                let words = notice.content.unwrap_or_default();
                printed.stderr = Some(format!("towline: {}\n", escaped(&words)));
            }
            _ => {}
        }
        if self.format == OutputFormat::JsonArray && !self.is_stillborn() {
            let before = if self.listed == 0 { "[" } else { "," };
            self.listed += 1;
            printed.stdout = Some(format!("{before}{text}"));
        }
        printed
    }

    /// The agent has ended.
    pub(super) fn finish(self) -> Ending {
        let is_stillborn = self.is_stillborn();
        let Some((line, result)) = &self.last else {
            let stdout = if self.listed == 0 { "" } else { "]\n" };
            return Ending {
                stdout: stdout.to_owned(),
                ..Ending::default()
            };
        };
        let errors = result
            .errors
            .iter()
            .flatten()
            .map(|error| format!("{error}\n"));
        let mut ending = Ending {
            failed: result.failed(),
            ..Ending::default()
        };
        if is_stillborn {
            ending.stderr = errors.collect();
            return ending;
        }
        match self.format {
            OutputFormat::Json => ending.stdout = format!("{line}\n"),
            OutputFormat::JsonArray => ending.stdout = "]\n".to_owned(),
            OutputFormat::Text | OutputFormat::StreamJson => {
                ending.stdout = ended(self.text(result));
                if result.subtype == Some(ResultSubtype::ErrorDuringExecution) {
                    ending.stderr = errors.collect();
                }
            }
        }
        ending
    }

    /// Whether the session failed before it began, as with an id that nobody knows: CLI 2.1.325 tells that on standard
    /// error alone.
    fn is_stillborn(&self) -> bool {
        let subtype = self
            .last
            .as_ref()
            .and_then(|(_, result)| result.subtype.as_ref());
        !self.begun && subtype == Some(&ResultSubtype::ErrorDuringExecution)
    }

    fn text(&self, result: &TurnResult) -> String {
        let Limits {
            max_turns,
            max_budget_usd,
        } = self.limits;
        match &result.subtype {
            Some(ResultSubtype::ErrorMaxTurns) => {
                format!(
                    "Error: Reached max turns ({})",
                    max_turns.unwrap_or_default()
                )
            }
            Some(ResultSubtype::ErrorMaxBudgetUsd) => {
                format!(
                    "Error: Exceeded USD budget ({})",
                    max_budget_usd.unwrap_or_default()
                )
            }
            Some(ResultSubtype::ErrorMaxStructuredOutputRetries) => {
                "Error: the model gave no answer of the form that --json-schema asks for".to_owned()
            }
            Some(ResultSubtype::ErrorDuringExecution) => "Execution error".to_owned(),
            _ => result.text().map(ToString::to_string).unwrap_or_default(),
        }
    }
}

/// With the end of its last line.
fn ended(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    const INIT: &str = r#"{"type":"system","subtype":"init","session_id":"s"}"#;
    const GOOD: &str = r#"{"type":"result","subtype":"success","is_error":false,"result":"four","session_id":"s"}"#;
    const API: &str = r#"{"type":"result","subtype":"success","is_error":true,"result":"API Error: 400","session_id":"s"}"#;
    const TURNS: &str = r#"{"type":"result","subtype":"error_max_turns","is_error":true,"errors":["Reached maximum number of turns (2)"],"session_id":"s"}"#;
    const BUDGET: &str = r#"{"type":"result","subtype":"error_max_budget_usd","is_error":true,"errors":["x"],"session_id":"s"}"#;
    const BROKEN: &str = r#"{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found"],"session_id":"s"}"#;

    /// Standard output, standard error, and whether it failed.
    fn print(format: OutputFormat, lines: &[&str]) -> (String, String, bool) {
        let limits = Limits {
            max_turns: Some(2),
            max_budget_usd: Some(0.5),
        };
        let mut printer = Printer::new(format, limits);
        let (mut stdout, mut stderr) = (String::new(), String::new());
        for line in lines {
            let printed = printer.handle(Line::Text((*line).into()));
            stdout.extend(printed.stdout);
            stderr.extend(printed.stderr);
        }
        let ending = printer.finish();
        (
            stdout + &ending.stdout,
            stderr + &ending.stderr,
            ending.failed,
        )
    }

    #[test]
    fn text_is_the_result_or_why_there_is_none() {
        for (lines, stdout, stderr, failed) in [
            (&[INIT, GOOD][..], "four\n", "", false),
            (&[GOOD], "four\n", "", false),
            (&[INIT, API], "API Error: 400\n", "", true),
            (&[INIT, TURNS], "Error: Reached max turns (2)\n", "", true),
            (
                &[INIT, BUDGET],
                "Error: Exceeded USD budget (0.5)\n",
                "",
                true,
            ),
            (
                &[INIT, BROKEN],
                "Execution error\n",
                "No conversation found\n",
                true,
            ),
            (&[BROKEN], "", "No conversation found\n", true),
            (&[INIT, API, INIT, GOOD], "four\n", "", false),
            (&[INIT, "not JSON"], "", "", false),
            (&[], "", "", false),
        ] {
            let expected = (stdout.to_owned(), stderr.to_owned(), failed);
            assert_eq!(print(OutputFormat::Text, lines), expected, "{lines:?}");
        }
    }

    #[test]
    fn what_there_is_to_know_goes_to_standard_error_unless_it_is_in_the_lines() {
        let notice =
            r#"{"type":"system","subtype":"informational","content":"no room","level":"notice"}"#;
        let lines = [INIT, notice, GOOD];
        let told = "towline: no room\n".to_owned();
        for (format, stdout, stderr) in [
            (OutputFormat::Text, "four\n".to_owned(), told.clone()),
            (OutputFormat::Json, format!("{GOOD}\n"), told),
            (
                OutputFormat::JsonArray,
                format!("[{INIT},{notice},{GOOD}]\n"),
                String::new(),
            ),
        ] {
            assert_eq!(print(format, &lines), (stdout, stderr, false));
        }
    }

    #[test]
    fn json_is_the_last_result_as_it_came() {
        let (stdout, stderr, failed) = print(OutputFormat::Json, &[INIT, API, GOOD]);
        assert_eq!(
            (stdout, stderr.as_str(), failed),
            (format!("{GOOD}\n"), "", false)
        );
        let (stdout, stderr, failed) = print(OutputFormat::Json, &[BROKEN]);
        assert_eq!(
            (stdout.as_str(), stderr.as_str(), failed),
            ("", "No conversation found\n", true)
        );
    }

    #[test]
    fn verbose_json_is_one_array_of_all_lines() {
        let (stdout, ..) = print(OutputFormat::JsonArray, &[INIT, GOOD]);
        assert_eq!(stdout, format!("[{INIT},{GOOD}]\n"));
        let (stdout, ..) = print(OutputFormat::JsonArray, &[INIT]);
        assert_eq!(stdout, format!("[{INIT}]\n"));
        assert_eq!(print(OutputFormat::JsonArray, &[]).0, "");
        assert_eq!(print(OutputFormat::JsonArray, &[BROKEN]).0, "");
    }
}
