//! The files that go with a message: as they are sent, and piece by piece.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::{Map, Value};

use crate::graph::error::{GraphError, invalid_property, wrong_body};

/// A file that goes with a message.
#[derive(Debug, Clone, Default)]
pub(crate) struct MessageFile {
    /// Its name.
    pub name: String,
    /// Its media type.
    pub media: String,
    /// Its Content-ID without brackets.
    pub cid: Option<String>,
    /// The number that its id is made of, once it has one.
    pub number: Option<u32>,
    /// True for what the text shows.
    pub inline: bool,
    /// What is in it.
    pub bytes: Vec<u8>,
}

impl MessageFile {
    /// The file of an attachment's body, which was checked against its type.
    pub fn of(members: &Map<String, Value>) -> Result<Self, GraphError> {
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

/// A file that comes piece by piece.
#[derive(Debug)]
pub(crate) struct FileUpload {
    /// What its address ends with.
    pub token: String,
    /// The mailbox.
    pub address: String,
    /// The draft.
    pub message: u64,
    /// The file, as far as it is here.
    pub file: MessageFile,
    /// How long it will be.
    pub size: usize,
    /// Until when its address is good.
    pub expires: Timestamp,
}

/// The media type of a file: the given one if it is one, else the one
/// that the name says.
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

/// Text on one line: what goes into a header field must not end it.
pub(super) fn line(text: &str) -> String {
    let mut text = text.to_owned();
    text.retain(|sign| !sign.is_control());
    text
}
