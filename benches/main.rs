//! All measurements of speed, size and truth under faults but those over HTTP (`benches/http`), as
//! scenarios of one program.
//!
//! `cargo bench` lists the scenarios, `cargo bench -- NAME…` runs those named, and
//! `cargo bench -- all` runs each. `cargo bench -- page` writes `docs/concepts/benchmarks.md`.
//! Options come after the names and are passed to every scenario. One scenario runs in this
//! process; several run in a process each, so that none inherits the memory of another. A scenario
//! prints Markdown, and panics if it finds an error of the product.

#![recursion_limit = "256"]
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a benchmark prints its table and stops at the first surprise"
)]

use std::pin::Pin;

mod budget;
mod common;
mod documents;
mod faults;
mod functions;
mod page;
mod paging;
mod plots;
mod scale;
mod sends;
mod server;
mod startup;
mod tokens;

/// A measurement.
struct Scenario {
    name: &'static str,
    /// The quantities that it measures, in a line.
    measures: &'static str,
    /// True if `docs/concepts/benchmarks.md` shows it.
    on_page: bool,
    run: fn() -> Pin<Box<dyn Future<Output = ()>>>,
}

/// Builds the table from lines of names, places and texts.
macro_rules! scenarios {
    ($($name:ident $on_page:literal $measures:literal)*) => {
        [$(Scenario {
            name: stringify!($name),
            measures: $measures,
            on_page: $on_page,
            run: || Box::pin($name::run()),
        }),*]
    };
}

/// The scenarios, in the order of the page.
const SCENARIOS: [Scenario; 9] = scenarios! {
    tokens true "Tokens of messages, events and folders in every notation, with goals and limits."
    scale true "Requests, bytes, tokens, time and memory as mailboxes, accounts and calendars grow."
    functions true "Times of the functions that every answer passes through, beside other encoders and counters."
    budget true "Messages that fit into a budget: see [budget.md](budget.md)."
    startup true "The program's start, memory, round trips and size."
    paging true "Paging through two mailboxes of 10,000 messages with one cursor."
    sends true "A thousand messages sent through faults: every report must be true, none sent twice."
    faults false "Every write, broken in every way: every report must be true, none done twice."
    documents false "Time, memory and tokens of attached files."
};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    // Cargo adds `--bench`.
    let given: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let end = given.iter().position(|word| word.starts_with("--")).unwrap_or(given.len());
    let (names, options) = given.split_at(end);
    let names: Vec<&str> = match names {
        [one] if one == "all" => SCENARIOS.iter().map(|scenario| scenario.name).collect(),
        [one] if one == "page" => return page::write(options),
        _ => names.iter().map(String::as_str).collect(),
    };
    let find = |name: &str| SCENARIOS.iter().find(|scenario| scenario.name == name);
    if let Some(name) = names.iter().find(|name| find(name).is_none()) {
        panic!("there is no scenario {name}: `cargo bench` lists them");
    }
    match names[..] {
        [] => list(),
        [name] => (find(name).unwrap().run)().await,
        _ => {
            for name in names {
                println!("\n## {name}\n");
                assert!(common::again(name, options).status().unwrap().success(), "{name} failed");
            }
        }
    }
}

fn list() {
    println!("cargo bench -- NAME… [OPTION…]\n");
    for Scenario { name, measures, .. } in &SCENARIOS {
        println!("  {name:16} {measures}");
    }
    println!("  all              All of them.");
    println!("  page             Those of docs/concepts/benchmarks.md, which it writes.");
}
