//! The rows of a trace: lines in one piece and in several.

use proptest::prelude::*;
use towline_protocol::{
    Text, Wire,
    trace::{Direction, Joined, Pieces, TraceEntry, TraceRow},
};

/// Writes a row and reads it again.
fn reread(row: &TraceRow) -> TraceRow {
    match TraceEntry::read(row.to_json().text()).unwrap() {
        TraceEntry::Row(row) => row,
        TraceEntry::Bare(line) => panic!("not a row: {line}"),
    }
}

#[test]
fn every_line_comes_back_from_its_row_letter_by_letter() {
    for line in [
        r#"{"type":"keep_alive"}"#,
        r#"{ "type" : "keep_alive", "x": 1e0 }"#,
        "{\"type\":\r\"keep_alive\"}",
        r#""a string""#,
        "[1,2]",
        "true",
        "{\"cut\":",
        "plain \u{1b}[31m words \u{fffd}",
    ] {
        let row = TraceRow::of_line(7, Direction::In, &line.into());
        let again = reread(&row);
        assert_eq!(again, row);
        assert_eq!(again.text(), line);
    }
}

#[test]
fn lines_in_pieces_of_two_directions_are_joined_apart() {
    let piece = |direction, text: &str| TraceRow::of_piece(1, direction, &text.into());
    let last = |direction, text: &str| TraceRow::of_last_piece(2, direction, &text.into());
    let mut pieces = Pieces::with_limit(20);
    let mut rows = Vec::new();
    for row in [
        piece(Direction::Out, "{\"a\""),
        piece(Direction::In, "{\"b\""),
        TraceRow::of_line(1, Direction::Err, &"aside".into()),
        last(Direction::Out, ":1}"),
        last(Direction::In, ":2}"),
        piece(Direction::Out, "0123456789"),
        piece(Direction::Out, "0123456789"),
        last(Direction::Out, "0"),
        TraceRow::of_line(1, Direction::Out, &"{}".into()),
        piece(Direction::In, "never"),
    ] {
        match pieces.add(reread(&row)) {
            Joined::Row(row) => rows.push(row.text().to_string()),
            Joined::TooLong { limit, start } => rows.push(format!("longer than {limit}: {start}")),
            Joined::Piece => {}
        }
    }
    assert_eq!(
        rows,
        [
            "aside",
            "{\"a\":1}",
            "{\"b\":2}",
            "longer than 20: 012345678901234567890",
            "{}"
        ]
    );
    assert_eq!(pieces.finish().collect::<Vec<_>>(), [Text::from("never")]);
}

proptest! {
    #[test]
    fn any_pieces_give_the_line_they_were_cut_from(pieces in prop::collection::vec(".{0,9}", 1..6)) {
        let whole: String = pieces.concat();
        let mut joiner = Pieces::with_limit(1 << 10);
        let (last, first) = pieces.split_last().unwrap();
        for piece in first {
            let row = TraceRow::of_piece(1, Direction::Out, &piece.as_str().into());
            prop_assert_eq!(joiner.add(reread(&row)), Joined::Piece);
        }
        let row = TraceRow::of_last_piece(2, Direction::Out, &last.as_str().into());
        match joiner.add(reread(&row)) {
            Joined::Row(row) => prop_assert_eq!(row.text(), whole.as_str()),
            other => prop_assert!(false, "{:?}", other),
        }
    }
}
