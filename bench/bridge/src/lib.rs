//! What the fake agent and the load client share: the pieces that are sent and checked.

pub mod piece;
