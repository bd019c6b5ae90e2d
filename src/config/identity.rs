//! The settings that identify callers over HTTP.

use std::path::PathBuf;

use daysheet_core::error::Result;

use super::clients::OauthClient;
use super::settings::SettingSources;

/// The possible callers over HTTP: people of an issuer, or holders of static tokens.
#[derive(Debug, Clone, Default)]
pub struct IdentitySettings {
    /// The OIDC issuer whose access tokens are accepted, by its name for itself.
    pub issuer: Option<String>,
    /// The audience that its tokens must have; by default the URL of `/mcp`.
    pub audience: Option<String>,
    /// The algorithms that its tokens may be signed with, in lower case; empty for the default.
    pub algorithms: Vec<String>,
    /// The prefix that clients put before the name of a scope; may be empty.
    pub scope_prefix: String,
    /// True if the issuer is asked about tokens that are not JWTs.
    pub introspection: bool,
    /// This server's own client at the issuer, for introspection and for signing in to the pages.
    pub client: OauthClient,
    /// The file with token hashes, for a server of one person.
    pub token_file: Option<PathBuf>,
}

impl IdentitySettings {
    /// Reads the settings.
    pub(super) fn from(settings: &SettingSources) -> Result<Self> {
        let issuer = settings.get("http.issuer")?.map(|found| found.value);
        if issuer.is_some() {
            // Checked as a URL, but kept as text: it is a name that is compared exactly.
            settings.url("http.issuer", "", false)?;
        }
        Ok(Self {
            issuer,
            audience: settings.get("http.audience")?.map(|found| found.value),
            algorithms: settings.words("http.algorithms")?,
            scope_prefix: settings
                .get("http.scope_prefix")?
                .map_or_else(String::new, |found| found.value),
            introspection: settings.flag("http.introspection", ["off", "on"], false)?,
            client: OauthClient::from(settings, "http", None)?,
            token_file: settings.get("http.token_file")?.map(|found| found.path()).transpose()?,
        })
    }
}
