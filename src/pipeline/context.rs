//! The context of a call's steps: the settings with their clock, the store, the accounts and their
//! connections.
//!
//! The state that parts of the pipeline keep between calls is in [`KeptStates`].

use std::sync::Arc;
use std::time::Duration;

use daysheet_core::call::progress;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::flatten::RowContext;
use daysheet_core::provider::{Account, ProviderConnector};
use daysheet_core::query::DateContext;
use daysheet_core::schemas::Service;
use daysheet_core::time_parse::{self, TimeContext};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::states::KeptStates;
use crate::accounts::Accounts;
use crate::config::Config;
use crate::store::Store;

/// The context that every step of a call needs.
pub struct Context {
    pub(super) config: Arc<Config>,
    pub(super) store: Store,
    pub(super) accounts: Arc<Accounts>,
    pub(super) connect: Arc<dyn ProviderConnector>,
    /// The time limit for one account of several.
    pub(super) patience: Duration,
    pub(super) states: KeptStates,
}

impl Context {
    /// Returns the current time.
    pub(super) fn now(&self) -> Timestamp {
        self.config.clock.now()
    }

    /// Returns the current time in the user's zone, which relative dates refer to.
    pub(super) fn date_context(&self) -> DateContext {
        DateContext { now: self.now(), zone: self.config.zone.clone() }
    }

    /// Returns the current time and the user's zone, for reading times.
    pub(super) fn time_context(&self) -> TimeContext {
        TimeContext { now: self.now(), zone: self.config.zone.clone(), named: false }
    }

    /// Returns the zone with the name that the argument `tz` gives, or the user's own.
    pub(super) fn requested_zone(&self, name: Option<&str>) -> Result<TimeZone> {
        let Some(name) = name else {
            return Ok(self.config.zone.clone());
        };
        time_parse::zone(name).map_err(|error| error.context("`tz`"))
    }

    /// Returns the context in which objects of ours are flattened.
    pub(super) fn local(&self) -> RowContext<'_> {
        RowContext { zone: &self.config.zone, ..RowContext::bare(Service::Local) }
    }

    /// Returns the context in which objects of `account` are flattened to rows of a list.
    pub(super) fn context_for<'a>(
        &'a self,
        api: Service,
        label: &'a str,
        account: &'a Account,
    ) -> RowContext<'a> {
        RowContext { api, account: label, address: account.email.as_str(), ..self.local() }
    }

    /// Awaits one account. If it is one of several, it fails when it takes too long,
    /// because one slow account must not hold back the others.
    pub(super) async fn await_account<T>(
        &self,
        several: bool,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        self.await_counted(several.then_some("accounts"), work).await
    }

    /// Does the same for one of several things of a kind, such as `accounts` or `ids`, by which
    /// progress is counted. Without a kind, it waits without limit.
    pub(super) async fn await_counted<T>(
        &self,
        kind: Option<&'static str>,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let Some(kind) = kind else {
            return work.await;
        };
        progress::expect(kind, 1);
        let answer = tokio::time::timeout(self.patience, work).await;
        progress::done(kind, 1);
        answer.unwrap_or_else(|_elapsed| {
            Err(Error::new(
                ErrorKind::Timeout,
                format!("no answer within {} seconds", self.patience.as_secs()),
            ))
        })
    }
}
