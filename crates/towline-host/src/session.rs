//! [`Session`]: a running agent, and the events that come from it.

use std::{
    future::poll_fn,
    pin::Pin,
    sync::{Arc, atomic::AtomicBool},
    task::{Context, Poll},
};

use futures_core::Stream;
use tokio::sync::{mpsc, watch};
use towline_protocol::{
    Frame, SessionId, Text,
    control::{answer::InitializeAnswer, request::Initialize},
};

use crate::{
    control::Control,
    driver::{self, Limits, Order, Setup, Turns, Waiter},
    error::{Ending, Error},
    event::{Event, Item, Malformed, Problem},
    mcp::{Servers, Starter},
    progress::Progress,
    prompt::Prompt,
    queue::{self, Receiver},
    transport::Transport,
};

/// A running agent: what it is told, and what happens there.
///
/// Dropped, it is ended: its input is closed, it gets `SIGTERM`, and `SIGKILL` if it stays.
///
/// ```
/// # towline_testkit::fake_agent::run_example(async {
/// # use towline_host::*;
/// # let program = towline_testkit::fake_agent::PROGRAM;
/// let mut session = AgentCommand::new(program).spawn().await?;
/// session.send("What is in this directory?").await?;
/// while let Some(event) = session.next().await {
///     if let Some(result) = event.result() {
///         println!("{:?}", result.text());
///         break;
///     }
///     match event {
///         Event::Permission(permission) => permission.allow(),
///         Event::Ended(ending) => return Err(Error::Ended(Box::new(ending)).into()),
///         _ => {}
///     }
/// }
/// assert!(session.close().await.closed);
/// # Ok(())
/// # });
/// ```
#[derive(Debug)]
pub struct Session {
    control: Control,
    events: Events,
    agent: Option<Box<InitializeAnswer>>,
}

/// The events of a session, in order: a [`Stream`] that ends after [`Event::Ended`].
///
/// Whoever does not look slows the agent down: the queue behind it is bounded.
///
/// ```
/// # towline_testkit::in_session!(|session| {
/// let (control, mut events) = session.split();
/// control.send("say hello").await?;
/// while let Some(event) = events.next().await {
///     if event.result().is_some() {
///         control.end_input().await?; // the last event will be `Event::Ended`
///     }
/// }
/// # });
/// ```
#[derive(Debug)]
pub struct Events {
    queue: Receiver<Item>,
    turns: Turns,
    waiter: Waiter,
    /// As long as somebody looks, the session lives.
    _orders: mpsc::UnboundedSender<Order>,
    progress: Progress,
}

/// What a session is made of.
pub(crate) struct Parts {
    pub(crate) command: String,
    pub(crate) limits: Limits,
    pub(crate) timeout: Option<std::time::Duration>,
    pub(crate) session_id: Option<SessionId>,
    pub(crate) servers: Vec<Starter>,
    /// What to introduce ourselves with; nothing for an agent that is not to be asked.
    pub(crate) initialize: Option<Initialize>,
}

impl Session {
    pub(crate) async fn start(transport: Transport, parts: Parts) -> Result<Self, Error> {
        let (sender, orders) = mpsc::unbounded_channel();
        let (events, queue) = queue::queue();
        let (ended, has_ended) = watch::channel(None);
        let input_closed = Arc::<AtomicBool>::default();
        let servers = Servers::start(&parts.servers, &sender.downgrade());
        let turns = Turns::start(driver::drive(
            transport,
            Setup {
                command: parts.command,
                limits: parts.limits,
                orders,
                sender: sender.downgrade(),
                events,
                servers,
                input_closed: Arc::clone(&input_closed),
                ended,
            },
        ));
        let control = Control::new(
            sender.clone(),
            turns.clone(),
            has_ended,
            parts.timeout,
            input_closed,
        );
        let agent = match parts.initialize {
            None => None,
            Some(initialize) => match control.initialize(initialize).await {
                Ok(answer) => Some(Box::new(answer)),
                Err(Error::TimedOut { after, .. }) => {
                    drop(queue);
                    let ending = Box::new(control.close().await);
                    return Err(Error::Silent { after, ending });
                }
                Err(error) => return Err(error),
            },
        };
        Ok(Self {
            control,
            events: Events {
                queue,
                waiter: turns.waiter(),
                turns,
                _orders: sender,
                progress: Progress::with_session(parts.session_id),
            },
            agent,
        })
    }

    /// What the agent said of itself: its commands, models, account and output styles.
    ///
    /// Nothing if it was not asked ([`AgentCommand::without_initialize`](crate::AgentCommand::without_initialize)).
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// let agent = session.agent().unwrap();
    /// assert_eq!(agent.claude_code_version.as_deref(), Some("2.1.325"));
    /// # });
    /// ```
    pub fn agent(&self) -> Option<&InitializeAnswer> {
        self.agent.as_deref()
    }

    /// Sends a message of the user; see [`Control::send`].
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// session.send("say hello").await?;
    /// # assert_eq!(end_of_turn(&mut session).await, "hello");
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the agent is gone.
    pub async fn send(&self, prompt: impl Into<Prompt>) -> Result<(), Error> {
        self.control.send(prompt).await
    }

    /// Stops the running turn; see [`Control::interrupt`].
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// session.send("wait").await?; // this would go on for ever
    /// session.interrupt().await?;
    /// # assert_eq!(end_of_turn(&mut session).await, "interrupted");
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the agent refuses, does not answer in time, or is gone.
    pub async fn interrupt(&self) -> Result<(), Error> {
        self.control.interrupt().await.map(|_| ())
    }

    /// Everything else that can be said to the agent.
    ///
    /// Clone it to use it elsewhere, such as in another task.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// let control = session.control().clone();
    /// tokio::spawn(async move { control.set_model(Some("opus")).await });
    /// # });
    /// ```
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// The events, where something wants a [`Stream`].
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// session.send("say hello").await?;
    /// let first = session.events().next().await.unwrap();
    /// assert!(matches!(first, Event::Message(_)));
    /// # });
    /// ```
    pub fn events(&mut self) -> &mut Events {
        &mut self.events
    }

    /// The next event; nothing after [`Event::Ended`].
    ///
    /// Can be dropped and called again without losing one.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// session.send("say hello").await?;
    /// while let Some(event) = session.next().await {
    ///     println!("{event:?}");
    /// #   if event.result().is_some() { break }
    /// }
    /// # });
    /// ```
    pub async fn next(&mut self) -> Option<Event> {
        self.events.next().await
    }

    /// What the events that were looked at so far add up to.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// session.ask("say hello").await?;
    /// assert_eq!(session.progress().usages().cost_usd(), Some(0.01));
    /// # });
    /// ```
    pub fn progress(&self) -> &Progress {
        &self.events.progress
    }

    /// The session's id, once it is known; see [`Progress::session_id`].
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// session.ask("say hello").await?;
    /// println!("continue with --resume {}", session.id().unwrap());
    /// # });
    /// ```
    pub fn id(&self) -> Option<&SessionId> {
        self.events.progress.session_id()
    }

    /// The two halves, for different tasks: one speaks, the other listens.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// let (control, mut events) = session.split();
    /// tokio::spawn(async move { while events.next().await.is_some() {} });
    /// control.send("say hello").await?;
    /// # control.close().await;
    /// # });
    /// ```
    pub fn split(self) -> (Control, Events) {
        (self.control, self.events)
    }

    /// Ends the agent and waits for it; see [`Control::close`].
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// let ending = session.close().await;
    /// assert!(ending.closed); // by us, and not by itself
    /// # });
    /// ```
    pub async fn close(self) -> Ending {
        // Nobody looks any more, so nothing may wait for that.
        drop(self.events);
        self.control.close().await
    }
}

impl Events {
    /// The next event; nothing after [`Event::Ended`].
    ///
    /// Can be dropped and called again without losing one.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// # session.send("say hello").await?;
    /// let (_control, mut events) = session.split();
    /// while let Some(event) = events.next().await {
    ///     println!("{event:?}");
    /// #   if event.result().is_some() { break }
    /// }
    /// # });
    /// ```
    pub async fn next(&mut self) -> Option<Event> {
        poll_fn(|context| self.poll(context)).await
    }

    /// What the events that were looked at so far add up to.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// # session.ask("say hello").await?;
    /// let (_control, events) = session.split();
    /// assert_eq!(events.progress().usages().cost_usd(), Some(0.01));
    /// # });
    /// ```
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    fn poll(&mut self, context: &Context<'_>) -> Poll<Option<Event>> {
        if !self.queue.has_next() {
            self.turns.turn();
        }
        let next = self.queue.poll_next(context);
        if next.is_pending() {
            self.waiter.call(context.waker());
        }
        next.map(|item| item.map(|item| self.look_at(item)))
    }

    fn look_at(&mut self, item: Item) -> Event {
        match item {
            Item::Line(line) => self.read(line),
            Item::Event(mut event) => {
                if let Event::Plan(plan) = &mut *event {
                    let call = plan
                        .tool_use_id()
                        .and_then(|id| self.progress.calls().get(id));
                    plan.fill_in(call.and_then(|call| call.input.as_ref()));
                }
                *event
            }
        }
    }

    fn read(&mut self, line: Text) -> Event {
        match Frame::decode_or_give_back(line) {
            Ok(frame) => {
                self.progress.handle(&frame.message);
                Event::Message(frame)
            }
            Err((line, error)) => Event::Malformed(Malformed {
                line,
                problem: Problem::Decode(error),
            }),
        }
    }
}

impl Stream for Events {
    type Item = Event;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Event>> {
        self.poll(context)
    }
}
