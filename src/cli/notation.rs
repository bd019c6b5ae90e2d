//! Reading of files in TOON, JSON or STC, for `daysheet check` and `daysheet convert`.
//!
//! The `toon-format` crate decodes and encodes TOON. This file also keeps the spelling of numbers,
//! and reports values that would be lost. STC and JSON are read by `encode::stc`.

pub mod check;
pub(super) mod convert;

use std::collections::{HashMap, HashSet};
use std::io::Read;
use std::path::Path;

use daysheet_core::encode::stc::StcVersion;
use daysheet_core::encode::stc::parse::{PlacedValue, placed, placed_json};
use daysheet_core::encode::stc::scan::{ParseError, position};
use daysheet_core::encode::stc::value::JsonValue;
use daysheet_core::encode::stc::write::write;
use daysheet_core::error::{self, Error, ErrorKind};
use serde_json::Value;
use toon_format::{DecodeOptions, Delimiter, EncodeOptions, ToonError};

/// The possible delimiters between cells of TOON.
const DELIMITERS: [Delimiter; 3] = [Delimiter::Tab, Delimiter::Comma, Delimiter::Pipe];

/// The notation of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileNotation {
    /// TOON, strictly.
    Toon,
    /// JSON.
    Json,
    /// STC of either version.
    Stc,
}

/// A problem with its line and column, from 1.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NotationProblem {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) message: String,
}

impl NotationProblem {
    /// Creates a problem at this byte of the text.
    pub(super) fn at(text: &str, place: usize, message: impl Into<String>) -> Self {
        let (line, column) = position(text, place);
        Self { line, column, message: message.into() }
    }
}

impl From<ParseError> for NotationProblem {
    fn from(error: ParseError) -> Self {
        Self { line: error.line, column: error.column, message: error.wrong.to_string() }
    }
}

impl From<ToonError> for NotationProblem {
    fn from(error: ToonError) -> Self {
        match error {
            ToonError::ParseError { line, column, message, .. } => {
                Self { line: line.max(1), column: column.max(1), message: toon_message(&message) }
            }
            other => Self { line: 1, column: 1, message: other.to_string() },
        }
    }
}

/// Returns a message of the TOON decoder in our words, with the next step.
fn toon_message(message: &str) -> String {
    if message.starts_with("Indentation must be") {
        return "the indentation is not two spaces for each level: correct it".to_owned();
    }
    let missing = message.strip_prefix("Expected ").and_then(|rest| {
        let (expected, actual) = rest.split_once(", but ")?;
        let (number, things) = expected.split_once(' ')?;
        let (thing, next) = match things {
            "tabular rows" => ("row", "correct the number in brackets, or the rows"),
            "tabular row values" => ("cell", "correct the row, or the columns above it"),
            _ => ("value", "correct the number in brackets, or the values"),
        };
        let things =
            if number == "1" { format!("1 {thing}") } else { format!("{number} {thing}s") };
        let found = match actual.strip_prefix("got ") {
            Some(actual) => format!("{actual} of {things}"),
            None => format!("more than {things}"),
        };
        Some(format!("{found}: {next}"))
    });
    missing.unwrap_or_else(|| {
        let mut signs = message.chars();
        let first = signs.next().into_iter().flat_map(char::to_lowercase);
        format!("no strict TOON: {}: correct this line", first.chain(signs).collect::<String>())
    })
}

/// Reads the text of `file`; `-` is stdin.
pub(super) fn text(file: &Path) -> error::Result<String> {
    let mut bytes = Vec::new();
    let outcome = if file == Path::new("-") {
        std::io::stdin().read_to_end(&mut bytes).map(drop)
    } else {
        std::fs::read(file).map(|found| bytes = found)
    };
    outcome.map_err(|error| {
        Error::new(ErrorKind::NotFound, format!("{} could not be read: {error}", file.display()))
            .next("give the path of a text file, or - for stdin")
    })?;
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Error::argument(format!("{} is not UTF-8 at byte {at}", file.display()))
            .next("save it as UTF-8")
    })
}

/// Returns the value of a text in this notation, or in the detected one if it is not given. Places
/// are unknown for TOON.
pub(super) fn read(
    text: &str,
    notation: Option<FileNotation>,
) -> Result<PlacedValue, NotationProblem> {
    match notation {
        Some(FileNotation::Toon) => toon(text),
        Some(FileNotation::Json) => Ok(placed_json(text)?),
        Some(FileNotation::Stc) => Ok(placed(text)?),
        None => recognise(text),
    }
}

/// Reads a text of unknown notation. JSON is a subset of STC, and TOON never begins with a brace;
/// any other text is read in its only valid notation.
fn recognise(text: &str) -> Result<PlacedValue, NotationProblem> {
    let begin = text.trim_start().chars().next().unwrap_or_default();
    let stc = placed(text);
    if begin == '{' {
        return Ok(stc?);
    }
    match (stc, toon(text)) {
        (Ok(stc), Ok(toon))
            if stc.value != toon.value && matches!(stc.value, JsonValue::Object(_)) =>
        {
            // Readers accept more than writers write, so a text that a writer would write exactly
            // like this decides.
            let text = text.trim_end();
            let is_stc = write(&stc.value, StcVersion::Two) == text;
            let is_toon = DELIMITERS.into_iter().any(|delimiter| {
                let options = EncodeOptions::new().with_delimiter(delimiter);
                toon_format::encode(&for_toon(&toon.value), &options).is_ok_and(|own| own == text)
            });
            match (is_stc, is_toon) {
                (true, false) => Ok(stc),
                (false, true) => Ok(toon),
                _ => Err(NotationProblem::at(
                    text,
                    0,
                    "this is valid TOON and STC with different meanings: give --from",
                )),
            }
        }
        (Ok(stc), _) => Ok(stc),
        // TOON reads any text without quotes and colons as a string.
        (Err(error), Ok(toon))
            if matches!(toon.value, JsonValue::Text(_)) && matches!(begin, '[' | '"') =>
        {
            Err(error.into())
        }
        (Err(_), Ok(toon)) => Ok(toon),
        (Err(error), Err(_)) if matches!(begin, '[' | '"') => Err(error.into()),
        (Err(_), Err(problem)) => Err(problem),
    }
}

fn toon(text: &str) -> Result<PlacedValue, NotationProblem> {
    // A newline that an editor adds at the end is not part of the document.
    let text = text.strip_suffix('\n').unwrap_or(text);
    let value: Value = toon_format::decode(text, &DecodeOptions::new())?;
    // The decoder returns a number that no double can hold as text.
    let mut numbers = HashMap::new();
    count_numbers(&value, &mut numbers);
    for (number, count) in &mut numbers {
        let quoted = format!("\"{number}\"");
        match text.matches(&quoted).count() {
            0 => {}
            found if found >= *count => *count = 0,
            _ => {
                let message = format!("{number} appears with and without quotes: change one");
                return Err(NotationProblem::at(text, text.find(number).unwrap_or(0), message));
            }
        }
    }
    numbers.retain(|_, count| *count > 0);
    Ok(PlacedValue { value: from_toon(value.clone(), &numbers), places: Vec::new() })
}

/// Counts each text that could be a number.
fn count_numbers<'a>(value: &'a Value, numbers: &mut HashMap<&'a str, usize>) {
    match value {
        Value::String(text) if JsonValue::parse(text) == Ok(JsonValue::Number(text.clone())) => {
            *numbers.entry(text).or_default() += 1;
        }
        Value::Array(items) => items.iter().for_each(|item| count_numbers(item, numbers)),
        Value::Object(members) => {
            members.values().for_each(|member| count_numbers(member, numbers));
        }
        _ => {}
    }
}

/// Returns the same value, with the texts in `numbers` as numbers.
fn from_toon(value: Value, numbers: &HashMap<&str, usize>) -> JsonValue {
    match value {
        Value::Null => JsonValue::Null,
        Value::Bool(flag) => JsonValue::Bool(flag),
        Value::Number(number) => JsonValue::Number(number.to_string()),
        Value::String(string) if numbers.contains_key(string.as_str()) => JsonValue::Number(string),
        Value::String(string) => JsonValue::Text(string),
        Value::Array(items) => {
            let items = items.into_iter();
            JsonValue::List(items.map(|item| from_toon(item, numbers)).collect())
        }
        Value::Object(members) => {
            let members = members.into_iter();
            JsonValue::Object(members.map(|(key, one)| (key, from_toon(one, numbers))).collect())
        }
    }
}

/// Returns the value as tab-delimited TOON, in which member names are unique and numbers are
/// doubles. Refuses values that it cannot express.
pub(super) fn to_toon(text: &str, read: &PlacedValue) -> Result<String, NotationProblem> {
    let options = EncodeOptions::new().with_delimiter(Delimiter::Tab);
    let encoded = toon_format::encode(&for_toon(&read.value), &options)?;
    let mut places = read.places.iter().copied();
    // The encoder does not report losses, so its result is decoded and compared.
    match difference(&read.value, &toon(&encoded)?.value, &mut places) {
        None => Ok(encoded),
        Some((place, message)) => Err(NotationProblem::at(text, place, message)),
    }
}

fn for_toon(value: &JsonValue) -> Value {
    match value {
        JsonValue::Null => Value::Null,
        JsonValue::Bool(flag) => Value::Bool(*flag),
        // Integers beyond 2^53 would lose digits as doubles.
        JsonValue::Number(lexeme) => match (lexeme.parse::<i64>(), lexeme.parse::<u64>()) {
            (Ok(number), _) => Value::from(number),
            (_, Ok(number)) => Value::from(number),
            _ => Value::from(lexeme.parse::<f64>().unwrap_or_default()),
        },
        JsonValue::Text(string) => Value::String(string.clone()),
        JsonValue::List(items) => items.iter().map(for_toon).collect(),
        JsonValue::Object(members) => {
            members.iter().map(|(key, one)| (key.clone(), for_toon(one))).collect()
        }
    }
}

/// Returns the first place at which the second value differs from the first, and the reason;
/// `places` are the first value's.
fn difference(
    one: &JsonValue,
    other: &JsonValue,
    places: &mut impl Iterator<Item = usize>,
) -> Option<(usize, String)> {
    let place = places.next().unwrap_or_default();
    match (one, other) {
        (JsonValue::Number(one), JsonValue::Number(other)) if decimal(one) == decimal(other) => {
            None
        }
        (JsonValue::Number(one), _) => Some((
            place,
            format!("{one} does not fit TOON's numbers, which are doubles: put it in quotes"),
        )),
        (JsonValue::List(one), JsonValue::List(other)) if one.len() == other.len() => {
            one.iter().zip(other).find_map(|(one, other)| difference(one, other, places))
        }
        (JsonValue::Object(one), JsonValue::Object(other)) if one.len() == other.len() => {
            let mut members = one.iter().zip(other);
            members.find_map(|((_, one), (_, other))| {
                places.next();
                difference(one, other, places)
            })
        }
        (JsonValue::Object(one), JsonValue::Object(_)) => {
            let mut seen = HashSet::new();
            one.iter().find_map(|(name, value)| {
                let place = places.next().unwrap_or_default();
                let message = format!("TOON member names are unique: there are two `{name}`");
                let twice = !seen.insert(name);
                pass(value, places);
                twice.then_some((place, message))
            })
        }
        _ if one == other => None,
        _ => Some((place, "TOON cannot express this value".to_owned())),
    }
}

/// Skips the places of a value and of its inner values. Returns the value's own place.
pub(super) fn pass(value: &JsonValue, places: &mut impl Iterator<Item = usize>) -> usize {
    let place = places.next().unwrap_or_default();
    match value {
        JsonValue::List(items) => {
            for item in items {
                pass(item, places);
            }
        }
        JsonValue::Object(members) => {
            for (_, member) in members {
                places.next();
                pass(member, places);
            }
        }
        _ => {}
    }
    place
}

/// Returns a JSON number in a form independent of its notation: true if it is negative, its digits
/// without zeros at the ends, and the power of ten of the last digit.
fn decimal(lexeme: &str) -> Option<(bool, String, i64)> {
    let (mantissa, exponent) = match lexeme.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, exponent.parse::<i64>().ok()?),
        None => (lexeme, 0),
    };
    let (below, mantissa) = match mantissa.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, mantissa),
    };
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{part}");
    if whole.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let significant = digits.trim_end_matches('0');
    let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
    let power = exponent.checked_sub(i64::try_from(part.len()).ok()?)?.checked_add(zeros)?;
    match significant.trim_start_matches('0') {
        "" => Some((false, String::new(), 0)),
        significant => Some((below, significant.to_owned(), power)),
    }
}
