//! An agent without a model that is as fast as it is told to be. It speaks stream-json, as `claude` does, and ACP, and
//! answers in whatever it is spoken to; what it says, and when, is the same in both.

mod acp;
mod stream_json;
mod turn;

use std::{
    io::{self, BufRead as _, Write as _},
    process::ExitCode,
};

use serde_json::Value;

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some("--version") {
        println!("2.1.325 (bench)");
        return ExitCode::SUCCESS;
    }
    match listen() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            writeln!(io::stderr(), "{error}").ok();
            ExitCode::FAILURE
        }
    }
}

/// Does what each line wants, to the end of the input.
fn listen() -> io::Result<()> {
    let mut out = Out::default();
    for line in io::stdin().lock().lines() {
        let line: Value = serde_json::from_str(&line?)?;
        if line.get("jsonrpc").is_some() {
            acp::handle(&line, &mut out)?;
        } else {
            stream_json::handle(&line, &mut out)?;
        }
    }
    Ok(())
}

/// Lines on their way out: each is one write, as if it had been waited for.
#[derive(Default)]
struct Out {
    line: Vec<u8>,
}

impl Out {
    /// A value as a line.
    fn value(&mut self, value: &Value) -> io::Result<()> {
        self.around("", &value.to_string(), "")
    }

    /// A line that has a text in it, as JSON.
    fn text(&mut self, before: &str, text: &str, after: &str) -> io::Result<()> {
        self.around(before, &serde_json::to_string(text)?, after)
    }

    fn around(&mut self, before: &str, middle: &str, after: &str) -> io::Result<()> {
        self.line.clear();
        for part in [before, middle, after, "\n"] {
            self.line.extend_from_slice(part.as_bytes());
        }
        // Past the buffer of the standard library, which would look for line ends.
        let mut left = &self.line[..];
        while !left.is_empty() {
            let written = rustix::io::write(io::stdout(), left)?;
            left = &left[written..];
        }
        Ok(())
    }
}
