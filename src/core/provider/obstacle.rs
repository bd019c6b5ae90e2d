//! Reasons why a message's text cannot be read, from its content type.

use mail_parser::{MessageParser, MimeHeaders};
use serde::{Deserialize, Serialize};

/// The reason why a message's text cannot be read, whole or in part.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum TextObstacle {
    /// Encrypted with S/MIME.
    Smime,
    /// Packed by S/MIME: signed, or possibly encrypted if the type does not say.
    SmimePacked {
        /// True if it is known to be only signed.
        signed: bool,
    },
    /// Encrypted with PGP/MIME.
    Pgp,
    /// One of several parts that together form a message (RFC 2046, 5.2.2).
    Partial {
        /// Its number, from one.
        number: u32,
        /// The total number of parts, if stated.
        total: Option<u32>,
    },
    /// In text/enriched (RFC 1896), which is no longer in use.
    Enriched,
    /// In `winmail.dat`, as RTF or in a form that cannot be read.
    Winmail,
}

impl TextObstacle {
    /// Returns the obstacle that the `Content-Type` of a message names.
    pub fn from_content_type(content_type: &str) -> Option<Self> {
        // A line break in the value would start another header field and end this one.
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
