//! Reading of messages at Gmail in each form: headers, parts or source.
//!
//! `parts.rs` reads the MIME tree of a message.

use daysheet_core::body;
use daysheet_core::error::{Error, Result};
use daysheet_core::ids::MessageId;
use daysheet_core::project::Projection;
use daysheet_core::provider::{BodyForm, MessageContent};
use serde_json::Value;

use super::fetch::format;
use super::mailbox::GmailMailbox;
use super::parts::{self, DecodedData};
use crate::json::text;
use crate::net::ResponsePermit;

/// The maximum size of a message that is shown raw, in bytes.
const RAW_LIMIT: u64 = 5 << 20;

impl GmailMailbox {
    /// Reads a message in a form.
    pub(super) async fn read_message(
        &self,
        id: &MessageId,
        projection: &Projection,
        form: BodyForm,
    ) -> Result<MessageContent> {
        match requested(projection, form) {
            None => self.raw(id, projection).await,
            Some((projection, format)) => {
                let (item, turn) = self.fetch_in_turn(id, &projection, format).await?;
                self.content(id, item, turn, form).await
            }
        }
    }

    /// Reads the source of a message.
    async fn raw(&self, id: &MessageId, projection: &Projection) -> Result<MessageContent> {
        let mut sized = projection.clone();
        sized.paths.push("sizeEstimate".to_owned());
        // The size comes first, because a raw response cannot be cut.
        let item = self.fetch_message(id, &sized, "metadata").await?;
        let size = item.get("sizeEstimate").and_then(Value::as_u64);
        if let Some(size) = size.filter(|size| *size > RAW_LIMIT) {
            return Err(Error::argument(format!(
                "the message is {size} bytes, too many to show raw ({RAW_LIMIT})"
            ))
            .next("read it with body=text or body=headers"));
        }
        let only_raw = Projection { paths: vec!["raw".to_owned()], ..Projection::default() };
        let answer = self.fetch_message(id, &only_raw, "raw").await?;
        let DecodedData { bytes, damaged } = DecodedData::new(text(&answer, "raw"));
        let mut notes = Vec::new();
        if damaged {
            notes.push("the raw message is damaged base64; it is shown up to the damage".into());
        }
        Ok(MessageContent {
            item,
            source: Some(String::from_utf8_lossy(&bytes).into_owned()),
            notes,
            ..MessageContent::default()
        })
    }

    /// Reads a message that was fetched as [`requested`] specifies. `turn` belongs to its response.
    pub(super) async fn content(
        &self,
        id: &MessageId,
        mut item: Value,
        turn: Option<ResponsePermit>,
        form: BodyForm,
    ) -> Result<MessageContent> {
        match form {
            BodyForm::None | BodyForm::Raw => {
                Ok(MessageContent { item, ..MessageContent::default() })
            }
            BodyForm::Headers => Ok(MessageContent {
                source: Some(parts::headers(&item)),
                item,
                ..MessageContent::default()
            }),
            BodyForm::Parts => {
                let mut tree = parts::read(id, &item);
                parts::strip(&mut item);
                tree.shorten();
                // Fetching a part may need a turn, which a call that holds one would never get.
                drop(turn);
                loop {
                    let part = tree.elsewhere().next();
                    let Some(part) = part else { break };
                    let (data, _turn) = self.fetch_part(id, part.attachment()).await?;
                    part.bring(data);
                    tree.shorten();
                }
                let mut message = tree.into_message(item);
                message.notes.extend(body::shorten(message.parts.iter_mut().flatten().flatten()));
                Ok(message)
            }
        }
    }
}

/// Returns the projection and Gmail's format for reading a message in a form, or `None` for the raw
/// source, which is a request of its own.
pub(super) fn requested(
    projection: &Projection,
    form: BodyForm,
) -> Option<(Projection, &'static str)> {
    let mut projection = projection.clone();
    let format = match form {
        BodyForm::None => format(&projection),
        BodyForm::Raw => return None,
        BodyForm::Headers => {
            projection.headers.clear();
            projection.paths.push("payload/headers".to_owned());
            "metadata"
        }
        BodyForm::Parts => {
            // The tree of parts includes the header fields.
            projection.headers.clear();
            projection.paths.retain(|path| !path.starts_with("payload"));
            projection.paths.push("payload".to_owned());
            "full"
        }
    };
    Some((projection, format))
}
