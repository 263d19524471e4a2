//! Viewers: who reads an event stream to its end, and what they have seen of it.

use std::{fmt, time::Duration};

use tokio::{
    io::AsyncReadExt as _,
    net::TcpStream,
    task::{JoinHandle, spawn_local},
    time::timeout,
};
use towline_bench_bridge::piece::{Pieces, now};

use crate::{
    Result,
    said::{self, Said},
    server::{Kind, Server, Session},
    sse::EventStream,
};

/// What somebody makes of what they see.
pub trait View: 'static {
    /// Something was said, and is seen now.
    fn take(&mut self, said: Said<'_>, now: u64);
    /// How many bytes were seen.
    fn bytes(&self) -> usize;
    /// Whether everything is there.
    fn is_complete(&self) -> bool;
}

/// Begins to watch a session; ends when everything is there, or nothing has come for long.
pub async fn watch<V: View>(
    server: &Server,
    session: &Session,
    view: V,
) -> Result<JoinHandle<Result<V>>> {
    let (stream, first) = server.open(session).await?;
    Ok(spawn_local(follow(server.kind, stream, first, view)))
}

async fn follow<V: View>(
    kind: Kind,
    mut stream: TcpStream,
    first: Vec<u8>,
    mut view: V,
) -> Result<V> {
    let mut events = EventStream::default();
    let mut buffer = first;
    loop {
        let now = now();
        if !events.take(&buffer, |event| view.take(said::read(kind, &event), now)) {
            return Err(format!("{} sent what is no event stream", kind.name()).into());
        }
        if view.is_complete() {
            return Ok(view);
        }
        buffer.clear();
        buffer.reserve(BUFFER);
        let patience = match view.bytes() {
            0 => BEFORE,
            _ => BETWEEN,
        };
        match timeout(patience, stream.read_buf(&mut buffer)).await {
            Ok(Ok(1..)) => {}
            Ok(Ok(0)) | Err(_) => return Ok(view),
            Ok(Err(error)) => return Err(error.into()),
        }
    }
}

/// A viewer that keeps the text.
#[derive(Debug)]
pub struct Reader {
    /// The text so far.
    pub text: String,
    /// When it last grew.
    pub at: u64,
    /// How often it was told that something is left out.
    pub gaps: usize,
    whole: usize,
    is_behind: bool,
}

impl Reader {
    /// One that waits for so many bytes.
    pub fn new(whole: usize) -> Self {
        Self {
            text: String::new(),
            at: 0,
            gaps: 0,
            whole,
            is_behind: false,
        }
    }
}

impl View for Reader {
    fn take(&mut self, said: Said<'_>, now: u64) {
        match said {
            Said::Words(words) => self.text += &words,
            Said::Gap => {
                self.gaps += 1;
                self.is_behind = true;
                return;
            }
            Said::Draft(offset, words) => {
                let kept = bytes_of_units(&self.text, offset);
                self.text.truncate(kept);
                self.text += &words;
                self.is_behind = false;
            }
            Said::Line(line) if self.is_behind => match said::whole_message(line) {
                Some(words) => self.text = words,
                None => return,
            },
            Said::Line(_) | Said::Other => return,
        }
        self.at = now;
    }

    fn bytes(&self) -> usize {
        self.text.len()
    }

    fn is_complete(&self) -> bool {
        self.text.len() >= self.whole
    }
}

/// How many bytes the first UTF-16 code units of a text take.
fn bytes_of_units(text: &str, units: usize) -> usize {
    let mut seen = 0;
    for (place, letter) in text.char_indices() {
        if seen >= units {
            return place;
        }
        seen += letter.len_utf16();
    }
    text.len()
}

/// A viewer that checks each piece and forgets it.
#[derive(Debug)]
pub struct Checker {
    pieces: Pieces,
    count: u64,
    next: u64,
    /// How late each piece was, in microseconds.
    pub late: Vec<u32>,
    /// Pieces that never came, came twice, or were not as they were sent.
    faults: Faults,
    is_behind: bool,
}

/// What was wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Faults {
    pub lost: u64,
    pub doubled: u64,
    pub garbled: u64,
    pub gaps: u64,
}

impl Faults {
    pub fn and(self, other: Self) -> Self {
        Self {
            lost: self.lost + other.lost,
            doubled: self.doubled + other.doubled,
            garbled: self.garbled + other.garbled,
            gaps: self.gaps + other.gaps,
        }
    }

    /// Whether everybody has everything. A gap that was made good for is no fault.
    pub fn is_none(self) -> bool {
        self.lost + self.doubled + self.garbled == 0
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            lost,
            doubled,
            garbled,
            gaps,
        } = self;
        write!(formatter, "{lost}, {doubled}, {garbled} ({gaps} gaps)")
    }
}

impl Checker {
    /// One that waits for so many pieces.
    pub fn new(pieces: Pieces, count: u64) -> Self {
        Self {
            pieces,
            count,
            next: 0,
            late: Vec::new(),
            faults: Faults::default(),
            is_behind: false,
        }
    }

    /// What was wrong, now that nothing more comes.
    pub fn faults(&self) -> Faults {
        Faults {
            lost: self.faults.lost + self.count.saturating_sub(self.next),
            ..self.faults
        }
    }

    fn words(&mut self, words: &str, is_new: bool, now: u64) {
        for piece in words.as_bytes().chunks(self.pieces.size()) {
            let Some(piece) = self.pieces.read(piece) else {
                self.faults.garbled += 1;
                continue;
            };
            if piece.index < self.next {
                self.faults.doubled += u64::from(is_new);
                continue;
            }
            self.faults.lost += piece.index - self.next;
            self.next = piece.index + 1;
            let late = now.saturating_sub(piece.at) / 1000;
            self.late.push(u32::try_from(late).unwrap_or(u32::MAX));
        }
    }
}

impl View for Checker {
    fn take(&mut self, said: Said<'_>, now: u64) {
        match said {
            Said::Words(words) => self.words(&words, true, now),
            Said::Gap => {
                self.faults.gaps += 1;
                self.is_behind = true;
            }
            Said::Draft(_, words) => {
                self.is_behind = false;
                self.words(&words, false, now);
            }
            Said::Line(line) if self.is_behind => {
                if let Some(words) = said::whole_message(line) {
                    self.words(&words, false, now);
                }
            }
            Said::Line(_) | Said::Other => {}
        }
    }

    fn bytes(&self) -> usize {
        self.late.len() * self.pieces.size()
    }

    fn is_complete(&self) -> bool {
        self.next >= self.count
    }
}

/// How much is read at once.
const BUFFER: usize = 16 << 10;
/// How long to wait for the first words.
const BEFORE: Duration = Duration::from_secs(60);
/// How long to wait for more.
const BETWEEN: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use towline_bench_bridge::piece::Piece;

    use super::*;

    fn words(pieces: &Pieces, indexes: &[u64]) -> String {
        let write = |index: &u64| {
            pieces.write(Piece {
                at: 5,
                index: *index,
            })
        };
        indexes.iter().map(write).collect()
    }

    #[test]
    fn a_checker_tells_what_is_lost_doubled_and_garbled() {
        let pieces = Pieces::new(64).unwrap();
        let cases: [(&[u64], [u64; 3]); 5] = [
            (&[0, 1, 2, 3], [0, 0, 0]),
            (&[0, 2, 3], [1, 0, 0]),
            (&[0, 1, 1, 2, 3], [0, 1, 0]),
            (&[0, 1], [2, 0, 0]),
            (&[], [4, 0, 0]),
        ];
        for (indexes, expected) in cases {
            let mut checker = Checker::new(pieces.clone(), 4);
            checker.take(Said::Words(words(&pieces, indexes).into()), 1005);
            let Faults {
                lost,
                doubled,
                garbled,
                ..
            } = checker.faults();
            assert_eq!([lost, doubled, garbled], expected, "{indexes:?}");
        }
        let mut checker = Checker::new(pieces.clone(), 1);
        checker.take(Said::Words("x".repeat(64).into()), 0);
        assert_eq!((checker.faults().garbled, checker.faults().lost), (1, 1));
    }

    #[test]
    fn what_makes_up_for_a_gap_is_neither_lost_nor_doubled() {
        let pieces = Pieces::new(64).unwrap();
        let mut checker = Checker::new(pieces.clone(), 4);
        checker.take(Said::Words(words(&pieces, &[0]).into()), 1005);
        checker.take(Said::Gap, 1005);
        checker.take(Said::Draft(0, words(&pieces, &[0, 1, 2])), 1005);
        checker.take(Said::Words(words(&pieces, &[3]).into()), 1005);
        let expected = Faults {
            gaps: 1,
            ..Faults::default()
        };
        assert_eq!((checker.faults(), checker.is_complete()), (expected, true));
        assert_eq!(checker.late, [1, 1, 1, 1]);
    }

    #[test]
    fn a_reader_splices_a_draft_where_it_begins() {
        let mut reader = Reader::new(7);
        reader.take(Said::Words("aéb".into()), 1);
        reader.take(Said::Gap, 2);
        reader.take(Said::Draft(2, "bcde".to_owned()), 3);
        assert_eq!((reader.text.as_str(), reader.gaps), ("aébcde", 1));
        assert!(reader.is_complete());
    }
}
