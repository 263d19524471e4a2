//! From the tree of a script to its replies: the one place that knows the keys. The reference is in the module's docs.

mod content;

use std::time::Duration;

use super::{
    Act, Agent, Cut, Fields, Json, Pieces, Place, Reply, Script, ScriptError, Side, Usage, When,
    api_error::ApiError,
    fields::Field,
    node::{Node, Value},
    program::{is_header, is_status},
    reply::{Answer, Message, RawEvent},
    script::{Refusals, SideRules},
};
use content::Content;

pub(super) fn script(mut fields: Fields<'_>) -> Result<Script, ScriptError> {
    let mut script = Script::default();
    if let Some(list) = fields.take("reply") {
        script.replies = replies(list.node)?;
    }
    if let Some(default) = fields.take("default") {
        script.default = Some(reply(default.table()?)?.forever());
    }
    if fields.boolean("side_rules")? == Some(false) {
        script.side_rules = SideRules::Off;
    }
    if fields.boolean("refusals")? == Some(false) {
        script.refusals = Refusals::Off;
    }
    fields.finish()?;
    Ok(script)
}

/// A list of replies, or one.
pub(super) fn replies(node: &Node) -> Result<Vec<Reply>, ScriptError> {
    let nodes = match &node.value {
        Value::List(nodes) => nodes,
        _ => std::slice::from_ref(node),
    };
    let numbered = nodes.iter().enumerate().map(|(index, node)| {
        let part = format!("reply {}", index + 1);
        reply(Fields::of(node, &part)?).map_err(|error| error.in_part(&part))
    });
    numbered.collect()
}

fn reply(mut fields: Fields<'_>) -> Result<Reply, ScriptError> {
    let (answer, blocks_acts) = answer(&mut fields)?;
    let mut reply = Reply::of(answer);
    head(&mut fields, &mut reply)?;
    reply.acts.extend(blocks_acts);
    if let Some(list) = fields.take("at") {
        for node in list.list()? {
            reply.acts.push(placed(Fields::of(node, &list.inner())?)?);
        }
    }
    if let Some(pieces) = fields.take("pieces") {
        reply.pieces = read_pieces(&pieces)?;
    }
    reply.piece_delay = milliseconds(fields.whole("piece_delay_ms")?);
    fields.finish()?;
    Ok(reply)
}

/// What every kind of reply has.
fn head(fields: &mut Fields<'_>, reply: &mut Reply) -> Result<(), ScriptError> {
    reply.name = fields.text("name")?;
    if let Some(when) = fields.take("when") {
        reply.when = read_when(when.table()?)?;
    }
    if let Some(times) = fields.take("times") {
        reply.times = match &times.node.value {
            Value::Text(_) => times.word(&[("forever", None)])?,
            _ => Some(times.whole()?),
        };
    }
    reply.side = fields.boolean("side")?.unwrap_or_default();
    if let Some(headers) = fields.take("headers") {
        for (name, value) in headers.texts()? {
            if !is_header(&name, &value) {
                return Err(headers.problem(format!("`{name}` is no header that can be sent")));
            }
            reply.headers.push((name, value));
        }
    }
    if let Some(time) = fields.whole("delay_ms")? {
        let act = Act::Delay(Duration::from_millis(time));
        reply.acts.push((Place::Head, act));
    }
    if let Some(gate) = fields.take("hold") {
        reply.acts.push((Place::Head, hold(&gate)?));
    }
    if let Some(cut) = fields.take("cut") {
        let how = match cut.word(CUTS)? {
            Cut::End => {
                let problem =
                    "`cut = \"end\"` needs a body to end, write it into `content` or `at`";
                return Err(cut.problem(problem));
            }
            how => how,
        };
        reply.acts.push((Place::Head, Act::Cut(how)));
    }
    Ok(())
}

/// The content, and the acts that stand between its blocks.
fn answer(fields: &mut Fields<'_>) -> Result<(Answer, Vec<(Place, Act)>), ScriptError> {
    let error = fields.take("error");
    let http = fields.take("http");
    let events = fields.take("events");
    let echo = fields.take("echo");
    let message = message(fields)?;
    let is_cut = fields.names().any(|name| name == "cut");
    let mut kinds = Vec::new();
    if let Some(error) = error {
        kinds.push(("error", Answer::Error(read_error(&error)?)));
    }
    if let Some(http) = http {
        kinds.push(("http", read_http(http.table()?)?));
    }
    if let Some(events) = events {
        kinds.push(("events", read_events(&events)?));
    }
    if let Some(echo) = echo {
        if !echo.boolean()? {
            return Err(echo.problem("`echo` can only be `true`, leave it out"));
        }
        kinds.push(("echo", Answer::Echo));
    }
    let mut acts = Vec::new();
    if let Some((message, between)) = message {
        kinds.push(("a message", Answer::Message(message)));
        acts = between;
    }
    if kinds.len() > 1 {
        let names: Vec<_> = kinds.iter().map(|(name, _)| *name).collect();
        let problem = format!("says more than one thing ({}), keep one", names.join(", "));
        return Err(fields.problem(problem));
    }
    match kinds.pop() {
        Some((_, answer)) => Ok((answer, acts)),
        // A reply that is cut at once says nothing.
        None if is_cut => Ok((Answer::Message(Message::default()), acts)),
        None => Err(says_nothing(fields)),
    }
}

/// A misspelt key is the likelier reason than an empty reply.
fn says_nothing(fields: &mut Fields<'_>) -> ScriptError {
    for name in [
        "name",
        "when",
        "times",
        "side",
        "headers",
        "delay_ms",
        "hold",
        "cut",
        "at",
        "pieces",
        "piece_delay_ms",
    ] {
        fields.take(name);
    }
    let nothing = fields.problem(
        "says nothing, give it `text`, `thinking`, `tool`, `content`, `error`, `http`, `events` or `echo`",
    );
    fields.unknown().unwrap_or(nothing)
}

type Between = Vec<(Place, Act)>;

fn message(fields: &mut Fields<'_>) -> Result<Option<(Message, Between)>, ScriptError> {
    let mut content = Content::default();
    let list = fields.take("content");
    let has_short = content.short_forms(fields)?;
    if let Some(list) = &list {
        if has_short {
            let problem = "has `content` and blocks beside it, put them into `content`";
            return Err(list.problem(problem));
        }
        for (index, node) in list.list()?.iter().enumerate() {
            content.element(node, &format!("{} {}", list.inner(), index + 1))?;
        }
    }
    let message = Message {
        blocks: content.blocks,
        stop_reason: fields.text("stop_reason")?,
        stop_sequence: fields.text("stop_sequence")?,
        usage: match fields.take("usage") {
            Some(usage) => read_usage(usage.table()?)?,
            None => Usage::default(),
        },
        model: fields.text("model")?,
        id: fields.text("id")?,
    };
    let is_there = has_short || list.is_some() || message.stop_reason.is_some();
    let is_described = message.usage != Usage::default()
        || message.stop_sequence.is_some()
        || message.model.is_some()
        || message.id.is_some();
    if is_described && !is_there {
        let problem =
            "`stop_sequence`, `usage`, `model` and `id` describe a message, give it `content`";
        return Err(fields.problem(problem));
    }
    Ok(is_there.then_some((message, content.acts)))
}

fn read_usage(mut fields: Fields<'_>) -> Result<Usage, ScriptError> {
    let usage = Usage {
        input_tokens: fields.whole("input_tokens")?,
        output_tokens: fields.whole("output_tokens")?,
        cache_creation_input_tokens: fields.whole("cache_creation_input_tokens")?,
        cache_read_input_tokens: fields.whole("cache_read_input_tokens")?,
    };
    fields.finish()?;
    Ok(usage)
}

fn read_when(mut fields: Fields<'_>) -> Result<When, ScriptError> {
    let agent = fields.take("agent");
    let side = fields.take("side");
    let when = When {
        prompt_contains: fields.text("prompt_contains")?,
        contains: fields.text("contains")?,
        tool_result_for: fields.text("tool_result_for")?,
        has_tool_result: fields.boolean("has_tool_result")?,
        model_contains: fields.text("model_contains")?,
        tool_offered: fields.text("tool_offered")?,
        agent: agent.map(|agent| agent.word(AGENTS)).transpose()?,
        side: side.map(|side| side.word(SIDES)).transpose()?,
    };
    if when.is_empty() {
        let empty = fields.problem("has no condition, give it one or leave it out");
        return Err(fields.unknown().unwrap_or(empty));
    }
    fields.finish()?;
    Ok(when)
}

fn read_pieces(field: &Field<'_>) -> Result<Pieces, ScriptError> {
    match &field.node.value {
        Value::Text(_) => field.word(&[("words", Pieces::Words), ("whole", Pieces::Whole)]),
        _ => match usize::try_from(field.whole()?) {
            Ok(0) | Err(_) => Err(field.must_be("\"words\", \"whole\" or a number of characters")),
            Ok(size) => Ok(Pieces::Characters(size)),
        },
    }
}

/// A status alone, or a table.
fn read_error(field: &Field<'_>) -> Result<ApiError, ScriptError> {
    if let Value::Number(_) = field.node.value {
        return Ok(ApiError::of_status(status(field)?));
    }
    let mut fields = field.table()?;
    let given = fields.take("status");
    let (kind, message) = (fields.text("type")?, fields.text("message")?);
    let mut error = match (given, kind) {
        (None, None) => return Err(fields.problem("needs a `status` or a `type`")),
        (Some(given), None) => ApiError::of_status(status(&given)?),
        (None, Some(kind)) => ApiError::of_kind(&kind),
        (Some(given), Some(kind)) => ApiError {
            status: status(&given)?,
            ..ApiError::of_kind(&kind)
        },
    };
    if let Some(message) = message {
        error.message = message;
    }
    fields.finish()?;
    Ok(error)
}

fn read_http(mut fields: Fields<'_>) -> Result<Answer, ScriptError> {
    let given = fields.take("status");
    let answer = Answer::Http {
        status: given.map_or(Ok(200), |given| status(&given))?,
        body: fields.text("body")?.unwrap_or_default(),
    };
    fields.finish()?;
    Ok(answer)
}

fn read_events(field: &Field<'_>) -> Result<Answer, ScriptError> {
    let events = field.list()?.iter().map(|node| match &node.value {
        Value::Text(text) => Ok(RawEvent::Text(text.clone())),
        Value::Table(_) => Ok(RawEvent::Json(Json::of(node))),
        _ => {
            let problem = "an event must be a table or a string that is sent as it is";
            Err(ScriptError::new(node.line, &field.inner(), problem))
        }
    });
    Ok(Answer::Events(events.collect::<Result<_, _>>()?))
}

fn status(field: &Field<'_>) -> Result<u16, ScriptError> {
    let status = u16::try_from(field.whole()?).ok();
    let status = status.filter(|status| is_status(*status));
    status.ok_or_else(|| field.must_be("an HTTP status from 200 to 599"))
}

fn placed(mut fields: Fields<'_>) -> Result<(Place, Act), ScriptError> {
    let after_events = fields
        .take("after_events")
        .map(|field| count(&field))
        .transpose()?;
    let after_bytes = fields
        .take("after_bytes")
        .map(|field| count(&field))
        .transpose()?;
    let place = match (after_events, after_bytes) {
        (Some(events), None) => Place::Events(events),
        (None, Some(bytes)) => Place::Bytes(bytes),
        _ => return Err(fields.problem("needs one of `after_events` and `after_bytes`")),
    };
    let act = act(&mut fields)?;
    let none = fields.problem("does nothing, give it `hold`, `delay_ms`, `cut`, `error` or `send`");
    fields.finish()?;
    Ok((place, act.ok_or(none)?))
}

/// The one act of a table, if it has one.
fn act(fields: &mut Fields<'_>) -> Result<Option<Act>, ScriptError> {
    let mut acts = Vec::new();
    if let Some(gate) = fields.take("hold") {
        acts.push(hold(&gate)?);
    }
    if let Some(time) = fields.whole("delay_ms")? {
        acts.push(Act::Delay(Duration::from_millis(time)));
    }
    if let Some(cut) = fields.take("cut") {
        acts.push(Act::Cut(cut.word(CUTS)?));
    }
    if let Some(error) = fields.take("error") {
        let ApiError { kind, message, .. } = read_error(&error)?;
        acts.push(Act::Error { kind, message });
    }
    if let Some(text) = fields.text("send")? {
        acts.push(Act::Send(text));
    }
    if acts.len() > 1 {
        return Err(fields.problem("does more than one thing, write one element for each"));
    }
    Ok(acts.pop())
}

/// A gate's name stands in the path that releases it.
fn hold(field: &Field<'_>) -> Result<Act, ScriptError> {
    let gate = field.text()?;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    if gate.is_empty() || !gate.bytes().all(fits) {
        return Err(field.problem(format!(
            "`{gate}` is no name for a gate, use letters, digits, `-`, `_` and `.`"
        )));
    }
    Ok(Act::Hold(gate))
}

fn count(field: &Field<'_>) -> Result<usize, ScriptError> {
    usize::try_from(field.whole()?).map_err(|_| field.must_be("a smaller number"))
}

fn milliseconds(time: Option<u64>) -> Duration {
    Duration::from_millis(time.unwrap_or_default())
}

const CUTS: &[(&str, Cut)] = &[
    ("reset", Cut::Reset),
    ("close", Cut::Close),
    ("end", Cut::End),
];

const AGENTS: &[(&str, Agent)] = &[("main", Agent::Main), ("subagent", Agent::Subagent)];

const SIDES: &[(&str, Side)] = &[
    ("title", Side::Title),
    ("suggestion", Side::Suggestion),
    ("quota", Side::Quota),
];
