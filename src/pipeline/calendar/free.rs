//! `calendar_free`: when people are busy, and when all are free.
//!
//! Without a duration and hours the answer is the table of busy times. With a duration it is only
//! the table of slots, because a caller looking for a slot does not need the rest; with hours
//! alone, that table has the free time within them. Addresses are queried
//! through the account that is most likely to know them, and through all others as well, so it
//! works across services. A person whose times are unknown is never reported as free. Account
//! owners are busy by all of their own calendars, and have to be free in every slot.

mod hours;
mod own;
mod people;
mod schedules;
mod slots;

use std::collections::HashMap;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::choice::WordChoice;
use daysheet_core::encode::Document;
use daysheet_core::error::{Error, Result};
use daysheet_core::event::time::{EventTime, find_zone, zone_label};
use daysheet_core::flatten::RowContext;
use daysheet_core::provider::Account;
use daysheet_core::provider::calendar::WorkingHours;
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{BUSY, ColumnLevel, SLOT, Service, Table};
use daysheet_core::text::{Note, note, ours};
use daysheet_core::time_parse::{self, TimeContext};
use futures_util::future::join;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, ToSpan};
use serde_json::Value;

use self::hours::{DailyHours, TimeStretch, common, own};
use self::own::further_calendars;
use self::people::{BusyKind, BusyPerson, BusyTime, stretch};
use self::schedules::{owned, people_times};
use self::slots::{AbsenceReason, slots, stretches};
use super::search::range::{self, TimeRange};
use super::target::span;
use crate::pipeline::access::accounts::named_or_all;
use crate::pipeline::context::Context;
use crate::pipeline::rows::rows_of;
use crate::tools::calendar_free::{CalendarFree, SlotSort};

/// The number of working days considered if no end is given.
const AHEAD: usize = 5;
/// The maximum range, in days: services return no more at once.
const MAX_DAYS: i64 = 62;

/// Slots that are returned if no limit is given.
const SLOTS: usize = 5;
/// The note on a selection of slots.
const A_CHOICE: &str = "slots are a choice spread over the range, without overlaps, on quarter hours: \
                        `limit` shows more, `hours` without `duration` all free time";
/// The most different working hours that are listed.
const HOURS_SHOWN: usize = 3;
/// The most events that a note names.
const NAMED: usize = 5;

/// Returns the busy times of people, or the times at which all are free.
pub(crate) async fn calendar_free(ctx: &Context, request: CalendarFree) -> Result<WholeAnswer> {
    request.check_people()?;
    let zone = ctx.requested_zone(request.tz.as_deref())?;
    let here = TimeContext { now: ctx.now(), zone: zone.clone(), named: false };
    let daily = request.hours.as_deref().map(DailyHours::parse).transpose()?;
    let length = request.duration.as_deref().map(length).transpose()?;
    let (from, to) = (request.from.as_deref(), request.to.as_deref());
    let range = short(range::ahead(from, to, &here, working_days_after)?)?;
    let is_busy_list = length.is_none() && daily.is_none();
    if !is_busy_list && range.to() <= here.now {
        return Err(Error::argument("the range is in the past")
            .next("give a future `to`, or leave out `duration` and `hours`"));
    }

    let accounts = named_or_all(ctx, request.account.as_deref()).await?;
    let all = ctx.accounts.list().await?;
    let mut who = account_names(&request.who, &accounts);
    let others = who.len();
    if !is_busy_list {
        // The user takes part in the meeting.
        who = account_names(&[who, vec!["me".to_owned()]].concat(), &accounts);
    }
    // An owner's further calendars are read meanwhile.
    let schedules = people_times(ctx, &who, others, &accounts, range);
    let (known, further) =
        join(Box::pin(schedules), further_calendars(ctx, &who, &accounts, range, &zone)).await;
    let (mut people, mut notes) = known?;
    for (person, (more, noted)) in people.iter_mut().zip(further) {
        // Further calendars alone do not make a person's times known.
        if person.busy.is_some() {
            person.add(more);
            notes.extend(noted);
        }
    }
    notes.extend(left_out(&who, &all));
    if let Some(own @ [_, ..]) = who.get(others..) {
        notes.push(note!("also counted: {}", ours(own.join(", "))));
    }
    if request.sort == SlotSort::Best && length.is_none() {
        notes.push("sort=best is for slots: give `duration`".into());
    }
    let (mut document, count, sort) = if is_busy_list {
        if request.limit.is_some() {
            notes.push("all busy times are shown: `limit` is for slots".into());
        }
        let (document, count) = busy(&people, range, &zone, &mut notes);
        (document, count, None)
    } else {
        let search = FreeSearch {
            daily,
            length,
            limit: request.limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX)),
            sort: request.sort,
            zone: &zone,
        };
        let within = TimeStretch {
            // Past times are no slots.
            from: range.from().max(here.now),
            to: range.to(),
        };
        // Before accounts are merged into one person, because each may have working hours of its
        // own.
        let open = open(&people, daily, within, &zone);
        let hours = describe_hours(&people, daily, &zone);
        let others = people::merge_own(&mut people, others, |one| owned(one, &accounts));
        let (document, count, sort) = search.free_times((&people, others), &open, &mut notes);
        (document, format!("{count}, {hours}, {}", range.in_words(&zone)), Some(sort.word()))
    };
    document.scalars.insert(0, ("zone", RowCell::Text(zone_label(&zone))));
    notes.insert(0, note!("{}", ours(count)));
    Ok(WholeAnswer { document, notes, sort, ..WholeAnswer::default() })
}

/// A search for times at which people are free.
struct FreeSearch<'a> {
    /// The requested hours of a day.
    daily: Option<DailyHours>,
    /// The length of a slot; `None` for all free time.
    length: Option<SignedDuration>,
    /// The number of times to return.
    limit: Option<usize>,
    /// The requested order of slots.
    sort: SlotSort,
    /// The zone of the times.
    zone: &'a TimeZone,
}

impl FreeSearch<'_> {
    /// Returns the table of the free times within `open`, their number in words, and their order.
    /// At least one of the first `others` people must be known to be available.
    fn free_times(
        &self,
        (people, others): (&[BusyPerson], usize),
        open: &[TimeStretch],
        notes: &mut Vec<Note>,
    ) -> (Document, String, SlotSort) {
        let (found, count, sort) = match self.length {
            Some(length) => {
                let most = (length, self.limit.unwrap_or(SLOTS));
                let mut found = slots(people, others, open, self.zone, most);
                if found.len() == most.1 {
                    notes.push(A_CHOICE.into());
                }
                let is_best = self.sort == SlotSort::Best;
                if !is_best {
                    found.sort_by_key(|slot| slot.time.from);
                }
                let order = if is_best { "best first" } else { "by time" };
                let count = format!("slots: {}, {order}", found.len());
                (found, count, self.sort)
            }
            None => {
                let mut found = stretches(people, others, open);
                let all = found.len();
                found.truncate(self.limit.unwrap_or(all));
                let of_all = if found.len() < all { format!(" of {all}") } else { String::new() };
                let count = format!("free: {}{of_all}, by time", found.len());
                (found, count, SlotSort::Time)
            }
        };
        if found.is_empty() {
            notes.push(none_free(self.daily));
        }
        notes.extend(doubtful(&found, people, self.zone));
        let rows = rows(&SLOT, &slot_objects(&found, people), self.zone, notes);
        (document(rows), count, sort)
    }
}

/// Resolves the people to query, each once: the named ones, with `me` for the accounts' owners;
/// only the owners without names.
fn account_names(names: &[String], accounts: &[Account]) -> Vec<String> {
    let own = || accounts.iter().map(|account| account.email.to_string());
    let mut who: Vec<String> = Vec::new();
    let mut add = |address: String| {
        if !who.iter().any(|known| known.eq_ignore_ascii_case(&address)) {
            who.push(address);
        }
    };
    for one in names {
        if one.eq_ignore_ascii_case("me") { own().for_each(&mut add) } else { add(one.clone()) }
    }
    if names.is_empty() {
        own().for_each(&mut add);
    }
    who
}

/// Returns the times at which everyone works, or the requested hours.
fn open(
    people: &[BusyPerson],
    daily: Option<DailyHours>,
    within: TimeStretch,
    zone: &TimeZone,
) -> Vec<TimeStretch> {
    let any = daily.is_some_and(DailyHours::is_any);
    let hours = daily.unwrap_or(DailyHours::USUAL);
    if any {
        return hours.within(within, zone, false);
    }
    // Requested hours apply to every day that people work.
    let mut open = match daily {
        Some(daily) => daily.within(within, zone, false),
        None => vec![within],
    };
    for person in people {
        let own = person.hours.as_ref().and_then(|hours| own(hours, within));
        let usual = || hours.within(within, zone, true);
        open = common(&open, &own.unwrap_or_else(usual));
    }
    open
}

/// Describes these hours in words; working hours of another zone than `zone` name theirs.
fn describe_hours(people: &[BusyPerson], daily: Option<DailyHours>, zone: &TimeZone) -> String {
    let known: Vec<&WorkingHours> = people.iter().filter_map(|one| one.hours.as_ref()).collect();
    let mut lines: Vec<String> = Vec::new();
    for hours in &known {
        let clock = hours::hours_text(hours.from, hours.to);
        let line = match find_zone(&hours.zone) {
            Some(own) if own != *zone => format!("{clock} {}", zone_label(&own)),
            _ => clock,
        };
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let values =
        if lines.len() <= HOURS_SHOWN { format!(" ({})", lines.join("; ")) } else { String::new() };
    match daily {
        Some(daily) if daily.is_any() => "at any time".to_owned(),
        Some(daily) if !known.is_empty() => {
            format!("within {} and known working hours{values}", daily.in_words())
        }
        Some(daily) => format!("within {} of working days", daily.in_words()),
        None if known.len() == people.len() => format!("within everybody's working hours{values}"),
        None if !known.is_empty() => format!(
            "within known working hours{values}, else {} of working days",
            DailyHours::USUAL.in_words()
        ),
        None => format!("within {} of working days", DailyHours::USUAL.in_words()),
    }
}

/// Returns the last day considered if no end is given.
fn working_days_after(first: Date) -> Date {
    let mut day = first;
    let mut left = AHEAD;
    while left > 0 {
        match day.checked_add(1.day()) {
            Ok(next) => day = next,
            Err(_) => return day,
        }
        if day.weekday().to_monday_zero_offset() < 5 {
            left -= 1;
        }
    }
    day
}

fn length(text: &str) -> Result<SignedDuration> {
    let minutes = time_parse::minutes(text).map_err(|error| error.context("`duration`"))?;
    match minutes {
        0 => Err(Error::argument("`duration` is zero").next("give 30m or 1h")),
        minutes => Ok(SignedDuration::from_mins(i64::from(minutes))),
    }
}

/// Refuses a range that is longer than services accept.
fn short(range: TimeRange) -> Result<TimeRange> {
    let length = range.to().duration_since(range.from());
    if length > SignedDuration::from_hours(24 * MAX_DAYS) {
        Err(Error::argument(format!("the range is longer than {MAX_DAYS} days")).next("split it"))
    } else {
        Ok(range)
    }
}

fn busy(
    people: &[BusyPerson],
    range: TimeRange,
    zone: &TimeZone,
    notes: &mut Vec<Note>,
) -> (Document, String) {
    let objects: Vec<Value> = people.iter().flat_map(BusyPerson::objects).collect();
    let rows = rows(&BUSY, &objects, zone, notes);
    let free: Vec<&str> = people
        .iter()
        .filter(|one| one.busy.as_ref().is_some_and(Vec::is_empty))
        .map(|one| one.address.as_str())
        .collect();
    if !free.is_empty() {
        notes.insert(0, note!("free throughout: {}", ours(free.join(", "))));
    }
    let count = format!("busy: {}, by person, {}", rows.len(), range.in_words(zone));
    (document(rows), count)
}

/// Returns the note for a search without results.
fn none_free(daily: Option<DailyHours>) -> Note {
    if daily.is_some_and(DailyHours::is_any) {
        "no common free time: try a longer range or a shorter duration".into()
    } else {
        "no common free time: try a longer range, a shorter duration, or hours=0-24 for any time, \
         weekends too"
            .into()
    }
}

/// Returns a note on the user's accounts that are not counted although others of them are.
fn left_out(who: &[String], all: &[Account]) -> Option<Note> {
    let counts = |account: &&Account| who.iter().any(|one| account.email.is(one));
    let (counted, others): (Vec<&Account>, Vec<&Account>) = all.iter().partition(counts);
    if counted.is_empty() || others.is_empty() {
        return None;
    }
    let others: Vec<&str> = others.iter().map(|account| account.email.as_str()).collect();
    Some(note!(
        "your events in {} are not counted: who=me without `account` counts all",
        ours(others.join(", "))
    ))
}

/// Returns notes on the visible events for which people are tentatively free or elsewhere during
/// one of the slots.
fn doubtful(found: &[slots::MeetingSlot], people: &[BusyPerson], zone: &TimeZone) -> Vec<Note> {
    let (mut perhaps, mut elsewhere) = (Vec::new(), Vec::new());
    for slot in found {
        for (at, person) in people.iter().enumerate() {
            if slot.missing.contains(&(at, AbsenceReason::Perhaps)) {
                perhaps.extend(person.named_in(slot.time, BusyKind::Tentative));
            }
            elsewhere.extend(person.named_in(slot.time, BusyKind::Elsewhere));
        }
    }
    let perhaps = listed(perhaps, zone).map(|events| note!("perhaps: {}", ours(events)));
    let elsewhere = listed(elsewhere, zone)
        .map(|events| note!("elsewhere then, which counts as free: {}", ours(events)));
    perhaps.into_iter().chain(elsewhere).collect()
}

/// Lists events with their times, the first [`NAMED`] and a count of the others; `None` without
/// events.
fn listed(mut events: Vec<&BusyTime>, zone: &TimeZone) -> Option<String> {
    events.sort_by_key(|event| event.time);
    events.dedup_by_key(|event| (event.time, event.event.as_str()));
    let line = |event: &&BusyTime| {
        let at = |time| EventTime::At(time);
        format!("{} {}", event.event, span(at(event.time.from), at(event.time.to), zone))
    };
    let mut named: Vec<String> = events.iter().take(NAMED).map(line).collect();
    if events.len() > NAMED {
        named.push(format!("{} more", events.len() - NAMED));
    }
    (!named.is_empty()).then(|| named.join("; "))
}

/// Converts slots to objects of our own.
fn slot_objects(found: &[slots::MeetingSlot], people: &[BusyPerson]) -> Vec<Value> {
    let names = short_names(people);
    let object = |slot: &slots::MeetingSlot| {
        let missing: Vec<String> = slot
            .missing
            .iter()
            .filter_map(|(at, why)| Some(format!("{} {}", names.get(*at)?, why.word())))
            .collect();
        let free = people.len().saturating_sub(missing.len()).into();
        let missing = if missing.is_empty() { Value::Null } else { missing.join(", ").into() };
        stretch(slot.time, &[("free", free), ("missing", missing)])
    };
    found.iter().map(object).collect()
}

/// Returns the parts of addresses before the @, if those are distinct.
fn short_names(people: &[BusyPerson]) -> Vec<&str> {
    let local = |address: &'_ str| address.split('@').next().unwrap_or_default().to_lowercase();
    let mut count: HashMap<String, usize> = HashMap::new();
    for person in people {
        *count.entry(local(&person.address)).or_default() += 1;
    }
    people
        .iter()
        .map(|person| match count.get(&local(&person.address)) {
            Some(1) => person.address.split('@').next().unwrap_or_default(),
            _ => person.address.as_str(),
        })
        .collect()
}

fn rows(
    table: &'static Table,
    objects: &[Value],
    zone: &TimeZone,
    notes: &mut Vec<Note>,
) -> RowTable {
    let context = RowContext { zone, ..RowContext::bare(Service::Local) };
    let columns = table.up_to(ColumnLevel::Core);
    rows_of(&context, table, &columns, objects, notes)
}

fn document(rows: RowTable) -> Document {
    Document { scalars: Vec::new(), tables: vec![rows] }
}
