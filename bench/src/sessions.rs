//! Owns the benchmark of many sessions at once: starts 200 fake agents, half of
//! them fast and half of them slow, reads them all, and looks at the memory of this
//! process on the way and at what is left of theirs.

use crate::corpus::Corpus;
use crate::figures::{self, Better};
use crate::machine;
use crate::report::Table;
use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use towline_host::{AgentCommand, Event};

/// Whether all lines came, memory stayed flat and no process is left.
pub fn run(corpus: &Path, agent: &Path) -> Result<bool, Box<dyn Error>> {
    let sessions = match env::var("BENCH_SESSIONS") {
        Ok(sessions) => sessions.parse::<usize>()?.max(1),
        Err(_) => DEFAULT_SESSIONS,
    };
    let script = Script::make(corpus)?;
    let runtime = Runtime::new()?;
    let before = machine::resident_megabytes()?;
    let started = Instant::now();
    let gauge = Arc::new(Gauge::new(sessions * script.lines));
    let ends = runtime.block_on(read_all(sessions, agent, &script, &gauge))?;
    let seconds = started.elapsed().as_secs_f64();

    let megabytes = script.megabytes * sessions as f64;
    println!(
        "\n{sessions} sessions at once, each {:.1} MB in {} lines, every second one slowly\n",
        script.megabytes, script.lines
    );
    let mut table = Table::new(&["lines delivered", "resident MB", "peak MB so far", ""]);
    let marks = gauge.marks()?;
    for (part, mark) in marks.iter().enumerate() {
        table.row(vec![
            mark.lines.to_string(),
            format!("{:.1}", mark.resident),
            format!("{:.1}", mark.peak),
            format!("{}/{PARTS}", part + 1),
        ]);
    }
    table.print();

    let (first, last) = (marks[0].peak, marks[PARTS - 1].peak);
    let growth = 100.0 * (last - first) / first;
    let left = running(agent)?;
    let lines = gauge.lines.load(Ordering::Relaxed);
    println!();
    println!(
        "lines delivered      {lines} of {}",
        sessions * script.lines
    );
    println!("sessions that ended by themselves  {ends} of {sessions}");
    println!(
        "time                 {seconds:.2} s, {:.0} MB/s",
        megabytes / seconds
    );
    println!(
        "memory per session   {:.0} KB",
        (last - before) * 1e3 / sessions as f64
    );
    figures::note("all sessions, MB/s", megabytes / seconds, Better::Higher);
    let each = (last - before) * 1e3 / sessions as f64;
    figures::note("memory per session, KB", each, Better::Lower);
    println!("growth from 1/{PARTS} to the end  {growth:.1}%");
    println!("leftover processes   {left}");
    Ok(lines == sessions * script.lines && ends == sessions && growth <= MOST_GROWTH && left == 0)
}

/// Starts and reads all sessions; how many agents ended by themselves and well.
async fn read_all(
    sessions: usize,
    agent: &Path,
    script: &Script,
    gauge: &Arc<Gauge>,
) -> Result<usize, Box<dyn Error>> {
    let mut tasks = JoinSet::new();
    for number in 0..sessions {
        let mut command = AgentCommand::new(agent)
            .without_initialize()
            .env("BENCH_AGENT_FILE", &script.path);
        if number % 2 == 1 {
            command = command.env("BENCH_AGENT_PAUSE_MS", PAUSE_MS);
        }
        tasks.spawn(read(command, Arc::clone(gauge)));
    }
    let mut ends = 0;
    while let Some(ended) = tasks.join_next().await {
        ends += usize::from(ended??);
    }
    Ok(ends)
}

async fn read(command: AgentCommand, gauge: Arc<Gauge>) -> Result<bool, towline_host::Error> {
    let mut session = command.spawn().await?;
    let mut well = false;
    while let Some(event) = session.next().await {
        match event {
            Event::Message(_) => gauge.line(),
            Event::Ended(ending) => well = ending.exit.is_some_and(|exit| exit.success()),
            _ => {}
        }
    }
    Ok(well)
}

/// What each agent writes: the first lines of the corpus, up to a size.
struct Script {
    path: PathBuf,
    lines: usize,
    megabytes: f64,
}

impl Script {
    fn make(corpus: &Path) -> Result<Self, Box<dyn Error>> {
        let path = corpus.with_file_name("session.ndjson");
        let mut bytes = Vec::new();
        let mut lines = 0;
        for line in Corpus::load(corpus)?.lines() {
            // Nobody answers these or waits for an answer.
            if towline_protocol::peek_kind(std::str::from_utf8(&line)?)
                .is_some_and(|kind| kind.starts_with("control_"))
            {
                continue;
            }
            if bytes.len() >= SESSION_BYTES {
                break;
            }
            bytes.extend_from_slice(&line);
            bytes.push(b'\n');
            lines += 1;
        }
        fs::write(&path, &bytes)?;
        Ok(Self {
            path,
            lines,
            megabytes: bytes.len() as f64 / 1e6,
        })
    }
}

/// Counts lines, and looks at the memory at each quarter of them.
struct Gauge {
    lines: AtomicUsize,
    expected: usize,
    marks: std::sync::Mutex<Vec<std::io::Result<Mark>>>,
}

struct Mark {
    lines: usize,
    resident: f64,
    peak: f64,
}

impl Gauge {
    fn new(expected: usize) -> Self {
        Self {
            lines: AtomicUsize::new(0),
            expected,
            marks: std::sync::Mutex::default(),
        }
    }

    fn line(&self) {
        let lines = self.lines.fetch_add(1, Ordering::Relaxed) + 1;
        let part = self.expected.div_ceil(PARTS);
        if lines.is_multiple_of(part) || lines == self.expected {
            let mark = Mark::now(lines);
            self.marks.lock().expect("no mark panics").push(mark);
        }
    }

    fn marks(&self) -> Result<Vec<Mark>, Box<dyn Error>> {
        let mut marks = self.marks.lock().expect("no mark panics");
        let marks = marks.drain(..).collect::<std::io::Result<Vec<_>>>()?;
        if marks.len() < PARTS {
            return Err("not all lines were delivered".into());
        }
        Ok(marks)
    }
}

impl Mark {
    fn now(lines: usize) -> std::io::Result<Self> {
        Ok(Self {
            lines,
            resident: machine::resident_megabytes()?,
            peak: machine::peak_megabytes()?,
        })
    }
}

/// How many processes run the agent, whoever is their parent now.
fn running(agent: &Path) -> std::io::Result<usize> {
    let agent = agent.canonicalize()?;
    let processes = fs::read_dir("/proc")?.flatten();
    Ok(processes
        .filter(|process| {
            fs::read_link(process.path().join("exe")).is_ok_and(|program| program == agent)
        })
        .count())
}

const DEFAULT_SESSIONS: usize = 200;
const PARTS: usize = 4;
/// About what one session prints.
const SESSION_BYTES: usize = 4_000_000;
/// Between two small writes of a slow agent.
const PAUSE_MS: &str = "5";
/// In percent.
const MOST_GROWTH: f64 = 10.0;
