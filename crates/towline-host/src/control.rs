//! [`Control`]: everything a host can say to an agent. Cheap to clone, and usable while somebody else reads the events.

mod requests;

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use towline_protocol::{
    Extra, Frame, Json, Map, Outcome, Request, Text, ToAgent, UpdateEnvironment, Wire,
    control::request::McpServerConfig,
};

use crate::{
    driver::{Order, ToWrite, Turns, with_line_end},
    error::{Ending, Error},
    mcp::Starter,
    prompt::Prompt,
};

/// A handle to a running agent: sends messages, asks, interrupts, closes.
///
/// Cheap to clone.
///
/// Requests time out ([`Control::with_timeout`], a minute by default) and fail at once when the agent is gone. While a
/// request waits, the session reads up to 16 MiB ahead of whoever looks at its events, so that the answer can arrive.
///
/// ```
/// # towline_testkit::in_session!(|session| {
/// let control = session.control().clone();
/// control.set_permission_mode(PermissionMode::Plan).await?;
/// control.send("say hello").await?;
/// # assert_eq!(end_of_turn(&mut session).await, "hello");
/// # });
/// ```
#[derive(Clone, Debug)]
pub struct Control {
    orders: mpsc::UnboundedSender<Order>,
    turns: Turns,
    /// Room for what is written faster than the agent reads, in bytes.
    room: Arc<Semaphore>,
    timeout: Option<Duration>,
    input_closed: Arc<AtomicBool>,
    ended: watch::Receiver<Option<Ending>>,
}

impl Control {
    pub(crate) fn new(
        orders: mpsc::UnboundedSender<Order>,
        turns: Turns,
        ended: watch::Receiver<Option<Ending>>,
        timeout: Option<Duration>,
        input_closed: Arc<AtomicBool>,
    ) -> Self {
        Self {
            orders,
            turns,
            room: Arc::new(Semaphore::new(ROOM as usize)),
            timeout,
            input_closed,
            ended,
        }
    }

    /// The same handle with another time-out for requests; they wait for ever if nothing is given.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// let patient = session.control().clone().with_timeout(None);
    /// patient.context_usage().await?;
    /// # });
    /// ```
    #[must_use]
    pub fn with_timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sends a message of the user.
    ///
    /// It may be sent while a turn runs; the agent then queues it.
    ///
    /// Waits while the agent does not read what was sent before, but not longer than a request may take.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// let control = session.control();
    /// control.send("wait").await?;
    /// control.send(Prompt::from("say hello").now()).await?; // runs next
    /// # control.interrupt().await?;
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the agent is gone.
    pub async fn send(&self, prompt: impl Into<Prompt>) -> Result<(), Error> {
        self.send_line(ToAgent::User(Box::new(prompt.into().into_user())))
            .await
    }

    /// Starts an MCP server of this program in a running session, in place of one of that name.
    ///
    /// The agent learns of it by [`Control::mcp_set_servers`], which takes what this gives.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// # let schema = serde_json::Map::new();
    /// let clock = ToolServer::new("1.0.0").tool("now", "Tells the time", schema, |_: rmcp::model::JsonObject| async {
    ///     Ok("noon".to_owned())
    /// });
    /// let control = session.control().clone();
    /// let config = control.serve_mcp("clock", clock).await?;
    /// control.mcp_set_servers([("clock".to_owned(), config)]).await?;
    /// assert_eq!(session.ask("call clock now {}").await?.text, "noon");
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the agent is gone.
    pub async fn serve_mcp(
        &self,
        name: impl Into<Text>,
        server: impl rmcp::ServerHandler + Clone,
    ) -> Result<McpServerConfig, Error> {
        let server = Starter::new(name.into(), server);
        let config = server.config();
        self.order(Order::Serve(server)).await?;
        Ok(config)
    }

    /// Sets environment variables for what the agent runs from now on.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// session.control().update_environment([("CI".to_owned(), "true".to_owned())]).await?;
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the agent is gone.
    pub async fn update_environment(
        &self,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<(), Error> {
        let variables: Map<Text> = variables
            .into_iter()
            .map(|(name, value)| (name, Text::from(value)))
            .collect();
        self.send_line(ToAgent::UpdateEnvironment(Box::new(UpdateEnvironment {
            variables,
            extra: Extra::default(),
        })))
        .await
    }

    /// Sends any line, for what has no method of its own.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// use towline_host::protocol::User;
    ///
    /// let line = ToAgent::User(Box::new(User::say("say hello")));
    /// session.control().send_line(line).await?;
    /// # assert_eq!(end_of_turn(&mut session).await, "hello");
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the agent is gone.
    pub async fn send_line(&self, line: ToAgent) -> Result<(), Error> {
        let bytes = with_line_end(Frame::encode(line).line());
        let wanted = u32::try_from(bytes.len()).unwrap_or(ROOM).min(ROOM);
        let room = self.turns.in_runtime(self.room_for(wanted)).await?;
        if self.is_input_closed() {
            return Err(Error::InputClosed);
        }
        self.order(Order::Send(ToWrite { bytes, room })).await
    }

    /// Asks the agent anything that is typed; most questions have a method of their own.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// let answer = session.control().request(Request::interrupt()).await?;
    /// assert_eq!(answer.unwrap().as_str(), r#"{"still_queued":[]}"#);
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the agent refuses, does not answer in time, or is gone.
    pub async fn request(&self, request: Request) -> Result<Option<Json>, Error> {
        let name = request.kind().to_owned();
        let (settled, outcome) = oneshot::channel();
        self.order(Order::Ask {
            request: Box::new(request),
            timeout: self.timeout,
            settled,
        })
        .await?;
        let mut asker = Asker {
            orders: &self.orders,
            outcome: Some(outcome),
        };
        match self.turns.until(asker.outcome()).await {
            Outcome::Answered(answer) => Ok(answer),
            Outcome::Refused(failure) => Err(Error::Refused {
                request: name,
                failure,
            }),
            Outcome::TimedOut => Err(Error::TimedOut {
                request: name,
                after: self.timeout.unwrap_or_default(),
            }),
            Outcome::Cancelled | Outcome::Closed if self.is_input_closed() => {
                Err(Error::InputClosed)
            }
            Outcome::Cancelled | Outcome::Closed => Err(self.ended().await),
        }
    }

    /// Asks the agent anything at all: `fields` are those of the request beside its `subtype`.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// let fields = Json::new(r#"{"color":"blue"}"#)?;
    /// let answer = session.control().control("set_color", &fields).await?;
    /// # assert_eq!(answer.unwrap().as_str(), "{}");
    /// # });
    /// ```
    ///
    /// # Errors
    /// When `fields` is no object; when the agent refuses, does not answer in time, or is gone.
    pub async fn control(&self, subtype: &str, fields: &Json) -> Result<Option<Json>, Error> {
        let bad = |problem: String| Error::Option {
            option: format!("control request `{subtype}`"),
            problem,
        };
        let mut object: serde_json::Map<String, serde_json::Value> = fields
            .parse()
            .map_err(|error| bad(format!("its fields are no JSON object: {error}")))?;
        object.insert("subtype".to_owned(), subtype.into());
        let json = Json::of(&object).map_err(|error| bad(error.to_string()))?;
        let request =
            Request::from_json(json.text().clone()).map_err(|error| bad(error.to_string()))?;
        self.request(request).await
    }

    /// Says that nothing more will be sent.
    ///
    /// The agent finishes what it has and ends.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// session.send("say goodbye").await?;
    /// session.control().end_input().await?; // the turn is finished all the same
    /// # assert_eq!(end_of_turn(&mut session).await, "goodbye");
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the agent is gone.
    pub async fn end_input(&self) -> Result<(), Error> {
        self.order(Order::EndInput).await
    }

    /// Ends the agent and waits for it: an interrupt, the end of its input, five seconds, `SIGTERM`, five seconds,
    /// `SIGKILL`.
    ///
    /// See [`AgentCommand::close_grace`](crate::AgentCommand::close_grace).
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// let ending = session.control().close().await;
    /// assert!(ending.closed);
    /// # });
    /// ```
    pub async fn close(&self) -> Ending {
        // If it cannot be told it has ended.
        self.orders.send(Order::Close).ok();
        self.wait().await
    }

    /// Waits until the agent has ended.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// session.control().end_input().await?;
    /// let ending = session.control().wait().await;
    /// assert!(!ending.closed); // it ended by itself
    /// # });
    /// ```
    pub async fn wait(&self) -> Ending {
        let mut ended = self.ended.clone();
        let ending = self.turns.until(ended.wait_for(Option::is_some)).await;
        let ending = ending.ok().and_then(|ending| ending.clone());
        ending.unwrap_or_else(lost)
    }

    async fn typed<A: Wire>(&self, request: Request) -> Result<A, Error> {
        let name = request.kind().to_owned();
        let answer = self.request(request).await?;
        // Many answers have no value where nothing is to be said.
        let answer = answer.unwrap_or_else(Json::empty_object);
        A::from_json(answer.text().clone()).map_err(|source| Error::Answer {
            request: name,
            source,
        })
    }

    async fn done(&self, request: Request) -> Result<(), Error> {
        self.request(request).await.map(|_| ())
    }

    /// Waits for room among what the agent has not read; nothing if nobody will.
    async fn room_for(&self, bytes: u32) -> Result<Option<OwnedSemaphorePermit>, Error> {
        let mut ended = self.ended.clone();
        let room = Arc::clone(&self.room).acquire_many_owned(bytes);
        tokio::select! {
            room = self.turns.until(room) => Ok(room.ok()),
            ending = ended.wait_for(Option::is_some) => {
                Err(gone(ending.ok().and_then(|ending| ending.clone())))
            }
            after = passed(self.timeout) => Err(Error::NotRead { after }),
        }
    }

    /// Whether the agent runs and reads nothing any more.
    fn is_input_closed(&self) -> bool {
        self.input_closed.load(Ordering::Relaxed) && self.ended.borrow().is_none()
    }

    async fn order(&self, order: Order) -> Result<(), Error> {
        if self.ended.borrow().is_some() || self.orders.send(order).is_err() {
            return Err(self.ended().await);
        }
        self.turns.turn();
        Ok(())
    }

    async fn ended(&self) -> Error {
        Error::Ended(Box::new(self.wait().await))
    }
}

fn gone(ending: Option<Ending>) -> Error {
    Error::Ended(Box::new(ending.unwrap_or_else(lost)))
}

/// Waits until a time is over, if there is one, and gives it.
pub(crate) async fn passed(time: Option<Duration>) -> Duration {
    match time {
        Some(time) => {
            tokio::time::sleep(time).await;
            time
        }
        None => std::future::pending().await,
    }
}

/// Tells the loop when somebody stops waiting for an answer.
struct Asker<'a> {
    orders: &'a mpsc::UnboundedSender<Order>,
    outcome: Option<oneshot::Receiver<Outcome>>,
}

impl Asker<'_> {
    async fn outcome(&mut self) -> Outcome {
        let Some(outcome) = &mut self.outcome else {
            return Outcome::Closed;
        };
        let settled = outcome.await.unwrap_or(Outcome::Closed);
        self.outcome = None;
        settled
    }
}

impl Drop for Asker<'_> {
    fn drop(&mut self) {
        // The receiver first: that it is gone is what the loop looks for.
        if self.outcome.take().is_some() {
            self.orders.send(Order::Forget).ok();
        }
    }
}

/// The loop of the session was torn down with its runtime, so nobody saw how the agent ended.
fn lost() -> Ending {
    Ending {
        command: "the agent".to_owned(),
        exit: None,
        closed: true,
        stderr: String::new(),
    }
}

/// How long a request may take unless another time is set.
pub(crate) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
/// How much may wait to be written. A larger message waits until it is the only one.
const ROOM: u32 = 1 << 20;
