//! Sources: how files begin, how long they are, what they are called, and what the pure crate keeps out.

use std::{io, path::Path};

use super::{Problem, Source, declared_modules, is_name_part, rust_files};

/// Every file opens with `//!`: what it owns and what it does not.
///
/// # Errors
/// When a file cannot be read.
pub fn headers(root: &Path) -> io::Result<Vec<Problem>> {
    let files = rust_files(root, &["crates", "bench", "fuzz"])?;
    Ok(files
        .iter()
        .filter(|file| !file.text.starts_with("//!"))
        .map(|file| {
            Problem::new(
                &file.path,
                "does not open with `//!`",
                "say in the first line what the file owns",
            )
        })
        .collect())
}

/// No file of a crate's `src` is longer than 900 lines, but for a reviewed list of uniform ones.
///
/// # Errors
/// When a file cannot be read.
pub fn files_are_small(root: &Path) -> io::Result<Vec<Problem>> {
    let mut problems = Vec::new();
    for file in rust_files(root, &["crates"])? {
        let lines = file.text.lines().count();
        let in_src = file.path.split('/').nth(2) == Some("src");
        if in_src && lines > LONGEST && !is_uniform(&file.path) {
            problems.push(Problem::new(
                &file.path,
                format!("{lines} lines, more than {LONGEST}"),
                "split it by what its parts own; a uniform list may go into UNIFORM in \
                 crates/towline-testkit/src/tidy/sources.rs, with its reason",
            ));
        }
    }
    for (path, _) in UNIFORM {
        if !root.join(path).is_file() {
            problems.push(Problem::new(
                path,
                "is in the list of long files and does not exist",
                "take it out of UNIFORM in crates/towline-testkit/src/tidy/sources.rs",
            ));
        }
    }
    Ok(problems)
}

/// No `mod.rs` in the crates, and nowhere a module whose name says nothing.
///
/// # Errors
/// When a file cannot be read.
pub fn module_names(root: &Path) -> io::Result<Vec<Problem>> {
    let files = rust_files(root, &["crates", "bench", "fuzz"])?;
    Ok(files.iter().flat_map(misnamed).collect())
}

fn misnamed(file: &Source) -> Vec<Problem> {
    let path = &file.path;
    let mut problems = Vec::new();
    if path.ends_with("/mod.rs") {
        problems.push(Problem::new(
            path,
            "is a `mod.rs`",
            "name the file after its module: `foo.rs` beside `foo/`",
        ));
    }
    let in_path = path
        .split('/')
        .map(|part| part.strip_suffix(".rs").unwrap_or(part))
        .filter(|part| EMPTY_NAMES.contains(part))
        .map(|name| (path.clone(), name));
    let inside = declared_modules(&file.text)
        .filter(|(_, name)| EMPTY_NAMES.contains(name))
        .map(|(line, name)| (format!("{path}:{line}"), name));
    problems.extend(in_path.chain(inside).map(|(place, name)| {
        Problem::new(
            place,
            format!("`{name}` is no name for a module"),
            "name it after what it owns",
        )
    }));
    problems
}

/// The protocol crate touches nothing outside: no file, environment, clock, network, process or thread.
///
/// # Errors
/// When a file cannot be read.
pub fn protocol_is_pure(root: &Path) -> io::Result<Vec<Problem>> {
    let files = rust_files(root, &["crates/towline-protocol/src"])?;
    Ok(files
        .iter()
        .filter(|file| !file.path.ends_with("/tests.rs"))
        .flat_map(impurities)
        .collect())
}

fn impurities(file: &Source) -> Vec<Problem> {
    let mut problems = Vec::new();
    // Tests come last in a file; what they do is free.
    let lines = file.text.lines().enumerate();
    let code = lines.take_while(|(_, line)| line.trim() != "#[cfg(test)]");
    let mut inside_std = false;
    for (index, line) in code {
        let line = line.split("//").next().unwrap_or_default();
        let group = match line.split_once("std::{") {
            Some((_, group)) => Some(group),
            None => inside_std.then_some(line),
        };
        inside_std = group.is_some_and(|group| !group.contains(';'));
        let whole = IMPURE.iter().find(|what| mentions(line, what));
        let part = || group.and_then(|group| IMPURE_PARTS.iter().find(|part| lists(group, part)));
        let found = whole.or_else(part);
        if let Some(found) = found {
            problems.push(Problem::new(
                format!("{}:{}", file.path, index + 1),
                format!("`{found}` in the protocol crate"),
                "pass the value in from outside: the crate does no IO and reads no clock, file or environment",
            ));
        }
    }
    problems
}

/// Whether `line` has `what`, not as the end of a longer name.
fn mentions(line: &str, what: &str) -> bool {
    line.match_indices(what).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(is_name_part)
    })
}

/// Whether a piece of `use std::{…}` lists a module, whole or with a path behind it.
fn lists(group: &str, module: &str) -> bool {
    group
        .split([',', '{', '}', ';'])
        .map(str::trim)
        .any(|entry| {
            let first = entry.split("::").next().unwrap_or(entry);
            first.split_whitespace().next() == Some(module)
        })
}

fn is_uniform(path: &str) -> bool {
    UNIFORM.iter().any(|(uniform, _)| *uniform == path)
}

const LONGEST: usize = 900;

/// Files that may be long, each with the reason.
const UNIFORM: &[(&str, &str)] = &[
    (
        "crates/towline-protocol/src/system.rs",
        "a uniform list: one wire type for each subtype of `system`",
    ),
    (
        "crates/towline-protocol/src/tool/input.rs",
        "a uniform list: one wire type for each tool's input",
    ),
];

const EMPTY_NAMES: &[&str] = &["util", "utils", "common", "helper", "helpers", "misc"];

const IMPURE: &[&str] = &[
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
    "thread::",
    "Instant::now",
    "SystemTime",
];

/// The same modules as they stand inside `use std::{…}`.
const IMPURE_PARTS: &[&str] = &["fs", "env", "net", "process", "thread"];

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{LONGEST, Source, UNIFORM, files_are_small, headers, impurities, misnamed};

    fn source(path: &str, text: &str) -> Source {
        Source {
            path: path.to_owned(),
            text: text.to_owned(),
        }
    }

    fn impure(text: &str) -> Vec<String> {
        impurities(&source("x.rs", text))
            .into_iter()
            .map(|problem| format!("{} {}", problem.place, problem.broken))
            .collect()
    }

    #[test]
    fn every_way_out_of_the_pure_crate_is_seen() {
        for (text, found) in [
            ("let x = std::fs::read(p);", "std::fs"),
            ("use std::env;", "std::env"),
            ("let now = Instant::now();", "Instant::now"),
            ("let now = std::time::Instant::now();", "Instant::now"),
            ("use std::time::{Duration, SystemTime};", "SystemTime"),
            ("use std::net::TcpStream;", "std::net"),
            ("std::process::exit(1)", "std::process"),
            ("thread::spawn(f)", "thread::"),
            ("use std::{fmt, fs};", "fs"),
            ("use std::{env::var, fmt};", "env"),
            ("use std::{process as p};", "process"),
        ] {
            assert_eq!(
                impure(text),
                [format!("x.rs:1 `{found}` in the protocol crate")]
            );
        }
    }

    #[test]
    fn a_group_over_several_lines_is_one_import() {
        let text = "use std::{\n    fmt,\n    net::{\n        IpAddr,\n    },\n};\nlet fs = 1;\n";
        assert_eq!(impure(text), ["x.rs:3 `net` in the protocol crate"]);
    }

    #[test]
    fn comments_tests_and_longer_names_are_free() {
        for text in [
            "// like std::fs",
            "//! no std::env here",
            "let x = 1; // std::net",
            "let main_thread::X = 1;",
            "use std::{fmt, time::Duration};\nlet env = 1;",
            "fn f() {}\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}",
        ] {
            assert_eq!(impure(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn names_that_say_nothing_are_seen_in_paths_and_in_files() {
        for (path, text, place) in [
            (
                "crates/towline/src/utils.rs",
                "",
                "crates/towline/src/utils.rs",
            ),
            (
                "crates/towline/src/common/a.rs",
                "",
                "crates/towline/src/common/a.rs",
            ),
            (
                "crates/towline/src/a.rs",
                "\npub(crate) mod helpers {",
                "crates/towline/src/a.rs:2",
            ),
            (
                "crates/towline/src/a/mod.rs",
                "",
                "crates/towline/src/a/mod.rs",
            ),
        ] {
            let problems = misnamed(&source(path, text));
            assert_eq!(problems.len(), 1, "{problems:?}");
            assert_eq!(problems[0].place, place);
        }
        let fine = source("crates/towline/src/trace.rs", "mod utility;");
        assert_eq!(misnamed(&fine), []);
    }

    #[test]
    fn long_files_and_files_without_a_header_are_found() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let long = "//! Long.\n".repeat(LONGEST + 1);
        write("crates/towline/src/long.rs", &long);
        write("crates/towline/tests/it/long.rs", &long);
        write("bench/src/bare.rs", "fn f() {}\n");
        write("bench/target/built.rs", "fn f() {}\n");
        for (path, _) in UNIFORM {
            write(path, &long);
        }
        let places = |problems: Vec<super::Problem>| -> Vec<String> {
            problems.into_iter().map(|problem| problem.place).collect()
        };
        assert_eq!(
            places(files_are_small(root.path()).unwrap()),
            ["crates/towline/src/long.rs"]
        );
        assert_eq!(places(headers(root.path()).unwrap()), ["bench/src/bare.rs"]);
        fs::remove_file(root.path().join(UNIFORM[0].0)).unwrap();
        assert_eq!(
            places(files_are_small(root.path()).unwrap()),
            ["crates/towline/src/long.rs", UNIFORM[0].0]
        );
    }
}
