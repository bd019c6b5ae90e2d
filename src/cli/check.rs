//! `daysheet check`: is a file strict TOON, and are its tables the registry's?
//! The same of STC is in `check/stc.rs`.
//!
//! Decoding TOON is the `toon-format` crate's work. What is added is the registry:
//! known tables, known columns, values of the declared kinds; and the line and
//! column of what is wrong.

mod stc;

use std::io::Read;
use std::path::Path;
use std::process::ExitCode;

use serde_json::Value;
use toon_format::{DecodeOptions, ToonError};

use crate::describe;
use crate::error::{Error, Kind, Result};
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

/// Something wrong, and where: line and column count from 1.
#[derive(Debug, PartialEq, Eq)]
struct Problem {
    line: usize,
    column: usize,
    message: String,
}

/// What a file is checked to be, and what is printed when it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum As {
    /// TOON; what it holds.
    Toon,
    /// STC; what it holds.
    Stc,
    /// STC with any tables; the same as JSON.
    StcToJson,
}

/// Checks `file` (`-` is stdin) and prints what is wrong, one line each.
pub(super) fn run(file: &Path, what: As) -> Result<ExitCode> {
    let text = read(file)?;
    let name = file.display();
    let found = match what {
        As::Toon => check(&text).map(|summary| format!("{name}: ok: {summary}")),
        As::Stc => stc::check(&text).map(|summary| format!("{name}: ok: {summary}")),
        As::StcToJson => stc::to_json(&text),
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

fn read(file: &Path) -> Result<String> {
    let mut bytes = Vec::new();
    let outcome = if file == Path::new("-") {
        std::io::stdin().read_to_end(&mut bytes).map(drop)
    } else {
        std::fs::read(file).map(|found| bytes = found)
    };
    outcome.map_err(|error| {
        Error::new(
            Kind::NotFound,
            format!("{} could not be read: {error}", file.display()),
        )
        .next("give the path of a text file, or - for stdin")
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Error::argument(format!("{} is not UTF-8 at byte {at}", file.display()))
            .next("save it as UTF-8")
    })
}

/// What the document holds, or everything that is wrong with it.
fn check(text: &str) -> std::result::Result<String, Vec<Problem>> {
    // An editor's newline at the end of the file is not the document's.
    let text = text.strip_suffix('\n').unwrap_or(text);
    let document: Value =
        toon_format::decode(text, &DecodeOptions::new()).map_err(|error| vec![syntax(error)])?;
    let Some(root) = document.as_object() else {
        return Err(vec![at(
            1,
            1,
            "the document is not an object with tables".to_owned(),
        )]);
    };
    let mut problems = Vec::new();
    let mut summary = Vec::new();
    for (name, value) in root {
        let line = header_line(text, name);
        match (schemas::find_in_document(name), value) {
            (Some(table), Value::Array(rows)) => {
                summary.push(format!("{} {name}", rows.len()));
                check_rows(text, line, table, rows, &mut problems);
            }
            (Some(_), _) => problems.push(at(line, 1, format!("`{name}` is not a table of rows"))),
            (None, Value::Array(_) | Value::Object(_)) => {
                problems.push(at(
                    line,
                    1,
                    format!("no table of the registry is called `{name}`"),
                ));
            }
            (None, _) if SCALARS.contains(&name.as_str()) => {}
            (None, _) => problems.push(at(
                line,
                1,
                format!("`{name}` is not a scalar of a document"),
            )),
        }
    }
    if problems.is_empty() {
        Ok(if summary.is_empty() {
            "no tables".to_owned()
        } else {
            summary.join(", ")
        })
    } else {
        problems.sort_by_key(|problem| (problem.line, problem.column));
        Err(problems)
    }
}

fn check_rows(
    text: &str,
    header: usize,
    table: &'static Table,
    rows: &[Value],
    problems: &mut Vec<Problem>,
) {
    for (number, row) in rows.iter().enumerate() {
        // Tables of documents are tabular: a row is a line below the header.
        let line = header + 1 + number;
        let Some(row) = row.as_object() else {
            problems.push(at(
                line,
                1,
                format!("a row of `{}` is not an object", table.plural),
            ));
            continue;
        };
        for (position, (name, value)) in row.iter().enumerate() {
            match table.field(name) {
                None if number == 0 => {
                    problems.push(at(
                        header,
                        header_column(text, header, name),
                        format!("the table of {} has no column `{name}`", table.plural),
                    ));
                }
                None => {}
                Some(field) => {
                    if let Some(message) = mismatch(table, field, value) {
                        problems.push(at(line, cell_column(text, header, line, position), message));
                    }
                }
            }
        }
    }
}

/// Why a value cannot stand in the column, if it cannot.
fn mismatch(table: &Table, field: &Field, value: &Value) -> Option<String> {
    let schema = describe::json_schema(table);
    let property = schema.get("properties")?.get(field.name)?;
    let allowed = property.get("type")?;
    let allows = |wanted: &str| match allowed {
        Value::Array(kinds) => kinds.iter().any(|kind| kind == wanted),
        kind => kind == wanted,
    };
    let found = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_i64() => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    if !allows(found) {
        return Some(format!(
            "`{}` is of type {found}, not {}",
            field.name,
            field.kind.word()
        ));
    }
    let text = value.as_str()?;
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

fn syntax(error: ToonError) -> Problem {
    match error {
        ToonError::ParseError {
            line,
            column,
            message,
            ..
        } => at(line.max(1), column.max(1), message),
        other => at(1, 1, other.to_string()),
    }
}

fn at(line: usize, column: usize, message: String) -> Problem {
    Problem {
        line,
        column,
        message,
    }
}

/// The line on which the root key `name` stands.
fn header_line(text: &str, name: &str) -> usize {
    text.lines()
        .position(|line| {
            line.strip_prefix(name)
                .is_some_and(|rest| rest.starts_with([':', '[']))
        })
        .map_or(1, |at| at + 1)
}

fn header_column(text: &str, line: usize, name: &str) -> usize {
    let header = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    let fields = header.find('{').map_or(0, |brace| brace + 1);
    header
        .get(fields..)
        .and_then(|rest| rest.find(name))
        .map_or(1, |found| count(header, fields + found))
}

/// The column at which the cell of this position begins.
fn cell_column(text: &str, header: usize, line: usize, position: usize) -> usize {
    let head = text
        .lines()
        .nth(header.saturating_sub(1))
        .unwrap_or_default();
    let delimiter = if head.contains("\t]") {
        '\t'
    } else if head.contains("|]") {
        '|'
    } else {
        ','
    };
    let row = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    let (mut quoted, mut escaped, mut cells) = (false, false, 0);
    for (byte, char) in row.char_indices() {
        if cells == position {
            let indent = row.len() - row.trim_start_matches(' ').len();
            return count(row, byte.max(indent));
        }
        match char {
            _ if escaped => escaped = false,
            '\\' if quoted => escaped = true,
            '"' => quoted = !quoted,
            _ if char == delimiter && !quoted => cells += 1,
            _ => {}
        }
    }
    1
}

/// A byte offset as a column that counts characters from 1.
fn count(line: &str, byte: usize) -> usize {
    line.get(..byte).map_or(0, |before| before.chars().count()) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_where_and_what() {
        for (text, expected) in [
            ("messages[1\t]{id\tsubject}:\n  m1\thello", Ok("1 messages")),
            ("zone: UTC\nmessages: []\n", Ok("0 messages")),
            (
                "messages[1\t]{id\tsubjct}:\n  m1\thello",
                Err("1:17: the table of messages has no column `subjct`"),
            ),
            (
                "messages[2\t]{id\tdate}:\n  m1\t2026-02-03 18h05\n  m2\tTuesday",
                Err("3:6: `date` is not a time such as 2026-02-03 18h05"),
            ),
            (
                "messages[1\t]{id\tsize}:\n  m1\t\"12\"",
                Err("2:6: `size` is of type string, not count"),
            ),
            (
                "messages[1\t]{id}:\n  t1",
                Err("2:3: `id` is not a handle such as m12"),
            ),
            (
                "newsletters: 3\ntoday[1\t]{id}:\n  e1\ntoday_minimal[1\t]{id}:\n  e2",
                Ok("1 today, 1 today_minimal"),
            ),
            (
                "today_key[1\t]{id}:\n  e1",
                Err("1:1: no table of the registry is called `today_key`"),
            ),
            (
                "letters[1\t]{id}:\n  m1",
                Err("1:1: no table of the registry is called `letters`"),
            ),
            (
                "zone: UTC\ncolour: red",
                Err("2:1: `colour` is not a scalar of a document"),
            ),
        ] {
            let found = match check(text) {
                Ok(summary) => summary,
                Err(problems) => problems
                    .iter()
                    .map(|p| format!("{}:{}: {}", p.line, p.column, p.message))
                    .collect::<Vec<_>>()
                    .join("; "),
            };
            assert_eq!(found, expected.unwrap_or_else(|wrong| wrong), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_not_strict() {
        for text in [
            "messages[2\t]{id}:\n  m1",
            "messages[1\t]{id\tsubject}:\n  m1",
            "messages[1\t]{id}:\n m1",
        ] {
            assert!(check(text).is_err(), "{text}");
        }
    }
}
