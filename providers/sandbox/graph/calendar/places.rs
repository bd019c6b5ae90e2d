//! The tenant's rooms.

use serde_json::{Value, json};

use crate::graph::ids::named_guid;
use crate::graph::params::QueryOptions;
use crate::graph::response::GraphBody;
use crate::http::HttpRequest;
use crate::json::object;
use crate::store::calendars::same;

/// The rooms: address, name, building and number of seats.
const ROOMS: [(&str, &str, &str, i32); 2] = [
    ("room-fjord@example.com", "Fjord", "Harbour", 8),
    ("room-attic@example.com", "Attic", "Harbour", 20),
];

/// Returns true for the address of a room.
pub(super) fn is_room(address: &str) -> bool {
    ROOMS.iter().any(|(room, ..)| same(room, address))
}

/// Returns the tenant's rooms.
pub(crate) fn rooms(request: &HttpRequest, options: &QueryOptions<'_>) -> GraphBody {
    let rows: Vec<Value> = ROOMS
        .iter()
        .map(|(address, name, building, seats)| {
            let members = json!({
                "id": named_guid(address),
                "displayName": name,
                "emailAddress": address,
                "phone": "",
                "building": building,
                "floorLabel": null,
                "capacity": seats,
            });
            options.cut(object(members)).into()
        })
        .collect();
    let base_url = request.base();
    let context = format!("{base_url}/v1.0/$metadata#places/microsoft.graph.room");
    GraphBody::Json(json!({ "@odata.context": context, "value": rows }))
}
