//! Rows and objects for benchmarks of single functions.

use daysheet_core::encode::Document;
use daysheet_core::row::{RowCell, RowExtra, RowTable};
use daysheet_core::schemas::{ColumnLevel, MESSAGE};
use serde_json::{Value, json};

/// 1,000 message rows of six columns, as a search has them.
pub fn document() -> Document {
    let mut rows = RowTable::new(&MESSAGE, MESSAGE.up_to(ColumnLevel::Core));
    for number in 0..1_000_u64 {
        let text = |text: String| RowCell::Text(text);
        rows.push(
            vec![
                RowCell::Handle('m', number + 1),
                text(format!(
                    "2026-11-{:02} {:02}h{:02}",
                    number % 28 + 1,
                    number % 24,
                    number % 60
                )),
                text(format!("Lena Okafor {number} <lena{number}@studio.example>")),
                text(match number % 3 {
                    0 => format!("Re: proof {number} for the autumn catalogue"),
                    1 => format!("Lunch on day {number}"),
                    _ => "和紙シェードのお見積りの件".to_owned(),
                }),
                text(
                    "The printer's proof is here & looks good. Could you have a look at the third…"
                        .to_owned(),
                ),
                text(if number % 2 == 0 { "unread" } else { "" }.to_owned()),
            ],
            RowExtra::default(),
        );
    }
    Document { scalars: vec![("zone", text("Europe/Berlin"))], tables: vec![rows] }
}

fn text(text: &str) -> RowCell {
    RowCell::Text(text.to_owned())
}

/// Messages as Gmail answers `format=metadata` with them.
pub fn metadata(count: u64) -> Vec<Value> {
    (0..count)
        .map(|number| {
            json!({
                "id": format!("18c2f0a1b2c3{number:04x}"),
                "labelIds": ["INBOX", "UNREAD", "CATEGORY_UPDATES"],
                "snippet": "The printer&#39;s proof is here &amp; looks good.\u{200c} \u{200c} \u{34f} Could you have a look at the third page before noon, because",
                "internalDate": (1_770_138_300_000 + number * 60_000).to_string(),
                "payload": {
                    "mimeType": "multipart/alternative",
                    "headers": [
                        {"name": "From", "value": format!("\"Okafor, Lena {number}\" <lena@studio.example>")},
                        {"name": "Subject", "value": "=?utf-8?Q?Re:_proof_f=C3=BCr_den_Katalog?="},
                    ],
                },
            })
        })
        .collect()
}
