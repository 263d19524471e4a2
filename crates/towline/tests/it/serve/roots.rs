//! What was said or done outside the roots is neither shown nor gone on with, by whatever name it is asked for.

use std::{
    fs,
    path::{Path, PathBuf},
    time::{Duration, UNIX_EPOCH},
};

use serde_json::{Value, json};

use super::Served;

/// A bridge, and transcripts of sessions that were held elsewhere.
struct Scene {
    served: Served,
    projects: PathBuf,
    outside: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let served = Served::start();
        let home = served.project().with_file_name("home");
        Self {
            projects: home.join(".claude/projects"),
            outside: tempfile::tempdir().unwrap(),
            served,
        }
    }

    /// Writes the transcript of a session; later numbers are newer.
    fn transcript(&self, directory: &Path, number: u64) -> (String, PathBuf) {
        let directory = directory.canonicalize().unwrap();
        let id = format!("00000000-0000-4000-8000-{number:012}");
        let folder = directory
            .to_str()
            .unwrap()
            .replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        let folder = self.projects.join(folder);
        fs::create_dir_all(&folder).unwrap();
        let record = json!({
            "type": "user", "uuid": "00000000-0000-4000-8000-0000000000aa", "parentUuid": null, "sessionId": id,
            "cwd": directory, "message": {"role": "user", "content": "secret words"}, "isSidechain": false,
            "userType": "external", "version": "2.1.325", "timestamp": "2026-01-01T00:00:00.000Z",
        });
        let title = json!({"type": "custom-title", "customTitle": format!("title {number}"), "sessionId": id});
        let file = folder.join(format!("{id}.jsonl"));
        fs::write(&file, format!("{record}\n{title}\n")).unwrap();
        let time = UNIX_EPOCH + Duration::from_secs(1_700_000_000 + number);
        let opened = fs::File::options().append(true).open(&file).unwrap();
        opened.set_modified(time).unwrap();
        (id, file)
    }
}

#[test]
fn a_session_is_resumed_by_its_id_and_by_nothing_that_leads_elsewhere() {
    let scene = Scene::new();
    let (_, file) = scene.transcript(scene.outside.path(), 2);
    let (mine, _) = scene.transcript(&scene.served.project(), 1);
    let served = &scene.served;
    for name in [
        file.to_str().unwrap(),
        "title 2",
        "../../x.jsonl",
        "--dangerously-skip-permissions",
        "00000000000040008000000000000001",
        "",
    ] {
        let answer = served.post("/api/sessions", &json!({"resume": name}));
        assert_eq!(answer.status, 400, "{name}: {answer:?}");
        assert!(answer.body.contains("no session id"), "{name}: {answer:?}");
        let past = served.get("/api/past/title%202");
        assert_eq!(past.status, 400, "{past:?}");

        let mut app = served.client();
        app.expect(&[json!({"type": "project_history"})]);
        app.say(
            &json!({"type": "resume_session", "sessionId": name, "projectPath": served.project()}),
        );
        app.expect(&[json!({"type": "error", "message": "~no session id"})]);

        if !name.is_empty() && !name.contains(' ') {
            let mut host = served
                .connect(&format!("/ws/session?resume={name}"))
                .unwrap();
            let message = json!({"role": "user", "content": "hello"});
            host.say(&json!({"type": "session.create", "message": message}));
            host.expect(&[json!({"type": "error", "error": {"message": "~no session id"}})]);
        }
    }
    assert_eq!(served.get("/api/sessions").json()["sessions"], json!([]));
    let resumed = served.post("/api/sessions", &json!({"resume": mine}));
    assert_eq!(resumed.status, 201, "{resumed:?}");
}

#[test]
fn the_app_is_neither_listed_nor_linked_what_was_said_outside() {
    let scene = Scene::new();
    let served = &scene.served;
    let project = served.project();
    let (first, _) = scene.transcript(&project, 1);
    let (second, _) = scene.transcript(&project, 2);
    let (other, _) = scene.transcript(scene.outside.path(), 8);
    scene.transcript(scene.outside.path(), 9);
    let mut app = served.client();
    app.expect(&[json!({"type": "project_history", "projects": [project]})]);
    let mut listed = |query: Value| {
        let mut query = query;
        query["type"] = json!("list_recent_sessions");
        app.say(&query);
        let heard = app.expect(&[json!({"type": "recent_sessions"})]);
        let last = heard.last().unwrap();
        let ids = last["sessions"].as_array().unwrap().iter();
        let ids: Vec<_> = ids.map(|session| session["sessionId"].clone()).collect();
        (ids, last["hasMore"].clone())
    };
    let all = vec![json!(second), json!(first)];
    assert_eq!(listed(json!({})), (all.clone(), json!(false)));
    assert_eq!(
        listed(json!({"searchQuery": "secret"})),
        (all.clone(), json!(false))
    );
    assert_eq!(listed(json!({"namedOnly": true})), (all, json!(false)));
    assert_eq!(
        listed(json!({"limit": 1})),
        (vec![json!(second)], json!(true))
    );
    assert_eq!(
        listed(json!({"limit": 1, "offset": 1})),
        (vec![json!(first)], json!(false))
    );
    app.say(&json!({"type": "list_recent_sessions", "projectPath": scene.outside.path()}));
    app.expect(&[json!({"type": "error", "errorCode": "path_not_allowed"})]);
    for (id, status) in [(&other, "unavailable"), (&first, "recent")] {
        app.say(&json!({"type": "resolve_session_link", "sessionId": id, "requestId": "r"}));
        app.expect(&[
            json!({"type": "session_link_resolution", "sourceSessionId": id, "status": status}),
        ]);
    }

    // Over HTTP it is the same list, limited after the others are left out.
    let past = |query: &str| {
        let listed = served.get(&format!("/api/past?{query}")).json();
        let ids = listed.as_array().unwrap().iter();
        ids.map(|session| session["session"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(past("limit=1"), [json!(second)]);
    assert_eq!(past("limit=1&offset=1"), [json!(first)]);
    assert_eq!(past("words=secret&limit=1&offset=1"), [json!(first)]);
}

#[test]
fn a_session_of_the_log_is_out_of_reach_once_the_roots_are_others() {
    let folder = tempfile::tempdir().unwrap();
    let second = folder.path().join("second");
    fs::create_dir(&second).unwrap();
    let served = Served::with(folder, |command| {
        command.args(["--agent", "offline", "--root"]).arg(&second);
    });
    let started = served.post("/api/sessions", &json!({"directory": second}));
    let session = started.json()["record"]["id"].as_str().unwrap().to_owned();
    served.tell(&session, "say pomegranate");
    served.wait_for_status(&session, "idle");
    let search = "/api/search?words=pomegranate";
    super::eventually("the words are indexed", || {
        served.get(search).json() != json!([])
    });
    let agent_session = served.describe(&session)["record"]["agent_session_id"].clone();
    let seen = served.frames(&session).len();

    let served = Served::with(served.end(), |command| {
        command.args(["--agent", "offline"]);
    });
    let path = format!("/api/sessions/{session}");
    let title = json!({"title": "mine"});
    let refused = [
        served.get(&path),
        served.get(&format!("{path}/messages")),
        served.get(&format!("{path}/events")),
        served.get(&format!("{path}/questions")),
        served.get(&format!("/api/events?session={session}")),
        served.tell(&session, "say more"),
        served.request("PATCH", &path, Some(&title)),
        served.post(&format!("{path}/interrupt"), &json!({})),
        served.post("/api/sessions", &json!({"resume": agent_session})),
    ];
    for answer in refused {
        assert_eq!(answer.status, 403, "{answer:?}");
        assert!(answer.body.contains("none of the folders"), "{answer:?}");
    }
    assert_eq!(served.get("/api/sessions").json()["sessions"], json!([]));
    assert_eq!(served.get(search).json(), json!([]));
    assert_eq!(served.get("/api/past").json(), json!([]));

    let mut app = served.client();
    app.expect(&[
        json!({"type": "session_list", "sessions": []}),
        json!({"type": "project_history"}),
    ]);
    for message in [
        json!({"type": "get_history", "sessionId": session}),
        json!({"type": "get_history_delta", "sessionId": session, "sinceSeq": 0}),
        json!({"type": "resume_session", "sessionId": agent_session, "projectPath": served.project()}),
        json!({"type": "set_permission_mode", "mode": "plan", "sessionId": session}),
    ] {
        app.say(&message);
        app.expect(&[json!({"type": "error", "message": "~none of the folders"})]);
    }
    app.say(&json!({"type": "input", "text": "say more", "sessionId": session}));
    app.expect(&[json!({"type": "input_rejected"})]);

    // With its root it is there again, as it was.
    let served = Served::with(served.end(), |command| {
        command.args(["--agent", "offline", "--root"]).arg(&second);
    });
    assert_eq!(served.frames(&session).len(), seen);
}

#[test]
fn what_cannot_be_shown_of_a_project_is_a_problem_with_its_status() {
    let served = Served::start();
    let project = served.project();
    fs::write(project.join("a.txt"), "alpha").unwrap();
    fs::write(project.join("b.bin"), [0; 4]).unwrap();
    let here = project.to_str().unwrap();
    let none = format!("{here}/none");
    let file = format!("{here}/a.txt");
    for (path, status, code) in [
        (
            "/api/directory?directory=/".to_owned(),
            403,
            "path_not_allowed",
        ),
        (
            "/api/file?directory=/&path=etc/passwd".to_owned(),
            403,
            "path_not_allowed",
        ),
        (
            format!("/api/file?directory={here}&path=/etc/passwd"),
            403,
            "path_not_allowed",
        ),
        ("/api/files?directory=/".to_owned(), 403, "path_not_allowed"),
        ("/api/diff?directory=/".to_owned(), 403, "path_not_allowed"),
        (
            format!("/api/directory?directory={none}"),
            404,
            "path_not_found",
        ),
        (
            format!("/api/file?directory={here}&path=none"),
            404,
            "path_not_found",
        ),
        (
            format!("/api/file?directory={here}&path=a.txt/b"),
            404,
            "path_not_found",
        ),
        (
            format!("/api/file?directory={none}&path=a.txt"),
            404,
            "path_not_found",
        ),
        (
            format!("/api/files?directory={none}"),
            404,
            "path_not_found",
        ),
        (format!("/api/diff?directory={none}"), 404, "path_not_found"),
        (format!("/api/directory?directory={file}"), 422, "unusable"),
        (
            format!("/api/file?directory={here}&path=."),
            422,
            "unusable",
        ),
        (format!("/api/files?directory={file}"), 422, "unusable"),
        // It is no repository.
        (format!("/api/diff?directory={here}"), 422, "unusable"),
        (format!("/api/file?directory={here}"), 400, "invalid_query"),
    ] {
        let answer = served.get(&path);
        assert_eq!(answer.status, status, "{path}: {answer:?}");
        let error = &answer.json()["error"];
        assert_eq!(error["code"], code, "{path}: {error}");
        assert!(error["message"].is_string(), "{path}: {error}");
    }
    let missing = served.post("/api/sessions", &json!({"directory": none}));
    assert_eq!(missing.status, 404, "{missing:?}");

    // What can be looked at is shown, also where it has no words.
    let text = served.get(&format!("/api/file?directory={here}&path=a.txt"));
    assert_eq!(text.status, 200, "{text:?}");
    assert_eq!(text.json()["content"], "alpha", "{text:?}");
    let binary = served.get(&format!("/api/file?directory={here}&path=b.bin"));
    assert_eq!(binary.status, 200, "{binary:?}");
    assert_eq!(binary.json()["sizeBytes"], 4, "{binary:?}");
}
