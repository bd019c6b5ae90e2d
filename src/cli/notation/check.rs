//! `daysheet check`: checks whether a file is an answer of ours, in TOON, JSON or STC, with the
//! registry's tables: known tables, known columns, values of the declared types.
//!
//! `notation.rs` reads the file. Errors are reported with line and column in STC, where the whole
//! document is one line, and with the line in TOON.

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;

use daysheet_core::describe;
use daysheet_core::encode::stc::parse::PlacedValue;
use daysheet_core::encode::stc::value::JsonValue;
use daysheet_core::error;
use daysheet_core::schemas::{self, Table};
use daysheet_core::text::{NoteKey, counted};
use regex::Regex;
use serde_json::Value;

use crate::cli::notation::{self, FileNotation, NotationProblem};

/// Scalars before the tables of a document, apart from the ones with notes ([`NoteKey`]).
const SCALARS: &[&str] = &[
    "zone", "next", "newsletters", "done", "undone", "planned", "unchanged", "undo", "output",
    "lines", "from", "to", "text", "draft", "account", "cc", "bcc", "subject", "attached",
    "thread", "signature", "quote", "path", "name", "type", "bytes", "sha256", "link", "base64",
];

/// Returns true for a scalar that documents may have.
fn is_scalar(name: &str) -> bool {
    SCALARS.contains(&name) || NoteKey::ALL.iter().any(|key| key.name() == name)
}

/// The output for a valid file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) enum CheckOutput {
    /// A summary of its content.
    Summary,
    /// Its content as JSON, with any tables.
    Json,
}

/// Checks `file` (`-` is stdin) and prints one line per problem.
///
/// Without a `notation`, text that begins with a brace is JSON or STC, and other text is TOON.
pub(in crate::cli) fn run(
    file: &Path,
    notation: Option<FileNotation>,
    what: CheckOutput,
) -> error::Result<ExitCode> {
    let text = notation::text(file)?;
    let name = file.display();
    let found = match what {
        CheckOutput::Summary => {
            check(&text, notation).map(|summary| format!("{name}: ok: {summary}"))
        }
        CheckOutput::Json => notation::read(&text, notation)
            .map(|read| read.value.to_json())
            .map_err(|problem| vec![problem]),
    };
    match found {
        Ok(line) => {
            say!("{line}");
            Ok(ExitCode::SUCCESS)
        }
        Err(problems) => {
            for NotationProblem { line, column, message } in problems {
                say!("{name}:{line}:{column}: {message}");
            }
            Ok(ExitCode::FAILURE)
        }
    }
}

/// Checks a document in any notation, like `daysheet check`, and returns it as JSON.
///
/// # Errors
/// The problems, one line each.
pub fn checked(text: &str) -> Result<Value, String> {
    let found = check(text, None).and_then(|_| {
        let read = notation::read(text, None).map_err(|problem| vec![problem])?;
        let json = read.value.to_json();
        serde_json::from_str(&json)
            .map_err(|error| vec![NotationProblem::at(text, 0, error.to_string())])
    });
    found.map_err(|problems| {
        let line = |problem: &NotationProblem| {
            format!("{}:{}: {}\n", problem.line, problem.column, problem.message)
        };
        problems.iter().map(line).collect()
    })
}

/// Returns a summary of the document, or all of its problems.
fn check(text: &str, notation: Option<FileNotation>) -> Result<String, Vec<NotationProblem>> {
    // JSON is a subset of STC, and TOON never begins with a brace.
    let notation = notation.unwrap_or(if text.trim_start().starts_with('{') {
        FileNotation::Stc
    } else {
        FileNotation::Toon
    });
    let PlacedValue { value, mut places } =
        notation::read(text, Some(notation)).map_err(|problem| vec![problem])?;
    // The TOON decoder does not report places.
    if notation == FileNotation::Toon {
        places = toon_places(text, &value);
    }
    let JsonValue::Object(members) = &value else {
        let message = "the document is not an object with tables";
        return Err(vec![NotationProblem::at(text, 0, message)]);
    };
    let mut report = CheckReport {
        text,
        // The first place is the root's.
        places: places.into_iter().skip(1),
        problems: Vec::new(),
    };
    let mut summary = Vec::new();
    for (name, value) in members {
        let key = report.place();
        match (schemas::find_in_document(name), value) {
            (Some(table), JsonValue::List(rows)) => {
                summary.push(format!("{} of {name}", counted(rows.len(), "row", "rows")));
                // The list itself has a place, too.
                report.place();
                let known = known_members(table);
                for row in rows {
                    report.row(table, &known, row);
                }
                continue;
            }
            (Some(_), _) => report.add(key, format!("`{name}` is not a table of rows")),
            (None, JsonValue::List(_) | JsonValue::Object(_)) => {
                report.add(key, format!("the registry has no table `{name}`"));
            }
            (None, _) if is_scalar(name) => {}
            (None, _) => report.add(key, format!("`{name}` is not a document scalar")),
        }
        notation::pass(value, &mut report.places);
    }
    let mut problems = report.problems;
    if problems.is_empty() {
        return Ok(if summary.is_empty() { "no tables".to_owned() } else { summary.join(", ") });
    }
    problems.sort();
    // An unknown column is reported once, not for each row.
    problems.dedup();
    Err(problems)
}

struct CheckReport<'a, P> {
    text: &'a str,
    /// The places of keys and values, in order.
    places: P,
    problems: Vec<NotationProblem>,
}

impl<P: Iterator<Item = usize>> CheckReport<'_, P> {
    fn place(&mut self) -> usize {
        self.places.next().unwrap_or_default()
    }

    fn add(&mut self, place: usize, message: String) {
        self.problems.push(NotationProblem::at(self.text, place, message));
    }

    fn row(
        &mut self,
        table: &'static Table,
        known: &HashMap<String, SchemaMember>,
        row: &JsonValue,
    ) {
        let JsonValue::Object(members) = row else {
            let place = notation::pass(row, &mut self.places);
            return self.add(place, format!("a row of `{}` is not an object", table.plural));
        };
        let start = self.place();
        for (name, value) in members {
            let key = self.place();
            let place = notation::pass(value, &mut self.places);
            match known.get(name) {
                Some(member) => {
                    let kind = table.field(name).map(|field| field.kind);
                    if let Some(message) = mismatch(name, kind, member, value) {
                        self.add(place, message);
                    }
                }
                None => {
                    let message = format!("the table of {} has no column `{name}`", table.plural);
                    self.add(key, message);
                }
            }
        }
        let key = table.fields.first().map_or("", |field| field.name);
        if !members.iter().any(|(name, _)| name == key) {
            self.add(start, format!("a row of {} has no `{key}`", table.plural));
        }
    }
}

/// The part of a table's schema that concerns one member of its rows.
struct SchemaMember {
    types: Vec<String>,
    pattern: Option<Regex>,
    longest: Option<usize>,
}

/// Returns the members that rows of the table can have: its columns, and `provider_id` and `text`
/// if it has them.
fn known_members(table: &Table) -> HashMap<String, SchemaMember> {
    let schema = describe::json_schema(table);
    let properties = schema.get("properties").and_then(Value::as_object);
    let member = |(name, property): (&String, &Value)| {
        let types = match property.get("type") {
            Some(Value::Array(types)) => types.clone(),
            other => other.cloned().into_iter().collect(),
        };
        let pattern = property.get("pattern").and_then(Value::as_str);
        let longest = property.get("maxLength").and_then(Value::as_u64);
        let member = SchemaMember {
            types: types.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect(),
            pattern: pattern.and_then(|pattern| Regex::new(pattern).ok()),
            longest: longest.and_then(|longest| usize::try_from(longest).ok()),
        };
        (name.clone(), member)
    };
    properties.into_iter().flatten().map(member).collect()
}

/// Returns the reason why a member cannot have this value, if it cannot.
fn mismatch(
    name: &str,
    kind: Option<schemas::CellKind>,
    member: &SchemaMember,
    value: &JsonValue,
) -> Option<String> {
    let found = match value {
        JsonValue::Null => "null",
        JsonValue::Bool(_) => "boolean",
        JsonValue::Number(lexeme) if lexeme.parse::<i64>().is_ok() => "integer",
        JsonValue::Number(_) => "number",
        JsonValue::Text(_) => "string",
        JsonValue::List(_) => "array",
        JsonValue::Object(_) => "object",
    };
    if !member.types.iter().any(|word| word == found) {
        let expected =
            kind.map_or_else(|| member.types.join(" or "), |kind| kind.word().to_owned());
        return Some(format!("`{name}` is of type {found}, not {expected}"));
    }
    let JsonValue::Text(text) = value else {
        return None;
    };
    if let Some(pattern) = &member.pattern
        && !pattern.is_match(text)
    {
        return Some(match kind {
            Some(schemas::CellKind::Handle(prefix)) => {
                format!("`{name}` is not a handle such as {prefix}12")
            }
            Some(schemas::CellKind::Time) => {
                format!("`{name}` is not a time such as 2026-02-03 18h05")
            }
            _ => format!("`{name}` is not of the form {pattern}"),
        });
    }
    let longest = member.longest?;
    (text.chars().count() > longest)
        .then(|| format!("`{name}` is longer than {longest} characters"))
}

/// Returns the lines of the keys and values in a TOON document, as byte offsets: each scalar is a
/// line, and each row of a table is a line below its heading. Cells have the place of their row,
/// because a message names their column.
fn toon_places(text: &str, document: &JsonValue) -> Vec<usize> {
    let mut places = vec![0];
    let JsonValue::Object(members) = document else {
        return places;
    };
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let lines: Vec<(usize, &str)> = starts.zip(text.split('\n')).collect();
    let line = |number: usize| lines.get(number).map_or(0, |(start, _)| *start);
    for (name, value) in members {
        let found = lines.iter().position(|(_, line)| {
            line.strip_prefix(name.as_str()).is_some_and(|rest| rest.starts_with([':', '[']))
        });
        let number = found.unwrap_or_default();
        let at = line(number);
        places.extend([at, at]);
        let JsonValue::List(rows) = value else {
            inner(value, at, &mut places);
            continue;
        };
        for (below, row) in rows.iter().enumerate() {
            let start = line(number + 1 + below);
            places.push(start);
            let JsonValue::Object(members) = row else {
                inner(row, start, &mut places);
                continue;
            };
            for (_, value) in members {
                places.extend([at, start]);
                inner(value, start, &mut places);
            }
        }
    }
    places
}

/// Adds the places of values within a value, which are the value's own.
fn inner(value: &JsonValue, place: usize, places: &mut Vec<usize>) {
    match value {
        JsonValue::List(items) => {
            for item in items {
                places.push(place);
                inner(item, place, places);
            }
        }
        JsonValue::Object(members) => {
            for (_, member) in members {
                places.extend([place, place]);
                inner(member, place, places);
            }
        }
        _ => {}
    }
}
