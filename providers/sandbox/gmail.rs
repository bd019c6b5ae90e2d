//! The Gmail API's routes: authorisation, parsing, and the answer.
//!
//! Drafts and sending are in `drafts.rs`; messages, threads and attachments in `read.rs`, their
//! labels in `modify.rs`; labels themselves, filters and settings in files of their own. JSON is
//! built in `resources.rs` and `settings.rs`. Searches are parsed in `query.rs` and evaluated
//! in `query/matching.rs`; lists and their pages are in `list.rs` and `history.rs`. Uploaded
//! messages arrive through `upload.rs`.

pub(super) mod attachment_id;
mod context;
mod drafts;
mod filters;
mod history;
mod labels;
mod list;
mod modify;
mod query;
mod read;
mod resources;
pub(super) mod sessions;
mod settings;
pub(super) mod upload;

use context::GmailContext;
use hyper::StatusCode;
use list::ListSubject;
use resources::{DRAFT, LABEL, MESSAGE, THREAD};
use serde_json::{Value, json};
use settings::{LANGUAGE, SEND_AS, VACATION};

use super::auth::google::bearer;
use super::google::fields::{FieldShape, shape};
use super::google::params::RequestParameters;
use super::google::{body, error};
use super::http::{HttpRequest, HttpResponse};
use super::routes::routes;
use super::state::RequestState;

/// The API's own name in its errors.
const SERVICE: &str = "gmail.googleapis.com";

/// The parameters of the lists.
const LIST: &[&str] = &["q", "labelIds", "maxResults", "pageToken", "includeSpamTrash"];

/// The parameters of single messages and threads.
const GET: &[&str] = &["format", "metadataHeaders"];

/// The type of a missing body, and of an answer without one.
static NOTHING: FieldShape = FieldShape(&[]);

/// The type of changes to the labels of many messages.
static BATCH: FieldShape = shape! { "ids", "addLabelIds", "removeLabelIds" };

/// The type of a change to the labels of one message.
static LABELLING: FieldShape = shape! { "addLabelIds", "removeLabelIds" };

/// The type of a list of message ids.
static IDS: FieldShape = shape! { "ids" };

// One of the listed scopes is required. The first one covers everything but settings.
const ERASE: &[&str] = &["https://mail.google.com/"];
const MODIFY: &[&str] = &["https://mail.google.com/", "gmail.modify"];
const COMPOSE: &[&str] = &["https://mail.google.com/", "gmail.modify", "gmail.compose"];
const LABELS: &[&str] = &["https://mail.google.com/", "gmail.modify", "gmail.labels"];
const SETTINGS: &[&str] = &["gmail.settings.basic"];
const READ: &[&str] = &["https://mail.google.com/", "gmail.modify", "gmail.readonly"];
const READ_DRAFTS: &[&str] =
    &["https://mail.google.com/", "gmail.modify", "gmail.readonly", "gmail.compose"];
const READ_LABELS: &[&str] =
    &["https://mail.google.com/", "gmail.modify", "gmail.readonly", "gmail.labels"];
const READ_SETTINGS: &[&str] =
    &["https://mail.google.com/", "gmail.modify", "gmail.readonly", "gmail.settings.basic"];

/// A call that a route leads to.
struct GmailCall<'a> {
    /// The scopes, one of which is required.
    scopes: &'static [&'static str],
    /// The parameters.
    params: &'static [&'static str],
    /// The type of the body.
    body: &'static FieldShape,
    /// The type of the answer.
    answer: &'static FieldShape,
    /// The implementation. Null is an answer without a body.
    handle: GmailHandler<'a>,
}

type GmailHandler<'a> = Box<dyn Fn(&GmailContext<'_>) -> Result<Value, HttpResponse> + 'a>;

/// Returns a call that reads.
fn read<'a>(
    scopes: &'static [&'static str],
    params: &'static [&'static str],
    answer: &'static FieldShape,
    handle: impl Fn(&GmailContext<'_>) -> Result<Value, HttpResponse> + 'a,
) -> GmailCall<'a> {
    GmailCall { scopes, params, body: &NOTHING, answer, handle: Box::new(handle) }
}

/// Returns a call that writes.
fn write<'a>(
    scopes: &'static [&'static str],
    body: &'static FieldShape,
    answer: &'static FieldShape,
    handle: impl Fn(&GmailContext<'_>) -> Result<Value, HttpResponse> + 'a,
) -> GmailCall<'a> {
    GmailCall { scopes, params: &[], body, answer, handle: Box::new(handle) }
}

routes! { GmailCall below "/gmail/v1/users/me" {
    "GET" ["profile"] => read(READ_DRAFTS, &[], &resources::PROFILE, |context| {
        Ok(resources::profile(context.mailbox))
    }),
    "GET" ["messages"] => read(READ, LIST, &resources::MESSAGES, |context| {
        list::page(context.mailbox, ListSubject::Messages, context.params)
    }),
    "GET" ["messages", id] => read(READ, GET, &MESSAGE, move |context| context.one_message(id)),
    "GET" ["messages", id, "attachments", attachment] => {
        read(READ, &[], &resources::BODY, move |context| context.attachment(id, attachment))
    },
    "POST" ["messages", id, "trash"] => {
        write(MODIFY, &NOTHING, &MESSAGE, move |context| context.trash(id))
    },
    "POST" ["messages", id, "modify"] => {
        write(MODIFY, &LABELLING, &MESSAGE, move |context| context.modify(id))
    },
    "POST" ["messages", "batchModify"] => {
        write(MODIFY, &BATCH, &NOTHING, |context| context.batch_modify())
    },
    "POST" ["messages", "batchDelete"] => {
        write(ERASE, &IDS, &NOTHING, |context| context.batch_delete())
    },
    "GET" ["threads"] => read(READ, LIST, &resources::THREADS, |context| {
        list::page(context.mailbox, ListSubject::Threads, context.params)
    }),
    "GET" ["threads", id] => read(READ, GET, &THREAD, move |context| context.thread(id)),
    "GET" ["history"] => read(READ, history::PARAMS, &history::HISTORY, |context| {
        history::page(context.mailbox, context.params)
    }),
    "GET" ["drafts"] => read(READ_DRAFTS, drafts::LIST, &resources::DRAFTS, |context| {
        list::page(context.mailbox, ListSubject::Drafts, context.params)
    }),
    "GET" ["drafts", id] => {
        read(READ_DRAFTS, &["format"], &DRAFT, move |context| context.draft(id))
    },
    "POST" ["drafts"] => write(COMPOSE, &DRAFT, &DRAFT, |context| context.make_draft()),
    "PUT" ["drafts", id] => write(COMPOSE, &DRAFT, &DRAFT, move |context| context.update_draft(id)),
    "POST" ["drafts", "send"] => write(COMPOSE, &DRAFT, &MESSAGE, |context| context.send_draft()),
    "GET" ["labels"] => read(READ_LABELS, &[], &resources::LABELS, |context| {
        Ok(json!({ "labels": resources::labels(context.mailbox) }))
    }),
    "GET" ["labels", id] => read(READ_LABELS, &[], &LABEL, move |context| {
        resources::label(context.mailbox, id).ok_or_else(error::not_found)
    }),
    "POST" ["labels"] => write(LABELS, &LABEL, &LABEL, labels::make),
    "PATCH" ["labels", id] => {
        write(LABELS, &LABEL, &LABEL, move |context| labels::change(context, id))
    },
    "DELETE" ["labels", id] => {
        write(LABELS, &NOTHING, &NOTHING, move |context| labels::delete(context, id))
    },
    "GET" ["settings", "filters"] => {
        read(READ_SETTINGS, &[], &filters::FILTERS, |context| Ok(filters::list(context)))
    },
    "GET" ["settings", "filters", id] => {
        read(READ_SETTINGS, &[], &filters::FILTER, move |context| filters::get(context, id))
    },
    "POST" ["settings", "filters"] => {
        write(SETTINGS, &filters::FILTER, &filters::FILTER, filters::make)
    },
    "DELETE" ["settings", "filters", id] => {
        write(SETTINGS, &NOTHING, &NOTHING, move |context| filters::delete(context, id))
    },
    "GET" ["settings", "sendAs"] => {
        read(READ_SETTINGS, &[], &settings::SEND_AS_LIST, |context| {
            Ok(settings::send_as(context.state, context.mailbox))
        })
    },
    "GET" ["settings", "sendAs", address] => {
        read(READ_SETTINGS, &[], &SEND_AS, move |context| settings::one_send_as(context, address))
    },
    "PATCH" ["settings", "sendAs", address] => {
        write(SETTINGS, &SEND_AS, &SEND_AS, move |context| {
            settings::change_send_as(context, address)
        })
    },
    "GET" ["settings", "vacation"] => read(READ_SETTINGS, &[], &VACATION, |context| {
        Ok(settings::vacation(context.state, context.mailbox))
    }),
    "PUT" ["settings", "vacation"] => {
        write(SETTINGS, &VACATION, &VACATION, settings::set_vacation)
    },
    "GET" ["settings", "language"] => read(READ_SETTINGS, &[], &LANGUAGE, |context| {
        Ok(settings::language(context.state, context.mailbox))
    }),
    "PUT" ["settings", "language"] => {
        write(SETTINGS, &LANGUAGE, &LANGUAGE, settings::set_language)
    },
}}

/// Answers requests below `/gmail`.
pub(super) fn answer(state: &RequestState, request: &HttpRequest, path: &[&str]) -> HttpResponse {
    let ["v1", "users", user, rest @ ..] = path else {
        return error::no_method();
    };
    let answered = match route(request.method.as_str(), rest) {
        Some(routed) => handle(state, request, user, &routed, None),
        None => Err(error::no_method()),
    };
    answered.unwrap_or_else(|refused| refused)
}

/// Answers a request for a route, under whose name it is counted, or refuses it. `upload` is a
/// message sent beside the JSON.
fn handle(
    state: &RequestState,
    request: &HttpRequest,
    user: &str,
    (name, call): &(&'static str, GmailCall<'_>),
    upload: Option<Vec<u8>>,
) -> Result<HttpResponse, HttpResponse> {
    let (mailbox, access) = bearer(state, request)?;
    // Another address is accepted only with domain-wide delegation, which the sandbox lacks.
    if user != "me" && !user.eq_ignore_ascii_case(&mailbox.address) {
        let message = format!("Delegation denied for {}", mailbox.address);
        return Err(error::forbidden(&message));
    }
    if !call.scopes.iter().any(|name| access.has(name)) {
        return Err(error::insufficient_scopes(SERVICE));
    }
    let params = RequestParameters::check(&request.query, call.params, call.answer)?;
    let body = body::object(&request.body, call.body)?;
    let context = GmailContext { state, mailbox, params: &params, body, upload };
    let value = (call.handle)(&context)?;
    // Counted only if it succeeds, so that refused requests do not make a route look used.
    state.hit(name);
    Ok(match value {
        Value::Null => HttpResponse::empty(StatusCode::NO_CONTENT),
        value => params.answer(value),
    })
}
