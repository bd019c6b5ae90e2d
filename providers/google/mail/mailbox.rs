//! One Gmail account: its connection and its caches.
//!
//! All other files of this folder build on it. URLs and writes are in `requests.rs`, reads in
//! `fetch.rs`.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use daysheet_core::error::Result;
use daysheet_core::ids::{FolderId, MessageId};
use daysheet_core::provider::mail::SendAlias;
use daysheet_core::provider::{ServiceSettings, TokenSource};
use google_gmail1::Gmail as Hub;
use serde_json::Value;
use tokio::sync::Mutex;
use url::Url;

use crate::google::client::{GMAIL, GoogleClient, GoogleTokens};
use crate::google::wire::{self, LoopbackConnector};

/// The user id of the token's owner.
pub(super) const ME: &str = "me";

/// Makes a generated call with our delegate, a `fields` mask and the scope. A macro, because the
/// generated builders have these setters in common, but no trait.
macro_rules! call {
    ($gmail:expr, $fields:expr, |$users:ident| $build:expr) => {
        $gmail
            .google
            .call(|mut watch| async move {
                let $users = $gmail.hub.users();
                $build
                    .param("fields", $fields)
                    .add_scope(google_gmail1::api::Scope::Readonly)
                    .delegate(&mut watch)
                    .doit()
                    .await
            })
            .await
    };
}

pub(super) use call;

/// The labels of messages, as last read or confirmed, by message id.
pub(super) type KnownLabels = HashMap<MessageId, BTreeSet<FolderId>>;

/// Labels with their counts.
pub(super) struct LabelCounts {
    /// The time of counting.
    pub(super) since: Instant,
    /// The fields mask of the cached labels.
    pub(super) mask: String,
    /// The history id at the time of counting.
    pub(super) history: String,
    /// The labels, by id.
    pub(super) labels: HashMap<String, Value>,
}

/// One Gmail account.
pub struct GmailMailbox {
    /// The generated client.
    pub(super) hub: Hub<LoopbackConnector>,
    /// The client that sends the requests.
    pub(super) google: GoogleClient,
    /// Gmail's endpoint.
    pub(super) base: Url,
    /// The endpoint of the People API.
    pub(super) people: Url,
    /// True once the search index of the People API has been refreshed.
    pub(super) people_warm: AtomicBool,
    /// The labels, with the time of listing them.
    pub(super) labels: Mutex<Option<(Instant, Vec<Value>)>>,
    /// Labels of messages that were read for a change.
    pub(super) known_labels: Mutex<KnownLabels>,
    /// The labels that were counted.
    pub(super) counts: Mutex<Option<LabelCounts>>,
    /// The addresses to send from, with the time of reading them.
    pub(super) senders: Mutex<Option<(Instant, Vec<SendAlias>)>>,
}

impl GmailMailbox {
    /// Connects the owner of these tokens to the configured endpoint.
    pub fn new(services: &ServiceSettings, tokens: TokenSource) -> Result<Self> {
        let google = GoogleClient::new(services, tokens, GMAIL);
        let hub = hub(services, google.bearer());
        Ok(Self {
            hub,
            google,
            base: services.endpoints.gmail.clone(),
            people: services.endpoints.google_people.clone(),
            people_warm: AtomicBool::new(false),
            labels: Mutex::new(None),
            known_labels: Mutex::default(),
            counts: Mutex::new(None),
            senders: Mutex::new(None),
        })
    }
}

fn hub(services: &ServiceSettings, bearer: GoogleTokens) -> Hub<LoopbackConnector> {
    let mut hub = Hub::new(wire::client(services.share.clone()), bearer);
    let base = services.endpoints.gmail.as_str();
    hub.base_url(base.to_owned());
    hub.root_url(base.to_owned());
    hub
}
