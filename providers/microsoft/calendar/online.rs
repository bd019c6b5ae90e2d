//! The description of an online meeting at Outlook.
//!
//! Outlook keeps the joining details in the event's description, after the text that people write,
//! and removes the meeting if they are deleted. A new description is therefore put before them.
//! They begin with a line of underscores, or at the link; if they cannot be found, nothing is
//! changed. They belong to one meeting, so a copied event or an edited description does not keep
//! the details of the old meeting.

use daysheet_core::error::{Error, Result};
use daysheet_core::flatten::plain;
use serde_json::{Value, json};

use crate::json::{is, nested, text};

/// The shortest line of underscores that begins the joining details.
const LINE: &str = "____________________";
/// The class of the HTML of joining details that begin without a line.
const CLASS: &str = "me-email-text";

/// The description of an event.
struct EventDescription<'e> {
    content: &'e str,
    html: bool,
    /// True if the event has an online meeting.
    online: bool,
    /// The URL of the meeting; empty if not reported.
    link: &'e str,
}

impl<'e> EventDescription<'e> {
    fn new(event: &'e Value) -> Self {
        let body = nested(event, "body");
        let link = match text(nested(event, "onlineMeeting"), "joinUrl") {
            "" => text(event, "onlineMeetingUrl"),
            link => link,
        };
        Self {
            content: text(body, "content"),
            html: text(body, "contentType").eq_ignore_ascii_case("html"),
            online: is(event, "isOnlineMeeting") || !link.is_empty(),
            link,
        }
    }

    /// Returns the joining details.
    fn details(&self) -> Option<&'e str> {
        self.online.then(|| meeting(self.content, self.html, self.link)).flatten()
    }
}

/// Returns the description without the joining details, as plain text.
pub fn own_notes(event: &Value) -> String {
    let old = EventDescription::new(event);
    let details = old.details().unwrap_or_default();
    plain(old.content.replacen(details, "", 1)).trim().to_owned()
}

/// Returns the description with `notes` in place of the text before the joining details.
///
/// # Errors
/// [`ErrorKind::Argument`](daysheet_core::error::ErrorKind::Argument) if the joining details cannot
/// be separated from the rest.
pub fn body(current: &Value, notes: &str) -> Result<Value> {
    let old = EventDescription::new(current);
    let Some(details) = old.details() else {
        if old.online && mentions(old.content, old.link) {
            return Err(Error::argument(
                "changing the description would lose how to join the online meeting",
            )
            .next("leave out `notes`, or change the description in Outlook"));
        }
        // There are no joining details that could be lost.
        return Ok(json!({"contentType": "text", "content": notes}));
    };
    let notes = without_copy(notes, &plain(details.to_owned()), old.link);
    Ok(if old.html {
        json!({
            "contentType": "html",
            "content": format!("<html><body>{}<br>{details}</body></html>", paragraphs(&notes)),
        })
    } else {
        json!({"contentType": "text", "content": format!("{notes}\n{details}")})
    })
}

/// Returns a description without the joining details that were copied with its text, and without
/// the link that an import adds.
fn without_copy(notes: &str, details: &str, link: &str) -> String {
    // Some answers do not keep line breaks, so words are compared.
    let words = || details.split_whitespace();
    let rest_after = |start: usize| {
        let copy = notes.get(start..)?;
        let rest = words().try_fold(copy, |rest, word| rest.trim_start().strip_prefix(word))?;
        (rest.is_empty() || rest.starts_with(char::is_whitespace)).then_some((start, rest))
    };
    let mut starts = words().next().into_iter().flat_map(|first| notes.match_indices(first));
    let (before, after) = match starts.find_map(|(start, _)| rest_after(start)) {
        Some((start, rest)) => (notes.get(..start).unwrap_or_default(), rest.trim()),
        None => (notes, ""),
    };
    let own = format!("{}\n{after}", before.trim_end());
    let own = own.trim();
    own.strip_suffix(link).unwrap_or(own).trim_end().to_owned()
}

/// Returns the joining details in a description.
fn meeting<'c>(content: &'c str, html: bool, link: &str) -> Option<&'c str> {
    // The last one, because people also write lines of underscores.
    let line = content.rfind(LINE).map(|at| {
        let before = content.get(..at).unwrap_or_default();
        before.trim_end_matches('_').len()
    });
    if !html {
        return content.get(first_line(content, line?, link)..);
    }
    let at = line
        .map(|line| first_line(content, line, link))
        .or_else(|| content.find(CLASS))
        .or_else(|| link_position(content, link))?;
    let before = content.get(..at)?;
    let start = match line {
        // Outlook for Windows writes paragraphs within a single `div`.
        Some(_) => ["<div", "<p ", "<p>"].iter().filter_map(|tag| before.rfind(tag)).max()?,
        None => before.rfind("<div")?,
    };
    let end = content.rfind("</body").unwrap_or(content.len());
    content.get(start..end)
}

/// Returns the first of the two lines that may surround the joining details.
fn first_line(content: &str, last: usize, link: &str) -> usize {
    let before = content.get(..last).unwrap_or_default();
    // The link does not follow a line that someone wrote above the details.
    let first = before.rfind(LINE).and_then(|at| before.split_at_checked(at));
    let first = first.filter(|(_, between)| mentions(between, link));
    first.map_or(last, |(before, _)| before.trim_end_matches('_').len())
}

/// Returns true if a text contains joining details.
fn mentions(content: &str, link: &str) -> bool {
    link_position(content, link).is_some()
        || content.contains("meetup-join")
        || content.contains(CLASS)
}

/// Returns the position of the meeting's link in a description.
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
