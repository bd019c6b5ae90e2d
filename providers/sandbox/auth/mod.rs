//! Signing in, at Google and at Microsoft.

pub(super) mod entra;
pub(super) mod google;
mod oauth;
mod pages;
pub(super) mod tokens;
