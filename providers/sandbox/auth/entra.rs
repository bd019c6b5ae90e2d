//! Microsoft's sign-in: Entra ID's OAuth 2.0 endpoints, version 2.0.
//!
//! Every tenant is accepted. Authorization is in `authorize.rs`, the device code grant in
//! `device.rs`, tokens in `token.rs`, and OpenID Connect in `openid.rs`. As at Google's sign-in, no
//! password is needed, and everything else is checked as Entra checks it.

pub(super) mod authorize;
pub(super) mod device;
pub(super) mod error;
pub(super) mod openid;
mod scopes;
pub(super) mod token;
