//! The encoders, compared with the official decoder and encoder on hostile cells.

use daysheet_core::encode::json::parts;
use daysheet_core::encode::toon::{SheetCell, sheet};
use daysheet_core::encode::{Delimiter, Document, Format};
use daysheet_core::row::{RowCell, RowExtra, RowTable};
use daysheet_core::schemas::{MESSAGE, TableColumn};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;
use toon_format::{DecodeOptions, EncodeOptions};

use crate::common::thorough::thorough;

/// Returns texts that match a pattern. The pattern is compiled once; used as a strategy itself, it
/// would be compiled again for every text.
pub(crate) fn matching(pattern: &str) -> impl Strategy<Value = String> {
    proptest::string::string_regex(pattern).unwrap()
}

/// The number of documents that the encoder is tested with.
const CASES: u32 = 25_000;
const THOROUGH_CASES: u32 = 100_000;

/// Strings that look like other syntax.
const NASTY: &[&str] = &[
    "",
    " ",
    "  x",
    "x ",
    "\t",
    "a\tb",
    "a\nb",
    "a\rb",
    "\"",
    "a\"b",
    "\\",
    "a\\b",
    "-",
    "- x",
    "-1x",
    "--",
    "#",
    "#x",
    "05",
    "0",
    "1",
    "-1",
    "+49 30",
    "+49",
    "1.5",
    "1.",
    ".5",
    "1e5",
    "1E-5",
    "1e",
    "e5",
    "0x1f",
    "1_000",
    "true",
    "True",
    "false",
    "null",
    "NULL",
    "a: b",
    ":",
    "[x]",
    "[",
    "]",
    "{",
    "}",
    "{x}",
    "[1]:",
    "a,b",
    "a|b",
    ",",
    "|",
    "\u{7}",
    "\u{0}",
    "\u{1f}",
    "\u{7f}",
    "\u{85}",
    "\u{2028}",
    "\u{feff}x",
    "👩‍👩‍👧",
    "🇩🇪",
    "שלום",
    "مرحبا بالعالم",
    "Ærøskøbing",
    "日本語",
    "messages[2\t]{id}:",
    "null\n",
    "\u{a0}",
    "\u{a0}x",
    "x\u{a0}",
    "\u{3000}x",
    "a  b",
    "key: value",
    "- item",
    "~",
    "*",
    "`x`",
];

fn delimiter(delimiter: Delimiter) -> toon_format::Delimiter {
    match delimiter {
        Delimiter::Tab => toon_format::Delimiter::Tab,
        Delimiter::Comma => toon_format::Delimiter::Comma,
        Delimiter::Pipe => toon_format::Delimiter::Pipe,
    }
}

pub(crate) fn cell() -> impl Strategy<Value = RowCell> {
    prop_oneof![
        1 => Just(RowCell::Null),
        1 => any::<bool>().prop_map(RowCell::Flag),
        1 => any::<i64>().prop_map(RowCell::Count),
        1 => (1..1_000_000_u64).prop_map(|number| RowCell::Handle('m', number)),
        4 => proptest::sample::select(NASTY).prop_map(|text| RowCell::Text(text.to_owned())),
        3 => matching("[ -~\t\n]{0,12}").prop_map(RowCell::Text),
        2 => matching("\\PC{0,12}").prop_map(RowCell::Text),
        1 => matching("\\PC*").prop_map(RowCell::Text),
    ]
}

fn document() -> impl Strategy<Value = Document> {
    let row = proptest::collection::vec(cell(), 4);
    let rows = proptest::collection::vec(row, 0..=3_usize);
    (1..=4_usize, rows, proptest::option::of(cell())).prop_map(|(width, rows, scalar)| {
        let columns: Vec<&'static TableColumn> = MESSAGE.fields.iter().take(width).collect();
        let mut table = RowTable::new(&MESSAGE, columns);
        for row in rows {
            table.push(row.into_iter().take(width).collect(), RowExtra::default());
        }
        Document {
            scalars: scalar.map(|value| ("zone", value)).into_iter().collect(),
            tables: vec![table],
        }
    })
}

#[test]
fn every_document_decodes_strictly_to_the_values_of_its_json() {
    let cases = if thorough() { THOROUGH_CASES } else { CASES };
    let mut runner =
        TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() });
    let delimiters =
        proptest::sample::select(vec![Delimiter::Tab, Delimiter::Comma, Delimiter::Pipe]);
    runner
        .run(&(document(), delimiters), |(document, by)| {
            let toon = Format::Toon(by).encode(&document);
            let written = Format::Json.encode(&document);
            prop_assert_eq!(&parts(document.clone()).collect::<String>(), &written);
            let json: Value = serde_json::from_str(&written).unwrap();
            let decoded: Value = toon_format::decode(&toon, &DecodeOptions::new())
                .map_err(|error| TestCaseError::fail(format!("{error}\n{toon}")))?;
            prop_assert_eq!(&decoded, &json, "{}", toon);
            // The reference encoder returns the same bytes, so quotes are used only where required.
            let options = EncodeOptions::new().with_delimiter(delimiter(by));
            let reference = toon_format::encode(&json, &options).unwrap();
            prop_assert_eq!(&toon, &reference);
            Ok(())
        })
        .unwrap();
}

/// Untrusted names, headings and cells cannot change the structure of a document.
#[test]
fn sheets_decode_strictly_to_their_values() {
    let word = || {
        prop_oneof![
            proptest::sample::select(NASTY).prop_map(str::to_owned),
            matching("\\PC{0,12}"),
            matching("[A-Za-z_.0-9]{1,6}"),
        ]
    };
    let number = proptest::sample::select(vec!["0", "-1.5", "129.5", "05", "+1", "NaN", ""]);
    let cell = prop_oneof![
        Just(SheetCell::Null),
        any::<bool>().prop_map(SheetCell::Flag),
        number.prop_map(|digits| SheetCell::Number(digits.to_owned())),
        word().prop_map(SheetCell::Text),
    ];
    let row = proptest::collection::vec(cell, 0..=5_usize);
    let rows = proptest::collection::vec(row, 0..=3_usize);
    let columns = proptest::collection::hash_set(word(), 1..=4_usize);
    let mut runner = TestRunner::new(Config { failure_persistence: None, ..Config::default() });
    runner
        .run(&(word(), columns, rows), |(name, columns, rows)| {
            let columns: Vec<String> = columns.into_iter().collect();
            let toon = sheet(&name, &columns, &rows);
            let value = |cell: Option<&SheetCell>| match cell {
                None | Some(SheetCell::Null) => Value::Null,
                Some(SheetCell::Flag(flag)) => Value::from(*flag),
                Some(SheetCell::Text(text)) => Value::from(text.as_str()),
                Some(SheetCell::Number(digits)) => {
                    serde_json::from_str::<serde_json::Number>(digits)
                        .map_or_else(|_| Value::from(digits.as_str()), Value::from)
                }
            };
            let object = |row: &Vec<SheetCell>| -> Value {
                columns
                    .iter()
                    .enumerate()
                    .map(|(at, column)| (column.clone(), value(row.get(at))))
                    .collect()
            };
            let rows: Value = rows.iter().map(object).collect();
            let decoded: Value = toon_format::decode(&toon, &DecodeOptions::new())
                .map_err(|error| TestCaseError::fail(format!("{error}\n{toon}")))?;
            prop_assert_eq!(&decoded, &serde_json::json!({ name: rows }), "{}", toon);
            Ok(())
        })
        .unwrap();
}

#[test]
fn toon_document_is_written_like_this() {
    let columns: Vec<_> = ["id", "date", "subject", "size", "has_attachments"]
        .iter()
        .filter_map(|name| MESSAGE.field(name))
        .collect();
    let mut rows = RowTable::new(&MESSAGE, columns);
    rows.push(
        vec![
            RowCell::Handle('m', 1),
            RowCell::Text("2026-02-03 18h05".to_owned()),
            RowCell::Text("Re: lunch".to_owned()),
            RowCell::Count(1024),
            RowCell::Flag(false),
        ],
        RowExtra { provider_id: Some("18c2".to_owned()), ..RowExtra::default() },
    );
    rows.push(
        vec![RowCell::Handle('m', 2), RowCell::Null, RowCell::Text("plain".to_owned())],
        RowExtra::default(),
    );
    let document = Document {
        scalars: vec![
            ("zone", RowCell::Text("Europe/Berlin".to_owned())),
            ("next", RowCell::Handle('p', 3)),
        ],
        tables: vec![rows],
    };
    assert_eq!(
        Format::Toon(Delimiter::Tab).encode(&document),
        "zone: Europe/Berlin\nnext: p3\n\
         messages[2\t]{id\tdate\tsubject\tsize\thas_attachments}:\n\
         \x20 m1\t2026-02-03 18h05\t\"Re: lunch\"\t1024\tfalse\n\
         \x20 m2\tnull\tplain\tnull\tnull"
    );
    // Two tables, written in parts and as one piece.
    let twice = [document.tables.clone(), document.tables.clone()].concat();
    let twice = Document { scalars: Vec::new(), tables: twice };
    assert_eq!(parts(twice.clone()).collect::<String>(), Format::Json.encode(&twice));
    assert_eq!(
        Format::Json.encode(&document),
        "{\"zone\":\"Europe/Berlin\",\"next\":\"p3\",\"messages\":[\
         {\"id\":\"m1\",\"date\":\"2026-02-03 18h05\",\"subject\":\"Re: lunch\",\"size\":1024,\
         \"has_attachments\":false,\"provider_id\":\"18c2\"},\
         {\"id\":\"m2\",\"date\":null,\"subject\":\"plain\",\"size\":null,\"has_attachments\":null}]}"
    );
}
