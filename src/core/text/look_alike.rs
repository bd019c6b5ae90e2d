//! Hosts that are not what they seem: one that looks like another, or stands behind a name.
//!
//! Where they are pointed out is known to `deceptive` and to the links of `html`.

use super::clip;
use super::sender_auth::script;

/// Longest host and description shown.
pub(super) const MAX_HOST: usize = 80;

/// Returns what the host in a word is, if it is another one than it seems.
pub(super) fn explain(word: &str) -> Option<String> {
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
    if let Some((what, ascii)) = seems(host) {
        return Some(format!("{what}; it is {ascii}"));
    }
    // `https://bank.example@evil.example` leads to evil.example.
    named
        .filter(|user| user.contains('.'))
        .map(|_| format!("goes to {}", clip(host.to_lowercase(), MAX_HOST).0))
}

/// Returns what a host looks like, if it is not what it seems, and its name in ASCII.
pub(super) fn seems(host: &str) -> Option<(String, String)> {
    let plain = url::quirks::domain_to_unicode(host);
    let odd = || plain.split(['.', '-']).any(script::is_mixed) || script::latin(&plain).is_some();
    if plain.is_ascii() || !odd() {
        return None;
    }
    let ascii = clip(url::quirks::domain_to_ascii(host), MAX_HOST).0;
    let twin = clip(script::in_latin(&plain), MAX_HOST).0;
    Some(if twin.is_ascii() && !ascii.is_empty() {
        (format!("looks like {twin}"), ascii)
    } else {
        ("mixes scripts".to_owned(), ascii)
    })
}
