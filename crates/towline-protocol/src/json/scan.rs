//! Finding the end of things in JSON text, many bytes at a time.

/// The first byte from `at` on that a JSON string may not hold as it is: `"`, `\` or a control character.
/// The length of `bytes` if there is none.
#[inline]
pub(crate) fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    // Most strings end within two words; only long ones pay for setting up the wide loop.
    for _ in 0..2 {
        let Some(word) = word(bytes, at) else {
            return slow_end(bytes, at);
        };
        let hits = special(word);
        if hits != 0 {
            return at + first(hits);
        }
        at += 8;
    }
    // The compiler turns this into vector compares; `|` instead of `||` keeps it free of branches.
    while let Some(block) = bytes.get(at..at + 32) {
        if block
            .iter()
            .fold(false, |hit, &byte| hit | is_special(byte))
        {
            break;
        }
        at += 32;
    }
    while let Some(word) = word(bytes, at) {
        let hits = special(word);
        if hits != 0 {
            return at + first(hits);
        }
        at += 8;
    }
    slow_end(bytes, at)
}

/// The index behind the closing quote of a string whose content starts at `at`; nothing if it does not end.
/// Does not check the content.
#[inline]
pub(crate) fn quoted_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    for _ in 0..4 {
        let Some(word) = word(bytes, at) else { break };
        let hits = zero_bytes(word ^ QUOTES) | zero_bytes(word ^ BACKSLASHES);
        if hits == 0 {
            at += 8;
            continue;
        }
        at += first(hits);
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
    }
    loop {
        at += memchr::memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at + 1);
        }
        at += 2;
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

fn slow_end(bytes: &[u8], mut at: usize) -> usize {
    while at < bytes.len() && !is_special(bytes[at]) {
        at += 1;
    }
    at
}

#[inline]
fn is_special(byte: u8) -> bool {
    (byte < 0x20) | (byte == b'"') | (byte == b'\\')
}

#[inline]
fn word(bytes: &[u8], at: usize) -> Option<u64> {
    let chunk = bytes.get(at..at + 8)?;
    Some(u64::from_le_bytes(
        chunk.try_into().expect("the slice has eight bytes"),
    ))
}

/// The index of the lowest byte whose high bit is set.
#[inline]
fn first(hits: u64) -> usize {
    (hits.trailing_zeros() / 8) as usize
}

/// High bits on the bytes that end plain text. Above the lowest hit there may be false ones, below it never.
#[inline]
fn special(word: u64) -> u64 {
    zero_bytes(word ^ QUOTES)
        | zero_bytes(word ^ BACKSLASHES)
        | (word.wrapping_sub(ONES * 0x20) & !word & HIGHS)
}

#[inline]
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(ONES) & !word & HIGHS
}

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = ONES * 0x80;
const QUOTES: u64 = ONES * b'"' as u64;
const BACKSLASHES: u64 = ONES * b'\\' as u64;

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
