//! What coding agents keep on disk: the transcripts of their sessions.
#![warn(missing_docs)]
