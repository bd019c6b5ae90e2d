//! The adapters: what services are asked, and what is made of their answers.
//!
//! What proves what; the numbers are the invariants of `docs/architecture.md`.
//!
//! | files | what they prove | invariants |
//! |---|---|---|
//! | `query`, `queries` | the search language, and what Gmail and Graph are asked for each query | 15, 18 |
//! | `gmail_writes`, `google_calendar` | Google's adapters | 3, 16, 19–21, 24 |
//! | `conformance` | what the port promises, of every adapter | 18, 19 |
//! | `jmap` | the adapter of a third provider, over a small server of its own | 18, 19 |
//! | `net` | the HTTPS client, over responses of all kinds | 16 |
//! | `sandboxed` | both over the sandbox, step by step | 19–21, 24 |
//! | `outlook`, `outlook_writes`, `outlook_calendar` | Microsoft's adapters | 16, 19–21, 24 |
//!
//! `tap` records what is asked, answers some of it itself and hands on the rest to the
//! sandbox; it has the adapters behind it.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests, and their helpers, stop at the first surprise"
)]

#[macro_use]
#[path = "../common"]
mod common {
    #[macro_use]
    mod cases;
    pub mod client;
    pub mod clock;
    pub mod conformance;
    pub mod messages;
    pub mod query_cases;
}

mod conformance;
mod gmail_writes;
mod google_calendar;
#[cfg(feature = "jmap")]
mod jmap;
mod net;
mod outlook;
mod outlook_calendar;
mod outlook_writes;
mod queries;
mod query;
mod sandboxed;
mod tap;
