//! Keeps accounts' tokens fresh: one refresh at a time, and none lost.
//!
//! Three locks stack up. Within the process, an account's slot is locked by
//! whoever may refresh. Between processes, the row's lease is. And a row changes
//! only if its version is still the one that was read, so that a new sign-in
//! during a refresh wins over it.
//!
//! It stops at tokens; who is signed in is said in `accounts.rs`.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use oauth2::{AccessToken, RefreshToken};
use serde::{Deserialize, Serialize};

use super::SignedOut;
use crate::config::Config;
use crate::error::{Error, Kind, Result};
use crate::oauth::{self, Authority, Refusal};
use crate::provider::Status;
use crate::store::{AccountRow, Store};

/// For how long at least a token is good that is handed out, in seconds.
const SPARE: i64 = 60;
/// For how long a process has the right to refresh, in seconds; longer than a
/// token request can take (`net::TIMEOUT`), for what follows it.
const LEASE: i64 = 20;
/// How often one looks whether another process has finished its refresh.
const LOOK: Duration = Duration::from_millis(100);
/// How often it is tried to save what a refresh brought. If it is lost, so may
/// be the grant.
const SAVES: u32 = 3;

/// The tokens of a store's accounts.
pub(super) struct Keeper {
    config: Arc<Config>,
    store: Store,
    slots: Mutex<HashMap<String, Arc<tokio::sync::Mutex<Slot>>>>,
}

/// What this process knows about one account's tokens. Whoever holds its lock is
/// the one who may refresh.
#[derive(Default)]
struct Slot {
    live: Option<Live>,
    /// How the last refresh failed and when, for those who were waiting for it.
    failed: Option<(Instant, Error)>,
}

struct Live {
    version: i64,
    tokens: Kept,
}

/// What is sealed in an account's row.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) refresh: RefreshToken,
    pub(super) access: AccessToken,
    /// In seconds since 1970.
    pub(super) expires: i64,
}

impl Kept {
    fn is_fresh(&self) -> bool {
        oauth::is_sendable(&self.access)
            && self.expires >= Timestamp::now().as_second().saturating_add(SPARE)
    }
}

impl Keeper {
    pub(super) fn new(config: Arc<Config>, store: Store) -> Self {
        Self { config, store, slots: Mutex::default() }
    }

    /// An access token of the account with this id that is fresh and is not
    /// `rejected`, the one that the provider has answered with 401.
    pub(super) async fn access(
        self: &Arc<Self>,
        id: &str,
        rejected: Option<&str>,
    ) -> Result<String> {
        let asked = Instant::now();
        let mut slot = self.slot(id).lock_owned().await;
        if let Some(live) = &slot.live {
            let access = live.tokens.access.secret();
            if rejected != Some(access.as_str()) && live.tokens.is_fresh() {
                return Ok(access.clone());
            }
        }
        if let Some((at, error)) = &slot.failed
            && *at >= asked
        {
            return Err(error.clone());
        }
        let rejected = rejected.map(str::to_owned);
        // On a task of its own: when a caller is cancelled half way, the provider
        // may have changed the refresh token already, and nobody would save it.
        let (keeper, id) = (self.clone(), id.to_owned());
        tokio::spawn(async move {
            let outcome = keeper.renew(&mut slot, &id, rejected.as_deref()).await;
            let failed = outcome.as_ref().err();
            slot.failed = failed.map(|error| (Instant::now(), error.clone()));
            outcome
        })
        .await
        .map_err(|_ended| Error::new(Kind::Internal, "a refresh was interrupted"))?
    }

    fn slot(&self, id: &str) -> Arc<tokio::sync::Mutex<Slot>> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.entry(id.to_owned()).or_default().clone()
    }

    /// Forgets what is known of an account whose row has changed.
    pub(super) fn forget(&self, id: &str) {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        slots.remove(id);
    }

    /// Brings tokens into `slot` that are fresh and not the rejected ones: those
    /// of the row if another process has refreshed, else new ones.
    async fn renew(&self, slot: &mut Slot, id: &str, rejected: Option<&str>) -> Result<String> {
        let give_up = Instant::now() + Duration::from_secs(LEASE.unsigned_abs() + 5);
        while Instant::now() < give_up {
            let row = self.store.account_row(id).await?.ok_or_else(|| gone(id))?;
            if row.status != Status::Ok {
                return Err(self.refused(&row));
            }
            let kept = match &slot.live {
                Some(live) if live.version == row.version => live.tokens.clone(),
                _ => self.unseal(&row).await?,
            };
            let access = kept.access.secret();
            if kept.is_fresh() && rejected != Some(access.as_str()) {
                let access = access.clone();
                slot.live = Some(Live { version: row.version, tokens: kept });
                return Ok(access);
            }
            let leased = self.store.lease_account(id, row.version, LEASE).await?;
            if !leased {
                // Another process is at it, or has just been.
                tokio::time::sleep(LOOK).await;
                continue;
            }
            if let Some(tokens) = self.refresh(&row, kept).await? {
                let access = tokens.access.secret().clone();
                slot.live = Some(Live { version: row.version + 1, tokens });
                return Ok(access);
            }
        }
        Err(Error::new(
            Kind::Timeout,
            "another Daysheet process has been refreshing this account for too long",
        )
        .next("try again"))
    }

    /// Refreshes the tokens of `row`, whose lease we have. Nothing if the row
    /// was changed meanwhile, by a new sign-in say: then its tokens count, and
    /// neither what we got nor what we were refused.
    async fn refresh(&self, row: &AccountRow, kept: Kept) -> Result<Option<Kept>> {
        let authority = Authority::of(&self.config, &row.provider, row.tenant.as_deref())?;
        match oauth::refresh(&self.config, &authority, &kept.refresh).await {
            Ok(tokens) => {
                let kept = Kept {
                    // Providers that do not rotate leave it out.
                    refresh: tokens.refresh.unwrap_or(kept.refresh),
                    access: tokens.access,
                    expires: tokens.expires,
                };
                let saved = self.save(row, &kept).await?;
                Ok(saved.then_some(kept))
            }
            Err(Refusal::Grant(ended)) => {
                let again = self.again(row);
                let error = oauth::grant_ended(authority.service(), &row.email, &ended, &again);
                let status = if ended.revoked { Status::Revoked } else { Status::Expired };
                let noted = self
                    .store
                    .refuse_account(&row.id, row.version, status, error.message())
                    .await?;
                if noted { Err(error) } else { Ok(None) }
            }
            Err(Refusal::Other(error)) => {
                self.store.release_account(&row.id, row.version).await?;
                Err(error)
            }
        }
    }

    /// Saves what a refresh brought. False if the row has changed since.
    async fn save(&self, row: &AccountRow, kept: &Kept) -> Result<bool> {
        let sealed = self.seal(&row.id, kept).await?;
        let mut tries = 1;
        loop {
            let saved = self.store.replace_tokens(&row.id, row.version, &sealed).await;
            if saved.is_ok() || tries == SAVES {
                return saved;
            }
            tries += 1;
            tokio::time::sleep(LOOK).await;
        }
    }

    /// The grant of an account, to end it by once the account is gone.
    pub(super) async fn grant(&self, row: &AccountRow) -> Result<RefreshToken> {
        Ok(self.unseal(row).await?.refresh)
    }

    /// Asks the provider to end an account's grant.
    pub(super) async fn revoke(&self, row: &AccountRow, grant: Result<RefreshToken>) -> SignedOut {
        let revoked = async {
            let service = oauth::service(&row.provider)?;
            let revoked = oauth::revoke(&self.config, service, &grant?).await?;
            Ok((revoked, service.grants))
        };
        match revoked.await {
            Ok((true, _)) => SignedOut::Revoked,
            Ok((false, grants)) => SignedOut::ByHand(grants),
            Err(error) => SignedOut::NotRevoked(error),
        }
    }

    /// The command that signs an account in again.
    fn again(&self, row: &AccountRow) -> String {
        let mailbox = row.via.as_ref().map(|_| row.email.as_str());
        oauth::again(&self.config, &row.provider, row.tenant.as_deref(), mailbox)
    }

    /// The provider has refused the account's grant before.
    fn refused(&self, row: &AccountRow) -> Error {
        let problem = row
            .problem
            .clone()
            .unwrap_or_else(|| format!("the grant of {} was refused", row.email));
        Error::new(Kind::Auth, problem).next(format!("run {}", self.again(row)))
    }

    /// Seals tokens for the row of the account with this id.
    pub(super) async fn seal(&self, id: &str, kept: &Kept) -> Result<String> {
        let bytes = serde_json::to_vec(kept)
            .map_err(|_opaque| Error::new(Kind::Internal, "tokens could not be serialized"))?;
        self.store.seal(&identity(id), &bytes).await
    }

    async fn unseal(&self, row: &AccountRow) -> Result<Kept> {
        let bytes = self.store.unseal(&identity(&row.id), &row.sealed).await?;
        serde_json::from_slice(&bytes).map_err(|_opaque| {
            Error::new(Kind::Store, format!("the tokens of {} have another version", row.email))
                .next(format!("run {}", self.again(row)))
        })
    }
}

/// What an account's sealed tokens are bound to.
fn identity(id: &str) -> String {
    format!("account {id}")
}

fn gone(id: &str) -> Error {
    let provider = id.split(':').next().unwrap_or_default();
    Error::new(Kind::NoAccount, "the account was removed")
        .next(format!("run `daysheet account add {provider}` to sign in again"))
}
