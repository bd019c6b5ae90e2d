//! Searches: all accounts concurrently, merged by date in either order, a page at a time.
//!
//! Every account is queried for a full page, because all of it may come first; unused rows are
//! fetched again with the next page. A row is shown only when every account has returned
//! everything before it, so the result is sorted. A single account is a merge of one.

mod by_sender;

use std::sync::Arc;

use futures_util::future::{join, join_all};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde::{Deserialize, Serialize};

use self::by_sender::search_senders;
use super::answered::fill_answered;
use super::pages::{GatheredMessages, ListOptions, ListedRow, PagePosition, fetch_pages};
use super::read::lengths::fill_lengths;
use super::senders::{LookAlikes, WARNINGS, look_alikes_of, needs_folders, senders};
use super::{answered, listed};
use crate::budget::Response;
use crate::encode::Document;
use crate::error::{Error, Result};
use crate::flatten::{Room, RowContext};
use crate::pipeline::access::accounts::{
    AccountLabels, account_labels, account_named, named_or_all,
};
use crate::pipeline::answer::cursor::{SeenIds, another_search, load_cursor, save_cursor};
use crate::pipeline::context::Context;
use crate::pipeline::handles::{placeholder_rows, resolve_handle};
use crate::pipeline::known_people::prefetch_people;
use crate::pipeline::rows::{Missing, missing_line, name_account, rows_of, zone_line};
use crate::pipeline::times::requested_zone;
use crate::project::project;
use crate::provider::Account;
use crate::provider::{Failed, HIDDEN, ListRequest, Mailbox, Total};
use crate::query::{self, DateContext, ListedConditions, ME, MessagePart, PLACES, Query, Term};
use crate::row::{Cell, RowTable};
use crate::schemas::{self, Field, Level, MESSAGE, THREAD, Table};
use crate::store::HandleKind;
use crate::text::{Note, note, ours};
use crate::tools::Columns;
use crate::tools::search::{By, Search, Sort};
use crate::words::Words;

/// The kind of its cursors.
const KIND: &str = "search";
/// The column of how a text begins, and its width with all columns.
const SNIPPET: &str = "snippet";
const FULL_SNIPPET: u16 = 120;

/// What neither service's `has:attachment` counts.
const NOT_ATTACHED: &str = "has:attachment leaves out pictures within the text and parts without \
                            a file name; mail_read lists them";

/// The search and its position; saved under a cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct SearchPlan {
    q: Option<String>,
    folder: Option<String>,
    by_thread: bool,
    level: Option<String>,
    fields: Option<Vec<String>>,
    limit: u32,
    /// The width of the snippets, if it was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    snippet: Option<u16>,
    /// True for the oldest first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    oldest: bool,
    /// The zone that was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    tz: Option<String>,
    /// When the first page was requested, in seconds since 1970; only for a query whose
    /// meaning depends on the time.
    now: Option<i64>,
    /// The number of rows on the earlier pages.
    shown: usize,
    /// The total number, and whether it is an estimate.
    total: Option<(u64, bool)>,
    /// The number of accounts searched.
    accounts: usize,
    /// The accounts that may have more.
    places: Vec<PagePosition>,
}

/// The parts of a search that are the same for every account.
struct SearchContext<'p> {
    plan: &'p SearchPlan,
    query: Option<Query>,
    /// The conditions that are checked on the messages of a list.
    listed: ListedConditions,
    zone: TimeZone,
    table: &'static Table,
    columns: Vec<&'static Field>,
    labels: AccountLabels,
    /// The number of rows of a page.
    limit: usize,
    /// The number of rows to fetch of each account.
    enough: usize,
    /// True when the search is of several accounts.
    merged: bool,
}

/// One account of a search.
struct SearchPart {
    account: Account,
    /// The label of the account in rows and notes.
    label: String,
    mailbox: Arc<dyn Mailbox>,
    fetched: GatheredMessages,
    /// The number of messages in spam and trash that match, if known.
    hidden: Option<u64>,
    /// The senders who look like somebody else.
    look_alikes: LookAlikes,
}

pub(in crate::pipeline) async fn mail_search(ctx: &Context, search: Search) -> Result<Response> {
    if search.by == Some(By::Sender) {
        return search_senders(ctx, search).await;
    }
    let plan = plan_search(ctx, search).await?;
    let table = if plan.by_thread { &THREAD } else { &MESSAGE };
    let merged = plan.accounts > 1;
    let zone = requested_zone(ctx, plan.tz.as_deref())?;
    let (query, listed, now) = search_query(ctx, &plan, &zone)?;
    let request = SearchContext {
        query,
        listed,
        columns: plan.columns(table, merged, listed.answered.is_some())?,
        ..search_context(ctx, &plan, zone, table).await?
    };
    let (mut parts, missing) = search_accounts(ctx, &request).await?;
    let (order, chosen) = merge(&mut parts, request.limit, plan.oldest);
    let mut notes = Vec::new();
    let mut tables = Vec::new();
    for (part, found) in parts.iter().zip(chosen) {
        tables.push(part_rows(ctx, part, found, &request, &mut notes).await?);
    }
    let mut rows = RowTable::interleave(tables, order)
        .unwrap_or_else(|| RowTable::new(table, request.columns.clone()));
    if plan.fields.is_none() {
        rows.drop_empty();
    }

    let shown = rows.len();
    let short = shown < request.limit;
    let before = plan.shown;
    let mut plan = plan.clone();
    plan.shown += shown;
    if before == 0 && missing.is_empty() {
        plan.total = total(parts.iter().map(|part| part.fetched.total));
    }
    plan.places = parts.iter().filter_map(|part| part.fetched.rest()).collect();
    // Accounts that failed temporarily are queried again with the next page.
    plan.places.extend(missing.iter().filter_map(|(_, place)| place.clone()));

    let mut document = Document { scalars: Vec::new(), tables: vec![rows] };
    zone_line(&mut document, &request.zone);
    let mut count = plan.count(table, shown, before, missing.len());
    if !plan.places.is_empty() {
        plan.now = now;
        let cursor = save_cursor(ctx, KIND, &plan).await?;
        document.scalars.push(("next", Cell::Handle('p', cursor)));
        count.push_str(&format!("; cursor=p{cursor} has more"));
    }
    if plan.places.is_empty() && missing.is_empty() {
        let parts = if before == 0 { parts.as_slice() } else { &[] };
        count.push_str(&hidden_count(parts, &request));
    }
    notes.insert(0, note!("{}", ours(count)));
    notes.extend(missing.into_iter().map(missing_line));
    let terms = request.query.iter().flat_map(Query::terms);
    if before == 0 && terms.into_iter().any(|term| *term == Term::Attachment) {
        notes.push(NOT_ATTACHED.into());
    }
    for part in &parts {
        let name = name_account(merged, &part.label);
        notes.extend(part.fetched.notes.iter().cloned().map(&name));
        if short && part.fetched.is_open() {
            notes.push(name(note!(
                "{} pages were searched so far, and there are more",
                part.fetched.looked
            )));
        }
    }
    if shown == 0 && plan.places.is_empty() {
        notes.extend(no_match(&request, &parts).map(Note::from));
    }
    Ok(Response {
        document,
        notes,
        words: request.query.as_ref().map(words).unwrap_or_default(),
        sort: Some(if plan.oldest { Sort::Oldest } else { Sort::Newest }.word()),
        ..Response::default()
    })
}

/// Returns the context of a search, without its query and columns.
async fn search_context<'p>(
    ctx: &Context,
    plan: &'p SearchPlan,
    zone: TimeZone,
    table: &'static Table,
) -> Result<SearchContext<'p>> {
    let limit = usize::try_from(plan.limit).unwrap_or(usize::MAX);
    Ok(SearchContext {
        plan,
        query: None,
        listed: ListedConditions::default(),
        zone,
        table,
        columns: Vec::new(),
        labels: account_labels(ctx).await?,
        limit,
        enough: limit,
        merged: plan.accounts > 1,
    })
}

/// Queries every account; returns those that responded, and why the others did not.
async fn search_accounts(
    ctx: &Context,
    request: &SearchContext<'_>,
) -> Result<(Vec<SearchPart>, Vec<Missing<PagePosition>>)> {
    let places = request.plan.places.iter();
    let outcomes = join_all(places.map(|place| search_account(ctx, place, request))).await;
    let (mut parts, mut missing) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        match outcome {
            Ok(part) => parts.push(part),
            Err(why) => missing.push(why),
        }
    }
    if let (true, Some((error, _))) = (parts.is_empty(), missing.first()) {
        return Err(match missing.len() {
            1 => error.clone(),
            count => error.clone().context(format!("all {count} accounts failed, the first")),
        });
    }
    Ok((parts, missing))
}

/// Returns the context of rows of one account.
fn part_context<'a>(
    ctx: &'a Context,
    part: &'a SearchPart,
    request: &'a SearchContext<'_>,
) -> RowContext<'a> {
    RowContext {
        zone: &request.zone,
        names: &part.fetched.names,
        room: request.plan.room(),
        ..ctx.context_for(part.mailbox.api(), &part.label, &part.account)
    }
}

/// Returns the query including the folder, the conditions to check on listed messages, and the
/// instant that relative dates are counted from, if it has any.
fn search_query(
    ctx: &Context,
    plan: &SearchPlan,
    zone: &TimeZone,
) -> Result<(Option<Query>, ListedConditions, Option<i64>)> {
    let mut clock = DateContext { zone: zone.clone(), ..ctx.date_context() };
    if let Some(then) = plan.now.and_then(|now| Timestamp::from_second(now).ok()) {
        clock.now = then;
    }
    let mut parts = Vec::new();
    let (mut now, mut listed) = (None, ListedConditions::default());
    if let Some(q) = &plan.q {
        let query;
        (query, listed) = query::parse_search(q, &clock)?;
        let tomorrow = DateContext { now: clock.now + 24.hours(), ..clock.clone() };
        // A cursor stores the time only if the query depends on it.
        if query::parse_search(q, &tomorrow)?.0 != query {
            now = Some(clock.now.as_second());
        }
        parts.push(query);
    }
    if plan.by_thread && (listed.bulk.is_some() || listed.direct) {
        return Err(Error::argument("`is:bulk` and `is:direct` are of messages, not of threads")
            .next("leave out `by`"));
    }
    if listed.direct {
        parts.push(Query::Term(Term::In(MessagePart::To, ME.to_owned())));
    }
    if let Some(folder) = &plan.folder
        && !is_folder_handle(folder)
    {
        parts.push(Query::Term(Term::Folder(query::place(folder))));
    }
    parts.retain(|part| *part != Query::All(Vec::new()));
    Ok(((!parts.is_empty()).then_some(Query::All(parts)), listed, now))
}

/// Queries one account for its part.
async fn search_account(
    ctx: &Context,
    place: &PagePosition,
    request: &SearchContext<'_>,
) -> std::result::Result<SearchPart, Missing<PagePosition>> {
    let SearchContext { plan, merged, .. } = *request;
    let label = request.labels.of(&place.account);
    let answer = async {
        let account = ctx.accounts.by_id(&place.account).await?;
        let mailbox = ctx.connect.mailbox(&account)?;
        let folder = match &plan.folder {
            Some(folder) => folder_of(ctx, folder, &account).await?,
            None => None,
        };
        // Rows are merged by date, whether or not it is shown.
        let mut read = match merged {
            true => with_date(&request.columns, request.table),
            false => request.columns.clone(),
        };
        // A message that is read next has its thread looked up with it.
        let further = std::iter::once(answered::THREAD).chain(listed::columns(request.listed));
        let further = further.filter_map(|name| request.table.field(name));
        read.extend(further.filter(|field| !request.columns.contains(field)));
        let ask = ListRequest {
            query: request.query.clone(),
            folder,
            projection: project(mailbox.api(), &read),
            limit: request.limit,
            oldest: plan.oldest,
            cursor: None,
            hidden: request.counts_hidden(),
        };
        let key: Vec<_> = MESSAGE.fields.first().into_iter().collect();
        let hidden = ask.in_hidden(project(mailbox.api(), &key));
        let context = ctx.context_for(mailbox.api(), &label, &account);
        let context = RowContext { zone: &request.zone, ..context };
        // Dates and ids need no names.
        let asking = ListOptions {
            table: request.table,
            context: &context,
            listed: request.listed,
            enough: request.enough,
        };
        let warns = request.columns.iter().any(|field| field.name == WARNINGS);
        let meet = async {
            if warns {
                prefetch_people(ctx, &account, &*mailbox).await;
            }
        };
        let pages = Box::pin(fetch_pages(&*mailbox, ask, place.clone(), asking));
        let (fetched, ()) = join(pages, Box::pin(meet)).await;
        let mut fetched = fetched?;
        if fetched.names.is_empty() && needs_folders(fetched.items(), &context) {
            fetched.names = mailbox.names().await.unwrap_or_default();
        }
        let look_alikes = match warns {
            true => {
                let senders = senders(fetched.items(), mailbox.api());
                look_alikes_of(ctx, &account, &*mailbox, senders).await
            }
            false => LookAlikes::default(),
        };
        let hidden = match fetched.hidden() {
            None if request.counts_hidden() && fetched.is_whole() => {
                count_hidden(&*mailbox, &hidden).await
            }
            known => known,
        };
        let label = label.clone();
        Ok(SearchPart { account, label, mailbox, fetched, look_alikes, hidden })
    };
    let answer = ctx.await_account(merged, answer).await;
    match answer {
        Ok(part) => Ok(part),
        Err(error) if !merged => Err((error, None)),
        Err(error) => {
            let again = error.is_passing().then(|| place.clone());
            Err((error.context(&label), again))
        }
    }
}

/// Returns the provider's id of the folder with this handle, if it is one of the account's.
pub(in crate::pipeline) async fn folder_of(
    ctx: &Context,
    folder: &str,
    account: &Account,
) -> Result<Option<String>> {
    match resolve_handle(ctx, HandleKind::Folder, folder).await? {
        Some((owner, id)) if owner == account.id => Ok(Some(id)),
        Some((owner, _)) => {
            let labels = account_labels(ctx).await?;
            let (owner, other) = (labels.of(&owner), labels.of(&account.id));
            let what = format!("the folder `{folder}` belongs to {owner}, not to {other}");
            Err(Error::argument(what).next("leave out `account`, or use a folder of that account"))
        }
        None => Ok(None),
    }
}

/// Returns the rows taken from one account.
async fn part_rows(
    ctx: &Context,
    part: &SearchPart,
    found: Vec<ListedRow>,
    request: &SearchContext<'_>,
    notes: &mut Vec<Note>,
) -> Result<RowTable> {
    let (mut items, mut failed) = (Vec::new(), Vec::new());
    for (at, one) in found.into_iter().enumerate() {
        match one {
            ListedRow::Item(item) => items.push(item),
            ListedRow::Failed(id, error) => failed.push(Failed { at, id, error }),
        }
    }
    let context = part_context(ctx, part, request);
    if *request.table == MESSAGE {
        ctx.states.threads.note(&items, &context, &part.account);
    }
    let mut own = Vec::new();
    let mut rows = rows_of(&context, request.table, &request.columns, &items, &mut own);
    part.look_alikes.mark(&mut rows, &items, &context);
    if request.looks_up() {
        let (looked_up, failed) = match request.listed.answered {
            Some(_) => (part.fetched.answers.clone(), None),
            None => answered::look_up(&*part.mailbox, request.table, &items, &context, None).await,
        };
        own.extend(failed.map(|error| answered::unknown(&error)));
        fill_answered(ctx, &mut rows, &looked_up, &part.account).await?;
    }
    let failed_length = fill_lengths(ctx, &mut rows, &*part.mailbox, &context).await;
    own.extend(failed_length.map(|error| note!("chars is null where unknown: {}", error)));
    own.extend(placeholder_rows(ctx, &mut rows, &failed, &part.account).await?);
    notes.extend(own.into_iter().map(name_account(request.merged, &part.label)));
    Ok(rows)
}

/// Returns the plan: as requested, or from the cursor.
async fn plan_search(ctx: &Context, search: Search) -> Result<SearchPlan> {
    let columns = search.columns();
    let snippet = search.snippet.and_then(|width| u16::try_from(width).ok());
    let Some(cursor) = &search.cursor else {
        let accounts = accounts_of(ctx, &search).await?;
        one_language(search.q.as_deref(), &accounts)?;
        let places: Vec<_> = accounts
            .into_iter()
            .map(|account| PagePosition {
                account: account.id,
                page: None,
                seen: SeenIds::default(),
            })
            .collect();
        let plan = SearchPlan {
            q: search.q,
            folder: search.folder,
            by_thread: search.by == Some(By::Thread),
            level: None,
            fields: None,
            limit: search.limit.unwrap_or(20),
            snippet,
            oldest: search.sort == Some(Sort::Oldest),
            tz: search.tz,
            now: None,
            shown: 0,
            total: None,
            accounts: places.len(),
            places,
        };
        return Ok(plan.with(columns));
    };
    let mut plan: SearchPlan = load_cursor(ctx, KIND, cursor).await?;
    let same_account = match &search.account {
        Some(name) => {
            let id = account_named(ctx, Some(name)).await?.id;
            plan.accounts == 1 && plan.places.iter().all(|place| place.account == id)
        }
        None => true,
    };
    let same = same_account
        && search.q.as_ref().is_none_or(|q| plan.q.as_ref() == Some(q))
        && search.folder.as_ref().is_none_or(|folder| plan.folder.as_ref() == Some(folder))
        && search.tz.as_ref().is_none_or(|tz| plan.tz.as_ref() == Some(tz))
        && search.sort.is_none_or(|sort| (sort == Sort::Oldest) == plan.oldest)
        && search.by.is_none_or(|by| (by == By::Thread) == plan.by_thread);
    if !same {
        return Err(another_search(cursor));
    }
    plan.limit = search.limit.unwrap_or(plan.limit);
    plan.snippet = snippet.or(plan.snippet);
    Ok(plan.with(columns))
}

/// Returns the accounts to search: the one named, or the folder's, or all.
async fn accounts_of(ctx: &Context, search: &Search) -> Result<Vec<Account>> {
    if let (None, Some(folder)) = (&search.account, &search.folder)
        && let Some((owner, _)) = resolve_handle(ctx, HandleKind::Folder, folder).await?
    {
        return Ok(vec![ctx.accounts.by_id(&owner).await?]);
    }
    named_or_all(ctx, search.account.as_deref()).await
}

impl SearchContext<'_> {
    /// Returns true if threads are looked up for answers.
    fn looks_up(&self) -> bool {
        let shows = self.columns.iter().any(|field| field.name == answered::COLUMN);
        self.listed.answered.is_some() || shows
    }

    /// Returns true if matches in spam and trash are worth a request: for messages that
    /// are searched for, not for those that are merely listed.
    fn counts_hidden(&self) -> bool {
        let by_message = *self.table == MESSAGE && !self.listed.any();
        by_message && self.plan.q.is_some() && is_everywhere(self)
    }
}

/// Formats the number of matches in spam and trash: `; spam and trash have 2 more (in:anywhere)`.
/// It is empty if there are none, or if they were searched. Conditions that no service knows are
/// not checked on them, so that fewer may match.
fn hidden_count(parts: &[SearchPart], request: &SearchContext<'_>) -> String {
    match total_hidden(parts).filter(|_| !parts.is_empty()) {
        _ if !is_everywhere(request) => String::new(),
        None => "; spam and trash not searched".to_owned(),
        Some(0) => String::new(),
        Some(more) if request.listed.any() => {
            format!("; spam and trash may have up to {more} more (in:anywhere)")
        }
        Some(more) => format!("; spam and trash have {more} more (in:anywhere)"),
    }
}

/// Returns the number of matches in spam and trash of all accounts; `None` if one is not known.
fn total_hidden(parts: &[SearchPart]) -> Option<u64> {
    parts.iter().map(|part| part.hidden).sum()
}

/// Counts the messages in spam and trash that match; `None` if that fails, or if there
/// are too many for a page.
async fn count_hidden(mailbox: &dyn Mailbox, ask: &ListRequest) -> Option<u64> {
    let page = mailbox.messages(ask).await.ok().filter(|page| page.next.is_none())?;
    u64::try_from(page.items.len()).ok()
}

/// Returns true for a search that leaves out spam and trash because it names no folder to search.
fn is_everywhere(request: &SearchContext<'_>) -> bool {
    fn names_folder(query: &Query) -> bool {
        let folder = |term: &&Term| matches!(term, Term::Folder(_));
        match query {
            Query::All(parts) => parts.iter().any(names_folder),
            Query::Raw(_) => true,
            // Leaving out another folder still searches all the rest.
            Query::Not(part) => match &**part {
                Query::Term(Term::Folder(name)) => HIDDEN.contains(&name.as_str()),
                part => part.terms().iter().any(folder),
            },
            Query::Any(_) | Query::Term(_) => query.terms().iter().any(folder),
        }
    }
    request.plan.folder.is_none() && !request.query.as_ref().is_some_and(names_folder)
}

/// Returns what to try when nothing matches; `None` if the count of matches in spam and trash
/// says it.
fn no_match(request: &SearchContext<'_>, parts: &[SearchPart]) -> Option<&'static str> {
    if let Some(why) = never_matches(request, parts) {
        return Some(why);
    }
    if request.plan.q.is_none() && request.plan.folder.is_none() {
        return Some("no messages outside spam and trash");
    }
    let terms = request.query.iter().flat_map(Query::terms);
    let named = |term: &Term| matches!(term, Term::Folder(name) if !PLACES.contains(&&**name));
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
    fn required(query: &Query) -> Vec<&Term> {
        match query {
            Query::All(parts) => parts.iter().flat_map(required).collect(),
            Query::Term(term) => vec![term],
            Query::Any(_) | Query::Not(_) | Query::Raw(_) => Vec::new(),
        }
    }
    let terms: Vec<&Term> = request.query.iter().flat_map(required).collect();
    let pairs = || terms.iter().flat_map(|one| terms.iter().map(move |other| (*one, *other)));
    let is_me = |text: &str| {
        text == ME || parts.iter().any(|part| part.account.email.eq_ignore_ascii_case(text))
    };
    let own = |term: &&Term| match term {
        Term::Folder(name) => name == "sent" || name == "drafts",
        Term::In(MessagePart::From, text) => is_me(text),
        _ => false,
    };
    if request.listed.answered.is_some() && terms.iter().any(own) {
        return Some(
            "is:answered and is:unanswered are of received mail; of mail you sent, in:sent by=thread \
             with the column `last` shows who wrote last",
        );
    }
    pairs().find_map(|pair| match pair {
        (Term::After(from), Term::Before(to)) if from >= to => {
            Some("the range is empty: give an `after:` that is earlier than `before:`")
        }
        (Term::Larger(from), Term::Smaller(to)) if from >= to => {
            Some("no size is in the range: give a `larger:` below `smaller:`")
        }
        _ => None,
    })
}

/// Takes rows from the parts, the newest or the oldest first, until there are enough or
/// the next is not known. Answers with which part each row is of, and the rows of each
/// part.
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
        let next = match oldest {
            true => heads.min(),
            false => heads.max_by_key(|(date, at)| (*date, std::cmp::Reverse(*at))),
        };
        let Some((_, at)) = next else {
            break;
        };
        let (Some(part), Some(taken)) = (parts.get_mut(at), chosen.get_mut(at)) else {
            break;
        };
        taken.extend(part.fetched.take());
        order.push(at);
    }
    (order, chosen)
}

/// Sums the totals of the accounts; an estimate if one of them is.
fn total(parts: impl Iterator<Item = Option<Total>>) -> Option<(u64, bool)> {
    parts.into_iter().try_fold((0_u64, false), |(sum, guess), one| {
        Some(match one? {
            Total::Exactly(count) => (sum.saturating_add(count), guess),
            Total::About(count) => (sum.saturating_add(count), true),
        })
    })
}

/// Refuses a provider's own syntax if the search includes another provider.
fn one_language(q: Option<&str>, accounts: &[Account]) -> Result<()> {
    let raw = q.is_some_and(query::is_raw);
    let mixed = accounts
        .windows(2)
        .any(|pair| matches!(pair, [one, other] if one.provider != other.provider));
    if raw && mixed {
        return Err(Error::argument(
            "`raw:` is one provider's syntax, but the search covers several",
        )
        .next("name the `account` it is for"));
    }
    Ok(())
}

/// Adds the date that rows are sorted by to the columns.
fn with_date(columns: &[&'static Field], table: &'static Table) -> Vec<&'static Field> {
    let mut columns = columns.to_vec();
    let dates = table.fields.iter().filter(|field| field.kind == schemas::Kind::Time);
    for date in dates.take(1) {
        if !columns.contains(&date) {
            columns.push(date);
        }
    }
    columns
}

/// Returns the words that a query searches for, in lower case.
fn words(query: &Query) -> Vec<String> {
    let words = query.terms().into_iter().filter_map(|term| match term {
        Term::Text(text) | Term::In(_, text) => Some(text.to_lowercase()),
        _ => None,
    });
    words.collect()
}

fn is_folder_handle(id: &str) -> bool {
    matches!(HandleKind::parse(id), Some((HandleKind::Folder, _)))
}

impl SearchPlan {
    fn with(mut self, columns: Option<Columns>) -> Self {
        match columns {
            None => {}
            Some(Columns::Level(level)) => {
                self.fields = None;
                self.level = Some(level.word().to_owned());
            }
            Some(Columns::Named(names)) => {
                self.level = None;
                self.fields = Some(names);
            }
        }
        self
    }

    /// Returns how much of a cell is shown.
    fn room(&self) -> Room {
        let full = self.level.as_deref() == Some(Level::More.word());
        self.snippet.or(full.then_some(FULL_SNIPPET)).map_or(Room::List, Room::Beginning)
    }

    /// Returns the columns to show. The account is included if there are several,
    /// unless columns were named.
    fn columns(
        &self,
        table: &'static Table,
        merged: bool,
        answered: bool,
    ) -> Result<Vec<&'static Field>> {
        if let Some(fields) = &self.fields {
            let mut names = fields.clone();
            // Who says how wide it is wants to see it.
            names.extend(self.snippet.map(|_| SNIPPET.to_owned()));
            return Columns::Named(names).of(table);
        }
        let word = self.level.as_deref();
        let level = [Level::Key, Level::More]
            .into_iter()
            .find(|level| word == Some(level.word()))
            .unwrap_or(Level::Core);
        let mut columns = crate::pipeline::rows::columns_of(table, Level::More, merged);
        // A look-up for each thread is not a matter of detail.
        columns.retain(|field| match field.name {
            answered::COLUMN => answered,
            SNIPPET if self.snippet.is_some() => true,
            _ => field.is_account() || field.level <= level,
        });
        Ok(columns)
    }

    /// Formats `messages: 20 of ~201 in 2 accounts, newest first, after 20 on earlier pages`.
    /// `missing` accounts did not answer.
    fn count(&self, table: &Table, shown: usize, before: usize, missing: usize) -> String {
        // When the last page is there, the rows have been counted.
        let counted = self.places.is_empty() && missing == 0;
        let total = match self.total {
            _ if counted => format!(" of {}", self.shown),
            Some((total, true)) => format!(" of ~{total}"),
            Some((total, false)) => format!(" of {total}"),
            None => String::new(),
        };
        let accounts = match self.accounts {
            0 | 1 => String::new(),
            count if missing == 0 => format!(" in {count} accounts"),
            count => format!(" in {} of {count} accounts", count.saturating_sub(missing)),
        };
        let earlier = match before {
            0 => String::new(),
            before => format!(", after {before} on earlier pages"),
        };
        let order = if self.oldest { "oldest" } else { "newest" };
        format!("{}: {shown}{total}{accounts}, {order} first{earlier}", table.plural)
    }
}
