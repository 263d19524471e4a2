//! Who may do what.

mod audit;
mod host;
mod limit;
mod roots;
mod token;
