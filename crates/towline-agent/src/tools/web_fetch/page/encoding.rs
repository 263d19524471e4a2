//! What bytes are which characters: as the server says, else as the page says, else UTF-8. A byte order mark knows best.

use std::sync::LazyLock;

use encoding_rs::{Encoding, UTF_8};
use regex::bytes::Regex;

/// The encoding that the parameters of a `content-type` name.
pub(super) fn named(parameters: &str) -> Option<&'static Encoding> {
    let mut parameters = parameters
        .split(';')
        .filter_map(|parameter| parameter.split_once('='));
    let (_, label) = parameters.find(|(name, _)| name.trim().eq_ignore_ascii_case("charset"))?;
    Encoding::for_label(label.trim().trim_matches('"').as_bytes())
}

/// The encoding that a page of HTML names at its beginning. One that could not have been read up to there is none.
pub(super) fn named_in_page(page: &[u8]) -> Option<&'static Encoding> {
    let head = &page[..page.len().min(HEAD)];
    let label = META.captures(head)?.get(1)?;
    let encoding = Encoding::for_label(label.as_bytes())?;
    encoding.is_ascii_compatible().then_some(encoding)
}

/// The text; what is none in this encoding is replaced.
pub(super) fn decode(bytes: &[u8], encoding: Option<&'static Encoding>) -> String {
    let (text, _, _) = encoding.unwrap_or(UTF_8).decode(bytes);
    text.into_owned()
}

/// `<meta charset="…">`, or the same in its older form with `http-equiv`.
static META: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i-u)<meta[^>]*?[\s;"']charset\s*=\s*["']?([a-z0-9_:.-]+)"#)
        .expect("the pattern is well-formed")
});

/// How much of a page is looked at, as browsers do.
const HEAD: usize = 1024;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_named_by_servers_and_pages() {
        for (parameters, expected) in [
            (" charset=UTF-8", Some("UTF-8")),
            ("boundary=x; Charset = \"latin1\"", Some("windows-1252")),
            ("charset=nonsense", None),
            ("charset", None),
            ("", None),
        ] {
            assert_eq!(
                named(parameters).map(Encoding::name),
                expected,
                "{parameters}"
            );
        }
        for (page, expected) in [
            ("<html><meta charset='euc-kr'>", Some("EUC-KR")),
            (
                "<META http-equiv=Content-Type content=\"text/html; charset=gbk\">",
                Some("GBK"),
            ),
            ("<meta name=a><meta\ncharset=big5>", Some("Big5")),
            ("<meta charset=utf-16le>", None),
            ("<p charset=gbk>", None),
            ("", None),
        ] {
            let found = named_in_page(page.as_bytes());
            assert_eq!(found.map(Encoding::name), expected, "{page}");
        }
        let late = format!("{}<meta charset=gbk>", " ".repeat(HEAD));
        assert_eq!(named_in_page(late.as_bytes()), None);
    }
}
