//! [`Session`]: a running agent, and the events that come from it.

use std::{
    future::poll_fn,
    pin::Pin,
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
    driver::{self, Limits, Order, Setup},
    error::{Ending, Error},
    event::{Event, Item, Malformed, Problem},
    mcp::{Servers, Starter},
    progress::Progress,
    prompt::Prompt,
    queue::{self, Receiver},
    transport::Transport,
};

/// A running agent.
///
/// Dropped, it is ended: its input is closed, it gets `SIGTERM`, and `SIGKILL` if it stays.
///
/// ```no_run
/// # async fn example() -> Result<(), towline_host::Error> {
/// use towline_host::{AgentCommand, Event};
///
/// let mut session = AgentCommand::claude()?.spawn().await?;
/// session.send("What is in this directory?").await?;
/// while let Some(event) = session.next().await {
///     match event {
///         Event::Permission(permission) => permission.allow(),
///         Event::Ended(ending) => return Err(towline_host::Error::Ended(Box::new(ending))),
///         other => {
///             if let Some(result) = other.result() {
///                 println!("{:?}", result.text());
///                 break;
///             }
///         }
///     }
/// }
/// session.close().await;
/// # Ok(())
/// # }
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
#[derive(Debug)]
pub struct Events {
    queue: Receiver<Item>,
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
        let control = Control::new(sender.clone(), has_ended, parts.timeout);
        let servers = Servers::start(&parts.servers, &sender.downgrade());
        tokio::spawn(driver::drive(
            transport,
            Setup {
                command: parts.command,
                limits: parts.limits,
                orders,
                sender: sender.downgrade(),
                events,
                servers,
                ended,
            },
        ));
        let agent = match parts.initialize {
            Some(initialize) => Some(Box::new(control.initialize(initialize).await?)),
            None => None,
        };
        Ok(Self {
            control,
            events: Events {
                queue,
                _orders: sender,
                progress: Progress::with_session(parts.session_id),
            },
            agent,
        })
    }

    /// What the agent said of itself: its commands, models, account and output styles. Nothing if it was not asked
    /// ([`AgentCommand::without_initialize`](crate::AgentCommand::without_initialize)).
    pub fn agent(&self) -> Option<&InitializeAnswer> {
        self.agent.as_deref()
    }

    /// Sends a message of the user; see [`Control::send`].
    ///
    /// # Errors
    /// When the agent is gone.
    pub async fn send(&self, prompt: impl Into<Prompt>) -> Result<(), Error> {
        self.control.send(prompt).await
    }

    /// Stops the running turn; see [`Control::interrupt`].
    ///
    /// # Errors
    /// When the agent refuses, does not answer in time, or is gone.
    pub async fn interrupt(&self) -> Result<(), Error> {
        self.control.interrupt().await.map(|_| ())
    }

    /// Everything else that can be said to the agent. Clone it to use it elsewhere.
    pub fn control(&self) -> &Control {
        &self.control
    }

    /// The events.
    pub fn events(&mut self) -> &mut Events {
        &mut self.events
    }

    /// The next event; nothing after [`Event::Ended`]. Can be dropped and called again without losing one.
    pub async fn next(&mut self) -> Option<Event> {
        self.events.next().await
    }

    /// What the events that were looked at so far add up to.
    pub fn progress(&self) -> &Progress {
        &self.events.progress
    }

    /// The session's id, once it is known; see [`Progress::session_id`].
    pub fn id(&self) -> Option<&SessionId> {
        self.events.progress.session_id()
    }

    /// The two halves, for different tasks.
    pub fn split(self) -> (Control, Events) {
        (self.control, self.events)
    }

    /// Ends the agent and waits for it; see [`Control::close`].
    pub async fn close(self) -> Ending {
        // Nobody looks any more, so nothing may wait for that.
        drop(self.events);
        self.control.close().await
    }
}

impl Events {
    /// The next event; nothing after [`Event::Ended`]. Can be dropped and called again without losing one.
    pub async fn next(&mut self) -> Option<Event> {
        poll_fn(|context| self.poll(context)).await
    }

    /// What the events that were looked at so far add up to.
    pub fn progress(&self) -> &Progress {
        &self.progress
    }

    fn poll(&mut self, context: &Context<'_>) -> Poll<Option<Event>> {
        self.queue
            .poll_next(context)
            .map(|item| item.map(|item| self.look_at(item)))
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
        match Frame::decode(line.clone()) {
            Ok(frame) => {
                self.progress.handle(&frame.message);
                Event::Message(frame)
            }
            Err(error) => Event::Malformed(Malformed {
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
