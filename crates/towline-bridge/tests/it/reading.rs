//! Reading while somebody writes.

use std::thread;

use towline_bridge::log::{Log, Page};

use crate::made::{Made, id, line, of};

#[test]
fn readers_see_whole_batches_while_the_writer_writes() {
    let mut made = Made::new();
    let readers: Vec<_> = (0..3).map(|_| made.log.reader().unwrap()).collect();
    let page = Page {
        frames: 64,
        bytes: 1 << 20,
    };
    thread::scope(|scope| {
        let watchers: Vec<_> = readers
            .into_iter()
            .map(|reader| {
                scope.spawn(move || {
                    let mut last = 0;
                    while last < LAST {
                        for frame in reader.frames(&id("s"), last, page).unwrap() {
                            assert_eq!(frame, line(last + 1, 200));
                            last = frame.seq;
                        }
                        let written = reader.sessions().unwrap()[0].last_seq;
                        assert_eq!(written % BATCH, 0, "a batch is seen whole or not at all");
                    }
                })
            })
            .collect();
        for first in (1..=LAST).step_by(BATCH as usize) {
            let batch: Vec<_> = (first..first + BATCH)
                .map(|seq| of("s", line(seq, 200)))
                .collect();
            made.log.write(&batch).unwrap();
        }
        for watcher in watchers {
            watcher.join().unwrap();
        }
    });
}

const BATCH: u64 = 5;
const LAST: u64 = 500;
