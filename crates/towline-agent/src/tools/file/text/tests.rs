//! What is not changed stays, byte for byte.

use std::slice::from_ref;

use proptest::prelude::*;

use super::{NotText, Text};

const MARK: char = '\u{feff}';

#[test]
fn files_of_every_encoding_come_back_as_they_were() {
    let wide = |text: &str, bytes: fn(u16) -> [u8; 2]| {
        text.encode_utf16().flat_map(bytes).collect::<Vec<u8>>()
    };
    for (bytes, shown) in [
        (b"".to_vec(), ""),
        (b"a\nb".to_vec(), "a\nb"),
        (b"a\r\nb\n\r".to_vec(), "a\nb\n\r"),
        (b"\xef\xbb\xbfhi\n".to_vec(), "hi\n"),
        (b"\xef\xbb\xbf".to_vec(), ""),
        (
            wide("\u{feff}h\u{e9}\r\n\u{1f600}", u16::to_le_bytes),
            "h\u{e9}\n\u{1f600}",
        ),
        (wide("\u{feff}h\u{e9}\n", u16::to_be_bytes), "h\u{e9}\n"),
    ] {
        let text = Text::decode(&bytes).unwrap();
        assert_eq!(text.shown(), shown);
        assert_eq!(text.encode(), bytes);
    }
}

#[test]
fn what_is_no_text_is_told_apart() {
    for (bytes, why) in [
        (&b"caf\xe9"[..], NotText::Encoding),
        (b"a\0b", NotText::Zeros),
        (b"\xff\xfea", NotText::Encoding),
        (b"\xff\xfe\x00\xd8", NotText::Encoding),
    ] {
        assert_eq!(Text::decode(bytes), Err(why), "{bytes:?}");
    }
}

#[test]
fn new_text_gets_the_line_endings_that_most_lines_have() {
    for (raw, old, new, after) in [
        ("a\r\nb\r\n", "b", "x\ny", "a\r\nx\r\ny\r\n"),
        ("a\nb\n", "b", "x\ny", "a\nx\ny\n"),
        // Lines that are not touched keep what they have.
        ("x\r\ny\nz\r\n", "y", "Y\nQ", "x\r\nY\r\nQ\nz\r\n"),
        ("a\r\nb\r\n", "a\nb", "c\nd", "c\r\nd\r\n"),
        ("a\r\nb\r\n", "\n", "", "ab"),
        ("a\r\nb\r\n", "a\n", "", "b\r\n"),
        ("a\r\nb\r\n", "\nb", "", "a\r\n"),
        ("a\r\nb\r\n", "b", "x\r\ny", "a\r\nx\r\ny\r\n"),
    ] {
        let text = Text::decode(raw.as_bytes()).unwrap();
        let shown = text.shown();
        let ranges: Vec<_> = shown
            .match_indices(old)
            .map(|(at, found)| at..at + found.len())
            .collect();
        assert_eq!(text.splice(&ranges, new).raw, after, "{raw:?} {old:?}");
    }
}

proptest! {
    /// What the model sees after a change is the change of what it saw before.
    #[test]
    fn a_change_of_the_file_is_a_change_of_what_is_shown(
        raw in "(a|b|é|\r\n|\n){0,40}",
        old in "(a|b|é|\n){1,3}",
        new in "(x|\n){0,3}",
    ) {
        let text = Text::decode(raw.as_bytes()).unwrap();
        let shown = text.shown();
        let ranges: Vec<_> = shown.match_indices(&old).map(|(at, found)| at..at + found.len()).collect();
        let changed = text.splice(&ranges, &new);
        prop_assert_eq!(changed.shown(), shown.replace(&old, &new));
        prop_assert_eq!(text.splice(&[], &new).encode(), raw.as_bytes());
    }

    /// A file whose lines all end alike still does after any change.
    #[test]
    fn line_endings_and_marks_are_kept(
        lines in prop::collection::vec("[ab]{0,3}", 2..8),
        new in "(x|\n){0,4}",
        at in 0..8_usize,
    ) {
        let raw = format!("{MARK}{}\r\n", lines.join("\r\n"));
        let text = Text::decode(raw.as_bytes()).unwrap();
        let at = at.min(text.shown().len());
        let changed = String::from_utf8(text.splice(from_ref(&(at..at)), &new).encode()).unwrap();
        prop_assert!(changed.starts_with(MARK));
        prop_assert_eq!(changed.matches('\n').count(), changed.matches("\r\n").count());
        let other = String::from_utf8(text.with(&new).encode()).unwrap();
        prop_assert!(other.starts_with(MARK));
        prop_assert_eq!(other.matches('\n').count(), other.matches("\r\n").count());
    }
}
