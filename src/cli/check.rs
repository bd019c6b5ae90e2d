//! `daysheet check`: is a file an answer of ours, in TOON, JSON or STC, and are
//! its tables the registry's: known tables, known columns, values of the
//! declared kinds?
//!
//! Reading is `notation`'s. What is wrong is told with its line and column, in
//! STC too, where the whole document is one line.

use std::path::Path;
use std::process::ExitCode;

use super::notation::{self, Notation, Problem};
use crate::describe;
use crate::encode::stc::parse::Placed;
use crate::encode::stc::value::Json;
use crate::error;
use crate::schemas::{self, Field, Table};

/// Scalars that stand before the tables of a document.
const SCALARS: &[&str] = &[
    "zone",
    "next",
    "newsletters",
    "done",
    "planned",
    "unchanged",
    "undo",
    "output",
    "lines",
    "from",
    "to",
    "text",
    "draft",
    "account",
    "cc",
    "bcc",
    "subject",
    "attached",
    "thread",
    "path",
    "name",
    "type",
    "bytes",
    "sha256",
    "link",
    "base64",
];

/// What is printed of a file that is as it should be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum As {
    /// What it holds.
    Summary,
    /// The same as JSON; its tables may be any.
    Json,
}

/// Checks `file` (`-` is stdin) and prints what is wrong, one line each.
///
/// What begins with a brace is JSON or STC, everything else is TOON unless
/// `notation` says what it is.
pub(super) fn run(file: &Path, notation: Option<Notation>, what: As) -> error::Result<ExitCode> {
    let text = notation::text(file)?;
    let name = file.display();
    let found = match what {
        As::Summary => check(&text, notation).map(|summary| format!("{name}: ok: {summary}")),
        As::Json => notation::read(&text, notation)
            .map(|read| read.value.to_json())
            .map_err(|problem| vec![problem]),
    };
    match found {
        Ok(said) => {
            say!("{said}");
            Ok(ExitCode::SUCCESS)
        }
        Err(problems) => {
            for Problem {
                line,
                column,
                message,
            } in problems
            {
                say!("{name}:{line}:{column}: {message}");
            }
            Ok(ExitCode::FAILURE)
        }
    }
}

/// What the document holds, or everything that is wrong with it.
fn check(text: &str, notation: Option<Notation>) -> Result<String, Vec<Problem>> {
    let notation = notation.unwrap_or(match text.trim_start().starts_with('{') {
        true => Notation::Stc,
        false => Notation::Toon,
    });
    let Placed { value, mut places } =
        notation::read(text, Some(notation)).map_err(|problem| vec![problem])?;
    if notation == Notation::Toon {
        places = toon_places(text, &value);
    }
    let Json::Object(members) = &value else {
        let message = "the document is not an object with tables";
        return Err(vec![Problem::at(text, 0, message)]);
    };
    let mut report = Report {
        text,
        // The root's own.
        places: places.into_iter().skip(1),
        problems: Vec::new(),
    };
    let mut summary = Vec::new();
    for (name, value) in members {
        let key = report.place();
        match (schemas::find_in_document(name), value) {
            (Some(table), Json::List(rows)) => {
                summary.push(format!("{} {name}", rows.len()));
                report.place();
                for row in rows {
                    report.row(table, row);
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
        report.pass(value);
    }
    let mut problems = report.problems;
    if problems.is_empty() {
        return Ok(match summary.is_empty() {
            true => "no tables".to_owned(),
            false => summary.join(", "),
        });
    }
    problems.sort();
    // The heading of a table is wrong once.
    problems.dedup();
    Err(problems)
}

struct Report<'a, P> {
    text: &'a str,
    /// Where keys and values stand, in order.
    places: P,
    problems: Vec<Problem>,
}

impl<P: Iterator<Item = usize>> Report<'_, P> {
    fn place(&mut self) -> usize {
        self.places.next().unwrap_or_default()
    }

    fn add(&mut self, place: usize, message: String) {
        self.problems.push(Problem::at(self.text, place, message));
    }

    /// Passes a value; gives its place.
    fn pass(&mut self, value: &Json) -> usize {
        let place = self.place();
        match value {
            Json::List(items) => {
                for item in items {
                    self.pass(item);
                }
            }
            Json::Object(members) => {
                for (_, member) in members {
                    self.place();
                    self.pass(member);
                }
            }
            _ => {}
        }
        place
    }

    fn row(&mut self, table: &'static Table, row: &Json) {
        let Json::Object(members) = row else {
            let place = self.pass(row);
            return self.add(
                place,
                format!("a row of `{}` is not an object", table.plural),
            );
        };
        self.place();
        for (name, value) in members {
            let key = self.place();
            let place = self.pass(value);
            match table.field(name) {
                Some(field) => {
                    if let Some(message) = mismatch(table, field, value) {
                        self.add(place, message);
                    }
                }
                // `provider_id` and `text`, where the table's rows have them.
                None if has_property(table, name) => {}
                None => {
                    let message = format!("the table of {} has no column `{name}`", table.plural);
                    self.add(key, message);
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

/// Why a value cannot stand in the column, if it cannot.
fn mismatch(table: &Table, field: &Field, value: &Json) -> Option<String> {
    let schema = describe::json_schema(table);
    let property = schema.get("properties")?.get(field.name)?;
    let allowed = property.get("type")?;
    let allows = |wanted: &str| match allowed {
        serde_json::Value::Array(kinds) => kinds.iter().any(|kind| kind == wanted),
        kind => kind == wanted,
    };
    let found = match value {
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(lexeme) if lexeme.parse::<i64>().is_ok() => "integer",
        Json::Number(_) => "number",
        Json::Text(_) => "string",
        Json::List(_) => "array",
        Json::Object(_) => "object",
    };
    if !allows(found) {
        return Some(format!(
            "`{}` is of type {found}, not {}",
            field.name,
            field.kind.word()
        ));
    }
    let Json::Text(text) = value else {
        return None;
    };
    match field.kind {
        schemas::Kind::Handle(letter) => {
            let digits = text.strip_prefix(letter).unwrap_or_default();
            let number = !digits.is_empty()
                && !digits.starts_with('0')
                && digits.bytes().all(|byte| byte.is_ascii_digit());
            (!number).then(|| format!("`{}` is not a handle such as {letter}12", field.name))
        }
        schemas::Kind::Time => {
            let shape: String = text
                .chars()
                .map(|c| if c.is_ascii_digit() { '0' } else { c })
                .collect();
            (shape != "0000-00-00 00h00")
                .then(|| format!("`{}` is not a time such as 2026-02-03 18h05", field.name))
        }
        _ => {
            let cap = describe::longest(field.untrusted?);
            (text.chars().count() > cap)
                .then(|| format!("`{}` is longer than {cap} characters", field.name))
        }
    }
}

/// Where the keys and values of a document stand that is TOON: each scalar is a
/// line, each row of a table one below its heading.
fn toon_places(text: &str, document: &Json) -> Vec<usize> {
    let mut places = vec![0];
    let Json::Object(members) = document else {
        return places;
    };
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let lines: Vec<(usize, &str)> = starts.zip(text.split('\n')).collect();
    let line = |at: usize| lines.get(at).copied().unwrap_or_default();
    for (name, value) in members {
        let found = lines.iter().position(|(_, line)| {
            line.strip_prefix(name.as_str())
                .is_some_and(|rest| rest.starts_with([':', '[']))
        });
        let number = found.unwrap_or_default();
        let (at, header) = line(number);
        places.extend([at, at]);
        let Json::List(rows) = value else {
            inner(value, at, &mut places);
            continue;
        };
        for (below, row) in rows.iter().enumerate() {
            let (start, cells) = line(number + 1 + below);
            places.push(start);
            let Json::Object(members) = row else {
                inner(row, start, &mut places);
                continue;
            };
            for (position, (name, value)) in members.iter().enumerate() {
                let place = start + cell_column(header, cells, position);
                places.extend([at + header_column(header, name), place]);
                inner(value, place, &mut places);
            }
        }
    }
    places
}

/// What stands in a value stands where the value does.
fn inner(value: &Json, place: usize, places: &mut Vec<usize>) {
    match value {
        Json::List(items) => {
            for item in items {
                places.push(place);
                inner(item, place, places);
            }
        }
        Json::Object(members) => {
            for (_, member) in members {
                places.extend([place, place]);
                inner(member, place, places);
            }
        }
        _ => {}
    }
}

/// The byte of a heading at which a column's name stands.
fn header_column(header: &str, name: &str) -> usize {
    let fields = header.find('{').map_or(0, |brace| brace + 1);
    header
        .get(fields..)
        .and_then(|rest| rest.find(name))
        .map_or(0, |found| fields + found)
}

/// The byte of a row at which the cell of this position begins.
fn cell_column(header: &str, row: &str, position: usize) -> usize {
    let delimiter = if header.contains("\t]") {
        '\t'
    } else if header.contains("|]") {
        '|'
    } else {
        ','
    };
    let (mut quoted, mut escaped, mut cells) = (false, false, 0);
    for (byte, char) in row.char_indices() {
        if cells == position {
            let indent = row.len() - row.trim_start_matches(' ').len();
            return byte.max(indent);
        }
        match char {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if char == delimiter && !quoted => cells += 1,
            _ => {}
        }
    }
    0
}
