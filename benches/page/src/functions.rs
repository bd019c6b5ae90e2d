//! Times of the functions that every answer passes through.
//!
//! `cargo bench -p daysheet-benches` runs them under Criterion, whose options apply (`--
//! --save-baseline NAME`, `-- --baseline NAME`, a part of a name). The merge of several accounts'
//! rows is measured by the function that builds the merged table; the merge of the agenda, over
//! stored responses, by `cargo bench --bench calendar_search`.

#![allow(
    missing_docs,
    clippy::unwrap_used,
    reason = "a benchmark stops at the first surprise, and Criterion's macros have no docs"
)]

use std::hint::black_box;
use std::time::Duration;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use daysheet_core::budget::WholeAnswer;
use daysheet_core::budget::count::Tokenizer;
use daysheet_core::budget::fit::{CEILING, FitOptions, fit};
use daysheet_core::budget::plan::{BlockRendering, PlacementTier, PlannedBlock, plan};
use daysheet_core::budget::value::ValueStrategy;
use daysheet_core::encode::{Delimiter, Format};
use daysheet_core::flatten::{RowContext, flatten};
use daysheet_core::row::RowTable;
use daysheet_core::schemas::{ColumnLevel, MESSAGE, Service};
use daysheet_core::text;
use daysheet_core::text::html::{TextStyle, html};

use rows::{document, metadata};

#[path = "../../rows.rs"]
mod rows;

/// Documents as text.
fn encode(criterion: &mut Criterion) {
    let document = document();
    let mut group = criterion.benchmark_group("encode 1,000 message rows");
    for (name, format) in [
        ("TOON by tab", Format::Toon(Delimiter::Tab)),
        ("JSON", Format::Json),
        ("STC, version 1", Format::Stc),
    ] {
        group.bench_function(name, |bencher| bencher.iter(|| format.encode(black_box(&document))));
    }
    group.bench_function("serde_json, for comparison", |bencher| {
        bencher.iter(|| serde_json::to_string(black_box(&document)).unwrap());
    });
}

/// Objects of an API as rows.
fn flattened(criterion: &mut Criterion) {
    let (objects, columns) = (metadata(1_000), MESSAGE.up_to(ColumnLevel::Core));
    let context = RowContext::bare(Service::Google);
    criterion.benchmark_group("flatten").bench_function("1,000 Gmail messages", |bencher| {
        bencher.iter(|| flatten(&MESSAGE, &columns, black_box(&objects), &context));
    });
}

/// Text of others as text that can be shown.
fn clean(criterion: &mut Criterion) {
    let snippets: Vec<String> = metadata(1_000)
        .iter()
        .filter_map(|object| object.get("snippet")?.as_str().map(str::to_owned))
        .collect();
    let rows: String = (0..400)
        .map(|number| {
            format!(
                "<tr class=row><td style='padding:4px;color:#333'><a href='https://shop.example/{number}'>\
                 Shade {number}</a></td><td class=note>linen &amp; washi</td><td>14.{number} EUR</td></tr>"
            )
        })
        .collect();
    let newsletter = format!(
        "<html><head><style>.row td {{ font-size: 14px }} .note {{ color: #666 }} .none {{ display: none }}\
         </style></head><body><p class=none>preheader</p><table>{rows}</table></body></html>"
    );
    let mut group = criterion.benchmark_group("clean");
    group.bench_function("1,000 beginnings of messages", |bencher| {
        bencher
            .iter(|| black_box(&snippets).iter().map(|one| text::cell(one).len()).sum::<usize>());
    });
    let name = format!("a newsletter of {} kB of HTML", newsletter.len() / 1_000);
    group.bench_function(name, |bencher| {
        bencher.iter(|| html(black_box(&newsletter), TextStyle::Text, false));
    });
}

/// Tokens of a text.
fn count(criterion: &mut Criterion) {
    let text = Format::default().encode(&document());
    let mut group = criterion.benchmark_group(format!("count {} kB of rows", text.len() / 1_000));
    for tokenizer in Tokenizer::ALL {
        group.bench_function(tokenizer.name(), |bencher| {
            bencher.iter(|| tokenizer.count(black_box(&text)));
        });
    }
}

/// Benchmarks planning for a budget of 8,000 tokens.
fn planned(criterion: &mut Criterion) {
    let rendering = |tokens, value| BlockRendering { tokens, value, headings: vec![0] };
    let block = |at: usize| PlannedBlock {
        renderings: vec![
            rendering(12 + at % 5, 0.4),
            rendering(30 + at % 11, 0.7),
            rendering(60 + at % 23, 1.0),
        ],
        tier: if at.is_multiple_of(10) { PlacementTier::High } else { PlacementTier::default() },
        pinned: false,
        list: None,
    };
    let blocks: Vec<PlannedBlock> = (0..1_000).map(block).collect();
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
    let mut group = criterion.benchmark_group("plan for 8,000 tokens");
    group.bench_function("1,000 blocks of three renderings", |bencher| {
        bencher.iter(|| plan(black_box(&blocks), &[20], 8_000).unwrap());
    });
    group.bench_function("fit 1,000 message rows, counted and encoded", |bencher| {
        bencher.iter(|| fit(black_box(&response), &options, |_| "k1".to_owned()).unwrap());
    });
}

/// Rows of several accounts as one table.
fn merge(criterion: &mut Criterion) {
    let (objects, columns) = (metadata(250), MESSAGE.up_to(ColumnLevel::Core));
    let (table, _) = flatten(&MESSAGE, &columns, &objects, &RowContext::bare(Service::Google));
    criterion.benchmark_group("merge").bench_function(
        "250 rows of each of four accounts",
        |bencher| {
            bencher.iter_batched(
                || vec![table.clone(); 4],
                |tables| RowTable::interleave(tables, (0..1_000).map(|at| at % 4)),
                BatchSize::SmallInput,
            );
        },
    );
}

criterion_group! {
    name = functions;
    config = Criterion::default()
        .warm_up_time(Duration::from_secs(1))
        .measurement_time(Duration::from_secs(3));
    targets = encode, flattened, clean, count, planned, merge
}
criterion_main!(functions);
