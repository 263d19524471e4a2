//! Owns the rows in other languages: child processes that read the same corpus
//! file, do the same reading and time it themselves.

use serde::Deserialize;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a script prints.
#[derive(Deserialize)]
pub struct Report {
    pub version: String,
    pub megabytes_per_second: f64,
    /// The bare parser, without reading anything out.
    pub parse_megabytes_per_second: f64,
    pub items: usize,
    pub cheap_sum: u32,
    /// In hexadecimal, since JSON numbers have no 64 bits.
    pub strong_sum: String,
}

pub struct Child {
    pub name: &'static str,
    program: &'static str,
    script: &'static str,
}

pub const ALL: [Child; 2] = [
    Child {
        name: "Python json.loads",
        program: "python3",
        script: "decode.py",
    },
    Child {
        name: "Node JSON.parse",
        program: "node",
        script: "decode.mjs",
    },
];

impl Child {
    /// Runs the script, or says in a few words why there is no result.
    pub fn run(&self, scripts: &Path, corpus: &Path) -> Result<Report, String> {
        let output = Command::new(self.program)
            .arg(scripts.join(self.script))
            .arg(corpus)
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| format!("no {}: {error}", self.program))?;
        if !output.status.success() {
            return Err(format!("{} ended with {}", self.program, output.status));
        }
        serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("{} printed no report: {error}", self.program))
    }
}
