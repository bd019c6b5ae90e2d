//! What keeps a message's text from being read, as its content type says.

use mail_parser::{MessageParser, MimeHeaders};
use serde::{Deserialize, Serialize};

/// What keeps a message's text from being read, whole or in part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TextObstacle {
    /// It is encrypted with S/MIME.
    Smime,
    /// It is packed by S/MIME: signed, or perhaps encrypted if that is not known.
    SmimePacked {
        /// True if it is known to be signed alone.
        signed: bool,
    },
    /// It is encrypted with PGP/MIME.
    Pgp,
    /// It is one of several parts that together are a message (RFC 2046, 5.2.2).
    Partial {
        /// Its number, from one.
        number: u32,
        /// How many there are, if it tells.
        total: Option<u32>,
    },
    /// It is in text/enriched (RFC 1896), which nobody writes any more.
    Enriched,
    /// Its text is in `winmail.dat`, as RTF or in a form that cannot be read.
    Winmail,
}

impl TextObstacle {
    /// Returns the obstacle that the `Content-Type` of a message names.
    pub fn of(content_type: &str) -> Option<Self> {
        let line = format!("Content-Type: {}\r\n\r\n", content_type.replace(['\r', '\n'], " "));
        let message = MessageParser::new().parse_headers(line.as_bytes())?;
        let found = message.content_type()?;
        let attribute = |name: &str| found.attribute(name).map(str::to_ascii_lowercase);
        let number = |name: &str| attribute(name)?.trim().parse().ok();
        let kind = format!("{}/{}", found.ctype(), found.subtype().unwrap_or_default());
        match kind.to_ascii_lowercase().as_str() {
            "application/pkcs7-mime" | "application/x-pkcs7-mime" => {
                Some(match attribute("smime-type").as_deref() {
                    Some("signed-data") => Self::SmimePacked { signed: true },
                    Some("enveloped-data" | "authenveloped-data") => Self::Smime,
                    _ => Self::SmimePacked { signed: false },
                })
            }
            "multipart/encrypted" => Some(Self::Pgp),
            "text/enriched" | "text/richtext" => Some(Self::Enriched),
            "message/partial" => {
                Some(Self::Partial { number: number("number")?, total: number("total") })
            }
            _ => None,
        }
    }
}
