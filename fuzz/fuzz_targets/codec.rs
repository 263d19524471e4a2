//! Any bytes in any chunking given to the line decoder: the same lines, within the bound.

#![no_main]

use libfuzzer_sys::fuzz_target;
use towline_protocol::{Line, LineDecoder};

fuzz_target!(|input: (u16, Vec<u8>, Vec<u8>)| {
    let (limit, bytes, cuts) = input;
    let limit = usize::from(limit).max(1);
    let whole = lines(limit, std::iter::once(&bytes[..]));

    let mut rest = &bytes[..];
    let mut chunks = Vec::new();
    for cut in cuts {
        let (chunk, after) = rest.split_at(rest.len().min(usize::from(cut)));
        chunks.push(chunk);
        rest = after;
    }
    chunks.push(rest);
    assert_eq!(lines(limit, chunks.into_iter()), whole);
});

fn lines<'a>(limit: usize, chunks: impl Iterator<Item = &'a [u8]>) -> Vec<String> {
    let mut decoder = LineDecoder::with_limit(limit);
    let mut lines = Vec::new();
    for mut chunk in chunks {
        while let Some(line) = decoder.next_line(&mut chunk) {
            lines.push(shown(line, limit));
        }
        assert!(decoder.capacity() <= limit + (1 << 17));
    }
    lines.extend(decoder.finish().map(|line| shown(line, limit)));
    lines
}

fn shown(line: Line, limit: usize) -> String {
    match line {
        Line::Text(text) => {
            assert!(text.len() <= limit && !text.contains('\n'));
            format!("text {text}")
        }
        Line::InvalidUtf8 { bytes, offset, .. } => format!("invalid {offset} {bytes:?}"),
        // How it begins depends on when it was noticed.
        Line::TooLong { .. } => "too long".to_owned(),
    }
}
