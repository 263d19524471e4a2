//! `.ci/run` fails where it cannot check. Programs of a folder of its own stand in for cargo and rustup, so that each step
//! meets a machine that lacks something.

use std::{fs, os::unix::fs::PermissionsExt as _, path::Path, process::Command};

use crate::documents::ROOT;

/// Runs a step where cargo has this script, rustup has nothing and rustc is of another version. Gives the output of a run
/// that succeeds.
fn run(step: &str, cargo: &str, ci: Option<&str>) -> Result<String, String> {
    run_in(Path::new(ROOT), step, cargo, ci)
}

fn run_in(root: &Path, steps: &str, cargo: &str, ci: Option<&str>) -> Result<String, String> {
    let programs = tempfile::tempdir().unwrap();
    for (name, script) in [
        ("cargo", cargo),
        ("rustup", "exit 1"),
        ("rustc", "echo rustc 0.1.0"),
        ("python3", "exit 0"),
        ("node", "exit 0"),
        ("npm", "exit 0"),
        ("bwrap", "exit 0"),
    ] {
        let path = programs.path().join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let path = format!("{}:/usr/bin:/bin", programs.path().display());
    let mut command = Command::new("bash");
    command
        .arg(".ci/run")
        .args(steps.split(' '))
        .current_dir(root)
        .env("PATH", path)
        .env_remove("CI")
        .envs(ci.map(|value| ("CI", value)));
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    let text = String::from_utf8(text).unwrap();
    if output.status.success() {
        Ok(text)
    } else {
        Err(text)
    }
}

#[track_caller]
fn check(step: &str, cargo: &str, ci: Option<&str>, expected: Result<&str, &str>) {
    let ran = run(step, cargo, ci);
    let is_as_expected = match (&ran, expected) {
        (Ok(text), Ok(words)) | (Err(text), Err(words)) => text.contains(words),
        _ => false,
    };
    assert!(is_as_expected, "{step}, CI={ci:?}: {ran:?}");
}

#[test]
fn where_ci_is_set_only_the_advisories_are_left_out() {
    let ci = Some("true");
    for (step, lacks) in [
        ("dependencies", "cargo-deny (cannot be installed)"),
        ("fuzz", "fuzzing (cargo-fuzz cannot be installed)"),
        ("msrv", "(cannot be installed)"),
    ] {
        check(step, "exit 1", None, Ok("1 left out"));
        check(step, "exit 1", ci, Err(lacks));
    }
    let without_advisories = "test \"$2\" != fetch";
    check(
        "dependencies",
        without_advisories,
        ci,
        Ok("not run: advisories"),
    );
}

#[test]
fn a_slow_test_that_does_not_run_where_it_should_is_a_failure() {
    let root = tempfile::tempdir().unwrap();
    for name in [".ci/run", "README.md"] {
        let copy = root.path().join(name);
        fs::create_dir_all(copy.parent().unwrap()).unwrap();
        fs::copy(Path::new(ROOT).join(name), copy).unwrap();
    }
    let lists = "mkdir -p target/debug; if [ -z \"$TOWLINE_SLOW\" ]; then echo slow::one > target/debug/not-run.txt; \
                 else : > target/debug/not-run.txt";
    let runs_nothing = format!("{lists}; fi");
    let ran = run_in(root.path(), "tests slow-tests", &runs_nothing, Some("true"));
    assert!(ran.unwrap_err().contains("did not run: slow::one"));
    let runs_it = format!("{lists}; echo 'test slow::one ... ok'; fi");
    let ran = run_in(root.path(), "tests slow-tests", &runs_it, Some("true"));
    assert!(ran.unwrap().contains("all 2 steps done"));
}

#[test]
fn a_list_of_fuzz_targets_that_is_not_there_or_short_is_a_failure() {
    let lists = |list: &str| format!("test \"$2\" != list || {{ {list}; }}");
    check("fuzz", &lists("exit 1"), None, Err(""));
    check(
        "fuzz",
        &lists("echo one; echo two"),
        None,
        Err("names 2 targets"),
    );
    let three = lists("echo one; echo two; echo three");
    check("fuzz", &three, None, Ok("all 1 steps done"));
}
