//! The description of an event as Exchange stores it: always HTML, with the details for joining
//! online that Teams adds.

use crate::store::search_text;

/// The beginning of all addresses of Teams meetings.
pub(super) const TEAMS: &str = "https://teams.microsoft.com/l/meetup-join/";

/// Returns the description as HTML, with the details that Teams adds.
pub(super) fn html(notes: &str, link: Option<&str>) -> String {
    let mut html = if is_html(notes) {
        notes.to_owned()
    } else {
        html_escape::encode_text(notes).replace('\n', "<br>")
    };
    if let Some(link) = link.filter(|link| link.starts_with(TEAMS)) {
        html.push_str(&blob(link));
    }
    if html.is_empty() || html.contains("<html") {
        html
    } else {
        format!("<html><head></head><body>{html}</body></html>")
    }
}

/// Returns the visible text of HTML, in lines.
pub(super) fn plain(html: &str) -> String {
    let mut html = html.to_owned();
    // A preview without these line breaks would run paragraphs together.
    for tag in ["<br", "<p", "</p", "<div", "</div", "<li", "<tr"] {
        html = html.replace(tag, &format!("\n{tag}"));
    }
    let text = search_text::visible(&html);
    let mut lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.dedup_by(|one, other| one.is_empty() && other.is_empty());
    lines.join("\r\n").trim().to_owned()
}

/// The beginning and end of the part of a body that Teams adds.
const BLOB: [&str; 2] = ["<div class=\"teams-meeting\">", "</div>"];

/// Returns the part that Teams adds to a body.
fn blob(link: &str) -> String {
    let [begin, end] = BLOB;
    let link = html_escape::encode_double_quoted_attribute(link);
    format!("{begin}<a href=\"{link}\">Join the meeting now</a>{end}")
}

/// Returns a body without the part that Teams added, and whether it had one.
pub(super) fn without_blob(html: &str) -> (String, bool) {
    let [begin, end] = BLOB;
    let parts =
        html.split_once(begin).and_then(|(before, rest)| Some((before, rest.split_once(end)?)));
    match parts {
        Some((before, (inside, after))) => (format!("{before}{after}"), inside.contains(TEAMS)),
        None => (html.to_owned(), false),
    }
}

/// Returns true if a description is HTML.
pub(super) fn is_html(notes: &str) -> bool {
    let after = notes.split('<').skip(1);
    notes.contains('>')
        && after
            .into_iter()
            .any(|tag| tag.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/'))
}
