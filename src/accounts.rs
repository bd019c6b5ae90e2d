//! Who is signed in, and with what: the accounts and their tokens.
//!
//! [`Accounts::bearer`] always answers with an access token that is good for a
//! while, and refreshes it when it must. Of all who ask at once, in this process
//! and in others that share the store, one refreshes and the rest use what it
//! got: some providers end a grant whose refresh token is used twice. What a
//! refresh brings is saved before anybody uses it, and a refresh once begun is
//! finished even if whoever asked has gone away.
//!
//! An account changes its status only when the provider refuses its grant.
//! Broken networks and busy servers are errors of the call and nothing more.
//!
//! How tokens are kept fresh is in `accounts/keeper.rs`, the protocol in
//! `oauth.rs`, the rows are in `store/accounts.rs`. Whose mailbox a new account
//! is must be found out by the caller, who knows the provider's API.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use jiff::Timestamp;

use crate::config::Config;
use crate::error::{Error, Kind, Result};
use crate::oauth::{self, Tokens};
use crate::provider::{Account, Status, TokenStore};
use crate::store::{AccountRow, Store};

mod keeper;

use keeper::{Keeper, Kept};

/// What to do where no account is.
pub const HOW_TO_ADD: &str = "call accounts with op=add, or run `daysheet account add google` or \
                              `daysheet account add microsoft`";

/// What has become of the grant of an account that was signed out. Its tokens
/// are forgotten in any case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignedOut {
    /// The provider has ended it.
    Revoked,
    /// The provider ends grants only on its own page, at this address.
    ByHand(&'static str),
    /// The provider did not end it, for this reason.
    NotRevoked(Error),
}

/// A clause for people.
impl std::fmt::Display for SignedOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Revoked => f.write_str("the grant is revoked and the tokens are deleted"),
            Self::ByHand(page) => {
                write!(f, "the tokens are deleted; to withdraw the app's access too, open {page}")
            }
            Self::NotRevoked(why) => {
                write!(f, "the tokens are deleted, but the grant could not be revoked: {why}")
            }
        }
    }
}

impl From<AccountRow> for Account {
    fn from(row: AccountRow) -> Self {
        Self {
            scopes: row.scopes.split_whitespace().map(str::to_owned).collect(),
            added: Timestamp::from_second(row.added).unwrap_or(Timestamp::UNIX_EPOCH),
            id: row.id,
            provider: row.provider,
            email: row.email,
            via: row.via,
            tenant: row.tenant,
            status: row.status,
            problem: row.problem,
        }
    }
}

/// The accounts of one store. Clones share what is known about tokens.
#[derive(Clone)]
pub struct Accounts {
    store: Store,
    keeper: Arc<Keeper>,
}

impl Accounts {
    /// The accounts in `store`, refreshed as `config` says. Nothing is read yet.
    pub fn new(config: Arc<Config>, store: Store) -> Self {
        Self { keeper: Arc::new(Keeper::new(config, store.clone())), store }
    }

    /// All accounts, the longest known first.
    ///
    /// # Errors
    /// [`Kind::Store`].
    pub async fn list(&self) -> Result<Vec<Account>> {
        let rows = self.store.account_rows().await?;
        Ok(rows.into_iter().map(Account::from).collect())
    }

    /// How each account is called, by its id: by address, or by the id itself
    /// where two have the same address.
    ///
    /// # Errors
    /// [`Kind::Store`].
    pub async fn labels(&self) -> Result<HashMap<String, String>> {
        let rows = self.store.account_rows().await?;
        let label = |row: &AccountRow| (row.id.clone(), label(row, &rows));
        Ok(rows.iter().map(label).collect())
    }

    /// Adds the account that `tokens` of a sign-in belong to, or gives a known
    /// one new tokens. `email` is what the provider says, not what was typed.
    ///
    /// # Errors
    /// [`Kind::Store`] if it cannot be kept, [`Kind::Argument`] if `email` is no
    /// address, [`Kind::Auth`] if there is no refresh token among the tokens.
    pub async fn add(&self, tokens: Tokens, email: &str) -> Result<Account> {
        self.put(tokens, email, None).await
    }

    /// Adds the mailbox `email`, which is shared with `via`, the person whose
    /// sign-in the tokens are of.
    ///
    /// # Errors
    /// As [`Accounts::add`].
    pub async fn add_shared(&self, tokens: Tokens, email: &str, via: &str) -> Result<Account> {
        self.put(tokens, email, Some(via.trim().to_lowercase())).await
    }

    async fn put(&self, tokens: Tokens, email: &str, via: Option<String>) -> Result<Account> {
        let email = email.trim().to_lowercase();
        let odd = |letter: char| letter.is_whitespace() || letter.is_control();
        if !email.contains('@') || email.contains(odd) {
            return Err(Error::argument("the provider gave no mail address for the account"));
        }
        let id = format!("{}:{email}", tokens.provider);
        let refresh = tokens.refresh.ok_or_else(|| {
            Error::new(Kind::Auth, "there is no refresh token to store")
                .next(format!("sign in with `daysheet account add {}`", tokens.provider))
        })?;
        let kept = Kept { refresh, access: tokens.access, expires: tokens.expires };
        let row = AccountRow {
            sealed: self.keeper.seal(&id, &kept).await?,
            id,
            provider: tokens.provider.to_owned(),
            email,
            via,
            tenant: tokens.tenant,
            scopes: tokens.scopes.join(" "),
            status: Status::Ok,
            problem: None,
            added: 0,
            version: 0,
        };
        let stored = self.store.put_account(&row).await.map_err(|error| {
            error.context(format!("the sign-in of {} could not be stored", row.email))
        })?;
        self.keeper.forget(&stored.id);
        Ok(stored.into())
    }

    /// Signs an account out, named by its id or whole address: asks the provider
    /// to end the grant and deletes the tokens. Its handles stay. Returns what
    /// has become of the grant; the tokens are deleted in any case.
    ///
    /// # Errors
    /// [`Kind::NoAccount`] if there is none, [`Kind::Store`].
    pub async fn remove(&self, name: &str) -> Result<SignedOut> {
        let rows = self.store.account_rows().await?;
        let account = exact(&rows, name)?.ok_or_else(|| unknown(&rows))?;
        // A store that cannot be written leaves all as it was. The other way
        // round an account would stay whose grant has ended.
        let grant = self.keeper.grant(account).await;
        self.forget(&account.id).await?;
        Ok(self.keeper.revoke(account, grant).await)
    }

    /// Deletes the account with this id and its tokens, without a word to the
    /// provider. Its handles stay. One that is not there is no error.
    ///
    /// # Errors
    /// [`Kind::Store`].
    pub async fn forget(&self, id: &str) -> Result<()> {
        self.store.delete_account(id).await?;
        self.keeper.forget(id);
        Ok(())
    }

    /// The account meant by `name`: an id, an address, a provider with one
    /// account, or the beginning of one id or address. Without a name, the only
    /// account there is.
    ///
    /// # Errors
    /// [`Kind::NoAccount`] if there is none, [`Kind::Argument`] if it could be
    /// several, with the addresses to choose from.
    pub async fn find(&self, name: Option<&str>) -> Result<Account> {
        let rows = self.store.account_rows().await?;
        let name = name.unwrap_or_default().trim().to_lowercase();
        if let Some(row) = exact(&rows, &name)? {
            return Ok(row.clone().into());
        }
        let meant: Vec<&AccountRow> = rows
            .iter()
            .filter(|row| {
                row.provider == name || row.email.starts_with(&name) || row.id.starts_with(&name)
            })
            .collect();
        match meant.as_slice() {
            [row] => Ok((*row).clone().into()),
            [] => Err(unknown(&rows)),
            several if name.is_empty() => Err(ambiguous("several accounts are signed in", several)),
            several => Err(ambiguous("that matches several accounts", several)),
        }
    }

    /// The account with exactly this id, as handles and cursors name it.
    ///
    /// # Errors
    /// [`Kind::NoAccount`] if it is not signed in any more, [`Kind::Store`].
    pub async fn by_id(&self, id: &str) -> Result<Account> {
        match self.store.account_row(id).await? {
            Some(row) => Ok(row.into()),
            None => {
                let (provider, email) = id.split_once(':').unwrap_or(("", id));
                let next = if oauth::service(provider).is_ok() {
                    format!(
                        "call accounts with op=add provider={provider}, or run `daysheet account \
                         add {provider}`"
                    )
                } else {
                    HOW_TO_ADD.to_owned()
                };
                Err(Error::new(Kind::NoAccount, format!("the account {email} is not signed in"))
                    .next(next))
            }
        }
    }

    /// An access token of the account with this id, good for a minute at least.
    ///
    /// # Errors
    /// [`Kind::Auth`] if the account must sign in again, [`Kind::NoAccount`] if
    /// it was removed, [`Kind::Network`], [`Kind::Timeout`] or
    /// [`Kind::Provider`] if a refresh was needed and failed for now,
    /// [`Kind::Store`].
    pub async fn bearer(&self, id: &str) -> Result<String> {
        self.keeper.access(id, None).await
    }

    /// An access token other than `rejected`, which the provider has answered
    /// with 401 although it should have been good. Refreshes once, unless there
    /// is a newer token already.
    ///
    /// # Errors
    /// As [`Accounts::bearer`].
    pub async fn refreshed_after_401(&self, id: &str, rejected: &str) -> Result<String> {
        self.keeper.access(id, Some(rejected)).await
    }
}

#[async_trait]
impl TokenStore for Accounts {
    async fn bearer(&self, id: &str) -> Result<String> {
        self.bearer(id).await
    }

    async fn refreshed_after_401(&self, id: &str, rejected: &str) -> Result<String> {
        self.refreshed_after_401(id, rejected).await
    }
}

/// The account with this id or whole address, if there is one.
fn exact<'a>(rows: &'a [AccountRow], name: &str) -> Result<Option<&'a AccountRow>> {
    let name = name.trim();
    if let Some(row) = rows.iter().find(|row| row.id.eq_ignore_ascii_case(name)) {
        return Ok(Some(row));
    }
    let named: Vec<&AccountRow> =
        rows.iter().filter(|row| row.email.eq_ignore_ascii_case(name)).collect();
    match named.as_slice() {
        [] => Ok(None),
        [row] => Ok(Some(row)),
        several => Err(ambiguous("several accounts have that address", several)),
    }
}

fn ambiguous(what: &str, rows: &[&AccountRow]) -> Error {
    let ids: Vec<&str> = rows.iter().map(|row| row.id.as_str()).collect();
    Error::argument(what).next(format!("name one of: {}", ids.join(", ")))
}

/// How an account is called among others: by its address, or by its id where
/// two have the same address, which would name neither.
fn label(row: &AccountRow, rows: &[AccountRow]) -> String {
    let same = rows.iter().filter(|one| one.email == row.email);
    match same.count() {
        1 => row.email.clone(),
        _ => row.id.clone(),
    }
}

/// No account is meant: there is none at all, or none of that name.
fn unknown(rows: &[AccountRow]) -> Error {
    if rows.is_empty() {
        return Error::new(Kind::NoAccount, "no account is signed in").next(HOW_TO_ADD);
    }
    let names: Vec<String> = rows.iter().map(|row| label(row, rows)).collect();
    Error::new(Kind::NoAccount, "no such account is signed in")
        .next(format!("name one of: {}; or {HOW_TO_ADD}", names.join(", ")))
}
