//! What the tests of the workspace share. Only tests and the binary may depend on it; [`tidy`] holds that line too.
#![warn(missing_docs)]

pub mod replay;
pub mod tidy;
