//! What the methods of the Gmail API share: the request that was let in, and ids.

use serde_json::{Map, Value};

use crate::google::error;
use crate::google::params::RequestParameters;
use crate::http::HttpResponse;
use crate::state::RequestState;
use crate::store::mailbox::Mailbox;

/// The API's own name, in its errors.
pub(super) const SERVICE: &str = "gmail.googleapis.com";

/// A request that was let in.
pub(super) struct GmailContext<'a> {
    /// The sandbox.
    pub state: &'a RequestState,
    /// The mailbox as it was when the request came.
    pub mailbox: &'a Mailbox,
    /// The parameters.
    pub params: &'a RequestParameters<'a>,
    /// The body.
    pub body: Map<String, Value>,
    /// A message that was uploaded beside it.
    pub upload: Option<Vec<u8>>,
}

impl<'a> GmailContext<'a> {
    /// The mailbox as it is now.
    pub fn now(&self) -> Result<&'a Mailbox, HttpResponse> {
        let now = self.state.mailbox(&self.mailbox.address);
        now.ok_or_else(error::not_found)
    }
}

/// An id as a number; ids are hexadecimal.
pub(super) fn number(id: &str) -> Result<u64, HttpResponse> {
    let digits = id.len() <= 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u64::from_str_radix(id, 16).ok().filter(|_| digits);
    number.ok_or_else(|| error::invalid("Invalid id value"))
}
