//! Accounts as the port knows them: the owner of the mailbox, and the source of its
//! access tokens. The layers above the port store accounts and tokens.

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::error::{Error, ErrorKind, Result};
use crate::ids::{AccountId, EmailAddress};

/// The state of an account's grant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountStatus {
    /// Usable, as far as we know.
    Ok,
    /// The provider refused its grant, because it expired or for no stated reason.
    Expired,
    /// The provider reported that its grant was withdrawn.
    Revoked,
}

impl AccountStatus {
    /// Returns the word that is stored and shown.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Expired => "expired",
            Self::Revoked => "revoked",
        }
    }

    /// Returns the status of a stored word. An unknown word never means "ok".
    pub fn from_word(word: &str) -> Self {
        match word {
            "ok" => Self::Ok,
            "revoked" => Self::Revoked,
            _ => Self::Expired,
        }
    }
}

/// Writes [`AccountStatus::word`].
impl fmt::Display for AccountStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// One account, without its tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Account {
    /// A short stable id.
    pub id: AccountId,
    /// The provider's name, such as `google`.
    pub provider: String,
    /// The mailbox's address.
    pub email: EmailAddress,
    /// The person who signed in, if the mailbox is not their own but shared with them.
    pub via: Option<String>,
    /// The tenant that it signed in at, for providers that have tenants.
    pub tenant: Option<String>,
    /// The state of its grant.
    pub status: AccountStatus,
    /// The reason it cannot be used.
    pub problem: Option<String>,
    /// The scopes granted.
    pub scopes: Vec<String>,
    /// The time it was first added.
    pub added: Timestamp,
}

impl Account {
    /// Returns the scopes among `wanted` that the sign-in does not grant. A scope for writing grants
    /// reading, too.
    pub fn lacks<'w>(&self, wanted: &[&'w str]) -> Vec<&'w str> {
        let is_granted = |scope: &&str| {
            NOT_LISTED.contains(scope)
                || self.scopes.iter().any(|granted| {
                    granted.eq_ignore_ascii_case(scope)
                        || wider(granted).iter().any(|other| other.eq_ignore_ascii_case(scope))
                })
        };
        // Without any scope, the grant is unknown.
        if self.scopes.is_empty() {
            return Vec::new();
        }
        wanted.iter().copied().filter(|scope| !is_granted(scope)).collect()
    }
}

/// Scopes that providers grant without listing them.
const NOT_LISTED: &[&str] = &["offline_access", "openid", "profile", "email"];

/// Returns the narrower scopes that a scope includes.
fn wider(scope: &str) -> Vec<String> {
    let google = |names: &[&str]| -> Vec<String> {
        names.iter().map(|name| format!("https://www.googleapis.com/auth/{name}")).collect()
    };
    match scope.rsplit_once("/auth/").map_or(scope, |(_, name)| name) {
        "https://mail.google.com/" => google(&["gmail.modify", "gmail.readonly"]),
        "gmail.modify" => google(&["gmail.readonly"]),
        name @ ("calendar" | "contacts") => google(&[&format!("{name}.readonly")]),
        // Permissions of Microsoft Graph, such as `Mail.ReadWrite.Shared`.
        name => vec![name.replace("ReadWrite", "Read")],
    }
}

/// The store that holds the tokens of accounts.
#[async_trait]
pub trait TokenStore: Send + Sync {
    /// Returns an access token of the account with this id, valid for at least a minute.
    ///
    /// # Errors
    /// [`ErrorKind::NoAccount`], [`ErrorKind::Auth`] if its grant is no longer valid, and any
    /// error of the refresh.
    async fn bearer(&self, id: &AccountId) -> Result<String>;

    /// Returns an access token other than `rejected`, which the provider has refused.
    ///
    /// # Errors
    /// As [`TokenStore::bearer`].
    async fn refreshed_after_401(&self, id: &AccountId, rejected: &str) -> Result<String>;
}

/// The source of one account's access tokens. An adapter asks it before every request. Clones are
/// the same source.
#[derive(Clone)]
pub struct TokenSource(Source);

#[derive(Clone)]
enum Source {
    Account { store: Arc<dyn TokenStore>, id: AccountId },
    Fixed(String),
}

impl TokenSource {
    /// Returns the source of the tokens of the account with this id.
    pub fn new(store: Arc<dyn TokenStore>, id: AccountId) -> Self {
        Self(Source::Account { store, id })
    }

    /// Returns a source of one fixed token that is not stored, for an account that is being
    /// added.
    pub fn fixed(token: &str) -> Self {
        Self(Source::Fixed(token.to_owned()))
    }

    /// Returns an access token that is valid for at least a minute.
    ///
    /// # Errors
    /// As [`TokenStore::bearer`].
    pub async fn bearer(&self) -> Result<String> {
        match &self.0 {
            Source::Account { store, id } => store.bearer(id).await,
            Source::Fixed(token) => Ok(token.clone()),
        }
    }

    /// Returns an access token other than `rejected`, which the provider has refused.
    ///
    /// # Errors
    /// As [`TokenStore::bearer`]; [`ErrorKind::Auth`] if there is only one token.
    pub async fn refreshed_after_401(&self, rejected: &str) -> Result<String> {
        match &self.0 {
            Source::Account { store, id } => store.refreshed_after_401(id, rejected).await,
            // The token was issued moments ago, and there is no refresh token yet to
            // obtain another with.
            Source::Fixed(_) => Err(only_one()),
        }
    }
}

fn only_one() -> Error {
    Error::new(ErrorKind::Auth, "the provider rejects the token it just issued")
        .next("sign in again and allow the requested access")
}

/// Shows the account's id, never a token.
impl fmt::Debug for TokenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.0 {
            Source::Account { id, .. } => id.as_str(),
            Source::Fixed(_) => "fixed",
        };
        f.debug_tuple("TokenSource").field(&kind).finish()
    }
}
