//! Whole files written: what is said, what is kept, what is refused.

use std::{fs, os::unix::fs::PermissionsExt};

use serde_json::json;

use crate::tools::tried::Tried;

#[tokio::test]
async fn a_new_file_is_created_with_its_directories() {
    let tried = Tried::new(&[]);
    let written = tried
        .call(
            "Write",
            json!({"file_path": tried.path("new/x.txt"), "content": "hello\nworld\n"}),
        )
        .await;
    assert_eq!(
        tried.words(&written),
        "File created successfully at: /project/new/x.txt (file state is current in your context — no need to Read it back)"
    );
    assert_eq!(
        tried.data(&written),
        json!({
            "type": "create",
            "filePath": "/project/new/x.txt",
            "content": "hello\nworld\n",
            "structuredPatch": [],
            "originalFile": null,
            "userModified": false,
        })
    );
    assert_eq!(tried.content("new/x.txt"), "hello\nworld\n");
    assert_eq!(tried.names("new"), ["x.txt"]);
}

#[tokio::test]
async fn a_file_that_was_read_is_updated_again_and_again() {
    let tried = Tried::new(&[("a.txt", "old\n")]);
    tried.read("a.txt").await;
    for content in ["new\n", "newer\n"] {
        let written = tried
            .call("Write", json!({"file_path": "a.txt", "content": content}))
            .await;
        assert_eq!(
            tried.words(&written),
            "The file a.txt has been updated successfully. (file state is current in your context — no need to Read it back)"
        );
        assert_eq!(written.data["type"], "update");
        assert_eq!(tried.content("a.txt"), content);
    }
}

#[tokio::test]
async fn a_file_that_was_not_read_is_refused_or_not_as_the_model_needs() {
    let mut tried = Tried::new(&[("a.txt", "x\n")]);
    let input = json!({"file_path": tried.path("a.txt"), "content": "zz"});
    let refused = tried.call("Write", input.clone()).await;
    assert_eq!(
        tried.words(&refused),
        "<tool_use_error>File has not been read yet. Read it first before writing to it.</tool_use_error>"
    );
    assert_eq!(
        *refused.data,
        json!("Error: File has not been read yet. Read it first before writing to it.")
    );
    assert_eq!(tried.content("a.txt"), "x\n");

    tried.place.must_read_first = false;
    let written = tried.call("Write", input).await;
    assert_eq!(
        written.data["structuredPatch"],
        json!([{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1,
            "lines": ["-x", "+zz", "\\ No newline at end of file"]}])
    );
    assert_eq!(tried.content("a.txt"), "zz");
}

#[tokio::test]
async fn a_file_that_somebody_else_has_changed_is_refused_until_it_is_read_again() {
    let mut tried = Tried::new(&[("a.txt", "one\n")]);
    for must_read_first in [true, false] {
        tried.place.must_read_first = must_read_first;
        tried.write("a.txt", "one\n");
        tried.read("a.txt").await;
        tried.write("a.txt", "theirs\n");
        let input = json!({"file_path": tried.path("a.txt"), "content": "ours\n"});
        let refused = tried.call("Write", input.clone()).await;
        assert!(
            tried
                .words(&refused)
                .contains("File has been modified since read"),
            "{refused:?}"
        );
        assert_eq!(tried.content("a.txt"), "theirs\n");
        tried.read("a.txt").await;
        assert_eq!(tried.call("Write", input).await.is_error, None);
        assert_eq!(tried.content("a.txt"), "ours\n");
    }
}

#[tokio::test]
async fn a_file_that_was_only_touched_is_still_the_one_that_was_read() {
    let tried = Tried::new(&[("a.txt", "one\n")]);
    tried.read("a.txt").await;
    tried.write("a.txt", "one\n");
    let written = tried
        .call("Write", json!({"file_path": "a.txt", "content": "two\n"}))
        .await;
    assert_eq!(written.is_error, None, "{written:?}");
}

#[tokio::test]
async fn marks_line_endings_and_mode_are_kept() {
    let tried = Tried::new(&[]);
    tried.write("a.txt", b"\xef\xbb\xbfhi\r\nyou\r\n");
    fs::set_permissions(tried.path("a.txt"), fs::Permissions::from_mode(0o750)).unwrap();
    tried.read("a.txt").await;
    let written = tried
        .call("Write", json!({"file_path": "a.txt", "content": "c\nd\n"}))
        .await;
    assert_eq!(written.data["originalFile"], "hi\nyou\n");
    assert_eq!(tried.bytes("a.txt"), b"\xef\xbb\xbfc\r\nd\r\n");
    let mode = fs::metadata(tried.path("a.txt"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o750);
}

#[tokio::test]
async fn a_write_through_a_link_changes_what_it_leads_to() {
    let tried = Tried::new(&[("real/a.txt", "one\n")]);
    std::os::unix::fs::symlink("real/a.txt", tried.path("link.txt")).unwrap();
    std::os::unix::fs::symlink("real/new.txt", tried.path("dangling.txt")).unwrap();
    tried.read("link.txt").await;
    for (link, target) in [("link.txt", "real/a.txt"), ("dangling.txt", "real/new.txt")] {
        let written = tried
            .call(
                "Write",
                json!({"file_path": tried.path(link), "content": "two\n"}),
            )
            .await;
        assert_eq!(written.is_error, None, "{written:?}");
        assert!(fs::symlink_metadata(tried.path(link)).unwrap().is_symlink());
        assert_eq!(tried.content(target), "two\n");
    }
    assert_eq!(tried.names("real"), ["a.txt", "new.txt"]);
}

#[tokio::test]
async fn what_is_no_file_of_text_is_left_alone() {
    let tried = Tried::new(&[("d/x", ""), ("a.txt", "a")]);
    tried.write("latin.txt", b"caf\xe9\n");
    tried.read("latin.txt").await;
    rustix::fs::mkfifoat(rustix::fs::CWD, tried.path("pipe"), 0o600.into()).unwrap();
    for (path, words) in [
        (
            "d",
            "/project/d is a directory, not a file. Give the path of a file.",
        ),
        (
            "pipe",
            "Cannot change '/project/pipe': it is a device, pipe or socket, not a file.",
        ),
        (
            "a.txt/z",
            "ENOTDIR: not a directory, open '/project/a.txt/z'",
        ),
        (
            "latin.txt",
            "File is not valid UTF-8: it has another encoding, or it is binary.",
        ),
    ] {
        let refused = tried
            .call(
                "Write",
                json!({"file_path": tried.path(path), "content": "x"}),
            )
            .await;
        assert_eq!(refused.is_error, Some(true));
        assert!(tried.words(&refused).contains(words), "{path}: {refused:?}");
    }
    assert_eq!(tried.bytes("latin.txt"), b"caf\xe9\n");
    assert_eq!(tried.names(""), ["a.txt", "d", "latin.txt", "pipe"]);
}
