//! The whole: tools, accounts, adapters and the program. What needs no I/O is tested in
//! `tests/core`.
//!
//! What proves what; the numbers are the invariants of `docs/architecture.md`.
//!
//! | files | what they prove | invariants |
//! |---|---|---|
//! | `layers`, `promises`, `generated` | who names whom; docs name tests that exist; generated files are current | 1–4, 6, 10, 11 |
//! | `verdicts` | what is said of senders | 9 |
//! | `query`, `queries`, `both` | the search language, and that it means the same at both providers | 15, 18 |
//! | `outputs` | long answers are kept, and read on in | 13 |
//! | `config`, `store`, `sign_in`, `files`, `unsubscribe`, `request` | layer 3 and arguments, each by itself | 16 |
//! | `pipeline`, `merge`, `agenda`, `free` | reads over several accounts (in memory): order, pages, one that fails | 12, 13, 17 |
//! | `drafts`, `send`, `modify`, `arrange`, `reach` | mail is written (mailboxes in memory): whom it reaches, once, undone | 24, 26, 28 |
//! | `save`, `import`, `outward`, `checks` | events are written (calendars in memory): all checks before the first write | 21 |
//! | `gmail`, `gmail_writes`, `google_calendar` | Google's adapters: what is asked and made of answers; the main job | 3, 9, 13, 14, 16, 17, 19–21, 24 |
//! | `outlook`, `outlook_writes`, `outlook_calendar` | Microsoft's adapters | 16, 19–21, 24 |
//! | `sandbox*` | the sandbox answers as the services' contracts say, refusals too | – |
//! | `brief`, `answers`, `levels`, `asking` | whole calls: the day, every column, each level, questions to the user | 25, 26, 30 |
//! | `attacks`, `strangers`, `faults`, `unwritable` | hostile mail; writes that break off; disks that are full | 16, 28, 29, 31 |
//! | `server`, `cli` | the program, over its pipes and as it is typed | 6, 29 |
//!
//! Helpers: `support` is a session over the sandbox; `rack` has mailboxes and `desk` calendars in
//! memory; `graph_client` signs in to the sandbox's Graph.

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
#[cfg(any(feature = "google", feature = "microsoft"))]
mod checks;
#[cfg(feature = "google")]
mod cli;
mod config;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod desk;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod drafts;
#[cfg(all(feature = "google", feature = "microsoft"))]
mod faults;
mod files;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod free;
mod generated;
#[cfg(feature = "google")]
mod gmail;
#[cfg(feature = "google")]
mod gmail_writes;
mod google_calendar;
mod graph_client;
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
mod store;
#[cfg(all(feature = "google", feature = "microsoft"))]
mod strangers;
#[cfg(any(feature = "google", feature = "microsoft"))]
#[cfg_attr(not(feature = "google"), allow(dead_code, reason = "sessions are over Gmail's half"))]
mod support;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod unsubscribe;
#[cfg(all(feature = "google", feature = "microsoft"))]
mod unwritable;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod verdicts;
mod waiting;

/// No test file is left out of its suite.
#[test]
fn every_test_file_is_listed() {
    for suite in ["tests/core", "tests/it"] {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(suite);
        let listed = std::fs::read_to_string(folder.join("main.rs")).unwrap();
        for entry in std::fs::read_dir(folder).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let module = name.trim_end_matches(".rs");
            assert!(
                module == "main" || listed.contains(&format!("mod {module};")),
                "{suite}/{name} is not listed in {suite}/main.rs"
            );
        }
    }
}
