//! Random values and texts.

use std::cell::Cell as Counter;

use daysheet_core::encode::stc::StcVersion;
use daysheet_core::encode::stc::parse::parse;
use daysheet_core::encode::stc::value::JsonValue;
use daysheet_core::encode::stc::write::write;
use proptest::prelude::*;

use super::{VERSIONS, runner};
use crate::common::thorough::thorough;

/// Pieces of keys and texts.
const PIECES: &[&str] = &[
    "a", "b", "name", "word", " ", ",", "/", " / ", ", word: ", ": ", ":", "{", "}", "[", "]",
    "[2]{a,b}:", "[1]: ", "\"", "\\", "\\u0041", "\\\"", "'", "\n", "\r", "\t", "\u{0}", "\u{1f}",
    "\u{7f}", "\u{85}", "\u{a0}", "\u{2028}", "\u{feff}", "é", "日本", "👩‍👩‍👧", "true", "null", "0",
    "1", "-", "+", ".", "e", "E5", "1e400", "-0", "18h05", "#", "_",
];

/// Decisions read from bytes, so that a failing value shrinks with them. Without bytes, the first
/// option is chosen.
struct Choices<'a>(std::slice::Iter<'a, u8>);

impl Choices<'_> {
    fn pick(&mut self, of: usize) -> usize {
        usize::from(self.0.next().copied().unwrap_or_default()) % of
    }

    fn text(&mut self) -> String {
        (0..self.pick(4)).map(|_| PIECES[self.pick(PIECES.len())]).collect()
    }

    fn key(&mut self) -> String {
        match self.pick(3) {
            0 => ["a", "b", "rows", "word", "x_1", "A"][self.pick(6)].to_owned(),
            _ => self.text(),
        }
    }

    fn digits(&mut self) -> String {
        let length = [1, 2, 40][self.pick(3)];
        (0..length).map(|at| char::from(b'0' + ((self.pick(10) + at) % 10) as u8)).collect()
    }

    fn number(&mut self) -> String {
        let mut lexeme = ["", "-"][self.pick(2)].to_owned();
        let whole = self.digits();
        lexeme.push_str(match whole.trim_start_matches('0') {
            "" => "0",
            whole => whole,
        });
        if self.pick(3) == 1 {
            lexeme.push('.');
            lexeme.push_str(&self.digits());
        }
        if self.pick(3) == 1 {
            lexeme.push_str(["e", "E", "e+", "E-"][self.pick(4)]);
            lexeme.push_str(&self.digits());
        }
        lexeme
    }

    fn primitive(&mut self) -> JsonValue {
        match self.pick(6) {
            0 => JsonValue::Null,
            1 => JsonValue::Bool(self.pick(2) == 0),
            2 => JsonValue::Number(self.number()),
            _ => JsonValue::Text(self.text()),
        }
    }

    fn table(&mut self) -> JsonValue {
        let keys: Vec<String> = (0..=self.pick(3)).map(|_| self.key()).collect();
        let rows = (0..=self.pick(3)).map(|_| {
            let cells = keys.iter().map(|key| (key.clone(), self.primitive()));
            JsonValue::Object(cells.collect())
        });
        let mut rows: Vec<JsonValue> = rows.collect();
        // Some lists have an item that almost fits a table.
        if self.pick(8) == 1 {
            let odd = self.value(1);
            rows.push(odd);
        }
        JsonValue::List(rows)
    }

    fn value(&mut self, depth: usize) -> JsonValue {
        if depth == 0 {
            return self.primitive();
        }
        match self.pick(8) {
            0 | 1 => self.primitive(),
            2 => JsonValue::List((0..self.pick(4)).map(|_| self.primitive()).collect()),
            3 | 4 => self.table(),
            5 => JsonValue::List((0..self.pick(4)).map(|_| self.value(depth - 1)).collect()),
            _ => self.object(depth),
        }
    }

    fn object(&mut self, depth: usize) -> JsonValue {
        let members = (0..self.pick(5)).map(|_| (self.key(), self.value(depth - 1)));
        JsonValue::Object(members.collect())
    }

    fn document(&mut self) -> JsonValue {
        match self.pick(4) {
            0 => self.value(4),
            _ => self.object(4),
        }
    }
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..120)
}

#[test]
fn every_value_round_trips() {
    let seen = [const { Counter::new(0_u32) }; 4];
    runner(if thorough() { 100_000 } else { 25_000 })
        .run(&bytes(), |bytes| {
            let value = Choices(bytes.iter()).document();
            let stc = write(&value, StcVersion::One);
            for version in VERSIONS {
                let stc = write(&value, version);
                prop_assert_eq!(&parse(&stc), &Ok(value.clone()), "{}", stc);
                prop_assert!(!stc.contains(|char: char| char.is_control()), "{}", stc);
            }
            let json = value.to_json();
            prop_assert_eq!(&JsonValue::parse(&json), &Ok(value.clone()), "{}", json);
            // Every JSON text is valid STC.
            prop_assert_eq!(&parse(&json), &Ok(value), "{}", json);
            for (counter, mark) in seen.iter().zip(["]{", " / ", ": {", ": ["]) {
                counter.set(counter.get() + u32::from(stc.contains(mark)));
            }
            Ok(())
        })
        .unwrap();
    // The values cover all shapes, many times each.
    assert!(seen.iter().all(|seen| seen.get() > 5_000), "{seen:?}");
}

/// Returns an STC text with some characters changed.
fn changed(bytes: &[u8]) -> String {
    let (edits, bytes) = bytes.split_at(bytes.len().min(12));
    let mut edits = Choices(edits.iter());
    let version = VERSIONS[edits.pick(2)];
    let value = Choices(bytes.iter()).document();
    let mut text: Vec<char> = write(&value, version).chars().collect();
    for _ in 0..edits.pick(4) {
        let at = edits.pick(text.len() + 1);
        let end = (at + edits.pick(3)).min(text.len());
        let piece = PIECES[edits.pick(PIECES.len())];
        text.splice(at..end, piece.chars());
    }
    text.into_iter().collect()
}

#[test]
fn no_text_makes_the_parser_panic() {
    let read = [const { Counter::new(0_u32) }; 2];
    let check = |text: &str| {
        let found = parse(text);
        let counter = &read[usize::from(found.is_ok())];
        counter.set(counter.get() + 1);
        // Every accepted text has a value that can be written again; every refusal has a position.
        match found {
            Ok(value) => {
                let stc = write(&value, StcVersion::One);
                prop_assert_eq!(parse(&stc), Ok(value), "{}", text);
            }
            Err(error) => {
                let lines: Vec<_> = text.split('\n').collect();
                let line = lines.get(error.line - 1);
                let length = line.map_or(0, |line| line.chars().count());
                prop_assert!((1..=length + 1).contains(&error.column), "{}: {}", error, text);
            }
        }
        Ok(())
    };
    runner(20_000).run(&bytes(), |bytes| check(&changed(&bytes))).unwrap();
    assert!(read.iter().all(|read| read.get() > 1_000), "{read:?}");
    runner(20_000)
        .run(&bytes(), |bytes| {
            let pieces: String = bytes
                .iter()
                .take(20)
                .map(|byte| PIECES[usize::from(*byte) % PIECES.len()])
                .collect();
            check(&pieces)
        })
        .unwrap();
}

/// Our JSON parser, compared with the one used elsewhere in the project.
#[test]
fn json_is_read_as_serde_reads_it() {
    let read = [const { Counter::new(0_u32) }; 2];
    runner(20_000)
        .run(&bytes(), |bytes| {
            let (edits, bytes) = bytes.split_at(bytes.len().min(8));
            let mut text: Vec<char> = Choices(bytes.iter()).document().to_json().chars().collect();
            let mut edits = Choices(edits.iter());
            for _ in 0..edits.pick(3) {
                let at = edits.pick(text.len() + 1);
                let end = (at + edits.pick(3)).min(text.len());
                text.splice(at..end, PIECES[edits.pick(PIECES.len())].chars());
            }
            let text: String = text.into_iter().collect();
            let ours = JsonValue::parse(&text);
            let counter = &read[usize::from(ours.is_ok())];
            counter.set(counter.get() + 1);
            match serde_json::from_str::<serde_json::Value>(&text) {
                Err(error) if error.to_string().starts_with("number out of range") => {}
                theirs => prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{}", text),
            }
            Ok(())
        })
        .unwrap();
    assert!(read.iter().all(|read| read.get() > 1_000), "{read:?}");
}
