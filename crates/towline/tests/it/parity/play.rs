//! Plays the host of a recorded conversation to a live program, over a scripted API.
//!
//! A program that says something else does not hang the play: what is waited for in vain is noted, and the play goes on.

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use tokio::{
    io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader},
    process::{Child, ChildStdin, Command},
    sync::mpsc,
    time::timeout,
};
use towline_testkit::{
    real_cli::RealCli,
    script_api::{Script, ScriptApi},
    waiting::{eventually, stands_still},
};

use super::{
    recording::{Line, Recording, is_uuid},
    script,
    setup::{Setup, Signal},
    steps::{Step, steps},
    suite::Suite,
};

/// Who is played with, and how long one waits for it.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    pub(crate) path: PathBuf,
    pub(crate) patience: Duration,
}

/// What a program did.
#[derive(Debug)]
pub(crate) struct Played {
    pub(crate) lines: Vec<Line>,
    pub(crate) stderr: String,
    pub(crate) code: i32,
    /// What was waited for in vain.
    pub(crate) notes: Vec<String>,
    /// Why the API refused requests.
    pub(crate) refusals: Vec<String>,
}

/// Has the conversation with a program, in a room of its own.
pub(crate) fn play(
    program: &Program,
    recording: &Recording,
    setup: &Setup,
    suite: &Suite,
) -> Played {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let room = RealCli::of(program.path.clone()).unwrap();
        let places = Places::of(&room, setup);
        setup.write_files(&room.project(), places.outside.as_ref());
        let mut recording = recording.clone();
        for before in &setup.before {
            let mut earlier = suite.recording(&before.trace);
            if let Some(session) = &before.session {
                let ids = earlier.arguments.iter_mut();
                for id in ids.filter(|argument| is_uuid(argument)) {
                    id.clone_from(session);
                }
            }
            let had = Play::new(program, &places, &earlier)
                .run(&room, &earlier, &before.setup(&suite.setups))
                .await;
            put_ids(&mut recording, &earlier.lines(), &had.lines);
        }
        Play::new(program, &places, &recording)
            .run(&room, &recording, setup)
            .await
    })
}

/// Arguments that name a line of the earlier conversation must name it as it is called now.
fn put_ids(recording: &mut Recording, recorded: &[Line], live: &[Line]) {
    for (recorded, live) in recorded.iter().zip(live) {
        if let (Some(recorded), Some(live)) = (recorded.text("/uuid"), live.text("/uuid")) {
            for argument in &mut recording.arguments {
                if argument == recorded {
                    live.clone_into(argument);
                }
            }
        }
    }
}

/// The names of places in recordings and in the room.
#[derive(Debug)]
struct Places {
    /// Where `/project` and `/outside` are.
    project: String,
    outside: String,
    /// What is live, and what a recording has in its place, in the order in which they are looked for.
    names: Vec<(String, &'static str)>,
}

impl Places {
    fn of(room: &RealCli, setup: &Setup) -> Self {
        let root = room.home().parent().unwrap().canonicalize().unwrap();
        let root = root.display().to_string();
        let [project, added, home, outside] =
            ["project", "added", "home", "outside"].map(|name| format!("{root}/{name}"));
        let slug = project.replace(|letter: char| !letter.is_ascii_alphanumeric(), "-");
        let file = format!("{outside}/file");
        let names = vec![
            (project.clone(), "/project"),
            (added.clone(), "/project"),
            // In the recordings the home has the project's name, and a folder the name of the file in it.
            (home, "/project"),
            (slug, "-project"),
            (file.clone(), "/outside"),
            (format!("{outside}/"), "/outside"),
            (outside.clone(), "/outside"),
        ];
        for folder in [&added, &outside] {
            fs::create_dir(folder).unwrap();
        }
        Self {
            project: if setup.is_added { added } else { project },
            outside: file,
            names,
        }
    }

    fn live(&self, text: &str) -> String {
        text.replace("/outside", &self.outside)
            .replace("/project", &self.project)
    }

    fn recorded(&self, text: &str) -> String {
        let names = self.names.iter();
        names.fold(text.to_owned(), |text, (live, recorded)| {
            text.replace(live, recorded)
        })
    }
}

/// A play that goes on.
struct Play<'a> {
    patience: Duration,
    /// Towline, from which the API takes nothing that it would refuse.
    is_ours: bool,
    places: &'a Places,
    /// Questions that were recorded and have not come yet: the call that they are about, and their id.
    questions: Vec<(Option<String>, String)>,
    /// Commands that were recorded and have not begun yet, by their ids.
    tasks: Vec<String>,
    /// Recorded ids of questions and commands, and those that they have now.
    ids: Vec<(String, String)>,
    heard: HashMap<String, usize>,
    expected: HashMap<String, usize>,
    lines: Vec<Line>,
    notes: Vec<String>,
    is_over: bool,
}

impl<'a> Play<'a> {
    fn new(program: &Program, places: &'a Places, recording: &Recording) -> Self {
        let questions = recording.lines().into_iter().filter_map(|line| {
            line.kind.starts_with("control_request").then(|| {
                let call = line.text("/request/tool_use_id").map(str::to_owned);
                (
                    call,
                    line.text("/request_id").unwrap_or_default().to_owned(),
                )
            })
        });
        let started = recording.lines().into_iter();
        let started = started.filter(|line| line.kind == "system/task_started");
        let tasks = started.filter_map(|line| line.text("/task_id").map(str::to_owned));
        Self {
            patience: program.patience,
            is_ours: program.path == Path::new(env!("CARGO_BIN_EXE_towline")),
            places,
            questions: questions.collect(),
            tasks: tasks.collect(),
            ids: Vec::new(),
            heard: HashMap::new(),
            expected: HashMap::new(),
            lines: Vec::new(),
            notes: Vec::new(),
            is_over: false,
        }
    }

    async fn run(mut self, room: &RealCli, recording: &Recording, setup: &Setup) -> Played {
        let (api, plan) = match &setup.script {
            Some(script) => {
                let script = Script::from_toml(&self.places.live(script)).unwrap();
                (script, steps(recording, &[], setup))
            }
            None => {
                let replies = script::replies(recording);
                let script = script::script(&replies, |text| self.places.live(text));
                (script, steps(recording, &replies, setup))
            }
        };
        let api = if setup.is_refused && !self.is_ours {
            api.without_refusals()
        } else {
            api
        };
        let api = ScriptApi::start(api).await.unwrap();
        let mut child = self.start(room, recording, setup, &api.url());
        let mut stdin = child.stdin.take();
        let mut lines = lines_of(&mut child);
        let errors = stderr_of(&mut child);

        for step in plan {
            if let Step::Hear(kind) = step {
                *self.expected.entry(kind).or_default() += 1;
                continue;
            }
            self.hear(&mut lines).await;
            if self.is_over {
                break;
            }
            // A signal that ends a program must not race with the end of its input.
            if !matches!(step, Step::Close) || !setup.ends_by_signal() {
                self.act(step, &api, &mut stdin, &child).await;
            }
        }
        let held = stdin.filter(|_| setup.ends_by_signal());
        let status = self.end(&mut child, &mut lines).await;
        drop(held);
        Played {
            lines: self.lines,
            stderr: errors.await.unwrap(),
            code: status,
            notes: self.notes,
            refusals: api.refusals(),
        }
    }

    fn start(&self, room: &RealCli, recording: &Recording, setup: &Setup, url: &str) -> Child {
        let mut command = Command::from(room.command(url));
        for (name, value) in &setup.environment {
            if value.is_empty() {
                command.env_remove(name);
            } else {
                command.env(name, value);
            }
        }
        if let Some(folder) = &setup.folder {
            command.current_dir(room.project().join(folder));
        }
        let arguments = recording.arguments.iter();
        command
            .args(arguments.map(|argument| self.places.live(argument)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .unwrap()
    }

    /// Reads until all has come that was recorded so far.
    async fn hear(&mut self, lines: &mut mpsc::Receiver<String>) {
        while !self.is_over && !self.missing().is_empty() {
            match timeout(self.patience, lines.recv()).await {
                Ok(Some(line)) => self.take(&line),
                Ok(None) => self.is_over = true,
                Err(_) => {
                    let missing = self.missing().join(", ");
                    self.notes.push(format!("waited in vain for {missing}"));
                    self.expected = self.heard.clone();
                    // It was waited long enough once.
                    self.patience = self.patience.min(Duration::from_secs(1));
                }
            }
        }
    }

    fn missing(&self) -> Vec<String> {
        let missing = self.expected.iter().filter_map(|(kind, count)| {
            let heard = self.heard.get(kind).copied().unwrap_or_default();
            (heard < *count).then(|| format!("{kind} ({heard} of {count})"))
        });
        missing.collect()
    }

    fn take(&mut self, text: &str) {
        let line = Line::read(&self.places.recorded(text));
        *self.heard.entry(line.kind.clone()).or_default() += 1;
        if line.kind.starts_with("control_request")
            && let Some(id) = line.text("/request_id")
        {
            let call = line.text("/request/tool_use_id");
            let meant = self
                .questions
                .iter()
                .position(|(recorded, _)| recorded.as_deref() == call);
            if let Some(meant) = meant {
                let (_, recorded) = self.questions.remove(meant);
                self.ids.push((recorded, id.to_owned()));
            }
        }
        if let Some(task) = line.text("/task_id")
            && line.kind == "system/task_started"
            && !self.tasks.is_empty()
        {
            self.ids.push((self.tasks.remove(0), task.to_owned()));
        }
        self.lines.push(line);
    }

    async fn act(
        &mut self,
        step: Step,
        api: &ScriptApi,
        stdin: &mut Option<ChildStdin>,
        child: &Child,
    ) {
        match step {
            Step::Hear(_) => {}
            Step::Held(gate) => {
                let held = timeout(self.patience, api.wait_until_held(&gate)).await;
                if !matches!(held, Ok(Ok(()))) {
                    self.notes
                        .push(format!("no request came to the gate {gate}"));
                }
                self.settle(stdin.as_ref(), child).await;
            }
            Step::Release(gate) => api.release(&gate),
            Step::Say(text) => {
                if text.contains(r#""subtype":"interrupt""#) {
                    // It was recorded long after the line before it.
                    self.settle(stdin.as_ref(), child).await;
                }
                self.say(&text, b"\n", stdin).await;
            }
            Step::SayUnterminated(text) => self.say(&text, b"", stdin).await,
            Step::Close => drop(stdin.take()),
            Step::Signal(signal) => {
                let process = child.id().and_then(|id| i32::try_from(id).ok());
                let process = process.and_then(rustix::process::Pid::from_raw);
                if let Some(process) = process {
                    rustix::process::kill_process(process, number(signal)).ok();
                }
            }
        }
    }

    /// Waits until the program has read all that was sent to it, and does nothing any more.
    async fn settle(&mut self, stdin: Option<&ChildStdin>, child: &Child) {
        let is_read = || stdin.is_none_or(|pipe| rustix::io::ioctl_fionread(pipe) == Ok(0));
        let settled = timeout(self.patience, async {
            eventually("the program reads its input", is_read).await;
            stands_still(child.id().unwrap_or_default()).await;
        });
        if settled.await.is_err() {
            self.notes.push("it does not settle".to_owned());
        }
    }

    async fn say(&mut self, text: &str, end: &[u8], stdin: &mut Option<ChildStdin>) {
        let text = self.places.live(text);
        let ids = self.ids.iter();
        let text = ids.fold(text, |text, (recorded, live)| text.replace(recorded, live));
        // Bytes that are no UTF-8 were recorded as such.
        let mut bytes = Vec::with_capacity(text.len() + 1);
        for part in text.split_inclusive('\u{fffd}') {
            match part.strip_suffix('\u{fffd}') {
                Some(part) => {
                    bytes.extend_from_slice(part.as_bytes());
                    bytes.push(0xff);
                }
                None => bytes.extend_from_slice(part.as_bytes()),
            }
        }
        bytes.extend_from_slice(end);
        if let Some(pipe) = stdin
            && let Err(error) = pipe.write_all(&bytes).await
        {
            self.notes.push(format!("it reads no more: {error}"));
            stdin.take();
        }
    }

    /// Reads what is left, and waits for the end.
    async fn end(&mut self, child: &mut Child, lines: &mut mpsc::Receiver<String>) -> i32 {
        loop {
            match timeout(self.patience, lines.recv()).await {
                Ok(Some(line)) => self.take(&line),
                Ok(None) => break,
                Err(_) => {
                    self.notes.push("it does not end".to_owned());
                    break;
                }
            }
        }
        let process = child.id().and_then(|id| i32::try_from(id).ok());
        let ended = timeout(self.patience, child.wait()).await;
        // Whatever it has started goes with it.
        if let Some(process) = process.and_then(rustix::process::Pid::from_raw) {
            rustix::process::kill_process_group(process, rustix::process::Signal::KILL).ok();
        }
        match ended {
            Ok(status) => code(status.unwrap()),
            Err(_) => code(child.wait().await.unwrap()),
        }
    }
}

/// The exit code as a shell tells it.
fn code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status
        .code()
        .unwrap_or_else(|| 128 + status.signal().unwrap_or_default())
}

fn number(signal: Signal) -> rustix::process::Signal {
    match signal {
        Signal::Interrupt => rustix::process::Signal::INT,
        Signal::Hangup => rustix::process::Signal::HUP,
        Signal::Terminate => rustix::process::Signal::TERM,
    }
}

/// The lines of a program as they come.
fn lines_of(child: &mut Child) -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(1_024);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    tokio::spawn(async move {
        while let Ok(Some(line)) = lines.next_line().await {
            if sender.send(line).await.is_err() {
                return;
            }
        }
    });
    receiver
}

/// What a program complains, as far as somebody would read it.
fn stderr_of(child: &mut Child) -> tokio::task::JoinHandle<String> {
    let mut pipe = child.stderr.take().unwrap();
    tokio::spawn(async move {
        let mut bytes = Vec::new();
        let mut start = (&mut pipe).take(MOST_ERRORS);
        start.read_to_end(&mut bytes).await.ok();
        tokio::io::copy(&mut pipe, &mut tokio::io::sink())
            .await
            .ok();
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

const MOST_ERRORS: u64 = 1 << 20;
