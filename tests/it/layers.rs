//! Who may name whom, read from the source.

use std::fs;
use std::path::{Path, PathBuf};

/// The layer of each top-level module; a module names lower layers, and its own.
const LAYERS: &[(&str, u8)] = &[
    ("schemas", 0),
    ("error", 0),
    ("access", 0),
    ("row", 1),
    ("text", 1),
    ("query", 1),
    ("when", 1),
    ("recurrence", 1),
    ("times", 1),
    ("project", 2),
    ("flatten", 2),
    ("budget", 2),
    ("encode", 2),
    ("describe", 2),
    ("config", 3),
    ("store", 3),
    ("net", 3),
    ("doubt", 3),
    ("course", 3),
    ("oauth", 3),
    ("accounts", 3),
    ("provider", 3),
    ("body", 3),
    ("ical", 3),
    ("outputs", 3),
    ("compose", 3),
    ("files", 3),
    ("caller", 3),
    ("unsubscribe", 3),
    ("providers", 4),
    ("request", 4),
    ("tools", 4),
    ("prompts", 4),
    ("pipeline", 5),
    ("server", 6),
    ("cli", 7),
];

fn layer(module: &str) -> u8 {
    LAYERS
        .iter()
        .find(|(name, _)| *name == module)
        .unwrap_or_else(|| panic!("the module `{module}` has no layer: add it to the list"))
        .1
}

/// Every source file with the top-level module it belongs to.
fn sources() -> Vec<(String, PathBuf, String)> {
    fn walk(folder: &Path, into: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, into);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                into.push(path);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for top in ["src", "schemas", "providers"] {
        let mut files = Vec::new();
        walk(&root.join(top), &mut files);
        for file in files {
            let inside = file.strip_prefix(root.join(top)).unwrap();
            let first = inside.components().next().unwrap().as_os_str().to_str().unwrap();
            let module = match top {
                "src" => first.trim_end_matches(".rs").to_owned(),
                other => other.to_owned(),
            };
            let text = fs::read_to_string(&file).unwrap();
            found.push((module, file, text));
        }
    }
    found.sort();
    found
}

/// The code of a file without its comments.
fn code(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

/// The top-level modules that a file names by `crate::`.
fn named(text: &str) -> Vec<String> {
    let code = code(text);
    let mut names = Vec::new();
    for part in code.split("crate::").skip(1) {
        let part = part.trim_start_matches('{');
        let name: String = part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        names.push(name);
    }
    names
}

#[test]
fn a_file_names_lower_layers_only() {
    let mut wrong = Vec::new();
    let mut checked = 0;
    for (module, file, text) in sources() {
        if matches!(module.as_str(), "lib" | "main") {
            continue;
        }
        for name in named(&text) {
            checked += 1;
            if name != module && layer(&name) > layer(&module) {
                wrong.push(format!("{} names crate::{name}", file.display()));
            }
        }
        // Adapters and tool arguments stand side by side and do not know each other.
        for (one, other) in [
            ("providers", "request"),
            ("providers", "tools"),
            ("request", "providers"),
            ("tools", "providers"),
            ("pipeline", "providers"),
        ] {
            if module == one && named(&text).iter().any(|name| name == other) {
                wrong.push(format!("{} names crate::{other}", file.display()));
            }
        }
    }
    assert!(checked > 100, "only {checked} names were read");
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_map_has_every_module_in_its_layer() {
    let map = include_str!("../../docs/architecture.md");
    for (module, layer) in LAYERS {
        let row = map.lines().find(|line| line.starts_with(&format!("| {layer} | `"))).unwrap();
        let there = ["`", "/`", ".rs`"].iter().any(|end| row.contains(&format!("`{module}{end}")));
        assert!(there, "{module} is not in layer {layer} of docs/architecture.md");
    }
}

#[test]
fn what_is_named_in_one_place_only() {
    let mut wrong = Vec::new();
    for (module, file, text) in sources() {
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
        only("println!", &["cli"]);
        only("stdout()", &["cli", "server"]);
        // Wire names stand in the registry and with the adapters.
        for wire in [
            "labelIds",
            "internalDate",
            "threadId",
            "sizeEstimate",
            "emailAddress",
            "receivedDateTime",
            "conversationId",
            "parentFolderId",
        ] {
            only(wire, &["schemas", "providers"]);
        }
        if layer_or_top(&module) <= 2 {
            for io in [
                "std::fs",
                "std::net",
                "std::env",
                "tokio::",
                "Timestamp::now",
                "SystemTime",
                "Zoned::now",
                "hyper::",
            ] {
                only(io, &[]);
            }
        }
    }
    // The lowest layer needs the standard library alone.
    for (module, file, text) in sources() {
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

fn layer_or_top(module: &str) -> u8 {
    if matches!(module, "lib" | "main") { 9 } else { layer(module) }
}

#[test]
fn every_file_says_what_it_is_for() {
    for (_, file, text) in sources() {
        assert!(text.starts_with("//!"), "{} does not open with its purpose", file.display());
    }
}
