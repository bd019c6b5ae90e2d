//! `calendar_search`: events of all calendars, merged by their start.
//!
//! Every account is queried for a full page, all its calendars at once, and the results
//! are put in one order. A meeting is in the calendar of every guest; of such copies
//! the reader's own is shown.

pub(crate) mod by_id;
pub(crate) mod calendars;
mod clash;
mod ics;
pub(crate) mod lists;
mod matching;
mod merge;
mod pages;
pub(crate) mod parts;
mod plan;
mod position;
pub(crate) mod range;
pub(crate) mod ranged;
pub(super) mod seen;

use daysheet_core::budget::LongText;
use daysheet_core::budget::WholeAnswer;
use daysheet_core::choice::WordChoice;
use daysheet_core::encode::Document;
use daysheet_core::error::{Error, Result};
use daysheet_core::event::time::zone_label;
use daysheet_core::ical;
use daysheet_core::ids::{AccountId, EventId};
use daysheet_core::provider::Account;
use daysheet_core::query::DateContext;
use daysheet_core::row::RowCell;
use daysheet_core::text::fence::theirs;
use daysheet_core::text::{Note, note, ours};
use daysheet_core::time_parse::TimeContext;
use jiff::Timestamp;
use jiff::tz::TimeZone;

use self::by_id::{events_by_id, fetch_whole};
use self::calendars::{
    CalendarSelector, calendar_list, calendar_selectors, select_calendars, unknown_calendar,
};
use self::clash::clash_search;
use self::ics::ics_document;
use self::merge::{MergedRows, merge};
use self::pages::{AgendaPart, AgendaRequest};
use self::plan::AgendaPlan;
use super::search::parts::{EventTable, agenda_parts, event_rows};
use crate::pipeline::access::accounts::named_or_all;
use crate::pipeline::answer::cursor::{load_cursor, save_cursor};
use crate::pipeline::context::Context;
use crate::pipeline::rows::missing_line;
use crate::tools::calendar_search::{CalendarSearch, EventForm, EventSort};

/// The kind of its cursors.
const KIND: &str = "agenda";

pub(crate) async fn calendar_search(ctx: &Context, request: CalendarSearch) -> Result<WholeAnswer> {
    if !request.ids.is_empty() {
        return events_by_id(ctx, &request).await;
    }
    let q = request.q.as_deref().map_or("", str::trim);
    if q.eq_ignore_ascii_case(matching::QUERY) && request.cursor.is_none() {
        return clash_search(ctx, &request).await;
    }
    let (plan, mut notes) = plan_agenda(ctx, request).await?;
    let zone = ctx.requested_zone(plan.tz.as_deref())?;
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
    // The calendars of a cursor were checked on the first page.
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
        let shown = &merged.shown;
        let table = EventTable { plan: &plan, parts: &parts, shown, zone: &zone };
        let rows = event_rows(ctx, &table, &columns, &mut notes).await?;
        document.scalars.push(("zone", RowCell::Text(zone_label(&zone))));
        document.tables.push(rows);
    }
    let mut count = plan.count(&merged, &parts, &zone);
    if let Some(next) = next {
        let cursor = save_cursor(ctx, KIND, &next).await?;
        if !plan.ics {
            document.scalars.push(("next", RowCell::Handle('p', cursor)));
        }
        count.push_str(&format!("; cursor=p{cursor} has more"));
    }
    notes.insert(0, note!("{}", ours(count)));
    notes.extend(plan.remarks(&merged, &parts, &zone));
    notes.extend(missing.into_iter().map(missing_line));
    let sort = Some(EventSort::Start.word());
    Ok(WholeAnswer { document, texts, notes, sort, ..WholeAnswer::default() })
}

/// Returns the events of a page as an iCalendar document.
async fn shown_ics(
    ctx: &Context,
    parts: &[AgendaPart],
    merged: &MergedRows,
    zone: &TimeZone,
    notes: &mut Vec<Note>,
) -> Result<String> {
    let mut groups: Vec<(Account, Vec<(usize, EventId)>)> = Vec::new();
    for (number, part) in parts.iter().enumerate() {
        let shown = merged.shown.iter().enumerate();
        let mine: Vec<_> = shown
            .filter(|(_, (owner, _))| *owner == number)
            .map(|(at, (_, row))| (at, row.event.id.clone()))
            .collect();
        if !mine.is_empty() {
            groups.push((part.account.clone(), mine));
        }
    }
    let titles = merged.shown.iter().map(|(_, row)| row.event.title.clone());
    let titles: Vec<String> = titles.collect();
    // Without events, an empty calendar is still a valid document.
    if groups.is_empty() {
        return Ok(ical::write(&ical::CalendarDocument::default(), Timestamp::UNIX_EPOCH));
    }
    let whole = fetch_whole(ctx, &titles, groups, Vec::new()).await?;
    notes.extend(whole.notes.iter().cloned());
    Ok(ics_document(&whole, zone, notes).await)
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
                let kind = crate::store::HandleKind::Calendar;
                let number = ctx.store.handles(account, kind, &[id.as_str()]).await?;
                number.first().map_or_else(|| id.to_string(), |n| format!("c{n}"))
            }
        };
        let error = unknown_calendar(&name, &known);
        if complete {
            return Err(error);
        }
        notes.push(Note::from(&error));
    }
    Ok(notes)
}

/// Returns the plan: as requested, or from the cursor.
async fn plan_agenda(ctx: &Context, request: CalendarSearch) -> Result<(AgendaPlan, Vec<Note>)> {
    let columns = request.columns();
    if let Some(cursor) = &request.cursor {
        let mut plan: AgendaPlan = load_cursor(ctx, KIND, cursor).await?;
        plan.limit = request.limit.unwrap_or(plan.limit);
        return Ok((plan.with(columns), Vec::new()));
    }
    let here = TimeContext {
        now: ctx.now(),
        zone: ctx.requested_zone(request.tz.as_deref())?,
        // Times are shown in this zone, too; an offset may belong to another zone.
        named: false,
    };
    let (mut from, to) = (request.from.as_deref(), request.to.as_deref());
    let clock = DateContext { now: here.now, zone: here.zone.clone() };
    let query = request.q.as_deref().map(|q| matching::read_query(q, &clock)).transpose()?;
    // Past invitations need no answer.
    let has_words = query.as_ref().is_some_and(matching::EventQuery::has_words);
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
    let only: Option<Vec<AccountId>> = owners.iter().map(owner).collect();
    // Handles imply their accounts, so other accounts are left out. A name may belong to any.
    if let Some(only) = only.filter(|only| !only.is_empty()) {
        if let (Some(name), Some(other)) =
            (&request.account, only.iter().find(|id| accounts.iter().all(|one| one.id != **id)))
        {
            return Err(Error::argument(format!(
                "a requested calendar belongs to {other}, not to {}",
                daysheet_core::text::brief(name)
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
        ..AgendaPlan::new(range, accounts, request.limit.unwrap_or(50))
    };
    Ok((plan.with(columns), notes))
}
