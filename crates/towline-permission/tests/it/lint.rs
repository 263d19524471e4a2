//! Tables of rules and what is found.

use towline_permission::{Destination, Finding, FindingKind, Places, lint};

fn places() -> Places {
    Places {
        project: "/project".into(),
        current: "/project".into(),
        home: "/home/ann".into(),
        config: "/home/ann/.claude".into(),
        flag_settings: None,
    }
}

fn check(files: &[(Destination, &str)]) -> Vec<Finding> {
    lint(files, &places())
}

/// The findings about one file of the project with these lists.
fn in_project(lists: &serde_json::Value) -> Vec<Finding> {
    let text = serde_json::json!({"permissions": lists}).to_string();
    check(&[(Destination::ProjectSettings, &text)])
}

/// What is found about one rule alone: the kind, and what to write instead.
fn alone(behavior: &str, rule: &str) -> Option<(FindingKind, String)> {
    let mut findings = in_project(&serde_json::json!({behavior: [rule]}));
    assert!(findings.len() <= 1, "{findings:?}");
    let finding = findings.pop()?;
    assert_eq!(finding.rule, rule);
    assert_eq!(finding.key, format!("permissions.{behavior}[0]"));
    assert_eq!(finding.source, Destination::ProjectSettings);
    assert!(!finding.why.is_empty());
    Some((finding.kind, finding.instead.join(", ")))
}

fn expect(kind: FindingKind, instead: &str) -> Option<(FindingKind, String)> {
    Some((kind, instead.to_owned()))
}

#[test]
fn what_is_no_rule_is_found_with_what_was_probably_meant() {
    for (rule, instead) in [
        ("", ""),
        ("bash(npm test)", "Bash(npm test)"),
        ("webfetch", "WebFetch"),
        (" Bash(npm test)", "Bash(npm test)"),
        ("Bash (npm test)", "Bash(npm test)"),
        ("Bash(npm test", "Bash(npm test)"),
        ("Bash[npm test]", "Bash(npm test)"),
        ("Bash:npm test", "Bash(npm test)"),
        ("Bash npm test", "Bash(npm test)"),
        ("Bash()", "Bash"),
        ("Bash(", "Bash"),
        ("Bash(a)b", ""),
        ("(x)", ""),
        ("no such tool", ""),
        ("mcp__a__b(", "mcp__a__b"),
    ] {
        let expected = expect(FindingKind::Malformed, instead);
        assert_eq!(alone("allow", rule), expected, "{rule}");
        assert_eq!(alone("deny", rule), expected, "{rule}");
    }
}

#[test]
fn an_allow_rule_that_can_never_match_is_found() {
    for (rule, instead) in [
        ("Write(src/**)", "Edit(src/**)"),
        ("NotebookEdit(x.ipynb)", "Edit(x.ipynb)"),
        ("Grep(src/**)", "Read(src/**)"),
        ("Bash(:*)", "Bash"),
        ("Bash( npm test)", "Bash(npm test)"),
        ("Bash(npm test )", "Bash(npm test)"),
        ("Bash(npm test && *)", ""),
        ("Bash(cd sub && npm:*)", ""),
        ("Bash(cat x | grep *)", ""),
        ("Read(/etc/passwd)", "Read(//etc/passwd)"),
        ("Edit(/home/ann/project/**)", "Edit(//home/ann/project/**)"),
        ("Read(../x)", "Read(//absolute/path)"),
        ("Read(sub/../x)", "Read(//absolute/path)"),
        ("Read(!x)", ""),
        ("Read({a,b}/x)", "Read(a/x), Read(b/x)"),
        ("WebFetch(example.com)", "WebFetch(domain:example.com)"),
        (
            "WebFetch(https://example.com/*)",
            "WebFetch(domain:example.com)",
        ),
        (
            "WebFetch(domain:https://example.com)",
            "WebFetch(domain:example.com)",
        ),
        (
            "WebFetch(domain:example.com/docs)",
            "WebFetch(domain:example.com)",
        ),
        ("WebFetch(domain:)", ""),
        ("WebSearch(rust)", "WebSearch"),
        ("mcp__github__search(x)", "mcp__github__search"),
        ("mcp__github(*)", "mcp__github"),
        ("mcp__*", "mcp__SERVER__*"),
        ("mcp__git*", "mcp__SERVER__*"),
        ("mcp__*__search", "mcp__SERVER__search"),
        ("mcp__", ""),
        ("mcp__github__", "mcp__github"),
        ("*", ""),
        ("Agent(help*)", ""),
        ("Skill(oth*)", "Skill(oth:*)"),
        ("BASH", "Bash"),
        ("Reed(x)", "Read(x)"),
        ("Unknown", ""),
        ("Bash(npm test), Read(b)", "Bash(npm test), Read(b)"),
        ("Fetch(https://example.com)", ""),
    ] {
        let expected = expect(FindingKind::NeverMatches, instead);
        assert_eq!(alone("allow", rule), expected, "{rule}");
    }
}

#[test]
fn a_deny_or_ask_rule_that_can_never_match_is_found() {
    for (behavior, rule, instead) in [
        ("deny", "Read(/etc/passwd)", "Read(//etc/passwd)"),
        ("deny", "Write(../x)", "Write(//absolute/path)"),
        ("deny", "mcp__github(x)", "mcp__github"),
        (
            "deny",
            "WebFetch(example.com)",
            "WebFetch(domain:example.com)",
        ),
        ("ask", "Agent(helper)", "Agent"),
        ("ask", "Skill(demo)", "Skill"),
        ("deny", "Skill(de*)", "Skill(de:*)"),
        ("deny", "Bash(:*)", "Bash"),
    ] {
        let expected = expect(FindingKind::NeverMatches, instead);
        assert_eq!(alone(behavior, rule), expected, "{rule}");
    }
}

#[test]
fn rules_that_do_what_they_say_are_fine() {
    for rule in [
        "Bash",
        "Bash(*)",
        "Bash(npm test)",
        "Bash(npm run:*)",
        "Bash(npm run *)",
        "Bash(git * main)",
        "Bash(npm test && npm run x)",
        "Bash(echo a; ls)",
        "Bash(echo $(a),b)",
        "Read",
        "Read(*)",
        "Read(secret)",
        "Read(./a)",
        "Read(/src/**)",
        "Read(//etc/passwd)",
        "Read(~/.ssh/**)",
        "Edit(**)",
        "Edit(a[bc]?.txt)",
        "Write",
        "Write(*)",
        "WebFetch",
        "WebFetch(domain:example.com)",
        "WebFetch(domain:*.example.com)",
        "WebFetch(domain:*)",
        "WebSearch",
        "mcp__github",
        "mcp__github__*",
        "mcp__github__s*",
        "Agent(helper)",
        "Task(helper)",
        "Agent",
        "Skill(demo)",
        "Skill(demo:*)",
        "Skill(demo *)",
        "Skill(/demo)",
        "SlashCommand(/x)",
        "TodoWrite",
    ] {
        assert_eq!(alone("allow", rule), None, "{rule}");
    }
    for (behavior, rule) in [
        ("deny", "mcp__*"),
        ("deny", "*"),
        ("deny", "Bash(rm && *)"),
        ("ask", "Agent"),
        ("ask", "Bash(git push:*)"),
    ] {
        assert_eq!(alone(behavior, rule), None, "{rule}");
    }
}

#[test]
fn a_rule_that_may_be_mistaken_is_no_error() {
    for (behavior, rule, instead) in [
        ("deny", "Write(.env)", "Edit(.env)"),
        ("ask", "NotebookEdit(x.ipynb)", "Edit(x.ipynb)"),
        ("allow", "Read(/tmp/x)", "Read(//tmp/x)"),
        ("deny", "Edit(/var/log/**)", "Edit(//var/log/**)"),
    ] {
        let expected = expect(FindingKind::Doubtful, instead);
        assert_eq!(alone(behavior, rule), expected, "{rule}");
    }
    assert!(!FindingKind::Doubtful.is_error());
}

#[test]
fn a_rule_is_shadowed_when_a_stronger_one_decides_all_that_it_is_about() {
    for (weaker, rule, stronger, by) in [
        ("allow", "Bash(npm test)", "deny", "Bash(npm test)"),
        ("allow", "Bash(npm test)", "deny", "Bash"),
        ("allow", "Bash(npm test)", "ask", "Bash"),
        ("allow", "Bash(npm test)", "deny", "Bash(npm:*)"),
        ("allow", "Bash(npm test *)", "deny", "Bash(npm *)"),
        ("allow", "Bash(npm test:*)", "deny", "Bash(npm test *)"),
        ("allow", "Bash(git push * main)", "deny", "Bash(git push:*)"),
        ("allow", "Bash(git push origin)", "deny", "Bash(*push*)"),
        ("allow", "Bash", "deny", "Bash(*)"),
        ("ask", "Bash(rm:*)", "deny", "Bash(rm *)"),
        ("allow", "Read(secret/key.txt)", "deny", "Read(secret)"),
        ("allow", "Read(secret/**)", "deny", "Read(./secret/**)"),
        (
            "allow",
            "Read(//project/secret/x)",
            "deny",
            "Read(/secret/**)",
        ),
        ("allow", "Read(a[bc])", "deny", "Read(a[bc])"),
        ("allow", "Read(a?)", "deny", "Read(a*)"),
        ("allow", "Edit(secret/x)", "deny", "Read(secret/**)"),
        ("allow", "Edit(.env)", "deny", "Write(.env)"),
        ("allow", "Read(~/.ssh/id)", "deny", "Read(~/.ssh/**)"),
        (
            "allow",
            "WebFetch(domain:a.example.com)",
            "deny",
            "WebFetch(domain:*.example.com)",
        ),
        ("allow", "WebFetch(domain:example.com)", "ask", "WebFetch"),
        ("allow", "mcp__github__search", "deny", "mcp__github"),
        ("allow", "mcp__github", "deny", "mcp__*"),
        ("allow", "mcp__github__s*", "deny", "mcp__github__*"),
        ("allow", "Agent(helper)", "deny", "Task(helper)"),
        ("allow", "Skill(demo)", "deny", "Skill(demo:*)"),
        ("allow", "WebSearch", "deny", "WebSearch"),
        ("allow", "WebSearch", "deny", "*"),
    ] {
        let findings = in_project(&serde_json::json!({weaker: [rule], stronger: [by]}));
        let found = findings
            .iter()
            .find(|finding| finding.kind == FindingKind::Shadowed);
        let found = found.unwrap_or_else(|| panic!("{rule} by {by}: {findings:?}"));
        assert_eq!(found.rule, rule);
        assert!(
            found.why.starts_with(&format!("`{by}` in ")),
            "{}",
            found.why
        );
    }
}

#[test]
fn a_rule_that_still_does_something_is_not_shadowed() {
    for (weaker, rule, stronger, by) in [
        ("allow", "Bash(npm:*)", "deny", "Bash(npm test)"),
        ("allow", "Bash(npm:*)", "deny", "Bash(npm * --force)"),
        ("allow", "Bash(npmx)", "deny", "Bash(npm:*)"),
        ("allow", "Bash", "deny", "Bash(rm:*)"),
        ("allow", "Bash(npm test)", "deny", "Bash(:*)"),
        ("allow", "Read", "deny", "Read(secret/**)"),
        ("allow", "Read", "deny", "Read(**)"),
        ("allow", "Read(secret/**)", "deny", "Read(secret/key.txt)"),
        ("allow", "Read(secret)", "deny", "Read(/secret/**)"),
        ("allow", "Read(secret/x)", "deny", "Edit(secret/**)"),
        ("allow", "Read(a?)", "deny", "Read(ab)"),
        ("allow", "Write", "deny", "Edit"),
        (
            "allow",
            "WebFetch(domain:example.com)",
            "deny",
            "WebFetch(domain:*.example.com)",
        ),
        ("allow", "WebFetch", "deny", "WebFetch(domain:example.com)"),
        ("allow", "mcp__github", "deny", "mcp__github__search"),
        ("allow", "Agent(helper)", "ask", "Agent(helper)"),
        ("allow", "Agent", "deny", "Agent(helper)"),
        ("allow", "Skill(demo:*)", "deny", "Skill(demo)"),
        ("ask", "Bash(rm:*)", "allow", "Bash"),
        ("deny", "Bash(rm:*)", "ask", "Bash"),
    ] {
        let findings = in_project(&serde_json::json!({weaker: [rule], stronger: [by]}));
        let is_shadowed = findings
            .iter()
            .any(|finding| finding.kind == FindingKind::Shadowed);
        assert!(!is_shadowed, "{rule} by {by}: {findings:?}");
    }
}

#[test]
fn shadows_and_duplicates_are_found_across_files() {
    let findings = check(&[
        (
            Destination::UserSettings,
            r#"{"permissions": {"deny": ["Bash(curl:*)"], "allow": ["Bash(make)", "Read(/x)"]}}"#,
        ),
        (
            Destination::LocalSettings,
            r#"{"permissions": {"allow": ["Bash(curl x)", "Bash(make)", "Bash(a *)", "Bash(a:*)", "Read(/x)"]}}"#,
        ),
    ]);
    let told: Vec<_> = findings
        .iter()
        .map(|finding| (finding.file, &*finding.key, finding.kind, &*finding.why))
        .collect();
    assert_eq!(
        told,
        [
            (
                1,
                "permissions.allow[0]",
                FindingKind::Shadowed,
                "`Bash(curl:*)` in `permissions.deny[0]` of userSettings denies all of it"
            ),
            (
                1,
                "permissions.allow[1]",
                FindingKind::Duplicate,
                "`Bash(make)` in `permissions.allow[0]` of userSettings says the same"
            ),
            (
                1,
                "permissions.allow[3]",
                FindingKind::Duplicate,
                "`Bash(a *)` in `permissions.allow[2]` of the same file says the same"
            ),
        ]
    );
}

#[test]
fn what_spoils_a_whole_file_is_a_finding_too() {
    for (text, key) in [
        ("", ""),
        ("{", ""),
        ("[]", ""),
        (r#"{"permissions": []}"#, "permissions"),
        (r#"{"permissions": {"allow": "Bash"}}"#, "permissions.allow"),
        (r#"{"permissions": {"allow": [5]}}"#, "permissions.allow[0]"),
        (
            r#"{"permissions": {"defaultMode": "fast"}}"#,
            "permissions.defaultMode",
        ),
    ] {
        let findings = check(&[(Destination::UserSettings, text)]);
        assert_eq!(findings.len(), 1, "{text}: {findings:?}");
        assert_eq!(
            (&*findings[0].key, findings[0].kind),
            (key, FindingKind::Malformed)
        );
        assert_eq!(findings[0].rule, "");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_as_a_rule_gives_findings_and_no_panic(rule in "\\PC*", other in "(Bash|Read|WebFetch|Skill|mcp__a)\\(\\PC*\\)") {
        in_project(&serde_json::json!({"allow": [rule, other], "deny": [other, rule], "ask": [rule]}));
    }
}
