//! The cost of counting tokens: ours compared with `tiktoken-rs` and `bpe-openai`, all in
//! `o200k_base`.
//!
//! `cargo build --release && cargo run --release` prints one table. Each candidate runs in its own
//! processes: the program starts itself with the candidate's name. Memory is read from `/proc`, so
//! it is reported on Linux only. The size added to a program is measured with `src/bin/size_*`,
//! which read a text and print its token count, against a program that prints its length.

use std::collections::BTreeMap;
use std::hint::black_box;
use std::process::Command;
use std::time::Instant;

mod texts;

/// The number of starts of which the median is reported.
const STARTS: usize = 11;

/// The number of counts of which the median is reported.
const COUNTS: usize = 21;

/// A candidate's name, the program that shows its size, and how it counts.
type Candidate = (&'static str, &'static str, fn(&str) -> usize);

const CANDIDATES: &[Candidate] = &[
    ("daysheet", "size_daysheet", daysheet_core::budget::count::tokens),
    ("tiktoken-rs", "size_tiktoken", |text| {
        tiktoken_rs::o200k_base_singleton().count_ordinary(text)
    }),
    ("bpe-openai", "size_bpe", |text| {
        bpe_openai::o200k_base().count(text)
    }),
];

fn main() {
    let name = std::env::args().nth(1);
    match name {
        Some(name) => measure(&name),
        None => table(),
    }
}

/// Resident memory of this process, in bytes.
fn resident() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmRSS"));
    let kilobytes = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kilobytes.unwrap_or(f64::NAN) * 1024.0
}

/// Measures one candidate in this process and prints a line for each figure.
fn measure(name: &str) {
    let (_, _, count) = CANDIDATES.iter().find(|one| one.0 == name).unwrap();
    let texts = texts::all();
    let before = resident();
    let begin = Instant::now();
    black_box(count(black_box("Hello, world!")));
    println!("first count\t{}", begin.elapsed().as_secs_f64());
    println!("memory of the first count\t{}", resident() - before);
    for (name, text) in &texts {
        println!("tokens of {name}\t{}", count(text));
        println!("memory after {name}\t{}", resident() - before);
    }
    for (name, text) in &texts {
        let times = (0..COUNTS).map(|_| {
            let begin = Instant::now();
            black_box(count(black_box(text)));
            begin.elapsed().as_secs_f64()
        });
        println!("time of {name}\t{}", median(times.collect()));
    }
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// A candidate's figures, each the median of its starts.
fn figures(name: &str) -> BTreeMap<String, f64> {
    let mut figures: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for _ in 0..STARTS {
        let program = std::env::current_exe().unwrap();
        let output = Command::new(program).arg(name).output().unwrap();
        assert!(output.status.success(), "{name} failed");
        for line in String::from_utf8(output.stdout).unwrap().lines() {
            let (what, figure) = line.split_once('\t').unwrap();
            let figure = figure.parse().unwrap();
            figures.entry(what.to_owned()).or_default().push(figure);
        }
    }
    figures
        .into_iter()
        .map(|(what, all)| (what, median(all)))
        .collect()
}

/// Returns the bytes that a candidate adds to a program.
fn added(program: &str) -> f64 {
    let size = |program: &str| {
        let path = std::env::current_exe().unwrap().with_file_name(program);
        std::fs::metadata(path).map_or(f64::NAN, |data| data.len() as f64)
    };
    size(program) - size("size_none")
}

fn table() {
    let all: Vec<_> = CANDIDATES
        .iter()
        .map(|(name, size, _)| {
            let mut figures = figures(name);
            figures.insert("added to the program".to_owned(), added(size));
            figures
        })
        .collect();
    let texts = texts::all();
    for (name, text) in &texts {
        let what = format!("tokens of {name}");
        let counts: Vec<_> = all.iter().map(|figures| figures[&what]).collect();
        assert!(
            counts.iter().all(|count| *count == counts[0]),
            "{what}: {counts:?}"
        );
        println!("{name}: {} bytes, {} tokens", text.len(), counts[0]);
    }
    print!("\n| |");
    for (name, ..) in CANDIDATES {
        print!(" {name} |");
    }
    println!("\n|---|{}", "---|".repeat(CANDIDATES.len()));
    let mut rows = vec![
        "first count".to_owned(),
        "memory of the first count".to_owned(),
    ];
    rows.extend(texts.iter().map(|(name, _)| format!("memory after {name}")));
    rows.extend(texts.iter().map(|(name, _)| format!("time of {name}")));
    rows.push("added to the program".to_owned());
    for what in rows {
        print!("| {what} |");
        for figures in &all {
            let (ours, figure) = (all[0][&what], figures[&what]);
            let shown = match what.as_str() {
                time if time.starts_with("time") || time.starts_with("first") => {
                    format!("{:.3} ms", figure * 1e3)
                }
                _ => format!("{:.2} MB", figure / 1e6),
            };
            let ratio = figure / ours;
            let places = if ratio < 1.0 { 2 } else { 1 };
            print!(" {shown}, {ratio:.places$} × |");
        }
        println!();
    }
}
