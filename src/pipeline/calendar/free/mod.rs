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
mod slots;

use std::collections::HashMap;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::choice::WordChoice;
use daysheet_core::encode::Document;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event_time::{EventTime, find_zone, zone_label};
use daysheet_core::flatten::RowContext;
use daysheet_core::provider::Account;
use daysheet_core::provider::calendar::{BusySchedule, WorkingHours};
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::schemas::{BUSY, ColumnLevel, SLOT, Service, Table};
use daysheet_core::text::{Note, NoteKey, note, ours};
use daysheet_core::time_parse::{self, TimeContext};
use futures_util::future::{join, join_all};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, ToSpan};
use serde_json::Value;

use self::hours::{DailyHours, TimeStretch, common, own};
use self::own::further_calendars;
use self::people::{BusyKind, BusyPerson, BusyTime, stretch};
use self::slots::{AbsenceReason, slots, stretches};
use super::search::range::{self, TimeRange};
use super::target::span;
use crate::pipeline::access::accounts::named_or_all;
use crate::pipeline::context::Context;
use crate::pipeline::rows::rows_of;
use crate::pipeline::times::requested_zone;
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

/// The schedule of a person as an account sees it.
type SeenSchedule = Result<(BusySchedule, Service)>;

pub(crate) async fn calendar_free(ctx: &Context, request: CalendarFree) -> Result<WholeAnswer> {
    request.check_people()?;
    let zone = requested_zone(ctx, request.tz.as_deref())?;
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
    let is_best = request.sort == SlotSort::Best;
    if is_best && length.is_none() {
        notes.push("sort=best is for slots: give `duration`".into());
    }
    let mut sort = None;
    let (mut document, count) = if is_busy_list {
        if request.limit.is_some() {
            notes.push("all busy times are shown: `limit` is for slots".into());
        }
        busy(&people, range, &zone, &mut notes)
    } else {
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
        let limit = request.limit.map(|limit| usize::try_from(limit).unwrap_or(usize::MAX));
        let (found, count) = match length {
            Some(length) => {
                let most = (length, limit.unwrap_or(SLOTS));
                let mut found = slots(&people, others, &open, &zone, most);
                if found.len() == most.1 {
                    notes.push(A_CHOICE.into());
                }
                if !is_best {
                    found.sort_by_key(|slot| slot.time.from);
                }
                sort = Some(request.sort.word());
                let order = if is_best { "best first" } else { "by time" };
                let count = format!("slots: {}, {order}", found.len());
                (found, count)
            }
            None => {
                let mut found = stretches(&people, others, &open);
                let all = found.len();
                found.truncate(limit.unwrap_or(all));
                let of_all = if found.len() < all { format!(" of {all}") } else { String::new() };
                sort = Some(SlotSort::Time.word());
                let count = format!("free: {}{of_all}, by time", found.len());
                (found, count)
            }
        };
        if found.is_empty() {
            notes.push(none_free(daily));
        }
        notes.extend(doubtful(&found, &people, &zone));
        let rows = rows(&SLOT, &slot_objects(&found, &people), &zone, &mut notes);
        (document(rows), format!("{count}, {hours}, {}", range.in_words(&zone)))
    };
    document.scalars.insert(0, ("zone", RowCell::Text(zone_label(&zone))));
    notes.insert(0, note!("{}", ours(count)));
    Ok(WholeAnswer { document, notes, sort, ..WholeAnswer::default() })
}

/// Returns the times of some addresses, in their order, with notes on unknown ones. Fails if all of
/// the first `request` are unknown.
async fn people_times(
    ctx: &Context,
    who: &[String],
    request: usize,
    accounts: &[Account],
    range: TimeRange,
) -> Result<(Vec<BusyPerson>, Vec<Note>)> {
    let mut seen = fetch_schedules(ctx, accounts, range, |account| {
        // An owner is first queried only through their own account; the others are a fallback.
        let other = |address: &&String| {
            !owned(address, accounts) || is_same_address(address, &account.email)
        };
        who.iter().filter(other).cloned().collect()
    })
    .await;
    // If a person's own account does not respond, the others may know.
    let silent: Vec<String> = who
        .iter()
        .filter(|address| {
            let mut all = seen.iter().flatten();
            owned(address, accounts)
                && !all.any(|(known, answer)| known == *address && answer.is_ok())
        })
        .cloned()
        .collect();
    if !silent.is_empty() && accounts.len() > 1 {
        let more = fetch_schedules(ctx, accounts, range, |account| {
            let other = |address: &&String| !is_same_address(address, &account.email);
            silent.iter().filter(other).cloned().collect()
        })
        .await;
        for (seen, more) in seen.iter_mut().zip(more) {
            seen.extend(more);
        }
    }

    let mut people = Vec::new();
    let mut unknown: Vec<(String, Vec<String>)> = Vec::new();
    let mut first = None;
    for address in who {
        let mut answers: Vec<(usize, SeenSchedule)> = Vec::new();
        for (at, seen) in seen.iter_mut().enumerate() {
            while let Some(place) = seen.iter().position(|(known, _)| known == address) {
                let (_, answer) = seen.swap_remove(place);
                answers.push((distance(accounts.get(at), address), answer));
            }
        }
        // The account closest to the person most likely knows their times.
        answers.sort_by_key(|(distance, _)| *distance);
        let mut why: Option<Error> = None;
        let mut found = None;
        for (_, answer) in answers {
            match answer {
                Ok((schedule, api)) => {
                    found = Some(BusyPerson::of(address, schedule, api));
                    break;
                }
                // Prefer the reason of a failed query to that of an unknown address.
                Err(error) => {
                    let better = why.as_ref().is_none_or(|old| {
                        old.kind() == ErrorKind::NotFound && error.kind() != ErrorKind::NotFound
                    });
                    if better {
                        why = Some(error);
                    }
                }
            }
        }
        if found.is_none() {
            let why =
                why.unwrap_or_else(|| Error::new(ErrorKind::NotFound, "no account can see it"));
            let reason = why.to_string();
            match unknown.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, those)) => those.push(address.clone()),
                None => unknown.push((reason, vec![address.clone()])),
            }
            first.get_or_insert(why);
        }
        people.push(found.unwrap_or_else(|| BusyPerson::unknown(address)));
    }
    // If none of the requested people is known, the owners' own times are no answer.
    if let (Some(error), true) = (first, people.iter().take(request).all(|one| one.busy.is_none()))
    {
        return Err(error.context("no free/busy times are known"));
    }
    let notes = unknown
        .into_iter()
        .map(|(why, those)| note!("free/busy of {}: {}", ours(those.join(", ")), ours(why)))
        .map(|note| note.with_key(NoteKey::Missing))
        .collect();
    Ok((people, notes))
}

/// Queries each account for the schedules of the addresses that `of` returns for it.
async fn fetch_schedules(
    ctx: &Context,
    accounts: &[Account],
    range: TimeRange,
    of: impl Fn(&Account) -> Vec<String>,
) -> Vec<Vec<(String, SeenSchedule)>> {
    let several = accounts.len() > 1;
    join_all(accounts.iter().map(|account| {
        let who = of(account);
        async move {
            if who.is_empty() {
                return Vec::new();
            }
            let request = async {
                let port = ctx.connect.calendars(account)?;
                let answers = port.busy(&who, range.from(), range.to()).await;
                Ok((port.api(), answers))
            };
            let answer = ctx.await_account(several, request).await;
            let failed = |error: &Error| {
                if several { error.clone().context(&account.email) } else { error.clone() }
            };
            match answer {
                Ok((api, answers)) => {
                    let answers = answers.into_iter().map(|answer| match answer {
                        Ok(schedule) => Ok((schedule, api)),
                        Err(error) => Err(error),
                    });
                    who.into_iter().zip(answers).collect()
                }
                Err(error) => {
                    who.into_iter().map(|address| (address, Err(failed(&error)))).collect()
                }
            }
        }
    }))
    .await
}

/// Resolves the people to query, each once: the named ones, with `me` for the accounts' owners;
/// only the owners without names.
fn account_names(names: &[String], accounts: &[Account]) -> Vec<String> {
    let own = || accounts.iter().map(|account| account.email.clone());
    let mut who: Vec<String> = Vec::new();
    let mut add = |address: String| {
        if !who.iter().any(|known| is_same_address(known, &address)) {
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

fn is_same_address(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// Returns true for the address of an account.
fn owned(address: &str, accounts: &[Account]) -> bool {
    accounts.iter().any(|account| is_same_address(&account.email, address))
}

/// Returns the distance of an account from a person: 0 for its owner, 1 for the same domain, else
/// 2.
fn distance(account: Option<&Account>, address: &str) -> usize {
    let domain = |address: &str| {
        let (_, domain) = address.rsplit_once('@')?;
        Some(domain.to_lowercase())
    };
    match account {
        Some(account) if is_same_address(&account.email, address) => 0,
        Some(account) if domain(&account.email) == domain(address) => 1,
        _ => 2,
    }
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
    let counts = |account: &&Account| who.iter().any(|one| is_same_address(one, &account.email));
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
