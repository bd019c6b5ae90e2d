//! Disarming of text: everything that a program would follow is broken, and misleading hosts are
//! explained.
//!
//! Pictures in Markdown and HTML that a program would fetch are replaced by a description. Other
//! text that a Markdown program would take for a link or an HTML element is broken by an added
//! sign: `[a]\(address)`, `[a]\: address`, `< svg …>`. Long `data:` URLs become their type and
//! size. A host whose characters look like another's, or that follows a name and an @, is followed
//! by an explanation.

use std::collections::BTreeSet;

use super::fence::OURS;
use super::html::links::LinkTarget;
use super::html::look_alike::{MAX_HOST, explain};
use super::{Note, cell, clip, note, quoted_list};

/// Maximum length of a picture's description and of its address, in bytes.
const MAX_ALT: usize = 400;
const MAX_URL: usize = 4_000;
/// Maximum length of a `data:` URL that stays, in bytes.
const MIN_DATA: usize = 60;
/// Maximum number of hosts explained in a text.
const MAX_HOSTS: usize = 20;
/// Maximum length of an address that is searched for its scheme, in bytes.
const MAX_SCHEME: usize = 100;
/// Maximum number of pictures, links and tags of a text that are examined closely.
const MAX_SIGNS: usize = 2_000;

/// The pictures that were replaced in a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DisarmedText {
    /// Their number.
    pub pictures: usize,
    /// The hosts that they would have been loaded from.
    pub hosts: BTreeSet<String>,
}

impl DisarmedText {
    /// Returns a note on the replaced pictures, if there are any.
    pub fn note(&self) -> Option<Note> {
        let from = quoted_list(&self.hosts);
        match self.pictures {
            0 => None,
            1 => Some(note!("a Markdown image that would load from {} is shown as text", from)),
            many => Some(note!(
                "{} Markdown images that would load from {} are shown as text",
                many,
                from
            )),
        }
    }
}

/// Returns a clean text with its pictures replaced and its misleading hosts explained.
pub fn disarm(text: &str, disarmed: &mut DisarmedText) -> String {
    let text = inert(text, disarmed);
    let mut explained = BTreeSet::new();
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if line.starts_with(OURS) {
            out.push_str(line);
        } else {
            push_line(&mut out, line, &mut explained);
        }
    }
    out
}

/// Replaces the pictures of a text, and breaks every other sign that a Markdown program would
/// follow. The text around a sign does not matter, because any part of the text may be shown, in
/// any place.
pub fn inert(text: &str, disarmed: &mut DisarmedText) -> String {
    followed(text, &['!', '<', ']'], true, disarmed)
}

/// Does the same for JSON and XML, whose tags stay.
pub fn inert_source(text: &str, disarmed: &mut DisarmedText) -> String {
    followed(text, &['!', ']'], true, disarmed)
}

/// Does the same for text outside of fences, without remarks of ours.
pub fn inert_cell(text: String, disarmed: &mut DisarmedText) -> String {
    if text.contains("](") || text.contains("]:") || text.contains('<') {
        followed(&text, &['!', '<', ']'], false, disarmed)
    } else {
        text
    }
}

/// Returns a text on one clean line, disarmed.
pub fn line(text: &str) -> String {
    inert_cell(cell(text), &mut DisarmedText::default())
}

/// Disarms the given signs of a text. With `remarks`, links that lead to another host than their
/// text names are explained.
fn followed(text: &str, signs: &[char], remarks: bool, disarmed: &mut DisarmedText) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut looked = 0;
    while let Some(at) = rest.find(signs) {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        let sign = from.get(..1).unwrap_or_default();
        let after = from.get(1..).unwrap_or_default();
        let begins = match sign {
            "!" => after.starts_with('['),
            "<" => after.starts_with(|c: char| c.is_ascii_alphabetic()),
            _ => after.starts_with(['(', ':']) && leads_away(after.get(1..).unwrap_or_default()),
        };
        looked += usize::from(begins);
        let few = looked <= MAX_SIGNS;
        let picture = match sign {
            // After a backslash, `![` is a link and not a picture.
            "!" if begins && few && !before.ends_with('\\') => markdown(from),
            "<" if begins && few => element(from),
            _ => None,
        };
        let len = if let Some(picture) = picture {
            disarmed.pictures += 1;
            let host = host_of(picture.url).unwrap_or_else(|| "an unknown host".to_owned());
            // The description may contain another picture.
            let alt = cell(&picture.alt.replace(['[', ']', '<', '>'], " "));
            let alt = clip(alt, MAX_HOST).0;
            out.push_str("[image: ");
            out.push_str(&alt);
            out.push_str(if alt.is_empty() { "at " } else { ", at " });
            out.push_str(&host);
            out.push(']');
            // The replacement ends in a bracket, which must not become a link with the text
            // after it.
            if from.get(picture.len..).is_some_and(|rest| rest.starts_with(['(', ':'])) {
                out.push('\\');
            }
            disarmed.hosts.insert(host);
            picture.len
        } else {
            out.push_str(sign);
            // Beyond the limit, less of each tag is searched, so that the work stays bounded.
            let most = if few { MAX_URL } else { MAX_ALT };
            let link = sign == "]" && begins && few && remarks;
            let link = link.then(|| betrayed(&out, after)).flatten();
            match sign {
                "]" if begins => out.push('\\'),
                // Within a block of HTML, a backslash has no effect.
                "<" if begins && has_attributes(from, most) => out.push(' '),
                _ => {}
            }
            if let Some((target, host)) = &link {
                out.push_str(&format!("{target} ({OURS}goes to {host})"));
            }
            1 + link.map_or(0, |(target, _)| target.len())
        };
        rest = from.get(len..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// Returns the bracketed address after a link's text, and the host that it leads to, if the text
/// names another one. `before` ends with the text and its bracket.
fn betrayed<'t>(before: &str, after: &'t str) -> Option<(&'t str, String)> {
    let inner = after.strip_prefix('(')?;
    let end = closing(inner, '(', ')', MAX_URL)?;
    let target = after.get(..end + 2)?;
    let url = address(inner.get(..end)?);
    // The target is copied unchanged, so it must not contain signs to disarm.
    if !is_remote(url) || target.contains(['!', '<', ']']) {
        return None;
    }
    let near = before.strip_suffix(']').unwrap_or(before);
    let near = near.get(near.ceil_char_boundary(near.len().saturating_sub(MAX_ALT))..)?;
    let (_, text) = near.rsplit_once('[')?;
    let whole = if url.starts_with("//") { format!("https:{url}") } else { url.to_owned() };
    let host = LinkTarget::from_href(&whole)?.betrays(text)?;
    Some((target, clip(cell(&host), MAX_HOST).0))
}

/// Returns true if the text after `](` or `]:` is an address with a scheme or a host, or may be one
/// once it is unescaped. The address may be on the next line, within a quote.
fn leads_away(after: &str) -> bool {
    let after = after.trim_start_matches([' ', '\t']);
    let after =
        after.strip_prefix('\n').map_or(after, |next| next.trim_start_matches([' ', '\t', '>']));
    let target = after.get(..after.floor_char_boundary(MAX_SCHEME)).unwrap_or_default();
    let target = target.split(|c: char| c.is_whitespace() || c == ')').next().unwrap_or_default();
    target.starts_with(['/', '<'])
        || target.contains('\\')
        || target.contains('&') && target.contains(';')
        || target.split_once(':').is_some_and(|(_, rest)| !rest.is_empty())
}

/// Returns true for a tag that may name an address, because it has attributes or does not end
/// within `most` bytes, and for style sheets and scripts. A web address in angle brackets is not a
/// tag.
fn has_attributes(from: &str, most: usize) -> bool {
    let seen = from.get(1..from.floor_char_boundary(most)).unwrap_or_default();
    let tag = seen.split('>').next().unwrap_or_default();
    let name = tag.find(|c: char| c.is_whitespace() || c == '/').unwrap_or(tag.len());
    let (name, attributes) = tag.split_at_checked(name).unwrap_or((tag, ""));
    let is = |known: &&str| name.eq_ignore_ascii_case(known);
    if ["http:", "https:"].iter().any(is) && attributes.starts_with("//") {
        return false;
    }
    let open = tag.len() == seen.len() && from.len() > most;
    attributes.contains('=') || open || ["style", "script"].iter().any(is)
}

/// A picture at the beginning of a text.
struct LeadingPicture<'t> {
    alt: &'t str,
    url: &'t str,
    /// Its length in bytes.
    len: usize,
}

/// Returns the `![alt](address)` that a text begins with.
fn markdown(from: &str) -> Option<LeadingPicture<'_>> {
    let inner = from.strip_prefix("![")?;
    let end = closing(inner, '[', ']', MAX_ALT)?;
    let (alt, after) = (inner.get(..end)?, inner.get(end + 1..)?);
    let target = after.strip_prefix('(')?;
    let end = closing(target, '(', ')', MAX_URL)?;
    let url = address(target.get(..end)?);
    is_remote(url).then_some(LeadingPicture { alt, url, len: from.len() - target.len() + end + 1 })
}

/// Returns the address in the brackets after a description.
fn address(target: &str) -> &str {
    let target = target.trim().trim_start_matches('<');
    target.split(|c: char| c.is_whitespace() || c == '>').next().unwrap_or_default()
}

/// Returns the position of the bracket that closes a text, within `most` bytes.
fn closing(text: &str, open: char, close: char, most: usize) -> Option<usize> {
    let (mut depth, mut before) = (0_usize, ' ');
    for (at, c) in text.char_indices().take_while(|(at, _)| *at <= most) {
        match c {
            // A link does not span paragraphs or lines of ours.
            OURS => return None,
            '\n' if before == '\n' => return None,
            _ if before == '\\' => {}
            c if c == open => depth += 1,
            c if c == close && depth == 0 => return Some(at),
            c if c == close => depth -= 1,
            _ => {}
        }
        before = if before == '\\' { ' ' } else { c };
    }
    None
}

/// Returns the `<img>` with an address that a text begins with.
fn element(from: &str) -> Option<LeadingPicture<'_>> {
    from.get(..4).filter(|name| name.eq_ignore_ascii_case("<img"))?;
    let end = from.char_indices().take_while(|(at, _)| *at <= MAX_URL).find(|(_, c)| *c == '>')?.0;
    let tag = from.get(..end)?;
    let at = tag.to_ascii_lowercase().find("src")?;
    let value = tag.get(at + 3..)?.trim_start().strip_prefix('=')?.trim_start();
    let url = value.trim_start_matches(['"', '\'']);
    let url = url.split(|c: char| c.is_whitespace() || "\"'".contains(c)).next()?;
    is_remote(url).then_some(LeadingPicture { alt: "", url, len: end + 1 })
}

fn is_remote(url: &str) -> bool {
    let lower: String = url.chars().take(8).collect::<String>().to_ascii_lowercase();
    lower.starts_with("http:") || lower.starts_with("https:") || lower.starts_with("//")
}

/// Returns the host of an address.
fn host_of(url: &str) -> Option<String> {
    let whole = if url.starts_with("//") { format!("https:{url}") } else { url.to_owned() };
    let host = url::Url::parse(&whole).ok()?.host_str()?.to_owned();
    Some(clip(cell(&host), MAX_HOST).0)
}

/// Appends a line with its addresses explained.
fn push_line(out: &mut String, line: &str, explained: &mut BTreeSet<String>) {
    let odd =
        !line.is_ascii() && line.contains('.') || line.contains("xn--") || line.contains("://");
    if !odd && !line.contains("data:") {
        return out.push_str(line);
    }
    for part in line.split_inclusive(char::is_whitespace) {
        let word = part.trim_end();
        if let Some((before, data, after)) = data_url(word) {
            out.push_str(before);
            out.push_str(&data);
            out.push_str(after);
        } else {
            out.push_str(word);
        }
        if let Some(what) = (explained.len() < MAX_HOSTS).then(|| explain(word)).flatten()
            && explained.insert(what.clone())
        {
            out.push_str(&format!(" ({OURS}{what})"));
        }
        out.push_str(part.get(word.len()..).unwrap_or_default());
    }
}

/// Returns the replacement of a long `data:` URL in a word, and the text around it.
fn data_url(word: &str) -> Option<(&str, String, &str)> {
    let at = word.find("data:")?;
    let (before, url) = word.split_at_checked(at)?;
    if before.ends_with(char::is_alphanumeric) {
        return None;
    }
    let len = url.find(['"', '\'', ')', '>', ']']).unwrap_or(url.len());
    let (url, after) = url.split_at_checked(len)?;
    let (head, data) = url.strip_prefix("data:")?.split_once(',')?;
    if url.len() <= MIN_DATA || head.len() > MAX_HOST {
        return None;
    }
    let (bytes, kind) = match head.strip_suffix(";base64") {
        Some(kind) => (data.len() / 4 * 3, kind),
        None => (data.len(), head),
    };
    let kind = kind.split(';').next().filter(|kind| !kind.is_empty()).unwrap_or("text/plain");
    let size = if bytes < 1_000 { format!("{bytes} B") } else { format!("{} kB", bytes / 1_000) };
    Some((before, format!("[data: URL, {kind}, {size}]"), after))
}
