//! Files that the API keeps (`/v1/files`), fetched: [`Files`].

use std::{io::Write, time::Duration};

use futures_util::StreamExt as _;
use reqwest::Url;
use tokio::time::timeout;

use super::{ApiError, api::Client};
use crate::config::{ApiOptions, Credential};

/// The files of an account.
#[derive(Debug)]
pub(crate) struct Files {
    client: Client,
    beta: &'static str,
}

impl Files {
    /// Connects to nothing yet. With a token of its own it is asked by that, as CLI 2.1.325 does; else with the key.
    pub(crate) fn new(api: &ApiOptions, token: Option<&str>) -> Result<Self, ApiError> {
        let beta = match token {
            Some(_) => OF_A_SESSION,
            None => OF_A_KEY,
        };
        let token = token.map(|token| Credential::Token(token.to_owned()));
        let options = ApiOptions {
            credential: token.or_else(|| api.credential.clone()),
            ..api.clone()
        };
        let client = Client::new(&options)?;
        Ok(Self { client, beta })
    }

    /// Fetches a file into `into`, all of it or an error. What is often over soon is tried again.
    pub(crate) async fn fetch(&self, id: &str, into: &mut std::fs::File) -> Result<(), String> {
        let mut delay = FIRST_DELAY;
        loop {
            match self.attempt(id, into).await {
                Err(Failure::Passing(why)) if delay <= LAST_DELAY => {
                    tracing::debug!("{id} is fetched again: {why}");
                    tokio::time::sleep(delay).await;
                    delay *= 2;
                }
                Err(Failure::Passing(why) | Failure::Final(why)) => return Err(why),
                Ok(()) => return Ok(()),
            }
        }
    }

    async fn attempt(&self, id: &str, into: &mut std::fs::File) -> Result<(), Failure> {
        use std::io::Seek as _;
        let written =
            |error: std::io::Error| Failure::Final(format!("it cannot be written: {error}"));
        into.rewind()
            .and_then(|()| into.set_len(0))
            .map_err(written)?;
        let Client { http, host, .. } = &self.client;
        let silence = || Failure::Passing(format!("{host} was silent for too long"));
        let request = http
            .get(self.address(id)?)
            .header("anthropic-beta", self.beta);
        let response = timeout(self.client.timeout, request.send())
            .await
            .map_err(|_| silence())?
            .map_err(|error| unreachable(error, host))?;
        let status = response.status().as_u16();
        if status != 200 {
            return Err(refused(status, host));
        }
        let mut pieces = response.bytes_stream();
        let mut length = 0;
        while let Some(piece) = timeout(self.client.timeout, pieces.next())
            .await
            .map_err(|_| silence())?
        {
            let piece = piece.map_err(|error| unreachable(error, host))?;
            length += piece.len() as u64;
            if length > LARGEST {
                return Err(Failure::Final(format!("it is larger than {LARGEST} bytes")));
            }
            into.write_all(&piece).map_err(written)?;
        }
        Ok(())
    }

    fn address(&self, id: &str) -> Result<Url, Failure> {
        let mut url = self.client.url.clone();
        url.set_query(None);
        // It stands where the messages are.
        url.join(&format!("files/{id}/content"))
            .map_err(|error| Failure::Final(error.to_string()))
    }
}

enum Failure {
    /// It may go well the next time.
    Passing(String),
    Final(String),
}

fn unreachable(error: reqwest::Error, host: &str) -> Failure {
    Failure::Passing(format!("{host} cannot be reached: {}", error.without_url()))
}

fn refused(status: u16, host: &str) -> Failure {
    let words = match status {
        401 | 403 => "the key or token may not read it",
        404 => "there is no such file",
        _ => "it was not given",
    };
    let words = format!("{host} answered {status}: {words}");
    match status {
        408 | 429 | 500.. => Failure::Passing(words),
        _ => Failure::Final(words),
    }
}

/// Asks for the API's files with a key.
const OF_A_KEY: &str = "files-api-2025-04-14";
/// Asks for them with the token of a session, as CLI 2.1.325 does.
const OF_A_SESSION: &str = "oauth-2025-04-20";
/// More than the API keeps in one file.
const LARGEST: u64 = 512 << 20;
const FIRST_DELAY: Duration = Duration::from_millis(250);
const LAST_DELAY: Duration = Duration::from_millis(500);
