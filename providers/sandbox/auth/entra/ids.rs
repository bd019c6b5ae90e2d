//! The GUIDs of Entra: tenants, people, and the id token that tells both.
//!
//! A person's and a tenant's ids are worked out from addresses, so that they
//! are the same on every run, as a real directory's are.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use daysheet_core::error::Result;

use crate::auth::tokens::{fill, random};
use crate::http::Request;

/// The tenant of all personal accounts.
const CONSUMERS: &str = "9188040d-6c67-4c5b-b112-36a304b66dad";

/// How long an id token is good, in seconds.
const ID_TOKEN: i64 = 3_600;

/// A tenant, as it stands in a path.
#[derive(Debug, Clone, Copy)]
pub(super) enum Tenant<'a> {
    /// `common` or `organizations`: that of whoever signs in.
    Any,
    /// `consumers`: that of the personal accounts.
    Consumers,
    /// One tenant, by its GUID.
    Guid(&'a str),
    /// One tenant, by one of its domains.
    Domain(&'a str),
}

impl<'a> Tenant<'a> {
    /// Reads a path segment; `None` when it names no tenant.
    pub fn read(segment: &'a str) -> Option<Self> {
        match segment.to_ascii_lowercase().as_str() {
            "common" | "organizations" => Some(Self::Any),
            "consumers" => Some(Self::Consumers),
            _ if is_guid(segment) => Some(Self::Guid(segment)),
            _ if is_domain(segment) => Some(Self::Domain(segment)),
            _ => None,
        }
    }

    /// The tenant's GUID, where the path says which tenant it is.
    pub fn id(self) -> Option<String> {
        match self {
            Self::Any => None,
            Self::Consumers => Some(CONSUMERS.to_owned()),
            Self::Guid(guid) => Some(guid.to_ascii_lowercase()),
            Self::Domain(name) => Some(guid("tenant", &name.to_ascii_lowercase())),
        }
    }

    /// The GUID of the tenant in which a mailbox signs in.
    pub fn id_for(self, mailbox: &str) -> String {
        self.id().unwrap_or_else(|| {
            let domain = mailbox.rsplit_once('@').map_or(mailbox, |(_, name)| name);
            guid("tenant", &domain.to_ascii_lowercase())
        })
    }
}

/// The object id of a mailbox's owner.
pub(super) fn person(mailbox: &str) -> String {
    guid("person", &mailbox.to_ascii_lowercase())
}

/// The GUID of a name among those of its kind.
pub(super) fn guid(kind: &str, name: &str) -> String {
    let digest = Sha256::new().chain_update(kind).chain_update([0]).chain_update(name).finalize();
    written(digest.first_chunk().copied().unwrap_or_default())
}

/// A GUID for one request. Where the system gives no random numbers it is all
/// but zero: it marks and guards nothing.
pub(super) fn any_guid() -> String {
    let mut bytes = [0; 16];
    let _ = fill(&mut bytes);
    written(bytes)
}

/// Writes a GUID, as one of version 4.
fn written(bytes: [u8; 16]) -> String {
    let bits = u128::from_be_bytes(bytes);
    let bits = bits & !(0xf << 76) | (0x4 << 76);
    let bits = bits & !(0x3 << 62) | (0x2 << 62);
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        bits >> 96,
        bits >> 80 & 0xffff,
        bits >> 64 & 0xffff,
        bits >> 48 & 0xffff,
        bits & 0xffff_ffff_ffff
    )
}

/// True for 8-4-4-4-12 hexadecimal digits.
pub(super) fn is_guid(text: &str) -> bool {
    let mut lengths = text.split('-').map(str::len);
    text.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-')
        && [8, 4, 4, 4, 12].iter().all(|length| lengths.next() == Some(*length))
        && lengths.next().is_none()
}

/// True for a domain name of two labels or more.
fn is_domain(text: &str) -> bool {
    let label = |label: &str| {
        (1..=63).contains(&label.len())
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    text.len() <= 253 && text.contains('.') && text.split('.').all(label)
}

/// The sandbox's base as the client knows it.
pub(super) fn base(request: &Request) -> String {
    let host = request.header("host").unwrap_or("127.0.0.1");
    format!("http://{host}")
}

/// An id token (OpenID Connect Core 1.0, 2).
///
/// Its signature is random: a client that has it from the token endpoint itself
/// need not check one (3.1.3.7), and the sandbox keeps no key.
pub(super) fn id_token(request: &Request, tenant: Tenant<'_>, wish: &IdWish<'_>) -> Result<String> {
    let tid = tenant.id_for(wish.mailbox);
    let now = Timestamp::now().as_second();
    let mut claims = json!({
        "ver": "2.0",
        "iss": format!("{}/{tid}/v2.0", base(request)),
        "sub": guid("subject", wish.mailbox),
        "aud": wish.client_id,
        "iat": now,
        "nbf": now,
        "exp": now + ID_TOKEN,
        "oid": person(wish.mailbox),
        "tid": tid,
    });
    if let Value::Object(claims) = &mut claims {
        let mut put = |name: &str, value: &str| claims.insert(name.to_owned(), value.into());
        if wish.has("profile") {
            put("preferred_username", wish.mailbox);
            put("name", wish.mailbox.split('@').next().unwrap_or_default());
        }
        if wish.has("email") {
            put("email", wish.mailbox);
        }
        if let Some(nonce) = wish.nonce {
            put("nonce", nonce);
        }
    }
    let head = json!({ "typ": "JWT", "alg": "RS256", "kid": "sandbox" });
    let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    Ok(format!("{}.{}.{}", encoded(&head), encoded(&claims), random("", 256)?))
}

/// What an id token is made of.
#[derive(Debug)]
pub(super) struct IdWish<'a> {
    /// For whom it is.
    pub client_id: &'a str,
    /// Who signed in.
    pub mailbox: &'a str,
    /// What was granted.
    pub scope: &'a str,
    /// The mark of the authorization request.
    pub nonce: Option<&'a str>,
}

impl IdWish<'_> {
    /// True when a scope was granted.
    pub fn has(&self, scope: &str) -> bool {
        self.scope.split(' ').any(|granted| granted == scope)
    }
}
