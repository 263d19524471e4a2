//! The other protocols that clients speak: pure types and translators, a module a protocol.

pub mod pocket;
pub mod session;
