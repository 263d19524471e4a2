//! Memory: that of a server with nothing to do, and that of one that has much to do for long.

use std::{
    rc::Rc,
    time::{Duration, Instant},
};

use tokio::time::{MissedTickBehavior, interval, sleep};

use crate::{Result, process, server::Server};

/// What is resident of a server once that has stopped changing, in million bytes.
pub async fn settled(server: &Server) -> Result<f64> {
    let began = Instant::now();
    let (mut last, mut same) = (0.0, 0);
    while same < 6 && began.elapsed() < Duration::from_secs(20) {
        sleep(Duration::from_millis(500)).await;
        let now = process::resident_megabytes(server.process)?;
        same = if now == last { same + 1 } else { 0 };
        last = now;
    }
    Ok(last)
}

/// What is resident of a server, each second.
#[derive(Clone, Debug, Default)]
pub struct Course {
    megabytes: Vec<f64>,
}

impl Course {
    /// Takes it down for so many seconds.
    pub async fn of(server: Rc<Server>, seconds: usize) -> Result<Self> {
        let mut ticks = interval(Duration::from_secs(1));
        ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
        let mut course = Self::default();
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(seconds as u64) {
            ticks.tick().await;
            let now = process::resident_megabytes(server.process)?;
            course.megabytes.push(now);
        }
        Ok(course)
    }

    /// What it was at the end of each minute, or of each sixth if it was shorter.
    pub fn minutes(&self) -> Vec<f64> {
        let step = 60.min(self.megabytes.len().div_ceil(6)).max(1);
        let ends = self.megabytes.chunks(step).filter_map(<[f64]>::last);
        ends.copied().collect()
    }

    /// How much more the last quarter is than the first, without the tenth in which it warms up: 1 is the same.
    pub fn growth(&self) -> f64 {
        let warm = &self.megabytes[self.megabytes.len() / 10..];
        let quarter = (warm.len() / 4).max(1);
        let mean = |part: &[f64]| part.iter().sum::<f64>() / part.len().max(1) as f64;
        let first = mean(&warm[..quarter.min(warm.len())]);
        mean(&warm[warm.len().saturating_sub(quarter)..]) / first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn growth_leaves_out_the_warming_up() {
        let course = |megabytes: Vec<f64>| Course { megabytes };
        let flat = course([vec![1.0; 10], vec![50.0; 90]].concat());
        assert_eq!((flat.growth(), flat.minutes()), (1.0, vec![50.0; 6]));
        let grown = course((100..200).map(f64::from).collect());
        assert!(grown.growth() > 1.5, "{}", grown.growth());
    }
}
