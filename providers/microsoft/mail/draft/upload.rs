//! Adding attachments to drafts at Outlook.
//!
//! Small files are sent in one request. Larger files are sent in pieces to a URL that Graph issues
//! for the attachment; an interrupted upload is resumed. That URL is itself a secret: it is outside
//! the API, gets no token of ours, and is never shown.

use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use daysheet_core::call::client::ClientPrompts;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::DraftId;
use daysheet_core::provider::mail::OutgoingAttachment;
use daysheet_core::text::brief;
use graph_rs_sdk::header::{CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE};
use graph_rs_sdk::http::Method;
use serde_json::{Value, json};
use url::Url;

use crate::json::text;
use crate::limiter::counted;
use crate::microsoft::client::GraphAccount;
use crate::microsoft::mail::mailbox::count;
use crate::microsoft::response::{GraphResponse, connection_error, read};
use crate::net;

/// The maximum number of attachments that are listed of a message.
pub(super) const MAX_FILES: usize = 500;
/// The maximum number of pages of that list.
pub(super) const PAGES: usize = 10;

/// The size in bytes from which Exchange requires an upload in pieces.
const IN_PIECES: usize = 3 << 20;
/// The size of a piece in bytes: a multiple of 320 KiB below the allowed 4 MB.
const PIECE: usize = 12 * 320 * 1024;
/// The maximum size of an attachment at Outlook, in bytes.
pub const MAX_ATTACHMENT: u64 = 150 << 20;
/// The maximum number of attempts to resume an upload.
const TRIES: u32 = 5;
/// The time limit of one piece.
const PATIENCE: Duration = Duration::from_mins(2);
/// The maximum size of the response to a piece, in bytes.
const ANSWER: usize = 1 << 20;

/// A file to add to a draft.
pub struct NewAttachment<'a> {
    /// The account of the draft.
    pub graph: &'a GraphAccount,
    /// The id of the draft.
    pub draft: &'a DraftId,
    /// The name and properties of the file.
    pub file: &'a OutgoingAttachment,
    /// The content of the file.
    pub bytes: &'a [u8],
    /// The number of the draft's other attachments of the same name.
    pub alike: usize,
}

impl NewAttachment<'_> {
    /// Adds the attachment to the draft. An upload in pieces reports its progress to the `caller`.
    ///
    /// # Errors
    /// [`ErrorKind::Network`] and [`ErrorKind::Timeout`] mean that it is unknown whether it was
    /// added.
    pub async fn add(&self, caller: &dyn ClientPrompts) -> Result<()> {
        if self.bytes.len() >= IN_PIECES {
            return self.add_in_pieces(caller).await;
        }
        let Self { graph, file, bytes, .. } = *self;
        let mut body = json!({
            "@odata.type": "#microsoft.graph.fileAttachment",
            "name": file.name,
            "contentType": file.media,
            "contentBytes": STANDARD.encode(bytes),
            "isInline": file.cid.is_some(),
        });
        if let (Some(body), Some(cid)) = (body.as_object_mut(), &file.cid) {
            body.insert("contentId".to_owned(), cid.as_str().into());
        }
        let request = graph.mailbox_url(&files(self.draft.as_str()), &[]);
        let added = async || Ok(self.is_there().await?.then_some(Value::Null));
        graph.write_for_sure(&Method::POST, &request, None, Some(&body), added).await.map(drop)
    }

    /// Adds the attachment in pieces, resuming an upload that was interrupted.
    async fn add_in_pieces(&self, caller: &dyn ClientPrompts) -> Result<()> {
        let Self { file, bytes, .. } = *self;
        let upload = self.begin_upload().await?;
        let total = count(bytes.len());
        let mut from = 0;
        let mut failed = 0;
        caller.progress(0, total, &file.name).await;
        while from < bytes.len() {
            let next = match upload.piece(from).await {
                Ok(next) if next > from => next,
                // The service asks for the same piece again.
                Ok(_) if failed < TRIES => {
                    failed += 1;
                    continue;
                }
                Err(error) if error.is_passing() && failed < TRIES => {
                    failed += 1;
                    let after = match error.kind() {
                        ErrorKind::RateLimited(after) => after,
                        _ => None,
                    };
                    let wait = Duration::from_millis(250) * 2_u32.saturating_pow(failed);
                    tokio::time::sleep(after.unwrap_or(wait).min(Duration::from_secs(20))).await;
                    self.resume_at(&upload, from).await?
                }
                Ok(_) => {
                    upload.give_up().await;
                    return Err(Error::new(
                        ErrorKind::Provider(502),
                        "Outlook kept asking for the same piece of a file",
                    ));
                }
                Err(error) => {
                    upload.give_up().await;
                    return Err(error);
                }
            };
            from = next.min(bytes.len());
            caller.progress(count(from), total, &file.name).await;
        }
        Ok(())
    }

    /// Begins an upload in pieces.
    async fn begin_upload(&self) -> Result<FileUpload<'_>> {
        let Self { graph, draft, file, bytes, .. } = *self;
        let mut item = json!({
            "attachmentType": "file",
            "name": file.name,
            "contentType": file.media,
            "size": bytes.len(),
            "isInline": file.cid.is_some(),
        });
        if let (Some(item), Some(cid)) = (item.as_object_mut(), &file.cid) {
            item.insert("contentId".to_owned(), cid.as_str().into());
        }
        let request =
            graph.mailbox_url(&format!("{}/createUploadSession", files(draft.as_str())), &[]);
        let body = json!({ "attachmentItem": item });
        let begin = || graph.write(&Method::POST, &request, None, Some(&body));
        let session = match begin().await {
            // Repeating this is harmless: an upload session that is never used creates nothing.
            Err(error) if error.is_open() => begin().await,
            other => other,
        };
        let session = session?.unwrap_or_default();
        Ok(FileUpload { graph, url: address(graph, text(&session, "uploadUrl"))?, bytes })
    }

    /// Returns the position from which an upload continues after the piece at `from` failed.
    async fn resume_at(&self, upload: &FileUpload<'_>, from: usize) -> Result<usize> {
        match upload.missing().await {
            // The session has ended: either the upload is complete, or it expired.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                if self.is_there().await? {
                    Ok(self.bytes.len())
                } else {
                    Err(error)
                }
            }
            Err(error) if error.is_passing() => Ok(from),
            next => next,
        }
    }

    /// Returns true if the draft has the attachment in addition to `alike` others of the same name.
    async fn is_there(&self) -> Result<bool> {
        let Self { graph, file, .. } = *self;
        let request =
            graph.mailbox_url(&files(self.draft.as_str()), &[("$select", "id,name,size")]);
        let answer = graph.get(&request).await?;
        let (found, _) = graph.all(answer, MAX_FILES, PAGES).await?;
        let named = found.iter().filter(|existing| text(existing, "name") == file.name);
        let size = count(self.bytes.len());
        // Exchange's size includes its overhead, so it may be larger.
        let fits = |existing: &&Value| existing.get("size").and_then(Value::as_u64) >= Some(size);
        Ok(named.clone().count() > self.alike && named.filter(fits).count() > 0)
    }
}

/// Returns the path of a message's attachments.
pub fn files(message: &str) -> String {
    format!("messages/{}/attachments", net::path_segment(message))
}

/// An upload in progress.
struct FileUpload<'a> {
    graph: &'a GraphAccount,
    url: Url,
    bytes: &'a [u8],
}

impl FileUpload<'_> {
    /// Sends the piece that begins at `from`; returns the beginning of the next one.
    async fn piece(&self, from: usize) -> Result<usize> {
        let total = self.bytes.len();
        let to = total.min(from.saturating_add(PIECE));
        let piece = self.bytes.get(from..to).unwrap_or_default();
        let last = to.saturating_sub(1);
        let request = self
            .graph
            .http
            .put(self.url.clone())
            .header(CONTENT_TYPE, "application/octet-stream")
            .header(CONTENT_LENGTH, piece.len())
            .header(CONTENT_RANGE, format!("bytes {from}-{last}/{total}"))
            .body(piece.to_vec());
        let answer = self.exchange(request).await?;
        let made = answer.status() == 201;
        let progress = answer.some_json().map_err(|error| self.graph.limiter.advise(error))?;
        let progress = progress.unwrap_or_default();
        Ok(if made { total } else { next_expected(&progress).unwrap_or(to) })
    }

    /// Returns the beginning of the missing part.
    async fn missing(&self) -> Result<usize> {
        let answer = self.exchange(self.graph.http.get(self.url.clone())).await?;
        let progress = answer.json().map_err(|error| self.graph.limiter.advise(error))?;
        Ok(next_expected(&progress).unwrap_or(self.bytes.len()))
    }

    /// Cancels the upload. If that fails, the upload expires by itself.
    async fn give_up(&self) {
        let _ = self.exchange(self.graph.http.delete(self.url.clone())).await;
    }

    /// Makes one request to the upload URL, without token, cookies or redirects.
    async fn exchange(&self, request: reqwest::RequestBuilder) -> Result<GraphResponse> {
        let share = self.graph.limiter.share();
        let _place = share.place().await;
        let sent = async {
            let answer = request.send().await.map_err(|error| connection_error(&error))?;
            read(answer, ANSWER, &self.graph.limiter).await
        };
        let response = async {
            tokio::time::timeout(PATIENCE, Box::pin(sent)).await.unwrap_or_else(|_elapsed| {
                Err(Error::new(
                    ErrorKind::Timeout,
                    "Outlook did not accept a piece of a file in time",
                ))
            })
        };
        counted(share, "microsoft", response).await
    }
}

/// Returns the beginning of the first missing range, from a list such as `["3932160-"]`.
fn next_expected(progress: &Value) -> Option<usize> {
    let first = progress.get("nextExpectedRanges")?.as_array()?.first()?;
    let from = first.as_str()?.split('-').next()?;
    from.trim().parse().ok()
}

/// Returns the upload URL if it is safe to send the attachment to.
fn address(graph: &GraphAccount, url: &str) -> Result<Url> {
    let url = Url::parse(url).ok().filter(|url| {
        // Plain http is accepted only on this machine, for the sandbox.
        let near = graph.base.scheme() == "http"
            && url.scheme() == "http"
            && match url.host() {
                Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
                Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
                Some(url::Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
                None => false,
            };
        url.scheme() == "https" || near
    });
    url.ok_or_else(|| {
        Error::new(ErrorKind::Provider(200), "Outlook gave no safe address for a file")
    })
}

/// Refuses a file that is too large for Outlook, before anything is written.
///
/// # Errors
/// [`ErrorKind::Argument`], which names the attachment.
pub fn check(file: &OutgoingAttachment, size: u64) -> Result<()> {
    if size > MAX_ATTACHMENT {
        return Err(Error::argument(format!(
            "`{}` has {size} bytes, but Outlook takes {MAX_ATTACHMENT}",
            brief(&file.name)
        ))
        .next("send a link to it instead"));
    }
    Ok(())
}
