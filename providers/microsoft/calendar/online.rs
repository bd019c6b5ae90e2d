//! The description of an online meeting at Outlook.
//!
//! Outlook keeps the joining details in the event's description, after the text that
//! people write, and removes the meeting if they are deleted. So a new description is
//! put before them. They begin with a line of underscores, or at the link; if they
//! cannot be found, nothing is changed.

use serde_json::{Value, json};

use crate::json::{is, nested, text};
use daysheet_core::error::{Error, Result};

/// The minimum number of underscores of the line before the joining details.
const LINE: &str = "____________________";
/// The class of the part's text, for parts without a line.
const CLASS: &str = "me-email-text";

/// Returns the description with `notes` instead of the text before the joining details.
///
/// # Errors
/// [`Kind::Argument`](daysheet_core::error::Kind::Argument) if the joining details
/// cannot be separated from the rest.
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
        // There are no joining details to lose.
        None if !mentions(content, link) => Ok(plain),
        None => Err(Error::argument(
            "changing the description would lose how to join the online meeting",
        )
        .next("leave out `notes`, or change the description in Outlook")),
    }
}

/// Returns the joining details in a description.
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
        .or_else(|| link_position(content, link))?;
    let start = content.get(..at)?.rfind("<div")?;
    let end = content.rfind("</body").unwrap_or(content.len());
    content.get(start..end)
}

/// Returns the first of the two lines that may surround the joining details.
fn first_line(content: &str, last: usize) -> usize {
    let before = content.get(..last).unwrap_or_default();
    match before.rfind(LINE) {
        Some(at) => before.get(..at).map_or(last, |before| before.trim_end_matches('_').len()),
        None => last,
    }
}

/// Returns true if a text has joining details.
fn mentions(content: &str, link: &str) -> bool {
    link_position(content, link).is_some()
        || content.contains("meetup-join")
        || content.contains(CLASS)
}

/// Returns the position of the meeting's link.
fn link_position(content: &str, link: &str) -> Option<usize> {
    let escaped = link.replace('&', "&amp;");
    let found = content.find(link).or_else(|| content.find(&escaped));
    found.filter(|_| !link.is_empty())
}

/// Converts plain text to HTML.
fn paragraphs(notes: &str) -> String {
    let escaped = html_escape::encode_text(notes);
    escaped.lines().collect::<Vec<_>>().join("<br>")
}
