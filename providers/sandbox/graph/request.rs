//! An authorized request to Graph: the lists and entities that answer it, and the mailbox that it
//! changes. A write changes the mailbox, and is answered from the state after it.

use hyper::StatusCode;
use serde_json::{Map, Value};

use super::error::{GraphError, conflict, denied, invalid_filter, not_found};
use super::exchange::ExchangeMailbox;
use super::exchange::state::{ExchangeState, MessageNotes};
use super::filter;
use super::mail::read::message;
use super::pages;
use super::params::{PreferHeader, QueryOptions};
use super::response::{GraphBody, GraphResponse, with_context};
use super::types::mail::MESSAGE;
use crate::auth::tokens::TokenAccess;
use crate::http::HttpRequest;
use crate::state::RequestState;
use crate::store::mailbox::change::MailboxChange;
use crate::store::message::Message;

/// An authorized request.
pub(crate) struct RequestContext<'a> {
    /// The sandbox's state.
    pub state: &'a RequestState,
    /// The request, whose address is repeated in links and contexts.
    pub request: &'a HttpRequest,
    /// The access that its token gives.
    pub access: &'a TokenAccess,
    /// The mailbox at the time of the request.
    pub store: ExchangeMailbox<'a>,
    /// The query options; empty if the call reads them itself.
    pub options: &'a QueryOptions<'a>,
    /// The preferences.
    pub prefer: &'a PreferHeader,
}

impl<'a> RequestContext<'a> {
    /// Parses `$filter`, if there is one.
    pub fn filter(&self) -> Result<Option<filter::FilterExpression>, GraphError> {
        let filter = self.options.filter.map(filter::parse).transpose();
        filter.map_err(|why| invalid_filter(&why))
    }

    /// Returns a page of a list that is complete in memory, `default` rows long unless the request
    /// says otherwise.
    pub fn list<T>(
        &self,
        all: &[T],
        default: usize,
        of: &str,
        row: impl Fn(usize, &T) -> Value,
    ) -> Result<GraphBody, GraphError> {
        let page = pages::page(self.request, self.options, self.prefer, default)?;
        let rows = all.iter().enumerate().skip(page.rows.start).take(page.rows.len());
        let rows: Vec<Value> = rows.map(|(place, item)| row(place, item)).collect();
        let mut answer = Map::new();
        answer.insert("@odata.context".to_owned(), self.context(of, false).into());
        // The count covers the whole list, and comes before the rows, as Graph writes it.
        if self.options.count {
            answer.insert("@odata.count".to_owned(), all.len().into());
        }
        answer.insert("value".to_owned(), rows.into());
        if page.rows.end < all.len() {
            answer.insert("@odata.nextLink".to_owned(), pages::link(self.request, &page).into());
        }
        Ok(GraphBody::Json(answer.into()))
    }

    /// Returns one entity with its context URL.
    pub fn single(&self, members: Map<String, Value>, of: &str) -> GraphBody {
        with_context(self.context(of, true), members)
    }

    /// Returns the context URL of an answer.
    fn context(&self, of: &str, single: bool) -> String {
        pages::context(self.request, self.options, self.address(), (of, single))
    }

    /// Returns the address of the mailbox.
    pub fn address(&self) -> &'a str {
        &self.store.mailbox.address
    }

    /// Returns the mailbox in its present state.
    pub fn present(&self) -> Result<ExchangeMailbox<'a>, GraphError> {
        ExchangeMailbox::find(self.state, self.address()).ok_or_else(denied)
    }

    /// Returns the present time in milliseconds since 1970.
    pub fn now(&self) -> i64 {
        self.state.clock.now().as_millisecond()
    }

    /// Returns the message with an id.
    pub fn message(&self, id: &str) -> Result<&'a Message, GraphError> {
        self.present()?.message(id)
    }

    /// Returns the message with an id.
    ///
    /// # Errors
    ///
    /// 412 if it changed since the version in `If-Match`.
    pub fn current(&self, id: &str) -> Result<&'a Message, GraphError> {
        let message = self.message(id)?;
        let if_match = self.request.header("if-match").map(str::trim);
        let key = self.present()?.change_key(message);
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
        let about = self.state.change(self.address(), |_| Some(change));
        about.ok_or_else(not_found)
    }

    /// Reads or changes the data that only this half keeps of the mailbox.
    pub fn with<T>(&self, then: impl FnOnce(&mut ExchangeState) -> T) -> T {
        self.state.graph.exchange(self.address(), then)
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
    pub fn location(&self, path: &str) -> String {
        let (base, user) = (self.request.base(), self.store.ids().mailbox());
        format!("{base}/v1.0/users('{user}')/{path}")
    }

    /// Returns the response with a message in its present state.
    pub fn reply(&self, id: u64, status: StatusCode) -> Result<GraphResponse, GraphError> {
        let store = self.present()?;
        let message = store.mailbox.message(id).ok_or_else(not_found)?;
        // Responses to writes honour `$select`, which keeps large bodies out of them.
        let options = QueryOptions::read(self.request, &["$select"])?;
        options.check_type(&MESSAGE)?;
        let json = message::json(store, message, &options, self.prefer);
        Ok(self.entity(json, "messages", status))
    }

    /// Returns the response with an entity. `of` is its entity set.
    pub fn entity(
        &self,
        members: Map<String, Value>,
        of: &str,
        status: StatusCode,
    ) -> GraphResponse {
        let id = members.get("id").and_then(Value::as_str).unwrap_or_default();
        let created = status == StatusCode::CREATED;
        let location = created.then(|| self.location(&format!("{of}('{id}')")));
        GraphResponse { status, location, ..GraphResponse::new(self.single(members, of)) }
    }
}
