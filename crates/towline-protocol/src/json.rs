//! JSON as this crate needs it: a reader that hands out shares of the line instead of copies, a writer, and raw
//! values that stay text.
//!
//! Why not serde for the lines themselves: a derived decoder either copies every string or ties every type to the
//! line's lifetime, it cannot keep unknown fields without buffering (`flatten` costs a third of the speed), and it
//! loses the byte position inside tagged enums. serde_json still does everything that is not the hot path:
//! [`Json::parse`] into a caller's type, numbers, and values made from a caller's type.

mod error;
mod leaves;
mod pretty;
mod raw;
mod reader;
mod scan;
mod short;
mod text;
mod writer;

pub use error::DecodeError;
pub use leaves::{Leaf, Leaves};
pub use raw::{Json, Number};
pub use text::Text;

pub(crate) use reader::{Key, Likely, Reader, Tag};
pub(crate) use scan::{quoted_end, value_end};
pub(crate) use short::ShortText;
pub(crate) use writer::{Spelling, Writer};
