//! The services' endpoints and the adapters' waiting time: plain data from the settings.

use std::time::Duration;

use url::Url;

use super::upstream::UpstreamShare;
use crate::clock::Clock;
use crate::error::{Error, ErrorKind, Result};

/// The base URLs of the providers. Each is `https`, or `http` on loopback; those that paths are
/// joined to end in a slash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProviderEndpoints {
    /// Gmail API, without `gmail/v1/`.
    pub gmail: Url,
    /// Google Calendar API, with `calendar/v3/`.
    pub google_calendar: Url,
    /// Google's People API, without `v1/`.
    pub google_people: Url,
    /// Google's consent page.
    pub google_auth: Url,
    /// Google's token endpoint.
    pub google_token: Url,
    /// Google's revocation endpoint.
    pub google_revoke: Url,
    /// Microsoft Graph, with its version.
    pub graph: Url,
    /// Microsoft's authority, without a tenant.
    pub microsoft_authority: Url,
}

impl ProviderEndpoints {
    /// Returns the providers' real paths below one base, as the sandbox serves them.
    ///
    /// # Errors
    /// [`ErrorKind::Internal`] if `base` is a URL that cannot have paths.
    pub fn below(base: &Url) -> Result<Self> {
        let at = |path: &str| {
            base.join(&format!("/{path}")).map_err(|error| {
                Error::new(ErrorKind::Internal, format!("the path {path}: {error}"))
            })
        };
        Ok(Self {
            gmail: at("")?,
            google_calendar: at("calendar/v3/")?,
            google_people: at("")?,
            google_auth: at("o/oauth2/v2/auth")?,
            google_token: at("token")?,
            google_revoke: at("revoke")?,
            graph: at("v1.0/")?,
            microsoft_authority: at("")?,
        })
    }

    /// Returns all endpoints.
    pub fn all(&self) -> [&Url; 8] {
        [
            &self.gmail,
            &self.google_calendar,
            &self.google_people,
            &self.google_auth,
            &self.google_token,
            &self.google_revoke,
            &self.graph,
            &self.microsoft_authority,
        ]
    }
}

/// The settings of the adapters.
#[derive(Debug, Clone)]
pub struct ServiceSettings {
    /// The services' endpoints.
    pub endpoints: ProviderEndpoints,
    /// The time for which the effect of a write is looked for after its response was lost, before
    /// the write is reported as unknown.
    pub look: Duration,
    /// The wait before the second attempt at a call; it doubles with each further one.
    pub retry: Duration,
    /// The clock.
    pub clock: Clock,
    /// The share of the process's requests that these adapters may use.
    pub share: UpstreamShare,
    /// The URL below which each provider's page for connecting accounts is, with `/` at its end;
    /// `None` if people do so by a command.
    pub connect: Option<Url>,
}

impl ServiceSettings {
    /// Returns the way to sign an account of this provider in, as `run …` or `open …`.
    pub fn sign_in(&self, provider: &str) -> String {
        match self.connect.as_ref().and_then(|page| page.join(provider).ok()) {
            Some(page) => format!("open {page}"),
            None => format!("run `daysheet account add {provider}`"),
        }
    }
}
