//! The sandbox follows the contracts of the services, including their refusals.
//!
//! | files | subject |
//! |---|---|
//! | `sandbox`, `sandbox_mail` | Google's sign-in and mail |
//! | `sandbox_calendar` | Google Calendar |
//! | `sandbox_entra` | Microsoft's sign-in |
//! | `sandbox_graph`, `sandbox_graph_mail`, `sandbox_graph_calendar` | Microsoft Graph |
//! | `sandbox_ics` | calendars loaded from files |
//!
//! `graph_client` signs in to the sandbox's Graph.

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
}

mod graph_client;
mod sandbox;
mod sandbox_calendar;
mod sandbox_entra;
mod sandbox_graph;
mod sandbox_graph_calendar;
mod sandbox_graph_mail;
mod sandbox_ics;
mod sandbox_mail;
