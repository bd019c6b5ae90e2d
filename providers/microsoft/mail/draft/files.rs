//! The attachments of drafts at Outlook: which are added, and which are removed.
//!
//! The upload of one attachment is in `upload.rs`.

use daysheet_core::call::client::ClientPrompts;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{AttachmentId, DraftId};
use daysheet_core::provider::mail::{AttachmentContent, OutgoingAttachment, OutgoingMessage};
use daysheet_core::text::quoted;
use graph_rs_sdk::http::Method;

use super::upload::{MAX_FILES, NewAttachment, PAGES, check, files};
use crate::json::is;
use crate::microsoft::mail::drafts::{FILES, attachment_info};
use crate::microsoft::mail::mailbox::{OutlookMailbox, count};
use crate::net;

impl OutlookMailbox {
    /// Removes attachments that Exchange has copied into a reply or forward: files of the original
    /// if the call names its own, and pictures that our HTML does not show.
    pub(super) async fn drop_copies(
        &self,
        draft: &DraftId,
        outgoing: &OutgoingMessage,
        forwards: bool,
    ) -> Result<()> {
        let request = self.graph().mailbox_url(&files(draft.as_str()), &[("$select", FILES)]);
        let unseen =
            |error: Error| error.context("the draft was created, but its files are unknown");
        let answer = self.graph().get(&request).await.map_err(unseen)?;
        let (copies, _) = self.graph().all(answer, MAX_FILES, PAGES).await.map_err(unseen)?;
        let named = forwards && !outgoing.files.is_empty();
        // From the last to the first, so that removals do not affect attachments still to be
        // checked.
        for copy in copies.iter().rev() {
            let existing = attachment_info(copy);
            let shown = existing
                .cid
                .as_ref()
                .is_some_and(|cid| outgoing.html.contains(&format!("cid:{cid}")));
            let own =
                outgoing.files.iter().any(|file| file.cid.is_some() && file.cid == existing.cid);
            let stays = if is(copy, "isInline") { shown && !own } else { forwards && !named };
            if !stays {
                self.drop_file(draft, &existing.id).await.map_err(|error| {
                    error.context("the draft was created, but has unexpected files")
                })?;
            }
        }
        Ok(())
    }

    /// Deletes an attachment of a draft. If it no longer exists, that is a success.
    pub(super) async fn drop_file(&self, draft: &DraftId, file: &AttachmentId) -> Result<()> {
        let path = format!("{}/{}", files(draft.as_str()), net::path_segment(file.as_str()));
        let request = self.graph().mailbox_url(&path, &[]);
        let drop_it = || self.graph().write(&Method::DELETE, &request, None, None);
        let dropped = match drop_it().await {
            // Repeating a deletion is harmless.
            Err(error) if error.is_open() => self.graph().delete(&request, None).await,
            other => other.map(drop),
        };
        match dropped {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Adds the attachments that a draft does not have yet.
    pub(super) async fn put_files(
        &self,
        draft: &DraftId,
        files: &[OutgoingAttachment],
        caller: &dyn ClientPrompts,
    ) -> Result<()> {
        for (place, file) in files.iter().enumerate() {
            let AttachmentContent::Bytes(bytes) = &file.content else {
                continue;
            };
            // Attachments of the same name are distinguished by their number.
            let others = files.iter().enumerate().filter(|(at, other)| {
                let there =
                    *at < place || matches!(other.content, AttachmentContent::Existing { .. });
                there && other.name == file.name
            });
            let alike = others.count();
            let attachment = NewAttachment { graph: self.graph(), draft, file, bytes, alike };
            let added = attachment.add(caller).await;
            added.map_err(|error| without(error, files.get(place..).unwrap_or_default()))?;
        }
        Ok(())
    }
}

/// Refuses files that are too large, before anything is written.
pub fn sizes(outgoing: &OutgoingMessage) -> Result<()> {
    for file in &outgoing.files {
        if let AttachmentContent::Bytes(bytes) = &file.content {
            check(file, count(bytes.len()))?;
        }
    }
    Ok(())
}

/// Returns the error for a draft that was saved without these attachments.
fn without(error: Error, files: &[OutgoingAttachment]) -> Error {
    let missing: Vec<String> = files
        .iter()
        .filter(|file| matches!(file.content, AttachmentContent::Bytes(_)))
        .map(|file| quoted(&file.name).to_string())
        .collect();
    let perhaps = if error.is_open() { "perhaps " } else { "" };
    Error::new(
        // The call was carried out in part, whatever is known about the attachment.
        ErrorKind::Network,
        format!(
            "the draft exists, but {perhaps}without {}: {}",
            missing.join(", "),
            error.message()
        ),
    )
    .next("find it with mail_search in:drafts; attach the files with mode=edit, or discard it")
}
