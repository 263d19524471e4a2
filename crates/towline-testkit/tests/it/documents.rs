//! What the documents show is what the repository has.

use std::fs;

pub(crate) const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");

#[test]
fn the_examples_of_the_readme_are_those_that_compile() {
    let readme = fs::read_to_string(format!("{ROOT}README.md")).unwrap();
    for path in [
        "crates/towline-host/examples/hello.rs",
        "crates/towline-protocol/examples/read_trace.rs",
    ] {
        let example = fs::read_to_string(format!("{ROOT}{path}")).unwrap();
        let (_, code) = example.split_once("\n\n").unwrap();
        assert!(
            readme.contains(&format!("```rust\n{code}```")),
            "copy the code of {path} into README.md"
        );
    }
}

#[test]
fn links_between_the_documents_lead_somewhere() {
    for document in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
        "PROTOCOL.md",
    ] {
        let text = fs::read_to_string(format!("{ROOT}{document}")).unwrap();
        for (_, link) in text
            .match_indices("](")
            .map(|(at, _)| text.split_at(at + 2))
        {
            let target = link.split([')', '#']).next().unwrap();
            let elsewhere = target.is_empty() || target.contains("://");
            assert!(
                elsewhere || fs::exists(format!("{ROOT}{target}")).unwrap(),
                "{document} links to {target}, which does not exist"
            );
        }
    }
}

/// Every test and trace that PROTOCOL.md calls as a witness is there.
#[test]
fn the_witnesses_of_the_protocol_document_exist() {
    let document = fs::read_to_string(format!("{ROOT}PROTOCOL.md")).unwrap();
    let mut tests = 0;
    // Odd pieces stand between backquotes.
    for name in document.split('`').skip(1).step_by(2) {
        if let Some((place, test)) = name.split_once("::")
            && is_word(test)
            && (place.contains('/') || source_of(place).is_some())
        {
            tests += 1;
            let source = source_of(place)
                .unwrap_or_else(|| panic!("PROTOCOL.md names {place}, which is no module"));
            assert!(
                source.contains(&format!("fn {test}(")),
                "PROTOCOL.md names {name}, which is no test"
            );
        } else if is_word(name) && (name.starts_with("control-") || name.starts_with("sessions-")) {
            let trace = format!("{ROOT}crates/towline-protocol/tests/data/traces/{name}.jsonl");
            assert!(
                fs::exists(&trace).unwrap(),
                "PROTOCOL.md names {name}, which is no trace"
            );
        }
    }
    assert!(tests > 340, "only {tests} tests named");
}

/// A recorded conversation that PROTOCOL.md calls as a witness for the agent is one that the agent has.
#[test]
fn the_conversations_of_the_protocol_document_are_had() {
    let document = fs::read_to_string(format!("{ROOT}PROTOCOL.md")).unwrap();
    let had = conversations_had();
    let mut conversations = 0;
    for named in document.split("parity (`").skip(1) {
        let (named, _) = named.split_once(')').unwrap();
        for name in named.split(", ").map(|name| name.trim_matches('`')) {
            conversations += 1;
            assert!(
                had.iter().any(|had| had == name),
                "PROTOCOL.md names {name}, which is not in parity.toml"
            );
        }
    }
    assert!(
        conversations > 60,
        "only {conversations} conversations named"
    );
}

/// The recorded conversations that the agent has.
pub(crate) fn conversations_had() -> Vec<String> {
    let list = fs::read_to_string(format!("{ROOT}crates/towline/tests/data/parity.toml")).unwrap();
    let list: toml::Table = list.parse().unwrap();
    list.values()
        // The one table beside the groups says what is left out.
        .filter_map(toml::Value::as_array)
        .flatten()
        .map(|name| name.as_str().unwrap().to_owned())
        .collect()
}

/// The file that a witness is said to be in: `module` of the protocol crate, `crate/module`, or `crate/src/module`.
/// `None` where there is no such file.
pub(crate) fn source_of(place: &str) -> Option<String> {
    let file = match place.split_once('/') {
        None => format!("towline-protocol/tests/it/{place}.rs"),
        Some((crate_name, rest)) => {
            let folder = match crate_name {
                "towline" => "towline".to_owned(),
                name => format!("towline-{name}"),
            };
            match rest.strip_prefix("src/") {
                Some(module) => format!("{folder}/src/{module}.rs"),
                None => format!("{folder}/tests/it/{rest}.rs"),
            }
        }
    };
    fs::read_to_string(format!("{ROOT}crates/{file}")).ok()
}

fn is_word(word: &str) -> bool {
    word.chars()
        .all(|c| c.is_ascii_alphanumeric() || "_-".contains(c))
}
