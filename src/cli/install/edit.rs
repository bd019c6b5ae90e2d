//! Edits one entry of a client's settings file. The libraries that do this keep comments, order and
//! all other parts of the file.

use daysheet_core::error::{Error, ErrorKind, Result};
use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode};
use serde_json::{Map, Value};
use toml_edit::{DocumentMut, Item, TableLike};
use yaml_edit::{Document, Mapping};

use crate::deeplinks::ENTRY;

/// The notation of a settings file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SettingsNotation {
    /// JSON, with or without comments.
    Json,
    /// TOML.
    Toml,
    /// YAML.
    Yaml,
}

/// Members that decide how the server is started. Obsolete ones are removed from an entry.
const STARTS: &[&str] = &[
    "type", "source", "command", "cmd", "args", "url", "httpUrl", "serverUrl", "uri", "transport",
];
/// Members of entries that start a program. Clients refuse them beside a URL.
const OF_PROGRAMS: &[&str] =
    &["env", "environment", "envs", "env_keys", "env_vars", "envFile", "cwd"];
/// Members of entries with a URL, which clients refuse beside a program.
const OF_URLS: &[&str] =
    &["headers", "http_headers", "env_http_headers", "bearer_token_env_var", "oauth", "auth"];
/// Members that an entry gets only if the user has not set them.
const DEFAULTS: &[&str] = &["timeout", "description"];

/// The members of an entry. A null removes the variable with that name.
pub type EntryMembers = Map<String, Value>;

impl SettingsNotation {
    /// Returns the text of a settings file with the entry in the object below `keys`; without it if
    /// `entry` is `None`. Members that the user added to an entry stay.
    ///
    /// # Errors
    /// [`ErrorKind::Config`] if the file is damaged.
    pub fn with_entry(
        self,
        text: &str,
        keys: &[&str],
        entry: Option<&EntryMembers>,
    ) -> Result<String> {
        // Editors on Windows may begin a file with a byte order mark.
        let (mark, text) = match text.strip_prefix('\u{feff}') {
            Some(rest) => ("\u{feff}", rest),
            None => ("", text),
        };
        let edited = match self {
            Self::Json => edit_json(text, keys, entry),
            Self::Toml => edit_toml(text, keys, entry),
            Self::Yaml => edit_yaml(text, keys, entry),
        }?;
        // A file without an entry to remove stays as it is, to the byte.
        let Some(edited) = edited else {
            return Ok(format!("{mark}{text}"));
        };
        // Not every editor keeps the ends of lines of Windows.
        let ends = text.matches("\r\n").count();
        let edited = if ends > 0 && ends == text.matches('\n').count() {
            edited.replace("\r\n", "\n").replace('\n', "\r\n")
        } else {
            edited
        };
        Ok(format!("{mark}{edited}"))
    }
}

/// Returns the members that an entry must not keep.
fn obsolete(entry: &EntryMembers) -> impl Iterator<Item = &'static str> {
    let start = entry.get("transport").and_then(Value::as_object).unwrap_or(entry);
    let is_program = start.contains_key("command") || start.contains_key("cmd");
    let others = if is_program { OF_URLS } else { OF_PROGRAMS };
    STARTS.iter().chain(others).copied().filter(|name| !entry.contains_key(*name))
}

/// Returns a value for a new entry, which has no variables to remove.
fn fresh(value: &Value) -> Value {
    let Value::Object(members) = value else {
        return value.clone();
    };
    let members = members.iter().filter(|(_, value)| !value.is_null());
    let members: EntryMembers = members.map(|(name, value)| (name.clone(), fresh(value))).collect();
    // Variables that are all to be removed leave an empty object.
    let members = members.into_iter().filter(|(_, value)| *value != Value::Object(Map::new()));
    Value::Object(members.collect())
}

/// Returns the error about a damaged file.
fn damaged(notation: &str, why: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Config, format!("it is not valid {notation}: {why}"))
        .next("correct it, or add the entry by hand: --print shows it")
}

/// Returns the error about a value that is in the place of an object.
fn no_object(what: &str) -> Error {
    Error::new(ErrorKind::Config, format!("{what} is not an object"))
        .next("correct it, or add the entry by hand: --print shows it")
}

/// Returns the edited text; `None` if the file lacks the entry to remove.
fn edit_json(text: &str, keys: &[&str], entry: Option<&EntryMembers>) -> Result<Option<String>> {
    // No client reads more than comments and trailing commas.
    let options = ParseOptions {
        allow_comments: true,
        allow_trailing_commas: true,
        allow_loose_object_property_names: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let text = if text.trim().is_empty() { "{}\n" } else { text };
    let root = CstRootNode::parse(text, &options).map_err(|error| damaged("JSON", error))?;
    let mut object = root.object_value().ok_or_else(|| no_object("it"))?;
    for key in keys {
        let found = last_named(&object, key);
        let is_null = |found: &CstObjectProp| found.to_serde_value() == Some(Value::Null);
        object = match (found, entry) {
            (None, None) => return Ok(None),
            (Some(found), None) if is_null(&found) => return Ok(None),
            (None, Some(_)) => object.append(key, CstInputValue::Object(Vec::new())).object_value(),
            (Some(found), Some(_)) if is_null(&found) => Some(found.object_value_or_set()),
            (Some(found), _) => found.object_value(),
        }
        .ok_or_else(|| no_object(&format!("its `{key}`")))?;
    }
    let found = last_named(&object, ENTRY);
    match (found, entry) {
        (None, None) => return Ok(None),
        (Some(_), None) => {
            let all = object.properties().into_iter();
            let named = all.filter(|one| one.decoded_name().as_deref() == Some(ENTRY));
            named.for_each(CstObjectProp::remove);
        }
        (None, Some(entry)) => {
            object.append(ENTRY, json_input(&fresh(&Value::Object(entry.clone()))));
        }
        (Some(found), Some(entry)) => {
            let name = format!("its `{ENTRY}`");
            let found = found.object_value().ok_or_else(|| no_object(&name))?;
            // An older form of Cline's entries, which it still reads, has no object of its own for
            // the start.
            let flat = entry.get("transport").and_then(Value::as_object);
            let flat = flat.filter(|_| {
                found.get("transport").is_none()
                    && (found.get("command").is_some() || found.get("url").is_some())
            });
            merge_json(&found, flat.unwrap_or(entry), true);
        }
    }
    Ok(Some(root.to_string()))
}

/// Returns the last member with a name, which is the one that counts for readers of JSON.
fn last_named(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    let mut all = object.properties().into_iter();
    all.rfind(|one| one.decoded_name().as_deref() == Some(name))
}

/// Sets the members of an entry that differ. Obsolete members of the entry itself are removed.
fn merge_json(object: &CstObject, entry: &EntryMembers, is_entry: bool) {
    for (name, value) in entry {
        match (last_named(object, name), value) {
            (found, Value::Null) => found.into_iter().for_each(CstObjectProp::remove),
            (Some(_), _) if DEFAULTS.contains(&name.as_str()) => {}
            (Some(found), Value::Object(inner)) if found.object_value().is_some() => {
                found.object_value().into_iter().for_each(|at| {
                    merge_json(&at, inner, name == "transport");
                });
            }
            (Some(found), value) if found.to_serde_value().as_ref() == Some(value) => {}
            (Some(found), value) => found.set_value(json_input(&fresh(value))),
            (None, value) if fresh(value) == Value::Object(Map::new()) => {}
            (None, value) => drop(object.append(name, json_input(&fresh(value)))),
        }
    }
    for other in obsolete(entry).filter(|_| is_entry) {
        last_named(object, other).into_iter().for_each(CstObjectProp::remove);
    }
}

/// Converts a value for the editor of JSON.
fn json_input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(json_input).collect()),
        Value::Object(members) => CstInputValue::Object(
            members.iter().map(|(name, value)| (name.clone(), json_input(value))).collect(),
        ),
    }
}

/// Does the same as [`edit_json`].
fn edit_toml(text: &str, keys: &[&str], entry: Option<&EntryMembers>) -> Result<Option<String>> {
    let document: std::result::Result<DocumentMut, _> = text.parse();
    let mut document = document.map_err(|error| {
        let end = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text.get(..end).unwrap_or_default().lines().count().max(1);
        damaged("TOML", format!("{} on line {line}", error.message()))
    })?;
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for key in keys {
        if table.get(key).is_none() {
            if entry.is_none() {
                return Ok(None);
            }
            let mut above = toml_edit::Table::new();
            // Its header would only repeat the beginning of the entry's.
            above.set_implicit(true);
            table.insert(key, Item::Table(above));
        }
        let inner = table.get_mut(key).and_then(Item::as_table_like_mut);
        table = inner.ok_or_else(|| no_object(&format!("its `{key}`")))?;
    }
    match entry {
        None if table.get(ENTRY).is_none() => return Ok(None),
        None => {
            drop(table.remove(ENTRY));
            // The editor drops the comments above a table with the table.
            let lines = without_entry(text, keys);
            if is_same_toml(&lines, &document) {
                return Ok(Some(lines));
            }
        }
        Some(entry) => {
            if table.get(ENTRY).is_none() {
                table.insert(ENTRY, Item::Table(toml_edit::Table::new()));
            }
            let found = table.get_mut(ENTRY).and_then(Item::as_table_like_mut);
            merge_toml(found.ok_or_else(|| no_object(&format!("its `{ENTRY}`")))?, entry, true);
        }
    }
    Ok(Some(document.to_string()))
}

/// Returns the lines of a file without the table of the entry and its subtables. The comments above
/// the next table are kept.
fn without_entry(text: &str, keys: &[&str]) -> String {
    let name = format!("{}.{ENTRY}", keys.join("."));
    let (mut kept, mut own) = (String::new(), None::<String>);
    for line in text.split_inclusive('\n') {
        let header = line.trim_start().strip_prefix('[').map(|rest| rest.trim_start_matches('['));
        let header = header.map(|rest| rest.split(']').next().unwrap_or_default().trim());
        match header {
            Some(header) if header == name || header.starts_with(&format!("{name}.")) => {
                own = Some(String::new());
            }
            Some(_) => {
                kept.push_str(&own.take().unwrap_or_default());
                kept.push_str(line);
            }
            None => match &mut own {
                None => kept.push_str(line),
                // A value ends the comments before it.
                Some(own) if !matches!(line.trim_start().chars().next(), None | Some('#')) => {
                    own.clear();
                }
                Some(own) => own.push_str(line),
            },
        }
    }
    kept
}

/// Returns true if a text has the values of a document.
fn is_same_toml(text: &str, document: &DocumentMut) -> bool {
    let values = |text: &str| text.parse::<toml::Table>().ok();
    let (one, mut other) = (values(text), values(&document.to_string()));
    // An object of servers without any is the same as none.
    if let Some(other) = &mut other {
        other.retain(|_, value| value.as_table().is_none_or(|table| !table.is_empty()));
    }
    one.is_some() && one == other
}

/// Does the same as [`merge_json`].
fn merge_toml(table: &mut dyn TableLike, entry: &EntryMembers, is_entry: bool) {
    for (name, value) in entry {
        match (table.get_mut(name), value) {
            (_, Value::Null) => drop(table.remove(name)),
            (Some(_), _) if DEFAULTS.contains(&name.as_str()) => {}
            (Some(found), Value::Object(inner)) if found.is_table_like() => {
                found.as_table_like_mut().into_iter().for_each(|at| merge_toml(at, inner, false));
            }
            (_, Value::Object(_)) => {
                let Value::Object(inner) = fresh(value) else { continue };
                if !inner.is_empty() {
                    let mut new = toml_edit::Table::new();
                    merge_toml(&mut new, &inner, false);
                    table.insert(name, Item::Table(new));
                }
            }
            (Some(Item::Value(found)), value) => {
                if !is_same_value(found, value) {
                    // With the comment behind it.
                    let decor = found.decor().clone();
                    *found = toml_value(value);
                    *found.decor_mut() = decor;
                }
            }
            (_, value) => drop(table.insert(name, Item::Value(toml_value(value)))),
        }
    }
    for other in obsolete(entry).filter(|_| is_entry) {
        table.remove(other);
    }
}

/// Returns true if a value of TOML equals one of an entry.
fn is_same_value(found: &toml_edit::Value, value: &Value) -> bool {
    match value {
        Value::Bool(flag) => found.as_bool() == Some(*flag),
        Value::Number(number) => found.as_integer() == number.as_i64(),
        Value::Array(items) => found.as_array().is_some_and(|list| {
            list.iter().map(toml_edit::Value::as_str).eq(items.iter().map(Value::as_str))
        }),
        other => found.as_str() == other.as_str(),
    }
}

/// Converts a value of an entry, which is a text, a flag, a number or a list of texts.
fn toml_value(value: &Value) -> toml_edit::Value {
    match value {
        Value::Bool(flag) => (*flag).into(),
        Value::Number(number) => number.as_i64().unwrap_or_default().into(),
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        other => other.as_str().unwrap_or_default().into(),
    }
}

/// Does the same as [`edit_json`].
fn edit_yaml(text: &str, keys: &[&str], entry: Option<&EntryMembers>) -> Result<Option<String>> {
    let document: Document = if text.trim().is_empty() { "{}\n" } else { text }.parse().map_err(
        |error: yaml_edit::YamlError| {
            // The first sentence has the place and the fault.
            damaged("YAML", error.to_string().split(". ").next().unwrap_or_default())
        },
    )?;
    let mut mapping = document.as_mapping().ok_or_else(|| no_object("it"))?;
    for key in keys {
        let found = mapping.get(*key);
        let is_absent =
            found.is_none_or(|found| matches!(found.to_string().trim(), "" | "~" | "null"));
        if is_absent {
            let Some(entry) = entry else {
                return Ok(None);
            };
            if mapping.is_empty() {
                let comments = text.lines().filter(|line| line.starts_with('#'));
                let comments: String = comments.map(|line| format!("{line}\n")).collect();
                let lines = yaml_lines(entry, 4);
                return Ok(Some(format!("{comments}{key}:\n  {ENTRY}:\n{lines}")));
            }
            mapping.set(*key, yaml_mapping(&format!("{ENTRY}:\n{}", yaml_lines(entry, 2)))?);
            return Ok(Some(document.to_string()));
        }
        let inner = mapping.get_mapping(*key);
        mapping = inner.ok_or_else(|| no_object(&format!("its `{key}`")))?;
    }
    match (mapping.get(ENTRY), entry) {
        (None, None) => return Ok(None),
        (Some(_), None) => drop(mapping.remove(ENTRY)),
        (None, Some(entry)) => mapping.set(ENTRY, yaml_mapping(&yaml_lines(entry, 0))?),
        (Some(_), Some(entry)) => {
            let name = format!("its `{ENTRY}`");
            let found = mapping.get_mapping(ENTRY).ok_or_else(|| no_object(&name))?;
            merge_yaml(&found, entry, true)?;
        }
    }
    Ok(Some(document.to_string()))
}

/// Does the same as [`merge_json`].
fn merge_yaml(mapping: &Mapping, entry: &EntryMembers, is_entry: bool) -> Result<()> {
    let new = yaml_mapping(&yaml_lines(entry, 0))?;
    for (name, value) in entry {
        let name = name.as_str();
        let (found, new) = (mapping.get(name), new.get(name));
        match (mapping.get_mapping(name), value, new) {
            (_, Value::Null, _) => drop(mapping.remove(name)),
            _ if found.is_some() && DEFAULTS.contains(&name) => {}
            (Some(at), Value::Object(inner), _) => merge_yaml(&at, inner, false)?,
            (_, _, Some(new)) if found.is_none_or(|found| !found.yaml_eq(&new)) => {
                mapping.set(name, new);
            }
            _ => {}
        }
    }
    for other in obsolete(entry).filter(|_| is_entry) {
        mapping.remove(other);
    }
    Ok(())
}

/// Parses a block mapping.
fn yaml_mapping(text: &str) -> Result<Mapping> {
    let document: Document = text.parse().map_err(|error| damaged("YAML", error))?;
    document.as_mapping().ok_or_else(|| no_object("entry"))
}

/// Writes an entry in block style. Texts and lists are in the notation of JSON, which is YAML.
fn yaml_lines(entry: &EntryMembers, indent: usize) -> String {
    let Value::Object(entry) = fresh(&Value::Object(entry.clone())) else {
        return String::new();
    };
    let margin = " ".repeat(indent);
    let lines = entry.iter().map(|(name, value)| match value {
        Value::Object(inner) => format!("{margin}{name}:\n{}", yaml_lines(inner, indent + 2)),
        value => format!("{margin}{name}: {value}\n"),
    });
    lines.collect()
}
