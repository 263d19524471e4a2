//! [`LongLine`]: a line that does not fit into a block, gathered in memory of its own.
//!
//! That memory comes from the system and goes back to it with the line. The allocator would keep it: each thread that
//! ever read a long line would go on holding as much. Only one that is not very large waits in [`Spare`] for the next
//! line: where long lines follow each other, getting and giving it back would be a good part of reading them.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use memmap2::MmapMut;

/// The front of a line whose end has not come yet.
#[derive(Debug)]
pub(super) struct LongLine {
    memory: Memory,
    length: usize,
    spare: Spare,
}

/// Memory of a line that is gone, for the next one.
#[derive(Clone, Debug, Default)]
pub(super) struct Spare(Arc<Mutex<Option<Memory>>>);

/// The memory of a line, which goes back where it came from.
struct Lent {
    memory: Option<Memory>,
    /// How much of it was used.
    length: usize,
    spare: Spare,
}

#[derive(Debug)]
pub(super) enum Memory {
    /// Zeros that take no room until they are written to.
    Mapped(MmapMut),
    /// Where the system maps none.
    Allocated(Vec<u8>),
}

impl LongLine {
    /// Begins a line with `front`. It is to have at most `most` bytes.
    pub(super) fn begin(front: &[u8], most: usize, spare: &Spare) -> Self {
        let size = FIRST.min(most).max(front.len());
        let memory = spare.take().filter(|memory| memory.as_ref().len() >= size);
        let mut line = Self {
            memory: memory.unwrap_or_else(|| Memory::of(size)),
            length: 0,
            spare: spare.clone(),
        };
        line.push(front, most);
        line
    }

    /// Puts `piece` to its end.
    pub(super) fn push(&mut self, piece: &[u8], most: usize) {
        let length = self.length + piece.len();
        if length > self.memory.as_ref().len() {
            let mut larger = Memory::of(length.saturating_mul(GROWTH).min(most).max(length));
            larger.as_mut()[..self.length].copy_from_slice(self.so_far());
            self.memory = larger;
        }
        self.memory.as_mut()[self.length..length].copy_from_slice(piece);
        self.length = length;
    }

    /// What there is of the line.
    pub(super) fn so_far(&self) -> &[u8] {
        &self.memory.as_ref()[..self.length]
    }

    /// How much memory it may take without asking for more.
    pub(super) fn capacity(&self) -> usize {
        self.memory.as_ref().len()
    }
}

impl From<LongLine> for Bytes {
    fn from(line: LongLine) -> Self {
        Self::from_owner(Lent {
            memory: Some(line.memory),
            length: line.length,
            spare: line.spare,
        })
    }
}

impl Spare {
    /// Takes it out. Whoever forgets it here gives it back to the system.
    pub(super) fn take(&self) -> Option<Memory> {
        self.lock().take()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Memory>> {
        // Nothing in here panics halfway through a change.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        self.memory
            .as_ref()
            .map_or(&[], |memory| &memory.as_ref()[..self.length])
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if self.length <= MOST_SPARE {
            *self.spare.lock() = self.memory.take();
        }
    }
}

impl Memory {
    fn of(size: usize) -> Self {
        MmapMut::map_anon(size).map_or_else(|_| Self::Allocated(vec![0; size]), Self::Mapped)
    }

    fn as_mut(&mut self) -> &mut [u8] {
        match self {
            Self::Mapped(memory) => memory,
            Self::Allocated(memory) => memory,
        }
    }
}

impl AsRef<[u8]> for Memory {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Mapped(memory) => memory,
            Self::Allocated(memory) => memory,
        }
    }
}

/// Enough for nearly every line; what is not written to costs nothing.
const FIRST: usize = 1 << 20;
/// The whole is copied when it grows, so it does that seldom.
const GROWTH: usize = 4;
/// How much of it may be used memory, so that a session that had one long line does not keep it.
const MOST_SPARE: usize = 128 << 10;

#[cfg(test)]
mod tests {
    use super::{Bytes, LongLine, MOST_SPARE, Spare};

    #[test]
    fn memory_waits_for_the_next_line_unless_it_is_much() {
        for (length, waits) in [(40_000, true), (MOST_SPARE, true), (MOST_SPARE + 1, false)] {
            let spare = Spare::default();
            let line = Bytes::from(LongLine::begin(&vec![b'x'; length], 1 << 20, &spare));
            let share = line.slice(..10);
            drop(line);
            assert!(spare.take().is_none(), "somebody still has a part of it");
            drop(share);
            let memory = spare.take();
            assert_eq!(memory.is_some(), waits, "{length}");
        }
    }

    #[test]
    fn nothing_of_the_line_before_is_in_the_next_one() {
        let spare = Spare::default();
        drop(Bytes::from(LongLine::begin(
            &[b'x'; 50_000],
            1 << 20,
            &spare,
        )));
        let mut line = LongLine::begin(b"short", 1 << 20, &spare);
        assert!(spare.take().is_none(), "it is in use");
        line.push(b" and more", 1 << 20);
        assert_eq!(Bytes::from(line), "short and more");
    }
}
