//! Processes that do not outlive whoever started them.
//!
//! A child leads a process group of its own, or stays in ours where it needs the terminal: a [`Group`]. A [`Mark`] in its
//! environment tells what it started, also what has left the group, and a [`Watchdog`] ends all that where the program
//! itself can do nothing any more. What a child is for, and how it is waited for, is the business of whoever starts it.

mod descendants;
mod group;
mod watchdog;

pub use descendants::Descendants;
pub use group::Group;
pub use rustix::process::{Pid, Signal};
pub use watchdog::{Mark, Watch, Watchdog};
