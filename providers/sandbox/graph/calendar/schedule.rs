//! `getSchedule`: the busy times of people and rooms.

use daysheet_core::event::EventVisibility;
use daysheet_core::event::time::resolve;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value, json};

use super::context::CalendarContext;
use super::draft::parse_time;
use super::event::show_as;
use super::places::is_room;
use crate::graph::error::{GraphError, invalid_parameter, invalid_property};
use crate::graph::response::{GraphBody, GraphResponse};
use crate::graph::types::SCHEDULE;
use crate::graph::types::read::read;
use crate::graph::user::working_hours;
use crate::graph::zones::{RequestedZone, windows_name};
use crate::json::present;
use crate::store::calendars::expand::EventOccurrence;
use crate::store::calendars::same;

/// The maximum number of people and rooms in one request.
const MAX_PEOPLE: usize = 20;

/// The longest time range.
const MAX_SPAN: SignedDuration = SignedDuration::from_hours(24 * 62);

/// The times of a request.
struct ScheduleRequest {
    from: Timestamp,
    to: Timestamp,
    /// The length of a slot in the availability view, in minutes.
    interval: i64,
}

/// Answers with a schedule for each address.
pub(crate) fn schedules(context: &CalendarContext<'_>) -> Result<GraphResponse, GraphError> {
    let body = read(context.base.request, &SCHEDULE, true)?;
    let who = body.get("schedules").and_then(Value::as_array);
    let who = who.filter(|all| !all.is_empty());
    let who = who.ok_or_else(|| invalid_parameter("The parameter 'schedules' is missing."))?;
    if who.len() > MAX_PEOPLE {
        return Err(invalid_parameter(format!(
            "The number of schedules is over the limit of {MAX_PEOPLE}."
        )));
    }
    let ask = ask(&body)?;
    let rows: Vec<Value> = who
        .iter()
        .filter_map(Value::as_str)
        .map(|address| schedule(context, address, &ask))
        .collect();
    let base_url = context.base.request.base();
    let of = format!("{base_url}/v1.0/$metadata#Collection(microsoft.graph.scheduleInformation)");
    Ok(GraphResponse::new(GraphBody::Json(json!({
        "@odata.context": of,
        "value": rows,
    }))))
}

fn ask(body: &Map<String, Value>) -> Result<ScheduleRequest, GraphError> {
    let time = |name: &str| {
        let time = body.get(name).filter(|time| time.is_object());
        let time =
            time.ok_or_else(|| invalid_parameter(format!("The parameter '{name}' is missing.")))?;
        let (local, zone) = parse_time(time)?;
        Ok(resolve(local, &RequestedZone::from_name(&zone)?.zone))
    };
    let (from, to) = (time("startTime")?, time("endTime")?);
    let interval = body.get("availabilityViewInterval").and_then(Value::as_i64);
    let interval = interval.unwrap_or(30);
    if !(5..=1_440).contains(&interval) {
        return Err(invalid_parameter(
            "The merged free/busy interval has to be between 5 and 1440 minutes.",
        ));
    }
    if to <= from {
        return Err(invalid_property());
    }
    let length = from.duration_until(to);
    if length >= MAX_SPAN || length < SignedDuration::from_mins(interval) {
        return Err(invalid_parameter(
            "The time window has to be longer than the interval and shorter than 62 days.",
        ));
    }
    Ok(ScheduleRequest { from, to, interval })
}

/// Returns the schedule of one address.
fn schedule(context: &CalendarContext<'_>, address: &str, ask: &ScheduleRequest) -> Value {
    let main = context.agenda.main_of(address);
    if main.is_none() && !is_room(address) {
        // An unknown person is an error of their schedule alone, not of the request.
        return json!({
            "scheduleId": address,
            "error": {
                "message": format!(
                    "Unable to resolve e-mail address {address} to an Active Directory object."
                ),
                "responseCode": "5009",
            },
        });
    }
    let zone = main.and_then(|place| context.agenda.calendar(place));
    let zone = zone.map_or("UTC", |calendar| windows_name(&calendar.zone));
    let busy: Vec<(Timestamp, Timestamp, &str, Value)> = main
        .into_iter()
        .flat_map(|place| context.agenda.occurrences(place, ask.from, ask.to))
        .map(|it| {
            let status = show_as(&it.event, address);
            let item = busy_item(context, address, &it, status);
            (it.from, it.to, status, item)
        })
        .collect();
    let spans = busy.iter().map(|(from, to, status, _)| (*from, *to, *status));
    let view = merge_spans(&spans.collect::<Vec<_>>(), ask);
    let items: Vec<Value> = busy.into_iter().map(|(.., item)| item).collect();
    json!({
        "scheduleId": address,
        "availabilityView": view,
        "scheduleItems": items,
        "workingHours": working_hours(zone),
    })
}

/// Returns one busy time. Its subject and place are returned to the owner alone, because no one
/// else was given access to them.
fn busy_item(
    context: &CalendarContext<'_>,
    address: &str,
    occurrence: &EventOccurrence<'_>,
    status: &str,
) -> Value {
    let event = &occurrence.event;
    let zone = &context.zone;
    let time = |at: Timestamp| json!({ "dateTime": zone.local(at), "timeZone": zone.name });
    let private =
        matches!(event.visibility, EventVisibility::Private | EventVisibility::Confidential);
    let own = same(address, context.owner());
    present(json!({
        "isPrivate": own.then_some(private),
        "subject": own.then_some(&event.title),
        "location": own.then_some(&event.place),
        "status": status,
        "start": time(occurrence.from),
        "end": time(occurrence.to),
    }))
}

/// Returns the availability view: a digit for each slot, of the busiest event in it.
fn merge_spans(spans: &[(Timestamp, Timestamp, &str)], ask: &ScheduleRequest) -> String {
    let length = SignedDuration::from_mins(ask.interval);
    let mut view = String::new();
    let mut from = ask.from;
    while from < ask.to {
        let to = from.checked_add(length).unwrap_or(Timestamp::MAX);
        let to = to.min(ask.to);
        let within = spans.iter().filter(|(start, end, _)| *start < to && *end > from);
        let sign = within.map(|(_, _, status)| match *status {
            "tentative" => '1',
            "busy" => '2',
            "oof" => '3',
            _ => '0',
        });
        // The digits increase with priority, so the greatest one wins.
        view.push(sign.max().unwrap_or('0'));
        from = to;
    }
    view
}
