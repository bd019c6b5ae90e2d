//! Writes to Google Calendar: sent once, and looked up if the response is lost.
//!
//! A new event has an id of ours, and a change names the version it was made for. An interrupted
//! write can therefore be looked up, and is never carried out twice.

use std::borrow::Cow;

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::event::time;
use daysheet_core::event::{EventGuest, EventPatch};
use daysheet_core::ids::CalendarId;
use daysheet_core::provider::calendar::{CalendarOp, GuestNotice, InvitationReply};
use hyper::Method;
use serde_json::{Value, json};
use url::Url;

use super::account::{GoogleCalendar, call};
use super::body;
use super::facts::{self as read, flag, some};
use super::ids::{PRIMARY, check_calendar};
use crate::json::text;
use crate::net::path_segment;
use crate::written::has_values;

/// The maximum number of lookups of a meeting link that is still being created.
const LOOKS: usize = 3;

impl GoogleCalendar {
    pub(super) async fn insert(
        &self,
        calendar: Option<&CalendarId>,
        event: &EventPatch,
        notify: GuestNotice,
    ) -> Result<Value> {
        let calendar = match calendar {
            Some(calendar) if calendar != PRIMARY => calendar.clone(),
            _ => self.primary().await?,
        };
        check_calendar(calendar.as_str())?;
        let id = random()?;
        let zone = self.zone(&calendar).await?;
        let mut made = match &event.uid {
            None => {
                let mut body = body::new(event, &id, &zone)?;
                set(&mut body, "id", id.as_str().into());
                let url = self.at(
                    &["calendars", calendar.as_str(), "events"],
                    &[("conferenceDataVersion", "1"), ("sendUpdates", send_updates(notify))],
                )?;
                match self.google.send(Method::POST, &url, None, Some(&body)).await {
                    Err(error) => {
                        // The id is ours, so a lost creation can be found by it.
                        let made = || self.there(&calendar, &id);
                        self.google.settle(error, made).await?
                    }
                    Ok(made) => made,
                }
            }
            // An imported event keeps its UID, and nobody is notified.
            Some(uid) => {
                let body = body::new(&self.taking_part(&calendar, event), &id, &zone)?;
                let url = self.at(
                    &["calendars", calendar.as_str(), "events", "import"],
                    &[("conferenceDataVersion", "1")],
                )?;
                match self.google.send(Method::POST, &url, None, Some(&body)).await {
                    Err(error) if error.kind() == ErrorKind::Provider(409) => {
                        return Err(Error::argument("an event with this UID already exists")
                            .next("search for it, and change it with calendar_save"));
                    }
                    Err(error) => {
                        // Exceptions have the UID of their series.
                        let is_it = |found: &Value| {
                            let original = found.get("originalStartTime");
                            original.and_then(read::read_when) == event.original
                        };
                        let made =
                            async || Ok(self.uid_in(&calendar, uid).await?.into_iter().find(is_it));
                        self.google.settle(error, made).await?
                    }
                    Ok(made) => made,
                }
            }
        };
        read::place(&mut made, &calendar, &self.own);
        Ok(self.await_meeting_link(made).await)
    }

    pub(super) async fn patch(
        &self,
        current: &Value,
        change: &EventPatch,
        notify: GuestNotice,
    ) -> Result<Value> {
        let body = body::patch_body(current, change, &random()?)?;
        if body.as_object().is_some_and(serde_json::Map::is_empty) {
            return Ok(current.clone());
        }
        let changed = self.modify(current, &body, notify).await?;
        Ok(self.await_meeting_link(changed).await)
    }

    /// Restores an event. Google keeps deleted events as cancelled ones.
    pub(super) async fn put_back(&self, before: &Value, now: Option<&Value>) -> Result<Value> {
        let Some(now) = now else {
            return Err(Error::new(ErrorKind::NotFound, "Google no longer has the deleted event")
                .next("create it again"));
        };
        let body = body::restored(before, now);
        if body.as_object().is_some_and(serde_json::Map::is_empty) {
            return Ok(now.clone());
        }
        self.modify(now, &body, GuestNotice::Nobody).await
    }

    pub(super) async fn remove(&self, current: &Value, notify: GuestNotice) -> Result<()> {
        let (calendar, id) = self.calendar_and_id(current).await?;
        let url = self.at(
            &["calendars", calendar.as_str(), "events", &id],
            &[("sendUpdates", send_updates(notify))],
        )?;
        let version = some(current, "etag");
        // The version prevents deleting an event that has changed since it was read.
        let sent = self.google.send(Method::DELETE, &url, version.as_deref(), None).await;
        let Err(error) = sent else { return Ok(()) };
        let was_deleted = async || {
            Ok(match self.there(&calendar, &id).await? {
                None => Some(()),
                // Google returns a deleted event as a cancelled one.
                Some(found) => (text(&found, "status") == "cancelled").then_some(()),
            })
        };
        self.google.settle(error, was_deleted).await
    }

    pub(super) async fn answer(
        &self,
        current: &Value,
        response: &InvitationReply,
    ) -> Result<Value> {
        let named = current.get("start").map(|start| text(start, "timeZone"));
        let zone =
            if let Some(zone) = named.filter(|zone| !zone.is_empty()).and_then(time::find_zone) {
                zone
            } else {
                let (calendar, _) = self.calendar_and_id(current).await?;
                let zone = self.zone(&calendar).await?;
                time::find_zone(&zone).unwrap_or(jiff::tz::TimeZone::UTC)
            };
        let body = body::response_body(current, response, &self.own, &zone)?;
        let notify = if response.notify { GuestNotice::All } else { GuestNotice::Nobody };
        self.modify(current, &body, notify).await
    }

    /// Adds guests and lets Google notify them, because Google has no forwarding.
    pub(super) async fn invite(&self, current: &Value, to: &[String]) -> Result<()> {
        let own = current.get("organizer").is_none_or(|organizer| flag(organizer, "self"));
        let may = current.get("guestsCanInviteOthers") != Some(&Value::Bool(false));
        if !own && !may {
            return Err(Error::argument(
                "only the organizer may invite more people to this meeting",
            )
            .next("ask the organizer to invite them"));
        }
        let body = body::invited(current, to)?;
        self.modify(current, &body, GuestNotice::All).await.map(drop)
    }

    /// Changes an event if it still has the version of `current`.
    async fn modify(&self, current: &Value, body: &Value, notify: GuestNotice) -> Result<Value> {
        let (calendar, id) = self.calendar_and_id(current).await?;
        let url = self.at(
            &["calendars", calendar.as_str(), "events", &id],
            &[
                // With version 0, Google ignores `conferenceData`.
                ("conferenceDataVersion", "1"),
                ("sendUpdates", send_updates(notify)),
                ("supportsAttachments", "true"),
            ],
        )?;
        let version = some(current, "etag");
        let expected = &body::lasting(body);
        let (method, body) = match body::without_nulls(current, body) {
            // The published contract has no null, so a patch cannot clear a field.
            Some(whole) => (Method::PUT, Cow::Owned(whole)),
            None => (Method::PATCH, Cow::Borrowed(body)),
        };
        let sent = self.google.send(method, &url, version.as_deref(), Some(&body)).await;
        let mut changed = match sent {
            // Someone else may have changed it: the new version is ours if it has our content.
            Err(error) => {
                let changed = async || {
                    let found = self.there(&calendar, &id).await?;
                    let is_ours = |found: &Value| {
                        let another = version.is_none() || some(found, "etag") != version;
                        another && has_values(Some(found), expected)
                    };
                    Ok(found.filter(is_ours))
                };
                self.google.settle(error, changed).await?
            }
            Ok(changed) => changed,
        };
        read::place(&mut changed, &calendar, &self.own);
        Ok(changed)
    }

    pub(super) async fn keep(&self, op: &CalendarOp) -> Result<Option<Value>> {
        let sent = match op {
            CalendarOp::Create { name, zone } => {
                // The cached list may lack a calendar that was created late.
                *self.calendars.lock().await = None;
                let known = self.calendar_list().await?;
                // A lost creation is recognized by its name, so the name must be unique.
                if known.iter().any(|one| text(one, "summary") == name) {
                    return Err(Error::argument("a calendar of this name already exists")
                        .next("use it, or choose another name"));
                }
                let mut body = json!({"summary": name});
                if let Some(zone) = zone {
                    set(&mut body, "timeZone", zone.as_str().into());
                }
                let url = self.at(&["calendars"], &[])?;
                self.google.send(Method::POST, &url, None, Some(&body)).await
            }
            CalendarOp::Rename { id, name } => {
                let calendar = self.own_calendar(id, "renamed").await?;
                // A personal name for the calendar hides its own name.
                let (path, key): (&[&str], _) = match some(&calendar, "summaryOverride") {
                    Some(_) => (&["users", "me", "calendarList", id.as_str()], "summaryOverride"),
                    None => (&["calendars", id.as_str()], "summary"),
                };
                let url = self.at(path, &[])?;
                let body = json!({key: name});
                self.google.send(Method::PATCH, &url, None, Some(&body)).await
            }
            CalendarOp::Delete { id } => {
                let calendar = self.own_calendar(id, "deleted").await?;
                if id == PRIMARY || flag(&calendar, "primary") {
                    return Err(Error::argument("the main calendar cannot be deleted")
                        .next("delete its events, or name another calendar"));
                }
                let url = self.at(&["calendars", id.as_str()], &[])?;
                self.google.send(Method::DELETE, &url, None, None).await
            }
        };
        // Cleared after errors, too: the write may have been carried out.
        *self.calendars.lock().await = None;
        let done = match sent {
            Err(error) => {
                let done = || self.confirm_calendar(op);
                let done = self.google.settle(error, done).await;
                // Looking up the effect may have cached a list from before it.
                *self.calendars.lock().await = None;
                done?
            }
            Ok(done) => done,
        };
        let id = match op {
            CalendarOp::Delete { .. } => return Ok(None),
            CalendarOp::Rename { id, .. } => id.as_str(),
            CalendarOp::Create { .. } => text(&done, "id"),
        };
        // The list entry has more properties than the calendar itself.
        let in_path = &path_segment(id);
        let listed = call!(self, "*", |hub| hub.calendar_list().get(in_path));
        Ok(Some(listed.unwrap_or(done)))
    }

    /// Looks up a calendar after a write; `None` until the write has taken effect. A new calendar
    /// is recognized by its name, which was unique before.
    async fn confirm_calendar(&self, op: &CalendarOp) -> Result<Option<Value>> {
        *self.calendars.lock().await = None;
        let now = self.calendar_list().await?;
        let with = |id: &CalendarId| now.iter().find(|one| id == text(one, "id"));
        Ok(match op {
            CalendarOp::Create { name, .. } => {
                now.iter().find(|calendar| text(calendar, "summary") == name)
            }
            CalendarOp::Rename { id, name } => with(id).filter(|calendar| {
                let named = some(calendar, "summaryOverride");
                named.as_deref().unwrap_or(text(calendar, "summary")) == name
            }),
            CalendarOp::Delete { id } => return Ok(with(id).is_none().then_some(Value::Null)),
        }
        .cloned())
    }

    /// Returns a listed calendar that the account owns.
    async fn own_calendar(&self, id: &CalendarId, done: &str) -> Result<Value> {
        check_calendar(id.as_str())?;
        let calendars = self.calendar_list().await?;
        let found = calendars.into_iter().find(|calendar| {
            id == text(calendar, "id") || (id == PRIMARY && flag(calendar, "primary"))
        });
        match found {
            None => Err(Error::new(ErrorKind::NotFound, "the account has no such calendar")
                .next("see lookup kind=calendars")),
            Some(calendar) if text(&calendar, "accessRole") != "owner" => {
                Err(Error::argument(format!("somebody else's calendar cannot be {done}"))
                    .next("ask its owner"))
            }
            Some(calendar) => Ok(calendar),
        }
    }

    /// Adds the calendar's owner to an imported event: Google refuses events of others to which the
    /// owner is not invited.
    fn taking_part(&self, calendar: &CalendarId, event: &EventPatch) -> EventPatch {
        let mut event = event.clone();
        let me = if calendar == PRIMARY { &self.own } else { calendar.as_str() };
        let is_me = |guest: &EventGuest| guest.address.is(me);
        let calls = event.organizer.as_ref().is_none_or(is_me);
        let guests = event.guests.get_or_insert_default();
        if !calls && !guests.iter().any(is_me) {
            guests.push(EventGuest { address: me.into(), me: true, ..EventGuest::default() });
        }
        event
    }

    /// Waits for the link of the event's meeting, which Google creates asynchronously.
    async fn await_meeting_link(&self, event: Value) -> Value {
        let pending = |event: &Value| {
            event.pointer("/conferenceData/createRequest/status/statusCode")
                == Some(&Value::from("pending"))
        };
        let mut event = event;
        for _ in 0..LOOKS {
            if !pending(&event) {
                break;
            }
            let calendar = CalendarId::from(text(&event, "calendarId"));
            let again = self.fetch(&calendar, text(&event, "id"));
            match again.await {
                Ok(found) => event = found,
                // The event exists; only its link is missing.
                Err(_) => break,
            }
        }
        event
    }

    /// Returns an event, or `None` if it does not exist.
    async fn there(&self, calendar: &CalendarId, id: &str) -> Result<Option<Value>> {
        match self.fetch(calendar, id).await {
            Ok(found) => Ok(Some(found)),
            Err(missing) if missing.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Returns the calendar and the id of a fetched event.
    async fn calendar_and_id(&self, event: &Value) -> Result<(CalendarId, String)> {
        let id = some(event, "id").ok_or_else(|| {
            Error::new(ErrorKind::Internal, "an event without an id was to be changed")
        })?;
        match some(event, "calendarId") {
            Some(calendar) => Ok((calendar.into(), id)),
            None => Ok((self.primary().await?, id)),
        }
    }

    /// Returns the IANA name of a calendar's zone.
    async fn zone(&self, calendar: &CalendarId) -> Result<String> {
        let calendars = self.calendar_list().await?;
        let found = calendars.iter().find(|one| {
            calendar == text(one, "id") || (calendar == PRIMARY && flag(one, "primary"))
        });
        Ok(found.and_then(|one| some(one, "timeZone")).unwrap_or_else(|| "UTC".to_owned()))
    }

    fn at(&self, path: &[&str], params: &[(&str, &str)]) -> Result<Url> {
        let path: Vec<_> = path.iter().map(|part| path_segment(part)).collect();
        let mut url = self
            .base
            .join(&path.join("/"))
            .map_err(|_opaque| Error::new(ErrorKind::Internal, "Google's URL does not parse"))?;
        if !params.is_empty() {
            url.query_pairs_mut().extend_pairs(params);
        }
        Ok(url)
    }
}

/// Returns the value of `sendUpdates` for a choice of the guests to notify.
fn send_updates(notify: GuestNotice) -> &'static str {
    match notify {
        GuestNotice::All => "all",
        GuestNotice::External => "externalOnly",
        GuestNotice::Nobody => "none",
    }
}

fn set(body: &mut Value, key: &str, value: Value) {
    if let Some(body) = body.as_object_mut() {
        body.insert(key.to_owned(), value);
    }
}

/// Returns a unique random id, in characters that Google accepts.
fn random() -> Result<String> {
    use std::fmt::Write as _;
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|_| Error::new(ErrorKind::Internal, "the system random generator failed"))?;
    Ok(bytes.iter().fold(String::new(), |mut id, byte| {
        let _ = write!(id, "{byte:02x}");
        id
    }))
}
