//! The tests of the protocol crate, one binary: a module a subject.

mod accumulator;
mod answers;
mod codec;
mod data;
mod json;
mod peer;
mod seeds;
mod session_dialect;
mod spellings;
mod traces;
