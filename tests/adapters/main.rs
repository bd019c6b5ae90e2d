//! The adapters: their requests to the services, and how they interpret responses.
//!
//! The invariants are numbered as in `docs/concepts/architecture.md`.
//!
//! | files | subject | invariants |
//! |---|---|---|
//! | `query`, `queries` | the search language and its requests to Gmail and Graph | 15, 18 |
//! | `gmail_writes`, `google_calendar` | Google's adapters | 3, 16, 19–21, 24 |
//! | `conformance` | conformance of every adapter to the port | 18, 19 |
//! | `jmap` | the example of a third provider, over its own small server | 18, 19 |
//! | `limiter` | waits, and the next steps of errors | |
//! | `net` | the HTTPS client, over responses of all kinds | 16 |
//! | `sandboxed` | both over the sandbox, step by step | 19–21, 24 |
//! | `outlook`, `outlook_writes`, `outlook_calendar` | Microsoft's adapters | 16, 19–21, 24 |
//!
//! `tap` records requests, answers some of them itself and forwards the rest to the sandbox; it
//! also has the adapters connected to it.

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
mod event_columns;
mod gmail_writes;
mod google_calendar;
mod jmap;
mod limiter;
mod net;
mod outlook;
mod outlook_calendar;
mod outlook_writes;
mod queries;
mod query;
mod sandboxed;
mod tap;
