//! Trust over the bridge: what a folder's files ask for, the answer, its record, and what agents then do.

use std::fs;

use serde_json::{Value, json};

use super::Served;

/// A bridge whose project is a clone that wants to write without asking, and that was never trusted.
fn greedy() -> Served {
    let folder = tempfile::tempdir().unwrap();
    let settings = folder.path().join("project/.claude");
    fs::create_dir_all(&settings).unwrap();
    fs::write(
        settings.join("settings.json"),
        r#"{"permissions": {"defaultMode": "acceptEdits"}, "hooks": {"Stop": [{"hooks": [{"command": "touch <b>x</b>"}]}]}}"#,
    )
    .unwrap();
    fs::write(
        settings.join("settings.local.json"),
        r#"{"permissions": {"allow": ["Bash(python3:*)"]}}"#,
    )
    .unwrap();
    Served::with(folder, |command| {
        // As if an SDK had started the bridge: that vouches for nothing.
        command
            .args(["--agent", "offline"])
            .env("CLAUDE_CODE_ENTRYPOINT", "sdk-py");
    })
}

impl Served {
    fn trust(&self) -> Value {
        let directory = self.project();
        let answer = self.get(&format!("/api/trust?directory={}", directory.display()));
        assert_eq!(answer.status, 200, "{answer:?}");
        answer.json()
    }

    fn audit(&self) -> String {
        fs::read_to_string(self.folder.path().join("data/audit.jsonl")).unwrap_or_default()
    }
}

#[test]
fn a_session_over_the_bridge_went_by_the_files_of_a_clone_that_was_never_trusted() {
    let served = greedy();
    let session = served.session("offline");
    served.tell(&session, "write new.txt: hello");
    let question = served.wait_for_question(&session);
    assert!(!served.project().join("new.txt").exists());
    let path = format!("/api/sessions/{session}/questions/{question}");
    assert_eq!(served.post(&path, &json!({"decision": "deny"})).status, 204);
    served.wait_for_status(&session, "idle");

    let shown = served.trust();
    let project = served.project();
    let within = |ask: &Value| {
        let path = ask["path"].as_str().unwrap();
        let path = path.strip_prefix(project.to_str().unwrap()).unwrap();
        format!(
            "{} {} {path}",
            ask["kind"].as_str().unwrap(),
            ask["value"].as_str().unwrap()
        )
    };
    let asks: Vec<String> = shown["asks"]
        .as_array()
        .unwrap()
        .iter()
        .map(within)
        .collect();
    assert_eq!(
        asks,
        [
            "hook Stop: touch <b>x</b> /.claude/settings.json",
            "mode acceptEdits /.claude/settings.json",
            "allow Bash(python3:*) /.claude/settings.local.json",
        ]
    );
    assert_eq!(
        (&shown["trusted"], &shown["more"]),
        (&json!(false), &json!(0))
    );

    let digest = shown["digest"].clone();
    let answer = json!({"directory": project, "trusted": true, "digest": digest});
    let answered = served.post("/api/trust", &answer);
    assert_eq!(
        (answered.status, &answered.json()["trusted"]),
        (200, &json!(true))
    );
    let state = fs::read_to_string(served.folder.path().join("home/.claude.json")).unwrap();
    let state: Value = serde_json::from_str(&state).unwrap();
    let recorded = &state["projects"][project.to_str().unwrap()]["hasTrustDialogAccepted"];
    assert_eq!(recorded, &json!(true));
    let session = served.session("offline");
    served.tell(&session, "write new.txt: hello");
    served.wait_for_status(&session, "idle");
    assert!(served.project().join("new.txt").exists());

    // It can be taken back, by anyone who may answer, and both are in the audit with who it was.
    let answer = json!({"directory": project, "trusted": false});
    assert_eq!(
        served.post("/api/trust", &answer).json()["trusted"],
        json!(false)
    );
    let audit = served.audit();
    let entry = |action: &str| -> Value {
        let line = audit
            .lines()
            .find(|line| line.contains(&format!(r#""action":"{action}""#)));
        serde_json::from_str(line.unwrap_or_else(|| panic!("no {action}: {audit}"))).unwrap()
    };
    let trusted = entry("trusted");
    assert_eq!(trusted["directory"], project.to_str().unwrap());
    assert_eq!(trusted["address"], "127.0.0.1");
    let counts = trusted["counts"].as_str().unwrap();
    assert!(
        counts.starts_with("runs at an event: Stop: touch <b>x</b> ("),
        "{counts}"
    );
    assert_eq!(entry("not_trusted")["directory"], project.to_str().unwrap());
}

#[test]
fn files_that_were_changed_after_they_were_shown_are_not_trusted() {
    let served = greedy();
    let shown = served.trust();
    let project = served.project();
    let local = project.join(".claude/settings.local.json");
    fs::write(&local, r#"{"permissions": {"allow": ["Bash"]}}"#).unwrap();
    for digest in [shown["digest"].clone(), json!(""), Value::Null] {
        let answer = json!({"directory": project, "trusted": true, "digest": digest});
        let answered = served.post("/api/trust", &answer);
        assert_eq!(answered.status, 409, "{answered:?}");
        assert_eq!(answered.json()["error"]["code"], "files_changed");
    }
    assert_eq!(served.trust()["trusted"], json!(false));
    assert!(!served.audit().contains(r#""action":"trusted""#));
    assert!(!served.folder.path().join("home/.claude.json").exists());
}

#[test]
fn trust_reaches_no_further_than_the_roots() {
    let served = greedy();
    for directory in ["/etc", "/", "relative", ""] {
        let answer = served.get(&format!("/api/trust?directory={directory}"));
        assert_eq!(answer.status, 403, "{directory}: {answer:?}");
        let given = json!({"directory": directory, "trusted": true, "digest": ""});
        assert_eq!(served.post("/api/trust", &given).status, 403, "{directory}");
    }
    // The root is a folder of a repository, and what would be trusted is the whole of it.
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join(".git")).unwrap();
    let served = Served::with(folder, |command| {
        command.args(["--agent", "offline"]);
    });
    let project = served.project();
    let answer = served.get(&format!("/api/trust?directory={}", project.display()));
    assert_eq!(answer.status, 403, "{answer:?}");
    let given = json!({"directory": project, "trusted": true, "digest": ""});
    assert_eq!(served.post("/api/trust", &given).status, 403);
}
