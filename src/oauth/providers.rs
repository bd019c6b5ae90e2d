//! The providers for sign-in, one entry each.
//!
//! An entry has a provider's endpoints and its differences from the standard. It is plain data,
//! used by the flows next to this file.

use std::fmt;

use daysheet_core::error::{Error, ErrorKind, Result};
use url::Url;

use crate::config::{Config, OauthClient};

/// The properties of one provider. Functions that return URLs take the tenant, which is empty for
/// providers without tenants.
pub struct OAuthProvider {
    /// The name in settings, account ids and commands.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// Returns the consent page.
    pub(super) auth: fn(&Config, &str) -> Result<Url>,
    /// Returns the token endpoint.
    pub(super) token: fn(&Config, &str) -> Result<Url>,
    /// Returns the start of a device flow, if the provider has one that allows mail.
    pub(super) device: Option<fn(&Config, &str) -> Result<Url>>,
    /// Returns the revocation endpoint, if the provider has one.
    pub(super) revoke: fn(&Config) -> Option<Url>,
    /// Returns the page on which an administrator consents for an organisation, if there is one.
    pub(super) admin_consent: fn(&Config, &str) -> Option<Url>,
    /// Returns the OAuth client that the user registered.
    pub(super) client: fn(&Config) -> &OauthClient,
    /// Returns the tenant of the settings, if the provider has tenants.
    pub(super) tenant: fn(&Config) -> Option<&str>,
    /// Returns the form of a scope in requests.
    pub(super) scope_request: fn(&Config, &str) -> String,
    pub(super) scope_granted: fn(&str) -> &str,
    /// Extra parameters of the consent page, and parameters that are added only without an address
    /// to preselect.
    pub(super) params: &'static [(&'static str, &'static str)],
    pub(super) unhinted: &'static [(&'static str, &'static str)],
    /// The host of redirects to this machine, and the path after the port.
    pub(super) redirect_host: &'static str,
    pub(super) redirect_path: &'static str,
    /// The variable for the client id, and the page about obtaining one.
    pub(super) client_id: &'static str,
    pub(super) setup: &'static str,
    /// The page where people review and withdraw their grants.
    pub grants: &'static str,
    /// Reasons for which a grant may end without being withdrawn.
    pub(super) ends: &'static str,
}

/// The providers that support sign-in.
pub const PROVIDERS: &[OAuthProvider] = &[
    OAuthProvider {
        name: "google",
        title: "Google",
        auth: |config, _| Ok(config.endpoints.google_auth.clone()),
        token: |config, _| Ok(config.endpoints.google_token.clone()),
        // Google's device flow allows no scopes of Gmail.
        device: None,
        revoke: |config| Some(config.endpoints.google_revoke.clone()),
        admin_consent: |_, _| None,
        client: |config| &config.google,
        tenant: |_| None,
        scope_request: |_, scope| scope.to_owned(),
        scope_granted: |scope| scope,
        // Google issues refresh tokens only with the first parameter, and after an account's first
        // consent only with the second.
        params: &[("access_type", "offline"), ("prompt", "consent")],
        unhinted: &[],
        // The address, because the name `localhost` may resolve to another (RFC 8252, section 8.3).
        redirect_host: "127.0.0.1",
        redirect_path: "/",
        client_id: "DAYSHEET_GOOGLE_CLIENT_ID",
        setup: "docs/guide/setup-google.md",
        grants: "https://myaccount.google.com/connections",
        ends: "projects in Testing mode lose grants after 7 days",
    },
    OAuthProvider {
        name: "microsoft",
        title: "Microsoft",
        auth: |config, tenant| microsoft(config, tenant, MicrosoftEndpoint::Authorize),
        token: |config, tenant| microsoft(config, tenant, MicrosoftEndpoint::Token),
        device: Some(|config, tenant| microsoft(config, tenant, MicrosoftEndpoint::DeviceCode)),
        // Entra has no revocation endpoint of RFC 7009.
        revoke: |_| None,
        admin_consent: microsoft_admin_consent,
        client: |config| &config.microsoft,
        tenant: |config| Some(&config.microsoft_tenant),
        scope_request: microsoft_scope,
        // Granted scopes may include the API's URL.
        scope_granted: |scope| scope.rsplit('/').next().unwrap_or(scope),
        // The redirect is read from its query; other modes use the fragment or a form.
        params: &[("response_mode", "query")],
        // The browser may already be signed in to another account.
        unhinted: &[("prompt", "select_account")],
        // Entra ignores the port only for this host name, and only without a path.
        redirect_host: "localhost",
        redirect_path: "",
        client_id: "DAYSHEET_MICROSOFT_CLIENT_ID",
        setup: "docs/guide/setup-microsoft.md",
        grants: "https://account.live.com/consent/Manage (personal account) or \
                 https://myapps.microsoft.com (work or school account)",
        ends: "a changed password, months without use or an administrator ends grants",
    },
];

impl OAuthProvider {
    /// Returns true if the settings have an OAuth client for the provider.
    pub fn has_client(&self, config: &Config) -> bool {
        (self.client)(config).id.is_some()
    }
}

/// The endpoints of Microsoft's authority.
#[derive(Clone, Copy)]
enum MicrosoftEndpoint {
    /// The consent page.
    Authorize,
    /// The token endpoint.
    Token,
    /// The start of a device flow.
    DeviceCode,
}

/// Returns an endpoint of Microsoft's authority.
fn microsoft(config: &Config, tenant: &str, endpoint: MicrosoftEndpoint) -> Result<Url> {
    let endpoint = match endpoint {
        MicrosoftEndpoint::Authorize => "authorize",
        MicrosoftEndpoint::Token => "token",
        MicrosoftEndpoint::DeviceCode => "devicecode",
    };
    config.endpoints.microsoft_authority.join(&format!("{tenant}/oauth2/v2.0/{endpoint}")).map_err(
        |error| Error::new(ErrorKind::Internal, format!("an endpoint of Microsoft: {error}")),
    )
}

/// Returns the page of an administrator
/// (<https://learn.microsoft.com/entra/identity-platform/v2-admin-consent>), which accepts neither of
/// the tenants that include personal accounts.
fn microsoft_admin_consent(config: &Config, tenant: &str) -> Option<Url> {
    let tenant = if matches!(tenant, "common" | "consumers") { "organizations" } else { tenant };
    let authority = &config.endpoints.microsoft_authority;
    let mut page = authority.join(&format!("{tenant}/adminconsent")).ok()?;
    page.query_pairs_mut().append_pair("client_id", config.microsoft.id.as_deref()?);
    Some(page)
}

/// The hosts of Microsoft Graph in national clouds. A scope without a URL means the global cloud's
/// Graph, so their scopes have to be requested by URL.
const NATIONAL_GRAPHS: &[&str] =
    &["graph.microsoft.us", "dod-graph.microsoft.us", "microsoftgraph.chinacloudapi.cn"];
/// Scopes of the authority itself rather than of an API.
const OF_THE_AUTHORITY: &[&str] = &["offline_access", "openid", "profile", "email"];

fn microsoft_scope(config: &Config, scope: &str) -> String {
    match config.endpoints.graph.host_str() {
        Some(host) if NATIONAL_GRAPHS.contains(&host) && !OF_THE_AUTHORITY.contains(&scope) => {
            format!("https://{host}/{scope}")
        }
        _ => scope.to_owned(),
    }
}

/// Returns the provider with this name.
///
/// # Errors
/// [`ErrorKind::Argument`] with the known names.
pub fn provider_named(name: &str) -> Result<&'static OAuthProvider> {
    PROVIDERS.iter().find(|provider| provider.name == name).ok_or_else(|| {
        let names: Vec<&str> = PROVIDERS.iter().map(|provider| provider.name).collect();
        Error::argument("unknown provider").next(format!("use one of: {}", names.join(", ")))
    })
}

/// Shows the name.
impl fmt::Debug for OAuthProvider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
