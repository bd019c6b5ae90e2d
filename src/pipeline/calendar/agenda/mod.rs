//! `calendar_search`: events of all calendars, merged by their start.
//!
//! Every account is queried for a full page, all its calendars at once, and the results
//! are put in one order. A meeting is in the calendar of every guest; of such copies
//! the reader's own is shown.

pub(super) mod by_id;
pub(in crate::pipeline) mod calendars;
mod clash;
mod ics;
mod merge;
mod pages;
mod plan;
mod position;
pub(in crate::pipeline) mod range;
pub(in crate::pipeline) mod ranged;
pub(super) mod seen;
mod words;

use crate::provider::CalendarCapabilities;
use std::sync::Arc;

use futures_util::future::join_all;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use self::by_id::{events_by_id, fetch_whole};
use self::calendars::{
    CalendarSelector, calendar_list, calendar_selectors, find_calendars, forget_calendars,
    select_calendars, unknown_calendar,
};
use self::clash::clash_search;
use self::ics::ics_document;
use self::merge::{Merged, merge};
use self::pages::{AgendaRequest, EventRow, GatheredEvents, fetch_pages};
use self::plan::AgendaPlan;
use self::position::AccountPosition;
pub(in crate::pipeline) use self::ranged::Ranged;
use crate::budget::LongText;
use crate::budget::Response;
use crate::encode::Document;
use crate::error::{Error, Kind, Result};
use crate::event_time::zone_label;
use crate::flatten::{self, Room, RowContext};
use crate::ical;
use crate::pipeline::access::accounts::{AccountLabels, account_labels, named_or_all};
use crate::pipeline::answer::cursor::{load_cursor, save_cursor};
use crate::pipeline::context::Context;
use crate::pipeline::handles::assign_handles;
use crate::pipeline::rows::{Missing, missing_line, name_account, rows_of};
use crate::pipeline::times::requested_zone;
use crate::project::project;
use crate::provider::Account;
use crate::provider::calendar::{Calendars, EventData};
use crate::query::DateContext;
use crate::row::{Cell, RowTable};
use crate::schemas::{EVENT, Field};
use crate::text::fence::theirs;
use crate::text::{Note, note, ours};
use crate::time_parse::TimeContext;
use crate::tools::agenda::{Agenda, EventForm, EventSort};
use crate::words::Words;

/// One account of a search.
struct AgendaPart {
    account: Account,
    /// The label of the account in rows and notes.
    label: String,
    port: Arc<dyn Calendars>,
    gathered: GatheredEvents,
}

/// The number of series per account whose rules a page shows.
const MOST_SERIES: usize = 50;

/// The most rows that are shown at length.
const FEW: usize = 3;
/// The kind of its cursors.
const KIND: &str = "agenda";

pub(in crate::pipeline) async fn calendar_search(
    ctx: &Context,
    request: Agenda,
) -> Result<Response> {
    if !request.ids.is_empty() {
        return events_by_id(ctx, &request).await;
    }
    let q = request.q.as_deref().map_or("", str::trim);
    if q.eq_ignore_ascii_case(clash::QUERY) && request.cursor.is_none() {
        return clash_search(ctx, &request).await;
    }
    let (plan, mut notes) = plan_agenda(ctx, request).await?;
    let zone = requested_zone(ctx, plan.tz.as_deref())?;
    let query = plan.query(&zone)?;
    let selectors = calendar_selectors(ctx, &plan.calendars).await?;
    let seen = plan.seen.set();
    let request = AgendaRequest {
        range: plan.range,
        series: plan.series,
        query: query.as_ref(),
        zone: &zone,
        seen: &seen,
        limit: usize::try_from(plan.limit).unwrap_or(usize::MAX),
    };
    let (mut parts, missing) = agenda_parts(ctx, &plan, &selectors, &request).await?;
    if let (true, Some((error, _))) = (parts.is_empty(), missing.first()) {
        return Err(match missing.len() {
            1 => error.clone(),
            count => error.clone().context(format!("all {count} accounts failed, the first")),
        });
    }
    if plan.shown == 0 {
        notes.extend(unknown_calendars(ctx, &selectors, &parts, missing.is_empty()).await?);
    }

    let merged = merge(&mut parts, request.limit);
    let next = plan.after(&merged, &parts, &missing);
    let (mut document, mut texts) = (Document::default(), Vec::new());
    if plan.ics {
        let ics = shown_ics(ctx, &parts, &merged, &zone, &mut notes).await?;
        texts.push(LongText { name: "ics".to_owned(), text: theirs(ics), ..LongText::default() });
    } else {
        let columns = plan.columns(&merged.shown, &parts)?;
        let rows =
            event_rows(ctx, &parts, &merged.shown, &columns, &zone, &plan, &mut notes).await?;
        document.scalars.push(("zone", Cell::Text(zone_label(&zone))));
        document.tables.push(rows);
    }
    let mut count = plan.count(&merged, &parts, &zone);
    if let Some(next) = next {
        let cursor = save_cursor(ctx, KIND, &next).await?;
        if !plan.ics {
            document.scalars.push(("next", Cell::Handle('p', cursor)));
        }
        count.push_str(&format!("; cursor=p{cursor} has more"));
    }
    notes.insert(0, note!("{}", ours(count)));
    notes.extend(plan.remarks(&merged, &parts, &zone));
    notes.extend(missing.into_iter().map(missing_line));
    let sort = Some(EventSort::Start.word());
    Ok(Response { document, texts, notes, sort, ..Response::default() })
}

/// Returns the events of a page as an iCalendar document.
async fn shown_ics(
    ctx: &Context,
    parts: &[AgendaPart],
    merged: &Merged,
    zone: &TimeZone,
    notes: &mut Vec<Note>,
) -> Result<String> {
    let mut groups: Vec<(Account, Vec<(usize, String)>)> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let shown = merged.shown.iter().enumerate();
        let mine: Vec<_> = shown
            .filter(|(_, (owner, _))| *owner == number)
            .map(|(at, (_, row))| (at, row.facts.id.clone()))
            .collect();
        if !mine.is_empty() {
            groups.push((part.account.clone(), mine));
        }
    }
    let titles = merged.shown.iter().map(|(_, row)| row.facts.title.clone());
    let titles: Vec<String> = titles.collect();
    if groups.is_empty() {
        return Ok(ical::write(&ical::CalendarDocument::default(), Timestamp::UNIX_EPOCH));
    }
    let whole = fetch_whole(ctx, &titles, groups, Vec::new()).await?;
    notes.extend(whole.notes.iter().cloned());
    Ok(ics_document(ctx, &whole, zone, notes).await)
}

/// Queries all accounts of a plan: returns the parts, and why some are missing.
async fn agenda_parts(
    ctx: &Context,
    plan: &AgendaPlan,
    selectors: &[CalendarSelector],
    request: &AgendaRequest<'_>,
) -> Result<(Vec<AgendaPart>, Vec<Missing<AccountPosition>>)> {
    let labels = account_labels(ctx).await?;
    let outcomes = join_all(
        plan.places.iter().map(|place| agenda_part(ctx, place, plan, selectors, request, &labels)),
    )
    .await;
    let (mut parts, mut missing) = (Vec::new(), Vec::new());
    for outcome in outcomes {
        match outcome {
            Ok(part) => parts.push(part),
            Err(why) => missing.push(why),
        }
    }
    for part in &parts {
        let is_missing = |error: &Error| error.kind() == Kind::NotFound;
        let mut sheets = part.gathered.sheets.iter();
        if sheets.any(|sheet| sheet.error.as_ref().is_some_and(is_missing)) {
            forget_calendars(ctx, &part.account.id);
        }
    }
    Ok((parts, missing))
}

/// Queries one account for its part.
async fn agenda_part(
    ctx: &Context,
    place: &AccountPosition,
    plan: &AgendaPlan,
    selectors: &[CalendarSelector],
    request: &AgendaRequest<'_>,
    labels: &AccountLabels,
) -> std::result::Result<AgendaPart, Missing<AccountPosition>> {
    let label = labels.of(&place.account);
    let answer = async {
        let account = ctx.accounts.by_id(&place.account).await?;
        let port = ctx.connect.calendars(&account)?;
        let calendars = find_calendars(ctx, &account, &*port, selectors).await?;
        let shown = plan.requested_columns()?;
        let projection = match request.query {
            Some(_) => words::projection(port.api(), &shown),
            None => project(port.api(), &shown),
        };
        let context =
            RowContext { zone: request.zone, ..ctx.context_for(port.api(), &label, &account) };
        // Searching words needs no names.
        let gathered = fetch_pages(&*port, calendars, place, projection, request, &context).await?;
        Ok((account, port.clone(), gathered))
    };
    let answer = ctx.await_account(plan.merged, answer).await;
    match answer {
        Ok((account, port, gathered)) => Ok(AgendaPart { account, label, port, gathered }),
        Err(error) if !plan.merged => Err((error, None)),
        Err(error) => {
            let again = error.is_passing().then(|| place.clone());
            Err((error.context(&label), again))
        }
    }
}

/// Returns rows of events, with handles, and remembers them as shown.
async fn event_rows(
    ctx: &Context,
    parts: &[AgendaPart],
    shown: &[(usize, EventRow)],
    columns: &[&'static Field],
    zone: &TimeZone,
    plan: &AgendaPlan,
    notes: &mut Vec<Note>,
) -> Result<RowTable> {
    let mut tables = Vec::new();
    for (at, part) in parts.iter().enumerate() {
        let mine: Vec<&EventRow> =
            shown.iter().filter(|(owner, _)| *owner == at).map(|(_, row)| row).collect();
        let items: Vec<_> = mine.iter().map(|row| row.item.clone()).collect();
        let context = RowContext {
            zone,
            names: &part.gathered.names,
            // A few rows have the room of as many events read by their ids.
            room: if shown.len() <= FEW { Room::One } else { Room::List },
            ..ctx.context_for(part.port.api(), &part.label, &part.account)
        };
        let mut own = Vec::new();
        let mut rows = rows_of(&context, &EVENT, columns, &items, &mut own);
        assign_handles(ctx, &mut rows, &part.account).await?;
        own.extend(beginnings(part.port.capabilities(), columns, &items, &context));
        let facts: Vec<_> = mine.iter().map(|row| Some(row.facts.clone())).collect();
        own.extend(fill_rules(&mut rows, &facts, &*part.port, &context).await);
        remember_events(ctx, &rows, facts.into_iter()).await?;
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

/// Reports names that no calendar has: as an error, unless a missing account may
/// have such a calendar.
async fn unknown_calendars(
    ctx: &Context,
    selectors: &[CalendarSelector],
    parts: &[AgendaPart],
    complete: bool,
) -> Result<Vec<Note>> {
    let mut notes = Vec::new();
    for one in selectors {
        let found = parts.iter().any(|part| {
            let sheets = part.gathered.sheets.iter();
            let listed: Vec<_> = sheets.map(|sheet| sheet.calendar.clone()).collect();
            !select_calendars(&listed, one, &part.account.id).is_empty()
        });
        if found {
            continue;
        }
        let mut known = Vec::new();
        for part in parts {
            let list = calendar_list(ctx, &part.account, &*part.port, false);
            for calendar in calendars::known_calendars(&*part.port, &list.await?) {
                if !known.contains(&calendar.name) {
                    known.push(calendar.name);
                }
            }
        }
        let name = match one {
            CalendarSelector::Name(name) => name.clone(),
            CalendarSelector::Id(account, id) => {
                let number =
                    ctx.store.handles(account, crate::store::HandleKind::Calendar, &[id]).await?;
                number.first().map_or_else(|| id.clone(), |n| format!("c{n}"))
            }
        };
        let error = unknown_calendar(&name, &known);
        match complete {
            true => return Err(error),
            false => notes.push(Note::from(&error)),
        }
    }
    Ok(notes)
}

/// Returns the plan: as requested, or from the cursor.
async fn plan_agenda(ctx: &Context, request: Agenda) -> Result<(AgendaPlan, Vec<Note>)> {
    let columns = request.columns();
    if let Some(cursor) = &request.cursor {
        let mut plan: AgendaPlan = load_cursor(ctx, KIND, cursor).await?;
        plan.limit = request.limit.unwrap_or(plan.limit);
        return Ok((plan.with(columns), Vec::new()));
    }
    let here = TimeContext {
        now: ctx.now(),
        zone: requested_zone(ctx, request.tz.as_deref())?,
        // Times are shown in this zone, too; an offset may belong to another zone.
        named: false,
    };
    let (mut from, to) = (request.from.as_deref(), request.to.as_deref());
    let clock = DateContext { now: here.now, zone: here.zone.clone() };
    let query = request.q.as_deref().map(|q| words::read(q, &clock)).transpose()?;
    // Past invitations need no answer.
    let has_words = query.as_ref().is_some_and(words::EventQuery::has_words);
    let is_upcoming = from.is_none() && query.is_some_and(|query| query.is_unanswered());
    if is_upcoming {
        from = Some("now");
    }
    let range = range::search(from, to, request.q.is_some(), &here)?;
    let mut notes = Vec::new();
    if is_upcoming && to.is_none() {
        notes.push("invitations of the next 365 days, unless `from` and `to` are given".into());
    } else if request.q.is_some() && (from.is_none() || to.is_none()) {
        notes.push(note!(
            "{} from 30 days back to 365 ahead, unless `from` and `to` are given",
            if has_words { "words are searched" } else { "invitations" }
        ));
    }
    let owners: Vec<CalendarSelector> = calendar_selectors(ctx, &request.calendars).await?;
    let mut accounts = named_or_all(ctx, request.account.as_deref()).await?;
    let owner = |one: &CalendarSelector| match one {
        CalendarSelector::Id(account, _) => Some(account.clone()),
        CalendarSelector::Name(_) => None,
    };
    let only: Option<Vec<String>> = owners.iter().map(owner).collect();
    if let Some(only) = only.filter(|only| !only.is_empty()) {
        if let (Some(name), Some(other)) =
            (&request.account, only.iter().find(|id| accounts.iter().all(|one| one.id != **id)))
        {
            return Err(Error::argument(format!(
                "a requested calendar belongs to {other}, not to {}",
                crate::text::brief(name)
            ))
            .next("leave out `account`: the handle implies it"));
        }
        accounts.retain(|account| only.contains(&account.id));
        if let (true, Some(account_id)) = (accounts.is_empty(), only.first()) {
            accounts.push(ctx.accounts.by_id(account_id).await?);
        }
    }
    let plan = AgendaPlan {
        q: request.q,
        calendars: request.calendars,
        series: request.series,
        tz: request.tz,
        ics: request.form == EventForm::Ics,
        ..AgendaPlan::of(range, accounts, request.limit.unwrap_or(50))
    };
    Ok((plan.with(columns), notes))
}

/// Remembers the shown events that have a handle.
pub(in crate::pipeline) async fn remember_events(
    ctx: &Context,
    rows: &RowTable,
    facts: impl Iterator<Item = Option<EventData>>,
) -> Result<()> {
    let shown: Vec<_> = rows
        .rows()
        .zip(facts)
        .filter_map(|(row, facts)| match row.first() {
            Some(Cell::Handle('e', number)) => Some((*number, seen::substance(&facts?))),
            _ => None,
        })
        .collect();
    ctx.store.remember_events(&shown).await
}

/// Writes the rules of their series into rows of occurrences, which the services' objects
/// lack; `facts` are those of the rows, in order. Returns a note on series left out.
async fn fill_rules(
    rows: &mut RowTable,
    facts: &[Option<EventData>],
    port: &dyn Calendars,
    context: &RowContext<'_>,
) -> Option<Note> {
    let rule = EVENT.field("repeats").filter(|field| rows.columns().contains(field))?;
    let series_at = |at: usize| facts.get(at)?.as_ref()?.series.clone();
    let mut ids: Vec<String> = Vec::new();
    for id in (0..rows.len()).filter_map(series_at) {
        if !ids.contains(&id) {
            ids.push(id);
        }
    }
    let all = ids.len();
    ids.truncate(MOST_SERIES);
    let answers = match ids.is_empty() {
        true => Vec::new(),
        false => port.event(&ids).await,
    };
    let mut rules = Vec::new();
    for (id, answer) in ids.into_iter().zip(answers) {
        let Ok(item) = answer else { continue };
        let (table, _) = flatten::flatten(&EVENT, &[rule], std::slice::from_ref(&item), context);
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

/// Returns a note on descriptions that lists show only the beginning of.
fn beginnings(
    can: &CalendarCapabilities,
    columns: &[&'static Field],
    items: &[Value],
    context: &flatten::RowContext,
) -> Option<Note> {
    let notes = columns.iter().find(|field| field.name == "notes")?;
    let preview = can.preview?;
    let long = |item: &&Value| {
        let texts = flatten::texts(notes, item, context);
        texts.iter().any(|text| text.chars().count() >= preview)
    };
    match items.iter().filter(long).count() {
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
