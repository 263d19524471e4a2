//! [`LongLine`]: a line that does not fit into a block, gathered in memory of its own.
//!
//! That memory comes from the system and goes back to it with the line. The allocator would keep it: each thread that
//! ever read a long line would go on holding as much.

use bytes::Bytes;
use memmap2::MmapMut;

/// The front of a line whose end has not come yet.
#[derive(Debug)]
pub(super) struct LongLine {
    memory: Memory,
    length: usize,
}

#[derive(Debug)]
enum Memory {
    /// Zeros that take no room until they are written to.
    Mapped(MmapMut),
    /// Where the system maps none.
    Allocated(Vec<u8>),
}

impl LongLine {
    /// Begins a line with `front`. It is to have at most `most` bytes.
    pub(super) fn begin(front: &[u8], most: usize) -> Self {
        let mut line = Self {
            memory: Memory::of(FIRST.min(most).max(front.len())),
            length: 0,
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
        Self::from_owner(line.memory).slice(..line.length)
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
