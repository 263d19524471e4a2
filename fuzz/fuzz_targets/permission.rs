//! Any bytes as a command, a path or a rule: there is a decision and no panic, and what is forbidden in addition never
//! allows more.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::json;
use towline_permission::{
    Behavior, Call, Destination, Facts, PermissionMode, Places, Policy, Rule, Verdict, decide, paths,
};

fuzz_target!(|data: &[u8]| {
    // One byte for the mode, then rules line by line, an empty line, and the command or path.
    let Some((first, rest)) = data.split_first() else {
        return;
    };
    let text = String::from_utf8_lossy(rest);
    let (rules, subject) = text.split_once("\n\n").unwrap_or(("", &text));
    let mode = match first % 6 {
        0 => PermissionMode::Default,
        1 => PermissionMode::AcceptEdits,
        2 => PermissionMode::BypassPermissions,
        3 => PermissionMode::Plan,
        4 => PermissionMode::DontAsk,
        _ => PermissionMode::Auto,
    };
    let places = Places {
        project: "/project".to_owned(),
        current: "/project".to_owned(),
        home: "/home/me".to_owned(),
        config: "/home/me/.claude".to_owned(),
        flag_settings: None,
    };
    let mut policy = Policy::new(mode, places);
    for (number, line) in rules.lines().take(8).enumerate() {
        if let Ok(rule) = line.parse::<Rule>() {
            assert_eq!(rule.to_string(), line);
            let behavior = [Behavior::Allow, Behavior::Deny, Behavior::Ask][number % 3].clone();
            policy.add(rule, behavior, Destination::ProjectSettings);
        }
    }
    let mut stricter = policy.clone();
    for rule in ["Bash(rm:*)", "Read(secret/**)", "Edit(secret/**)"] {
        if let Ok(rule) = rule.parse::<Rule>() {
            stricter.add(rule, Behavior::Deny, Destination::UserSettings);
        }
    }
    for (tool, input) in [
        ("Bash", json!({"command": subject})),
        ("Write", json!({"file_path": subject})),
        ("Read", json!({"file_path": subject})),
        ("WebFetch", json!({"url": subject})),
    ] {
        let call = Call::new(tool, &input);
        paths(&policy, &call);
        let before = decide(&policy, &call, &Facts::default()).verdict;
        let after = decide(&stricter, &call, &Facts::default()).verdict;
        assert!(after >= before, "{tool} {subject:?}: {before:?}, with more rules against it {after:?}");
        assert!(after == before || after > Verdict::Allow);
    }
});
