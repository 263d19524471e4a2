//! `towline permission`, with a home, a policy and a project made for the test.

use std::{
    fs,
    path::{Path, PathBuf},
};

use serde_json::Value;
use tempfile::TempDir;

use crate::run::{Ran, towline_in};

/// A folder with `home`, `managed`, `out` and `project`, which is trusted and has a few rules.
struct Made {
    folder: TempDir,
}

impl Made {
    fn new() -> Self {
        let made = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for folder in ["managed", "out", "project/src"] {
            fs::create_dir_all(made.path(folder)).unwrap();
        }
        made.put(
            "home/.claude/settings.json",
            r#"{"permissions": {"allow": ["Bash(make:*)"]}}"#,
        );
        made.put(
            "project/.claude/settings.json",
            r#"{"permissions": {
                "allow": ["Bash(npm test)", "Edit(src/**)", "WebFetch(domain:example.com)"],
                "deny": ["Bash(rm:*)", "Read(secret/**)"],
                "ask": ["Bash(git push:*)"]
            }}"#,
        );
        made.trust("project");
        made
    }

    fn path(&self, path: &str) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join(path)
    }

    fn put(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn trust(&self, folder: &str) {
        let folder = self.path(folder);
        let state = serde_json::json!({
            "projects": {folder.to_str().unwrap(): {"hasTrustDialogAccepted": true}}
        });
        self.put("home/.claude.json", &state.to_string());
    }

    /// Runs in the project, with a policy of its own instead of the machine's.
    fn run(&self, arguments: &[&str]) -> Ran {
        let managed = self.path("managed");
        let mut all = vec![
            "permission",
            arguments[0],
            "--managed",
            managed.to_str().unwrap(),
        ];
        all.extend(&arguments[1..]);
        let mut ran = towline_in(&self.path("project"), &self.path("home"), &all);
        for text in [&mut ran.stdout, &mut ran.stderr] {
            *text = text.replace(self.path("").to_str().unwrap(), "");
        }
        ran
    }

    fn json(&self, arguments: &[&str]) -> Value {
        let ran = self.run(&[&["check", "--json"], arguments].concat());
        assert_eq!(ran.stderr, "");
        assert_eq!(ran.stdout.lines().count(), 1);
        let report: Value = serde_json::from_str(&ran.stdout).unwrap();
        let code = match report["decision"].as_str().unwrap() {
            "allow" => 0,
            "ask" => 10,
            "deny" => 20,
            other => panic!("{other}"),
        };
        assert_eq!(ran.code, code);
        report
    }

    /// The decision, and the rule that made it with its source.
    fn decided(&self, arguments: &[&str]) -> (String, String) {
        let report = self.json(arguments);
        let rule = &report["reason"]["rule"];
        let rule = match rule["rule"].as_str() {
            Some(text) => format!("{text} of {}", rule["source"].as_str().unwrap()),
            None => String::new(),
        };
        (report["decision"].as_str().unwrap().to_owned(), rule)
    }
}

#[test]
fn the_decision_the_rule_and_its_source_are_told() {
    let made = Made::new();
    let file = |path: &str| format!(r#"{{"file_path": "{path}"}}"#);
    for (arguments, decision, rule) in [
        (
            &["--bash", "npm test"][..],
            "allow",
            "Bash(npm test) of projectSettings",
        ),
        (
            &["--bash", "make all"],
            "allow",
            "Bash(make:*) of userSettings",
        ),
        (&["--bash", "ls src"], "allow", ""),
        (&["--bash", "npm publish"], "ask", ""),
        (
            &["--bash", "rm -rf src"],
            "deny",
            "Bash(rm:*) of projectSettings",
        ),
        (
            &["--bash", "git push"],
            "ask",
            "Bash(git push:*) of projectSettings",
        ),
        (&["--bash", "git push", "--mode", "dontAsk"], "deny", ""),
        (
            &["--bash", "npm publish", "--mode", "bypassPermissions"],
            "allow",
            "",
        ),
        (
            &["Bash", r#"{"command": "npm test"}"#],
            "allow",
            "Bash(npm test) of projectSettings",
        ),
        (&["Read", &file("a.rs")], "allow", ""),
        (
            &["Read", &file("secret/key")],
            "deny",
            "Read(secret/**) of projectSettings",
        ),
        (&["Read", &file("/etc/passwd")], "ask", ""),
        (
            &["Write", &file("src/a.rs")],
            "allow",
            "Edit(src/**) of projectSettings",
        ),
        (&["Write", &file("b.rs")], "ask", ""),
        (
            &["Write", &file("b.rs"), "--mode", "acceptEdits"],
            "allow",
            "",
        ),
        (
            &[
                "WebFetch",
                r#"{"url": "https://example.com/x", "prompt": "p"}"#,
            ],
            "allow",
            "WebFetch(domain:example.com) of projectSettings",
        ),
        (&["mcp__a__b", "{}"], "ask", ""),
        (
            &["mcp__a__b", "{}", "--allowed-tools", "mcp__a"],
            "allow",
            "mcp__a of cliArg",
        ),
        (
            &[
                "--bash",
                "npm test",
                "--disallowedTools",
                "Bash(ls),Bash(npm:*)",
            ],
            "deny",
            "Bash(npm:*) of cliArg",
        ),
        (
            &[
                "--bash",
                "npm publish",
                "--settings",
                r#"{"permissions": {"allow": ["Bash(npm publish)"]}}"#,
            ],
            "allow",
            "Bash(npm publish) of flagSettings",
        ),
        (&["--bash", "npm test", "--no-settings"], "ask", ""),
        (&["--bash", "rm -rf src", "--no-settings"], "ask", ""),
    ] {
        let expected = (decision.to_owned(), rule.to_owned());
        assert_eq!(made.decided(arguments), expected, "{arguments:?}");
    }
}

#[test]
fn a_person_is_told_why_each_part_passed_or_not_and_what_would_allow_it() {
    let made = Made::new();
    insta::assert_snapshot!(made.run(&["check", "--bash", "npm test && npm publish | head"]), @"
    ask: Bash npm test && npm publish | head
      because of its parts
      part allow: npm test
        because of the allow rule `Bash(npm test)` of projectSettings (project/.claude/settings.json)
      part ask: npm publish
        because this command needs approval
      part allow: head
        because it changes nothing, in a place that may be looked at
      would be allowed by the allow rule `Bash(npm publish *)` in localSettings (project/.claude/settings.local.json)
      or by the allow rule `Bash(npm test && npm publish | head)` in localSettings (project/.claude/settings.local.json)
      or by the allow rule `Bash` in localSettings (project/.claude/settings.local.json)
      mode default
      settings userSettings: home/.claude/settings.json
      settings projectSettings: project/.claude/settings.json
    -- exit 10
    ");
    insta::assert_snapshot!(made.run(&["check", "--bash", "npm test > ../out/log"]), @"
    ask: Bash npm test > ../out/log
      because of a path that needs approval
      in the way: out/log
      would be allowed by the allow rule `Edit(/out/log)` in localSettings (project/.claude/settings.local.json)
      or by the allow rule `Bash` in localSettings (project/.claude/settings.local.json)
      mode default
      settings userSettings: home/.claude/settings.json
      settings projectSettings: project/.claude/settings.json
    -- exit 10
    ");
    insta::assert_snapshot!(made.run(&["check", "--bash", "git push origin"]), @"
    ask: Bash git push origin
      because of the ask rule `Bash(git push:*)` of projectSettings (project/.claude/settings.json)
      no rule allows it as long as that one is there
      mode default
      settings userSettings: home/.claude/settings.json
      settings projectSettings: project/.claude/settings.json
    -- exit 10
    ");
    insta::assert_snapshot!(made.run(&["check", "Read", r#"{"file_path": "../out/\u001b[2J"}"#]), @r"
    ask: Read ../out/\u{1b}[2J
      because Path is outside allowed working directories
      in the way: out/\u{1b}[2J
      would be allowed by the allow rule `Read(/out/**)` for the session
      or by the allow rule `Read` in localSettings (project/.claude/settings.local.json)
      mode default
      settings userSettings: home/.claude/settings.json
      settings projectSettings: project/.claude/settings.json
    -- exit 10
    ");
    insta::assert_snapshot!(made.run(&["check", "--bash", "eval $X"]), @"
    ask: Bash eval $X
      because a variable cannot be checked before it runs
      no rule allows it
      mode default
      settings userSettings: home/.claude/settings.json
      settings projectSettings: project/.claude/settings.json
    -- exit 10
    ");
}

#[test]
fn what_is_said_to_allow_a_call_does() {
    let made = Made::new();
    for call in [
        &["--bash", "npm publish"][..],
        &["--bash", "cargo build && cargo doc"],
        &["Write", r#"{"file_path": "new.rs"}"#],
        &["Read", r#"{"file_path": "/etc/passwd"}"#],
        &["WebFetch", r#"{"url": "https://example.org/"}"#],
        &["mcp__a__b", "{}"],
        &["WebSearch", r#"{"query": "x"}"#],
    ] {
        assert_eq!(made.decided(call).0, "ask", "{call:?}");
        let report = made.json(call);
        let remedies = report["allowed_by"].as_array().unwrap();
        assert!(!remedies.is_empty(), "{call:?}");
        for remedy in remedies {
            let mut arguments = call.to_vec();
            let mut rules = Vec::new();
            for update in remedy.as_array().unwrap() {
                for rule in update["rules"].as_array().into_iter().flatten() {
                    let tool = rule["toolName"].as_str().unwrap();
                    let content = rule["ruleContent"].as_str();
                    rules.push(
                        content.map_or(tool.to_owned(), |content| format!("{tool}({content})")),
                    );
                }
                if let Some(mode) = update["mode"].as_str() {
                    arguments.extend(["--mode", mode]);
                }
            }
            for rule in &rules {
                arguments.extend(["--allowed-tools", rule]);
            }
            assert_eq!(made.decided(&arguments).0, "allow", "{arguments:?}");
        }
    }
}

#[test]
fn a_link_that_leads_out_of_the_project_is_seen() {
    let made = Made::new();
    std::os::unix::fs::symlink(made.path("out"), made.path("project/src/link")).unwrap();
    let report = made.json(&["Write", r#"{"file_path": "src/link/new"}"#]);
    assert_eq!(report["decision"], "ask");
    assert_eq!(report["blocked_path"], "out/new");
    // A folder to work in that is a link is also where it leads.
    let report = made.json(&[
        "Read",
        r#"{"file_path": "src/link/x"}"#,
        "--add-dir",
        "src/link",
    ]);
    assert_eq!(report["decision"], "allow");
}

#[test]
fn a_project_that_is_not_trusted_allows_nothing_and_still_denies() {
    let made = Made::new();
    made.trust("out");
    insta::assert_snapshot!(made.run(&["check", "--bash", "npm test"]), @"
    ask: Bash npm test
      because this command needs approval
      would be allowed by the allow rule `Bash(npm test *)` in localSettings (project/.claude/settings.local.json)
      or by the allow rule `Bash(npm test)` in localSettings (project/.claude/settings.local.json)
      or by the allow rule `Bash` in localSettings (project/.claude/settings.local.json)
      mode default
      not trusted: home/.claude.json does not say so of project
      settings userSettings: home/.claude/settings.json
      settings projectSettings: project/.claude/settings.json
    -- stderr
    towline: the project is not trusted, so 3 of the `permissions.allow` of its .claude/settings.json do not count
    -- exit 10
    ");
    assert_eq!(made.decided(&["--bash", "rm x"]).0, "deny");
    // The folder can be named, and its own trust counts.
    let project = made.path("project");
    let report = made.json(&[
        "--cwd",
        "../out",
        "--bash",
        "npm test",
        "--add-dir",
        project.to_str().unwrap(),
    ]);
    assert_eq!(
        (&report["decision"], &report["trusted"]),
        (&Value::from("ask"), &Value::from(true))
    );
}

#[test]
fn the_policy_of_the_machine_counts_and_the_last_of_it_says_the_mode() {
    let made = Made::new();
    made.put(
        "managed/managed-settings.json",
        r#"{"permissions": {"deny": ["Bash(npm test)"], "defaultMode": "plan"}}"#,
    );
    made.put(
        "managed/managed-settings.d/10.json",
        r#"{"permissions": {"deny": ["Bash(make:*)"], "defaultMode": "acceptEdits"}}"#,
    );
    for (command, rule) in [
        ("npm test", "Bash(npm test) of policySettings"),
        ("make all", "Bash(make:*) of policySettings"),
    ] {
        let expected = ("deny".to_owned(), rule.to_owned());
        assert_eq!(made.decided(&["--bash", command]), expected);
    }
    let report = made.json(&["--bash", "ls"]);
    assert_eq!(report["mode"], "acceptEdits");
    let settings: Vec<&str> = report["settings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["source"].as_str().unwrap())
        .collect();
    assert_eq!(
        settings,
        [
            "userSettings",
            "projectSettings",
            "policySettings",
            "policySettings"
        ]
    );
    made.put("managed/managed-settings.d/20.json", "{");
    insta::assert_snapshot!(made.run(&["check", "--bash", "ls"]), @"
    -- stderr
    towline: managed/managed-settings.d/20.json: not JSON: EOF while parsing an object at line 1 column 1; nothing that this file allows counts; no agent starts with such a policy
    -- exit 1
    ");
}

#[test]
fn a_policy_can_let_its_own_rules_alone_allow_something() {
    let made = Made::new();
    made.put(
        "managed/managed-settings.json",
        r#"{"allowManagedPermissionRulesOnly": true, "permissions": {"allow": ["Bash(policy)"]}}"#,
    );
    for (command, decision) in [
        ("policy", "allow"),
        ("make all", "ask"),
        ("npm test", "ask"),
        ("given", "ask"),
        ("rm x", "deny"),
    ] {
        let arguments = ["--bash", command, "--allowed-tools", "Bash(given)"];
        assert_eq!(made.decided(&arguments).0, decision, "{command}");
    }
    // Nobody but the policy can say so.
    let settings = r#"{"allowManagedPermissionRulesOnly": true}"#;
    fs::remove_file(made.path("managed/managed-settings.json")).unwrap();
    made.put("project/.claude/settings.local.json", settings);
    assert_eq!(made.decided(&["--bash", "make all"]).0, "allow");
}

#[test]
fn a_skill_is_asked_about_only_if_it_brings_tools() {
    let made = Made::new();
    made.put(
        "project/.claude/skills/plain/SKILL.md",
        "---\nname: plain\n---\nallowed-tools: no\n",
    );
    made.put(
        "home/.claude/skills/armed/SKILL.md",
        "---\nallowed-tools: Bash\n---\n",
    );
    made.put("project/.claude/commands/short.md", "Do it.\n");
    for (skill, decision) in [
        ("plain", "allow"),
        ("/short", "allow"),
        ("armed", "ask"),
        ("none", "ask"),
        ("../x", "ask"),
    ] {
        let input = format!(r#"{{"skill": "{skill}"}}"#);
        assert_eq!(made.decided(&["Skill", &input]).0, decision, "{skill}");
    }
}

#[test]
fn bad_input_is_one_line_that_says_what_to_do() {
    let made = Made::new();
    for (arguments, code, told) in [
        (
            &["check", "Bash", "npm test"][..],
            1,
            "the input of `Bash` is not JSON; for a command line there is --bash",
        ),
        (
            &["check", "Bash", "[]"],
            1,
            "the input of `Bash` must be a JSON object",
        ),
        (
            &["check", "Read", r#"{"path": "x"}"#],
            1,
            "the input of `Read` needs a text `file_path`",
        ),
        (
            &["check", "--bash", "ls", "--cwd", "nowhere"],
            1,
            "cannot find the folder `nowhere`",
        ),
        (
            &["check", "--bash", "ls", "--add-dir", "nowhere"],
            1,
            "cannot find the folder `nowhere`",
        ),
        (
            &["check", "--bash", "ls", "--settings", "none.json"],
            1,
            "there is no such file",
        ),
        (
            &["check", "--bash", "ls", "--settings", "{"],
            1,
            "neither a JSON object nor a file",
        ),
        (
            &["lint", "none.json"],
            1,
            "there is no file `project/none.json`",
        ),
        (
            &["check", "--bash", "ls", "--mode", "fast"],
            2,
            "acceptEdits",
        ),
        (&["check"], 2, "<TOOL>"),
        (&["check", "Bash"], 2, "<INPUT>"),
        (
            &["check", "Bash", "{}", "--bash", "ls"],
            2,
            "cannot be used with",
        ),
    ] {
        let ran = made.run(arguments);
        assert_eq!((ran.code, &*ran.stdout), (code, ""), "{arguments:?}");
        assert!(ran.stderr.contains(told), "{arguments:?}: {}", ran.stderr);
        assert!(
            code == 2 || ran.stderr.lines().count() == 1,
            "{}",
            ran.stderr
        );
    }
}

#[test]
fn a_broken_file_is_told_and_the_others_count() {
    let made = Made::new();
    made.put("home/.claude/settings.json", "{");
    made.put(
        "project/.claude/settings.local.json",
        r#"{"permissions": {"allow": ["Bash(", "Bash(ok)"]}}"#,
    );
    insta::assert_snapshot!(made.run(&["check", "--bash", "ok"]), @"
    allow: Bash ok
      because of the allow rule `Bash(ok)` of localSettings (project/.claude/settings.local.json)
      mode default
      settings userSettings: home/.claude/settings.json
      settings projectSettings: project/.claude/settings.json
      settings localSettings: project/.claude/settings.local.json
    -- stderr
    towline: home/.claude/settings.json: not JSON: EOF while parsing an object at line 1 column 1; nothing that this file allows counts
    towline: project/.claude/settings.local.json: permissions.allow[0]: `Bash(` is no rule: the closing bracket is missing, or something stands behind it; the rule is ignored
    -- exit 0
    ");
}

#[test]
fn rules_that_do_nothing_are_reported() {
    let made = Made::new();
    insta::assert_snapshot!(made.run(&["lint"]), @"
    files 2, findings 0, of them errors 0
    -- exit 0
    ");
    made.put(
        "project/.claude/settings.local.json",
        r#"{"permissions": {
            "allow": ["Bash(rm -r x)", "Write(src/**)", "bash(ls)", "Bash(npm test)", "Read(/etc/\u001b)"],
            "deny": ["Write(.env)"]
        }}"#,
    );
    insta::assert_snapshot!(made.run(&["lint"]), @r"
    project/.claude/settings.local.json: permissions.allow[0]: shadowed: `Bash(rm -r x)`
        `Bash(rm:*)` in `permissions.deny[0]` of projectSettings denies all of it
    project/.claude/settings.local.json: permissions.allow[1]: never matches: `Write(src/**)`
        what `Write` may write is allowed by `Edit(path)` alone
        write `Edit(src/**)`
    project/.claude/settings.local.json: permissions.allow[2]: malformed: `bash(ls)`
        `bash` is no name of a tool: names begin with a capital letter or with `mcp__`, and have no blanks
        write `Bash(ls)`
    project/.claude/settings.local.json: permissions.allow[3]: duplicate: `Bash(npm test)`
        `Bash(npm test)` in `permissions.allow[0]` of projectSettings says the same
    project/.claude/settings.local.json: permissions.allow[4]: never matches: `Read(/etc/\u{1b})`
        one slash does not begin an absolute path: this is `etc/\u{1b}` in the project
        write `Read(//etc/\u{1b})`
    project/.claude/settings.local.json: permissions.deny[0]: doubtful: `Write(.env)`
        it holds here, but Claude Code ignores the path of `Write`: there only `Edit(path)` protects it
        write `Edit(.env)`
    files 3, findings 6, of them errors 3
    -- exit 1
    ");
    let ran = made.run(&["lint", "--json", ".claude/settings.local.json"]);
    assert_eq!(ran.code, 1);
    let findings: Vec<Value> = ran
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let kinds: Vec<&str> = findings
        .iter()
        .map(|finding| finding["kind"].as_str().unwrap())
        .collect();
    // Alone it shadows and repeats nothing.
    assert_eq!(
        kinds,
        ["never matches", "malformed", "never matches", "doubtful"]
    );
    assert_eq!(findings[0]["instead"], serde_json::json!(["Edit(src/**)"]));
    assert_eq!(findings[0]["source"], "localSettings");
}

#[test]
fn an_untidy_file_is_no_failure_and_a_broken_one_is() {
    let made = Made::new();
    for (text, code) in [
        ("{}", 0),
        (
            r#"{"permissions": {"allow": ["Bash(a)", "Bash(a)"], "deny": ["Write(x)", "Bash(a)"]}}"#,
            0,
        ),
        (r#"{"permissions": {"allow": ["Bash("]}}"#, 1),
        (r#"{"permissions": {"allow": ["mcp__a(b)"]}}"#, 1),
        ("", 1),
    ] {
        made.put("project/some.json", text);
        assert_eq!(made.run(&["lint", "some.json"]).code, code, "{text}");
    }
    fs::create_dir(made.path("project/folder.json")).unwrap();
    let ran = made.run(&["lint", "folder.json"]);
    assert_eq!(ran.code, 1);
    assert!(ran.stdout.contains("it is not a plain file"), "{ran}");
}

#[test]
fn the_input_can_come_from_standard_input() {
    let made = Made::new();
    let project = made.path("project");
    let arguments = [
        "permission",
        "check",
        "--no-settings",
        "--cwd",
        project.to_str().unwrap(),
        "Bash",
        "-",
    ];
    let ran = crate::run::towline(&arguments, br#"{"command": "ls"}"#);
    assert_eq!(ran.code, 0, "{ran}");
    assert!(Path::new(&project).is_dir());
}
