//! An event stream as it comes over HTTP/1.1: chunks become a body, a body becomes events. Pure, and as cheap as can be,
//! for the client must not be what is measured.

use memchr::memmem::Finder;

/// Bytes of a chunked body in, events out.
#[derive(Debug)]
pub struct EventStream {
    chunk: Chunk,
    body: Vec<u8>,
    blank: Finder<'static>,
}

/// One event.
#[derive(Debug, PartialEq, Eq)]
pub struct Event<'a> {
    pub name: &'a [u8],
    pub data: &'a [u8],
}

/// Where in a chunked body it is.
#[derive(Debug)]
enum Chunk {
    /// In the line that says how long the next one is.
    Size(Vec<u8>),
    /// So many bytes before its end.
    Data(usize),
    /// So many bytes of the line end after it are left.
    End(usize),
}

impl Default for EventStream {
    fn default() -> Self {
        Self {
            chunk: Chunk::Size(Vec::new()),
            body: Vec::new(),
            blank: Finder::new(b"\n\n"),
        }
    }
}

impl EventStream {
    /// Takes in bytes and hands over each event that is complete; `false` if they are no chunked body.
    pub fn take(&mut self, bytes: &[u8], mut each: impl FnMut(Event<'_>)) -> bool {
        // What is left of an event has no blank line in it, but may end with half of one.
        let seen = self.body.len().saturating_sub(1);
        if !self.unchunk(bytes) {
            return false;
        }
        let (mut begin, mut from) = (0, seen);
        while let Some(found) = self.blank.find(&self.body[from..]) {
            each(event(&self.body[begin..from + found]));
            begin = from + found + 2;
            from = begin;
        }
        self.body.drain(..begin);
        true
    }

    fn unchunk(&mut self, mut bytes: &[u8]) -> bool {
        while let Some(first) = bytes.first() {
            match &mut self.chunk {
                Chunk::Size(line) => {
                    bytes = &bytes[1..];
                    if *first != b'\n' {
                        line.push(*first);
                        continue;
                    }
                    let digits = std::str::from_utf8(line).unwrap_or_default();
                    let Ok(size) = usize::from_str_radix(digits.trim_end(), 16) else {
                        return false;
                    };
                    self.chunk = Chunk::Data(size);
                }
                Chunk::Data(left) => {
                    let taken = (*left).min(bytes.len());
                    self.body.extend_from_slice(&bytes[..taken]);
                    bytes = &bytes[taken..];
                    *left -= taken;
                    if *left == 0 {
                        self.chunk = Chunk::End(2);
                    }
                }
                Chunk::End(left) => {
                    bytes = &bytes[1..];
                    *left -= 1;
                    if *left == 0 {
                        self.chunk = Chunk::Size(Vec::new());
                    }
                }
            }
        }
        true
    }
}

/// Name and data of an event. Neither server writes data in more than one line.
fn event(text: &[u8]) -> Event<'_> {
    let (mut name, mut data) = (&b"message"[..], &b""[..]);
    for line in text.split(|byte| *byte == b'\n') {
        if let Some(value) = line.strip_prefix(b"event: ") {
            name = value;
        } else if let Some(value) = line.strip_prefix(b"data: ") {
            data = value;
        }
    }
    Event { name, data }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(parts: &[&[u8]]) -> Vec<(String, String)> {
        let mut stream = EventStream::default();
        let mut found = Vec::new();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        for part in parts {
            assert!(stream.take(part, |event| {
                found.push((text(event.name), text(event.data)));
            }));
        }
        found
    }

    #[test]
    fn events_are_the_same_however_they_are_cut() {
        let body = b"event: delta\ndata: {\"a\":1}\n\n: comment\n\nid: 7\ndata: b\n\n";
        let (one, two) = body.split_at(20);
        let mut wire = Vec::new();
        for chunk in [one, two] {
            wire.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
            wire.extend_from_slice(chunk);
            wire.extend_from_slice(b"\r\n");
        }
        let pair = |name: &str, data: &str| (name.to_owned(), data.to_owned());
        let expected = vec![
            pair("delta", "{\"a\":1}"),
            pair("message", ""),
            pair("message", "b"),
        ];
        for cut in 0..=wire.len() {
            assert_eq!(events(&[&wire[..cut], &wire[cut..]]), expected, "{cut}");
        }
        let single: Vec<_> = wire.iter().map(std::slice::from_ref).collect();
        assert_eq!(events(&single), expected);
    }

    #[test]
    fn what_is_not_chunked_is_refused() {
        assert!(!EventStream::default().take(b"event: x\n\n", |_| ()));
    }
}
