//! The search index: filled behind the writer's back, and asked with whatever a person types.

use std::{
    thread,
    time::{Duration, Instant},
};

use towline_bridge::{
    Kind,
    log::{Hit, Indexer, Log, Piece, Progress, SqliteLog},
};

use crate::made::{Made, id, line, of, session};

fn index(indexer: &mut Indexer) -> usize {
    let mut steps = 0;
    while indexer.step().unwrap() == Progress::More {
        steps += 1;
    }
    steps
}

/// Sessions and numbers of what is found.
fn found(log: &SqliteLog, words: &str) -> Vec<(String, u64)> {
    let hits = log.reader().unwrap().search(words, 100).unwrap();
    hits.into_iter()
        .map(|hit| (hit.session.to_string(), hit.seq))
        .collect()
}

fn said(text: &str) -> String {
    format!(r#"{{"content":"{text}","by":"ann"}}"#)
}

#[test]
fn a_session_with_much_to_index_does_not_keep_the_others_waiting() {
    let mut made = Made::new();
    let long = said(&"much ".repeat(4_000));
    let batch = vec![(Kind::Input, long.as_str()); 20];
    made.write(1, &batch);
    let late = crate::made::frame(1, Kind::Input, &said("little"));
    made.log.write(&[session("t", 2), of("t", late)]).unwrap();
    let mut indexer = made.log.indexer().unwrap();
    for _ in 0..2 {
        assert_eq!(indexer.step().unwrap(), Progress::More);
    }
    assert_eq!(found(&made.log, "little"), [("t".to_owned(), 1)]);
    assert!(found(&made.log, "much").len() < batch.len());
    index(&mut indexer);
    assert_eq!(found(&made.log, "much").len(), batch.len());
}

#[test]
fn words_are_found_in_what_was_said_and_done() {
    let mut made = Made::new();
    made.write(1, &[
        (Kind::Input, &said("Fix the Größe of the parser-table, it's 50% off")),
        (Kind::Line, r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t","name":"Bash","input":{"command":"cargo test"}}]}}"#),
        (Kind::Line, r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"error[E0277]: usize"}]}}"#),
        (Kind::Note, r#"{"code":"stopped","text":"cargo"}"#),
    ]);
    made.log
        .write(&[
            session("t", 2),
            of(
                "t",
                crate::made::frame(1, Kind::Input, &said("cargo again")),
            ),
        ])
        .unwrap();
    assert_eq!(found(&made.log, "cargo"), []);
    index(&mut made.log.indexer().unwrap());
    let (s, t) = ("s".to_owned(), "t".to_owned());
    for (words, expected) in [
        ("cargo", vec![(t.clone(), 1), (s.clone(), 2)]),
        ("car", vec![(t, 1), (s.clone(), 2)]),
        ("test cargo", vec![(s.clone(), 2)]),
        ("GROSSE", vec![]),
        ("grösse", vec![]),
        ("große", vec![(s.clone(), 1)]),
        ("parser-table", vec![(s.clone(), 1)]),
        ("table-parser", vec![]),
        ("error[E0277]", vec![(s.clone(), 3)]),
        ("cargo OR parser", vec![]),
        ("it's 50%", vec![(s, 1)]),
    ] {
        assert_eq!(found(&made.log, words), expected, "{words}");
    }
}

#[test]
fn a_hit_shows_the_words_around_it() {
    let mut made = Made::new();
    let around = "before ".repeat(100);
    made.write(1, &[(Kind::Input, &said(&format!("{around}needle after")))]);
    index(&mut made.log.indexer().unwrap());
    let hits = made.log.reader().unwrap().search("needle", 1).unwrap();
    let [
        Hit {
            session,
            seq: 1,
            at: 1001,
            snippet,
        },
    ] = hits.as_slice()
    else {
        panic!("{hits:?}");
    };
    assert_eq!(session, "s");
    let [
        Piece::Around(before),
        Piece::Found(found),
        Piece::Around(after),
    ] = snippet.as_slice()
    else {
        panic!("{snippet:?}");
    };
    assert!(
        before.starts_with('…') && before.ends_with("before "),
        "{before}"
    );
    assert_eq!((found.as_str(), after.as_str()), ("needle", " after"));
}

#[test]
fn nothing_that_a_person_types_is_an_error() {
    let mut made = Made::new();
    made.write(1, &[(Kind::Input, &said("a text"))]);
    index(&mut made.log.indexer().unwrap());
    let reader = made.log.reader().unwrap();
    let long = "x".repeat(1 << 20);
    let many = "text ".repeat(100_000);
    for words in [
        "",
        " ",
        "\"",
        "\"\"",
        "'",
        "*",
        "a*",
        "^a",
        "NEAR(a b)",
        "text:a",
        "-a",
        "a AND",
        "NOT",
        "(",
        "{a b}: c",
        "a + b",
        "\0",
        "a\0b",
        "\u{2}a\u{3}",
        "🦀",
        "é\u{301}",
        "a\"b\"c",
        "\\",
        "%",
        ";--",
        "ⅷ",
        "①",
        "\u{200b}",
        long.as_str(),
        many.as_str(),
    ] {
        if let Err(error) = reader.search(words, usize::MAX) {
            panic!("{words:?}: {error}");
        }
    }
}

#[test]
fn a_forgotten_session_is_not_found_and_its_texts_go() {
    let mut made = Made::new();
    made.log
        .write(&[session("t", 2), of("t", line(1, 10))])
        .unwrap();
    let batch: Vec<_> = (1..=100).map(|seq| of("s", line(seq, 10))).collect();
    made.log.write(&batch).unwrap();
    let mut indexer = made.log.indexer().unwrap();
    index(&mut indexer);
    assert_eq!(found(&made.log, "lorem").len(), 100);
    made.log.forget(&id("s")).unwrap();
    assert_eq!(found(&made.log, "lorem"), [("t".to_owned(), 1)]);
    index(&mut indexer);
    let connection = rusqlite::Connection::open(made.log.file()).unwrap();
    let left: i64 = connection
        .query_row("SELECT count(*) FROM texts", [], |row| row.get(0))
        .unwrap();
    assert_eq!(left, 1);
}

#[test]
fn an_indexer_goes_on_where_another_stopped_and_takes_nothing_twice() {
    let mut made = Made::new();
    let batch: Vec<_> = (1..=300).map(|seq| of("s", line(seq, 500))).collect();
    made.log.write(&batch).unwrap();
    let mut steps = 0;
    // Each is dropped in the middle of the work.
    while made.log.indexer().unwrap().step().unwrap() == Progress::More {
        steps += 1;
    }
    assert!(steps > 5, "{steps} steps are no small ones");
    let made = made.reopened();
    assert_eq!(index(&mut made.log.indexer().unwrap()), 0);
    let expected: Vec<_> = (1..=300).rev().map(|seq| ("s".to_owned(), seq)).collect();
    let hits = made.log.reader().unwrap().search("lorem", 1000).unwrap();
    let hits: Vec<_> = hits
        .into_iter()
        .map(|hit| (hit.session.to_string(), hit.seq))
        .collect();
    assert_eq!(hits, expected);
}

#[test]
fn the_writer_goes_on_while_the_index_is_filled() {
    let mut made = Made::new();
    let batch: Vec<_> = (1..=2000).map(|seq| of("s", line(seq, 2000))).collect();
    made.log.write(&batch).unwrap();
    let mut indexer = made.log.indexer().unwrap();
    let (mut times, step) = thread::scope(|scope| {
        let indexing = scope.spawn(move || {
            let start = Instant::now();
            for _ in 0..STEPS {
                assert_eq!(indexer.step().unwrap(), Progress::More);
            }
            start.elapsed() / STEPS
        });
        let mut times = Vec::new();
        while !indexing.is_finished() {
            let next = 2001 + times.len() as u64;
            let start = Instant::now();
            made.log.write(&[of("s", line(next, 200))]).unwrap();
            times.push(start.elapsed());
        }
        (times, indexing.join().unwrap())
    });
    times.sort();
    let [middle, most, longest] =
        [times.len() / 2, times.len() * 99 / 100, times.len() - 1].map(|at| times[at]);
    // A busy machine may take its time; a writer that waits for the whole index would take far longer.
    assert!(middle < Duration::from_millis(100), "{middle:?}");
    if std::env::var_os("TOWLINE_BRIDGE_SPEED").is_some() {
        println!(
            "{} writes while indexing: half within {middle:?}, 99% within {most:?}, all within {longest:?}; a step takes {step:?}",
            times.len()
        );
    }
}

const STEPS: u32 = 200;
