//! Tools, accounts, adapters and the program as a whole. Code without I/O is tested in
//! `tests/core`, the adapters in `tests/adapters`, the sandbox in `tests/sandbox`.
//!
//! Each group of files with its subject; the numbers are the invariants of
//! `docs/concepts/architecture.md`.
//!
//! | files | subject | invariants |
//! |---|---|---|
//! | `layers`, `circles`, `shape`, `naming`, `wording`, `promises`, `docs`, `generated` | dependencies of modules and files; sizes of functions; retired words and turns; tests that the invariants name; links; generated files | 1–4, 6, 10, 11 |
//! | `sender_auth` | findings about senders | 9 |
//! | `both` | the same messages and queries give the same at both providers | 18 |
//! | `outputs` | long answers are kept and can be read on | 13 |
//! | `config`, `store`, `sign_in`, `files`, `unsubscribe`, `request`, `args` | the modules of layer 5, and arguments | 16 |
//! | `transcripts` | calls and their whole answers, as text files: most of the facts about tools; commands, settings and refused sign-ins, with every text that a person reads | 9, 12–14, 16, 17, 21, 24, 26, 28 |
//! | `pipeline`, `merge`, `calendar_search`, `free` | reads over several accounts: order, pages, failures | 12, 13, 17 |
//! | `drafts`, `send`, `modify`, `manage`, `reach` | writes of mail: many messages, several processes, changes during a call | 24, 26, 28 |
//! | `save`, `import`, `checks` | writes of events: large calls | 21 |
//! | `gmail` | the main tasks over Gmail | 9, 13, 14, 16, 17 |
//! | `brief`, `answers`, `levels`, `elicitation`, `approvals`, `progress` | whole calls: the day, every column, each level, questions and reports to the user | 25, 26, 30 |
//! | `discovery`, `strict` | the list of tools in clients: searches, and conversion of schemas | |
//! | `days` | whole calls at random instants: every weekday, summer time, ends of years | 38 |
//! | `routes` | adapters use every route of the sandbox | |
//! | `attacks`, `strangers`, `faults`, `cancel`, `unwritable` | hostile mail; interrupted writes; cancelled calls; full disks | 16, 28, 29, 31 |
//! | `server`, `cli`, `install`, `doctor`, `setup`, `examples` | the program, over its pipes and by its command line; entries in the settings of clients; broken and new installations; the examples of the docs | 6, 29 |
//!
//! Helpers: `support` is a session over the sandbox; `tests/common` has a client of the sandbox.

// The futures of a whole session, sandbox included, nest deeper than usual.
#![recursion_limit = "256"]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests, and their helpers, stop at the first surprise"
)]

#[macro_use]
#[path = "../common/mod.rs"]
mod common;

mod answers;
mod approvals;
mod args;
mod attachments;
mod attacks;
mod both;
mod brief;
mod calendar_search;
mod cancel;
mod checks;
mod circles;
mod cli;
mod config;
mod days;
mod discovery;
mod docs;
mod doctor;
mod drafts;
mod elicitation;
mod examples;
mod faults;
mod files;
mod free;
mod generated;
mod gmail;
mod import;
mod install;
mod layers;
mod levels;
mod manage;
mod merge;
mod modify;
mod naming;
mod outputs;
mod pipeline;
mod progress;
mod promises;
mod reach;
mod request;
mod requests;
mod routes;
mod save;
mod send;
mod sender_auth;
mod server;
mod setup;
mod shape;
mod sign_in;
mod size;
mod store;
mod strangers;
mod strict;
mod support;
mod transcripts;
mod unsubscribe;
mod unwritable;
mod waiting;
#[cfg(feature = "documents")]
mod wording;
mod worker;

/// Every test file belongs to its suite.
#[test]
fn every_test_file_is_listed() {
    for suite in ["tests/core", "tests/sandbox", "tests/adapters", "tests/it", "tests/http"] {
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
