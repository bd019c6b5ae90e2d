//! Writing events: creating, importing, patching, replacing and deleting.
//!
//! The organizer changes an event for everyone. A guest may answer, invite others, and change their
//! own properties; all other changes are refused.

use daysheet_core::event::EventGuest;
use daysheet_core::event::time::{EventTime, ZonedTime};
use serde_json::{Map, Value};

use super::error::{self as refuse, bad_value};
use super::event::{EventView, etag, is_organizer};
use super::list::view;
use super::parts::BodyReading;
use super::read::{self, text};
use super::shape::EVENT;
use crate::google::params::RequestParameters;
use crate::http::{HttpRequest, HttpResponse};
use crate::store::calendars::{
    CalendarAccess, GuestAnswer, SandboxCalendars, StoredCalendar, StoredEvent, event_id, same,
};

/// The event that a request addresses.
struct EventTarget {
    /// The entry to write to.
    place: WriteTarget,
    /// The event as shown to clients.
    event: StoredEvent,
}

/// The entry that a change is written to.
#[derive(Debug, Clone, Copy)]
enum WriteTarget {
    /// An existing entry.
    Event(usize),
    /// An occurrence that does not differ from its series yet.
    Occurrence(usize, EventTime),
}

/// A request to write to one calendar.
pub(super) struct CalendarWrite<'a> {
    /// All calendars.
    pub agenda: &'a mut SandboxCalendars,
    /// The place of the calendar.
    pub at: usize,
    /// The calendar.
    pub calendar: StoredCalendar,
    /// The request.
    pub request: &'a HttpRequest,
    /// The request's parameters.
    pub params: &'a RequestParameters<'a>,
}

impl CalendarWrite<'_> {
    /// Creates an event.
    pub fn insert(&mut self) -> Result<Value, HttpResponse> {
        self.may_write()?;
        let tell = self.notifies_guests()?;
        let body = self.body()?;
        let id = match text(&body, "id")?.filter(|id| !id.is_empty()) {
            Some(id) if !is_id(&id) => return Err(refuse::invalid("Invalid resource id value.")),
            Some(id) => id,
            // The mark increases with every change, so the id is new.
            None => event_id(&format!("{} {}", self.calendar.id, self.agenda.mark)),
        };
        // Tombstones count as well: in Google, the id of a deleted event stays taken.
        if self.agenda.find(self.at, &id).is_some() {
            return Err(refuse::duplicate());
        }
        let uid = text(&body, "iCalUID")?.filter(|uid| !uid.is_empty());
        let uid = uid.unwrap_or_else(|| format!("{id}@google.com"));
        let base = self.blank(&id, &uid);
        let event = read::event(&body, &base, &self.reading(true, false)?)?;
        if event.deleted {
            return Err(bad_value("status"));
        }
        let place = self.agenda.insert(event, tell);
        self.event_json(place)
    }

    /// Imports an event or an exception. An event with the same UID is replaced. Guests are not
    /// notified.
    pub fn import(&mut self) -> Result<Value, HttpResponse> {
        self.may_write()?;
        let body = self.body()?;
        let uid = text(&body, "iCalUID")?.filter(|uid| !uid.is_empty());
        let uid = uid.ok_or_else(|| refuse::missing("Missing required field: iCalUID"))?;
        let copies = self.agenda.with_uid(&uid);
        let here: Vec<usize> =
            copies.filter(|(_, it)| it.calendar == self.at).map(|(place, _)| place).collect();
        let of = |agenda: &SandboxCalendars, original: Option<EventTime>| {
            let same = |place: &&usize| {
                let event = agenda.event(**place);
                event.is_some_and(|event| event.original() == original)
            };
            here.iter().find(same).copied()
        };
        let series = of(self.agenda, None);
        let original = match body.get("originalStartTime").filter(|it| !it.is_null()) {
            None => None,
            Some(time) => Some(self.original(time)?),
        };
        let mut base = self.blank(&event_id(&uid), &uid);
        let place = match (original, series) {
            (None, series) => series,
            (Some(original), Some(series)) => {
                let known = of(self.agenda, Some(original));
                known.or_else(|| self.agenda.exception(series, original))
            }
            // An exception can be imported only after its series.
            (Some(_), None) => return Err(refuse::not_found()),
        };
        if original.is_some() && place.is_none() {
            return Err(refuse::invalid("Invalid original start time."));
        }
        if let Some(known) = place.and_then(|place| self.agenda.event(place)) {
            base = known.clone();
        }
        let reading = self.reading(place.is_none(), true)?;
        let event = read::event(&body, &base, &reading)?;
        let place = match place {
            // Loaded rather than inserted, because an import does not reach the guests.
            None => self.agenda.load(event),
            Some(place) => {
                self.agenda.alter(place, |known| become_(known, event));
                place
            }
        };
        self.event_json(place)
    }

    /// Merges a patch into an event.
    pub fn patch(&mut self, id: &str) -> Result<Value, HttpResponse> {
        let patch = self.body()?;
        let target = self.target(id)?;
        self.fits(&target.event)?;
        let view = self.view();
        let Value::Object(mut body) = view.event(&target.event) else {
            return Err(refuse::not_found());
        };
        read::merge(&mut body, patch);
        self.apply(target, body)
    }

    /// Replaces an event.
    pub fn update(&mut self, id: &str) -> Result<Value, HttpResponse> {
        let body = self.body()?;
        let target = self.target(id)?;
        self.fits(&target.event)?;
        self.apply(target, body)
    }

    /// Deletes an event.
    pub fn delete(&mut self, id: &str) -> Result<(), HttpResponse> {
        self.may_write()?;
        let tell = self.notifies_guests()?;
        let target = self.target(id)?;
        self.fits(&target.event)?;
        if target.event.deleted {
            return Err(refuse::already_deleted());
        }
        self.remove(&target, tell);
        Ok(())
    }

    /// Writes the result of applying a body to an event.
    fn apply(
        &mut self,
        target: EventTarget,
        body: Map<String, Value>,
    ) -> Result<Value, HttpResponse> {
        self.may_write()?;
        let tell = self.notifies_guests()?;
        let old = &target.event;
        let mut reading = self.reading(false, false)?;
        let mine = is_organizer(old, &self.calendar);
        if !mine && !body.contains_key("conferenceData") {
            // A guest's body that does not mention the conference leaves it unchanged.
            reading.conference = false;
        }
        let new = read::event(&body, old, &reading)?;
        if old.deleted && new.deleted {
            return Err(refuse::not_found());
        }
        // Google deletes an event whose status is set to `cancelled`.
        if new.deleted {
            let view = self.view();
            let deleted = StoredEvent { deleted: true, ..old.clone() };
            let deleted = view.event(&deleted);
            self.remove(&target, tell);
            return Ok(deleted);
        }
        if !mine && shared_part(old) != shared_part(&new) {
            return Err(refuse::not_organizer());
        }
        let place = match target.place {
            WriteTarget::Event(place) => place,
            WriteTarget::Occurrence(series, original) => {
                self.agenda.exception(series, original).ok_or_else(refuse::not_found)?
            }
        };
        if mine {
            self.agenda.change(place, tell, |event| become_(event, new));
        } else {
            self.attend(place, &new, tell);
        }
        self.event_json(place)
    }

    /// Writes the changes that a guest may make.
    fn attend(&mut self, place: usize, new: &StoredEvent, tell: bool) {
        let owner = self.calendar.owner.clone();
        let Some(old) = self.agenda.event(place).cloned() else {
            return;
        };
        // Each person's own properties stay in their copy.
        self.agenda.change(place, false, |event| {
            event.reminder = new.reminder;
            event.colour = new.colour;
            event.show = new.show;
            event.visibility = new.visibility;
            event.private = new.private.clone();
        });
        let known = |guest: &&EventGuest| old.guest(&guest.address).is_none();
        let more: Vec<EventGuest> = new.guests.iter().filter(known).cloned().collect();
        if !more.is_empty() {
            self.agenda.ask_more(place, more, tell);
        }
        let own_answer = |event: &StoredEvent| {
            let reply = event.replies.iter().find(|it| same(&it.address, &owner));
            let comment = reply.and_then(|reply| reply.comment.clone());
            (event.guest(&owner).map(|guest| guest.answer), comment)
        };
        let (answer, comment) = own_answer(new);
        // A copy sent back unchanged is not a new answer.
        if own_answer(&old) != (answer, comment.clone())
            && let Some(answer) = answer
        {
            let reply =
                GuestAnswer { address: owner, at: self.agenda.now(), comment, proposed: None };
            self.agenda.answer(place, answer, Some(reply), true);
        }
    }

    fn remove(&mut self, target: &EventTarget, tell: bool) {
        // Deleting an invitation declines it, even if nobody is notified by mail.
        let tell = tell || !is_organizer(&target.event, &self.calendar);
        match target.place {
            WriteTarget::Event(place) => self.agenda.remove(place, tell),
            WriteTarget::Occurrence(series, original) => {
                self.agenda.remove_occurrence(series, original, tell);
            }
        }
    }

    /// Finds an event or occurrence, deleted ones included.
    fn target(&self, id: &str) -> Result<EventTarget, HttpResponse> {
        if let Some(place) = self.agenda.find(self.at, id) {
            let event = self.agenda.event(place).cloned();
            return Ok(EventTarget {
                place: WriteTarget::Event(place),
                event: event.ok_or_else(refuse::not_found)?,
            });
        }
        let (series, original) =
            self.agenda.series_of(self.at, id).ok_or_else(refuse::not_found)?;
        let found = self.agenda.occurrence(series, original);
        Ok(EventTarget {
            place: WriteTarget::Occurrence(series, original),
            event: found.ok_or_else(refuse::not_found)?.event.into_owned(),
        })
    }

    /// Returns an event without contents, owned by the calendar's owner.
    fn blank(&self, id: &str, uid: &str) -> StoredEvent {
        let never = ZonedTime::Day(jiff::civil::Date::ZERO);
        let span = (never.clone(), never);
        let mut event = StoredEvent::new(self.at, id, uid, span, self.agenda.now());
        event.organizer.address = self.calendar.owner.clone().into();
        event
    }

    fn reading(&self, new: bool, import: bool) -> Result<BodyReading<'_>, HttpResponse> {
        let version = match self.params.value("conferenceDataVersion") {
            None | Some("0") => false,
            Some("1") => true,
            Some(_) => return Err(bad_value("conferenceDataVersion")),
        };
        Ok(BodyReading {
            calendar: &self.calendar,
            conference: version,
            attachments: self.params.flag("supportsAttachments", "supportsAttachments")?,
            new,
            import,
            now: self.agenda.now(),
        })
    }

    /// Reads the original start of an occurrence.
    fn original(&self, time: &Value) -> Result<EventTime, HttpResponse> {
        let wrong = || refuse::invalid("Invalid original start time.");
        let part = |name: &str| time.get(name).and_then(Value::as_str);
        if let Some(day) = part("date") {
            let day = jiff::civil::Date::strptime("%Y-%m-%d", day);
            return day.map(EventTime::Day).map_err(|_| wrong());
        }
        let at = part("dateTime").and_then(read::rfc3339);
        at.map(EventTime::At).ok_or_else(wrong)
    }

    fn body(&self) -> Result<Map<String, Value>, HttpResponse> {
        read::object(&self.request.body, &EVENT)
    }

    fn view(&self) -> EventView<'_> {
        view(self.agenda, &self.calendar)
    }

    /// Returns an event after a write.
    fn event_json(&self, place: usize) -> Result<Value, HttpResponse> {
        let event = self.agenda.event(place).ok_or_else(refuse::not_found)?;
        Ok(self.view().event(event))
    }

    fn may_write(&self) -> Result<(), HttpResponse> {
        match self.calendar.access {
            CalendarAccess::Owner | CalendarAccess::Writer => Ok(()),
            CalendarAccess::Reader | CalendarAccess::Busy => Err(refuse::access("writer")),
        }
    }

    /// Checks `If-Match` against the event's etag.
    fn fits(&self, event: &StoredEvent) -> Result<(), HttpResponse> {
        let Some(if_match) = self.request.header("if-match") else {
            return Ok(());
        };
        let own = etag(event.mark);
        let mut tags = if_match.split(',').map(str::trim);
        if tags.any(|tag| tag == "*" || tag == own) { Ok(()) } else { Err(refuse::condition()) }
    }

    /// Returns true if guests are notified.
    fn notifies_guests(&self) -> Result<bool, HttpResponse> {
        match self.params.value("sendUpdates") {
            Some("all" | "externalOnly") => Ok(true),
            Some("none") => Ok(false),
            Some(_) => Err(bad_value("sendUpdates")),
            None => Ok(false),
        }
    }
}

/// Returns the properties that are the same for all participants.
fn shared_part(event: &StoredEvent) -> impl PartialEq + use<> {
    (
        event.title.clone(),
        event.notes.clone(),
        event.place.clone(),
        (event.start.clone(), event.end.clone()),
        event.repeat.clone(),
        event.link.clone(),
    )
}

/// Replaces an event's contents, and keeps its identity.
fn become_(event: &mut StoredEvent, new: StoredEvent) {
    *event = StoredEvent {
        id: std::mem::take(&mut event.id),
        uid: std::mem::take(&mut event.uid),
        calendar: event.calendar,
        instead_of: event.instead_of.take(),
        created: event.created,
        updated: event.updated,
        mark: event.mark,
        ..new
    };
}

/// Returns true for an id that a client may choose: base32hex in lower case.
fn is_id(id: &str) -> bool {
    (5..=1024).contains(&id.len())
        && id.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'v'))
}
