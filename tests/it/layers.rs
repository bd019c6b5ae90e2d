//! Dependencies between modules, read from the source. Circles of files are in `circles.rs`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of each crate, lowest first. A subfolder with its own manifest belongs to another
/// crate. Cargo ensures that no crate names a higher one.
pub const CRATES: &[&str] =
    &["schemas", "src/core", "providers/sandbox", "providers", "src/auth", "src/extract", "src"];

/// The other folders with our Rust.
pub const OTHER_FOLDERS: &[&str] = &["tests", "benches", "examples", "fuzz"];

/// The layer of each top-level module. A module may name lower layers and its own.
const LAYERS: &[(&str, u8)] = &[
    ("schemas", 0),
    ("error", 0),
    ("access", 0),
    ("choice", 0),
    ("clock", 1),
    ("row", 1),
    ("text", 1),
    ("query", 1),
    ("ids", 1),
    ("event", 1),
    ("time_parse", 1),
    ("project", 2),
    ("flatten", 2),
    ("budget", 2),
    ("encode", 2),
    ("describe", 2),
    ("call", 3),
    ("client", 3),
    ("doubt", 3),
    ("progress", 3),
    ("provider", 3),
    ("body", 3),
    ("ical", 3),
    ("compose", 3),
    ("providers", 4),
    ("sandbox", 4),
    ("config", 5),
    ("deeplinks", 5),
    ("store", 5),
    ("net", 4),
    ("oauth", 5),
    ("accounts", 5),
    ("outputs", 5),
    ("files", 5),
    ("unsubscribe", 5),
    ("worker", 5),
    ("tools", 6),
    ("prompts", 6),
    ("pipeline", 7),
    ("server", 8),
    ("app", 9),
    ("http", 9),
    ("cli", 10),
];

fn layer(module: &str) -> u8 {
    LAYERS
        .iter()
        .find(|(name, _)| *name == module)
        .unwrap_or_else(|| panic!("the module `{module}` has no layer: add it to the list"))
        .1
}

/// A source file.
pub struct Source {
    /// The folder of its crate.
    pub home: &'static str,
    /// Its top-level module; a crate without layers counts as one module.
    pub module: String,
    /// Its path below the project's folder.
    pub path: PathBuf,
    /// Its content.
    pub text: String,
}

/// Adds the source files of a folder, without nested crates.
pub fn walk(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.join("Cargo.toml").exists() {
            walk(&path, into);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            into.push(path);
        }
    }
}

/// Returns every source file.
pub fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for home in CRATES {
        let mut files = Vec::new();
        walk(&root.join(home), &mut files);
        files.sort();
        for file in files {
            let inside = file.strip_prefix(root.join(home)).unwrap();
            let first = inside.components().next().unwrap().as_os_str().to_str().unwrap();
            let module = match home.strip_prefix("src") {
                Some("" | "/core") => first.trim_end_matches(".rs").to_owned(),
                _ => home.rsplit('/').next().unwrap().to_owned(),
            };
            let text = fs::read_to_string(&file).unwrap();
            let path = file.strip_prefix(root).unwrap().to_owned();
            found.push(Source { home, module, path, text });
        }
    }
    found
}

/// Returns the code of a file without its comments.
fn code(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// Returns the top-level modules that a file names through `crate::`.
fn named(text: &str) -> Vec<String> {
    let code = code(text);
    let mut names = Vec::new();
    for part in code.split("crate::").skip(1) {
        let part = part.trim_start_matches('{');
        let name: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        // The macro `words!` of `choice.rs`: exported macros are at the root of their crate.
        names.push(if name == "words" { "choice".to_owned() } else { name });
    }
    names
}

#[test]
fn files_name_only_lower_layers() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for Source { home, module, path: file, text } in sources() {
        // Cargo checks the dependencies of crates without layers.
        if !home.starts_with("src")
            || matches!(module.as_str(), "lib" | "main" | "auth" | "extract")
        {
            continue;
        }
        for name in named(&text) {
            checked += 1;
            if name != module && layer(&name) > layer(&module) {
                wrong.push(format!("{} names crate::{name}", file.display()));
            }
            // Tools and the pipeline may use only the port.
            let above = matches!(module.as_str(), "tools" | "pipeline");
            if above && matches!(name.as_str(), "providers" | "sandbox") {
                wrong.push(format!("{} names crate::{name}", file.display()));
            }
        }
    }
    assert!(checked > 100, "only {checked} names were read");
    assert_eq!(wrong, Vec::<String>::new());
}

/// Functions that take long for long texts, with their callers. Long texts are processed off the
/// event loop, so that other calls are answered meanwhile; the comments say how each caller ensures
/// that.
const HEAVY: &[(&str, &[&str])] = &[
    // In a worker, or on a thread if the text is long.
    ("body::readable(", &["src/pipeline/mail/read.rs"]),
    // On a thread if the text is long.
    ("quote::parts(", &["src/pipeline/mail/draft/preview.rs", "src/pipeline/mail/draft.rs"]),
    // On a thread.
    ("mime(&", &["providers/google/mail/draft.rs"]),
    // The user's own automatic replies, and notes of events, whose HTML is read only up to 2 MiB.
    (
        "html::html(",
        &["src/pipeline/calendar/save/import_item.rs", "src/pipeline/settings/reply.rs"],
    ),
    (
        "flatten::plain",
        &[
            "providers/microsoft/calendar/online.rs",
            "src/pipeline/calendar/search/ics.rs",
            "src/pipeline/calendar/search/parts.rs",
            "src/pipeline/settings/reply.rs",
        ],
    ),
    // An invitation, and a calendar to import, which has its own limit.
    (
        "ical::read(",
        &["src/pipeline/calendar/save/source.rs", "src/pipeline/mail/read/invitations.rs"],
    ),
];

#[test]
fn heavy_work_on_texts_is_called_where_it_is_listed() {
    for (call, expected) in HEAVY {
        let adapts = |source: &Source| {
            let path = source.path.to_str().unwrap();
            ["src/pipeline/", "providers/google/", "providers/microsoft/"]
                .iter()
                .any(|folder| path.starts_with(folder))
        };
        let sources = sources().into_iter().filter(adapts);
        let calling = sources.filter(|source| code(&source.text).contains(call));
        let calling: Vec<String> =
            calling.map(|source| source.path.to_str().unwrap().to_owned()).collect();
        assert_eq!(calling, *expected, "{call}");
    }
}

#[test]
fn map_lists_every_module_in_its_layer() {
    let map = include_str!("../../docs/concepts/architecture.md");
    for (module, layer) in LAYERS {
        let row = map.lines().find(|line| line.starts_with(&format!("| {layer} | `"))).unwrap();
        let there = ["`", "/`", ".rs`"].iter().any(|end| row.contains(&format!("`{module}{end}")));
        assert!(there, "{module} is not in layer {layer} of docs/concepts/architecture.md");
    }
}

#[test]
fn restricted_names_stay_where_they_belong() {
    let mut wrong = Vec::new();
    for Source { module, path: file, text, .. } in sources() {
        let code = code(&text);
        let file = file.display();
        let mut only = |what: &str, allowed: &[&str]| {
            if code.contains(what) && !allowed.contains(&module.as_str()) {
                wrong.push(format!("{file} names {what}"));
            }
        };
        only("rmcp::", &["server"]);
        only("google_gmail1", &["providers"]);
        only("google_calendar3", &["providers"]);
        only("google_apis_common", &["providers"]);
        only("graph_rs_sdk", &["providers"]);
        only("graph_core", &["providers"]);
        only("reqwest::", &["providers"]);
        only("sqlx::", &["store"]);
        only("keyring::", &["store"]);
        for library in ["calamine::", "cfb::", "hayro_", "quick_xml::", "zip::"] {
            only(library, &["extract"]);
        }
        for confining in ["seccompiler::", "landlock::", "libc::"] {
            only(confining, &["worker"]);
        }
        only("rustix::", &["cli", "worker"]);
        only("println!", &["cli"]);
        only("stdout()", &["cli", "server"]);
        // Wire names belong in the registry and the adapters.
        for wire in [
            "labelIds", "internalDate", "threadId", "sizeEstimate", "emailAddress",
            "receivedDateTime", "conversationId", "parentFolderId",
        ] {
            only(wire, &["schemas", "providers", "sandbox"]);
        }
        if layer_or_top(&module) <= 2 {
            for io in ["std::fs", "std::net", "std::env", "tokio::", "hyper::"] {
                only(io, &[]);
            }
        }
    }
    // The lowest layer uses only the standard library.
    for Source { module, path: file, text, .. } in sources() {
        let code = code(&text);
        let uses = code.lines().filter_map(|line| line.trim_start().strip_prefix("use "));
        let ours = ["std::", "crate::", "super::", "self::"];
        for path in uses.filter(|path| !ours.iter().any(|start| path.starts_with(start))) {
            if layer_or_top(&module) == 0 {
                wrong.push(format!("{} uses {path}", file.display()));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

/// The only file that reads the machine's clock or contains a library's name for that.
const CLOCK: &str = "src/core/clock.rs";

/// The programs, which create the clock and pass it to all other code.
const PROGRAMS: &[&str] = &["src/cli.rs", "src/cli/", "benches/", "examples/"];

/// Code that reads the time itself will fail on some day. `Instant` is allowed, because it only
/// measures durations.
#[test]
fn the_time_is_read_in_one_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in CRATES.iter().chain(OTHER_FOLDERS) {
        walk(&root.join(folder), &mut files);
    }
    assert!(files.len() > 900, "only {} files were read", files.len());
    // The names are assembled from parts, because this file is scanned, too.
    let types = ["Timestamp", "Zoned", "SystemTime", "UtcDateTime", "OffsetDateTime"];
    let chrono = ["Utc", "Local"];
    let mut readers: Vec<String> =
        types.iter().chain(&chrono).map(|name| format!("{name}::{}", "now")).collect();
    // SQL has its own clock functions.
    let sql = [
        ["unix", "epoch("],
        ["CURRENT_", "TIMESTAMP"],
        ["CURRENT_", "DATE"],
        ["clock_", "timestamp("],
    ];
    readers.extend(sql.map(|parts| parts.concat()));
    let system = ["Clock::", "system("].concat();
    let mut wrong = Vec::new();
    for file in files {
        let path = file.strip_prefix(root).unwrap().to_str().unwrap();
        let code = code(&fs::read_to_string(&file).unwrap());
        for reader in readers.iter().filter(|reader| code.contains(*reader)) {
            if path != CLOCK {
                wrong.push(format!("{path} has {reader}: ask the clock that was handed in"));
            }
        }
        let creates = PROGRAMS.iter().any(|program| path.starts_with(program));
        if code.contains(&system) && !creates && path != CLOCK {
            wrong.push(format!("{path} has {system}: take a clock as an argument"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

fn layer_or_top(module: &str) -> u8 {
    if matches!(module, "lib" | "main" | "auth" | "extract") { 9 } else { layer(module) }
}

/// Differences between providers are in the port's capabilities, from which texts take names.
#[test]
fn the_pipeline_names_no_provider() {
    let pipeline = sources().into_iter().filter(|source| source.module == "pipeline");
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for Source { path: file, text, .. } in pipeline {
        checked += 1;
        for name in ["Gmail", "Google", "Outlook", "Graph", "Microsoft"] {
            if text.contains(name) {
                wrong.push(format!("{}: {name}", file.display()));
            }
        }
    }
    assert!(checked > 50, "only {checked} files were read");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_file_says_what_it_is_for() {
    for Source { path: file, text, .. } in sources() {
        assert!(text.starts_with("//!"), "{} does not open with its purpose", file.display());
    }
}

#[test]
fn no_folder_has_too_many_files() {
    // A crate's root is not counted, because it only lists modules.
    const MAX_FILES: usize = 20;
    // The registry has a file for each table.
    let exception = Path::new("schemas");
    let mut folders: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for Source { path, .. } in sources().into_iter().filter(|one| !one.path.ends_with("lib.rs")) {
        *folders.entry(path.parent().unwrap().to_owned()).or_default() += 1;
    }
    folders.retain(|folder, files| *files > MAX_FILES && folder != exception);
    assert!(folders.is_empty(), "more than {MAX_FILES} files: {folders:?}");
}
