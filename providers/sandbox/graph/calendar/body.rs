//! The description of an event as Exchange keeps it: always HTML, with what
//! Teams adds for those who join online.

use crate::store::search_text;

/// Where Teams' meetings are joined.
pub(super) const TEAMS: &str = "https://teams.microsoft.com/l/meetup-join/";

/// The description of an event as returned: HTML, with what Teams adds.
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

/// The text of HTML, in lines.
pub(super) fn plain(html: &str) -> String {
    let mut html = html.to_owned();
    for tag in ["<br", "<p", "</p", "<div", "</div", "<li", "<tr"] {
        html = html.replace(tag, &format!("\n{tag}"));
    }
    let text = search_text::visible(&html);
    let mut lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.dedup_by(|one, other| one.is_empty() && other.is_empty());
    lines.join("\r\n").trim().to_owned()
}

/// What begins and ends the part of a body that is Teams' own.
const BLOB: [&str; 2] = ["<div class=\"teams-meeting\">", "</div>"];

/// What Teams adds to a body.
fn blob(link: &str) -> String {
    let [begin, end] = BLOB;
    let link = html_escape::encode_double_quoted_attribute(link);
    format!("{begin}<a href=\"{link}\">Join the meeting now</a>{end}")
}

/// A body without what Teams added to it, and whether that was there.
pub(super) fn without_blob(html: &str) -> (String, bool) {
    let [begin, end] = BLOB;
    let parts =
        html.split_once(begin).and_then(|(before, rest)| Some((before, rest.split_once(end)?)));
    match parts {
        Some((before, (inside, after))) => (format!("{before}{after}"), inside.contains(TEAMS)),
        None => (html.to_owned(), false),
    }
}

/// True for a description that is written in HTML.
pub(super) fn is_html(notes: &str) -> bool {
    let after = notes.split('<').skip(1);
    notes.contains('>')
        && after
            .into_iter()
            .any(|tag| tag.starts_with(|first: char| first.is_ascii_alphabetic() || first == '/'))
}
