//! MCP servers that live in this program: the agent's `mcp_message` requests reach an [`rmcp`] server and back.
//!
//! A request of the agent stays open until the server answers it; one that the agent takes back is cancelled in the
//! server too. Notifications are acknowledged at once, as the official SDKs do.

mod tool_server;

use std::{
    collections::HashMap,
    fmt,
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use rmcp::{
    ServerHandler, ServiceExt as _,
    model::{
        CancelledNotification, CancelledNotificationParam, ClientJsonRpcMessage,
        ClientNotification, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
    },
    service::RoleServer,
};
use tokio::sync::{mpsc, oneshot};
use towline_protocol::{
    Answer, Extra, Json, Request, Text, Ticket, Wire as _,
    control::{
        answer::McpMessageAnswer,
        request::{McpMessage, McpServerConfig},
    },
};

use crate::driver::Order;

pub use tool_server::ToolServer;

/// How to start a server; every session gets one of its own.
#[derive(Clone)]
pub(crate) struct Starter {
    pub(crate) name: Text,
    start: Arc<dyn Fn(Line) -> Running + Send + Sync>,
}

type Running = Pin<Box<dyn Future<Output = ()> + Send>>;

impl Starter {
    pub(crate) fn new(name: Text, server: impl ServerHandler + Clone) -> Self {
        let start = move |line| -> Running {
            let server = server.clone();
            Box::pin(async move {
                // It ends with the session; the agent is told of anything else when it asks again.
                if let Ok(running) = server.serve(line).await {
                    running.waiting().await.ok();
                }
            })
        };
        Self {
            name,
            start: Arc::new(start),
        }
    }

    /// How an agent is told of it.
    pub(crate) fn config(&self) -> McpServerConfig {
        McpServerConfig {
            kind: Some("sdk".into()),
            name: Some(self.name.clone()),
            ..McpServerConfig::default()
        }
    }
}

impl fmt::Debug for Starter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Starter").field(&self.name).finish()
    }
}

/// The servers of a session.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    servers: Vec<Server>,
}

#[derive(Debug)]
struct Server {
    name: Text,
    inbox: mpsc::Sender<ClientJsonRpcMessage>,
    open: Open,
}

/// The agent's requests that a server has not answered.
type Open = Arc<Mutex<HashMap<RequestId, Ticket>>>;

impl Servers {
    /// Starts a task for each server.
    pub(crate) fn start(starters: &[Starter], orders: &mpsc::WeakUnboundedSender<Order>) -> Self {
        let mut servers = Self::default();
        for starter in starters {
            servers.add(starter, orders);
        }
        servers
    }

    /// Starts one more, in place of one of the same name: that ends, and what it has not answered is refused.
    pub(crate) fn add(&mut self, starter: &Starter, orders: &mpsc::WeakUnboundedSender<Order>) {
        let (inbox, messages) = mpsc::channel(MAX_WAITING);
        let open = Open::default();
        tokio::spawn((starter.start)(Line {
            server: starter.name.clone(),
            messages,
            orders: orders.clone(),
            open: Arc::clone(&open),
        }));
        self.servers.retain(|server| server.name != starter.name);
        self.servers.push(Server {
            name: starter.name.clone(),
            inbox,
            open,
        });
    }

    /// Takes a request if it is for a server, and gives the answers there are already. Any other is given back.
    pub(crate) fn take(
        &mut self,
        ticket: Ticket,
        request: Box<Request>,
    ) -> Result<Vec<(Ticket, Answer)>, Box<Request>> {
        let Request::McpMessage(message) = &*request else {
            return Err(request);
        };
        let name = &message.server_name;
        let Some(server) = self.servers.iter().find(|server| server.name == *name) else {
            return Err(request);
        };
        Ok(server.take(ticket, &message.message))
    }

    /// The agent does not want the answer any more.
    pub(crate) fn withdrawn(&mut self, ticket: Ticket) {
        for server in &self.servers {
            server.cancel(ticket);
        }
    }
}

impl Server {
    fn take(&self, ticket: Ticket, message: &Json) -> Vec<(Ticket, Answer)> {
        let message = match message.parse::<ClientJsonRpcMessage>() {
            Ok(message) => message,
            Err(error) => {
                return vec![(ticket, Err(format!("no JSON-RPC message: {error}").into()))];
            }
        };
        let mut answers = Vec::new();
        let id = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            JsonRpcMessage::Notification(notification) => {
                // The server will not answer what is cancelled, and the agent waits.
                answers.extend(self.cancelled(&notification.notification));
                None
            }
            _ => None,
        };
        if let Some(id) = &id
            && let Some(displaced) = lock(&self.open).insert(id.clone(), ticket)
        {
            answers.push((
                displaced,
                Err("another request came with the same id".into()),
            ));
        }
        if self.inbox.try_send(message).is_err() {
            if let Some(id) = &id {
                lock(&self.open).remove(id);
            }
            answers.push((
                ticket,
                Err("the MCP server has ended, or is too slow".into()),
            ));
        } else if id.is_none() {
            answers.push((ticket, Ok(Some(McpMessageAnswer::acknowledged()))));
        }
        answers
    }

    /// The answer to the request that a notification cancels.
    fn cancelled(&self, notification: &ClientNotification) -> Option<(Ticket, Answer)> {
        let ClientNotification::CancelledNotification(cancelled) = notification else {
            return None;
        };
        let id = cancelled.params.request_id.as_ref()?;
        let ticket = lock(&self.open).remove(id)?;
        Some((ticket, Err("cancelled".into())))
    }

    fn cancel(&self, ticket: Ticket) {
        let mut open = lock(&self.open);
        let id = open
            .iter()
            .find(|(_, open)| **open == ticket)
            .map(|(id, _)| id.clone());
        let Some(id) = id else {
            return;
        };
        open.remove(&id);
        let reason = Some("the agent no longer waits for it".to_owned());
        let cancelled =
            CancelledNotification::new(CancelledNotificationParam::new(Some(id), reason));
        let message = JsonRpcMessage::notification(ClientNotification::from(cancelled));
        // A server with a full inbox finds nobody waiting once it gets there.
        self.inbox.try_send(message).ok();
    }
}

/// What an [`rmcp`] server speaks over.
struct Line {
    server: Text,
    messages: mpsc::Receiver<ClientJsonRpcMessage>,
    orders: mpsc::WeakUnboundedSender<Order>,
    open: Open,
}

/// The session is over.
#[derive(Debug, thiserror::Error)]
#[error("the session is over")]
struct Over;

impl Line {
    fn pass_on(&self, message: &ServerJsonRpcMessage) -> Result<(), Over> {
        let ticket = match message {
            JsonRpcMessage::Response(response) => lock(&self.open).remove(&response.id),
            JsonRpcMessage::Error(error) => {
                error.id.as_ref().and_then(|id| lock(&self.open).remove(id))
            }
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {
                return self.ask(message);
            }
        };
        let Some(ticket) = ticket else {
            // It was taken back.
            return Ok(());
        };
        let answer = match Json::of(message) {
            Ok(json) => Ok(Some(wrapped(json))),
            Err(error) => Err(error.to_string().into()),
        };
        self.order(Order::Answer { ticket, answer })
    }

    /// What the server says by itself goes to the agent as a request of ours, whose answer tells nothing.
    fn ask(&self, message: &ServerJsonRpcMessage) -> Result<(), Over> {
        let Ok(message) = Json::of(message) else {
            return Ok(());
        };
        let (settled, _) = oneshot::channel();
        self.order(Order::Ask {
            request: Box::new(Request::McpMessage(McpMessage {
                server_name: self.server.clone(),
                message,
                extra: Extra::default(),
            })),
            timeout: Some(crate::control::DEFAULT_TIMEOUT),
            settled,
        })
    }

    fn order(&self, order: Order) -> Result<(), Over> {
        let orders = self.orders.upgrade().ok_or(Over)?;
        orders.send(order).map_err(|_| Over)
    }
}

impl Drop for Line {
    /// A server that has ended answers nothing any more, and the agent waits.
    fn drop(&mut self) {
        for (_, ticket) in std::mem::take(&mut *lock(&self.open)) {
            let answer = Err("the MCP server has ended".into());
            self.order(Order::Answer { ticket, answer }).ok();
        }
    }
}

impl rmcp::transport::Transport<RoleServer> for Line {
    type Error = Over;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Over>> + Send + 'static {
        std::future::ready(self.pass_on(&message))
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> Result<(), Over> {
        self.messages.close();
        Ok(())
    }
}

fn wrapped(mcp_response: Json) -> Json {
    McpMessageAnswer {
        mcp_response: Some(mcp_response),
        extra: Extra::default(),
    }
    .to_standard_json()
}

fn lock(open: &Open) -> MutexGuard<'_, HashMap<RequestId, Ticket>> {
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Messages that may wait for a server.
const MAX_WAITING: usize = 256;
