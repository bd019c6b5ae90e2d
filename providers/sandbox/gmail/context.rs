//! A request to Gmail that passed all checks.

use serde_json::{Map, Value};

use crate::google::error;
use crate::google::params::RequestParameters;
use crate::http::HttpResponse;
use crate::state::RequestState;
use crate::store::mailbox::Mailbox;

/// A request that passed all checks.
pub(super) struct GmailContext<'a> {
    /// The sandbox.
    pub state: &'a RequestState,
    /// The mailbox at the time of the request.
    pub mailbox: &'a Mailbox,
    /// The parameters.
    pub params: &'a RequestParameters<'a>,
    /// The body.
    pub body: Map<String, Value>,
    /// A message that was uploaded with it.
    pub upload: Option<Vec<u8>>,
}

impl<'a> GmailContext<'a> {
    /// Returns the mailbox in its current state.
    pub fn now(&self) -> Result<&'a Mailbox, HttpResponse> {
        let now = self.state.mailbox(&self.mailbox.address);
        now.ok_or_else(error::not_found)
    }
}

/// Parses a hexadecimal id.
pub(super) fn number(id: &str) -> Result<u64, HttpResponse> {
    // `from_str_radix` would also accept a sign.
    let digits = id.len() <= 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    let number = u64::from_str_radix(id, 16).ok().filter(|_| digits);
    number.ok_or_else(|| error::invalid("Invalid id value"))
}
