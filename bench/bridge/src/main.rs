//! `towline serve` beside `sandbox-agent`, in one run over the same agent: how fast a burst reaches many viewers and
//! whether all of it does, how late what is said arrives, and what the server takes of the memory.
//!
//! Prints a table and fails where a bound is missed. Rounds of the two take turns, so that a slow moment of the machine
//! hits both alike; figures are medians.

mod burst;
#[path = "../../src/figures.rs"]
mod figures;
mod http;
mod memory;
mod pace;
mod process;
mod relay;
#[path = "../../src/report.rs"]
mod report;
mod said;
mod server;
mod sse;
mod verdict;
mod viewer;

use std::{error::Error, path::PathBuf, process::ExitCode, rc::Rc};

use figures::Better;
use memory::Course;
use pace::{Audience, Load};
use server::{Kind, Programs, Server};
use tokio::task::{LocalSet, spawn_local};
use verdict::{Pair, Verdict, median};

/// What goes wrong is only ever told to a person.
type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            // A bound that is missed is 1.
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<bool> {
    let paths: Vec<_> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    // One thread: the machine is for the servers.
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    if let [mode, address, agent] = &paths[..]
        && mode.as_os_str() == "relay"
    {
        let address = address.to_str().unwrap_or_default().parse()?;
        LocalSet::new().block_on(&runtime, relay::serve(address, agent))?;
        return Ok(true);
    }
    let [towline, peer, agent] = &paths[..] else {
        return Err("usage: towline-bench-bridge TOWLINE SANDBOX_AGENT AGENT".into());
    };
    let programs = Programs {
        towline: towline.canonicalize()?,
        peer: peer.canonicalize()?,
        agent: agent.canonicalize()?,
    };
    let rounds = number("BENCH_ROUNDS", 5)?;
    let seconds = number("BENCH_SECONDS", 300)?;
    let sessions = number("BENCH_SESSIONS", 1000)?;
    LocalSet::new().block_on(&runtime, measure(&programs, rounds, seconds, sessions))
}

async fn measure(
    programs: &Programs,
    rounds: usize,
    seconds: usize,
    sessions: usize,
) -> Result<bool> {
    let mut verdict = Verdict::default();
    let mut last = Vec::new();
    if wanted("idle") {
        let ratio = idle(programs, rounds, &mut verdict).await?;
        last.push(format!("idle ratio {ratio:.2}"));
    }
    if wanted("burst") {
        let ratio = bursts(programs, rounds, &mut verdict).await?;
        last.insert(0, format!("burst ratio {ratio:.1}"));
    }
    if wanted("pace") {
        let (p50, ratio) = paces(programs, &mut verdict).await?;
        let pace = format!("p50 {p50:.2} ms, p99 ratio {ratio:.1}");
        last.insert(usize::from(wanted("burst")), pace);
    }
    if wanted("hold") {
        let p99 = hold(programs, sessions, seconds, &mut verdict).await?;
        last.push(format!("hold p99 {p99:.0} ms"));
    }
    verdict.print();
    println!("load {:.1}", process::load()?);
    println!("{}", last.join(", "));
    Ok(verdict.is_good())
}

/// The memory of a server with nothing to do; gives the peer's by ours.
async fn idle(programs: &Programs, rounds: usize, verdict: &mut Verdict) -> Result<f64> {
    let mut figures = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        for (figures, kind) in figures.iter_mut().zip(Kind::BOTH) {
            let server = Server::start(kind, programs).await?;
            let megabytes = memory::settled(&server).await?;
            server.end().await?;
            eprintln!("idle {}: {}: {megabytes:.1} MB", round + 1, kind.name());
            figures.push(megabytes);
        }
    }
    let [peer, ours] = figures.map(median);
    note("idle memory, MB", Pair { peer, ours }, Better::Lower);
    let ratio = peer / ours;
    verdict.judge(
        "idle memory, MB",
        Pair {
            peer: format!("{peer:.1}"),
            ours: format!("{ours:.1}"),
        },
        "at most the peer's",
        ratio >= 1.0,
    );
    Ok(ratio)
}

/// How fast a burst arrives; gives ours by the peer's.
async fn bursts(programs: &Programs, rounds: usize, verdict: &mut Verdict) -> Result<f64> {
    let servers = both(programs).await?;
    let mut figures = [Vec::new(), Vec::new()];
    // The first of each is not counted: it warms up.
    for number in 0..=rounds {
        for (figures, server) in figures.iter_mut().zip(&servers) {
            let round = burst::round(server, number).await?;
            eprintln!("burst {number}: {}: {round:.3?}", server.kind.name());
            if number > 0 {
                figures.push(round);
            }
        }
    }
    end(servers).await?;
    let rates = figures.each_ref().map(|rounds| {
        let rates = rounds.iter().map(|round| round.megabytes_a_second);
        median(rates)
    });
    let [peer, ours] = rates;
    note("burst, MB/s of text", Pair { peer, ours }, Better::Higher);
    let ratio = ours / peer;
    let show = |text: &dyn Fn(&[burst::Round]) -> String| Pair {
        peer: text(&figures[0]),
        ours: text(&figures[1]),
    };
    let rate = |rounds: &[burst::Round]| {
        let rates = rounds.iter().map(|round| round.megabytes_a_second);
        format!("{:.1}", median(rates))
    };
    let what = format!(
        "burst of {} deltas to {} viewers, MB/s of text",
        burst::PIECES,
        burst::VIEWERS
    );
    verdict.judge(
        &what,
        show(&rate),
        "at least 5 times the peer's",
        ratio >= 5.0,
    );
    let lost = |rounds: &[burst::Round]| {
        let lost: usize = rounds.iter().map(|round| round.lost).sum();
        let all = rounds.len() * burst::PIECES * burst::VIEWERS;
        format!("{lost} of {all}")
    };
    verdict.show("  deltas that did not arrive", show(&lost));
    let wrong = |rounds: &[burst::Round]| {
        let wrong: usize = rounds.iter().map(|round| round.wrong).sum();
        let gaps: usize = rounds.iter().map(|round| round.gaps).sum();
        format!("{wrong} of {} ({gaps} gaps)", rounds.len() * burst::VIEWERS)
    };
    let is_whole = figures[1].iter().all(|round| round.wrong == 0);
    verdict.judge(
        "  viewers with another text than was sent",
        show(&wrong),
        "none of ours",
        is_whole,
    );
    let server = |rounds: &[burst::Round]| {
        let times = |time: fn(&burst::Round) -> f64| median(rounds.iter().map(time));
        format!(
            "{:.2}, {:.2}",
            times(|round| round.server),
            times(|round| round.client)
        )
    };
    verdict.show("  processor seconds of server, client", show(&server));
    Ok(ratio)
}

/// How late what is said arrives; gives our p50, and what the peer adds to the p99 by what we add.
async fn paces(programs: &Programs, verdict: &mut Verdict) -> Result<(f64, f64)> {
    let mut figures = [Vec::new(), Vec::new(), Vec::new()];
    for number in 0..PACE_ROUNDS {
        for (figures, kind) in figures.iter_mut().zip(Kind::ALL) {
            let server = Rc::new(Server::start(kind, programs).await?);
            let audience = Audience::gather(&server, PACE).await?;
            let round = audience.listen(&server).await?;
            eprintln!("pace {}: {}: {round:.3?}", number + 1, kind.name());
            figures.push(round);
            end([server]).await?;
        }
    }
    let of = |figure: fn(&pace::Round) -> f64| {
        let [peer, ours, bare] = figures
            .each_ref()
            .map(|rounds| median(rounds.iter().map(figure)));
        (Pair { peer, ours }, bare)
    };
    let shown = |pair: Pair<f64>| Pair {
        peer: format!("{:.2}", pair.peer),
        ours: format!("{:.2}", pair.ours),
    };
    let ((p50, bare_p50), (p99, bare_p99)) = (of(|round| round.p50), of(|round| round.p99));
    let what = format!(
        "latency, {} sessions × {} viewers × {} deltas/s ({bare_p50:.2} without a server): p50, ms",
        PACE.sessions, PACE.viewers, PACE.a_second
    );
    verdict.judge(&what, shown(p50), "ours below 1", p50.ours < 1.0);
    let what = format!("  p99, ms ({bare_p99:.2} without a server)");
    verdict.show(&what, shown(p99));
    // Against the relay of the same round: what slows the machine down slows both down.
    let [peers, ours, bare] = &figures;
    let added_by = |rounds: &[pace::Round]| {
        let pairs = rounds.iter().zip(bare);
        median(pairs.map(|(round, bare)| round.p99 - bare.p99))
    };
    let added = Pair {
        peer: added_by(peers),
        ours: added_by(ours),
    };
    let ratio = added.peer.max(LEAST) / added.ours.max(LEAST);
    verdict.judge(
        "  added to the p99, ms",
        shown(added),
        "ours at most 1/5",
        ratio >= 5.0,
    );
    let lost = [peers, ours].map(|rounds| {
        let faults = rounds.iter().map(|round| round.faults);
        faults.fold(viewer::Faults::default(), viewer::Faults::and)
    });
    let is_whole = lost[1].is_none();
    let [peer, ours] = lost.map(|faults| faults.to_string());
    verdict.judge(
        "  lost, doubled, garbled",
        Pair { peer, ours },
        "none of ours",
        is_whole,
    );
    let (server, _) = of(|round| round.server);
    note("pace: p50, ms", p50, Better::Lower);
    note("pace: p99, ms", p99, Better::Lower);
    note(
        "pace: processor seconds of the server",
        server,
        Better::Lower,
    );
    verdict.show("  processor seconds of the server", shown(server));
    let (client, _) = of(|round| round.client);
    verdict.show("  processor seconds of the client", shown(client));
    Ok((p50.ours, ratio))
}

/// Many sessions for long; gives the p99.
async fn hold(
    programs: &Programs,
    sessions: usize,
    seconds: usize,
    verdict: &mut Verdict,
) -> Result<f64> {
    let load = Load {
        sessions,
        viewers: 2,
        a_second: 10,
        seconds,
    };
    let server = Rc::new(Server::start(Kind::Ours, programs).await?);
    eprintln!("hold: {sessions} sessions begin …");
    let audience = Audience::gather(&server, load).await?;
    eprintln!("hold: {seconds} s …");
    let course = spawn_local(Course::of(Rc::clone(&server), seconds));
    let round = audience.listen(&server).await?;
    let course = course.await??;
    eprintln!("hold: {round:.3?}");
    end([server]).await?;

    figures::note("hold: p50, ms", round.p50, Better::Lower);
    figures::note("hold: p99, ms", round.p99, Better::Lower);
    figures::note(
        "hold: processor seconds of the server",
        round.server,
        Better::Lower,
    );
    let ours = |ours: String| Pair {
        peer: String::new(),
        ours,
    };
    let what = format!("{sessions} sessions × 2 viewers × 10 deltas/s, {seconds} s: p50, ms");
    verdict.show(&what, ours(format!("{:.2}", round.p50)));
    let p99 = format!("{:.1}", round.p99);
    verdict.judge("  p99, ms", ours(p99), "below 50", round.p99 < 50.0);
    let (what, none) = ("  lost, doubled, garbled", "none");
    let faults = round.faults.to_string();
    verdict.judge(what, ours(faults), none, round.faults.is_none());
    let growth = course.growth();
    verdict.judge(
        "  memory of the last quarter by the first",
        ours(format!("{growth:.2}")),
        "at most 1.10",
        growth <= 1.1,
    );
    let minutes: Vec<_> = course
        .minutes()
        .iter()
        .map(|megabytes| format!("{megabytes:.0}"))
        .collect();
    verdict.show("  memory as time goes on, MB", ours(minutes.join(" ")));
    let times = format!("{:.1}, {:.1}", round.server, round.client);
    verdict.show("  processor seconds of server, client", ours(times));
    Ok(round.p99)
}

fn note(name: &str, figures: Pair<f64>, better: Better) {
    figures::note(name, figures.ours, better);
    figures::control(&format!("{name}, sandbox-agent"), figures.peer, better);
}

async fn both(programs: &Programs) -> Result<[Rc<Server>; 2]> {
    let [peer, ours] = Kind::BOTH;
    Ok([
        Rc::new(Server::start(peer, programs).await?),
        Rc::new(Server::start(ours, programs).await?),
    ])
}

async fn end<const N: usize>(servers: [Rc<Server>; N]) -> Result<()> {
    for server in servers {
        let server = Rc::into_inner(server).ok_or("somebody still uses the server")?;
        server.end().await?;
    }
    Ok(())
}

/// Whether a part is to be measured: all are, unless the environment names one.
fn wanted(part: &str) -> bool {
    std::env::var("BENCH_ONLY").map_or(true, |only| only == part)
}

/// A count that the environment may set.
fn number(name: &str, usual: usize) -> Result<usize> {
    match std::env::var(name) {
        Ok(text) => match text.parse() {
            Ok(number @ 1..) => Ok(number),
            _ => Err(format!("{name} is no count: {text}").into()),
        },
        Err(_) => Ok(usual),
    }
}

/// What goes on while latency is measured.
const PACE: Load = Load {
    sessions: 10,
    viewers: 5,
    a_second: 50,
    seconds: 5,
};
/// How often.
const PACE_ROUNDS: usize = 10;
/// Less than this cannot be told from nothing, in milliseconds: it counts as this much.
const LEAST: f64 = 0.01;
