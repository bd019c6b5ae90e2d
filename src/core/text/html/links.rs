//! The targets of links, and whether their texts agree.
//!
//! Only web and mail addresses are kept. Tracking parameters and the wrappers that mail
//! systems put around links are removed, so that the address is the one the sender
//! meant. A text that names one host on a link to another is the oldest trick of
//! phishing; it is detected here and reported by the renderer.

use std::collections::HashMap;

use url::Url;

use super::Link;
use crate::text::{cell, clip};

/// Parameters that serve only to recognise the reader; `utm_` is matched
/// by its prefix.
const TRACKING: &[&str] = &[
    "fbclid", "gclid", "dclid", "gbraid", "wbraid", "msclkid", "yclid", "twclid", "igshid",
    "mc_eid", "mc_cid", "mkt_tok", "_hsenc", "_hsmi", "vero_id", "oly_anon_id", "oly_enc_id",
    "ck_subscriber_id", "_ke", "sc_eh", "sc_uid",
];

/// Endings that make a word without a scheme a host name. Two-letter endings
/// count as well, but for those that are also file names.
const ENDINGS: &[&str] = &[
    "com", "net", "org", "edu", "gov", "mil", "int", "info", "biz", "app", "dev", "xyz", "online",
    "shop", "site", "store", "club", "top", "live", "cloud", "tech", "bank", "email", "link",
    "page", "web", "news", "agency", "support", "services", "website", "space", "finance",
];
const FILE_ENDINGS: &[&str] =
    &["js", "ts", "md", "rs", "py", "sh", "cs", "vb", "pl", "ps", "gz", "so", "cc", "hs"];

/// How much of a link's text stands in the list of links.
const MAX_TEXT: usize = 80;

/// A link's target.
pub struct LinkTarget {
    /// The address, clean.
    pub url: String,
    /// The host it leads to; for mail, the domain.
    host: String,
    mail: Option<String>,
}

impl LinkTarget {
    /// Returns the target of an `href`, if it is one to keep.
    pub fn of(href: &str) -> Option<Self> {
        let href = href.trim();
        let whole = if href.starts_with("//") {
            format!("https:{href}")
        } else if href.starts_with("www.") {
            format!("http://{href}")
        } else {
            href.to_owned()
        };
        let mut url = Url::parse(&whole).ok()?;
        if let Some(inner) = unwrapped(&url) {
            url = inner;
        }
        match url.scheme() {
            "mailto" => {
                let mail = url.path().to_ascii_lowercase();
                let host = mail.rsplit('@').next().unwrap_or_default().to_owned();
                Some(Self { url: url.to_string(), host, mail: Some(mail) })
            }
            "http" | "https" => {
                let host = bare_host(&url)?;
                // `https://bank.com@evil.org` leads to evil.org.
                let _ = url.set_username("");
                let _ = url.set_password(None);
                without_tracking(&mut url);
                Some(Self { url: url.to_string(), host, mail: None })
            }
            _ => None,
        }
    }

    /// Returns true if the text is the mail address that the link writes to, so that
    /// the link adds nothing.
    pub fn is_mail_to(&self, text: &str) -> bool {
        self.mail.as_deref() == Some(text.trim().to_ascii_lowercase().as_str())
    }

    /// Returns true if the text is the address itself.
    pub fn is_named_by(&self, text: &str) -> bool {
        let text = text.trim();
        if self.mail.is_some() || text.contains(char::is_whitespace) || !text.contains('.') {
            return false;
        }
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        Self::of(&whole).is_some_and(|other| key(&other.url) == key(&self.url))
    }

    /// Returns the host it leads to, if the text names another one.
    pub fn betrays(&self, text: &str) -> Option<&str> {
        let named: Vec<String> = text
            .split(|c: char| c.is_whitespace() || "()<>[]{}\"'|,;“”«»".contains(c))
            .take(50)
            .filter_map(host_in)
            .collect();
        let other = !named.is_empty() && !named.iter().any(|host| related(host, &self.host));
        other.then_some(self.host.as_str())
    }
}

/// Returns an address without scheme, `www.` and a closing slash, to compare.
fn key(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.strip_prefix("www.").unwrap_or(rest).trim_end_matches('/')
}

/// Returns the host without `www.`.
fn bare_host(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    Some(host.strip_prefix("www.").unwrap_or(host).to_owned())
}

/// Returns the target in Outlook's and Google's link wrappers.
fn unwrapped(url: &Url) -> Option<Url> {
    let host = url.host_str()?;
    let parameter = if host.ends_with(".safelinks.protection.outlook.com") {
        "url"
    } else if host == "www.google.com" && url.path() == "/url" {
        "q"
    } else {
        return None;
    };
    let (_, inner) = url.query_pairs().find(|(name, _)| name == parameter)?;
    Url::parse(&inner).ok()
}

fn without_tracking(url: &mut Url) {
    let Some(query) = url.query() else { return };
    let params: Vec<&str> = query
        .split('&')
        .filter(|pair| {
            let name = pair.split('=').next().unwrap_or_default();
            !name.starts_with("utm_") && !TRACKING.contains(&name)
        })
        .collect();
    let params = params.join("&");
    url.set_query((!params.is_empty()).then_some(&params));
}

/// Returns the host that a word names, if it looks like an address.
fn host_in(word: &str) -> Option<String> {
    let word = word.trim_matches(|c: char| ".:!?*_…".contains(c));
    if word.contains("://") {
        return Url::parse(word).ok().as_ref().and_then(bare_host);
    }
    let name = word.rsplit('@').next().unwrap_or_default();
    let name = name.split(['/', '?', '#', ':']).next().unwrap_or_default();
    let (_, ending) = name.rsplit_once('.')?;
    let ending = ending.to_lowercase();
    let is_label =
        |label: &str| !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || c == '-');
    let sure = name.starts_with("www.") || word.contains('@') || name.len() < word.len();
    let two = ending.chars().count() == 2 && !FILE_ENDINGS.contains(&ending.as_str());
    let known = sure || two || !ending.is_ascii() || ENDINGS.contains(&ending.as_str());
    if !known || !name.split('.').all(is_label) || !ending.chars().all(char::is_alphabetic) {
        return None;
    }
    // The parser turns an international name into the form addresses have.
    let url = Url::parse(&format!("http://{name}")).ok()?;
    bare_host(&url)
}

/// Returns true if two hosts belong together: one is below the other, or both are below
/// the same registered name.
fn related(a: &str, b: &str) -> bool {
    let below = |low: &str, high: &str| {
        high.contains('.') && low.strip_suffix(high).is_some_and(|l| l.ends_with('.'))
    };
    a == b || below(a, b) || below(b, a) || registered(a) == registered(b)
}

/// Returns the last two labels of a host, or three where the second is a category as in `co.uk`.
fn registered(host: &str) -> Vec<&str> {
    let mut labels: Vec<&str> = host.rsplit('.').collect();
    let category = match labels.as_slice() {
        [country, second, ..] => country.len() == 2 && second.len() <= 3,
        _ => false,
    };
    labels.truncate(if category { 3 } else { 2 });
    labels
}

/// The links of a mail, each address once.
#[derive(Default)]
pub struct Links {
    list: Vec<Link>,
    known: HashMap<String, usize>,
}

impl Links {
    /// Returns the number of a link, from one; a new one if its address is new.
    pub fn number(&mut self, target: &LinkTarget, text: &str) -> usize {
        if let Some(number) = self.known.get(&target.url) {
            return *number;
        }
        let (text, _) = clip(cell(text), MAX_TEXT);
        self.list.push(Link { url: target.url.clone(), text });
        self.known.insert(target.url.clone(), self.list.len());
        self.list.len()
    }

    /// Returns all of them, in order of their numbers.
    pub fn into_list(self) -> Vec<Link> {
        self.list
    }
}
