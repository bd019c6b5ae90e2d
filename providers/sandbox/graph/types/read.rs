//! Checks of request bodies against the types of `types.rs`. Unknown properties and values of
//! the wrong type are refused before the values are interpreted, as Graph does.

use PropertyType::{Day, Instant, Many, Number, Of, Text, Truth, Word};
use hyper::body::Bytes;
use jiff::Timestamp;
use jiff::civil::Date;
use serde_json::{Map, Value};

use super::{ObjectType, PropertyType};
use crate::graph::error::{GraphError, bad_request, unreadable_body, wrong_body};
use crate::http::HttpRequest;

/// Reads a body of a type. It may be empty unless it is `needed`. Annotations are removed.
pub(crate) fn read(
    request: &HttpRequest,
    object: &'static ObjectType,
    needed: bool,
) -> Result<Map<String, Value>, GraphError> {
    if request.body.is_empty() {
        return if needed {
            Err(bad_request("Empty Payload. JSON content expected."))
        } else {
            Ok(Map::new())
        };
    }
    let kind = request.header("content-type").unwrap_or_default();
    // Graph reads JSON only if it is declared as such.
    if !kind.to_ascii_lowercase().starts_with("application/json") {
        return Err(unreadable_body());
    }
    parse(&request.body, object)
}

fn parse(body: &Bytes, object: &'static ObjectType) -> Result<Map<String, Value>, GraphError> {
    let value: Value = serde_json::from_slice(body).map_err(|_| unreadable_body())?;
    let members = match value {
        Value::Object(members) => members,
        other => return Err(node(&other, "StartObject")),
    };
    check_members(members, object)
}

/// Checks the members of an object. They are returned under the names of the type.
fn check_members(
    members: Map<String, Value>,
    object: &'static ObjectType,
) -> Result<Map<String, Value>, GraphError> {
    let mut out = Map::new();
    for (name, mut value) in members {
        // Annotations, such as `@odata.type`, belong to no type.
        if name.contains('@') {
            continue;
        }
        let same = |known: &str| {
            if object.loose { known.eq_ignore_ascii_case(&name) } else { known == name }
        };
        let Some((known, kind)) = object.members.iter().find(|(known, _)| same(known)) else {
            return Err(wrong_body(if object.loose {
                format!(
                    "The parameter '{name}' in the request payload is not a valid parameter for \
                     the operation."
                )
            } else {
                format!(
                    "The property '{name}' does not exist on type 'microsoft.graph.{}'. Make \
                     sure to only use property names that are defined by the type.",
                    object.name
                )
            }));
        };
        check(&mut value, kind)?;
        out.insert((*known).to_owned(), value);
    }
    Ok(out)
}

/// Checks a value. Words are returned in the case of their enumeration.
fn check(value: &mut Value, kind: &'static PropertyType) -> Result<(), GraphError> {
    let taken = value.take();
    *value = match (kind, taken) {
        // Collections are never null in OData, unlike all other properties.
        (Many(_), Value::Null) => return Err(node(&Value::Null, "StartArray")),
        (_, Value::Null) => Value::Null,
        (Text, Value::String(text)) => text.into(),
        (Truth, Value::Bool(truth)) => truth.into(),
        (Number, Value::Number(number)) => match whole_number(&number) {
            Some(number) => number.into(),
            None => return Err(literal(&number.to_string(), "Edm.Int32")),
        },
        (Number, Value::String(text)) => match text.parse::<i32>() {
            Ok(number) => number.into(),
            Err(_) => return Err(literal(&text, "Edm.Int32")),
        },
        (Day, Value::String(text)) => match text.parse::<Date>() {
            // Only `YYYY-MM-DD`: the parser also accepts other ISO forms.
            Ok(day) if text.len() == 10 => day.to_string().into(),
            _ => return Err(literal(&text, "Edm.Date")),
        },
        (Instant, Value::String(text)) => match text.parse::<Timestamp>() {
            Ok(_) => text.into(),
            Err(_) => return Err(literal(&text, "Edm.DateTimeOffset")),
        },
        (Word(words), Value::String(text)) => {
            let known = words.iter().find(|word| word.eq_ignore_ascii_case(&text));
            match known {
                Some(word) => (*word).into(),
                None => {
                    return Err(wrong_body(format!("Requested value '{text}' was not found.")));
                }
            }
        }
        (Many(inner), Value::Array(mut values)) => {
            for value in &mut values {
                check(value, inner)?;
            }
            // A null element says nothing that the callers could use.
            values.retain(|value| !value.is_null());
            values.into()
        }
        (Of(object), Value::Object(members)) => check_members(members, object)?.into(),
        (Many(_), other) => return Err(node(&other, "StartArray")),
        (Of(_), other) => return Err(node(&other, "StartObject")),
        (kind, other) => return Err(mismatch(kind, &other)),
    };
    Ok(())
}

fn whole_number(number: &serde_json::Number) -> Option<i32> {
    i32::try_from(number.as_i64()?).ok()
}

fn mismatch(kind: &PropertyType, value: &Value) -> GraphError {
    let kind = match kind {
        Truth => "Edm.Boolean",
        Number => "Edm.Int32",
        Day => "Edm.Date",
        Instant => "Edm.DateTimeOffset",
        _ => "Edm.String",
    };
    match value {
        Value::Array(_) | Value::Object(_) => node(value, "PrimitiveValue"),
        value => literal(value.as_str().unwrap_or(&value.to_string()), kind),
    }
}

fn literal(text: &str, kind: &str) -> GraphError {
    wrong_body(format!("Cannot convert the literal '{text}' to the expected type '{kind}'."))
}

fn node(value: &Value, expected: &str) -> GraphError {
    let found = match value {
        Value::Object(_) => "StartObject",
        Value::Array(_) => "StartArray",
        _ => "PrimitiveValue",
    };
    wrong_body(format!(
        "An unexpected '{found}' node was found when reading from the JSON reader. A '{expected}' \
         node was expected."
    ))
}
