//! PLACEHOLDER, to be replaced as a whole: [`serve`] with its final signature and the least behind it, so that the
//! command line can be built against it. It answers each user line with an `init` and a
//! `result` line.

use tokio::{
    io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader},
    pin,
    sync::mpsc,
};
use towline_protocol::{
    Content, Nullable, ResultSubtype, Text, TextOrJson, ToAgent, ToHost, TurnResult, Wire,
};

use crate::config::{Config, Signal};

/// How an agent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    /// The exit code of its process.
    pub code: u8,
}

/// Runs an agent on the host's lines until they end.
pub async fn serve(
    config: Config,
    input: impl AsyncRead,
    output: impl AsyncWrite,
    mut signals: mpsc::Receiver<Signal>,
) -> Exit {
    pin!(input, output);
    let mut lines = BufReader::new(input).lines();
    let id = config.session.id.as_ref();
    let id = id.map_or_else(|| uuid::Uuid::new_v4().to_string(), ToString::to_string);
    loop {
        let line = tokio::select! {
            line = lines.next_line() => line,
            signal = signals.recv() => match signal {
                Some(Signal::Terminate) => return Exit { code: 143 },
                Some(Signal::Hangup) => return Exit { code: 129 },
                Some(Signal::Interrupt) | None => continue,
            },
        };
        let Ok(Some(line)) = line else {
            return Exit { code: 0 };
        };
        let Ok(ToAgent::User(user)) = ToAgent::from_json(line) else {
            continue;
        };
        let said = match user.message.content.as_option() {
            Some(Content::Text(text)) => text.clone(),
            _ => Text::default(),
        };
        let result = TurnResult {
            subtype: Some(ResultSubtype::Success),
            is_error: Some(false),
            session_id: Some(id.as_str().into()),
            result: Nullable::Value(TextOrJson::Text(said)),
            ..TurnResult::default()
        };
        let line = ToHost::Result(Box::new(result)).to_standard_json();
        let init = format!(r#"{{"type":"system","subtype":"init","session_id":"{id}"}}"#);
        let line = format!("{init}\n{}\n", line.as_str());
        if output.write_all(line.as_bytes()).await.is_err() || output.flush().await.is_err() {
            return Exit { code: 0 };
        }
    }
}
