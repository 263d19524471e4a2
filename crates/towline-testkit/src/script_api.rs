//! A Messages API on loopback that answers from a script: what tests run agents against, `claude` among them.
//!
//! The server speaks HTTP/1.1 like the real API: `POST /v1/messages` as a stream of events or as one JSON body,
//! `POST /v1/messages/count_tokens`, `GET /v1/models`, and answers to probes. Everything else is an error in the API's
//! form. It writes what the wire looks like by itself instead of with the types that it tests.
//!
//! ```
//! use serde_json::json;
//! use towline_testkit::script_api::{Reply, Script, ScriptApi};
//!
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! let api = ScriptApi::start(Script::new([
//!     Reply::message().tool("Bash", json!({"command": "ls"})),
//!     Reply::text("two files").when_tool_result_for("Bash"),
//! ]))
//! .await?;
//! assert!(api.url().starts_with("http://127.0.0.1:"));
//! // … run an agent with ANTHROPIC_BASE_URL=api.url() …
//! assert_eq!(api.requests().len(), 0);
//! # Ok::<(), std::io::Error>(())
//! # })?;
//! # Ok::<(), std::io::Error>(())
//! ```
#![doc = include_str!("../../../docs/script-api.md")]

mod api_error;
mod connection;
mod desk;
mod error;
mod events;
mod exchange;
mod fields;
mod gates;
mod handle;
mod json;
mod message;
mod node;
mod play;
mod program;
mod read;
mod record;
mod refusals;
mod reply;
mod routes;
mod script;
mod seen;
mod server;
mod shared;
mod when;

pub use error::ScriptError;
pub use handle::{OnEnd, Options, ScriptApi, TimedOut};
pub use record::{End, Kind, Recorded};
pub use reply::{Act, Cut, Pieces, Place, Reply, Usage};
pub use script::Script;
pub use seen::Side;
pub use when::{Agent, When};

use fields::Fields;
use json::Json;
