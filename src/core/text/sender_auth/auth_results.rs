//! Parsing of one Authentication-Results header field (RFC 8601).
//!
//! A field counts only if it has the name of the receiving provider's own server (the
//! `authserv-id`), because any other may be the sender's. Microsoft omits that name, so the part
//! before the first semicolon may be a result.

/// Maximum length of a value that is read, in bytes.
const MAX_LEN: usize = 8_192;
/// Words for results in the standards and of the two providers.
const KNOWN: &[&str] = &[
    "pass", "fail", "softfail", "neutral", "none", "policy", "temperror", "permerror", "hardfail",
    "bestguesspass",
];

/// The receiving server's findings about a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuthResults {
    /// The result of SPF: authorisation of the sending machine for the envelope's domain (RFC
    /// 7208).
    pub spf: Option<String>,
    /// The result of DKIM: validity of a signature (RFC 6376); `pass` if any signature is valid.
    pub dkim: Option<String>,
    /// The result of DMARC: agreement of SPF or DKIM with the domain of From (RFC 7489).
    pub dmarc: Option<String>,
    /// The domain that the message was sent for, or signed by.
    pub came_from: Option<String>,
}

impl AuthResults {
    /// Reads the value of a header field that one of `receivers` wrote; an empty name among them
    /// allows a field without a name. Returns `None` for a field by another server. Parts that are
    /// not understood are skipped.
    pub fn read(value: &str, receivers: &[&str]) -> Option<Self> {
        let parts = parts(value);
        let first = parts.first().map_or("", |part| part.trim());
        // A version may follow the name.
        let id = if first.contains('=') { "" } else { first.split_whitespace().next()? };
        let is_trusted = receivers.iter().any(|one| one.eq_ignore_ascii_case(id));
        is_trusted.then(|| Self::new(parts))
    }

    /// Reads the value of a header field of any server. Its results are claims, which the sender
    /// may have written.
    pub fn read_claims(value: &str) -> Self {
        Self::new(parts(value))
    }

    fn new(parts: Vec<String>) -> Self {
        let mut results = Self::default();
        let mut signer = None;
        for part in parts {
            let Some((method, rest)) = part.split_once('=') else {
                continue;
            };
            // A method may have a version after a slash.
            let method = method.split('/').next().unwrap_or_default().trim();
            let slot = match method.to_ascii_lowercase().as_str() {
                "spf" => &mut results.spf,
                "dkim" => &mut results.dkim,
                "dmarc" => &mut results.dmarc,
                _ => continue,
            };
            let mut words = rest.split_whitespace();
            let word = words.next().unwrap_or_default().to_ascii_lowercase();
            let word = match KNOWN.iter().find(|known| **known == word) {
                // A sender policy's `hardfail` is a `fail` (RFC 8601, 2.7.2).
                Some(&"hardfail") => "fail",
                Some(known) => *known,
                None => "unknown",
            };
            let is_first = slot.is_none();
            if is_first || (method.eq_ignore_ascii_case("dkim") && word == "pass") {
                *slot = Some(word.to_owned());
            }
            for property in words {
                match property.split_once('=') {
                    Some(("smtp.mailfrom" | "smtp.helo", domain)) if is_first => {
                        results.came_from = results.came_from.take().or_else(|| own(domain));
                    }
                    Some(("header.d" | "header.i", domain)) => signer = signer.or(own(domain)),
                    _ => {}
                }
            }
        }
        results.came_from = results.came_from.or(signer);
        results
    }

    /// Returns the checks on one line by their result, failures first: `failed: dmarc; none: spf
    /// dkim`; `None` if no check was made.
    pub fn line(&self) -> Option<String> {
        line(self.by_result()?)
    }

    /// Returns the checks that were made and did not pass, as [`Self::line`] writes them; `None`
    /// without any.
    pub fn failures(&self) -> Option<String> {
        let mut groups = self.by_result()?;
        groups.retain(|(word, _)| !["passed", "bestguesspass", "none"].contains(word));
        line(groups)
    }

    /// Returns the checks by the word for their result, failures first; `None` if no check was
    /// made.
    fn by_result(&self) -> Option<Vec<(&str, Vec<&str>)>> {
        let all = [("spf", &self.spf), ("dkim", &self.dkim), ("dmarc", &self.dmarc)];
        if all.iter().all(|(_, found)| found.is_none()) {
            return None;
        }
        let mut groups: Vec<(&str, Vec<&str>)> =
            vec![("failed", Vec::new()), ("passed", Vec::new())];
        for (name, found) in all {
            let word = match found.as_deref().unwrap_or("none") {
                "fail" => "failed",
                "pass" => "passed",
                other => other,
            };
            match groups.iter_mut().find(|(known, _)| *known == word) {
                Some((_, names)) => names.push(name),
                None => groups.push((word, vec![name])),
            }
        }
        groups.retain(|(_, names)| !names.is_empty());
        Some(groups)
    }
}

/// Formats checks by their result; `None` without any.
fn line(groups: Vec<(&str, Vec<&str>)>) -> Option<String> {
    let each = groups.iter().map(|(word, names)| format!("{word}: {}", names.join(" ")));
    (!groups.is_empty()).then(|| each.collect::<Vec<_>>().join("; "))
}

/// Returns the domain of an address, or the domain itself.
fn own(value: &str) -> Option<String> {
    let value = value.trim_matches(['"', '<', '>']);
    let domain = value.rsplit_once('@').map_or(value, |(_, domain)| domain);
    let fits = domain.contains('.')
        && domain.len() <= 253
        && domain.chars().all(|c| c.is_alphanumeric() || matches!(c, '.' | '-' | '_'));
    fits.then(|| domain.to_lowercase())
}

/// Returns the parts between semicolons, without comments and quoted strings, which may
/// contain anything.
fn parts(value: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut depth = 0u32;
    let mut quoted = false;
    let mut chars = value.char_indices();
    while let Some((at, c)) = chars.next() {
        if at >= MAX_LEN {
            break;
        }
        match c {
            '\\' => {
                // The escaped character has no meaning here.
                chars.next();
            }
            '"' if depth == 0 => quoted = !quoted,
            '(' if !quoted => depth = depth.saturating_add(1),
            ')' if !quoted => depth = depth.saturating_sub(1),
            ';' if depth == 0 && !quoted => found.push(String::new()),
            _ if depth > 0 || quoted => {}
            c => {
                if let Some(part) = found.last_mut() {
                    part.push(c);
                }
            }
        }
    }
    found
}
