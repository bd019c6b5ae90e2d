//! Domains of senders: their organisations, and their forms in ASCII and Unicode.
//!
//! Without a list of public suffixes, domains of one organisation are recognised by their last
//! labels.

/// Returns the part of an address after the last @.
pub fn domain(email: &str) -> &str {
    email.rsplit_once('@').map_or("", |(_, domain)| domain)
}

/// Returns true for domains of the same organisation, as far as their last labels show.
pub fn related(one: &str, other: &str) -> bool {
    organisation(&ascii(one)) == organisation(&ascii(other))
}

/// Returns the last two labels of a domain, or three if the second last is one that countries
/// register under.
pub fn organisation(domain: &str) -> String {
    let labels: Vec<&str> = domain.trim_end_matches('.').split('.').collect();
    let shared = |label: &str| {
        matches!(
            label,
            "co" | "com" | "org" | "net" | "ac" | "gov" | "edu" | "ne" | "or" | "gob" | "nom"
        )
    };
    let count = match labels.as_slice() {
        [.., second, last] if last.len() == 2 && shared(second) => 3,
        _ => 2,
    };
    let from = labels.len().saturating_sub(count);
    labels.get(from..).unwrap_or_default().join(".")
}

/// Returns a domain in ASCII, as sent.
pub fn ascii(domain: &str) -> String {
    to_ascii(domain).unwrap_or_else(|| domain.to_lowercase())
}

/// Returns a domain in ASCII; `None` if it cannot be converted.
pub fn to_ascii(domain: &str) -> Option<String> {
    let ascii = url::quirks::domain_to_ascii(domain);
    (!ascii.is_empty()).then_some(ascii)
}

/// Returns a domain in Unicode, as displayed.
pub fn to_unicode(domain: &str) -> String {
    match url::quirks::domain_to_unicode(domain) {
        none if none.is_empty() => domain.to_lowercase(),
        decoded => decoded,
    }
}
