//! What the agent says of itself: `--help`, and what a person at a terminal is told.

use std::io::{self, Write};

use clap::CommandFactory as _;

use super::flags::{Flag, GROUPS, Takes};
use crate::cli::Cli;

/// Writes `--help`.
pub(super) fn write(out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "A coding agent that speaks stream-json, as coding-agent CLIs do.

Usage: towline [flags] [prompt]
       towline <command> …

The prompt is an argument, standard input, or both. With --input-format stream-json it is a conversation: one JSON
object a line on standard input, and the same on standard output.

Commands:"
    )?;
    let command = Cli::command();
    let commands: Vec<_> = command.get_subcommands().collect();
    for command in &commands {
        let about = command
            .get_about()
            .map(ToString::to_string)
            .unwrap_or_default();
        row(out, command.get_name(), &about)?;
    }
    for group in GROUPS {
        writeln!(out, "\n{}:", group.title)?;
        for flag in group.flags {
            row(out, &names(flag), flag.help)?;
        }
    }
    writeln!(
        out,
        "
Every flag takes its value as `--flag value` or `--flag=value`, and may be written in camel case. A list goes on until
the next flag: put the prompt before it, or behind `--`.

Variables: ANTHROPIC_API_KEY or ANTHROPIC_AUTH_TOKEN, ANTHROPIC_BASE_URL, ANTHROPIC_MODEL, ANTHROPIC_CUSTOM_HEADERS,
HTTP_PROXY, HTTPS_PROXY, NO_PROXY, CLAUDE_CONFIG_DIR, CLAUDE_CODE_MAX_RETRIES, CLAUDE_CODE_MAX_OUTPUT_TOKENS,
MAX_THINKING_TOKENS, API_TIMEOUT_MS, BASH_DEFAULT_TIMEOUT_MS, BASH_MAX_TIMEOUT_MS, BASH_MAX_OUTPUT_LENGTH,
CLAUDE_CODE_PRINT_BG_WAIT_CEILING_MS.

Examples:
  towline -p \"what does this project do?\"
  git diff | towline -p \"review this\" --output-format json
  towline --model offline -p \"read README.md\"        (no account needed)
  towline -p --input-format stream-json --output-format stream-json --verbose --permission-prompt-tool stdio"
    )
}

/// Tells a person at a terminal how to begin.
pub(super) fn welcome(out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "This is an agent for programs: it has no screen of its own.

  towline serve                        a page in the browser, to start and watch sessions
  towline \"explain this project\"       one prompt, one answer
  towline --resume                     go on with an earlier session
  towline --model offline \"…\"          without an account
  towline --help                       everything else"
    )
}

fn row(out: &mut impl Write, name: &str, help: &str) -> io::Result<()> {
    if help.is_empty() {
        writeln!(out, "  {name}")
    } else if name.len() > WIDTH {
        writeln!(out, "  {name}\n  {:WIDTH$}  {help}", "")
    } else {
        writeln!(out, "  {name:WIDTH$}  {help}")
    }
}

fn names(flag: &Flag) -> String {
    let names = flag.names.join(", ");
    match flag.takes {
        Takes::Nothing => names,
        Takes::Switch => format!("{names}[=false]"),
        Takes::Value(value) => format!("{names} <{value}>"),
        Takes::Maybe(value) => format!("{names} [{value}]"),
        Takes::Many(value) => format!("{names} <{value}...>"),
    }
}

const WIDTH: usize = 36;
