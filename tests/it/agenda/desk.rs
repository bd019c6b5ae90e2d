//! A scripted calendar service, and a pipeline over some of them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use daysheet::error::{Error, Kind, Result};
use daysheet::project::Projection;
use daysheet::provider::Page;
use daysheet::provider::calendar::{
    Answer, AskEvents, CalendarOp, Calendars, Change, Changes, Facts, Guest, Hours, Notify,
    Response, Schedule,
};
use daysheet::recurrence::Repeat;
use daysheet::schemas::Api;
use daysheet::when::{self, When};
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};
use serde_json::{Value, json};

use crate::common::harness::{Fake, Harness};

/// An event of the service, in UTC.
#[derive(Debug, Clone)]
pub struct Entry {
    start: When,
    end: When,
    item: Value,
}

impl Entry {
    /// An event of so many minutes.
    pub fn at(start: &str, minutes: i64, title: &str) -> Self {
        let start: DateTime = start.parse().unwrap();
        let end = start.checked_add(minutes.minutes()).unwrap();
        let utc = |local: DateTime| local.to_zoned(TimeZone::UTC).unwrap().timestamp();
        Self::new(start, end, title, (When::At(utc(start)), When::At(utc(end))))
    }

    /// Some whole days.
    pub fn day(first: &str, days: i64, title: &str) -> Self {
        let first: Date = first.parse().unwrap();
        let over = first.checked_add(days.days()).unwrap();
        let (start, end) = (first.at(0, 0, 0, 0), over.at(0, 0, 0, 0));
        let mut entry = Self::new(start, end, title, (When::Day(first), When::Day(over)));
        entry.item["isAllDay"] = true.into();
        entry
    }

    fn new(start: DateTime, end: DateTime, title: &str, (from, to): (When, When)) -> Self {
        let utc = |at: DateTime| json!({"dateTime": at.to_string(), "timeZone": "UTC"});
        Self {
            start: from,
            end: to,
            item: json!({"subject": title, "start": utc(start), "end": utc(end),
                         "isAllDay": false, "isOrganizer": true, "attendees": []}),
        }
    }

    fn with(mut self, key: &str, value: Value) -> Self {
        self.item[key] = value;
        self
    }

    pub fn uid(self, uid: &str) -> Self {
        self.with("iCalUId", uid.into())
    }

    pub fn series(self, id: &str) -> Self {
        self.with("seriesMasterId", id.into())
    }

    /// An occurrence that would have started then.
    pub fn instead_of(self, original: &str) -> Self {
        self.with("original", original.into())
    }

    pub fn place(self, place: &str) -> Self {
        self.with("location", json!({"displayName": place}))
    }

    pub fn notes(self, notes: &str) -> Self {
        self.with("bodyPreview", notes.into())
    }

    pub fn category(self, category: &str) -> Self {
        self.with("categories", json!([category]))
    }

    pub fn repeats(self, rule: &str) -> Self {
        self.with("recurrenceRule", rule.into())
    }

    pub fn called_by(self, address: &str) -> Self {
        let organizer = json!({"emailAddress": {"name": "Somebody", "address": address}});
        self.with("isOrganizer", false.into()).with("organizer", organizer)
    }

    pub fn ask(mut self, address: &str, answer: &str) -> Self {
        let guest = json!({"emailAddress": {"name": address, "address": address},
                           "status": {"response": answer}, "type": "required"});
        self.item["attendees"].as_array_mut().unwrap().push(guest);
        self
    }
}

/// What a calendar does when it is asked.
#[derive(Debug, Clone, Default)]
pub struct Trouble {
    pub delay: Duration,
    pub failure: Option<Error>,
    /// Of these calendars alone.
    pub calendars: Vec<(String, Error)>,
}

/// When somebody is busy, as this service knows it.
#[derive(Debug, Clone, Default)]
pub struct Known {
    pub busy: Vec<(String, String, String)>,
    pub hours: Option<Hours>,
}

/// One account at the service.
pub struct Desk {
    pub name: String,
    /// True for the one service, false for the other.
    google: bool,
    calendars: Mutex<Vec<Value>>,
    /// Each with the id of its calendar.
    events: Mutex<Vec<(String, Entry)>>,
    /// Events of a page.
    pub page: Mutex<usize>,
    /// Where whole days begin for the service.
    pub zone: Mutex<TimeZone>,
    pub trouble: Mutex<Trouble>,
    /// How often it was asked for lists and for events.
    pub asked: Mutex<(usize, usize)>,
    /// Whose busy times it can tell.
    pub people: Mutex<Vec<(String, Result<Known>)>>,
    pub rooms: Mutex<Vec<Value>>,
}

impl Desk {
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            google: false,
            calendars: Mutex::default(),
            events: Mutex::default(),
            page: Mutex::new(usize::MAX),
            zone: Mutex::new(TimeZone::UTC),
            trouble: Mutex::default(),
            asked: Mutex::default(),
            people: Mutex::default(),
            rooms: Mutex::default(),
        }
    }

    /// As the other service has it.
    pub fn google(mut self) -> Self {
        self.google = true;
        self
    }

    /// Adds a calendar; the first is the main one.
    pub fn calendar(self, name: &str, access: &str) -> Self {
        self.add_calendar(name, access);
        self
    }

    pub fn add_calendar(&self, name: &str, access: &str) {
        let mut calendars = self.calendars.lock().unwrap();
        let id = format!("{}/{name}", self.name);
        let first = calendars.is_empty();
        let role = match access {
            "busy" => "freeBusyReader",
            other => other,
        };
        let calendar = match self.google {
            true => json!({"id": id, "summary": name, "primary": first, "accessRole": role,
                           "timeZone": "Europe/Berlin"}),
            false => json!({"id": id, "name": name, "isDefaultCalendar": first,
                            "timeZone": "Europe/Berlin", "canShare": access == "owner",
                            "canEdit": access == "writer"}),
        };
        calendars.push(calendar);
    }

    /// Puts an event into the calendar of that name; its id.
    pub fn put(&self, calendar: &str, mut entry: Entry) -> String {
        let calendar = format!("{}/{calendar}", self.name);
        let mut events = self.events.lock().unwrap();
        let id = format!("{}-event-{:04}", self.name, events.len());
        entry.item["id"] = id.clone().into();
        entry.item["calendarId"] = calendar.clone().into();
        events.push((calendar, entry));
        id
    }

    /// Calls the event with this id otherwise.
    pub fn change(&self, id: &str, change: impl FnOnce(&mut Value)) {
        let mut events = self.events.lock().unwrap();
        let found = events.iter_mut().find(|(_, entry)| entry.item["id"] == id);
        change(&mut found.unwrap().1.item);
    }

    /// The adapter's id of an event.
    fn id(&self, item: &Value) -> String {
        let id = item["id"].as_str().unwrap();
        match self.google {
            true => format!("{}/{id}", item["calendarId"].as_str().unwrap()),
            false => id.to_owned(),
        }
    }

    /// An event in the service's own form.
    fn shown(&self, item: &Value) -> Value {
        if !self.google {
            return item.clone();
        }
        let time = |time: &Value| {
            let said = time["dateTime"].as_str().unwrap();
            match item["isAllDay"] == true {
                true => json!({"date": &said[..10]}),
                false => json!({"dateTime": format!("{said}Z")}),
            }
        };
        let guests = item["attendees"].as_array().unwrap().iter();
        let guests: Vec<_> = guests
            .map(|guest| {
                json!({"email": guest["emailAddress"]["address"],
                       "responseStatus": guest["status"]["response"]})
            })
            .collect();
        json!({
            "id": item["id"], "calendarId": item["calendarId"], "summary": item["subject"],
            "start": time(&item["start"]), "end": time(&item["end"]),
            "location": item["location"]["displayName"], "description": item["bodyPreview"],
            "organizer": {"self": item["isOrganizer"],
                          "email": item["organizer"]["emailAddress"]["address"]},
            "attendees": guests, "iCalUID": item["iCalUId"],
            "recurringEventId": item["seriesMasterId"],
        })
    }

    fn answers(&self) -> Result<()> {
        match &self.trouble.lock().unwrap().failure {
            Some(error) => Err(error.clone()),
            None => Ok(()),
        }
    }

    async fn wait(&self) {
        let delay = self.trouble.lock().unwrap().delay;
        tokio::time::sleep(delay).await;
    }

    fn page_of(&self, calendar: &str, cursor: Option<&str>, ask: &AskEvents) -> Result<Page> {
        self.answers()?;
        let trouble = self.trouble.lock().unwrap();
        if let Some((_, error)) = trouble.calendars.iter().find(|(id, _)| id == calendar) {
            return Err(error.clone());
        }
        let zone = self.zone.lock().unwrap().clone();
        let events = self.events.lock().unwrap();
        let mut found: Vec<_> = events
            .iter()
            .filter(|(owner, entry)| {
                let (start, end) = (entry.start.instant(&zone), entry.end.instant(&zone));
                let rule = entry.item.get("recurrenceRule").is_some();
                owner == calendar
                    && (end > ask.from && start < ask.to || rule)
                    && (rule == ask.series || !rule)
            })
            .map(|(_, entry)| entry)
            .collect();
        found.sort_by_key(|entry| entry.start.instant(&zone));
        // Where a page ends is told by its last event, as services do it.
        let skip: usize = cursor.unwrap_or("0").parse().unwrap();
        let size = (*self.page.lock().unwrap()).min(ask.limit);
        let items = found.iter().skip(skip).take(size);
        let next = skip.saturating_add(size);
        Ok(Page {
            items: items.map(|entry| self.shown(&entry.item)).collect(),
            next: (next < found.len()).then(|| next.to_string()),
            ..Page::default()
        })
    }
}

fn unused<T>() -> Result<T> {
    Err(Error::new(Kind::Internal, "not asked for here"))
}

#[async_trait]
impl Calendars for Desk {
    fn api(&self) -> Api {
        match self.google {
            true => Api::Gmail,
            false => Api::Outlook,
        }
    }

    async fn calendars(&self) -> Result<Vec<Value>> {
        self.asked.lock().unwrap().0 += 1;
        self.wait().await;
        self.answers()?;
        Ok(self.calendars.lock().unwrap().clone())
    }

    async fn rooms(&self) -> Result<Vec<Value>> {
        self.answers()?;
        Ok(self.rooms.lock().unwrap().clone())
    }

    async fn manage(&self, _: &CalendarOp) -> Result<Option<Value>> {
        unused()
    }

    async fn events(&self, ask: &AskEvents) -> Vec<Result<Page>> {
        self.asked.lock().unwrap().1 += 1;
        self.wait().await;
        let calendars = ask.calendars.iter();
        calendars.map(|(calendar, cursor)| self.page_of(calendar, cursor.as_deref(), ask)).collect()
    }

    async fn event(&self, ids: &[String]) -> Vec<Result<Value>> {
        let events = self.events.lock().unwrap();
        ids.iter()
            .map(|id| {
                self.answers()?;
                let is = |entry: &Entry| self.id(&entry.item) == *id;
                match events.iter().find(|(_, entry)| is(entry)) {
                    Some((_, entry)) => Ok(self.shown(&entry.item)),
                    None => Err(Error::new(Kind::NotFound, "the event is gone")),
                }
            })
            .collect()
    }

    async fn by_uid(&self, uid: &str) -> Result<Vec<Value>> {
        let events = self.events.lock().unwrap();
        let found = events.iter().filter(|(_, one)| one.item["iCalUId"] == uid);
        Ok(found.map(|(_, one)| self.shown(&one.item)).collect())
    }

    fn facts(&self, event: &Value) -> Option<Facts> {
        let events = self.events.lock().unwrap();
        let kept = events.iter().find(|(_, one)| one.item["id"] == event["id"]);
        let event = &kept?.1.item;
        let text = |value: &Value| value.as_str().map(str::to_owned);
        let all_day = event["isAllDay"] == true;
        let time = |value: &Value| {
            let said = value["dateTime"].as_str()?;
            match all_day {
                true => when::day(said).map(When::Day),
                false => when::local(said, "UTC").map(When::At),
            }
        };
        let answer = |said: &str| match said {
            "accepted" => Some(Answer::Accepted),
            "declined" => Some(Answer::Declined),
            "tentativelyAccepted" => Some(Answer::Tentative),
            _ => None,
        };
        let guests: Vec<Guest> = event["attendees"]
            .as_array()?
            .iter()
            .map(|guest| {
                let address = text(&guest["emailAddress"]["address"]).unwrap_or_default();
                Guest {
                    me: address == format!("{}@example.com", self.name),
                    address,
                    name: text(&guest["emailAddress"]["name"]),
                    answer: answer(guest["status"]["response"].as_str().unwrap_or_default()),
                    ..Guest::default()
                }
            })
            .collect();
        Some(Facts {
            id: self.id(event),
            calendar: text(&event["calendarId"]),
            series: text(&event["seriesMasterId"]),
            original: text(&event["original"])
                .and_then(|said| when::local(&said, "UTC"))
                .map(When::At),
            start: time(&event["start"])?,
            end: time(&event["end"])?,
            zone: Some("UTC".to_owned()),
            repeat: text(&event["recurrenceRule"]).map(|rule| Repeat { rule, ..Repeat::default() }),
            uid: text(&event["iCalUId"]),
            title: text(&event["subject"]).unwrap_or_default(),
            place: text(&event["location"]["displayName"]).unwrap_or_default(),
            own: event["isOrganizer"] == true,
            organizer: None,
            omitted: false,
            joint: false,
            guests,
            answer: None,
            busy: true,
            cancelled: false,
            version: None,
            link: None,
            notes: text(&event["bodyPreview"]),
        })
    }

    async fn create(&self, _: Option<&str>, _: &Change, _: Notify) -> Result<Value> {
        unused()
    }

    async fn update(&self, _: &Value, _: &Change, _: Notify) -> Result<Value> {
        unused()
    }

    async fn delete(&self, _: &Value, _: Option<&str>, _: Notify) -> Result<()> {
        unused()
    }

    async fn respond(&self, _: &Value, _: &Response) -> Result<Option<Value>> {
        unused()
    }

    async fn forward(&self, _: &Value, _: &[String], _: Option<&str>) -> Result<()> {
        unused()
    }

    async fn busy(&self, who: &[String], from: Timestamp, to: Timestamp) -> Vec<Result<Schedule>> {
        self.wait().await;
        who.iter()
            .map(|who| {
                self.answers()?;
                let people = self.people.lock().unwrap();
                let known = match people.iter().find(|(name, _)| name.eq_ignore_ascii_case(who)) {
                    Some((_, known)) => known.clone()?,
                    None => return Err(Error::new(Kind::NotFound, "nobody has that address")),
                };
                let utc = |said: &str| when::local(said, "UTC").unwrap();
                let busy = known.busy.iter();
                Ok(Schedule {
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

    async fn changes(&self, _: Option<&str>, _: &Projection) -> Result<Changes> {
        unused()
    }

    fn check_id(&self, id: &str) -> Result<()> {
        match id.starts_with(&self.name) {
            true => Ok(()),
            false => Err(Error::argument(format!("`{id}` is no event id"))),
        }
    }
}

impl Fake for Desk {
    fn name(&self) -> &str {
        &self.name
    }

    fn provider(&self) -> &'static str {
        "microsoft"
    }

    fn calendars(self: Arc<Self>) -> Result<Arc<dyn Calendars>> {
        Ok(self)
    }
}

/// A pipeline over some accounts.
pub type Bench = Harness<Desk>;

pub async fn bench(desks: Vec<Desk>) -> Bench {
    Bench::over(desks, &[]).await.with_tabs()
}

impl Bench {
    /// The notes of a search.
    pub async fn notes(&self, tool: &str, arguments: Value) -> String {
        self.call(tool, arguments).await.unwrap().pop().unwrap()
    }
}
