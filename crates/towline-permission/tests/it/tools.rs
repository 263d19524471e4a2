//! Rules of each tool, and what is suggested with a question.

use serde_json::{Value, json};
use towline_permission::{
    PermissionMode::{self, AcceptEdits, Auto, BypassPermissions, Default as DefaultMode, Plan},
    Verdict::{self, Allow, Ask, Deny},
};

use crate::session::{Session, suggested};

#[test]
fn a_page_is_allowed_by_its_host() {
    let cases = [
        ("domain:example.com", "https://example.com/", true),
        ("domain:example.com", "http://EXAMPLE.com:8080/x", true),
        ("domain:EXAMPLE.com", "https://example.com/", true),
        (
            "domain:example.com",
            "https://user:password@example.com/",
            true,
        ),
        ("domain:example.com", "https://example.com./", true),
        ("domain:example.com", "https://www.example.com/", false),
        (
            "domain:example.com",
            "https://example.com.evil.test/",
            false,
        ),
        ("domain:example.com", "https://evil.test/example.com", false),
        (
            "domain:example.com",
            "https://example.com@evil.test/",
            false,
        ),
        ("domain:*.example.com", "https://a.b.example.com/", true),
        ("domain:*.example.com", "https://example.com/", false),
        ("domain:*.example.com", "https://notexample.com/", false),
        ("domain:*", "https://anything.test/", true),
        ("*", "https://anything.test/", true),
        ("https://example.com/*", "https://example.com/", false),
        ("example.com", "https://example.com/", false),
    ];
    for (content, url, about) in cases {
        let rule = format!("WebFetch({content})");
        let verdict = |session: Session| session.verdict("WebFetch", &json!({"url": url}));
        let (allowed, denied) = if about { (Allow, Deny) } else { (Ask, Ask) };
        assert_eq!(
            verdict(Session::new(DefaultMode).allow(&rule)),
            allowed,
            "{rule} {url}"
        );
        assert_eq!(
            verdict(Session::new(DefaultMode).deny(&rule)),
            denied,
            "{rule} {url}"
        );
    }
    for url in ["", "no address", "file:///etc/passwd", "data:text/plain,x"] {
        let session = Session::new(DefaultMode).allow("WebFetch(domain:*)");
        assert_eq!(
            session.verdict("WebFetch", &json!({"url": url})),
            Ask,
            "{url}"
        );
    }
}

#[test]
fn tools_of_a_server_are_allowed_by_server_and_tool() {
    // A rule, a tool, and what it does as a rule that allows and as one that denies.
    let cases = [
        ("mcp__a", "mcp__a__x", Allow, Deny),
        ("mcp__a", "mcp__ab__x", Ask, Ask),
        ("mcp__a__x", "mcp__a__x", Allow, Deny),
        ("mcp__a__x", "mcp__a__xy", Ask, Ask),
        ("mcp__a__*", "mcp__a__x", Allow, Deny),
        ("mcp__a__x*", "mcp__a__xy", Allow, Deny),
        ("mcp__a__x*", "mcp__a__y", Ask, Ask),
        ("mcp__*", "mcp__a__x", Ask, Deny),
        ("mcp__a*", "mcp__ab__x", Ask, Deny),
        ("mcp__*__x", "mcp__a__x", Ask, Deny),
        ("*", "mcp__a__x", Ask, Deny),
        ("mcp__", "mcp__a__x", Ask, Ask),
        ("mcp__a__", "mcp__a__x", Ask, Ask),
        ("mcp__A", "mcp__a__x", Ask, Ask),
        ("mcp__a__x(*)", "mcp__a__x", Ask, Ask),
        ("mcp__a__x(y)", "mcp__a__x", Ask, Ask),
    ];
    for (rule, tool, allowed, denied) in cases {
        let verdict = |session: Session| session.verdict(tool, &json!({}));
        assert_eq!(
            verdict(Session::new(DefaultMode).allow(rule)),
            allowed,
            "allow {rule}, {tool}"
        );
        assert_eq!(
            verdict(Session::new(DefaultMode).deny(rule)),
            denied,
            "deny {rule}, {tool}"
        );
    }
}

#[test]
fn an_agent_is_denied_by_its_exact_type_under_either_name() {
    let cases = [
        ("Agent(helper)", Deny),
        ("Task(helper)", Deny),
        ("Agent", Deny),
        ("Task", Deny),
        ("Agent(*)", Deny),
        ("*", Deny),
        ("Agent(HELPER)", Allow),
        ("Agent(help*)", Allow),
    ];
    for (rule, expected) in cases {
        for tool in ["Agent", "Task"] {
            let session = Session::new(BypassPermissions).deny(rule);
            let verdict = session.verdict(tool, &json!({"subagent_type": "helper"}));
            assert_eq!(verdict, expected, "{rule}, {tool}");
        }
    }
    assert_eq!(
        Session::new(DefaultMode)
            .ask("Task")
            .verdict("Agent", &json!({})),
        Ask
    );
    assert_eq!(
        Session::new(Auto)
            .allow("Agent")
            .verdict("Task", &json!({})),
        Ask
    );
}

#[test]
fn a_skill_that_brings_tools_is_asked_about() {
    let mut session = Session::new(DefaultMode);
    let skill = json!({"skill": "deploy", "args": "now"});
    assert_eq!(session.verdict("Skill", &skill), Allow);
    session.facts.skill_brings_tools = true;
    let decision = session.decide("Skill", &skill);
    assert_eq!(decision.verdict, Ask);
    assert_eq!(
        suggested(&decision).unwrap(),
        [
            "+Skill(deploy)@localSettings",
            "+Skill(deploy:*)@localSettings"
        ]
    );
    for (rule, expected) in [
        ("Skill(deploy)", Allow),
        ("Skill(/deploy)", Allow),
        ("Skill(dep:*)", Allow),
        ("Skill(deploy *)", Allow),
        ("Skill(*)", Allow),
        ("Skill", Allow),
        ("Skill(dep*)", Ask),
        ("Skill(Deploy)", Ask),
    ] {
        assert_eq!(
            session.clone().allow(rule).verdict("Skill", &skill),
            expected,
            "{rule}"
        );
    }
}

#[test]
fn questions_to_a_person_are_asked_in_every_mode_that_asks() {
    for tool in ["AskUserQuestion", "ExitPlanMode"] {
        for mode in [DefaultMode, AcceptEdits, Plan, BypassPermissions, Auto] {
            let session = Session::new(mode.clone()).allow(tool);
            let decision = session.decide(tool, &json!({}));
            assert_eq!(
                (decision.verdict, decision.suggestions),
                (Ask, None),
                "{tool} in {mode}"
            );
        }
        assert_eq!(
            Session::new(PermissionMode::DontAsk).verdict(tool, &json!({})),
            Deny
        );
        assert_eq!(
            Session::new(DefaultMode)
                .deny(tool)
                .verdict(tool, &json!({})),
            Deny
        );
    }
}

#[test]
fn a_rule_for_one_tool_says_nothing_of_another() {
    let cases: [(&str, &str, Value, Verdict); 6] = [
        ("Edit", "Write", json!({"file_path": "a"}), Ask),
        ("Write", "Edit", json!({"file_path": "a"}), Ask),
        ("Write", "Write", json!({"file_path": "/out/a"}), Allow),
        ("Write(*)", "Write", json!({"file_path": "/out/a"}), Ask),
        ("Write(*)", "Write", json!({"file_path": "a"}), Allow),
        ("*", "WebSearch", json!({}), Ask),
    ];
    for (rule, tool, input, expected) in cases {
        let session = Session::new(DefaultMode).allow(rule);
        assert_eq!(
            session.verdict(tool, &input),
            expected,
            "{rule}, {tool} {input}"
        );
    }
}

#[test]
fn what_is_suggested_would_stop_the_question() {
    let cases = [
        (
            "Write",
            json!({"file_path": "a"}),
            DefaultMode,
            &["mode:acceptEdits"][..],
        ),
        (
            "Write",
            json!({"file_path": "/out/d/a"}),
            DefaultMode,
            &["mode:acceptEdits", "dir:/out/d"],
        ),
        (
            "Write",
            json!({"file_path": "/out/d/a"}),
            AcceptEdits,
            &["dir:/out/d"],
        ),
        (
            "Read",
            json!({"file_path": "/out/d/a"}),
            DefaultMode,
            &["+Read(//out/d/**)@session"],
        ),
        (
            "WebSearch",
            json!({}),
            DefaultMode,
            &["+WebSearch@localSettings"],
        ),
        (
            "mcp__a__x",
            json!({}),
            DefaultMode,
            &["+mcp__a__x@localSettings"],
        ),
        (
            "WebFetch",
            json!({"url": "https://a.test:80/x"}),
            DefaultMode,
            &["+WebFetch(domain:a.test)@localSettings"],
        ),
    ];
    for (tool, input, mode, expected) in cases {
        let mut session = Session::new(mode);
        let decision = session.decide(tool, &input);
        assert_eq!(decision.verdict, Ask, "{tool} {input}");
        assert_eq!(suggested(&decision).unwrap(), expected, "{tool} {input}");
        for update in decision.suggestions.unwrap() {
            session.policy.apply(&update).unwrap();
        }
        assert_eq!(session.verdict(tool, &input), Allow, "{tool} {input}");
    }
}

#[test]
fn a_protected_file_of_a_skill_is_suggested_as_such() {
    let session = Session::new(DefaultMode);
    for (path, expected) in [
        (
            ".claude/skills/x/SKILL.md",
            "+Edit(/.claude/skills/x/**)@session",
        ),
        (
            "~/.claude/skills/x/a",
            "+Edit(~/.claude/skills/x/**)@session",
        ),
        (".claude/agents/x.md", "mode:acceptEdits"),
    ] {
        let decision = session.decide("Write", &json!({"file_path": path}));
        assert_eq!(suggested(&decision).unwrap(), [expected], "{path}");
    }
}
