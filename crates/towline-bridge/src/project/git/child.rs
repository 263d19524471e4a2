//! [`Limits`]: the time that a look may take, and a child process that does not outlast it or write more than is wanted.

use std::{io, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::{Child, Command},
    task,
    time::{Instant, timeout_at},
};

use super::Output;
use crate::project::ProjectError;

/// The time that a look may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    time: Duration,
    deadline: Instant,
}

/// The part of a child's output that is kept.
#[derive(Clone, Copy, Debug)]
pub(super) enum Keep {
    /// The beginning, up to so many bytes. The child is stopped there.
    Beginning(u64),
    /// Records that end with a zero byte and begin like this, up to so many bytes. All are read.
    Records(&'static [u8], u64),
}

impl Limits {
    pub(super) fn new(time: Duration) -> Self {
        Self {
            time,
            deadline: Instant::now() + time,
        }
    }

    fn too_slow(self, what: &str) -> ProjectError {
        ProjectError::TooSlow {
            what: what.to_owned(),
            time: self.time,
        }
    }

    /// Runs what blocks on a thread for that. Past the deadline the caller goes on without it.
    pub(super) async fn blocking<T: Send + 'static>(
        self,
        work: impl FnOnce() -> Result<T, ProjectError> + Send + 'static,
    ) -> Result<T, ProjectError> {
        match timeout_at(self.deadline, task::spawn_blocking(work)).await {
            Ok(Ok(done)) => done,
            Ok(Err(_)) => Err(ProjectError::Unusable(
                "the look at the repository broke off".to_owned(),
            )),
            Err(_) => Err(self.too_slow("looking at the repository")),
        }
    }

    /// Runs a command: its output, and its complaint if it failed. It is gone afterwards, whatever happens.
    pub(super) async fn run(
        self,
        mut command: Command,
        input: &[u8],
        keep: Keep,
    ) -> Result<(Output, Option<String>), ProjectError> {
        let failed =
            |error: io::Error| ProjectError::Unusable(format!("git cannot be run: {error}"));
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        let mut child = command.spawn().map_err(failed)?;
        let group = Group::of(&child);
        let (Some(mut stdin), Some(stdout), Some(stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(ProjectError::Unusable("git has no pipes".to_owned()));
        };
        let work = async {
            let write = async {
                // It may not want to read all; then its exit status tells.
                drop(stdin.write_all(input).await);
                drop(stdin);
            };
            let read = async {
                match keep {
                    Keep::Beginning(most) => beginning(stdout, most).await,
                    Keep::Records(start, most) => records(stdout, start, most).await,
                }
            };
            let ((), output, complaint) = tokio::join!(write, read, head_of_all(stderr));
            let status = child.wait().await?;
            Ok((output?, complaint, status))
        };
        let done = timeout_at(self.deadline, work).await;
        let Ok(done) = done else {
            return Err(self.too_slow("git"));
        };
        let (output, complaint, status) = done.map_err(failed)?;
        group.ended();
        // One whose output was cut was ended by that.
        let complaint = (!status.success() && !output.truncated).then(|| match complaint.trim() {
            "" => format!("git ended with {status}"),
            complaint => complaint.to_owned(),
        });
        Ok((output, complaint))
    }
}

/// The child and what it started, ended together unless they have ended by themselves.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        let id = child.id().and_then(|id| i32::try_from(id).ok());
        Self(id.and_then(Pid::from_raw))
    }

    fn ended(mut self) {
        self.0 = None;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(group) = self.0 {
            // It fails if they have just ended, which is as well.
            let _gone = kill_process_group(group, Signal::KILL);
        }
    }
}

async fn beginning(stream: impl AsyncRead + Unpin, most: u64) -> io::Result<Output> {
    let mut bytes = Vec::new();
    stream.take(most + 1).read_to_end(&mut bytes).await?;
    let truncated = bytes.len() as u64 > most;
    if truncated {
        bytes.pop();
    }
    Ok(Output { bytes, truncated })
}

/// The records that begin like this. Of the others no more than that many bytes are held, however long they are.
async fn records(
    mut stream: impl AsyncRead + Unpin,
    start: &[u8],
    most: u64,
) -> io::Result<Output> {
    let mut kept = Output {
        bytes: Vec::new(),
        truncated: false,
    };
    let mut chunk = vec![0; CHUNK];
    // Where the record that is being read begins in what is kept, and how much of it was seen.
    let (mut begins, mut seen) = (0, 0);
    loop {
        let read = stream.read(&mut chunk).await?;
        if read == 0 {
            kept.bytes.truncate(begins);
            return Ok(kept);
        }
        for byte in chunk.iter().take(read) {
            let is_wanted = match start.get(seen) {
                Some(expected) => byte == expected,
                None => true,
            };
            match (is_wanted, seen) {
                (_, SKIPPED) if *byte != 0 => continue,
                (_, SKIPPED) => seen = 0,
                (true, _) if (kept.bytes.len() as u64) < most => {
                    kept.bytes.push(*byte);
                    seen += 1;
                    if *byte == 0 {
                        (begins, seen) = (kept.bytes.len(), 0);
                    }
                }
                (is_wanted, _) => {
                    kept.truncated |= is_wanted;
                    kept.bytes.truncate(begins);
                    seen = if *byte == 0 { 0 } else { SKIPPED };
                }
            }
        }
    }
}

/// The beginning of a stream that is read to its end, so that its writer never waits.
async fn head_of_all(mut stream: impl AsyncRead + Unpin) -> String {
    let mut bytes = Vec::new();
    let read = (&mut stream).take(MOST_WORDS).read_to_end(&mut bytes).await;
    if read.is_ok() {
        drop(tokio::io::copy(&mut stream, &mut tokio::io::sink()).await);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

pub(super) const MOST_WORDS: u64 = 4 << 10;
const CHUNK: usize = 64 << 10;
/// The place in a record that is not wanted.
const SKIPPED: usize = usize::MAX;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn records_are_kept_by_their_beginning_up_to_a_bound() {
        for (written, kept, truncated) in [
            (&b""[..], &b""[..], false),
            (b"16 a\x0010 b\x0016 c\0", b"16 a\x0016 c\0", false),
            (b"1\x0016\0\x0016 cut", b"16\0", false),
            (b"100\x0016 long record\x0016 b\0", b"16 b\0", true),
        ] {
            let output = records(written, b"16", 10).await.unwrap();
            let got = String::from_utf8_lossy(&output.bytes).into_owned();
            assert_eq!(
                (got.as_bytes(), output.truncated),
                (kept, truncated),
                "{written:?}"
            );
        }
    }
}
