//! The context of writes to a mailbox: the authorized request, the mailbox's state, and the
//! responses.

use hyper::StatusCode;
use serde_json::{Map, Value};

use super::read::message;
use crate::auth::tokens::TokenAccess;
use crate::graph::error::{GraphError, conflict, denied, not_found};
use crate::graph::exchange::ExchangeMailbox;
use crate::graph::exchange::state::{ExchangeState, MessageNotes};
use crate::graph::pages;
use crate::graph::params::{PreferHeader, QueryOptions};
use crate::graph::request::RequestContext;
use crate::graph::response::GraphResponse;
use crate::graph::types::mail::MESSAGE;
use crate::http::HttpRequest;
use crate::state::RequestState;
use crate::store::mailbox::change::MailboxChange;
use crate::store::message::Message;

/// An authorized write, and the mailbox it is for.
pub(super) struct MailContext<'a> {
    /// The sandbox's state.
    pub state: &'a RequestState,
    /// The request.
    pub request: &'a HttpRequest,
    /// The access that its token gives.
    pub access: &'a TokenAccess,
    /// The address of the mailbox.
    pub address: String,
    /// Its preferences.
    pub prefer: &'a PreferHeader,
}

impl<'a> MailContext<'a> {
    /// Returns the mailbox in its present state.
    pub fn store(&self) -> Result<ExchangeMailbox<'a>, GraphError> {
        ExchangeMailbox::find(self.state, &self.address).ok_or_else(denied)
    }

    /// Returns the present time in milliseconds since 1970.
    pub fn now(&self) -> i64 {
        self.state.clock.now().as_millisecond()
    }

    /// Returns the message with an id.
    pub fn message(&self, id: &str) -> Result<&'a Message, GraphError> {
        self.store()?.message(id)
    }

    /// Returns the message with an id.
    ///
    /// # Errors
    ///
    /// 412 if it changed since the version in `If-Match`.
    pub fn current(&self, id: &str) -> Result<&'a Message, GraphError> {
        let message = self.message(id)?;
        let if_match = self.request.header("if-match").map(str::trim);
        let key = self.store()?.change_key(message);
        let same = |if_match: &str| {
            // Strictly, `If-Match` never matches a weak etag (RFC 9110, 13.1.1), but Graph's etags
            // are all weak, and Exchange compares them by their `changeKey`.
            let if_match = if_match.strip_prefix("W/").unwrap_or(if_match);
            if_match == "*" || if_match.trim_matches('"') == key
        };
        if if_match.is_none_or(same) { Ok(message) } else { Err(conflict()) }
    }

    /// Changes the mailbox. Returns the number of the message that the change is about.
    pub fn change(&self, change: MailboxChange) -> Result<u64, GraphError> {
        let about = self.state.change(&self.address, |_| Some(change));
        about.ok_or_else(not_found)
    }

    /// Reads or changes the data that only this half keeps of the mailbox.
    pub fn with<T>(&self, then: impl FnOnce(&mut ExchangeState) -> T) -> T {
        self.state.graph.exchange(&self.address, then)
    }

    /// Changes the notes about a message, and the time of its last change.
    pub fn note(&self, message: u64, change: impl FnOnce(&mut MessageNotes)) {
        self.with(|exchange| {
            exchange.note(message, |notes| {
                notes.changed = Some(self.now());
                change(notes);
            });
        });
    }

    /// Returns the address of an entity of the mailbox.
    pub fn location(&self, path: &str) -> Result<String, GraphError> {
        let base = pages::base(self.request);
        let user = self.store()?.ids().mailbox();
        Ok(format!("{base}/v1.0/users('{user}')/{path}"))
    }

    /// Returns the response with a message in its present state.
    pub fn reply(&self, id: u64, status: StatusCode) -> Result<GraphResponse, GraphError> {
        let store = self.store()?;
        let message = store.mailbox.message(id).ok_or_else(not_found)?;
        // Responses to writes honour `$select`, which keeps large bodies out of them.
        let options = QueryOptions::read(self.request, &["$select"])?;
        options.check_type(&MESSAGE)?;
        let json = message::json(store, message, &options, self.prefer)?;
        let id = store.message_id(message, self.prefer.immutable);
        self.entity(json, "messages", &format!("messages('{id}')"), status)
    }

    /// Returns the response with an entity. `of` is its entity set.
    pub fn entity(
        &self,
        members: Map<String, Value>,
        of: &str,
        path: &str,
        status: StatusCode,
    ) -> Result<GraphResponse, GraphError> {
        let store = self.store()?;
        let options = QueryOptions::default();
        let context = RequestContext {
            state: self.state,
            request: self.request,
            store,
            options: &options,
            prefer: self.prefer,
        };
        let created = status == StatusCode::CREATED;
        let location = created.then(|| self.location(path)).transpose()?;
        Ok(GraphResponse { status, location, ..GraphResponse::new(context.single(members, of)) })
    }
}
