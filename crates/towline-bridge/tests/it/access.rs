//! Who may do what.

mod audit;
mod forwarded;
mod host;
mod limit;
mod roots;
mod token;
