//! Outlook's lists of messages: the requests, and the checks of the results.
//!
//! A search is one request per page, in one folder or in all of them, followed by checks of the
//! conditions that Graph did not evaluate. This module resolves the folders of a query by the tree
//! of `folders.rs`; `query.rs` translates its conditions. A `$search`, which Graph ends after
//! 1,000 results, continues from the date of the oldest result.

use std::collections::HashMap;
use std::sync::Arc;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::MessageId;
use daysheet_core::project::project;
use daysheet_core::provider::ListRequest;
use daysheet_core::query::{NOTHING, PLACES, Query, QueryTerm};
use daysheet_core::schemas::{CATEGORY, Service};
use daysheet_core::text::{Note, note, ours, quoted};
use serde_json::Value;

use super::folders::{self, FolderTree};
use super::mailbox::OutlookMailbox;
use super::message;
use super::onward::{OnwardSearch, SearchProgress};
use super::query::{self, FolderNames, GraphQuery, SearchScope};
use crate::json::text;
use crate::labels::same_label;
use crate::microsoft::response::page;
use crate::net;
use crate::oldest;

/// The maximum page size that is requested.
const MAX_PAGE: usize = 100;
/// The maximum number of rows that a page repeats of the previous one.
pub(super) const OVERLAP: usize = 100;

/// The decisions about a list of messages.
pub(crate) struct ListPlan {
    /// The request for the page.
    pub request: String,
    /// The conditions left to check on each message.
    rest: Option<Query>,
    /// The only folder from which messages are kept.
    only: Option<String>,
    /// True if messages in trash and spam are left out.
    hide: bool,
    tree: Option<Arc<FolderTree>>,
    pub notes: Vec<Note>,
    /// True if the service filters or searches, which may be slow.
    narrowed: bool,
    /// The search and its progress, if Graph searches.
    search: Option<(OnwardSearch, SearchProgress)>,
    /// True for a page after the first.
    pub later: bool,
}

/// A request for a list of messages.
pub(super) struct ListQuery<'a> {
    /// The properties to select.
    pub select: &'a [&'a str],
    /// The approximate number of messages per page.
    pub top: usize,
    /// True if the service should count the messages.
    pub count: bool,
    /// The position of a later page, from [`ListedPage::next`].
    pub cursor: Option<&'a str>,
}

/// A page of messages, listed and checked.
pub(crate) struct ListedPage {
    pub items: Vec<Value>,
    /// The request for the next page; for a search, with its progress.
    pub next: Option<String>,
    /// The number of messages that the service counts, before checks.
    pub count: Option<u64>,
    /// The ids of matches in spam and trash, if these are left out.
    pub hidden: Option<Vec<MessageId>>,
    /// A note on results that the service did not list.
    pub note: Option<Note>,
}

impl OutlookMailbox {
    /// Plans the list that `ask` requests.
    pub(super) async fn plan(
        &self,
        ask: &ListRequest,
        list_query: ListQuery<'_>,
    ) -> Result<ListPlan> {
        let mut tree = None;
        let mut notes = Vec::new();
        let compiled = match &ask.query {
            None => query::compile(None)?,
            Some(query) => {
                let mut query = query::resolve_me(query, self.address());
                let named = query::folders(&query);
                if !named.is_empty() {
                    let known = self.tree().await?;
                    query = by_id(&query, &named, &known, &mut notes)?;
                    tree = Some(known);
                }
                self.compile(&query, &mut notes).await?
            }
        };
        notes.extend(compiled.notes.iter().cloned());
        let (cursor, progress) = SearchProgress::read(list_query.cursor);
        let mut plan = ListPlan {
            search: None,
            request: String::new(),
            only: None,
            hide: ask.folder.is_none() && compiled.scope == SearchScope::Mail,
            tree,
            notes,
            narrowed: compiled.filter.is_some() || compiled.search.is_some(),
            later: list_query.cursor.is_some(),
            rest: None,
        };
        let folder = self.folder(ask, &compiled.scope, &mut plan).await?;
        let reads = compiled.rest.as_ref().map(query::reads);
        let reads = reads.unwrap_or_default();
        let in_folders = plan.hide || plan.only.is_some() || reads.contains(&"parentFolderId");
        if in_folders && plan.tree.is_none() {
            plan.tree = Some(self.tree().await?);
        }
        let mut properties: Vec<&str> = list_query.select.to_vec();
        let more =
            [("parentFolderId", in_folders), ("receivedDateTime", compiled.search.is_some())];
        let more = more.iter().filter(|(_, read)| *read).map(|(name, _)| *name);
        for property in reads.into_iter().chain(more) {
            if !properties.contains(&property) {
                properties.push(property);
            }
        }
        // Some results will not match: a longer page saves round trips.
        let top = match &compiled.rest {
            Some(_) => list_query.top.saturating_mul(2).max(25),
            None => list_query.top,
        };
        let top = top.clamp(1, MAX_PAGE).to_string();
        let sized = properties.contains(&message::SIZE);
        properties.retain(|property| *property != message::SIZE);
        let select = properties.join(",");
        plan.request = match (cursor, &compiled.search) {
            (Some(cursor), _) => cursor.to_owned(),
            // The request of a search is written below, with its own options.
            (None, Some(_)) => String::new(),
            (None, None) => {
                let mut options = vec![("$select", select.as_str())];
                options.extend(sized.then_some(message::EXPAND_SIZE));
                options.push(("$top", &top));
                if list_query.count && compiled.rest.is_none() {
                    options.push(("$count", "true"));
                }
                self.first(&folder, &compiled, &options, ask.oldest)
            }
        };
        if let Some(kql) = compiled.search {
            let search = OnwardSearch { folder, kql, select, sized, top };
            if plan.request.is_empty() {
                plan.request = self.search(&search, "");
            }
            plan.search = Some((search, progress));
        }
        plan.rest = compiled.rest;
        Ok(plan)
    }

    /// Returns the query in Graph's languages. If a category in an OR makes it inexpressible, and
    /// the account has no such category, the category is dropped.
    async fn compile(&self, query: &Query, notes: &mut Vec<Note>) -> Result<GraphQuery> {
        let compiled = compile(query);
        let mut named = Vec::new();
        for (term, other) in query.alternatives() {
            if let (QueryTerm::Label(name) | QueryTerm::Category(name), true) = (term, other)
                && !named.contains(name)
            {
                named.push(name.clone());
            }
        }
        if named.is_empty() || self.own("categories").is_err() {
            return compiled;
        }
        let key: Vec<_> = CATEGORY.fields.first().into_iter().collect();
        let Ok(page) = self.categories(&project(Service::Microsoft, &key)).await else {
            return compiled;
        };
        named.retain(|name| {
            let mut known = page.items.iter().map(|item| text(item, "displayName"));
            !known.any(|known| same_label(known, name))
        });
        let unknown =
            named.iter().map(|name| note!("there is no category {}: {}", quoted(name), NOTHING));
        notes.extend(unknown);
        let lacks = |term: &QueryTerm| match term {
            QueryTerm::Label(name) | QueryTerm::Category(name) => named.contains(name),
            _ => false,
        };
        match compiled {
            Err(_) if !named.is_empty() => compile(&query.without(&lacks)),
            compiled => compiled,
        }
    }

    /// Returns the path of the list, below the mailbox.
    async fn folder(
        &self,
        ask: &ListRequest,
        scope: &SearchScope,
        plan: &mut ListPlan,
    ) -> Result<String> {
        let named = match scope {
            SearchScope::Folder(name) if name != "anywhere" => Some(name),
            _ => None,
        };
        let below = |id: &str| format!("mailFolders/{}/messages", net::path_segment(id));
        let Some(id) = &ask.folder else {
            return Ok(match named {
                None => "messages".to_owned(),
                Some(name) => below(folders::well_known_id(name).unwrap_or(name)),
            });
        };
        // With a folder by handle and one by name, only messages in both match.
        if let Some(name) = named {
            let tree = self.tree().await?;
            plan.only = Some(tree.resolve(name)?.to_owned());
        }
        Ok(below(id.as_str()))
    }

    /// Returns the request for the first page of a list without a search.
    fn first(
        &self,
        folder: &str,
        compiled: &GraphQuery,
        options: &[(&str, &str)],
        oldest: bool,
    ) -> String {
        let mut query: Vec<(&str, &str)> = Vec::new();
        if let Some(filter) = &compiled.filter {
            query.push(("$filter", filter));
        }
        let order = if oldest { "receivedDateTime" } else { "receivedDateTime desc" };
        query.push(("$orderby", order));
        query.extend(options);
        self.graph().mailbox_url(folder, &query)
    }

    /// Returns the request for the first page of a search; with `bound`, only for messages up to
    /// that time. Graph sorts search results by date itself, and refuses an explicit order.
    fn search(&self, search: &OnwardSearch, bound: &str) -> String {
        let kql = match bound {
            "" => format!("\"{}\"", search.kql),
            bound => format!("\"({}) AND received<={bound}\"", search.kql),
        };
        let mut query = vec![("$search", kql.as_str()), ("$select", &search.select)];
        query.extend(search.sized.then_some(message::EXPAND_SIZE));
        query.push(("$top", &search.top));
        self.graph().mailbox_url(&search.folder, &query)
    }

    /// Lists all messages with these properties, newest first. Fails if there are more than can be
    /// reversed.
    pub(super) async fn list_all(
        &self,
        ask: &ListRequest,
        select: &[&str],
    ) -> Result<(Vec<Value>, Vec<Note>)> {
        let whole = ListRequest { oldest: false, ..ask.clone() };
        let mut cursor: Option<String> = None;
        let mut all: Vec<Value> = Vec::new();
        for _ in 0..oldest::MAX_ROWS / MAX_PAGE {
            let list_query =
                ListQuery { select, top: MAX_PAGE, count: false, cursor: cursor.as_deref() };
            let plan = self.plan(&whole, list_query).await?;
            let listed = self.list_page(&plan).await?;
            // A search that ended early has not reached the oldest messages.
            if listed.note.is_some() {
                break;
            }
            all.extend(listed.items);
            cursor = listed.next;
            if cursor.is_none() {
                return Ok((all, plan.notes));
            }
        }
        Err(oldest::too_many("Outlook"))
    }

    /// Fetches a page and checks its messages.
    pub(crate) async fn list_page(&self, plan: &ListPlan) -> Result<ListedPage> {
        let answer = if plan.narrowed {
            self.graph().get_slow(&plan.request).await
        } else {
            self.graph().get(&plan.request).await
        };
        let answer = answer.map_err(|error| plan.explain(error))?;
        let count = answer.get("@odata.count").and_then(Value::as_u64);
        let (mut items, link) = page(answer)?;
        items.retain(|item| !text(item, "id").is_empty());
        items.iter_mut().for_each(message::put_size);
        let mut next = link.map(|link| self.graph().resolve_next_link(&link)).transpose()?;
        let mut note = None;
        if let Some((search, before)) = &plan.search {
            let step = before.step(&mut items, next.is_none());
            note = step.ends.then(|| {
                "Outlook's search stops at 1,000 results, there may be more: narrow it by date"
                    .into()
            });
            next = match step.anew {
                _ if step.ends => None,
                true => Some(self.search(search, step.progress.bound())),
                false => next,
            };
            next = next.map(|request| step.progress.cursor(&request));
        }
        let hidden = plan.hide.then(|| plan.hidden(&items));
        items.retain(|item| plan.keeps(item));
        Ok(ListedPage { items, next, count, hidden, note })
    }
}

/// Returns the request for the page after `last`, beginning `rows` earlier. Messages that leave a
/// list during paging shift later ones up, and pages by position (`$skip`) would miss those. The
/// caller recognizes repeated rows.
///
/// The link stays unchanged if it has no position or page size, if it has a token, or if no
/// progress is possible.
pub(super) fn moved_up(next: &str, last: &ListPlan, rows: usize) -> String {
    let (Some(skip), Some(top), false) =
        (number(next, "$skip"), number(next, "$top"), value(next, "$skiptoken").is_some())
    else {
        return next.to_owned();
    };
    // Pages grow by the repeated rows once, for all later pages.
    let (rows, longer) =
        if last.later { (rows.min(top / 2), top) } else { (rows, top.saturating_add(rows)) };
    let earlier = skip.saturating_sub(rows);
    if earlier <= number(&last.request, "$skip").unwrap_or(0) && last.later {
        return next.to_owned();
    }
    let next = set(next, "$skip", earlier);
    set(&next, "$top", longer)
}

/// Returns the encoded value of a request's parameter.
fn value<'r>(request: &'r str, name: &str) -> Option<&'r str> {
    let (_, query) = request.split_once('?')?;
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find_map(|(key, value)| is(key, name).then_some(value))
}

fn number(request: &str, name: &str) -> Option<usize> {
    value(request, name)?.parse().ok()
}

/// Returns the request with another number for a parameter.
fn set(request: &str, name: &str, to: usize) -> String {
    let Some((path, query)) = request.split_once('?') else {
        return request.to_owned();
    };
    let pairs: Vec<String> = query
        .split('&')
        .map(|pair| match pair.split_once('=') {
            Some((key, _)) if is(key, name) => format!("{key}={to}"),
            _ => pair.to_owned(),
        })
        .collect();
    format!("{path}?{}", pairs.join("&"))
}

fn is(key: &str, name: &str) -> bool {
    percent_encoding::percent_decode_str(key).decode_utf8().is_ok_and(|key| key == name)
}

impl ListPlan {
    /// Returns true if Graph searches; pages of a search are not by position.
    pub fn searches(&self) -> bool {
        self.search.is_some()
    }

    /// Returns true if messages of a page may be left out here.
    pub fn checks(&self) -> bool {
        self.rest.is_some() || self.only.is_some() || self.hide
    }

    /// Returns the cursor that lists the same page again.
    pub fn again(&self) -> String {
        match &self.search {
            Some((_, progress)) => progress.cursor(&self.request),
            None => self.request.clone(),
        }
    }

    /// Returns the ids of matching messages in spam or trash.
    fn hidden(&self, items: &[Value]) -> Vec<MessageId> {
        let Some(tree) = &self.tree else {
            return Vec::new();
        };
        let places = FolderNames { names: tree.names() };
        let hidden = items.iter().filter(|item| {
            tree.is_hidden(text(item, "parentFolderId")) && self.matches(item, &places)
        });
        hidden.map(|item| text(item, "id").into()).collect()
    }

    fn keeps(&self, item: &Value) -> bool {
        let folder = text(item, "parentFolderId");
        if self.only.as_ref().is_some_and(|only| only != folder) {
            return false;
        }
        let Some(tree) = &self.tree else {
            let nowhere = HashMap::new();
            let places = FolderNames { names: &nowhere };
            return self.matches(item, &places);
        };
        let places = FolderNames { names: tree.names() };
        !(self.hide && tree.is_hidden(folder)) && self.matches(item, &places)
    }

    fn matches(&self, item: &Value, places: &FolderNames) -> bool {
        let rest = self.rest.as_ref();
        rest.is_none_or(|rest| query::matches(rest, item, places))
    }

    /// Explains an error of a list.
    fn explain(&self, error: Error) -> Error {
        match error.kind() {
            // Graph's page links expire.
            ErrorKind::Provider(400 | 410) if self.later => {
                Error::argument("Outlook's page cursor expired").next("search again without cursor")
            }
            ErrorKind::Provider(503 | 504) | ErrorKind::Timeout if self.narrowed => {
                Error::new(error.kind(), "this search was too slow for Outlook")
                    .next("narrow it by date, such as after:30d, or by folder")
            }
            ErrorKind::NotFound if self.request.contains("/mailFolders/") => {
                Error::new(ErrorKind::NotFound, "Outlook has no such folder")
                    .next("lookup kind=folders lists them")
            }
            _ => error,
        }
    }
}

/// Returns the query in Graph's languages. Graph's own syntax may be combined only with the folder
/// that a call names.
fn compile(query: &Query) -> Result<GraphQuery> {
    match query {
        Query::All(parts) => match parts.as_slice() {
            [one] => compile(one),
            [raw @ Query::Raw(_), Query::Term(QueryTerm::Folder(folder))] => Ok(GraphQuery {
                scope: SearchScope::Folder(folder.clone()),
                ..query::compile(Some(raw))?
            }),
            _ => query::compile(Some(query)),
        },
        _ => query::compile(Some(query)),
    }
}

/// Replaces folder names in a query by ids, and drops unknown folders in an OR.
fn by_id(
    query: &Query,
    named: &[String],
    tree: &FolderTree,
    notes: &mut Vec<Note>,
) -> Result<Query> {
    let mut ids: HashMap<&str, &str> = HashMap::new();
    let mut missing = None;
    for name in named {
        match tree.resolve(name) {
            Ok(id) => {
                ids.insert(name, id);
            }
            Err(error) => {
                let folder = QueryTerm::Folder(name.clone());
                let mut terms = query.alternatives().into_iter();
                let needed = terms.any(|(term, other)| *term == folder && !other);
                if needed || error.kind() != ErrorKind::NotFound {
                    return Err(error);
                }
                notes.push(note!("{}: {}", ours(error.message()), NOTHING));
                missing.get_or_insert(error);
            }
        }
    }
    let is_name = |name: &String| !PLACES.contains(&name.as_str());
    let lacks = |term: &QueryTerm| match term {
        QueryTerm::Folder(name) => is_name(name) && !ids.contains_key(name.as_str()),
        _ => false,
    };
    let query = query.without(&lacks);
    if let (true, Some(error)) = (query == Query::Any(Vec::new()), missing) {
        return Err(error);
    }
    Ok(query.map(&|term| match term {
        QueryTerm::Folder(name) if is_name(name) => {
            let id = ids.get(name.as_str()).copied().unwrap_or(name);
            QueryTerm::Folder(id.to_owned())
        }
        other => other.clone(),
    }))
}
