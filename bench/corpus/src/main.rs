//! Owns the corpus of the benchmarks: `towline-bench-corpus TRACES OUT MB` reads
//! the recorded traces and writes two files of bare wire lines into OUT,
//! `corpus.ndjson` (MB million bytes of varied lines) and `traces.ndjson` (the
//! distinct recorded lines, byte for byte). The same input gives the same bytes.

mod mix;
mod random;
mod templates;
mod text;
mod vary;

use random::Random;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use templates::Templates;

const SEED: u64 = 0x70_77_6C_69_6E_65;
/// Lines of this many sessions interleave, as under a host that runs several.
const SESSIONS: usize = 32;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [traces, out, megabytes] = arguments.as_slice() else {
        return Err("usage: towline-bench-corpus TRACES OUT MB".into());
    };
    let templates = Templates::load(Path::new(traces))?;
    let out = Path::new(out);
    write_traces(&templates, &out.join("traces.ndjson"))?;
    write_corpus(&templates, &out.join("corpus.ndjson"), megabytes.parse()?)
}

fn write_traces(templates: &Templates, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut file = BufWriter::new(File::create(path)?);
    for line in &templates.distinct_lines {
        writeln!(file, "{line}")?;
    }
    Ok(file.flush()?)
}

fn write_corpus(
    templates: &Templates,
    path: &Path,
    megabytes: usize,
) -> Result<(), Box<dyn Error>> {
    let mut random = Random::new(SEED);
    let sessions: Vec<String> = (0..SESSIONS).map(|_| text::uuid(&mut random)).collect();
    let mut file = BufWriter::new(File::create(path)?);
    let mut account = mix::Account::default();
    while account.total_bytes() < megabytes * 1_000_000 {
        let (index, class) = account.most_behind();
        let kind = mix::kind(&mut random, class);
        let mut line = random.pick(templates.of(class, kind)).clone();
        let session = random.pick(&sessions);
        vary::vary(&mut random, class, kind, &mut line, session);
        let mut bytes = serde_json::to_vec(&line)?;
        bytes.push(b'\n');
        file.write_all(&bytes)?;
        account.add(index, bytes.len());
    }
    file.flush()?;
    account.print();
    Ok(())
}
