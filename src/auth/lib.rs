//! Identification of callers over HTTP, and of the access that their tokens allow.
//!
//! A [`TokenVerifier`] turns the bearer token of a request into a [`CallingPerson`]. A person is exactly the
//! token's issuer and subject: no argument and no session can name another. Other modules decide
//! which data the person may see or change.
//!
//! A server checks tokens in one of three ways: not at all on loopback, against a file of hashes
//! ([`tokens`]), or as tokens of an OIDC issuer ([`issuer`]), by signature ([`jwt`]) or by
//! introspection ([`introspection`]). In a browser, people sign in at the same issuer ([`web`]).
//! Errors, logs and `Debug` output never contain tokens, codes or secrets.

mod introspection;
mod issuer;
mod jwt;
mod tokens;
pub mod web;

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet_core::access::AccessLevel;
use daysheet_core::error::Error;
use introspection::IntrospectionClient;
use issuer::Issuer;
pub use issuer::{IssuerClient, IssuerSettings, is_issuer};
pub use jwt::ALGORITHMS;
use jwt::Jwt;
use sha2::{Digest, Sha256};
pub use tokens::{TokenList, fingerprint, new_token};
use web::WebSignIn;

/// The owner of the rows on a server with static tokens: one person, as on their own machine.
const LOCAL: &str = "local";
/// The prefix of our scopes, before an access level.
const SCOPE: &str = "daysheet:";
/// The maximum length of a token that is checked, in bytes.
const MAX_TOKEN: usize = 8 * 1024;

/// The caller, according to their token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallingPerson {
    /// The owner of their rows in the store.
    pub owner: String,
    /// Their name or address for display, if the token has one.
    pub name: Option<String>,
    /// The highest access level that the token allows.
    pub access: AccessLevel,
}

impl CallingPerson {
    /// Returns the one person of a server with static tokens.
    pub fn local(access: AccessLevel) -> Self {
        Self { owner: LOCAL.to_owned(), name: None, access }
    }

    /// Returns the person with this subject at an issuer.
    pub fn new(subject: TokenSubject, name: Option<String>, access: AccessLevel) -> Self {
        let TokenSubject { issuer, subject } = subject;
        // No issuer's URL contains a line feed, so different pairs have different texts.
        let digest = Sha256::digest(format!("{issuer}\n{subject}"));
        Self { owner: format!("p-{}", URL_SAFE_NO_PAD.encode(digest)), name, access }
    }
}

/// A subject at its issuer, which together identify a person.
#[derive(Debug, Clone, Copy)]
pub struct TokenSubject<'a> {
    /// The issuer's URL.
    pub issuer: &'a str,
    /// The id of the person at the issuer.
    pub subject: &'a str,
}

/// Returns the scope that allows `access`, such as `daysheet:draft`.
pub fn scope_of(access: AccessLevel) -> String {
    format!("{SCOPE}{}", access.word())
}

/// Returns the highest access level among scopes, or `None` without a scope of ours.
pub fn access_of<'a>(scopes: impl IntoIterator<Item = &'a str>) -> Option<AccessLevel> {
    let levels = scopes.into_iter().filter_map(|scope| {
        let word = scope.strip_prefix(SCOPE)?;
        AccessLevel::ALL.into_iter().find(|level| level.word() == word)
    });
    levels.max()
}

/// The reason why a request is denied.
#[derive(Debug, Clone)]
pub enum RequestDenial {
    /// The request has no bearer token.
    Missing,
    /// The request has several tokens, or a token in its URL.
    Malformed(&'static str),
    /// The token is not valid here; the text is the reason.
    Invalid(&'static str),
    /// The token is valid, but has no scope of ours.
    Insufficient,
    /// The token cannot be checked at present.
    Unavailable(Error),
}

type VerifyResult<T> = std::result::Result<T, RequestDenial>;

/// Checks bearer tokens.
#[derive(Debug)]
pub enum TokenVerifier {
    /// No tokens, on loopback: the access level of every caller.
    Open(AccessLevel),
    /// Static tokens, usually of one person.
    Known(TokenList),
    /// The tokens of an issuer.
    Issuer(AtIssuer),
}

/// An issuer, and the ways to identify callers by its tokens.
#[derive(Debug)]
pub struct AtIssuer {
    issuer: Arc<Issuer>,
    introspection: Option<IntrospectionClient>,
    web: Option<WebSignIn>,
}

impl AtIssuer {
    /// Returns the issuer's name for itself.
    pub fn issuer(&self) -> &str {
        &self.issuer.settings().issuer
    }

    /// Returns [`IssuerSettings::scope_prefix`].
    pub fn scope_prefix(&self) -> &str {
        &self.issuer.settings().scope_prefix
    }

    /// Returns the browser sign-in, if this server has a client at the issuer.
    pub fn web(&self) -> Option<&WebSignIn> {
        self.web.as_ref()
    }

    async fn person(&self, token: &str) -> VerifyResult<CallingPerson> {
        let claims = match (Jwt::read(token), &self.introspection) {
            // Tokens in the form of a JWT are never introspected, even if their signature is
            // invalid.
            (Some(jwt), _) => {
                self.issuer.access_claims(&jwt.map_err(RequestDenial::Invalid)?).await?
            }
            (None, Some(introspection)) => introspection.claims(token).await?,
            (None, None) => return Err(RequestDenial::Invalid("the token is not a JWT")),
        };
        let subject = claims.subject().map_err(RequestDenial::Invalid)?;
        let prefix = self.scope_prefix();
        let scopes = claims.scopes().map(|scope| scope.strip_prefix(prefix).unwrap_or(scope));
        let access = access_of(scopes).ok_or(RequestDenial::Insufficient)?;
        Ok(CallingPerson::new(
            TokenSubject { issuer: self.issuer(), subject },
            claims.name(),
            access,
        ))
    }
}

impl TokenVerifier {
    /// Returns a verifier that treats every caller as the one person of this machine.
    pub fn open(access: AccessLevel) -> Self {
        Self::Open(access)
    }

    /// Returns a verifier with these tokens and people, for tests.
    pub fn known(people: HashMap<String, CallingPerson>) -> Self {
        Self::Known(people.into_iter().collect())
    }

    /// Returns a verifier of an issuer's tokens. Nothing is fetched until the first token arrives.
    pub fn at_issuer(settings: IssuerSettings) -> Self {
        let issuer = Arc::new(Issuer::new(settings));
        let introspection = IntrospectionClient::new(issuer.clone());
        let web = WebSignIn::new(issuer.clone());
        Self::Issuer(AtIssuer { issuer, introspection, web })
    }

    /// Returns the sender of `token`, the value after `Bearer `.
    ///
    /// # Errors
    /// The reason why the request is denied.
    pub async fn verify(&self, token: Option<&str>) -> Result<CallingPerson, RequestDenial> {
        match (self, token) {
            (Self::Open(access), _) => Ok(CallingPerson::local(*access)),
            (_, None) => Err(RequestDenial::Missing),
            // Refused before any parsing or hashing.
            (_, Some(token)) if token.len() > MAX_TOKEN => {
                Err(RequestDenial::Invalid("the token is too long"))
            }
            (Self::Issuer(at), Some(token)) => at.person(token).await,
            (Self::Known(list), Some(token)) => {
                list.person_of(token).ok_or(RequestDenial::Invalid("the token is unknown"))
            }
        }
    }

    /// Checks that tokens can be verified: the issuer's keys are cached, or can be fetched now.
    ///
    /// # Errors
    /// An error of the issuer.
    pub async fn ready(&self) -> Result<(), Error> {
        match self {
            Self::Issuer(at) if at.issuer.kept().is_none() => {
                at.issuer.known(|_| false).await.map(drop)
            }
            _ => Ok(()),
        }
    }

    /// Returns the present holder of the static token with this [`fingerprint`]; `None` if it was
    /// withdrawn.
    pub fn holder(&self, fingerprint: &str) -> Option<CallingPerson> {
        match self {
            Self::Known(list) => list.holder(fingerprint),
            Self::Open(_) | Self::Issuer(_) => None,
        }
    }
}
