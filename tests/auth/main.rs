//! Callers, identified by token or browser, with an issuer on loopback whose keys the tests hold.
//!
//! | files | subject |
//! |---|---|
//! | `access` | access tokens: which are accepted, for whom, with which access level |
//! | `keys` | discovery, changing keys, an unreachable issuer |
//! | `opaque` | introspection, and static tokens |
//! | `browser` | sign-in with a browser |

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
    pub mod clock;
    pub mod issuer;
}

mod access;
mod browser;
mod keys;
mod opaque;

use daysheet_auth::{CallingPerson, RequestDenial};

/// The audience of the tests' tokens.
const HERE: &str = "https://mail.example/mcp";

/// Returns the outcome of a check in a few words.
fn summary(outcome: Result<CallingPerson, RequestDenial>) -> String {
    match outcome {
        Ok(person) => person.access.word().to_owned(),
        Err(RequestDenial::Missing) => "missing".to_owned(),
        Err(RequestDenial::Malformed(why) | RequestDenial::Invalid(why)) => why.to_owned(),
        Err(RequestDenial::Insufficient) => "insufficient".to_owned(),
        Err(RequestDenial::Unavailable(error)) => format!("unavailable: {}", error.message()),
    }
}
