//! The adapters: all access to providers' APIs.
//!
//! Only files below this folder name a provider's SDK or send requests to its API. They
//! implement the port of `daysheet_core::provider` and are thin: quirks of an API are
//! facts with a comment, and only the registry defines columns.

#[cfg(feature = "google")]
pub mod google;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod json;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod labels;
#[cfg(any(feature = "google", feature = "microsoft"))]
pub mod limiter;
#[cfg(feature = "microsoft")]
pub mod microsoft;
pub mod net;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod oldest;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod similar;
#[cfg(any(feature = "google", feature = "microsoft"))]
mod tracked;
#[cfg(any(feature = "google", feature = "microsoft"))]
pub mod written;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use daysheet_core::access::AccessLevel;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::AccountId;
#[cfg(any(feature = "google", feature = "microsoft"))]
use daysheet_core::provider::TokenSource;
use daysheet_core::provider::calendar::Calendars;
use daysheet_core::provider::{Account, Mailbox, ProviderConnector, ServiceSettings, TokenStore};

/// An account's id, and the account whose sign-in opens it. An account that becomes a shared
/// mailbox, or ceases to be one, is therefore opened again.
type OpenedAccount = (AccountId, Option<String>);

/// Opens the mailboxes of the compiled-in providers, each once.
#[cfg_attr(
    not(any(feature = "google", feature = "microsoft")),
    expect(dead_code, reason = "without a provider there is nothing to open")
)]
pub struct Providers {
    services: ServiceSettings,
    tokens: Arc<dyn TokenStore>,
    open: Mutex<HashMap<OpenedAccount, Arc<dyn Mailbox>>>,
    calendars: Mutex<HashMap<OpenedAccount, Arc<dyn Calendars>>>,
}

impl Providers {
    /// Creates providers at the endpoints of `services`, with access from `tokens`.
    pub fn new(services: ServiceSettings, tokens: Arc<dyn TokenStore>) -> Self {
        Self {
            services,
            tokens,
            open: Mutex::new(HashMap::new()),
            calendars: Mutex::new(HashMap::new()),
        }
    }

    #[cfg(any(feature = "google", feature = "microsoft"))]
    fn tokens_of(&self, account: &Account) -> TokenSource {
        TokenSource::new(self.tokens.clone(), account.id.clone())
    }

    fn open(&self, account: &Account) -> Result<Arc<dyn Mailbox>> {
        match account.provider.as_str() {
            #[cfg(feature = "google")]
            "google" => Ok(Arc::new(google::mail::GmailMailbox::new(
                &self.services,
                self.tokens_of(account),
            )?)),
            #[cfg(feature = "microsoft")]
            "microsoft" => Ok(Arc::new(microsoft::mail::OutlookMailbox::new(
                &self.services,
                self.tokens_of(account),
                account,
            )?)),
            other => Err(unknown(other)),
        }
    }

    fn open_calendars(&self, account: &Account) -> Result<Arc<dyn Calendars>> {
        match account.provider.as_str() {
            #[cfg(feature = "google")]
            "google" => Ok(Arc::new(google::calendar::GoogleCalendar::new(
                &self.services,
                self.tokens_of(account),
                account,
            )?)),
            #[cfg(feature = "microsoft")]
            "microsoft" => Ok(Arc::new(microsoft::calendar::OutlookCalendar::new(
                &self.services,
                self.tokens_of(account),
                account,
            )?)),
            other => Err(unknown(other)),
        }
    }
}

/// Returns the object that is open under a key, or opens it.
fn get_or_open<T: ?Sized>(
    open: &Mutex<HashMap<OpenedAccount, Arc<T>>>,
    account: &Account,
    make: impl FnOnce() -> Result<Arc<T>>,
) -> Result<Arc<T>> {
    // Held while opening, so that concurrent calls open a mailbox once.
    let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
    let key = (account.id.clone(), account.via.clone());
    if let Some(known) = open.get(&key) {
        return Ok(known.clone());
    }
    let made = make()?;
    open.insert(key, made.clone());
    Ok(made)
}

#[async_trait]
impl ProviderConnector for Providers {
    fn mailbox(&self, account: &Account) -> Result<Arc<dyn Mailbox>> {
        get_or_open(&self.open, account, || self.open(account))
    }

    fn calendars(&self, account: &Account) -> Result<Arc<dyn Calendars>> {
        get_or_open(&self.calendars, account, || self.open_calendars(account))
    }

    async fn address(&self, provider: &str, token: &str, mailbox: Option<&str>) -> Result<String> {
        match provider {
            #[cfg(feature = "google")]
            "google" => google::mail::address(&self.services, token).await,
            #[cfg(feature = "microsoft")]
            "microsoft" => microsoft::mail::address(&self.services, token, mailbox).await,
            other => {
                let _ = (token, mailbox);
                Err(unknown(other))
            }
        }
    }

    fn scopes(
        &self,
        provider: &str,
        shared: bool,
        access: AccessLevel,
    ) -> Result<Vec<&'static str>> {
        match provider {
            #[cfg(feature = "google")]
            "google" if shared => {
                Err(Error::argument("Gmail cannot open a mailbox with another sign-in").next(
                    "sign in to that mailbox itself, or set google.service_account \
                         (docs/guide/setup-google.md)",
                ))
            }
            #[cfg(feature = "google")]
            "google" => Ok(google::client::scopes(access)),
            #[cfg(feature = "microsoft")]
            "microsoft" => Ok(microsoft::scopes::scopes(shared, access)),
            other => {
                let _ = (shared, access);
                Err(unknown(other))
            }
        }
    }
}

fn unknown(provider: &str) -> Error {
    let built: &[&str] = &[
        #[cfg(feature = "google")]
        "google",
        #[cfg(feature = "microsoft")]
        "microsoft",
    ];
    Error::new(ErrorKind::Argument, format!("the provider `{provider}` is not part of this build"))
        .next(if built.is_empty() {
            "build with the feature `google` or `microsoft`".to_owned()
        } else {
            format!("use one of: {}", built.join(", "))
        })
}
