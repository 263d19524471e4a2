//! [`Beyond`]: the requests of a host that could lead around the rules of the bridge. This is the one list of them, and each
//! request has its place in it: a new one does not compile until somebody has decided about it.

use thiserror::Error;
use towline_protocol::Request;

/// How a request could lead around the rules. Where nobody has to ask anyway, it is passed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Beyond {
    /// Settings say who is asked.
    #[error(
        "settings are not changed over the bridge unless it was started with --allow-bypass-permissions: they could take away every question"
    )]
    Settings,
    /// An MCP server is a command that runs without a question, wherever it likes.
    #[error(
        "MCP servers are not set over the bridge unless it was started with --allow-bypass-permissions: they could start any command"
    )]
    Servers,
    /// Nobody here knows what it does.
    #[error(
        "a request that the bridge does not know is not passed on unless it was started with --allow-bypass-permissions: it could be anything"
    )]
    Unknown,
}

impl Beyond {
    /// How this request could; nothing if it could not.
    pub(super) fn of(request: &Request) -> Option<Self> {
        match request {
            Request::ApplyFlagSettings(_) | Request::UpdateSettings(_) => Some(Self::Settings),
            Request::McpSetServers(_) => Some(Self::Servers),
            Request::Unknown(_) => Some(Self::Unknown),
            Request::CanUseTool(_)
            | Request::HookCallback(_)
            | Request::Elicitation(_)
            | Request::RequestUserDialog(_)
            | Request::McpMessage(_)
            | Request::Initialize(_)
            | Request::Interrupt(_)
            | Request::SetPermissionMode(_)
            | Request::SetModel(_)
            | Request::SetMaxThinkingTokens(_)
            | Request::McpStatus(_)
            | Request::McpReconnect(_)
            | Request::McpToggle(_)
            | Request::McpCall(_)
            | Request::McpReadResource(_)
            | Request::RewindFiles(_)
            | Request::StopTask(_)
            | Request::BackgroundTasks(_)
            | Request::GetTaskOutput(_)
            | Request::GetContextUsage(_)
            | Request::GetSessionCost(_)
            | Request::GetUsage(_)
            | Request::GetSettings(_)
            | Request::GetBinaryVersion(_)
            | Request::GetHooksListing(_)
            | Request::ListModels(_)
            | Request::ListPermissionRules(_)
            | Request::FileSuggestions(_)
            | Request::ReadFile(_)
            | Request::SeedReadState(_)
            | Request::ReloadPlugins(_)
            | Request::ReloadSkills(_)
            | Request::ReloadOutputStyles(_)
            | Request::RegisterRepoRoot(_)
            | Request::RenameSession(_)
            | Request::SetColor(_)
            | Request::SetHasSubscribers(_)
            | Request::CancelAsyncMessage(_)
            | Request::SideQuestion(_)
            | Request::EndSession(_) => None,
        }
    }
}
