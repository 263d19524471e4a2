//! Caps, with a clock of our own.

use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

use towline_bridge::access::{Bucket, LoginThrottle, Rate};

const SECOND: Duration = Duration::from_secs(1);

fn address(text: &str) -> IpAddr {
    text.parse().unwrap()
}

#[test]
fn a_bucket_gives_its_burst_and_then_its_rate() {
    let start = Instant::now();
    let mut bucket = Bucket::new(
        Rate {
            burst: 20,
            per_second: 5,
        },
        start,
    );
    let mut taken = 0;
    // A client that tries a thousand times a second for ten seconds.
    for millisecond in 0..10_000 {
        if bucket
            .take(start + Duration::from_millis(millisecond))
            .is_ok()
        {
            taken += 1;
        }
    }
    assert_eq!(taken, 20 + 5 * 10 - 1);
    let later = start + 3600 * SECOND;
    assert_eq!(
        (0..100).filter(|_| bucket.take(later).is_ok()).count(),
        20,
        "no more than the burst is saved up"
    );
}

#[test]
fn who_waits_as_long_as_was_said_gets_in() {
    let start = Instant::now();
    let mut bucket = Bucket::new(
        Rate {
            burst: 1,
            per_second: 3,
        },
        start,
    );
    assert_eq!(bucket.take(start), Ok(()));
    let wait = bucket.take(start).unwrap_err();
    assert!(bucket.take(start + wait - Duration::from_nanos(1)).is_err());
    assert_eq!(bucket.take(start + wait), Ok(()));
}

#[test]
fn a_clock_that_goes_back_and_rates_of_zero_do_no_harm() {
    let start = Instant::now() + 100 * SECOND;
    let mut bucket = Bucket::new(
        Rate {
            burst: 0,
            per_second: 0,
        },
        start,
    );
    assert_eq!(bucket.take(start), Ok(()));
    assert!(bucket.take(start - 50 * SECOND).is_err());
    let mut throttle = LoginThrottle::default();
    throttle.failed(address("10.0.0.1"), start);
    throttle.failed(address("10.0.0.1"), start - 50 * SECOND);
    assert_eq!(
        throttle.check(address("10.0.0.1"), start - 60 * SECOND),
        Err(10 * SECOND)
    );
}

#[test]
fn guessing_gets_slower_each_time() {
    let start = Instant::now();
    let guesser = address("10.0.0.1");
    let mut throttle = LoginThrottle::default();
    let mut waits = Vec::new();
    for _ in 0..18 {
        waits.push(
            throttle
                .check(guesser, start)
                .err()
                .map_or(0, |wait| wait.as_secs()),
        );
        throttle.failed(guesser, start);
    }
    assert_eq!(
        waits,
        [
            0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900, 900
        ]
    );
    assert_eq!(
        throttle.check(address("10.0.0.2"), start),
        Ok(()),
        "others are not held up"
    );
    assert_eq!(throttle.check(guesser, start + 900 * SECOND), Ok(()));
}

#[test]
fn a_neighbour_in_the_same_ipv6_network_is_the_same_guesser() {
    let now = Instant::now();
    let mut throttle = LoginThrottle::default();
    for host in 0..6 {
        throttle.failed(address(&format!("2001:db8:0:1::{host}")), now);
    }
    assert!(
        throttle
            .check(address("2001:db8:0:1:ffff::1"), now)
            .is_err()
    );
    assert!(throttle.check(address("2001:db8:0:2::1"), now).is_ok());
    for _ in 0..6 {
        throttle.failed(address("::ffff:10.0.0.9"), now);
    }
    assert!(throttle.check(address("10.0.0.9"), now).is_err());
}

#[test]
fn many_guessers_do_not_fill_the_memory_and_do_not_free_the_latest() {
    let start = Instant::now();
    let mut throttle = LoginThrottle::default();
    let mut now = start;
    for number in 0..10_000_u32 {
        now += Duration::from_millis(1);
        throttle.failed(IpAddr::from(number.to_be_bytes()), now);
    }
    let guesser = address("192.0.2.1");
    for _ in 0..10 {
        throttle.failed(guesser, now);
    }
    assert!(throttle.check(guesser, now).is_err());
    assert!(format!("{throttle:?}").matches("wrong").count() <= 4096);
}
