//! Events as an iCalendar document instead of rows.
//!
//! The events are fetched complete. A recurring event is written with its rule and its
//! exceptions, an occurrence with its `RECURRENCE-ID`.

use std::borrow::Cow;
use std::sync::Arc;

use daysheet_core::event::time;
use daysheet_core::event::{Event, EventGuest};
use daysheet_core::flatten;
use daysheet_core::ical::{self, CalendarDocument};
use daysheet_core::provider::Account;
use daysheet_core::provider::calendar::Calendars;
use daysheet_core::text::{Note, TextKind, is_invisible, note, quoted, shown};
use futures_util::future::join_all;
use jiff::Timestamp;
use jiff::tz::TimeZone;

/// The number of series completed concurrently.
const AT_ONCE: usize = 4;

/// Builds the document of completely fetched events, and adds notes on missing parts.
pub(super) async fn ics_document(
    whole: &FetchedEvents,
    zone: &TimeZone,
    notes: &mut Vec<Note>,
) -> String {
    let mut document = CalendarDocument {
        zone: zone.iana_name().map(str::to_owned),
        ..CalendarDocument::default()
    };
    let mut written = Timestamp::UNIX_EPOCH;
    for events in whole.events.chunks(AT_ONCE) {
        let groups = join_all(events.iter().map(|event| async {
            let (account, port) = whole.accounts.get(event.account)?;
            Some((account, family(&**port, &event.event).await))
        }));
        for (account, (family, note)) in groups.await.into_iter().flatten() {
            notes.extend(note);
            let mut cancelled = Vec::new();
            let first = document.entries.len();
            for event in family {
                written = written.max(event.updated.unwrap_or(written));
                if let (true, Some(_), Some(at)) = (event.cancelled, &event.series, event.original)
                {
                    cancelled.push(at);
                    continue;
                }
                document.entries.push(exported(event, zone, account));
            }
            // Deleted occurrences become exceptions of the rule.
            let master = document.entries.get_mut(first);
            if let Some(repeat) = master.and_then(|master| master.repeat.as_mut()) {
                cancelled.retain(|at| !repeat.except.contains(at));
                repeat.except.append(&mut cancelled);
            }
        }
    }
    let entries = &document.entries;
    let has_series =
        |uid: &Option<String>| entries.iter().any(|it| it.repeat.is_some() && it.uid == *uid);
    if entries.iter().any(|it| it.original.is_some() && !has_series(&it.uid)) {
        notes.push("occurrences are without the rule of their series: series=true adds it".into());
    }
    let texts = document.entries.iter_mut().flat_map(Event::texts_mut);
    let removed: usize = texts.map(clean).sum();
    if removed > 0 {
        notes.push(note!("{} invisible characters were removed", removed));
    }
    // The last change, not the current time: the same events give the same document.
    unfold_joiners(ical::write(&document, written))
}

/// Removes invisible characters; returns their number.
fn clean(text: &mut String) -> usize {
    let Cow::Owned(clean) = shown(text, TextKind::Lines) else {
        return 0;
    };
    let hidden = |text: &str| text.chars().filter(|c| is_invisible(*c)).count();
    let removed = hidden(text) - hidden(&clean);
    *text = clean;
    removed
}

/// Undoes folds next to joiners, which are kept only between the characters that they join.
fn unfold_joiners(mut text: String) -> String {
    const FOLD: &str = "\r\n ";
    for joiner in ['\u{200c}', '\u{200d}', '\u{fe0f}'] {
        if text.contains(joiner) {
            let whole = joiner.to_string();
            text = text.replace(&format!("{joiner}{FOLD}"), &whole);
            text = text.replace(&format!("{FOLD}{joiner}"), &whole);
        }
    }
    text
}

/// Returns a recurring event with its exceptions, or any other event alone; with a note if the
/// exceptions are unknown.
async fn family(port: &dyn Calendars, event: &Event) -> (Vec<Event>, Option<Note>) {
    let alone = vec![event.clone()];
    let (Some(_), Some(uid)) = (&event.repeat, &event.uid) else {
        return (alone, None);
    };
    let all = match port.by_uid(uid).await {
        Ok(all) => all,
        Err(error) => {
            let note =
                note!("{}: changed occurrences are unknown: {}", quoted(&event.title), error);
            return (alone, Some(note));
        }
    };
    let exceptions = all.into_iter().filter(|other| other.series.as_ref() == Some(&event.id));
    (alone.into_iter().chain(exceptions).collect(), None)
}

/// Returns an event as a document has it: with its UID, plain notes, and a zone, in which its rule
/// recurs.
fn exported(event: Event, zone: &TimeZone, account: &Account) -> Event {
    Event {
        // A zone that only the service knows has no rules to write.
        zone: event
            .zone
            .clone()
            .filter(|name| time::find_zone(name).is_some())
            .or_else(|| zone.iana_name().map(str::to_owned)),
        uid: event.uid.clone().or_else(|| Some(event.id.to_string())),
        original: event.series.as_ref().and(event.original),
        organizer: organizer(&event, account),
        notes: event.notes.clone().map(flatten::plain),
        // Services count versions differently, and a copy that is imported is not newer.
        sequence: None,
        ..event
    }
}

/// Returns the organizer of a meeting; `None` for an event without guests.
fn organizer(event: &Event, account: &Account) -> Option<EventGuest> {
    let organizer = event.organizer.as_ref().filter(|_| !event.guests.is_empty())?;
    let address = if organizer.address.is_empty() && organizer.me {
        account.email.clone()
    } else {
        organizer.address.clone()
    };
    let name = organizer.name.clone().filter(|_| !organizer.me);
    let me = organizer.me;
    (!address.is_empty()).then(|| EventGuest { address, name, me, ..EventGuest::default() })
}

/// A completely fetched event.
pub(super) struct FetchedEvent {
    pub(super) event: Event,
    /// The position of its account.
    pub(super) account: usize,
}

/// The events fetched by id.
pub(super) struct FetchedEvents {
    pub(super) accounts: Vec<(Account, Arc<dyn Calendars>)>,
    pub(super) events: Vec<FetchedEvent>,
    /// Notes on missing events, one line each.
    pub(super) notes: Vec<Note>,
}
