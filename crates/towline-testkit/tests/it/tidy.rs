//! The house rules hold in this repository.

use std::{env, path::Path};

use towline_testkit::{
    not_run,
    tidy::{self, History, Problem},
};

fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

#[track_caller]
fn check(problems: &[Problem]) {
    let list: String = problems
        .iter()
        .map(|problem| format!("\n  {problem}"))
        .collect();
    assert!(problems.is_empty(), "{} to fix:{list}", problems.len());
}

#[test]
fn crates_depend_only_on_what_the_table_allows() {
    check(&tidy::crate_edges(&tidy::read_metadata(root()).unwrap()));
}

#[test]
fn manifests_inherit_from_the_workspace() {
    check(&tidy::manifests(root()).unwrap());
}

#[test]
fn files_open_with_what_they_own() {
    check(&tidy::headers(root()).unwrap());
}

#[test]
fn files_are_small() {
    check(&tidy::files_are_small(root()).unwrap());
}

#[test]
fn modules_are_named_after_what_they_own() {
    check(&tidy::module_names(root()).unwrap());
}

#[test]
fn the_protocol_crate_is_pure() {
    check(&tidy::protocol_is_pure(root()).unwrap());
}

#[test]
fn every_test_file_is_compiled() {
    check(&tidy::tests_are_listed(root()).unwrap());
}

#[test]
fn every_test_that_is_left_out_is_entered() {
    check(&tidy::tests_enter_themselves(root()).unwrap());
}

#[test]
fn the_list_of_tests_that_did_not_run_is_made_last() {
    check(&tidy::the_list_comes_last(root()).unwrap());
}

#[test]
fn what_a_library_offers_is_shown_by_an_example_that_runs() {
    check(&tidy::examples_run(root()).unwrap());
}

#[test]
fn habits_of_speech_only_fall() {
    if env::var_os("TOWLINE_RECORD_WORDS").is_some_and(|value| value == "1") {
        tidy::record_words(root()).unwrap();
    }
    check(&tidy::words(root(), history()).unwrap());
}

#[test]
fn a_changed_snapshot_is_announced_by_its_commit() {
    if let Some(history) = history() {
        check(&tidy::snapshots_are_announced(history).unwrap());
    }
}

#[test]
fn the_workflow_makes_each_step_of_the_check() {
    check(&tidy::steps_are_the_same(root()).unwrap());
}

/// The history; a test that needs it and has none is entered as not run.
fn history() -> Option<History<'static>> {
    let history = History::open(root()).unwrap();
    if history.is_none() {
        not_run::enter_for_lack_of("full git history");
    }
    history
}
