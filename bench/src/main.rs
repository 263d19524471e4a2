//! Owns the way into the benchmarks, which `bench/run` calls once it has made their
//! files: `decode` (lines in memory), `host` (whole clients; `host-one` is one of
//! them in a process of its own) and `sessions` (many at once).

mod children;
mod context;
mod corpus;
mod decode;
mod decoder;
mod figures;
mod host;
mod items;
mod machine;
mod measure;
mod ours;
mod peers;
mod proof;
mod report;
mod roundtrip;
mod rows;
mod sessions;
mod tree;

use std::path::Path;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let result = match arguments.as_slice() {
        ["decode", corpus, traces, scripts] => {
            decode::run(Path::new(corpus), Path::new(traces), Path::new(scripts))
        }
        ["host", corpus, agent] => host::run(Path::new(corpus), Path::new(agent)),
        ["host-one", name, agent, depth] => {
            host::run_one(name, Path::new(agent), depth).map(|()| true)
        }
        ["sessions", corpus, agent] => sessions::run(Path::new(corpus), Path::new(agent)),
        _ => Err(USAGE.into()),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            // A bound that is missed is 1.
            ExitCode::from(2)
        }
    }
}

const USAGE: &str = "usage: towline-bench decode CORPUS TRACES SCRIPTS
       towline-bench host CORPUS AGENT
       towline-bench sessions CORPUS AGENT";
