//! Searches by sender: the matching messages of each, summed up in one row.
//!
//! There are no pages: a sender's messages may be anywhere among the matches, so the newest are
//! fetched and counted together, up to [`MAX_COUNTED`] of each account.

use std::cmp::Reverse;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::choice::WordChoice;
use daysheet_core::encode::Document;
use daysheet_core::error::{Error, Result};
use daysheet_core::flatten::{self, RowContext};
use daysheet_core::row::RowTable;
use daysheet_core::schemas::{ColumnLevel, MESSAGE, SENDER, TableColumn};
use daysheet_core::text::{Note, counted, note, ours};
use jiff::Timestamp;
use serde_json::{Value, json};

use super::accounts::{SearchPart, hidden_count, part_context, search_accounts};
use super::plan::{SearchContext, is_everywhere, plan_search, search_context, search_query};
use crate::pipeline::context::Context;
use crate::pipeline::handles::assign_handles;
use crate::pipeline::rows::{columns_of, missing_line, name_account, rows_of, zone_line};
use crate::tools::ColumnChoice;
use crate::tools::mail_search::{MailSearch, RowOrder};

/// The most messages of an account that are counted.
const MAX_COUNTED: usize = 1_000;
/// The number of messages fetched at once.
const PAGE: u32 = 100;
/// Columns of a sender, and the columns of messages that they are read from.
const READ_FROM: &[(&str, &str)] = &[
    ("id", "id"),
    ("date", "date"),
    ("from", "from"),
    ("subject", "subject"),
    ("unread", "flags"),
    ("unsubscribe", "unsubscribe"),
];

/// The messages of one sender in one account.
struct SenderMessages {
    /// The number of the account among those searched.
    part: usize,
    /// The address, in lower case; empty if the messages name no sender.
    address: String,
    /// The newest first.
    items: Vec<Value>,
    newest: Option<Timestamp>,
}

/// Returns one row per sender and account, those with the most messages first.
pub(super) async fn search_senders(ctx: &Context, search: MailSearch) -> Result<WholeAnswer> {
    if search.cursor.is_some() {
        return Err(Error::argument("a search by sender has no pages")
            .next("leave out `cursor`, and raise `limit` or narrow the search"));
    }
    let (named, sort) = (search.columns(), search.sort);
    let limit = search.limit.and_then(|limit| usize::try_from(limit).ok()).unwrap_or(20);
    // `limit` counts senders here, so messages are fetched in pages of their own size.
    let search = MailSearch {
        by: None,
        sort: None,
        fields: None,
        detail: None,
        limit: Some(PAGE),
        ..search
    };
    let plan = plan_search(ctx, search).await?;
    let merged = plan.accounts > 1;
    let columns = match &named {
        Some(columns) => columns.columns_of(&SENDER)?,
        None => columns_of(&SENDER, ColumnLevel::Core, merged),
    };
    let zone = ctx.requested_zone(plan.tz.as_deref())?;
    let (query, listed, _) = search_query(ctx, &plan, &zone)?;
    let request = SearchContext {
        query,
        listed,
        columns: message_columns(&columns),
        enough: MAX_COUNTED,
        ..search_context(ctx, &plan, zone, &MESSAGE).await?
    };
    let (parts, missing) = search_accounts(ctx, &request).await?;

    let mut senders = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        senders.extend(senders_of(ctx, at, part, &request));
    }
    let mut notes = Vec::new();
    // A search of a named folder, such as sent mail, shows everything in it.
    if is_everywhere(&request) {
        notes.extend(leave_out_own(&mut senders, &parts));
    }
    let messages: usize = senders.iter().map(|sender| sender.items.len()).sum();
    let order = sort_senders(&mut senders, sort);
    let found = senders.len();
    senders.truncate(limit);
    let (mut rows, of_rows) = sender_rows(ctx, &request, &parts, &senders, &columns).await?;
    notes.extend(of_rows);
    if !matches!(named, Some(ColumnChoice::Named(_))) {
        rows.drop_empty();
    }

    let mut document = Document { scalars: Vec::new(), tables: vec![rows] };
    zone_line(&mut document, &request.zone);
    let mut count =
        format!("senders: {} of {found} with {messages} messages, {order} first", senders.len());
    if missing.is_empty() && parts.iter().all(|part| part.fetched.is_whole()) {
        count.push_str(&hidden_count(&parts, &request));
    }
    notes.insert(0, note!("{}", ours(count)));
    notes.extend(missing.into_iter().map(missing_line));
    for part in &parts {
        let name = name_account(merged, &part.label);
        notes.extend(part.fetched.notes.iter().cloned().map(&name));
        if !part.fetched.is_whole() {
            notes.push(name(older_messages()));
        }
    }
    Ok(WholeAnswer { document, notes, sort: sort.map(WordChoice::word), ..WholeAnswer::default() })
}

/// Sorts senders, by default those with the most messages first; returns the order in words.
fn sort_senders(senders: &mut [SenderMessages], sort: Option<RowOrder>) -> &'static str {
    match sort {
        None => {
            senders.sort_by_key(|one| Reverse((one.items.len(), one.newest)));
            "most messages"
        }
        Some(RowOrder::Newest) => {
            senders.sort_by_key(|one| Reverse(one.newest));
            "newest"
        }
        Some(RowOrder::Oldest) => {
            senders.sort_by_key(|one| one.newest);
            "oldest"
        }
    }
}

/// Returns the rows of senders in their order, and the notes on them.
async fn sender_rows(
    ctx: &Context,
    request: &SearchContext<'_>,
    parts: &[SearchPart],
    senders: &[SenderMessages],
    columns: &[&'static TableColumn],
) -> Result<(RowTable, Vec<Note>)> {
    let (mut tables, mut notes) = (Vec::new(), Vec::new());
    for (at, part) in parts.iter().enumerate() {
        let own = senders.iter().filter(|sender| sender.part == at);
        let objects: Vec<_> = own.map(SenderMessages::object).collect();
        let context = part_context(ctx, part, request);
        let mut own = Vec::new();
        let mut rows = rows_of(&context, &SENDER, columns, &objects, &mut own);
        assign_handles(ctx, &mut rows, &part.account).await?;
        notes.extend(own.into_iter().map(name_account(request.merged, &part.label)));
        tables.push(rows);
    }
    let rows = RowTable::interleave(tables, senders.iter().map(|sender| sender.part))
        .unwrap_or_else(|| RowTable::new(&SENDER, columns.to_vec()));
    Ok((rows, notes))
}

/// Groups the messages of one account by sender.
fn senders_of(
    ctx: &Context,
    at: usize,
    part: &SearchPart,
    request: &SearchContext<'_>,
) -> Vec<SenderMessages> {
    let context = part_context(ctx, part, request);
    let mut senders: Vec<SenderMessages> = Vec::new();
    for item in part.fetched.items() {
        let address = flatten::sender(&MESSAGE, item, &context);
        let address = address.map(|sender| sender.email.to_lowercase()).unwrap_or_default();
        match senders.iter_mut().find(|sender| sender.address == address) {
            Some(sender) => sender.items.push(item.clone()),
            None => senders.push(SenderMessages {
                part: at,
                address,
                newest: date(item, &context),
                items: vec![item.clone()],
            }),
        }
    }
    senders
}

/// Leaves out the messages that the owners of the accounts wrote; returns a note on them.
fn leave_out_own(senders: &mut Vec<SenderMessages>, parts: &[SearchPart]) -> Option<Note> {
    let is_own = |one: &SenderMessages| {
        let part = parts.get(one.part);
        part.is_some_and(|part| part.account.email.is(&one.address))
    };
    let own: usize = senders.iter().filter(|one| is_own(one)).map(|one| one.items.len()).sum();
    senders.retain(|one| !is_own(one));
    (own > 0).then(|| note!("left out: {} of your own", counted(own, "message", "messages")))
}

impl SenderMessages {
    /// Returns the object that the row is made from, which has the form of a thread.
    fn object(&self) -> Value {
        let newest = self.items.first().and_then(|item| item.get("id"));
        // A thread has its oldest message first.
        let messages: Vec<_> = self.items.iter().rev().collect();
        json!({"id": newest, "messages": messages})
    }
}

fn date(item: &Value, context: &RowContext<'_>) -> Option<Timestamp> {
    flatten::instant(MESSAGE.field("date")?, item, context)
}

fn older_messages() -> Note {
    note!(
        "only the newest {} matches were counted: add after: or other conditions to `q`",
        MAX_COUNTED
    )
}

/// Returns the columns of messages to request for columns of senders.
fn message_columns(columns: &[&'static TableColumn]) -> Vec<&'static TableColumn> {
    let shows = |name: &str| columns.iter().any(|field| field.name == name);
    // Messages are grouped by the header field From. Some services return header fields only for
    // columns that read them, such as `unsubscribe`.
    let always = |name: &str| matches!(name, "id" | "date" | "from" | "unsubscribe");
    let read = READ_FROM.iter().filter(|(own, _)| always(own) || shows(own));
    read.filter_map(|(_, name)| MESSAGE.field(name)).collect()
}
