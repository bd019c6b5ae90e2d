//! Graph's lists of messages: selection, order and pages.

use super::matching;
use super::message;
use super::search;
use crate::graph::error::{GraphError, bad_request, search_with_filter, search_with_order};
use crate::graph::exchange::ExchangeMailbox;
use crate::graph::exchange::folders::MailFolder;
use crate::graph::params::{QueryOptions, unquote};
use crate::graph::request::RequestContext;
use crate::graph::response::GraphBody;
use crate::graph::types::mail::MESSAGE;
use crate::store::message::Message;

/// The default number of rows of a page.
pub(crate) const DEFAULT_TOP: usize = 10;

/// The maximum number of results of a search.
const MAX_FOUND: usize = 1_000;

/// Answers with the messages in a folder, or in all folders.
pub(crate) fn messages(
    context: &RequestContext<'_>,
    folder: Option<&str>,
) -> Result<GraphBody, GraphError> {
    let (store, options) = (context.store, context.options);
    let folder = folder.map(|id| store.folder(id)).transpose()?;
    options.check_type(&MESSAGE)?;
    let messages = matching_messages(store, folder.as_ref(), options)?;
    let of = match &folder {
        Some(folder) => format!(
            "mailFolders('{}')/messages",
            folder.well_known_or(&store.ids().folder(folder.number))
        ),
        None => "messages".to_owned(),
    };
    context.list(&messages, DEFAULT_TOP, &of, |_, message| {
        message::json(store, message, options, context.prefer).into()
    })
}

/// Returns the messages that match a request, in order.
fn matching_messages<'a>(
    store: ExchangeMailbox<'a>,
    folder: Option<&MailFolder>,
    options: &QueryOptions<'_>,
) -> Result<Vec<&'a Message>, GraphError> {
    if let Some(search) = options.search {
        // Graph combines neither option with `$search`, which always returns the newest first.
        if options.filter.is_some() {
            return Err(search_with_filter());
        } else if options.orderby.is_some() {
            return Err(search_with_order());
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
