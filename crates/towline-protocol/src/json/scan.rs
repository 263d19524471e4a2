//! Finding the end of things in JSON text, many bytes at a time.

use block::Block;

/// The first byte from `start` on that a JSON string may not hold as it is: `"`, `\` or a control character.
/// The length of `bytes` if there is none.
#[inline]
pub(crate) fn plain_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start;
    loop {
        let hits = specials_at(bytes, at);
        if hits != 0 {
            return at + block::first(hits);
        }
        at += block::SIZE;
    }
}

/// A bit for each special byte of the block that starts at `at`. The end of the text counts as one, so that no scan goes
/// past it.
#[inline]
pub(crate) fn specials_at(bytes: &[u8], at: usize) -> u32 {
    if let Some(block) = block(bytes, at) {
        return block::specials(block);
    }
    // Less than a block is left: look at the last whole one, of which it is a part.
    match bytes.last_chunk() {
        Some(last) => {
            let left = bytes.len().saturating_sub(at);
            block::specials(last) >> (block::SIZE - left) | 1 << left
        }
        None => block::specials(&last_block(bytes, at)),
    }
}

/// The block that starts at `at`, filled up with zeros, which are special, behind the end of the text.
#[inline]
pub(crate) fn block_at(bytes: &[u8], at: usize) -> Block {
    match block(bytes, at) {
        Some(whole) => *whole,
        None => last_block(bytes, at),
    }
}

#[cold]
fn last_block(bytes: &[u8], at: usize) -> Block {
    let rest = bytes.get(at..).unwrap_or_default();
    let mut filled = [0; block::SIZE];
    filled[..rest.len()].copy_from_slice(rest);
    filled
}

/// The index behind the closing quote of a string whose content starts at `at`; nothing if it does not end.
/// Does not check the content.
#[inline]
pub(crate) fn quoted_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    while let Some(block) = block(bytes, at) {
        let hits = block::quotes(block);
        if hits == 0 {
            at += block::SIZE;
            continue;
        }
        at += block::first(hits);
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// The same, for a string that is long: no branch for each of its escapes.
pub(crate) fn long_quoted_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut escapes_next = 0;
    while let Some(whole) = bytes.get(at..)?.first_chunk() {
        let marks = Marks::of(whole);
        let quotes = marks.quotes & !escaped(marks.backslashes, &mut escapes_next);
        if quotes != 0 {
            return Some(at + large::first(quotes) + 1);
        }
        at += large::SIZE;
    }
    quoted_end(bytes, at + escapes_next as usize)
}

/// The index behind the value that starts at `at`; nothing if it does not end. Trusts the value to be JSON:
/// it only counts brackets outside of strings.
#[inline]
pub(crate) fn value_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => quoted_end(bytes, at + 1),
        b'{' | b'[' => container_end(bytes, at),
        _ => {
            while !matches!(
                bytes.get(at)?,
                b',' | b'}' | b']' | b' ' | b'\t' | b'\n' | b'\r'
            ) {
                at += 1;
            }
            Some(at)
        }
    }
}

/// The index behind the object or array that starts at `at`.
///
/// Looks at 64 bytes at once, with a bit for each, and takes no branch for a string or an escape: there are too many
/// of them, and none comes where the processor expects it.
fn container_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut in_string = 0;
    let mut escapes_next = 0;
    while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
        let marks = match rest.first_chunk() {
            Some(whole) => Marks::of(whole),
            None => {
                let mut filled = [0; large::SIZE];
                filled[..rest.len()].copy_from_slice(rest);
                Marks::of(&filled)
            }
        };
        let quotes = marks.quotes & !escaped(marks.backslashes, &mut escapes_next);
        let strings = running_parity(quotes) ^ in_string;
        in_string = if strings >> 63 == 1 { u64::MAX } else { 0 };
        let mut brackets = (marks.opens | marks.closes) & !strings;
        while brackets != 0 {
            let place = brackets.trailing_zeros();
            if marks.opens >> place & 1 == 1 {
                depth += 1;
            } else {
                depth -= 1;
                if depth == 0 {
                    return Some(at + place as usize + 1);
                }
            }
            brackets &= brackets - 1;
        }
        at += large::SIZE;
    }
    None
}

/// The bytes behind an odd number of backslashes. `carry` is 1 if the last block ended in such a number, and is set for
/// the next.
#[inline]
fn escaped(backslashes: u64, carry: &mut u64) -> u64 {
    const ODD: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    if backslashes == 0 {
        return std::mem::take(carry);
    }
    // A backslash that is escaped itself escapes nothing.
    let backslashes = backslashes & !*carry;
    let followers = backslashes << 1 | *carry;
    // Adding a run's first bit to the run leaves one bit behind its end. Whether that one is escaped follows from
    // whether the places of both are even.
    let odd_starts = backslashes & ODD & !followers;
    let (behind_odd, overflow) = odd_starts.overflowing_add(backslashes);
    *carry = u64::from(overflow);
    (!ODD ^ (behind_odd << 1)) & followers
}

/// For each bit, whether the number of bits up to it is odd: from the quotes, what is inside of them.
#[inline]
fn running_parity(mut bits: u64) -> u64 {
    for distance in [1, 2, 4, 8, 16, 32] {
        bits ^= bits << distance;
    }
    bits
}

/// Where the bytes that structure a text are in 64 of them.
#[derive(Default)]
struct Marks {
    quotes: u64,
    backslashes: u64,
    opens: u64,
    closes: u64,
}

impl Marks {
    #[inline]
    fn of(bytes: &[u8; large::SIZE]) -> Self {
        let mut marks = Self::default();
        let (blocks, _) = bytes.as_chunks();
        for (index, block) in blocks.iter().enumerate() {
            let [quotes, backslashes, opens, closes] = block::marks(block).map(u64::from);
            let shift = index * block::SIZE;
            marks.quotes |= quotes << shift;
            marks.backslashes |= backslashes << shift;
            marks.opens |= opens << shift;
            marks.closes |= closes << shift;
        }
        marks
    }
}

/// The whole block that starts at `at`.
#[inline]
pub(crate) fn block(bytes: &[u8], at: usize) -> Option<&Block> {
    bytes.get(at..)?.first_chunk()
}

/// Sixteen bytes at a time.
pub(crate) mod block {
    use wide::u8x16;

    pub(crate) const SIZE: usize = 16;
    pub(crate) type Block = [u8; SIZE];

    /// A bit for each byte that a string may not hold as it is: quotes, backslashes and control characters.
    #[inline]
    pub(crate) fn specials(bytes: &Block) -> u32 {
        let block = u8x16::new(*bytes);
        let control = block.min(u8x16::splat(0x1f)).simd_eq(block);
        (control | quote_or_backslash(block)).to_bitmask()
    }

    /// A bit for each quote or backslash.
    #[inline]
    pub(super) fn quotes(bytes: &Block) -> u32 {
        quote_or_backslash(u8x16::new(*bytes)).to_bitmask()
    }

    /// A bit for each quote, each backslash, each opening and each closing bracket.
    #[inline]
    pub(super) fn marks(bytes: &Block) -> [u32; 4] {
        let block = u8x16::new(*bytes);
        // One bit is all that tells square brackets from curly ones.
        let curly = block | u8x16::splat(0x20);
        [
            block.simd_eq(u8x16::splat(b'"')),
            block.simd_eq(u8x16::splat(b'\\')),
            curly.simd_eq(u8x16::splat(b'{')),
            curly.simd_eq(u8x16::splat(b'}')),
        ]
        .map(u8x16::to_bitmask)
    }

    /// The place of the first bit.
    #[inline]
    pub(crate) fn first(hits: u32) -> usize {
        hits.trailing_zeros() as usize
    }

    #[inline]
    fn quote_or_backslash(block: u8x16) -> u8x16 {
        block.simd_eq(u8x16::splat(b'"')) | block.simd_eq(u8x16::splat(b'\\'))
    }
}

/// Four blocks at a time.
pub(crate) mod large {
    use super::block;

    pub(crate) const SIZE: usize = 4 * block::SIZE;

    /// As [`block::specials`].
    #[inline]
    pub(crate) fn specials(bytes: &[u8; SIZE]) -> u64 {
        let (blocks, _) = bytes.as_chunks();
        let specials = blocks.iter().map(block::specials).enumerate();
        specials.fold(0, |all, (index, specials)| {
            all | u64::from(specials) << (index * block::SIZE)
        })
    }

    /// The place of the first bit.
    #[inline]
    pub(crate) fn first(hits: u64) -> usize {
        hits.trailing_zeros() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_ends_at_the_first_special_byte_at_any_place() {
        for length in 0..100 {
            for special in [b'"', b'\\', 0, 0x1f] {
                let mut bytes = vec![b'a'; length];
                bytes.push(special);
                bytes.extend_from_slice(b"tail\"\\tail tail tail tail tail");
                assert_eq!(plain_end(&bytes, 0), length, "{special} after {length}");
            }
            assert_eq!(plain_end(&vec![0xe2; length], 0), length);
        }
    }

    #[test]
    fn a_quote_behind_a_backslash_does_not_end_a_string() {
        for length in 0..100 {
            let text = format!(
                "{}\\\"{}\\\\\" rest",
                "a".repeat(length),
                "b".repeat(length)
            );
            for end in [quoted_end, long_quoted_end] {
                assert_eq!(end(text.as_bytes(), 0), Some(2 * length + 5));
                assert_eq!(end(&text.as_bytes()[..2 * length + 4], 0), None);
            }
        }
        for end in [quoted_end, long_quoted_end] {
            assert_eq!(end(b"abc\\", 0), None);
        }
    }

    #[test]
    fn values_end_where_their_brackets_close() {
        for (text, end) in [
            (r#"{"a":"}","b":[1,{}]},"#, Some(20)),
            ("[[],[]]]", Some(7)),
            ("12,", Some(2)),
            ("null}", Some(4)),
            ("{", None),
            ("12", None),
        ] {
            assert_eq!(value_end(text.as_bytes(), 0), end, "{text}");
        }
    }

    #[test]
    fn strings_and_escapes_hide_brackets_at_any_place() {
        for length in 0..200 {
            for hidden in [r"]", r#"\"]"#, r"\\", r#"\\\"}]"#, r"\\\\"] {
                let value = format!(r#"[{{"{}{hidden}":[]}},"{hidden}"]"#, "a".repeat(length));
                let text = format!("{value},[]]");
                assert_eq!(value_end(text.as_bytes(), 0), Some(value.len()), "{text}");
                assert_eq!(value_end(&text.as_bytes()[..value.len() - 1], 0), None);
            }
        }
    }
}
