//! Bytes to lines: every chunking, every line end, and the bound.

use std::collections::HashSet;

use bytes::{BufMut as _, Bytes};
use proptest::prelude::*;
use towline_protocol::{Line, LineDecoder};

/// All lines of some chunks.
fn lines(mut decoder: LineDecoder, chunks: &[&[u8]]) -> Vec<Line> {
    let mut lines = Vec::new();
    for mut chunk in chunks.iter().copied() {
        while let Some(line) = decoder.next_line(&mut chunk) {
            lines.push(line);
        }
    }
    lines.extend(decoder.finish());
    lines
}

/// The same with bytes that are put right into the decoder.
fn lines_of_room(mut decoder: LineDecoder, chunks: &[&[u8]]) -> Vec<Line> {
    let mut lines = Vec::new();
    for mut chunk in chunks.iter().copied() {
        while !chunk.is_empty() {
            let mut room = decoder.room();
            let (piece, rest) = chunk.split_at(chunk.len().min(room.remaining_mut()));
            room.put_slice(piece);
            chunk = rest;
            lines.extend(std::iter::from_fn(|| decoder.cut()));
        }
    }
    lines.extend(decoder.finish());
    lines
}

fn check(input: &[u8], expected: &[&str]) {
    let expected: Vec<_> = expected
        .iter()
        .map(|line| Line::Text((*line).into()))
        .collect();
    assert_eq!(lines(LineDecoder::default(), &[input]), expected);
    assert_eq!(lines_of_room(LineDecoder::default(), &[input]), expected);
    let single: Vec<_> = input.chunks(1).collect();
    assert_eq!(
        lines(LineDecoder::default(), &single),
        expected,
        "byte by byte"
    );
}

#[test]
fn line_ends_blank_lines_and_a_byte_order_mark_are_left_out() {
    check(b"a\nb\n", &["a", "b"]);
    check(b"a\r\nb\r\n", &["a", "b"]);
    check(b"a\n\n  \n\r\n\t\nb", &["a", "b"]);
    check(b"\xef\xbb\xbfa\n\xef\xbb\xbfb\n", &["a", "\u{feff}b"]);
    check(b"\xef\xbb\xbf\n\nb", &["b"]);
    check(b"", &[]);
    check(b"\n", &[]);
    check(b"a\rb\n", &["a\rb"]);
    check("é\n漢字\n".as_bytes(), &["é", "漢字"]);
}

#[test]
fn a_missing_final_line_end_loses_nothing() {
    check(b"{\"type\":\"user\"}", &["{\"type\":\"user\"}"]);
    check(b"a\nb\r", &["a", "b"]);
}

#[test]
fn invalid_utf8_is_reported_and_the_stream_goes_on() {
    let found = lines(LineDecoder::default(), &[b"bad \xff\xfe bytes\nnext\n"]);
    let bad = Line::InvalidUtf8 {
        text: "bad \u{fffd}\u{fffd} bytes".into(),
        bytes: Bytes::from_static(b"bad \xff\xfe bytes"),
        offset: 4,
    };
    assert_eq!(found, [bad, Line::Text("next".into())]);
}

#[test]
fn a_line_past_the_bound_is_reported_once_and_skipped() {
    let long = vec![b'x'; 5000];
    let chunks: &[&[u8]] = &[b"before\n", &long, &long, b"end\nafter\n"];
    let found = lines(LineDecoder::with_limit(4096), chunks);
    let start = "x".repeat(200).into();
    assert_eq!(
        found,
        [
            Line::Text("before".into()),
            Line::TooLong { limit: 4096, start },
            Line::Text("after".into())
        ]
    );
}

#[test]
fn a_line_of_exactly_the_bound_is_read() {
    for (length, ok) in [(9, true), (10, true), (11, false)] {
        for end in ["\n", "\r\n", ""] {
            let input = format!("{}{end}", "x".repeat(length));
            let found = lines(LineDecoder::with_limit(10), &[input.as_bytes()]);
            // A carriage return counts until the line end shows that it belongs to it.
            assert_eq!(matches!(found[0], Line::Text(_)), ok, "{length} {end:?}");
            assert_eq!(found.len(), 1);
        }
    }
}

#[test]
fn what_is_held_stays_at_the_bound() {
    const LIMIT: usize = 1 << 20;
    let mut decoder = LineDecoder::with_limit(LIMIT);
    let chunk = vec![b'x'; 1 << 16];
    let mut reported = 0;
    for _ in 0..1024 {
        let mut input = &chunk[..];
        while decoder.next_line(&mut input).is_some() {
            reported += 1;
        }
        assert!(
            decoder.capacity() <= LIMIT + (1 << 17),
            "{} bytes held",
            decoder.capacity()
        );
    }
    assert_eq!(reported, 1);
    let mut whole = &vec![b'y'; 64 << 20][..];
    assert_eq!(decoder.next_line(&mut whole), None);
    assert!(decoder.capacity() <= LIMIT + (1 << 17));
}

#[test]
fn long_and_short_lines_are_cut_from_any_room() {
    let lengths = [1, 20_000, 40_000, 5, 500_000, 16_384, 32_768, 2, 70_000, 1];
    let words: Vec<String> = lengths
        .iter()
        .zip('a'..)
        .map(|(length, letter)| letter.to_string().repeat(*length))
        .collect();
    let input = words.join("\n");
    for size in [1000, 30_000, 32_768, 100_000, input.len()] {
        let chunks: Vec<_> = input.as_bytes().chunks(size).collect();
        let found = lines_of_room(LineDecoder::default(), &chunks);
        let expected: Vec<_> = words
            .iter()
            .map(|word| Line::Text(word.as_str().into()))
            .collect();
        assert_eq!(found, expected, "in pieces of {size}");
    }
}

#[test]
fn what_a_long_line_needed_goes_with_it() {
    for length in [20_000, 500_000, 3 << 20] {
        let mut decoder = LineDecoder::default();
        let input = format!("{}\nshort\n", "x".repeat(length));
        let mut rest = input.as_bytes();
        let Some(Line::Text(line)) = decoder.next_line(&mut rest) else {
            panic!("no line")
        };
        assert_eq!(line.len(), length);
        assert!(decoder.capacity() <= 1 << 14, "{}", decoder.capacity());
        assert_eq!(
            decoder.next_line(&mut rest),
            Some(Line::Text("short".into()))
        );
    }
}

#[test]
fn memory_of_lines_that_are_gone_is_used_again() {
    for in_use in [0, 1, 100] {
        let mut decoder = LineDecoder::default();
        let mut kept = std::collections::VecDeque::new();
        let mut places = HashSet::new();
        for number in 0..20_000 {
            decoder
                .room()
                .put_slice(format!("line {number} of the test\n").as_bytes());
            let Some(Line::Text(line)) = decoder.cut() else {
                panic!("no line")
            };
            assert_eq!(line, format!("line {number} of the test").as_str());
            places.insert(line.as_ptr() as usize >> 12);
            kept.push_back(line);
            if kept.len() > in_use {
                kept.pop_front();
            }
        }
        // Three blocks of 16 KiB at most, where all lines together take half a megabyte.
        assert!(
            places.len() <= 15,
            "{} pages with {in_use} lines in use",
            places.len()
        );
    }
}

#[test]
fn lines_that_fill_the_room_get_more_of_it_until_they_come_slowly_again() {
    let mut decoder = LineDecoder::default();
    let input = "a line of a flood\n".repeat(100_000);
    let mut rest = input.as_bytes();
    let (mut most, mut count) = (0, 0);
    while !rest.is_empty() {
        let mut room = decoder.room();
        most = room.remaining_mut().max(most);
        let piece;
        (piece, rest) = rest.split_at(room.remaining_mut().min(rest.len()));
        room.put_slice(piece);
        while let Some(line) = decoder.cut() {
            assert_eq!(line, Line::Text("a line of a flood".into()));
            count += 1;
        }
    }
    assert_eq!(count, 100_000);
    assert!((1 << 16..=1 << 17).contains(&most), "{most}");
    decoder.room().put_slice(b"and one more\n");
    assert_eq!(decoder.cut(), Some(Line::Text("and one more".into())));
    assert_eq!(decoder.cut(), None);
    assert!(decoder.capacity() <= 1 << 14, "{}", decoder.capacity());
}

#[test]
fn the_bound_is_64_mib_unless_set() {
    assert_eq!(LineDecoder::DEFAULT_LIMIT, 64 * 1024 * 1024);
}

proptest! {
    #[test]
    fn any_chunking_gives_the_same_lines(
        input in prop::collection::vec(prop_oneof![
            6 => any::<u8>(),
            2 => Just(b'\n'),
            1 => Just(b'\r'),
            2 => prop::sample::select(b"\xef\xbb\xbf{}\" ".to_vec()),
        ], 0..300),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        limit in 1usize..100,
    ) {
        let whole = lines(LineDecoder::with_limit(limit), &[&input]);
        let mut places: Vec<_> = cuts.iter().map(|cut| cut.index(input.len() + 1)).collect();
        places.extend([0, input.len()]);
        places.sort_unstable();
        let chunks: Vec<_> = places.windows(2).map(|pair| &input[pair[0]..pair[1]]).collect();
        let chunked = lines(LineDecoder::with_limit(limit), &chunks);
        prop_assert_eq!(texts(&chunked), texts(&whole));
        let of_room = lines_of_room(LineDecoder::with_limit(limit), &chunks);
        prop_assert_eq!(texts(&of_room), texts(&whole));
    }

    #[test]
    fn lines_joined_by_line_ends_come_back(parts in prop::collection::vec("[^\r\n\u{feff}]{1,40}", 0..20)) {
        let kept: Vec<_> = parts.iter().filter(|part| !part.as_bytes().trim_ascii().is_empty()).cloned().collect();
        let found = lines(LineDecoder::default(), &[parts.join("\r\n").as_bytes()]);
        prop_assert_eq!(found, kept.iter().map(|line| Line::Text(line.as_str().into())).collect::<Vec<_>>());
    }
}

/// The lines, without how a line that was too long began: that depends on when it was noticed.
fn texts(lines: &[Line]) -> Vec<String> {
    let text = |line: &Line| match line {
        Line::Text(text) => format!("text {text}"),
        Line::InvalidUtf8 { bytes, offset, .. } => format!("invalid {bytes:?} {offset}"),
        Line::TooLong { limit, .. } => format!("longer than {limit}"),
    };
    lines.iter().map(text).collect()
}
