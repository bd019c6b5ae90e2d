//! Delta queries: rounds of pages, the links between them, and the tokens in the links.
//!
//! A round has the changes after one mark up to another. Its first page sets the end: changes that
//! happen while a client turns pages belong to the next round. Changes of a folder are in
//! `messages.rs`, those of a calendar in `calendar.rs`.

mod calendar;
mod messages;
mod round;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use round::{ChangeRound, EntryKey};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::calendar::context::{CalendarContext, CalendarRef};
use super::error::{GraphError, not_in_view_delta, sync_state_lost, sync_state_malformed};
use super::ids::named_guid;
use super::pages;
use super::params::QueryOptions;
use super::request::RequestContext;
use super::response::{GraphBody, GraphResponse};
use crate::http::HttpRequest;
use crate::state::RequestState;

/// The default number of rows of a page.
const DEFAULT_TOP: usize = 10;

/// The source of the changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DeltaCall<'a> {
    /// A calendar, within a time range.
    View(CalendarRef<'a>),
    /// The messages of a folder.
    Messages(&'a str),
}

impl DeltaCall<'_> {
    /// Returns the query options of a first request.
    fn options(&self) -> &'static [&'static str] {
        match self {
            Self::View(_) => &["$deltatoken", "$skiptoken"],
            Self::Messages(_) => {
                &["$deltatoken", "$skiptoken", "$select", "$top", "$filter", "$orderby"]
            }
        }
    }
}

/// Answers a delta query.
pub(super) fn handle(
    context: &RequestContext<'_>,
    call: DeltaCall<'_>,
) -> Result<GraphResponse, GraphError> {
    let (state, request, store) = (context.state, context.request, context.store);
    // Before the options are read, because Graph has an error of its own for these.
    supported(request, call)?;
    let token = {
        let options = QueryOptions::read(request, call.options())?;
        let token = options.deltatoken.or(options.skiptoken);
        token
            .map(|token| DeltaToken::read(token, state, &question(request, context.address())))
            .transpose()?
    };
    // The options of the first request apply to all rounds: Graph's links contain them in the
    // token.
    let mut first = request.clone();
    if let Some(token) = &token {
        first.query.clone_from(&token.query);
    }
    let options = QueryOptions::read(&first, call.options())?;
    let base = RequestContext { request: &first, options: &options, ..*context };
    let top = options.top.or(base.prefer.page_size).unwrap_or(DEFAULT_TOP);
    let round = |now| match token {
        None => ChangeRound { since: 0, until: now, after: None },
        Some(token) => token.round(now),
    };
    let body = match call {
        DeltaCall::Messages(folder) => {
            let round = round(store.mailbox.history);
            page(&base, &round, "message", messages::changes(&base, folder, &round)?, top)
        }
        DeltaCall::View(at) => {
            // Locked before the round begins, so that no change happens while its end is set.
            let mut agenda = state.agenda();
            let context = CalendarContext::new(&base, &mut agenda)?;
            let round = round(context.agenda.mark);
            page(&base, &round, "event", calendar::changes(&context, at, &round)?, top)
        }
    };
    Ok(GraphResponse::new(body))
}

/// Refuses options that a calendar's delta does not support.
fn supported(request: &HttpRequest, call: DeltaCall<'_>) -> Result<(), GraphError> {
    const REFUSED: [&str; 6] = ["$select", "$filter", "$orderby", "$expand", "$search", "$top"];
    let mut names = request.query.iter().map(|(name, _)| name.as_str());
    if matches!(call, DeltaCall::View(_)) && names.any(|name| REFUSED.contains(&name)) {
        Err(not_in_view_delta())
    } else {
        Ok(())
    }
}

/// Returns a page of a round. The rows are in the order of their keys.
fn page(
    base: &RequestContext<'_>,
    round: &ChangeRound,
    kind: &str,
    rows: Vec<(EntryKey, Value)>,
    top: usize,
) -> GraphBody {
    let mut left =
        // By key, not by position: an item that changes or is deleted meanwhile leaves the round,
        // and would shift the others.
        rows.into_iter().filter(|(key, _)| round.after.is_none_or(|after| *key > after)).peekable();
    let page: Vec<(EntryKey, Value)> = left.by_ref().take(top).collect();
    let last = page.last().map(|(key, _)| *key);
    let more = left.peek().is_some();
    let values: Vec<Value> = page.into_iter().map(|(_, row)| row).collect();
    let token = DeltaToken {
        generation: base.state.graph.generation(),
        question: question(base.request, base.address()),
        since: round.since,
        until: round.until,
        after: last.filter(|_| more),
        query: stable_query(&base.request.query),
    };
    let token = URL_SAFE_NO_PAD.encode(json!(token).to_string());
    // Every round ends with a delta link, even if it is empty.
    let (link, name) = if more {
        ("@odata.nextLink", "%24skiptoken")
    } else {
        ("@odata.deltaLink", "%24deltatoken")
    };
    let (base_url, path) = (base.request.base(), pages::path(base.request));
    GraphBody::Json(json!({
        "@odata.context": format!("{base_url}/v1.0/$metadata#Collection({kind})"),
        "value": values,
        link: format!("{base_url}/{path}?{name}={token}"),
    }))
}

/// The contents of a token.
#[derive(Serialize, Deserialize)]
struct DeltaToken {
    #[serde(rename = "g")]
    generation: u64,
    #[serde(rename = "p")]
    question: String,
    #[serde(rename = "s")]
    since: u64,
    #[serde(rename = "u")]
    until: u64,
    #[serde(rename = "a")]
    after: Option<EntryKey>,
    #[serde(rename = "q")]
    query: Vec<(String, String)>,
}

impl DeltaToken {
    /// Reads a token.
    ///
    /// # Errors
    ///
    /// 400 if it is malformed or of another path, 410 if it is of an earlier generation.
    fn read(text: &str, state: &RequestState, question: &str) -> Result<Self, GraphError> {
        let bytes = URL_SAFE_NO_PAD.decode(text).ok();
        let token = bytes.and_then(|bytes| serde_json::from_slice::<Self>(&bytes).ok());
        let token = token.filter(|token| token.question == question);
        let token = token.ok_or_else(sync_state_malformed)?;
        let current = token.generation == state.graph.generation();
        if current { Ok(token) } else { Err(sync_state_lost()) }
    }

    /// Returns the round of a token: the rest of its own round, or the next one.
    fn round(&self, now: u64) -> ChangeRound {
        match self.after {
            Some(_) => ChangeRound { since: self.since, until: self.until, after: self.after },
            None => ChangeRound { since: self.until, until: now, after: None },
        }
    }
}

/// Returns the part of a query that stays the same from round to round.
fn stable_query(query: &[(String, String)]) -> Vec<(String, String)> {
    let stable = query.iter();
    stable
        .filter(|(name, _)| !matches!(name.as_str(), "$deltatoken" | "$skiptoken"))
        .cloned()
        .collect()
}

/// Returns a hash of the mailbox and path that a token belongs to.
fn question(request: &HttpRequest, address: &str) -> String {
    named_guid(&format!("{address} {}", request.path.join("/")))
}
