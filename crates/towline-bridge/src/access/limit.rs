//! Caps: how fast a connection may talk, how often an address may guess. Pure: time is given in.

use std::{
    collections::HashMap,
    net::{IpAddr, Ipv6Addr},
    time::{Duration, Instant},
};

/// How much may come: so many at once, and so many a second in the long run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    /// At once.
    pub burst: u32,
    /// A second.
    pub per_second: u32,
}

/// A token bucket: the rate of one connection.
///
/// ```
/// use std::time::{Duration, Instant};
/// use towline_bridge::access::{Bucket, Rate};
///
/// let now = Instant::now();
/// let mut bucket = Bucket::new(Rate { burst: 2, per_second: 10 }, now);
/// assert_eq!(bucket.take(now), Ok(()));
/// assert_eq!(bucket.take(now), Ok(()));
/// assert_eq!(bucket.take(now), Err(Duration::from_millis(100)));
/// assert_eq!(bucket.take(now + Duration::from_millis(100)), Ok(()));
/// ```
#[derive(Clone, Debug)]
pub struct Bucket {
    /// How long it takes until one more may come.
    interval: Duration,
    /// How far ahead of time the bucket may be emptied.
    depth: Duration,
    /// When the bucket is full again.
    full_at: Instant,
}

impl Bucket {
    /// A full one.
    pub fn new(rate: Rate, now: Instant) -> Self {
        let interval = Duration::from_secs(1) / rate.per_second.max(1);
        Self {
            interval,
            depth: interval.saturating_mul(rate.burst.max(1)),
            full_at: now,
        }
    }

    /// Takes one out.
    ///
    /// # Errors
    /// When it is empty: how long to wait.
    pub fn take(&mut self, now: Instant) -> Result<(), Duration> {
        let full_at = self.full_at.max(now) + self.interval;
        let ahead = full_at - now;
        match ahead.checked_sub(self.depth) {
            None | Some(Duration::ZERO) => {
                self.full_at = full_at;
                Ok(())
            }
            Some(wait) => Err(wait),
        }
    }
}

/// Slows down who guesses tokens: after some wrong ones an address has to wait, twice as long each time.
///
/// Only what was wrong counts, not what was missing: any page can have a browser ask without a token.
#[derive(Debug, Default)]
pub struct LoginThrottle {
    guesses: HashMap<IpAddr, Guesses>,
}

#[derive(Clone, Copy, Debug)]
struct Guesses {
    wrong: u32,
    latest: Instant,
}

impl LoginThrottle {
    /// Whether an address may try.
    ///
    /// # Errors
    /// When it may not yet: how long it has to wait.
    pub fn check(&self, address: IpAddr, now: Instant) -> Result<(), Duration> {
        let Some(guesses) = self.guesses.get(&network(address)) else {
            return Ok(());
        };
        match guesses.until().checked_duration_since(now) {
            None | Some(Duration::ZERO) => Ok(()),
            Some(wait) => Err(wait),
        }
    }

    /// Remembers that an address was wrong.
    pub fn failed(&mut self, address: IpAddr, now: Instant) {
        let address = network(address);
        if self.guesses.len() >= MOST_ADDRESSES && !self.guesses.contains_key(&address) {
            self.make_room(now);
        }
        let guesses = self.guesses.entry(address).or_insert(Guesses {
            wrong: 0,
            latest: now,
        });
        if now.duration_since(guesses.latest) > FORGOTTEN_AFTER {
            guesses.wrong = 0;
        }
        guesses.wrong = guesses.wrong.saturating_add(1);
        guesses.latest = now;
    }

    /// Forgets who is long quiet, and if there is nobody, who was quiet the longest.
    fn make_room(&mut self, now: Instant) {
        let old = |guesses: &Guesses| now.duration_since(guesses.latest) > FORGOTTEN_AFTER;
        self.guesses.retain(|_, guesses| !old(guesses));
        if self.guesses.len() >= MOST_ADDRESSES {
            let quietest = self
                .guesses
                .iter()
                .min_by_key(|(_, guesses)| guesses.latest);
            if let Some(address) = quietest.map(|(address, _)| *address) {
                self.guesses.remove(&address);
            }
        }
    }
}

impl Guesses {
    fn until(self) -> Instant {
        match self.wrong.checked_sub(FREE_GUESSES) {
            None => self.latest,
            Some(more) => self.latest + LONGEST_WAIT.min(Duration::from_secs(1 << more.min(20))),
        }
    }
}

/// Who has one IPv6 address has 2⁶⁴ of them.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V4(address) => address.into(),
        IpAddr::V6(address) => {
            let [a, b, c, d, ..] = address.segments();
            Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0).into()
        }
    }
}

const FREE_GUESSES: u32 = 5;
const LONGEST_WAIT: Duration = Duration::from_secs(15 * 60);
const FORGOTTEN_AFTER: Duration = Duration::from_secs(60 * 60);
const MOST_ADDRESSES: usize = 4096;
