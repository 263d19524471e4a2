//! [`ToolName`]: the name of a tool, with the parts of an MCP tool's name.

use crate::wire::wire_ids;

wire_ids! {
    /// The name of a tool, such as `Bash` or `mcp__github__create_issue`.
    ToolName;
}

/// The two parts of `mcp__server__tool`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct McpTool<'a> {
    /// The server.
    pub server: &'a str,
    /// The tool's name on the server; nothing where a rule names the whole server.
    pub tool: Option<&'a str>,
}

impl ToolName {
    /// The server and tool of an MCP tool's name.
    ///
    /// ```
    /// use towline_protocol::{McpTool, ToolName};
    ///
    /// let name = ToolName::from("mcp__calc__add__two");
    /// assert_eq!(name.mcp(), Some(McpTool { server: "calc", tool: Some("add__two") }));
    /// assert_eq!(ToolName::from("mcp__calc").mcp(), Some(McpTool { server: "calc", tool: None }));
    /// assert_eq!(ToolName::from("Bash").mcp(), None);
    /// ```
    pub fn mcp(&self) -> Option<McpTool<'_>> {
        let rest = self.as_str().strip_prefix("mcp__")?;
        let (server, tool) = match rest.split_once("__") {
            Some((server, tool)) => (server, Some(tool).filter(|tool| !tool.is_empty())),
            None => (rest, None),
        };
        (!server.is_empty()).then_some(McpTool { server, tool })
    }

    /// The name of an MCP server's tool.
    pub fn of_mcp(server: &str, tool: &str) -> Self {
        format!("mcp__{server}__{tool}").into()
    }

    /// Whether it starts a subagent: the tool is `Agent` to the model and `Task` in `init` and in document 001.
    pub fn is_agent(&self) -> bool {
        matches!(self.as_str(), "Agent" | "Task")
    }
}
