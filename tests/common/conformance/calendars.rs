//! The promises of all calendars.

use daysheet_core::event::time::{EventTime, ZonedTime};
use daysheet_core::event::{Event, EventPatch, ShowAs};
use daysheet_core::ids::{CalendarId, EventId};
use daysheet_core::provider::calendar::{CalendarOp, Calendars, EventListRequest, GuestNotice};
use daysheet_core::schemas::{CALENDAR, EVENT};

use super::*;

/// Known contents of calendars.
pub struct KnownCalendar {
    /// A range, the number of events that the main calendar has in it, and the number of
    /// occurrences of series among them.
    pub range: (&'static str, &'static str),
    pub events: usize,
    pub occurrences: usize,
    /// A well-formed id of an event that does not exist.
    pub unknown: &'static str,
    /// Promises known to be broken, each with the reason.
    pub except: &'static [(&'static str, &'static str)],
}

/// Tries the promises of calendars; returns their names.
pub async fn calendars(calendars: &dyn Calendars, known: &KnownCalendar) -> Vec<&'static str> {
    let mut suite = Suite::default();
    let main = list(calendars, &mut suite).await;
    let events = events(calendars, &main, known, &mut suite).await;
    single(calendars, &events, known, &mut suite).await;
    changes(calendars, &mut suite).await;
    rehearsals(calendars, &main.as_str().into(), &events, &mut suite).await;
    let after = suite.answer("events_are_listed", all_of(calendars, &main, known, 50).await);
    suite.holds("rehearsals_write_nothing", after == events, after.len());
    suite.end(known.except)
}

/// Tries the list of calendars; returns the main one's id.
async fn list(calendars: &dyn Calendars, suite: &mut Suite) -> String {
    let api = calendars.api();
    let found = suite.answer("calendars_are_listed", calendars.calendars().await);
    let (rows, report) = rows(api, &CALENDAR, &all(&CALENDAR), &found, &HashMap::new());
    suite.holds("calendars_are_of_their_type", report.odd.is_empty(), &report.odd);
    let ids = ids(api, &CALENDAR, &found);
    let distinct = ids.iter().collect::<BTreeSet<_>>().len() == ids.len();
    suite.holds("calendars_have_their_key", distinct && !ids.contains(&String::new()), &ids);
    let main: Vec<_> =
        (0..ids.len()).filter(|at| rows.cell(*at, "main") == Some(&RowCell::Flag(true))).collect();
    suite.holds("one_calendar_is_the_main_one_and_first", main == [0], &main);
    let rooms = calendars.rooms().await;
    let advised = rooms.as_ref().err().is_none_or(|error| error.next_step().is_some());
    suite.holds("rooms_are_listed_or_refused", advised, rooms);
    suite.holds("the_service_has_a_name", !calendars.capabilities().name.is_empty(), ());
    ids.into_iter().next().unwrap_or_default()
}

fn ask(calendars: &dyn Calendars, of: &[&str], known: &KnownCalendar) -> EventListRequest {
    EventListRequest {
        calendars: of.iter().map(|id| ((*id).into(), None)).collect(),
        from: known.range.0.parse().unwrap(),
        to: known.range.1.parse().unwrap(),
        series: false,
        projection: project(calendars.api(), &all(&EVENT)),
        limit: 50,
    }
}

/// Returns all pages of a calendar joined.
async fn all_of(
    calendars: &dyn Calendars,
    main: &str,
    known: &KnownCalendar,
    limit: usize,
) -> Result<Vec<Event>> {
    let mut ask = EventListRequest { limit, ..ask(calendars, &[main], known) };
    let mut events = Vec::new();
    for _ in 0..PAGES {
        let page = calendars.events(&ask).await.remove(0)?;
        events.extend(page.events);
        match page.next {
            Some(next) => ask.calendars[0].1 = Some(next),
            None => return Ok(events),
        }
    }
    panic!("a list has no end");
}

/// Tries the events of a range.
async fn events(
    calendars: &dyn Calendars,
    main: &str,
    known: &KnownCalendar,
    suite: &mut Suite,
) -> Vec<Event> {
    let api = calendars.api();
    let found = suite.answer("events_are_listed", all_of(calendars, main, known, 50).await);
    suite.holds("events_are_all_there", found.len() == known.events, found.len());
    let joined = suite.answer("events_are_listed", all_of(calendars, main, known, 2).await);
    suite.holds("pages_of_events_join", joined == found, joined.len());
    let (_, report) = rows(api, &EVENT, &all(&EVENT), &found, &HashMap::new());
    suite.holds("events_are_of_their_type", report.odd.is_empty(), &report.odd);
    let request = ask(calendars, &[main], known);
    let utc = |when: EventTime| when.instant(&TimeZone::UTC);
    let inside = found.iter().all(|one| utc(one.end) > request.from && utc(one.start) < request.to);
    suite.holds("events_are_within_the_range", inside, &request);
    let starts: Vec<_> = found.iter().map(|one| utc(one.start)).collect();
    suite.holds("events_come_in_order_of_start", starts.is_sorted(), &starts);
    let occurrences = found.iter().filter(|one| one.series.is_some()).count();
    suite.holds("occurrences_name_their_series", occurrences == known.occurrences, occurrences);

    let series = EventListRequest { series: true, ..request.clone() };
    let page = suite.answer("series_are_listed", calendars.events(&series).await.remove(0));
    let masters = page.events.iter().filter(|one| one.repeat.is_some()).count();
    suite.holds("a_series_is_listed_once", masters == usize::from(known.occurrences > 0), masters);

    let both = ask(calendars, &[main, NOBODY, main], known);
    let answers = calendars.events(&both).await;
    let answered: Vec<_> = answers.iter().map(Result::is_ok).collect();
    suite.holds("there_is_an_answer_for_each_calendar", answered == [true, false, true], &answered);

    // Columns read the same if they are fetched alone.
    let columns = all(&EVENT);
    let (full, _) = rows(api, &EVENT, &columns, &found, &HashMap::new());
    for field in columns {
        let projection = project(api, &[&EVENT.fields[0], field]);
        let request = EventListRequest { projection, ..request.clone() };
        let page = suite.answer("events_are_listed", calendars.events(&request).await.remove(0));
        let (alone, _) = rows(api, &EVENT, &[field], &page.events, &HashMap::new());
        let alone: Vec<_> = alone.rows().map(|row| &row[0]).collect();
        let beside: Vec<_> = (0..found.len()).filter_map(|at| full.cell(at, field.name)).collect();
        suite.holds("what_is_asked_for_is_enough", alone == beside, (field.name, &alone, &beside));
    }
    found
}

/// Tries events by id and by UID.
async fn single(
    calendars: &dyn Calendars,
    events: &[Event],
    known: &KnownCalendar,
    suite: &mut Suite,
) {
    let mut ids: Vec<EventId> = events.iter().rev().map(|one| one.id.clone()).collect();
    ids.insert(1, known.unknown.into());
    let read = calendars.event(&ids).await;
    suite.holds("there_is_an_answer_for_each_id", read.len() == ids.len(), read.len());
    for (id, one) in ids.iter().zip(read) {
        if *id == known.unknown {
            let kind = one.as_ref().err().map(Error::kind);
            suite.holds("what_is_not_there_is_not_found", kind == Some(ErrorKind::NotFound), one);
            continue;
        }
        let now = suite.answer("events_are_read", one.map(Some));
        let listed = events.iter().find(|one| one.id == *id);
        let same = now.as_ref().zip(listed).is_some_and(|(now, listed)| {
            (&now.id, &now.title, now.start, now.end)
                == (&listed.id, &listed.title, listed.start, listed.end)
        });
        suite.holds("an_event_is_read_as_it_is_listed", same, (&now, listed));
        suite.holds("its_own_ids_are_accepted", calendars.check_id(id.as_str()).is_ok(), id);
    }
    if let Some((uid, id)) = events.iter().find_map(|one| Some((one.uid.clone()?, one.id.clone())))
    {
        let found = suite.answer("events_are_found_by_uid", calendars.by_uid(&uid).await);
        let is_found = found.iter().any(|one| one.id == id);
        suite.holds("events_are_found_by_uid", is_found, found);
    }
    if let Some((series, id)) =
        events.iter().find_map(|one| Some((one.series.clone()?, one.id.clone())))
    {
        let (from, to) = (known.range.0.parse().unwrap(), known.range.1.parse().unwrap());
        let projection = project(calendars.api(), &all(&EVENT));
        let found = calendars.instances(&series, from, to, &projection).await;
        let read = suite.answer("occurrences_are_listed", found);
        suite.holds("occurrences_are_listed", read.iter().any(|one| one.id == id), &read);
        let alone = read.iter().all(|one| one.series.as_ref() == Some(&series));
        suite.holds("occurrences_are_of_their_series", alone, &read);
        suite.holds(
            "occurrences_are_in_order",
            read.is_sorted_by_key(|one| one.start.instant(&jiff::tz::TimeZone::UTC)),
            &read,
        );
    }
    for odd in [Value::Null, json!([]), json!({"id": 7}), json!({"id": "a", "start": 1})] {
        suite.holds("odd_objects_are_no_events", calendars.read_event(odd.clone()).is_none(), odd);
    }
    for id in RUBBISH {
        suite.refused("no_id_is_refused", calendars.check_id(id));
    }
    let who = ["me@example.com", "nobody@example.invalid"].map(str::to_owned);
    let (from, to) = (known.range.0.parse().unwrap(), known.range.1.parse().unwrap());
    let busy = calendars.busy(&who, from, to).await;
    let order =
        busy.iter().zip(&who).all(|(one, who)| one.as_ref().map_or(true, |one| one.who == *who));
    suite.holds("busy_times_are_told_in_order", busy.len() == 2 && order, busy);
}

async fn changes(calendars: &dyn Calendars, suite: &mut Suite) {
    let projection = project(calendars.api(), &all(&EVENT));
    let start = suite.answer("changes_begin", calendars.changes(None, &projection).await);
    suite.holds("changes_begin_with_a_cursor_alone", is_quiet(&start), &start);
    let next = calendars.changes(Some(&start.cursor), &projection).await;
    let next = suite.answer("nothing_changes_by_itself", next);
    suite.holds("nothing_changes_by_itself", is_quiet(&next) && !next.started_over, &next);
}

/// Checks that validations and rehearsals are answered and write nothing.
async fn rehearsals(
    calendars: &dyn Calendars,
    main: &CalendarId,
    events: &[Event],
    suite: &mut Suite,
) {
    let day = |day: i8| ZonedTime::Day(jiff::civil::date(2031, 2, day));
    let event = EventPatch {
        title: Some("Rehearsed".to_owned()),
        time: Some((day(5), day(6))),
        ..EventPatch::default()
    };
    let name = "rehearsals_are_answered";
    suite.answer(name, calendars.check(None, &event, GuestNotice::All));
    suite.answer(name, calendars.rehearse(Some(main), None, &event, GuestNotice::All).await);
    if let Some(current) = events.iter().find(|event| event.own && event.series.is_none()) {
        let change = EventPatch { title: event.title.clone(), ..EventPatch::default() };
        suite
            .answer(name, calendars.rehearse(None, Some(current), &change, GuestNotice::All).await);
    }
    let before = calendars.calendars().await.unwrap_or_default();
    let op = CalendarOp::Create { name: "Rehearsed".to_owned(), zone: None };
    suite.answer(name, calendars.rehearse_op(&op).await);
    let after = calendars.calendars().await.unwrap_or_default();
    suite.holds("rehearsals_write_nothing", after == before, after.len());
    let can = calendars.capabilities();
    if let Some(most) = can.max_reminder {
        let early = EventPatch { reminder: Some(Some(most + 1)), ..event.clone() };
        suite.refused(
            "early_reminders_are_refused",
            calendars.check(None, &early, GuestNotice::All),
        );
    }
    if !can.event_kinds {
        let focus = EventPatch { show: Some(ShowAs::Focus), ..event };
        suite.refused("focus_time_is_refused", calendars.check(None, &focus, GuestNotice::All));
        let rehearsed = calendars.rehearse(Some(main), None, &focus, GuestNotice::All).await;
        suite.refused("focus_time_is_refused", rehearsed);
    }
}
