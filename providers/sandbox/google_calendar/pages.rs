//! Pages of event lists, and the tokens of pages and changes.
//!
//! A page token names the last item of its page and the query it belongs to, so that pages divide a
//! list exactly even while it changes. A sync token names the mark of the last change that a list
//! included. It has no range of time.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::error::{self as refuse, bad_value};
use crate::google::params::RequestParameters;
use crate::http::HttpResponse;
use crate::store::calendars::{SandboxCalendars, StoredCalendar, StoredEvent};

/// The default and maximum number of items of a page.
const ROWS: (usize, usize) = (250, 2_500);

/// Parameters that cannot be combined with a sync token. Lists with them return none, except for
/// the ends of the range.
const NO_SYNC: [&str; 4] = ["iCalUID", "orderBy", "timeMin", "timeMax"];

/// An item of a list.
pub(super) struct EventItem<'a> {
    /// The sort key. Items with equal keys are sorted by id.
    pub key: i128,
    /// The event.
    pub event: Cow<'a, StoredEvent>,
    /// True if only its deletion is reported.
    pub deleted: bool,
}

/// A page of a list.
pub(super) struct EventPage<'a> {
    /// The items.
    pub items: Vec<EventItem<'a>>,
    /// The token of the next page.
    pub next: Option<String>,
    /// The mark at the time of the first page.
    pub mark: u64,
    /// The sync token, on the last page.
    pub sync: Option<String>,
}

/// Returns the requested page.
pub(super) fn page<'a>(
    mut items: Vec<EventItem<'a>>,
    params: &RequestParameters<'_>,
    digest: &[u8; 8],
    agenda: &SandboxCalendars,
) -> Result<EventPage<'a>, HttpResponse> {
    let rows = match params.value("maxResults") {
        None => ROWS.0,
        Some(text) => match text.parse::<usize>() {
            Ok(number) if number > 0 => number.min(ROWS.1),
            _ => return Err(bad_value("maxResults")),
        },
    };
    let rows = rows.min(agenda.max_page);
    let after =
        match params.value("pageToken") {
            None => None,
            Some(token) => Some(open(token, digest).ok_or_else(|| {
                refuse::invalid_parameter("pageToken", "Invalid page token value.")
            })?),
        };
    // The mark of the first page: changes made while a client pages must be in its next sync.
    let mark = after.as_ref().map_or(agenda.mark, |(_, _, mark)| *mark);
    items.sort_by(|one, other| (one.key, &one.event.id).cmp(&(other.key, &other.event.id)));
    if let Some((key, id, _)) = &after {
        items.retain(|item| (item.key, &item.event.id) > (*key, id));
    }
    let more = items.len() > rows;
    items.truncate(rows);
    let next = items.last().filter(|_| more).map(|last| {
        let text = format!("{}|{mark}|{}", last.key, last.event.id);
        URL_SAFE_NO_PAD.encode([digest.as_slice(), text.as_bytes()].concat())
    });
    Ok(EventPage { items, next, mark, sync: None })
}

/// Returns the contents of a page token if it belongs to the query.
fn open(token: &str, digest: &[u8; 8]) -> Option<(i128, String, u64)> {
    let bytes = URL_SAFE_NO_PAD.decode(token).ok()?;
    let text = std::str::from_utf8(bytes.strip_prefix(digest)?).ok()?;
    // The id comes last, because it is the only part that could contain the separator.
    let mut parts = text.splitn(3, '|');
    let key = parts.next()?.parse().ok()?;
    let mark = parts.next()?.parse().ok()?;
    Some((key, parts.next()?.to_owned(), mark))
}

/// Returns a digest of the query that a page token must belong to.
pub(super) fn digest(calendar: &StoredCalendar, params: &RequestParameters<'_>) -> [u8; 8] {
    let mut text = format!("{}\n{}", calendar.owner, calendar.id);
    for name in NO_SYNC.iter().chain(&["singleEvents", "showDeleted", "syncToken"]) {
        for value in params.all(name) {
            text.push_str(&format!("\n{name}={value}"));
        }
    }
    let digest = Sha256::digest(text);
    digest.first_chunk().copied().unwrap_or_default()
}

/// Returns true if a list ends with a sync token.
pub(super) fn gives_sync(params: &RequestParameters<'_>) -> bool {
    let range = ["timeMin", "timeMax"];
    let mut hindered = NO_SYNC.iter().filter(|name| !range.contains(name));
    !hindered.any(|name| params.value(name).is_some())
}

/// Returns the sync token of a calendar's list that includes all changes up to a mark.
pub(super) fn sync_token(calendar: &StoredCalendar, epoch: u64, mark: u64, single: bool) -> String {
    let single = u8::from(single);
    let text = format!("{epoch}|{mark}|{single}|{}|{}", calendar.owner, calendar.id);
    URL_SAFE_NO_PAD.encode(text)
}

/// Returns the mark in a sync token.
pub(super) fn since(
    token: &str,
    params: &RequestParameters<'_>,
    calendar: &StoredCalendar,
    single: bool,
    epoch: u64,
) -> Result<u64, HttpResponse> {
    if NO_SYNC.iter().any(|name| params.value(name).is_some()) {
        let message = "Sync token cannot be used with other request restrictions.";
        return Err(refuse::bad(message));
    }
    // Google always includes deletions in a sync, and refuses to omit them.
    if matches!(params.value("showDeleted"), Some("false" | "0")) {
        return Err(bad_value("showDeleted"));
    }
    let wrong = || refuse::invalid("Invalid sync token value.");
    let bytes = URL_SAFE_NO_PAD.decode(token).map_err(|_| wrong())?;
    let text = String::from_utf8(bytes).map_err(|_| wrong())?;
    let mut parts = text.splitn(5, '|');
    let mut part = || parts.next().ok_or_else(wrong);
    let (made, mark) = (part()?, part()?);
    let (expanded, owner, id) = (part()?, part()?, part()?);
    let made: u64 = made.parse().map_err(|_| wrong())?;
    let mark: u64 = mark.parse().map_err(|_| wrong())?;
    // Checked before the age: a foreign token is invalid, not expired.
    if owner != calendar.owner || id != calendar.id {
        return Err(wrong());
    }
    if made != epoch {
        return Err(refuse::sync_over());
    }
    if (expanded == "1") == single {
        Ok(mark)
    } else {
        // The token belongs to a list with the other value of `singleEvents`.
        Err(wrong())
    }
}
