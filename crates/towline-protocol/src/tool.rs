//! Tools: their names, and their inputs typed on demand.

mod input;
mod name;

pub use input::*;
pub use name::{McpTool, ToolName};
