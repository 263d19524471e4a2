//! `--from-pr`: a session is found by the pull request that it made. The links are those that CLI 2.1.325 writes.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;
use towline_testkit::{
    real_cli::RealCli,
    script_api::{Reply, Script, ScriptApi},
};

use crate::driven::{Driven, api, block_on, rooms, said, towline_room};

/// A `gh` that prints an address, and a session that calls it; the id of the session.
async fn make(room: &RealCli, api: &ScriptApi, prompt: &str) -> String {
    let bin = room.home().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::fs::write(
        bin.join("gh"),
        "#!/bin/sh\necho https://github.com/o/r/pull/12\n",
    )
    .unwrap();
    std::fs::set_permissions(bin.join("gh"), std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut agent = Driven::start_with(room, &api.url(), &["--allowedTools", "Bash"], |command| {
        command.env(
            "PATH",
            format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display()),
        );
    });
    let result = agent.ask(prompt).await;
    assert_eq!(agent.close_and_end().await.code, Some(0));
    result["session_id"].as_str().unwrap().to_owned()
}

fn script() -> Script {
    let create =
        json!({"command": "gh pr create --title t --body b", "description": "a pull request"});
    Script::new([
        Reply::message()
            .tool("Bash", create)
            .when_prompt_contains("make a request"),
        Reply::text("Made."),
    ])
    .default_reply(Reply::text("Done."))
}

#[test]
fn a_session_is_found_by_its_pull_request_whoever_wrote_it() {
    let towline = towline_room();
    for room in rooms("a session with a pull request") {
        block_on(async {
            let api = api(script()).await;
            let id = make(&room, &api, "make a request").await;
            let transcript = transcript(&room, &id);
            assert!(
                transcript.contains(
                    r#""prNumber":12,"prUrl":"https://github.com/o/r/pull/12","prRepository":"o/r""#
                ),
                "{transcript}"
            );
            for (value, arguments) in [
                ("12", &[][..]),
                ("#12", &[]),
                ("https://github.com/o/r/pull/12", &["--fork-session"]),
            ] {
                // Always towline: the real CLI passes the flag over with --print.
                let flags = [&["--from-pr", value], arguments].concat();
                let mut agent = Driven::start_with(&room, &api.url(), &flags, |command| {
                    *command = as_towline(command, &towline);
                });
                let result = agent.ask("and on").await;
                assert_eq!(result["session_id"] == id, arguments.is_empty(), "{value}");
                let words = said(&api.requests().last().unwrap().body()).join("\n");
                assert!(words.contains("make a request"), "{value}: {words}");
                assert_eq!(agent.close_and_end().await.code, Some(0));
            }
        });
    }
}

/// The same command with towline as its program.
fn as_towline(command: &tokio::process::Command, towline: &RealCli) -> tokio::process::Command {
    let other = towline.command("");
    let mut same = std::process::Command::new(other.get_program());
    let command = command.as_std();
    same.args(command.get_args())
        .env_clear()
        .current_dir(command.get_current_dir().unwrap())
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    for (name, value) in command.get_envs() {
        same.env(name, value.unwrap_or_default());
    }
    same.into()
}

fn transcript(room: &RealCli, id: &str) -> String {
    let projects = room.home().join(".claude/projects");
    let folders = std::fs::read_dir(projects).unwrap();
    let mut paths = folders.map(|folder| folder.unwrap().path().join(format!("{id}.jsonl")));
    std::fs::read_to_string(paths.find(|path| path.exists()).unwrap()).unwrap()
}

#[test]
fn a_pull_request_that_nobody_made_is_an_error() {
    block_on(async {
        let room = towline_room();
        let api = api(script()).await;
        make(&room, &api, "make a request").await;
        for (arguments, complaint) in [
            (
                &["--from-pr", "13"][..],
                "Error: --from-pr: no session of this folder has made pull request 13.",
            ),
            (
                &["--from-pr", "https://github.com/o/other/pull/12"],
                "Error: --from-pr: no session of this folder has made https://github.com/o/other/pull/12.",
            ),
            (
                &["--from-pr", "twelve"],
                "Error: --from-pr twelve: the number of a pull request or its address is expected",
            ),
            (
                &["--from-pr"],
                "Error: --from-pr requires the number or the address of a pull request",
            ),
            (
                &["--from-pr", "12", "--continue"],
                "Error: --from-pr cannot be used with --resume or --continue",
            ),
        ] {
            let agent = Driven::start(&room, &api.url(), arguments);
            let ended = agent.close_and_end().await;
            assert_eq!(
                (ended.code, ended.lines.len()),
                (Some(1), 0),
                "{arguments:?}"
            );
            assert!(
                ended.stderr.starts_with(complaint),
                "{arguments:?}: {}",
                ended.stderr
            );
            assert_eq!(ended.stderr.lines().count(), 1, "{}", ended.stderr);
        }
    });
}
