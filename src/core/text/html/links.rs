//! Targets of links, and a check that their texts agree.
//!
//! Only web addresses, mail addresses and telephone numbers are kept. Tracking parameters and the
//! wrappers of mail systems are removed, so that the address is the one the sender meant; the hosts
//! that other redirectors name are added ([`redirect`]). A text that names one host or number on a
//! link to another is the oldest trick of phishing: it is detected here and reported by the
//! renderer.

use std::collections::HashMap;

use url::Url;

use super::look_alike;
use super::redirect::{self, bare_host, related};
use crate::text::{cell, clip};

/// A link in a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MailLink {
    /// The address, without tracking parameters.
    pub url: String,
    /// The text of the first link to it; empty if that is the address itself.
    pub text: String,
    /// A remark on the target; empty if the address says it all.
    pub remark: String,
}

/// Parameters that only identify the reader.
const TRACKING: &[&str] = &[
    "fbclid", "gclid", "dclid", "gbraid", "wbraid", "gad_source", "msclkid", "yclid", "twclid",
    "ttclid", "li_fat_id", "igshid", "igsh", "si", "mkt_tok", "_hsenc", "_hsmi", "__hstc",
    "__hssc", "__hsfp", "__s", "hsctatracking", "oly_anon_id", "oly_enc_id", "ck_subscriber_id",
    "_ke", "_kx", "sc_eh", "sc_uid", "sc_cid", "s_cid", "wickedid", "ref_src", "spm", "rb_clickid",
    "ml_subscriber", "ml_subscriber_hash", "_openstat", "cvid", "elqtrackid", "elqtrack", "dm_i",
    "trk", "trkinfo", "xtor", "epik", "guce_referrer", "guce_referrer_sig",
];
/// Prefixes of further such parameters.
const TRACKING_PREFIXES: &[&str] =
    &["utm_", "mc_", "_branch_", "trk_", "vero_", "pk_", "mtm_", "hsa_", "bsft_"];

/// Endings that make a word without a scheme a host name. Two-letter endings count as well, except
/// for extensions of file names.
const ENDINGS: &[&str] = &[
    "com", "net", "org", "edu", "gov", "mil", "int", "info", "biz", "app", "dev", "xyz", "online",
    "shop", "site", "store", "club", "top", "live", "cloud", "tech", "bank", "email", "link",
    "page", "web", "news", "agency", "support", "services", "website", "space", "finance",
];
const FILE_ENDINGS: &[&str] =
    &["js", "ts", "md", "rs", "py", "sh", "cs", "vb", "pl", "ps", "gz", "so", "cc", "hs"];

/// Minimum number of digits for which a text names a telephone number.
const MIN_DIGITS: usize = 5;

/// Maximum length of a link's text in the list of links, in columns.
const MAX_TEXT: usize = 80;

/// The target of a link.
pub struct LinkTarget {
    /// The address, cleaned.
    pub url: String,
    /// The host it leads to; the domain of a mail address, the number of a call.
    host: String,
    mail: Option<String>,
    /// True for a telephone number.
    calls: bool,
    /// The host that a redirector names as its target.
    names: Option<String>,
}

impl LinkTarget {
    /// Returns the target of an `href`, or `None` if it is not kept.
    pub fn from_href(href: &str) -> Option<Self> {
        let href = href.trim();
        let whole = if href.starts_with("//") {
            format!("https:{href}")
        } else if href.starts_with("www.") {
            format!("http://{href}")
        } else {
            href.to_owned()
        };
        let mut url = redirect::unwrapped(Url::parse(&whole).ok()?);
        match url.scheme() {
            "mailto" => {
                let mail = url.path().to_ascii_lowercase();
                let host = mail.rsplit('@').next().unwrap_or_default().to_owned();
                // Escaped as in a web address, because it is shown in a line of ours.
                let url = url.as_str().replace(' ', "%20").replace('[', "%5B").replace(']', "%5D");
                Some(Self { url, host, mail: Some(mail), calls: false, names: None })
            }
            // Numbers contain all kinds of signs, and words.
            "tel" | "sms" => {
                let number = url.path().split([';', '?']).next().unwrap_or_default();
                let host: String =
                    number.chars().filter(|c| "+0123456789*#".contains(*c)).collect();
                let url = format!("{}:{host}", url.scheme());
                (!host.is_empty()).then_some(Self {
                    url,
                    host,
                    mail: None,
                    calls: true,
                    names: None,
                })
            }
            "http" | "https" => {
                let host = bare_host(&url)?;
                // `https://bank.com@evil.org` leads to evil.org.
                let _ = url.set_username("");
                let _ = url.set_password(None);
                let names = redirect::target_host(&url);
                without_tracking(&mut url);
                // In a line of ours, this would become a Markdown link.
                let url = url.as_str().replace("](", "%5D(");
                Some(Self { url, host, mail: None, calls: false, names })
            }
            _ => None,
        }
    }

    /// Returns the text shown for a link without words: its mail address, host or number.
    pub fn place(&self) -> &str {
        self.mail.as_deref().unwrap_or(&self.host)
    }

    /// Returns true if the text is the link's mail address or telephone number, with or without the
    /// country code, so that the link is redundant.
    pub fn is_written_as(&self, text: &str) -> bool {
        if self.calls {
            // `(0)` is dialled only within the country.
            let digits = digits(&text.replace("(0)", ""));
            let own = digits.trim_start_matches('0');
            // The rest may be a country code: a plus sign and up to three digits.
            let country = self.host.strip_suffix(own);
            return own.len() >= MIN_DIGITS && country.is_some_and(|code| code.len() <= 4);
        }
        self.mail.as_deref() == Some(text.trim().to_ascii_lowercase().as_str())
    }

    /// Returns true if the text is the address itself.
    pub fn is_named_by(&self, text: &str) -> bool {
        let text = text.trim();
        let elsewhere = self.mail.is_some() || self.calls;
        if elsewhere || text.contains(char::is_whitespace) || !text.contains('.') {
            return false;
        }
        let whole = if text.contains("://") { text.to_owned() } else { format!("http://{text}") };
        Self::from_href(&whole).is_some_and(|other| key(&other.url) == key(&self.url))
    }

    /// Returns where the link leads, if the text names another host or number. The target that a
    /// redirector names does not count, because only the reader's browser learns where it leads.
    pub fn betrays(&self, text: &str) -> Option<String> {
        let named = hosts_in(text);
        if self.calls && digits(text).len() >= MIN_DIGITS && !self.is_written_as(text) {
            return Some(self.host.clone());
        }
        if named.is_empty() || named.iter().any(|host| related(host, &self.host)) {
            return None;
        }
        Some(match &self.names {
            Some(target) => format!("{}, which names {target}", self.host),
            None => self.host.clone(),
        })
    }

    /// Returns a warning if the host imitates another one and the text names no host. The warning
    /// leaves out the host's own name, which would be explained a second time.
    pub fn deceives(&self, text: &str) -> Option<String> {
        let (what, _) = look_alike::seems(&self.host)?;
        hosts_in(text).is_empty().then_some(what)
    }
}

/// Returns the digits of a text.
fn digits(text: &str) -> String {
    text.chars().filter(char::is_ascii_digit).collect()
}

/// Returns the hosts that a text names.
fn hosts_in(text: &str) -> Vec<String> {
    text.split(|c: char| c.is_whitespace() || "()<>[]{}\"'|,;“”«»".contains(c))
        .take(50)
        .filter_map(host_in)
        .collect()
}

/// Returns an address without scheme, `www.` and final slash, for comparison.
fn key(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.strip_prefix("www.").unwrap_or(rest).trim_end_matches('/')
}

/// Returns the scheme of an `href` that runs or holds something instead of leading somewhere.
pub fn odd_scheme(href: &str) -> Option<&'static str> {
    const ODD: &[&str] = &["data", "javascript", "vbscript", "file", "blob", "filesystem"];
    let url = Url::parse(href.trim()).ok()?;
    ODD.iter().copied().find(|scheme| *scheme == url.scheme())
}

fn without_tracking(url: &mut Url) {
    let Some(query) = url.query() else { return };
    let params: Vec<&str> = query
        .split('&')
        .filter(|pair| {
            let name = pair.split('=').next().unwrap_or_default().to_ascii_lowercase();
            !TRACKING_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
                && !TRACKING.contains(&name.as_str())
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
    // A path, an @ or `www.` shows that a word is a host, even with an unknown ending.
    let sure = name.starts_with("www.") || word.contains('@') || name.len() < word.len();
    let two = ending.chars().count() == 2 && !FILE_ENDINGS.contains(&ending.as_str());
    let known = sure || two || !ending.is_ascii() || ENDINGS.contains(&ending.as_str());
    if !known || !name.split('.').all(is_label) || !ending.chars().all(char::is_alphabetic) {
        return None;
    }
    // The parser converts an international name to ASCII.
    let url = Url::parse(&format!("http://{name}")).ok()?;
    bare_host(&url)
}

/// The links of a message, each address once.
#[derive(Default)]
pub struct MailLinks {
    list: Vec<MailLink>,
    known: HashMap<String, usize>,
}

impl MailLinks {
    /// Returns the number of a link, from 1; a new address gets the next one.
    pub fn number(&mut self, target: &LinkTarget, text: &str) -> usize {
        if let Some(number) = self.known.get(&target.url) {
            return *number;
        }
        let (text, _) = clip(cell(text), MAX_TEXT);
        let remark = match &target.names {
            Some(host) => format!("a redirector; names {}", clip(cell(host), MAX_TEXT).0),
            None if redirect::is_shortener(&target.host) => {
                "a shortener: its target is not known".to_owned()
            }
            None => String::new(),
        };
        self.list.push(MailLink { url: target.url.clone(), text, remark });
        self.known.insert(target.url.clone(), self.list.len());
        self.list.len()
    }

    /// Returns true if the address already has a number.
    pub fn knows(&self, target: &LinkTarget) -> bool {
        self.known.contains_key(&target.url)
    }

    /// Returns all links in order of their numbers.
    pub fn into_list(self) -> Vec<MailLink> {
        self.list
    }
}
