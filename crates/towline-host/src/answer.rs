//! [`ask`]: one question, one answer.

use std::time::Duration;

use towline_protocol::{CommandLifecycle, Json, SessionId, Text, ToHost, TurnResult, Uuid};

use crate::{
    command::AgentCommand, error::Error, event::Event, progress::Progress, prompt::Prompt,
    session::Session,
};

/// What came of a turn.
///
/// ```
/// # towline_testkit::fake_agent::run_example(async {
/// # use towline_host::*;
/// # let program = towline_testkit::fake_agent::PROGRAM;
/// let answer = AgentCommand::new(program).ask("Tea?").await?;
/// assert_eq!(answer.text, "Tea?"); // this agent only has an echo
/// assert_eq!(answer.cost_usd, Some(0.01));
/// # Ok(())
/// # });
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TurnAnswer {
    /// The last words of the model.
    pub text: Text,
    /// The value, where a schema was given ([`AgentCommand::json_schema`]).
    pub structured: Option<Json>,
    /// The session, to be resumed.
    pub session_id: Option<SessionId>,
    /// What the session has cost so far, in US dollars.
    pub cost_usd: Option<f64>,
    /// The whole result.
    pub result: Box<TurnResult>,
}

/// Asks `claude` one thing and waits for the answer: for scripts.
///
/// Questions of the agent are denied.
///
/// ```no_run
/// # async fn example() -> Result<(), towline_host::Error> {
/// let answer = towline_host::ask("What is two and two?").await?;
/// println!("{}", answer.text);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// When `claude` is not found, ends before it has answered, or the turn fails.
pub async fn ask(prompt: impl Into<Prompt>) -> Result<TurnAnswer, Error> {
    AgentCommand::claude()?.ask(prompt).await
}

impl Session {
    /// Asks one thing and waits for the answer, and for what agents in the background bring.
    ///
    /// Questions of the agent are denied. Answers to what was said before are passed over, if the agent tells which are.
    ///
    /// ```
    /// # towline_testkit::in_session!(|session| {
    /// let one = session.ask("say Mia").await?;
    /// let other = session.ask("say Leo").await?;
    /// assert_eq!(format!("{} and {}", one.text, other.text), "Mia and Leo");
    /// # });
    /// ```
    ///
    /// # Errors
    /// When the agent ends before it has answered, the turn fails, or the message is taken back.
    pub async fn ask(&mut self, prompt: impl Into<Prompt>) -> Result<TurnAnswer, Error> {
        let (prompt, uuid) = prompt.into().identified();
        self.send(prompt).await?;
        let mut asked = Asked { uuid, begun: false };
        let mut last: Option<Box<TurnResult>> = None;
        loop {
            // What runs in the background ends with a turn of its own, whose words are the last ones; but not always.
            let patience = match &last {
                Some(_) if self.progress().background_tasks() == 0 => AFTERMATH,
                _ => Duration::MAX,
            };
            let Ok(event) = tokio::time::timeout(patience, self.next()).await else {
                return self.answer(last);
            };
            // A question in an event is denied when the event is dropped.
            match event {
                Some(Event::Ended(ending)) => return Err(Error::Ended(Box::new(ending))),
                None => return Err(Error::Ended(Box::new(self.control().wait().await))),
                Some(event) => {
                    if let Event::Message(frame) = &event
                        && let ToHost::CommandLifecycle(line) = &frame.message
                    {
                        asked.hear(line)?;
                    }
                    if let Some(result) = event.result()
                        && (last.is_some() || asked.is_answered_by(result, self.progress()))
                    {
                        let is_last = result.failed() || self.progress().background_tasks() == 0;
                        last = Some(Box::new(result.clone()));
                        if is_last {
                            return self.answer(last);
                        }
                    }
                }
            }
        }
    }

    fn answer(&self, result: Option<Box<TurnResult>>) -> Result<TurnAnswer, Error> {
        let result = result.unwrap_or_default();
        if result.failed() {
            return Err(Error::Turn(what_went_wrong(&result)));
        }
        Ok(TurnAnswer {
            text: result.text().cloned().unwrap_or_default(),
            structured: result.structured_output.clone(),
            session_id: self.id().cloned(),
            cost_usd: self.progress().usages().cost_usd(),
            result,
        })
    }
}

/// A message that waits for its answer.
struct Asked {
    uuid: Uuid,
    /// Whether the agent has taken it up, be it in a turn that ran already.
    begun: bool,
}

impl Asked {
    fn hear(&mut self, line: &CommandLifecycle) -> Result<(), Error> {
        if line.command_uuid != self.uuid {
            return Ok(());
        }
        if line.was_taken_back() {
            let why = "the message was taken back before its turn";
            return Err(Error::Turn(why.into()));
        }
        self.begun |= line.has_begun();
        Ok(())
    }

    /// An agent that does not tell which messages a result answers is believed to answer this one.
    fn is_answered_by(&self, result: &TurnResult, progress: &Progress) -> bool {
        let uuids = result.user_message_uuids.iter().flatten();
        let mut answered = uuids.chain(&result.user_message_uuid).peekable();
        let tells = progress.tells_of_messages() || answered.peek().is_some();
        self.begun || !tells || answered.any(|uuid| *uuid == self.uuid)
    }
}

/// How long the turn of a background task may take to begin and end, once the task has ended.
const AFTERMATH: Duration = Duration::from_secs(60);

fn what_went_wrong(result: &TurnResult) -> Text {
    let errors = result.errors.as_deref().unwrap_or_default();
    let errors: Vec<_> = errors.iter().map(Text::as_str).collect();
    if !errors.is_empty() {
        return errors.join("; ").into();
    }
    match (result.text(), &result.subtype) {
        (Some(text), _) if !text.is_empty() => text.clone(),
        (_, Some(subtype)) => subtype.as_str().into(),
        _ => "no reason was given".into(),
    }
}
