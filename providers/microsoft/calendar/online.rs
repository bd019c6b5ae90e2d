//! The description of an online meeting at Outlook.
//!
//! Outlook keeps how to join a meeting in the event's description, behind what
//! people write, and takes the meeting away when that part goes. So a new
//! description is put before it. The part begins with a line of underscores, or
//! where the link is; where it cannot be found, nothing is changed.

use serde_json::{Value, json};

use crate::json::{is, nested, text};
use daysheet_core::error::{Error, Result};

/// The line that the part begins with has at least so many underscores.
const LINE: &str = "____________________";
/// The class of the part's text, for parts without a line.
const CLASS: &str = "me-email-text";

/// The description with `notes` instead of what people wrote before.
///
/// # Errors
/// [`Kind::Argument`](daysheet_core::error::Kind::Argument) if the meeting's part cannot
/// be told from the rest.
pub fn body(current: &Value, notes: &str) -> Result<Value> {
    let old = nested(current, "body");
    let content = text(old, "content");
    let link = match text(nested(current, "onlineMeeting"), "joinUrl") {
        "" => text(current, "onlineMeetingUrl"),
        link => link,
    };
    let online = is(current, "isOnlineMeeting") || !link.is_empty();
    let html = text(old, "contentType").eq_ignore_ascii_case("html");
    let plain = json!({"contentType": "text", "content": notes});
    if !online {
        return Ok(plain);
    }
    match meeting(content, html, link) {
        Some(part) if html => Ok(json!({
            "contentType": "html",
            "content": format!("<html><body>{}<br>{part}</body></html>", paragraphs(notes)),
        })),
        Some(part) => Ok(json!({
            "contentType": "text",
            "content": format!("{notes}\n{part}"),
        })),
        // Nothing there tells how to join, so nothing can be lost.
        None if !mentions(content, link) => Ok(plain),
        None => Err(Error::argument(
            "changing the description would lose how to join the online meeting",
        )
        .next("leave out `notes`, or change the description in Outlook")),
    }
}

/// The part of a description that tells how to join.
fn meeting<'c>(content: &'c str, html: bool, link: &str) -> Option<&'c str> {
    // The last, because people write lines of their own.
    let line = content.rfind(LINE).map(|at| {
        let before = content.get(..at).unwrap_or_default();
        before.trim_end_matches('_').len()
    });
    if !html {
        return content.get(first_line(content, line?)..);
    }
    let at = line
        .map(|line| first_line(content, line))
        .or_else(|| content.find(CLASS))
        .or_else(|| linked(content, link))?;
    let start = content.get(..at)?.rfind("<div")?;
    let end = content.rfind("</body").unwrap_or(content.len());
    content.get(start..end)
}

/// The first of the two lines that may stand around the part.
fn first_line(content: &str, last: usize) -> usize {
    let before = content.get(..last).unwrap_or_default();
    match before.rfind(LINE) {
        Some(at) => before.get(..at).map_or(last, |before| before.trim_end_matches('_').len()),
        None => last,
    }
}

/// True if a text says how to join.
fn mentions(content: &str, link: &str) -> bool {
    linked(content, link).is_some() || content.contains("meetup-join") || content.contains(CLASS)
}

/// Where the link of the meeting stands.
fn linked(content: &str, link: &str) -> Option<usize> {
    let escaped = link.replace('&', "&amp;");
    let found = content.find(link).or_else(|| content.find(&escaped));
    found.filter(|_| !link.is_empty())
}

/// Plain text as HTML.
fn paragraphs(notes: &str) -> String {
    let escaped = html_escape::encode_text(notes);
    escaped.lines().collect::<Vec<_>>().join("<br>")
}
