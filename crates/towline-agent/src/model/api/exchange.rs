//! One try: a request goes out, and its answer comes in as events, in a stream or in one piece.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use eventsource_stream::{EventStreamError, Eventsource};
use futures_util::{Stream, StreamExt, stream};
use jiff::Timestamp;
use reqwest::{Response, header::CONTENT_TYPE};
use tokio::{sync::mpsc::Sender, time::timeout};
use towline_protocol::{StreamEvent, Text, Wire};

use super::{
    super::{
        ApiError, ModelEvent, Request,
        failure::Context,
        retry::{Failure, Form, retry_after},
    },
    body,
    client::Client,
    whole,
};

/// Asks once. Whatever the API says goes into `events`, `Done` at the end; what went wrong is for the caller.
pub(super) async fn attempt(
    client: &Client,
    request: &Request,
    form: Form,
    events: &Sender<ModelEvent>,
) -> Result<(), Failure> {
    let mut post = client
        .http
        .post(client.url.clone())
        .body(body::write(request, form));
    let betas = body::betas(request, form);
    if !betas.is_empty() {
        post = post.header("anthropic-beta", betas);
    }
    let sent = timeout(client.timeout, post.send()).await;
    let response = match sent {
        Err(_) => return Err(refused(silence(client))),
        Ok(Err(error)) if error.is_builder() => {
            let what = error.without_url().to_string();
            return Err(Failure::Final(ApiError::unreadable(&what)));
        }
        Ok(Err(error)) => return Err(refused(unreachable(&error, client))),
        Ok(Ok(response)) => response,
    };
    let request_id = header(&response, "request-id");
    if response.status() != reqwest::StatusCode::OK {
        return Err(error_status(client, request, form, response).await);
    }
    let kind = header(&response, CONTENT_TYPE.as_str()).unwrap_or_default();
    let from = Answer {
        client,
        events,
        request_id: request_id.as_deref().map(Text::from),
    };
    if kind.starts_with("text/html") {
        return Err(Failure::Final(ApiError::unreadable(&format!(
            "{} answered with a web page instead of a message: is ANTHROPIC_BASE_URL right?",
            client.host
        ))));
    }
    if form.whole || kind.starts_with("application/json") {
        from.read_whole(response).await
    } else {
        from.read_stream(response).await
    }
}

/// An answer, and where it goes.
struct Answer<'a> {
    client: &'a Client,
    events: &'a Sender<ModelEvent>,
    request_id: Option<Text>,
}

impl Answer<'_> {
    async fn read_stream(&self, response: Response) -> Result<(), Failure> {
        let unread = Arc::new(AtomicUsize::new(0));
        let silence = self.client.timeout;
        let mut stream = whole_lines(response, Arc::clone(&unread), silence).eventsource();
        let mut has_begun = false;
        self.answering().await;
        loop {
            let event = match stream.next().await {
                None if has_begun => return Err(refused(self.cut_off())),
                None => return Err(useless("the answer is empty")),
                Some(Err(EventStreamError::Transport(broken))) => return Err(self.broken(&broken)),
                Some(Err(EventStreamError::Utf8(_) | EventStreamError::Parser(_))) => {
                    return Err(useless("the answer is no stream of events"));
                }
                Some(Ok(event)) => event,
            };
            unread.store(0, Ordering::Relaxed);
            let event = read_event(event.data.into())?;
            match &event {
                StreamEvent::Error(error) => {
                    let error = error.error.parse().unwrap_or_default();
                    return Err(Failure::Useless(ApiError::of_event(&error)));
                }
                StreamEvent::MessageStart(_) => has_begun = true,
                StreamEvent::Ping(_) => {}
                _ if !has_begun => return Err(useless("the answer has no beginning")),
                _ => {}
            }
            let is_last = matches!(event, StreamEvent::MessageStop(_));
            self.give(ModelEvent::Stream {
                event: Box::new(event),
            })
            .await;
            if is_last {
                self.done().await;
                // Only a connection that was read to its end can be used again. Nobody waits for this.
                timeout(LAST_BYTES_TIME, stream.next()).await.ok();
                return Ok(());
            }
        }
    }

    async fn read_whole(&self, response: Response) -> Result<(), Failure> {
        let body = read_bounded(response, LONGEST_MESSAGE, self.client.timeout).await;
        let body = body.map_err(|broken| self.broken(&broken))?;
        let message = serde_json::from_slice(&body).map_err(|error| {
            let what = format!("the answer is no JSON ({error})");
            Failure::Final(ApiError::unreadable(&what))
        })?;
        let events = whole::events(&message)
            .ok_or_else(|| Failure::Final(ApiError::unreadable("the answer is no message")))?;
        let read: Result<Vec<_>, _> = events
            .iter()
            .map(|event| read_event(event.to_string().into()))
            .collect();
        let read = read.map_err(|_| {
            Failure::Final(ApiError::unreadable("the answer is a malformed message"))
        })?;
        self.give(ModelEvent::Whole).await;
        self.answering().await;
        for event in read {
            let event = Box::new(event);
            self.give(ModelEvent::Stream { event }).await;
        }
        self.done().await;
        Ok(())
    }

    async fn answering(&self) {
        let request_id = self.request_id.clone();
        self.give(ModelEvent::Answering { request_id }).await;
    }

    async fn done(&self) {
        let request_id = self.request_id.clone();
        self.give(ModelEvent::Done { request_id }).await;
    }

    /// Whether anyone still listens is seen by whoever called: then this future is dropped.
    async fn give(&self, event: ModelEvent) {
        self.events.send(event).await.ok();
    }

    fn broken(&self, broken: &Broken) -> Failure {
        match broken {
            Broken::Connection => refused(self.cut_off()),
            Broken::Silence => refused(silence(self.client)),
            Broken::TooLong => Failure::Final(ApiError::unreadable(
                "the answer, or an event in it, is longer than 64 MiB",
            )),
        }
    }

    fn cut_off(&self) -> ApiError {
        ApiError::connection("The answer was cut off", &self.client.host)
    }
}

fn read_event(text: Text) -> Result<StreamEvent, Failure> {
    StreamEvent::from_json(text).map_err(|error| useless(&error.to_string()))
}

async fn error_status(
    client: &Client,
    request: &Request,
    form: Form,
    response: Response,
) -> Failure {
    let status = response.status().as_u16();
    let wait =
        header(&response, "retry-after").and_then(|header| retry_after(&header, Timestamp::now()));
    // The API knows best whether another try is any use.
    let is_final = header(&response, "x-should-retry").is_some_and(|value| value == "false");
    let request_id = header(&response, "request-id");
    let body = read_bounded(response, LONGEST_ERROR, client.timeout.min(ERROR_TIME)).await;
    let context = Context {
        model: &request.model,
        host: &client.host,
        request_id: request_id.as_deref(),
    };
    // A body that does not come does not make the status unknown.
    let error = ApiError::of_response(status, &body.unwrap_or_default(), &context);
    if is_final && status != 400 {
        return Failure::Final(error);
    }
    Failure::Refused {
        error: Box::new(error),
        retry_after: wait,
        can_be_plainer: body::can_be_plainer(request, form),
    }
}

/// Why a body cannot be read to its end.
#[derive(Debug)]
enum Broken {
    Connection,
    Silence,
    TooLong,
}

/// The body of a stream in whole lines, as long as no event in it is too long. `unread` counts the bytes since the last
/// event.
///
/// Whole lines, because the reader of events looks at an unfinished one again from its start with every piece that comes:
/// for an event of many megabytes that would take minutes.
fn whole_lines(
    response: Response,
    unread: Arc<AtomicUsize>,
    silence: Duration,
) -> impl Stream<Item = Result<Bytes, Broken>> + Unpin {
    let begin = Some((response, BytesMut::new()));
    Box::pin(stream::unfold(begin, move |state| {
        let unread = Arc::clone(&unread);
        async move {
            let (mut response, mut held) = state?;
            loop {
                let chunk = match timeout(silence, response.chunk()).await {
                    Err(_) => return Some((Err(Broken::Silence), None)),
                    Ok(Err(_)) => return Some((Err(Broken::Connection), None)),
                    Ok(Ok(None)) if held.is_empty() => return None,
                    Ok(Ok(None)) => return Some((Ok(held.freeze()), None)),
                    Ok(Ok(Some(chunk))) => chunk,
                };
                let before = unread.fetch_add(chunk.len(), Ordering::Relaxed);
                if before.saturating_add(chunk.len()) > LONGEST_MESSAGE {
                    return Some((Err(Broken::TooLong), None));
                }
                let end = chunk.iter().rposition(|byte| *byte == b'\n');
                let (lines, rest) = chunk.split_at(end.map_or(0, |end| end + 1));
                held.extend_from_slice(lines);
                let whole = (!lines.is_empty()).then(|| held.split().freeze());
                held.extend_from_slice(rest);
                if let Some(whole) = whole {
                    return Some((Ok(whole), Some((response, held))));
                }
            }
        }
    }))
}

async fn read_bounded(
    mut response: Response,
    limit: usize,
    silence: Duration,
) -> Result<Bytes, Broken> {
    let mut body = BytesMut::new();
    loop {
        match timeout(silence, response.chunk()).await {
            Err(_) => return Err(Broken::Silence),
            Ok(Err(_)) => return Err(Broken::Connection),
            Ok(Ok(None)) => return Ok(body.freeze()),
            Ok(Ok(Some(chunk))) if body.len() + chunk.len() > limit => return Err(Broken::TooLong),
            Ok(Ok(Some(chunk))) => body.extend_from_slice(&chunk),
        }
    }
}

fn header(response: &Response, name: &str) -> Option<String> {
    let value = response.headers().get(name)?.to_str().ok()?;
    Some(value.to_owned())
}

fn refused(error: ApiError) -> Failure {
    Failure::Refused {
        error: Box::new(error),
        retry_after: None,
        can_be_plainer: false,
    }
}

fn useless(what: &str) -> Failure {
    Failure::Useless(ApiError::unreadable(what))
}

fn silence(client: &Client) -> ApiError {
    let what = format!("No answer within {} s", client.timeout.as_secs());
    ApiError::connection(&what, &client.host)
}

/// In the words of the system, which lie at the bottom of a chain of errors.
fn unreachable(error: &reqwest::Error, client: &Client) -> ApiError {
    let mut deepest: &dyn std::error::Error = error;
    while let Some(source) = deepest.source() {
        deepest = source;
    }
    let what = if error.is_timeout() {
        "No connection in time".to_owned()
    } else if std::ptr::eq(deepest, error as &dyn std::error::Error) {
        "Connection failed".to_owned()
    } else {
        deepest.to_string()
    };
    ApiError::connection(&what, &client.host)
}

/// Of a stream: one event.
const LONGEST_MESSAGE: usize = 64 << 20;

/// An error has little to say; what is longer is a page of somebody in between.
const LONGEST_ERROR: usize = 1 << 20;

/// An error that does not come to an end is told without its words.
const ERROR_TIME: Duration = Duration::from_secs(10);

/// The end of a body comes with its last event, or right behind it.
const LAST_BYTES_TIME: Duration = Duration::from_millis(100);
