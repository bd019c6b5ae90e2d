//! Calendars in memory, which record their calls and fail on request. They can imitate an awkward
//! service: whole days begin in a time zone of the service's own, and pages are short.
//!
//! Objects have Google's shape, or Graph's in so far as rows need it.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event_time::{self, EventTime, ZonedTime};
use daysheet_core::project::Projection;
use daysheet_core::provider::CalendarCapabilities;
use daysheet_core::provider::calendar::{
    BusySchedule, CalendarOp, Calendars, ChangeFeed, EventChange, EventData, EventGuest,
    EventListRequest, GuestNotice, InvitationAnswer, InvitationReply, ShowAs, WorkingHours,
};
use daysheet_core::provider::ids::{CalendarId, EventId};
use daysheet_core::provider::{ListPage, ListRequest, Mailbox, MessageContent};
use daysheet_core::recurrence::EventRecurrence;
use daysheet_core::schemas::Service;
use daysheet_providers::{google, microsoft};
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};

use super::fake_mailbox::{FakeMailbox, Script};
use super::harness::{Fake, Harness};

/// An event for [`FakeCalendars::add`], in UTC.
pub struct Entry {
    facts: EventData,
    organizer: Option<String>,
    category: Option<String>,
    /// Guests, and their answers in Graph's words.
    invited: Vec<(String, String)>,
}

impl Entry {
    /// Returns an event of so many minutes.
    pub fn at(start: &str, minutes: i64, title: &str) -> Self {
        let start: DateTime = start.parse().unwrap();
        let end = start.checked_add(minutes.minutes()).unwrap();
        let utc = |local: DateTime| local.to_zoned(TimeZone::UTC).unwrap().timestamp();
        Self::new(title, EventTime::At(utc(start)), EventTime::At(utc(end)))
    }

    /// Returns an event of so many whole days.
    pub fn day(first: &str, days: i64, title: &str) -> Self {
        let first: Date = first.parse().unwrap();
        Self::new(
            title,
            EventTime::Day(first),
            EventTime::Day(first.checked_add(days.days()).unwrap()),
        )
    }

    fn new(title: &str, start: EventTime, end: EventTime) -> Self {
        let zone = Some("UTC".to_owned());
        let facts = EventData { uid: None, zone, ..event_data("", title, start, end) };
        Self { facts, organizer: None, category: None, invited: Vec::new() }
    }

    fn with(mut self, change: impl FnOnce(&mut EventData)) -> Self {
        change(&mut self.facts);
        self
    }

    pub fn uid(self, uid: &str) -> Self {
        self.with(|facts| facts.uid = Some(uid.to_owned()))
    }

    pub fn series(self, id: &str) -> Self {
        self.with(|facts| facts.series = Some(id.into()))
    }

    /// Makes the event the exception to the occurrence at that start.
    pub fn instead_of(self, original: &str) -> Self {
        self.with(|facts| facts.original = event_time::local(original, "UTC").map(EventTime::At))
    }

    pub fn place(self, place: &str) -> Self {
        self.with(|facts| facts.place = place.to_owned())
    }

    pub fn notes(self, notes: &str) -> Self {
        self.with(|facts| facts.notes = Some(notes.to_owned()))
    }

    pub fn repeats(self, rule: &str) -> Self {
        self.with(|facts| facts.repeat = Some(repeat(rule)))
    }

    pub fn category(self, category: &str) -> Self {
        Self { category: Some(category.to_owned()), ..self }
    }

    pub fn called_by(self, address: &str) -> Self {
        let called = Self { organizer: Some(address.to_owned()), ..self };
        called.with(|facts| facts.own = false)
    }

    pub fn ask(mut self, address: &str, answer: &str) -> Self {
        self.invited.push((address.to_owned(), answer.to_owned()));
        self
    }

    /// Returns the members of the service's object that are not in the facts.
    fn extra(&self, api: Service) -> Value {
        let (facts, invited) = (&self.facts, self.invited.iter());
        if api != Service::Microsoft {
            let guests: Vec<_> = invited
                .map(|(address, answer)| json!({"email": address, "responseStatus": answer}))
                .collect();
            return json!({"description": facts.notes, "iCalUID": facts.uid, "attendees": guests,
                          "organizer": {"self": facts.own, "email": self.organizer}});
        }
        let guests: Vec<_> = invited
            .map(|(address, answer)| {
                json!({"emailAddress": {"name": address, "address": address},
                       "status": {"response": answer}, "type": "required"})
            })
            .collect();
        let mut extra = json!({"attendees": guests, "iCalUId": facts.uid,
                               "bodyPreview": facts.notes, "categories": self.category.as_slice()});
        if !facts.place.is_empty() {
            extra["location"] = json!({"displayName": facts.place});
        }
        if let Some(repeat) = &facts.repeat {
            extra["recurrenceRule"] = repeat.rule.clone().into();
        }
        if let Some(address) = &self.organizer {
            extra["organizer"] = json!({"emailAddress": {"name": "Somebody", "address": address}});
        }
        extra
    }
}

/// Delays and failures of reads.
#[derive(Debug, Clone, Default)]
pub struct Trouble {
    pub delay: Duration,
    pub failure: Option<Error>,
    /// Failures of single calendars.
    pub calendars: Vec<(String, Error)>,
}

/// A person's free/busy times and working hours, as the service reports them.
#[derive(Debug, Clone, Default)]
pub struct Known {
    pub busy: Vec<(String, String, String)>,
    pub hours: Option<WorkingHours>,
}

/// The calendars of one account.
pub struct FakeCalendars {
    pub name: &'static str,
    api: Service,
    /// True if the test adds the occurrences of series itself.
    by_hand: bool,
    /// Id, name and access in the service's words. The first is the main calendar.
    calendars: Mutex<Vec<(CalendarId, String, &'static str)>>,
    events: Mutex<BTreeMap<EventId, EventData>>,
    /// Every version of each event, for callers that hold an old object.
    versions: Mutex<HashMap<String, EventData>>,
    extras: Mutex<HashMap<String, Value>>,
    count: Mutex<u32>,
    /// The writes, in order.
    log: Mutex<Vec<String>>,
    /// The reads requested, in order.
    reads: Mutex<Vec<String>>,
    /// The errors of the next writes; with `true`, the write fails after it was carried out.
    failures: Mutex<VecDeque<Option<(Error, bool)>>>,
    /// The error of every read of an event.
    pub blind: Mutex<Option<Error>>,
    pub trouble: Mutex<Trouble>,
    /// Events per page.
    pub page: Mutex<usize>,
    /// The time zone in which whole days begin for the service.
    pub zone: Mutex<TimeZone>,
    /// Free/busy times by address.
    pub people: Mutex<Vec<(String, Result<Known>)>>,
    pub rooms: Mutex<Vec<Value>>,
    /// The mailbox of the same account.
    pub mailbox: Arc<FakeMailbox>,
}

impl FakeCalendars {
    pub fn new(name: &'static str, api: Service) -> Self {
        let calendar = |id: &str, name: &str, access| (id.into(), name.to_owned(), access);
        Self {
            name,
            api,
            by_hand: false,
            calendars: Mutex::new(vec![
                calendar("main", name, "owner"),
                calendar("work", "Work", "writer"),
                calendar("team", "Team", "reader"),
            ]),
            events: Mutex::default(),
            versions: Mutex::default(),
            extras: Mutex::default(),
            count: Mutex::default(),
            log: Mutex::default(),
            reads: Mutex::default(),
            failures: Mutex::default(),
            blind: Mutex::default(),
            trouble: Mutex::default(),
            page: Mutex::new(usize::MAX),
            zone: Mutex::new(TimeZone::UTC),
            people: Mutex::default(),
            rooms: Mutex::default(),
            mailbox: mailbox(name, api),
        }
    }

    /// Returns an account without calendars, for [`calendar`](Self::calendar) and
    /// [`add`](Self::add).
    pub fn empty(name: &'static str, api: Service) -> Self {
        Self { by_hand: true, calendars: Mutex::default(), ..Self::new(name, api) }
    }

    /// Adds a calendar; the first is the main one.
    pub fn calendar(self, name: &str, access: &'static str) -> Self {
        self.list(&format!("{}-{name}", self.name), name, access);
        self
    }

    /// Adds an event to the calendar of that name; returns its id.
    pub fn add(&self, calendar: &str, entry: Entry) -> String {
        let calendar = format!("{}-{calendar}", self.name);
        let id = format!("{calendar}/{:04}", self.events.lock().unwrap().len());
        self.extra(&id, entry.extra(self.api));
        let own = format!("{}@example.com", self.name);
        let guests = entry.invited.iter().map(|(address, answer)| EventGuest {
            name: Some(address.clone()),
            me: *address == own,
            ..guest(address, if answer == "accepted" { '+' } else { ' ' })
        });
        let guests = guests.collect();
        let open = |(address, answer): &(String, String)| *address == own && answer == "none";
        let unanswered = !entry.facts.own && entry.invited.iter().any(open);
        let calendar = Some(calendar.into());
        self.set(EventData { id: id.as_str().into(), calendar, guests, unanswered, ..entry.facts });
        id
    }

    /// Returns how often calendars and events were requested.
    pub fn call_counts(&self) -> (usize, usize) {
        let reads = self.reads.lock().unwrap();
        let count = |what: &str| reads.iter().filter(|line| line.starts_with(what)).count();
        (count("calendars"), count("events "))
    }

    fn answers(&self) -> Result<()> {
        self.trouble.lock().unwrap().failure.clone().map_or(Ok(()), Err)
    }

    async fn wait(&self) {
        let delay = self.trouble.lock().unwrap().delay;
        tokio::time::sleep(delay).await;
    }

    /// Stores an event with this title, RFC 9557 start and length in minutes.
    pub fn put(&self, id: &str, title: &str, start: &str, minutes: i64) -> EventData {
        let start: jiff::Zoned = start.parse().unwrap();
        let end = start.timestamp() + jiff::SignedDuration::from_mins(minutes);
        let facts = EventData {
            zone: start.time_zone().iana_name().map(str::to_owned),
            ..event_data(id, title, EventTime::At(start.timestamp()), EventTime::At(end))
        };
        self.set(facts.clone());
        facts
    }

    /// Adds a calendar with this id, name and access.
    pub fn list(&self, id: &str, name: &str, access: &'static str) {
        let calendar = (id.into(), name.to_owned(), access);
        self.calendars.lock().unwrap().push(calendar);
    }

    /// Stores a new version of an event.
    pub fn set(&self, mut facts: EventData) -> EventData {
        let mut count = self.count.lock().unwrap();
        *count += 1;
        facts.version = Some(format!("v{count}"));
        let key = format!("{}#v{count}", facts.id);
        self.versions.lock().unwrap().insert(key, facts.clone());
        let mut events = self.events.lock().unwrap();
        events.insert(facts.id.clone(), facts.clone());
        facts
    }

    /// Changes an event as another client would.
    pub fn touch(&self, id: &str, change: impl FnOnce(&mut EventData)) {
        let mut facts = self.get(id).unwrap();
        change(&mut facts);
        self.set(facts);
    }

    pub fn get(&self, id: &str) -> Option<EventData> {
        self.events.lock().unwrap().get(id).cloned()
    }

    /// Sets members of an event's object that are not in the facts.
    pub fn extra(&self, id: &str, more: Value) {
        self.extras.lock().unwrap().insert(id.to_owned(), more);
    }

    /// Sets the outcomes of the next writes; `None` succeeds.
    pub fn fail(&self, failures: impl IntoIterator<Item = Option<(Error, bool)>>) {
        *self.failures.lock().unwrap() = failures.into_iter().collect();
    }

    /// Returns the writes since the last call.
    pub fn written(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }

    /// Returns the reads since the last call.
    pub fn read(&self) -> Vec<String> {
        std::mem::take(&mut self.reads.lock().unwrap())
    }

    fn note(&self, line: String) {
        self.log.lock().unwrap().push(line);
    }

    /// Returns the outcomes of the current write: before it is carried out, and after.
    fn fate(&self) -> (Result<()>, Result<()>) {
        match self.failures.lock().unwrap().pop_front().flatten() {
            None => (Ok(()), Ok(())),
            Some((error, false)) => (Err(error), Ok(())),
            Some((error, true)) => (Ok(()), Err(error)),
        }
    }

    /// Returns an event, or an occurrence of one.
    fn find(&self, id: &str) -> Result<EventData> {
        if let Some(facts) = self.get(id) {
            return Ok(facts);
        }
        let not_found = || Error::new(ErrorKind::NotFound, "it is not there");
        let (master, at) = id.split_once('@').ok_or_else(not_found)?;
        let master = self.get(master).ok_or_else(not_found)?;
        let found = self.occurrences(&master, Timestamp::MIN, Timestamp::MAX);
        let one = found.into_iter().find(|one| one.id.as_str().ends_with(&format!("@{at}")));
        one.ok_or_else(not_found)
    }

    /// Returns the occurrences of an event, without its exceptions.
    fn occurrences(&self, master: &EventData, from: Timestamp, to: Timestamp) -> Vec<EventData> {
        let Some(repeat) = &master.repeat else {
            return Vec::new();
        };
        let length = instant(master.end).duration_since(instant(master.start));
        let mut found = Vec::new();
        for start in repeat.occurrences(&moment(master.start, master), Timestamp::MIN, to, 400) {
            let end = match start {
                EventTime::At(at) => EventTime::At(at + length),
                EventTime::Day(day) => EventTime::Day(day + length),
            };
            let one = EventData {
                id: format!("{}@{}", master.id, stamp(start)).into(),
                series: Some(master.id.clone()),
                original: Some(start),
                start,
                end,
                repeat: None,
                ..master.clone()
            };
            let known = self.events.lock().unwrap().contains_key(&one.id);
            if !known && instant(end) > from {
                let version = one.version.clone().unwrap();
                let key = format!("{}#{version}", one.id);
                self.versions.lock().unwrap().insert(key, one.clone());
                found.push(one);
            }
        }
        found
    }

    fn object(&self, facts: &EventData) -> Value {
        let (calendar, id) = facts.id.as_str().split_once('/').unwrap();
        let mut object = match self.api {
            Service::Microsoft => json!({
                "id": facts.id, "subject": facts.title, "@odata.etag": facts.version,
                "start": graph(facts.start), "end": graph(facts.end),
                "isAllDay": facts.start.is_day(), "isOrganizer": facts.own,
                "seriesMasterId": facts.series,
            }),
            _ => json!({
                "calendarId": calendar, "id": id, "etag": facts.version, "summary": facts.title,
                "start": google(facts.start), "end": google(facts.end),
                "recurringEventId": facts.series.as_ref()
                    .map(|id| id.as_str().replace(&format!("{calendar}/"), "")),
                "organizer": {"self": facts.own, "email": "ana@example.com"},
                "attendees": facts.guests.iter().map(attendee).collect::<Vec<_>>(),
            }),
        };
        if !facts.place.is_empty() && self.api == Service::Google {
            object["location"] = facts.place.clone().into();
        }
        if let Some(repeat) = &facts.repeat {
            object["recurrence"] = repeat.lines(&moment(facts.start, facts)).into();
        }
        if let Some(link) = &facts.link {
            object["hangoutLink"] = link.clone().into();
        }
        let extras = self.extras.lock().unwrap();
        let more =
            extras.get(facts.id.as_str()).or_else(|| extras.get(facts.series.as_ref()?.as_str()));
        if let Some(Value::Object(more)) = more.cloned() {
            object.as_object_mut().unwrap().extend(more);
        }
        object
    }

    fn apply(&self, facts: &mut EventData, change: &EventChange) {
        if let Some((start, end)) = &change.time {
            (facts.start, facts.end) = (start.when(), end.when());
            if let ZonedTime::At(_, zone) = start {
                facts.zone = Some(zone.clone());
            }
        }
        if let Some(title) = &change.title {
            facts.title = title.clone();
        }
        if let Some(place) = &change.place {
            facts.place = place.clone();
        }
        if let Some(notes) = &change.notes {
            facts.notes = Some(notes.clone());
        }
        if let Some(guests) = &change.guests {
            facts.guests = guests.clone();
        }
        if let Some(repeat) = &change.repeat {
            facts.repeat = repeat.clone();
        }
        if let Some(online) = change.online {
            facts.link = online.then(|| "https://meet.example/abc".to_owned());
        }
        if let Some(uid) = &change.uid {
            facts.uid = Some(uid.clone());
        }
        if change.organizer.is_some() {
            facts.own = false;
        }
    }
}

/// Returns a plain event of the account's own.
pub fn event_data(id: &str, title: &str, start: EventTime, end: EventTime) -> EventData {
    EventData {
        id: id.into(),
        calendar: id.split('/').next().map(CalendarId::from),
        series: None,
        original: None,
        start,
        end,
        zone: None,
        repeat: None,
        uid: Some(format!("{}@test.example", id.replace('/', "-"))),
        sequence: None,
        title: title.to_owned(),
        place: String::new(),
        own: true,
        organizer: None,
        guests: Vec::new(),
        omitted: false,
        joint: false,
        answer: None,
        unanswered: false,
        busy: true,
        show: ShowAs::Busy,
        cancelled: false,
        version: None,
        link: None,
        notes: None,
    }
}

/// Returns a guest with an answer as rows show it.
pub fn guest(address: &str, answer: char) -> EventGuest {
    EventGuest {
        address: address.into(),
        answer: match answer {
            '+' => Some(InvitationAnswer::Accepted),
            '-' => Some(InvitationAnswer::Declined),
            '~' => Some(InvitationAnswer::Tentative),
            _ => None,
        },
        ..EventGuest::default()
    }
}

pub fn repeat(rule: &str) -> EventRecurrence {
    EventRecurrence { rule: rule.to_owned(), ..EventRecurrence::default() }
}

fn instant(when: EventTime) -> Timestamp {
    when.instant(&TimeZone::UTC)
}

fn stamp(when: EventTime) -> String {
    match when {
        EventTime::Day(day) => day.to_string(),
        EventTime::At(at) => at.strftime("%Y%m%dT%H%MZ").to_string(),
    }
}

fn moment(when: EventTime, facts: &EventData) -> ZonedTime {
    let zone = facts.zone.clone().unwrap_or_else(|| "UTC".to_owned());
    match when {
        EventTime::Day(day) => ZonedTime::Day(day),
        EventTime::At(at) => ZonedTime::At(TimeZone::get(&zone).unwrap().to_datetime(at), zone),
    }
}

fn google(when: EventTime) -> Value {
    match when {
        EventTime::Day(day) => json!({"date": day.to_string()}),
        EventTime::At(at) => json!({"dateTime": at.to_string()}),
    }
}

fn graph(when: EventTime) -> Value {
    let local = TimeZone::UTC.to_datetime(instant(when));
    json!({"dateTime": local.to_string(), "timeZone": "UTC"})
}

fn attendee(guest: &EventGuest) -> Value {
    let answer = match guest.answer {
        Some(InvitationAnswer::Accepted) => "accepted",
        Some(InvitationAnswer::Declined) => "declined",
        Some(InvitationAnswer::Tentative) => "tentative",
        None => "needsAction",
    };
    json!({"email": guest.address, "displayName": guest.name, "responseStatus": answer,
           "self": guest.me, "optional": guest.optional, "resource": guest.room})
}

/// Returns a change on one line.
fn summary(change: &EventChange) -> String {
    let mut parts = Vec::new();
    let moment = |moment: &ZonedTime| match moment {
        ZonedTime::Day(day) => day.to_string(),
        ZonedTime::At(local, zone) => format!("{local}[{zone}]"),
    };
    if let Some((start, end)) = &change.time {
        parts.push(format!("{}/{}", moment(start), moment(end)));
    }
    let texts = [
        ("title", &change.title),
        ("place", &change.place),
        ("notes", &change.notes),
        ("category", &change.category),
        ("uid", &change.uid),
    ];
    for (name, text) in texts {
        parts.extend(text.as_ref().map(|text| format!("{name}={text}")));
    }
    if let Some(list) = &change.guests {
        let one = |guest: &EventGuest| {
            let answer = match guest.answer {
                Some(InvitationAnswer::Accepted) => "+",
                Some(InvitationAnswer::Declined) => "-",
                Some(InvitationAnswer::Tentative) => "~",
                None => "",
            };
            let (optional, room) = (guest.optional, guest.room);
            let marks = [(optional, "?"), (room, "#"), (guest.me, "!")];
            let marks: String = marks.iter().filter(|(on, _)| *on).map(|(_, c)| *c).collect();
            let name = guest.name.as_ref().map(|name| format!("{name} "));
            format!("{}{}{answer}{marks}", name.unwrap_or_default(), guest.address)
        };
        let list: Vec<String> = list.iter().map(one).collect();
        parts.push(format!("guests=[{}]", list.join(" ")));
    }
    match &change.repeat {
        None => {}
        Some(None) => parts.push("repeat=none".to_owned()),
        Some(Some(repeat)) => {
            let mut line = format!("repeat={}", repeat.rule);
            for (mark, list) in [("-", &repeat.except), ("+", &repeat.extra)] {
                for when in list {
                    line.push_str(&format!(" {mark}{}", stamp(*when)));
                }
            }
            parts.push(line);
        }
    }
    parts.extend(change.online.map(|on| format!("online={on}")));
    parts.extend(change.show.map(|show| format!("show={show:?}")));
    parts.extend(change.visibility.map(|who| format!("visibility={who:?}")));
    parts.extend(change.reminder.map(|at| format!("reminder={at:?}")));
    parts.extend(change.organizer.as_ref().map(|who| format!("organizer={}", who.address)));
    parts.join(" ")
}

#[async_trait]
impl Calendars for FakeCalendars {
    fn api(&self) -> Service {
        self.api
    }

    fn person<'a>(&self, id: &'a CalendarId) -> Option<&'a str> {
        let id = id.as_str();
        let is_person = id.contains('@') && !id.ends_with(".calendar.google.com");
        Some(id).filter(|_| self.api == Service::Google && is_person)
    }

    fn capabilities(&self) -> &'static CalendarCapabilities {
        match self.api {
            Service::Google => &google::CALENDAR,
            _ => &microsoft::CALENDAR,
        }
    }

    async fn calendars(&self) -> Result<Vec<Value>> {
        self.reads.lock().unwrap().push("calendars".to_owned());
        self.wait().await;
        self.answers()?;
        let list = self.calendars.lock().unwrap();
        if self.by_hand {
            let object = |(at, (id, name, access)): (usize, &(CalendarId, String, &str))| match self
                .api
            {
                Service::Microsoft => json!({"id": id, "name": name, "isDefaultCalendar": at == 0,
                    "timeZone": "Europe/Berlin", "canShare": *access == "owner",
                    "canEdit": *access == "writer"}),
                _ => json!({"id": id, "summary": name, "primary": at == 0,
                    "timeZone": "Europe/Berlin",
                    "accessRole": if *access == "busy" { "freeBusyReader" } else { access }}),
            };
            return Ok(list.iter().enumerate().map(object).collect());
        }
        let object = |(at, (id, name, access)): (usize, &(CalendarId, String, &str))| match self.api
        {
            Service::Microsoft => json!({"id": id, "name": name, "isDefaultCalendar": at == 0,
                "canShare": *access == "owner", "canEdit": *access != "reader",
                "owner": {"address": format!("{id}@example.org")}}),
            _ => json!({"id": id, "summary": name, "accessRole": access, "primary": at == 0}),
        };
        Ok(list.iter().enumerate().map(object).collect())
    }

    async fn rooms(&self) -> Result<Vec<Value>> {
        self.answers()?;
        Ok(self.rooms.lock().unwrap().clone())
    }

    async fn manage(&self, op: &CalendarOp) -> Result<Option<Value>> {
        let (before, after) = self.fate();
        before?;
        self.note(format!("{op:?}"));
        let mut list = self.calendars.lock().unwrap();
        let mut found = None;
        match op {
            CalendarOp::Create { name, .. } => {
                list.push((name.to_lowercase().into(), name.clone(), "owner"));
                found = Some(
                    json!({"id": name.to_lowercase(), "summary": name, "accessRole": "owner"}),
                );
            }
            CalendarOp::Rename { id, name } => {
                for one in list.iter_mut().filter(|one| one.0 == *id) {
                    one.1 = name.clone();
                    found = Some(json!({"id": id, "summary": name, "accessRole": "owner"}));
                }
            }
            CalendarOp::Delete { id } => list.retain(|one| one.0 != *id),
        }
        after.map(|()| found)
    }

    async fn events(&self, ask: &EventListRequest) -> Vec<Result<ListPage>> {
        let ids: Vec<&str> = ask.calendars.iter().map(|(id, _)| id.as_str()).collect();
        let line = format!("events {} {} {}", ids.join(","), ask.from, ask.to);
        self.reads.lock().unwrap().push(line);
        self.wait().await;
        let all: Vec<EventData> = self.events.lock().unwrap().values().cloned().collect();
        let zone = self.zone.lock().unwrap().clone();
        let one = |(calendar, cursor): &(CalendarId, Option<String>)| {
            if let Some(error) = self.blind.lock().unwrap().clone() {
                return Err(error);
            }
            self.answers()?;
            let trouble = self.trouble.lock().unwrap();
            if let Some((_, error)) = trouble.calendars.iter().find(|(id, _)| *calendar == **id) {
                return Err(error.clone());
            }
            let (mut found, mut series) = (Vec::new(), Vec::new());
            for facts in &all {
                if facts.calendar.as_ref() != Some(calendar) {
                    continue;
                }
                match facts.repeat {
                    Some(_) if ask.series => series.push(facts.clone()),
                    Some(_) if self.by_hand => {}
                    Some(_) => found.extend(self.occurrences(facts, ask.from, ask.to)),
                    None => found.push(facts.clone()),
                }
            }
            let (start, end) = (
                |one: &EventData| one.start.instant(&zone),
                |one: &EventData| one.end.instant(&zone),
            );
            found.retain(|one| start(one) < ask.to && end(one) > ask.from);
            found.extend(series);
            found.sort_by_key(start);
            // The cursor is a position: as with the services, only its last event says where a page
            // ends.
            let skip: usize = cursor.as_deref().unwrap_or("0").parse().unwrap();
            let size = (*self.page.lock().unwrap()).min(ask.limit);
            let next = skip.saturating_add(size);
            Ok(ListPage {
                items: found.iter().skip(skip).take(size).map(|one| self.object(one)).collect(),
                next: (next < found.len()).then(|| next.to_string()),
                ..ListPage::default()
            })
        };
        ask.calendars.iter().map(one).collect()
    }

    async fn event(&self, ids: &[EventId]) -> Vec<Result<Value>> {
        let one = |id: &EventId| {
            self.reads.lock().unwrap().push(format!("event {id}"));
            self.answers()?;
            self.find(id.as_str()).map(|facts| self.object(&facts))
        };
        ids.iter().map(one).collect()
    }

    async fn by_uid(&self, uid: &str) -> Result<Vec<Value>> {
        self.reads.lock().unwrap().push(format!("by_uid {uid}"));
        let all: Vec<EventData> = self.events.lock().unwrap().values().cloned().collect();
        let mine = all.iter().filter(|one| one.uid.as_deref() == Some(uid));
        Ok(mine.map(|one| self.object(one)).collect())
    }

    async fn instances(
        &self,
        series: &EventId,
        from: Timestamp,
        to: Timestamp,
        _projection: &Projection,
    ) -> Result<Vec<Value>> {
        self.reads.lock().unwrap().push(format!("instances {series} {from} {to}"));
        self.answers()?;
        let master = self.find(series.as_str())?;
        let changed: Vec<EventData> = self.events.lock().unwrap().values().cloned().collect();
        let changed = changed.into_iter().filter(|one| {
            one.series.as_ref() == Some(series)
                && instant(one.start) < to
                && instant(one.end) > from
        });
        let mut found = self.occurrences(&master, from, to);
        found.extend(changed);
        found.sort_by_key(|one| instant(one.start));
        Ok(found.iter().map(|one| self.object(one)).collect())
    }

    fn event_data(&self, event: &Value) -> Option<EventData> {
        let id = match self.api {
            Service::Microsoft => event["id"].as_str()?.to_owned(),
            _ => format!("{}/{}", event["calendarId"].as_str()?, event["id"].as_str()?),
        };
        let version = event.get("etag").or(event.get("@odata.etag"))?.as_str()?;
        let key = format!("{id}#{version}");
        self.versions.lock().unwrap().get(&key).cloned()
    }

    async fn create(
        &self,
        calendar: Option<&CalendarId>,
        event: &EventChange,
        notify: GuestNotice,
    ) -> Result<Value> {
        let (before, after) = self.fate();
        let calendar = calendar.map_or("main", CalendarId::as_str);
        self.note(format!("create {calendar} {notify:?}: {}", summary(event)));
        before?;
        let number = *self.count.lock().unwrap() + 1;
        let id = format!("{calendar}/new{number}");
        let (start, end) = event.time.clone().unwrap();
        let mut new = event_data(&id, "", start.when(), end.when());
        // An imported exception has the UID of its series.
        if let Some(original) = event.original {
            let events = self.events.lock().unwrap();
            let series = events.values().find(|one| one.uid == event.uid && one.series.is_none());
            let series = series.expect("its series is there").id.clone();
            new.id = format!("{series}@{}", stamp(original)).into();
            (new.series, new.original) = (Some(series), Some(original));
        }
        self.apply(&mut new, event);
        let new = self.set(new);
        after.map(|()| self.object(&new))
    }

    async fn update(
        &self,
        current: &Value,
        change: &EventChange,
        notify: GuestNotice,
    ) -> Result<Value> {
        let (before, after) = self.fate();
        let given = self.event_data(current).unwrap();
        self.note(format!("update {} {notify:?}: {}", given.id, summary(change)));
        before?;
        let mut now = self.find(given.id.as_str())?;
        if now.version != given.version {
            return Err(Error::new(ErrorKind::Conflict, "it has changed"));
        }
        self.apply(&mut now, change);
        let now = self.set(now);
        after.map(|()| self.object(&now))
    }

    async fn delete(
        &self,
        current: &Value,
        message: Option<&str>,
        notify: GuestNotice,
    ) -> Result<()> {
        let (before, after) = self.fate();
        let given = self.event_data(current).unwrap();
        let message = message.map(|text| format!(" \"{text}\"")).unwrap_or_default();
        self.note(format!("delete {} {notify:?}{message}", given.id));
        before?;
        if self.find(given.id.as_str())?.version != given.version {
            return Err(Error::new(ErrorKind::Conflict, "it has changed"));
        }
        if given.series.is_some() {
            self.set(EventData { cancelled: true, ..given });
        } else {
            let mut events = self.events.lock().unwrap();
            events.retain(|id, one| *id != given.id && one.series.as_ref() != Some(&given.id));
        }
        after
    }

    async fn respond(&self, current: &Value, response: &InvitationReply) -> Result<Option<Value>> {
        let (before, after) = self.fate();
        let given = self.event_data(current).unwrap();
        let mut line = format!("respond {} {:?}", given.id, response.answer);
        if let Some(comment) = &response.comment {
            line.push_str(&format!(" \"{comment}\""));
        }
        if let Some((from, to)) = response.propose {
            line.push_str(&format!(" {from}/{to}"));
        }
        if !response.notify {
            line.push_str(" quietly");
        }
        self.note(line);
        before?;
        let mut now = self.find(given.id.as_str())?;
        now.answer = Some(response.answer);
        for guest in now.guests.iter_mut().filter(|guest| guest.me) {
            guest.answer = Some(response.answer);
        }
        let now = self.set(now);
        after?;
        // Outlook removes a declined event from the calendar.
        let removed =
            self.api == Service::Microsoft && response.answer == InvitationAnswer::Declined;
        Ok((!removed).then(|| self.object(&now)))
    }

    async fn forward(&self, current: &Value, to: &[String], comment: Option<&str>) -> Result<()> {
        let (before, after) = self.fate();
        let given = self.event_data(current).unwrap();
        let comment = comment.map(|text| format!(" \"{text}\"")).unwrap_or_default();
        self.note(format!("forward {} {}{comment}", given.id, to.join(",")));
        before?;
        after
    }

    async fn busy(
        &self,
        who: &[String],
        from: Timestamp,
        to: Timestamp,
    ) -> Vec<Result<BusySchedule>> {
        self.wait().await;
        who.iter()
            .map(|who| {
                self.answers()?;
                let people = self.people.lock().unwrap();
                let known = match people.iter().find(|(name, _)| name.eq_ignore_ascii_case(who)) {
                    Some((_, known)) => known.clone()?,
                    None => return Err(Error::new(ErrorKind::NotFound, "nobody has that address")),
                };
                let utc = |summary: &str| event_time::local(summary, "UTC").unwrap();
                let busy = known.busy.iter();
                Ok(BusySchedule {
                    who: who.clone(),
                    busy: busy
                        .filter(|(start, end, _)| utc(end) > from && utc(start) < to)
                        .map(|(start, end, show)| {
                            json!({"who": who, "status": show,
                                   "start": {"dateTime": start, "timeZone": "UTC"},
                                   "end": {"dateTime": end, "timeZone": "UTC"}})
                        })
                        .collect(),
                    hours: known.hours,
                })
            })
            .collect()
    }

    async fn changes(&self, _: Option<&str>, _: &Projection) -> Result<ChangeFeed> {
        Ok(ChangeFeed { cursor: "now".to_owned(), ..ChangeFeed::default() })
    }

    fn check_deletion(&self, current: &Value, notify: GuestNotice) -> Result<()> {
        let facts = self.event_data(current).unwrap();
        let cancels = facts.own && !facts.guests.is_empty();
        if self.api == Service::Microsoft && notify != GuestNotice::All && cancels {
            return Err(Error::argument("this service tells everybody"));
        }
        Ok(())
    }

    fn check(&self, _: Option<&Value>, change: &EventChange, notify: GuestNotice) -> Result<()> {
        let rule = change.repeat.as_ref().and_then(Option::as_ref);
        if rule.is_some_and(|repeat| repeat.rule.contains("BYSETPOS=2")) {
            return Err(Error::argument("this service has no words for the rule"));
        }
        if change.show == Some(ShowAs::Focus) && !self.capabilities().event_kinds {
            return Err(Error::argument("this service has no focus time"));
        }
        let most = self.capabilities().max_reminder;
        if most.is_some_and(|most| change.reminder.flatten() > Some(most)) {
            return Err(Error::argument("this service reminds no earlier"));
        }
        match (change.guests.is_some(), notify) {
            (true, GuestNotice::External) if self.api == Service::Microsoft => {
                Err(Error::argument("this service tells everybody"))
            }
            _ => Ok(()),
        }
    }

    fn check_id(&self, id: &str) -> Result<()> {
        if id.contains('/') && (!self.by_hand || id.starts_with(self.name)) {
            Ok(())
        } else {
            Err(Error::argument("no id of ours"))
        }
    }
}

impl Fake for FakeCalendars {
    fn name(&self) -> &str {
        self.name
    }

    fn provider(&self) -> &'static str {
        if self.api == Service::Microsoft { "microsoft" } else { "google" }
    }

    fn mailbox(self: Arc<Self>) -> Result<Arc<dyn Mailbox>> {
        Ok(self.mailbox.clone())
    }

    fn calendars(self: Arc<Self>) -> Result<Arc<dyn Calendars>> {
        Ok(self)
    }
}

/// Returns the mailbox of the account: messages with invitations, and the addresses written to.
fn mailbox(name: &'static str, api: Service) -> Arc<FakeMailbox> {
    let list = |mailbox: &FakeMailbox, ask: &ListRequest| {
        let query = format!("{:?}", ask.query);
        let items = if query.contains("\"sent\"") {
            let known = mailbox.known.lock().unwrap();
            let found = known.iter().filter(|one| query.contains(one.as_str()));
            found.map(|id| json!({"id": id})).collect()
        } else {
            let object =
                |id: &String| json!({"id": id, "threadId": id, "internalDate": "1770000000000"});
            mailbox.invitations.lock().unwrap().keys().map(object).collect()
        };
        ListPage { items, ..ListPage::default() }
    };
    let read_message = |mailbox: &FakeMailbox, id: &str, _| {
        let invitations = mailbox.invitations.lock().unwrap();
        Ok(MessageContent {
            item: json!({"id": id}),
            invitation: invitations.get(id).cloned().filter(|text| !text.is_empty()),
            ..MessageContent::default()
        })
    };
    let script = Script {
        list: Some(Box::new(list)),
        read_message: Some(Box::new(read_message)),
        ..Script::default()
    };
    Arc::new(FakeMailbox::scripted(name, api, script))
}

/// A pipeline over calendars in memory, and mailboxes beside them.
pub type CalendarHarness = Harness<FakeCalendars>;

impl CalendarHarness {
    /// Returns one Google account, `ana@example.com`.
    pub async fn one() -> Self {
        Self::with(Service::Google, &[]).await
    }

    /// Returns that account and a second one, `bo@example.com`.
    pub async fn two() -> Self {
        let fakes = ["ana", "bo"].map(|name| FakeCalendars::new(name, Service::Google));
        Self::over(fakes.into(), &[]).await
    }

    /// Returns one Microsoft account, `ana@example.com`.
    pub async fn outlook() -> Self {
        Self::with(Service::Microsoft, &[]).await
    }

    /// Returns one account, `ana@example.com`, with these settings.
    pub async fn with(api: Service, settings: &[(&str, &str)]) -> Self {
        Self::over(vec![FakeCalendars::new("ana", api)], settings).await
    }

    /// Returns the writes in all accounts since the last call.
    pub fn written(&self) -> Vec<String> {
        self.fakes.iter().flat_map(|fake| fake.written()).collect()
    }
}
