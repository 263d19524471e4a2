//! The agent's questions, each carrying the way to answer it.
//!
//! An answer consumes the question, so there is one answer at most. A question that is dropped is answered all the same:
//! denied, or refused. Forgetting to answer cannot hang the agent.

mod choices;
mod dialog;
mod hook;
mod permission;
mod plan;

use tokio::sync::{mpsc, oneshot};
use towline_protocol::{
    Answer, Json, PermissionAnswer, Request, Ticket, ToolUseId, Wire, control::request::CanUseTool,
};

use crate::{driver::Order, event::Event};

pub use choices::{Answers, Choices};
pub use dialog::{Dialog, DialogAnswer};
pub use hook::Hook;
pub use permission::Permission;
pub use plan::Plan;
pub use towline_protocol::Withdrawal;

/// Which question: the same in the question and in [`Event::Withdrawn`].
///
/// ```
/// # towline_testkit::in_session!(|session, "run ls" => Event::Permission(permission)| {
/// let mut prompts = std::collections::HashMap::new(); // what a person is asked
/// prompts.insert(permission.id(), "May `ls` run?");
/// # session.interrupt().await?;
/// # while let Some(event) = session.next().await {
/// # if event.result().is_some() { break }
/// if let Event::Withdrawn { question, .. } = event {
///     prompts.remove(&question);
/// }
/// # }
/// # assert!(prompts.is_empty());
/// # });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct QuestionId(pub(crate) Ticket);

/// The way back to the agent, for one question.
#[derive(Debug)]
pub(crate) struct Responder {
    id: QuestionId,
    /// A question does not keep its session alive.
    orders: mpsc::WeakUnboundedSender<Order>,
    withdrawn: oneshot::Receiver<Withdrawal>,
    /// How it ended, once that is known.
    over: Option<Withdrawal>,
    /// What is answered if nobody does; nothing once somebody did.
    unanswered: Option<Answer>,
}

impl Responder {
    pub(crate) fn new(
        ticket: Ticket,
        orders: mpsc::WeakUnboundedSender<Order>,
        withdrawn: oneshot::Receiver<Withdrawal>,
        unanswered: Answer,
    ) -> Self {
        Self {
            id: QuestionId(ticket),
            orders,
            withdrawn,
            over: None,
            unanswered: Some(unanswered),
        }
    }

    fn answer(mut self, answer: Answer) {
        self.unanswered = None;
        self.send(answer);
    }

    /// Says which call is meant, too: the real CLI does not need that, agents after document 000 do.
    fn answer_permission(self, call: Option<ToolUseId>, answer: PermissionAnswer) {
        let tool_use_id = answer.tool_use_id.clone().or(call);
        self.answer(permission_answer(&PermissionAnswer {
            tool_use_id,
            ..answer
        }));
    }

    /// Ready when the question needs no answer any more. Never, if it stays open until it is answered.
    async fn withdrawn(&mut self) -> Withdrawal {
        if let Some(over) = self.over {
            return over;
        }
        // The driver keeps its end until the question is over; if the driver itself is gone, so is the agent.
        let over = (&mut self.withdrawn).await.unwrap_or(Withdrawal::Closed);
        self.over = Some(over);
        over
    }

    fn send(&self, answer: Answer) {
        let ticket = self.id.0;
        if let Some(orders) = self.orders.upgrade() {
            // An agent that is gone needs no answer.
            orders.send(Order::Answer { ticket, answer }).ok();
        }
    }
}

impl Drop for Responder {
    fn drop(&mut self) {
        if let Some(answer) = self.unanswered.take() {
            self.send(answer);
        }
    }
}

/// What is answered in place of a caller who does not.
pub(crate) fn refusal(request: &Request, why: &str) -> Answer {
    match request {
        Request::CanUseTool(request) => permission_answer(&PermissionAnswer {
            tool_use_id: request.tool_use_id.clone(),
            ..PermissionAnswer::deny(why)
        }),
        Request::Elicitation(_) => Ok(Some(DialogAnswer::Cancel.to_json())),
        Request::McpMessage(message) => {
            let name = &message.server_name;
            Err(format!("there is no MCP server named {name} here").into())
        }
        _ => Err(why.into()),
    }
}

/// What is answered when a question has been open for too long.
pub(crate) fn nobody_answered(request: &Request, time: &str) -> Answer {
    let why = match request {
        Request::CanUseTool(_) => format!("Nobody answered within {time}, so this was denied."),
        // What comes of it is up to the agent: the real CLI lets a tool run whose hook has failed.
        _ => format!("Nobody answered within {time}."),
    };
    refusal(request, &why)
}

/// The event of a question.
pub(crate) fn event(request: Request, responder: Responder) -> Event {
    match request {
        Request::CanUseTool(request) => {
            if request.tool_use_id.is_none() {
                // Old versions (document 001 §3.5). It can be answered all the same.
                tracing::warn!(tool = %request.tool_name, "a permission is asked for without the id of its call");
            }
            permission_event(request, responder)
        }
        Request::HookCallback(request) => Event::Hook(Box::new(Hook::new(request, responder))),
        request => Event::Dialog(Box::new(Dialog::new(request, responder))),
    }
}

fn permission_event(request: Box<CanUseTool>, responder: Responder) -> Event {
    match request.tool_name.as_str() {
        "AskUserQuestion" => match Choices::new(request, responder) {
            Ok(choices) => Event::Choices(Box::new(choices)),
            Err(permission) => Event::Permission(permission),
        },
        "ExitPlanMode" => Event::Plan(Box::new(Plan::new(request, responder))),
        _ => Event::Permission(Box::new(Permission::new(request, responder))),
    }
}

fn permission_answer(answer: &PermissionAnswer) -> Answer {
    Ok(Some(answer.to_standard_json()))
}

/// What all questions have in common. The examples get theirs from the fake agent, with this prompt.
macro_rules! common_to_questions {
    ($question:ident, $prompt:literal) => {
        impl $question {
            /// Which question this is: the same as in [`Event::Withdrawn`](crate::Event::Withdrawn).
            #[doc = $crate::question::example!($question, $prompt, "println!(\"{:?}\", question.id());")]
            pub fn id(&self) -> $crate::question::QuestionId {
                self.responder.id
            }

            /// Waits until the question needs no answer any more: the agent took it back, it timed out, or the agent is
            /// gone.
            ///
            /// Whoever asks a person can take the prompt away then.
            #[doc = $crate::question::example!(
                $question,
                $prompt,
                "session.interrupt().await?; // for one, because a person did not want to wait\n\
                 assert_eq!(question.withdrawn().await, Withdrawal::Cancelled);"
            )]
            pub async fn withdrawn(&mut self) -> $crate::question::Withdrawal {
                self.responder.withdrawn().await
            }
        }
    };
}
use common_to_questions;

/// An example with a question of the fake agent.
macro_rules! example {
    ($question:ident, $prompt:literal, $lines:literal) => {
        concat!(
            "\n```\n",
            "# let command = towline_host::AgentCommand::new(\"fake\");\n",
            "# let command = command.hook(towline_host::HookOn::new(towline_host::HookEvent::Stop, \"done\"));\n",
            "# towline_testkit::in_session!(command, |session, ", stringify!($prompt), " => Event::",
            stringify!($question), "(mut question)| {\n",
            $lines,
            "\n# });\n```",
        )
    };
}
use example;

/// An empty answer: go on as if nobody had been asked.
fn nothing() -> Json {
    Json::empty_object()
}
