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

use daysheet_auth::{CallingPerson, RequestDenial};

/// What the tokens of the tests are meant for.
const HERE: &str = "https://mail.example/mcp";

/// The outcome of a check in a few words.
fn summary(outcome: Result<CallingPerson, RequestDenial>) -> String {
    match outcome {
        Ok(person) => person.access.word().to_owned(),
        Err(RequestDenial::Missing) => "missing".to_owned(),
        Err(RequestDenial::Malformed(why) | RequestDenial::Invalid(why)) => why.to_owned(),
        Err(RequestDenial::Insufficient) => "insufficient".to_owned(),
        Err(RequestDenial::Unavailable(error)) => format!("unavailable: {}", error.message()),
    }
}
