//! Texts in forms that have to be converted: HTML, escaped text, and names of time zones.

use serde_json::Value;

use super::reader::{ReadValue, RowReader};
use crate::event_time;
use crate::text;

/// Reads HTML-escaped text.
pub(super) fn escaped(reader: &mut RowReader, object: &Value, path: &str) -> ReadValue {
    reader.scalar(object, path).map_text(|text| text::entities(&text).into_owned())
}

/// Reads text that may be HTML.
pub(super) fn markup(reader: &mut RowReader, object: &Value, path: &str) -> ReadValue {
    reader.scalar(object, path).map_text(plain)
}

/// Reads the name of a time zone as its IANA name.
pub(super) fn zone(reader: &mut RowReader, object: &Value, path: &str) -> ReadValue {
    reader.scalar(object, path).map_text(|name| event_time::zone_name(&name).unwrap_or(name))
}

/// Converts text that may be HTML to plain text.
pub fn plain(text: String) -> String {
    // Services do not declare whether a text is HTML; these tags are taken as a sign.
    let marked = text.contains("</") || text.contains("<br") || text.contains("<p>");
    if marked { text::html::html(&text, text::html::TextStyle::Text, false).text } else { text }
}
