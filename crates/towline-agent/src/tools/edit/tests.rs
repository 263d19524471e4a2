//! Text replaced in files.

use std::path::Path;

use proptest::prelude::*;
use serde_json::json;

use super::{Replacement, Text};
use crate::tools::{Outcome, tried::Tried};

async fn edit(tried: &Tried, path: &str, old: &str, new: &str) -> Outcome {
    let input = json!({"file_path": tried.path(path), "old_string": old, "new_string": new});
    tried.call("Edit", input).await
}

#[tokio::test]
async fn a_file_that_was_read_is_changed() {
    let tried = Tried::new(&[("in.txt", "hello\n")]);
    tried.read("in.txt").await;
    let edited = edit(&tried, "in.txt", "hello", "hallo").await;
    assert_eq!(
        tried.words(&edited),
        "The file /project/in.txt has been updated successfully. (file state is current in your context — no need to Read it \
         back)"
    );
    assert_eq!(
        tried.data(&edited),
        json!({
            "filePath": "/project/in.txt",
            "oldString": "hello",
            "newString": "hallo",
            "originalFile": "hello\n",
            "structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": ["-hello", "+hallo"]}],
            "userModified": false,
            "replaceAll": false,
        })
    );
    assert_eq!(tried.content("in.txt"), "hallo\n");
}

#[tokio::test]
async fn all_occurrences_are_replaced_if_asked_for() {
    let tried = Tried::new(&[("dup.txt", "aa\nbb\naa\n")]);
    tried.read("dup.txt").await;
    let input = json!({"file_path": tried.path("dup.txt"), "old_string": "aa", "new_string": "cc", "replace_all": true});
    let edited = tried.call("Edit", input).await;
    assert!(
        tried.words(&edited).starts_with(
            "The file /project/dup.txt has been updated. All occurrences were successfully replaced. (file state"
        ),
        "{edited:?}"
    );
    assert_eq!(edited.data["replaceAll"], true);
    assert_eq!(tried.content("dup.txt"), "cc\nbb\ncc\n");
}

#[tokio::test]
async fn what_cannot_be_replaced_is_said_and_nothing_is_written() {
    let tried = Tried::new(&[
        ("a.txt", "aa\nbb\naa\n"),
        ("b.ipynb", "{}"),
        ("readme.md", ""),
    ]);
    tried.read("a.txt").await;
    let misuse = |text: &str| format!("<tool_use_error>{text}</tool_use_error>");
    for (path, old, new, words) in [
        (
            "a.txt",
            "zzz",
            "x",
            misuse("String to replace not found in file.\nString: zzz"),
        ),
        (
            "a.txt",
            "aa",
            "aa",
            misuse("No changes to make: old_string and new_string are exactly the same."),
        ),
        (
            "a.txt",
            "aa",
            "x",
            misuse(
                "Found 2 matches of the string to replace, but replace_all is false. To replace all occurrences, set \
                 replace_all to true. To replace only one, give more of the text around it.\nString: aa",
            ),
        ),
        (
            "a.txt",
            "",
            "x",
            misuse("Cannot create new file - file already exists."),
        ),
        (
            "nofile.txt",
            "a",
            "b",
            misuse("File does not exist. Note: your current working directory is /project."),
        ),
        (
            "readme.txt",
            "a",
            "b",
            misuse(
                "File does not exist. Note: your current working directory is /project. Did you mean readme.md?",
            ),
        ),
        (
            "b.ipynb",
            "{",
            "[",
            misuse("File is a Jupyter Notebook. Use the NotebookEdit to edit this file."),
        ),
    ] {
        let refused = edit(&tried, path, old, new).await;
        assert_eq!(refused.is_error, Some(true));
        assert_eq!(tried.words(&refused), words);
    }
    assert_eq!(tried.content("a.txt"), "aa\nbb\naa\n");
    assert_eq!(tried.names(""), ["a.txt", "b.ipynb", "readme.md"]);
}

#[tokio::test]
async fn an_empty_old_text_makes_a_file_or_fills_an_empty_one() {
    let tried = Tried::new(&[("empty.txt", "")]);
    tried.read("empty.txt").await;
    for path in ["created.txt", "empty.txt"] {
        let edited = edit(&tried, path, "", "b\n").await;
        assert_eq!(edited.data["originalFile"], "", "{edited:?}");
        assert_eq!(
            edited.data["structuredPatch"],
            json!([{"oldStart": 1, "oldLines": 0, "newStart": 1, "newLines": 1, "lines": ["+b"]}])
        );
        assert_eq!(tried.content(path), "b\n");
    }
}

#[tokio::test]
async fn what_the_model_knows_of_a_file_is_told_with_the_change() {
    let mut tried = Tried::new(&[("a.txt", "one\n")]);
    assert_eq!(
        *edit(&tried, "a.txt", "one", "two").await.data,
        json!("Error: File has not been read yet. Read it first before writing to it.")
    );
    tried.place.must_read_first = false;
    let unread = edit(&tried, "a.txt", "one", "two").await;
    assert_eq!(
        tried.words(&unread),
        "The file /project/a.txt has been updated successfully."
    );
    assert_eq!(unread.data["contentNotInModelContext"], true);

    tried.place.must_read_first = true;
    tried
        .call(
            "Read",
            json!({"file_path": tried.path("a.txt"), "limit": 1}),
        )
        .await;
    let part = edit(&tried, "a.txt", "two", "three").await;
    assert_eq!(
        tried.words(&part),
        "The file /project/a.txt has been updated successfully."
    );
    assert_eq!(part.data["contentNotInModelContext"], true);
}

#[tokio::test]
async fn a_file_that_somebody_else_has_changed_is_not_edited_until_it_is_read_again() {
    let mut tried = Tried::new(&[("a.txt", "")]);
    for must_read_first in [true, false] {
        tried.place.must_read_first = must_read_first;
        for tool in ["Edit", "MultiEdit"] {
            for limit in [1, 2000] {
                tried.write("a.txt", "one\ntwo\n");
                let path = tried.path("a.txt");
                let read = json!({"file_path": path, "limit": limit});
                tried.call("Read", read.clone()).await;
                tried.write("a.txt", "one\ntheirs\n");
                let change = json!({"old_string": "one", "new_string": "ours"});
                let mut input = match tool {
                    "Edit" => change,
                    _ => json!({"edits": [change]}),
                };
                input["file_path"] = json!(path);
                let refused = tried.call(tool, input.clone()).await;
                assert_eq!(refused.is_error, Some(true), "{tool}: {refused:?}");
                assert_eq!(
                    *refused.data,
                    json!(
                        "Error: File has been modified since read, either by the user or by a linter. Read it again before \
                         attempting to write it."
                    )
                );
                assert_eq!(tried.content("a.txt"), "one\ntheirs\n");
                tried.call("Read", read).await;
                assert_eq!(tried.call(tool, input).await.is_error, None);
                assert_eq!(tried.content("a.txt"), "ours\ntheirs\n");
            }
        }
    }
}

#[tokio::test]
async fn a_file_that_was_only_touched_is_edited() {
    let tried = Tried::new(&[("a.txt", "one\n")]);
    tried.read("a.txt").await;
    tried.write("a.txt", "one\n");
    let edited = edit(&tried, "a.txt", "one", "two").await;
    assert_eq!(edited.is_error, None, "{edited:?}");
    assert_eq!(tried.content("a.txt"), "two\n");
}

#[tokio::test]
async fn a_file_that_the_host_has_seeded_counts_as_read() {
    let tried = Tried::new(&[("a.txt", "one\n")]);
    tried
        .place
        .files
        .seed(Path::new(&tried.path("a.txt")), i64::MAX);
    let edited = edit(&tried, "a.txt", "one", "two").await;
    assert_eq!(edited.is_error, None, "{edited:?}");
}

#[tokio::test]
async fn line_endings_are_those_of_the_file() {
    let tried = Tried::new(&[("crlf.txt", "a\r\nb\r\n")]);
    tried.read("crlf.txt").await;
    let edited = edit(&tried, "crlf.txt", "a\nb", "c\nd\ne").await;
    assert_eq!(edited.data["originalFile"], "a\nb\n");
    assert_eq!(tried.content("crlf.txt"), "c\r\nd\r\ne\r\n");
}

proptest! {
    #[test]
    fn an_edit_replaces_what_is_there_once_and_refuses_all_else(
        text in "[ab\n]{0,20}",
        old in "[ab\n]{1,3}",
        new in "[cd\n]{0,3}",
        all in any::<bool>(),
    ) {
        let before = Text::decode(text.as_bytes()).unwrap();
        let edited = Replacement { old: &old, new: &new, all }.apply(&before);
        let many = text.matches(&old).count();
        prop_assert_eq!(edited.is_ok(), old != new && (many == 1 || (all && many > 0)));
        if let Ok(edited) = edited {
            prop_assert_eq!(edited.shown(), text.replace(&old, &new));
        }
    }
}
