//! Checks: what `.ci/run` makes and what the workflow on GitHub makes are the same steps.

use std::{collections::BTreeSet, fs, io, path::Path};

use super::Problem;

/// Each step of `.ci/run` is made by the workflow, through `.ci/run`, and no other step is named there.
///
/// # Errors
/// When one of the two files cannot be read.
pub fn steps_are_the_same(root: &Path) -> io::Result<Vec<Problem>> {
    let script = fs::read_to_string(root.join(SCRIPT))?;
    let workflow = fs::read_to_string(root.join(WORKFLOW))?;
    Ok(compare(&script, &workflow))
}

fn compare(script: &str, workflow: &str) -> Vec<Problem> {
    let list = script.lines().find_map(|line| line.strip_prefix("steps=("));
    let list = list.and_then(|line| line.strip_suffix(')'));
    let made: BTreeSet<&str> = list.unwrap_or_default().split_whitespace().collect();
    // The whole line: what stands behind it could make a failure pass.
    let runs_it = workflow.lines().any(|line| {
        line.trim().trim_start_matches("- ") == "run: bash .ci/run ${{ matrix.steps }}"
    });
    let named: BTreeSet<&str> = matrix(workflow).flat_map(str::split_whitespace).collect();
    let mut problems = Vec::new();
    if made.is_empty() || !runs_it {
        problems.push(Problem::new(
            if runs_it { SCRIPT } else { WORKFLOW },
            "the list of steps is not where it is looked for",
            "keep `steps=(…)` in the script, and `run: bash .ci/run ${{ matrix.steps }}` in the workflow",
        ));
    }
    for (index, line) in workflow.lines().enumerate() {
        let line = line.trim().trim_start_matches("- ");
        let is_condition = LETS_PASS.iter().any(|key| line.starts_with(key));
        if is_condition && !CONDITIONS.contains(&line) {
            problems.push(Problem::new(
                format!("{WORKFLOW}:{}", index + 1),
                format!("`{line}` can make a run green without its checks"),
                "take the condition away; those of steps that check nothing are listed in CONDITIONS",
            ));
        }
    }
    for trigger in TRIGGERS {
        if !workflow.lines().any(|line| line.trim() == *trigger) {
            problems.push(Problem::new(
                WORKFLOW,
                format!("does not run at `{trigger}`"),
                "let each push and each pull request be checked",
            ));
        }
    }
    for step in made.difference(&named) {
        let remedy = format!("add `- {step}` to the steps of the job");
        problems.push(Problem::new(
            WORKFLOW,
            format!("does not make the step `{step}`"),
            remedy,
        ));
    }
    for step in named.difference(&made) {
        let remedy = "name a step of `.ci/run steps`";
        problems.push(Problem::new(
            WORKFLOW,
            format!("`{step}` is no step"),
            remedy,
        ));
    }
    problems
}

/// The entries of the matrix `steps`.
fn matrix(workflow: &str) -> impl Iterator<Item = &str> {
    let lines = workflow.lines().map(str::trim);
    let list = lines.skip_while(|line| *line != "steps:").skip(1);
    list.take_while(|line| line.starts_with("- ") || line.starts_with('#'))
        .filter_map(|line| line.strip_prefix("- "))
}

/// Conditions of steps that fetch a compiler or keep what a failure left.
const CONDITIONS: &[&str] = &[
    "if: matrix.steps == 'fuzz'",
    "if: failure() && matrix.steps == 'fuzz'",
];

/// Keys that let a job, or an entry of its matrix, pass without being made.
const LETS_PASS: &[&str] = &[
    "if:",
    "continue-on-error:",
    "exclude:",
    "needs:",
    "shell:",
    "defaults:",
    "paths:",
    "paths-ignore:",
    "branches-ignore:",
    "CI:",
];

/// Lines without which changes would not be checked.
const TRIGGERS: &[&str] = &["push:", "pull_request:"];

const SCRIPT: &str = ".ci/run";
const WORKFLOW: &str = ".github/workflows/ci.yml";

#[cfg(test)]
mod tests {
    use super::compare;

    #[test]
    fn a_step_that_only_one_of_the_two_makes_is_found() {
        let script = "#!/bin/sh\nsteps=(format tests slow-tests)\n";
        let workflow = |steps: &str| {
            format!(
                "on:\n  push:\n  pull_request:\nmatrix:\n  steps:\n{steps}runs-on: x\nsteps:\n  - run: bash .ci/run ${{{{ matrix.steps }}}}\n"
            )
        };
        let broken = |workflow: &str| -> Vec<String> {
            let problems = compare(script, workflow).into_iter();
            problems.map(|problem| problem.broken).collect()
        };
        assert_eq!(
            broken(&workflow("  - format\n  # both\n  - tests slow-tests\n")),
            [""; 0]
        );
        assert_eq!(
            broken(&workflow("  - format\n  - tests\n")),
            ["does not make the step `slow-tests`"]
        );
        assert_eq!(
            broken(&workflow("  - format\n  - lint\n  - tests slow-tests\n")),
            ["`lint` is no step"]
        );
        assert_eq!(broken("jobs:\n").len(), 6);
        let sound = workflow("  - format\n  - tests slow-tests\n");
        let swallowed = sound.replace("matrix.steps }}", "matrix.steps }} || true");
        assert_eq!(broken(&swallowed).len(), 1, "{swallowed}");
        for condition in [
            "if: false",
            "continue-on-error: true",
            "exclude:",
            "CI: \"\"",
            "shell: sh -c 'true {0}'",
            "paths-ignore:",
            "needs: never",
        ] {
            assert_eq!(
                broken(&format!("{sound}    {condition}\n")),
                [format!(
                    "`{condition}` can make a run green without its checks"
                )]
            );
        }
        assert_eq!(
            broken(&format!("{sound}  - if: matrix.steps == 'fuzz'\n")),
            [""; 0]
        );
    }
}
