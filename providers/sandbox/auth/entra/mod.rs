//! Microsoft's sign-in (Entra ID, the OAuth 2.0 endpoints of version 2.0).
//!
//! Any tenant will do. The browser's half is in `authorize.rs`, the device's in
//! `device.rs`, the tokens' in `token.rs`, and what OpenID Connect adds in
//! `openid.rs`. As with Google's, nobody
//! enters a password, and everything else is checked as the service checks it.

pub(super) mod authorize;
pub(super) mod device;
mod error;
pub(super) mod openid;
mod scopes;
pub(super) mod token;
