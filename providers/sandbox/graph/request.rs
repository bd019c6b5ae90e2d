//! A request to Graph that was let in, and the lists and entities that answer
//! it.

use serde_json::{Map, Value};

use super::error::{GraphError, invalid_filter};
use super::exchange::ExchangeMailbox;
use super::filter;
use super::pages;
use super::params::{PreferHeader, QueryOptions};
use super::response::{GraphBody, with_context};
use crate::http::HttpRequest;
use crate::state::RequestState;

/// A request that was let in.
pub(crate) struct RequestContext<'a> {
    /// All there is.
    pub state: &'a RequestState,
    /// The request, for what an answer repeats of it.
    pub request: &'a HttpRequest,
    /// The mailbox.
    pub store: ExchangeMailbox<'a>,
    /// Its options.
    pub options: &'a QueryOptions<'a>,
    /// Its preferences.
    pub prefer: &'a PreferHeader,
}

impl RequestContext<'_> {
    /// The filter, where there is one.
    pub fn filter(&self) -> Result<Option<filter::FilterExpression>, GraphError> {
        let filter = self.options.filter.map(filter::parse).transpose();
        filter.map_err(|why| invalid_filter(&why))
    }

    /// A page of a list that is all here.
    pub fn list<T>(
        &self,
        all: &[T],
        default: usize,
        of: &str,
        row: impl Fn(usize, &T) -> Value,
    ) -> Result<GraphBody, GraphError> {
        let (request, options) = (self.request, self.options);
        let page = pages::page(request, options, self.prefer, default)?;
        let rows = all.iter().enumerate();
        let rows = rows.skip(page.rows.start).take(page.rows.len());
        let rows = rows.map(|(place, item)| row(place, item)).collect();
        let address = &self.store.mailbox.address;
        let context = pages::context(request, address, of, options, false);
        Ok(GraphBody::Json(pages::answer(request, options, &page, all.len(), context, rows)))
    }

    /// One entity, under the address that says what it is.
    pub fn single(&self, members: Map<String, Value>, of: &str) -> GraphBody {
        let address = &self.store.mailbox.address;
        let context = pages::context(self.request, address, of, self.options, true);
        with_context(context, members)
    }

    /// A user, with the context of users.
    pub fn one_user(&self, members: Map<String, Value>) -> GraphBody {
        let context = format!("{}/v1.0/$metadata#users/$entity", pages::base(self.request));
        with_context(context, members)
    }
}
