//! Owns the rounds of a run, and the timing of the Rust rows of `decode`: whole passes over the corpus, round after
//! round through all rows, so that a slow moment of the machine hits all alike.

use crate::decoder::Row;
use bytes::Bytes;
use std::hint::black_box;
use std::time::Instant;

pub struct Timing {
    pub megabytes_per_second: f64,
    pub cheap_sum: u32,
}

pub fn time_rows(rows: &[Row], lines: &[Bytes], megabytes: f64, rounds: usize) -> Vec<Timing> {
    let mut seconds = vec![Vec::with_capacity(rounds); rows.len()];
    let mut sums = vec![0; rows.len()];
    for _ in 0..rounds {
        for (index, row) in rows.iter().enumerate() {
            let start = Instant::now();
            sums[index] = black_box((row.pass)(black_box(lines)));
            seconds[index].push(start.elapsed().as_secs_f64());
        }
    }
    let timings = seconds.iter_mut().zip(sums);
    timings
        .map(|(seconds, cheap_sum)| Timing {
            megabytes_per_second: megabytes / median(seconds),
            cheap_sum,
        })
        .collect()
}

/// How many timed rounds are wanted.
pub fn rounds() -> Result<usize, String> {
    match std::env::var("BENCH_ROUNDS") {
        Ok(rounds) => match rounds.parse() {
            Ok(rounds @ 1..) => Ok(rounds),
            _ => Err(format!("BENCH_ROUNDS is no count of rounds: {rounds}")),
        },
        Err(_) => Ok(DEFAULT_ROUNDS),
    }
}

pub fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

const DEFAULT_ROUNDS: usize = 5;
