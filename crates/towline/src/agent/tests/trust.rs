//! Folders, flags and hosts, and how far the project's files are believed.

use std::fs;

use towline_permission::Places;

use super::Room;

#[test]
fn trust_follows_from_the_state_of_the_person_the_flags_and_the_host() {
    let permissions =
        r#"{"permissions":{"allow":["Bash(python3:*)"],"defaultMode":"acceptEdits"}}"#;
    let room = || {
        Room::new()
            .file("project/.claude/settings.json", permissions)
            .file("project/.claude/settings.local.json", permissions)
    };
    let env = r#"{"env":{"CLAUDE_CODE_ENTRYPOINT":"sdk-py"}}"#;
    let sdk = |name| room().variables(&[("CLAUDE_CODE_ENTRYPOINT", name)]);
    for (room, words, expected) in [
        (room(), &[][..], "Neither, 0, default"),
        (room().trusted(), &[], "Trusted, 2, acceptEdits"),
        (room(), &["--setting-sources=user"], "Neither, 0, default"),
        (
            room(),
            &["--setting-sources=project"],
            "VouchedFor, 0, default",
        ),
        (
            room(),
            &["--setting-sources=user,local"],
            "VouchedFor, 0, default",
        ),
        (sdk("sdk-py"), &[], "VouchedFor, 0, default"),
        (sdk("sdk-ts"), &[], "VouchedFor, 0, default"),
        (sdk("sdk-cli"), &[], "Neither, 0, default"),
        // Settings do not say who the host is.
        (
            room().file("home/.claude/settings.json", env),
            &[],
            "Neither, 0, default",
        ),
        // A file of the repository is not the person's state.
        (
            room().file(
                "project/.claude.json",
                r#"{"projects":{"":{"hasTrustDialogAccepted":true}}}"#,
            ),
            &[],
            "Neither, 0, default",
        ),
        (room(), &["--allowedTools", "Read"], "Neither, 1, default"),
        (
            room(),
            &["--permission-mode", "acceptEdits"],
            "Neither, 0, acceptEdits",
        ),
    ] {
        let startup = room.plan(words).unwrap().config.permissions;
        let (policy, _) = startup.policy(Places::default());
        let told = format!(
            "{:?}, {}, {}",
            startup.trust,
            policy.entries().len(),
            policy.mode
        );
        assert_eq!(told, expected, "{words:?}");
    }
}

/// Wherever a settings file of the project leads, it is the project that says so.
#[cfg(unix)]
#[test]
fn a_settings_file_that_is_a_link_out_of_the_repository_is_no_more_trusted() {
    let permissions = r#"{"permissions":{"allow":["Bash(python3:*)"],"deny":["Read(x)"]}}"#;
    for is_folder in [false, true] {
        let room = Room::new().file("managed/settings.json", permissions);
        let (outside, own) = (
            room.path().join("managed"),
            room.path().join("project/.claude"),
        );
        if is_folder {
            fs::remove_dir(&own).unwrap();
            std::os::unix::fs::symlink(&outside, &own).unwrap();
        } else {
            std::os::unix::fs::symlink(
                outside.join("settings.json"),
                own.join("settings.local.json"),
            )
            .unwrap();
        }
        let startup = room.plan(&[]).unwrap().config.permissions;
        let (policy, _) = startup.policy(Places::default());
        let rules: Vec<_> = policy
            .entries()
            .iter()
            .map(|entry| entry.rule.to_string())
            .collect();
        assert_eq!(rules, ["Read(x)"], "{is_folder}");
    }
}

#[test]
fn what_does_not_count_is_told_to_the_host_and_on_standard_error() {
    let room = Room::new().file(
        "project/.claude/settings.local.json",
        r#"{"permissions":{"allow":["Bash(python3:*)"]}}"#,
    );
    let expected = [
        "the project is not trusted, so 1 of the `permissions.allow` of its .claude/settings.local.json do not count",
        "to trust ROOM/project: run `towline` in it on a terminal, or open it on the page of `towline serve`, and answer \
         the question",
    ];
    let shown = |lines: &[String]| {
        lines
            .iter()
            .map(|line| room.shown(line))
            .collect::<Vec<_>>()
    };
    let lines = room.plan(&["--output-format=stream-json"]).unwrap();
    assert_eq!(shown(&lines.notices), expected);
    assert_eq!(shown(&lines.config.kept_out), expected);
    // Where no host reads lines, a person would read it twice.
    let text = room.plan(&["-p", "x"]).unwrap();
    assert_eq!(shown(&text.notices), expected);
    assert_eq!(text.config.kept_out, [""; 0]);
}
