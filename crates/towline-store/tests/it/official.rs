//! Official.
