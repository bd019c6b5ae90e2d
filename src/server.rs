//! MCP. The only module that uses rmcp.
//!
//! It lists tools and resources from plain data, passes calls to the pipeline, and turns answers
//! into text blocks. An error that the caller can act on is a tool result with `isError`; a bug is
//! a protocol error. rmcp handles both generations of the protocol: with `initialize`, and since
//! 2026-07-28 without it.

mod approval;
mod apps;
#[cfg(feature = "http")]
mod client_session;
mod clients;
mod elicitation;
pub mod framing;
mod guard;
mod handler;
mod instructions;
mod listing;
mod prompts;
mod resources;
mod result;
#[cfg(feature = "http")]
mod streamable;
mod watch;

pub use approval::ApprovalPage;
pub use clients::FORMAT;
pub use handler::{Server, WRITES_END};
pub use instructions::INSTRUCTIONS;
pub use listing::list;
pub use result::STATS;
#[cfg(feature = "http")]
pub use streamable::unanswered;
pub use watch::{RequestPermit, RequestWatch};
