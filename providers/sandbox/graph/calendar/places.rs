//! What belongs to no calendar: the zones that a mailbox knows, and the rooms
//! of the tenant.

use serde_json::{Value, json};

use crate::graph::call::ZONES;
use crate::graph::error::{Refusal, bad_request};
use crate::graph::ids::named_guid;
use crate::graph::pages;
use crate::graph::request::Asked;
use crate::graph::response::Body;
use crate::graph::zones::{iana_names, windows_names};
use crate::store::agenda::same;

/// The rooms, as address, name, building, floor and seats.
const ROOMS: [(&str, &str, &str, i32, i32); 2] = [
    ("room-fjord@example.com", "Fjord", "Harbour", 2, 8),
    ("room-attic@example.com", "Attic", "Harbour", 5, 20),
];

/// True for the address of a room.
pub(super) fn is_room(address: &str) -> bool {
    ROOMS.iter().any(|(room, ..)| same(room, address))
}

/// All zones, by the names of the standard that the path asks for.
pub(crate) fn zones(asked: &Asked<'_>, segment: &str) -> Result<Body, Refusal> {
    let parameters = segment.trim_start_matches(ZONES);
    let parameters = parameters.trim_start_matches('(').trim_end_matches(')');
    let standard = match parameters.split_once('=') {
        None if parameters.is_empty() => "Windows",
        Some((name, value)) if name.trim().eq_ignore_ascii_case("TimeZoneStandard") => {
            let value = value.trim();
            let value = value.trim_start_matches("microsoft.graph.timeZoneStandard");
            value.trim_matches('\'')
        }
        _ => return Err(bad_request(format!("Invalid parameters '{parameters}'."))),
    };
    let row = |(alias, name): (String, String)| json!({ "alias": alias, "displayName": name });
    let all: Vec<Value> = if standard.eq_ignore_ascii_case("Windows") {
        windows_names().map(row).collect()
    } else if standard.eq_ignore_ascii_case("Iana") {
        iana_names().map(row).collect()
    } else {
        return Err(bad_request(format!("The value '{standard}' is no time zone standard.")));
    };
    let base = pages::base(asked.request);
    let context = format!("{base}/v1.0/$metadata#Collection(microsoft.graph.timeZoneInformation)");
    Ok(Body::Json(json!({ "@odata.context": context, "value": all })))
}

/// The rooms of the tenant.
pub(crate) fn rooms(asked: &Asked<'_>) -> Result<Body, Refusal> {
    let rows: Vec<Value> = ROOMS
        .iter()
        .map(|(address, name, building, floor, seats)| {
            let members = json!({
                "id": named_guid(address),
                "displayName": name,
                "emailAddress": address,
                "nickname": name,
                "label": null,
                "phone": "",
                "building": building,
                "floorNumber": floor,
                "floorLabel": null,
                "capacity": seats,
                "bookingType": "standard",
                "isWheelChairAccessible": true,
                "audioDeviceName": null,
                "videoDeviceName": null,
                "displayDeviceName": null,
                "tags": [],
                "address": { "street": "1 Quay", "city": "Example" },
                "geoCoordinates": null,
            });
            asked.options.cut(crate::graph::people::object(members)).into()
        })
        .collect();
    let base = pages::base(asked.request);
    let context = format!("{base}/v1.0/$metadata#places/microsoft.graph.room");
    Ok(Body::Json(json!({ "@odata.context": context, "value": rows })))
}
