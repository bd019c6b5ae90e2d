//! What the methods of the Gmail API share: the request that was let in, what
//! its token allows, and what they read of it in the same way.

use serde_json::{Map, Value};

use super::resources::Format;
use crate::google::error;
use crate::google::params::Params;
use crate::http::Answer;
use crate::state::State;
use crate::store::mailbox::Mailbox;

/// The API's own name, in its errors.
pub(super) const SERVICE: &str = "gmail.googleapis.com";

/// A request that was let in.
pub(super) struct Context<'a> {
    /// The sandbox.
    pub state: &'a State,
    /// The mailbox as it was when the request came.
    pub mailbox: &'a Mailbox,
    /// The parameters.
    pub params: &'a Params<'a>,
    /// The body.
    pub body: Map<String, Value>,
    /// A letter that was uploaded beside it.
    pub upload: Option<Vec<u8>>,
}

impl<'a> Context<'a> {
    /// The mailbox as it is now.
    pub fn now(&self) -> Result<&'a Mailbox, Answer> {
        let now = self.state.mailbox(&self.mailbox.address);
        now.ok_or_else(error::not_found)
    }
}

/// What a token's scopes allow.
pub(super) struct Rights {
    /// Messages may be read, in full or in part.
    pub read: bool,
    /// But for their bodies.
    pub only_metadata: bool,
    /// Labels may be read.
    pub labels: bool,
    /// The profile may be read.
    pub profile: bool,
    /// Settings may be read.
    pub settings: bool,
}

impl Rights {
    /// Those of somebody who may see everything.
    pub fn all() -> Self {
        Self::of("https://mail.google.com/")
    }

    /// Those of scopes.
    pub fn of(scope: &str) -> Self {
        let has = |names: &[&str]| {
            scope.split(' ').any(|scope| {
                let name = scope.strip_prefix("https://www.googleapis.com/auth/");
                names.contains(&name.unwrap_or(scope))
            })
        };
        let read = has(&["https://mail.google.com/", "gmail.modify", "gmail.readonly"]);
        let metadata = has(&["gmail.metadata"]);
        Self {
            read: read || metadata,
            only_metadata: metadata && !read,
            labels: has(&["gmail.labels"]),
            profile: has(&["gmail.compose"]),
            settings: read || has(&["gmail.settings.basic"]),
        }
    }
}

/// The format asked for.
pub(super) fn format(params: &Params<'_>, rights: &Rights, raw: bool) -> Result<Format, Answer> {
    let format = match params.one("format").map(str::to_ascii_lowercase).as_deref() {
        None | Some("full") => Format::Full,
        Some("metadata") => Format::Metadata,
        Some("minimal") => Format::Minimal,
        Some("raw") if raw => Format::Raw,
        Some(other) => {
            let kind = "type.googleapis.com/caribou.api.proto.MailFormat.Format";
            return Err(error::invalid_value("format", kind, other));
        }
    };
    let too_much = match format {
        Format::Full => Some("FULL"),
        Format::Raw => Some("RAW"),
        Format::Metadata | Format::Minimal => None,
    };
    match too_much.filter(|_| rights.only_metadata) {
        Some(name) => {
            let message = format!("Metadata scope doesn't allow format {name}");
            Err(error::forbidden(&message))
        }
        None => Ok(format),
    }
}

/// An id as a number; ids are hexadecimal.
pub(super) fn number(id: &str) -> Result<u64, Answer> {
    let digits = id.len() <= 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u64::from_str_radix(id, 16).ok().filter(|_| digits);
    number.ok_or_else(|| error::invalid("Invalid id value"))
}
