//! A request to the People API that passed all checks.

use crate::google::params::RequestParameters;
use crate::http::HttpRequest;
use crate::state::RequestState;
use crate::store::mailbox::Mailbox;

/// A request that passed all checks.
pub(super) struct PeopleContext<'a> {
    pub state: &'a RequestState,
    pub request: &'a HttpRequest,
    pub mailbox: &'a Mailbox,
    pub params: &'a RequestParameters<'a>,
}
