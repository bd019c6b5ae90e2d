//! Outlook's lists of messages: what is asked for, and what of it is kept.
//!
//! A search becomes one request for a page, in a folder or in all, and checks of
//! what Graph was not asked. Which folders a query means is settled here, by the
//! tree of `outlook_folders.rs`; what its conditions mean stands in
//! `outlook_query.rs`.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::json::text;
use super::microsoft_answer::page;
use super::outlook::{Outlook, count as length};
use super::outlook_folders::{self, Tree};
use super::outlook_query::{self, Compiled, Places, Scope};
use crate::error::{Error, Kind, Result};
use crate::net;
use crate::provider::Ask;
use crate::query::{PLACES, Query, Term};

/// The most messages that a page is asked for.
const MOST: usize = 100;
/// Results after which a search of Graph's ends.
const SEARCH_ENDS: u64 = 1_000;
/// The most rows that a page repeats of the one before it.
pub(super) const OVERLAP: usize = 100;
/// Stands in a cursor before the number of results on the pages before it.
const COUNTED: char = '#';

/// A list of messages, decided.
pub(super) struct Plan {
    /// The request for the page that is wanted.
    pub request: String,
    /// What is left to check on each message.
    rest: Option<Query>,
    /// Messages elsewhere are left out.
    only: Option<String>,
    /// Messages in the trash and in spam are left out.
    hide: bool,
    tree: Option<Arc<Tree>>,
    pub notes: Vec<String>,
    /// Set when the service has to filter or search.
    narrowed: bool,
    /// Set when Graph searches: how many results came before this page.
    before: Option<u64>,
    /// True for a page after the first.
    pub later: bool,
}

/// What of a list of messages is wanted.
pub(super) struct Wanted<'a> {
    /// Properties that are read of each message.
    pub select: &'a [&'a str],
    /// About so many messages in a page.
    pub top: usize,
    /// True to have the messages counted.
    pub count: bool,
    /// Where a page after the first starts, as [`Listed::next`] said.
    pub cursor: Option<&'a str>,
}

/// A page of messages, as it was listed and checked.
pub(super) struct Listed {
    pub items: Vec<Value>,
    /// The request for the next page, for a search with the results so far.
    pub next: Option<String>,
    /// How many messages the service counts, checks aside.
    pub count: Option<u64>,
    /// What the service did not list, in words.
    pub note: Option<String>,
}

impl Outlook {
    /// Decides how to list what `ask` wants.
    pub(super) async fn plan(&self, ask: &Ask, wanted: Wanted<'_>) -> Result<Plan> {
        let mut tree = None;
        let compiled = match &ask.query {
            None => outlook_query::compile(None)?,
            Some(query) => {
                let mut query = outlook_query::mine(query, self.address());
                let named = outlook_query::folders(&query);
                if !named.is_empty() {
                    let known = self.tree().await?;
                    query = by_id(&query, &named, &known)?;
                    tree = Some(known);
                }
                compile(&query)?
            }
        };
        let (cursor, before) = match wanted.cursor.map(|cursor| cursor.rsplit_once(COUNTED)) {
            Some(Some((request, before))) => (Some(request), before.parse().unwrap_or(0)),
            _ => (wanted.cursor, 0),
        };
        let mut plan = Plan {
            before: compiled.search.is_some().then_some(before),
            request: String::new(),
            only: None,
            hide: ask.folder.is_none() && compiled.scope == Scope::Mail,
            tree,
            notes: compiled.notes.clone(),
            narrowed: compiled.filter.is_some() || compiled.search.is_some(),
            later: wanted.cursor.is_some(),
            rest: None,
        };
        let folder = self.folder(ask, &compiled.scope, &mut plan).await?;
        let reads = compiled.rest.as_ref().map(outlook_query::reads);
        let reads = reads.unwrap_or_default();
        let in_folders = plan.hide || plan.only.is_some() || reads.contains(&"parentFolderId");
        if in_folders && plan.tree.is_none() {
            plan.tree = Some(self.tree().await?);
        }
        let mut properties: Vec<&str> = wanted.select.to_vec();
        let more = in_folders.then_some("parentFolderId").into_iter();
        for property in reads.into_iter().chain(more) {
            if !properties.contains(&property) {
                properties.push(property);
            }
        }
        plan.request = match cursor {
            Some(cursor) => cursor.to_owned(),
            None => self.first(&folder, &compiled, &properties, &wanted),
        };
        plan.rest = compiled.rest;
        Ok(plan)
    }

    /// Where to list, below the mailbox.
    async fn folder(&self, ask: &Ask, scope: &Scope, plan: &mut Plan) -> Result<String> {
        let named = match scope {
            Scope::Folder(name) if name != "anywhere" => Some(name),
            _ => None,
        };
        let below = |id: &str| format!("mailFolders/{}/messages", net::path_segment(id));
        let Some(id) = &ask.folder else {
            return Ok(match named {
                None => "messages".to_owned(),
                Some(name) => below(outlook_folders::known(name).unwrap_or(name)),
            });
        };
        // A folder by its handle and one by its name: what lies in both.
        if let Some(name) = named {
            let tree = self.tree().await?;
            plan.only = Some(tree.resolve(name)?.to_owned());
        }
        Ok(below(id))
    }

    /// The request for the first page.
    fn first(
        &self,
        folder: &str,
        compiled: &Compiled,
        properties: &[&str],
        wanted: &Wanted,
    ) -> String {
        let search = compiled.search.as_ref().map(|kql| format!("\"{kql}\""));
        let select = properties.join(",");
        // Where some will not match, a few more at once save round trips.
        let top = match &compiled.rest {
            Some(_) => wanted.top.saturating_mul(2).max(25),
            None => wanted.top,
        };
        let top = top.clamp(1, MOST).to_string();
        let mut query: Vec<(&str, &str)> = Vec::new();
        if let Some(filter) = &compiled.filter {
            query.push(("$filter", filter));
        }
        match &search {
            // Graph sorts what it has searched for by date itself, and refuses
            // to be told so.
            Some(search) => query.push(("$search", search)),
            None => query.push(("$orderby", "receivedDateTime desc")),
        }
        query.push(("$select", &select));
        query.push(("$top", &top));
        if wanted.count && search.is_none() && compiled.rest.is_none() {
            query.push(("$count", "true"));
        }
        self.graph().mine(folder, &query)
    }

    /// Lists a page and checks its messages.
    pub(super) async fn listed(&self, plan: &Plan) -> Result<Listed> {
        let answer = match plan.narrowed {
            true => self.graph().get_slow(&plan.request).await,
            false => self.graph().get(&plan.request).await,
        };
        let answer = answer.map_err(|error| plan.explain(error))?;
        let count = answer.get("@odata.count").and_then(Value::as_u64);
        let (mut items, link) = page(answer)?;
        let listed = plan
            .before
            .map(|before| before.saturating_add(length(items.len())));
        items.retain(|item| !text(item, "id").is_empty() && plan.keeps(item));
        let next = link.map(|link| self.graph().linked(&link)).transpose()?;
        let ended = next.is_none() && listed.is_some_and(|listed| listed >= SEARCH_ENDS);
        Ok(Listed {
            items,
            next: next.map(|request| counted(request, listed)),
            count,
            note: ended.then(|| {
                "Outlook's search ends after 1,000 results, so there may be more: \
                 narrow it by date"
                    .to_owned()
            }),
        })
    }
}

/// The request for the page after that of `last`, moved up by `rows`: what leaves
/// a list while it is paged through makes room for as many of those behind it,
/// and a page by position (`$skip`) would pass over them. Rows that come twice
/// are known again by whoever asks.
///
/// The link stays as it is when it does not say where it starts and how long it
/// is, when it holds a token that says more, or when there would be no way
/// forward.
pub(super) fn moved_up(next: &str, last: &Plan, rows: usize) -> String {
    let (Some(skip), Some(top), false) = (
        number(next, "$skip"),
        number(next, "$top"),
        value(next, "$skiptoken").is_some(),
    ) else {
        return next.to_owned();
    };
    // Pages get longer by what comes twice, once for all later pages.
    let (rows, longer) = match last.later {
        true => (rows.min(top / 2), top),
        false => (rows, top.saturating_add(rows)),
    };
    let earlier = skip.saturating_sub(rows);
    if earlier <= number(&last.request, "$skip").unwrap_or(0) && last.later {
        return next.to_owned();
    }
    let next = set(next, "$skip", earlier);
    set(&next, "$top", longer)
}

/// The value of a request's parameter, as it is written.
fn value<'r>(request: &'r str, name: &str) -> Option<&'r str> {
    let (_, query) = request.split_once('?')?;
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    pairs.find_map(|(key, value)| is(key, name).then_some(value))
}

fn number(request: &str, name: &str) -> Option<usize> {
    value(request, name)?.parse().ok()
}

/// The request with another number for a parameter, and all else to the letter.
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
    percent_encoding::percent_decode_str(key)
        .decode_utf8()
        .is_ok_and(|key| key == name)
}

impl Plan {
    /// True when Graph searches, whose pages are not counted by position.
    pub fn searches(&self) -> bool {
        self.before.is_some()
    }

    /// True when messages of a page may be left out here.
    pub fn checks(&self) -> bool {
        self.rest.is_some() || self.only.is_some() || self.hide
    }

    /// The cursor that lists this page once more.
    pub fn again(&self) -> String {
        counted(self.request.clone(), self.before)
    }

    fn keeps(&self, item: &Value) -> bool {
        let folder = text(item, "parentFolderId");
        if self.only.as_ref().is_some_and(|only| only != folder) {
            return false;
        }
        let Some(tree) = &self.tree else {
            let nowhere = HashMap::new();
            let places = Places { names: &nowhere };
            return self.matches(item, &places);
        };
        let places = Places {
            names: tree.names(),
        };
        !(self.hide && tree.is_hidden(folder)) && self.matches(item, &places)
    }

    fn matches(&self, item: &Value, places: &Places) -> bool {
        let rest = self.rest.as_ref();
        rest.is_none_or(|rest| outlook_query::matches(rest, item, places))
    }

    /// What an error of a list means.
    fn explain(&self, error: Error) -> Error {
        match error.kind() {
            // Graph's page links age.
            Kind::Provider(400 | 410) if self.later => {
                Error::argument("Outlook no longer knows where this page starts")
                    .next("search again without cursor")
            }
            Kind::Provider(503 | 504) | Kind::Timeout if self.narrowed => {
                Error::new(error.kind(), "this search was too slow for Outlook")
                    .next("narrow it by date, such as after:30d, or by folder")
            }
            Kind::NotFound if self.request.contains("/mailFolders/") => {
                Error::new(Kind::NotFound, "Outlook has no such folder")
                    .next("call lookup with kind=folders to see what there is")
            }
            _ => error,
        }
    }
}

/// A request as a cursor, with the results before it if it is a search.
fn counted(request: String, before: Option<u64>) -> String {
    match before {
        Some(before) => format!("{request}{COUNTED}{before}"),
        None => request,
    }
}

/// The query in Graph's languages. Graph's own syntax stands alone, or with the
/// folder that a call names beside it.
fn compile(query: &Query) -> Result<Compiled> {
    match query {
        Query::All(parts) => match parts.as_slice() {
            [one] => compile(one),
            [raw @ Query::Raw(_), Query::Term(Term::Folder(folder))] => Ok(Compiled {
                scope: Scope::Folder(folder.clone()),
                ..outlook_query::compile(Some(raw))?
            }),
            _ => outlook_query::compile(Some(query)),
        },
        _ => outlook_query::compile(Some(query)),
    }
}

/// The query with the folders it names by their ids.
fn by_id(query: &Query, named: &[String], tree: &Tree) -> Result<Query> {
    let mut ids: HashMap<&str, &str> = HashMap::new();
    for name in named {
        ids.insert(name, tree.resolve(name)?);
    }
    Ok(query.map(&|term| match term {
        Term::Folder(name) if !PLACES.contains(&name.as_str()) => {
            let id = ids.get(name.as_str()).copied().unwrap_or(name);
            Term::Folder(id.to_owned())
        }
        other => other.clone(),
    }))
}
