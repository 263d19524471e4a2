//! What the process finds around itself: environment, folder, user, terminals. Read once, here; everything after it
//! works on these values.

use std::{
    collections::BTreeMap,
    env,
    ffi::{OsStr, OsString},
    io::{self, IsTerminal as _},
    path::PathBuf,
};

use anyhow::Context;
use towline_store::managed_folder;

/// The variables of a process.
pub(super) type Environment = BTreeMap<OsString, OsString>;

/// What the process finds around itself.
#[derive(Clone, Debug)]
pub(super) struct Surroundings {
    pub(super) environment: Environment,
    pub(super) cwd: PathBuf,
    /// Where an organisation puts its policy.
    pub(super) managed: PathBuf,
    /// The number of the user; 0 is root.
    pub(super) user: u32,
    /// Whether a person can answer: standard input and output are both a terminal.
    pub(super) is_terminal: bool,
}

impl Surroundings {
    /// Looks around.
    pub(super) fn look() -> anyhow::Result<Self> {
        Ok(Self {
            environment: env::vars_os().collect(),
            cwd: env::current_dir().context("cannot tell which folder this is")?,
            managed: managed_folder().to_owned(),
            user: rustix::process::geteuid().as_raw(),
            is_terminal: io::stdin().is_terminal() && io::stdout().is_terminal(),
        })
    }
}

/// A variable that is set and not empty; nothing if it is not text.
pub(super) fn variable<'e>(environment: &'e Environment, name: &str) -> Option<&'e str> {
    let value = environment.get(OsStr::new(name))?.to_str()?;
    Some(value).filter(|value| !value.is_empty())
}

/// A variable that is a number.
pub(super) fn number(environment: &Environment, name: &str) -> Option<u64> {
    variable(environment, name)?.trim().parse().ok()
}

/// A variable that switches something on.
pub(super) fn is_on(environment: &Environment, name: &str) -> bool {
    let value = variable(environment, name).map(str::to_ascii_lowercase);
    value.is_some_and(|value| matches!(value.as_str(), "1" | "true" | "yes" | "on"))
}
