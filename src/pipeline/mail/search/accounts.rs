//! The messages that one account contributes to a search.

use std::sync::Arc;

use daysheet_core::error::Result;
use daysheet_core::flatten::RowContext;
use daysheet_core::ids::FolderId;
use daysheet_core::project::project;
use daysheet_core::provider::{Account, FailedItem, ListRequest, Mailbox, SearchTotal};
use daysheet_core::row::RowTable;
use daysheet_core::schemas::{MESSAGE, Service};
use daysheet_core::text::{Note, note};
use futures_util::future::{join, join_all};

use super::plan::{SearchContext, folder_of, is_everywhere, with_date};
use crate::pipeline::context::Context;
use crate::pipeline::handles::placeholder_rows;
use crate::pipeline::known_people::prefetch_people;
use crate::pipeline::mail::answered::fill_answered;
use crate::pipeline::mail::pages::{
    GatheredMessages, ListOptions, ListedRow, PagePosition, fetch_pages,
};
use crate::pipeline::mail::read::lengths::fill_lengths;
use crate::pipeline::mail::senders::{
    LookAlikes, WARNINGS, look_alikes_of, needs_folders, senders,
};
use crate::pipeline::mail::{answered, listed, listed_threads};
use crate::pipeline::rows::{MissingAccount, name_account, rows_of};

/// One account of a search.
pub(super) struct SearchPart {
    pub(super) account: Account,
    /// The label of the account in rows and notes.
    pub(super) label: String,
    pub(super) mailbox: Arc<dyn Mailbox>,
    pub(super) fetched: GatheredMessages,
    /// The number of messages in spam and trash that match, if known.
    pub(super) hidden: Option<u64>,
    /// The senders who look like a known person.
    pub(super) look_alikes: LookAlikes,
}

/// Queries every account; returns those that responded, and the errors of the others.
pub(super) async fn search_accounts(
    ctx: &Context,
    request: &SearchContext<'_>,
) -> Result<(Vec<SearchPart>, Vec<MissingAccount<PagePosition>>)> {
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
pub(super) fn part_context<'a>(
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

/// Queries one account for its part.
async fn search_account(
    ctx: &Context,
    place: &PagePosition,
    request: &SearchContext<'_>,
) -> std::result::Result<SearchPart, MissingAccount<PagePosition>> {
    let answer = ctx.await_account(request.merged, find_part(ctx, place, request)).await;
    answer.map_err(|error| {
        if !request.merged {
            return (error, None);
        }
        // A lasting error would only recur on the next page.
        let again = error.is_passing().then(|| place.clone());
        (error.context(request.labels.label_of(&place.account)), again)
    })
}

/// Fetches the part of one account, with the other data of its rows.
async fn find_part(
    ctx: &Context,
    place: &PagePosition,
    request: &SearchContext<'_>,
) -> Result<SearchPart> {
    let label = request.labels.label_of(&place.account);
    let account = ctx.accounts.by_id(&place.account).await?;
    let mailbox = ctx.connect.mailbox(&account)?;
    let folder = match &request.plan.folder {
        Some(folder) => folder_of(ctx, folder, &account).await?,
        None => None,
    };
    let ask = list_request(request, mailbox.api(), folder);
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
    // Warnings need the people that the account knows; they are read while messages are listed.
    let meet = async {
        if warns {
            prefetch_people(ctx, &account, &*mailbox).await;
        }
    };
    // Boxed, because a thread's stack is small.
    let pages = Box::pin(fetch_pages(&*mailbox, ask, place.clone(), asking));
    let (fetched, ()) = join(pages, Box::pin(meet)).await;
    let mut fetched = fetched?;
    // Folder names cost a request, so they are read only if a warning depends on them.
    if fetched.names.is_empty() && needs_folders(fetched.items(), &context) {
        fetched.names = mailbox.names().await.unwrap_or_default();
    }
    let look_alikes = if warns {
        let senders = senders(fetched.items(), mailbox.api());
        look_alikes_of(ctx, &account, &*mailbox, senders).await
    } else {
        LookAlikes::default()
    };
    let hidden = match fetched.hidden() {
        None if request.counts_hidden() && fetched.is_whole() => {
            count_hidden(&*mailbox, &hidden).await
        }
        known => known,
    };
    Ok(SearchPart { account, label, mailbox, fetched, hidden, look_alikes })
}

/// Returns the request for the list of one account, in the folder with this id if one was named.
fn list_request(
    request: &SearchContext<'_>,
    api: Service,
    folder: Option<FolderId>,
) -> ListRequest {
    // Rows are merged by date, whether or not it is shown.
    let mut read = if request.merged {
        with_date(&request.columns, request.table)
    } else {
        request.columns.clone()
    };
    // If a message is read next, its thread is looked up at the same time.
    let further = std::iter::once(listed_threads::THREAD).chain(listed::columns(request.listed));
    let further = further.filter_map(|name| request.table.field(name));
    read.extend(further.filter(|field| !request.columns.contains(field)));
    ListRequest {
        query: request.query.clone(),
        folder,
        projection: project(api, &read),
        limit: request.limit,
        oldest: request.plan.oldest,
        cursor: None,
        hidden: request.counts_hidden(),
    }
}

/// Returns the rows taken from one account.
pub(super) async fn part_rows(
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
            ListedRow::Failed(id, error) => failed.push(FailedItem { at, id, error }),
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
        // The condition on answers has looked them up already.
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

/// Formats the number of matches in spam and trash: `; spam and trash have 2 more (in:anywhere)`.
/// Empty without matches, or if spam and trash were searched. Conditions that no service knows are
/// not checked there, so fewer messages may match.
pub(super) fn hidden_count(parts: &[SearchPart], request: &SearchContext<'_>) -> String {
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
pub(super) fn total_hidden(parts: &[SearchPart]) -> Option<u64> {
    parts.iter().map(|part| part.hidden).sum()
}

/// Counts the messages in spam and trash that match; `None` if that fails, or if there
/// are too many for a page.
async fn count_hidden(mailbox: &dyn Mailbox, ask: &ListRequest) -> Option<u64> {
    let page = mailbox.messages(ask).await.ok().filter(|page| page.next.is_none())?;
    u64::try_from(page.items.len()).ok()
}

/// Sums the totals of the accounts; an estimate if one of them is.
pub(crate) fn total(parts: impl Iterator<Item = Option<SearchTotal>>) -> Option<(u64, bool)> {
    parts.into_iter().try_fold((0_u64, false), |(sum, guess), one| {
        Some(match one? {
            SearchTotal::Exactly(count) => (sum.saturating_add(count), guess),
            SearchTotal::About(count) => (sum.saturating_add(count), true),
        })
    })
}
