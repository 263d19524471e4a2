//! Counts and lists the tests that this run of `cargo test` left out. It has no harness, and a name that sorts behind
//! `it`, so that cargo runs it when all other test programs are done.

use std::{
    fs,
    io::{self, Write as _},
    process::ExitCode,
};

use towline_testkit::not_run::{Entry, list, take_all};

fn main() -> ExitCode {
    let told = take_all().and_then(|entries| {
        let tests: String = entries
            .iter()
            .map(|entry| format!("{}\n", entry.test))
            .collect();
        fs::write(list(), tests)?;
        tell(&entries)
    });
    match told {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            writeln!(
                io::stderr(),
                "cannot list the tests that did not run: {error}"
            )
            .ok();
            ExitCode::FAILURE
        }
    }
}

fn tell(entries: &[Entry]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    if entries.is_empty() {
        return writeln!(out, "\nnot run: 0 tests");
    }
    writeln!(
        out,
        "\nnot run: {} tests; `TOWLINE_SLOW=1 cargo test --workspace` runs them too:",
        entries.len()
    )?;
    for entry in entries {
        writeln!(out, "  {} {}: {}", entry.package, entry.test, entry.reason)?;
    }
    Ok(())
}
