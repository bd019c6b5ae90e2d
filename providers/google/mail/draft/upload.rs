//! Uploads of drafts to Gmail: small ones in one request, large ones in pieces that can be resumed.
//!
//! This module handles bytes, not the structure of messages. After an interruption, the status of
//! the upload is queried before anything is sent again, so that no draft is created twice.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{DraftId, ThreadId};
use hyper::Method;
use hyper::header::{CONTENT_RANGE, CONTENT_TYPE, LOCATION, RANGE};
use serde_json::{Value, json};
use url::Url;

use crate::google::client::FullResponse;
use crate::google::mail::mailbox::GmailMailbox;

/// The largest message that Gmail accepts, in bytes.
pub(super) const MAX_MESSAGE: usize = 35 << 20;
/// The size up to which a message is sent as JSON. Gmail accepts 5 MB, and Base64 adds a third.
const AT_ONCE: usize = 3 << 20;
/// The size of a piece of a larger message; Google requires multiples of 256 KiB.
const PIECE: usize = 4 << 20;
/// The maximum number of consecutive attempts without progress.
const STUMBLES: u32 = 5;
/// The wait after the first of them; it doubles with each.
const PAUSE: Duration = Duration::from_millis(200);
/// The name of the upload in progress notifications.
const WHAT: &str = "the draft";

impl GmailMailbox {
    /// Creates or replaces a draft; returns Gmail's draft without its text.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if the message is too large; [`ErrorKind::Network`] or [`ErrorKind::Timeout`] if
    /// the outcome is unknown.
    pub(super) async fn put_draft(
        &self,
        draft: Option<&DraftId>,
        thread: Option<&ThreadId>,
        outgoing: &[u8],
        caller: &dyn ClientPrompts,
    ) -> Result<Value> {
        if outgoing.len() > MAX_MESSAGE {
            return Err(Error::argument(format!(
                "with its files the message is {} MB, but Gmail takes {} MB",
                outgoing.len().div_ceil(1 << 20),
                MAX_MESSAGE >> 20
            ))
            .next("attach fewer or smaller files, or share them and send a link"));
        }
        let (method, path) = match draft {
            Some(id) => (Method::PUT, vec!["drafts", id.as_str()]),
            None => (Method::POST, vec!["drafts"]),
        };
        let mut message = match thread {
            Some(thread) => json!({ "threadId": thread }),
            None => json!({}),
        };
        if outgoing.len() > AT_ONCE {
            let about = json!({ "message": message });
            return self.in_pieces(method, &path, &about, outgoing, caller).await;
        }
        if let Some(message) = message.as_object_mut() {
            message.insert("raw".to_owned(), URL_SAFE.encode(outgoing).into());
        }
        let body = json!({ "message": message });
        self.change(method, &path, Some(&body)).await
    }

    async fn in_pieces(
        &self,
        method: Method,
        path: &[&str],
        about: &Value,
        outgoing: &[u8],
        caller: &dyn ClientPrompts,
    ) -> Result<Value> {
        let total = outgoing.len();
        let session = self.begin(method, path, about, total).await?;
        let whole = bytes(total);
        let (mut done, mut stumbles, mut ask) = (0, 0, false);
        caller.progress(0, whole, WHAT).await;
        loop {
            let end = total.min(done + PIECE);
            let (range, piece) = match outgoing.get(done..end) {
                Some(piece) if !ask && !piece.is_empty() => {
                    (format!("bytes {done}-{}/{total}", end - 1), piece)
                }
                // Without bytes and with `*` as the range, the request queries the upload's status.
                _ => (format!("bytes */{total}"), [].as_slice()),
            };
            let headers = [
                (CONTENT_TYPE.as_str(), "message/rfc822"),
                (CONTENT_RANGE.as_str(), range.as_str()),
            ];
            let sent = self.google.send_bytes(Method::PUT, &session, &headers, piece).await;
            let stumbled = match sent {
                Ok(answer) if answer.more => {
                    let there = bytes_received(&answer);
                    let further = there > done;
                    // The response to a status query says where to continue, even if there was no
                    // progress.
                    let was_query = std::mem::replace(&mut ask, there >= total);
                    done = there.min(total);
                    caller.progress(bytes(done), whole, WHAT).await;
                    if further {
                        stumbles = 0;
                    }
                    if (further || was_query) && !ask {
                        continue;
                    }
                    upload_lost()
                }
                Ok(answer) => {
                    caller.progress(whole, whole, WHAT).await;
                    return Ok(answer.body);
                }
                Err(error) if error.is_open() => {
                    ask = true;
                    error
                }
                // The session has expired, perhaps after the upload was complete.
                Err(error)
                    if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Provider(410)) =>
                {
                    return Err(upload_lost());
                }
                Err(error) => return Err(error),
            };
            stumbles += 1;
            if stumbles >= STUMBLES {
                return Err(stumbled);
            }
            tokio::time::sleep(PAUSE * 2_u32.saturating_pow(stumbles - 1)).await;
        }
    }

    /// Announces an upload and returns its session URL. This creates no draft.
    async fn begin(
        &self,
        method: Method,
        path: &[&str],
        about: &Value,
        total: usize,
    ) -> Result<Url> {
        let url = self.upload_at(path, &[("uploadType", "resumable")])?;
        let headers = [
            (CONTENT_TYPE.as_str(), "application/json"),
            ("x-upload-content-type", "message/rfc822"),
            ("x-upload-content-length", &total.to_string()),
        ];
        let about = about.to_string();
        let begun = self
            .google
            .send_bytes(method, &url, &headers, about.as_bytes())
            .await
            .map_err(|error| if error.is_open() { not_begun() } else { error })?;
        let named = begun.headers.get(LOCATION);
        named
            .and_then(|value| Url::parse(value.to_str().ok()?).ok())
            // The session's URL gets the access token.
            .filter(|url| self.may_know(url))
            .ok_or_else(|| {
                Error::new(ErrorKind::Provider(200), "Gmail gave no address for a large draft")
            })
    }

    /// Returns true if the token may be sent to this URL.
    fn may_know(&self, url: &Url) -> bool {
        let googles = url.host_str().is_some_and(|host| host.ends_with(".googleapis.com"));
        url.origin() == self.base.origin() || (url.scheme() == "https" && googles)
    }
}

/// Returns the number of bytes that Gmail has received.
fn bytes_received(answer: &FullResponse) -> usize {
    let range = answer.headers.get(RANGE);
    range
        .and_then(|value| value.to_str().ok()?.rsplit_once('-')?.1.trim().parse().ok())
        .map_or(0, |last: usize| last.saturating_add(1))
}

/// Returns the error for an upload that was only announced, from which no draft can result, however
/// late the request is carried out.
fn not_begun() -> Error {
    Error::new(ErrorKind::Provider(503), "the connection to Google broke, and nothing was changed")
        .next("try again")
}

fn upload_lost() -> Error {
    Error::new(
        ErrorKind::Network,
        "the draft did not reach Gmail; whether it was created is unknown",
    )
    .next("search in:drafts for it before retrying")
}

fn bytes(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}
