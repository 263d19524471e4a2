//! What `docs/serve.md` says is what there is: the file of its example, its keys, flags and variables.

use std::collections::BTreeSet;

use towline_bridge::settings::{Flags, Limits};

use super::read;

const DOCUMENT: &str = include_str!("../../../../../docs/serve.md");

fn example() -> &'static str {
    let (_, rest) = DOCUMENT.split_once("```toml\n").unwrap();
    let (example, rest) = rest.split_once("```\n").unwrap();
    assert!(!rest.contains("```toml"), "there is one file");
    example
}

/// What is between marks of code.
fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// The keys that can stand in a table of the file: whoever writes another one is told them.
fn known(table: &str) -> BTreeSet<String> {
    let problems = read(
        &format!("{table}\nnobody-knows-this = 1\n"),
        &[],
        Flags::default(),
    );
    let problem = problems.unwrap_err().join("\n");
    let (_, known) = problem.split_once("expected").unwrap();
    code(known).map(str::to_owned).collect()
}

fn written(table: &toml::Table) -> BTreeSet<String> {
    table.keys().cloned().collect()
}

/// The words of a text that begin so.
fn words(text: &str, start: &str) -> BTreeSet<String> {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || "-_".contains(letter);
    text.split(|letter| !is_part(letter))
        .filter(|word| word.len() > start.len() && word.starts_with(start))
        .map(str::to_owned)
        .collect()
}

/// A column of the table of flags and variables.
fn column(number: usize) -> String {
    let (_, rest) = DOCUMENT.split_once("| in the file |").unwrap();
    let rows = rest.lines().skip(2).take_while(|row| row.starts_with('|'));
    let cells = rows.map(|row| row.split('|').nth(number + 1).unwrap());
    cells.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_file_of_the_document_is_read_and_its_limits_are_the_defaults() {
    let config = read(example(), &[], Flags::default()).unwrap();
    assert_eq!(config.limits, Limits::default());
    assert_eq!(config.agents.len(), 1);
}

#[test]
fn every_key_is_in_the_file_of_the_document() {
    let file: toml::Table = example().parse().unwrap();
    assert_eq!(written(&file), known(""));
    for table in ["tls", "limits"] {
        let there = file[table].as_table().unwrap();
        assert_eq!(written(there), known(&format!("[{table}]")), "{table}");
    }
    let agent = file["agents"][0].as_table().unwrap();
    assert_eq!(written(agent), known("[[agents]]"));
}

#[test]
fn every_key_flag_and_variable_is_in_the_table_of_the_document() {
    let mut keys = known("");
    for table in ["tls", "limits"] {
        assert!(keys.remove(table));
        let inside = known(&format!("[{table}]"));
        keys.extend(inside.iter().map(|key| format!("{table}.{key}")));
    }
    let told: BTreeSet<_> = code(&column(0)).map(str::to_owned).collect();
    assert_eq!(told, keys);

    let mut flags = words(include_str!("../../../src/settings.rs"), "--");
    // The program's own.
    flags.insert("--config".to_owned());
    assert_eq!(words(&column(1), "--"), flags);
    let mut variables = words(include_str!("../../../src/settings/layers.rs"), "TOWLINE_");
    variables.insert("TOWLINE_LOG".to_owned());
    assert_eq!(words(&column(2), "TOWLINE_"), variables);
}
