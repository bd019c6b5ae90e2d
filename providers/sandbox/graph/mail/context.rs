//! What all writes to a mailbox share: the request that was let in, what it
//! reads and changes, and how it is answered.

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

/// A write that was let in, and the mailbox it is for.
pub(super) struct MailContext<'a> {
    /// All there is.
    pub state: &'a RequestState,
    /// The request.
    pub request: &'a HttpRequest,
    /// What its token allows.
    pub access: &'a TokenAccess,
    /// Whose mailbox it is.
    pub address: String,
    /// Its preferences.
    pub prefer: &'a PreferHeader,
}

impl<'a> MailContext<'a> {
    /// The mailbox as it is now.
    pub fn store(&self) -> Result<ExchangeMailbox<'a>, GraphError> {
        ExchangeMailbox::of(self.state, &self.address).ok_or_else(denied)
    }

    /// The time of now in milliseconds.
    pub fn now(&self) -> i64 {
        self.state.clock.now().as_millisecond()
    }

    /// The message of an id.
    pub fn message(&self, id: &str) -> Result<&'a Message, GraphError> {
        self.store()?.message(id)
    }

    /// The message of an id, unless somebody was quicker than who writes.
    pub fn current(&self, id: &str) -> Result<&'a Message, GraphError> {
        let message = self.message(id)?;
        let if_match = self.request.header("if-match").map(str::trim);
        let key = self.store()?.change_key(message);
        let same = |if_match: &str| {
            let if_match = if_match.strip_prefix("W/").unwrap_or(if_match);
            if_match == "*" || if_match.trim_matches('"') == key
        };
        if if_match.is_none_or(same) { Ok(message) } else { Err(conflict()) }
    }

    /// Changes the mailbox; the id of the message that the change was about.
    pub fn change(&self, change: MailboxChange) -> Result<u64, GraphError> {
        let about = self.state.change(&self.address, |_| Some(change));
        about.ok_or_else(not_found)
    }

    /// Reads or changes what only this half keeps of the mailbox.
    pub fn with<T>(&self, then: impl FnOnce(&mut ExchangeState) -> T) -> T {
        self.state.graph.exchange(&self.address, then)
    }

    /// Notes something of a message, now.
    pub fn note(&self, message: u64, change: impl FnOnce(&mut MessageNotes)) {
        self.with(|exchange| {
            exchange.note(message, |notes| {
                notes.changed = Some(self.now());
                change(notes);
            });
        });
    }

    /// The address of something of the mailbox, as answers give it.
    pub fn location(&self, path: &str) -> Result<String, GraphError> {
        let base = pages::base(self.request);
        let user = self.store()?.ids().mailbox();
        Ok(format!("{base}/v1.0/users('{user}')/{path}"))
    }

    /// The answer with a message, as it is now.
    pub fn reply(&self, id: u64, status: StatusCode) -> Result<GraphResponse, GraphError> {
        let store = self.store()?;
        let message = store.mailbox.message(id).ok_or_else(not_found)?;
        let options = QueryOptions::read(self.request, &["$select"])?;
        options.check_type(&MESSAGE)?;
        let json = message::json(store, message, &options, self.prefer)?;
        let id = store.message_id(message, self.prefer.immutable);
        self.entity(json, "messages", &format!("messages('{id}')"), status)
    }

    /// The answer with an entity; `of` is the set it is one of.
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
        Ok(GraphResponse { status, location, ..GraphResponse::of(context.single(members, of)) })
    }
}
