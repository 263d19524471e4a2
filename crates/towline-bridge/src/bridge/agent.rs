//! The tasks of one run of an agent: one listens to it, the other obeys. Questions wait in between for their answers.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use serde_json::value::RawValue;
use tokio::sync::mpsc;
use towline_host::{
    Answers, Choices, Control as HostControl, Dialog, Event, Events, Permission, PermissionAnswer,
    PermissionUpdate, Plan, Prompt, QuestionId, Withdrawal,
    protocol::{Content, Json, SessionId, StreamEvent, ToHost, Wire, control::request::CanUseTool},
};
use towline_protocol::dialect::pocket::BridgeId;

use crate::{
    Ask, Content as FrameContent, Frame, Input, Library, NoteCode, Outcome, Question,
    hub::{AgentEvent, Change, Control, Decision, Order, Refusal, Reply, Setup, Ticket},
    log::Page,
};

use super::{FromAgent, Launch, queue::Gate};

/// Where what an agent does goes.
#[derive(Clone, Debug)]
pub(super) struct Outlet {
    session: BridgeId,
    run: u64,
    events: mpsc::Sender<FromAgent>,
    gate: Arc<Gate>,
    /// Where what was said before is read.
    library: Library,
}

impl Outlet {
    pub(super) fn new(
        session: BridgeId,
        run: u64,
        events: mpsc::Sender<FromAgent>,
        gate: Arc<Gate>,
        library: Library,
    ) -> Self {
        Self {
            session,
            run,
            events,
            gate,
            library,
        }
    }

    /// An input that is in the log.
    async fn stored(&self, seq: u64) -> Result<Input, String> {
        let one = Page {
            frames: 1,
            bytes: 0,
        };
        let found = self
            .library
            .frames(&self.session, seq.saturating_sub(1), one);
        let found = found.await.map_err(|error| error.to_string())?;
        match found.first().map(Frame::content) {
            Some(FrameContent::Input(input)) => Ok(input),
            _ => Err(format!("there is no message {seq} in the log")),
        }
    }

    async fn did_not_reach(&self, why: &str) {
        let text = format!("A message did not reach the agent: {why}");
        self.tell(AgentEvent::Note(NoteCode::AgentDied, text)).await;
    }

    async fn tell(&self, event: AgentEvent) {
        let event = FromAgent::Event(self.session.clone(), self.run, event);
        // Without the bridge there is nobody to tell.
        self.events.send(event).await.ok();
    }
}

/// Starts an agent and stays with it to its end.
pub(super) async fn run(
    launch: Launch,
    setup: Setup,
    orders: mpsc::UnboundedReceiver<Order>,
    outlet: Outlet,
) {
    match spawn(&launch, &setup).await {
        Ok(session) => {
            let about = session.agent().map(Wire::to_json);
            let about = about.and_then(|json| RawValue::from_string(json.as_str().to_owned()).ok());
            outlet.tell(AgentEvent::Started(about)).await;
            let (control, events) = session.split();
            let open = Open::default();
            let obeying = tokio::spawn(obey(orders, control, open.clone(), outlet.clone()));
            listen(events, open, &outlet).await;
            obeying.abort();
        }
        Err(why) => outlet.tell(AgentEvent::StartFailed(why)).await,
    }
    let gone = FromAgent::Gone(outlet.session.clone(), outlet.run);
    outlet.events.send(gone).await.ok();
}

async fn spawn(launch: &Launch, setup: &Setup) -> Result<towline_host::Session, String> {
    let command = launch(setup)?;
    command.spawn().await.map_err(|error| {
        let causes =
            std::iter::successors(std::error::Error::source(&error), |error| error.source());
        causes.fold(
            format!("The agent could not be started: {error}"),
            |why, cause| format!("{why}: {cause}"),
        )
    })
}

/// The questions that wait for an answer, by their names in the session.
#[derive(Clone, Debug, Default)]
struct Open(Arc<Mutex<HashMap<String, Asked>>>);

#[derive(Debug)]
enum Asked {
    Permission(Box<Permission>),
    Choices(Box<Choices>),
    Plan(Box<Plan>),
    Dialog(Box<Dialog>),
}

impl Open {
    fn with<T>(&self, change: impl FnOnce(&mut HashMap<String, Asked>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

async fn listen(mut events: Events, open: Open, outlet: &Outlet) {
    let mut session_id: Option<SessionId> = None;
    let mut names: HashMap<QuestionId, String> = HashMap::new();
    let mut asked = 0_u64;
    let mut was_piece = false;
    while let Some(event) = events.next().await {
        let known = events.progress().session_id();
        if known != session_id.as_ref()
            && let Some(id) = known.cloned()
        {
            session_id = Some(id.clone());
            outlet.tell(AgentEvent::SessionId(id)).await;
        }
        let (ask, question) = match event {
            Event::Message(frame) => {
                let is_piece = is_piece(&frame.message);
                if was_piece && !is_piece {
                    // The last words of a message often come along with the whole of it. They are shown first.
                    tokio::task::yield_now().await;
                }
                was_piece = is_piece;
                outlet.gate.pass().await;
                outlet.tell(AgentEvent::Line(Box::new(frame))).await;
                continue;
            }
            Event::Permission(question) => (Ask::Permission, Asked::Permission(question)),
            Event::Choices(question) => (Ask::Choices, Asked::Choices(question)),
            Event::Plan(question) => (Ask::Plan, Asked::Plan(question)),
            Event::Dialog(question) => (Ask::Dialog, Asked::Dialog(question)),
            Event::Withdrawn { question, reason } => {
                if let Some(name) = names.remove(&question) {
                    drop(open.with(|open| open.remove(&name)));
                    let outcome = match reason {
                        Withdrawal::Cancelled => Outcome::Cancelled,
                        Withdrawal::TimedOut => Outcome::TimedOut,
                        Withdrawal::Closed => Outcome::AgentEnded,
                    };
                    outlet.tell(AgentEvent::Withdrawn(name, outcome)).await;
                }
                continue;
            }
            Event::Malformed(malformed) => {
                let start = malformed.line.floor_char_boundary(SHOWN);
                let text = format!("{}: {}", malformed.problem, &malformed.line[..start]);
                outlet
                    .tell(AgentEvent::Note(NoteCode::Malformed, text))
                    .await;
                continue;
            }
            Event::Stderr(words) => {
                let text = words[..words.floor_char_boundary(SHOWN)].to_owned();
                outlet.tell(AgentEvent::Note(NoteCode::Stderr, text)).await;
                continue;
            }
            Event::Ended(ending) => {
                let (how, wanted) = (ending.to_string(), ending.closed);
                outlet.tell(AgentEvent::Ended { how, wanted }).await;
                continue;
            }
            // Hooks are for programs; none was registered.
            _ => continue,
        };
        asked += 1;
        let (id, question, data) = describe(ask, question, asked, &open);
        names.insert(id, data.id.clone());
        open.with(|open| open.insert(data.id.clone(), question));
        outlet.tell(AgentEvent::Asked(data)).await;
    }
}

/// Whether a line is a piece of a message in progress.
fn is_piece(line: &ToHost) -> bool {
    matches!(line, ToHost::StreamEvent(line) if matches!(line.event, StreamEvent::BlockDelta(_)))
}

/// A question for people to see, and its name.
fn describe(ask: Ask, asked: Asked, count: u64, open: &Open) -> (QuestionId, Asked, Question) {
    let (id, request) = match &asked {
        Asked::Permission(question) => (question.id(), Some(question.request())),
        Asked::Choices(question) => (question.id(), Some(question.request())),
        Asked::Plan(question) => (question.id(), Some(question.request())),
        Asked::Dialog(question) => (question.id(), None),
    };
    let whole = match (&asked, request) {
        (Asked::Dialog(question), _) => question.request().to_json(),
        (_, Some(request)) => request.to_json(),
        (_, None) => Json::empty_object(),
    };
    let tool_use_id = request.and_then(|request| request.tool_use_id.clone());
    let mut name = match &tool_use_id {
        Some(id) => id.to_string(),
        None => format!("question-{count}"),
    };
    if open.with(|open| open.contains_key(&name)) {
        name = format!("{name}-{count}");
    }
    let input = match &asked {
        // A plan is not in the question but in the call before it.
        Asked::Plan(plan) => plan_input(plan),
        _ => request.map_or_else(Json::empty_object, |request: &CanUseTool| {
            request.input.clone()
        }),
    };
    let question = Question {
        id: name,
        ask,
        tool_name: request.map_or_else(|| "Dialog".into(), |request| request.tool_name.detached()),
        tool_use_id: tool_use_id.map(|id| id.detached()),
        input: raw(&input),
        request: raw(&whole),
    };
    (id, asked, question)
}

fn plan_input(plan: &Plan) -> Json {
    let input = plan.request().input.clone();
    let Some(text) = plan.text() else {
        return input;
    };
    let Ok(mut fields) = input.parse::<serde_json::Map<String, serde_json::Value>>() else {
        return input;
    };
    fields.insert("plan".to_owned(), text.as_str().into());
    Json::of(&fields).unwrap_or(input)
}

fn raw(json: &Json) -> Box<RawValue> {
    RawValue::from_string(json.as_str().to_owned()).unwrap_or_default()
}

async fn obey(
    mut orders: mpsc::UnboundedReceiver<Order>,
    control: HostControl,
    open: Open,
    outlet: Outlet,
) {
    while let Some(order) = orders.recv().await {
        match order {
            Order::Start(_) => {}
            Order::Send(input) => send(&input, &control, &outlet).await,
            Order::SendStored(seq) => match outlet.stored(seq).await {
                Ok(input) => send(&input, &control, &outlet).await,
                Err(why) => outlet.did_not_reach(&why).await,
            },
            Order::Answer(name, decision) => {
                if let Some(asked) = open.with(|open| open.remove(&name)) {
                    answer(asked, decision);
                }
            }
            Order::Control(order, ticket) => {
                let mut done = Box::pin(carry_out(order, ticket, control.clone(), outlet.clone()));
                // Looked at once, so that it is on its way before the next order. Then it is a task of its own: an agent
                // that does not answer must not keep that one waiting.
                tokio::select! {
                    biased;
                    () = &mut done => {}
                    () = std::future::ready(()) => drop(tokio::spawn(done)),
                }
            }
            Order::Close => {
                control.close().await;
            }
        }
    }
}

async fn send(input: &Input, control: &HostControl, outlet: &Outlet) {
    if let Err(error) = control.send(prompt(input)).await {
        outlet.did_not_reach(&error.to_string()).await;
    }
}

fn prompt(input: &Input) -> Prompt {
    let content = Content::from_json(input.content.get().to_owned());
    let prompt = match content {
        Ok(Content::Blocks(blocks)) => blocks.into_iter().fold(Prompt::new(), Prompt::block),
        Ok(content) => content.text().as_str().into(),
        Err(_) => input.content.get().into(),
    };
    match &input.uuid {
        Some(uuid) => prompt.uuid(uuid.clone()),
        None => prompt,
    }
}

/// Tells the agent. What fits which question has been looked at; what does not fit all the same denies it.
fn answer(asked: Asked, decision: Decision) {
    match (asked, decision) {
        (Asked::Permission(question), Decision::Allow { input, updates, .. }) => {
            allow(*question, input, updates.unwrap_or_default());
        }
        (Asked::Plan(plan), Decision::Allow { updates, .. }) => match updates {
            Some(updates) if !updates.is_empty() => plan.approve_and(updates),
            _ => plan.approve(),
        },
        (Asked::Dialog(dialog), Decision::Allow { input, .. }) => {
            let content = input.and_then(|input| Json::of(&input).ok());
            let content = content.unwrap_or_else(Json::empty_object);
            dialog.answer(&towline_host::DialogAnswer::Accept(content));
        }
        (Asked::Choices(choices), Decision::Choose { answers }) => {
            let chosen = answers
                .iter()
                .fold(Answers::new(), |chosen, (question, answers)| {
                    chosen.choose(question, answers)
                });
            choices.answer(chosen);
        }
        (Asked::Choices(choices), Decision::Say { words }) => choices.respond(words),
        (
            Asked::Permission(question),
            Decision::Deny {
                message,
                interrupt: true,
            },
        ) => {
            question.deny_and_interrupt(why(message));
        }
        (Asked::Permission(question), Decision::Deny { message, .. }) => {
            question.deny(why(message));
        }
        (Asked::Choices(question), Decision::Deny { message, .. }) => question.deny(why(message)),
        (Asked::Plan(question), Decision::Deny { message, .. }) => question.reject(why(message)),
        (Asked::Dialog(question), Decision::Deny { message, .. }) => question.refuse(why(message)),
        // Dropped, a question is denied.
        (asked, _) => drop(asked),
    }
}

fn allow(question: Permission, input: Option<serde_json::Value>, updates: Vec<PermissionUpdate>) {
    let other = input.and_then(|input| Json::of(&input).ok());
    match (other, updates.is_empty()) {
        (None, true) => question.allow(),
        (None, false) => question.allow_and(updates),
        (Some(input), true) => question.allow_with(input),
        (Some(input), false) => question.answer(PermissionAnswer {
            updated_permissions: Some(updates),
            ..PermissionAnswer::allow_with(input)
        }),
    }
}

fn why(message: Option<String>) -> String {
    message.unwrap_or_else(|| "The user does not want this to run.".to_owned())
}

async fn carry_out(order: Control, ticket: Ticket, control: HostControl, outlet: Outlet) {
    let mut change = None;
    let done = match order {
        Control::Interrupt => control.interrupt().await.map(|_| None),
        Control::SetMode(mode) => {
            change = Some(Change::Mode(mode.clone()));
            control.set_permission_mode(mode).await.map(|_| None)
        }
        Control::SetModel(model) => {
            change = Some(Change::Model(model.clone()));
            control.set_model(model.as_deref()).await.map(|()| None)
        }
        Control::RewindFiles { to, dry_run } => {
            let answer = if dry_run {
                control.preview_rewind(&to).await
            } else {
                control.rewind_files(&to).await
            };
            answer.map(|answer| Some(answer.to_json()))
        }
        Control::Other(request) => control.request(*request).await,
    };
    let reply = match done {
        Ok(answer) => {
            if let Some(change) = change {
                outlet.tell(AgentEvent::Changed(change)).await;
            }
            Reply::Done(answer)
        }
        Err(error) => Reply::Refused(Refusal::Agent(error.to_string())),
    };
    outlet
        .events
        .send(FromAgent::Reply(ticket, reply))
        .await
        .ok();
}

/// How much of what an agent wrote by mistake is shown.
const SHOWN: usize = 2000;
