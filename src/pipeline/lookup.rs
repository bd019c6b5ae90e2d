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
use daysheet_core::schemas::{ACCOUNT, CALENDAR, ROOM, SCHEMA, Service};
use daysheet_core::text::{note, ours};
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

/// Looks up one list.
async fn lookup_planned(ctx: &Context, mut plan: LookupPlan) -> Result<WholeAnswer> {
    let table = plan.listing.table;
    let columns = plan.columns()?;
    let (parts, missing) = fetch_lists(ctx, &plan).await?;
    let looked_at: Vec<String> = parts.iter().map(|part| part.label.clone()).collect();
    let first = |part: &LookupPart| LookupPosition { shown: 0, ..part.place.clone() };
    let asked: Vec<LookupPosition> = parts.iter().map(first).collect();

    let mut notes = Vec::new();
    let mut rows = RowTable::new(table, columns.clone());
    let mut all = plan.done;
    plan.places.clear();
    for part in parts {
        let named = name_account(plan.merged, &part.label);
        let ListPage { items, names, failed, .. } = &part.list.page;
        let context = RowContext {
            api: part.list.api,
            account: &part.label,
            address: part.account.as_ref().map_or("", |account| &account.email),
            names,
            ..ctx.local()
        };
        let mut own = rows_of(&context, table, &columns, items, &mut notes);
        // These objects were made from events, and have our own form.
        let local = RowContext { api: Service::Local, ..context };
        own.append(rows_of(&local, table, &columns, &part.list.of_events, &mut notes));
        for one in failed {
            own.insert_unread(usize::MAX, &one.id);
        }
        let known = people::texts(ctx, table, "emails", &part.list);
        let met = plan.emails.iter().filter(|email| known.contains(&email.to_lowercase()));
        plan.met.extend(met.cloned());
        if let Some(q) = plan.filter() {
            // An item that could not be fetched may be the one looked for. Only the
            // handle and the name are compared.
            let first: Vec<&str> = columns.iter().take(2).map(|field| field.name).collect();
            let is_main = |id: &str| names.get(id).is_some_and(|name| contains(name, q));
            own.retain(|row, extra| {
                let (cells, _) = row.split_at(row.len().min(2));
                says(cells, extra, &first, q)
                    || matches!(row, [RowCell::Id(_), RowCell::Null, ..])
                    || matches!(row, [RowCell::Id(id), ..] if *table == CALENDAR && is_main(id))
            });
        }
        if *table == CALENDAR {
            call_main(&mut own, names);
        }
        // The rows of this account on this page.
        let (first, count) = (part.place.shown, own.len());
        let end = count.min(first.saturating_add(plan.limit - rows.len()));
        let mut at = 0..count;
        own.retain(|_, _| at.next().is_some_and(|at| (first..end).contains(&at)));
        all += count;
        if let Some(account) = &part.account {
            assign_handles(ctx, &mut own, account).await?;
            if plan.listing.is_people() {
                notes.extend(mark_look_alikes(ctx, account, &mut own).await?);
            }
        }
        notes.extend(failed_note(&own, failed).map(&named));
        notes.extend(part.list.page.notes.iter().cloned().map(named));
        for at in 0..own.len() {
            if let (Some(name), Some(cell)) = (&plan.asked, own.cell_mut(at, ASKED)) {
                *cell = RowCell::Text(name.clone());
            }
        }
        rows.append(own);
        if end < count {
            let shown = end.max(first);
            plan.places.push(LookupPosition { shown, ..part.place });
        } else {
            plan.done += count;
        }
    }
    plan.places.extend(missing.iter().filter_map(|(_, place)| place.clone()));

    // Requested columns are shown even if they are empty.
    if plan.fields.is_empty() {
        rows.drop_empty();
    }
    let shown = rows.len();
    let mut document = Document { scalars: Vec::new(), tables: vec![rows] };
    // People are fetched as far as they are shown, and one more.
    let total = if plan.listing.is_people() && !plan.places.is_empty() {
        String::new()
    } else {
        format!(" of {all}")
    };
    let mut count = format!("{}: {shown}{total}", table.plural);
    if !plan.places.is_empty() {
        let cursor = save_cursor(ctx, KIND, &plan).await?;
        document.scalars.push(("next", RowCell::Handle('p', cursor)));
        count.push_str(&format!("; cursor=p{cursor} has more"));
    }
    if *table == SCHEMA {
        count.push_str("; resource daysheet://schema/NAME has one in full");
    }
    // For an empty list, the accounts that were searched are named.
    if shown == 0 && plan.merged && !looked_at.is_empty() {
        count.push_str(&format!(" in {}", looked_at.join(" and ")));
    }
    notes.insert(0, note!("{}", ours(count)));
    notes.extend(missing.into_iter().map(missing_line));
    match document.tables.first() {
        Some(rows) if *table == CALENDAR && rows.len() > 1 => {
            notes.push("new events go to the `main` of their account by default".into());
        }
        Some(rows) if *table == ROOM && rows.is_empty() => notes.push(
            "services list only rooms open to you: name another by its address in `people` \
             or `who`"
                .into(),
        ),
        Some(rows) if *table == ACCOUNT && rows.is_empty() && plan.q.is_none() => {
            notes.push(no_account_note(ctx));
        }
        Some(rows) if plan.listing.is_people() && plan.places.is_empty() => {
            notes.extend(unknown_people(ctx, &plan, asked, rows).await);
        }
        _ => {}
    }
    zone_line(&mut document, &ctx.config.zone);
    Ok(WholeAnswer { document, notes, ..WholeAnswer::default() })
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
