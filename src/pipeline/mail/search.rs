//! Searches: all accounts concurrently, merged by date in either order, a page at a time.
//!
//! Every account is queried for a full page, because all of it may come first; unused rows are
//! fetched again with the next page. A row is shown only when every account has returned
//! everything before it, so the result is sorted. A single account is a merge of one.

pub(crate) mod accounts;
mod by_sender;
pub(crate) mod plan;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::choice::WordChoice;
use daysheet_core::encode::Document;
use daysheet_core::error::Result;
use daysheet_core::query::{ME, MessagePart, PLACES, Query, QueryTerm};
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{MESSAGE, THREAD};
use daysheet_core::text::{Note, note, ours};

use self::accounts::{SearchPart, hidden_count, part_rows, search_accounts, total, total_hidden};
use self::by_sender::search_senders;
use self::plan::{
    KIND, SearchContext, SearchPlan, is_everywhere, plan_search, search_context, search_query,
    words,
};
use super::pages::{ListedRow, PagePosition};
use crate::pipeline::answer::cursor::save_cursor;
use crate::pipeline::context::Context;
use crate::pipeline::rows::{MissingAccount, missing_line, name_account, zone_line};
use crate::tools::mail_search::{MailSearch, RowKind, RowOrder};

/// The note on the parts that neither service counts for `has:attachment`.
const NOT_ATTACHED: &str = "has:attachment leaves out pictures within the text and parts without \
                            a file name; mail_read lists them";

pub(crate) async fn mail_search(ctx: &Context, search: MailSearch) -> Result<WholeAnswer> {
    if search.by == Some(RowKind::Sender) {
        return search_senders(ctx, search).await;
    }
    let plan = plan_search(ctx, search).await?;
    let table = if plan.by_thread { &THREAD } else { &MESSAGE };
    let merged = plan.accounts > 1;
    let zone = ctx.requested_zone(plan.tz.as_deref())?;
    let (query, listed, now) = search_query(ctx, &plan, &zone)?;
    let request = SearchContext {
        query,
        listed,
        columns: plan.columns(table, merged, listed.answered.is_some())?,
        ..search_context(ctx, &plan, zone, table).await?
    };
    let (mut parts, missing) = search_accounts(ctx, &request).await?;
    let mut notes = Vec::new();
    let rows = page_rows(ctx, &request, &mut parts, &mut notes).await?;
    let (shown, before) = (rows.len(), plan.shown);
    let mut next = next_plan(&plan, &parts, &missing);
    next.shown += shown;

    let mut document = Document { scalars: Vec::new(), tables: vec![rows] };
    zone_line(&mut document, &request.zone);
    let absent = plan.failed + missing.len();
    let mut count = next.count(table, shown, before, absent);
    if !next.places.is_empty() {
        next.now = now;
        let cursor = save_cursor(ctx, KIND, &next).await?;
        document.scalars.push(("next", RowCell::Handle('p', cursor)));
        count.push_str(&format!("; cursor=p{cursor} has more"));
    }
    if next.places.is_empty() && absent == 0 {
        let parts = if before == 0 { parts.as_slice() } else { &[] };
        count.push_str(&hidden_count(parts, &request));
    }
    notes.insert(0, note!("{}", ours(count)));
    notes.extend(missing.into_iter().map(missing_line));
    notes.extend(search_notes(&request, &parts, shown));
    if shown == 0 && next.places.is_empty() {
        let advice = match absent {
            0 => no_match(&request, &parts),
            _ if before > 0 => None,
            _ => never_matches(&request, &parts).or(Some(
                "nothing matches in the accounts that answered; call again for the others",
            )),
        };
        notes.extend(advice.map(Note::from));
    }
    Ok(WholeAnswer {
        document,
        notes,
        words: request.query.as_ref().map(words).unwrap_or_default(),
        sort: Some(if plan.oldest { RowOrder::Oldest } else { RowOrder::Newest }.word()),
        ..WholeAnswer::default()
    })
}

/// Takes the rows of a page from the parts, in order.
async fn page_rows(
    ctx: &Context,
    request: &SearchContext<'_>,
    parts: &mut [SearchPart],
    notes: &mut Vec<Note>,
) -> Result<RowTable> {
    let (order, chosen) = merge(parts, request.limit, request.plan.oldest);
    let mut tables = Vec::new();
    for (part, found) in parts.iter().zip(chosen) {
        tables.push(part_rows(ctx, part, found, request, notes).await?);
    }
    let mut rows = RowTable::interleave(tables, order)
        .unwrap_or_else(|| RowTable::new(request.table, request.columns.clone()));
    // Named columns are shown even if they are empty.
    if request.plan.fields.is_none() {
        rows.drop_empty();
    }
    Ok(rows)
}

/// Returns the plan of the next page, with the accounts that may have more, before the rows of
/// this page are counted.
fn next_plan(
    plan: &SearchPlan,
    parts: &[SearchPart],
    missing: &[MissingAccount<PagePosition>],
) -> SearchPlan {
    let mut next = plan.clone();
    if plan.shown == 0 && missing.is_empty() {
        next.total = total(parts.iter().map(|part| part.fetched.total));
    }
    next.places = parts.iter().filter_map(|part| part.fetched.rest()).collect();
    // Accounts that failed temporarily are queried again with the next page.
    next.places.extend(missing.iter().filter_map(|(_, place)| place.clone()));
    next.failed += missing.iter().filter(|(_, place)| place.is_none()).count();
    next
}

/// Returns the notes on the query and on the lists of the accounts. `shown` is the number of rows
/// of the page.
fn search_notes(request: &SearchContext<'_>, parts: &[SearchPart], shown: usize) -> Vec<Note> {
    let mut notes = Vec::new();
    let terms = request.query.iter().flat_map(Query::terms);
    let is_first = request.plan.shown == 0;
    if is_first && terms.into_iter().any(|term| *term == QueryTerm::Attachment) {
        notes.push(NOT_ATTACHED.into());
    }
    for part in parts {
        let name = name_account(request.merged, &part.label);
        notes.extend(part.fetched.notes.iter().cloned().map(&name));
        if shown < request.limit && part.fetched.is_open() {
            notes.push(name(note!(
                "{} pages were searched so far, and there are more",
                part.fetched.looked
            )));
        }
    }
    notes
}

/// Returns advice for a search without matches; `None` if the count of matches in spam and trash is
/// advice enough.
fn no_match(request: &SearchContext<'_>, parts: &[SearchPart]) -> Option<&'static str> {
    if let Some(why) = never_matches(request, parts) {
        return Some(why);
    }
    if request.plan.q.is_none() && request.plan.folder.is_none() {
        return Some("no messages outside spam and trash");
    }
    let terms = request.query.iter().flat_map(Query::terms);
    let named =
        |term: &QueryTerm| matches!(term, QueryTerm::Folder(name) if !PLACES.contains(&&**name));
    match total_hidden(parts) {
        _ if !is_everywhere(request) => Some(if terms.into_iter().any(named) {
            "nothing matches: try fewer conditions, or lookup kind=folders for folder names"
        } else {
            "nothing matches: try fewer or other words"
        }),
        Some(0) => Some("nothing matches, in spam and trash neither: try fewer or other words"),
        Some(_) => None,
        None => {
            Some("nothing matches: try fewer conditions, or in:anywhere to include spam and trash")
        }
    }
}

/// Returns why no message can match, if conditions exclude each other.
fn never_matches(request: &SearchContext<'_>, parts: &[SearchPart]) -> Option<&'static str> {
    // The terms that every match has to meet.
    fn required(query: &Query) -> Vec<&QueryTerm> {
        match query {
            Query::All(parts) => parts.iter().flat_map(required).collect(),
            Query::Term(term) => vec![term],
            Query::Any(_) | Query::Not(_) | Query::Raw(_) => Vec::new(),
        }
    }
    let terms: Vec<&QueryTerm> = request.query.iter().flat_map(required).collect();
    let pairs = || terms.iter().flat_map(|one| terms.iter().map(move |other| (*one, *other)));
    let is_me = |text: &str| text == ME || parts.iter().any(|part| part.account.email.is(text));
    let own = |term: &&QueryTerm| match term {
        QueryTerm::Folder(name) => name == "sent" || name == "drafts",
        QueryTerm::In(MessagePart::From, text) => is_me(text),
        _ => false,
    };
    if request.listed.answered.is_some() && terms.iter().any(own) {
        return Some(
            "is:answered and is:unanswered are of received mail; of mail you sent, in:sent by=thread \
             with the column `last` shows who wrote last",
        );
    }
    pairs().find_map(|pair| match pair {
        (QueryTerm::After(from), QueryTerm::Before(to)) if from >= to => {
            Some("the range is empty: give an `after:` that is earlier than `before:`")
        }
        (QueryTerm::Larger(from), QueryTerm::Smaller(to)) if from >= to => {
            Some("no size is in the range: give a `larger:` below `smaller:`")
        }
        _ => None,
    })
}

/// Takes rows from the parts, the newest or the oldest first, until there are enough or the next
/// one is unknown. Returns the part of each row, and the rows of each part.
fn merge(
    parts: &mut [SearchPart],
    limit: usize,
    oldest: bool,
) -> (Vec<usize>, Vec<Vec<ListedRow>>) {
    let mut order = Vec::new();
    let mut chosen: Vec<Vec<ListedRow>> = parts.iter().map(|_| Vec::new()).collect();
    while order.len() < limit && !parts.iter().any(|part| part.fetched.is_open()) {
        // Of equal dates the first account's row comes first, so that all pages agree.
        let heads = parts.iter().enumerate();
        let heads = heads.filter_map(|(at, part)| Some((part.fetched.head()?, at)));
        let next = if oldest {
            heads.min()
        } else {
            heads.max_by_key(|(date, at)| (*date, std::cmp::Reverse(*at)))
        };
        let Some((_, at)) = next else {
            break;
        };
        let (Some(part), Some(taken)) = (parts.get_mut(at), chosen.get_mut(at)) else {
            break;
        };
        taken.extend(part.fetched.take_next());
        order.push(at);
    }
    (order, chosen)
}
