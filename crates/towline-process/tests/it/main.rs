//! Groups of real processes, and how they end.

mod groups;
