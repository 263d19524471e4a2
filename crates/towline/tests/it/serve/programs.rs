//! A project that names a program wherever git lets it: no route, no message and no agent runs one by looking at it.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use towline_testkit::hostile_repository::{HostileRepository, Way};

use super::Served;

/// Every route that only reads, as `/openapi.json` lists them, with a project and a file of it.
fn reading_routes(served: &Served, directory: &str) -> Vec<String> {
    let document = served.get("/openapi.json").json();
    let mut routes = Vec::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        let parameters = operations["get"]["parameters"].as_array();
        let mut query: Vec<String> = Vec::new();
        for parameter in parameters.into_iter().flatten() {
            let value = match parameter["name"].as_str().unwrap() {
                "directory" => directory,
                "path" | "file" => "a.txt",
                "words" => "words",
                _ => continue,
            };
            let name = parameter["name"].as_str().unwrap();
            query.push(format!("{name}={value}"));
        }
        if query.iter().any(|part| part.starts_with("directory=")) {
            routes.push(format!("{path}?{}", query.join("&")));
            if path == "/api/diff" {
                routes.push(format!("{path}?{}&staged=true", query.join("&")));
                routes.push(format!("{path}?{}&staged=false", query.join("&")));
            }
        }
    }
    routes
}

#[test]
fn a_program_of_the_repository_was_run_by_asking_for_its_changes() {
    let served = Served::start();
    let root = served.project();
    let scratch = tempfile::tempdir().unwrap();
    let hostile = HostileRepository::new(scratch.path()).unwrap();
    for way in Way::ALL {
        let project = hostile.make(way, &root).unwrap();
        let project = project.to_str().unwrap();
        hostile.forget().unwrap();
        let routes = reading_routes(&served, project);
        assert!(routes.len() >= 6, "{routes:?}");
        for route in &routes {
            let answer = served.get(route);
            assert_eq!(answer.status, 200, "{route}: {answer:?}");
        }
        ask_for_everything(&served, project);
        assert_eq!(hostile.marks(), [""; 0], "{way:?}");
        hostile.look_with_git(project.as_ref()).unwrap();
        assert!(!hostile.marks().is_empty(), "{way:?}");
    }
}

/// Everything that an app can ask of a project, and a session of towline's own agent in it.
fn ask_for_everything(served: &Served, project: &str) {
    let mut client = served.client();
    let of = |kind: &str, more: Value| {
        let mut message = json!({"type": kind, "projectPath": project});
        let more = more.as_object().unwrap().clone();
        message.as_object_mut().unwrap().extend(more);
        message
    };
    for (say, hear) in [
        (
            of("get_diff", json!({})),
            json!({"type": "diff_result", "error": null, "diff": "~new.txt"}),
        ),
        (
            of("get_diff", json!({"staged": false})),
            json!({"type": "diff_result", "staged": false, "error": null}),
        ),
        (
            of("get_diff", json!({"staged": true})),
            json!({"type": "diff_result", "staged": true, "error": null}),
        ),
        (
            of(
                "get_diff_image",
                json!({"filePath": "c.png", "version": "both"}),
            ),
            json!({"type": "diff_image_result", "filePath": "c.png"}),
        ),
        (of("list_files", json!({})), json!({"type": "file_list"})),
        (
            of("read_file", json!({"filePath": "a.txt"})),
            json!({"type": "file_content"}),
        ),
        (
            of("list_worktrees", json!({})),
            json!({"type": "worktree_list", "error": null}),
        ),
        (
            of("remove_worktree", json!({"worktreePath": project})),
            json!({"type": "worktree_removed", "error": "*"}),
        ),
        (
            of("start", json!({"useWorktree": true})),
            json!({"type": "error"}),
        ),
        (
            of("start", json!({})),
            json!({"type": "system", "subtype": "session_created", "sessionId": "$S"}),
        ),
        (
            json!({"type": "input", "text": "hello", "sessionId": "$S"}),
            json!({"type": "result", "subtype": "success", "sessionId": "$S"}),
        ),
        (
            json!({"type": "stop_session", "sessionId": "$S"}),
            json!({"type": "session_list", "sessions": []}),
        ),
    ] {
        client.say(&say);
        client.expect(&[hear]);
    }
}

#[test]
fn a_program_of_the_repository_is_not_run_by_the_doctor_in_it() {
    let scratch = tempfile::tempdir().unwrap();
    let hostile = HostileRepository::new(scratch.path()).unwrap();
    let project = hostile.make(Way::Configuration, scratch.path()).unwrap();
    hostile.forget().unwrap();
    let done = Command::new(env!("CARGO_BIN_EXE_towline"))
        .arg("doctor")
        .current_dir(&project)
        .env_clear()
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", scratch.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8(done.stdout).unwrap();
    assert!(said.contains("git version"), "{said}");
    assert_eq!(hostile.marks(), [""; 0]);
}
