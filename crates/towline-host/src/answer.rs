//! [`ask`]: one question, one answer.

use towline_protocol::{Json, SessionId, Text, TurnResult};

use crate::{command::AgentCommand, error::Error, event::Event, prompt::Prompt, session::Session};

/// What came of a turn.
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

/// Asks `claude` one thing and waits for the answer: for scripts. Questions of the agent are denied.
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

/// Runs one turn, and those of background tasks that it leaves behind.
pub(crate) async fn one_turn(mut session: Session, prompt: Prompt) -> Result<TurnAnswer, Error> {
    session.send(prompt).await?;
    let mut last: Option<Box<TurnResult>> = None;
    let ending = loop {
        let Some(event) = session.next().await else {
            break None;
        };
        if let Some(result) = event.result() {
            last = Some(Box::new(result.clone()));
            // What runs in the background ends with a turn of its own, whose words are the last ones.
            if session.progress().background_tasks() == 0 {
                break None;
            }
        }
        if let Event::Ended(ending) = event {
            break Some(ending);
        }
    };
    let cost_usd = session.progress().usages().cost_usd();
    let session_id = session.id().cloned();
    let Some(result) = last else {
        let ending = match ending {
            Some(ending) => ending,
            None => session.close().await,
        };
        return Err(Error::Ended(Box::new(ending)));
    };
    session.close().await;
    if result.failed() {
        return Err(Error::Turn(what_went_wrong(&result)));
    }
    Ok(TurnAnswer {
        text: result.text().cloned().unwrap_or_default(),
        structured: result.structured_output.clone(),
        session_id,
        cost_usd,
        result,
    })
}

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
