//! Signed-in accounts and their tokens.
//!
//! [`Accounts::bearer`] always returns an access token that is valid for a while, and
//! refreshes it if necessary. Of concurrent callers, in this process and in others that
//! share the store, one refreshes and the others use the result: some providers end a
//! grant whose refresh token is used twice. The new tokens are saved before anyone uses
//! them, and a refresh once begun is finished even if its caller has gone away.
//!
//! An account changes its status only if the provider refuses its grant. Broken
//! networks and busy servers are errors of the call and nothing more.
//!
//! `accounts/token_manager.rs` keeps tokens fresh, the protocol is in `oauth.rs`, the rows are
//! in `store/accounts.rs`. The caller, who knows the provider's API, must find out
//! whose mailbox a new account is.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::provider::upstream::{self, CountKind, UpstreamRequests};
use daysheet_core::provider::{Account, AccountStatus, TokenStore};
use jiff::Timestamp;
use tokio::sync::OnceCell;

use crate::config::Config;
use crate::oauth::{self, GrantedTokens};
use crate::store::{AccountRow, Store};

mod token_manager;

use token_manager::{CachedTokens, TokenManager};

/// The next step if there is no account, and no page to connect one.
const HOW_TO_ADD: &str = "call accounts with op=add, or run `daysheet account add google` or \
                              `daysheet account add microsoft`";

tokio::task_local! {
    /// The rows that the call of this task began with, and where they are.
    static BEGAN_WITH: Arc<OnceCell<(Store, Arc<[AccountRow]>)>>;
}

/// Carries out a call that changes nothing: all its parts see the accounts as they were when the
/// first one read them.
pub async fn steady<T>(call: impl Future<Output = T>) -> T {
    BEGAN_WITH.scope(Arc::default(), call).await
}

/// What became of the grant of an account that was signed out. Its tokens are deleted
/// in any case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignedOut {
    /// The provider has ended it.
    Revoked,
    /// The provider ends grants only on its own page, at this address.
    ByHand(&'static str),
    /// The provider did not end it, for this reason.
    NotRevoked(Error),
    /// There was none: tokens came from a command, or a service account.
    NoGrant,
}

/// A clause for people.
impl std::fmt::Display for SignedOut {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Revoked => f.write_str("the grant is revoked and the tokens are deleted"),
            Self::ByHand(page) => {
                write!(f, "the tokens are deleted; to withdraw the app's access too, open {page}")
            }
            Self::NoGrant => f.write_str("the tokens are deleted; the settings can get new ones"),
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

/// The accounts of one store. Clones share the tokens in memory.
#[derive(Clone)]
pub struct Accounts {
    store: Store,
    tokens: Arc<TokenManager>,
}

impl Accounts {
    /// Creates the accounts of `store`, refreshed as `config` says. Reads nothing yet.
    pub fn new(config: Arc<Config>, store: Store) -> Self {
        Self::counted(config, store, UpstreamRequests::new(upstream::MAX_IN_FLIGHT))
    }

    /// Creates them as [`Accounts::new`] does; sign-ins and refreshes are counted among the
    /// requests of `upstream`.
    pub fn counted(config: Arc<Config>, store: Store, upstream: Arc<UpstreamRequests>) -> Self {
        Self { tokens: Arc::new(TokenManager::new(config, store.clone(), upstream)), store }
    }

    /// Returns all accounts, the oldest first.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn list(&self) -> Result<Vec<Account>> {
        Ok(self.rows().await?.iter().cloned().map(Account::from).collect())
    }

    /// Returns all accounts as they are now, even in a call that began with others.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn list_now(&self) -> Result<Vec<Account>> {
        let rows = self.store.account_rows().await?;
        Ok(rows.into_iter().map(Account::from).collect())
    }

    /// Returns the rows of all accounts, the oldest first: those that the call began with, if it
    /// is one that changes nothing.
    async fn rows(&self) -> Result<Arc<[AccountRow]>> {
        let now = async || Ok::<_, Error>(self.store.account_rows().await?.into());
        let Ok(began_with) = BEGAN_WITH.try_with(Arc::clone) else {
            return now().await;
        };
        let read = async || Ok((self.store.clone(), now().await?));
        let (store, rows) = began_with.get_or_try_init(read).await?;
        // A call is one person's; should a part of it ever be another's, these are not theirs.
        if store.is(&self.store) { Ok(rows.clone()) } else { now().await }
    }

    /// Returns the label of each account, by its id: its address, or the id itself if
    /// two have the same address.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn labels(&self) -> Result<HashMap<String, String>> {
        let rows = self.rows().await?;
        let label = |row: &AccountRow| (row.id.clone(), label(row, &rows));
        Ok(rows.iter().map(label).collect())
    }

    /// Adds the account that the `tokens` of a sign-in belong to, or gives an existing one new
    /// tokens. `email` is the address that the provider reports, not the one typed.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] if it cannot be stored, [`ErrorKind::Argument`] if `email` is not an
    /// address, [`ErrorKind::Auth`] if there is no refresh token.
    pub async fn add(&self, tokens: GrantedTokens, email: &str) -> Result<Account> {
        self.put(tokens, email, None).await
    }

    /// Adds the mailbox `email`, which is shared with `via`, the person who signed in.
    ///
    /// # Errors
    /// As [`Accounts::add`].
    pub async fn add_shared(
        &self,
        tokens: GrantedTokens,
        email: &str,
        via: &str,
    ) -> Result<Account> {
        self.put(tokens, email, Some(via.trim().to_lowercase())).await
    }

    async fn put(
        &self,
        tokens: GrantedTokens,
        email: &str,
        via: Option<String>,
    ) -> Result<Account> {
        let email = email.trim().to_lowercase();
        let odd = |c: char| c.is_whitespace() || c.is_control();
        if !email.contains('@') || email.contains(odd) {
            return Err(Error::argument("the provider gave no mail address for the account"));
        }
        let id = format!("{}:{email}", tokens.provider);
        if tokens.refresh.is_none() && !self.tokens.is_unattended(&id) {
            return Err(Error::new(ErrorKind::Auth, "there is no refresh token to store")
                .next(format!("sign in with `daysheet account add {}`", tokens.provider)));
        }
        let cached = CachedTokens {
            refresh: tokens.refresh,
            access: tokens.access,
            expires: tokens.expires,
        };
        let row = AccountRow {
            sealed: self.tokens.seal(&id, &cached).await?,
            id,
            provider: tokens.provider.to_owned(),
            email,
            via,
            tenant: tokens.tenant,
            scopes: tokens.scopes.join(" "),
            status: AccountStatus::Ok,
            problem: None,
            added: 0,
            version: 0,
        };
        let stored = self.store.put_account(&row).await.map_err(|error| {
            error.context(format!("the sign-in of {} could not be stored", row.email))
        })?;
        self.tokens.forget(&stored.id);
        self.tokens.upstream.count(CountKind::SignIn, &stored.provider, "ok");
        Ok(stored.into())
    }

    /// Signs an account out, named by its id or whole address: asks the provider to end
    /// the grant and deletes the tokens. Its handles stay. Returns what became of the
    /// grant; the tokens are deleted in any case.
    ///
    /// # Errors
    /// [`ErrorKind::NoAccount`] if there is none, [`ErrorKind::Store`].
    pub async fn remove(&self, name: &str) -> Result<SignedOut> {
        let rows = self.store.account_rows().await?;
        let account = exact(&rows, name)?.ok_or_else(|| self.unknown(&rows))?;
        // The store first: if it cannot be written, everything stays. In the other
        // order, an account without a grant could remain.
        let grant = self.tokens.grant(account).await;
        self.forget(&account.id).await?;
        Ok(self.tokens.revoke(account, grant).await)
    }

    /// Deletes the account with this id and its tokens, without a word to the
    /// provider. Its handles stay. One that is not there is no error.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn forget(&self, id: &str) -> Result<()> {
        self.store.delete_account(id).await?;
        self.store.forget_use(id).await?;
        self.tokens.forget(id);
        Ok(())
    }

    /// Returns the account meant by `name`: an id, an address, a provider with one account, a
    /// unique prefix of an id or address, or a unique part of an address. Without a name, the
    /// only account.
    ///
    /// # Errors
    /// [`ErrorKind::NoAccount`] if there is none, [`ErrorKind::Argument`] if it is ambiguous,
    /// with the addresses to choose from.
    pub async fn find(&self, name: Option<&str>) -> Result<Account> {
        let rows = self.rows().await?;
        let name = name.unwrap_or_default().trim().to_lowercase();
        if let Some(row) = exact(&rows, &name)? {
            return Ok(row.clone().into());
        }
        let begins = |row: &&AccountRow| {
            row.provider == name || row.email.starts_with(&name) || row.id.starts_with(&name)
        };
        let mut meant: Vec<&AccountRow> = rows.iter().filter(begins).collect();
        if meant.is_empty() {
            meant = rows.iter().filter(|row| row.email.contains(&name)).collect();
        }
        match meant.as_slice() {
            [row] => Ok((*row).clone().into()),
            [] => Err(self.unknown(&rows)),
            several if name.is_empty() => {
                Err(ambiguous("several accounts are signed in", several, &rows))
            }
            several => Err(ambiguous("that matches several accounts", several, &rows)),
        }
    }

    /// Returns the account with exactly this id, as handles and cursors name it.
    ///
    /// # Errors
    /// [`ErrorKind::NoAccount`] if it is no longer signed in, [`ErrorKind::Store`].
    pub async fn by_id(&self, id: &str) -> Result<Account> {
        match self.rows().await?.iter().find(|row| row.id == id) {
            Some(row) => Ok(row.clone().into()),
            None => {
                let (provider, email) = id.split_once(':').unwrap_or(("", id));
                let next = match oauth::provider_named(provider) {
                    Ok(_) => format!(
                        "call accounts with op=add provider={provider}, or {}",
                        self.tokens.again_at(provider)
                    ),
                    Err(_) => self.how_to_add(),
                };
                Err(Error::new(
                    ErrorKind::NoAccount,
                    format!("the account {email} is not signed in"),
                )
                .next(next))
            }
        }
    }

    /// Returns when accounts were last used, in seconds since 1970, to within ten minutes, by
    /// their ids.
    ///
    /// # Errors
    /// [`ErrorKind::Store`].
    pub async fn last_uses(&self) -> Result<HashMap<String, i64>> {
        self.store.last_uses().await
    }

    /// Returns the next step if there is no account.
    pub fn how_to_add(&self) -> String {
        self.tokens.how_to_add()
    }

    /// Returns the error that there is no account, or none of that name.
    fn unknown(&self, rows: &[AccountRow]) -> Error {
        if rows.is_empty() {
            return Error::new(ErrorKind::NoAccount, "no account is signed in")
                .next(self.how_to_add());
        }
        let names: Vec<String> = rows.iter().map(|row| label(row, rows)).collect();
        Error::new(ErrorKind::NoAccount, "no such account is signed in")
            .next(format!("name one of: {}; accounts op=add adds another", names.join(", ")))
    }

    /// Returns an access token of the account with this id, valid for at least a minute.
    ///
    /// # Errors
    /// [`ErrorKind::Auth`] if the account must sign in again, [`ErrorKind::NoAccount`] if it was
    /// removed, [`ErrorKind::Network`], [`ErrorKind::Timeout`] or [`ErrorKind::Provider`] if a
    /// necessary refresh failed temporarily, [`ErrorKind::Store`].
    pub async fn bearer(&self, id: &str) -> Result<String> {
        self.tokens.access(id, None).await
    }

    /// Returns an access token other than `rejected`, which the provider has answered with 401
    /// although it should have been valid. Refreshes once, unless there is a newer token already.
    ///
    /// # Errors
    /// As [`Accounts::bearer`].
    pub async fn refreshed_after_401(&self, id: &str, rejected: &str) -> Result<String> {
        self.tokens.access(id, Some(rejected)).await
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

/// Returns the account with this id or whole address, if there is one.
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
        several => Err(ambiguous("several accounts have that address", several, rows)),
    }
}

fn ambiguous(what: &str, meant: &[&AccountRow], rows: &[AccountRow]) -> Error {
    let names: Vec<String> = meant.iter().map(|row| label(row, rows)).collect();
    Error::argument(what).next(format!("name one as `account`: {}", names.join(", ")))
}

/// Returns the label of an account among others: its address, or its id if two have the
/// same address, which would identify neither.
fn label(row: &AccountRow, rows: &[AccountRow]) -> String {
    let same = rows.iter().filter(|one| one.email == row.email);
    match same.count() {
        1 => row.email.clone(),
        _ => row.id.clone(),
    }
}
