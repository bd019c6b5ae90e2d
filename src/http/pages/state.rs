//! The state that all pages share, and the way to sign in to them.

use std::sync::Arc;

use daysheet_auth::TokenVerifier;
use daysheet_auth::web::WebSignIn;
use url::Url;

use crate::http::state::HttpState;
use crate::store::Store;

/// The ways to sign in to the pages.
pub(super) enum SignInWay<'a> {
    /// No credentials: only this machine can reach the pages, and the same applies to MCP.
    Open,
    /// A token of the server, entered once.
    Token,
    /// A printed link, created by [`link`](super::link).
    Link,
    /// The issuer's sign-in.
    Issuer(&'a WebSignIn),
    /// No sign-in: this server has no client at its issuer.
    Closed,
}

/// The state shared by all pages.
pub(super) struct PageState {
    pub(super) service: Arc<HttpState>,
    /// The URL of the pages as browsers see it, ending in a slash.
    pub(super) public: Url,
    /// The server's own rows.
    pub(super) server: Store,
}

impl PageState {
    /// Returns the URL of a page.
    pub(super) fn address(&self, path: &str) -> Url {
        let mut address = self.public.clone();
        address.set_path(path);
        address
    }

    /// Returns the way to sign in here.
    pub(super) fn way(&self) -> SignInWay<'_> {
        match &self.service.verifier {
            _ if self.service.links => SignInWay::Link,
            TokenVerifier::Open(_) => SignInWay::Open,
            TokenVerifier::Known(_) => SignInWay::Token,
            TokenVerifier::Issuer(issuer) => {
                issuer.web().map_or(SignInWay::Closed, SignInWay::Issuer)
            }
        }
    }
}
