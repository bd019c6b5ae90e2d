//! An authorized request to Graph, and the lists and entities that answer it.

use serde_json::{Map, Value};

use super::error::{GraphError, invalid_filter};
use super::exchange::ExchangeMailbox;
use super::filter;
use super::pages::{self, PageRows};
use super::params::{PreferHeader, QueryOptions};
use super::response::{GraphBody, with_context};
use crate::http::HttpRequest;
use crate::state::RequestState;

/// An authorized request.
pub(crate) struct RequestContext<'a> {
    /// The sandbox's state.
    pub state: &'a RequestState,
    /// The request, whose address is repeated in links and contexts.
    pub request: &'a HttpRequest,
    /// The mailbox.
    pub store: ExchangeMailbox<'a>,
    /// The query options.
    pub options: &'a QueryOptions<'a>,
    /// The preferences.
    pub prefer: &'a PreferHeader,
}

impl RequestContext<'_> {
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
        let (request, options) = (self.request, self.options);
        let page = pages::page(request, options, self.prefer, default)?;
        let rows = all.iter().enumerate();
        let rows = rows.skip(page.rows.start).take(page.rows.len());
        let rows = rows.map(|(place, item)| row(place, item)).collect();
        let address = &self.store.mailbox.address;
        let context = pages::context(request, address, of, options, false);
        let listed = PageRows { rows, total: all.len() };
        Ok(GraphBody::Json(pages::answer(request, options, &page, context, listed)))
    }

    /// Returns one entity with its context URL.
    pub fn single(&self, members: Map<String, Value>, of: &str) -> GraphBody {
        let address = &self.store.mailbox.address;
        let context = pages::context(self.request, address, of, self.options, true);
        with_context(context, members)
    }

    /// Returns a user with its context URL.
    pub fn one_user(&self, members: Map<String, Value>) -> GraphBody {
        let context = format!("{}/v1.0/$metadata#users/$entity", pages::base(self.request));
        with_context(context, members)
    }
}
