//! A Gmail with scripted answers, which records its requests.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use daysheet_core::call::client::{ClientPrompts, Confirmation};
use daysheet_core::provider::Mailbox;
use daysheet_core::provider::calendar::Calendars;
use serde_json::Value;

use crate::tap::{self, HttpRequest, HttpResponse, Tap, Tapped};

pub fn ok(body: &Value) -> Option<HttpResponse> {
    Some(tap::respond(200, body))
}

pub fn empty(status: u16) -> Option<HttpResponse> {
    Some(tap::empty(status))
}

pub fn refused(status: u16, reason: &str, message: &str) -> Option<HttpResponse> {
    Some(tap::refused_by_google(status, reason, message))
}

pub fn broken() -> Option<HttpResponse> {
    Some(tap::broken())
}

/// Gmail, and the calendars beside it.
pub struct Gmail {
    pub mail: Arc<dyn Mailbox>,
    pub calendars: Arc<dyn Calendars>,
    pub tap: Tap,
    /// Kept alive for the adapters.
    _tapped: Tapped,
}

impl Gmail {
    /// Starts a service that answers by `rule`, and with 404 where the rule returns `None`.
    pub async fn scripted(
        rule: impl Fn(&HttpRequest) -> Option<HttpResponse> + Send + Sync + 'static,
    ) -> Self {
        let tapped = Tapped::scripted("google", move |request| {
            assert_eq!(request.header("authorization"), "Bearer the-token");
            rule(request).or_else(|| refused(404, "notFound", "Requested entity was not found."))
        });
        let tapped = tapped.await;
        Self {
            mail: tapped.mailbox().await,
            calendars: tapped.calendars().await,
            tap: tapped.tap.clone(),
            _tapped: tapped,
        }
    }

    /// Returns the recorded writes: method and path, and the JSON body. Clears the record.
    pub fn written(&self) -> Vec<(String, Value)> {
        let requests = self.tap.requests().into_iter();
        let written = requests.filter(|request| !request.target.starts_with("GET "));
        written.map(|request| (request.target, request.body)).collect()
    }
}

/// A caller who notes how far something is.
#[derive(Default)]
pub struct Watcher(Mutex<Vec<(u64, u64)>>);

impl Watcher {
    pub fn reported(&self) -> Vec<(u64, u64)> {
        self.0.lock().unwrap().clone()
    }
}

#[async_trait]
impl ClientPrompts for Watcher {
    async fn confirm(&self, _: &str) -> Confirmation {
        Confirmation::Unavailable
    }

    async fn progress(&self, done: u64, total: u64, what: &str) {
        assert_eq!(what, "the draft");
        self.0.lock().unwrap().push((done, total));
    }
}
