//! A piece of what the agent says: when it was written, which one it is, and words up to a fixed size. Agent and client
//! agree on it, so that the client can tell what is late, lost, doubled or garbled.

use rustix::time::{ClockId, clock_gettime};

/// What a piece says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Piece {
    /// When it was written, in nanoseconds of a clock that all processes share.
    pub at: u64,
    /// Which one of its turn it is, from 0 on.
    pub index: u64,
}

/// Pieces of one size.
#[derive(Clone, Debug)]
pub struct Pieces {
    size: usize,
    words: String,
}

impl Pieces {
    /// Pieces of so many bytes; nothing if they would be too small.
    pub fn new(size: usize) -> Option<Self> {
        let room = size.checked_sub(HEAD)?;
        let mut words = String::new();
        for letter in WORDS.chars().cycle() {
            if words.len() + letter.len_utf8() > room {
                break;
            }
            words.push(letter);
        }
        // A letter of two bytes may not fit in at the end.
        words.extend(std::iter::repeat_n('.', room - words.len()));
        Some(Self { size, words })
    }

    pub fn size(&self) -> usize {
        self.size
    }

    pub fn write(&self, Piece { at, index }: Piece) -> String {
        format!("{at:020}{index:010} {}", self.words)
    }

    /// What a piece says of itself; nothing if it is not as it was written.
    pub fn read(&self, text: &[u8]) -> Option<Piece> {
        let (at, rest) = text.split_at_checked(20)?;
        let (index, rest) = rest.split_at_checked(10)?;
        let words = rest.strip_prefix(b" ")?;
        let number = |digits: &[u8]| std::str::from_utf8(digits).ok()?.parse().ok();
        let piece = Piece {
            at: number(at)?,
            index: number(index)?,
        };
        (words == self.words.as_bytes()).then_some(piece)
    }
}

/// Nanoseconds of the clock that all processes share.
pub fn now() -> u64 {
    let now = clock_gettime(ClockId::Monotonic);
    // Since the machine was started: neither is negative.
    now.tv_sec.unsigned_abs() * 1_000_000_000 + now.tv_nsec.unsigned_abs()
}

/// Two numbers and a space.
const HEAD: usize = 31;
/// With what has to be escaped in JSON, and what is more than a byte.
const WORDS: &str = "as \"one\" would write, é\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_piece_has_its_size_and_says_what_was_put_in() {
        for size in 31..200 {
            let pieces = Pieces::new(size).unwrap();
            let piece = Piece {
                at: now(),
                index: 77,
            };
            let text = pieces.write(piece);
            assert_eq!(text.len(), size);
            assert_eq!(pieces.read(text.as_bytes()), Some(piece));
        }
    }

    #[test]
    fn what_was_changed_on_the_way_is_no_piece() {
        let pieces = Pieces::new(64).unwrap();
        let text = pieces.write(Piece { at: 1, index: 2 });
        for place in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[place] = b'#';
            assert_eq!(pieces.read(&changed), None, "{place}");
        }
        assert_eq!(pieces.read(&text.as_bytes()[1..]), None);
        assert!(Pieces::new(30).is_none());
    }
}
