//! The clients that Daysheet is at the providers: OAuth clients and a service account, from settings
//! and the files of Google's console.

use daysheet_core::error::{Error, ErrorKind, Result};
use oauth2::{ClientId, ClientSecret};

use super::settings::{FoundSetting, SettingSources, read};

/// The OAuth client that a user registered with a provider.
#[derive(Debug, Clone, Default)]
pub struct OauthClient {
    /// The client id; without it, sign-in is impossible.
    pub id: Option<ClientId>,
    /// The client secret; `None` for a public client.
    pub secret: Option<ClientSecret>,
    /// True if its file says that it is a Web client.
    pub is_web: bool,
}

/// A Google service account, as in its key file. `Debug` never shows the key.
#[derive(Debug, Clone)]
pub struct ServiceAccount {
    /// Its address.
    pub email: String,
    /// Its private key, in PEM.
    pub key: ClientSecret,
    /// The id of the key.
    pub key_id: Option<String>,
}

impl OauthClient {
    /// Returns the client of `provider`: the configured id and secret, or those in the configured
    /// `credentials.json`.
    pub(super) fn from(
        settings: &SettingSources,
        provider: &str,
        file: Option<FoundSetting>,
    ) -> Result<Self> {
        let id = settings.get(&format!("{provider}.client_id"))?.map(|found| found.value);
        let secret = settings.get(&format!("{provider}.client_secret"))?.map(|found| found.value);
        // The secret of a file belongs to the id in the same file, so a set id disables both.
        let in_file = match (&id, file) {
            (None, Some(found)) => credentials(&found)?,
            _ => Self::default(),
        };
        Ok(Self {
            id: id.map(ClientId::new).or(in_file.id),
            secret: secret.map(ClientSecret::new).or(in_file.secret),
            is_web: in_file.is_web,
        })
    }
}

/// Reads client id and secret from a `credentials.json` as Google issues it: under `installed` for
/// desktop clients, under `web` for others.
fn credentials(found: &FoundSetting) -> Result<OauthClient> {
    let path = found.path()?;
    let text = read(&path).map_err(|error| error.context(&found.origin))?;
    let json: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let client = json.get("installed").or_else(|| json.get("web"));
    let text = |name: &str| Some(client?.get(name)?.as_str()?.to_owned());
    // Google's console issues this kind of file as JSON, too.
    let next = match json.get("type").and_then(serde_json::Value::as_str) {
        Some("service_account") => "it is a service account: name it in google.service_account",
        _ => "download the client's JSON again from Google's console, page Clients",
    };
    let id = text("client_id").ok_or_else(|| {
        Error::new(
            ErrorKind::Config,
            format!(
                "{}: {} holds no OAuth client (`installed` or `web` with a `client_id`)",
                found.origin,
                path.display()
            ),
        )
        .next(next)
    })?;
    Ok(OauthClient {
        id: Some(ClientId::new(id)),
        secret: text("client_secret").map(ClientSecret::new),
        is_web: json.get("installed").is_none(),
    })
}

impl ServiceAccount {
    /// Reads the setting with the key file of the account.
    pub(super) fn from(settings: &SettingSources) -> Result<Option<Self>> {
        settings.get("google.service_account")?.map(|found| service_account(&found)).transpose()
    }
}

/// Reads the key file of a service account as Google's console creates it.
fn service_account(found: &FoundSetting) -> Result<ServiceAccount> {
    let path = found.path()?;
    let text = read(&path).map_err(|error| error.context(&found.origin))?;
    let json: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
    let text = |name: &str| Some(json.get(name)?.as_str()?.to_owned());
    let account = text("client_email").zip(text("private_key"));
    let (email, key) = account.ok_or_else(|| {
        Error::new(
            ErrorKind::Config,
            format!("{}: {} is no key of a service account", found.origin, path.display()),
        )
        .next("create a JSON key in Google's console, page Service accounts, Keys")
    })?;
    Ok(ServiceAccount { email, key: ClientSecret::new(key), key_id: text("private_key_id") })
}
