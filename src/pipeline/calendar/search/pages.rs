//! One account's part of an agenda: pages of all its calendars at once, until there is enough.
//!
//! Services sort by start, but each has its own idea of when a whole day begins. So a calendar is
//! queried with some margin around the range, events outside the range are removed here, and the
//! point up to which a calendar is complete ([`GatheredEvents::reach`]) is set back by the same
//! margin.

use std::collections::HashSet;
use std::sync::Arc;

use daysheet_core::error::{Error, Result};
use daysheet_core::event::Event;
use daysheet_core::flatten::RowContext;
use daysheet_core::ids::{AccountId, EventId};
use daysheet_core::project::Projection;
use daysheet_core::provider::Account;
use daysheet_core::provider::calendar::{Calendars, EventListRequest, EventPage};
use daysheet_core::text::{Note, note, quoted};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::calendars::{KnownCalendar, names_by_id};
use super::matching::{self, EventQuery};
use super::position::{AccountPosition, EventPosition, mark};
use super::range::TimeRange;
use crate::pipeline::answer::cursor::IdDigest;

/// The maximum number of requests to one service for one page of ours.
const MAX_ROUNDS: usize = 12;
/// The number of events requested beyond a page: for those already shown, and copies.
const MORE: usize = 50;
/// The number requested if most of them are searched and not shown.
const MANY: usize = 500;
/// Zones are at most so far apart (UTC-12 to UTC+14).
const ZONES: SignedDuration = SignedDuration::from_hours(26);

/// The request, the same for every account.
pub(super) struct AgendaRequest<'a> {
    pub(super) range: TimeRange,
    pub(super) series: bool,
    pub(super) query: Option<&'a EventQuery>,
    pub(super) zone: &'a TimeZone,
    /// The events shown before.
    pub(super) seen: &'a HashSet<IdDigest>,
    /// The number of rows of a page.
    pub(super) limit: usize,
}

/// An event that becomes a row.
#[derive(Clone)]
pub(super) struct EventRow {
    pub(super) event: Event,
    pub(super) at: EventPosition,
    pub(super) mark: IdDigest,
    /// The position of its calendar among those queried.
    pub(super) calendar: usize,
    /// The rank among copies of the same event; the greatest is shown.
    pub(super) rank: (bool, bool),
}

/// The pages of one calendar that were read.
pub(super) struct CalendarPage {
    pub(super) calendar: KnownCalendar,
    /// The position at which its page begins.
    pub(super) at: EventPosition,
    next: Option<String>,
    open: bool,
    /// The start, in microseconds since 1970, before which all events are known.
    known: i64,
    /// The error if it could not be read.
    pub(super) error: Option<Error>,
}

/// The events of one account.
pub(super) struct GatheredEvents {
    account: AccountId,
    pub(super) sheets: Vec<CalendarPage>,
    pub(super) rows: Vec<EventRow>,
    /// The number of events that were searched for words.
    pub(super) looked: usize,
    /// The number of events without a time or an id.
    pub(super) odd: usize,
    /// The ids of recurring events that were returned as series.
    masters: HashSet<EventId>,
    pub(super) names: std::collections::HashMap<String, String>,
    pub(super) notes: Vec<Note>,
}

/// A search of the calendars of one account.
pub(super) struct AccountSearch<'a> {
    /// The calendars of the account.
    pub(super) port: &'a dyn Calendars,
    /// The position at which the page begins in each calendar.
    pub(super) place: &'a AccountPosition,
    /// The fields to request.
    pub(super) projection: Projection,
    /// The request, the same for every account.
    pub(super) request: &'a AgendaRequest<'a>,
    /// The context in which words are searched in events.
    pub(super) context: &'a RowContext<'a>,
}

/// Queries the calendars of one account from its position on.
pub(super) async fn fetch_pages(
    search: &AccountSearch<'_>,
    calendars: Vec<KnownCalendar>,
) -> Result<GatheredEvents> {
    let request = search.request;
    let mut gathered = GatheredEvents::empty(search.place, calendars);
    // All calendars are queried from the position of the one furthest behind.
    let from = gathered.sheets.iter().map(|sheet| sheet.at).min();
    let range = request.widened(from.unwrap_or(EventPosition::FIRST));
    for round in 1.. {
        let unread = gathered.unread_calendars(request);
        if unread.is_empty() {
            break;
        }
        let ask = search.next_pages(&gathered, &unread, range);
        let mut pages = search.port.events(&ask).await.into_iter();
        for at in unread {
            let page = pages.next().unwrap_or_else(|| {
                Err(Error::new(
                    daysheet_core::error::ErrorKind::Internal,
                    "a calendar was left without an answer",
                ))
            });
            gathered.add_page(at, page, search);
        }
        // The page may be short, but the next one continues after it.
        if round >= MAX_ROUNDS && gathered.moves() {
            break;
        }
        // Without progress, the next page would begin at the same position. Series never advance
        // it, because they are not sorted.
        if round >= MAX_ROUNDS && (request.series || round >= 10 * MAX_ROUNDS) {
            gathered.give_up();
            break;
        }
    }
    gathered.drop_exceptions();
    let read = |sheet: &&CalendarPage| sheet.error.is_none();
    // One unreadable calendar does not hide the events of the others.
    match gathered.sheets.iter().find_map(|sheet| sheet.error.clone()) {
        Some(error) if !gathered.sheets.iter().any(|sheet| read(&sheet)) => Err(error),
        _ => Ok(gathered),
    }
}

impl AccountSearch<'_> {
    /// Returns the request for the next page of each calendar in `unread`.
    fn next_pages(
        &self,
        gathered: &GatheredEvents,
        unread: &[usize],
        (from, to): (Timestamp, Timestamp),
    ) -> EventListRequest {
        let request = self.request;
        EventListRequest {
            calendars: unread
                .iter()
                .filter_map(|at| gathered.sheets.get(*at))
                .map(|sheet| (sheet.calendar.id.clone(), sheet.next.clone()))
                .collect(),
            from,
            to,
            series: request.series,
            projection: self.projection.clone(),
            limit: if request.query.is_some() || request.series {
                MANY
            } else {
                request.limit.saturating_add(MORE)
            },
        }
    }
}

impl AgendaRequest<'_> {
    /// Returns the range to query from a position on.
    fn widened(&self, from: EventPosition) -> (Timestamp, Timestamp) {
        let (first, to) = (self.range.from(), self.range.to());
        if self.series {
            // The service decides which series have an occurrence in the range.
            return (first, to);
        }
        let from = first.max(from.instant());
        (
            from.checked_sub(ZONES).unwrap_or(Timestamp::MIN),
            to.checked_add(ZONES).unwrap_or(Timestamp::MAX),
        )
    }
}

impl GatheredEvents {
    /// Creates the empty result of a search in these calendars.
    fn empty(place: &AccountPosition, calendars: Vec<KnownCalendar>) -> Self {
        Self {
            account: place.account.clone(),
            names: names_by_id(&calendars),
            sheets: calendars
                .into_iter()
                .map(|calendar| CalendarPage {
                    at: place.position_of(&calendar.id),
                    calendar,
                    next: None,
                    open: true,
                    known: i64::MIN,
                    error: None,
                })
                .collect(),
            rows: Vec::new(),
            looked: 0,
            odd: 0,
            masters: HashSet::new(),
            notes: Vec::new(),
        }
    }

    /// Removes the exceptions of series, which belong to their series.
    fn drop_exceptions(&mut self) {
        let Self { rows, masters, .. } = self;
        let in_series =
            |row: &EventRow| row.event.series.as_ref().is_some_and(|id| masters.contains(id));
        rows.retain(|row| !in_series(row));
    }

    /// Returns the start before which all calendars are complete. An event at or after this start
    /// may follow one that is not fetched yet.
    pub(super) fn reach(&self) -> i64 {
        let open = self.sheets.iter().filter(|sheet| sheet.open);
        open.map(|sheet| sheet.known).min().unwrap_or(i64::MAX)
    }

    /// Returns true if there are more events than those fetched.
    pub(super) fn is_open(&self) -> bool {
        self.sheets.iter().any(|sheet| sheet.open)
    }

    /// Returns true if the complete part ends after the beginning of the page.
    fn moves(&self) -> bool {
        let first = self.sheets.iter().map(|sheet| sheet.at.start()).min();
        Some(self.reach()) > first
    }

    /// Treats calendars whose pages do not end as complete, with a note.
    fn give_up(&mut self) {
        for sheet in &mut self.sheets {
            if std::mem::take(&mut sheet.open) {
                self.notes.push(note!(
                    "{} has more events than were searched: give a shorter range",
                    quoted(&sheet.calendar.name)
                ));
            }
        }
    }

    /// Returns the positions of the calendars that must be queried to complete a page.
    fn unread_calendars(&self, request: &AgendaRequest<'_>) -> Vec<usize> {
        let mut seen = HashSet::new();
        // Copies of an event in several calendars become one row.
        let mut starts: Vec<i64> = self
            .rows
            .iter()
            .filter(|row| seen.insert(row.mark))
            .map(|row| row.at.start())
            .collect();
        starts.sort_unstable();
        let last = request.limit.checked_sub(1).and_then(|at| starts.get(at));
        let last = last.copied().unwrap_or(i64::MAX);
        let open = self.sheets.iter().enumerate();
        open.filter(|(_, sheet)| sheet.open && sheet.known <= last).map(|(at, _)| at).collect()
    }

    /// Adds a page of a calendar, by the position of the calendar; or its error.
    fn add_page(&mut self, calendar: usize, page: Result<EventPage>, search: &AccountSearch<'_>) {
        let AccountSearch { request, context, .. } = search;
        let Some(sheet) = self.sheets.get_mut(calendar) else {
            return;
        };
        let page = match page {
            Ok(page) => page,
            Err(error) => {
                // All of it is fetched again, so that no event is shown twice.
                sheet.error = Some(error);
                sheet.open = false;
                self.rows.retain(|row| row.calendar != calendar);
                return;
            }
        };
        // A page that names itself as the next would be fetched without end.
        let next = page.next.filter(|next| Some(next) != sheet.next.as_ref());
        sheet.open = next.is_some();
        sheet.next = next;
        self.odd += page.unreadable;
        for event in page.events {
            let at = EventPosition::new(event.start, event.end, request.zone);
            if request.series && event.repeat.is_some() {
                self.masters.insert(event.id.clone());
            }
            // Series are not sorted, so they do not show up to which start a calendar is complete.
            if !request.series {
                let known = at.instant().checked_sub(ZONES).unwrap_or(Timestamp::MIN);
                sheet.known = sheet.known.max(known.as_microsecond());
            }
            let (start, end) = (at.instant(), event.end.instant(request.zone));
            let whole = request.series && event.repeat.is_some();
            if at < sheet.at || !(whole || request.range.has(start, end)) {
                continue;
            }
            let mark = mark(&event, &self.account);
            if request.seen.contains(&mark) {
                continue;
            }
            if let Some(query) = request.query {
                self.looked += 1;
                if !matching::matches_event(query, &event, context) {
                    continue;
                }
            }
            self.rows.push(EventRow {
                rank: (event.own, sheet.calendar.is_writable()),
                event,
                at,
                mark,
                calendar,
            });
        }
    }
}

/// One account of an agenda, with its events.
pub(super) struct AgendaPart {
    pub(super) account: Account,
    /// The label of the account in rows and notes.
    pub(super) label: String,
    pub(super) port: Arc<dyn Calendars>,
    pub(super) gathered: GatheredEvents,
}
