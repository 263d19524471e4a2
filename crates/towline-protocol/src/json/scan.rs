//! Finding the end of things in JSON text, many bytes at a time.

/// The first byte from `at` on that a JSON string may not hold as it is: `"`, `\` or a control character.
/// The length of `bytes` if there is none.
#[inline]
pub(crate) fn plain_end(bytes: &[u8], start: usize) -> usize {
    let (blocks, rest) = bytes.get(start..).unwrap_or_default().as_chunks();
    let mut at = start;
    for block in blocks {
        let hits = block::plain_ends(block);
        if hits != 0 {
            return at + block::first(hits);
        }
        at += block::SIZE;
    }
    at + rest.iter().take_while(|byte| !is_special(**byte)).count()
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

/// The index behind the value that starts at `at`; nothing if it does not end. Trusts the value to be JSON:
/// it only counts brackets outside of strings.
#[inline]
pub(crate) fn value_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    match bytes.get(at)? {
        b'"' => quoted_end(bytes, at + 1),
        b'{' | b'[' => {
            let mut depth = 0usize;
            loop {
                match bytes.get(at)? {
                    b'"' => {
                        at = quoted_end(bytes, at + 1)?;
                        continue;
                    }
                    b'{' | b'[' => depth += 1,
                    b'}' | b']' => {
                        depth -= 1;
                        if depth == 0 {
                            return Some(at + 1);
                        }
                    }
                    _ => {}
                }
                at += 1;
            }
        }
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

#[inline]
fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

#[inline]
fn block(bytes: &[u8], at: usize) -> Option<&[u8; block::SIZE]> {
    bytes.get(at..)?.first_chunk()
}

/// Sixteen bytes at a time.
mod block {
    use wide::u8x16;

    pub(super) const SIZE: usize = 16;

    /// A bit for each byte that ends plain text.
    #[inline]
    pub(super) fn plain_ends(bytes: &[u8; SIZE]) -> u32 {
        let block = u8x16::new(*bytes);
        let control = block.min(u8x16::splat(0x1f)).simd_eq(block);
        (control | quote_or_backslash(block)).to_bitmask()
    }

    /// A bit for each quote or backslash.
    #[inline]
    pub(super) fn quotes(bytes: &[u8; SIZE]) -> u32 {
        quote_or_backslash(u8x16::new(*bytes)).to_bitmask()
    }

    /// The place of the first bit.
    #[inline]
    pub(super) fn first(hits: u32) -> usize {
        hits.trailing_zeros() as usize
    }

    #[inline]
    fn quote_or_backslash(block: u8x16) -> u8x16 {
        block.simd_eq(u8x16::splat(b'"')) | block.simd_eq(u8x16::splat(b'\\'))
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
            assert_eq!(quoted_end(text.as_bytes(), 0), Some(2 * length + 5));
            assert_eq!(quoted_end(&text.as_bytes()[..2 * length + 4], 0), None);
        }
        assert_eq!(quoted_end(b"abc\\", 0), None);
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
}
