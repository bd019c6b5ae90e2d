//! The JSON bodies of requests to Google, read as Google reads them: names that
//! the type does not have and values of another type are errors.

use base64::Engine;
use base64::alphabet::URL_SAFE;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Map, Value};

use super::error;
use super::fields::FieldShape;
use crate::http::HttpResponse;

/// How bytes stand in JSON: with padding or without.
const BYTES: GeneralPurpose = GeneralPurpose::new(
    &URL_SAFE,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// An object of known names; nothing at all is an empty one.
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

/// Refuses the first name that a type does not have, at any depth.
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

/// A text; nothing for one that is missing or null.
pub(crate) fn text<'a>(
    body: &'a Map<String, Value>,
    name: &str,
) -> Result<Option<&'a str>, HttpResponse> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(wrong(name, "TYPE_STRING", other)),
    }
}

/// A truth value.
pub(crate) fn flag(body: &Map<String, Value>, name: &str) -> Result<Option<bool>, HttpResponse> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(other) => Err(wrong(name, "TYPE_BOOL", other)),
    }
}

/// A list of texts; an empty one where it is missing.
pub(crate) fn texts<'a>(
    body: &'a Map<String, Value>,
    name: &str,
) -> Result<Vec<&'a str>, HttpResponse> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(items)) => items
            .iter()
            .map(|item| {
                let text = item.as_str();
                text.ok_or_else(|| wrong(name, "TYPE_STRING", item))
            })
            .collect(),
        Some(other) => Err(wrong(name, "TYPE_STRING", other)),
    }
}

/// An object in the object.
pub(crate) fn inner<'a>(
    body: &'a Map<String, Value>,
    name: &str,
) -> Result<Option<&'a Map<String, Value>>, HttpResponse> {
    match body.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(members)) => Ok(Some(members)),
        Some(other) => Err(wrong(name, "TYPE_MESSAGE", other)),
    }
}

/// Bytes, which stand there as base64url.
pub(crate) fn bytes(
    body: &Map<String, Value>,
    name: &str,
) -> Result<Option<Vec<u8>>, HttpResponse> {
    let Some(text) = text(body, name)?.filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    // The other alphabet is taken as well.
    let text = text.replace('+', "-").replace('/', "_");
    let bytes = BYTES.decode(text);
    bytes.map(Some).map_err(|_| {
        error::bad_field(
            name,
            &format!("Invalid value at '{name}' (TYPE_BYTES), Base64 decoding failed."),
        )
    })
}

/// The refusal of a value that is not of the field's type.
fn wrong(name: &str, kind: &str, value: &Value) -> HttpResponse {
    let shown = match value {
        Value::String(text) => text.clone(),
        Value::Number(_) | Value::Bool(_) => value.to_string(),
        _ => String::new(),
    };
    error::invalid_value(name, kind, &shown)
}
