//! [`Progress`]: what the events so far add up to: the tree of calls, what is being written, tokens and cost.
//!
//! Pure: every line is handed in.

use std::collections::HashSet;

use towline_protocol::{
    Accumulator, Calls, Draft, SessionId, System, TaskId, TaskUpdated, ToHost, ToolUseId, Usages,
};

/// Where a session stands: what its lines add up to.
///
/// ```
/// # towline_testkit::in_session!(|session| {
/// session.ask("subagent fetch the news").await?;
/// let progress = session.progress();
/// assert_eq!(progress.calls().children(None).count(), 1); // the subagent
/// assert_eq!(progress.usages().cost_usd(), Some(0.01));
/// # });
/// ```
#[derive(Debug, Default)]
pub struct Progress {
    accumulator: Accumulator,
    session_id: Option<SessionId>,
    background: HashSet<TaskId>,
    tells_of_messages: bool,
}

impl Progress {
    pub(crate) fn with_session(session_id: Option<SessionId>) -> Self {
        Self {
            session_id,
            ..Self::default()
        }
    }

    /// Takes in a line of the agent.
    ///
    /// A session does that by itself.
    ///
    /// ```
    /// # use towline_host::{Progress, ToHost, Wire};
    /// let mut progress = Progress::default();
    /// let line = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{}}]}}"#;
    /// progress.handle(&ToHost::from_json(line)?);
    /// assert_eq!(progress.calls().iter().count(), 1);
    /// # Ok::<(), towline_host::DecodeError>(())
    /// ```
    pub fn handle(&mut self, line: &ToHost) {
        self.accumulator.handle(line);
        match line {
            ToHost::ConversationReset(_) => {
                // It still has the old id; the next lines have the new one.
                self.session_id = None;
                return;
            }
            ToHost::System(System::Init(init)) if init.tells_of_messages() => {
                self.tells_of_messages = true;
            }
            ToHost::System(System::TaskStarted(task))
                if task.comes_back() && self.background.len() < MOST_TASKS =>
            {
                self.background.insert(task.task_id.detached());
            }
            ToHost::System(System::TaskNotification(task)) => {
                self.background.remove(&task.task_id);
            }
            ToHost::System(System::TaskUpdated(task)) if has_ended(task) => {
                self.background.remove(&task.task_id);
            }
            _ => {}
        }
        if self.session_id.is_none() {
            self.session_id = line.settled_session_id().map(SessionId::detached);
        }
    }

    /// The id of the session, once it is known: the one it was given, or the first one that a line other than `system`
    /// and `stream_event` has, so that a fork shows its new id and not the one it was forked from.
    ///
    /// After `/clear` it is a new one.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// session.ask("say hello").await?;
    /// assert_eq!(session.progress().session_id(), Some(&"fake-session".into()));
    /// # });
    /// ```
    pub fn session_id(&self) -> Option<&SessionId> {
        self.session_id.as_ref()
    }

    /// The tree of tool calls: those of subagents under the call that started the subagent.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// session.ask("subagent fetch the news").await?;
    /// let calls = session.progress().calls();
    /// let subagent = calls.children(None).next().unwrap();
    /// assert_eq!(calls.children(Some(&subagent.id)).count(), 1); // what the subagent called
    /// # });
    /// ```
    pub fn calls(&self) -> &Calls {
        self.accumulator.calls()
    }

    /// Tokens of the main thread and of each subagent, tokens in the context, and the cost.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// session.ask("say hello").await?;
    /// let usages = session.progress().usages();
    /// assert_eq!((usages.context_tokens(), usages.cost_usd()), (15, Some(0.01)));
    /// # });
    /// ```
    pub fn usages(&self) -> &Usages {
        self.accumulator.usages()
    }

    /// The message being written by the main thread, or by the subagent that a call started.
    ///
    /// Needs [`AgentCommand::partial_messages`](crate::AgentCommand::partial_messages).
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// session.send("stream once upon a time").await?;
    /// while let Some(event) = session.next().await {
    ///     if let Some(draft) = session.progress().draft(None) {
    ///         println!("{}", draft.text()); // once, once upon, once upon a, …
    ///     }
    /// #   if event.result().is_some() { break }
    /// }
    /// # });
    /// ```
    pub fn draft(&self, subagent: Option<&ToolUseId>) -> Option<&Draft> {
        self.accumulator.draft(subagent)
    }

    /// Whether the agent tells what becomes of each message that has a uuid.
    pub(crate) fn tells_of_messages(&self) -> bool {
        self.tells_of_messages
    }

    /// How many agents and workflows are at work.
    ///
    /// Those that are left at the end of a turn come back with one of their own.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// session.ask("background fetch the news").await?; // waits for what runs in the background
    /// assert_eq!(session.progress().background_tasks(), 0);
    /// # });
    /// ```
    pub fn background_tasks(&self) -> usize {
        self.background.len()
    }
}

fn has_ended(task: &TaskUpdated) -> bool {
    let patch = task.patch.as_ref();
    patch.is_some_and(|patch| patch.end_time.is_some())
}

/// More than an agent starts; a bound for one that never says that a task has ended.
const MOST_TASKS: usize = 10_000;
