//! The scripted Messages API, as a client on the wire sees it.

mod choice;
mod control;
mod failures;
mod gates;
mod limits;
mod record;
mod refusals;
mod scripts;
mod wire;

use std::net::SocketAddr;

use towline_testkit::script_api::{Script, ScriptApi};

/// A server with a script in TOML.
async fn start(script: &str) -> (ScriptApi, SocketAddr) {
    serve(Script::from_toml(script).unwrap()).await
}

async fn serve(script: Script) -> (ScriptApi, SocketAddr) {
    let api = ScriptApi::start(script).await.unwrap();
    let address = api.address();
    (api, address)
}
