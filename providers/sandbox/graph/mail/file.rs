//! Attachments: sent at once, or piece by piece.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::graph::error::{GraphError, invalid_property, wrong_body};

/// An attachment.
#[derive(Debug, Clone, Default)]
pub(crate) struct MessageFile {
    /// The file name.
    pub name: String,
    /// The media type.
    pub media: String,
    /// The Content-ID without angle brackets.
    pub cid: Option<String>,
    /// The number that its id contains, once it has one.
    pub number: Option<u32>,
    /// True if the text shows it.
    pub inline: bool,
    /// The content.
    pub bytes: Vec<u8>,
}

impl MessageFile {
    /// Reads an attachment from a body that was checked against its type.
    pub fn from_members(members: &Map<String, Value>) -> Result<Self, GraphError> {
        let text = |name: &str| members.get(name).and_then(Value::as_str);
        let name = text("name").map(line).filter(|name| !name.is_empty());
        let name = name.ok_or_else(invalid_property)?;
        let bytes = text("contentBytes").ok_or_else(invalid_property)?;
        let bytes = STANDARD.decode(bytes).map_err(|_| {
            wrong_body(
                "Cannot convert a value to target type 'Edm.Binary' because of conversion error \
                 between types.",
            )
        })?;
        Ok(Self {
            media: media(text("contentType"), &name),
            name,
            cid: text("contentId").map(line).filter(|cid| !cid.is_empty()),
            number: None,
            inline: members.get("isInline").and_then(Value::as_bool) == Some(true),
            bytes,
        })
    }
}

/// An upload session: a file that is sent piece by piece.
#[derive(Debug)]
pub(crate) struct FileUpload {
    /// The last segment of its URL.
    pub token: String,
    /// The address of the mailbox.
    pub address: String,
    /// The number of the draft.
    pub message: u64,
    /// The file, with the bytes received so far.
    pub file: MessageFile,
    /// The final size in bytes.
    pub size: usize,
    /// The time when its URL expires.
    pub expires: Timestamp,
}

/// Returns the media type of a file: the declared one if it is valid, or else the one of its name.
pub(super) fn media(declared: Option<&str>, name: &str) -> String {
    let good = |media: &&str| {
        let token = |text: &str| {
            !text.is_empty()
                && text
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"!#$&^_.+-".contains(&byte))
        };
        media.split_once('/').is_some_and(|(kind, sub)| token(kind) && token(sub))
    };
    match declared.filter(good) {
        Some(media) => media.to_ascii_lowercase(),
        None => mime_guess::from_path(name).first_or_octet_stream().essence_str().to_owned(),
    }
}

/// Returns text without control characters, which could end a header field.
pub(super) fn line(text: &str) -> String {
    let mut text = text.to_owned();
    text.retain(|sign| !sign.is_control());
    text
}
