//! Settings files: what is read from them, and what is written to them.

use towline_permission::{
    Behavior, Destination, Effect, PermissionMode, PermissionUpdate, Settings,
};
use towline_protocol::{RuleValue, Wire};

fn rules(rules: &[towline_permission::Rule]) -> Vec<String> {
    rules.iter().map(ToString::to_string).collect()
}

#[test]
fn everything_about_permissions_is_read() {
    let settings = Settings::read(
        r#"{"permissions": {"allow": ["Read"], "deny": ["Bash(rm:*)"], "ask": ["Write"],
            "defaultMode": "acceptEdits", "additionalDirectories": ["../x"],
            "disableBypassPermissionsMode": "disable", "unknown": 1}, "other": {}}"#,
    );
    assert_eq!(rules(&settings.allow), ["Read"]);
    assert_eq!(rules(&settings.deny), ["Bash(rm:*)"]);
    assert_eq!(rules(&settings.ask), ["Write"]);
    assert_eq!(settings.default_mode, Some(PermissionMode::AcceptEdits));
    assert_eq!(settings.directories, ["../x"]);
    assert!(settings.disable_bypass);
    assert_eq!(settings.problems, []);
}

#[test]
fn a_broken_entry_is_skipped_and_reported() {
    let settings = Settings::read(r#"{"permissions": {"allow": ["Read", 5, "Bash(", "Write"]}}"#);
    assert_eq!(rules(&settings.allow), ["Read", "Write"]);
    let problems: Vec<_> = settings.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            "permissions.allow[1]: a number where a text belongs; the entry is ignored",
            "permissions.allow[2]: `Bash(` is no rule: the closing bracket is missing, or something stands behind it; \
             the rule is ignored",
        ]
    );
}

#[test]
fn a_broken_file_allows_nothing_but_still_denies() {
    let cases = [
        (
            r#""permissions": {"allow": "Read", "deny": ["Write"]}"#,
            "permissions.allow",
            "a text where a list belongs",
        ),
        (
            r#""permissions": {"allow": ["Read"], "ask": {}, "deny": ["Write"]}"#,
            "permissions.ask",
            "an object where a list belongs",
        ),
        (
            r#""model": 5, "permissions": {"allow": ["Read"], "deny": ["Write"]}"#,
            "model",
            "a number where a text belongs",
        ),
        (
            r#""permissions": {"allow": ["Read"], "deny": ["Write"], "defaultMode": "bogus"}"#,
            "permissions.defaultMode",
            "\"bogus\" is no mode; there are default, manual, acceptEdits, plan, bypassPermissions, dontAsk, auto",
        ),
    ];
    for (body, key, wrong) in cases {
        let settings = Settings::read(&format!("{{{body}}}"));
        assert_eq!(
            (settings.allow, settings.default_mode),
            (vec![], None),
            "{body}"
        );
        assert_eq!(rules(&settings.deny), ["Write"], "{body}");
        let problem = &settings.problems[0];
        assert_eq!((&*problem.key, &*problem.wrong), (key, wrong));
        assert_eq!(problem.effect, Effect::NothingAllowed);
    }
    for text in ["", "  \n", "{ not json", "[]", "5", "{\"permissions\": []}"] {
        let settings = Settings::read(text);
        assert_eq!(settings.problems.len(), 1, "{text:?}");
        assert_eq!(
            settings.problems[0].effect,
            Effect::NothingAllowed,
            "{text:?}"
        );
    }
}

#[test]
fn whatever_is_said_of_bypassing_switches_it_off() {
    for (value, off) in [("\"disable\"", true), ("true", true), ("null", false)] {
        let text = format!(r#"{{"permissions": {{"disableBypassPermissionsMode": {value}}}}}"#);
        assert_eq!(Settings::read(&text).disable_bypass, off, "{value}");
    }
}

#[test]
fn an_update_changes_its_list_and_leaves_the_rest_of_the_file() {
    let before = r#"{"zebra": [1, {"b": 1.50, "a": []}], "permissions": {"deny": ["Write"], "allow": ["Read"]}, "apple": {}}"#;
    let update = |json: &str| PermissionUpdate::from_json(json).unwrap();
    let after = |json: &str| Settings::write(before, &update(json)).unwrap();
    let text = after(
        r#"{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"a"},{"toolName":"Read"}],"behavior":"allow","destination":"localSettings"}"#,
    );
    let expected = r#"{
  "zebra": [
    1,
    {
      "b": 1.5,
      "a": []
    }
  ],
  "permissions": {
    "deny": [
      "Write"
    ],
    "allow": [
      "Read",
      "Bash(a)"
    ]
  },
  "apple": {}
}
"#;
    assert_eq!(text, expected);
    let read = |json: &str| Settings::read(&after(json));
    let replaced = read(
        r#"{"type":"replaceRules","rules":[{"toolName":"Edit"}],"behavior":"allow","destination":"localSettings"}"#,
    );
    assert_eq!(
        (rules(&replaced.allow), rules(&replaced.deny)),
        (vec!["Edit".into()], vec!["Write".into()])
    );
    let removed = read(
        r#"{"type":"removeRules","rules":[{"toolName":"Write"}],"behavior":"deny","destination":"localSettings"}"#,
    );
    assert_eq!(
        (rules(&removed.allow), rules(&removed.deny)),
        (vec!["Read".into()], vec![])
    );
    let mode = read(r#"{"type":"setMode","mode":"plan","destination":"localSettings"}"#);
    assert_eq!(mode.default_mode, Some(PermissionMode::Plan));
    let directories =
        read(r#"{"type":"addDirectories","directories":["/x"],"destination":"localSettings"}"#);
    assert_eq!(directories.directories, ["/x"]);
}

#[test]
fn a_file_that_is_not_there_is_begun_and_one_that_is_broken_is_left_alone() {
    let update = PermissionUpdate::add_rules(
        vec![RuleValue::tool("Read")],
        Behavior::Ask,
        Destination::UserSettings,
    );
    let begun = "{\n  \"permissions\": {\n    \"ask\": [\n      \"Read\"\n    ]\n  }\n}\n";
    assert_eq!(Settings::write("", &update).unwrap(), begun);
    assert_eq!(Settings::write(begun, &update).unwrap(), begun);
    for text in [
        "{ not json",
        "[]",
        r#"{"permissions": 5}"#,
        r#"{"permissions": {"ask": "x"}}"#,
    ] {
        assert!(Settings::write(text, &update).is_err(), "{text}");
    }
}
