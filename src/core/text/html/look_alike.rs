//! Hosts that mislead: one that looks like another, or that follows a name and an @.
//!
//! They are pointed out by `deceptive` and by the links of `html`.

use crate::text::clip;
use crate::text::sender_auth::script;

/// Maximum length of a host or a description shown, in columns.
pub const MAX_HOST: usize = 80;

/// Explains the host in a word, if it is another one than it seems.
pub fn explain(word: &str) -> Option<String> {
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
    // Abbreviations contain full stops, too.
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

/// Returns the appearance of a misleading host, and its name in ASCII.
pub fn seems(host: &str) -> Option<(String, String)> {
    let plain = url::quirks::domain_to_unicode(host);
    // International names are honest unless they mix scripts or can be read as Latin.
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
