//! Lists of messages and threads at Gmail: the query, the pages of ids, and their totals.
//!
//! `query.rs` writes a query in Gmail's language. Lists contain only ids; `fetch.rs` reads the
//! objects.

use std::collections::HashMap;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::MessageId;
use daysheet_core::project::Projection;
use daysheet_core::provider::{ListPage, ListRequest, SearchTotal};
use daysheet_core::query::{NOTHING, Query, QueryTerm};
use daysheet_core::text::{Note, brief, note, ours};
use serde_json::Value;

use super::fetch::ids;
use super::labels::{instead, resolve_label};
use super::mailbox::{GmailMailbox, ME, call};
use super::query;
use crate::google::client;
use crate::json::text;
use crate::labels::same_label;
use crate::oldest;

/// The maximum number of ids on a page of a list.
const MAX_IDS: usize = 500;

/// Restricts a generated list call to the requested page.
macro_rules! page {
    ($call:expr, $ask:expr, $q:expr) => {{
        let mut call = $call.max_results(limit($ask));
        if !$q.is_empty() {
            call = call.q($q);
        }
        if let Some(folder) = &$ask.folder {
            call = call
                .add_label_ids(folder.as_str())
                .include_spam_trash(is_left_out(folder.as_str()));
        }
        if let Some(token) = &$ask.cursor {
            call = call.page_token(token);
        }
        call
    }};
}

impl GmailMailbox {
    /// Writes the query in Gmail's language, after checking the labels in it.
    async fn compile(&self, ask: &ListRequest) -> Result<query::GmailQuery> {
        let Some(query) = &ask.query else {
            return Ok(query::GmailQuery::default());
        };
        if !query.alternatives().iter().any(|(term, _)| query::label_of(term).is_some()) {
            return Ok(query::compile(query));
        }
        let labels = self.labels().await?;
        let is_known = |name: &str| {
            labels
                .iter()
                .any(|label| same_label(text(label, "name"), name) || text(label, "id") == name)
        };
        // Rows show categories beside labels, so a query may call a category a label.
        let as_category = |term: &QueryTerm| {
            let name = query::label_of(term).filter(|name| !is_known(name))?;
            let found = resolve_label(&labels, name)?;
            found.id.as_str().starts_with("CATEGORY_").then_some(QueryTerm::Category(found.name))
        };
        let query = &query.map(&|term| as_category(term).unwrap_or_else(|| term.clone()));
        let named_labels = query.alternatives().into_iter();
        let named_labels: Vec<(&str, bool)> = named_labels
            .filter_map(|(term, other)| Some((query::label_of(term)?, other)))
            .collect();
        let unknown = |name: &str| format!("there is no label or folder `{}`", brief(name));
        let refused = |name: &str| {
            Error::new(ErrorKind::NotFound, unknown(name)).next(instead(&labels, name, "folders"))
        };
        let mut notes = Vec::new();
        for (name, other) in named_labels.iter().filter(|(name, _)| !is_known(name)) {
            // Gmail silently finds nothing for an unknown label; within an OR, other conditions may
            // match.
            if *other {
                notes.push(note!("{}: {}", ours(unknown(name)), NOTHING));
            } else {
                return Err(refused(name));
            }
        }
        let lacks = |term: &QueryTerm| query::label_of(term).is_some_and(|name| !is_known(name));
        let query = &query.without(&lacks);
        if let (true, Some((name, _))) = (
            *query == Query::Any(Vec::new()),
            named_labels.iter().find(|(name, _)| !is_known(name)),
        ) {
            return Err(refused(name));
        }
        let by_id = |id: &str| {
            let label = labels.iter().find(|label| text(label, "id") == id)?;
            Some(text(label, "name").to_owned())
        };
        let mut compiled = query::compile(&query::rename(query, &by_id));
        notes.dedup();
        compiled.notes.append(&mut notes);
        Ok(compiled)
    }

    /// Returns the ids of a page of messages or threads, and a page with everything else that the
    /// list contains.
    pub(super) async fn listed(
        &self,
        key: &str,
        ask: &ListRequest,
    ) -> Result<(Vec<Value>, ListPage)> {
        let mut compiled = self.compile(ask).await?;
        let q = compiled.q.as_str();
        if !ask.oldest {
            let mut answer = self.id_page(key, ask, q).await?;
            let items = take_items(&mut answer, key, ask, &mut compiled.notes)?;
            let next = next_page(&answer);
            let total = match (&next, &ask.cursor) {
                (None, None) => Some(SearchTotal::Exactly(count(items.len()))),
                _ => {
                    answer.get("resultSizeEstimate").and_then(Value::as_u64).map(SearchTotal::About)
                }
            };
            return Ok((
                items,
                ListPage { next, total, notes: compiled.notes, ..ListPage::default() },
            ));
        }
        let mut all = Vec::new();
        let mut whole = ListRequest { limit: MAX_IDS, cursor: None, ..ask.clone() };
        loop {
            let mut answer = self.id_page(key, &whole, q).await?;
            all.extend(take_items(&mut answer, key, &whole, &mut compiled.notes)?);
            whole.cursor = next_page(&answer);
            match whole.cursor {
                None => break,
                // Gmail sorts only newest first, so finding the oldest means listing everything.
                Some(_) if all.len() >= oldest::MAX_ROWS => return Err(oldest::too_many("Gmail")),
                Some(_) => {}
            }
        }
        let total = Some(SearchTotal::Exactly(count(all.len())));
        let (items, next) = oldest::page(all, ask, |item| text(item, "id"));
        Ok((items, ListPage { next, total, notes: compiled.notes, ..ListPage::default() }))
    }

    /// Fetches a page of ids of messages or threads.
    async fn id_page(&self, key: &str, ask: &ListRequest, q: &str) -> Result<Value> {
        let answer = if key == "threads" {
            let fields = "threads(id),nextPageToken,resultSizeEstimate";
            call!(self, fields, |users| page!(users.threads_list(ME), ask, q))
        } else {
            let fields = "messages(id,threadId),nextPageToken,resultSizeEstimate";
            call!(self, fields, |users| page!(users.messages_list(ME), ask, q))
        };
        answer.map_err(|error| stale(error, ask))
    }

    /// Returns the ids of the matches in spam and trash, if `wanted` and if they fit on a page.
    pub(super) async fn hidden(&self, ask: &ListRequest, wanted: bool) -> Option<Vec<MessageId>> {
        if !wanted {
            return None;
        }
        let key = Projection { paths: vec!["id".to_owned()], ..Projection::default() };
        let (found, page) = self.listed("messages", &ask.in_hidden(key)).await.ok()?;
        page.next.is_none().then(|| ids(&found).into_iter().map(MessageId::from).collect())
    }

    /// Completes a page with the data of its list, and with names.
    pub(super) async fn finish(
        &self,
        page: ListPage,
        list: ListPage,
        ask: &ListRequest,
    ) -> Result<ListPage> {
        let names = if ask.projection.names && !page.items.is_empty() {
            self.label_names().await?
        } else {
            HashMap::new()
        };
        Ok(ListPage { items: page.items, failed: page.failed, names, ..list })
    }
}

/// Returns the number of ids to request.
fn limit(ask: &ListRequest) -> u32 {
    u32::try_from(ask.limit).unwrap_or(u32::MAX).clamp(1, 500)
}

/// Returns the token of the next page, if there is one.
fn next_page(answer: &Value) -> Option<String> {
    let token = text(answer, "nextPageToken");
    (!token.is_empty()).then(|| token.to_owned())
}

fn count(len: usize) -> u64 {
    u64::try_from(len).unwrap_or(u64::MAX)
}

/// Returns true if Gmail omits messages with this label from lists by default.
fn is_left_out(label: &str) -> bool {
    matches!(label, "SPAM" | "TRASH")
}

/// Turns the refusal of a page token into an error that says it has expired.
fn stale(error: Error, ask: &ListRequest) -> Error {
    if ask.cursor.is_some() && error.kind() == ErrorKind::Provider(400) {
        return Error::argument("Gmail's page cursor expired").next("search again without cursor");
    }
    error
}

/// Returns the items of a page, at most as many as requested, because each costs a call. An empty
/// page has an estimated count instead of a list.
///
/// # Errors
/// [`ErrorKind::Provider`] if the response is not a list.
fn take_items(
    answer: &mut Value,
    key: &str,
    ask: &ListRequest,
    notes: &mut Vec<Note>,
) -> Result<Vec<Value>> {
    let mut items = match answer.get_mut(key).map(Value::take) {
        Some(Value::Array(items)) => items,
        None if answer.get("resultSizeEstimate").is_some_and(Value::is_number) => Vec::new(),
        _ => return Err(client::not_ours("list")),
    };
    let most = limit(ask) as usize;
    if let more @ 1.. = items.len().saturating_sub(most) {
        notes.push(note!(
            "Gmail listed {} more than the {} requested: they were left out",
            ours(more),
            ours(most)
        ));
        items.truncate(most);
    }
    Ok(items)
}
