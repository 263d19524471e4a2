//! The tests of the protocol crate, one binary: a module a subject.

mod pocket;
mod traces;
