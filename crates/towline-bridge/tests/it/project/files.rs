//! One file.

use std::{fs, os::unix::fs::symlink};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use towline_protocol::dialect::pocket::{FileContent, FileKind, ReadFile};

use super::Place;

async fn read(place: &Place, file: &str, max_lines: Option<u64>) -> FileContent {
    let request = ReadFile {
        project_path: place.path("root/project"),
        file_path: file.into(),
        max_lines,
        request_id: Some("7".into()),
        ..ReadFile::default()
    };
    let answer = place.projects.read_file(&request).await;
    assert_eq!(answer.request_id.as_deref(), Some("7"));
    assert_eq!(answer.file_path, file);
    answer
}

fn place() -> Place {
    let place = Place::new();
    fs::create_dir(place.project()).unwrap();
    place
}

#[tokio::test]
async fn a_text_comes_with_its_language_and_as_many_lines_as_were_asked_for() {
    let place = place();
    place.write("src/a.rs", "one\ntwo\nthree");
    place.write("Makefile", "");
    for (file, most, content, lines, truncated, language) in [
        ("src/a.rs", None, "one\ntwo\nthree", 3, false, Some("rust")),
        (
            "src/a.rs",
            Some(3),
            "one\ntwo\nthree",
            3,
            false,
            Some("rust"),
        ),
        ("src/a.rs", Some(2), "one\ntwo\n", 3, true, Some("rust")),
        ("src/a.rs", Some(0), "", 3, true, Some("rust")),
        ("Makefile", None, "", 0, false, Some("makefile")),
    ] {
        let answer = read(&place, file, most).await;
        assert_eq!(answer.error, None);
        assert_eq!(answer.kind, Some(FileKind::Text));
        assert_eq!(
            (&*answer.content, answer.total_lines, answer.truncated),
            (content, Some(lines), Some(truncated))
        );
        assert_eq!(answer.language.as_deref(), language);
    }
}

#[tokio::test]
async fn a_long_text_is_cut_between_characters() {
    let place = place();
    place.write("one-line", "é".repeat(1 << 20));
    place.write("huge", "aé\n".repeat(3 << 20));
    let answer = read(&place, "one-line", None).await;
    assert_eq!(
        (answer.content.len(), answer.truncated),
        (1 << 20, Some(true))
    );
    let answer = read(&place, "huge", Some(u64::MAX)).await;
    assert_eq!((answer.truncated, answer.total_lines), (Some(true), None));
    assert_eq!(answer.content.lines().count(), 50_000);
    assert_eq!(answer.size_bytes, Some(12 << 20));
}

#[tokio::test]
async fn a_picture_comes_as_it_is_and_other_bytes_do_not_come() {
    let place = place();
    place.write("a.PNG", b"\x89PNG\r\n\x1a\n\0");
    place.write("sound.mp3", b"ID3");
    place.write("drawing.svg", "<svg/>");
    place.write("zero", b"ab\0c");
    place.write("latin", b"caf\xe9");
    let picture = read(&place, "a.PNG", None).await;
    assert_eq!(
        (picture.kind, picture.mime_type.as_deref()),
        (Some(FileKind::Image), Some("image/png"))
    );
    assert_eq!(
        STANDARD.decode(picture.base64.unwrap().as_str()).unwrap(),
        b"\x89PNG\r\n\x1a\n\0"
    );
    assert_eq!(
        read(&place, "sound.mp3", None).await.kind,
        Some(FileKind::Audio)
    );
    assert_eq!(&*read(&place, "drawing.svg", None).await.content, "<svg/>");
    for file in ["zero", "latin"] {
        let answer = read(&place, file, None).await;
        assert_eq!((answer.kind, &*answer.content), (None, ""));
        assert_eq!(answer.error.unwrap(), "no text: a binary file of 4 bytes");
    }
}

#[tokio::test]
async fn a_picture_that_is_too_large_is_an_error() {
    let place = place();
    place.write("a.png", vec![1; (10 << 20) + 1]);
    let answer = read(&place, "a.png", None).await;
    assert!(
        answer.error.unwrap().contains("at most 10485760"),
        "what is the bound?"
    );
    assert_eq!(answer.base64, None);
}

#[tokio::test]
async fn what_is_outside_or_no_file_is_not_read() {
    let place = place();
    fs::write(place.base.join("secret"), "secret").unwrap();
    fs::write(place.base.join("root/other"), "secret").unwrap();
    symlink("../../secret", place.project().join("link")).unwrap();
    symlink("../..", place.project().join("up")).unwrap();
    let pipe = place.project().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    for (file, problem) in [
        ("link", "none of the folders"),
        ("up/secret", "none of the folders"),
        ("../../secret", "none of the folders"),
        ("/etc/passwd", "none of the folders"),
        ("../other", "none of the folders"),
        ("a\0b", "zero byte"),
        ("", "is empty"),
        (".", "is no file"),
        ("pipe", "is no file"),
        ("missing", "No such file"),
    ] {
        let answer = read(&place, file, None).await;
        let error = answer.error.unwrap();
        assert!(error.contains(problem), "{file}: {error}");
        assert_eq!((&*answer.content, answer.base64), ("", None));
    }
}
