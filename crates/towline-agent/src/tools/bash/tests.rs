//! `Bash` and its like with a real shell: what the model reads, what the host gets, where the shell is afterwards.

use serde_json::{Value, json};

use super::super::ToolCall;
use super::*;
use crate::commands::TaskEvent;

type Events = tokio::sync::mpsc::Receiver<TaskEvent>;

fn place() -> (tempfile::TempDir, Place, Events) {
    let folder = tempfile::tempdir().unwrap();
    let (place, events) = Place::in_folder(folder.path());
    (folder, place, events)
}

async fn call(place: &Place, name: &str, input: Value) -> Outcome {
    match ToolCall::read(name, &input).unwrap() {
        Ok(call) => call.run(place).await,
        Err(outcome) => outcome,
    }
}

async fn bash(place: &Place, command: &str) -> Outcome {
    call(
        place,
        "Bash",
        json!({"command": command, "description": "d"}),
    )
    .await
}

fn text(outcome: &Outcome) -> String {
    outcome.content.text().as_str().to_owned()
}

#[tokio::test]
async fn results_have_the_shape_of_the_real_cli() {
    let (_folder, place, _events) = place();
    let good = |output: &str| json!({"stdout": output, "stderr": "", "interrupted": false, "isImage": false, "noOutputExpected": false});
    let cases = [
        ("echo hi", "hi", Some(false), good("hi")),
        ("printf 'a\\n\\n\\n'", "a", Some(false), good("a")),
        (
            "true",
            "(Bash completed with no output)",
            Some(false),
            good(""),
        ),
        (
            "echo out; echo err >&2",
            "out\nerr",
            Some(false),
            good("out\nerr"),
        ),
        (
            "printf '\\033[31mred\\033[0m'",
            "\u{1b}[31mred\u{1b}[0m",
            Some(false),
            good("\u{1b}[31mred\u{1b}[0m"),
        ),
        (
            "printf 'a\\377b'",
            "a\u{fffd}b",
            Some(false),
            good("a\u{fffd}b"),
        ),
        (
            "echo out; echo err >&2; exit 3",
            "Exit code 3\nout\nerr",
            Some(true),
            json!("Error: Exit code 3\nout\nerr"),
        ),
        (
            "exit 1",
            "Exit code 1",
            Some(true),
            json!("Error: Exit code 1"),
        ),
    ];
    for (command, expected, is_error, data) in cases {
        let outcome = bash(&place, command).await;
        assert_eq!(text(&outcome), expected);
        assert_eq!(
            (outcome.is_error, *outcome.data),
            (is_error, data),
            "{command}"
        );
        assert_eq!(outcome.changes, []);
    }
}

#[tokio::test]
async fn a_command_that_takes_too_long_is_an_error() {
    let (_folder, place, _events) = place();
    let input = json!({"command": "echo begun; sleep 1000", "timeout": 1000});
    let outcome = call(&place, "Bash", input).await;
    assert_eq!(
        text(&outcome),
        "Exit code 143\nCommand timed out after 1s\nbegun"
    );
    assert_eq!(outcome.is_error, Some(true));
}

#[test]
fn timeouts_stay_within_bounds() {
    let shell = Shell::default();
    for (wanted, seconds) in [
        (None, 120.0),
        (Some(0.0), 120.0),
        (Some(-5.0), 120.0),
        (Some(f64::NAN), 120.0),
        (Some(1_500.0), 1.5),
        (Some(0.000_1), 0.001),
        (Some(900_000.0), 600.0),
        (Some(f64::INFINITY), 120.0),
    ] {
        assert_eq!(timeout(wanted, shell).as_secs_f64(), seconds, "{wanted:?}");
    }
}

#[tokio::test]
async fn the_directory_is_kept_inside_the_project_and_reset_outside() {
    let (_folder, mut place, _events) = place();
    let project = place.project.to_path_buf();
    let inside = project.join("inside");
    let other = project.parent().unwrap().join("other");
    std::fs::create_dir(&inside).unwrap();
    std::fs::create_dir(&other).unwrap();

    let outcome = bash(&place, "cd inside && pwd").await;
    assert_eq!(text(&outcome), inside.display().to_string());
    assert_eq!(outcome.changes, [Change::Directory(inside.clone())]);

    place.current = inside;
    let reset = format!("Shell cwd was reset to {}", project.display());
    let outcome = bash(&place, "cd ../../other").await;
    assert_eq!(text(&outcome), reset);
    assert_eq!(outcome.data["stderr"], json!(reset));
    assert_eq!(outcome.changes, [Change::Directory(project.clone())]);
    let outcome = bash(&place, "cd ../../other; echo x; exit 2").await;
    assert_eq!(text(&outcome), format!("Exit code 2\nx\n{reset}"));

    place.directories = [other.clone()].into();
    let outcome = bash(&place, "cd ../../other").await;
    assert_eq!(outcome.changes, [Change::Directory(other.clone())]);

    // A directory that somebody removed in the meantime is no end of everything.
    std::fs::remove_dir(&other).unwrap();
    place.current = other;
    let outcome = bash(&place, "pwd").await;
    assert_eq!(text(&outcome), project.display().to_string());
    assert_eq!(outcome.changes, [Change::Directory(project)]);
}

#[tokio::test]
async fn an_output_that_is_too_long_is_kept_and_previewed() {
    let (_folder, place, _events) = place();
    let outcome = bash(&place, "seq 1 20000").await;
    let path = place
        .results
        .read_dir()
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let whole = std::fs::read_to_string(&path).unwrap();
    assert!(whole.ends_with("\n20000\n"));
    let shown = text(&outcome);
    let expected = format!(
        "<persisted-output>\nOutput too large (106.3KB). Full output saved to: {}\n\nPreview (first 2KB):\n{}\n...\n</persisted-output>",
        path.display(),
        &whole[..2000]
    );
    assert_eq!(shown, expected);
    assert_eq!(outcome.data["stdout"].as_str().unwrap().len(), 30_000);
    assert_eq!(outcome.data["persistedOutputPath"], json!(path));
    assert_eq!(outcome.data["persistedOutputSize"], json!(whole.len()));
    let barely = bash(&place, "head -c 30000 /dev/zero | tr '\\0' x").await;
    assert_eq!(text(&barely).len(), 30_000);
}

#[tokio::test]
async fn a_long_output_of_a_command_that_fails_is_cut_in_the_middle() {
    let (_folder, place, _events) = place();
    for count in [3_000, 100_000] {
        let outcome = bash(&place, &format!("seq 1 {count}; exit 1")).await;
        let shown = text(&outcome);
        assert!(shown.starts_with("Exit code 1\n1\n2\n"));
        assert!(shown.ends_with(&format!("\n{count}")));
        assert!((10_000..10_200).contains(&shown.len()), "{}", shown.len());
    }
}

#[tokio::test]
async fn a_command_in_the_background_is_started_looked_at_and_stopped() {
    let (_folder, place, mut events) = place();
    let input = json!({"command": "echo first; echo second; sleep 1000", "description": "bg", "run_in_background": true});
    let outcome = call(&place, "Bash", input).await;
    let id = outcome.data["backgroundTaskId"]
        .as_str()
        .unwrap()
        .to_owned();
    let Some(TaskEvent::Started(task)) = events.recv().await else {
        panic!("not started");
    };
    assert_eq!(
        (task.id.as_str(), task.tool_use_id.as_str()),
        (id.as_str(), "toolu_test")
    );
    let file = task.output_file.unwrap();
    let first = format!(
        "Command running in background with ID: {id}. Output is being written to: {}. ",
        file.display()
    );
    assert!(text(&outcome).starts_with(&first));

    let look = call(&place, "TaskOutput", json!({"task_id": id, "block": false})).await;
    assert_eq!(look.data["retrieval_status"], json!("not_ready"));
    assert_eq!(look.data["task"]["status"], json!("running"));

    let stop = call(&place, "TaskStop", json!({"task_id": id})).await;
    assert_eq!(stop.data["task_id"], json!(id));
    assert!(text(&stop).contains("Successfully stopped task"));
    let again = call(&place, "KillShell", json!({"shell_id": id})).await;
    assert_eq!(again.is_error, Some(true));
    assert!(text(&again).contains("is not running: it is killed"));
    let look = call(&place, "TaskOutput", json!({"task_id": id})).await;
    assert!(text(&look).starts_with("<retrieval_status>success</retrieval_status>"));
    assert!(text(&look).contains("<status>killed</status>"));
}

#[tokio::test]
async fn what_a_command_in_the_background_wrote_is_seen_once() {
    let (_folder, place, _events) = place();
    let input =
        json!({"command": "printf 'one\\ntwo\\nthree\\n'; exit 5", "run_in_background": true});
    let outcome = call(&place, "Bash", input).await;
    let id = outcome.data["backgroundTaskId"]
        .as_str()
        .unwrap()
        .to_owned();
    place
        .commands
        .wait(&id, Duration::from_secs(60))
        .await
        .unwrap();
    let look = call(&place, "BashOutput", json!({"bash_id": id, "filter": "^t"})).await;
    assert_eq!(
        text(&look),
        "<status>failed</status>\n\n<exit_code>5</exit_code>\n\n<stdout>\ntwo\nthree\n</stdout>"
    );
    let look = call(&place, "BashOutput", json!({"bash_id": id})).await;
    assert_eq!(
        text(&look),
        "<status>failed</status>\n\n<exit_code>5</exit_code>"
    );
    let bad = call(&place, "BashOutput", json!({"bash_id": id, "filter": "("})).await;
    assert!(text(&bad).contains("the filter cannot be used"));
}

#[tokio::test]
async fn calls_that_make_no_sense_are_clear_errors() {
    let (_folder, place, _events) = place();
    let cases = [
        (
            "Bash",
            json!({}),
            "The required parameter `command` is missing",
        ),
        ("Bash", json!({"command": "a\0b"}), "NUL character"),
        (
            "Bash",
            json!({"command": "true", "nope": 1}),
            "An unexpected parameter `nope` was provided",
        ),
        (
            "TaskStop",
            json!({"task_id": "zz"}),
            "No task found with ID: zz",
        ),
        ("TaskStop", json!({}), "needs a task_id"),
        (
            "TaskOutput",
            json!({"task_id": "zz"}),
            "No task found with ID: zz",
        ),
        (
            "KillBash",
            json!({"shell_id": "zz"}),
            "No shell found with ID: zz",
        ),
        (
            "KillShell",
            json!({"shell_id": "zz"}),
            "No shell found with ID: zz",
        ),
        (
            "BashOutput",
            json!({"bash_id": "zz"}),
            "No shell found with ID: zz",
        ),
    ];
    for (name, input, words) in cases {
        let outcome = call(&place, name, input).await;
        assert_eq!(outcome.is_error, Some(true), "{name}");
        assert!(text(&outcome).contains(words), "{}", text(&outcome));
        assert!(text(&outcome).starts_with("<tool_use_error>"));
    }
}

#[tokio::test]
async fn what_a_failed_command_wrote_is_kept_whole_where_it_is_too_long_to_show() {
    let (_folder, place, _events) = place();
    let whole: String = (1..=20_000).map(|number| format!("{number}\n")).collect();
    let failing = json!({"command": "seq 1 20000; exit 3"});
    let slow = json!({"command": "seq 1 20000; sleep 1000", "timeout": 1_500});
    for (input, first) in [
        (failing, "Exit code 3\n1\n"),
        (slow, "Exit code 143\nCommand timed out after 1.5s\n1\n"),
    ] {
        let outcome = call(&place, "Bash", input).await;
        assert_eq!(outcome.is_error, Some(true));
        let text = text(&outcome);
        assert!(text.starts_with(first), "{text}");
        assert!(text.ends_with("\n20000"), "{text}");
        let (_, path) = text.split_once("full output saved to: ").unwrap();
        let (path, _) = path.split_once(']').unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), whole);
        assert!(Path::new(path).starts_with(&place.results), "{path}");
    }
}

#[tokio::test]
async fn an_output_of_wide_characters_is_shown_once() {
    let (_folder, place, _events) = place();
    // More bytes than characters are allowed, and fewer characters.
    let outcome = bash(&place, "for i in $(seq 1 6000); do printf 😀; done; exit 1").await;
    assert_eq!(
        text(&outcome),
        format!("Exit code 1\n{}", "😀".repeat(6_000))
    );
}
