//! The harness itself, with small programs in an agent's place: it must see what they do otherwise, and never hang.

use std::{fmt::Write as _, fs, os::unix::fs::PermissionsExt as _, path::Path, time::Duration};

use super::{
    Program,
    compare::compare,
    play::{Played, play},
    recording::Recording,
    suite::Suite,
};

/// Plays the conversation to a program for the shell.
fn check(name: &str, program: impl FnOnce(&Path) -> String) -> (Played, Vec<String>) {
    let recording = Recording::read(name);
    let folder = tempfile::tempdir().unwrap();
    let mut lines = String::new();
    for line in recording.lines() {
        writeln!(lines, "{}", line.value).unwrap();
    }
    let recorded = folder.path().join("lines");
    fs::write(&recorded, lines).unwrap();
    let path = folder.path().join("program");
    fs::write(&path, format!("#!/bin/sh\n{}\n", program(&recorded))).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let program = Program {
        path,
        patience: Duration::from_millis(500),
    };
    let suite = Suite::of_the_repository();
    let setup = suite.setups.get(name).cloned().unwrap_or_default();
    let played = play(&program, &recording, &setup, &suite);
    let ids = recording.ids_of_the_host();
    let found = compare(&recording.lines(), &played.lines, &ids);
    let found = found.into_iter();
    let found = found.map(|difference| format!("{} {}", difference.kind, difference.path));
    (played, found.collect())
}

#[test]
fn a_program_that_says_what_was_recorded_is_the_same() {
    for name in ["control-01c_no_initialize", "control-02c_queue"] {
        let (played, found) = check(name, |lines| {
            format!("cat '{}'; cat >/dev/null", lines.display())
        });
        assert_eq!((found, played.code), (Vec::new(), 0), "{played:?}");
        assert_eq!(played.notes, Vec::<String>::new());
    }
}

#[test]
fn a_program_that_says_nothing_does_not_hang_the_play() {
    let (played, found) = check("control-01c_no_initialize", |_| "cat >/dev/null".to_owned());
    assert_eq!(
        found,
        ["system/init -", "assistant -", "result/success -"],
        "{played:?}"
    );
    assert!(
        played.notes.iter().any(|note| note.contains("in vain for")),
        "{played:?}"
    );
}

#[test]
fn a_program_that_does_not_end_is_ended() {
    let (played, _) = check("control-01c_no_initialize", |lines| {
        format!("cat '{}'; sleep 1000", lines.display())
    });
    assert_eq!(played.code, 128 + 9, "{played:?}");
    assert_eq!(played.notes, ["it does not end"]);
}

#[test]
fn a_program_that_dies_is_told_by_its_code_and_its_complaint() {
    let (played, found) = check("control-01c_no_initialize", |_| {
        "echo oh no >&2; exit 3".to_owned()
    });
    assert_eq!((played.code, &*played.stderr), (3, "oh no\n"));
    assert_eq!(found.len(), 3, "{found:?}");
}

#[test]
fn a_line_that_is_no_json_is_one_too_many() {
    let (_, found) = check("control-01c_no_initialize", |lines| {
        format!("echo hello; cat '{}'; cat >/dev/null", lines.display())
    });
    assert_eq!(found, ["no JSON +"]);
}

#[test]
fn a_folder_of_recordings_is_played_with_its_own_setups_and_differences() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let line = r#"{"type":"keep_alive","files":["given.txt"]}"#;
    write(
        "own.jsonl",
        &format!(
            "{{\"t\":0,\"dir\":\"argv\",\"line\":[]}}\n{{\"t\":1,\"dir\":\"out\",\"line\":{line}}}\n"
        ),
    );
    write("parity-setups.toml", "[own.files]\n'given.txt' = 'x'\n");
    write(
        "parity-differences.toml",
        "[[difference]]\ntrace = 'own'\nkind = 'keep_alive'\npath = '$.more'\nwhy = 'meant'\nrow = '-'\n",
    );
    write(
        "agent",
        "#!/bin/sh\ncat >/dev/null\nprintf '{\"type\":\"keep_alive\",\"files\":[\"%s\"],\"more\":1}\\n' *\n",
    );
    let path = folder.path().join("agent");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    let patience = Duration::from_secs(5);
    let program = Program { path, patience };

    let suite = Suite::of_folder(folder.path());
    let conversations = suite.conversations();
    let [own] = &conversations[..] else {
        panic!("{conversations:?}");
    };
    let played = play(&program, &own.recording, &own.setup, &suite);
    let outcome = own.outcome(&suite.meant, &played);
    assert!(outcome.is_same, "{}", outcome.report);

    write("parity-differences.toml", "");
    let strict = Suite::of_folder(folder.path());
    let outcome = own.outcome(&strict.meant, &played);
    assert!(outcome.report.contains("$.more"), "{}", outcome.report);
}

#[test]
#[should_panic(expected = "parity-setups.toml: no recording other.jsonl")]
fn a_setup_without_its_recording_is_told() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("own.jsonl"), "").unwrap();
    fs::write(folder.path().join("parity-setups.toml"), "[other]\n").unwrap();
    Suite::of_folder(folder.path());
}
