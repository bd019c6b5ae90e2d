//! Addresses that only lead on to another one.
//!
//! Mail systems wrap each link to check it before it opens; their wrappers are known, and removed.
//! Newsletters send each link through a click counter, whose target only its owner knows: the
//! address stays, followed by the host that it names. Shorteners name no target.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use percent_encoding::percent_decode_str;
use url::Url;

use crate::text::sender_auth::organisation;

/// Wrappers with their target in a parameter: the host or a domain above it, the beginning of the
/// path, the parameter.
const WRAPPERS: &[(&str, &str, &str)] = &[
    ("safelinks.protection.outlook.com", "/", "url"),
    ("safelinks.protection.office365.us", "/", "url"),
    ("google.com", "/url", "q"),
    ("google.com", "/url", "url"),
    ("urldefense.proofpoint.com", "/v1/", "u"),
    ("l.facebook.com", "/l.php", "u"),
    ("lm.facebook.com", "/l.php", "u"),
    ("l.instagram.com", "/", "u"),
    ("linkedin.com", "/redir/redirect", "url"),
    ("linkedin.com", "/safety/go", "url"),
    ("youtube.com", "/redirect", "q"),
    ("linkprotect.cudasvc.com", "/url", "a"),
    ("ctp.trendmicro.com", "/", "url"),
    ("slack-redir.net", "/link", "url"),
    ("duckduckgo.com", "/l/", "uddg"),
    ("steamcommunity.com", "/linkfilter", "url"),
    ("steamcommunity.com", "/linkfilter", "u"),
    ("vk.com", "/away.php", "to"),
];

/// Parameters in which redirectors name their target.
const NAMING: &[&str] = &[
    "url", "u", "to", "dest", "destination", "target", "redirect", "redirect_url", "redirecturl",
    "link", "href", "goto", "q", "p", "r",
];

/// Hosts of shorteners.
const SHORTENERS: &[&str] = &[
    "t.co", "bit.ly", "tinyurl.com", "goo.gl", "ow.ly", "is.gd", "buff.ly", "lnkd.in", "rb.gy",
    "cutt.ly", "t.ly", "rebrand.ly", "shorturl.at", "amzn.to", "fb.me", "dlvr.it",
];

/// Maximum number of wrappers around an address.
const LAYERS: usize = 4;
/// Maximum length of a part of an address that is decoded, in bytes.
const MAX_LEN: usize = 4_000;

/// Removes the known wrappers of an address.
pub fn unwrapped(mut url: Url) -> Url {
    for _ in 0..LAYERS {
        match target(&url) {
            Some(inner) => url = inner,
            None => break,
        }
    }
    url
}

/// Returns the target of one wrapper.
fn target(url: &Url) -> Option<Url> {
    let host = url.host_str()?;
    let below = |domain: &str| {
        host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
    };
    let parameter = |name: &str| {
        url.query_pairs().find(|(found, _)| found == name).map(|(_, value)| value.into_owned())
    };
    let known = WRAPPERS
        .iter()
        .filter(|(domain, path, _)| below(domain) && url.path().starts_with(path))
        .find_map(|(.., name)| parameter(name));
    let found = match known {
        Some(found) => found,
        None if below("urldefense.proofpoint.com") && url.path().starts_with("/v2/") => {
            // Version 2 writes `%` as `-` and `/` as `_`.
            decoded(&parameter("u")?.replace('-', "%").replace('_', "/"))
        }
        None if below("urldefense.com") || below("urldefense.us") => defended(url)?,
        None if below("awstrack.me") => {
            decoded(url.path().strip_prefix("/L0/")?.split('/').next().unwrap_or_default())
        }
        None if below("secure-web.cisco.com") => decoded(url.path().split('/').nth(2)?),
        None => return None,
    };
    web(&found)
}

/// Returns the target of URL Defense, version 3: `/v3/__ADDRESS__;REPLACED!!…`. Each `*` in the
/// address is one of the replaced characters.
fn defended(url: &Url) -> Option<String> {
    let (address, rest) = url.as_str().split_once("/v3/__")?.1.rsplit_once("__;")?;
    let replaced = URL_SAFE_NO_PAD.decode(rest.split("!!").next()?.trim_end_matches('='));
    let replaced = String::from_utf8(replaced.unwrap_or_default()).unwrap_or_default();
    let mut replaced = replaced.chars();
    Some(address.chars().map(|c| if c == '*' { replaced.next().unwrap_or(c) } else { c }).collect())
}

/// Returns the host of the address that `url` leads on to; `None` if that belongs to the same
/// organisation, or if `url` only shares it.
pub fn target_host(url: &Url) -> Option<String> {
    let own = bare_host(url)?;
    let path = url.path();
    // These pages share an address with other people and do not lead there.
    if ["/share", "/intent/", "/dialog/"].iter().any(|part| path.contains(part)) {
        return None;
    }
    let parameters = url
        .query_pairs()
        .filter(|(name, _)| NAMING.contains(&name.to_ascii_lowercase().as_str()))
        .map(|(_, value)| value.into_owned());
    let parts = path.split('/').map(decoded);
    parameters.chain(parts).find_map(|value| {
        let host = bare_host(&web(&value).or_else(|| web(&unpacked(&value)?))?)?;
        (!related(&host, &own)).then_some(host)
    })
}

/// Returns true for the host of a shortener, which names no target.
pub fn is_shortener(host: &str) -> bool {
    SHORTENERS.contains(&host)
}

/// Parses an address of the web.
fn web(text: &str) -> Option<Url> {
    if !text.starts_with("http") || text.len() > MAX_LEN {
        return None;
    }
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

/// Decodes the percent signs of a part of an address.
fn decoded(part: &str) -> String {
    if part.len() > MAX_LEN {
        String::new()
    } else {
        percent_decode_str(part).decode_utf8_lossy().into_owned()
    }
}

/// Decodes a part that is an address in Base64.
fn unpacked(part: &str) -> Option<String> {
    // `http` in Base64.
    if !part.starts_with("aHR0c") || part.len() > MAX_LEN {
        return None;
    }
    let part = part.trim_end_matches('=');
    let bytes = URL_SAFE_NO_PAD.decode(part).or_else(|_| STANDARD_NO_PAD.decode(part)).ok()?;
    String::from_utf8(bytes).ok()
}

/// Returns the host without `www.`.
pub fn bare_host(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(host.strip_prefix("www.").unwrap_or(host).to_owned())
}

/// Returns true if two hosts belong together: one is below the other, or both are below
/// the same registered name.
pub fn related(a: &str, b: &str) -> bool {
    let below = |low: &str, high: &str| {
        high.contains('.') && low.strip_suffix(high).is_some_and(|l| l.ends_with('.'))
    };
    a == b || below(a, b) || below(b, a) || organisation(a) == organisation(b)
}
