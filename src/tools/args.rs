//! Reading of arguments by their declared types: lenient in form, strict in type.
//!
//! The code that requests an argument by name interprets its value.

use daysheet_core::choice::{WordChoice, nearest};
use daysheet_core::error::{Error, Result};
use daysheet_core::text::brief;
use serde_json::{Map, Value};

use super::declaration::{ArgKind, Tool, ToolArgument};
use super::synonyms;

/// The arguments of a call by their declared names, read by their declared types.
pub(super) struct CallArguments {
    args: &'static [ToolArgument],
    given: Map<String, Value>,
}

impl CallArguments {
    /// Creates the arguments of a tool. Refuses unknown and missing ones.
    pub(super) fn new(tool: &'static Tool, arguments: Map<String, Value>) -> Result<Self> {
        Self::from_map(tool.name, tool.args, arguments, false)
    }

    /// Creates the arguments from the members of `name`. With `clearing`, an empty text counts as
    /// given: it clears the field.
    fn from_map(
        name: &str,
        args: &'static [ToolArgument],
        arguments: Map<String, Value>,
        clearing: bool,
    ) -> Result<Self> {
        let of = name;
        let mut given = Map::new();
        for (name, value) in arguments {
            let mut name = snake_case(&name);
            let takes = |name: &str| args.iter().any(|arg| arg.name == name);
            if let Some(meant) = synonyms::meant_argument(of, &name, takes) {
                name = meant.to_owned();
            }
            if !takes(&name) {
                return Err(unknown(of, args, &name));
            }
            // Clients may send null or an empty text for an argument that is not given.
            let empty = value.as_str().is_some_and(|text| text.trim().is_empty());
            let has_value = !value.is_null() && (clearing || !empty);
            // The same argument may come twice, under its own name and a synonym.
            if has_value && given.insert(name.clone(), value).is_some() {
                return Err(Error::argument(format!("`{name}` is given twice"))
                    .next("give it once, with all values"));
            }
        }
        for arg in args {
            if arg.required && !given.contains_key(arg.name) {
                return Err(Error::argument(format!("{of} needs `{}`", arg.name)).next(
                    match arg.kind {
                        ArgKind::Choice(words) => format!("use one of: {}", words.join(", ")),
                        _ => format!("add `{}`", arg.name),
                    },
                ));
            }
        }
        Ok(Self { args, given })
    }

    /// Returns the given arguments, by their declared names.
    pub(super) fn given(&self) -> &Map<String, Value> {
        &self.given
    }

    /// Returns true if an argument has a value. Empty lists and 0 do not count: libraries that make
    /// every argument required have the model fill them in.
    pub(super) fn has(&self, name: &str) -> bool {
        match self.given.get(name) {
            None => false,
            Some(Value::Array(items)) => !items.is_empty(),
            Some(value) => value.as_i64() != Some(0),
        }
    }

    /// Refuses arguments that cannot be combined with `beside`.
    pub(super) fn refuse_beside(&self, names: &[&str], beside: &str, next: &str) -> Result<()> {
        match names.iter().find(|name| self.has(name)) {
            None => Ok(()),
            Some(name) => {
                Err(Error::argument(format!("`{name}` cannot be combined with {beside}"))
                    .next(next))
            }
        }
    }

    /// Refuses arguments next to a cursor, which has the arguments of its search and might
    /// contradict them.
    pub(super) fn refuse_beside_cursor(
        &self,
        names: &[&str],
        cursor: &str,
        verb: &'static str,
    ) -> Result<()> {
        let beside = format!("the cursor `{}`", brief(cursor));
        self.refuse_beside(names, &beside, &format!("give the cursor alone, or {verb} without it"))
    }

    fn arg(&self, name: &str) -> Option<(&'static ToolArgument, &Value)> {
        let arg = self.args.iter().find(|arg| arg.name == name)?;
        Some((arg, self.given.get(name)?))
    }

    pub(super) fn text(&self, name: &str) -> Result<Option<String>> {
        match self.arg(name) {
            None => Ok(None),
            Some((_, Value::String(text))) if text.trim().is_empty() => Ok(None),
            Some((_, Value::String(text))) => Ok(Some(text.trim().to_owned())),
            Some((_, Value::Number(number))) => Ok(Some(number.to_string())),
            Some((_, other)) => Err(wrong(name, other, "text")),
        }
    }

    /// Returns a text to write; an empty one clears the field.
    pub(super) fn written(&self, name: &str) -> Result<Option<String>> {
        match self.arg(name) {
            Some((_, Value::String(text))) if text.trim().is_empty() => Ok(Some(String::new())),
            _ => self.text(name),
        }
    }

    /// Returns a text unchanged, with its white space. An empty one counts as given if the tool
    /// allows it.
    pub(super) fn verbatim(&self, name: &str) -> Result<Option<String>> {
        match self.arg(name) {
            Some((_, Value::String(text))) => Ok(Some(text.clone())),
            _ => self.text(name),
        }
    }

    /// Returns a list whose items may contain commas. A text is one item, unless it is a JSON list.
    pub(super) fn items(&self, name: &str) -> Result<Option<Vec<String>>> {
        match self.arg(name) {
            Some((_, Value::String(text))) if !text.trim_start().starts_with('[') => {
                Ok(Some(vec![text.trim().to_owned()]))
            }
            _ => self.list(name),
        }
    }

    /// Returns columns with their values, from a list of `column=value`, from an object, whose
    /// members are unchanged, or from a text with either as JSON.
    pub(super) fn columns(&self, name: &str) -> Result<Option<Map<String, Value>>> {
        const EXPECTED: &str = "a list of column=value";
        let Some((_, value)) = self.arg(name) else {
            return Ok(None);
        };
        let read;
        let members = match value {
            Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
                read = serde_json::from_str(text).map_err(|_| wrong(name, value, EXPECTED))?;
                &read
            }
            other => other,
        };
        let pairs = match members {
            Value::Object(members) => return Ok(Some(members.clone())),
            Value::Array(pairs) => pairs.as_slice(),
            one @ Value::String(_) => std::slice::from_ref(one),
            other => return Err(wrong(name, other, EXPECTED)),
        };
        let mut columns = Map::new();
        for pair in pairs {
            let split = pair.as_str().and_then(|pair| pair.split_once('='));
            let (column, text) = split.ok_or_else(|| wrong(name, pair, EXPECTED))?;
            let column = column.trim();
            if columns.insert(column.to_owned(), Value::from(text)).is_some() {
                return Err(Error::argument(format!("`{name}` has `{}` twice", brief(column)))
                    .next("give each column once; a list of values has commas between them"));
            }
        }
        Ok(Some(columns))
    }

    /// Returns a list of objects with these members. A single object is read as a list of one, and
    /// a text as JSON.
    pub(super) fn objects(
        &self,
        name: &str,
        members: &'static [ToolArgument],
    ) -> Result<Vec<Self>> {
        let Some((_, value)) = self.arg(name) else {
            return Ok(Vec::new());
        };
        let read;
        let value = match value {
            Value::String(text) => {
                // Invalid JSON gets the same error as any other value.
                read = serde_json::from_str(text).unwrap_or(Value::Null);
                &read
            }
            other => other,
        };
        let items = match value {
            Value::Array(items) => items.as_slice(),
            one @ Value::Object(_) => std::slice::from_ref(one),
            _ => return Err(wrong(name, value, "a list of objects")),
        };
        items
            .iter()
            .map(|item| match item {
                Value::Object(object) => Self::from_map(name, members, object.clone(), true),
                other => Err(wrong(name, other, "a list of objects")),
            })
            .collect()
    }

    /// Returns one of the words that the argument accepts.
    pub(super) fn choice<T: WordChoice>(&self, name: &str) -> Result<Option<T>> {
        let Some((ToolArgument { kind: ArgKind::Choice(words), .. }, value)) = self.arg(name)
        else {
            return Ok(None);
        };
        let word = value.as_str().map(|word| synonyms::meant_word(name, word.trim()));
        word.filter(|word| words.iter().any(|known| known.eq_ignore_ascii_case(word)))
            .and_then(T::from_word)
            .map(Some)
            .ok_or_else(|| wrong(name, value, &format!("one of: {}", words.join(", "))))
    }

    /// Returns a whole number within its limits, or `None` for 0, as for [`CallArguments::has`].
    pub(super) fn number_unless_zero(&self, name: &str) -> Result<Option<u32>> {
        match self.given.get(name).and_then(whole_number) {
            Some(0) => Ok(None),
            _ => self.number(name),
        }
    }

    /// Returns a whole number within its limits.
    pub(super) fn number(&self, name: &str) -> Result<Option<u32>> {
        let Some((ToolArgument { kind: ArgKind::Number(least, most, _), .. }, value)) =
            self.arg(name)
        else {
            return Ok(None);
        };
        whole_number(value)
            .and_then(|number| u32::try_from(number).ok())
            .filter(|number| (least..=most).contains(&number))
            .map(Some)
            .ok_or_else(|| wrong(name, value, &format!("a whole number from {least} to {most}")))
    }

    pub(super) fn switch(&self, name: &str) -> Result<Option<bool>> {
        let Some((_, value)) = self.arg(name) else {
            return Ok(None);
        };
        match (value, value.as_str().map(str::trim)) {
            (Value::Bool(flag), _) => Ok(Some(*flag)),
            (_, Some("true")) => Ok(Some(true)),
            (_, Some("false")) => Ok(Some(false)),
            _ => Err(wrong(name, value, "true or false")),
        }
    }

    /// Returns a list. A text is read as a JSON list, or as items separated by commas.
    pub(super) fn list(&self, name: &str) -> Result<Option<Vec<String>>> {
        let Some((_, value)) = self.arg(name) else {
            return Ok(None);
        };
        let items = match value {
            Value::Array(items) => items.clone(),
            Value::String(text) => match serde_json::from_str(text) {
                // A text may begin with a bracket without being JSON, and is split like any other.
                Ok(Value::Array(items)) => items,
                _ => text
                    .split(',')
                    .filter(|item| !item.trim().is_empty())
                    .map(Value::from)
                    .collect(),
            },
            other => return Err(wrong(name, other, "a list of strings")),
        };
        items
            .iter()
            .map(|item| match item {
                Value::String(text) => Ok(text.trim().to_owned()),
                other => Err(wrong(name, other, "a list of strings")),
            })
            .collect::<Result<Vec<_>>>()
            .map(Some)
    }
}

/// Returns a whole number, even if a client wrote it as text or with a fraction of 0.
fn whole_number(value: &Value) -> Option<i64> {
    let from_fraction =
        |number: f64| (number.fract() == 0.0 && number.abs() < 1e9).then_some(number as i64);
    match value {
        Value::String(text) => text.trim().parse().ok(),
        other => other.as_i64().or_else(|| other.as_f64().and_then(from_fraction)),
    }
}

/// Returns the error for an unknown argument, which suggests the most similar one first.
fn unknown(of: &str, args: &[ToolArgument], name: &str) -> Error {
    let known: Vec<_> = args.iter().map(|arg| arg.name).collect();
    let near = nearest(name, known.iter().copied());
    let some = match near {
        Some(near) => format!("use `{near}`, or some of: {}", known.join(", ")),
        None => format!("use some of: {}", known.join(", ")),
    };
    let name = shown(&Value::from(name));
    Error::argument(format!("{of} takes no argument `{name}`")).next(some)
}

fn wrong(name: &str, value: &Value, expected: &str) -> Error {
    Error::argument(format!("`{name}` cannot be `{}`", shown(value)))
        .next(format!("use {expected}"))
}

/// Returns a value as displayed in an error: short, on one line.
fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => brief(text),
        other => brief(&other.to_string()),
    }
}

pub(super) fn snake_case(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for char in name.chars() {
        if char.is_ascii_uppercase() {
            if !out.is_empty() {
                out.push('_');
            }
            out.push(char.to_ascii_lowercase());
        } else {
            out.push(char);
        }
    }
    out
}
