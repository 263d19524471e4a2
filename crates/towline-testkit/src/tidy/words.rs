//! Words: a ratchet for habits that the code has and is to lose. Each crate's count is recorded in `words.toml` and may
//! only fall, whatever files are added, renamed or moved between crates.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{
    History, Problem, Source, crate_folders, from_root, is_name_part, rust_files, source_files,
};

/// The counts of a crate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Comment lines with *nobody*, *somebody*, *whoever* or *anybody*.
    pub persons: u32,
    /// Doc lines that begin with *What* or *Who*.
    pub what_who: u32,
    /// Imports that `as` gives another name.
    pub renamed_imports: u32,
    /// Calls of `sleep` in test files.
    pub sleeps: u32,
    /// Comment lines of both kinds in the page and its tests.
    #[serde(default)]
    pub page: u32,
}

/// Counts by the names of crates.
type Record = BTreeMap<String, Counts>;

/// An earlier record: it may lack kinds that are counted by now.
type Earlier = BTreeMap<String, BTreeMap<String, u32>>;

impl Counts {
    fn of(file: &Source) -> Self {
        let mut counts = Self {
            renamed_imports: renamed_imports(&file.text),
            ..Self::default()
        };
        let mut is_test = file.path.contains("/tests/") || file.path.ends_with("/tests.rs");
        let mut block = Block::default();
        for line in file.text.lines() {
            let comment = block.comment(line);
            counts.persons += u32::from(comment.is_some_and(names_a_person));
            counts.what_who += u32::from(doc(line, comment).is_some_and(begins_with_what_or_who));
            let code = comment.map_or(line, |comment| &line[..line.len() - comment.len()]);
            // Tests stand last in a file.
            is_test |= line.starts_with("mod tests {");
            counts.sleeps += u32::from(is_test && sleeps(code));
        }
        counts
    }

    fn of_page(file: &Source) -> Self {
        let mut block = Block::default();
        let is_counted = |line: &str| {
            let comment = block.comment(line);
            comment.is_some_and(|comment| {
                names_a_person(comment) || begins_with_what_or_who(words_of(comment))
            })
        };
        let lines = file.text.lines().map(is_counted);
        Self {
            page: lines.map(u32::from).sum(),
            ..Self::default()
        }
    }

    fn add(&mut self, other: Self) {
        for ((_, sum), (_, more)) in self.each_mut().into_iter().zip(other.each()) {
            *sum += more;
        }
    }

    fn each(self) -> [(&'static str, u32); 5] {
        let mut counts = self;
        counts.each_mut().map(|(name, count)| (name, *count))
    }

    fn each_mut(&mut self) -> [(&'static str, &mut u32); 5] {
        [
            ("persons", &mut self.persons),
            ("what_who", &mut self.what_who),
            ("renamed_imports", &mut self.renamed_imports),
            ("sleeps", &mut self.sleeps),
            ("page", &mut self.page),
        ]
    }
}

/// The counts equal the record, and no count of the record is above that of an earlier commit: not of a crate that there
/// was, and not of all crates together. `history` is `None` in a source archive.
///
/// # Errors
/// When a file cannot be read.
pub fn words(root: &Path, history: Option<History<'_>>) -> io::Result<Vec<Problem>> {
    let recorded: Record = read(&fs::read_to_string(root.join(RECORD))?)?;
    let mut problems = differences(&recorded, &count(root)?);
    if let Some(history) = history {
        for earlier in history.versions(RECORD)? {
            let place = format!("{RECORD}, beside commit {:.12}", earlier.commit);
            problems.extend(raised(&place, &read(&earlier.text)?, &recorded));
        }
    }
    Ok(problems)
}

/// Writes today's counts as the record. [`words`] still fails if one of them has risen.
///
/// # Errors
/// When a file cannot be read or written.
pub fn record_words(root: &Path) -> io::Result<()> {
    let text = toml::to_string(&count(root)?).map_err(io::Error::other)?;
    fs::write(root.join(RECORD), format!("{HEAD}{text}"))
}

fn read<T: DeserializeOwned>(text: &str) -> io::Result<T> {
    toml::from_str(text).map_err(|error| io::Error::other(format!("{RECORD}: {error}")))
}

/// Counts every crate; `bench` and `fuzz` are one each.
fn count(root: &Path) -> io::Result<Record> {
    let mut folders = crate_folders(root)?;
    folders.extend(["bench", "fuzz"].map(PathBuf::from));
    let mut record = Record::new();
    for folder in folders {
        let path = from_root(root, &folder);
        let mut counts = Counts::default();
        for file in rust_files(root, &[&path])? {
            counts.add(Counts::of(&file));
        }
        for file in source_files(root, &[&path], &["js", "mjs"])? {
            let is_ours = !file.path.contains(VENDOR);
            counts.add(if is_ours {
                Counts::of_page(&file)
            } else {
                Counts::default()
            });
        }
        let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
        record.insert(name, counts);
    }
    Ok(record)
}

fn differences(recorded: &Record, counted: &Record) -> Vec<Problem> {
    let mut problems = Vec::new();
    for name in recorded
        .keys()
        .chain(counted.keys())
        .collect::<std::collections::BTreeSet<_>>()
    {
        let is = counted.get(name).copied().unwrap_or_default();
        let was = recorded.get(name).copied().unwrap_or_default();
        for ((kind, is), (_, was)) in is.each().into_iter().zip(was.each()) {
            if is == was {
                continue;
            }
            let remedy = if is > was {
                "say it in plain words (CONTRIBUTING.md); `git diff` shows the new lines"
            } else {
                "well done: `TOWLINE_RECORD_WORDS=1 cargo test -p towline-testkit --test it tidy` records it"
            };
            let what = format!("{kind}: {is} in the source, {was} recorded");
            problems.push(Problem::new(format!("{RECORD}, {name}"), what, remedy));
        }
    }
    problems
}

/// Counts that the record allows and an earlier one did not. A kind that was not counted then bounds nothing.
fn raised(place: &str, earlier: &Earlier, now: &Record) -> Vec<Problem> {
    let mut all = BTreeMap::<String, u32>::new();
    for (kind, count) in earlier.values().flatten() {
        *all.entry(kind.clone()).or_default() += count;
    }
    let mut pairs: Vec<(&str, &BTreeMap<String, u32>, Counts)> = Vec::new();
    for (name, counts) in now {
        if let Some(before) = earlier.get(name) {
            pairs.push((name, before, *counts));
        }
    }
    pairs.push(("all crates", &all, sum(now)));
    let mut problems = Vec::new();
    let mut problem =
        |broken| problems.push(Problem::new(place, broken, "these counts may only fall"));
    for (name, before, now) in pairs {
        for (kind, now) in now.each() {
            if let Some(before) = before.get(kind).filter(|before| now > **before) {
                problem(format!("{kind} of {name} rose from {before} to {now}"));
            }
        }
    }
    let kinds = Counts::default().each().map(|(kind, _)| kind);
    for kind in all.keys().filter(|kind| !kinds.contains(&kind.as_str())) {
        problem(format!("{kind} are not counted any more"));
    }
    problems
}

fn sum(record: &Record) -> Counts {
    let mut sum = Counts::default();
    for counts in record.values() {
        sum.add(*counts);
    }
    sum
}

/// Whether the lines so far have left a comment open.
#[derive(Default)]
struct Block {
    is_open: bool,
}

impl Block {
    /// The comment of the next line, from where it begins to the line's end.
    fn comment<'a>(&mut self, line: &'a str) -> Option<&'a str> {
        let text = line.trim_start();
        let found = if self.is_open || text.starts_with("//") || text.starts_with("/*") {
            Some(text)
        } else {
            // Not the slashes of an address or a glob.
            [" //", " /*"]
                .iter()
                .filter_map(|begin| line.find(begin))
                // Documentation stands on lines of its own; here it is in a text.
                .filter(|at| !line[at + 3..].starts_with(['/', '!', '*']))
                .min()
                .map(|at| &line[at + 1..])
        };
        let begins = found.is_some_and(|comment| self.is_open || comment.starts_with("/*"));
        self.is_open = begins && !text.contains("*/");
        found
    }
}

/// The words of a documentation line: a comment or an attribute.
fn doc<'a>(line: &'a str, comment: Option<&'a str>) -> Option<&'a str> {
    let attribute = line.trim_start().strip_prefix("#[doc");
    if let Some(text) = attribute.and_then(|text| text.trim_start().strip_prefix("=")) {
        return Some(text.trim_start().trim_start_matches(['r', '#', '"', ' ']));
    }
    let is_doc = |comment: &&str| DOC.iter().any(|begin| comment.starts_with(begin));
    comment.filter(is_doc).map(words_of)
}

/// A comment without its signs.
fn words_of(comment: &str) -> &str {
    let mut signs = DOC.iter().chain(&["//", "/*"]);
    let words = signs.find_map(|begin| comment.strip_prefix(begin));
    // What marks a list or the look of a word is none of its words.
    words
        .unwrap_or(comment)
        .trim_start_matches([' ', '*', '-', '_', '`', '(', '"'])
}

fn names_a_person(comment: &str) -> bool {
    let mut words = comment.split(|letter: char| !is_name_part(letter));
    words.any(|word| {
        PERSONS
            .iter()
            .any(|person| word.eq_ignore_ascii_case(person))
    })
}

fn begins_with_what_or_who(words: &str) -> bool {
    let first = words.split(|letter: char| !is_name_part(letter)).next();
    first.is_some_and(|word| word == "What" || word == "Who")
}

/// Whether `sleep(` is called: a function, not the method of a script in a string. To wait for what never comes is the same.
fn sleeps(code: &str) -> bool {
    if code.contains("timeout(") && (code.contains("pending(") || code.contains("pending::<")) {
        return true;
    }
    code.match_indices("sleep(").any(|(at, _)| {
        let before = code[..at].chars().next_back();
        before.is_none_or(|before| before == ':' || before.is_whitespace())
    })
}

fn renamed_imports(text: &str) -> u32 {
    let mut renamed = 0;
    let mut is_import = false;
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or_default().trim_start();
        let line = match line.strip_prefix("pub") {
            Some(rest) if rest.starts_with('(') => rest.split_once(')').map_or("", |rest| rest.1),
            Some(rest) => rest,
            None => line,
        };
        let begin = line.trim_start();
        is_import |= begin.starts_with("use ") || begin.starts_with("extern crate ");
        if !is_import {
            continue;
        }
        for (at, found) in line.match_indices(" as ") {
            let name = line[at + found.len()..].trim_start();
            let is_name = name.starts_with(is_name_part);
            renamed += u32::from(
                is_name && name.split(|letter| !is_name_part(letter)).next() != Some("_"),
            );
        }
        is_import = !line.contains(';');
    }
    renamed
}

const PERSONS: &[&str] = &["nobody", "somebody", "whoever", "anybody"];
/// Signs of documentation; the last one of a line inside of a block.
const DOC: [&str; 5] = ["///", "//!", "/**", "/*!", "*"];
/// Programs of others that the page has.
const VENDOR: &str = "/page/vendor/";
const RECORD: &str = "crates/towline-testkit/words.toml";
const HEAD: &str = "\
# Habits that the code is to lose, counted for each crate (src/tidy/words.rs says how). The counts may only fall:
# a test compares them with the source and with every earlier version of this file.
# `TOWLINE_RECORD_WORDS=1 cargo test -p towline-testkit --test it tidy` writes them anew.

";

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{Counts, Record, Source, differences, raised};

    fn check(path: &str, text: &str, expected: Counts) {
        let source = Source {
            path: path.to_owned(),
            text: text.to_owned(),
        };
        assert_eq!(Counts::of(&source), expected, "{text}");
    }

    #[test]
    fn each_habit_is_counted_where_it_stands() {
        let none = Counts::default();
        let persons = |persons| Counts { persons, ..none };
        let what_who = |what_who| Counts { what_who, ..none };
        let renamed = |renamed_imports| Counts {
            renamed_imports,
            ..none
        };
        for (text, expected) in [
            ("// Nobody reads it, and nobody waits.", persons(1)),
            ("    /// For whoever asks.\n    //! anybody", persons(2)),
            ("let x = 1; // Somebody may look.", persons(1)),
            ("let x = 1; \u{2f}/somebody", persons(1)),
            (
                "/// **What** it is.\n/// - Who\n/// `What`",
                Counts {
                    what_who: 3,
                    ..none
                },
            ),
            ("let nobody = \"http://nobody\";", none),
            ("/// What it is.\n//! Who asks.\n///What", what_who(3)),
            ("/// Whatever.\n// What\n/// So what.", none),
            (
                "/// What nobody reads.",
                Counts {
                    persons: 1,
                    what_who: 1,
                    ..none
                },
            ),
            ("/* nobody */ let x = 1;\u{20}/* somebody */", persons(1)),
            ("/* one\n   anybody\n*/ let y;\nlet nobody = 1;", persons(1)),
            (
                "let x = 1;\u{20}/* nobody */\nlet nobody = \"a/*\";",
                persons(1),
            ),
            ("/** What it is. */\n/*!\n * Who asks.\n */", what_who(2)),
            (
                "#[doc = \"What it is\"]\n#![doc = \"-\"]\n#[doc=r\"Who\"]",
                what_who(2),
            ),
            ("extern crate a as b;\nextern crate c;", renamed(1)),
            ("use a::B as C;", renamed(1)),
            (
                "pub(crate) use a::{\n    B as C,\n    D as _, e::F as G,\n};\nlet x = y as u64;",
                renamed(2),
            ),
            ("let x = y as u64;\nimpl A for B {}", none),
        ] {
            check("crates/a/src/b.rs", text, expected);
        }
        // Put together, else they would be counted here.
        let sleep = concat!("sl", "eep(d)");
        let never = concat!("timeout", "(d, pending::<()>())");
        let sleeping = &format!(
            "std::thread::{sleep};\n{sleep}.await;\n\"import time; time.{sleep}\";\n// {sleep}"
        );
        check("crates/a/src/b.rs", sleeping, none);
        for inside in [sleep, never] {
            let text = format!("{inside};\nmod tests {{\n    {inside};\n}}");
            check("crates/a/src/b.rs", &text, Counts { sleeps: 1, ..none });
        }
        check(
            "crates/a/tests/it/b.rs",
            sleeping,
            Counts { sleeps: 2, ..none },
        );
        check(
            "crates/a/src/b/tests.rs",
            sleeping,
            Counts { sleeps: 2, ..none },
        );
    }

    #[test]
    fn comments_of_the_page_are_counted() {
        let file = Source {
            path: "crates/a/page/b.js".to_owned(),
            text: "// What it is.\nask();\u{20}// nobody\n/** Who. */\n/*\n * somebody\n */\nlet nobody;\u{20}// So what."
                .to_owned(),
        };
        assert_eq!(Counts::of_page(&file).page, 4);
    }

    fn record(crates: &[(&str, u32)]) -> Record {
        let counts = |persons| Counts {
            persons,
            ..Counts::default()
        };
        crates
            .iter()
            .map(|(name, persons)| ((*name).to_owned(), counts(*persons)))
            .collect()
    }

    #[test]
    fn the_record_is_exact_in_both_directions() {
        let broken = |recorded: &[_], counted: &[_]| -> Vec<String> {
            let problems = differences(&record(recorded), &record(counted)).into_iter();
            problems
                .map(|problem| format!("{} {}", problem.place, problem.broken))
                .collect()
        };
        let place = "crates/towline-testkit/words.toml, ";
        assert_eq!(broken(&[("a", 1)], &[("a", 1)]), [""; 0]);
        assert_eq!(
            broken(&[("a", 1)], &[("a", 2)]),
            [format!("{place}a persons: 2 in the source, 1 recorded")]
        );
        assert_eq!(
            broken(&[("a", 3)], &[("a", 2)]),
            [format!("{place}a persons: 2 in the source, 3 recorded")]
        );
        assert_eq!(
            broken(&[], &[("new", 1)]),
            [format!("{place}new persons: 1 in the source, 0 recorded")]
        );
    }

    #[test]
    fn nothing_rises_whatever_is_moved() {
        let broken = |earlier: &[(&str, u32)], now: &[_]| -> Vec<String> {
            let earlier = earlier.iter().map(|(name, persons)| {
                let kinds = BTreeMap::from([("persons".to_owned(), *persons)]);
                (<&str>::to_string(name), kinds)
            });
            let earlier = earlier.collect();
            let problems = raised("then", &earlier, &record(now)).into_iter();
            problems.map(|problem| problem.broken).collect()
        };
        assert_eq!(
            broken(&[("a", 5), ("b", 1)], &[("a", 4), ("b", 1)]),
            [""; 0]
        );
        // A part of a crate that becomes a crate takes its lines along.
        assert_eq!(broken(&[("a", 5)], &[("a", 2), ("new", 3)]), [""; 0]);
        assert_eq!(
            broken(&[("a", 5)], &[("a", 5), ("new", 1)]),
            ["persons of all crates rose from 5 to 6"]
        );
        assert_eq!(
            broken(&[("a", 5), ("b", 1)], &[("a", 4), ("b", 2)]),
            ["persons of b rose from 1 to 2"]
        );
        let kinds = BTreeMap::from([("riddles".to_owned(), 1)]);
        let earlier = BTreeMap::from([("a".to_owned(), kinds)]);
        let problems = raised("then", &earlier, &record(&[("a", 5)]));
        assert_eq!(problems[0].broken, "riddles are not counted any more");
    }
}
