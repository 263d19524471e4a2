//! Snapshots of what others rely on: the HTTP API, the log on disk, settings files, `--help`, the page's texts. They are in
//! `tests/snapshots`; a commit that changes one names it and says what changes for those who rely on it.

mod logs;
mod page_texts;
mod settings;

use std::{collections::VecDeque, fmt::Write as _, process::Command};

use crate::serve::Served;

/// Compares a text with its snapshot. `INSTA_UPDATE=always cargo test …` writes it anew.
fn check(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path("../snapshots");
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn the_http_api_is_described_as_before() {
    let served = Served::start();
    let description = served.get("/openapi.json").json();
    check(
        "openapi",
        &serde_json::to_string_pretty(&description).unwrap(),
    );
}

#[test]
fn every_command_explains_itself_as_before() {
    let mut commands = VecDeque::from([Vec::new()]);
    let mut all = String::new();
    while let Some(command) = commands.pop_front() {
        let help = help(&command);
        let name = [&["towline".to_owned()], &command[..]].concat().join(" ");
        writeln!(all, "==== {name} --help\n\n{}\n", help.trim_end()).unwrap();
        for name in subcommands(&help) {
            commands.push_back([&command[..], &[name.to_owned()]].concat());
        }
    }
    check("help", &all);
}

fn help(command: &[String]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_towline"))
        .args(command)
        .arg("--help")
        .env_clear()
        .output()
        .unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// The names in the list of commands.
fn subcommands(help: &str) -> Vec<&str> {
    let lines = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let list = lines.take_while(|line| line.starts_with("  "));
    let names = list.filter(|line| !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names.filter(|name| *name != "help").collect()
}
