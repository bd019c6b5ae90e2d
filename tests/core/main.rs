//! Logic without I/O: texts, times, queries, rows, notations, budgets.
//!
//! Each group of files with its subject; the numbers are the invariants of
//! `docs/concepts/architecture.md`.
//!
//! | files | subject | invariants |
//! |---|---|---|
//! | `registry` | a column requests the members it shows, has a source in the fixtures, and is cut with a note | 3, 8, 9, 13 |
//! | `text`, `charsets`, `hiding` | untrusted text made safe; decoding; hidden text | 9 |
//! | `reading`, `corpus`, `quoting`, `deceiving` | HTML as text; real mail; new and quoted text | – |
//! | `times`, `zones`, `recurrence`, `outlook_recurrence`, `ical` | times, zones, rules, iCalendar documents | 20 |
//! | `encode`, `stc`, `count`, `budget`, `fit` | notations; tokens; the rows that fit, and the place of the rest | 12–14, 22 |
//! | `growth` | work on hostile HTML and header fields grows linearly with their length | – |
//! | `compose` | messages written and read back | – |
//! | `upstream` | requests to services, shared between people | – |
//! | `clock` | fixed clocks, and clocks that a test advances | 38 |

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
    pub mod growth;
    pub mod messages;
    pub mod thorough;
}

mod budget;
mod charsets;
mod clock;
mod compose;
mod corpus;
mod count;
mod deceiving;
mod encode;
mod event_rows;
mod fit;
mod growth;
mod hiding;
mod ical;
mod outlook_recurrence;
mod quoting;
mod reading;
mod recurrence;
mod registry;
mod stc;
mod text;
mod times;
mod upstream;
mod zones;
