//! Commands with a real shell: who ends, when, and that nobody stays behind.
//!
//! Each command holds a named pipe open, and so does everything it starts. The other end is at its end when the last of
//! them is gone: no process ids, no waiting for a while.

use std::{
    fs::File,
    io::{BufRead as _, BufReader, Read as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use tokio::{sync::mpsc::UnboundedReceiver, time::timeout};

use super::*;

/// The reading end of a named pipe that processes hold.
struct Pulse {
    path: PathBuf,
    signs: UnboundedReceiver<Sign>,
}

#[derive(Debug, PartialEq, Eq)]
enum Sign {
    /// A process wrote a line: it is there.
    Up,
    /// No process holds the pipe any more.
    Gone,
}

impl Pulse {
    fn in_folder(folder: &Path) -> Self {
        let path = folder.join("pulse");
        let made = Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        let (sender, signs) = mpsc::unbounded_channel();
        let file = path.clone();
        thread::spawn(move || {
            let mut reader = BufReader::new(File::open(file).unwrap());
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            sender.send(Sign::Up).ok();
            reader.read_to_end(&mut Vec::new()).unwrap();
            sender.send(Sign::Gone).ok();
        });
        Self { path, signs }
    }

    /// A command that has a child, a grandchild, and one that leaves the group; all hold the pipe and ignore `SIGTERM`.
    fn stubborn(&self) -> String {
        let path = self.path.display();
        format!(
            "trap '' TERM; exec 9>'{path}'; (sleep 1000 & wait) & setsid sleep 1000 & echo up >&9; sleep 1000; wait"
        )
    }

    async fn expect(&mut self, sign: Sign) {
        let found = timeout(PATIENCE, self.signs.recv()).await;
        assert_eq!(found.ok().flatten(), Some(sign));
    }
}

fn commands(folder: &Path) -> (Commands, mpsc::Receiver<TaskEvent>) {
    Commands::new(CommandOptions {
        environment: std::env::vars_os().collect(),
        folder: folder.join("tasks"),
    })
}

fn order(command: impl Into<String>) -> Order {
    Order {
        command: command.into(),
        description: Some("d".to_owned()),
        tool_use_id: "toolu_1".to_owned(),
        directory: std::env::temp_dir(),
    }
}

async fn ended(commands: &Commands, command: &str) -> (TaskEnd, String) {
    match commands.run(order(command), PATIENCE).await.unwrap() {
        Waited::Ended(ended) => (ended.end, ended.first(1000).await.unwrap().text),
        Waited::Backgrounded(task) => panic!("{task:?}"),
    }
}

fn files(folder: &Path) -> usize {
    folder.join("tasks").read_dir().unwrap().count()
}

#[tokio::test]
async fn a_command_ends_with_its_code_and_its_output_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let (commands, _events) = commands(folder.path());
    for (command, code, output) in [
        ("echo out; echo err >&2; echo out", 0, "out\nerr\nout\n"),
        ("exit 3", 3, ""),
        ("kill -9 $$", 137, ""),
        ("cat; echo $#", 0, "0\n"),
        ("if", 2, "syntax error"),
        ("nosuchcommand", 127, "line 1: nosuchcommand"),
    ] {
        let (end, text) = ended(&commands, command).await;
        assert_eq!(end, TaskEnd::Exited(code), "{command}");
        assert!(
            text == output || (code > 0 && text.contains(output)),
            "{text:?}"
        );
    }
    assert_eq!(files(folder.path()), 0, "what was read is removed");
}

#[tokio::test]
async fn a_command_whose_time_is_up_ends_with_all_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let mut pulse = Pulse::in_folder(folder.path());
    let (commands, _events) = commands(folder.path());
    let run = commands.run(order(pulse.stubborn()), Duration::from_millis(500));
    let Waited::Ended(ended) = run.await.unwrap() else {
        panic!("not ended");
    };
    assert_eq!(ended.end, TaskEnd::TimedOut);
    pulse.expect(Sign::Up).await;
    pulse.expect(Sign::Gone).await;
}

#[tokio::test]
async fn what_a_command_started_has_time_to_end_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let mut pulse = Pulse::in_folder(folder.path());
    let (commands, _events) = commands(folder.path());
    let tidied = folder.path().join("tidied");
    // The shell itself ends at the first signal.
    let command = format!(
        "exec 9>'{}'; {{ trap 'sleep 0.2; touch {}; exit' TERM; echo up >&9; while :; do sleep 0.01; done; }} & wait",
        pulse.path.display(),
        tidied.display()
    );
    let task = commands.start(order(command)).await.unwrap();
    pulse.expect(Sign::Up).await;
    commands.stop(&task.id).await.unwrap();
    pulse.expect(Sign::Gone).await;
    assert!(tidied.exists());
}

#[tokio::test]
async fn a_dropped_future_leaves_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let mut pulse = Pulse::in_folder(folder.path());
    let (commands, _events) = commands(folder.path());
    let run = commands.run(order(pulse.stubborn()), PATIENCE);
    tokio::select! {
        waited = run => panic!("{waited:?}"),
        () = pulse.expect(Sign::Up) => {}
    }
    pulse.expect(Sign::Gone).await;
}

#[tokio::test]
async fn a_start_that_is_dropped_before_the_host_is_told_leaves_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let mut pulse = Pulse::in_folder(folder.path());
    let (commands, mut events) = commands(folder.path());
    let sender = commands.owner.shared.events.clone();
    let slots = sender.reserve_many(EVENTS).await.unwrap();
    tokio::select! {
        started = commands.start(order(pulse.stubborn())) => panic!("{started:?}"),
        () = pulse.expect(Sign::Up) => {}
    }
    drop(slots);
    pulse.expect(Sign::Gone).await;
    assert!(matches!(events.recv().await, Some(TaskEvent::Started(_))));
    assert!(matches!(
        events.recv().await,
        Some(TaskEvent::Finished { .. })
    ));
}

#[tokio::test]
async fn dropped_commands_leave_nothing_in_the_background() {
    let folder = tempfile::tempdir().unwrap();
    let mut pulse = Pulse::in_folder(folder.path());
    let (commands, _events) = commands(folder.path());
    commands.start(order(pulse.stubborn())).await.unwrap();
    pulse.expect(Sign::Up).await;
    drop(commands);
    pulse.expect(Sign::Gone).await;
}

#[test]
fn a_runtime_that_ends_takes_its_commands_along() {
    let folder = tempfile::tempdir().unwrap();
    let pulse = Pulse::in_folder(folder.path());
    let mut pulse = pulse;
    let runtime = || {
        tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap()
    };
    let first = runtime();
    let kept = first.block_on(async {
        let (commands, events) = commands(folder.path());
        commands.start(order(pulse.stubborn())).await.unwrap();
        pulse.expect(Sign::Up).await;
        (commands, events)
    });
    drop(first);
    runtime().block_on(pulse.expect(Sign::Gone));
    drop(kept);
}

#[tokio::test]
async fn what_a_command_leaves_behind_goes_on_until_the_session_ends() {
    let folder = tempfile::tempdir().unwrap();
    let mut pulse = Pulse::in_folder(folder.path());
    let (commands, _events) = commands(folder.path());
    let path = pulse.path.display();
    let server = format!("(exec 9>'{path}'; echo up >&9; sleep 1000) & echo started");
    let (end, text) = ended(&commands, &server).await;
    assert_eq!((end, text.as_str()), (TaskEnd::Exited(0), "started\n"));
    pulse.expect(Sign::Up).await;
    assert!(pulse.signs.try_recv().is_err(), "it is still there");
    commands.stop_all().await;
    pulse.expect(Sign::Gone).await;
}

#[tokio::test]
async fn a_command_in_the_background_is_told_of_looked_at_and_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let mut pulse = Pulse::in_folder(folder.path());
    let (commands, mut events) = commands(folder.path());
    let command = format!("echo first; {}", pulse.stubborn());
    let task = commands.start(order(command)).await.unwrap();
    assert!(
        task.id.len() == 9 && task.id.starts_with('b'),
        "{}",
        task.id
    );
    assert_eq!(events.recv().await, Some(TaskEvent::Started(task.clone())));
    assert_eq!(commands.running(), std::slice::from_ref(&task));
    pulse.expect(Sign::Up).await;
    let output = commands.output(&task.id, 1000).await.unwrap().unwrap();
    assert_eq!(output.text, "first\n");
    assert_eq!(commands.news(&task.id, 3).await.unwrap().unwrap(), "fir");
    assert_eq!(commands.news(&task.id, 30).await.unwrap().unwrap(), "st\n");
    let status = commands.stop(&task.id).await.unwrap();
    assert_eq!(status.end, Some(TaskEnd::Stopped));
    pulse.expect(Sign::Gone).await;
    let finished = TaskEvent::Finished {
        task: task.clone(),
        end: TaskEnd::Stopped,
        summary: "d".to_owned(),
    };
    assert_eq!(events.recv().await, Some(finished));
    assert_eq!(commands.running(), []);
    assert!(task.output_file.unwrap().is_file(), "the output stays");
    assert!(commands.stop("bnothere").await.is_none());
}

#[tokio::test]
async fn a_command_in_the_background_says_how_it_ended() {
    let folder = tempfile::tempdir().unwrap();
    let (commands, mut events) = commands(folder.path());
    for (command, status, summary) in [
        (
            "true",
            "completed",
            "Background command \"d\" completed (exit code 0)",
        ),
        (
            "exit 4",
            "failed",
            "Background command \"d\" failed with exit code 4",
        ),
    ] {
        let task = commands.start(order(command)).await.unwrap();
        let state = commands.wait(&task.id, PATIENCE).await.unwrap();
        assert_eq!(state.end.unwrap().notification_status(), status);
        assert_eq!(events.recv().await, Some(TaskEvent::Started(task)));
        match events.recv().await {
            Some(TaskEvent::Finished { summary: found, .. }) => assert_eq!(found, summary),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_long_command_that_is_waited_for_is_told_of_too() {
    let folder = tempfile::tempdir().unwrap();
    let (commands, mut events) = commands(folder.path());
    let path = folder.path().join("go");
    assert!(
        Command::new("mkfifo")
            .arg(&path)
            .status()
            .unwrap()
            .success()
    );
    let waits = format!("read -r line < '{}'", path.display());
    let run = commands.run(order(waits), PATIENCE);
    let told = async {
        let Some(TaskEvent::Started(task)) = events.recv().await else {
            panic!("not started");
        };
        assert_eq!(
            (task.is_backgrounded, task.output_file.clone()),
            (false, None)
        );
        tokio::fs::write(&path, "go\n").await.unwrap();
        let finished = TaskEvent::Finished {
            task,
            end: TaskEnd::Exited(0),
            summary: "d".to_owned(),
        };
        assert_eq!(events.recv().await, Some(finished));
    };
    let (waited, ()) = tokio::join!(run, told);
    assert!(matches!(waited.unwrap(), Waited::Ended(_)));
}

#[tokio::test]
async fn a_command_that_is_waited_for_can_be_moved_to_the_background() {
    let folder = tempfile::tempdir().unwrap();
    let mut pulse = Pulse::in_folder(folder.path());
    let (commands, mut events) = commands(folder.path());
    let run = commands.run(order(pulse.stubborn()), PATIENCE);
    let moved = async {
        pulse.expect(Sign::Up).await;
        // Nobody was told of it yet: it is not meant.
        commands.background_all();
        let Some(TaskEvent::Started(task)) = events.recv().await else {
            panic!("not told of");
        };
        assert!(!task.is_backgrounded);
        commands.background_all();
        events.recv().await
    };
    let (waited, moved) = tokio::join!(run, moved);
    let Waited::Backgrounded(task) = waited.unwrap() else {
        panic!("not in the background");
    };
    assert!(task.is_backgrounded && task.output_file.is_some());
    assert_eq!(moved, Some(TaskEvent::Backgrounded(task.clone())));
    assert_eq!(commands.running(), [task]);
    commands.stop_all().await;
    pulse.expect(Sign::Gone).await;
}

#[tokio::test]
async fn the_directory_at_the_end_is_known_also_after_exit() {
    let folder = tempfile::tempdir().unwrap();
    let (commands, _events) = commands(folder.path());
    let real = std::fs::canonicalize(folder.path()).unwrap();
    for command in [
        "cd 'PLACE'",
        "cd 'PLACE'; exit 3",
        "set -e; cd 'PLACE'; false",
    ] {
        let command = command.replace("PLACE", &real.display().to_string());
        let Waited::Ended(ended) = commands.run(order(command), PATIENCE).await.unwrap() else {
            panic!("not ended");
        };
        assert_eq!(ended.directory().await.unwrap(), real);
    }
}

/// Plays the agent in the next test, when that starts this binary again.
#[tokio::test]
async fn an_agent_to_be_killed() {
    let Some(folder) = std::env::var_os("TOWLINE_TEST_FOLDER") else {
        return;
    };
    let folder = PathBuf::from(folder);
    let (commands, _events) = commands(&folder);
    let command = std::fs::read_to_string(folder.join("command")).unwrap();
    commands.start(order(command)).await.unwrap();
    std::future::pending::<()>().await;
}

#[tokio::test]
async fn an_agent_that_is_killed_leaves_no_process() {
    let folder = tempfile::tempdir().unwrap();
    let mut pulse = Pulse::in_folder(folder.path());
    std::fs::write(folder.path().join("command"), pulse.stubborn()).unwrap();
    let mut agent = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "commands::tests::an_agent_to_be_killed"])
        .env("TOWLINE_TEST_FOLDER", folder.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    pulse.expect(Sign::Up).await;
    agent.kill().unwrap();
    agent.wait().unwrap();
    pulse.expect(Sign::Gone).await;
}

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);
