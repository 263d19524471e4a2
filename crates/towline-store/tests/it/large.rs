//! Large.
