//! Lookups: lists that are short enough to be fetched completely and shown in pages.
//!
//! They are the registry's `LISTINGS`: the lists of all accounts, one account after the other, and
//! our own schemas. A list is fetched again for every page; a cursor keeps the request and the
//! position.

pub(crate) mod lists;
pub(super) mod named;
pub(super) mod people;
pub(super) mod plan;
pub(super) mod suggestions;

use std::collections::HashMap;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::encode::Document;
use daysheet_core::error::Result;
use daysheet_core::flatten::RowContext;
use daysheet_core::provider::ListPage;
use daysheet_core::row::{RowCell, RowExtra, RowTable};
use daysheet_core::schemas::{ACCOUNT, CALENDAR, ROOM, SCHEMA, Service, TableColumn};
use daysheet_core::text::{Note, note, ours};
use futures_util::future::try_join_all;

use super::answer::cursor::save_cursor;
use super::lookup::lists::{LookupPart, fetch_lists};
use super::lookup::plan::{ASKED, KIND, LookupPlan, LookupPosition, contains, plan_lookup};
use super::lookup::suggestions::unknown_people;
use crate::pipeline::access::sign_in::no_account_note;
use crate::pipeline::context::Context;
use crate::pipeline::handles::assign_handles;
use crate::pipeline::known_people::mark_look_alikes;
use crate::pipeline::rows::{failed_note, missing_line, name_account, rows_of, zone_line};
use crate::tools::lookup::LookupRequest;

pub(crate) async fn lookup(ctx: &Context, lookup: LookupRequest) -> Result<WholeAnswer> {
    let several = lookup.each();
    if several.is_empty() {
        let plan = plan_lookup(ctx, lookup).await?;
        return lookup_planned(ctx, plan).await;
    }
    let answers = try_join_all(several.into_iter().map(|(name, one)| async move {
        let plan = LookupPlan { asked: Some(name.clone()), ..plan_lookup(ctx, one).await? };
        Ok((name, lookup_planned(ctx, plan).await?))
    }));
    let mut all = WholeAnswer::default();
    for (name, WholeAnswer { document, notes, .. }) in answers.await? {
        all.notes.extend(notes.iter().map(|note| note.under(ours(&name))));
        match all.document.tables.first_mut() {
            Some(rows) => document.tables.into_iter().for_each(|more| rows.append(more)),
            None => all.document.tables = document.tables,
        }
    }
    zone_line(&mut all.document, &ctx.config.zone);
    Ok(all)
}

/// The rows of one page of a lookup, as the lists of the accounts are added.
struct LookupPage {
    /// The columns to show.
    columns: Vec<&'static TableColumn>,
    /// The rows of the lists so far.
    rows: RowTable,
    /// The number of rows of all lists, shown or not.
    total: usize,
    /// The notes on the rows and on the lists.
    notes: Vec<Note>,
}

impl LookupPage {
    /// Creates the page that a plan continues with, without rows.
    fn new(plan: &LookupPlan) -> Result<Self> {
        let columns = plan.columns()?;
        let rows = RowTable::new(plan.listing.table, columns.clone());
        Ok(Self { columns, rows, total: plan.done, notes: Vec::new() })
    }
}

/// Looks up one list.
async fn lookup_planned(ctx: &Context, mut plan: LookupPlan) -> Result<WholeAnswer> {
    let mut page = LookupPage::new(&plan)?;
    let (parts, missing) = fetch_lists(ctx, &plan).await?;
    let labels: Vec<String> = parts.iter().map(|part| part.label.clone()).collect();
    let first = |part: &LookupPart| LookupPosition { shown: 0, ..part.place.clone() };
    let asked: Vec<LookupPosition> = parts.iter().map(first).collect();
    plan.places.clear();
    for part in parts {
        add_part(ctx, &mut plan, &mut page, part).await?;
    }
    plan.places.extend(missing.iter().filter_map(|(_, place)| place.clone()));

    let LookupPage { mut rows, total, notes: of_parts, .. } = page;
    // Requested columns are shown even if they are empty.
    if plan.fields.is_empty() {
        rows.drop_empty();
    }
    let cursor = match plan.places.as_slice() {
        [] => None,
        _ => Some(save_cursor(ctx, KIND, &plan).await?),
    };
    let count = count_line(&plan, &rows, total, cursor, &labels);
    let mut notes = vec![note!("{}", ours(count))];
    notes.extend(of_parts);
    notes.extend(missing.into_iter().map(missing_line));
    notes.extend(advice(ctx, &plan, asked, &rows).await);
    let next = cursor.map(|number| ("next", RowCell::Handle('p', number)));
    let mut document = Document { scalars: next.into_iter().collect(), tables: vec![rows] };
    zone_line(&mut document, &ctx.config.zone);
    Ok(WholeAnswer { document, notes, ..WholeAnswer::default() })
}

/// Adds the rows of one list that are on the page, and moves the plan past them.
async fn add_part(
    ctx: &Context,
    plan: &mut LookupPlan,
    page: &mut LookupPage,
    part: LookupPart,
) -> Result<()> {
    let mut own = list_rows(ctx, page, &part);
    let known = people::texts(ctx, plan.listing.table, "emails", &part.list);
    let met = plan.emails.iter().filter(|email| known.contains(&email.to_lowercase()));
    plan.met.extend(met.cloned());
    // Before the page is cut, because positions count only the rows that match.
    if let Some(q) = plan.filter() {
        keep_matching(&mut own, &part, &page.columns, q);
    }
    if *plan.listing.table == CALENDAR {
        call_main(&mut own, &part.list.page.names);
    }
    // The rows of this account on this page.
    let (first, count) = (part.place.shown, own.len());
    let end = count.min(first.saturating_add(plan.limit - page.rows.len()));
    let mut at = 0..count;
    own.retain(|_, _| at.next().is_some_and(|at| (first..end).contains(&at)));
    page.total += count;
    page.notes.extend(name_rows(ctx, plan, &part, &mut own).await?);
    page.rows.append(own);
    if end < count {
        let shown = end.max(first);
        plan.places.push(LookupPosition { shown, ..part.place });
    } else {
        plan.done += count;
    }
    Ok(())
}

/// Returns all rows of one list.
fn list_rows(ctx: &Context, page: &mut LookupPage, part: &LookupPart) -> RowTable {
    let table = page.rows.table();
    let ListPage { items, names, failed, .. } = &part.list.page;
    let context = RowContext {
        api: part.list.api,
        account: &part.label,
        address: part.account.as_ref().map_or("", |account| account.email.as_str()),
        names,
        ..ctx.local()
    };
    let mut own = rows_of(&context, table, &page.columns, items, &mut page.notes);
    // These objects were made from events, and have our own form.
    let local = RowContext { api: Service::Local, ..context };
    own.append(rows_of(&local, table, &page.columns, &part.list.of_events, &mut page.notes));
    for one in failed {
        own.insert_unread(usize::MAX, &one.id);
    }
    own
}

/// Keeps the rows that a filter matches. An item that could not be fetched may be the requested
/// one. Only the handle and the name are compared.
fn keep_matching(own: &mut RowTable, part: &LookupPart, columns: &[&TableColumn], q: &str) {
    let first: Vec<&str> = columns.iter().take(2).map(|field| field.name).collect();
    let is_calendar = *own.table() == CALENDAR;
    let names = &part.list.page.names;
    let is_main = |id: &str| names.get(id).is_some_and(|name| contains(name, q));
    own.retain(|row, extra| {
        let (cells, _) = row.split_at(row.len().min(2));
        says(cells, extra, &first, q)
            || matches!(row, [RowCell::Id(_), RowCell::Null, ..])
            || matches!(row, [RowCell::Id(id), ..] if is_calendar && is_main(id))
    });
}

/// Gives the rows of one list their handles and the text that they were found for; returns the
/// notes on them and on the list.
async fn name_rows(
    ctx: &Context,
    plan: &LookupPlan,
    part: &LookupPart,
    own: &mut RowTable,
) -> Result<Vec<Note>> {
    let mut notes = Vec::new();
    if let Some(account) = &part.account {
        assign_handles(ctx, own, account).await?;
        if plan.listing.is_people() {
            notes.extend(mark_look_alikes(ctx, account, own).await?);
        }
    }
    let named = name_account(plan.merged, &part.label);
    let page = &part.list.page;
    notes.extend(failed_note(own, &page.failed).map(&named));
    notes.extend(page.notes.iter().cloned().map(named));
    for at in 0..own.len() {
        if let (Some(name), Some(cell)) = (&plan.asked, own.cell_mut(at, ASKED)) {
            *cell = RowCell::Text(name.clone());
        }
    }
    Ok(notes)
}

/// Formats the number of rows: `folders: 100 of 230; cursor=p4 has more`. An empty list of several
/// accounts names the searched accounts, by their `labels`.
fn count_line(
    plan: &LookupPlan,
    rows: &RowTable,
    total: usize,
    cursor: Option<u64>,
    labels: &[String],
) -> String {
    let table = rows.table();
    let mut line = format!("{}: {}", table.plural, rows.len());
    // People are fetched as far as they are shown, and one more.
    if !plan.listing.is_people() || plan.places.is_empty() {
        line.push_str(&format!(" of {total}"));
    }
    if let Some(cursor) = cursor {
        line.push_str(&format!("; cursor=p{cursor} has more"));
    }
    if *table == SCHEMA {
        line.push_str("; resource daysheet://schema/NAME has one in full");
    }
    if rows.is_empty() && plan.merged && !labels.is_empty() {
        line.push_str(&format!(" in {}", labels.join(" and ")));
    }
    line
}

/// Returns the notes on how to go on from these rows, or from an empty list. `asked` are the
/// beginnings of the lists that were fetched.
async fn advice(
    ctx: &Context,
    plan: &LookupPlan,
    asked: Vec<LookupPosition>,
    rows: &RowTable,
) -> Vec<Note> {
    let table = rows.table();
    if *table == CALENDAR && rows.len() > 1 {
        vec!["new events go to the `main` of their account by default".into()]
    } else if *table == ROOM && rows.is_empty() {
        vec![
            "services list only rooms open to you: name another by its address in `people` \
             or `who`"
                .into(),
        ]
    } else if *table == ACCOUNT && rows.is_empty() && plan.q.is_none() {
        vec![no_account_note(ctx)]
    } else if plan.listing.is_people() && plan.places.is_empty() {
        unknown_people(ctx, plan, asked, rows).await
    } else {
        Vec::new()
    }
}

/// Names the main calendar in rows of calendars as all answers do; `names` has it by its id.
fn call_main(rows: &mut RowTable, names: &HashMap<String, String>) {
    for at in 0..rows.len() {
        let name = match rows.cell(at, "id") {
            Some(RowCell::Id(id)) => names.get(id),
            _ => None,
        };
        if let (Some(name), Some(cell)) = (name, rows.cell_mut(at, "name")) {
            *cell = RowCell::Text(name.clone());
        }
    }
}

/// Returns true if one of the cells, or the hidden rest of these columns, contains `q`.
fn says(cells: &[RowCell], extra: &RowExtra, columns: &[&str], q: &str) -> bool {
    let has = |text: &str| contains(text, q);
    let mut cuts = extra.cuts.iter();
    cells.iter().any(|cell| matches!(cell, RowCell::Text(text) if has(text)))
        || cuts.any(|cut| columns.contains(&cut.column) && has(&cut.whole))
}
