//! Texts in forms that have to be converted: HTML, escaped text, and names of time zones.

use serde_json::Value;

use super::reader::{ReadValue, RowReader};
use crate::event::time;
use crate::schemas::TextForm;
use crate::text;

/// Reads the text at a path, and converts it from its form.
pub(super) fn converted(
    reader: &mut RowReader,
    object: &Value,
    path: &str,
    form: TextForm,
) -> ReadValue {
    reader.scalar(object, path).map_text(|text| match form {
        TextForm::Escaped => text::entities(&text).into_owned(),
        TextForm::Markup => plain(text),
        TextForm::ZoneName => time::zone_name(&text).unwrap_or(text),
    })
}

/// Converts text that may be HTML to plain text.
pub fn plain(text: String) -> String {
    // Services do not declare whether a text is HTML; these tags are taken as a sign.
    let marked = text.contains("</") || text.contains("<br") || text.contains("<p>");
    if marked { text::html::html(&text, text::html::TextStyle::Text, false).text } else { text }
}
