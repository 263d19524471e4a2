//! Diffs of real repositories.

use std::fs;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use towline_protocol::{
    Extra,
    dialect::pocket::{DiffImage, DiffResult, DiffSide, ErrorCode, GetDiff, GetDiffImage},
};

use super::{Place, git};

async fn diff(place: &Place, project: &str, staged: Option<bool>) -> DiffResult {
    let request = GetDiff {
        project_path: place.path(project),
        staged,
        request_id: Some("9".into()),
        ..GetDiff::default()
    };
    let result = place.projects.diff(&request).await;
    assert_eq!(
        (result.request_id.as_deref(), result.staged),
        (Some("9"), staged)
    );
    result
}

/// The files of a diff with the lines that come and go.
fn changes(result: &DiffResult) -> Vec<String> {
    assert_eq!(result.error, None);
    let interesting = |line: &&str| {
        let head = line.starts_with("+++ ") || line.starts_with("--- ");
        line.starts_with("diff ") || (!head && line.starts_with(['+', '-', '\\']))
    };
    let lines = result.diff.lines().filter(interesting);
    lines.map(|line| line.replace("diff --git ", "")).collect()
}

#[tokio::test]
async fn staged_unstaged_and_new_files_are_told_apart() {
    let place = Place::with_commit(&[
        ("a", "1\n"),
        ("b", "1\n"),
        ("gone", "1\n"),
        (".gitignore", "*.log\n"),
    ]);
    place.write("a", "2\n");
    git(&place.project(), &["add", "a"]);
    place.write("b", "2\n");
    place.write("new é", "n\n");
    place.write("x.log", "n\n");
    fs::remove_file(place.project().join("gone")).unwrap();
    let before = git(&place.project(), &["status", "--porcelain"]);
    let a = ["a/a b/a", "-1", "+2"];
    let rest = [
        "a/b b/b",
        "-1",
        "+2",
        "a/gone b/gone",
        "-1",
        "a/new é b/new é",
        "+n",
    ];
    assert_eq!(changes(&diff(&place, "root/project", Some(true)).await), a);
    assert_eq!(
        changes(&diff(&place, "root/project", Some(false)).await),
        rest
    );
    assert_eq!(
        changes(&diff(&place, "root/project", None).await),
        [&a[..], &rest].concat()
    );
    let new = diff(&place, "root/project", None).await.diff;
    assert!(new.contains("new file mode 100644"), "{new}");
    assert_eq!(
        git(&place.project(), &["status", "--porcelain"]),
        before,
        "looking changes nothing"
    );
}

#[tokio::test]
async fn a_change_in_the_moment_of_the_commit_that_keeps_the_size_was_taken_for_none() {
    for _ in 0..5 {
        let place = Place::with_commit(&[("a", "1\n")]);
        place.write("a", "2\n");
        place.write("new", "3\n");
        let result = diff(&place, "root/project", None).await;
        assert_eq!(
            changes(&result),
            ["a/a b/a", "-1", "+2", "a/new b/new", "+3"]
        );
    }
}

#[tokio::test]
async fn a_repository_without_a_commit_has_a_diff_too() {
    let place = Place::new();
    fs::create_dir(place.project()).unwrap();
    git(&place.project(), &["init", "-q"]);
    assert_eq!(changes(&diff(&place, "root/project", None).await), [""; 0]);
    place.write("a", "1\n");
    for staged in [None, Some(false)] {
        assert_eq!(
            changes(&diff(&place, "root/project", staged).await),
            ["a/a b/a", "+1"]
        );
    }
    git(&place.project(), &["add", "a"]);
    for staged in [None, Some(true)] {
        assert_eq!(
            changes(&diff(&place, "root/project", staged).await),
            ["a/a b/a", "+1"]
        );
    }
}

#[tokio::test]
async fn a_folder_of_a_repository_shows_its_own_changes() {
    let place = Place::with_commit(&[("a", "1\n"), ("sub/b", "1\n")]);
    place.write("a", "2\n");
    place.write("sub/b", "2\n");
    place.write("sub/c", "3\n");
    place.write("d", "3\n");
    assert_eq!(
        changes(&diff(&place, "root/project/sub", None).await),
        ["a/b b/b", "-1", "+2", "a/c b/c", "+3"]
    );
}

#[tokio::test]
async fn a_repository_inside_of_the_repository_is_not_taken_in() {
    let place = Place::with_commit(&[("a", "1\n")]);
    place.write("inner/x", "x\n");
    git(&place.project().join("inner"), &["init", "-q"]);
    place.write("y", "y\n");
    assert_eq!(
        changes(&diff(&place, "root/project", None).await),
        ["a/y b/y", "+y"]
    );
}

#[tokio::test]
async fn names_are_taken_as_they_are() {
    let place = Place::with_commit(&[]);
    for name in ["*", ":(top)", "-n", "a\nb", "[x]"] {
        place.write(name, "1\n");
    }
    let result = diff(&place, "root/project", None).await;
    assert_eq!(result.error, None);
    assert_eq!(
        result.diff.matches("new file mode").count(),
        5,
        "{}",
        result.diff
    );
}

#[tokio::test]
async fn a_large_diff_is_cut_at_the_end_of_a_line_and_says_so() {
    let place = Place::with_commit(&[]);
    place.write("big", "0123456789abcde\n".repeat(400_000));
    let result = diff(&place, "root/project", None).await;
    assert!(result.diff.len() < (4 << 20) + 100);
    assert!(
        result
            .diff
            .ends_with("\n+0123456789abcde\n\\ There is more; only the beginning is shown\n")
    );
}

#[tokio::test]
async fn too_many_new_files_are_cut_and_that_is_said() {
    let place = Place::with_commit(&[]);
    for number in 0..1010 {
        place.write(&format!("{number:04}"), "x\n");
    }
    let result = diff(&place, "root/project", None).await;
    assert_eq!(result.diff.matches("new file mode").count(), 1000);
    assert!(
        result
            .diff
            .ends_with("\\ There are more new files than are shown\n")
    );
}

#[tokio::test]
async fn pictures_are_listed_with_their_sizes() {
    let place = Place::with_commit(&[("old.png", "123"), ("gone.gif", "12345"), ("text", "1")]);
    place.write("old.png", "1234");
    fs::remove_file(place.project().join("gone.gif")).unwrap();
    place.write("new.svg", "<svg/>");
    place.write("text", "2");
    let pictures = diff(&place, "root/project", None)
        .await
        .image_changes
        .unwrap();
    let told: Vec<_> = pictures
        .iter()
        .map(|picture| {
            (
                &*picture.file_path,
                picture.is_new,
                picture.is_deleted,
                picture.is_svg,
                picture.old_size,
                picture.new_size,
            )
        })
        .collect();
    let (yes, no) = (Some(true), Some(false));
    assert_eq!(
        told,
        [
            ("gone.gif", no, yes, no, Some(5), None),
            ("new.svg", yes, no, yes, None, Some(6)),
            ("old.png", no, no, no, Some(3), Some(4)),
        ]
    );
    git(&place.project(), &["add", "-A"]);
    let staged = diff(&place, "root/project", Some(true))
        .await
        .image_changes
        .unwrap();
    assert_eq!(
        staged
            .iter()
            .map(|picture| picture.new_size)
            .collect::<Vec<_>>(),
        [None, Some(6), Some(4)]
    );
}

async fn picture(place: &Place, file: &str, version: DiffSide) -> DiffImage {
    let request = GetDiffImage {
        project_path: place.path("root/project"),
        file_path: file.into(),
        version,
        request_id: None,
        extra: Extra::default(),
    };
    place.projects.diff_image(&request).await
}

#[tokio::test]
async fn both_versions_of_a_picture_can_be_had() {
    let place = Place::with_commit(&[("sub/a.png", "old"), ("gone.png", "gone")]);
    place.write("sub/a.png", "new");
    place.write("fresh.png", "fresh");
    fs::remove_file(place.project().join("gone.png")).unwrap();
    let text = |base64: Option<towline_protocol::Text>| {
        base64.map(|base64| String::from_utf8(STANDARD.decode(base64.as_str()).unwrap()).unwrap())
    };
    for (file, version, expected) in [
        ("sub/a.png", DiffSide::Old, (Some("old"), None, None)),
        ("sub/a.png", DiffSide::New, (Some("new"), None, None)),
        (
            "sub/a.png",
            DiffSide::Both,
            (None, Some("old"), Some("new")),
        ),
        ("fresh.png", DiffSide::Both, (None, None, Some("fresh"))),
        ("gone.png", DiffSide::Both, (None, Some("gone"), None)),
    ] {
        let answer = picture(&place, file, version).await;
        assert_eq!(
            (answer.error, answer.mime_type.as_deref()),
            (None, Some("image/png"))
        );
        let (one, old, new) = (
            text(answer.base64),
            text(answer.old_base64),
            text(answer.new_base64),
        );
        assert_eq!(
            (one.as_deref(), old.as_deref(), new.as_deref()),
            expected,
            "{file}"
        );
    }
    for (file, version, problem) in [
        ("fresh.png", DiffSide::Old, "has no earlier version"),
        ("gone.png", DiffSide::New, "has no present version"),
        ("a.txt", DiffSide::Both, "is no picture"),
        ("../../x.png", DiffSide::Both, "none of the folders"),
        (
            "sub/a.png",
            DiffSide::Unknown("other".into()),
            "ask for old, new or both",
        ),
    ] {
        let error = picture(&place, file, version).await.error.unwrap();
        assert!(error.contains(problem), "{error}");
    }
}

#[tokio::test]
async fn what_is_no_repository_or_outside_is_an_error() {
    let place = Place::new();
    let result = diff(&place, "root", None).await;
    assert!(result.error.unwrap().contains("not a git repository"));
    let result = diff(&place, "", None).await;
    assert_eq!(result.error_code, Some(ErrorCode::PathNotAllowed));
}

#[tokio::test]
async fn a_large_new_file_is_named_and_not_read() {
    let place = Place::with_commit(&[("a", "1\n")]);
    let large = "words\n".repeat((8 << 20) / 6 + 1);
    place.write("big.txt", &large);
    place.write("small.txt", "n\n");
    // As large as a disk: what reads it does not come back in time.
    let huge = fs::File::create(place.project().join("core")).unwrap();
    huge.set_len(1 << 40).unwrap();
    let picture = fs::File::create(place.project().join("cat.png")).unwrap();
    picture.set_len(9 << 20).unwrap();
    for staged in [None, Some(false)] {
        let result = diff(&place, "root/project", staged).await;
        assert_eq!(
            changes(&result),
            [
                "a/cat.png b/cat.png",
                "a/small.txt b/small.txt",
                "+n",
                "a/big.txt b/big.txt",
                &format!("\\ Too large to be shown: {} bytes", large.len()),
                "a/core b/core",
                "\\ Too large to be shown: 1099511627776 bytes",
            ]
        );
        assert_eq!(result.image_changes.unwrap().len(), 1);
    }
}
