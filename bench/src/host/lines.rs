//! Owns the lines that the fake agent writes, chosen so that every peer has it as
//! easy as it can, and what there is to read in them.

use crate::corpus::Corpus;
use crate::decoder::{Outcome, Role};
use crate::items::{CheapSum, ItemHashes};
use crate::{rows, tree};
use bytes::Bytes;
use serde_json::Value;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file of lines for the agent, and what a client that loses nothing reads in it.
pub struct HostCorpus {
    pub path: PathBuf,
    pub lines: usize,
    pub megabytes: f64,
    pub items: usize,
    pub cheap_sum: u32,
    pub strong_sum: u64,
}

impl HostCorpus {
    /// Takes from a corpus, into a file beside it:
    /// no control lines, for nobody answers them or waits for an answer;
    /// no result but one at the end, where some clients stop;
    /// no line that any peer cannot read, for some clients stop there too.
    pub fn make(corpus: &Path) -> Result<Self, Box<dyn Error>> {
        let path = corpus.with_file_name("host.ndjson");
        let mut file = BufWriter::new(File::create(&path)?);
        let mut made = Self {
            path,
            lines: 0,
            megabytes: 0.0,
            items: 0,
            cheap_sum: 0,
            strong_sum: 0,
        };
        let peers: Vec<_> = rows::all()
            .into_iter()
            .filter(|row| row.role == Role::Peer)
            .collect();
        let mut last_result = None;
        let (mut control, mut unreadable) = (0, 0);
        for line in Corpus::load(corpus)?.lines() {
            let value: Value = serde_json::from_slice(&line)?;
            let readable = |line: &Bytes| {
                peers
                    .iter()
                    .all(|peer| (peer.hashes)(line, &mut ItemHashes::default()) != Outcome::Failed)
            };
            match value["type"].as_str().unwrap_or("") {
                kind if kind.starts_with("control_") => control += 1,
                _ if !readable(&line) => unreadable += 1,
                "result" => last_result = Some((line, value)),
                _ => made.add(&line, &value, &mut file)?,
            }
        }
        let (line, value) = last_result.ok_or("the corpus holds no result")?;
        made.add(&line, &value, &mut file)?;
        file.flush()?;
        println!(
            "of these for a client: {} lines; without {control} control lines, {unreadable} lines that a peer cannot \
             read, and all results but one",
            made.lines
        );
        Ok(made)
    }

    fn add(&mut self, line: &Bytes, value: &Value, file: &mut impl Write) -> std::io::Result<()> {
        file.write_all(line)?;
        file.write_all(b"\n")?;
        let mut hashes = ItemHashes::default();
        let mut cheap = CheapSum(self.cheap_sum);
        tree::read_line(value, &mut hashes);
        tree::read_line(value, &mut cheap);
        self.lines += 1;
        self.megabytes += (line.len() + 1) as f64 / 1e6;
        self.items += hashes.0.len();
        self.cheap_sum = cheap.0;
        self.strong_sum = self.strong_sum.wrapping_add(hashes.sum());
        Ok(())
    }
}
