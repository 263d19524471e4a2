//! What a person at a terminal gets: `script` of util-linux gives the agent one.
#![cfg(target_os = "linux")]

use std::{
    io::Write as _,
    process::{Command, Stdio},
};

use towline_testkit::real_cli::RealCli;

use crate::driven::towline_room;

/// Runs towline on a terminal and types; the exit code, and what was on the screen.
fn on_terminal(room: &RealCli, arguments: &str, typed: &str) -> (Option<i32>, String) {
    let own = room.command("http://127.0.0.1:9");
    let mut command = Command::new("script");
    command
        .arg("-qec")
        .arg(format!(
            "{} {arguments}",
            own.get_program().to_str().unwrap()
        ))
        .arg("/dev/null")
        .env_clear()
        .current_dir(own.get_current_dir().unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped());
    for (name, value) in own.get_envs() {
        command.env(name, value.unwrap_or_default());
    }
    let mut child = command.spawn().unwrap();
    let mut keyboard = child.stdin.take().unwrap();
    // One that asks nothing does not read it.
    keyboard.write_all(typed.as_bytes()).ok();
    drop(keyboard);
    let output = child.wait_with_output().unwrap();
    let screen = String::from_utf8_lossy(&output.stdout).replace("\r\n", "\n");
    (output.status.code(), screen)
}

/// A session of the offline responder, with this title; its id.
fn session(room: &RealCli, number: u32, title: &str) -> String {
    let id = format!("{number:08x}-2222-4333-8444-555555555555");
    let ran = room
        .command("http://127.0.0.1:9")
        .args([
            "-p",
            "hello",
            "--model",
            "offline",
            "--session-id",
            &id,
            "--name",
            title,
        ])
        .output()
        .unwrap();
    assert!(ran.status.success(), "{ran:?}");
    id
}

fn prompts(room: &RealCli, id: &str) -> usize {
    let projects = room.home().join(".claude/projects");
    let mut folders = std::fs::read_dir(projects).unwrap();
    let folder = folders.next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(folder.join(format!("{id}.jsonl"))).unwrap();
    text.lines()
        .filter(|line| line.contains(r#""promptId""#))
        .count()
}

#[test]
fn nothing_said_is_told_how_to_begin() {
    let (code, screen) = on_terminal(&towline_room(), "", "");
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains("towline --help"), "{screen}");
}

/// A folder's files took questions away before a person was asked whether it may be trusted.
#[test]
fn a_folder_whose_files_ask_for_more_is_asked_about_once_and_the_answer_is_kept() {
    let room = towline_room();
    let settings = room.project().join(".claude");
    std::fs::create_dir(&settings).unwrap();
    let permissions = "{\"permissions\": {\"allow\": [\"Bash(python3:*)\", \"Bash(\u{202e}x)\"]}}";
    std::fs::write(settings.join("settings.local.json"), permissions).unwrap();
    let question = "You have not trusted this folder yet: ";
    let hello = "hello --model offline";
    // Nothing is not a yes, and it is asked again.
    for (arguments, typed) in [(hello, "\n"), (hello, "no\n"), ("", "\n")] {
        let (code, screen) = on_terminal(&room, arguments, typed);
        assert_eq!(code, Some(0), "{screen}");
        assert!(screen.contains(question), "{screen}");
        let asked = "runs without asking: Bash(python3:*)  (.claude/settings.local.json)";
        assert!(screen.contains(asked), "{screen}");
        assert!(screen.contains("Bash(\\u{202e}x)"), "{screen}");
        assert!(screen.contains("Not trusted: "), "{screen}");
        assert!(!room.home().join(".claude.json").exists());
    }
    // With -p no person is asked.
    let (_, screen) = on_terminal(&room, "-p hello --model offline", "y\n");
    assert!(!screen.contains(question), "{screen}");
    let (code, screen) = on_terminal(&room, hello, "y\n");
    assert_eq!(code, Some(0), "{screen}");
    assert!(screen.contains(question), "{screen}");
    let state = std::fs::read_to_string(room.home().join(".claude.json")).unwrap();
    assert!(
        state.contains("\"hasTrustDialogAccepted\": true"),
        "{state}"
    );
    let (_, screen) = on_terminal(&room, hello, "");
    assert!(!screen.contains("trusted"), "{screen}");
}

#[test]
fn without_sessions_there_is_nothing_to_choose() {
    let room = towline_room();
    for flag in ["--resume", "--from-pr"] {
        let (code, screen) = on_terminal(&room, flag, "");
        assert_eq!(code, Some(0), "{flag}: {screen}");
        assert!(
            screen.contains("No sessions in this folder"),
            "{flag}: {screen}"
        );
    }
}

#[test]
fn a_session_is_chosen_by_its_number_and_goes_on() {
    let room = towline_room();
    let ids = [session(&room, 1, "first"), session(&room, 2, "second")];
    let (code, screen) = on_terminal(&room, "--resume --model offline", "1\nhello again\n");
    assert_eq!(code, Some(0), "{screen}");
    assert!(
        screen.contains("first") && screen.contains("second"),
        "{screen}"
    );
    let went_on = ids.iter().filter(|id| prompts(&room, id) == 2);
    assert_eq!(went_on.count(), 1, "{screen}");
}

#[test]
fn a_session_goes_on_by_its_id_its_title_or_its_path() {
    let room = towline_room();
    let id = session(&room, 1, "my-title");
    let folder = room.home().join(".claude/projects");
    let folder = std::fs::read_dir(folder)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let path = folder
        .join(format!("{id}.jsonl"))
        .to_str()
        .unwrap()
        .to_owned();
    for (turn, which) in [&*id, "my-title", &path].into_iter().enumerate() {
        let arguments = format!("--resume {which} --model offline hello");
        let (code, screen) = on_terminal(&room, &arguments, "");
        assert_eq!(code, Some(0), "{which}: {screen}");
        assert_eq!(prompts(&room, &id), turn + 2, "{which}: {screen}");
    }
    let (code, screen) = on_terminal(&room, "--resume nobody --model offline hello", "");
    assert_eq!(code, Some(1), "{screen}");
    assert!(screen.contains("`nobody` is no UUID"), "{screen}");
}

#[test]
fn a_session_is_kept_unless_it_is_not_to_be() {
    let room = towline_room();
    for (flag, kept) in [
        ("--no-session-persistence", 0),
        ("--no-session-persistence=true", 0),
        ("--no-session-persistence=false", 1),
    ] {
        let ran = room
            .command("http://127.0.0.1:9")
            .args(["-p", "hello", "--model", "offline", flag])
            .output()
            .unwrap();
        assert!(ran.status.success(), "{flag}: {ran:?}");
        let projects = room.home().join(".claude/projects");
        let files = std::fs::read_dir(projects).into_iter().flatten();
        let files = files.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
        let sessions = files.filter(|file| file.as_ref().unwrap().path().extension().is_some());
        assert_eq!(sessions.count(), kept, "{flag}");
    }
}
