//! The file: TOML, every key known.

use std::path::PathBuf;

use serde::Deserialize;

use crate::agents::AgentChoice;

/// What a file may say. Values that are more than words are read later, together with those of the environment.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct File {
    pub(super) listen: Option<String>,
    pub(super) public: Option<Vec<String>>,
    pub(super) roots: Option<Vec<PathBuf>>,
    pub(super) data: Option<PathBuf>,
    pub(super) token: Option<String>,
    pub(super) agent: Option<String>,
    pub(super) agents: Vec<AgentChoice>,
    pub(super) tls: TlsTable,
    pub(super) behind_proxy: Option<bool>,
    pub(super) allow_bypass_permissions: Option<bool>,
    pub(super) allow_any_rule: Option<bool>,
    pub(super) limits: LimitsTable,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct TlsTable {
    pub(super) cert: Option<PathBuf>,
    pub(super) key: Option<PathBuf>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct LimitsTable {
    pub(super) sessions: Option<usize>,
    pub(super) viewers: Option<usize>,
    pub(super) idle_stop: Option<String>,
    pub(super) question_timeout: Option<String>,
    pub(super) frame_bytes: Option<usize>,
    pub(super) rate_burst: Option<u32>,
    pub(super) rate_per_second: Option<u32>,
}

/// Reads the text of a file.
///
/// # Errors
/// When it is no TOML or says what nobody understands: the name, the line and the key.
pub(super) fn read(name: &str, text: &str) -> Result<File, String> {
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.map_or(0, |before| before.matches('\n').count()) + 1;
        // The message alone: the rest of the error repeats the line of the file, which may hold the token.
        let message = error
            .message()
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        format!("{name}:{line}: {message}")
    })
}
