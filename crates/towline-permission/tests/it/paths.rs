//! Which paths a rule is about.

use serde_json::json;
use towline_permission::{
    Behavior, Destination, PermissionMode, Reason,
    Verdict::{self, Allow, Ask, Deny},
};

use crate::session::{Session, suggested};

#[test]
fn patterns_are_those_of_a_gitignore() {
    // A deny rule, a path of the project, and whether the rule is about it.
    let cases = [
        ("secret", "secret/key", true),
        ("secret", "deep/secret/key", true),
        ("secret", "secrets/key", false),
        ("secret/", "secret/key", true),
        ("secret/", "secret", true),
        ("./secret", "deep/secret/key", true),
        ("secret/**", "secret/key", true),
        ("secret/**", "deep/secret/key", true),
        ("secret/**", "secret", true),
        ("**/secret/**", "a/b/secret/c", true),
        ("/secret", "secret/key", true),
        ("/secret", "deep/secret/key", false),
        ("*.txt", "a.txt", true),
        ("*.txt", "deep/er/a.txt", true),
        ("*.txt", "a.txt/inner", true),
        ("*.txt", "a.text", false),
        ("/*.txt", "a.txt", true),
        ("/*.txt", "deep/a.txt", false),
        ("sub/*", "sub/a", true),
        ("sub/*", "sub/deep/a", true),
        ("sub/*", "other/sub/a", false),
        ("sub/*", "sub", false),
        ("sub/deep", "sub/deep/a", true),
        ("sub/deep", "x/sub/deep/a", false),
        ("sub/*.txt", "sub/a.txt", true),
        ("sub/*.txt", "sub/deep/a.txt", false),
        ("**/deep/*", "sub/deep/a", true),
        ("a/**/z", "a/z", true),
        ("a/**/z", "a/b/c/z", true),
        ("a/**/z", "a/b/c/y", false),
        ("?.txt", "a.txt", true),
        ("?.txt", "ab.txt", false),
        ("sub?a", "sub/a", false),
        ("[ab].txt", "b.txt", true),
        ("[!ab].txt", "c.txt", true),
        ("[!ab].txt", "b.txt", false),
        ("[ab", "[ab", true),
        ("{a,b}.txt", "a.txt", false),
        ("{a,b}.txt", "{a,b}.txt", true),
        ("!a.txt", "a.txt", false),
        ("!a.txt", "b.txt", false),
        ("\\!a.txt", "!a.txt", true),
        ("a**z", "a/z", false),
        ("a**z", "abcz", true),
        ("**", "anything", true),
        ("A.TXT", "a.txt", true),
        ("a.txt", "A.TXT", true),
        ("../project/a.txt", "a.txt", false),
        ("sub/../a.txt", "a.txt", false),
    ];
    for (pattern, path, about) in cases {
        let session = Session::new(PermissionMode::Default).deny(&format!("Read({pattern})"));
        let expected = if about { Deny } else { Allow };
        assert_eq!(session.read(path), expected, "Read({pattern}) and {path}");
    }
}

#[test]
fn a_rule_is_anchored_by_its_first_letters_and_its_source() {
    use Destination::{
        CliArg, FlagSettings, LocalSettings, ProjectSettings, Session as InSession, UserSettings,
    };
    let cases = [
        ("//etc/**", ProjectSettings, "/etc/hosts", true),
        ("/etc/**", ProjectSettings, "/etc/hosts", false),
        ("~/docs/**", ProjectSettings, "/home/ann/docs/a", true),
        ("/docs/**", ProjectSettings, "/made/project/docs/a", true),
        ("/docs/**", LocalSettings, "/made/project/docs/a", true),
        ("/docs/**", CliArg, "/made/project/docs/a", true),
        ("/docs/**", InSession, "/made/project/docs/a", true),
        ("/docs/**", UserSettings, "/made/project/docs/a", false),
        ("/docs/**", UserSettings, "/home/ann/.claude/docs/a", true),
        ("/docs/**", FlagSettings, "/opt/flags/docs/a", true),
        ("docs/**", UserSettings, "/made/project/docs/a", true),
        ("docs/**", UserSettings, "/home/ann/docs/a", false),
    ];
    for (content, source, path, about) in cases {
        let session = Session::new(PermissionMode::BypassPermissions).rule_from(
            &format!("Read({content})"),
            Behavior::Deny,
            source.clone(),
        );
        let expected = if about { Deny } else { Allow };
        assert_eq!(
            session.read(path),
            expected,
            "{content} of {source} and {path}"
        );
    }
}

#[test]
fn what_allows_is_narrower_than_what_denies() {
    let cases = [
        ("Read(//out/**)", "/out/a", Allow),
        ("Read(//out)", "/out/a", Allow),
        ("Read(//OUT)", "/out/a", Ask),
        ("Read(//out/)", "/out", Ask),
        ("Read(//out/)", "/out/a", Allow),
        ("Read(/out/**)", "/out/a", Ask),
        ("Read(**)", "/out/a", Ask),
        ("Read(*)", "/out/a", Ask),
        ("Read", "/out/a", Allow),
        ("Edit(//out/**)", "/out/a", Allow),
        ("Write(//out/**)", "/out/a", Ask),
        ("Read(~/**)", "/home/ann/a", Allow),
    ];
    for (rule, path, expected) in cases {
        let session = Session::new(PermissionMode::Default).allow(rule);
        assert_eq!(session.read(path), expected, "{rule} and {path}");
    }
}

#[test]
fn edit_rules_govern_every_tool_that_writes() {
    for rule in ["Edit(/sub/**)", "Edit(sub)", "Edit(//made/project/sub/**)"] {
        let session = Session::new(PermissionMode::Default).allow(rule);
        assert_eq!(session.write("sub/a"), Allow, "{rule}");
        assert_eq!(session.write("a"), Ask, "{rule}");
        let notebook = json!({"notebook_path": "sub/a.ipynb"});
        assert_eq!(session.verdict("NotebookEdit", &notebook), Allow, "{rule}");
    }
}

#[test]
fn path_rules_for_other_writing_tools_deny_and_ask_but_never_allow() {
    for tool in ["Write", "MultiEdit"] {
        let rule = format!("{tool}(/secret/**)");
        let session = |mode| Session::new(mode);
        let bypass = PermissionMode::BypassPermissions;
        assert_eq!(
            session(bypass.clone()).deny(&rule).write("secret/a"),
            Deny,
            "{rule}"
        );
        assert_eq!(session(bypass).ask(&rule).write("secret/a"), Ask, "{rule}");
        let default = PermissionMode::Default;
        assert_eq!(
            session(default).allow(&rule).write("secret/a"),
            Ask,
            "{rule}"
        );
    }
}

#[test]
fn what_must_not_be_read_must_not_be_written_but_not_the_other_way_round() {
    let session = Session::new(PermissionMode::BypassPermissions).deny("Read(secret)");
    assert_eq!(session.write("secret/a"), Deny);
    let session = Session::new(PermissionMode::BypassPermissions).deny("Edit(secret)");
    assert_eq!(
        (session.write("secret/a"), session.read("secret/a")),
        (Deny, Allow)
    );
}

#[test]
fn a_denied_path_is_denied_however_it_is_written() {
    let session = Session::new(PermissionMode::BypassPermissions)
        .deny("Read(./secret/**)")
        .link("/made/project/door/key", "/made/project/secret/key");
    for path in [
        "secret/key",
        "./secret/key",
        "sub/../secret/key",
        "/made/project//secret//key",
        "/made/other/../project/secret/key",
        "SECRET/key",
        "/MADE/Project/secret/key",
        "door/key",
    ] {
        assert_eq!(session.read(path), Deny, "{path}");
    }
}

#[test]
fn a_link_must_be_allowed_at_both_ends() {
    let link = |session: Session| {
        session
            .link("/made/project/door/a", "/out/a")
            .link("/made/project/door", "/out")
    };
    let read = |rules: &[&str]| {
        let session = Session::new(PermissionMode::Default);
        let session = rules
            .iter()
            .fold(session, |session, rule| session.allow(rule));
        link(session).read("door/a")
    };
    for (rules, expected) in [
        (&[][..], Ask),
        (&["Read(door/**)"], Ask),
        (&["Read(//out/**)"], Ask),
        (&["Read(door/**)", "Read(//out/**)"], Allow),
        (&["Read(//**)"], Allow),
        (&["Read"], Allow),
    ] {
        assert_eq!(read(rules), expected, "{rules:?}");
    }
    let decision =
        link(Session::new(PermissionMode::Default)).decide("Read", &json!({"file_path": "door/a"}));
    assert_eq!(decision.blocked_path.as_deref(), Some("/out/a"));
    assert_eq!(
        suggested(&decision).unwrap(),
        [
            "+Read(//made/project/door/**)@session",
            "+Read(//out/**)@session"
        ]
    );
}

#[test]
fn a_link_out_of_the_project_is_not_written_through_because_the_tool_is_allowed() {
    let session = Session::new(PermissionMode::AcceptEdits)
        .allow("Write")
        .link("/made/project/door/a", "/out/a");
    let decision = session.decide("Write", &json!({"file_path": "door/a"}));
    assert_eq!(decision.verdict, Ask);
    assert!(matches!(decision.reason, Reason::Safety(_)), "{decision:?}");
    assert_eq!(decision.blocked_path.as_deref(), Some("/out/a"));
    assert_eq!(session.allow("Edit(//**)").write("door/a"), Allow);
}

#[test]
fn protected_files_are_asked_about_whatever_the_rules_say() {
    let session = Session::new(PermissionMode::AcceptEdits)
        .allow("Edit(//**)")
        .allow("Write");
    let cases = [
        (".git/config", Ask),
        ("deep/.git/hooks/pre-commit", Ask),
        (".GIT/config", Ask),
        (".git", Ask),
        (".claude/settings.json", Ask),
        (".claude/worktrees/x/a.rs", Allow),
        (".claude/worktrees/x/.git/config", Ask),
        (".vscode/tasks.json", Ask),
        (".idea/x", Ask),
        (".husky/pre-push", Ask),
        (".devcontainer/devcontainer.json", Ask),
        (".bashrc", Ask),
        ("deep/.BashRC", Ask),
        (".zshenv", Ask),
        (".npmrc", Ask),
        (".mcp.json", Ask),
        (".bashrc.new", Allow),
        (".bashrc/inner", Allow),
        (".gitignore", Allow),
        (".github/workflows/x.yml", Allow),
        (".env", Allow),
        ("CLAUDE.md", Allow),
    ];
    for (path, expected) in cases {
        assert_eq!(session.write(path), expected, "{path}");
    }
    let link = session.link("/made/project/door", "/made/project/.git/config");
    assert_eq!(link.write("door"), Ask);
    let bypass = Session::new(PermissionMode::BypassPermissions);
    assert_eq!(bypass.write(".git/config"), Allow);
}

#[test]
fn other_working_directories_are_like_the_project() {
    let mut session = Session::new(PermissionMode::AcceptEdits);
    session.policy.add_directory("/out", Destination::Session);
    let cases: [(&str, Verdict); 5] = [
        ("/out/a", Allow),
        ("/out", Allow),
        ("/outside/a", Ask),
        ("/out/../etc/a", Ask),
        ("/out/.git/a", Ask),
    ];
    for (path, expected) in cases {
        assert_eq!(session.write(path), expected, "{path}");
    }
    session
        .policy
        .remove_directory("/out", &Destination::LocalSettings);
    assert_eq!(session.read("/out/a"), Allow);
    session
        .policy
        .remove_directory("/out", &Destination::Session);
    assert_eq!(session.read("/out/a"), Ask);
}

#[test]
fn a_search_is_where_its_pattern_begins() {
    let session = Session::new(PermissionMode::Default).deny("Read(secret)");
    let glob = |pattern: &str| session.verdict("Glob", &json!({"pattern": pattern}));
    assert_eq!(glob("**/*.rs"), Allow);
    assert_eq!(glob("src/*.rs"), Allow);
    assert_eq!(glob("secret/*"), Deny);
    assert_eq!(glob("/etc/*"), Ask);
    assert_eq!(glob("../other/*"), Ask);
    assert_eq!(glob("/*"), Ask);
    assert_eq!(session.verdict("Grep", &json!({"pattern": "x"})), Allow);
    assert_eq!(
        session.verdict("Grep", &json!({"pattern": "x", "path": "/etc"})),
        Ask
    );
    assert_eq!(session.verdict("LS", &json!({"path": "secret"})), Deny);
    let session = Session::new(PermissionMode::Default);
    for pattern in [
        "{/etc,/root}/*",
        "[/]etc/*",
        "*/../../../etc/*",
        "{a,..}/*",
        "{a,~/b}",
    ] {
        let verdict = session.verdict("Glob", &json!({"pattern": pattern}));
        assert_eq!(verdict, Ask, "{pattern}");
    }
    assert_eq!(
        session.verdict("Glob", &json!({"pattern": "src/**/*.{rs,toml}"})),
        Allow
    );
}

#[test]
fn a_call_without_a_path_is_asked_about() {
    let session = Session::new(PermissionMode::AcceptEdits);
    for input in [json!({}), json!({"file_path": 5}), json!(null), json!([])] {
        assert_eq!(session.verdict("Write", &input), Ask, "{input}");
        assert_eq!(session.verdict("Read", &input), Ask, "{input}");
    }
}

#[test]
fn files_that_run_code_later_are_asked_about_where_edits_are_accepted() {
    let session = Session::new(PermissionMode::AcceptEdits);
    for name in [
        ".yarnrc",
        ".yarn/releases/yarn.cjs",
        ".pnpmfile.cjs",
        ".pnp.cjs",
        ".pnp.loader.mjs",
        "bunfig.toml",
        ".bunfig.toml",
        ".bazelrc",
        ".bazeliskrc",
        ".bazelversion",
        ".devcontainer.json",
        ".cargo/config.toml",
        "lefthook.yml",
        ".lefthook.yaml",
        ".config/lefthook.yml",
        ".config/git/config",
        ".mvn/jvm.config",
        "gradle/wrapper/gradle-wrapper.properties",
        ".g\u{200c}it/config",
        ".git::$INDEX_ALLOCATION/config",
        ".git./config",
        ".git /config",
        " .bashrc",
        ".bashrc ",
        "GIT~1/config",
        "n...",
        "n\\..\\..\\x",
    ] {
        assert_eq!(
            session.write(&format!("/made/project/{name}")),
            Ask,
            "{name:?}"
        );
    }
    for name in [
        "notes.txt",
        "a~b",
        "src/config/git.rs",
        "a.b.c",
        "config.toml",
    ] {
        assert_eq!(
            session.write(&format!("/made/project/{name}")),
            Allow,
            "{name:?}"
        );
    }
    let session = Session::new(PermissionMode::Default);
    for name in ["n...", "GIT~1/config", "n\\..\\..\\x"] {
        assert_eq!(
            session.read(&format!("/made/project/{name}")),
            Ask,
            "{name:?}"
        );
    }
}

#[test]
fn a_rule_against_all_reading_is_one_against_writing() {
    for rule in ["Read", "Read(*)"] {
        for mode in [
            PermissionMode::AcceptEdits,
            PermissionMode::BypassPermissions,
        ] {
            let session = Session::new(mode).deny(rule);
            assert_eq!(session.write("/made/project/n"), Deny, "{rule}");
        }
    }
}

#[test]
fn a_rule_for_directories_allows_no_file_beside_them() {
    for rule in ["Edit(**/)", "Edit(*/)", "Edit(./**/)"] {
        let session = Session::new(PermissionMode::Default).allow(rule);
        assert_eq!(session.write("/made/project/n"), Ask, "{rule}");
        assert_eq!(session.write("/made/project/sub/n"), Allow, "{rule}");
    }
    let session = Session::new(PermissionMode::Default).allow("Edit(//**)");
    let verdict = |command: &str| session.verdict("Bash", &serde_json::json!({"command": command}));
    assert_eq!(verdict("cat ../outside/o"), Ask);
}
