//! The larger parts of an event as sent by clients: guests, the conference, the properties of event
//! types, and properties that are stored as sent.

use daysheet_core::event::InvitationAnswer;
use daysheet_core::event::{EventGuest, EventVisibility, ShowAs};
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::error::{self as refuse, bad_value};
use super::event::{MEET, ORGANIZER_ASKED, is_organizer, meet, own as own_of};
use crate::http::HttpResponse;
use crate::json::{member, merge};
use crate::store::calendars::{GuestAnswer, StoredCalendar, StoredEvent, same};

/// The properties that are stored as sent.
const AS_SENT: [&str; 4] = ["guestsCanInviteOthers", "guestsCanModify", "source", "attachments"];

/// The context in which a body is read.
pub(super) struct BodyReading<'a> {
    /// The calendar of the event.
    pub calendar: &'a StoredCalendar,
    /// True if the client supports conferences.
    pub conference: bool,
    /// True if the client supports attachments.
    pub attachments: bool,
    /// True for a new event, whose type can still be chosen.
    pub new: bool,
    /// True for an imported event, which has an organizer of its own.
    pub import: bool,
    /// The current time.
    pub now: Timestamp,
}

/// Reads the complete list of guests.
pub(super) fn attendees(
    body: &Map<String, Value>,
    event: &mut StoredEvent,
    own: &mut Map<String, Value>,
    reading: &BodyReading<'_>,
) -> Result<(), HttpResponse> {
    let sent = member(body, "attendees", Value::as_array).map_err(|_| bad_value("attendees"))?;
    // Google replaces the list as a whole: a guest who is missing from it is removed.
    let before = std::mem::take(&mut event.guests);
    event.organizer.answer = None;
    for one in sent.into_iter().flatten() {
        let Value::Object(one) = one else {
            return Err(bad_value("attendees"));
        };
        let wrong = |key: &str| bad_value(&format!("attendees.{key}"));
        let text = |key: &str| member(one, key, Value::as_str).map_err(|_| wrong(key));
        let address = text("email")?.ok_or_else(|| refuse::missing("Missing attendee email."))?;
        if !is_address(address) {
            return Err(refuse::invalid("Invalid attendee email."));
        }
        let answer = match text("responseStatus")? {
            None | Some("needsAction") => None,
            Some("accepted") => Some(InvitationAnswer::Accepted),
            Some("declined") => Some(InvitationAnswer::Declined),
            Some("tentative") => Some(InvitationAnswer::Tentative),
            Some(_) => return Err(bad_value("attendees.responseStatus")),
        };
        let flag = |key: &str| member(one, key, Value::as_bool).map_err(|_| wrong(key));
        comment(event, address, text("comment")?, reading.now);
        let owner = &reading.calendar.owner;
        let organizes = if is_organizer(event, reading.calendar) {
            same(address, owner) || same(address, &reading.calendar.id)
        } else {
            event.organizer.address.is(address)
        };
        if organizes {
            event.organizer.answer = answer;
            if answer.is_none() {
                own.insert(ORGANIZER_ASKED.to_owned(), true.into());
            }
            continue;
        }
        // A guest who is listed twice is invited once.
        if event.guest(address).is_some() {
            continue;
        }
        // A client that omits the name does not remove it.
        let known = before.iter().find(|known| known.address.is(address));
        let name = text("displayName")?.map(str::to_owned);
        event.guests.push(EventGuest {
            address: address.into(),
            name: name.or_else(|| known.and_then(|known| known.name.clone())),
            answer,
            optional: flag("optional")?.unwrap_or_default(),
            room: flag("resource")?.unwrap_or_default(),
            ..EventGuest::default()
        });
    }
    Ok(())
}

/// Records a comment on an answer.
fn comment(event: &mut StoredEvent, address: &str, comment: Option<&str>, now: Timestamp) {
    let comment = comment.filter(|comment| !comment.is_empty());
    let known = event.replies.iter_mut().find(|it| same(&it.address, address));
    match (known, comment) {
        (Some(known), comment) => known.comment = comment.map(str::to_owned),
        (None, Some(comment)) => event.replies.push(GuestAnswer {
            address: address.to_owned(),
            at: now,
            comment: Some(comment.to_owned()),
            proposed: None,
        }),
        (None, None) => {}
    }
}

/// Returns true if a text can be an address.
pub(super) fn is_address(text: &str) -> bool {
    let Some((local, domain)) = text.rsplit_once('@') else {
        return false;
    };
    let plain =
        |char: char| !char.is_whitespace() && !char.is_control() && !"<>,;@\"".contains(char);
    let dots = domain.split('.').all(|label| !label.is_empty());
    !local.is_empty() && dots && local.chars().all(plain) && domain.chars().all(plain)
}

/// Creates, keeps or removes the conference. Clients without support for conferences do not change
/// it.
pub(super) fn conference(
    body: &Map<String, Value>,
    base: &StoredEvent,
    event: &mut StoredEvent,
    own: &mut Map<String, Value>,
    reading: &BodyReading<'_>,
) -> Result<(), HttpResponse> {
    const KEY: &str = "conferenceData";
    let had = own_of(base).and_then(|own| own.get(KEY));
    let mut keep = |data: Value| own.insert(KEY.to_owned(), data);
    // Without `conferenceDataVersion=1`, Google ignores the conference data of a body.
    if !reading.conference {
        had.cloned().map(keep);
        return Ok(());
    }
    let data = member(body, KEY, Value::as_object).map_err(|_| bad_value(KEY))?;
    let Some(data) = data else {
        event.link = None;
        return Ok(());
    };
    if let Some(entries) = data.get("entryPoints").and_then(Value::as_array) {
        let uri = |entry: &Value| entry.get("uri")?.as_str().map(str::to_owned);
        let video = entries.iter().find(|it| it["entryPointType"] == "video");
        let link = video.or(entries.first()).and_then(uri);
        event.link = Some(link.ok_or_else(|| bad_value("conferenceData.entryPoints"))?);
        keep(data.clone().into());
        return Ok(());
    }
    // Without entry points, only a request to create a conference is valid.
    let Some(wish) = data.get("createRequest").filter(|wish| wish.is_object()) else {
        return Err(bad_value(KEY));
    };
    let id = wish.get("requestId").and_then(Value::as_str).unwrap_or_default();
    if id.is_empty() {
        return Err(bad_value("conferenceData.createRequest.requestId"));
    }
    let kind = wish.pointer("/conferenceSolutionKey/type");
    if kind.is_some_and(|kind| kind != "hangoutsMeet") {
        return Err(refuse::invalid("Invalid conference type value."));
    }
    // Google ignores a creation request with the id of an earlier one.
    let done = had.filter(|had| had.pointer("/createRequest/requestId") == wish.get("requestId"));
    if let Some(done) = done {
        keep(done.clone());
        return Ok(());
    }
    let code = meet_code(&format!("{}\n{id}", event.id));
    let mut made = json!({
        "createRequest": {
            "requestId": id,
            "conferenceSolutionKey": { "type": "hangoutsMeet" },
            "status": { "statusCode": "success" },
        },
    });
    merge(&mut made, meet(&code));
    event.link = Some(format!("{MEET}{code}"));
    keep(made);
    Ok(())
}

/// Returns a code in the form of Meet's: three, four and three letters.
fn meet_code(seed: &str) -> String {
    let digest = Sha256::digest(seed);
    let characters = digest.iter().take(10).map(|byte| char::from(b'a' + byte % 26));
    let mut code = String::new();
    for (place, character) in characters.enumerate() {
        if place == 3 || place == 7 {
            code.push('-');
        }
        code.push(character);
    }
    code
}

/// Reads properties that are stored as sent, unless they have their default value.
pub(super) fn as_sent(
    body: &Map<String, Value>,
    base: &StoredEvent,
    own: &mut Map<String, Value>,
    reading: &BodyReading<'_>,
) -> Result<(), HttpResponse> {
    for key in AS_SENT {
        // Without `supportsAttachments`, Google leaves attachments as they are.
        if key == "attachments" && !reading.attachments {
            let had = own_of(base).and_then(|own| own.get(key));
            had.map(|had| own.insert(key.to_owned(), had.clone()));
            continue;
        }
        let Some(value) = body.get(key).filter(|value| !value.is_null()) else {
            continue;
        };
        let fits = match key {
            "attachments" => value.is_array(),
            "source" => {
                let url = value.get("url").and_then(Value::as_str).unwrap_or_default();
                url.starts_with("https://") || url.starts_with("http://")
            }
            _ => value.is_boolean(),
        };
        if !fits {
            return Err(bad_value(key));
        }
        // Google omits default values; guests may invite others by default.
        if *value != Value::Bool(key == "guestsCanInviteOthers") {
            own.insert(key.to_owned(), value.clone());
        }
    }
    Ok(())
}

/// Checks an event that shows its owner's status, and returns its properties, which the body has
/// under `key`.
pub(super) fn status_properties(
    body: &Map<String, Value>,
    event: &StoredEvent,
    key: &str,
    free: bool,
    reading: &BodyReading<'_>,
) -> Result<Option<Value>, HttpResponse> {
    let (reason, noun) = match event.show {
        ShowAs::Oof => ("malformedOutOfOfficeEvent", "An out of office event"),
        ShowAs::Focus => ("malformedFocusTimeEvent", "A focus time event"),
        _ => ("malformedWorkingLocationEvent", "A working location event"),
    };
    let place = event.show == ShowAs::Elsewhere;
    let faults = [
        (!reading.calendar.main, "can only be on a primary calendar."),
        (!event.guests.is_empty(), "cannot have attendees."),
        (!place && event.start.when().is_day(), "cannot be an all-day event."),
        (!place && free, "must have a transparency setting of opaque."),
        (place && !free, "must have a transparency setting of transparent."),
        (
            place && event.visibility != EventVisibility::Public,
            "must have a visibility setting of public.",
        ),
    ];
    if let Some((_, fault)) = faults.iter().find(|(is, _)| *is) {
        return Err(refuse::rule_broken(reason, &format!("{noun} {fault}")));
    }
    match body.get(key) {
        Some(sent @ Value::Object(properties)) => {
            let kind = properties.get("type").and_then(Value::as_str);
            let known = ["homeOffice", "customLocation"];
            if place && !kind.is_some_and(|kind| known.contains(&kind)) {
                return Err(bad_value("workingLocationProperties.type"));
            }
            Ok(Some(sent.clone()))
        }
        Some(Value::Null) | None if !place => Ok(None),
        Some(Value::Null) | None => {
            Err(refuse::missing("A working location event must have working location properties."))
        }
        Some(_) => Err(bad_value(key)),
    }
}
