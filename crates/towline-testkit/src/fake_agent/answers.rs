//! What the fake agent answers to control requests: a table by subtype, but for those that change something.

use towline_protocol::{
    Answer, Json, Request, Wire as _,
    control::{
        answer::{CancelledAnswer, InterruptAnswer},
        request::McpServerConfig,
    },
};

use super::FakeAgent;

impl<R, W> FakeAgent<R, W> {
    /// The answer to a question of the host.
    pub(super) fn answer(&mut self, request: &Request) -> Answer {
        match request {
            Request::Initialize(initialize) => {
                self.hooks = initialize.hooks.as_option().cloned().unwrap_or_default();
                self.announce(initialize.sdk_mcp_servers.iter().flatten());
            }
            Request::McpSetServers(set) => {
                let in_host = |config: &McpServerConfig| config.kind.as_deref() == Some("sdk");
                let servers = set.servers.iter().filter(|(_, config)| in_host(config));
                self.announce(servers.map(|(name, _)| name));
            }
            Request::Interrupt(interrupt) => {
                self.interrupted = true;
                let queued = self.queued.iter().filter_map(|user| user.uuid.clone());
                let mut answer = InterruptAnswer {
                    still_queued: Some(queued.collect()),
                    ..InterruptAnswer::default()
                };
                if interrupt.cancel_queued == Some(true) {
                    self.queued.clear();
                    answer.cancelled = answer.still_queued.replace(Vec::new());
                }
                return Ok(Some(answer.to_standard_json()));
            }
            Request::CancelAsyncMessage(cancel) => {
                let before = self.queued.len();
                self.queued.retain(|user| user.uuid != cancel.message_uuid);
                let answer = CancelledAnswer {
                    cancelled: Some(self.queued.len() < before),
                    ..CancelledAnswer::default()
                };
                return Ok(Some(answer.to_standard_json()));
            }
            Request::EndSession(_) => self.dismissed = true,
            _ => {}
        }
        let kind = request.kind();
        match ANSWERS.iter().find(|(subtype, _)| *subtype == kind) {
            Some((_, answer)) => Json::new(*answer)
                .map(Some)
                .map_err(|error| error.to_string().into()),
            None => Err(format!("the fake agent has no answer to `{kind}`").into()),
        }
    }
}

impl<R, W> FakeAgent<R, W> {
    fn announce(&mut self, servers: impl IntoIterator<Item = impl AsRef<str>>) {
        for server in servers {
            let server = server.as_ref();
            // It may be another one of that name, which does not know us.
            self.greeted.retain(|greeted| greeted != server);
            if let Some(announced) = &mut self.announced {
                announced.push(server.to_owned());
            }
        }
    }
}

/// Small, but of the form that the real CLI's answers have.
const ANSWERS: &[(&str, &str)] = &[
    (
        "initialize",
        r#"{"commands":[{"name":"compact","description":"Shortens the conversation","argumentHint":""}],"agents":[{"name":"general-purpose","description":"Does anything"}],"output_style":"default","available_output_styles":["default","explanatory"],"models":[{"value":"opus","displayName":"Opus"},{"value":"sonnet","displayName":"Sonnet"}],"account":{"email":"someone@example.com"},"claude_code_version":"2.1.325"}"#,
    ),
    ("set_permission_mode", "{}"),
    ("set_model", "{}"),
    ("set_max_thinking_tokens", "{}"),
    (
        "mcp_status",
        r#"{"mcpServers":[{"name":"calculator","status":"connected"}]}"#,
    ),
    (
        "mcp_set_servers",
        r#"{"added":["files"],"removed":[],"errors":{}}"#,
    ),
    ("mcp_reconnect", "{}"),
    ("mcp_toggle", "{}"),
    (
        "mcp_call",
        r#"{"content":[{"type":"text","text":"3"}],"isError":false}"#,
    ),
    (
        "mcp_read_resource",
        r#"{"contents":[{"uri":"file:///notes","text":"Water the plants"}]}"#,
    ),
    ("mcp_message", "{}"),
    (
        "rewind_files",
        r#"{"canRewind":true,"filesChanged":["/project/a.txt"],"insertions":1,"deletions":2}"#,
    ),
    ("stop_task", "{}"),
    ("background_tasks", "{}"),
    (
        "get_task_output",
        r#"{"output":"all tests pass\n","total_bytes":15,"truncated":false}"#,
    ),
    (
        "get_context_usage",
        r#"{"categories":[{"name":"Messages","tokens":1200,"color":"blue"}],"totalTokens":1200,"maxTokens":200000,"percentage":1}"#,
    ),
    ("get_session_cost", r#"{"text":"Total cost: $0.01"}"#),
    (
        "get_usage",
        r#"{"session":{"total_cost_usd":0.01},"subscription_type":null}"#,
    ),
    (
        "get_settings",
        r#"{"effective":{"model":"opus"},"sources":[{"source":"userSettings","settings":{"model":"opus"}}]}"#,
    ),
    ("get_binary_version", r#"{"version":"2.1.325"}"#),
    (
        "get_hooks_listing",
        r#"{"events":[],"hooks":[],"errors":[]}"#,
    ),
    (
        "list_models",
        r#"{"models":[{"value":"opus","displayName":"Opus"},{"value":"sonnet","displayName":"Sonnet"}]}"#,
    ),
    (
        "list_permission_rules",
        r#"{"state":{"rules":[{"toolName":"Read"}]}}"#,
    ),
    (
        "file_suggestions",
        r#"{"suggestions":[{"path":"src/main.rs"}],"cwd":"/project"}"#,
    ),
    (
        "read_file",
        r#"{"contents":"hello\n","absPath":"/project/a.txt"}"#,
    ),
    ("seed_read_state", "{}"),
    (
        "reload_plugins",
        r#"{"commands":[],"agents":[],"plugins":[],"mcpServers":[],"error_count":0}"#,
    ),
    (
        "reload_skills",
        r#"{"skills":[{"name":"review","description":"Reads a change"}]}"#,
    ),
    (
        "reload_output_styles",
        r#"{"available_output_styles":["default","explanatory"]}"#,
    ),
    ("register_repo_root", "{}"),
    ("apply_flag_settings", "{}"),
    ("update_settings", "{}"),
    ("rename_session", "{}"),
    ("set_color", "{}"),
    ("set_has_subscribers", "{}"),
    (
        "side_question",
        r#"{"response":"Because it is quicker.","synthetic":false}"#,
    ),
    ("end_session", "{}"),
];
