//! Whole conversations, each played twice: by the real CLI against a scripted Messages API (`TOWLINE_SLOW=1`), and by
//! its recorded lines in memory, where what the host writes is held against what it wrote then. Both must give the
//! same list of events, which is kept in `tests/data/scenarios`.

mod asking;
mod control;
mod hooks;
mod mcp;
mod permissions;
mod resuming;
mod stage;
mod subagents;
mod talking;

pub(crate) use stage::{Stage, script};
