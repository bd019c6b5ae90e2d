//! Authorization: the token of a request, and the mailbox that it opens.

use hyper::header::HeaderMap;

use super::error::{GraphError, denied, invalid_user, unauthenticated};
use super::exchange::ExchangeMailbox;
use crate::auth::tokens::TokenAccess;
use crate::auth::tokens::authorization::TokenIssuer;
use crate::state::RequestState;

/// Returns the bearer token of a request.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get("authorization")?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Returns the access that a request's token gives. Only Microsoft's tokens are accepted.
pub(super) fn access(state: &RequestState, headers: &HeaderMap) -> Result<TokenAccess, GraphError> {
    let token = bearer(headers).unwrap_or_default();
    let access = state.sign_in().access(token);
    access
        .filter(|access| access.issuer == TokenIssuer::Microsoft)
        .ok_or_else(|| unauthenticated(token))
}

/// Returns the mailbox of `user` if the token opens it. For another person's mailbox, a permission
/// for shared mailboxes is needed.
pub(super) fn let_in<'a>(
    state: &'a RequestState,
    access: &TokenAccess,
    user: Option<&str>,
    [own, shared]: [&[&str]; 2],
) -> Result<ExchangeMailbox<'a>, GraphError> {
    let own_store = ExchangeMailbox::find(state, &access.mailbox);
    let own_store = own_store.ok_or_else(|| invalid_user(&access.mailbox))?;
    let (store, needed) = match user {
        None => (own_store, own),
        // `/users/ID` with one's own id is the same as `/me`, and so is `/users/ADDRESS` below.
        Some(user) if user == own_store.ids().mailbox() => (own_store, own),
        Some(user) => {
            let store = ExchangeMailbox::find(state, user).ok_or_else(|| invalid_user(user))?;
            let mine = store.mailbox.address == own_store.mailbox.address;
            (store, if mine { own } else { shared })
        }
    };
    let granted = needed.iter().any(|name| access.has(name));
    if granted { Ok(store) } else { Err(denied()) }
}
