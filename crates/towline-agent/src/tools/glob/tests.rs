//! Files found by their names.

use std::{fs::File, time::Duration};

use serde_json::json;

use crate::tools::tried::Tried;

/// Files that were changed in this order.
fn in_order(files: &[&str]) -> Tried {
    let tried = Tried::new(&[]);
    for (path, second) in files.iter().zip(1..) {
        tried.write(path, "x\n");
        let time = std::time::UNIX_EPOCH + Duration::from_secs(second);
        File::open(tried.path(path))
            .unwrap()
            .set_modified(time)
            .unwrap();
    }
    tried
}

#[tokio::test]
async fn the_oldest_come_first_and_nothing_is_left_out() {
    let tried = in_order(&[
        "old.rs",
        ".hidden/h.rs",
        "sub/deep/x.py",
        "mid.rs",
        ".gitignore",
        "ign/i.rs",
    ]);
    tried.write(".gitignore", "ign/\n");
    std::fs::create_dir(tried.path(".git")).unwrap();
    for (pattern, names) in [
        (
            "**/*.rs",
            &["old.rs", ".hidden/h.rs", "mid.rs", "ign/i.rs"][..],
        ),
        ("*.rs", &["old.rs", ".hidden/h.rs", "mid.rs", "ign/i.rs"]),
        ("/*.rs", &["old.rs", "mid.rs"]),
        ("{*.py,old.*}", &["old.rs", "sub/deep/x.py"]),
        ("sub/**", &["sub/deep/x.py"]),
        ("sub", &[]),
        ("*.nope", &[]),
    ] {
        let pattern = if pattern == "/*.rs" {
            tried.path("*.rs")
        } else {
            pattern.to_owned()
        };
        let found = tried.call("Glob", json!({"pattern": pattern})).await;
        let words = if names.is_empty() {
            "No files found".to_owned()
        } else {
            names.join("\n")
        };
        assert_eq!(tried.words(&found), words, "{pattern}");
        let mut data = found.data.clone();
        assert!(data["durationMs"].is_u64());
        data["durationMs"] = json!(0);
        assert_eq!(
            *data,
            json!({"filenames": names, "durationMs": 0, "numFiles": names.len(), "truncated": false,
                "totalMatches": names.len(), "countIsComplete": true})
        );
    }
}

#[tokio::test]
async fn a_directory_may_be_given_in_any_way() {
    let tried = in_order(&["sub/deep/x.py", "y.py"]);
    for input in [
        json!({"pattern": "*.py", "path": tried.path("sub")}),
        json!({"pattern": "*.py", "path": "sub"}),
        json!({"pattern": "*.py", "path": "./sub/"}),
        json!({"pattern": tried.path("sub/**/*.py")}),
        json!({"pattern": tried.path("sub/deep/x.py")}),
    ] {
        let found = tried.call("Glob", input.clone()).await;
        assert_eq!(tried.words(&found), "sub/deep/x.py", "{input}");
    }
}

#[tokio::test]
async fn many_files_are_cut_and_counted() {
    let names: Vec<String> = (0..130).map(|index| format!("f{index:03}")).collect();
    let tried = in_order(&names.iter().map(String::as_str).collect::<Vec<_>>());
    for (input, shown, note) in [
        (
            json!({"pattern": "f*"}),
            100,
            "\nf099\n(Showing 100 of 130 matching files; 30 more are not listed. Narrow the pattern or path to see the rest.)",
        ),
        (
            json!({"pattern": "f*", "limit": 1}),
            1,
            "f000\n(Showing 1 of 130 matching files; 129 more are not listed. Narrow the pattern or path to see the rest.)",
        ),
        (json!({"pattern": "f*", "limit": 1000}), 130, "\nf129"),
    ] {
        let found = tried.call("Glob", input).await;
        assert!(tried.words(&found).ends_with(note), "{found:?}");
        assert_eq!(found.data["numFiles"], shown);
        assert_eq!(found.data["totalMatches"], 130);
        assert_eq!(found.data["truncated"], shown < 130);
    }
}

#[tokio::test]
async fn what_cannot_be_searched_is_an_error() {
    let tried = in_order(&["a.rs"]);
    for (input, words) in [
        (
            json!({"pattern": "*", "path": tried.path("nodir")}),
            "Directory does not exist: /project/nodir. Note: your current working directory is /project.",
        ),
        (
            json!({"pattern": "*", "path": "a.rs"}),
            "Path is not a directory: /project/a.rs",
        ),
        (
            json!({"pattern": "[z"}),
            "Search failed — ripgrep rejected the pattern, glob, or file type without searching:\nrg: error parsing glob \
             '[z': unclosed character class; missing ']'",
        ),
        (
            json!({"pattern": "*", "limit": 0}),
            "<tool_use_error>limit must be 1 or more, got 0.</tool_use_error>",
        ),
    ] {
        let failed = tried.call("Glob", input).await;
        assert_eq!(failed.is_error, Some(true));
        assert_eq!(tried.words(&failed), words);
    }
}
