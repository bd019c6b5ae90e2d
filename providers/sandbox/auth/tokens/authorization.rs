//! Authorization requests, and the formats of the codes and tokens that answer them.

use daysheet_core::error::Result;

use crate::auth::random::random;

/// The sign-in that issued a code or token, which is valid at this one only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TokenIssuer {
    /// Google's sign-in, for the Gmail and People APIs.
    Google,
    /// Microsoft's sign-in (Entra ID), for Graph.
    Microsoft,
}

impl TokenIssuer {
    /// Returns a random code in the issuer's format.
    pub(super) fn code(self) -> Result<String> {
        match self {
            Self::Google => random("4/0A", 48),
            Self::Microsoft => random("1.A", 580),
        }
    }

    /// Returns a random access token in the issuer's format. Microsoft's only begins like a JWT:
    /// its content is meant for Graph, and clients must not depend on it.
    pub(super) fn access_token(self) -> Result<String> {
        match self {
            Self::Google => random("ya29.a0", 150),
            Self::Microsoft => Ok(format!(
                "{}.{}",
                random("eyJ0eXAiOiJKV1QiLCJhbGciOiJSUzI1NiJ9.", 850)?,
                random("", 256)?
            )),
        }
    }

    /// Returns a random refresh token in the issuer's format.
    pub(super) fn refresh_token(self) -> Result<String> {
        match self {
            Self::Google => random("1//0", 72),
            Self::Microsoft => random("1.A", 780),
        }
    }
}

/// An authorization request that passed the checks.
#[derive(Debug, Clone)]
pub(crate) struct AuthorizationRequest {
    /// The sign-in that received it.
    pub issuer: TokenIssuer,
    /// The client that sent it.
    pub client_id: String,
    /// The URI that the answer is sent to; empty for a device, which polls for it.
    pub redirect_uri: String,
    /// The client's `state`, returned unchanged.
    pub state: String,
    /// The scopes, separated by spaces.
    pub scope: String,
    /// The PKCE challenge (S256); empty for a device.
    pub challenge: String,
    /// True if a refresh token was requested.
    pub offline: bool,
}

impl AuthorizationRequest {
    /// Returns a request without a redirect or PKCE.
    pub fn direct(issuer: TokenIssuer, client_id: &str, scope: String, offline: bool) -> Self {
        Self {
            issuer,
            client_id: client_id.to_owned(),
            redirect_uri: String::new(),
            state: String::new(),
            scope,
            challenge: String::new(),
            offline,
        }
    }
}
