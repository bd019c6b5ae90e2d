//! Daysheet: an MCP server for mail and calendars, in rows.
//!
//! A tool call is read by `tools`, which knows the columns from `schemas`. The
//! `pipeline` asks `project` what the columns need, a provider (behind the port in
//! `provider`) for a page of its own JSON, and `flatten` for rows; `encode` writes
//! them as tab-delimited TOON, as JSON or as STC.
//! Events and their times are `event`, `time_parse` (as people write times) and
//! `ical`. Long texts go through `body` and follow the document. `server` is MCP and
//! nothing else; `cli` is the command line.
//!
//! `docs/concepts/architecture.md` has the invariants, and tests hold them: only
//! `server` names rmcp, only `providers/` names a provider's SDK, and what stands
//! in the first four groups below is pure and total.

pub mod accounts;
pub mod config;
pub mod deeplinks;
pub mod files;
pub mod oauth;
pub mod outputs;
pub mod store;
pub mod unsubscribe;
#[cfg(feature = "documents")]
pub mod worker;

pub mod prompts;
pub mod tools;

pub mod pipeline;

pub mod server;

pub mod app;
#[cfg(feature = "http")]
pub mod http;

pub mod cli;
