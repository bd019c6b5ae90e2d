//! Signed-in accounts and their tokens.
//!
//! [`Accounts::bearer`] returns an access token with some lifetime left, refreshing it if
//! necessary. Of concurrent callers, in this process and in others over the same store, one
//! refreshes and the others use its result, because some providers revoke a grant whose refresh
//! token is used twice. New tokens are saved before they are used, and a refresh that has begun is
//! finished even if its caller disconnects.
//!
//! An account changes its status only if the provider refuses its grant. Network failures and busy
//! servers are only errors of the call.
//!
//! `accounts/token_manager.rs` keeps tokens fresh, `oauth.rs` has the protocol, and
//! `store/accounts.rs` the rows. The caller, who knows the provider's API, must determine the
//! address of a new account's mailbox.

use std::collections::HashMap;
use std::sync::Arc;

use async_trait::async_trait;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::AccountId;
use daysheet_core::provider::upstream::{self, CountKind, UpstreamRequests};
use daysheet_core::provider::{Account, AccountStatus, TokenStore};
use jiff::Timestamp;
use tokio::sync::OnceCell;

use crate::config::Config;
use crate::oauth::{self, GrantedTokens};
use crate::store::{AccountRow, Store};

mod token_manager;

pub use token_manager::SignedOut;
use token_manager::{CachedTokens, TokenManager};

tokio::task_local! {
    /// The rows at the beginning of this task's call, and their store.
    static BEGAN_WITH: Arc<OnceCell<(Store, Arc<[AccountRow]>)>>;
}

/// Runs a call that changes nothing. All its parts see the accounts as its first part read them.
pub async fn steady<T>(call: impl Future<Output = T>) -> T {
    BEGAN_WITH.scope(Arc::default(), call).await
}

impl From<AccountRow> for Account {
    fn from(row: AccountRow) -> Self {
        Self {
            scopes: row.scopes.split_whitespace().map(str::to_owned).collect(),
            added: Timestamp::from_second(row.added).unwrap_or(Timestamp::UNIX_EPOCH),
            id: row.id,
            provider: row.provider,
            email: row.email.into(),
            via: row.via,
            tenant: row.tenant,
            status: row.status,
            problem: row.problem,
        }
    }
}

/// The limits of an account, each with the next step.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AccountLimits {
    /// The refusal that ended its grant.
    pub ended: Option<Error>,
    /// The scopes that its sign-in lacks.
    pub lacking: Option<Error>,
    /// The day on which its grant ends.
    pub ending: Option<Error>,
}

/// The accounts in one store. Clones share the cached tokens.
#[derive(Clone)]
pub struct Accounts {
    store: Store,
    tokens: Arc<TokenManager>,
}

impl Accounts {
    /// Creates the accounts in `store`; `config` determines how they are refreshed. Reads nothing
    /// yet.
    pub fn new(config: Arc<Config>, store: Store) -> Self {
        Self::counted(config, store, UpstreamRequests::new(upstream::MAX_IN_FLIGHT))
    }

    /// Creates accounts like [`Accounts::new`], with sign-ins and refreshes counted in `upstream`.
    pub fn counted(config: Arc<Config>, store: Store, upstream: Arc<UpstreamRequests>) -> Self {
        Self { tokens: Arc::new(TokenManager::new(config, store.clone(), upstream)), store }
    }

    /// Returns all accounts, the oldest first.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] if they cannot be read.
    pub async fn list(&self) -> Result<Vec<Account>> {
        Ok(self.rows().await?.iter().cloned().map(Account::from).collect())
    }

    /// Returns the present accounts, even in a call that began with others.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] if they cannot be read.
    pub async fn list_now(&self) -> Result<Vec<Account>> {
        let rows = self.store.account_rows().await?;
        Ok(rows.into_iter().map(Account::from).collect())
    }

    /// Returns the rows of all accounts, the oldest first. In a call that changes nothing, they are
    /// the rows at its beginning.
    async fn rows(&self) -> Result<Arc<[AccountRow]>> {
        let now = async || Ok::<_, Error>(self.store.account_rows().await?.into());
        let Ok(began_with) = BEGAN_WITH.try_with(Arc::clone) else {
            return now().await;
        };
        let read = async || Ok((self.store.clone(), now().await?));
        let (store, rows) = began_with.get_or_try_init(read).await?;
        // A call belongs to one person. The check guards against a part of it that uses another
        // person's store.
        if store.is(&self.store) { Ok(rows.clone()) } else { now().await }
    }

    /// Returns the label of each account by id: its address, or the id if two accounts have the
    /// same address.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] if they cannot be read.
    pub async fn labels(&self) -> Result<HashMap<AccountId, String>> {
        let rows = self.rows().await?;
        let label = |row: &AccountRow| (row.id.clone(), label(row, &rows));
        Ok(rows.iter().map(label).collect())
    }

    /// Adds the account of a sign-in's `tokens`, or replaces the tokens of an existing one. `email`
    /// is the address that the provider reports, not the one typed.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] if it cannot be stored, [`ErrorKind::Argument`] if `email` is not an address,
    /// [`ErrorKind::Auth`] without a refresh token.
    pub async fn add(&self, tokens: GrantedTokens, email: &str) -> Result<Account> {
        self.store_tokens(tokens, email, None).await
    }

    /// Adds the mailbox `email`, which is shared with `via`, the person who signed in.
    ///
    /// # Errors
    /// See [`Accounts::add`].
    pub async fn add_shared(
        &self,
        tokens: GrantedTokens,
        email: &str,
        via: &str,
    ) -> Result<Account> {
        self.store_tokens(tokens, email, Some(via.trim().to_lowercase())).await
    }

    /// Stores the tokens of a sign-in for the mailbox `email`, which is shared with `via` if that is
    /// given.
    async fn store_tokens(
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
        let id = AccountId::from(format!("{}:{email}", tokens.provider));
        if tokens.refresh.is_none() && !self.tokens.is_unattended(&id) {
            return Err(Error::new(ErrorKind::Auth, "there is no refresh token to store")
                .next(format!("sign in with `daysheet account add {}`", tokens.provider)));
        }
        let cached = CachedTokens {
            refresh: tokens.refresh,
            access: tokens.access,
            expires: tokens.expires,
            ends: tokens.ends,
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
        // The cached tokens belong to the previous sign-in.
        self.tokens.forget(&stored.id);
        self.tokens.upstream.count(CountKind::SignIn, &stored.provider, "ok");
        Ok(stored.into())
    }

    /// Signs out the account with this id or full address: deletes its tokens and asks the provider
    /// to revoke the grant. Its handles stay. Returns the outcome for the grant; the tokens are
    /// deleted in any case.
    ///
    /// # Errors
    /// [`ErrorKind::NoAccount`] for an unknown account, [`ErrorKind::Store`] if it cannot be deleted.
    pub async fn remove(&self, name: &str) -> Result<SignedOut> {
        let rows = self.store.account_rows().await?;
        let account = exact(&rows, name)?.ok_or_else(|| self.unknown(&rows))?;
        // The store comes first: if it cannot be written, nothing changes. In the reverse order, an
        // account without a grant could remain.
        let grant = self.tokens.grant(account).await;
        self.forget(&account.id).await?;
        Ok(self.tokens.revoke(account, grant).await)
    }

    /// Deletes the account with this id and its tokens, without notice to the provider. Its handles
    /// stay. An unknown account is ignored.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] if it cannot be deleted.
    pub async fn forget(&self, id: &AccountId) -> Result<()> {
        self.store.delete_account(id).await?;
        self.store.forget_use(id).await?;
        self.tokens.forget(id);
        Ok(())
    }

    /// Returns the account named by `name`: an id, an address, a provider with one account, a
    /// unique prefix of an id or address, or a unique part of an address. Without a name, returns
    /// the only account.
    ///
    /// # Errors
    /// [`ErrorKind::NoAccount`] for an unknown account, [`ErrorKind::Argument`] for an ambiguous name, with
    /// the addresses to choose from.
    pub async fn find(&self, name: Option<&str>) -> Result<Account> {
        let rows = self.rows().await?;
        let name = name.unwrap_or_default().trim().to_lowercase();
        if let Some(row) = exact(&rows, &name)? {
            return Ok(row.clone().into());
        }
        let begins = |row: &&AccountRow| {
            row.provider == name
                || row.email.starts_with(&name)
                || row.id.as_str().starts_with(&name)
        };
        let mut meant: Vec<&AccountRow> = rows.iter().filter(begins).collect();
        // A part of an address counts only if it is not the beginning of another account's.
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

    /// Returns the account with exactly this id, as in handles and cursors.
    ///
    /// # Errors
    /// [`ErrorKind::NoAccount`] if it is no longer signed in, [`ErrorKind::Store`] if it cannot be read.
    pub async fn by_id(&self, id: &AccountId) -> Result<Account> {
        match self.rows().await?.iter().find(|row| row.id == *id) {
            Some(row) => Ok(row.clone().into()),
            None => {
                let (provider, email) = id.as_str().split_once(':').unwrap_or(("", id.as_str()));
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

    /// Returns the time at which each account was last used, by id, in seconds since 1970 and
    /// accurate to ten minutes.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] if they cannot be read.
    pub async fn last_uses(&self) -> Result<HashMap<AccountId, i64>> {
        self.store.last_uses().await
    }

    /// Returns the limits of an account: the refusal that ended its grant, or the scopes that its
    /// sign-in lacks of `wanted`, and a coming end of its grant.
    ///
    /// # Errors
    /// [`ErrorKind::Store`] if its tokens cannot be read.
    pub async fn limits(&self, account: &Account, wanted: &[&str]) -> Result<AccountLimits> {
        let mut limits = AccountLimits::default();
        let row = self.store.account_row(&account.id).await?;
        let Some(row) = row else {
            return Ok(limits);
        };
        if row.status != AccountStatus::Ok {
            limits.ended = Some(self.tokens.grant_ended(&row)?);
            return Ok(limits);
        }
        let lacking = account.lacks(wanted);
        // A token command or a service account has the scopes that its own settings give it.
        if !lacking.is_empty() && !self.tokens.is_unattended(&account.id) {
            let what = format!("the sign-in lacks {}", lacking.join(", "));
            let next = format!("{} and allow all permissions", self.tokens.again(&row));
            limits.lacking = Some(Error::new(ErrorKind::Auth, what).next(next));
        }
        if let Some(ends) = self.tokens.grant_end(&row).await? {
            let ends = Timestamp::from_second(ends).unwrap_or(Timestamp::MAX);
            let ends = self.tokens.shown_day(ends);
            let what = format!("the sign-in ends on {ends}, because the app is in Testing mode");
            let next = format!("press Publish app under Audience, and {}", self.tokens.again(&row));
            limits.ending = Some(Error::new(ErrorKind::Auth, what).next(next));
        }
        Ok(limits)
    }

    /// Returns the next step without any account.
    pub fn how_to_add(&self) -> String {
        self.tokens.how_to_add()
    }

    /// Returns the error for an unknown account, or for the lack of any account.
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
    /// [`ErrorKind::Auth`] if the account must sign in again, [`ErrorKind::NoAccount`] if it was removed,
    /// [`ErrorKind::Network`], [`ErrorKind::Timeout`] or [`ErrorKind::Provider`] if a necessary refresh failed
    /// temporarily, [`ErrorKind::Store`] if the tokens cannot be read.
    pub async fn bearer(&self, id: &AccountId) -> Result<String> {
        self.tokens.access(id, None).await
    }

    /// Returns an access token other than `rejected`, which the provider has answered with 401
    /// although it should be valid. Refreshes once, unless a newer token is available.
    ///
    /// # Errors
    /// See [`Accounts::bearer`].
    pub async fn refreshed_after_401(&self, id: &AccountId, rejected: &str) -> Result<String> {
        self.tokens.access(id, Some(rejected)).await
    }
}

#[async_trait]
impl TokenStore for Accounts {
    async fn bearer(&self, id: &AccountId) -> Result<String> {
        self.bearer(id).await
    }

    async fn refreshed_after_401(&self, id: &AccountId, rejected: &str) -> Result<String> {
        self.refreshed_after_401(id, rejected).await
    }
}

/// Returns the account with this id or full address, if there is one.
fn exact<'a>(rows: &'a [AccountRow], name: &str) -> Result<Option<&'a AccountRow>> {
    let name = name.trim();
    if let Some(row) = rows.iter().find(|row| row.id.as_str().eq_ignore_ascii_case(name)) {
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

/// Returns an account's label among others: its address, or its id if another account has the same
/// address, which would be ambiguous.
fn label(row: &AccountRow, rows: &[AccountRow]) -> String {
    let same = rows.iter().filter(|one| one.email == row.email);
    match same.count() {
        1 => row.email.clone(),
        _ => row.id.to_string(),
    }
}
