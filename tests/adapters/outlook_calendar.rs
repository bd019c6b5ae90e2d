//! The Outlook calendar adapter: its requests to Graph, its writes, and how it handles responses.

use std::sync::Arc;

use daysheet_core::error::{ErrorKind, Result};
use daysheet_core::event::time::ZonedTime;
use daysheet_core::event::{
    Event, EventGuest, EventPatch, EventVisibility, InvitationAnswer, ShowAs,
};
use daysheet_core::project::{Projection, project};
use daysheet_core::provider::calendar::{
    CalendarOp, Calendars, EventListRequest, GuestNotice, InvitationReply, WorkingHours,
};
use daysheet_core::schemas::{ColumnLevel, EVENT, Service};
use serde_json::{Value, json};

use crate::tap::{HttpRequest, HttpResponse, Outlook, PREFER, each, empty, respond};

mod changes;
mod facts;
mod online;
mod reads;
mod sandboxed;
mod writes;
mod zones;

/// Returns the projection of the named columns.
fn columns(names: &[&str]) -> Projection {
    let columns: Vec<_> = names.iter().map(|name| EVENT.field(name).unwrap()).collect();
    project(Service::Microsoft, &columns)
}

/// A local time in Berlin.
pub fn berlin(text: &str) -> ZonedTime {
    ZonedTime::At(text.parse().unwrap(), "Europe/Berlin".to_owned())
}

/// An event of an hour in Berlin.
pub fn hour(title: &str, start: &str) -> EventPatch {
    let start: jiff::civil::DateTime = start.parse().unwrap();
    let end = start.checked_add(jiff::Span::new().hours(1)).unwrap();
    let zone = || "Europe/Berlin".to_owned();
    EventPatch {
        title: Some(title.to_owned()),
        time: Some((ZonedTime::At(start, zone()), ZonedTime::At(end, zone()))),
        ..EventPatch::default()
    }
}

pub fn guest(address: &str) -> EventGuest {
    EventGuest { address: address.into(), ..EventGuest::default() }
}

fn ids(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| event.id.as_str()).collect()
}

fn texts<'v>(items: &'v [Value], key: &str) -> Vec<&'v str> {
    items.iter().map(|item| item[key].as_str().unwrap_or("")).collect()
}

/// Everything in a range of the calendars named.
fn range(calendars: &[&str], from: &str, to: &str) -> EventListRequest {
    EventListRequest {
        calendars: calendars.iter().map(|id| ((*id).into(), None)).collect(),
        from: from.parse().unwrap(),
        to: to.parse().unwrap(),
        series: false,
        projection: project(Service::Microsoft, &EVENT.up_to(ColumnLevel::Core)),
        limit: 50,
    }
}

/// Returns the text of an error.
fn error_text<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => "nothing failed".to_owned(),
        Err(error) => error.to_string(),
    }
}
