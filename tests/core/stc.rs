//! STC: round trips of every JSON value, and robustness of the parser.

mod random;
mod tables;

use daysheet_core::encode::stc::StcVersion;
use daysheet_core::encode::stc::parse::parse;
use daysheet_core::encode::stc::scan::{MAX_DEPTH, SyntaxError};
use daysheet_core::encode::stc::value::JsonValue;
use daysheet_core::encode::stc::write::write;
use daysheet_core::encode::{Document, Format};
use daysheet_core::row::{RowCell, RowExtra, RowTable};
use daysheet_core::schemas::{FOLDER, MESSAGE, Table, TableColumn};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use tables::{OTHERS, TABLE, WRONG};

use crate::encode::matching;

const VERSIONS: [StcVersion; 2] = [StcVersion::One, StcVersion::Two];

#[test]
fn values_are_written_so_and_read_back() {
    for (json, one, two) in TABLE {
        let value = JsonValue::parse(json).unwrap();
        for (version, stc) in VERSIONS.into_iter().zip([one, two]) {
            assert_eq!(write(&value, version), **stc, "{json}");
            assert_eq!(parse(stc).as_ref(), Ok(&value), "{stc}");
        }
        assert_eq!(value.to_json(), *json);
    }
}

/// Other writers' STC is read, too; every JSON text is STC.
#[test]
fn alternative_spellings_are_read() {
    for (stc, json) in OTHERS {
        assert_eq!(parse(stc).map(|value| value.to_json()).as_deref(), Ok(*json));
        assert_eq!(parse(json), parse(stc));
    }
}

#[test]
fn json_whitespace_and_escapes_are_read() {
    for (json, canonical) in [
        (" \t\r\n[ 1 , 2 ]\n", "[1,2]"),
        ("{ \"a\" : { } , \"b\" : [ ] }", r#"{"a":{},"b":[]}"#),
        (r#""\u0041\/\u00e9\ud83d\ude00\u0000""#, "\"A/é😀\\u0000\""),
    ] {
        assert_eq!(JsonValue::parse(json).unwrap().to_json(), canonical);
    }
}

#[test]
fn syntax_errors_are_reported_with_their_position() {
    for (text, expected) in WRONG {
        let why = parse(text).map_or_else(|error| error.to_string(), |found| found.to_json());
        assert_eq!(why, *expected, "{text}");
    }
}

#[test]
fn reader_and_writer_share_a_nesting_limit() {
    let json = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    let deepest = JsonValue::parse(&json(MAX_DEPTH)).unwrap();
    assert_eq!(parse(&write(&deepest, StcVersion::One)), Ok(deepest));
    // A table at the deepest level takes two levels.
    let bottom = |depth| json(depth).replace('1', r#"{"a":1},{"a":2}"#);
    let deepest = JsonValue::parse(&bottom(MAX_DEPTH - 1)).unwrap();
    assert_eq!(parse(&write(&deepest, StcVersion::One)), Ok(deepest));
    assert!(JsonValue::parse(&bottom(MAX_DEPTH)).is_err());

    for depth in [MAX_DEPTH + 1, 10_000, 1_000_000] {
        for text in [json(depth), "[".repeat(depth), r#"{"a":"#.repeat(depth)] {
            assert_eq!(JsonValue::parse(&text).unwrap_err().wrong, SyntaxError::TooDeep);
        }
        for text in ["[".repeat(depth), "{a: ".repeat(depth), "a: {".repeat(depth)] {
            assert_eq!(parse(&text).unwrap_err().wrong, SyntaxError::TooDeep);
        }
        let nested = format!("{}{}", "{a: ".repeat(depth), "}".repeat(depth));
        assert_eq!(parse(&nested).unwrap_err().wrong, SyntaxError::TooDeep);
    }
    // Parsing limits the depth, so such a value only comes from code; it is written nevertheless.
    let mut deep = JsonValue::Null;
    for _ in 0..10_000 {
        deep = JsonValue::List(vec![JsonValue::Bool(true), deep]);
    }
    assert!(deep.to_json().ends_with(&"]".repeat(10_000)));
    assert_eq!(
        parse(&write(&deep, StcVersion::One)).map_err(|error| error.wrong),
        Err(SyntaxError::TooDeep)
    );
    // Dropping it would recurse in code that the compiler generates.
    std::mem::forget(deep);
}

pub fn runner(cases: u32) -> TestRunner {
    TestRunner::new(Config { cases, failure_persistence: None, ..Config::default() })
}

fn extra() -> impl Strategy<Value = RowExtra> {
    let text = || prop_oneof![Just("x".to_owned()), matching("\\PC*"), matching("[ -~]{0,9}")];
    (proptest::option::of(text()), proptest::option::weighted(0.2, text()))
        .prop_map(|(provider_id, text)| RowExtra { provider_id, text, ..RowExtra::default() })
}

fn rows(table: &'static Table) -> impl Strategy<Value = RowTable> {
    let row = || proptest::collection::vec(crate::encode::cell(), 0..4_usize);
    // Half of the tables have the same extras in all rows.
    let rows = (extra(), any::<bool>(), proptest::collection::vec((row(), extra()), 0..4));
    (0..=3_usize, rows).prop_map(move |(width, (same, uniform, rows))| {
        let columns: Vec<&'static TableColumn> = table.fields.iter().take(width).collect();
        let mut made = RowTable::new(table, columns);
        for (cells, extra) in rows {
            made.push(
                cells.into_iter().take(width).collect(),
                if uniform { same.clone() } else { extra },
            );
        }
        made
    })
}

#[test]
fn every_document_says_what_its_json_says() {
    let documents = (
        proptest::option::of(crate::encode::cell()),
        proptest::option::of(rows(&MESSAGE)),
        proptest::option::of(rows(&FOLDER)),
    );
    runner(15_000)
        .run(&documents, |(scalar, messages, folders)| {
            let document = Document {
                scalars: scalar.map(|value| ("zone", value)).into_iter().collect(),
                tables: messages.into_iter().chain(folders).collect(),
            };
            let json = Format::Json.encode(&document);
            let value = JsonValue::parse(&json).unwrap();
            // Rows are written as the same value is.
            prop_assert_eq!(Format::Stc.encode(&document), write(&value, StcVersion::One));
            for version in VERSIONS {
                let stc = write(&value, version);
                prop_assert_eq!(&parse(&stc), &Ok(value.clone()), "{}", stc);
            }
            prop_assert_eq!(value.to_json(), json);
            Ok(())
        })
        .unwrap();
}

#[test]
fn stc_document_is_written_like_this() {
    let columns = || -> Vec<_> {
        let names = ["id", "date", "subject", "size", "has_attachments"];
        names.iter().filter_map(|name| MESSAGE.field(name)).collect()
    };
    let row = |number, subject: &str| {
        vec![
            RowCell::Handle('m', number),
            RowCell::Text("2026-02-03 18h05".to_owned()),
            RowCell::Text(subject.to_owned()),
            RowCell::Count(1024),
            RowCell::Flag(false),
        ]
    };
    let extra = |id: Option<&str>, text: Option<&str>| RowExtra {
        provider_id: id.map(str::to_owned),
        text: text.map(str::to_owned),
        ..RowExtra::default()
    };
    let document = |extras: [RowExtra; 2]| {
        let mut rows = RowTable::new(&MESSAGE, columns());
        for (at, extra) in extras.into_iter().enumerate() {
            rows.push(row(at as u64 + 1, ["Re: lunch", "plain"][at]), extra);
        }
        Document {
            scalars: vec![
                ("zone", RowCell::Text("Europe/Berlin".to_owned())),
                ("next", RowCell::Handle('p', 3)),
            ],
            tables: vec![rows, RowTable::new(&FOLDER, Vec::new())],
        }
    };
    let both = |extras: [RowExtra; 2]| {
        let document = document(extras);
        let value = JsonValue::parse(&Format::Json.encode(&document)).unwrap();
        [Format::Stc.encode(&document), write(&value, StcVersion::Two)]
    };
    assert_eq!(
        both([extra(None, None), extra(None, None)]),
        [
            "{zone: \"Europe/Berlin\", next: \"p3\", \
             messages[2]{id,date,subject,size,has_attachments}: \
             \"m1\",\"2026-02-03 18h05\",\"Re: lunch\",1024,false / \
             \"m2\",\"2026-02-03 18h05\",\"plain\",1024,false, folders: []}",
            "zone: \"Europe/Berlin\", next: p3, \
             messages[2]{id,date,subject,size,has_attachments}: \
             m1,2026-02-03 18h05,\"Re: lunch\",1024,false / m2,2026-02-03 18h05,plain,1024,false, \
             folders: []"
        ]
    );
    let long = Some("a\nb");
    assert_eq!(
        both([extra(Some("18c2"), long), extra(Some("18c3"), long)]),
        [
            "{zone: \"Europe/Berlin\", next: \"p3\", \
             messages[2]{id,date,subject,size,has_attachments,provider_id,text}: \
             \"m1\",\"2026-02-03 18h05\",\"Re: lunch\",1024,false,\"18c2\",\"a\\nb\" / \
             \"m2\",\"2026-02-03 18h05\",\"plain\",1024,false,\"18c3\",\"a\\nb\", folders: []}",
            "zone: \"Europe/Berlin\", next: p3, \
             messages[2]{id,date,subject,size,has_attachments,provider_id,text}: \
             m1,2026-02-03 18h05,\"Re: lunch\",1024,false,18c2,\"a\\nb\" / \
             m2,2026-02-03 18h05,plain,1024,false,18c3,\"a\\nb\", folders: []"
        ]
    );
    // Rows with different members are written as objects.
    assert_eq!(
        both([extra(Some("1e5"), None), extra(None, None)]),
        [
            "{zone: \"Europe/Berlin\", next: \"p3\", messages: [\
             {id: \"m1\", date: \"2026-02-03 18h05\", subject: \"Re: lunch\", size: 1024, \
             has_attachments: false, provider_id: \"1e5\"}, \
             {id: \"m2\", date: \"2026-02-03 18h05\", subject: \"plain\", size: 1024, \
             has_attachments: false}], folders: []}",
            "zone: \"Europe/Berlin\", next: p3, messages: [\
             {id: m1, date: 2026-02-03 18h05, subject: \"Re: lunch\", size: 1024, \
             has_attachments: false, provider_id: \"1e5\"}, \
             {id: m2, date: 2026-02-03 18h05, subject: plain, size: 1024, \
             has_attachments: false}], folders: []"
        ]
    );
    assert_eq!(Format::Stc.encode(&Document::default()), "{}");
}
