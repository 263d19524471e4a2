//! The tests of the test kit, one binary: a module a subject.

mod documents;
mod tidy;
