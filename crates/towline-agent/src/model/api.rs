//! The Messages API over HTTP: one call, with all its tries.
//!
//! What a try is lies in [`exchange`], what is done after a failed one in `retry`, what goes over the wire in [`body`].

mod body;
mod client;
mod exchange;
#[cfg(test)]
mod tests;
mod whole;

use std::{sync::OnceLock, time::Duration};

use tokio::sync::mpsc::Sender;

use super::{
    ApiError, ModelEvent, Request,
    retry::{Decision, Retries},
};
use crate::config::ApiOptions;
pub(super) use client::Client;

/// The Messages API. Connections are made when they are needed, and kept.
#[derive(Debug)]
pub(crate) struct Api {
    options: ApiOptions,
    /// The full name of the model that helps out.
    fallback: Option<String>,
    client: OnceLock<Result<Client, ApiError>>,
    base_delay: Duration,
}

impl Api {
    pub(crate) fn new(options: ApiOptions, fallback: Option<String>) -> Self {
        Self {
            options,
            fallback,
            client: OnceLock::new(),
            base_delay: BASE_DELAY,
        }
    }

    pub(crate) async fn call(&self, mut request: Request, events: &Sender<ModelEvent>) {
        // Whether anyone still listens is seen by whoever called: then this future is dropped.
        let tell = async |event| events.send(event).await.ok();
        if self.options.credential.is_none() {
            tell(ModelEvent::Failed(ApiError::not_logged_in())).await;
            return;
        }
        let client = self.client.get_or_init(|| Client::new(&self.options));
        let client = match client {
            Ok(client) => client,
            Err(error) => {
                tell(ModelEvent::Failed(error.clone())).await;
                return;
            }
        };
        let fallback = self.fallback.as_deref();
        let max_retries = self.options.max_retries;
        let mut retries = Retries::new(&request.model, fallback, max_retries, self.base_delay);
        loop {
            let tried = exchange::attempt(client, &request, retries.form(), events).await;
            let Err(failure) = tried else {
                return;
            };
            match retries.handle_failure(failure, fastrand::f64()) {
                Decision::Again => {}
                Decision::Tell(retry) => {
                    let delay = Duration::from_millis(retry.delay_ms);
                    tell(ModelEvent::Retry(retry)).await;
                    tokio::time::sleep(delay).await;
                }
                Decision::Fallback { from, to } => {
                    request = request.for_model(retries.model());
                    tell(ModelEvent::Fallback { from, to }).await;
                }
                Decision::GiveUp(error) => {
                    tell(ModelEvent::Failed(error)).await;
                    return;
                }
            }
        }
    }
}

/// About so long until the second try.
const BASE_DELAY: Duration = Duration::from_millis(500);
