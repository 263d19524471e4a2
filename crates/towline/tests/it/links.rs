//! A clone with a link that leads outside, and a model that tries: what is judged is what is opened, through the whole
//! agent.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use serde_json::{Value, json};
use towline_testkit::{
    real_cli::RealCli,
    script_api::{Reply, Script},
};

use crate::driven::{Driven, api, block_on, prompt, rooms, towline_room};

/// A room whose project has `u`, a link to a folder outside, and `in`, a link to a folder inside.
struct Scene {
    room: RealCli,
    outside: PathBuf,
}

/// The outcome of some calls.
struct Played {
    /// The results that the model got, in order.
    told: Vec<String>,
    /// The tools that the host was asked about.
    asked: Vec<String>,
}

impl Scene {
    fn new(room: RealCli) -> Self {
        let project = room.project().canonicalize().unwrap();
        let outside = project.parent().unwrap().join("outside");
        for folder in [project.join("sub/deep"), outside.join("deep")] {
            fs::create_dir_all(folder).unwrap();
        }
        for (folder, words) in [(&project, "shown"), (&outside, "SECRET")] {
            fs::write(folder.join("x.txt"), format!("{words} text\n")).unwrap();
        }
        fs::write(project.join("sub/x.txt"), "shown below\n").unwrap();
        fs::write(outside.join("SECRET-name"), "SECRET").unwrap();
        fs::write(outside.join("deep/d.txt"), "SECRET").unwrap();
        symlink(outside.join("deep"), project.join("u")).unwrap();
        symlink("sub/deep", project.join("in")).unwrap();
        Self { room, outside }
    }

    fn path(&self, path: &str) -> String {
        let project = self.room.project().canonicalize().unwrap();
        project.join(path).to_str().unwrap().to_owned()
    }

    /// Names and content of all that is outside.
    fn outside(&self) -> Vec<(PathBuf, String)> {
        let mut files = Vec::new();
        for folder in [self.outside.clone(), self.outside.join("deep")] {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let content = fs::read_to_string(&path).unwrap_or_default();
                files.push((path, content));
            }
        }
        files.sort();
        files
    }

    /// Has the model make calls, one after the other. Every question is denied.
    async fn play(&self, arguments: &[&str], calls: &[(&str, Value)]) -> Played {
        let replies = calls
            .iter()
            .map(|(tool, input)| Reply::message().tool(*tool, input.clone()));
        let api = api(Script::new(replies).default_reply(Reply::text("Done."))).await;
        let asking = ["--permission-prompt-tool", "stdio"];
        let arguments = [&asking[..], arguments].concat();
        let mut agent = Driven::start(&self.room, &api.url(), &arguments);
        agent.say(&prompt("go")).await;
        let mut played = Played {
            told: Vec::new(),
            asked: Vec::new(),
        };
        loop {
            let line = agent.line().await.unwrap();
            match line["type"].as_str().unwrap() {
                "control_request" => {
                    let request = &line["request"];
                    played
                        .asked
                        .push(request["tool_name"].as_str().unwrap().to_owned());
                    let answer = json!({"behavior": "deny", "message": "no"});
                    let response = json!({"subtype": "success", "request_id": line["request_id"], "response": answer});
                    agent
                        .say(&json!({"type": "control_response", "response": response}))
                        .await;
                }
                "user" => {
                    let content = &line["message"]["content"][0]["content"];
                    played
                        .told
                        .push(content.as_str().unwrap_or_default().to_owned());
                }
                "result" => return played,
                _ => {}
            }
        }
    }
}

fn read(path: &str) -> (&'static str, Value) {
    ("Read", json!({"file_path": path}))
}

fn write(path: &str) -> (&'static str, Value) {
    ("Write", json!({"file_path": path, "content": "written"}))
}

fn edit(path: &str) -> (&'static str, Value) {
    (
        "Edit",
        json!({"file_path": path, "old_string": "text", "new_string": "edited"}),
    )
}

/// Asked of CLI 2.1.325: `..` takes the name before it away, link or not, and that path is opened.
#[test]
fn a_step_up_behind_a_link_leads_where_the_words_say() {
    for room in rooms("a step up behind a link") {
        let scene = Scene::new(room);
        let before = scene.outside();
        let calls = [
            read(&scene.path("u/../x.txt")),
            edit(&scene.path("u/../x.txt")),
            read(&scene.path("u/../SECRET-name")),
            write(&scene.path("u/../new.txt")),
        ];
        let played = block_on(scene.play(&["--permission-mode", "acceptEdits"], &calls));
        assert!(played.told[0].contains("shown text"), "{:?}", played.told);
        assert!(
            played.told[2].contains("does not exist"),
            "{:?}",
            played.told
        );
        assert_eq!(
            fs::read_to_string(scene.path("x.txt")).unwrap(),
            "shown edited\n"
        );
        assert_eq!(
            fs::read_to_string(scene.path("new.txt")).unwrap(),
            "written"
        );
        assert_eq!(scene.outside(), before);
        assert!(played.asked.is_empty(), "{:?}", played.asked);
    }
}

#[test]
fn a_model_that_tries_every_way_out_reads_and_writes_nothing_outside_unasked() {
    let way_out = |tool: &'static str, path: &str| match tool {
        "Read" => read(path),
        "Write" => write(path),
        "Edit" => edit(path),
        "LS" => ("LS", json!({"path": path})),
        "Glob" => ("Glob", json!({"pattern": "**", "path": path})),
        "Grep" => {
            let input = json!({"pattern": "SECRET", "path": path, "output_mode": "content"});
            ("Grep", input)
        }
        "NotebookEdit" => {
            let input = json!({"notebook_path": path, "new_source": "x", "cell_type": "code", "edit_mode": "insert"});
            ("NotebookEdit", input)
        }
        "MultiEdit" => {
            let edits = json!([{"old_string": "text", "new_string": "x"}]);
            ("MultiEdit", json!({"file_path": path, "edits": edits}))
        }
        other => panic!("no call of {other}"),
    };
    for mode in ["default", "acceptEdits"] {
        let scene = Scene::new(towline_room());
        let before = scene.outside();
        let mut calls = Vec::new();
        for tool in [
            "Read",
            "Write",
            "Edit",
            "MultiEdit",
            "NotebookEdit",
            "LS",
            "Glob",
            "Grep",
        ] {
            for path in [
                "u/../x.txt",
                "u/..",
                "u/../elsewhere",
                "u",
                "u/d.txt",
                "u/new",
                "in/../u/d.txt",
            ] {
                calls.push(way_out(tool, &scene.path(path)));
                calls.push(way_out(tool, path));
            }
        }
        let played = block_on(scene.play(&["--permission-mode", mode], &calls));
        assert_eq!(played.told.len(), calls.len());
        for (told, (tool, input)) in played.told.iter().zip(&calls) {
            assert!(!told.contains("SECRET"), "{mode}, {tool} {input}: {told}");
        }
        assert_eq!(scene.outside(), before, "{mode}");
        assert!(
            !played.asked.is_empty(),
            "what leads outside is asked about"
        );
    }
}

#[test]
fn deny_rules_hold_for_the_words_and_for_where_they_lead() {
    for mode in ["default", "acceptEdits", "bypassPermissions"] {
        let scene = Scene::new(towline_room());
        let outside = scene.outside.to_str().unwrap().to_owned();
        let before = scene.outside();
        let denied = format!("Read(/{outside}/**),Edit(/{outside}/**),Read(x.txt)");
        let calls = [
            read("u/d.txt"),
            write("u/new.txt"),
            edit("u/d.txt"),
            ("LS", json!({"path": "u"})),
            (
                "Grep",
                json!({"pattern": "SECRET", "path": "u", "output_mode": "content"}),
            ),
            read("u/../x.txt"),
            (
                "Grep",
                json!({"pattern": "text|below", "output_mode": "content"}),
            ),
            read("in/../deep/../new.txt"),
        ];
        let arguments = ["--permission-mode", mode, "--disallowedTools", &denied];
        let bypass = (mode == "bypassPermissions").then_some("--dangerously-skip-permissions");
        let arguments: Vec<_> = arguments.into_iter().chain(bypass).collect();
        let played = block_on(scene.play(&arguments, &calls));
        for told in &played.told {
            assert!(!told.contains("SECRET"), "{mode}: {told}");
            assert!(!told.contains("shown"), "{mode}: {told}");
        }
        assert!(
            played.told[5].contains("denied"),
            "{mode}: {:?}",
            played.told
        );
        assert_eq!(played.asked, [""; 0], "{mode}");
        assert_eq!(scene.outside(), before, "{mode}");
    }
}

#[test]
fn a_link_changed_by_an_earlier_call_of_the_same_message_is_judged_again() {
    block_on(async {
        let scene = Scene::new(towline_room());
        let change = format!("ln -sfn {} in", scene.outside.display());
        let message = Reply::message()
            .tool("Bash", json!({"command": change}))
            .tool("Read", json!({"file_path": "in/x.txt"}))
            .tool("Write", json!({"file_path": "in/new.txt", "content": "x"}));
        let api = api(Script::new([message]).default_reply(Reply::text("Done."))).await;
        let before = scene.outside();
        let arguments = [
            "--permission-mode",
            "acceptEdits",
            "--allowedTools",
            "Bash(ln:*)",
        ];
        let mut agent = Driven::start(&scene.room, &api.url(), &arguments);
        agent.say(&prompt("go")).await;
        let mut told = Vec::new();
        loop {
            let line = agent.line().await.unwrap();
            match line["type"].as_str().unwrap() {
                "user" => told.push(line["message"]["content"][0].to_string()),
                "result" => break,
                _ => {}
            }
        }
        assert_eq!(scene.outside(), before, "{told:?}");
        assert!(!told.iter().any(|told| told.contains("SECRET")), "{told:?}");
    });
}

#[test]
fn a_memory_file_that_is_a_link_to_outside_is_not_told_to_the_model() {
    block_on(async {
        let scene = Scene::new(towline_room());
        symlink(scene.outside.join("x.txt"), scene.path("CLAUDE.md")).unwrap();
        fs::create_dir_all(scene.path(".claude/rules")).unwrap();
        symlink(&scene.outside, Path::new(&scene.path(".claude/agents"))).unwrap();
        symlink(
            scene.outside.join("x.txt"),
            scene.path(".claude/rules/a.md"),
        )
        .unwrap();
        let api = api(Script::new([Reply::text("Done.")])).await;
        let mut agent = Driven::start(&scene.room, &api.url(), &[]);
        agent
            .say(&prompt("see @u/d.txt and @CLAUDE.md and @u/../x.txt"))
            .await;
        agent.hear_kind("result").await;
        let requests = crate::statements::bodies(&api);
        let sent = serde_json::to_string(&requests).unwrap();
        assert!(!sent.contains("SECRET"), "{sent}");
        assert!(sent.contains("shown text"), "what the words name is shown");
    });
}
