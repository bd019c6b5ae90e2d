//! The ways out of a mailing list, as its messages name them (RFC 2369, RFC 8058).
//!
//! The header fields are read here, and trusted as little as possible. Whether an address may be
//! called, and is called, is decided elsewhere.

use url::{Host, Url};

/// Maximum length of a header field that is read, in bytes.
const MAX_HEADER: usize = 16_384;
/// Maximum length of the subject and the text of a message that asks for removal, in characters.
const TEXT: usize = 1_000;

/// A way out of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UnsubscribeWay {
    /// One POST request, which is complete by itself (RFC 8058).
    Post(Url),
    /// A message.
    Mail(UnsubscribeMessage),
    /// A page for a person.
    Open(Url),
}

impl UnsubscribeWay {
    /// Returns the word for the way in the column `unsubscribe`.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Post(_) => "one-click",
            Self::Mail(_) => "mail",
            Self::Open(_) => "page",
        }
    }
}

/// A message that removes its sender from a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsubscribeMessage {
    /// The address.
    pub to: String,
    /// The subject line.
    pub subject: String,
    /// The text; may be empty.
    pub text: String,
}

/// Returns the best way that header fields offer, given as names and values: a request
/// before a message, and a message before a page.
pub fn way(headers: &[(String, String)]) -> Option<UnsubscribeWay> {
    let value = |header: &str| {
        headers
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(header))
            .map(|(_, value)| value.as_str())
            .filter(|value| value.len() <= MAX_HEADER)
    };
    let list = value("List-Unsubscribe")?;
    // No other value is valid (RFC 8058, 3.1).
    let one_click = value("List-Unsubscribe-Post")
        .is_some_and(|value| value.trim().eq_ignore_ascii_case("List-Unsubscribe=One-Click"));
    let urls: Vec<Url> = uris(list).iter().filter_map(|uri| Url::parse(uri).ok()).collect();
    let page = urls.iter().find(|url| callable(url));
    let safe = urls.iter().find(|url| callable(url) && one_request(url));
    if let (true, Some(url)) = (one_click, safe) {
        return Some(UnsubscribeWay::Post(url.clone()));
    }
    if let Some(message) = urls.iter().find_map(message) {
        return Some(UnsubscribeWay::Mail(message));
    }
    page.map(|url| UnsubscribeWay::Open(url.clone()))
}

/// Returns the URIs between angle brackets; white space in them is from folded lines.
fn uris(list: &str) -> Vec<String> {
    list.split('<')
        .skip(1)
        .filter_map(|part| part.split_once('>'))
        .map(|(uri, _)| uri.chars().filter(|c| !c.is_whitespace()).collect())
        .collect()
}

/// Returns true for a URL of a one-click request: https (RFC 8058), or this machine,
/// which the caller refuses outside tests.
fn one_request(url: &Url) -> bool {
    let local = match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        _ => false,
    };
    url.scheme() == "https" || local
}

/// Returns true for a web address without credentials.
fn callable(url: &Url) -> bool {
    let host = match url.host() {
        Some(Host::Domain(name)) => !name.is_empty(),
        Some(_) => true,
        None => false,
    };
    matches!(url.scheme(), "https" | "http")
        && host
        && url.username().is_empty()
        && url.password().is_none()
}

/// Reads the message of a `mailto:` (RFC 6068); Cc and Bcc are ignored.
fn message(url: &Url) -> Option<UnsubscribeMessage> {
    if url.scheme() != "mailto" {
        return None;
    }
    let to = percent_encoding::percent_decode_str(url.path()).decode_utf8().ok()?;
    let plain = |c: char| !c.is_whitespace() && !c.is_control() && !",;<>\"()".contains(c);
    let (local, domain) = to.split_once('@')?;
    // Only one plain address is accepted: a `mailto:` may also list several recipients.
    if local.is_empty() || !domain.contains('.') || domain.contains('@') || !to.chars().all(plain) {
        return None;
    }
    let line = |text: &str| text.replace(char::is_control, " ").trim().to_owned();
    let mut message = UnsubscribeMessage {
        subject: "unsubscribe".to_owned(),
        text: String::new(),
        to: to.into_owned(),
    };
    for (name, value) in url.query_pairs() {
        let value: String = value.chars().take(TEXT).collect();
        match name.to_ascii_lowercase().as_str() {
            "subject" => message.subject = line(&value),
            "body" => message.text = value.replace("\r\n", "\n").replace('\r', "\n"),
            _ => {}
        }
    }
    Some(message)
}
