//! Events as an iCalendar document instead of rows.
//!
//! The events are fetched complete. A recurring event is written with its rule and its
//! exceptions, an occurrence with its `RECURRENCE-ID`.

use std::borrow::Cow;
use std::sync::Arc;

use daysheet_core::choice::WordChoice;
use daysheet_core::event::time::{self, EventTime, ZonedTime};
use daysheet_core::event::{Event, EventGuest, EventVisibility, ShowAs};
use daysheet_core::flatten::{self, RowContext, RowRoom};
use daysheet_core::ical::{self, CalendarDocument, IcalEvent};
use daysheet_core::provider::Account;
use daysheet_core::provider::calendar::Calendars;
use daysheet_core::schemas::EVENT;
use daysheet_core::text::{Note, TextKind, is_invisible, note, quoted, shown};
use daysheet_core::time_parse::ParsedTime;
use futures_util::future::join_all;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::Value;

use crate::pipeline::context::Context;

/// The number of series completed concurrently.
const AT_ONCE: usize = 4;

/// Builds the document of completely fetched events, and adds notes on missing parts.
pub(super) async fn ics_document(
    ctx: &Context,
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
            Some((account, port, family(&**port, &event.item).await))
        }));
        for (account, port, (items, note)) in groups.await.into_iter().flatten() {
            notes.extend(note);
            let context = RowContext {
                zone,
                room: RowRoom::One,
                ..ctx.context_for(port.api(), account.email.as_str(), account)
            };
            let mut cancelled = Vec::new();
            let first = document.entries.len();
            for item in items {
                let Some(facts) = port.event_data(&item) else {
                    continue;
                };
                let updated = EVENT.field("updated");
                let updated = updated.and_then(|it| flatten::instant(it, &item, &context));
                written = written.max(updated.unwrap_or(written));
                if let (true, Some(_), Some(at)) = (facts.cancelled, &facts.series, facts.original)
                {
                    cancelled.push(at);
                    continue;
                }
                document.entries.push(entry(&item, &facts, &context, account));
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
    let has_series = |uid: &str| entries.iter().any(|it| it.repeat.is_some() && it.uid == uid);
    if entries.iter().any(|it| it.recurrence_id.is_some() && !has_series(&it.uid)) {
        notes.push("occurrences are without the rule of their series: series=true adds it".into());
    }
    let texts = document.entries.iter_mut().flat_map(IcalEvent::texts_mut);
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
async fn family(port: &dyn Calendars, item: &Value) -> (Vec<Value>, Option<Note>) {
    let alone = vec![item.clone()];
    let Some(facts) = port.event_data(item) else {
        return (alone, None);
    };
    let (Some(_), Some(uid)) = (&facts.repeat, &facts.uid) else {
        return (alone, None);
    };
    let all = match port.by_uid(uid).await {
        Ok(all) => all,
        Err(error) => {
            let note =
                note!("{}: changed occurrences are unknown: {}", quoted(&facts.title), error);
            return (alone, Some(note));
        }
    };
    let exceptions = all.into_iter().filter(|other| {
        let other = port.event_data(other);
        other.is_some_and(|other| other.series.as_ref() == Some(&facts.id))
    });
    (alone.into_iter().chain(exceptions).collect(), None)
}

/// Converts one event to an iCalendar entry.
fn entry(item: &Value, facts: &Event, context: &RowContext, account: &Account) -> IcalEvent {
    let column = |name: &str| -> Vec<String> {
        let field = EVENT.field(name);
        let texts = field.map(|field| flatten::texts(field, item, context));
        texts.unwrap_or_default()
    };
    let word = |name: &str| column(name).into_iter().next().unwrap_or_default();
    // The event's own zone, in which its rule recurs.
    let zone =
        facts.zone.as_deref().and_then(time::find_zone).unwrap_or_else(|| context.zone.clone());
    let moment = |time: EventTime| match time {
        EventTime::Day(day) => ZonedTime::Day(day),
        EventTime::At(at) => ParsedTime::At(zone.to_datetime(at), at).moment(&zone),
    };
    let uid = facts.uid.as_deref().unwrap_or(facts.id.as_str());
    IcalEvent {
        recurrence_id: facts.series.as_ref().and(facts.original),
        repeat: facts.repeat.clone(),
        title: facts.title.clone(),
        place: facts.place.clone(),
        notes: flatten::plain(facts.notes.clone().unwrap_or_default()),
        organizer: organizer(facts, &word("organizer"), word("organizer_address"), account),
        guests: facts.guests.clone(),
        show: ShowAs::from_word(&word("show")).unwrap_or(ShowAs::Busy),
        visibility: EventVisibility::from_word(&word("visibility"))
            .unwrap_or(EventVisibility::Default),
        reminder: word("reminder").parse().ok(),
        categories: column("category"),
        link: facts.link.clone(),
        cancelled: facts.cancelled,
        ..IcalEvent::new(uid, moment(facts.start), moment(facts.end))
    }
}

/// Returns the organizer of a meeting; `None` for an event without guests.
fn organizer(facts: &Event, name: &str, address: String, account: &Account) -> Option<EventGuest> {
    if facts.guests.is_empty() {
        return None;
    }
    let own = name == "me";
    let address = if address.is_empty() && own { account.email.clone() } else { address.into() };
    let known = !own && !name.is_empty() && address != name;
    (!address.is_empty()).then(|| EventGuest {
        address,
        name: known.then(|| name.to_owned()),
        me: own,
        ..EventGuest::default()
    })
}

/// A completely fetched event.
pub(super) struct FetchedEvent {
    pub(super) item: Value,
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
