//! Times of the functions that every answer passes through, in one thread, beside other encoders and
//! another token counter. A busy moment of the machine affects all functions of a group alike,
//! because they run in turn.

use std::hint::black_box;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::budget::count::{Tokenizer, tokens};
use daysheet_core::budget::fit::{CEILING, FitOptions, fit};
use daysheet_core::budget::value::ValueStrategy;
use daysheet_core::encode::{Delimiter, Document, Format};
use daysheet_core::flatten::{RowContext, flatten};
use daysheet_core::row::{RowExtra, RowTable};
use daysheet_core::schemas::{ColumnLevel, MESSAGE, Service};
use daysheet_core::text;
use daysheet_core::text::html::{TextStyle, html};
use serde_json::{Value, json};
use toon_format::EncodeOptions;

use crate::common::{figure, figures, heading, megabytes, timed};

/// The number of rounds of which the median is reported.
const ROUNDS: usize = 101;

const TOON: Format = Format::Toon(Delimiter::Tab);

pub async fn run() {
    // Before anything else: the first count of a process is the one that builds tables.
    let [ours, theirs] = [tokens, tiktoken].map(first_count);
    println!("The median, and the middle half of {ROUNDS} rounds.\n");
    heading(&["", "", "ms:", ""]);
    let encoded = encoded();
    flattened();
    cleaned();
    counted();
    fitted();
    println!();
    figures();
    let ratio = |one: f64, other: f64| format!("{:.2}", one / other);
    figure("time of toon-format : ours", ratio(encoded[4], encoded[0]), "at least 8");
    figure("time of ours : serde_json", ratio(encoded[0], encoded[3]), "at most 1.5");
    let bytes = |format: Format| format.encode(&document()).len() as f64;
    figure("bytes of TOON by tab : compact JSON", ratio(bytes(TOON), bytes(Format::Json)), "");
    figure("first count of tokens", ours, "at most 20 ms, 20 MB");
    figure("first count of tokens by tiktoken-rs", theirs, "");
}

fn tiktoken(text: &str) -> usize {
    tiktoken_rs::o200k_base_singleton().count_ordinary(text)
}

/// Returns the time of the first count in this process, and the memory that it added.
fn first_count(count: fn(&str) -> usize) -> String {
    let resident = || megabytes("self", "VmRSS").unwrap_or(f64::NAN);
    let before = resident();
    let (_, took) = timed(|| black_box(count("Hello, world!")));
    format!("{took:.2} ms, {:.1} MB", resident() - before)
}

/// Functions that run in turn, by name.
struct Group<'a> {
    title: String,
    names: Vec<&'a str>,
    functions: Vec<Box<dyn FnMut() + 'a>>,
}

impl<'a> Group<'a> {
    fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), names: Vec::new(), functions: Vec::new() }
    }

    fn add<T>(mut self, name: &'a str, mut function: impl FnMut() -> T + 'a) -> Self {
        self.names.push(name);
        self.functions.push(Box::new(move || drop(black_box(function()))));
        self
    }

    /// Prints a row for each function and returns their medians.
    fn run(mut self) -> Vec<f64> {
        let mut times = vec![Vec::new(); self.functions.len()];
        for _ in 0..ROUNDS {
            for (function, times) in self.functions.iter_mut().zip(&mut times) {
                times.push(timed(function).1);
            }
        }
        for (name, times) in self.names.iter().zip(&mut times) {
            times.sort_by(f64::total_cmp);
            let [low, middle, high] = [1, 2, 3].map(|quarter| times[ROUNDS * quarter / 4]);
            println!("| {} | {name} | {middle:.3} | {low:.3} to {high:.3} |", self.title);
        }
        times.iter().map(|times| times[ROUNDS / 2]).collect()
    }
}

/// Documents as text.
fn encoded() -> Vec<f64> {
    let document = document();
    let value: Value = serde_json::from_str(&Format::Json.encode(&document)).unwrap();
    let options = EncodeOptions::new().with_delimiter(toon_format::Delimiter::Tab);
    assert_eq!(TOON.encode(&document), toon_format::encode(&value, &options).unwrap());
    Group::new("encode 1,000 message rows")
        .add("TOON by tab", || TOON.encode(black_box(&document)))
        .add("JSON", || Format::Json.encode(black_box(&document)))
        .add("STC, version 1", || Format::Stc.encode(black_box(&document)))
        .add("serde_json, for comparison", || serde_json::to_string(black_box(&document)))
        .add("toon-format, for comparison", || toon_format::encode(black_box(&value), &options))
        .run()
}

/// Objects of an API as rows, and rows of several accounts as one table.
fn flattened() {
    let (objects, columns) = (metadata(1_000), MESSAGE.up_to(ColumnLevel::Core));
    let context = RowContext::bare(Service::Google);
    let rows = |objects: &[Value]| flatten(&MESSAGE, &columns, objects, &context);
    Group::new("flatten").add("1,000 Gmail messages", || rows(black_box(&objects))).run();
    let mut tables = vec![vec![rows(&objects[..250]).0; 4]; ROUNDS];
    let mut merge = || RowTable::interleave(tables.pop().unwrap(), (0..1_000).map(|at| at % 4));
    Group::new("merge").add("250 rows of each of four accounts", &mut merge).run();
}

/// Text of others as text that can be shown.
fn cleaned() {
    let objects = metadata(1_000);
    let snippets: Vec<&str> = objects.iter().filter_map(|one| one["snippet"].as_str()).collect();
    let newsletter = newsletter();
    let name = format!("a newsletter of {} kB of HTML", newsletter.len() / 1_000);
    let cells = || snippets.iter().map(|one| text::cell(black_box(one)).len()).sum::<usize>();
    Group::new("clean")
        .add("1,000 beginnings of messages", cells)
        .add(&name, || html(black_box(&newsletter), TextStyle::Text, false))
        .run();
}

/// Tokens of a text.
fn counted() {
    let text = TOON.encode(&document());
    assert_eq!(tokens(&text), tiktoken(&text));
    Group::new(format!("count {} kB of rows", text.len() / 1_000))
        .add("o200k_base", || tokens(black_box(&text)))
        .add("cl100k_base", || Tokenizer::Cl100k.count(black_box(&text)))
        .add("o200k_base by tiktoken-rs, for comparison", || tiktoken(black_box(&text)))
        .run();
    let unbroken = "a".repeat(200_000);
    Group::new("count 200 kB of one letter")
        .add("o200k_base", || tokens(black_box(&unbroken)))
        .add("o200k_base by tiktoken-rs, for comparison", || tiktoken(black_box(&unbroken)))
        .run();
}

/// An answer within a budget.
fn fitted() {
    let response = WholeAnswer { document: document(), ..WholeAnswer::default() };
    let options = FitOptions {
        format: Format::default(),
        tokenizer: Tokenizer::O200k,
        budget: 8_000,
        ceiling: CEILING,
        room: 7_900,
        stated_budget: 8_000,
        chunk: 1,
        chunks: true,
        strategy: ValueStrategy::ElementCount,
        secret: &[7; 32],
    };
    Group::new("fit into 8,000 tokens")
        .add("1,000 message rows, counted and encoded", || {
            fit(black_box(&response), &options, |_| "k1".to_owned())
        })
        .run();
}

/// Returns 1,000 message rows of six columns, without the provider's ids.
fn document() -> Document {
    let columns = MESSAGE.up_to(ColumnLevel::Core);
    let mut rows = RowTable::new(&MESSAGE, columns.clone());
    let context = RowContext::bare(Service::Google);
    let (mut found, _) = flatten(&MESSAGE, &columns, &metadata(1_000), &context);
    found.retain(|cells, _| {
        rows.push(cells.to_vec(), RowExtra::default());
        false
    });
    Document { scalars: Vec::new(), tables: vec![rows] }
}

/// Returns a newsletter of 400 lines of a table.
fn newsletter() -> String {
    let row = |number| {
        format!(
            "<tr class=row><td style='padding:4px;color:#333'><a href='https://shop.example/{number}'>\
             Shade {number}</a></td><td class=note>linen &amp; washi</td><td>14.{number} EUR</td></tr>"
        )
    };
    let rows: String = (0..400).map(row).collect();
    format!(
        "<html><head><style>.row td {{ font-size: 14px }} .note {{ color: #666 }} .none {{ display: none }}\
         </style></head><body><p class=none>preheader</p><table>{rows}</table></body></html>"
    )
}

/// Returns messages as Gmail's `format=metadata` has them.
fn metadata(count: u64) -> Vec<Value> {
    let message = |number: u64| {
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
    };
    (0..count).map(message).collect()
}
