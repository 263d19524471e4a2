//! What holds for all policies and calls.

use proptest::{prelude::*, sample::select};
use serde_json::{Value, json};
use towline_permission::{Behavior, Destination, PermissionMode, Rule, Verdict};

use crate::session::Session;

fn mode() -> impl Strategy<Value = PermissionMode> {
    select(vec![
        PermissionMode::Default,
        PermissionMode::AcceptEdits,
        PermissionMode::Plan,
        PermissionMode::BypassPermissions,
        PermissionMode::DontAsk,
        PermissionMode::Auto,
    ])
}

fn rule() -> impl Strategy<Value = String> {
    let content = prop_oneof![
        select(vec![
            "*",
            "**",
            "a",
            "a/**",
            "//**",
            "//out/**",
            "~/**",
            "/a",
            "!a",
            "[a",
            "domain:*",
            "domain:a.test"
        ])
        .prop_map(str::to_owned),
        "[a-z/.*?\\[\\]{}!~\\\\]{1,8}",
    ];
    let tool = select(vec![
        "Read", "Edit", "Write", "WebFetch", "Agent", "Skill", "Glob",
    ]);
    prop_oneof![
        (tool, proptest::option::of(content)).prop_map(|(tool, content)| match content {
            None => tool.to_owned(),
            Some(content) => format!("{tool}({content})"),
        }),
        select(vec!["mcp__a", "mcp__*", "mcp__a__x", "*"]).prop_map(str::to_owned),
        select(vec![
            "Bash",
            "Bash(rm:*)",
            "Bash(rm a)",
            "Bash(ls *)",
            "Bash(cat*)",
            "Bash(timeout 5 rm a)",
            "Bash(git * a)",
        ])
        .prop_map(str::to_owned),
    ]
}

/// A line of pieces that mean something to a shell.
fn command() -> impl Strategy<Value = String> {
    let piece = select(vec![
        "rm a",
        "ls",
        "ls -la",
        "cat a/b",
        "cat ~/a",
        "git push a",
        "git status",
        "eval rm",
        "bash -c 'rm a'",
        "X=rm",
        "$X a",
        "$(rm a)",
        "\"$HOME\"",
        "> a/out",
        "2>&1",
        "timeout 5",
        "sudo",
        "FOO=1",
        "cd a",
        "&&",
        "||",
        "|",
        ";",
        "&",
        "\n",
        "(",
        ")",
        "{",
        "}",
        "'",
        "\"",
        "<<EOF",
        "EOF",
        "if",
        "then",
        "fi",
        "!",
        "*",
        "\\",
    ]);
    prop::collection::vec(piece, 0..7).prop_map(|pieces| pieces.join(" "))
}

fn behavior() -> impl Strategy<Value = Behavior> {
    select(vec![Behavior::Allow, Behavior::Deny, Behavior::Ask])
}

fn call() -> impl Strategy<Value = (&'static str, Value)> {
    let path = prop_oneof![
        select(vec!["a", "a/b", "/out/a", "~/a", ".git/a", "link"]).prop_map(str::to_owned),
        "[a-z/.~]{0,8}",
        "\\PC{0,12}",
    ];
    prop_oneof![
        (select(vec!["Read", "Write", "Edit"]), path.clone())
            .prop_map(|(tool, path)| (tool, json!({"file_path": path}))),
        path.clone()
            .prop_map(|pattern| ("Glob", json!({"pattern": pattern}))),
        path.prop_map(|url| ("WebFetch", json!({"url": url}))),
        command().prop_map(|command| ("Bash", json!({"command": command}))),
        select(vec![
            "Agent",
            "Skill",
            "mcp__a__x",
            "WebSearch",
            "AskUserQuestion"
        ])
        .prop_map(|tool| (tool, json!({"skill": "a", "subagent_type": "a"}))),
    ]
}

fn session(mode: PermissionMode, rules: &[(String, Behavior)]) -> Session {
    let session = Session::new(mode).link("/made/project/link", "/out/a");
    rules.iter().fold(session, |session, (rule, behavior)| {
        session.rule_from(rule, behavior.clone(), Destination::LocalSettings)
    })
}

proptest! {
    #[test]
    fn a_rule_that_denies_or_asks_never_allows_more(
        mode in mode(),
        rules in proptest::collection::vec((rule(), behavior()), 0..6),
        more in (rule(), select(vec![Behavior::Deny, Behavior::Ask])),
        (tool, input) in call(),
    ) {
        let before = session(mode.clone(), &rules).verdict(tool, &input);
        let mut rules = rules;
        let adds_a_denial = more.1 == Behavior::Deny;
        rules.push(more);
        let after = session(mode, &rules).verdict(tool, &input);
        // A rule that asks may turn nothing but an allowance into something else.
        prop_assert!(after >= before, "{before:?} became {after:?}");
        prop_assert!(adds_a_denial || before == after || before == Verdict::Allow);
    }

    #[test]
    fn a_decision_does_not_depend_on_the_order_of_rules(
        mode in mode(),
        rules in proptest::collection::vec((rule(), behavior()), 0..6),
        (tool, input) in call(),
    ) {
        let one = session(mode.clone(), &rules).verdict(tool, &input);
        let reversed: Vec<_> = rules.into_iter().rev().collect();
        prop_assert_eq!(one, session(mode, &reversed).verdict(tool, &input));
    }

    #[test]
    fn any_rule_and_any_path_give_a_decision(content in "\\PC{1,30}", path in "\\PC{0,40}", mode in mode()) {
        let mut session = Session::new(mode);
        for behavior in [Behavior::Allow, Behavior::Ask, Behavior::Deny] {
            for tool in ["Read", "Edit", "WebFetch", "Skill"] {
                let rule = Rule::with_content(tool, content.as_str());
                session.policy.add(rule, behavior.clone(), Destination::UserSettings);
            }
            session.read(&path);
            session.write(&path);
            session.verdict("Glob", &json!({"pattern": path}));
            session.verdict("WebFetch", &json!({"url": path}));
        }
    }

    #[test]
    fn what_an_allow_rule_covers_a_deny_rule_with_the_same_content_covers(content in "[a-z/.*?\\[\\]]{1,8}", path in "[a-z/.]{1,10}") {
        let rule = format!("Read({content})");
        let allowed = Session::new(PermissionMode::Default).allow(&rule).read(&path);
        let neither = Session::new(PermissionMode::Default).read(&path);
        let denied = Session::new(PermissionMode::Default).deny(&rule).read(&path);
        if allowed != neither {
            prop_assert_eq!(denied, Verdict::Deny);
        }
    }
}
