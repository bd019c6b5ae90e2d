//! Who calls Daysheet over HTTP, and how much their token allows.
//!
//! A [`Verifier`] turns the bearer token of a request into a [`Person`]. The person is the
//! token's issuer and subject and nothing else: no argument and no session can name another.
//! What a person then may see or change is not decided here.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet_core::access::Access;
use daysheet_core::error::Error;
use sha2::{Digest, Sha256};

/// The owner of the rows of a server with static tokens: one person, as on their own machine.
const LOCAL: &str = "local";

/// Who calls, as their token says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Whose rows are theirs in the store.
    pub owner: String,
    /// Their name or address for people to read, if the token has one.
    pub name: Option<String>,
    /// The most that the token allows.
    pub access: Access,
}

impl Person {
    /// Returns the one person of a server with static tokens.
    pub fn local(access: Access) -> Self {
        Self { owner: LOCAL.to_owned(), name: None, access }
    }

    /// Returns the person whom an issuer calls `subject`.
    pub fn of(issuer: &str, subject: &str, name: Option<String>, access: Access) -> Self {
        // A line feed is in no issuer's address, so that no two pairs have the same digest.
        let digest = Sha256::digest(format!("{issuer}\n{subject}"));
        Self { owner: format!("p-{}", URL_SAFE_NO_PAD.encode(digest)), name, access }
    }
}

/// Why a request is not answered.
#[derive(Debug, Clone)]
pub enum Denial {
    /// It has no bearer token.
    Missing,
    /// The token is not valid here, for this reason.
    Invalid(String),
    /// The token is valid, but has none of the scopes that are needed.
    Insufficient,
    /// The token could not be checked now.
    Unavailable(Error),
}

/// Checks bearer tokens.
#[derive(Debug)]
pub enum Verifier {
    /// Tokens are not needed, on loopback: the access of everybody.
    Open(Access),
    /// The people by their tokens.
    Known(HashMap<String, Person>),
}

impl Verifier {
    /// Returns a verifier that takes every caller for the one person of this machine.
    pub fn open(access: Access) -> Self {
        Self::Open(access)
    }

    /// Returns a verifier that knows these tokens and no other, as tests need it.
    pub fn known(people: HashMap<String, Person>) -> Self {
        Self::Known(people)
    }

    /// Returns who sends `token`, the value after `Bearer `.
    ///
    /// # Errors
    /// Why the request must not be answered.
    pub async fn verify(&self, token: Option<&str>) -> Result<Person, Denial> {
        match self {
            Self::Open(access) => Ok(Person::local(*access)),
            Self::Known(people) => {
                let known = people.get(token.ok_or(Denial::Missing)?);
                known.cloned().ok_or_else(|| Denial::Invalid("it is not known".to_owned()))
            }
        }
    }
}
