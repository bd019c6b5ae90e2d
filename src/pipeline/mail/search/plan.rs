//! The request of a search: its arguments, or the arguments of the first page that a cursor
//! continues.

use daysheet_core::error::{Error, Result};
use daysheet_core::flatten::RowRoom;
use daysheet_core::ids::FolderId;
use daysheet_core::provider::{Account, HIDDEN};
use daysheet_core::query::{
    self, DateContext, ListedConditions, ME, MessagePart, Query, QueryTerm,
};
use daysheet_core::schemas::{self, ColumnLevel, MESSAGE, Table, TableColumn};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde::{Deserialize, Serialize};

use crate::pipeline::access::accounts::{
    AccountLabels, account_labels, account_named, named_or_all,
};
use crate::pipeline::answer::cursor::{SeenIds, another_search, load_cursor};
use crate::pipeline::context::Context;
use crate::pipeline::handles::resolve_handle;
use crate::pipeline::mail::answered;
use crate::pipeline::mail::pages::PagePosition;
use crate::store::HandleKind;
use crate::tools::ColumnChoice;
use crate::tools::mail_search::{MailSearch, RowKind, RowOrder};

/// The kind of its cursors.
pub(crate) const KIND: &str = "search";

/// The column with the beginning of a text.
const SNIPPET: &str = "snippet";
/// The width of that column when all columns are shown.
const FULL_SNIPPET: u16 = 120;

/// The search and its position; saved under a cursor.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SearchPlan {
    pub(crate) q: Option<String>,
    pub(crate) folder: Option<String>,
    pub(super) by_thread: bool,
    pub(crate) level: Option<String>,
    pub(crate) fields: Option<Vec<String>>,
    pub(crate) limit: u32,
    /// The width of the snippets, if it was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) snippet: Option<u16>,
    /// True for the oldest first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) oldest: bool,
    /// The zone that was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) tz: Option<String>,
    /// The time at which the first page was requested, in seconds since 1970; only for a query
    /// whose meaning depends on the time.
    pub(crate) now: Option<i64>,
    /// The number of rows on the earlier pages.
    pub(crate) shown: usize,
    /// The total number, and whether it is an estimate.
    pub(crate) total: Option<(u64, bool)>,
    /// The number of accounts searched.
    pub(crate) accounts: usize,
    /// The number of those that failed and are not queried again. Most cursors lack it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) failed: usize,
    /// The accounts that may have more.
    pub(crate) places: Vec<PagePosition>,
}

/// The parts of a search that are the same for every account.
pub(super) struct SearchContext<'p> {
    pub(super) plan: &'p SearchPlan,
    pub(super) query: Option<Query>,
    /// The conditions that are checked on the messages of a list.
    pub(super) listed: ListedConditions,
    pub(super) zone: TimeZone,
    pub(super) table: &'static Table,
    pub(super) columns: Vec<&'static TableColumn>,
    pub(super) labels: AccountLabels,
    /// The number of rows of a page.
    pub(super) limit: usize,
    /// The number of rows to fetch of each account.
    pub(super) enough: usize,
    /// True if several accounts are searched.
    pub(super) merged: bool,
}

/// Returns the context of a search, without its query and columns.
pub(super) async fn search_context<'p>(
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

/// Returns the query including the folder, the conditions to check on listed messages, and the
/// instant that relative dates are counted from, if it has any.
pub(super) fn search_query(
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
        parts.push(Query::Term(QueryTerm::In(MessagePart::To, ME.to_owned())));
    }
    if let Some(folder) = &plan.folder
        && !is_folder_handle(folder)
    {
        parts.push(Query::Term(QueryTerm::Folder(query::place(folder))));
    }
    parts.retain(|part| *part != Query::All(Vec::new()));
    Ok(((!parts.is_empty()).then_some(Query::All(parts)), listed, now))
}

/// Returns the provider's id of the folder with this handle, if it is one of the account's.
pub(crate) async fn folder_of(
    ctx: &Context,
    folder: &str,
    account: &Account,
) -> Result<Option<FolderId>> {
    match resolve_handle(ctx, HandleKind::Folder, folder).await? {
        Some((owner, id)) if owner == account.id => Ok(Some(id.into())),
        Some((owner, _)) => {
            let labels = account_labels(ctx).await?;
            let (owner, other) = (labels.label_of(&owner), labels.label_of(&account.id));
            let what = format!("the folder `{folder}` belongs to {owner}, not to {other}");
            Err(Error::argument(what).next("leave out `account`, or use a folder of that account"))
        }
        None => Ok(None),
    }
}

/// Returns the plan: as requested, or from the cursor.
pub(super) async fn plan_search(ctx: &Context, search: MailSearch) -> Result<SearchPlan> {
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
            by_thread: search.by == Some(RowKind::Thread),
            level: None,
            fields: None,
            limit: search.limit.unwrap_or(20),
            snippet,
            oldest: search.sort == Some(RowOrder::Oldest),
            tz: search.tz,
            now: None,
            shown: 0,
            total: None,
            accounts: places.len(),
            failed: 0,
            places,
        };
        return Ok(plan.with(columns));
    };
    let mut plan: SearchPlan = load_cursor(ctx, KIND, cursor).await?;
    let same_account = match &search.account {
        Some(name) => {
            let id = account_named(ctx, Some(name)).await?.id;
            // A cursor over several accounts belongs to none of them alone.
            plan.accounts == 1 && plan.places.iter().all(|place| place.account == id)
        }
        None => true,
    };
    let same = same_account
        && search.q.as_ref().is_none_or(|q| plan.q.as_ref() == Some(q))
        && search.folder.as_ref().is_none_or(|folder| plan.folder.as_ref() == Some(folder))
        && search.tz.as_ref().is_none_or(|tz| plan.tz.as_ref() == Some(tz))
        && search.sort.is_none_or(|sort| (sort == RowOrder::Oldest) == plan.oldest)
        && search.by.is_none_or(|by| (by == RowKind::Thread) == plan.by_thread);
    if !same {
        return Err(another_search(cursor));
    }
    plan.limit = search.limit.unwrap_or(plan.limit);
    plan.snippet = snippet.or(plan.snippet);
    Ok(plan.with(columns))
}

/// Returns true for zero.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// Returns the accounts to search: the one named, or the folder's, or all.
async fn accounts_of(ctx: &Context, search: &MailSearch) -> Result<Vec<Account>> {
    if let (None, Some(folder)) = (&search.account, &search.folder)
        && let Some((owner, _)) = resolve_handle(ctx, HandleKind::Folder, folder).await?
    {
        return Ok(vec![ctx.accounts.by_id(&owner).await?]);
    }
    named_or_all(ctx, search.account.as_deref()).await
}

impl SearchContext<'_> {
    /// Returns true if threads are looked up for answers.
    pub(super) fn looks_up(&self) -> bool {
        let shows = self.columns.iter().any(|field| field.name == answered::COLUMN);
        self.listed.answered.is_some() || shows
    }

    /// Returns true if matches in spam and trash are worth a request: for messages that are
    /// searched for, not for plain lists.
    pub(super) fn counts_hidden(&self) -> bool {
        let by_message = *self.table == MESSAGE && !self.listed.any();
        by_message && self.plan.q.is_some() && is_everywhere(self)
    }
}

/// Returns true for a search that leaves out spam and trash because it names no folder to search.
pub(super) fn is_everywhere(request: &SearchContext<'_>) -> bool {
    fn names_folder(query: &Query) -> bool {
        let folder = |term: &&QueryTerm| matches!(term, QueryTerm::Folder(_));
        match query {
            Query::All(parts) => parts.iter().any(names_folder),
            Query::Raw(_) => true,
            // Leaving out another folder still searches all the rest.
            Query::Not(part) => match &**part {
                Query::Term(QueryTerm::Folder(name)) => HIDDEN.contains(&name.as_str()),
                part => part.terms().iter().any(folder),
            },
            Query::Any(_) | Query::Term(_) => query.terms().iter().any(folder),
        }
    }
    request.plan.folder.is_none() && !request.query.as_ref().is_some_and(names_folder)
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
pub(super) fn with_date(
    columns: &[&'static TableColumn],
    table: &'static Table,
) -> Vec<&'static TableColumn> {
    let mut columns = columns.to_vec();
    let dates = table.fields.iter().filter(|field| field.kind == schemas::CellKind::Time);
    for date in dates.take(1) {
        if !columns.contains(&date) {
            columns.push(date);
        }
    }
    columns
}

/// Returns the words that a query searches for, in lower case.
pub(crate) fn words(query: &Query) -> Vec<String> {
    let words = query.terms().into_iter().filter_map(|term| match term {
        QueryTerm::Text(text) | QueryTerm::In(_, text) => Some(text.to_lowercase()),
        _ => None,
    });
    words.collect()
}

fn is_folder_handle(id: &str) -> bool {
    matches!(HandleKind::parse(id), Some((HandleKind::Folder, _)))
}

impl SearchPlan {
    pub(crate) fn with(mut self, columns: Option<ColumnChoice>) -> Self {
        match columns {
            None => {}
            Some(ColumnChoice::Level(level)) => {
                self.fields = None;
                self.level = Some(level.word().to_owned());
            }
            Some(ColumnChoice::Named(names)) => {
                self.level = None;
                self.fields = Some(names);
            }
        }
        self
    }

    /// Returns the part of a cell that is shown.
    pub(crate) fn room(&self) -> RowRoom {
        let full = self.level.as_deref() == Some(ColumnLevel::More.word());
        self.snippet.or(full.then_some(FULL_SNIPPET)).map_or(RowRoom::List, RowRoom::Beginning)
    }

    /// Returns the columns to show. The account is included if there are several,
    /// unless columns were named.
    pub(crate) fn columns(
        &self,
        table: &'static Table,
        merged: bool,
        answered: bool,
    ) -> Result<Vec<&'static TableColumn>> {
        if let Some(fields) = &self.fields {
            let mut names = fields.clone();
            // A given width implies the column.
            names.extend(self.snippet.map(|_| SNIPPET.to_owned()));
            return ColumnChoice::Named(names).columns_of(table);
        }
        let word = self.level.as_deref();
        let level = [ColumnLevel::Key, ColumnLevel::More]
            .into_iter()
            .find(|level| word == Some(level.word()))
            .unwrap_or(ColumnLevel::Core);
        let mut columns = crate::pipeline::rows::columns_of(table, ColumnLevel::More, merged);
        // `answered` costs a look-up for each thread, so no level of detail includes it.
        columns.retain(|field| match field.name {
            answered::COLUMN => answered,
            SNIPPET if self.snippet.is_some() => true,
            _ => field.is_account() || field.level <= level,
        });
        Ok(columns)
    }

    /// Formats `messages: 20 of ~201 in 2 accounts, newest first, after 20 on earlier pages`.
    /// `missing` accounts did not answer.
    pub(crate) fn count(
        &self,
        table: &Table,
        shown: usize,
        before: usize,
        missing: usize,
    ) -> String {
        // On the last page, all rows have been counted.
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
