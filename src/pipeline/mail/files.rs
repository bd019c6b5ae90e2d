//! Files of messages, by their ids.

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::MessageId;
use daysheet_core::provider::mail::{AttachmentInfo, SourceMessage};

/// The two ids of an attachment.
#[derive(Debug, Clone, Copy)]
pub(super) struct AttachmentIds<'a> {
    /// The id that the caller knows it by, which errors name.
    pub(super) handle: &'a str,
    /// The lasting id; see [`split_id`].
    pub(super) lasting: &'a str,
}

/// Returns the message of an attachment, and the facts on the attachment.
pub(super) async fn file_named(
    mailbox: &dyn daysheet_core::provider::Mailbox,
    ids: AttachmentIds<'_>,
) -> Result<(MessageId, AttachmentInfo)> {
    let (message, _) = split_id(ids.lasting);
    let message = MessageId::from(message);
    let original = mailbox.source_message(&message).await?;
    Ok((message, file_of(&original, ids)?))
}

/// Returns the attachment of a message that has this lasting id.
pub(super) fn file_of(original: &SourceMessage, ids: AttachmentIds<'_>) -> Result<AttachmentInfo> {
    let (_, part) = split_id(ids.lasting);
    let is_it = |file: &&AttachmentInfo| file.id == ids.lasting || file.id == part;
    original.files.iter().find(is_it).cloned().ok_or_else(|| {
        Error::new(ErrorKind::NotFound, format!("{} no longer exists", ids.handle))
            .next("read the message again with mail_read")
    })
}

/// Splits an attachment's lasting id into message and part: `MESSAGE/PART`, or `MESSAGE:ATTACHMENT`
/// where ids contain slashes.
pub(super) fn split_id(id: &str) -> (&str, &str) {
    id.split_once(':').or_else(|| id.rsplit_once('/')).unwrap_or((id, id))
}
