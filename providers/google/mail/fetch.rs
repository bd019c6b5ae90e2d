//! Fetches messages, threads, attachments and listed objects from Gmail.
//!
//! Requests name only the fields of the projection. The lists themselves are in `search.rs` and
//! `lists.rs`.

use daysheet_core::call::progress::counted;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{MessageId, ThreadId};
use daysheet_core::project::Projection;
use daysheet_core::provider::{FailedItem, ListPage};
use futures_util::stream::{self, StreamExt};
use serde_json::Value;

use super::mailbox::{GmailMailbox, ME, call};
use super::parts::DecodedData;
use super::requests::check;
use crate::google::client::{self, IN_FLIGHT};
use crate::google::wire;
use crate::net::ResponsePermit;

/// The fields of a message that lists contain.
pub(super) const LISTED: &[&str] = &["id", "threadId"];
/// The fields of a label that lists contain.
pub(super) const LABEL_LISTED: &[&str] = &["id", "name", "type"];

/// Names the header fields that a generated `get` requests.
macro_rules! with_headers {
    ($call:expr, $projection:expr) => {{
        let mut call = $call;
        for header in &$projection.headers {
            call = call.add_metadata_headers(header);
        }
        call
    }};
}

impl GmailMailbox {
    /// Returns the listed objects if they suffice; otherwise fetches each object, in order, several
    /// at a time.
    pub(super) async fn each<F>(
        &self,
        listed: Vec<Value>,
        has: &[&str],
        projection: &Projection,
        get: impl Fn(String) -> F,
    ) -> Result<ListPage>
    where
        F: Future<Output = Result<Value>>,
    {
        // The list already contains everything that is read.
        if projection.within(has) {
            return Ok(ListPage { items: listed, ..ListPage::default() });
        }
        let ids = ids(&listed);
        let calls: Vec<F> = ids.iter().cloned().map(get).collect();
        let calls = stream::iter(counted("items", calls));
        let answers: Vec<_> = calls.buffered(IN_FLIGHT).collect().await;
        let mut page = ListPage::default();
        for (at, (id, answer)) in ids.into_iter().zip(answers).enumerate() {
            match answer {
                Ok(item) => page.items.push(item),
                // If the sign-in fails, no other item can be fetched.
                Err(error) if error.kind() == ErrorKind::Auth => return Err(error),
                Err(error) => page.failed.push(FailedItem { at, id, error }),
            }
        }
        match page.failed.first() {
            // If everything fails, the page would look empty. Missing items alone are no failure:
            // they were deleted after the list.
            Some(one) if page.items.is_empty() && one.error.kind() != ErrorKind::NotFound => {
                Err(one.error.clone())
            }
            _ => Ok(page),
        }
    }

    /// Fetches a message with the fields of the projection.
    pub(super) async fn fetch_message(
        &self,
        id: &MessageId,
        projection: &Projection,
        format: &str,
    ) -> Result<Value> {
        Ok(self.fetch_in_turn(id, projection, format).await?.0)
    }

    /// Returns a message like [`GmailMailbox::fetch_message`], with the turn of a long response.
    pub(super) async fn fetch_in_turn(
        &self,
        id: &MessageId,
        projection: &Projection,
        format: &str,
    ) -> Result<(Value, Option<ResponsePermit>)> {
        check(id.as_str())?;
        let fields = mask(projection);
        let headers = projection.headers.iter().map(|name| ("metadataHeaders", *name));
        let params = [("format", format), ("fields", fields.as_str())];
        let params: Vec<_> = params.into_iter().chain(headers).collect();
        // Other formats contain no bodies.
        let most = if matches!(format, "full" | "raw") { wire::MESSAGES } else { wire::LISTS };
        self.google
            .get_as(&self.at(&["messages", id.as_str()], &params)?, most, &client::json)
            .await
    }

    /// Fetches a thread with the fields of the projection.
    pub(super) async fn fetch_thread(
        &self,
        id: &ThreadId,
        projection: &Projection,
        format: &str,
    ) -> Result<Value> {
        check(id.as_str())?;
        let (id, fields) = (id.as_str(), &mask(projection));
        call!(self, fields, |users| with_headers!(
            users.threads_get(ME, id).format(format),
            projection
        ))
    }

    /// Fetches a part that Gmail left out for its size, with the turn of a long response.
    pub(super) async fn fetch_part(
        &self,
        message: &MessageId,
        attachment: &str,
    ) -> Result<(DecodedData, Option<ResponsePermit>)> {
        let path = ["messages", message.as_str(), "attachments", attachment];
        let url = self.at(&path, &[("fields", "data,size")])?;
        self.google.get_as(&url, wire::FILES, &DecodedData::of_part).await
    }

    /// Returns the current history id.
    pub(super) async fn history_id(&self) -> Result<String> {
        let profile = call!(self, "historyId", |users| users.get_profile(ME))?;
        history_of(&profile).ok_or_else(|| {
            Error::new(ErrorKind::Provider(200), "Gmail gave no starting point for changes")
        })
    }
}

/// Returns the smaller of Gmail's formats that has all fields of the projection.
pub(super) fn format(projection: &Projection) -> &'static str {
    let payload = |path: &String| path.split('/').any(|key| key == "payload");
    if projection.paths.iter().any(payload) { "metadata" } else { "minimal" }
}

/// Returns the `fields` mask for a projection.
pub(super) fn mask(projection: &Projection) -> String {
    projection.paths.join(",")
}

/// Returns the list under a key, or an empty list.
pub(super) fn list(answer: &Value, key: &str) -> Vec<Value> {
    answer.get(key).and_then(Value::as_array).cloned().unwrap_or_default()
}

/// Returns the ids of listed objects.
pub(super) fn ids(items: &[Value]) -> Vec<String> {
    items
        .iter()
        .filter_map(|item| item.get("id").and_then(Value::as_str).map(str::to_owned))
        .collect()
}

/// Returns the `historyId` as text: Gmail sends it as text, its generated types as a number.
pub(super) fn history_of(answer: &Value) -> Option<String> {
    match answer.get("historyId")? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
