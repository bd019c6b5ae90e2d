//! `daysheet check --stc`: is a file STC, and are its tables the registry's?
//!
//! The parser tells where each value stands, so that what is wrong with a cell
//! is told at the cell, though the whole document is one line.

use serde_json::Value;

use super::{Problem, SCALARS, at, mismatch};
use crate::describe;
use crate::encode::stc::parse::{Placed, placed};
use crate::encode::stc::scan::position;
use crate::encode::stc::value::Json;
use crate::schemas::{self, Table};

/// What the document holds, or everything that is wrong with it.
pub(super) fn check(text: &str) -> Result<String, Vec<Problem>> {
    let placed = read(text)?;
    let Json::Object(members) = &placed.value else {
        let message = "the document is not an object with tables".to_owned();
        return Err(vec![at(1, 1, message)]);
    };
    let mut report = Report {
        text,
        problems: Vec::new(),
    };
    let mut summary = Vec::new();
    let mut cells = placed.primitives.iter().copied();
    for (number, (name, value)) in members.iter().enumerate() {
        let key = placed.keys.get(number).copied().unwrap_or_default();
        match (schemas::find(name), value) {
            (Some(table), Json::List(rows)) if table.plural == name => {
                summary.push(format!("{} {name}", rows.len()));
                for row in rows {
                    report.row(table, row, key, &mut cells);
                }
                continue;
            }
            (Some(_), _) => report.add(key, format!("`{name}` is not a table of rows")),
            (None, Json::List(_) | Json::Object(_)) => {
                report.add(key, format!("no table of the registry is called `{name}`"));
            }
            (None, _) if SCALARS.contains(&name.as_str()) => {}
            (None, _) => report.add(key, format!("`{name}` is not a scalar of a document")),
        }
        pass(value, &mut cells);
    }
    if !report.problems.is_empty() {
        report
            .problems
            .sort_by_key(|found| (found.line, found.column));
        return Err(report.problems);
    }
    Ok(match summary.is_empty() {
        true => "no tables".to_owned(),
        false => summary.join(", "),
    })
}

/// Any STC as one line of JSON; its tables may be any.
pub(super) fn to_json(text: &str) -> Result<String, Vec<Problem>> {
    read(text).map(|placed| placed.value.to_json())
}

fn read(text: &str) -> Result<Placed, Vec<Problem>> {
    // An editor's newline at the end of the file is not the document's.
    placed(text.strip_suffix('\n').unwrap_or(text))
        .map_err(|error| vec![at(error.line, error.column, error.wrong.to_string())])
}

struct Report<'a> {
    text: &'a str,
    problems: Vec<Problem>,
}

impl Report<'_> {
    fn add(&mut self, place: usize, message: String) {
        let (line, column) = position(self.text, place);
        self.problems.push(at(line, column, message));
    }

    /// A row of the table that begins at `header`; `cells` are the places of
    /// the primitives from this row on.
    fn row(
        &mut self,
        table: &'static Table,
        row: &Json,
        header: usize,
        cells: &mut impl Iterator<Item = usize>,
    ) {
        let Json::Object(members) = row else {
            let place = pass(row, cells).unwrap_or(header);
            let message = format!("a row of `{}` is not an object", table.plural);
            return self.add(place, message);
        };
        for (name, value) in members {
            let place = pass(value, cells).unwrap_or(header);
            match table.field(name) {
                Some(field) => {
                    if let Some(message) = mismatch(table, field, &typed(value)) {
                        self.add(place, message);
                    }
                }
                // `provider_id` and `text`, where the table's rows have them.
                None if has_property(table, name) => {}
                None => {
                    let message = format!("the table of {} has no column `{name}`", table.plural);
                    self.add(place, message);
                }
            }
        }
    }
}

/// True for what the table's schema has, be it a column or not.
fn has_property(table: &Table, name: &str) -> bool {
    describe::json_schema(table)
        .get("properties")
        .is_some_and(|properties| properties.get(name).is_some())
}

/// Passes the places of a value's primitives; gives the first.
fn pass(value: &Json, places: &mut impl Iterator<Item = usize>) -> Option<usize> {
    match value {
        Json::List(items) => {
            let all: Vec<_> = items.iter().map(|item| pass(item, places)).collect();
            all.into_iter().flatten().next()
        }
        Json::Object(members) => {
            let all: Vec<_> = members.iter().map(|(_, one)| pass(one, places)).collect();
            all.into_iter().flatten().next()
        }
        _ => places.next(),
    }
}

/// A value of the same type, and the same text: what a column is held to.
fn typed(value: &Json) -> Value {
    match value {
        Json::Null => Value::Null,
        Json::Bool(flag) => Value::Bool(*flag),
        Json::Number(lexeme) => match lexeme.parse::<i64>() {
            Ok(count) => Value::from(count),
            Err(_) => Value::from(0.5),
        },
        Json::Text(text) => Value::String(text.clone()),
        Json::List(_) => Value::Array(Vec::new()),
        Json::Object(_) => Value::Object(serde_json::Map::new()),
    }
}
