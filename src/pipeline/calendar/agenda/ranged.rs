//! All events of a range, for callers that decide on them before they become rows.
//!
//! The same search as `calendar_search`, in one page. The caller chooses what is shown.

use jiff::tz::TimeZone;
use serde_json::{Value, json};

use super::calendars::KnownCalendar;
use super::merge::merge;
use super::pages::{AgendaRequest, EventRow};
use super::{AgendaPart, AgendaPlan, range::Range};
use crate::error::{Error, Result};
use crate::event_time::{self, EventTime};
use crate::flatten::Context;
use crate::pipeline::calendar::clashes::Clash;
use crate::pipeline::calendar::guests::others;
use crate::pipeline::calendar::target::span;
use crate::pipeline::{Pipeline, rows_of};
use crate::provider::Account;
use crate::provider::calendar::EventData;
use crate::row::{Cell, RowTable};
use crate::schemas::{CLASH, Level};
use crate::text::{self, Note, NoteKey, note, ours, quoted};

/// The maximum number of events.
const MOST: u32 = 500;

/// The events of a range, each once, by their start.
pub(in crate::pipeline) struct Ranged {
    plan: AgendaPlan,
    parts: Vec<AgendaPart>,
    rows: Vec<(usize, EventRow)>,
    /// Why calendars of some accounts are missing; each names the account.
    pub(in crate::pipeline) missing: Vec<Error>,
    /// Notes on what else is missing.
    pub(in crate::pipeline) notes: Vec<Note>,
}

impl Ranged {
    /// Returns true if no calendar could be read.
    pub(in crate::pipeline) fn is_unknown(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns the events in order: the facts of each, and its calendar.
    pub(in crate::pipeline) fn events(&self) -> impl Iterator<Item = (&EventData, &KnownCalendar)> {
        self.rows.iter().filter_map(|(part, row)| {
            let sheet = self.parts.get(*part)?.gathered.sheets.get(row.calendar)?;
            Some((&row.facts, &sheet.calendar))
        })
    }

    /// Names an event by its position: its id as in the rows of those `shown`, title and time.
    pub(super) fn mention(
        &self,
        at: usize,
        shown: &[usize],
        rows: &RowTable,
        zone: &TimeZone,
    ) -> Option<String> {
        let (_, EventRow { facts, .. }) = self.rows.get(at)?;
        let Some(Cell::Handle(kind, number)) = handle_of(at, shown, rows) else {
            return None;
        };
        let when = span(facts.start, facts.end, zone);
        Some(format!("{kind}{number} {} {when}", quoted(&facts.title)))
    }
}

/// The properties that decide which of two events gives way.
struct Standing {
    calendar: String,
    account: String,
    /// Guests other than the account's owner.
    guests: usize,
    /// True if the owner may move it for everyone.
    movable: bool,
}

impl Ranged {
    fn standing(&self, at: usize) -> Option<Standing> {
        let (part, row) = self.rows.get(at)?;
        let part = self.parts.get(*part)?;
        let calendar = &part.gathered.sheets.get(row.calendar)?.calendar;
        Some(Standing {
            calendar: calendar.name.clone(),
            account: part.label.clone(),
            guests: others(&row.facts.guests, &part.account.email).len(),
            movable: row.facts.own || row.facts.joint,
        })
    }

    /// Describes a later event of a clash as the columns do the first.
    fn describe(&self, at: usize) -> Option<String> {
        let Standing { calendar, account, guests, movable } = self.standing(at)?;
        let account = if self.plan.merged { format!(" of {account}") } else { String::new() };
        let guests = match guests {
            0 => String::new(),
            1 => ", 1 guest".to_owned(),
            many => format!(", {many} guests"),
        };
        let fixed = if movable { "" } else { ", not movable" };
        Some(format!(" ({}{account}{guests}{fixed})", text::cell(&calendar)))
    }
}

/// Returns the handle of an event by its position, from the rows of those `shown`.
fn handle_of<'r>(at: usize, shown: &[usize], rows: &'r RowTable) -> Option<&'r Cell> {
    rows.cell(shown.iter().position(|one| *one == at)?, "id")
}

impl Ranged {
    /// Returns a note if times are in UTC and the main calendar is in another zone, as
    /// on a machine whose zone nobody has set.
    pub(in crate::pipeline) fn other_zone(&self, zone: &TimeZone) -> Option<Note> {
        let sheets = self.parts.iter().flat_map(|part| &part.gathered.sheets);
        let mut mains = sheets.map(|sheet| &sheet.calendar).filter(|calendar| calendar.main);
        let named = mains.find_map(|main| event_time::find_zone(&main.zone))?;
        let shown = [Some("UTC"), Some("Etc/UTC")].contains(&zone.iana_name());
        let name = named.iana_name().filter(|name| shown && !name.ends_with("UTC"))?;
        Some(note!(
            "times are in UTC, your calendar is in {}: use tz={}, or set the zone of daysheet",
            ours(name),
            ours(name)
        ))
    }
}

impl AgendaPart {
    /// Returns the errors of calendars that could not be read.
    pub(super) fn failures(&self, plan: &AgendaPlan) -> impl Iterator<Item = Error> {
        self.gathered.sheets.iter().filter_map(|sheet| {
            let error = sheet.error.clone()?.context(&sheet.calendar.name);
            Some(match plan.merged {
                true => error.context(&self.label),
                false => error,
            })
        })
    }
}

impl Pipeline {
    /// Fetches the events of a range over some accounts. A failed account is reported
    /// in the result.
    pub(in crate::pipeline) async fn ranged_agenda(
        &self,
        range: Range,
        accounts: &[Account],
        zone: &TimeZone,
    ) -> Result<Ranged> {
        let mut plan = AgendaPlan::of(range, accounts.to_vec(), MOST);
        // One account that fails is no error here either, and is named.
        plan.merged = true;
        let seen = plan.seen.set();
        let request = AgendaRequest {
            range,
            series: false,
            query: None,
            zone,
            seen: &seen,
            limit: usize::try_from(MOST).unwrap_or(usize::MAX),
        };
        let (mut parts, missing) = self.agenda_parts(&plan, &[], &request).await?;
        plan.merged = accounts.len() > 1;
        let merged = merge(&mut parts, request.limit);
        let mut notes = Vec::new();
        if merged.end.is_some() {
            notes.push(note!(
                "only the first {} events of {} were checked",
                merged.shown.len(),
                ours(range.tell(zone))
            ));
        }
        for part in &parts {
            let failures = part.failures(&plan);
            notes.extend(failures.map(|error| Note::from(&error).with_key(NoteKey::Missing)));
            let more = part.gathered.notes.iter();
            notes.extend(more.map(|note| note.under(ours(&part.label))));
        }
        Ok(Ranged {
            plan,
            parts,
            rows: merged.shown,
            missing: missing.into_iter().map(|(error, _)| error).collect(),
            notes,
        })
    }

    /// Returns rows of some of the events, by their positions, as a search shows them.
    pub(in crate::pipeline) async fn ranged_rows(
        &self,
        ranged: &Ranged,
        keep: &[usize],
        zone: &TimeZone,
        notes: &mut Vec<Note>,
    ) -> Result<RowTable> {
        let rows = keep.iter().filter_map(|at| ranged.rows.get(*at));
        let rows: Vec<_> = rows.cloned().collect();
        let columns = ranged.plan.columns(&rows, &ranged.parts)?;
        self.event_rows(&ranged.parts, &rows, &columns, zone, &ranged.plan, notes).await
    }

    /// Returns the table `clashes`. `shown` has the positions of the events in `rows`,
    /// whose handles are used. At the level `more` the rows say what decides which event gives
    /// way.
    pub(in crate::pipeline) fn clash_rows(
        &self,
        found: &[Clash],
        ranged: &Ranged,
        (shown, rows): (&[usize], &RowTable),
        level: Level,
        zone: &TimeZone,
    ) -> RowTable {
        let facts = |at: usize| ranged.rows.get(at).map(|(_, row)| &row.facts);
        let handle = |at: usize| handle_of(at, shown, rows);
        let objects: Vec<Value> = found
            .iter()
            .filter_map(|one| {
                let first = facts(one.first)?;
                let with = one.with.iter().filter_map(|at| {
                    let Some(Cell::Handle(kind, number)) = handle(*at) else {
                        return None;
                    };
                    let more =
                        if level == Level::More { ranged.describe(*at)? } else { String::new() };
                    let event = event_after(first.start, facts(*at)?, zone);
                    Some(format!("{kind}{number} {event}{more}"))
                });
                let Standing { calendar, account, guests, movable } = ranged.standing(one.first)?;
                Some(json!({
                    "id": first.id, "title": first.title, "start": time_value(first.start),
                    "end": time_value(first.end), "with": with.collect::<Vec<_>>(),
                    "calendar": calendar, "account": account, "guests": guests, "movable": movable,
                }))
            })
            .collect();
        let mut columns = CLASH.up_to(level);
        columns.retain(|field| field.name != "account" || ranged.plan.merged);
        let context = Context { zone, ..self.local() };
        let mut table = rows_of(&context, &CLASH, &columns, &objects, &mut Vec::new());
        for (row, one) in found.iter().enumerate() {
            if let (Some(cell), Some(handle)) = (table.cell_mut(row, "id"), handle(one.first)) {
                *cell = handle.clone();
            }
        }
        table
    }
}

/// Formats ``11h30 to 12h15 `Title` `` for an event that is listed beside an earlier one.
fn event_after(first: EventTime, facts: &EventData, zone: &TimeZone) -> String {
    let start = match facts.start {
        EventTime::Day(_) => event_time::start(facts.start, zone),
        EventTime::At(_) => event_time::end(first, facts.start, zone),
    };
    let end = event_time::end(facts.start, facts.end, zone);
    format!("{start} to {end} {}", quoted(&facts.title))
}

/// Returns a time as in an object of ours.
fn time_value(when: EventTime) -> Value {
    match when {
        EventTime::Day(day) => json!({"date": day.to_string()}),
        EventTime::At(at) => json!({"dateTime": at.to_string()}),
    }
}
