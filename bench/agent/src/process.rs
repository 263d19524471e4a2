//! A running agent: lines in, lines out, and what the system says of its process.

use std::{
    fs::{self, File},
    path::PathBuf,
    process::Command,
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout},
    time::timeout,
};

use crate::Result;

/// An agent that runs; it dies with this value.
pub struct Agent {
    name: &'static str,
    child: Child,
    /// Before it was started.
    pub began: Instant,
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    stderr: PathBuf,
}

impl Agent {
    pub fn spawn(name: &'static str, mut command: Command, stderr: PathBuf) -> Result<Self> {
        command.stderr(File::create(&stderr)?);
        let began = Instant::now();
        let mut child = tokio::process::Command::from(command)
            .kill_on_drop(true)
            .spawn()?;
        let stdin = child.stdin.take().ok_or("no pipe to the agent")?;
        let stdout = child.stdout.take().ok_or("no pipe from the agent")?;
        Ok(Self {
            name,
            child,
            began,
            stdin,
            lines: BufReader::new(stdout).lines(),
            stderr,
        })
    }

    /// Says something.
    pub async fn say(&mut self, words: &str) -> Result<()> {
        let line = json!({"type": "user", "message": {"role": "user", "content": words}});
        self.stdin.write_all(format!("{line}\n").as_bytes()).await?;
        Ok(self.stdin.flush().await?)
    }

    /// Reads to the end of the turn, and gives what it wrote on the way. A turn that failed is an error.
    pub async fn turn(&mut self) -> Result<Vec<Value>> {
        let mut seen = Vec::new();
        loop {
            let line = timeout(PATIENCE, self.lines.next_line()).await;
            let line = line.map_err(|_| self.complaint("it said nothing for long"))??;
            let line = line.ok_or_else(|| self.complaint("it ended"))?;
            let line: Value = serde_json::from_str(&line)?;
            let is_last = line["type"] == "result";
            if is_last && line["is_error"] != false {
                return Err(self.complaint(&line.to_string()).into());
            }
            seen.push(line);
            if is_last {
                return Ok(seen);
            }
        }
    }

    /// The most that was ever resident of it, in million bytes.
    pub fn peak_megabytes(&self) -> Result<f64> {
        let status = fs::read_to_string(self.in_proc("status")?)?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kibibytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
        let kibibytes: f64 = kibibytes.ok_or("no VmHWM here")?.trim().parse()?;
        Ok(kibibytes * 1024.0 / 1e6)
    }

    /// The processor time that its threads have used, in milliseconds.
    pub fn processor_milliseconds(&self) -> Result<f64> {
        let mut nanoseconds = 0.0;
        for thread in fs::read_dir(self.in_proc("task")?)? {
            // The first word of three. A thread may have ended since it was listed.
            let text = fs::read_to_string(thread?.path().join("schedstat")).unwrap_or_default();
            if let Some(used) = text.split_whitespace().next() {
                nanoseconds += used.parse::<f64>()?;
            }
        }
        Ok(nanoseconds / 1e6)
    }

    /// Lets it end, which it must do by itself.
    pub async fn end(mut self) -> Result<()> {
        drop(self.stdin);
        let status = timeout(PATIENCE, self.child.wait()).await;
        let status = status.map_err(|_| format!("{} does not end", self.name))??;
        match status.success() {
            true => Ok(()),
            false => Err(format!("{} ended with {status}", self.name).into()),
        }
    }

    fn in_proc(&self, file: &str) -> Result<PathBuf> {
        let id = self.child.id().ok_or("it has ended")?;
        Ok(PathBuf::from(format!("/proc/{id}/{file}")))
    }

    fn complaint(&self, what: &str) -> String {
        let errors = fs::read_to_string(&self.stderr).unwrap_or_default();
        format!("{}: {what}\n{errors}", self.name)
    }
}

/// Longer than anything here takes on a loaded machine.
const PATIENCE: Duration = Duration::from_secs(300);
