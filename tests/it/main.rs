//! All integration tests in one binary, which links once.

// The futures of a whole session, sandbox included, nest deeper than usual.
#![recursion_limit = "256"]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests, and their helpers, stop at the first surprise"
)]

#[cfg(any(feature = "google", feature = "microsoft"))]
mod agenda;
#[cfg(all(feature = "google", feature = "microsoft"))]
mod answers;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod arrange;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod asking;
#[cfg(all(feature = "google", feature = "microsoft"))]
mod attacks;
#[cfg(all(feature = "google", feature = "microsoft"))]
mod both;
#[cfg(all(feature = "google", feature = "microsoft"))]
mod brief;
mod budget;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod checks;
#[cfg(feature = "google")]
mod cli;
mod compose;
mod config;
mod count;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod desk;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod drafts;
mod encode;
#[cfg(all(feature = "google", feature = "microsoft"))]
mod faults;
mod files;
mod fit;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod free;
mod generated;
#[cfg(feature = "google")]
mod gmail;
#[cfg(feature = "google")]
mod gmail_writes;
mod google_calendar;
mod graph_client;
mod hiding;
mod ical;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod import;
mod layers;
#[cfg(all(feature = "google", feature = "microsoft"))]
mod levels;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod merge;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod modify;
#[cfg(feature = "microsoft")]
mod outlook;
#[cfg(feature = "microsoft")]
mod outlook_calendar;
mod outlook_recurrence;
#[cfg(feature = "microsoft")]
mod outlook_writes;
mod outputs;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod outward;
#[cfg(feature = "google")]
mod pipeline;
mod promises;
mod queries;
mod query;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod rack;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod reach;
mod recurrence;
mod registry;
mod request;
mod sandbox;
mod sandbox_calendar;
mod sandbox_entra;
mod sandbox_graph;
mod sandbox_graph_calendar;
mod sandbox_graph_mail;
mod sandbox_ics;
mod sandbox_mail;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod save;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod send;
#[cfg(feature = "google")]
mod server;
mod sign_in;
mod stc;
mod store;
#[cfg(all(feature = "google", feature = "microsoft"))]
mod strangers;
#[cfg(any(feature = "google", feature = "microsoft"))]
#[cfg_attr(not(feature = "google"), allow(dead_code, reason = "sessions are over Gmail's half"))]
mod support;
mod text;
mod times;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod unsubscribe;
#[cfg(all(feature = "google", feature = "microsoft"))]
mod unwritable;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod verdicts;
mod zones;

/// No test file is left out of the list above.
#[test]
fn every_test_file_is_listed() {
    let listed = include_str!("main.rs");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    for entry in std::fs::read_dir(folder).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let module = name.trim_end_matches(".rs");
        assert!(
            module == "main" || listed.contains(&format!("mod {module};")),
            "tests/it/{name} is not listed in tests/it/main.rs"
        );
    }
}
