//! Sessions over HTTP, which exist only in their ids: a client's declarations at initialization,
//! signed by this server for their owner.
//!
//! `streamable.rs` reads the ids from requests and puts them into responses.

use std::collections::BTreeMap;
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use daysheet_core::error::{Error, ErrorKind, Result};
use hmac::{Hmac, KeyInit, Mac};
use rmcp::model::{
    ClientCapabilities, ElicitationCapability, Implementation, InitializeRequestParams, JsonObject,
    ProtocolVersion,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::Sha256;
use tokio::sync::OnceCell;

use super::apps;
use super::clients::{self, FORMAT};
use crate::store::{SERVER, Store};

/// The maximum length of a session id of ours.
const MAX_LEN: usize = 1024;

/// The state shared by all instances.
#[derive(Clone)]
pub(super) struct SharedState {
    /// The rows of the caller.
    store: Store,
    /// The key that signs session ids.
    key: Arc<OnceCell<[u8; 32]>>,
}

/// The parts of an initialization that later calls need: the client's ways of asking its user, its
/// preferred format, its name if it limits answers, and whether it draws views.
#[derive(Debug, Serialize, Deserialize)]
struct ClientSession {
    #[serde(rename = "v")]
    version: ProtocolVersion,
    #[serde(rename = "e", default, skip_serializing_if = "Option::is_none")]
    elicitation: Option<ElicitationCapability>,
    #[serde(rename = "f", default, skip_serializing_if = "Option::is_none")]
    format: Option<JsonObject>,
    #[serde(rename = "n", default, skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The declaration of the extension for views.
    #[serde(rename = "u", default, skip_serializing_if = "Option::is_none")]
    views: Option<JsonObject>,
}

impl SharedState {
    /// Creates the state for the caller whose rows `store` has.
    pub(super) fn new(store: Store) -> Self {
        Self { store, key: Arc::default() }
    }

    /// Returns the rows of the caller.
    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// Returns the signature of an id's content, which is valid only for its owner.
    async fn sign(&self, content: &str) -> Result<Hmac<Sha256>> {
        let server = self.store.for_owner(SERVER);
        let key = self.key.get_or_try_init(|| async { server.derive("session").await }).await?;
        let mut mac = <Hmac<Sha256> as KeyInit>::new_from_slice(key)
            .map_err(|_never| Error::new(ErrorKind::Internal, "HMAC took no key"))?;
        mac.update(format!("{}\n{content}", self.store.owner()).as_bytes());
        Ok(mac)
    }

    /// Returns the id of a session that begins with this request. `None` if later calls need none
    /// of the client's declarations.
    pub(super) async fn begin(&self, initialize: &Value) -> Result<Option<String>> {
        let version = initialize.pointer("/params/protocolVersion");
        let Some(version) = version.and_then(|version| Deserialize::deserialize(version).ok())
        else {
            return Ok(None);
        };
        let content = initialize.pointer("/params/capabilities");
        let content = content.and_then(|content| ClientCapabilities::deserialize(content).ok());
        let content = content.unwrap_or_default();
        let views = content.extensions.as_ref().and_then(|all| all.get(apps::EXTENSION)).cloned();
        let declared = |all: Option<BTreeMap<String, JsonObject>>| all?.remove(FORMAT);
        let format = declared(content.extensions).or_else(|| declared(content.experimental));
        let elicitation = content.elicitation;
        let name = initialize.pointer("/params/clientInfo/name").and_then(Value::as_str);
        let name = name.filter(|name| clients::is_limited(name)).map(str::to_owned);
        if elicitation.is_none() && format.is_none() && name.is_none() && views.is_none() {
            return Ok(None);
        }
        let session = ClientSession { version, elicitation, format, name, views };
        let content = serde_json::to_vec(&session)
            .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
        let content = URL_SAFE_NO_PAD.encode(content);
        let signature = URL_SAFE_NO_PAD.encode(self.sign(&content).await?.finalize().into_bytes());
        let id = format!("{content}.{signature}");
        Ok((id.len() <= MAX_LEN).then_some(id))
    }

    /// Returns the content of a session id; `None` if this server did not sign it for this owner.
    pub(super) async fn read(&self, id: &str) -> Result<Option<InitializeRequestParams>> {
        let Some((content, signature)) = id.split_once('.').filter(|_| id.len() <= MAX_LEN) else {
            return Ok(None);
        };
        let signature = URL_SAFE_NO_PAD.decode(signature).unwrap_or_default();
        if self.sign(content).await?.verify_slice(&signature).is_err() {
            return Ok(None);
        }
        let content = URL_SAFE_NO_PAD.decode(content).unwrap_or_default();
        Ok(serde_json::from_slice(&content).ok().map(
            |ClientSession { version, elicitation, format, name, views }| {
                let mut capabilities = ClientCapabilities::default();
                capabilities.elicitation = elicitation;
                let extensions: BTreeMap<_, _> = [(FORMAT, format), (apps::EXTENSION, views)]
                    .into_iter()
                    .filter_map(|(name, declared)| Some((name.to_owned(), declared?)))
                    .collect();
                capabilities.extensions = Some(extensions).filter(|all| !all.is_empty());
                let client =
                    name.map_or_else(Implementation::default, |name| Implementation::new(name, ""));
                InitializeRequestParams::new(capabilities, client).with_protocol_version(version)
            },
        ))
    }
}
