//! Measurements of speed, size and truth under faults, as scenarios of one program.
//!
//! `cargo bench --bench scenarios` lists the scenarios, with `-- NAME…` it runs those named, and with
//! `-- all` each. Options come after the names and are passed to every scenario. One scenario runs in
//! this process; several run in a process each, so that none inherits the memory of another. A
//! scenario prints Markdown, and panics if it finds an error of the product.

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

mod common;
mod documents;
mod faults;

/// A measurement.
struct Scenario {
    name: &'static str,
    /// The quantities that it measures, in a line.
    measures: &'static str,
    run: fn() -> Pin<Box<dyn Future<Output = ()>>>,
}

/// Builds the table from lines of names and texts.
macro_rules! scenarios {
    ($($name:ident $measures:literal)*) => {
        [$(Scenario {
            name: stringify!($name),
            measures: $measures,
            run: || Box::pin($name::run()),
        }),*]
    };
}

/// The scenarios.
const SCENARIOS: [Scenario; 2] = scenarios! {
    faults "Every write, broken in every way: every report must be true, none done twice."
    documents "Time, memory and tokens of attached files."
};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    // Cargo adds `--bench`.
    let given: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let end = given.iter().position(|word| word.starts_with("--")).unwrap_or(given.len());
    let (names, options) = given.split_at(end);
    let names: Vec<&str> = match names {
        [one] if one == "all" => SCENARIOS.iter().map(|scenario| scenario.name).collect(),
        _ => names.iter().map(String::as_str).collect(),
    };
    let find = |name: &str| SCENARIOS.iter().find(|scenario| scenario.name == name);
    if let Some(name) = names.iter().find(|name| find(name).is_none()) {
        panic!("there is no scenario {name}: `cargo bench --bench scenarios` lists them");
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
    println!("cargo bench --bench scenarios -- NAME… [OPTION…]\n");
    for Scenario { name, measures, .. } in &SCENARIOS {
        println!("  {name:16} {measures}");
    }
    println!("  all              All of them.");
}
