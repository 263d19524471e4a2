//! Files found by what is in them.

use std::{fs::File, time::Duration};

use serde_json::{Value, json};

use crate::tools::tried::Tried;

/// A project; the first file is the newest.
fn project() -> Tried {
    let tried = Tried::new(&[]);
    let long = format!("fn {}\n", "y".repeat(3000));
    let many: String = (0..1000).map(|index| format!("line {index}\n")).collect();
    let files = [
        ("new.rs", "fn new() {}\nfn two() {}\n"),
        ("mid.rs", "fn mid() {}\n"),
        (".hidden/h.rs", "fn hid() {}\n"),
        ("old.rs", "fn old() {}\n// TODO x\n"),
        ("long.txt", &long),
        ("bin.dat", "fn \0\u{1}"),
        ("ign/i.rs", "fn ign() {}\n"),
        ("sub/deep/x.py", "def a():\n  pass\n"),
        ("many.txt", &many),
        (".gitignore", "ign/\n"),
        (".git/config", "fn git\n"),
    ];
    for ((path, content), second) in files.iter().rev().zip(1..) {
        tried.write(path, content);
        let time = std::time::UNIX_EPOCH + Duration::from_secs(second);
        File::open(tried.path(path))
            .unwrap()
            .set_modified(time)
            .unwrap();
    }
    tried
}

async fn check(cases: Vec<(Value, &str, Value)>) {
    let tried = project();
    for (input, words, data) in cases {
        let found = tried.call("Grep", input.clone()).await;
        assert_eq!(tried.words(&found), words, "{input}");
        for (name, value) in data.as_object().unwrap() {
            assert_eq!(found.data[name], *value, "{input}: {name}");
        }
    }
}

/// A clone brought them: the search read on until the memory was full, or waited without an end.
#[tokio::test]
async fn an_ignore_file_that_is_a_link_or_a_pipe_was_read_without_an_end() {
    for name in [
        ".gitignore",
        ".ignore",
        "sub/.gitignore",
        ".git/info/exclude",
    ] {
        let tried = Tried::new(&[]);
        tried.write("sub/a.log", "fn a() {}\n");
        tried.write(".git/info/x", "");
        tried.write("lines", "*.log\n");
        let path = tried.path(name);
        let lines = tried.path("lines");
        for target in [Some("/dev/zero"), Some(lines.as_str()), None] {
            match target {
                Some(target) => std::os::unix::fs::symlink(target, &path).unwrap(),
                None => {
                    let made = std::process::Command::new("mkfifo").arg(&path).status();
                    assert!(made.unwrap().success());
                }
            }
            let found = tried.call("Grep", json!({"pattern": "fn"})).await;
            assert_eq!(tried.words(&found), "Found 1 file\nsub/a.log", "{name}");
            let found = tried.call("Glob", json!({"pattern": "**/*.log"})).await;
            assert_eq!(tried.words(&found), "sub/a.log", "{name}");
            std::fs::remove_file(&path).unwrap();
        }
    }
}

#[tokio::test]
async fn a_file_that_a_glob_names_is_searched_where_it_is_ignored() {
    let tried = Tried::new(&[]);
    tried.write(".git/HEAD", "");
    tried.write(".gitignore", "*.log\nbuilt/\n");
    for path in ["a.log", "a.txt", "built/b.txt", "sub/c.log"] {
        tried.write(path, "fn\n");
    }
    for (input, expected) in [
        (json!({"pattern": "fn"}), "Found 1 file\na.txt"),
        (
            json!({"pattern": "fn", "glob": "a.log"}),
            "Found 1 file\na.log",
        ),
    ] {
        let found = tried.call("Grep", input.clone()).await;
        assert_eq!(tried.words(&found), expected, "{input}");
    }
}

#[tokio::test]
async fn files_with_matches_are_named_newest_first() {
    let all = ["new.rs", "mid.rs", ".hidden/h.rs", "old.rs", "long.txt"];
    check(vec![
        (
            json!({"pattern": "fn"}),
            "Found 5 files\nnew.rs\nmid.rs\n.hidden/h.rs\nold.rs\nlong.txt",
            json!({"mode": "files_with_matches", "filenames": all, "numFiles": 5, "totalFiles": 5, "appliedLimit": null}),
        ),
        (
            json!({"pattern": "FN", "-i": true, "head_limit": 2}),
            "Found 2 files limit: 2\nnew.rs\nmid.rs",
            json!({"numFiles": 2, "totalFiles": 5, "appliedLimit": 2, "appliedOffset": null}),
        ),
        (
            json!({"pattern": "fn", "head_limit": "1", "offset": 1}),
            "Found 1 file limit: 1, offset: 1\nmid.rs",
            json!({"appliedLimit": 1, "appliedOffset": 1}),
        ),
        (
            json!({"pattern": "fn", "offset": 99}),
            "No entries at this offset. [Showing results with pagination = offset: 99]",
            json!({"filenames": [], "numFiles": 0, "totalFiles": 5, "appliedOffset": 99}),
        ),
        (json!({"pattern": "nomatchxyz"}), "No files found", json!({"numFiles": 0, "totalFiles": 0})),
        (json!({"pattern": "-fn"}), "No files found", json!({})),
    ])
    .await;
}

#[tokio::test]
async fn files_are_chosen_by_path_glob_and_type() {
    check(vec![
        (
            json!({"pattern": "fn", "type": "rust", "head_limit": 1}),
            "Found 1 file limit: 1\nnew.rs",
            json!({"totalFiles": 4}),
        ),
        (
            json!({"pattern": "fn", "glob": "*.{txt,py}"}),
            "Found 1 file\nlong.txt",
            json!({}),
        ),
        (
            json!({"pattern": "fn", "glob": "*.py,*.txt"}),
            "Found 1 file\nlong.txt",
            json!({}),
        ),
        (
            json!({"pattern": "fn", "glob": "!*.rs *.txt"}),
            "Found 1 file\nlong.txt",
            json!({}),
        ),
        (
            json!({"pattern": "fn", "path": "old.rs"}),
            "Found 1 file\nold.rs",
            json!({}),
        ),
        // Who names a file means it, whatever is ignored.
        (
            json!({"pattern": "fn", "path": "ign/i.rs"}),
            "Found 1 file\nign/i.rs",
            json!({}),
        ),
        (
            json!({"pattern": "pass", "path": "./sub/"}),
            "Found 1 file\nsub/deep/x.py",
            json!({}),
        ),
    ])
    .await;
}

#[tokio::test]
async fn lines_are_shown_with_what_is_around_them() {
    check(vec![
        (
            json!({"pattern": "fn", "output_mode": "content", "glob": "*.{rs,txt}"}),
            "new.rs:1:fn new() {}\nnew.rs:2:fn two() {}\nmid.rs:1:fn mid() {}\n.hidden/h.rs:1:fn hid() {}\nold.rs:1:fn old() \
             {}\nlong.txt:1:[Omitted long matching line]",
            json!({"mode": "content", "numFiles": 0, "filenames": [], "numLines": 6, "totalLines": 6}),
        ),
        (
            json!({"pattern": "fn", "output_mode": "content", "-n": false, "path": "old.rs"}),
            "fn old() {}",
            json!({"content": "fn old() {}"}),
        ),
        (
            json!({"pattern": "fn", "output_mode": "content", "head_limit": 2, "offset": 2}),
            "mid.rs:1:fn mid() {}\n.hidden/h.rs:1:fn hid() {}\n\n[Showing results with pagination = limit: 2, offset: 2]",
            json!({"numLines": 2, "totalLines": 6, "appliedLimit": 2, "appliedOffset": 2}),
        ),
        (
            json!({"pattern": "line (50|60)$", "output_mode": "content", "-A": 1, "-B": 2}),
            "many.txt-49-line 48\nmany.txt-50-line 49\nmany.txt:51:line 50\nmany.txt-52-line 51\n--\nmany.txt-59-line \
             58\nmany.txt-60-line 59\nmany.txt:61:line 60\nmany.txt-62-line 61",
            json!({"numLines": 9, "totalLines": 9}),
        ),
        (
            json!({"pattern": "line (50|60)$", "output_mode": "content", "context": 1, "path": "many.txt"}),
            "50-line 49\n51:line 50\n52-line 51\n--\n60-line 59\n61:line 60\n62-line 61",
            json!({}),
        ),
        (
            json!({"pattern": "fn (mid|old)", "output_mode": "content", "-C": 1}),
            "mid.rs:1:fn mid() {}\n--\nold.rs:1:fn old() {}\nold.rs-2-// TODO x",
            json!({"totalLines": 4}),
        ),
        (
            json!({"pattern": "f(n) .", "output_mode": "content", "-o": true, "glob": "*.{rs,txt}", "head_limit": 2}),
            "new.rs:1:fn n\nnew.rs:2:fn t\n\n[Showing results with pagination = limit: 2]",
            json!({"totalLines": 6}),
        ),
        (
            json!({"pattern": "line", "output_mode": "content", "offset": 5000}),
            "No entries at this offset\n\n[Showing results with pagination = offset: 5000]",
            json!({"content": "", "numLines": 0, "totalLines": 1000, "appliedOffset": 5000}),
        ),
        (
            json!({"pattern": "nomatchxyz", "output_mode": "content"}),
            "No matches found",
            json!({"content": "", "numLines": 0, "totalLines": 0}),
        ),
    ])
    .await;
}

#[tokio::test]
async fn a_match_spans_lines_only_if_asked_for() {
    check(vec![
        (
            json!({"pattern": "a\\(\\):\\n  pass", "multiline": true, "output_mode": "content"}),
            "sub/deep/x.py:1:def a():\nsub/deep/x.py:2:  pass",
            json!({}),
        ),
        (
            json!({"pattern": "def.*pass", "multiline": true, "output_mode": "content", "-o": true}),
            "sub/deep/x.py:1:def a():\nsub/deep/x.py:2:  pass",
            json!({}),
        ),
        (
            json!({"pattern": "a\\(\\):\\n  pass", "output_mode": "content"}),
            "No matches found",
            json!({"mode": "content"}),
        ),
        (json!({"pattern": "def.*pass"}), "No files found", json!({})),
    ])
    .await;
}

#[tokio::test]
async fn matches_are_counted() {
    check(vec![
        (
            json!({"pattern": "fn", "output_mode": "count", "type": "rust"}),
            "new.rs:2\nmid.rs:1\n.hidden/h.rs:1\nold.rs:1\n\nFound 5 total occurrences across 4 files.",
            json!({"mode": "count", "numFiles": 4, "filenames": [], "numMatches": 5}),
        ),
        (
            json!({"pattern": "fn", "output_mode": "count", "type": "rust", "head_limit": 1}),
            "new.rs:2\n\nFound 5 total occurrences across 4 files. with pagination = limit: 1",
            json!({"content": "new.rs:2", "appliedLimit": 1}),
        ),
        (
            json!({"pattern": "fn", "output_mode": "count", "path": "old.rs"}),
            "old.rs:1\n\nFound 1 total occurrence across 1 file.",
            json!({"numMatches": 1}),
        ),
        (json!({"pattern": "zzz", "output_mode": "count"}), "No matches found", json!({"numMatches": 0})),
    ])
    .await;
}

#[tokio::test]
async fn long_lists_are_cut_and_output_has_a_bound() {
    let tried = project();
    let input = json!({"pattern": "line", "output_mode": "content", "path": "many.txt"});
    let found = tried.call("Grep", input).await;
    assert!(
        tried
            .words(&found)
            .ends_with("\n250:line 249\n\n[Showing results with pagination = limit: 250]")
    );
    assert_eq!(
        (&found.data["numLines"], &found.data["totalLines"]),
        (&json!(250), &json!(1000))
    );

    tried.write("wide.txt", format!("{}\n", "w".repeat(400)).repeat(2000));
    let input =
        json!({"pattern": "w", "output_mode": "content", "path": "wide.txt", "head_limit": 0});
    let found = tried.call("Grep", input).await;
    let (words, shown) = (
        tried.words(&found),
        found.data["numLines"].as_u64().unwrap(),
    );
    assert!(words.len() < 300 << 10, "{}", words.len());
    assert!(words.ends_with(&format!(
        "\n\n[Too much to show; go on with offset: {shown}]"
    )));
    assert_eq!(found.data["totalLines"], 2000);
}

#[tokio::test]
async fn what_cannot_be_searched_is_an_error() {
    let tried = project();
    let rejected =
        "Search failed — ripgrep rejected the pattern, glob, or file type without searching:\nrg: ";
    for (input, words) in [
        (json!({"pattern": "("}), format!("{rejected}regex parse error:")),
        (json!({"pattern": "x", "type": "nosuch"}), format!("{rejected}unrecognized file type: nosuch")),
        (json!({"pattern": "x", "glob": "[z"}), format!("{rejected}error parsing glob '[z'")),
        (json!({"pattern": "x{1000}{1000}{1000}"}), rejected.to_owned()),
        (
            json!({"pattern": "x", "path": tried.path("nope")}),
            "Path does not exist: /project/nope. Note: your current working directory is /project.".to_owned(),
        ),
        (
            json!({"pattern": "x", "head_limit": -1}),
            "<tool_use_error>head_limit must be a whole number of 0 or more, got -1. Pass 0 for unlimited.".to_owned(),
        ),
        (
            json!({"pattern": "x", "offset": 0.5}),
            "<tool_use_error>offset must be a whole number of 0 or more, got 0.5.".to_owned(),
        ),
    ] {
        let failed = tried.call("Grep", input.clone()).await;
        assert_eq!(failed.is_error, Some(true), "{input}");
        assert!(tried.words(&failed).starts_with(&words), "{input}: {failed:?}");
    }
}

#[tokio::test]
async fn a_pipe_never_holds_a_search_up() {
    let tried = project();
    rustix::fs::mkfifoat(rustix::fs::CWD, tried.path("pipe"), 0o600.into()).unwrap();
    for path in [".", "pipe"] {
        let found = tried
            .call("Grep", json!({"pattern": "TODO", "path": path}))
            .await;
        assert_eq!(found.is_error, None, "{found:?}");
    }
}
