//! The tests of the test kit, one binary: a module a subject.

mod readme;
mod tidy;
