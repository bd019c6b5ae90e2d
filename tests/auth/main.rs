//! Who calls, by their token or their browser, at an issuer on loopback that the tests sign for.
//!
//! | files | what they prove |
//! |---|---|
//! | `access` | access tokens: which are taken, for whom, with how much access |
//! | `keys` | discovery, keys that change, an issuer that is down |
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

use daysheet_auth::{Denial, Person};

/// What the tokens of the tests are meant for.
const HERE: &str = "https://mail.example/mcp";

/// The outcome of a check in a few words.
fn summary(outcome: Result<Person, Denial>) -> String {
    match outcome {
        Ok(person) => person.access.word().to_owned(),
        Err(Denial::Missing) => "missing".to_owned(),
        Err(Denial::Malformed(why) | Denial::Invalid(why)) => why.to_owned(),
        Err(Denial::Insufficient) => "insufficient".to_owned(),
        Err(Denial::Unavailable(error)) => format!("unavailable: {}", error.message()),
    }
}
