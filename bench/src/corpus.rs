//! Owns the measured bytes: a file of wire lines in memory, split into lines
//! before anything is timed.

use std::path::Path;

pub struct Corpus(Vec<u8>);

impl Corpus {
    pub fn load(path: &Path) -> std::io::Result<Self> {
        Ok(Self(std::fs::read(path)?))
    }

    pub fn lines(&self) -> Vec<&[u8]> {
        let lines = self.0.split(|byte| *byte == b'\n');
        lines.filter(|line| !line.is_empty()).collect()
    }

    /// Million bytes, as in MB/s.
    pub fn megabytes(&self) -> f64 {
        self.0.len() as f64 / 1e6
    }
}
