//! The Gmail API's routes: who may ask, what was asked, and the answer.
//!
//! Here is reading: profile, labels, messages, attachments, threads, the history,
//! and a few settings; what changes something is in `write.rs`. The JSON is made
//! in `resources.rs` and `settings.rs`; the search is read in `query/mod.rs` and
//! decided in `query/matching.rs`; lists and their pages are in `list.rs` and
//! `history.rs`. What all methods share is in `context.rs`.

pub(super) mod attachment_id;
mod context;
mod drafts;
pub(super) mod filtering;
mod filters;
mod history;
mod labels;
mod list;
mod modify;
mod query;
mod resources;
pub(super) mod sessions;
mod settings;
pub(super) mod upload;
mod write;

use hyper::Method;
use serde_json::json;

use super::auth::google::bearer;
use super::google::error;
use super::google::fields::Shape;
use super::google::params::Params;
use super::http::{Answer, Request};
use super::state::State;
use super::store::letter::Letter;
use super::store::mailbox::Mailbox;
use context::{Rights, SERVICE, format, number};
use list::Listed;

/// Parameters of the lists.
const LIST: &[&str] = &["q", "labelIds", "maxResults", "pageToken", "includeSpamTrash"];

/// Parameters of single messages and threads.
const GET: &[&str] = &["format", "metadataHeaders"];

/// A method of the API, with the ids of its path.
enum Call<'a> {
    Profile,
    Labels,
    Label(&'a str),
    List(Listed),
    Message(&'a str),
    Attachment(&'a str, &'a str),
    Thread(&'a str),
    History,
    SendAs,
    Vacation,
    Language,
}

impl Call<'_> {
    /// The parameters a method takes and the type of its answer.
    fn contract(&self) -> (&'static [&'static str], &'static Shape) {
        match self {
            Self::Profile => (&[], &resources::PROFILE),
            Self::Labels => (&[], &resources::LABELS),
            Self::Label(_) => (&[], &resources::LABEL),
            Self::List(Listed::Messages) => (LIST, &resources::MESSAGES),
            Self::List(Listed::Threads) => (LIST, &resources::THREADS),
            Self::List(Listed::Drafts) => (LIST, &resources::DRAFTS),
            Self::Message(_) => (GET, &resources::MESSAGE),
            Self::Attachment(..) => (&[], &resources::BODY),
            Self::Thread(_) => (GET, &resources::THREAD),
            Self::History => (history::PARAMS, &history::HISTORY),
            Self::SendAs => (&[], &settings::SEND_AS_LIST),
            Self::Vacation => (&[], &settings::VACATION),
            Self::Language => (&[], &settings::LANGUAGE),
        }
    }

    /// True for what a token with these rights may do.
    fn allowed(&self, rights: &Rights) -> bool {
        match self {
            Self::Profile => rights.read || rights.profile,
            Self::Labels | Self::Label(_) => rights.read || rights.labels,
            Self::Attachment(..) => rights.read && !rights.only_metadata,
            Self::SendAs | Self::Vacation | Self::Language => rights.settings,
            Self::List(_) | Self::Message(_) | Self::Thread(_) | Self::History => rights.read,
        }
    }
}

/// Answers what comes below `/gmail`.
pub(super) fn answer(state: &State, request: &Request, path: &[&str]) -> Answer {
    carry_out(state, request, path).unwrap_or_else(|refused| refused)
}

/// Answers a request, or refuses it.
fn carry_out(state: &State, request: &Request, path: &[&str]) -> Result<Answer, Answer> {
    let ["v1", "users", user, rest @ ..] = path else {
        return Err(error::no_method());
    };
    if let Some(call) = write::Call::of(&request.method, rest) {
        return write::carry_out(state, request, user, &call, None);
    }
    let call = match rest {
        ["profile"] => Call::Profile,
        ["labels"] => Call::Labels,
        ["labels", id] => Call::Label(id),
        ["messages"] => Call::List(Listed::Messages),
        ["messages", id] => Call::Message(id),
        ["messages", id, "attachments", attachment] => Call::Attachment(id, attachment),
        ["threads"] => Call::List(Listed::Threads),
        ["threads", id] => Call::Thread(id),
        ["history"] => Call::History,
        ["settings", "sendAs"] => Call::SendAs,
        ["settings", "vacation"] => Call::Vacation,
        ["settings", "language"] => Call::Language,
        _ => return Err(error::no_method()),
    };
    if request.method != Method::GET {
        return Err(error::no_method());
    }
    let (mailbox, rights) = let_in(state, request, user)?;
    if !call.allowed(&rights) {
        return Err(error::insufficient_scopes(SERVICE));
    }
    let (known, shape) = call.contract();
    let params = Params::check(&request.query, known, shape)?;
    let value = match call {
        Call::Profile => resources::profile(mailbox),
        Call::Labels => json!({ "labels": resources::labels(mailbox) }),
        Call::Label(id) => resources::label(mailbox, id).ok_or_else(error::not_found)?,
        Call::List(what) => {
            if rights.only_metadata && params.one("q").is_some() {
                return Err(error::forbidden("Metadata scope does not support 'q' parameter"));
            }
            list::page(mailbox, what, &params)?
        }
        Call::Message(id) => {
            let letter = letter(mailbox, id)?;
            let format = format(&params, &rights, true)?;
            let headers: Vec<&str> = params.all("metadataHeaders").collect();
            resources::message(letter, format, &headers, &state.attachment_ids)
        }
        Call::Attachment(id, attachment) => {
            let letter = letter(mailbox, id)?;
            let invalid = || error::invalid("Invalid attachment token");
            let (of, place) = state.attachment_ids.open(attachment).ok_or_else(invalid)?;
            if of != letter.id {
                return Err(invalid());
            }
            resources::attachment(letter, place).ok_or_else(invalid)?
        }
        Call::Thread(thread) => {
            let id = number(thread)?;
            let letters = mailbox.thread(id).ok_or_else(error::not_found)?;
            let format = format(&params, &rights, false)?;
            let headers: Vec<&str> = params.all("metadataHeaders").collect();
            let messages: Vec<_> = letters
                .iter()
                .map(|letter| resources::message(letter, format, &headers, &state.attachment_ids))
                .collect();
            let history = letters.iter().map(|letter| letter.history).max();
            json!({
                "id": resources::id(id),
                "historyId": history.unwrap_or_default().to_string(),
                "messages": messages,
            })
        }
        Call::History => history::page(mailbox, &params)?,
        Call::SendAs => settings::send_as(state, mailbox),
        Call::Vacation => settings::vacation(state, mailbox),
        Call::Language => settings::language(state, mailbox),
    };
    Ok(params.answer(value))
}

/// The mailbox of a request's bearer, if it may be used under `user`.
fn let_in<'a>(
    state: &'a State,
    request: &Request,
    user: &str,
) -> Result<(&'a Mailbox, Rights), Answer> {
    let (mailbox, access) = bearer(state, request)?;
    if user != "me" && !user.eq_ignore_ascii_case(&mailbox.address) {
        let message = format!("Delegation denied for {}", mailbox.address);
        return Err(error::forbidden(&message));
    }
    Ok((mailbox, Rights::of(&access.scope)))
}

/// The letter of an id in the path.
fn letter<'a>(mailbox: &'a Mailbox, id: &str) -> Result<&'a Letter, Answer> {
    mailbox.letter(number(id)?).ok_or_else(error::not_found)
}
