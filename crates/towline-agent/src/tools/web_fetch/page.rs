//! Makes text of what a server sent: Markdown of HTML, the rest as it is. What is no text is refused.
//!
//! A page may be made to hurt: nested so deeply that a walk over it overflows the stack, or so that reading it takes
//! forever. Hence the bounds on depth and time.

mod encoding;

use std::{
    rc::Rc,
    time::{Duration, Instant},
};

use htmd::HtmlToMarkdown;
use html5ever::{
    ParseOpts, parse_document,
    tendril::{StrTendril, TendrilSink as _},
};
use markup5ever_rcdom::{Node, NodeData, RcDom};

/// The text of a page.
pub(super) async fn text(body: Vec<u8>, content_type: String) -> Result<String, String> {
    let (kind, parameters) = content_type.split_once(';').unwrap_or((&content_type, ""));
    let kind = kind.trim().to_ascii_lowercase();
    let named = encoding::named(parameters);
    if kind == "text/html" || kind == "application/xhtml+xml" {
        let reading = tokio::task::spawn_blocking(move || {
            let encoding = named.or_else(|| encoding::named_in_page(&body));
            markdown(&encoding::decode(&body, encoding))
        });
        return reading.await.unwrap_or_else(|_| Err(UNREADABLE.to_owned()));
    }
    let is_text = kind.starts_with("text/")
        || [
            "json",
            "xml",
            "javascript",
            "yaml",
            "toml",
            "x-sh",
            "x-ndjson",
        ]
        .iter()
        .any(|part| kind.ends_with(part));
    let text = is_text.then(|| encoding::decode(&body, named));
    text.filter(|text| !text.contains('\0')).ok_or_else(|| {
        format!("this is {kind}, not text; download it with a command and look at the file instead")
    })
}

/// The text from `offset` on, at most so many characters, and a note where it goes on.
pub(super) fn window(text: &str, offset: usize, most: usize) -> String {
    let mut rest = text.chars().skip(offset);
    let mut shown: String = rest.by_ref().take(most).collect();
    let left = rest.count();
    if left > 0 {
        let next = offset.saturating_add(most);
        shown.push_str(&format!(
            "\n\n[{left} more characters; call again with offset {next} to go on]"
        ));
    }
    shown
}

fn markdown(html: &str) -> Result<String, String> {
    let tree = tree(html)?;
    if depth(&tree) > DEEPEST {
        return Ok(plain(&tree));
    }
    let converter = HtmlToMarkdown::builder()
        .skip_tags(SKIPPED.to_vec())
        .build();
    Ok(converter.tree_to_markdown(&tree))
}

/// Reads a page piece by piece, and gives up when it takes too long.
fn tree(html: &str) -> Result<Rc<Node>, String> {
    let began = Instant::now();
    let mut parser = parse_document(RcDom::default(), ParseOpts::default());
    let mut rest = html;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.floor_char_boundary(PIECE));
        parser.process(StrTendril::from(piece));
        rest = after;
        if began.elapsed() > LONGEST {
            return Err(UNREADABLE.to_owned());
        }
    }
    Ok(parser.finish().document)
}

fn depth(tree: &Rc<Node>) -> usize {
    let mut deepest = 0;
    let mut open = vec![(Rc::clone(tree), 1)];
    while let Some((node, depth)) = open.pop() {
        deepest = deepest.max(depth);
        let children = node.children.borrow();
        open.extend(children.iter().map(|child| (Rc::clone(child), depth + 1)));
    }
    deepest
}

/// The words alone.
fn plain(tree: &Rc<Node>) -> String {
    let mut text = String::new();
    let mut open = vec![Rc::clone(tree)];
    while let Some(node) = open.pop() {
        match &node.data {
            NodeData::Text { contents } => {
                let words = contents.borrow();
                let words = words.trim();
                if !words.is_empty() {
                    text.push_str(words);
                    text.push('\n');
                }
            }
            NodeData::Element { name, .. } if SKIPPED.contains(&&*name.local) => continue,
            _ => {}
        }
        open.extend(node.children.borrow().iter().rev().map(Rc::clone));
    }
    text
}

/// What holds no words for a reader.
const SKIPPED: &[&str] = &["script", "style", "noscript", "svg", "iframe", "template"];

/// Deeper than any page that was made for people; a walk over it fits any stack.
const DEEPEST: usize = 300;

/// How much is read before one looks at the time, in bytes.
const PIECE: usize = 16 << 10;

/// How long reading a page may take.
const LONGEST: Duration = Duration::from_secs(10);

/// What is said of a page that cannot be read in time.
const UNREADABLE: &str = "the page cannot be read: it is nested too deeply, or broken";

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn pages_become_text_by_their_kind() {
        let html = "<html><head><title>T</title><style>p{}</style></head><body><h1>Head</h1><script>no()</script>\
                    <p>Some <b>words</b> and <a href=\"https://a.org/\">a link</a>.</p></body></html>";
        let markdown = text(html.into(), "text/html; charset=utf-8".into())
            .await
            .unwrap();
        assert!(markdown.contains("# Head"), "{markdown}");
        assert!(
            markdown.contains("Some **words** and [a link](https://a.org/)."),
            "{markdown}"
        );
        assert!(
            !markdown.contains("no()") && !markdown.contains("p{}"),
            "{markdown}"
        );
        for (kind, body, expected) in [
            ("text/plain", &b"a\xffb"[..], Ok("a\u{fffd}b")),
            ("text/plain; charset=iso-8859-1", b"a\xffb", Ok("aÿb")),
            ("text/plain;charset=\"Shift_JIS\"", b"\x93\xfa", Ok("日")),
            ("text/plain", b"\xff\xfea\0", Ok("a")),
            ("text/plain; charset=utf-16be", b"\0a", Ok("a")),
            ("text/html", b"<meta charset=windows-1251><p>\xcf", Ok("П")),
            (
                "text/html; charset=utf-8",
                b"<meta charset=windows-1251><p>\xd0\x9f",
                Ok("П"),
            ),
            ("application/json", b"{}", Ok("{}")),
            ("image/svg+xml", b"<svg/>", Ok("<svg/>")),
            ("image/png", b"png", Err("this is image/png, not text")),
            ("text/plain", b"\0\x01", Err("not text")),
        ] {
            match (text(body.to_vec(), kind.to_owned()).await, expected) {
                (Ok(text), Ok(expected)) => assert_eq!(text, expected),
                (Err(error), Err(words)) => assert!(error.contains(words), "{error}"),
                (found, expected) => panic!("{found:?} instead of {expected:?}"),
            }
        }
    }

    #[tokio::test]
    async fn a_page_that_is_nested_without_end_gives_its_words_and_no_overflow() {
        let html = format!("{}words", "<div><p><b>".repeat(1_000));
        assert_eq!(
            text(html.into(), "text/html".into()).await.unwrap(),
            "words\n"
        );
    }

    #[test]
    fn a_long_text_is_shown_in_windows() {
        assert_eq!(window("abc", 0, 3), "abc");
        assert_eq!(
            window("äbcdef", 1, 2),
            "bc\n\n[3 more characters; call again with offset 3 to go on]"
        );
        assert_eq!(window("abc", 9, 2), "");
    }
}
