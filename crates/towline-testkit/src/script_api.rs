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
//!
//! # Which reply is chosen
//!
//! 1. The first reply with a `when` that holds and that still has uses left.
//! 2. The first reply without a `when` that still has uses left.
//! 3. The default.
//! 4. Else an `invalid_request_error` that says which request found nothing; clients do not retry it.
//!
//! Requests that an agent makes for itself ([`Side`]: a title, a suggestion, a look at the quota) use up none of this:
//! they get a harmless answer, and the record calls them `side`. A reply whose `when` names `side` answers them
//! instead.
//!
//! # The script as a file
//!
//! A script is TOML. Keys that are not listed here are errors.
//!
//! ```toml
//! side_rules = false            # let the replies answer side requests too; true if left out
//!
//! [[reply]]
//! text = "Hello."               # one block in short form; also `thinking`, and `tool` with `input`
//!
//! [[reply]]
//! thinking = "I must look."
//! tool = "Bash"
//! input = { command = "ls" }    # or a string that holds JSON, which knows null
//!
//! [[reply]]
//! when = { prompt_contains = "weather", agent = "main" }
//! error = 529
//! headers = { retry-after = "0" }
//! times = 2
//!
//! [[reply]]
//! content = [
//!   "A string is a text.",
//!   { hold = "gate" },
//!   { tool = "Read", input = { file_path = "/a" }, tool_id = "toolu_1" },
//! ]
//! at = [{ after_events = 3, delay_ms = 100 }]
//!
//! [default]
//! echo = true
//! ```
//!
//! Of a reply:
//!
//! | key | value | means |
//! |---|---|---|
//! | `text`, `thinking` + `signature`, `tool` + `input` + `tool_id` | strings, a table | a message of these blocks |
//! | `content` | list | a message of these blocks, see below |
//! | `stop_reason`, `stop_sequence` | string | else `tool_use` after a tool call, `end_turn` without |
//! | `usage` | table | `input_tokens` (100), `output_tokens` (a quarter of the characters), `cache_creation_input_tokens` (0), `cache_read_input_tokens` (0) |
//! | `model`, `id` | string | else the model of the request, and a number |
//! | `pieces` | `"words"`, `"whole"`, number | how texts are cut into deltas; a number is characters |
//! | `piece_delay_ms` | number | a pause before each delta |
//! | `error` | status, or table of `status`, `type`, `message` | an error of the API |
//! | `http` | table of `status` (200), `body` (empty) | any response; its type goes into `headers` |
//! | `events` | list | a stream of these: tables are framed, strings are sent as they are |
//! | `echo` | `true` | a text that says what the request was |
//! | `name` | string | how the record calls it, else `reply 1` and so on |
//! | `when` | table, see below | only for such requests |
//! | `times` | number, `"forever"` | how often it may be used; once if left out |
//! | `side` | boolean | the record calls what it answers a side request |
//! | `headers` | table of strings | headers of the response; an empty one takes ours of that name away |
//! | `delay_ms`, `hold`, `cut` | an act, see below | before the response begins |
//! | `at` | list of `after_events` or `after_bytes` with one act | in the middle of the body |
//!
//! An element of `content` is a string (a text), or a table with one block: `text`, `thinking` (`signature`),
//! `redacted_thinking`, `tool` (`input`, `tool_id`), `raw` (any block as it is), or with one act.
//!
//! Acts: `hold = "gate"` waits until the gate is released; `delay_ms = 5` waits; `cut = "reset"` resets the connection,
//! `"close"` closes it, `"end"` ends the body as if it were whole; `error = { type = "overloaded_error" }` sends an
//! `error` event and ends; `send = "words"` sends these as they are. A request that does not stream has no events:
//! then all of them happen before the body, and an `error` is the response.
//!
//! Of `when`, all that is given must hold: `prompt_contains` (the last words of the person), `contains` (any string of
//! the request), `tool_result_for` (a call's id or a tool's name), `has_tool_result`, `model_contains`, `tool_offered`,
//! `agent` (`"main"`, `"subagent"`), `side` (`"title"`, `"suggestion"`, `"quota"`).
//!
//! # Over HTTP
//!
//! | request | does |
//! |---|---|
//! | `GET /_script/requests?after=N&wait=SECONDS` | the requests behind number N, as a list of [`Recorded`]; waits for one if there is none |
//! | `POST /_script/replies` | adds replies: a list of them in JSON with the keys above, or one |
//! | `POST /_script/release/NAME` | releases a gate, for good |
//! | `GET /_script/state` | what was used, who is held |
//! | `POST /_script/reset` | the script unused, the record empty, the gates closed; who is held is cut |

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
