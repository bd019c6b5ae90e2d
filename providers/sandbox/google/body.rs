//! JSON bodies of requests to Google's APIs, read as strictly as Google does: unknown names and
//! values of a wrong type are errors.

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Map, Value};

use super::error;
use super::fields::FieldShape;
use crate::http::HttpResponse;
use crate::json::member;

/// The encoding of bytes in JSON, with or without padding.
const BYTES: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Reads an object with known names. An empty body is an empty object.
///
/// # Errors
/// 400 for invalid JSON or an unknown name.
pub(crate) fn object(body: &[u8], shape: &FieldShape) -> Result<Map<String, Value>, HttpResponse> {
    if body.trim_ascii().is_empty() {
        return Ok(Map::new());
    }
    let unread = || error::parse_error("Invalid JSON payload received.");
    match serde_json::from_slice(body).map_err(|_| unread())? {
        Value::Object(members) => {
            check_names(&members, shape, "")?;
            Ok(members)
        }
        _ => Err(unread()),
    }
}

/// Refuses the first unknown name at any depth.
fn check_names(
    members: &Map<String, Value>,
    shape: &FieldShape,
    at: &str,
) -> Result<(), HttpResponse> {
    for (name, value) in members {
        let field = shape.0.iter().find(|(known, _)| known == name);
        let Some((_, inner)) = field else {
            return Err(error::unknown_field(at, name));
        };
        let at = match at {
            "" => name.clone(),
            _ => format!("{at}.{name}"),
        };
        let Some(inner) = inner else {
            continue;
        };
        match value {
            Value::Object(members) => check_names(members, inner, &at)?,
            Value::Array(items) => {
                for (place, item) in items.iter().enumerate() {
                    if let Value::Object(members) = item {
                        check_names(members, inner, &format!("{at}[{place}]"))?;
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}

/// Returns a string, or `None` if it is missing or null.
pub(crate) fn text<'a>(
    body: &'a Map<String, Value>,
    name: &str,
) -> Result<Option<&'a str>, HttpResponse> {
    member(body, name, Value::as_str).map_err(|other| wrong(name, "TYPE_STRING", other))
}

/// Returns a boolean, or `None` if it is missing or null.
pub(crate) fn flag(body: &Map<String, Value>, name: &str) -> Result<Option<bool>, HttpResponse> {
    member(body, name, Value::as_bool).map_err(|other| wrong(name, "TYPE_BOOL", other))
}

/// Returns a list of strings, empty if it is missing.
pub(crate) fn texts<'a>(
    body: &'a Map<String, Value>,
    name: &str,
) -> Result<Vec<&'a str>, HttpResponse> {
    let wrong = |other| wrong(name, "TYPE_STRING", other);
    let items = member(body, name, Value::as_array).map_err(wrong)?;
    items.into_iter().flatten().map(|item| item.as_str().ok_or_else(|| wrong(item))).collect()
}

/// Returns a nested object, or `None` if it is missing or null.
pub(crate) fn inner<'a>(
    body: &'a Map<String, Value>,
    name: &str,
) -> Result<Option<&'a Map<String, Value>>, HttpResponse> {
    member(body, name, Value::as_object).map_err(|other| wrong(name, "TYPE_MESSAGE", other))
}

/// Returns bytes from base64url.
pub(crate) fn bytes(
    body: &Map<String, Value>,
    name: &str,
) -> Result<Option<Vec<u8>>, HttpResponse> {
    let Some(text) = text(body, name)?.filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    // As in all JSON of protobuf messages, the standard alphabet is accepted as well.
    let text = text.replace('+', "-").replace('/', "_");
    let bytes = BYTES.decode(text);
    bytes.map(Some).map_err(|_| {
        error::bad_field(
            name,
            &format!("Invalid value at '{name}' (TYPE_BYTES), Base64 decoding failed."),
        )
    })
}

/// Returns the refusal of a value of a wrong type.
fn wrong(name: &str, kind: &str, value: &Value) -> HttpResponse {
    let shown = match value {
        Value::String(text) => text.clone(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        _ => String::new(),
    };
    error::invalid_value(name, kind, &shown)
}
