//! One Outlook mailbox: its connection and its caches.
//!
//! All other files of this folder that make requests build on it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use daysheet_core::error::{Error, Result};
use daysheet_core::provider::mail::SendAlias;
use daysheet_core::provider::{Account, ServiceSettings, TokenSource};
use serde_json::Value;
use tokio::sync::{Mutex, OnceCell};

use super::folders::FolderTree;
use crate::json::text;
use crate::microsoft::client::GraphAccount;
use crate::net;

/// The time for which folder names are cached.
const NAMES_LAST: Duration = Duration::from_mins(1);

/// One Outlook mailbox: the account's own, or a shared one.
pub struct OutlookMailbox {
    /// The client that sends the requests.
    graph: GraphAccount,
    /// The mailbox's address.
    address: String,
    /// The folders, with the time of listing them.
    folders: Mutex<Option<(Instant, Arc<FolderTree>)>>,
    /// The owner's addresses.
    aliases: OnceCell<Vec<String>>,
    /// The addresses to send from.
    pub(super) senders: OnceCell<Vec<SendAlias>>,
}

impl OutlookMailbox {
    /// Connects `account` to the configured endpoint.
    ///
    /// # Errors
    /// See [`GraphAccount::new`].
    pub fn new(services: &ServiceSettings, tokens: TokenSource, account: &Account) -> Result<Self> {
        let shared = account.via.is_some().then_some(account.email.as_str());
        Ok(Self {
            graph: GraphAccount::new(services, tokens, shared)?,
            address: account.email.to_string(),
            folders: Mutex::new(None),
            aliases: OnceCell::new(),
            senders: OnceCell::new(),
        })
    }

    /// Returns the account's Graph client.
    pub(crate) fn graph(&self) -> &GraphAccount {
        &self.graph
    }

    /// Returns the mailbox's address.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Returns the folders, cached for [`NAMES_LAST`].
    pub(super) async fn tree(&self) -> Result<Arc<FolderTree>> {
        let mut known = self.folders.lock().await;
        if let Some((when, tree)) = known.as_ref()
            && when.elapsed() < NAMES_LAST
        {
            return Ok(tree.clone());
        }
        let tree = Arc::new(FolderTree::load(&self.graph, &[]).await?);
        *known = Some((Instant::now(), tree.clone()));
        Ok(tree)
    }

    /// Keeps folders that were just listed.
    pub(super) async fn keep_tree(&self, tree: Arc<FolderTree>) {
        *self.folders.lock().await = Some((Instant::now(), tree));
    }

    /// Drops the cached folders after a change of one.
    pub(super) async fn forget_tree(&self) {
        *self.folders.lock().await = None;
    }

    /// Returns the addresses of the signed-in user, the main one first, which the flag marks.
    pub(super) async fn user_addresses(&self) -> Result<Vec<(String, bool)>> {
        let select = [("$select", "mail,userPrincipalName,proxyAddresses")];
        Ok(addresses(&self.graph.get(&self.graph.user_url(&select)).await?))
    }

    /// Returns the mailbox's addresses, fetched once. Of a shared mailbox, or after an error, only
    /// the main one is known.
    pub(super) async fn own_addresses(&self) -> &[String] {
        let main = std::slice::from_ref(&self.address);
        if self.graph.is_shared() {
            return main;
        }
        let fetched = self.aliases.get_or_try_init(async || {
            let found = self.user_addresses().await?.into_iter().map(|(address, _)| address);
            Ok::<_, Error>(found.chain(main.iter().cloned()).collect())
        });
        fetched.await.map_or(main, Vec::as_slice)
    }

    /// Refuses requests in a shared mailbox that Microsoft allows only for one's own.
    pub(crate) fn own(&self, what: &str) -> Result<()> {
        if !self.graph.is_shared() {
            return Ok(());
        }
        Err(Error::argument(format!("{what} are not available for a shared mailbox"))
            .next("name the account of the person who signed in"))
    }
}

/// Returns a user's addresses, the main one first. The flag marks the main address.
pub(super) fn addresses(user: &Value) -> Vec<(String, bool)> {
    let mut found: Vec<(String, bool)> = user
        .get("proxyAddresses")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        // `SMTP:` marks the main address and `smtp:` others; further kinds are not mail addresses.
        .filter_map(|proxy| proxy.split_once(':'))
        .filter(|(kind, _)| kind.eq_ignore_ascii_case("smtp"))
        .map(|(kind, address)| (address.to_owned(), kind == "SMTP"))
        .collect();
    found.sort_by_key(|(_, primary)| !primary);
    let main = main_address(user);
    if found.is_empty() && !main.is_empty() {
        found.push((main.to_owned(), true));
    }
    found
}

/// Returns a user's address. Personal accounts may have only a sign-in name.
pub(super) fn main_address(user: &Value) -> &str {
    match text(user, "mail") {
        "" => text(user, "userPrincipalName"),
        mail => mail,
    }
}

/// Returns the path of a message.
pub(super) fn message_path(id: &str) -> String {
    format!("messages/{}", net::path_segment(id))
}

/// Returns a length as the port counts.
pub(super) fn count(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}
