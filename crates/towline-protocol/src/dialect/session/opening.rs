//! [`Opening`]: what document 003 has an agent say before the first message, made of what is known by then.
//!
//! The document's `system` line follows the answer to `initialize`. The real CLI says its own at the start of each turn
//! (trace `control-01_initialize`), and a host that waits for it before it says anything would wait for ever.

use crate::{
    control::{answer::InitializeAnswer, request::Initialize},
    ids::SessionId,
    json::{Json, Text},
    system::{Init, McpServerListing, System},
    to_host::ToHost,
    wire::{Extra, Map, Parts},
};

/// What is known of a session before its agent says anything.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Opening {
    /// The session, where whoever starts the agent chooses it or has it resumed.
    pub session_id: Option<SessionId>,
    /// Where the agent works.
    pub cwd: Option<Text>,
    /// The agent was told to go on with an old session, which it may not find.
    pub resumes: bool,
}

impl Opening {
    /// The `system` line. Tools are not known yet: the list is empty until the agent's own line comes.
    pub(super) fn system(&self, answer: Option<&Json>, servers: Vec<Text>) -> ToHost {
        let answer = answer.and_then(|answer| InitializeAnswer::read_whole(answer.text()).ok());
        let answer = answer.unwrap_or_default();
        let commands = answer.commands.map(|commands| {
            let bare = commands.iter().map(|command| bare(&command.name));
            bare.collect()
        });
        let agents = answer
            .agents
            .map(|agents| agents.into_iter().map(|agent| agent.name).collect());
        let servers = servers.into_iter().map(|name| McpServerListing {
            name,
            status: Some("pending".into()),
            source: None,
            extra: Extra::default(),
        });
        ToHost::System(System::Init(Box::new(Init {
            cwd: self.cwd.clone(),
            session_id: self.session_id.clone(),
            tools: Some(Vec::new()),
            mcp_servers: Some(servers.collect()),
            permission_mode: answer.current_permission_mode,
            slash_commands: commands,
            claude_code_version: answer.claude_code_version,
            output_style: answer.output_style,
            agents,
            ..Init::default()
        })))
    }
}

/// The names of the servers in an `initialize` of the document.
pub(super) fn server_names(initialize: &Initialize) -> Vec<Text> {
    let servers = initialize.mcp_servers.as_ref();
    let servers = servers.and_then(|servers| Map::<Json>::read_whole(servers.text()).ok());
    let servers = servers.unwrap_or_default();
    servers.iter().map(|(name, _)| name.into()).collect()
}

fn bare(command: &Text) -> Text {
    command.strip_prefix('/').unwrap_or(command).into()
}
