//! The events that one account contributes to a search, and their rows.

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event::Event;
use daysheet_core::flatten::{self, RowContext, RowRoom};
use daysheet_core::ids::EventId;
use daysheet_core::project::project;
use daysheet_core::provider::CalendarCapabilities;
use daysheet_core::provider::calendar::Calendars;
use daysheet_core::row::RowTable;
use daysheet_core::schemas::{EVENT, TableColumn};
use daysheet_core::text::{Note, note, ours};
use futures_util::future::join_all;
use jiff::tz::TimeZone;

use super::calendars::{CalendarSelector, find_calendars, forget_calendars};
use super::pages::{AccountSearch, AgendaPart, AgendaRequest, EventRow, fetch_pages};
use super::plan::AgendaPlan;
use super::position::AccountPosition;
use super::seen::remember_events;
use crate::pipeline::access::accounts::account_labels;
use crate::pipeline::calendar::search::matching;
use crate::pipeline::context::Context;
use crate::pipeline::handles::assign_handles;
use crate::pipeline::rows::{MissingAccount, name_account, rows_of};

/// The number of series per account whose rules a page shows.
const MAX_SERIES: usize = 50;

/// The most rows that are shown at length.
const FEW: usize = 3;

/// The search of an agenda, the same for every account.
struct AgendaSearch<'a> {
    /// The accounts and the range, as the call or its cursor has them.
    plan: &'a AgendaPlan,
    /// The calendars to search; empty for all.
    selectors: &'a [CalendarSelector],
    /// The request to each account.
    request: &'a AgendaRequest<'a>,
}

/// Queries all accounts of a plan. Returns the parts, and the errors of missing accounts.
pub(super) async fn agenda_parts(
    ctx: &Context,
    plan: &AgendaPlan,
    selectors: &[CalendarSelector],
    request: &AgendaRequest<'_>,
) -> Result<(Vec<AgendaPart>, Vec<MissingAccount<AccountPosition>>)> {
    let labels = account_labels(ctx).await?;
    let search = &AgendaSearch { plan, selectors, request };
    let parts = plan.places.iter();
    let parts = parts.map(|place| agenda_part(ctx, search, place, labels.label_of(&place.account)));
    let outcomes = join_all(parts).await;
    let (mut parts, mut missing) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        match outcome {
            Ok(part) => parts.push(part),
            Err(why) => missing.push(why),
        }
    }
    for part in &parts {
        let is_missing = |error: &Error| error.kind() == ErrorKind::NotFound;
        let mut sheets = part.gathered.sheets.iter();
        // The cached list still has a calendar that no longer exists.
        if sheets.any(|sheet| sheet.error.as_ref().is_some_and(is_missing)) {
            forget_calendars(ctx, &part.account.id, &*part.port).await;
        }
    }
    Ok((parts, missing))
}

/// Queries one account for its part.
async fn agenda_part(
    ctx: &Context,
    search: &AgendaSearch<'_>,
    place: &AccountPosition,
    label: String,
) -> std::result::Result<AgendaPart, MissingAccount<AccountPosition>> {
    let AgendaSearch { plan, selectors, request } = *search;
    let answer = async {
        let account = ctx.accounts.by_id(&place.account).await?;
        let port = ctx.connect.calendars(&account)?;
        let calendars = find_calendars(ctx, &account, &*port, selectors).await?;
        let shown = plan.requested_columns()?;
        let projection = match request.query {
            Some(_) => matching::projection(port.api(), &shown),
            None => project(port.api(), &shown),
        };
        let context =
            RowContext { zone: request.zone, ..ctx.context_for(port.api(), &label, &account) };
        // Words are not searched in the names of calendars, so the context has none.
        let context = &context;
        let search = AccountSearch { port: &*port, place, projection, request, context };
        let gathered = fetch_pages(&search, calendars).await?;
        Ok((account, port.clone(), gathered))
    };
    let answer = ctx.await_account(plan.merged, answer).await;
    match answer {
        Ok((account, port, gathered)) => Ok(AgendaPart { account, label, port, gathered }),
        Err(error) if !plan.merged => Err((error, None)),
        Err(error) => {
            // Only a temporary failure is worth a retry with the next page.
            let again = error.is_passing().then(|| place.clone());
            Err((error.context(&label), again))
        }
    }
}

/// The events of a table.
pub(super) struct EventTable<'a> {
    /// The plan that the events were fetched by.
    pub(super) plan: &'a AgendaPlan,
    /// The accounts, each with its events.
    pub(super) parts: &'a [AgendaPart],
    /// The events that become rows, in order, each with the position of its account.
    pub(super) shown: &'a [(usize, EventRow)],
    /// The zone of the times.
    pub(super) zone: &'a TimeZone,
}

/// Returns rows of events, with handles, and remembers them as shown.
pub(super) async fn event_rows(
    ctx: &Context,
    table: &EventTable<'_>,
    columns: &[&'static TableColumn],
    notes: &mut Vec<Note>,
) -> Result<RowTable> {
    let EventTable { plan, parts, shown, zone } = *table;
    let mut tables = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let mine: Vec<&EventRow> =
            shown.iter().filter(|(owner, _)| *owner == at).map(|(_, row)| row).collect();
        let events: Vec<&Event> = mine.iter().map(|row| &row.event).collect();
        let context = RowContext {
            zone,
            names: &part.gathered.names,
            // A few rows have the room of as many events read by their ids.
            room: if shown.len() <= FEW { RowRoom::One } else { RowRoom::List },
            ..ctx.context_for(part.port.api(), &part.label, &part.account)
        };
        let mut own = Vec::new();
        let mut rows = rows_of(&context, &EVENT, columns, &events, &mut own);
        assign_handles(ctx, &mut rows, &part.account).await?;
        own.extend(beginnings(part.port.capabilities(), columns, &events));
        own.extend(fill_rules(&mut rows, &events, &*part.port, &context).await);
        remember_events(ctx, &rows, events).await?;
        notes.extend(own.into_iter().map(name_account(plan.merged, &part.label)));
        tables.push(rows);
    }
    let order = shown.iter().map(|(owner, _)| *owner);
    let mut rows = RowTable::interleave(tables, order)
        .unwrap_or_else(|| RowTable::new(&EVENT, columns.to_vec()));
    if plan.is_full() {
        rows.show_members();
    }
    Ok(rows)
}

/// Writes the rules of their series into rows of occurrences, because the services' objects lack
/// them. `events` has the event of each row, in order. Returns a note on omitted series.
pub(super) async fn fill_rules(
    rows: &mut RowTable,
    events: &[&Event],
    port: &dyn Calendars,
    context: &RowContext<'_>,
) -> Option<Note> {
    let rule = EVENT.field("repeats").filter(|field| rows.columns().contains(field))?;
    let series_at = |at: usize| events.get(at)?.series.clone();
    let mut ids: Vec<EventId> = Vec::new();
    for id in (0..rows.len()).filter_map(series_at) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let all = ids.len();
    ids.truncate(MAX_SERIES);
    let answers = if ids.is_empty() { Vec::new() } else { port.event(&ids).await };
    let mut rules = Vec::new();
    for (id, answer) in ids.into_iter().zip(answers) {
        // A series that could not be read is counted as left out below.
        let Ok(series) = answer else { continue };
        let (table, _) = flatten::flatten(&EVENT, &[rule], std::slice::from_ref(&series), context);
        rules.extend(table.cell(0, rule.name).map(|cell| (id, cell.clone())));
    }
    for at in 0..rows.len() {
        let Some(id) = series_at(at) else { continue };
        let found = rules.iter().find(|(known, _)| *known == id);
        if let (Some((_, cell)), Some(place)) = (found, rows.cell_mut(at, rule.name)) {
            *place = cell.clone();
        }
    }
    match all - rules.len() {
        0 => None,
        missing => Some(note!(
            "repeats: the rules of {} series are left out: calendar_search ids=ID shows one",
            missing
        )),
    }
}

/// Returns a note on descriptions that lists may have shortened.
fn beginnings(
    can: &CalendarCapabilities,
    columns: &[&'static TableColumn],
    events: &[&Event],
) -> Option<Note> {
    columns.iter().find(|field| field.name == "notes")?;
    let preview = can.preview?;
    let long = |event: &&&Event| {
        let notes = event.notes.clone().map(flatten::plain);
        notes.is_some_and(|notes| notes.chars().count() >= preview)
    };
    match events.iter().filter(long).count() {
        count @ 1.. => Some(note!(
            "notes: {}'s lists have at most {} characters, and {} may be longer: \
             calendar_search ids=ID fields=notes has all",
            ours(can.name),
            preview,
            count
        )),
        _ => None,
    }
}
