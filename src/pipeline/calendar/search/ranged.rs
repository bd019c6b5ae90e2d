//! All events of a range, for callers that select among them before they become rows.
//!
//! The same search as `calendar_search`, in one page. The caller chooses the events to show.

use daysheet_core::access::AccessLevel;
use daysheet_core::error::{Error, Result};
use daysheet_core::event::Event;
use daysheet_core::event::time::{self, EventTime};
use daysheet_core::flatten::RowContext;
use daysheet_core::provider::Account;
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{CLASH, ColumnLevel};
use daysheet_core::text::{self, Note, NoteKey, clip, note, ours, quoted};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::calendars::KnownCalendar;
use super::merge::merge;
use super::pages::{AgendaPart, AgendaRequest, EventRow};
use super::parts::{EventTable, agenda_parts, event_rows};
use super::plan::AgendaPlan;
use super::range::TimeRange;
use crate::config::Config;
use crate::pipeline::calendar::clashes::EventClash;
use crate::pipeline::calendar::guests::others;
use crate::pipeline::calendar::target::span;
use crate::pipeline::context::Context;
use crate::pipeline::rows::rows_of;
use crate::pipeline::write::confirm::above;

/// The maximum number of events.
const MAX_EVENTS: u32 = 500;
/// The widths, in columns, of a later event of a clash in its list, of the title, and of the name
/// of the calendar.
const LATER: usize = 80;
const TITLE: usize = 40;
const CALENDAR: usize = 12;
/// The columns of ` (not movable, 12 guests`.
const FACTS: usize = 24;

/// The events of a range, each once, by their start.
pub(crate) struct RangedEvents {
    plan: AgendaPlan,
    parts: Vec<AgendaPart>,
    rows: Vec<(usize, EventRow)>,
    /// The errors of accounts whose calendars are missing; each names the account.
    pub(crate) missing: Vec<Error>,
    /// Notes on other missing data.
    pub(crate) notes: Vec<Note>,
}

impl RangedEvents {
    /// Returns true if no calendar could be read.
    pub(crate) fn is_unknown(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns the events in order: the facts of each, and its calendar.
    pub(crate) fn events(&self) -> impl Iterator<Item = (&Event, &KnownCalendar)> {
        self.rows.iter().filter_map(|(part, row)| {
            let sheet = self.parts.get(*part)?.gathered.sheets.get(row.calendar)?;
            Some((&row.event, &sheet.calendar))
        })
    }
}

/// Events of a range that have rows.
pub(crate) struct ShownEvents<'a> {
    /// All events of the range.
    pub(crate) ranged: &'a RangedEvents,
    /// The positions of the events in `rows`, in their order.
    pub(crate) positions: &'a [usize],
    /// Their rows.
    pub(crate) rows: &'a RowTable,
}

impl ShownEvents<'_> {
    /// Returns the handle of an event by its position.
    fn handle(&self, at: usize) -> Option<&RowCell> {
        self.rows.cell(self.positions.iter().position(|one| *one == at)?, "id")
    }

    /// Names an event by its position: its handle, title and time.
    pub(super) fn mention(&self, at: usize, zone: &TimeZone) -> Option<String> {
        let (_, EventRow { event, .. }) = self.ranged.rows.get(at)?;
        let Some(RowCell::Handle(kind, number)) = self.handle(at) else {
            return None;
        };
        let when = span(event.start, event.end, zone);
        Some(format!("{kind}{number} {} {when}", quoted(&event.title)))
    }
}

/// The properties that decide which of two events gives way.
struct EventStanding {
    calendar: String,
    account: String,
    /// Guests other than the account's owner.
    guests: usize,
    /// True if the owner may move it for everyone, regardless of the access level.
    shared: bool,
    /// True if moving it reaches other people.
    reaches: bool,
}

impl EventStanding {
    /// Returns the lowest access level that may move it.
    fn needs(&self) -> AccessLevel {
        if self.reaches { AccessLevel::Send } else { AccessLevel::Organize }
    }

    /// Returns true if a caller of this access level may move it for everyone.
    fn is_movable(&self, access: AccessLevel) -> bool {
        self.shared && access >= self.needs()
    }
}

impl RangedEvents {
    fn standing(&self, at: usize) -> Option<EventStanding> {
        let (part, row) = self.rows.get(at)?;
        let part = self.parts.get(*part)?;
        let calendar = &part.gathered.sheets.get(row.calendar)?.calendar;
        let own = &part.account.email;
        let facts = &row.event;
        let guests = others(&facts.guests, own).len();
        Some(EventStanding {
            calendar: calendar.name.clone(),
            account: part.label.clone(),
            guests,
            shared: facts.own || facts.joint,
            reaches: guests > 0 || facts.omitted || !facts.own || calendar.of_others(own).is_some(),
        })
    }

    /// Describes a later event of a clash as the columns do the first. The account, which may be
    /// cut off, comes last.
    fn describe(&self, at: usize, access: AccessLevel) -> Option<String> {
        let standing = self.standing(at)?;
        let movable = if standing.is_movable(access) { "movable" } else { "not movable" };
        let EventStanding { calendar, account, guests, .. } = standing;
        let account = if self.plan.merged { format!(" of {account}") } else { String::new() };
        let guests = match guests {
            0 => String::new(),
            1 => ", 1 guest".to_owned(),
            many => format!(", {many} guests"),
        };
        let (calendar, _) = clip(text::cell(&calendar), CALENDAR);
        Some(format!(" ({movable}{guests}, {calendar}{account})"))
    }

    /// Returns a note if events of clashes cannot be moved because of the access level.
    pub(super) fn fixed_by_level(&self, found: &[EventClash], config: &Config) -> Option<Note> {
        let all = found.iter().flat_map(|one| one.with.iter().chain([&one.first]));
        let fixed = all
            .filter_map(|at| self.standing(*at))
            .filter(|one| one.shared && !one.is_movable(config.access));
        let needed = fixed.map(|one| one.needs()).min()?;
        let what = match needed {
            AccessLevel::Send => "moving events with other people",
            _ => "moving events",
        };
        Some(Note::from(&above(what, needed, config)))
    }
}

impl RangedEvents {
    /// Returns a note if times are in UTC and the main calendar is in another zone, as on a machine
    /// without a configured zone.
    pub(crate) fn other_zone(&self, zone: &TimeZone) -> Option<Note> {
        let sheets = self.parts.iter().flat_map(|part| &part.gathered.sheets);
        let mut mains = sheets.map(|sheet| &sheet.calendar).filter(|calendar| calendar.main);
        let named = mains.find_map(|main| time::find_zone(&main.zone))?;
        let shown = [Some("UTC"), Some("Etc/UTC")].contains(&zone.iana_name());
        let name = named.iana_name().filter(|name| shown && !name.ends_with("UTC"))?;
        Some(note!(
            "times are in UTC, your calendar is in {}: use tz={}, or set the zone of daysheet",
            ours(name),
            ours(name)
        ))
    }
}

/// Fetches the events of a range over some accounts. A failed account is reported
/// in the result.
pub(crate) async fn ranged_agenda(
    ctx: &Context,
    range: TimeRange,
    accounts: &[Account],
    zone: &TimeZone,
) -> Result<RangedEvents> {
    let mut plan = AgendaPlan::new(range, accounts.to_vec(), MAX_EVENTS);
    // With `merged`, even a single account that fails is a note that names it, not an error.
    plan.merged = true;
    let seen = plan.seen.set();
    let request = AgendaRequest {
        range,
        series: false,
        query: None,
        zone,
        seen: &seen,
        limit: usize::try_from(MAX_EVENTS).unwrap_or(usize::MAX),
    };
    let (mut parts, missing) = agenda_parts(ctx, &plan, &[], &request).await?;
    // From here on, accounts are named only if there are several.
    plan.merged = accounts.len() > 1;
    let merged = merge(&mut parts, request.limit);
    let mut notes = Vec::new();
    if merged.end.is_some() {
        notes.push(note!(
            "only the first {} events of {} were checked",
            merged.shown.len(),
            ours(range.in_words(zone))
        ));
    }
    for part in &parts {
        let failures = plan.failures(part);
        notes.extend(failures.map(|error| Note::from(&error).with_key(NoteKey::Missing)));
        let more = part.gathered.notes.iter();
        notes.extend(more.map(|note| note.under(ours(&part.label))));
    }
    Ok(RangedEvents {
        plan,
        parts,
        rows: merged.shown,
        missing: missing.into_iter().map(|(error, _)| error).collect(),
        notes,
    })
}

/// Returns rows of some of the events, by their positions, as a search shows them.
pub(crate) async fn ranged_rows(
    ctx: &Context,
    ranged: &RangedEvents,
    keep: &[usize],
    zone: &TimeZone,
    notes: &mut Vec<Note>,
) -> Result<RowTable> {
    let rows = keep.iter().filter_map(|at| ranged.rows.get(*at));
    let rows: Vec<_> = rows.cloned().collect();
    let columns = ranged.plan.columns(&rows, &ranged.parts)?;
    let table = EventTable { plan: &ranged.plan, parts: &ranged.parts, shown: &rows, zone };
    event_rows(ctx, &table, &columns, notes).await
}

/// Returns the table `clashes`, with the handles of the rows in `shown`. At the level `more`, rows
/// have the facts that decide which event gives way.
pub(crate) fn clash_rows(
    ctx: &Context,
    shown: &ShownEvents<'_>,
    found: &[EventClash],
    level: ColumnLevel,
    zone: &TimeZone,
) -> RowTable {
    let ranged = shown.ranged;
    let facts = |at: usize| ranged.rows.get(at).map(|(_, row)| &row.event);
    let access = ctx.config.access;
    let objects: Vec<Value> = found
        .iter()
        .filter_map(|one| {
            let first = facts(one.first)?;
            let with = one.with.iter().filter_map(|at| {
                let Some(RowCell::Handle(kind, number)) = shown.handle(*at) else {
                    return None;
                };
                let more = match level {
                    ColumnLevel::More => ranged.describe(*at, access)?,
                    _ => String::new(),
                };
                let later = facts(*at)?;
                let head = format!("{kind}{number} {}", time_after(first.start, later, zone));
                // If space is short, the title is cut before the facts that decide which event
                // moves; the account, which is last, is cut before the title.
                let room = LATER.saturating_sub(head.len() + 3);
                let least = room.saturating_sub(FACTS).clamp(8, 16);
                let room = room.saturating_sub(more.len()).clamp(least, TITLE);
                let title = clip(text::cell(&later.title), room).0;
                Some(format!("{head} {}{more}", quoted(&title)))
            });
            let standing = ranged.standing(one.first)?;
            let movable = standing.is_movable(access);
            let EventStanding { calendar, account, guests, .. } = standing;
            Some(json!({
                "id": first.id, "title": first.title, "start": time_value(first.start),
                "end": time_value(first.end), "with": with.collect::<Vec<_>>(),
                "calendar": calendar, "account": account, "guests": guests, "movable": movable,
            }))
        })
        .collect();
    let mut columns = CLASH.up_to(level);
    columns.retain(|field| field.name != "account" || ranged.plan.merged);
    let context = RowContext { zone, ..ctx.local() };
    // The objects are ours, so no value in them is unexpected.
    let mut table = rows_of(&context, &CLASH, &columns, &objects, &mut Vec::new());
    for (row, one) in found.iter().enumerate() {
        if let (Some(cell), Some(handle)) = (table.cell_mut(row, "id"), shown.handle(one.first)) {
            *cell = handle.clone();
        }
    }
    table
}

/// Formats `11h30 to 12h15` for an event that is listed beside an earlier one.
fn time_after(first: EventTime, facts: &Event, zone: &TimeZone) -> String {
    let start = match facts.start {
        EventTime::Day(_) => time::start(facts.start, zone),
        EventTime::At(_) => time::end(first, facts.start, zone),
    };
    let end = time::end(facts.start, facts.end, zone);
    format!("{start} to {end}")
}

/// Returns a time as in an object of ours.
fn time_value(when: EventTime) -> Value {
    match when {
        EventTime::Day(day) => json!({"date": day.to_string()}),
        EventTime::At(at) => json!({"dateTime": at.to_string()}),
    }
}
