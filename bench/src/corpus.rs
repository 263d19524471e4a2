//! Owns the measured bytes: a file of wire lines in memory, split into lines
//! before anything is timed.

use std::path::Path;

use bytes::Bytes;

pub struct Corpus(Bytes);

impl Corpus {
    pub fn load(path: &Path) -> std::io::Result<Self> {
        Ok(Self(std::fs::read(path)?.into()))
    }

    /// The lines, each a share of the bytes: what a reader of lines hands on.
    pub fn lines(&self) -> Vec<Bytes> {
        let lines = self.0.split(|byte| *byte == b'\n');
        let lines = lines.filter(|line| !line.is_empty());
        lines.map(|line| self.0.slice_ref(line)).collect()
    }

    /// Million bytes, as in MB/s.
    pub fn megabytes(&self) -> f64 {
        self.0.len() as f64 / 1e6
    }
}
