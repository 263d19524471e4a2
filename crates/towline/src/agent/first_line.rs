//! Which protocol a host speaks: its first line tells.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use towline_protocol::{OneOrMany, Request, ToAgent, Wire, dialect::session};

/// What was read of the host's lines so far, and which protocol it is.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) read: Vec<u8>,
    pub(super) is_dialect: bool,
}

/// Reads up to the end of the first line that says something. `expects_dialect` is whether a line that any host could
/// send counts as the dialect.
pub(super) async fn open(
    host: &mut (impl AsyncRead + Unpin),
    expects_dialect: bool,
) -> io::Result<Opened> {
    let mut read = Vec::new();
    loop {
        let before = read.len();
        let length = host.read_buf(&mut read).await?;
        let is_over = length == 0 || read.len() > LONGEST;
        if let Some(line) = first(&read, is_over, before) {
            let is_dialect = is_dialect(line, expects_dialect);
            return Ok(Opened { read, is_dialect });
        }
    }
}

/// The first line that is not blank, if it is complete; what there is of it, if nothing more will come. `searched` bytes
/// are known to hold no end of such a line.
fn first(read: &[u8], is_over: bool, searched: usize) -> Option<&[u8]> {
    let start = read.iter().position(|byte| !byte.is_ascii_whitespace());
    let Some(start) = start else {
        return is_over.then_some(&[]);
    };
    let from = searched.max(start);
    match memchr::memchr(b'\n', &read[from..]) {
        Some(end) => Some(&read[start..from + end]),
        None => is_over.then_some(&read[start..]),
    }
}

fn is_dialect(line: &[u8], expects_dialect: bool) -> bool {
    let Ok(text) = std::str::from_utf8(line) else {
        return false;
    };
    let Ok(line) = ToAgent::from_json(text) else {
        return false;
    };
    if session::is_dialect(&line) {
        return true;
    }
    let ToAgent::ControlRequest(asked) = &line else {
        return false;
    };
    // The document's `initialize` has one prompt and the servers themselves; everybody else has a list and names.
    matches!(&asked.request, Request::Initialize(initialize) if expects_dialect
        || initialize.mcp_servers.is_some()
        || matches!(initialize.system_prompt, Some(OneOrMany::One(_))))
}

/// A host of the dialect begins with less.
const LONGEST: usize = 64 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_line_that_says_something_decides() {
        let create = r#"{"type":"session.create","message":{"role":"user","content":"hi"}}"#;
        let user = r#"{"type":"user","message":{"role":"user","content":"hi"}}"#;
        let plain =
            r#"{"type":"control_request","request_id":"1","request":{"subtype":"initialize"}}"#;
        let spelled = r#"{"type":"control_request","request_id":"1","request":{"subtype":"initialize","system_prompt":"p"}}"#;
        let listed = r#"{"type":"control_request","request_id":"1","request":{"subtype":"initialize","systemPrompt":["p"]}}"#;
        for (input, expects, expected) in [
            (format!("{create}\n{user}\n"), false, true),
            (create.to_owned(), false, true),
            (format!("\r\n \n{create}\n"), false, true),
            (format!("{user}\n{create}\n"), false, false),
            (format!("{user}\n"), true, false),
            (format!("{plain}\n"), false, false),
            (format!("{plain}\n"), true, true),
            (format!("{spelled}\n"), false, true),
            (format!("{listed}\n"), false, false),
            ("{bad\n".to_owned(), true, false),
            (" \n".to_owned(), true, false),
            (String::new(), false, false),
        ] {
            let opened = open(&mut input.as_bytes(), expects).await.unwrap();
            assert_eq!(opened.is_dialect, expected, "{input}");
            assert!(input.as_bytes().starts_with(&opened.read));
        }
    }

    #[tokio::test]
    async fn a_line_in_pieces_is_one_line() {
        let (create, rest) = (
            &br#"{"type":"session"#[..],
            &br#".create","message":{"role":"user","content":"hi"}}"#[..],
        );
        let mut host = create.chain(rest).chain(&b"\nmore"[..]);
        let opened = open(&mut host, false).await.unwrap();
        assert!(opened.is_dialect);
        let mut left = Vec::new();
        host.read_to_end(&mut left).await.unwrap();
        assert_eq!(
            [&opened.read[..], &left].concat(),
            [create, rest, b"\nmore"].concat()
        );
    }
}
