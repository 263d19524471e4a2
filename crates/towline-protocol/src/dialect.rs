//! The other protocols that clients speak, as pure translators to and from the standard wire.

pub mod session;
