//! Which settings count, beside the real CLI: it is asked for its rules, and `towline permission check` must have the
//! same ones.

use std::{
    collections::BTreeSet,
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::{Value, json};
use towline_testkit::real_cli::{self, RealCli};

use crate::run::towline_in;

/// The CLI's room, with files in it that allow one command each, named after the file.
struct Room {
    cli: RealCli,
    commands: Vec<String>,
}

impl Room {
    fn new(trusted: &[&str]) -> Self {
        let mut room = Self {
            cli: RealCli::find().unwrap(),
            commands: Vec::new(),
        };
        for (place, command) in [
            ("../home/.claude/settings.json", "user"),
            (".claude/settings.json", "project"),
            (".claude/settings.local.json", "local"),
            ("sub/.claude/settings.json", "sub_project"),
            ("sub/.claude/settings.local.json", "sub_local"),
            ("sub/bare/.claude/other.json", "never_read"),
            ("../beside/.claude/settings.json", "beside_project"),
        ] {
            room.allow(place, command);
        }
        let projects: serde_json::Map<String, Value> = trusted
            .iter()
            .map(|folder| {
                let folder = room.folder(folder).display().to_string();
                (folder, json!({"hasTrustDialogAccepted": true}))
            })
            .collect();
        let state = json!({"projects": projects}).to_string();
        fs::write(room.cli.home().join(".claude.json"), state).unwrap();
        room
    }

    fn allow(&mut self, place: &str, command: &str) {
        let path = self.cli.project().join(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = json!({"permissions": {"allow": [format!("Bash({command})")]}});
        fs::write(path, text.to_string()).unwrap();
        self.commands.push(command.to_owned());
    }

    /// A folder from the project on, links resolved.
    fn folder(&self, folder: &str) -> PathBuf {
        self.cli.project().join(folder).canonicalize().unwrap()
    }

    fn git(&self, arguments: &[&str]) {
        let done = Command::new("git")
            .args(["-c", "user.name=a", "-c", "user.email=a@b"])
            .args(arguments)
            .current_dir(self.cli.project())
            .output()
            .unwrap();
        assert!(done.status.success(), "{done:?}");
    }

    /// What the real CLI says that it allows in a folder.
    fn theirs(&self, folder: &Path, flags: &[&str]) -> BTreeSet<String> {
        let mut child = self
            .cli
            .stream_command("http://127.0.0.1:9")
            .args(flags)
            .current_dir(folder)
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        for question in ["initialize", "list_permission_rules"] {
            let request = json!({
                "type": "control_request",
                "request_id": question,
                "request": {"subtype": question},
            });
            writeln!(stdin, "{request}").unwrap();
        }
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let answer = String::from_utf8(output.stdout)
            .unwrap()
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap())
            .find(|line| line["response"]["request_id"] == "list_permission_rules")
            .unwrap_or_else(|| panic!("no answer: {}", String::from_utf8_lossy(&output.stderr)));
        let rules = &answer["response"]["response"]["state"]["rules"];
        let rules = rules.as_array().unwrap().iter();
        rules
            .map(|rule| rule["rule"].as_str().unwrap())
            .map(|rule| {
                rule.trim_start_matches("Bash(")
                    .trim_end_matches(')')
                    .to_owned()
            })
            .collect()
    }

    /// Which of the commands would run there according to us.
    fn ours(&self, folder: &Path, flags: &[&str]) -> BTreeSet<String> {
        let allowed = self.commands.iter().filter(|command| {
            let call = ["permission", "check", "--bash", command];
            let ran = towline_in(folder, &self.cli.home(), &[&call, flags].concat());
            match ran.code {
                0 => true,
                10 => false,
                _ => panic!("{ran}"),
            }
        });
        allowed.cloned().collect()
    }

    fn check(&self, folder: &str, flags: &[&str], expected: &[&str]) {
        self.check_stricter(folder, flags, (expected, expected));
    }

    /// In a folder that is not trusted the local file counts there, and not here.
    fn check_stricter(&self, folder: &str, flags: &[&str], (theirs, ours): (&[&str], &[&str])) {
        let folder = self.folder(folder);
        let set = |words: &[&str]| -> BTreeSet<String> {
            words.iter().map(|&word| word.to_owned()).collect()
        };
        let told = format!("{folder:?}");
        assert_eq!(self.theirs(&folder, flags), set(theirs), "theirs: {told}");
        assert_eq!(self.ours(&folder, flags), set(ours), "ours: {told}");
    }
}

#[test]
fn the_same_settings_count_as_in_the_real_cli() {
    if !real_cli::is_slow_wanted("the settings that count beside the real CLI") {
        return;
    }
    let mut room = Room::new(&["."]);
    room.check(".", &[], &["user", "project", "local"]);
    // Without a repository each folder stands alone, and so does its trust.
    room.check_stricter("sub", &[], (&["user", "sub_local"], &["user"]));
    room.check("sub/bare", &[], &["user"]);
    room.allow("../flag.json", "flag");
    room.check(
        ".",
        &["--settings", "../flag.json"],
        &["user", "project", "local", "flag"],
    );
    let inline = r#"{"permissions": {"allow": ["Bash(flag)"]}}"#;
    room.check("sub/bare", &["--settings", inline], &["user", "flag"]);

    room.git(&["init", "--quiet"]);
    room.check("sub", &[], &["user", "sub_project", "sub_local", "local"]);
    room.check("sub/bare", &[], &["user", "local"]);

    room.git(&["commit", "--quiet", "--allow-empty", "--message", "x"]);
    room.git(&["worktree", "add", "--quiet", "--force", "../tree"]);
    room.allow("../tree/.claude/settings.json", "tree_project");
    room.check("../tree", &[], &["user", "tree_project", "local"]);
    room.check("../beside", &[], &["user"]);
}

#[test]
fn what_an_untrusted_project_allows_counts_in_neither_and_its_local_file_there_alone() {
    if !real_cli::is_slow_wanted("an untrusted project beside the real CLI") {
        return;
    }
    let room = Room::new(&["sub"]);
    room.check_stricter(".", &[], (&["user", "local"], &["user"]));
    room.check("sub", &[], &["user", "sub_project", "sub_local"]);
    room.git(&["init", "--quiet"]);
    // Now it is the repository that would have to be trusted.
    let theirs = ["user", "sub_local", "local"];
    room.check_stricter("sub", &[], (&theirs, &["user"]));
}
