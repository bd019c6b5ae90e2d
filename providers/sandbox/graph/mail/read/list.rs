//! Graph's lists of messages: selection, order and pages.

use serde_json::Value;

use super::matching;
use super::message;
use super::search;
use crate::graph::error::{GraphError, bad_request, not_with_search};
use crate::graph::exchange::ExchangeMailbox;
use crate::graph::exchange::folders::MailFolder;
use crate::graph::pages::{self, PageRows};
use crate::graph::params::{PreferHeader, QueryOptions, unquote};
use crate::graph::types::mail::MESSAGE;
use crate::http::HttpRequest;
use crate::store::message::Message;

/// The default number of rows of a page.
pub(crate) const DEFAULT_TOP: usize = 10;

/// The maximum number of results of a search.
const MAX_FOUND: usize = 1_000;

/// Returns a page of the messages in a folder, or in all folders.
pub(crate) fn messages(
    request: &HttpRequest,
    store: ExchangeMailbox<'_>,
    folder: Option<&MailFolder>,
    options: &QueryOptions<'_>,
    prefer: &PreferHeader,
) -> Result<Value, GraphError> {
    options.check_type(&MESSAGE)?;
    let page = pages::page(request, options, prefer, DEFAULT_TOP)?;
    let messages = matching_messages(store, folder, options)?;
    let rows = messages.iter().skip(page.rows.start).take(page.rows.len());
    let rows = rows
        .map(|message| message::json(store, message, options, prefer).map(Value::Object))
        .collect::<Result<Vec<Value>, GraphError>>()?;
    let of = match folder {
        Some(folder) => format!(
            "mailFolders('{}')/messages",
            folder.well_known_or(&store.ids().folder(folder.number))
        ),
        None => "messages".to_owned(),
    };
    let address = &store.mailbox.address;
    let context = pages::context(request, address, &of, options, false);
    let listed = PageRows { rows, total: messages.len() };
    Ok(pages::answer(request, options, &page, context, listed))
}

/// Returns the messages that match a request, in order.
fn matching_messages<'a>(
    store: ExchangeMailbox<'a>,
    folder: Option<&MailFolder>,
    options: &QueryOptions<'_>,
) -> Result<Vec<&'a Message>, GraphError> {
    if let Some(search) = options.search {
        // Graph combines neither option with `$search`, which always returns the newest first.
        let refused =
            [("$filter", options.filter.is_some()), ("$orderby", options.orderby.is_some())];
        if let Some((option, _)) = refused.iter().find(|(_, given)| *given) {
            return Err(not_with_search(option));
        }
        let search = unquote(search).map_err(bad_request)?;
        let query = search::parse(&search).map_err(bad_request)?;
        let messages = store.messages(folder).into_iter();
        return Ok(messages
            .filter(|message| search::matches(&query, message))
            // The limit comes after the selection, so that `@odata.nextLink` ends after 1,000
            // results.
            .take(MAX_FOUND)
            .collect());
    }
    let mut filter = options.filter.map(|text| matching::filter(store, text)).transpose()?;
    let oldest_first = matching::order(options.orderby, filter.as_mut())?;
    let mut messages = store.messages(folder);
    if let Some(filter) = &filter {
        messages.retain(|message| matching::meets(store, filter, message));
    }
    if oldest_first {
        messages.reverse();
    }
    Ok(messages)
}
