//! How fast frames are written, by the size of the batch; shown with `TOWLINE_BRIDGE_SPEED=1` and `--nocapture`.

use std::time::{Duration, Instant};

use towline_bridge::log::Log;

use crate::made::{Made, line, of};

#[test]
fn frames_are_written_in_batches_of_any_size() {
    let is_asked = std::env::var_os("TOWLINE_BRIDGE_SPEED").is_some();
    let frames = if is_asked { 20_000 } else { 200 };
    for size in [1, 10, 100] {
        let mut made = Made::new();
        let all: Vec<_> = (1..=frames).map(|seq| of("s", line(seq, 500))).collect();
        let mut longest = Duration::ZERO;
        let start = Instant::now();
        for batch in all.chunks(size) {
            let before = Instant::now();
            made.log.write(batch).unwrap();
            longest = longest.max(before.elapsed());
        }
        let seconds = start.elapsed().as_secs_f64();
        assert_eq!(made.log.sessions().unwrap()[0].last_seq, frames);
        if is_asked {
            println!(
                "batches of {size}: {:.0} frames/s, longest write {longest:?}",
                frames as f64 / seconds
            );
        }
    }
}
