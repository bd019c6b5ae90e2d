//! Google's partial answers: parsing, checking and applying the `fields` mask.
//!
//! `a,b/c,d(e,f/g),*` lists the fields to keep; a mask reaches through arrays. Google refuses masks
//! with names that the answer's type does not have, so each type is described by a [`FieldShape`], which
//! is declared next to the code that builds its JSON.

use serde_json::{Map, Value};

/// The maximum depth of a mask, because masks are parsed and applied recursively.
const MAX_DEPTH: usize = 64;

/// The fields of a type, each with its own type if it has fields itself.
#[derive(Debug)]
pub(crate) struct FieldShape(pub &'static [(&'static str, Option<&'static FieldShape>)]);

/// Declares a type by the names of its fields. The type of a nested field follows a colon.
macro_rules! shape {
    ($($name:literal $(: $inner:expr)?),+ $(,)?) => {
        $crate::google::fields::FieldShape(&[
            $(($name, $crate::google::fields::shape!(@ $($inner)?))),+
        ])
    };
    (@) => { None };
    (@ $inner:expr) => { Some($inner) };
}
pub(crate) use shape;

/// The fields that a mask selects of an object.
#[derive(Debug)]
pub(super) struct FieldMask {
    /// Names (or `*`), each with the mask below it. `None` selects everything below.
    selected: Vec<(String, Option<FieldMask>)>,
}

impl FieldMask {
    /// Parses a mask and checks it against a type. The error is the invalid selection.
    pub fn parse(text: &str, shape: &FieldShape) -> Result<Self, String> {
        let mut rest = text;
        let mask = list(&mut rest, MAX_DEPTH)?;
        if !rest.is_empty() {
            return Err(rest.to_owned());
        }
        mask.check(Some(shape))?;
        Ok(mask)
    }

    /// Returns the first name that the type does not have, as an error.
    fn check(&self, shape: Option<&FieldShape>) -> Result<(), String> {
        for (name, below) in &self.selected {
            let Some(FieldShape(fields)) = shape else {
                return Err(name.clone());
            };
            let inner: Vec<_> = match name.as_str() {
                "*" => fields.iter().map(|(_, inner)| *inner).collect(),
                _ => fields
                    .iter()
                    .filter(|(known, _)| known == name)
                    .map(|(_, inner)| *inner)
                    .collect(),
            };
            if inner.is_empty() {
                return Err(name.clone());
            }
            if let Some(below) = below {
                // Below `*`, one field that fits is enough.
                let tried: Vec<_> = inner.into_iter().map(|inner| below.check(inner)).collect();
                if !tried.iter().any(Result::is_ok) {
                    return tried.into_iter().next().unwrap_or(Ok(()));
                }
            }
        }
        Ok(())
    }

    /// Returns the selected part of a value.
    pub fn apply(&self, value: Value) -> Value {
        match value {
            Value::Array(items) => items.into_iter().map(|item| self.apply(item)).collect(),
            Value::Object(members) => Value::Object(self.members(members)),
            scalar => scalar,
        }
    }

    fn members(&self, members: Map<String, Value>) -> Map<String, Value> {
        let mut output = Map::new();
        for (key, value) in members {
            let mut masks = self
                .selected
                .iter()
                .filter(|(name, _)| *name == key || name == "*")
                .map(|(_, below)| below)
                .peekable();
            if masks.peek().is_none() {
                continue;
            }
            // `a/b,a/c` selects both; any plain `a` selects all of it.
            let below: Option<Vec<&FieldMask>> = masks.map(Option::as_ref).collect();
            let value = match below {
                None => value,
                Some(below) if has_members(&value) => union(&below, value),
                // A mask below a plain value selects nothing of it.
                Some(_) => continue,
            };
            output.insert(key, value);
        }
        output
    }
}

/// Returns true if a mask can select parts of the value.
fn has_members(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().all(Value::is_object),
        other => other.is_object(),
    }
}

/// Returns the parts of a value that any of several masks selects.
fn union(masks: &[&FieldMask], value: Value) -> Value {
    match masks {
        [only] => only.apply(value),
        _ => masks.iter().map(|mask| mask.apply(value.clone())).reduce(merge).unwrap_or_default(),
    }
}

/// Merges two selections of one value.
fn merge(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Object(mut one), Value::Object(other)) => {
            for (key, value) in other {
                let merged = match one.remove(&key) {
                    Some(known) => merge(known, value),
                    None => value,
                };
                one.insert(key, merged);
            }
            Value::Object(one)
        }
        // Both are selections of the same array and have the same length.
        (Value::Array(one), Value::Array(other)) => {
            let pairs = one.into_iter().zip(other);
            pairs.map(|(one, other)| merge(one, other)).collect()
        }
        (one, _) => one,
    }
}

/// Parses `a,b/c,d(e)` up to a closing bracket or the end.
fn list(rest: &mut &str, depth: usize) -> Result<FieldMask, String> {
    let mut selected = Vec::new();
    loop {
        selected.push(item(rest, depth)?);
        match rest.strip_prefix(',') {
            Some(after) => *rest = after,
            None => return Ok(FieldMask { selected }),
        }
    }
}

/// Parses one name and the mask below it.
fn item(rest: &mut &str, depth: usize) -> Result<(String, Option<FieldMask>), String> {
    let end = rest
        .find(|char: char| !(char.is_ascii_alphanumeric() || "*_-".contains(char)))
        .unwrap_or(rest.len());
    let (name, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
    if name.is_empty() || depth == 0 {
        return Err((*rest).to_owned());
    }
    *rest = after;
    if let Some(after) = rest.strip_prefix('/') {
        *rest = after;
        let below = item(rest, depth - 1)?;
        return Ok((name.to_owned(), Some(FieldMask { selected: vec![below] })));
    }
    let Some(after) = rest.strip_prefix('(') else {
        return Ok((name.to_owned(), None));
    };
    *rest = after;
    let below = list(rest, depth - 1)?;
    *rest = rest.strip_prefix(')').ok_or_else(|| format!("{name}("))?;
    Ok((name.to_owned(), Some(below)))
}
