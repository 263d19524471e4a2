//! The text of rules.

use proptest::prelude::*;
use towline_permission::{Rule, RuleError};

#[test]
fn a_rule_is_a_tool_or_a_tool_with_content() {
    for (text, tool, content) in [
        ("Read", "Read", None),
        ("Bash(npm run:*)", "Bash", Some("npm run:*")),
        ("Bash(echo (a) (b))", "Bash", Some("echo (a) (b)")),
        ("Bash( x )", "Bash", Some(" x ")),
        ("mcp__demo__*", "mcp__demo__*", None),
        ("mcp__demo(x)", "mcp__demo", Some("x")),
        ("mcp__plugin:a.b-c__tool", "mcp__plugin:a.b-c__tool", None),
        ("*", "*", None),
    ] {
        let rule: Rule = text.parse().unwrap();
        assert_eq!((rule.tool(), rule.content()), (tool, content), "{text}");
        assert_eq!(rule.to_string(), text);
    }
}

#[test]
fn what_is_no_rule_says_why() {
    let bad = |name: &str| RuleError::BadTool(name.to_owned());
    for (text, why) in [
        ("", RuleError::Empty),
        ("(x)", RuleError::NoTool),
        ("Bash()", RuleError::NoContent),
        ("Bash(", RuleError::Unclosed),
        ("Bash(x)y", RuleError::Unclosed),
        ("bash(x)", bad("bash")),
        (" Bash(x)", bad(" Bash")),
        ("Bash (x)", bad("Bash ")),
        ("Bash,Read", bad("Bash,Read")),
        ("Bash:x", bad("Bash:x")),
    ] {
        assert_eq!(text.parse::<Rule>(), Err(why), "{text:?}");
    }
}

#[test]
fn only_no_content_and_a_lone_star_mean_the_whole_tool() {
    for (text, wide) in [
        ("Bash", true),
        ("Bash(*)", true),
        ("Bash(**)", false),
        ("Bash(:*)", false),
    ] {
        assert_eq!(text.parse::<Rule>().unwrap().is_tool_wide(), wide, "{text}");
    }
}

proptest! {
    #[test]
    fn the_text_of_a_rule_parses_back_to_itself(text in "(Bash|Read|mcp__a__b|\\PC{0,3})(\\(\\PC{0,12}\\)?)?") {
        if let Ok(rule) = text.parse::<Rule>() {
            prop_assert_eq!(rule.to_string(), text);
        }
    }

    #[test]
    fn any_rule_parses_back_from_its_text(content in proptest::option::of("\\PC{1,20}")) {
        let rule = match content {
            None => Rule::tool_wide("Edit"),
            Some(content) => Rule::with_content("Edit", content),
        };
        prop_assert_eq!(rule.to_string().parse::<Rule>(), Ok(rule));
    }
}
