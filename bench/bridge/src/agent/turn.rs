//! A turn: what a prompt wants said, and saying it in time.
//!
//! | prompt | what is said |
//! |---|---|
//! | `burst COUNT SIZE FILE` | so many pieces as fast as they are taken, in one message; then all of it goes to a file |
//! | `rate PER_SECOND SECONDS SIZE` | pieces at that pace, in messages of 100 |

use std::{
    fs, io,
    path::PathBuf,
    thread,
    time::{Duration, Instant},
};

use towline_bench_bridge::piece::{Piece, Pieces, now};

/// How things are said in a protocol.
pub trait Speech {
    fn begin_message(&mut self) -> io::Result<()>;
    fn say(&mut self, piece: &str) -> io::Result<()>;
    fn end_message(&mut self, whole: &str) -> io::Result<()>;
}

/// What a prompt wants.
#[derive(Debug, PartialEq)]
struct Work {
    count: u64,
    size: usize,
    pace: Option<Duration>,
    message: u64,
    copy: Option<PathBuf>,
}

/// Does what a prompt wants.
pub fn take(prompt: &str, speech: &mut impl Speech) -> io::Result<()> {
    let understood = read(prompt).and_then(|work| Some((Pieces::new(work.size)?, work)));
    let Some((pieces, work)) = understood else {
        return Err(io::Error::other(format!("no such work: {prompt}")));
    };
    let mut began = Instant::now();
    if let Some(pace) = work.pace {
        began += pace.mul_f64(phase());
    }
    // Nor must their messages end together: the first one of each is shorter.
    let skipped = match work.pace {
        Some(_) => (phase() * work.message as f64) as u64,
        None => 0,
    };
    let mut whole = String::new();
    for index in 0..work.count {
        if let Some(pace) = work.pace {
            // To a plan, so that being late once makes nothing later.
            let due = began + pace.mul_f64(index as f64);
            thread::sleep(due.saturating_duration_since(Instant::now()));
        }
        let place = (index + skipped) % work.message;
        if place == 0 || index == 0 {
            speech.begin_message()?;
        }
        let piece = pieces.write(Piece { at: now(), index });
        speech.say(&piece)?;
        whole += &piece;
        if place + 1 == work.message || index + 1 == work.count {
            speech.end_message(&whole)?;
            if let Some(path) = &work.copy {
                fs::write(path, &whole)?;
            }
            whole.clear();
        }
    }
    Ok(())
}

fn read(prompt: &str) -> Option<Work> {
    let words: Vec<_> = prompt.split(' ').collect();
    match words[..] {
        ["burst", count, size, path] => {
            let count = count.parse().ok()?;
            Some(Work {
                count,
                size: size.parse().ok()?,
                pace: None,
                message: count,
                copy: Some(path.into()),
            })
        }
        ["rate", a_second, seconds, size] => {
            let a_second: u32 = a_second.parse().ok()?;
            let seconds: u32 = seconds.parse().ok()?;
            Some(Work {
                count: u64::from(a_second) * u64::from(seconds),
                size: size.parse().ok()?,
                pace: Some(Duration::from_secs(1).checked_div(a_second)?),
                message: MESSAGE,
                copy: None,
            })
        }
        _ => None,
    }
}

/// Where between two pieces of others this one's are, from 0 to 1: agents that begin together must not speak together.
fn phase() -> f64 {
    (f64::from(std::process::id()) * 0.618_033_988_749_895).fract()
}

/// How many pieces a message has.
const MESSAGE: u64 = 100;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_is_read_or_refused() {
        let work = read("burst 20 64 /tmp/sent").unwrap();
        assert_eq!((work.count, work.size, work.message), (20, 64, 20));
        assert_eq!(work.copy, Some("/tmp/sent".into()));
        let work = read("rate 50 30 64").unwrap();
        assert_eq!(
            (work.count, work.pace),
            (1500, Some(Duration::from_millis(20)))
        );
        for prompt in ["", "burst", "burst x 64 /f", "rate 0 1 64", "rate 1 1"] {
            assert_eq!(read(prompt), None, "{prompt}");
        }
    }
}
