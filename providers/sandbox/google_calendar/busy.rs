//! Busy times of the user's own calendars and of other people of the sandbox.

use daysheet_core::event::InvitationAnswer;
use daysheet_core::event::ShowAs;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::error::{self as refuse, bad_value};
use super::event::{date_time, stamp};
use super::read::{rfc3339, text};
use crate::http::HttpResponse;
use crate::json::member;
use crate::store::calendars::SandboxCalendars;

/// The maximum number of calendars in one query.
const MAX_CALENDARS: usize = 50;

/// Returns the busy times of the calendars in a body.
pub(super) fn query(
    agenda: &SandboxCalendars,
    me: &str,
    body: &Map<String, Value>,
) -> Result<Value, HttpResponse> {
    let time = |name: &str| {
        let text = text(body, name)?.filter(|text| !text.is_empty());
        let text = text.ok_or_else(|| refuse::missing(&format!("Missing {name} parameter.")))?;
        rfc3339(&text).ok_or_else(|| refuse::bad("Bad Request"))
    };
    let (from, to) = (time("timeMin")?, time("timeMax")?);
    if to <= from {
        return Err(refuse::empty_range());
    }
    let zone = match text(body, "timeZone")?.filter(|zone| !zone.is_empty()) {
        None => TimeZone::UTC,
        Some(name) => TimeZone::get(&name).map_err(|_| bad_value("timeZone"))?,
    };
    let most = match body.get("calendarExpansionMax").filter(|it| !it.is_null()) {
        None => MAX_CALENDARS,
        Some(number) => {
            let number = number.as_u64().and_then(|number| usize::try_from(number).ok());
            let number = number.filter(|number| (1..=MAX_CALENDARS).contains(number));
            number.ok_or_else(|| bad_value("calendarExpansionMax"))?
        }
    };
    let items = member(body, "items", Value::as_array).map_err(|_| bad_value("items"))?;
    let mut calendars = Map::new();
    for (count, item) in items.into_iter().flatten().enumerate() {
        let id = item.get("id").and_then(Value::as_str);
        let id = id.ok_or_else(|| bad_value("items.id"))?;
        let known = match id {
            "primary" => agenda.main_of(me),
            // An address of another person means that person's main calendar.
            _ => agenda.calendar_by_id(me, id).or_else(|| agenda.main_of(id)),
        };
        let failed = |reason: &str| json!({ "errors": [{ "domain": "global", "reason": reason }], "busy": [] });
        let found = match known {
            // Google reports excess and unknown calendars one by one, and answers for the rest.
            _ if count >= most => failed("tooManyCalendarsRequested"),
            None => failed("notFound"),
            Some(place) => {
                let busy = busy(agenda, place, from, to).into_iter();
                let busy: Vec<Value> = busy
                    .map(|(from, to)| {
                        json!({ "start": date_time(from, &zone), "end": date_time(to, &zone) })
                    })
                    .collect();
                json!({ "busy": busy })
            }
        };
        calendars.insert(id.to_owned(), found);
    }
    Ok(json!({
        "kind": "calendar#freeBusy",
        "timeMin": stamp(from),
        "timeMax": stamp(to),
        "calendars": calendars,
    }))
}

/// Returns the times at which a calendar's owner is busy, without overlaps.
fn busy(
    agenda: &SandboxCalendars,
    place: usize,
    from: Timestamp,
    to: Timestamp,
) -> Vec<(Timestamp, Timestamp)> {
    let owner = agenda.calendar(place).map(|calendar| calendar.owner.as_str());
    let mut all: Vec<(Timestamp, Timestamp)> = Vec::new();
    for it in agenda.occurrences(place, from, to) {
        let guest = owner.and_then(|owner| it.event.guest(owner));
        let declined = guest.is_some_and(|it| it.answer == Some(InvitationAnswer::Declined));
        // Declined and zero-length events take no time; a working location only says where one is.
        if declined || matches!(it.event.show, ShowAs::Free | ShowAs::Elsewhere) || it.from == it.to
        {
            continue;
        }
        let (from, to) = (it.from.max(from), it.to.min(to));
        // Occurrences are sorted by start, so only the last period can overlap.
        match all.last_mut().filter(|(_, end)| from <= *end) {
            Some((_, end)) => *end = to.max(*end),
            None => all.push((from, to)),
        }
    }
    all
}
