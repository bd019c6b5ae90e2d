//! MCP over HTTP: eras, guards, people, sign-in, limits, pages. The harness is in `stage`.
//!
//! What proves what; the numbers are the invariants of `docs/architecture.md`.
//!
//! | files | what they prove | invariants |
//! |---|---|---|
//! | `attacks` | what is not the caller's stays out of reach, whatever is sent | 32, 33 |
//! | `eras` | each era of the protocol is answered by any instance, and people are kept apart | |
//! | `limits` | how much one person may use, and that a long job of one holds up nobody | |
//! | `memory` | what the process takes while people hold requests open | |
//! | `metrics` | what is counted, and that it names nobody | |
//! | `telemetry` | what a collector of traces gets, and that it names nobody | |
//! | `formats` | the format that a client declares for all answers | |
//! | `guards` | hosts, origins, sizes, times, TLS; how an instance ends | |
//! | `pages` | people connect accounts, see what was done and lower their level; forms and texts of others do no harm (`browser` opens them) | |
//! | `sessions` | signing in to the pages and out; redirects lead to no other host | |
//! | `outputs` | whole answers in the form that a request prefers | 12 |
//! | `workers` | that files which never end, of one person, hold up nobody else | |
//! | `people` | what a person can reach of the machine; apps that are dropped; progress | |

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
