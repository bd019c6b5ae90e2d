//! What a text would do to the program that shows it, or make its reader believe.
//!
//! Pictures in Markdown and HTML that a program would fetch are written out, long `data:` URLs
//! become their type and size, and a host whose letters look like another's, or that stands behind
//! a name and an @, is followed by what it is. Lines of ours are left alone, and so are links:
//! nobody follows them unasked.

use std::collections::{BTreeSet, HashMap};

use super::fence::OURS;
use super::sender_auth::script;
use super::{Note, cell, clip, note, quoted_list};

/// The most that is looked at of a picture's description and of its address, in bytes.
const MAX_ALT: usize = 400;
const MAX_URL: usize = 4_000;
/// Shorter `data:` URLs stay.
const MIN_DATA: usize = 60;
/// Longest host and description shown.
const MAX_HOST: usize = 80;
/// Hosts that are explained in a text.
const MAX_HOSTS: usize = 20;
/// Signs of pictures that are looked at in a text; further ones are parted.
const MAX_SIGNS: usize = 2_000;

/// What was written out in a text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Disarmed {
    /// How many pictures.
    pub pictures: usize,
    /// Where they would have been fetched from.
    pub hosts: BTreeSet<String>,
}

impl Disarmed {
    /// Returns the note on what was written out.
    pub fn note(&self) -> Option<Note> {
        let from = quoted_list(&self.hosts);
        match self.pictures {
            0 => None,
            1 => Some(note!(
                "a picture in Markdown that would be fetched from {} is written out",
                from
            )),
            many => Some(note!(
                "{} pictures in Markdown that would be fetched from {} are written out",
                many,
                from
            )),
        }
    }
}

/// Returns a clean text in which nothing is fetched and hosts are what they seem.
pub fn disarm(text: &str, disarmed: &mut Disarmed) -> String {
    let text = without_pictures(text, disarmed);
    let mut explained = BTreeSet::new();
    let mut out = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        match line.starts_with(OURS) {
            true => out.push_str(line),
            false => push_line(&mut out, line, &mut explained),
        }
    }
    out
}

/// Returns a text with its pictures written out.
fn without_pictures(text: &str, disarmed: &mut Disarmed) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut signs = 0;
    let names = match next_picture(text) {
        Some(_) => definitions(text),
        None => HashMap::new(),
    };
    while let Some(at) = next_picture(rest) {
        signs += 1;
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        let escaped = before.ends_with('\\');
        let looked = signs <= MAX_SIGNS && !escaped;
        let found = looked.then(|| markdown(from, &names).or_else(|| element(from))).flatten();
        let len = match found {
            Some(picture) => {
                disarmed.pictures += 1;
                let host = host_of(picture.url).unwrap_or_else(|| "an unknown host".to_owned());
                let alt = clip(cell(picture.alt), MAX_HOST).0;
                out.push_str("[image: ");
                out.push_str(&alt);
                out.push_str(if alt.is_empty() { "at " } else { ", at " });
                out.push_str(&host);
                out.push(']');
                disarmed.hosts.insert(host);
                picture.len
            }
            None => {
                let sign = from.chars().next().map_or(0, char::len_utf8);
                out.push_str(from.get(..sign).unwrap_or_default());
                if signs > MAX_SIGNS {
                    out.push(' ');
                }
                sign
            }
        };
        rest = from.get(len..).unwrap_or_default();
    }
    out.push_str(rest);
    out
}

/// Returns the next place at which a picture may begin.
fn next_picture(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    bytes.windows(4).position(|four| four.starts_with(b"![") || four.eq_ignore_ascii_case(b"<img"))
}

/// A picture at the beginning of a text.
struct Picture<'t> {
    alt: &'t str,
    url: &'t str,
    /// Its length in bytes.
    len: usize,
}

/// Returns the `![alt](address)` or `![alt][name]` that a text begins with.
fn markdown<'t>(from: &'t str, names: &HashMap<String, &'t str>) -> Option<Picture<'t>> {
    let inner = from.strip_prefix("![")?;
    let end = closing(inner, '[', ']', MAX_ALT)?;
    let (alt, after) = (inner.get(..end)?, inner.get(end + 1..)?);
    let used = from.len() - after.len();
    if let Some(target) = after.strip_prefix('(') {
        let end = closing(target, '(', ')', MAX_URL)?;
        let url = address(target.get(..end)?);
        return is_remote(url).then_some(Picture { alt, url, len: used + end + 2 });
    }
    let (name, len) = match after.strip_prefix('[') {
        Some(name) => {
            let end = closing(name, '[', ']', MAX_ALT)?;
            (name.get(..end)?, end + 2)
        }
        None => (alt, 0),
    };
    let name = if name.is_empty() { alt } else { name };
    let url = names.get(&name.to_lowercase())?;
    Some(Picture { alt, url, len: used + len })
}

/// Returns the address in the brackets after a description.
fn address(target: &str) -> &str {
    let target = target.trim().trim_start_matches('<');
    target.split(|c: char| c.is_whitespace() || c == '>').next().unwrap_or_default()
}

/// Returns where the bracket is that closes a text, at most so far.
fn closing(text: &str, open: char, close: char, most: usize) -> Option<usize> {
    let (mut depth, mut before) = (0_usize, ' ');
    for (at, c) in text.char_indices().take_while(|(at, _)| *at <= most) {
        match c {
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

/// Returns the addresses that lines such as `[name]: address` give to names.
fn definitions(text: &str) -> HashMap<String, &str> {
    let definition = |line| {
        let line = str::trim_start_matches(line, ['>', ' ']);
        let (name, target) = line.strip_prefix('[')?.split_once("]:")?;
        let url = address(target);
        is_remote(url).then(|| (name.to_lowercase(), url))
    };
    text.lines().filter_map(definition).collect()
}

/// Returns the `<img>` with an address that a text begins with.
fn element(from: &str) -> Option<Picture<'_>> {
    from.get(..4).filter(|name| name.eq_ignore_ascii_case("<img"))?;
    let end = from.char_indices().take_while(|(at, _)| *at <= MAX_URL).find(|(_, c)| *c == '>')?.0;
    let tag = from.get(..end)?;
    let at = tag.to_ascii_lowercase().find("src")?;
    let value = tag.get(at + 3..)?.trim_start().strip_prefix('=')?.trim_start();
    let url = value.trim_start_matches(['"', '\'']);
    let url = url.split(|c: char| c.is_whitespace() || "\"'".contains(c)).next()?;
    is_remote(url).then_some(Picture { alt: "", url, len: end + 1 })
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

/// Returns what stands for a long `data:` URL in a word, and what stands around it.
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

/// Returns what the host in a word is, if it is another one than it seems.
fn explain(word: &str) -> Option<String> {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '/');
    let (named, authority) = match word.split_once("://") {
        Some((_, rest)) => {
            let end = rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len());
            let authority = rest.get(..end)?;
            match authority.rsplit_once('@') {
                Some((user, host)) => (Some(user), host),
                None => (None, authority),
            }
        }
        None => (None, word.rsplit_once('@').map_or(word, |(_, host)| host)),
    };
    let host = authority.split([':', '/', '?', '#', ',', ';']).next()?;
    let host = host.trim_matches(|c: char| !c.is_alphanumeric());
    let is_label =
        |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    // Abbreviations have full stops, too.
    let short = host.rsplit('.').next().is_none_or(|last| last.chars().count() < 2);
    if short || !host.contains('.') || host.len() > 253 || !host.split('.').all(is_label) {
        return None;
    }
    let plain = url::quirks::domain_to_unicode(host);
    let odd = || plain.split(['.', '-']).any(script::is_mixed) || script::latin(&plain).is_some();
    if !plain.is_ascii() && odd() {
        let ascii = clip(url::quirks::domain_to_ascii(host), MAX_HOST).0;
        let twin = clip(script::in_latin(&plain), MAX_HOST).0;
        return Some(match twin.is_ascii() && !ascii.is_empty() {
            true => format!("looks like {twin}; it is {ascii}"),
            false => format!("mixes scripts; it is {ascii}"),
        });
    }
    // `https://bank.example@evil.example` leads to evil.example.
    named
        .filter(|user| user.contains('.'))
        .map(|_| format!("goes to {}", clip(host.to_lowercase(), MAX_HOST).0))
}
