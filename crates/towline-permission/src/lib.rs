//! Whether a tool call of a coding agent may run: rules, modes, shell and path analysis. Pure: policy and call in, one
//! decision with its reason out. It agrees with the real CLI, or is stricter.
//!
//! [`Settings`] reads a file, [`Startup`] makes the first [`Policy`] of files and flags, [`Policy::apply`] changes it as
//! an answer says, and [`decide`] decides. [`Trust`] says how far a project's files are believed. What only the machine knows (where links lead, what hooks said) is passed in
//! as [`Facts`].

#![warn(missing_docs)]

mod bash;
mod call;
mod decide;
mod decision;
mod lint;
mod path;
mod policy;
mod rule;
mod settings;
mod startup;
mod tool;
mod trust;
mod update;

pub use bash::Looks;
pub use call::{Call, Facts, HookVerdict, Reached};
pub use decide::{decide, looks, paths, target};
pub use decision::{Decision, Part, Reason, Verdict};
pub use lint::{Finding, FindingKind, lint};
pub use path::denies_reading;
pub use policy::{Directory, Places, Policy};
pub use rule::{Entry, Rule, RuleError};
pub use settings::{Effect, Problem, Settings};
pub use startup::{Bypass, Startup};
pub use tool::glob_start;
pub use towline_protocol::{Behavior, Destination, PermissionMode, PermissionUpdate};
pub use trust::{Brought, Trust, TrustFacts};
pub use update::Dropped;
