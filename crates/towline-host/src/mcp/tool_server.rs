//! [`ToolServer`]: tools made of closures, for programs that need no more of MCP than that.

use std::{collections::HashMap, fmt, future::Future, pin::Pin, sync::Arc};

use rmcp::{
    ErrorData, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
        JsonObject, ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig,
        Tool,
    },
    service::{RequestContext, RoleServer},
};
use serde::de::DeserializeOwned;

/// An MCP server whose tools are closures.
///
/// Anything beyond that is an [`rmcp::ServerHandler`] of your own.
///
/// ```
/// use serde::Deserialize;
/// use towline_host::{AgentCommand, ToolServer};
///
/// #[derive(Deserialize)]
/// struct Terms {
///     a: f64,
///     b: f64,
/// }
///
/// let schema = r#"{"type":"object","properties":{"a":{"type":"number"},"b":{"type":"number"}},"required":["a","b"]}"#;
/// let calculator = ToolServer::new("1.0.0").tool(
///     "add",
///     "Adds two numbers",
///     serde_json::from_str(schema)?,
///     |terms: Terms| async move { Ok((terms.a + terms.b).to_string()) },
/// );
/// let command = AgentCommand::new("claude").mcp_server("calculator", calculator); // the model sees mcp__calculator__add
/// # towline_testkit::in_session!(command, |session| {
/// # assert_eq!(session.ask(r#"call calculator add {"a":2,"b":3}"#).await?.text, "5");
/// # });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct ToolServer {
    version: String,
    instructions: Option<String>,
    tools: Vec<Tool>,
    calls: HashMap<String, Call>,
}

/// What a tool does: gives words for the model, or words that say why not.
type Call = Arc<dyn Fn(JsonObject) -> Done + Send + Sync>;
type Done = Pin<Box<dyn Future<Output = Result<String, String>> + Send>>;

impl ToolServer {
    /// Begins a server without tools.
    ///
    /// ```
    /// # use towline_host::{AgentCommand, ToolServer};
    /// let server = ToolServer::new("1.0.0");
    /// let command = AgentCommand::new("claude").mcp_server("empty", server);
    /// ```
    pub fn new(version: impl Into<String>) -> Self {
        Self {
            version: version.into(),
            instructions: None,
            tools: Vec::new(),
            calls: HashMap::new(),
        }
    }

    /// Tells the model about the server as a whole.
    ///
    /// ```
    /// # use towline_host::ToolServer;
    /// let server = ToolServer::new("1.0.0").instructions("Use these tools for all sums.");
    /// # let command = towline_host::AgentCommand::new("fake").mcp_server("calculator", server);
    /// ```
    #[must_use]
    pub fn instructions(mut self, words: impl Into<String>) -> Self {
        self.instructions = Some(words.into());
        self
    }

    /// Adds a tool.
    ///
    /// `schema` says what its input looks like, as JSON Schema; `run` is given the input.
    ///
    /// What `run` gives is what the model reads. An error, a panic or an input of another form is a failed call, which
    /// the model reads too.
    ///
    /// ```
    /// # use towline_host::{AgentCommand, ToolServer};
    /// #[derive(serde::Deserialize)]
    /// struct Name { name: String }
    ///
    /// let schema = r#"{"type":"object","properties":{"name":{"type":"string"}}}"#;
    /// let server = ToolServer::new("1.0.0").tool(
    ///     "greet",
    ///     "Greets somebody",
    ///     serde_json::from_str(schema)?,
    ///     |who: Name| async move {
    ///         if who.name.is_empty() {
    ///             return Err("there is nobody to greet".to_owned());
    ///         }
    ///         Ok(format!("Hello {}", who.name))
    ///     },
    /// );
    /// # towline_testkit::in_session!(AgentCommand::new("fake").mcp_server("desk", server), |session| {
    /// # assert_eq!(session.ask(r#"call desk greet {"name":"Ada"}"#).await?.text, "Hello Ada");
    /// # assert_eq!(session.ask(r#"call desk greet {"name":""}"#).await?.text, "there is nobody to greet");
    /// # });
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn tool<I, F, D>(
        mut self,
        name: impl Into<String>,
        description: impl Into<String>,
        schema: JsonObject,
        run: F,
    ) -> Self
    where
        I: DeserializeOwned,
        F: Fn(I) -> D + Send + Sync + 'static,
        D: Future<Output = Result<String, String>> + Send + 'static,
    {
        let name = name.into();
        let call = move |arguments: JsonObject| -> Done {
            match serde_json::from_value(arguments.into()) {
                Ok(input) => Box::pin(run(input)),
                Err(error) => Box::pin(std::future::ready(Err(format!(
                    "invalid arguments: {error}"
                )))),
            }
        };
        self.tools
            .push(Tool::new(name.clone(), description.into(), schema));
        self.calls.insert(name, Arc::new(call));
        self
    }
}

impl ServerHandler for ToolServer {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut config = ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("towline", &self.version));
        config.instructions.clone_from(&self.instructions);
        config
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(self.tools.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(call) = self.calls.get(&*request.name) else {
            let problem = format!("there is no tool named {}", request.name);
            return Err(ErrorData::invalid_params(problem, None));
        };
        // In a task of its own, so that a panic is a failed call and not a call without an answer.
        let (call, arguments) = (Arc::clone(call), request.arguments.unwrap_or_default());
        let mut running = tokio::spawn(async move { call(arguments).await });
        let outcome = tokio::select! {
            done = &mut running => done.unwrap_or_else(|_| Err("the tool panicked".to_owned())),
            () = context.ct.cancelled() => {
                running.abort();
                Err("cancelled".to_owned())
            }
        };
        let result = match outcome {
            Ok(words) => CallToolResult::success(vec![ContentBlock::text(words)]),
            Err(words) => CallToolResult::error(vec![ContentBlock::text(words)]),
        };
        Ok(result.into())
    }
}

impl fmt::Debug for ToolServer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("ToolServer")
            .field("version", &self.version)
            .field("tools", &self.calls.keys())
            .finish_non_exhaustive()
    }
}
