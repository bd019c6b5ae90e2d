//! Graph's JSON of an event. As for messages, only the selected properties are built.

use std::cell::OnceCell;

use daysheet_core::event::recurrence::graph;
use daysheet_core::event::time::{EventTime, ZonedTime};
use daysheet_core::event::{EventGuest, EventVisibility, InvitationAnswer, ShowAs};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::body::{TEAMS, html, plain};
use super::context::CalendarContext;
use super::shown::{EventKind, ShownEvent};
use crate::graph::pages;
use crate::graph::types::EVENT;
use crate::graph::zones::{graph_time, windows_name};
use crate::json::present;
use crate::store::calendars::StoredEvent;
use crate::store::calendars::share::CALLED_OFF;

/// Exchange's time for events that have not happened.
const NEVER: &str = "0001-01-01T00:00:00Z";

/// The maximum length of a preview, in characters.
const PREVIEW: usize = 255;

/// The source of an event's properties.
pub(super) struct EventSerializer<'a> {
    context: &'a CalendarContext<'a>,
    shown: &'a ShownEvent<'a>,
    event: &'a StoredEvent,
    /// The address of the calendar's owner.
    owner: &'a str,
    html: OnceCell<String>,
}

impl<'a> EventSerializer<'a> {
    /// Prepares the properties of an event.
    pub fn new(context: &'a CalendarContext<'_>, shown: &'a ShownEvent<'_>) -> Self {
        let event = &*shown.it.event;
        let calendar = context.agenda.calendar(event.calendar);
        Self {
            context,
            shown,
            event,
            owner: calendar.map_or(context.owner(), |calendar| &calendar.owner),
            html: OnceCell::new(),
        }
    }

    /// Returns a property; `None` if the event does not have it at all.
    pub fn property(&self, name: &str) -> Option<Value> {
        let (context, shown, event) = (self.context, self.shown, self.event);
        Some(match name {
            "id" => shown.id(context).into(),
            "createdDateTime" => precise(event.created).into(),
            "lastModifiedDateTime" => precise(event.updated).into(),
            "changeKey" => shown.change_key(context).into(),
            "categories" => event.categories.clone().into(),
            "originalStart" => {
                let original = event.original().filter(|_| shown.series.is_some())?;
                whole(original.instant(&TimeZone::UTC)).into()
            }
            "originalStartTimeZone" => self.own_zone(&event.start).into(),
            "originalEndTimeZone" => self.own_zone(&event.end).into(),
            "iCalUId" => self.uid().into(),
            // 15 minutes is Outlook's default.
            "reminderMinutesBeforeStart" => event.reminder.flatten().unwrap_or(15).into(),
            "isReminderOn" => (event.reminder != Some(None)).into(),
            "hasAttachments" | "isDraft" => false.into(),
            "subject" => {
                if called_off(event) {
                    format!("Canceled: {}", event.title).into()
                } else {
                    event.title.as_str().into()
                }
            }
            "bodyPreview" => {
                let text = plain(self.html());
                text.chars().take(PREVIEW).collect::<String>().into()
            }
            "importance" => self.stored_property(name, "normal".into()),
            "sensitivity" => self.sensitivity().into(),
            "isAllDay" => matches!(event.start, ZonedTime::Day(_)).into(),
            "isCancelled" => called_off(event).into(),
            "isOrganizer" => self.is_organizer().into(),
            "responseRequested" | "allowNewTimeProposals" => {
                self.stored_property(name, true.into())
            }
            // The id is the organizer's own; guests do not see it.
            "transactionId" => {
                if self.is_organizer() {
                    self.stored_property(name, Value::Null)
                } else {
                    Value::Null
                }
            }
            "seriesMasterId" => shown
                .series
                .map(|series| context.ids().event(series, None, context.base.prefer.immutable))
                .into(),
            "showAs" => show_as(event, self.owner).into(),
            "type" => shown.kind.name().into(),
            "webLink" => pages::event_link(&shown.id(context)).into(),
            "onlineMeetingUrl" => Value::Null,
            "isOnlineMeeting" => event.link.is_some().into(),
            "onlineMeetingProvider" => match &event.link {
                Some(link) if link.starts_with(TEAMS) => "teamsForBusiness".into(),
                _ => "unknown".into(),
            },
            "onlineMeeting" => match &event.link {
                Some(link) => json!({ "joinUrl": link }),
                None => Value::Null,
            },
            "responseStatus" => self.own_answer(),
            "body" => json!({ "contentType": "html", "content": self.html() }),
            "start" => self.time(&event.start, shown.it.from),
            "end" => self.time(&event.end, shown.it.to),
            "location" => json!({ "displayName": event.place }),
            "recurrence" => self.recurrence(),
            "attendees" => event.guests.iter().map(|it| self.attendee(it)).collect(),
            "organizer" => {
                // An event without an organizer belongs to the calendar's owner.
                let (name, address) = match event.organizer.address.as_str() {
                    "" => (self.context.name_of(self.owner), self.owner),
                    address => (self.display_name(&event.organizer), address),
                };
                json!({ "emailAddress": { "name": name, "address": address } })
            }
            "cancelledOccurrences" => self.cancelled(),
            _ => return None,
        })
    }

    /// Returns a stored property of the event.
    fn stored_property(&self, name: &str, default: Value) -> Value {
        self.event.more.get(name).cloned().unwrap_or(default)
    }

    fn is_organizer(&self) -> bool {
        is_organizer(self.event, self.owner)
    }

    /// Returns the Windows name of a time's zone. Days have their calendar's.
    fn own_zone(&self, moment: &ZonedTime) -> String {
        let calendar = || self.context.agenda.calendar(self.event.calendar);
        let zone = match moment {
            ZonedTime::At(_, zone) => Some(zone),
            ZonedTime::Day(_) => calendar().map(|calendar| &calendar.zone),
        };
        windows_name(zone.map_or("UTC", String::as_str)).to_owned()
    }

    /// Returns a time in the requested zone. Days are the same in every zone.
    fn time(&self, moment: &ZonedTime, at: Timestamp) -> Value {
        let zone = &self.context.zone;
        let local = match moment {
            ZonedTime::Day(day) => graph_time(day.at(0, 0, 0, 0)),
            ZonedTime::At(..) => zone.local(at),
        };
        json!({ "dateTime": local, "timeZone": zone.name })
    }

    /// Returns the UID. Exchange's own UIDs contain the day of an occurrence (MS-OXOCAL, 2.2.1.27);
    /// others are the same for all of a series.
    fn uid(&self) -> String {
        let uid = &self.event.uid;
        let original = self.event.original().filter(|_| self.shown.series.is_some());
        let (Some(original), true) = (original, is_global_id(uid)) else {
            return uid.clone();
        };
        let (Some(head), Some(tail)) = (uid.get(..32), uid.get(40..)) else {
            return uid.clone();
        };
        let zone = self.context.agenda.zone_of(self.event);
        let day = match original {
            EventTime::Day(day) => day,
            EventTime::At(at) => zone.to_datetime(at).date(),
        };
        format!("{head}{:04X}{:02X}{:02X}{tail}", day.year(), day.month(), day.day())
    }

    fn sensitivity(&self) -> &'static str {
        match self.event.visibility {
            EventVisibility::Default | EventVisibility::Public => {
                match self.event.more.get("sensitivity").and_then(Value::as_str) {
                    Some("personal") => "personal",
                    _ => "normal",
                }
            }
            EventVisibility::Private => "private",
            EventVisibility::Confidential => "confidential",
        }
    }

    /// Returns the answer of the calendar's owner.
    fn own_answer(&self) -> Value {
        match self.event.guest(self.owner) {
            _ if self.is_organizer() => json!({ "response": "organizer", "time": NEVER }),
            None => json!({ "response": "none", "time": NEVER }),
            // For a guest's own answer Exchange says `notResponded`, for that of others `none`.
            Some(me) => self.answer_of(me, "notResponded"),
        }
    }

    /// Returns a guest's answer, or `none` without one. The time is that of the last change if it
    /// is unknown.
    fn answer_of(&self, guest: &EventGuest, none: &str) -> Value {
        let Some(answer) = guest.answer else {
            return json!({ "response": none, "time": NEVER });
        };
        let mut replies = self.event.replies.iter();
        let reply = replies.find(|reply| guest.address.is(&reply.address));
        let at = reply.map_or(self.event.updated, |reply| reply.at);
        json!({ "response": answer_word(answer), "time": whole(at) })
    }

    fn attendee(&self, guest: &EventGuest) -> Value {
        let kind = match guest {
            EventGuest { room: true, .. } => "resource",
            EventGuest { optional: true, .. } => "optional",
            _ => "required",
        };
        let mut replies = self.event.replies.iter().filter(|it| guest.address.is(&it.address));
        let proposed = replies.find_map(|reply| reply.proposed.as_ref()).map(|(start, end)| {
            let zone = self.context.agenda.zone_of(self.event);
            let [start, end] = [start, end].map(|it| self.time(it, it.when().instant(&zone)));
            json!({ "start": start, "end": end })
        });
        present(json!({
            "type": kind,
            "status": self.answer_of(guest, "none"),
            "emailAddress": { "name": self.display_name(guest), "address": guest.address },
            "proposedNewTime": proposed,
        }))
    }

    fn display_name(&self, guest: &EventGuest) -> String {
        match &guest.name {
            Some(name) => name.clone(),
            None => self.context.name_of(guest.address.as_str()),
        }
    }

    fn recurrence(&self) -> Value {
        let Some(repeat) = &self.event.repeat else {
            return Value::Null;
        };
        let zone = self.own_zone(&self.event.start);
        // Graph cannot express every rule; a series from elsewhere may have no recurrence here.
        let Ok(recurrence) = graph::pattern(repeat, &self.event.start, &zone) else {
            return Value::Null;
        };
        let part = |name: &str, mut all: Value| {
            let given = recurrence.get(name).and_then(Value::as_object).cloned();
            if let (Some(all), Some(given)) = (all.as_object_mut(), given) {
                all.extend(given);
            }
            all
        };
        // Graph returns the unused members of a pattern too, with these values.
        let pattern = json!({
            "month": 0,
            "dayOfMonth": 0,
            "firstDayOfWeek": "sunday",
            "index": "first",
        });
        let range = json!({ "endDate": "0001-01-01", "numberOfOccurrences": 0 });
        json!({ "pattern": part("pattern", pattern), "range": part("range", range) })
    }

    /// Returns the occurrences that were deleted from a series, in Graph's format
    /// (`OID.ID.YYYY-MM-DD`).
    fn cancelled(&self) -> Value {
        let zone = self.context.agenda.zone_of(self.event);
        let id = self.shown.id(self.context);
        let left_out = self.event.repeat.iter().flat_map(|it| it.except.clone());
        let overrides = self.context.agenda.overrides(self.event.calendar, &self.event.id);
        let deleted =
            overrides.filter(|(_, event)| event.deleted).filter_map(|(_, event)| event.original());
        // An occurrence is deleted as an exception date or as a deleted exception.
        left_out
            .chain(deleted)
            .map(|original| match original {
                EventTime::Day(day) => format!("OID.{id}.{day}"),
                EventTime::At(at) => format!("OID.{id}.{}", zone.to_datetime(at).date()),
            })
            .collect()
    }

    fn html(&self) -> &str {
        self.html.get_or_init(|| html(&self.event.notes, self.event.link.as_deref()))
    }
}

/// Returns true for a UID in Exchange's format.
fn is_global_id(uid: &str) -> bool {
    uid.len() >= 80
        && uid.starts_with("040000008200E00074C5B7101A82E008")
        && uid.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns true if the calendar's owner is the organizer, or there is none.
pub(super) fn is_organizer(event: &StoredEvent, owner: &str) -> bool {
    let organizer = &event.organizer.address;
    organizer.is_empty() || organizer.is(owner)
}

/// Returns the status of an event in its owner's calendar. An invitation is tentative until it is
/// answered.
pub(super) fn show_as(event: &StoredEvent, owner: &str) -> &'static str {
    if called_off(event) {
        return "free";
    }
    let answer = event.guest(owner).map(|me| me.answer);
    match (event.show, answer) {
        (ShowAs::Busy, Some(None | Some(InvitationAnswer::Tentative)))
            if !is_organizer(event, owner) =>
        {
            "tentative"
        }
        // Outlook has no focus time.
        (ShowAs::Busy | ShowAs::Focus, _) => "busy",
        (ShowAs::Free, _) => "free",
        (ShowAs::Tentative, _) => "tentative",
        (ShowAs::Oof, _) => "oof",
        (ShowAs::Elsewhere, _) => "workingElsewhere",
    }
}

/// Returns Graph's word for an answer.
fn answer_word(answer: InvitationAnswer) -> &'static str {
    match answer {
        InvitationAnswer::Accepted => "accepted",
        InvitationAnswer::Declined => "declined",
        InvitationAnswer::Tentative => "tentativelyAccepted",
    }
}

/// Formats an instant to the second.
pub(super) fn whole(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// Formats an instant to 100 nanoseconds.
fn precise(at: Timestamp) -> String {
    let fraction = at.subsec_nanosecond().unsigned_abs() / 100;
    format!("{}.{fraction:07}Z", at.strftime("%Y-%m-%dT%H:%M:%S"))
}

impl ShownEvent<'_> {
    /// Returns the selected properties.
    pub fn json(&self, context: &CalendarContext<'_>) -> Map<String, Value> {
        let options = context.base.options;
        let selected = EVENT.names().filter(|name| match *name {
            // Only series have it, and only if it is selected by name.
            "cancelledOccurrences" => options.names(name) && self.kind == EventKind::Master,
            name => name == "id" || options.wants(name),
        });
        self.members(context, selected)
    }

    /// Returns the few properties that a delta has of a regular occurrence.
    pub fn sketch(&self, context: &CalendarContext<'_>) -> Map<String, Value> {
        self.members(context, ["seriesMasterId", "type", "id", "start", "end"].into_iter())
    }

    /// Returns the etag and some properties.
    fn members(
        &self,
        context: &CalendarContext<'_>,
        names: impl Iterator<Item = &'static str>,
    ) -> Map<String, Value> {
        let serializer = EventSerializer::new(context, self);
        let etag = ("@odata.etag", Some(self.etag(context).into()));
        let members = names.map(|name| (name, serializer.property(name)));
        let members = std::iter::once(etag).chain(members);
        members.filter_map(|(name, value)| Some((name.to_owned(), value?))).collect()
    }
}

/// Returns true for an event that its organizer cancelled: it stays in a guest's calendar until it
/// is removed there. A series does not stay.
pub(crate) fn called_off(event: &StoredEvent) -> bool {
    let flag = event.more.get(CALLED_OFF).and_then(Value::as_bool);
    event.deleted && event.repeat.is_none() && flag == Some(true)
}
