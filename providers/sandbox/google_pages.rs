//! The pages that people see when they sign in to the sandbox.
//!
//! Plain HTML without scripts; everything that came from outside is escaped.

use std::fmt::Write;

use html_escape::{encode_double_quoted_attribute as attribute, encode_text as text};
use hyper::StatusCode;

use super::google_error;
use super::http::Answer;
use super::state::State;
use super::tokens::Wish;

/// The consent page: which mailbox, and yes or no.
pub(super) fn consent(state: &State, wish: &Wish, ticket: &str, hint: &str) -> Answer {
    let chosen = state.mailbox(hint).or_else(|| state.mailboxes.first());
    let chosen = chosen.map(|mailbox| mailbox.address.as_str());
    let mut choices = String::new();
    for mailbox in &state.mailboxes {
        let address = mailbox.address.as_str();
        let checked = if chosen == Some(address) {
            " checked"
        } else {
            ""
        };
        let count = mailbox.letters.len();
        // Writing into a String does not fail.
        let _ = writeln!(
            choices,
            "<p><label><input type=radio name=mailbox value=\"{}\"{checked}> {} \
             <small>({count} messages)</small></label>",
            attribute(address),
            text(address),
        );
    }
    let mut scopes = String::new();
    for scope in wish.scope.split(' ') {
        let _ = writeln!(scopes, "<li><code>{}</code>", text(scope));
    }
    Answer::html(
        StatusCode::OK,
        format!(
            "<!DOCTYPE html>\n<html lang=en>\n<meta charset=utf-8>\n\
             <meta name=viewport content=\"width=device-width\">\n\
             <title>Sign in – sandbox</title>\n\
             <style>body{{font:16px/1.5 sans-serif;max-width:32em;margin:3em auto;padding:0 1em}}\
             button{{font:inherit;padding:.4em 1.4em;margin-right:1em}}</style>\n\
             <h1>Sign in to the sandbox</h1>\n\
             <p>This is not Google. The client <code>{client}</code> asks to use a mailbox \
             that Daysheet holds in memory, with:\n<ul>\n{scopes}</ul>\n\
             <form method=post action=\"/o/oauth2/v2/consent\">\n\
             <input type=hidden name=request value=\"{ticket}\">\n{choices}\
             <p><button name=decision value=allow>Allow</button>\
             <button name=decision value=deny>Deny</button>\n</form>\n",
            client = text(&wish.client_id),
            ticket = attribute(ticket),
        ),
    )
}

/// The page that stands where a redirect would be wrong.
pub(super) fn refused(error: &str, why: &str) -> Answer {
    google_error::page(
        StatusCode::BAD_REQUEST,
        &format!("Access blocked: authorization error. Error 400: {error}. {why}"),
    )
}
