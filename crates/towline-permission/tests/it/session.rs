//! A made-up session that the other tests ask.

use serde_json::Value;
use towline_permission::{
    Behavior, Call, Decision, Destination, Facts, Looks, PermissionMode, Places, Policy, Reached,
    Rule, Verdict, decide, looks, paths,
};

/// The session: a policy, and what is known of the files.
#[derive(Clone)]
pub(crate) struct Session {
    pub(crate) policy: Policy,
    pub(crate) facts: Facts,
}

impl Session {
    pub(crate) fn new(mode: PermissionMode) -> Self {
        let places = Places {
            project: "/made/project".into(),
            current: "/made/project".into(),
            home: "/home/ann".into(),
            config: "/home/ann/.claude".into(),
            flag_settings: Some("/opt/flags".into()),
        };
        Self {
            policy: Policy::new(mode, places),
            facts: Facts::default(),
        }
    }

    pub(crate) fn allow(self, rule: &str) -> Self {
        self.rule(rule, Behavior::Allow)
    }

    pub(crate) fn deny(self, rule: &str) -> Self {
        self.rule(rule, Behavior::Deny)
    }

    pub(crate) fn ask(self, rule: &str) -> Self {
        self.rule(rule, Behavior::Ask)
    }

    fn rule(self, rule: &str, behavior: Behavior) -> Self {
        self.rule_from(rule, behavior, Destination::ProjectSettings)
    }

    pub(crate) fn rule_from(mut self, rule: &str, behavior: Behavior, source: Destination) -> Self {
        let rule: Rule = rule.parse().unwrap();
        self.policy.add(rule, behavior, source);
        self
    }

    /// A directory that is there.
    pub(crate) fn directory(mut self, path: &str) -> Self {
        self.facts.directories.insert(path.to_owned());
        self
    }

    /// A link, and where it leads.
    pub(crate) fn link(mut self, from: &str, to: &str) -> Self {
        self.facts.links.insert(from.to_owned(), to.to_owned());
        self
    }

    pub(crate) fn decide(&self, tool: &str, input: &Value) -> Decision {
        decide(&self.policy, &Call::new(tool, input), &self.facts)
    }

    pub(crate) fn looks(&self, tool: &str, input: &Value) -> Looks {
        looks(&self.policy, &Call::new(tool, input))
    }

    /// The same was found at everything that was to be looked at.
    pub(crate) fn reached(mut self, looks: &Looks, reached: &Reached) -> Self {
        let found = |paths: &[String]| {
            paths
                .iter()
                .map(|path| (path.clone(), reached.clone()))
                .collect()
        };
        self.facts.globs = found(&looks.globs);
        self.facts.trees = found(&looks.trees);
        self
    }

    pub(crate) fn paths(&self, tool: &str, input: &Value) -> Vec<String> {
        paths(&self.policy, &Call::new(tool, input))
    }

    pub(crate) fn verdict(&self, tool: &str, input: &Value) -> Verdict {
        self.decide(tool, input).verdict
    }

    pub(crate) fn read(&self, path: &str) -> Verdict {
        self.verdict("Read", &serde_json::json!({"file_path": path}))
    }

    pub(crate) fn write(&self, path: &str) -> Verdict {
        self.verdict(
            "Write",
            &serde_json::json!({"file_path": path, "content": ""}),
        )
    }
}

/// What a decision suggests, in short: `+Rule@destination`, `mode:m`, `dir:d`.
pub(crate) fn suggested(decision: &Decision) -> Option<Vec<String>> {
    let updates = decision.suggestions.as_ref()?;
    Some(
        updates
            .iter()
            .map(|update| {
                if let Some(mode) = &update.mode {
                    return format!("mode:{mode}");
                }
                if let Some(directories) = &update.directories {
                    let all: Vec<_> = directories.iter().map(ToString::to_string).collect();
                    return format!("dir:{}", all.join(","));
                }
                let rules = update.rules.iter().flatten();
                let rules: Vec<_> = rules.map(|rule| Rule::from(rule).to_string()).collect();
                format!(
                    "+{}@{}",
                    rules.join(","),
                    update.destination.as_ref().unwrap()
                )
            })
            .collect(),
    )
}
