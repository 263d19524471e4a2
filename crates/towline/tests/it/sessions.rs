//! `towline sessions`, on transcripts that the real CLI wrote.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use tempfile::TempDir;

use crate::run::{Ran, towline_with_home};

/// A home with the sessions 1 to 3 of one project and session 4 of another, the first one the newest.
struct Made {
    folder: TempDir,
}

impl Made {
    fn new() -> Self {
        let made = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        let here = made.project_folder();
        for (number, project, name) in [
            (1, &here, "parallel"),
            (2, &here, "resumed_5x"),
            (3, &here, "compact"),
            (4, &made.home().join("projects/-elsewhere"), "slash_cost"),
        ] {
            fs::create_dir_all(project).unwrap();
            let path = project.join(format!("{}.jsonl", id(number)));
            fs::copy(data(name), &path).unwrap();
            let file = File::options().append(true).open(path).unwrap();
            let time = Duration::from_secs(1_800_000_000 - 3600 * u64::from(number));
            file.set_modified(SystemTime::UNIX_EPOCH + time).unwrap();
        }
        made
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("config")
    }

    /// The folder that the command runs in.
    fn project(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn project_folder(&self) -> PathBuf {
        let name = self
            .project()
            .to_str()
            .unwrap()
            .replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        self.home().join("projects").join(name)
    }

    fn path(&self, number: u32) -> PathBuf {
        self.project_folder().join(format!("{}.jsonl", id(number)))
    }

    fn run(&self, arguments: &[&str]) -> Ran {
        let arguments = [&["sessions"], arguments].concat();
        let mut ran = towline_with_home(&self.home(), &self.project(), &arguments);
        for text in [&mut ran.stdout, &mut ran.stderr] {
            *text = text.replace(self.project().to_str().unwrap(), "DIR");
        }
        ran
    }
}

fn id(number: u32) -> String {
    format!("{number}{number}{number}{number}0000-0000-4000-8000-000000000000")
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../towline-store/tests/data")
        .join(format!("{name}.jsonl"))
}

#[test]
fn sessions_are_listed_the_newest_first() {
    let made = Made::new();
    insta::assert_snapshot!(made.run(&["list"]), @"
    11110000  2027-01-15 07:00     17K  then this
    22220000  2027-01-15 06:00     43K  via path
    33330000  2027-01-15 05:00     36K  resumed after compact
    -- exit 0
    ");
    insta::assert_snapshot!(made.run(&["list", "--all", "--limit", "2", "--offset", "2", "--width", "60"]), @"
    33330000  2027-01-15 05:00     36K  resumed after compact  …
    44440000  2027-01-15 04:00     13K  hi  /project
    -- exit 0
    ");
    insta::assert_snapshot!(made.run(&["list", "--project", "/nowhere"]), @"
    -- stderr
    towline: no sessions in `/nowhere`; --all lists those of every project
    -- exit 0
    ");
    let json = made.run(&["list", "--all", "--json"]).stdout;
    let rows: Vec<serde_json::Value> = json
        .lines()
        .map(|row| serde_json::from_str(row).unwrap())
        .collect();
    assert_eq!(rows.len(), 4);
    assert_eq!(rows[0]["session_id"], id(1));
    assert_eq!(rows[0]["created"], "2026-11-16T05:23:21.236Z");
}

#[test]
fn a_session_is_shown_one_line_a_message() {
    let made = Made::new();
    insta::assert_snapshot!(made.run(&["show", "1111", "--width", "80"]), @"
        3 2026-11-16 05:23:21 → user      PARALLEL please
       15 2026-11-16 05:23:21 ← assistant two at once
       16 2026-11-16 05:23:21 ← assistant Bash sleep 0.3; echo out0
       17 2026-11-16 05:23:21 ← assistant Bash sleep 0.2; echo out1
       18 2026-11-16 05:23:21 ← assistant Bash sleep 0.1; echo out2
       21 2026-11-16 05:23:21 → user      ok: out2
       22 2026-11-16 05:23:21 → user      ok: out1
       23 2026-11-16 05:23:21 → user      ok: out0
       27 2026-11-16 05:23:21 ← assistant reply 2
       33 2026-11-16 05:23:22 → user      then this
       34 2026-11-16 05:23:22 ← assistant reply 3
    -- exit 0
    ");
}

#[test]
fn the_tree_shows_what_was_left_behind() {
    let made = Made::new();
    insta::assert_snapshot!(made.run(&["show", &id(2), "--tree", "--width", "80"]), @"
        3 2026-11-16 00:01:31 → user      first message A
       20 2026-11-16 00:01:31 ← assistant reply A1
       26 2026-11-16 00:01:31 │ → user      second message A
       28 2026-11-16 00:01:31 │ ← assistant reply A2
       33 2026-11-16 00:01:33 │ → user      third via continue
       35 2026-11-16 00:01:33 │ ← assistant reply C
       41 2026-11-16 00:01:34 │ → user      fourth via resume
       43 2026-11-16 00:01:34 │ ← assistant reply R
       48 2026-11-16 00:01:43 → user      after rollback
       50 2026-11-16 00:01:43 ← assistant reply RA
       58 2026-11-16 00:01:45 → user      replayed?
       60 2026-11-16 00:01:45 ← assistant All done.
       65 2026-11-16 00:01:48 → user      x from other cwd
       69 2026-11-16 00:01:48 ← assistant All done.
       74 2026-11-16 00:01:49 → user      via path
       78 2026-11-16 00:01:49 ← assistant * All done.
    -- exit 0
    ");
}

#[test]
fn the_tree_goes_behind_a_compaction() {
    let made = Made::new();
    insta::assert_snapshot!(made.run(&["show", made.path(3).to_str().unwrap(), "--tree", "--width", "80"]), @r"
        3 2026-11-16 00:14:33 → user      one
       18 2026-11-16 00:14:33 ← assistant reply 0
       24 2026-11-16 00:14:34 → user      two
       26 2026-11-16 00:14:34 ← assistant reply 1
       29 2026-11-16 00:14:34 → user      three
       31 2026-11-16 00:14:34 ← assistant reply 2
       36 2026-11-16 00:14:35 · system    compact_boundary: Conversation compacted
       37 2026-11-16 00:14:35 → user      <1017 chars>
       38 2026-11-16 00:14:35 → user      <local-command-caveat>The command below w…
       39 2026-11-16 00:14:35 → user      <command-name>/compact</command-name>\n  …
       40 2026-11-16 00:14:35 → user      <local-command-stdout>Compacted </local-c…
       48 2026-11-16 00:14:35 → user      after
       60 2026-11-16 00:14:35 ← assistant reply 4
       67 2026-11-16 00:19:48 → user      resumed after compact
       69 2026-11-16 00:19:48 ← assistant * All done.
    -- exit 0
    ");
}

#[test]
fn a_shown_row_may_be_json_with_the_record_as_it_stands() {
    let made = Made::new();
    let ran = made.run(&["show", &id(1), "--json"]);
    let file = fs::read_to_string(made.path(1)).unwrap();
    let mut reasons = Vec::new();
    for row in ran.stdout.lines() {
        let value: serde_json::Value = serde_json::from_str(row).unwrap();
        let line = usize::try_from(value["line"].as_u64().unwrap()).unwrap();
        let record = file.lines().nth(line - 1).unwrap();
        assert!(row.ends_with(&format!("\"record\":{record}}}")), "{row}");
        reasons.push(value["reason"].as_str().unwrap().to_owned());
    }
    assert_eq!(
        reasons
            .iter()
            .filter(|reason| *reason == "parallel")
            .count(),
        4
    );
    assert_eq!(reasons.len(), 11);
}

#[test]
fn what_was_said_is_found() {
    let made = Made::new();
    insta::assert_snapshot!(made.run(&["search", "REPLY", "--role", "assistant", "--limit", "3"]), @"
    11110000  2026-11-16 05:23     27  answer       reply 2
    11110000  2026-11-16 05:23     34  answer       reply 3
    22220000  2026-11-16 00:01     20  answer       reply A1
    -- exit 0
    ");
    insta::assert_snapshot!(made.run(&["search", r"echo out\d", "--regex", "--since", "2026-11-16"]), @"
    11110000  2026-11-16 05:23     16  tool input   sleep 0.3; echo out0
    11110000  2026-11-16 05:23     17  tool input   sleep 0.2; echo out1
    11110000  2026-11-16 05:23     18  tool input   sleep 0.1; echo out2
    -- exit 0
    ");
    assert_eq!(made.run(&["search", "/usage", "--project", "."]).stdout, "");
    insta::assert_snapshot!(made.run(&["search", "(", "--regex"]), @"
    -- stderr
    towline: cannot search for `(`: unclosed group
    -- exit 1
    ");
    let json = made.run(&["search", "parallel", "--json"]).stdout;
    let hit: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(
        (hit["hit"].as_str(), hit["line"].as_u64()),
        (Some("PARALLEL"), Some(3))
    );
}

#[test]
fn a_session_is_exported_for_a_person() {
    let made = Made::new();
    let ran = made.run(&["export", "1111"]);
    insta::assert_snapshot!(ran.stdout[..ran.stdout.find("sleep 0.2").unwrap()], @r#"
    # then this

    - session: `11110000-0000-4000-8000-000000000000`
    - folder: `/project`
    - branch: `HEAD`
    - started: 2026-11-16 05:23 UTC
    - last used: 2027-01-15 07:00 UTC

    ## User

    PARALLEL please

    ## Assistant

    two at once

    <details><summary>Bash: sleep 0.3; echo out0</summary>

    ```json
    {
      "command": "sleep 0.3; echo out0",
      "description": "d"
    }
    ```

    </details>

    <details><summary>Bash:
    "#);
    insta::assert_snapshot!(ran.stdout[ran.stdout.find("out0\n").unwrap()..], @"
    out0
    ```

    </details>

    reply 2

    ## User

    then this

    ## Assistant

    reply 3
    ");
}

#[test]
fn a_session_is_exported_for_programs() {
    let made = Made::new();
    let file = fs::read_to_string(made.path(3)).unwrap();
    assert_eq!(
        made.run(&["export", "3333", "--format", "jsonl"]).stdout,
        file
    );

    let json = made.run(&["export", "3333", "--format", "json"]).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["session"]["title"], "resumed after compact");
    assert_eq!(json["messages"].as_array().unwrap().len(), 8);

    let target = made.folder.path().join("out.jsonl");
    let to_file = [
        "export",
        "3333",
        "--format",
        "jsonl",
        "-o",
        target.to_str().unwrap(),
    ];
    assert_eq!(made.run(&to_file).code, 0);
    assert_eq!(fs::read_to_string(&target).unwrap(), file);
    // A file that is there is not written over.
    fs::write(&target, "mine").unwrap();
    assert_eq!(made.run(&to_file).code, 1);
    assert_eq!(fs::read_to_string(&target).unwrap(), "mine");
}

#[test]
fn a_session_is_renamed_and_then_found_by_its_title() {
    let made = Made::new();
    assert_eq!(
        made.run(&["rename", "2222", "The Title"]).to_string(),
        "-- exit 0"
    );
    let shown = made.run(&["show", "the title"]).stdout;
    assert_eq!(shown, made.run(&["show", &id(2)]).stdout);
    insta::assert_snapshot!(made.run(&["rename", "2222", "  "]), @"
    -- stderr
    towline: a title needs at least one visible character
    -- exit 1
    ");
}

#[test]
fn a_session_is_deleted_only_when_that_is_sure() {
    let made = Made::new();
    insta::assert_snapshot!(made.run(&["delete", "2222"]), @"
    -- stderr
    towline: there is no terminal to ask on: give --yes to delete 22220000-0000-4000-8000-000000000000
    -- exit 1
    ");
    assert!(made.path(2).exists());
    assert_eq!(
        made.run(&["delete", "2222", "--yes"]).to_string(),
        "-- exit 0"
    );
    assert!(!made.path(2).exists());
    assert!(made.path(1).exists());
}

#[test]
fn a_session_that_is_not_there_or_not_the_only_one_is_an_error() {
    let made = Made::new();
    for title in ["1111", "2222"] {
        made.run(&["rename", title, "Twin"]);
    }
    insta::assert_snapshot!(made.run(&["show", "twin"]), @"
    -- stderr
    towline: `twin` may be any of 2: 22220000-0000-4000-8000-000000000000 (Twin), 11110000-0000-4000-8000-000000000000 (Twin)
    -- exit 1
    ");
    insta::assert_snapshot!(made.run(&["show", "9999"]), @"
    -- stderr
    towline: no session `9999`: neither an id, the start of one (4 characters or more), nor a title; `towline sessions list --all` shows what there is
    -- exit 1
    ");
    insta::assert_snapshot!(made.run(&["show", &id(9)]), @"
    -- stderr
    towline: no session 99990000-0000-4000-8000-000000000000 in `DIR/config/projects`
    -- exit 1
    ");
    insta::assert_snapshot!(made.run(&["show", "no/such.jsonl"]), @"
    -- stderr
    towline: cannot read `no/such.jsonl`: No such file or directory (os error 2)
    -- exit 1
    ");
    insta::assert_snapshot!(made.run(&["delete", "../../etc/passwd", "--yes"]), @"
    -- stderr
    towline: no session `../../etc/passwd`: neither an id, the start of one (4 characters or more), nor a title; `towline sessions list --all` shows what there is
    -- exit 1
    ");
}

#[test]
fn lines_that_cannot_be_read_are_told_and_the_rest_is_shown() {
    let made = Made::new();
    let file = made.folder.path().join("broken.jsonl");
    let text = fs::read_to_string(data("slash_cost")).unwrap();
    fs::write(&file, format!("nonsense\u{1b}[2J\n{text}{{\"type\":\"us")).unwrap();
    insta::assert_snapshot!(made.run(&["show", file.to_str().unwrap(), "--width", "70"]), @"
        4 2026-11-16 00:03:05 → user      hi
       21 2026-11-16 00:03:05 ← assistant All done.
       28 2026-11-16 00:03:05 → user      <command-name>/usage</command-n…
    -- stderr
    towline: DIR/broken.jsonl:1: skipped: expected an object at byte 0
    -- exit 0
    ");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    use std::process::{Command, Stdio};

    let made = Made::new();
    let mut child = Command::new(env!("CARGO_BIN_EXE_towline"))
        .args(["sessions", "show", &id(2), "--json"])
        .env("CLAUDE_CONFIG_DIR", made.home())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}
