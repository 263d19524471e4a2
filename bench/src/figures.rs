//! Owns the figures that `bench/against` compares: a line each in the file that `BENCH_FIGURES` names.
//!
//! With that variable a benchmark leaves its peers out where they are in the way. A figure of something else than ours is
//! a control: it must not change, so that its change is the machine's.

use std::env;
use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::Write;

/// The direction in which a figure is better.
#[derive(Clone, Copy)]
pub enum Better {
    #[allow(dead_code)] // Not every benchmark has one of these.
    Higher,
    Lower,
}

/// Whether figures are compared with those of another commit.
#[allow(dead_code)] // Some benchmarks do the same either way.
pub fn are_wanted() -> bool {
    file().is_some()
}

/// Notes a figure of ours.
pub fn note(name: &str, value: f64, better: Better) {
    write("ours", name, value, better);
}

/// Notes a figure of something that is the same in both commits.
#[allow(dead_code)] // Some benchmarks have none.
pub fn control(name: &str, value: f64, better: Better) {
    write("control", name, value, better);
}

fn write(whose: &str, name: &str, value: f64, better: Better) {
    let Some(path) = file() else { return };
    let better = match better {
        Better::Higher => "higher",
        Better::Lower => "lower",
    };
    let line = format!("{whose}\t{better}\t{value}\t{name}\n");
    let file = OpenOptions::new().append(true).create(true).open(&path);
    if let Err(error) = file.and_then(|mut file| file.write_all(line.as_bytes())) {
        eprintln!("cannot write to {}: {error}", path.display());
        std::process::exit(1);
    }
}

fn file() -> Option<std::path::PathBuf> {
    env::var_os("BENCH_FIGURES")
        .filter(|name: &OsString| !name.is_empty())
        .map(Into::into)
}
