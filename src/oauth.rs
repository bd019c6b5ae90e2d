//! Sign-in: OAuth 2.0 over the `oauth2` crate.
//!
//! The differences between providers are in one [`OAuthProvider`] entry each
//! (`oauth/providers.rs`): endpoints, extra parameters, words. The flows are the same for all:
//! consent in a browser (`oauth/consent_page.rs`) that redirects to a port of this machine
//! (`oauth/sign_in.rs` with `oauth/listener.rs` and `oauth/loopback_port.rs`) or to the pages of a
//! server (`oauth/web.rs`), consent on another machine with a code (`oauth/device.rs`), the requests
//! to the token endpoint (`oauth/token_endpoint.rs`) and the end of a grant
//! (`oauth/revocation.rs`). Accounts without
//! sign-in (`oauth/unattended.rs`) get tokens from a command (`oauth/command.rs`) or with the key of
//! a service account (`oauth/service.rs`). `oauth/probe.rs` checks
//! OAuth clients. `oauth/error_response.rs` reads refusals, and
//! `oauth/error_messages.rs` explains them by the table of `daysheet_core::provider::refusals`.
//!
//! Nothing is stored here: `accounts.rs` keeps the tokens. Errors, logs and `Debug` output contain
//! no tokens, codes or client secrets, and redirects of token endpoints are not followed.

mod authority;
mod command;
mod consent_page;
mod device;
mod error_messages;
mod error_response;
mod listener;
mod loopback_port;
mod probe;
mod providers;
mod redirect;
mod revocation;
mod service;
mod sign_in;
mod token_endpoint;
mod tokens;
mod unattended;
mod web;

pub(crate) use self::authority::TokenAuthority;
pub use self::device::DeviceSignIn;
pub(crate) use self::error_messages::{grant_ended, grant_ended_earlier};
pub use self::loopback_port::check_loopback;
#[cfg(feature = "http")]
pub(crate) use self::loopback_port::no_port;
pub use self::probe::check_client;
pub use self::providers::{OAuthProvider, PROVIDERS, provider_named};
pub use self::redirect::ResponseReceiver;
pub(crate) use self::revocation::revoke;
pub use self::sign_in::{BrowserPage, SignIn};
pub(crate) use self::token_endpoint::{RefreshRefusal, refresh};
pub use self::tokens::GrantedTokens;
pub(crate) use self::tokens::is_sendable;
pub(crate) use self::unattended::{UnattendedAccess, unattended};
pub use self::web::WebSignIn;
use crate::config::Config;

/// Returns the way to sign an account in again, as `run ...` or `open ...`: at its tenant, if that
/// differs from the settings, and for its mailbox, if that is a shared one.
pub(crate) fn again(
    config: &Config,
    provider: &str,
    tenant: Option<&str>,
    mailbox: Option<&str>,
) -> String {
    // The people of a server cannot run commands on its machine.
    if let Some(page) = config.connect_page(provider, &[("tenant", tenant), ("mailbox", mailbox)]) {
        return format!("open {page}");
    }
    let set = provider_named(provider).ok().and_then(|provider| (provider.tenant)(config));
    let tenant = tenant
        .filter(|tenant| set != Some(*tenant))
        .map(|tenant| format!(" --tenant {tenant}"))
        .unwrap_or_default();
    let mailbox = mailbox.map(|mailbox| format!(" --mailbox {mailbox}")).unwrap_or_default();
    format!("run `daysheet account add {provider}{tenant}{mailbox}`")
}
