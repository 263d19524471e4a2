//! The other protocols that clients speak, each as pure types: a module a protocol.

pub mod pocket;
