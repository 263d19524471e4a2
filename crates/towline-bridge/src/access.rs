//! Who may do what: the token, which hosts and origins are ours, which folders may be seen, caps, and what was done.
//!
//! The order for every request, HTTP and WebSocket alike: [`AllowedHosts`] first (a page of somebody else must not even
//! count as a failed login), then [`Token::check`], then, if the token was wrong, [`LoginThrottle`]. What it then names as
//! a path goes through [`Roots`].

mod audit;
mod forwarded;
mod host;
mod limit;
mod roots;
mod token;

pub use audit::{Action, Audit, Who, input_summary};
pub use forwarded::Hop;
pub use host::{AllowedHosts, HostError, HostRefusal, Reach};
pub use limit::{Bucket, LoginThrottle, Rate};
pub use roots::{RootError, Roots};
pub use token::{
    Kept, Presented, Refusal, SUBPROTOCOL_PREFIX, Token, TokenError, Way, answered_subprotocol,
    query_without_token, without_token,
};
