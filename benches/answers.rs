//! The cost of building an answer, with alternatives side by side in one run.
//!
//! `cargo bench --bench answers` prints ratios; on a noisy machine only the medians of interleaved
//! rounds are comparable.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a benchmark prints its table and stops at the first surprise"
)]
#![expect(unsafe_code, reason = "counting allocations takes a global allocator")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::HashMap;
use std::hint::black_box;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use daysheet_core::encode::{Delimiter, Document, Format};
use daysheet_core::flatten::{RowContext, RowRoom, flatten};
use daysheet_core::project::project;
use daysheet_core::schemas::{ColumnLevel, MESSAGE, Service};
use jiff::tz::TimeZone;
use serde_json::Value;
use toon_format::EncodeOptions;

use rows::{document, metadata};

mod rows;

/// The number of rounds of which the median is reported.
const ROUNDS: usize = 41;

/// The system's allocator, counted.
struct Counting;

static ALLOCATIONS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Growth of a buffer is not a new allocation here.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn allocations(work: impl FnOnce()) -> usize {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    work();
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

/// Returns the medians of several pieces of work, run in turn in each round.
fn medians(work: &mut [&mut dyn FnMut()]) -> Vec<Duration> {
    let mut times = vec![Vec::new(); work.len()];
    for _ in 0..ROUNDS {
        for (one, times) in work.iter_mut().zip(&mut times) {
            let start = Instant::now();
            one();
            times.push(start.elapsed());
        }
    }
    times
        .into_iter()
        .map(|mut times| {
            times.sort();
            times[ROUNDS / 2]
        })
        .collect()
}

fn line(what: &str, value: &str, target: &str) {
    println!("{what:<66}{value:>14}   {target}");
}

fn main() {
    let document = document();
    let compact = Format::Json.encode(&document);
    let value: Value = serde_json::from_str(&compact).unwrap();
    let options = EncodeOptions::new().with_delimiter(toon_format::Delimiter::Tab);
    let ours = Format::Toon(Delimiter::Tab).encode(&document);
    assert_eq!(ours, toon_format::encode(&value, &options).unwrap());

    let times = medians(&mut [
        &mut || {
            black_box(Format::Toon(Delimiter::Tab).encode(&document));
        },
        &mut || {
            black_box(toon_format::encode(&value, &options).unwrap());
        },
        &mut || {
            black_box(serde_json::to_string(&document).unwrap());
        },
    ]);
    let ratio = |one: Duration, other: Duration| one.as_secs_f64() / other.as_secs_f64();
    println!("encoding 1,000 message rows of six columns");
    line(
        "  toon-format's encode : ours",
        &format!("{:.1}", ratio(times[1], times[0])),
        "at least 8",
    );
    line(
        "  ours : serde_json::to_string",
        &format!("{:.2}", ratio(times[0], times[2])),
        "at most 1.5",
    );
    let count = allocations(|| {
        black_box(Format::Toon(Delimiter::Tab).encode(&document));
    });
    line("  allocations beside the buffer's growth", &count.to_string(), "at most 1");
    line(
        "  bytes, TOON : compact JSON",
        &format!("{:.2}", ours.len() as f64 / compact.len() as f64),
        "",
    );

    let objects = metadata(100);
    let columns = MESSAGE.up_to(ColumnLevel::Core);
    let zone = TimeZone::get("Europe/Berlin").unwrap();
    let names = HashMap::new();
    let context = RowContext {
        api: Service::Google,
        zone: &zone,
        account: "mira@example.com",
        address: "mira@example.com",
        names: &names,
        room: RowRoom::List,
    };
    let times = medians(&mut [&mut || {
        let (rows, _) = flatten(&MESSAGE, &columns, &objects, &context);
        let document = Document { scalars: Vec::new(), tables: vec![rows] };
        black_box(Format::Toon(Delimiter::Tab).encode(&document));
    }]);
    println!("flatten, clean and encode 100 Gmail metadata objects");
    let share = times[0].as_secs_f64() / 0.020 * 100.0;
    line("  share of one API round trip of 20 ms", &format!("{share:.1} %"), "under 10 %");
    black_box(project(Service::Google, &columns));
}
