//! Rows as TOON, which the official decoder must decode to the values of our JSON.
#![no_main]

use daysheet_core::encode::{Delimiter, Document, Format};
use daysheet_core::row::{RowCell, RowExtra, RowTable};
use daysheet_core::schemas::{TableColumn, MESSAGE};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use toon_format::DecodeOptions;

const COLUMNS: usize = 3;

fuzz_target!(|cells: Vec<String>| {
    let columns: Vec<&'static TableColumn> = MESSAGE.fields.iter().take(COLUMNS).collect();
    let mut table = RowTable::new(&MESSAGE, columns);
    for row in cells.chunks_exact(COLUMNS) {
        table.push(row.iter().cloned().map(RowCell::Text).collect(), RowExtra::default());
    }
    let document = Document { scalars: Vec::new(), tables: vec![table] };
    let json: Value = serde_json::from_str(&Format::Json.encode(&document)).expect("JSON");
    for delimiter in [Delimiter::Tab, Delimiter::Comma, Delimiter::Pipe] {
        let toon = Format::Toon(delimiter).encode(&document);
        let decoded: Value = toon_format::decode(&toon, &DecodeOptions::new()).expect("TOON");
        assert_eq!(decoded, json, "{toon}");
    }
});
