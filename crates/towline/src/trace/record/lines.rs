//! [`Lines`]: cuts a stream into the lines that are recorded. Pure; what it holds is bounded, and nothing is left out
//! but line ends and blank lines.

use towline_protocol::Text;

/// One direction of the conversation, as it is cut.
#[derive(Debug, Default)]
pub(super) struct Lines {
    held: Vec<u8>,
    /// The line that is held has been given out in part.
    begun: bool,
}

/// What is to be recorded.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    /// A line.
    Whole(Text),
    /// A piece of a line that goes on.
    Part(Text),
    /// The end of such a line.
    Last(Text),
}

impl Lines {
    /// Takes what came, and gives the lines that end in it.
    pub(super) fn take(&mut self, mut bytes: &[u8], mut give: impl FnMut(Piece)) {
        while !bytes.is_empty() {
            let end = memchr::memchr(b'\n', bytes);
            let (piece, rest) = bytes.split_at(end.unwrap_or(bytes.len()));
            self.hold(piece, &mut give);
            bytes = rest;
            if end.is_some() {
                bytes = &bytes[1..];
                self.finish(&mut give);
            }
        }
    }

    /// The stream has ended, or a line has.
    pub(super) fn finish(&mut self, give: &mut impl FnMut(Piece)) {
        let line = std::mem::take(&mut self.held);
        let line = line.strip_suffix(b"\r").unwrap_or(&line);
        if std::mem::take(&mut self.begun) {
            give(Piece::Last(text(line)));
        } else if !line.trim_ascii().is_empty() {
            give(Piece::Whole(text(line)));
        }
    }

    /// Holds a piece back, and gives out what would be too much.
    fn hold(&mut self, mut piece: &[u8], give: &mut impl FnMut(Piece)) {
        loop {
            let (fits, rest) = piece.split_at(piece.len().min(MOST - self.held.len()));
            self.held.extend_from_slice(fits);
            if rest.is_empty() {
                return;
            }
            piece = rest;
            let cut = character_boundary(&self.held);
            give(Piece::Part(text(&self.held[..cut])));
            self.held.drain(..cut);
            self.begun = true;
        }
    }
}

fn text(bytes: &[u8]) -> Text {
    String::from_utf8_lossy(bytes).into_owned().into()
}

/// Where bytes can be cut at their end without cutting a character. Of what is not UTF-8, anywhere.
fn character_boundary(bytes: &[u8]) -> usize {
    let lead = (bytes.len().saturating_sub(3)..bytes.len())
        .rev()
        .find(|at| !matches!(bytes[*at], 0x80..=0xbf));
    let Some(lead) = lead else {
        return bytes.len();
    };
    let length = match bytes[lead] {
        0xc0..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xff => 4,
        _ => 1,
    };
    if lead + length > bytes.len() {
        lead
    } else {
        bytes.len()
    }
}

/// How long a line may be and still go into one row.
pub(super) const MOST: usize = 8 << 20;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pieces(chunks: &[&[u8]]) -> Vec<Piece> {
        let mut lines = Lines::default();
        let mut given = Vec::new();
        for chunk in chunks {
            lines.take(chunk, |piece| given.push(piece));
        }
        lines.finish(&mut |piece| given.push(piece));
        given
    }

    #[test]
    fn line_ends_and_blank_lines_are_left_out_and_a_last_line_without_end_is_not() {
        let given = pieces(&[b"{\"a\":1}\r", b"\n\n  \n", b"\xff\xe2\x82", b"\xac\nlast"]);
        let whole = |text: &str| Piece::Whole(text.into());
        assert_eq!(
            given,
            [whole("{\"a\":1}"), whole("\u{fffd}€"), whole("last")]
        );
    }

    #[test]
    fn a_long_line_is_cut_between_characters_and_nothing_of_it_is_lost() {
        for ahead in 0..4 {
            let line = "x".repeat(ahead) + &"€".repeat(MOST * 2 / 3);
            let given = pieces(&[line.as_bytes(), b"\n{}\n"]);
            let mut whole = String::new();
            let (rest, long) = given.split_last().unwrap();
            assert_eq!(*rest, Piece::Whole("{}".into()));
            for (index, piece) in long.iter().enumerate() {
                match piece {
                    Piece::Part(text) if index + 1 < long.len() => whole.push_str(text),
                    Piece::Last(text) if index + 1 == long.len() => whole.push_str(text),
                    other => panic!("{index}: {}", matches!(other, Piece::Whole(_))),
                }
            }
            assert!(whole == line, "ahead {ahead}");
        }
    }

    #[test]
    fn bytes_that_are_no_characters_are_cut_anywhere() {
        let line = vec![0x80; MOST + 5];
        let given = pieces(&[&line]);
        assert!(matches!(&given[..], [Piece::Part(_), Piece::Last(_)]));
    }

    proptest! {
        #[test]
        fn any_chunking_gives_the_same_lines(
            bytes in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), Just(b'{'), any::<u8>()], 0..200),
            size in 1_usize..50,
        ) {
            let chunks: Vec<&[u8]> = bytes.chunks(size).collect();
            prop_assert_eq!(pieces(&chunks), pieces(&[&bytes]));
        }
    }
}
