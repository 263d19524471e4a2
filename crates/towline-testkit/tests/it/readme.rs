//! What the README shows is what the repository has.

use std::fs;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../");

#[test]
fn the_example_of_the_readme_is_the_one_that_compiles() {
    let readme = fs::read_to_string(format!("{ROOT}README.md")).unwrap();
    let path = "crates/towline-protocol/examples/read_trace.rs";
    let example = fs::read_to_string(format!("{ROOT}{path}")).unwrap();
    let (_, code) = example.split_once("\n\n").unwrap();
    assert!(
        readme.contains(&format!("```rust\n{code}```")),
        "copy the code of {path} into README.md"
    );
}

#[test]
fn links_between_the_documents_lead_somewhere() {
    for document in [
        "README.md",
        "ARCHITECTURE.md",
        "CONTRIBUTING.md",
        "CHANGELOG.md",
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
