//! Conversion of delivery status notifications (RFC 3464) and receipts (RFC 8098) to objects of
//! the table `report`.
//!
//! Both are blocks of header fields in a part of their own. Each recipient has a block; fields
//! about the message as a whole are in the first one. Fetching the part and showing the rows is
//! left to the callers.

use serde_json::{Value, json};

use crate::text::header;

/// The media types of the machine-readable part.
pub const REPORTS: &[&str] = &[
    "message/delivery-status",
    "message/global-delivery-status",
    "message/disposition-notification",
    "message/global-disposition-notification",
];
/// The maximum number of recipients that are read.
const MAX_RECIPIENTS: usize = 100;

/// Returns one object per recipient in a part's text, for the message `message`.
pub fn rows(message: &str, text: &str) -> Vec<Value> {
    let mut server = None;
    let mut rows = Vec::new();
    for block in blocks(text) {
        let field = |name: &str| {
            let found = block.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.as_str()).filter(|value| !value.is_empty())
        };
        // The first block names the server for all recipients, so its value is carried over.
        server = field("reporting-mta").or(field("reporting-ua")).map(typed).or(server);
        // The server's own address is preferred: the original one is a copy of what the
        // sender wrote.
        let recipient = field("final-recipient").or(field("original-recipient")).map(typed);
        let kind = field("action").map(str::to_ascii_lowercase);
        // A block without an outcome is about the message as a whole.
        let Some(kind) = kind.or_else(|| field("disposition").and_then(disposition)) else {
            continue;
        };
        rows.push(json!({
            "message": message,
            "kind": kind,
            "recipient": recipient,
            "status": field("status"),
            "reason": field("diagnostic-code").map(typed).or(field("error").map(str::to_owned)),
            "server": field("remote-mta").map(typed).or_else(|| server.clone()),
            "until": field("will-retry-until"),
        }));
        if rows.len() == MAX_RECIPIENTS {
            break;
        }
    }
    rows
}

/// Returns the outcome that a disposition field reports: the last word of
/// `manual-action/MDN-sent-manually; displayed/error`, without its modifier.
fn disposition(value: &str) -> Option<String> {
    let word = value.split(';').nth(1)?.split('/').next()?.trim().to_ascii_lowercase();
    Some(if word == "displayed" { "read".to_owned() } else { word })
}

/// Returns a value without its type, such as in `rfc822; ann@x.org` or `smtp; 550 unknown`.
fn typed(value: &str) -> String {
    let is_type = |word: &str| !word.trim().is_empty() && !word.trim().contains([' ', '@', '.']);
    match value.split_once(';') {
        Some((word, rest)) if is_type(word) => rest.trim().to_owned(),
        _ => value.to_owned(),
    }
}

/// Returns the blocks of fields, with names in lower case and values on one line.
fn blocks(text: &str) -> Vec<Vec<(String, String)>> {
    let mut blocks = vec![Vec::<(String, String)>::new()];
    for line in text.lines() {
        let last = blocks.last_mut().filter(|block| !block.is_empty());
        if line.trim().is_empty() {
            if last.is_some() {
                blocks.push(Vec::new());
            }
        } else if line.starts_with([' ', '\t'])
            && let Some((_, value)) = last.and_then(|block| block.last_mut())
        {
            value.push(' ');
            value.push_str(line.trim());
        } else if let Some((name, value)) = line.split_once(':')
            && let Some(block) = blocks.last_mut()
        {
            block.push((name.trim().to_ascii_lowercase(), value.trim().to_owned()));
        }
    }
    for (_, value) in blocks.iter_mut().flatten() {
        *value = header(value).into_owned();
    }
    blocks
}
