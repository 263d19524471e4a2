//! Owns the crates from crates.io that the ratio is measured against, one file
//! each: its own way to decode a line, and where its types keep the items.

pub mod cc_sdk;
pub mod claude_code_agent_sdk;
pub mod claude_codes;
mod claude_wrapper;
pub mod claudecode;

pub use cc_sdk::CcSdk;
pub use claude_code_agent_sdk::ClaudeCodeAgentSdk;
pub use claude_codes::ClaudeCodes;
pub use claude_wrapper::ClaudeWrapper;
pub use claudecode::Claudecode;
