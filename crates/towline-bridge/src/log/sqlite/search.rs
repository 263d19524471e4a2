//! What a person looks for, as a question to the index; and what was found.

use rusqlite::{Connection, params};
use towline_protocol::dialect::pocket::BridgeId;

use super::{schema::SPAN, seq_of, unsigned};

/// A frame whose text has what was looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The session.
    pub session: BridgeId,
    /// The number of the frame.
    pub seq: u64,
    /// When it happened, in milliseconds since 1970.
    pub at: u64,
    /// The words around the first place, in pieces.
    pub snippet: Vec<Piece>,
}

/// A piece of a snippet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    /// What stands around it.
    Around(String),
    /// What was looked for.
    Found(String),
}

pub(super) fn search(
    connection: &Connection,
    words: &str,
    limit: usize,
    sessions: Option<&[BridgeId]>,
) -> rusqlite::Result<Vec<Hit>> {
    let Some(question) = question(words) else {
        return Ok(Vec::new());
    };
    // By row and not by rank: the index gives rows in this order without looking at all of them.
    let mut select = connection.prepare_cached(
        "SELECT texts.rowid, frames.at, sessions.id, snippet(texts, 0, ?3, ?4, '…', 24)
         FROM texts
         JOIN sessions ON sessions.key = texts.rowid / ?5
         JOIN frames ON frames.row = texts.rowid
         WHERE texts MATCH ?1 AND (?6 IS NULL OR sessions.id IN (SELECT value FROM json_each(?6)))
         ORDER BY texts.rowid DESC LIMIT ?2",
    )?;
    let limit = i64::try_from(limit.min(MOST_HITS)).unwrap_or(i64::MAX);
    // Ids are strings, and a list of strings can be written.
    let sessions = sessions.map(|ids| serde_json::to_string(ids).unwrap_or_default());
    let rows = select.query_map(
        params![
            question,
            limit,
            BEGIN.to_string(),
            END.to_string(),
            SPAN,
            sessions
        ],
        |row| {
            Ok(Hit {
                seq: seq_of(row.get(0)?),
                at: unsigned(row.get(1)?),
                session: row.get::<_, String>(2)?.into(),
                snippet: pieces(row.get_ref(3)?.as_str()?),
            })
        },
    )?;
    rows.collect()
}

/// Each word in quotes, so that nothing in it is an operator; nothing if there is no word.
fn question(words: &str) -> Option<String> {
    let words = words.split(|character: char| character.is_whitespace() || character.is_control());
    let quoted: Vec<String> = words
        // What has no letter and no digit is no word for the index either.
        .filter(|word| word.contains(char::is_alphanumeric))
        .take(MOST_WORDS)
        .map(|word| {
            let word: String = word.chars().take(LONGEST_WORD).collect();
            format!("\"{}\"", word.replace('"', "\"\""))
        })
        .collect();
    if quoted.is_empty() {
        return None;
    }
    Some(format!("{}*", quoted.join(" ")))
}

/// A snippet with marks becomes pieces.
fn pieces(snippet: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for part in snippet.split_inclusive([BEGIN, END]) {
        let (text, piece): (&str, fn(String) -> Piece) = match part.strip_suffix(END) {
            Some(text) => (text, Piece::Found),
            None => (part.strip_suffix(BEGIN).unwrap_or(part), Piece::Around),
        };
        if !text.is_empty() {
            pieces.push(piece(text.to_owned()));
        }
    }
    pieces
}

/// Marks in snippets; texts in the index have no control characters.
const BEGIN: char = '\u{2}';
const END: char = '\u{3}';
const MOST_HITS: usize = 1000;
const MOST_WORDS: usize = 32;
const LONGEST_WORD: usize = 200;

#[cfg(test)]
mod tests {
    use super::{Piece, pieces, question};

    #[test]
    fn words_become_a_question_without_operators() {
        for (words, expected) in [
            ("parser", Some(r#""parser"*"#)),
            ("the  parser\n", Some(r#""the" "parser"*"#)),
            (r#"a"b NOT (c"#, Some(r#""a""b" "NOT" "(c"*"#)),
            ("nul\0byte", Some(r#""nul" "byte"*"#)),
            ("über straße", Some(r#""über" "straße"*"#)),
            ("", None),
            (" * \" -- ", None),
        ] {
            assert_eq!(question(words).as_deref(), expected, "{words}");
        }
        let many = "word ".repeat(1000);
        assert_eq!(question(&many).unwrap().matches("word").count(), 32);
        assert!(question(&"é".repeat(100_000)).unwrap().len() < 500);
    }

    #[test]
    fn a_snippet_with_marks_becomes_pieces() {
        let around = |text: &str| Piece::Around(text.to_owned());
        let found = |text: &str| Piece::Found(text.to_owned());
        for (snippet, expected) in [
            ("\u{2}one\u{3}", vec![found("one")]),
            (
                "…a \u{2}b\u{3} c \u{2}d\u{3}…",
                vec![
                    around("…a "),
                    found("b"),
                    around(" c "),
                    found("d"),
                    around("…"),
                ],
            ),
            ("", vec![]),
        ] {
            assert_eq!(pieces(snippet), expected, "{snippet}");
        }
    }
}
