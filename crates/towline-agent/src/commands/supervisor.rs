//! The task that looks after one command until it is over: what is wished, its time, how much it writes.

use std::{sync::Arc, time::Duration};

use tokio::time::{Instant, MissedTickBehavior, interval, sleep_until};

use super::{
    Shared, TaskEnd, TaskEvent,
    entry::{Entry, Wish},
    process::{Leftover, Process},
};

/// Looks after a command. What happened is told before whoever waits goes on.
pub(super) async fn supervise(
    shared: Arc<Shared>,
    entry: Arc<Entry>,
    mut process: Process,
    deadline: Option<Instant>,
) {
    let mut is_told = entry.is_backgrounded();
    let end = look_after(&shared, &entry, &mut process, (deadline, &mut is_told)).await;
    if is_told {
        let task = entry.task();
        let summary = end.summary(&task);
        let event = TaskEvent::Finished { task, end, summary };
        shared.tell(event).await;
    }
    entry.state.send_modify(|state| state.end = Some(end));
    shared.retire(&entry);
    if end.exit_code().is_some()
        && let Some(leftover) = process.leave()
    {
        mind(&entry, &leftover).await;
    }
}

/// Until it is over. `is_told` is whether the host knows of it.
async fn look_after(
    shared: &Shared,
    entry: &Entry,
    process: &mut Process,
    (deadline, is_told): (Option<Instant>, &mut bool),
) -> TaskEnd {
    let mut wishes = entry.wish.subscribe();
    // A wish may be older than this task.
    wishes.mark_changed();
    let long = Instant::now() + LONG;
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let is_waited_for = !entry.is_backgrounded();
        tokio::select! {
            biased;
            _ = wishes.changed() => {
                let wish = *wishes.borrow_and_update();
                match wish {
                    Wish::GoOn => {}
                    Wish::End => {
                        process.stop(GRACE).await;
                        return TaskEnd::Stopped;
                    }
                    // Of this one the host does not know: it is not meant (trace `control-06f_background_tasks`).
                    Wish::Background if !*is_told => {
                        entry.wish.send_if_modified(|wish| {
                            *wish = Wish::GoOn;
                            false
                        });
                    }
                    Wish::Background if is_waited_for => {
                        // Told first: whoever waits goes on with the change of state.
                        let mut task = entry.task();
                        task.is_backgrounded = true;
                        task.output_file = Some(entry.files.output.clone());
                        shared.tell(TaskEvent::Backgrounded(task)).await;
                        entry.state.send_modify(|state| state.is_backgrounded = true);
                    }
                    Wish::Background => {}
                }
            }
            code = process.wait() => {
                return code.map_or(TaskEnd::Stopped, TaskEnd::Exited);
            }
            () = sleep_until(deadline.unwrap_or(long)), if is_waited_for && deadline.is_some() => {
                process.stop(GRACE).await;
                return TaskEnd::TimedOut;
            }
            () = sleep_until(long), if !*is_told => {
                *is_told = true;
                shared.tell(TaskEvent::Started(entry.task())).await;
            }
            _ = looks.tick() => {
                if wrote(entry).await > MOST_WRITTEN {
                    process.stop(GRACE).await;
                    return TaskEnd::WroteTooMuch;
                }
            }
        }
    }
}

/// Sees to it that what a shell left behind does not fill the disk.
async fn mind(entry: &Entry, leftover: &Leftover) {
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while leftover.is_alive() {
        looks.tick().await;
        if wrote(entry).await > MOST_WRITTEN {
            leftover.kill();
        }
    }
}

async fn wrote(entry: &Entry) -> u64 {
    let file = tokio::fs::metadata(&entry.files.output).await;
    file.map_or(0, |file| file.len())
}

/// After so long the host is told of a command that is waited for (trace `control-06f_background_tasks`).
const LONG: Duration = Duration::from_secs(3);

/// How long a command has to end by itself.
pub(super) const GRACE: Duration = Duration::from_secs(2);

/// How often one looks at how much was written.
const LOOK: Duration = Duration::from_secs(1);

/// The most that a command may write. More is no output that anybody reads, but a full disk.
const MOST_WRITTEN: u64 = 1 << 30;
