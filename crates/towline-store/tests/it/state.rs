//! The person's own state of a folder: trust and saved answers, written beside other programs.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::PathBuf,
    thread,
    time::{Duration, SystemTime},
};

use serde_json::{Value, json};
use tempfile::TempDir;
use towline_protocol::Destination::{self, LocalSettings, ProjectSettings};
use towline_store::{Home, OfferKind, Workspace};

/// A home and a project, which is a repository.
struct Made(TempDir);

impl Made {
    fn new() -> Self {
        let made = Self(tempfile::tempdir().unwrap());
        for folder in [
            "home/.claude",
            "project/.git",
            "project/.claude",
            "project/sub",
        ] {
            fs::create_dir_all(made.path(folder)).unwrap();
        }
        made
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().canonicalize().unwrap().join(path)
    }

    fn home(&self) -> Home {
        let home = self.path("home").into_os_string();
        Home::from_variables(|name| (name == "HOME").then(|| home.clone())).unwrap()
    }

    fn workspace(&self, folder: &str) -> Workspace {
        Workspace::at(&self.path(folder)).unwrap()
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_str(&fs::read_to_string(self.path(path)).unwrap()).unwrap()
    }

    fn mode(&self, path: &str) -> u32 {
        fs::metadata(self.path(path)).unwrap().permissions().mode() & 0o777
    }

    fn save(&self, folder: &str, destination: &Destination, text: &str) {
        let workspace = self.workspace(folder);
        let saved = self
            .home()
            .save_answer(&workspace, destination, |_| Ok(text.to_owned()));
        saved.unwrap();
    }
}

#[test]
fn trust_is_recorded_where_the_real_cli_has_it_and_all_else_stays() {
    let made = Made::new();
    let state = made.path("home/.claude.json");
    // A new file is for its owner alone.
    made.home().trust(&made.workspace("project/sub")).unwrap();
    assert_eq!(made.mode("home/.claude.json"), 0o600);
    assert!(made.home().trusts(&made.workspace("project")).unwrap());

    let project = made.path("project").display().to_string();
    // Half of a surrogate pair, as a text that was cut has it, is no reason to give up.
    let text = format!(
        "{{\"numStartups\":3,\"projects\":{{\"/other\":{{\"history\":[\"\\ud83d\"]}},\"{project}\":{{\"x\":1.50}}}},\"z\":[]}}"
    );
    fs::write(&state, text).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o644)).unwrap();
    made.home().trust(&made.workspace("project")).unwrap();
    let expected = format!(
        "{{\n  \"numStartups\": 3,\n  \"projects\": {{\n    \"/other\": {{\n      \"history\": [\n        \"\\ud83d\"\n      ]\n    }},\n    \
         \"{project}\": {{\n      \"x\": 1.50,\n      \"hasTrustDialogAccepted\": true\n    }}\n  }},\n  \"z\": []\n}}\n"
    );
    assert_eq!(fs::read_to_string(&state).unwrap(), expected);
    assert_eq!(made.mode("home/.claude.json"), 0o644);
    made.home().distrust(&made.workspace("project")).unwrap();
    assert!(!made.home().trusts(&made.workspace("project")).unwrap());
}

#[test]
fn a_state_that_is_no_json_is_left_as_it_is() {
    let made = Made::new();
    let state = made.path("home/.claude.json");
    for broken in ["{", "[]", r#"{"projects": 5}"#] {
        fs::write(&state, broken).unwrap();
        let error = made.home().trust(&made.workspace("project")).unwrap_err();
        assert!(error.to_string().contains("not the JSON"), "{error}");
        assert_eq!(fs::read_to_string(&state).unwrap(), broken);
        let left: Vec<_> = fs::read_dir(made.path("home")).unwrap().collect();
        assert_eq!(left.len(), 2, "no lock and no draft stays: {left:?}");
    }
}

#[test]
fn a_state_behind_a_link_is_changed_where_it_is() {
    let made = Made::new();
    fs::write(made.path("kept.json"), "{}").unwrap();
    symlink(made.path("kept.json"), made.path("home/.claude.json")).unwrap();
    made.home().trust(&made.workspace("project")).unwrap();
    let link = fs::symlink_metadata(made.path("home/.claude.json")).unwrap();
    assert!(link.is_symlink());
    assert_eq!(
        made.json("kept.json")["projects"]
            .as_object()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn writers_at_the_same_time_lose_nothing_of_each_other() {
    let made = Made::new();
    thread::scope(|scope| {
        for writer in 0..4 {
            let made = &made;
            scope.spawn(move || {
                for turn in 0..10 {
                    let folder = made.path(&format!("project-{writer}-{turn}"));
                    fs::create_dir(&folder).unwrap();
                    let workspace = Workspace::at(&folder).unwrap();
                    made.home().trust(&workspace).unwrap();
                    let text = |_: &str| Ok(r#"{"permissions":{"allow":["Read"]}}"#.to_owned());
                    made.home()
                        .save_answer(&workspace, &LocalSettings, text)
                        .unwrap();
                }
            });
        }
    });
    for file in ["home/.claude.json", "home/.claude/towline-answers.json"] {
        let projects = made.json(file)["projects"].as_object().unwrap().len();
        assert_eq!(projects, 40, "{file}");
    }
}

#[test]
fn a_lock_that_a_program_left_behind_is_taken_over() {
    let made = Made::new();
    let lock = made.path("home/.claude.json.lock");
    fs::create_dir(&lock).unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(3600);
    fs::File::open(&lock)
        .unwrap()
        .set_modified(long_ago)
        .unwrap();
    made.home().trust(&made.workspace("project")).unwrap();
    assert!(!lock.exists());
}

#[test]
fn answers_are_saved_for_the_folder_whose_file_they_were_meant_for() {
    let made = Made::new();
    assert_eq!(
        made.home()
            .saved_answers(&made.workspace("project"))
            .unwrap(),
        []
    );
    made.save("project/sub", &LocalSettings, r#"{"a": 1}"#);
    made.save("project/sub", &ProjectSettings, r#"{"b": 2}"#);
    made.save("project/sub", &Destination::UserSettings, r#"{"c": 3}"#);
    made.save("project/sub", &Destination::Session, r#"{"d": 4}"#);
    let saved = |folder: &str| -> Vec<(Destination, Value)> {
        let saved = made.home().saved_answers(&made.workspace(folder)).unwrap();
        let json = |text: String| serde_json::from_str(&text).unwrap();
        saved
            .into_iter()
            .map(|(source, text)| (source, json(text)))
            .collect()
    };
    let local = (LocalSettings, json!({"a": 1}));
    assert_eq!(
        saved("project/sub"),
        [(ProjectSettings, json!({"b": 2})), local.clone()]
    );
    assert_eq!(saved("project"), [local]);
    assert_eq!(saved("home"), []);
    assert_eq!(made.mode("home/.claude/towline-answers.json"), 0o600);
    // What is there is given to be changed.
    let workspace = made.workspace("project");
    let changed = made
        .home()
        .save_answer(&workspace, &LocalSettings, |before| {
            assert_eq!(
                serde_json::from_str::<Value>(before).unwrap(),
                json!({"a": 1})
            );
            Err("no".to_owned())
        });
    assert!(changed.unwrap_err().to_string().ends_with(": no"));
    assert_eq!(saved("project"), [(LocalSettings, json!({"a": 1}))]);
}

#[test]
fn all_that_waits_for_trust_is_offered_and_nothing_else() {
    let made = Made::new();
    let settings = json!({
        "permissions": {
            "allow": ["Bash(python3:*)", 5], "deny": ["Read"], "ask": ["Edit"], "defaultMode": "acceptEdits",
            "additionalDirectories": ["/etc"],
        },
        "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "touch x"}]}]},
        "env": {"ANTHROPIC_BASE_URL": "http://elsewhere"},
        "apiKeyHelper": "cat key",
        "statusLine": {"type": "command", "command": "touch y"},
        "awsAuthRefresh": "touch z",
        "model": "opus",
    });
    fs::write(
        made.path("project/.claude/settings.json"),
        settings.to_string(),
    )
    .unwrap();
    fs::write(made.path("project/.claude/settings.local.json"), "{").unwrap();
    let servers = json!({"mcpServers": {"weather": {"command": "touch"}}});
    fs::write(made.path("project/.mcp.json"), servers.to_string()).unwrap();
    // The person's own settings are no matter of trust.
    fs::write(
        made.path("home/.claude/settings.json"),
        settings.to_string(),
    )
    .unwrap();
    let offer = made.home().offer(&made.workspace("project"));
    let items = offer.items.iter();
    let items: Vec<_> = items.map(|item| (item.kind, item.value.as_str())).collect();
    assert_eq!(
        items,
        [
            (OfferKind::KeyHelper, "cat key"),
            (OfferKind::Program, "statusLine: touch y"),
            (OfferKind::Program, "awsAuthRefresh: touch z"),
            (OfferKind::Variable, "ANTHROPIC_BASE_URL=http://elsewhere"),
            (OfferKind::Hook, "Stop: touch x"),
            (OfferKind::Server, r#"weather: {"command":"touch"}"#),
            (OfferKind::Directory, "/etc"),
            (OfferKind::Mode, "acceptEdits"),
            (OfferKind::Allow, "Bash(python3:*)"),
        ]
    );
    assert_eq!((offer.more, offer.texts.len()), (0, 3));
    assert!(made.home().offer(&made.workspace("home")).is_empty());
    // A saved answer of the person counts already, and is not asked about.
    let saved = r#"{"permissions": {"allow": ["Bash(python3:*)"]}}"#;
    made.save("project", &LocalSettings, saved);
    assert_eq!(made.home().offer(&made.workspace("project")).items.len(), 9);
    made.save("project", &ProjectSettings, saved);
    let offer = made.home().offer(&made.workspace("project"));
    assert_eq!(offer.items.last().unwrap().kind, OfferKind::Mode);
}

/// A thousand harmless rules stood before a command and pushed it out of the list.
#[test]
fn rules_do_not_hide_what_starts_programs() {
    let made = Made::new();
    let rules: Vec<_> = (0..2_000)
        .map(|number| format!("Read(f{number})"))
        .collect();
    let hooks: Vec<_> = (0..1_500)
        .map(|number| json!({"type": "command", "command": format!("c{number}")}))
        .collect();
    let settings = json!({
        "permissions": {"allow": rules},
        "env": {"A": "b"},
        "apiKeyHelper": "cat key",
    });
    let put = |settings: &Value| {
        let path = made.path("project/.claude/settings.json");
        fs::write(path, settings.to_string()).unwrap();
        made.home().offer(&made.workspace("project"))
    };
    let offer = put(&settings);
    let kinds: Vec<_> = offer.items.iter().take(3).map(|item| item.kind).collect();
    assert_eq!(
        kinds,
        [OfferKind::KeyHelper, OfferKind::Variable, OfferKind::Allow]
    );
    assert_eq!((offer.items.len(), offer.more), (1_000, 1_002));
    let mut settings = settings;
    settings["hooks"] = json!({"Stop": [{"hooks": hooks}]});
    let offer = put(&settings);
    assert_eq!((offer.items.len(), offer.more), (1_502, 2_000));
}
