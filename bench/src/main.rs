//! Owns `towline-bench decode CORPUS TRACES SCRIPTS`: proves what each row reads,
//! times all rows, prints the tables and, last, the ratio of ours to the fastest
//! peer that reads every line. `bench/run` makes the files and calls it.

mod children;
mod context;
mod corpus;
mod decode;
mod decoder;
mod items;
mod measure;
mod ours;
mod peers;
mod proof;
mod report;
mod roundtrip;
mod rows;
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
        _ => Err("usage: towline-bench decode CORPUS TRACES SCRIPTS".into()),
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
