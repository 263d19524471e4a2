//! The text of a PDF, within bounds of time and memory.
//!
//! A PDF is a program of strangers, and the reader is not ours. It runs in a thread of its own with a stack of its own:
//! what makes it panic, unpack without end or go in circles costs the text, and nothing else.

use std::{
    ops::RangeInclusive,
    panic,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc::{RecvTimeoutError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use lopdf::{Document, LoadOptions};

use super::super::Interrupt;

/// The text of the given pages, or of the first ones.
pub(super) fn text(
    bytes: &Arc<Vec<u8>>,
    pages: Option<RangeInclusive<u32>>,
    interrupt: &Interrupt,
) -> Result<String, String> {
    if LEFT_BEHIND.load(Ordering::Relaxed) >= MOST_LEFT_BEHIND {
        return Err(
            "its text is not taken out: too many other PDF files still keep their readers busy"
                .into(),
        );
    }
    let bytes = Arc::clone(bytes);
    in_time(interrupt, move |given_up| extract(&bytes, pages, given_up))
}

/// Has work done in a thread of its own, and does not wait for it longer than it may take.
fn in_time(
    interrupt: &Interrupt,
    work: impl FnOnce(&AtomicBool) -> Result<String, String> + Send + panic::UnwindSafe + 'static,
) -> Result<String, String> {
    let given_up = Arc::new(AtomicBool::new(false));
    // Without room in it, so that what is sent is received or known not to be.
    let (sender, receiver) = sync_channel(0);
    let seen = Arc::clone(&given_up);
    let worker = thread::Builder::new().name("pdf".into()).stack_size(STACK);
    worker
        .spawn(move || {
            let done = panic::catch_unwind(|| work(&seen));
            let done = done.unwrap_or_else(|_| Err("the file is damaged".into()));
            if sender.send(done).is_err() {
                LEFT_BEHIND.fetch_sub(1, Ordering::Relaxed);
            }
        })
        .map_err(|error| format!("its text cannot be taken out: {error}"))?;
    let until = Instant::now() + LONGEST;
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(done) => return done,
            Err(RecvTimeoutError::Timeout) if interrupt.is_set() || Instant::now() > until => {
                given_up.store(true, Ordering::Relaxed);
                LEFT_BEHIND.fetch_add(1, Ordering::Relaxed);
                let seconds = LONGEST.as_secs();
                return Err(format!(
                    "its text could not be taken out within {seconds} s"
                ));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return Err("the file is damaged".into()),
        }
    }
}

fn extract(
    bytes: &[u8],
    pages: Option<RangeInclusive<u32>>,
    given_up: &AtomicBool,
) -> Result<String, String> {
    let options = LoadOptions::with_max_decompressed_size(most_unpacked(bytes));
    let document =
        Document::load_mem_with_options(bytes, options).map_err(|error| error.to_string())?;
    let all: Vec<u32> = document.get_pages().into_keys().collect();
    let wanted: Vec<u32> = match pages {
        None => all.iter().copied().take(MOST_PAGES_OF_ALL).collect(),
        Some(pages) => all
            .iter()
            .copied()
            .filter(|page| pages.contains(page))
            .collect(),
    };
    if wanted.is_empty() {
        return Err(format!(
            "the file has {} pages, and none of those",
            all.len()
        ));
    }
    let mut text = String::new();
    for page in wanted {
        if given_up.load(Ordering::Relaxed) {
            return Err("nobody waits any more".into());
        }
        let of_page = document
            .extract_text_with_limit(&[page], MOST_UNPACKED)
            .map_err(|error| error.to_string())?;
        text.push_str(of_page.trim_end());
        text.push('\n');
        if text.len() > MOST_TEXT {
            text.truncate(text.floor_char_boundary(MOST_TEXT));
            text.push_str(&format!(
                "\n[cut here, on page {page} of {}; read on with `pages`]",
                all.len()
            ));
            break;
        }
    }
    if text.trim().is_empty() {
        return Err("there is no text in it that can be taken out; it may be a scan".into());
    }
    Ok(text)
}

/// How large a part of the file may become: the reader has a bound for each, we have one for all together.
fn most_unpacked(bytes: &[u8]) -> usize {
    let parts = memchr::memmem::find_iter(bytes, b"endstream").count();
    (MOST_UNPACKED_OF_ALL / parts.max(1)).min(MOST_UNPACKED)
}

/// Readers that nobody waits for any more and that go on nevertheless: a thread cannot be ended from outside.
static LEFT_BEHIND: AtomicUsize = AtomicUsize::new(0);

/// With more of them no PDF is read.
const MOST_LEFT_BEHIND: usize = 4;

/// How long it may take.
const LONGEST: Duration = Duration::from_secs(20);

/// How often one looks whether anybody still waits.
const LOOK: Duration = Duration::from_millis(50);

/// The reader goes down one level for each level of the file, of which it allows a hundred.
const STACK: usize = 16 << 20;

/// Of how many pages the text is taken out if none are named.
const MOST_PAGES_OF_ALL: usize = 100;

/// The most text.
const MOST_TEXT: usize = 64 << 10;

/// The most that a part of the file, or the content of a page, may grow to when it is unpacked; what is made of it takes
/// many times as much.
const MOST_UNPACKED: usize = 16 << 20;

/// The same for all parts together.
const MOST_UNPACKED_OF_ALL: usize = 128 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_panics_says_that_the_file_is_damaged() {
        let done = in_time(&Interrupt::default(), |_| panic!("torn"));
        assert_eq!(done, Err("the file is damaged".to_owned()));
    }

    #[test]
    fn a_reader_that_goes_in_circles_is_left_behind_and_counted_until_it_ends() {
        let (ended, when_ended) = std::sync::mpsc::channel();
        let before = LEFT_BEHIND.load(Ordering::Relaxed);
        let done = in_time(&Interrupt::set(), move |given_up| {
            while !given_up.load(Ordering::Relaxed) {
                thread::yield_now();
            }
            ended.send(()).unwrap();
            Ok(String::new())
        });
        assert!(done.unwrap_err().contains("could not be taken out within"));
        when_ended.recv_timeout(LONGEST).unwrap();
        while LEFT_BEHIND.load(Ordering::Relaxed) > before {
            thread::yield_now();
        }
    }

    #[test]
    fn many_parts_together_unpack_to_no_more_than_a_few() {
        for (parts, expected) in [(0, 16 << 20), (1, 16 << 20), (8, 16 << 20), (128, 1 << 20)] {
            let file = "stream endstream ".repeat(parts);
            assert_eq!(most_unpacked(file.as_bytes()), expected, "{parts}");
        }
    }
}
