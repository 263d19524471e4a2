//! [`SessionRecord`]: what the bridge knows of a session besides its frames.

use serde::{Deserialize, Serialize};
use towline_protocol::{
    PermissionMode, SessionId,
    dialect::pocket::{BridgeId, Status},
};
use utoipa::ToSchema;

use crate::hub::SetupOptions;

/// A session of the bridge.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct SessionRecord {
    /// Its name here; the agent calls it something else.
    #[schema(value_type = String)]
    pub id: BridgeId,
    /// What the agent calls it, once it is known: what `--resume` takes.
    #[schema(value_type = Option<String>)]
    pub agent_session_id: Option<SessionId>,
    /// Which agent it is, by its name in the configuration.
    pub agent: String,
    /// Where it works.
    pub directory: String,
    /// Where else it may work.
    pub additional_directories: Vec<String>,
    /// What a person or the agent calls it.
    pub title: Option<String>,
    /// The model that was asked for.
    pub model: Option<String>,
    /// How much may be done without asking.
    #[schema(value_type = Option<String>)]
    pub permission_mode: Option<PermissionMode>,
    /// More that its agent is started with, each time.
    #[serde(default)]
    pub options: SetupOptions,
    /// When it began, in milliseconds since 1970.
    pub created_at: u64,
    /// When something last happened in it.
    pub active_at: u64,
    /// What it does, or did when the bridge last wrote it down.
    #[schema(value_type = String)]
    pub status: Status,
    /// The number of its last frame.
    pub last_seq: u64,
    /// How its last message begins.
    pub last_message: Option<String>,
    /// What it has used.
    pub usage: Usage,
    /// Whether it was taken out of the lists.
    pub archived: bool,
}

/// What a session has used so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, ToSchema)]
pub struct Usage {
    /// In US dollars.
    pub cost_usd: f64,
    /// Tokens read, without those from the cache.
    pub input_tokens: u64,
    /// Tokens read from the cache.
    pub cached_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Turns taken.
    pub turns: u64,
}
