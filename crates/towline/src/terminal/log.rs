//! [`LogWriter`]: lines of the program's own log, in which what others wrote is seen as it is.

use std::io::{self, Write};

use towline_protocol::{marked, push_escape};

/// Spells out in each line what would hide or reorder others. Bytes of ASCII pass: line ends and colours are the
/// formatter's, which spells out those of a value itself (tracing-subscriber 0.3.20).
#[derive(Debug)]
pub(crate) struct LogWriter<W>(pub(crate) W);

impl<W: Write> Write for LogWriter<W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match std::str::from_utf8(line) {
            Ok(text) if !text.is_ascii() => self.0.write_all(shown(text).as_bytes())?,
            _ => self.0.write_all(line)?,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

fn shown(line: &str) -> String {
    let mut shown = String::with_capacity(line.len());
    for (character, is_seen) in marked(line) {
        if is_seen || character.is_ascii() {
            shown.push(character);
        } else {
            push_escape(&mut shown, character);
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn what_a_value_hides_is_spelled_out_in_the_log() {
        let kept = Kept::default();
        let writer = kept.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_ansi(false)
            .without_time()
            .with_writer(move || LogWriter(writer.clone()))
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            let path = "a\u{202e}b\u{200b}\u{1b}[2J é";
            tracing::warn!(path, "cannot be read: {path}");
        });
        let line = String::from_utf8(kept.0.lock().unwrap().clone()).unwrap();
        assert!(line.ends_with('\n'), "{line}");
        assert!(
            line.contains("cannot be read: a\\u{202e}b\\u{200b}"),
            "{line}"
        );
        for hidden in ['\u{202e}', '\u{200b}', '\u{1b}'] {
            assert!(!line.contains(hidden), "{line}");
        }
        assert!(line.contains('é'), "{line}");
    }
}
