//! The sandbox's sign-in pages.
//!
//! They are plain HTML without scripts, and everything from outside is escaped. They do not imitate
//! the services' pages: both sign-ins share them, apart from the service's name.

use std::fmt::Write;

use html_escape::{encode_double_quoted_attribute as attribute, encode_text as text};
use hyper::StatusCode;

use super::tokens::authorization::{AuthorizationRequest, TokenIssuer};
use crate::http::HttpResponse;
use crate::state::RequestState;

/// Returns the consent page: the requested scopes, a choice of mailbox, and two buttons.
pub(super) fn consent(
    state: &RequestState,
    authorization: &AuthorizationRequest,
    ticket: &str,
    hint: &str,
) -> HttpResponse {
    let (name, action) = match authorization.issuer {
        TokenIssuer::Google => ("Google", "/o/oauth2/v2/consent"),
        TokenIssuer::Microsoft => ("Microsoft", "/common/oauth2/v2.0/consent"),
    };
    let mut scopes = String::new();
    for scope in authorization.scope.split(' ') {
        // Writing to a `String` does not fail.
        let _ = writeln!(scopes, "<li><code>{}</code>", text(scope));
    }
    page(
        StatusCode::OK,
        "Sign in to the sandbox",
        &format!(
            "<p>This is not {name}. The client <code>{client}</code> asks to use a mailbox \
             that Daysheet holds in memory, with:\n<ul>\n{scopes}</ul>\n\
             <form method=post action=\"{action}\">\n\
             <input type=hidden name=request value=\"{ticket}\">\n{choices}{DECISION}</form>\n",
            client = text(&authorization.client_id),
            ticket = attribute(ticket),
            choices = choices(state, hint),
        ),
    )
}

/// Returns the page for entering the code that a device shows. `complaint` is the error of the last
/// attempt.
pub(super) fn device(
    state: &RequestState,
    user_code: &str,
    hint: &str,
    complaint: Option<&str>,
) -> HttpResponse {
    let status = match complaint {
        None => StatusCode::OK,
        Some(_) => StatusCode::BAD_REQUEST,
    };
    let complaint = complaint
        .map_or_else(String::new, |complaint| format!("<p><strong>{}</strong>\n", text(complaint)));
    page(
        status,
        "Sign a device in to the sandbox",
        &format!(
            "<p>This is not Microsoft. Type the code that the device or program shows, and \
             choose the mailbox it may use.\n{complaint}<form method=post>\n\
             <p><label>Code <input name=user_code value=\"{}\" autocomplete=off></label>\n\
             {choices}{DECISION}</form>\n",
            attribute(user_code),
            choices = choices(state, hint),
        ),
    )
}

/// Returns a page with a title and one sentence.
pub(super) fn message(status: StatusCode, title: &str, sentence: &str) -> HttpResponse {
    page(status, title, &format!("<p>{}\n", text(sentence)))
}

/// The buttons that allow and deny.
const DECISION: &str = "<p><button name=decision value=allow>Allow</button>\
                        <button name=decision value=deny>Deny</button>\n";

/// Returns the radio buttons of the mailboxes. The one in `hint` is checked, or else the first.
fn choices(state: &RequestState, hint: &str) -> String {
    let chosen = state.mailbox(hint).or_else(|| state.mailboxes().next());
    let chosen = chosen.map(|mailbox| mailbox.address.as_str());
    let mut choices = String::new();
    for mailbox in state.mailboxes() {
        let address = mailbox.address.as_str();
        let checked = if chosen == Some(address) { " checked" } else { "" };
        let count = mailbox.messages.len();
        let _ = writeln!(
            choices,
            "<p><label><input type=radio name=mailbox value=\"{}\"{checked}> {} \
             <small>({count} messages)</small></label>",
            attribute(address),
            text(address),
        );
    }
    choices
}

/// Returns a page with a heading.
fn page(status: StatusCode, title: &str, body: &str) -> HttpResponse {
    let title = text(title);
    HttpResponse::html(
        status,
        format!(
            "<!DOCTYPE html>\n<html lang=en>\n<meta charset=utf-8>\n\
             <meta name=viewport content=\"width=device-width\">\n\
             <title>{title}</title>\n\
             <style>body{{font:16px/1.5 sans-serif;max-width:32em;margin:3em auto;padding:0 1em}}\
             button,input{{font:inherit}}button{{padding:.4em 1.4em;margin-right:1em}}</style>\n\
             <h1>{title}</h1>\n{body}"
        ),
    )
}
