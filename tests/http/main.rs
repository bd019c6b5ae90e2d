//! MCP over HTTP: eras, guards, people, sign-in, limits, pages. The harness is in `stage`.
//!
//! The numbers are the invariants of `docs/concepts/architecture.md`.
//!
//! | files | subject | invariants |
//! |---|---|---|
//! | `approvals` | approving writes on a page | |
//! | `attacks` | other people's data stays out of reach, regardless of the request | 32, 33 |
//! | `eras` | every instance answers each era of the protocol, and people are kept apart | |
//! | `limits` | one person's share of a server; a long job of one person delays no others | |
//! | `memory` | memory of the process while people hold requests open | |
//! | `metrics` | the metrics, which name no people | |
//! | `telemetry` | traces as a collector receives them, which name no people | |
//! | `formats` | the format that a client declares for all answers | |
//! | `guards` | hosts, origins, sizes, times, TLS; shutdown of an instance | |
//! | `pages` | accounts, past actions, access level; hostile forms and texts (uses `browser`) | |
//! | `sessions` | signing in to the pages and out; redirects lead to no other host | |
//! | `outputs` | whole answers in the form that a request prefers | 12 |
//! | `workers` | one person's files that never end delay no other person | |
//! | `people` | a person's access to the machine; dropped apps; progress | |

// The futures of a whole session, sandbox included, nest deeper than usual.
#![recursion_limit = "256"]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::type_complexity,
    reason = "tests, and their helpers, stop at the first surprise"
)]

#[macro_use]
#[path = "../common"]
mod common {
    #[macro_use]
    mod cases;
    pub mod client;
    pub mod clock;
    pub mod issuer;
    pub mod messages;
    pub mod thorough;
}

mod activity;
mod approvals;
mod attacks;
mod browser;
mod eras;
mod formats;
mod guards;
mod limits;
#[cfg(target_os = "linux")]
mod memory;
mod metrics;
mod outputs;
mod pages;
mod people;
#[cfg(unix)]
mod program;
mod sessions;
mod stage;
#[cfg(all(unix, feature = "telemetry"))]
mod telemetry;
#[cfg(all(unix, feature = "documents"))]
mod workers;
