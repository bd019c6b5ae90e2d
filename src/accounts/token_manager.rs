//! Keeps accounts' tokens fresh: one refresh at a time, and no token lost.
//!
//! There are three nested locks. Within the process, a refresh locks the account's slot. Between
//! processes, it holds the store's lock of the account, which ends with the process. And a row is
//! changed only if its version is still the one that was read, so that a new sign-in during a
//! refresh wins.
//!
//! This module handles tokens; `accounts.rs` handles accounts.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::AccountId;
use daysheet_core::provider::AccountStatus;
use daysheet_core::provider::upstream::{CountKind, UpstreamRequests};
use jiff::Timestamp;
use oauth2::{AccessToken, RefreshToken};
use serde::{Deserialize, Serialize};

use crate::config::Config;
use crate::oauth::{self, GrantedTokens, RefreshRefusal, TokenAuthority, UnattendedAccess};
use crate::store::{AccountRow, SealedText, Store, account_identity};

/// The minimum remaining lifetime of a returned token, in seconds.
const EXPIRY_MARGIN: i64 = 60;
/// The time to wait for another process: longer than a token request can take (`net::TIMEOUT`), to
/// leave time for saving.
const PATIENCE: Duration = Duration::from_secs(25);
/// The interval of checking whether another process has finished its refresh.
const LOOK: Duration = Duration::from_millis(100);
/// The minimum time between two records of an account's use.
const NOTES: Duration = Duration::from_mins(10);
/// The number of attempts to save new tokens. If they are lost, the grant may be lost, too.
const SAVES: u32 = 3;

/// The next step without any account and without a page for connecting one.
const HOW_TO_ADD: &str = "call accounts with op=add, or run `daysheet account add google` or \
                              `daysheet account add microsoft`";

/// The outcome for the grant of a removed account, whose tokens are deleted in any case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignedOut {
    /// The provider has revoked the grant.
    Revoked,
    /// The provider revokes grants only on its own page, at this address.
    ByHand(&'static str),
    /// The grant was not revoked, for this reason.
    NotRevoked(Error),
    /// The account had no grant: its tokens came from a command or a service account.
    NoGrant,
}

/// Writes a clause for people.
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

/// The tokens of a store's accounts.
pub(super) struct TokenManager {
    config: Arc<Config>,
    store: Store,
    /// The counters of refreshes and sign-ins.
    pub(super) upstream: Arc<UpstreamRequests>,
    slots: Mutex<HashMap<AccountId, Arc<tokio::sync::Mutex<AccountSlot>>>>,
}

/// The tokens of one account in this process. Only the holder of its lock may refresh them.
#[derive(Default)]
struct AccountSlot {
    cached_version: Option<CachedVersion>,
    /// The last failed refresh, with its time, for callers that were waiting for it.
    failed: Option<(Instant, Error)>,
    /// The time at which its use was last recorded.
    noted: Option<Instant>,
}

struct CachedVersion {
    version: i64,
    tokens: CachedTokens,
}

/// The sealed content of an account's row.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct CachedTokens {
    /// The refresh token; `None` for an account without sign-in.
    pub(super) refresh: Option<RefreshToken>,
    pub(super) access: AccessToken,
    /// The expiry of the access token, in seconds since 1970.
    pub(super) expires: i64,
    /// The end of the grant, in seconds since 1970, if the provider stated it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) ends: Option<i64>,
}

impl CachedTokens {
    /// Returns true if the access token can still be used at `now`, in seconds since 1970.
    fn is_fresh(&self, now: i64) -> bool {
        oauth::is_sendable(&self.access) && self.expires >= now.saturating_add(EXPIRY_MARGIN)
    }
}

impl TokenManager {
    pub(super) fn new(config: Arc<Config>, store: Store, upstream: Arc<UpstreamRequests>) -> Self {
        Self { config, store, upstream, slots: Mutex::default() }
    }

    /// Returns a fresh access token of the account with this id, other than `rejected`, which the
    /// provider has answered with 401.
    pub(super) async fn access(
        self: &Arc<Self>,
        id: &AccountId,
        rejected: Option<&str>,
    ) -> Result<String> {
        let started = Instant::now();
        let mut slot = self.slot(id).lock_owned().await;
        if slot.noted.is_none_or(|noted| noted.elapsed() >= NOTES) {
            slot.noted = Some(started);
            // Recording the use must not make the call fail.
            if let Err(error) = self.store.note_use(id).await {
                tracing::debug!(%error, "the use of an account was not noted");
            }
        }
        if let Some(cached_version) = &slot.cached_version {
            let access = cached_version.tokens.access.secret();
            if rejected != Some(access.as_str())
                && cached_version.tokens.is_fresh(self.config.clock.seconds())
            {
                return Ok(access.clone());
            }
        }
        // Callers that waited for a failed refresh get its error instead of trying again one by
        // one.
        if let Some((at, error)) = &slot.failed
            && *at >= started
        {
            return Err(error.clone());
        }
        let rejected = rejected.map(str::to_owned);
        // On a task of its own: if the caller is cancelled, the provider may already have replaced
        // the refresh token, and the new one must still be saved.
        let (manager, id) = (self.clone(), id.to_owned());
        tokio::spawn(async move {
            let outcome = manager.renew(&mut slot, &id, rejected.as_deref()).await;
            let failed = outcome.as_ref().err();
            slot.failed = failed.map(|error| (Instant::now(), error.clone()));
            outcome
        })
        .await
        .map_err(|_ended| Error::new(ErrorKind::Internal, "a refresh was interrupted"))?
    }

    fn slot(&self, id: &AccountId) -> Arc<tokio::sync::Mutex<AccountSlot>> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.entry(id.to_owned()).or_default().clone()
    }

    /// Drops the cached tokens of an account whose row has changed.
    pub(super) fn forget(&self, id: &AccountId) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.remove(id);
    }

    /// Brings fresh tokens other than the rejected ones into `slot`: the row's, if another process
    /// has refreshed them, or new ones.
    async fn renew(
        &self,
        slot: &mut AccountSlot,
        id: &AccountId,
        rejected: Option<&str>,
    ) -> Result<String> {
        let give_up = Instant::now() + PATIENCE;
        let mut lock = None;
        while Instant::now() < give_up {
            let row = self.store.account_row(id).await?.ok_or_else(|| self.signed_out(id))?;
            if row.status != AccountStatus::Ok {
                return Err(self.grant_ended(&row)?);
            }
            let cached = match &slot.cached_version {
                Some(cached_version) if cached_version.version == row.version => {
                    cached_version.tokens.clone()
                }
                _ => self.unseal(&row).await?,
            };
            let access = cached.access.secret();
            // Another process may have refreshed already.
            if cached.is_fresh(self.config.clock.seconds()) && rejected != Some(access.as_str()) {
                let access = access.clone();
                slot.cached_version = Some(CachedVersion { version: row.version, tokens: cached });
                return Ok(access);
            }
            // Some providers revoke a grant whose refresh token is used twice.
            if lock.is_none() {
                lock = self.store.lock_account(id).await?;
                if lock.is_none() {
                    tokio::time::sleep(LOOK).await;
                }
                // Another process may have refreshed before we got the lock, so the row is read
                // again.
                continue;
            }
            if let Some(tokens) = self.refresh(&row, cached).await? {
                let access = tokens.access.secret().clone();
                slot.cached_version = Some(CachedVersion { version: row.version + 1, tokens });
                return Ok(access);
            }
        }
        Err(Error::new(
            ErrorKind::Timeout,
            "another Daysheet process has been refreshing this account for too long",
        )
        .next("try again"))
    }

    /// Refreshes the tokens of `row`, whose lock the caller holds. `None` if the row was changed
    /// meanwhile, for instance by a new sign-in, whose tokens replace both the refreshed ones and a
    /// refusal.
    async fn refresh(
        &self,
        row: &AccountRow,
        cached: CachedTokens,
    ) -> Result<Option<CachedTokens>> {
        let authority = TokenAuthority::new(&self.config, &row.provider, row.tenant.as_deref())?;
        let renewed = self.new_tokens(row, &authority, cached.refresh.as_ref()).await;
        let outcome = match &renewed {
            Ok(_) => "ok",
            Err(RefreshRefusal::Grant(_)) => "ended",
            Err(RefreshRefusal::Other(_)) => "failed",
        };
        self.upstream.count(CountKind::Refresh, &row.provider, outcome);
        match renewed {
            Ok(tokens) => {
                let cached = CachedTokens {
                    // Providers that do not rotate refresh tokens omit it.
                    refresh: tokens.refresh.or(cached.refresh),
                    access: tokens.access,
                    expires: tokens.expires,
                    ends: tokens.ends.or(cached.ends),
                };
                let saved = self.save(row, &cached).await?;
                Ok(saved.then_some(cached))
            }
            Err(RefreshRefusal::Grant(ended)) => {
                let again = self.again(row);
                let error = oauth::grant_ended(&authority, &row.email, &ended, &again);
                let status =
                    if ended.revoked { AccountStatus::Revoked } else { AccountStatus::Expired };
                // If the account was signed in again meanwhile, nothing is recorded.
                let noted = self
                    .store
                    .refuse_account(&row.id, row.version, status, error.message())
                    .await?;
                if noted { Err(error) } else { Ok(None) }
            }
            Err(RefreshRefusal::Other(error)) => Err(error),
        }
    }

    /// Requests tokens, with the refresh token or from a source in the settings. A command also
    /// applies to an account that was signed in before.
    async fn new_tokens(
        &self,
        row: &AccountRow,
        authority: &TokenAuthority,
        refresh: Option<&RefreshToken>,
    ) -> std::result::Result<GrantedTokens, RefreshRefusal> {
        let scopes: Vec<&str> = row.scopes.split_whitespace().collect();
        let tenant = row.tenant.as_deref();
        match (oauth::unattended(&self.config, &row.id), refresh) {
            (Some(UnattendedAccess::Service(_)) | None, Some(token)) => {
                oauth::refresh(&self.config, authority, token).await
            }
            (Some(way), _) => {
                let tokens = way.tokens(&self.config, &row.id, tenant, &scopes).await;
                tokens.map_err(RefreshRefusal::Other)
            }
            (None, None) => Err(RefreshRefusal::Other(
                Error::new(
                    ErrorKind::Config,
                    format!("the settings no longer say how to get tokens for {}", row.email),
                )
                .next(format!(
                    "restore `token_command` or `google.service_account`, or {}",
                    self.again(row)
                )),
            )),
        }
    }

    /// Returns true if the settings have a source of tokens for the account that needs no sign-in.
    pub(super) fn is_unattended(&self, id: &AccountId) -> bool {
        oauth::unattended(&self.config, id).is_some()
    }

    /// Saves refreshed tokens. Returns false if the row has changed since.
    async fn save(&self, row: &AccountRow, cached: &CachedTokens) -> Result<bool> {
        let mut tries = 1;
        loop {
            let saving = async {
                let sealed = self.seal(&row.id, cached).await?;
                self.store.replace_tokens(&row.id, row.version, &sealed).await
            };
            let saved = saving.await;
            // A lost refresh token may end the grant, so saving is retried.
            if saved.is_ok() || tries == SAVES {
                return saved;
            }
            tries += 1;
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Returns an account's grant for revoking it after the account is removed; `None` for an
    /// account without sign-in.
    pub(super) async fn grant(&self, row: &AccountRow) -> Result<Option<RefreshToken>> {
        Ok(self.unseal(row).await?.refresh)
    }

    /// Returns the time at which an account's grant ends, in seconds since 1970, if the provider
    /// stated it.
    pub(super) async fn grant_end(&self, row: &AccountRow) -> Result<Option<i64>> {
        Ok(self.unseal(row).await?.ends)
    }

    /// Asks the provider to end an account's grant.
    pub(super) async fn revoke(
        &self,
        row: &AccountRow,
        grant: Result<Option<RefreshToken>>,
    ) -> SignedOut {
        let revoked = async {
            let provider = oauth::provider_named(&row.provider)?;
            let Some(grant) = grant? else {
                return Ok(SignedOut::NoGrant);
            };
            Ok(if oauth::revoke(&self.config, provider, &grant).await? {
                SignedOut::Revoked
            } else {
                SignedOut::ByHand(provider.grants)
            })
        };
        match revoked.await {
            Ok(outcome) => outcome,
            Err(error) => SignedOut::NotRevoked(error),
        }
    }

    /// Returns the way to sign an account in again.
    pub(super) fn again(&self, row: &AccountRow) -> String {
        let mailbox = row.via.as_ref().map(|_| row.email.as_str());
        oauth::again(&self.config, &row.provider, row.tenant.as_deref(), mailbox)
    }

    /// Returns the error for an account whose grant the provider refused earlier.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if its provider or tenant is unknown to this version.
    pub(super) fn grant_ended(&self, row: &AccountRow) -> Result<Error> {
        let authority = TokenAuthority::new(&self.config, &row.provider, row.tenant.as_deref())?;
        let problem = row
            .problem
            .clone()
            .unwrap_or_else(|| format!("the grant of {} was refused", row.email));
        Ok(oauth::grant_ended_earlier(&authority, problem, &self.again(row)))
    }

    fn signed_out(&self, id: &AccountId) -> Error {
        let provider = id.as_str().split(':').next().unwrap_or_default();
        Error::new(ErrorKind::NoAccount, "the account was removed")
            .next(format!("{} to sign in again", self.again_at(provider)))
    }

    /// Returns the day of a time, in the zone of the settings.
    pub(super) fn shown_day(&self, at: Timestamp) -> String {
        at.to_zoned(self.config.zone.clone()).strftime("%a %Y-%m-%d").to_string()
    }

    /// Returns the way to sign in at a provider.
    pub(super) fn again_at(&self, provider: &str) -> String {
        oauth::again(&self.config, provider, None, None)
    }

    /// Returns the way to sign in to a first account.
    pub(super) fn how_to_add(&self) -> String {
        match &self.config.pages {
            Some(pages) => format!("open {pages}accounts, or call accounts with op=add"),
            None => HOW_TO_ADD.to_owned(),
        }
    }

    /// Seals tokens for the row of this account.
    pub(super) async fn seal(&self, id: &AccountId, cached: &CachedTokens) -> Result<SealedText> {
        let bytes = serde_json::to_vec(cached)
            .map_err(|_opaque| Error::new(ErrorKind::Internal, "tokens could not be serialized"))?;
        self.store.seal(&account_identity(id), &bytes).await
    }

    async fn unseal(&self, row: &AccountRow) -> Result<CachedTokens> {
        let bytes = self.store.unseal(&account_identity(&row.id), &row.sealed).await?;
        serde_json::from_slice(&bytes).map_err(|_opaque| {
            Error::new(
                ErrorKind::Store,
                format!("the tokens of {} have another version", row.email),
            )
            .next(self.again(row))
        })
    }
}
