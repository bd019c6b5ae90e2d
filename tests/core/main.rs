//! What is decided without I/O: texts, times, queries, rows, notations, budgets.
//!
//! What proves what; the numbers are the invariants of `docs/architecture.md`.
//!
//! | files | what they prove | invariants |
//! |---|---|---|
//! | `registry` | a column asks for what it shows, has a source in the fixtures, and is cut with a note | 3, 8, 9, 13 |
//! | `text`, `charsets`, `hiding` | strangers' text made safe; bytes made text; hidden text | 9 |
//! | `reading`, `corpus`, `quoting`, `deceiving` | HTML as text; real mail; new text and quoted text | – |
//! | `times`, `zones`, `recurrence`, `outlook_recurrence`, `ical` | times, zones, rules, iCalendar documents | 20 |
//! | `encode`, `stc`, `count`, `budget`, `fit` | notations; tokens; what fits, and where the rest is | 12–14, 22 |
//! | `growth` | work on hostile HTML and headers grows with their length | – |
//! | `compose` | messages written and read | – |
//! | `upstream` | requests to services, shared between people | – |
//! | `clock` | clocks that stand still, and that a test advances | 38 |

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
