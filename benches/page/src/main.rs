//! Runs the benchmarks and writes their output to `docs/benchmarks.md`.
//!
//! `just bench` is `cargo run --release -p daysheet-benches`; arguments are passed to `tokens`
//! (`--mail DIR`, `--calendar DIR`, `--week DATE`). Most programs print Markdown, and the plots are
//! drawn from its tables; Criterion's estimates are read from its files. This program measures only
//! by running others.

#![allow(
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::panic,
    reason = "it is run by hand and stops at the first surprise"
)]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use daysheet_core::clock::Clock;
use serde_json::Value;

mod plots;

/// The programs, in the order of the page: heading, name, and whether it prints Markdown.
const PROGRAMS: &[(&str, &str, bool)] = &[
    ("Tokens", "tokens", true),
    ("Scale", "scale", true),
    ("Functions", "functions", true),
    ("Budgets", "budget", true),
    ("Start", "startup", false),
    ("Pages", "paging", false),
    ("Calendar search", "calendar_search", false),
    ("Sending through faults", "sends", false),
];

/// The text below a heading, by the name of the program.
const ABOUT: &[(&str, &str)] = &[
    (
        "tokens",
        "The sample mailboxes, read through the whole program, unless the head of this page says \
         otherwise. All rows of a table but the first ones have the same rows and columns. *Whole* \
         is every object as the API returns it to a plain request (`format=metadata` at Gmail), \
         as compact JSON. *The API's ids* are those it gives unless asked otherwise: Graph's \
         default ids, and the event's id alone at Google. *Ids as we request them* are Graph's \
         immutable ids, and at Google calendar and event, both of which a call needs. *Handles* \
         are ours (`m12`). *Ours is* gives our table (without its notes) as a share of the row, in \
         o200k. A goal that is not met stays here until it is; *the floor is* gives what the values \
         alone need, below which no table can be.",
    ),
    (
        "scale",
        "A `daysheet serve` of its own over generated mailboxes: messages ten minutes apart, \
         every twentieth unread; events an hour apart in four calendars. Requests and kB are \
         those of the providers' APIs, a request in a batch counted as one, before compression; \
         they are exact. *ms of ours* is the time of the server on a processor; *ms* includes the \
         sandbox, which searches linearly. *MB* is the most memory of the server up to that call. \
         Both scales of the plots are logarithmic: a level line is flat. *MB of its own* is the \
         memory that no file is behind.",
    ),
    (
        "functions",
        "Single functions under Criterion: the mean and its interval of 95 %, in one thread.",
    ),
    ("budget", "What fits into a budget: see [budget.md](budget.md)."),
    ("sends", "Every tenth of a thousand messages, each sent while its requests break in one way."),
];

/// The crates with versions that matter for the figures.
const CRATES: [&str; 7] =
    ["criterion", "hyper", "rmcp", "serde_json", "sqlx", "tokio", "toon-format"];

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().and_then(Path::parent).unwrap();
    let own: Vec<String> = std::env::args().skip(1).collect();
    let found = build(root);
    let criterion = tempfile::tempdir().unwrap();
    let mut page = head(root, &own);
    let plots = root.join("docs/benchmarks");
    // Plots of a table that is gone would stay.
    let _ = fs::remove_dir_all(&plots);
    fs::create_dir_all(&plots).unwrap();
    for (heading, name, markdown) in PROGRAMS {
        eprintln!("{name}");
        let mut command = Command::new(found.get(*name).unwrap());
        command.arg("--bench").current_dir(root).env("CRITERION_HOME", criterion.path());
        match *name {
            "tokens" => command.args(&own),
            "sends" => command.args(["--one-in", "10"]),
            _ => &mut command,
        };
        let output = command.stderr(Stdio::inherit()).output().unwrap();
        assert!(output.status.success(), "{name} failed");
        let text = String::from_utf8(output.stdout).unwrap();
        let text = match *name {
            "functions" => functions(criterion.path()),
            "tokens" => with_plots(&text, &plots, plots::bars),
            "scale" => with_plots(&text, &plots, plots::growth),
            _ => text,
        };
        let _ = write!(page, "\n## {heading}\n");
        if let Some((_, about)) = ABOUT.iter().find(|(program, _)| program == name) {
            let _ = write!(page, "\n{about}\n");
        }
        let _ = if *markdown {
            write!(page, "\n{}\n", text.trim())
        } else {
            write!(page, "\n```\n{}\n```\n", text.trim())
        };
    }
    fs::write(root.join("docs/benchmarks.md"), page).unwrap();
}

/// Builds all programs at once, so that they share dependencies; returns their paths by name.
fn build(root: &Path) -> BTreeMap<String, PathBuf> {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap());
    command.args(["bench", "--no-run", "--locked", "--message-format=json-render-diagnostics"]);
    command.args(["-p", "daysheet", "-p", "daysheet-benches"]).current_dir(root);
    for (_, name, _) in PROGRAMS {
        command.args(["--bench", name]);
    }
    // What Cargo tells this program about itself has other crates built anew.
    for (name, _) in std::env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"]
            .iter()
            .any(|own| name.to_string_lossy().starts_with(own))
        {
            command.env_remove(name);
        }
    }
    let output = command.stderr(Stdio::inherit()).output().unwrap();
    assert!(output.status.success(), "the benchmarks could not be built");
    let text = String::from_utf8(output.stdout).unwrap();
    let built = text.lines().filter_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let program = PathBuf::from(message.get("executable")?.as_str()?);
        Some((message.pointer("/target/name")?.as_str()?.to_owned(), program))
    });
    built.collect()
}

/// Returns the head of the page: date, machine and versions.
fn head(root: &Path, own: &[String]) -> String {
    let printed = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).current_dir(root).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    let read = |file: &str| fs::read_to_string(file).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let processor = field(&read("/proc/cpuinfo"), "model name").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let memory = field(&read("/proc/meminfo"), "MemTotal").unwrap_or_default();
    let memory = memory.split(' ').next().unwrap_or_default().parse().unwrap_or(0.0) / 1_048_576.0;
    let kernel = printed("uname", &["-sr"]);
    let kernel = kernel.split('-').next().unwrap_or_default();
    let commit = printed("git", &["rev-parse", "--short=8", "HEAD"]);
    // What is changed in docs, this page among it, was not measured.
    let status = ["status", "--porcelain", "--", "*.rs", "*.toml", "Cargo.lock"];
    let changed = if printed("git", &status).is_empty() { "" } else { " with changes" };
    let lock: toml::Table = read(&root.join("Cargo.lock").display().to_string()).parse().unwrap();
    let locked = lock.get("package").and_then(toml::Value::as_array).unwrap();
    let versions = CRATES.map(|name| {
        let of = |package: &&toml::Value| {
            package.get("name").and_then(toml::Value::as_str) == Some(name)
        };
        let found = locked.iter().find(of).unwrap();
        format!("{name} {}", found.get("version").and_then(toml::Value::as_str).unwrap())
    });
    let folders = if own.iter().any(|argument| argument == "--mail" || argument == "--calendar") {
        " The tokens are those of a folder of mail, not of the samples."
    } else {
        ""
    };
    format!(
        "# Benchmarks\n\nGenerated by `just bench`; not part of the gate.{folders}\n\n\
         {}, daysheet {} at {commit}{changed}, bench profile, {}; {}.\n\
         {processor}, {cores} cores, {memory:.0} GB, {kernel}; it may do other work too, so that \
         times are upper limits and their ratios within a table are what counts. Counts of \
         requests, bytes and tokens do not depend on the machine.\n",
        Clock::system().now().strftime("%F"),
        env!("CARGO_PKG_VERSION"),
        printed("rustc", &["--version"]),
        versions.join(", "),
    )
}

/// A Markdown table: its heading and its rows, without Markdown's signs.
pub struct Table {
    /// The names of its columns.
    pub columns: Vec<String>,
    /// The cells of its rows.
    pub rows: Vec<Vec<String>>,
}

/// The first table in a text.
fn table(text: &str) -> Option<Table> {
    let mut lines = text.lines().skip_while(|line| !line.starts_with('|'));
    let cells = |line: &str| -> Vec<String> {
        let cells = line.trim_matches('|').split('|');
        cells.map(|cell| cell.trim().trim_matches('*').to_owned()).collect()
    };
    let columns = cells(lines.next()?);
    let rows = lines.skip(1).take_while(|line| line.starts_with('|')).map(cells).collect();
    Some(Table { columns, rows })
}

/// The text with a plot below each heading with a table that has one.
fn with_plots(text: &str, folder: &Path, draw: fn(&Path, &str, &Table) -> bool) -> String {
    let mut out = String::new();
    for section in text.split("### ").skip(1) {
        let (title, rest) = section.split_once('\n').unwrap();
        let _ = write!(out, "### {title}\n\n");
        let keep =
            |sign: char| if sign.is_ascii_alphanumeric() { sign.to_ascii_lowercase() } else { '-' };
        let name: String = title.chars().map(keep).collect();
        let name = name.split('-').filter(|word| !word.is_empty()).collect::<Vec<_>>().join("-");
        let file = folder.join(format!("{name}.svg"));
        if table(rest).is_some_and(|table| draw(&file, title, &table)) {
            let _ = write!(out, "![{title}](benchmarks/{name}.svg)\n\n");
        }
        let _ = write!(out, "{}\n\n", rest.trim());
    }
    out
}

/// Criterion's estimates as a table, in the order of their names.
fn functions(home: &Path) -> String {
    let read = |file: PathBuf| -> Value {
        serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
    };
    let folders = |folder: &Path| {
        let entries = fs::read_dir(folder).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()).collect::<Vec<_>>()
    };
    let mut rows = Vec::new();
    for run in folders(home).iter().flat_map(|group| folders(group)).map(|one| one.join("new")) {
        let of = read(run.join("benchmark.json"));
        let mean = read(run.join("estimates.json"));
        let name = |key: &str| of.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let ms = |at: &str| mean.pointer(at).and_then(Value::as_f64).unwrap() / 1e6;
        let (low, high) = ("lower_bound", "upper_bound");
        rows.push(format!(
            "| {} | {} | {:.3} | {:.3} to {:.3} |",
            name("group_id"),
            name("function_id"),
            ms("/mean/point_estimate"),
            ms(&format!("/mean/confidence_interval/{low}")),
            ms(&format!("/mean/confidence_interval/{high}")),
        ));
    }
    rows.sort();
    format!("| | | ms | |\n|---|---|---:|---|\n{}", rows.join("\n"))
}
