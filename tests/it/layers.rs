//! Dependencies between modules, read from the source.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The folder of each crate, lowest first. A subfolder with its own manifest belongs to another
/// crate. Cargo ensures that no crate names a higher one.
pub const CRATES: &[&str] =
    &["schemas", "src/core", "providers/sandbox", "providers", "src/auth", "src/extract", "src"];

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
    ("event_time", 1),
    ("recurrence", 1),
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
struct Source {
    /// The folder of its crate.
    home: &'static str,
    /// Its top-level module; a crate without layers counts as one module.
    module: String,
    /// Its path below the project's folder.
    path: PathBuf,
    text: String,
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
fn sources() -> Vec<Source> {
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
    ("body::readable(", &["src/pipeline/mail/read/mod.rs"]),
    // On a thread if the text is long.
    ("quote::parts(", &["src/pipeline/mail/draft/mod.rs", "src/pipeline/mail/draft/preview.rs"]),
    // On a thread.
    ("mime(&", &["providers/google/mail/draft/mod.rs"]),
    // The user's own automatic replies, and notes of events, whose HTML is read only up to 2 MiB.
    (
        "html::html(",
        &["src/pipeline/calendar/save/import_item.rs", "src/pipeline/settings/reply.rs"],
    ),
    ("flatten::plain(", &["src/pipeline/calendar/search/ics.rs", "src/pipeline/settings/reply.rs"]),
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
    let map = include_str!("../../docs/architecture.md");
    for (module, layer) in LAYERS {
        let row = map.lines().find(|line| line.starts_with(&format!("| {layer} | `"))).unwrap();
        let there = ["`", "/`", ".rs`"].iter().any(|end| row.contains(&format!("`{module}{end}")));
        assert!(there, "{module} is not in layer {layer} of docs/architecture.md");
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
    let others = ["tests", "benches", "benches/page", "examples", "fuzz"];
    for folder in CRATES.iter().chain(&others) {
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

/// A module by its path in the crate: `["store", "keys"]`.
type Module = Vec<String>;

/// Returns the code of a file without its comments, strings and characters.
fn bare(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    let end = |rest: &str, from: usize, mark: &str| {
        rest.get(from..)
            .and_then(|it| it.find(mark))
            .map_or(rest.len(), |at| from + at + mark.len())
    };
    while let Some(first) = rest.chars().next() {
        let hashes =
            rest.strip_prefix('r').map_or(0, |it| it.len() - it.trim_start_matches('#').len());
        let skipped = match first {
            '/' if rest.starts_with("//") => end(rest, 2, "\n"),
            '/' if rest.starts_with("/*") => end(rest, 2, "*/"),
            'r' if rest[1 + hashes..].starts_with('"') => {
                end(rest, 2 + hashes, &format!("\"{}", "#".repeat(hashes)))
            }
            '"' => {
                let mut escaped = false;
                let closing = rest.char_indices().skip(1).find(|(_, c)| {
                    let closes = *c == '"' && !escaped;
                    escaped = *c == '\\' && !escaped;
                    closes
                });
                closing.map_or(rest.len(), |(at, _)| at + 1)
            }
            '\'' if rest.starts_with("'\\") => end(rest, 3, "'"),
            // A character, not a lifetime.
            '\'' if rest.chars().nth(2) == Some('\'') => end(rest, 1, "'"),
            _ => 0,
        };
        if skipped == 0 {
            code.push(first);
        } else {
            code.push(' ');
        }
        rest = &rest[skipped.max(first.len_utf8())..];
    }
    code
}

/// Splits code into words, `::` and single characters.
fn tokens(code: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = code.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
        let length = match word {
            0 if rest.starts_with("::") => 2,
            0 => first.len_utf8(),
            word => word,
        };
        let (token, after) = rest.split_at(length);
        found.push(token);
        rest = after.trim_start();
    }
    found
}

/// Adds the paths after `use`, with braces expanded.
fn expanded<'t>(
    tokens: &mut impl Iterator<Item = &'t str>,
    before: &[&'t str],
    found: &mut Vec<Vec<&'t str>>,
) {
    let mut path = before.to_vec();
    loop {
        match tokens.next() {
            Some("{") => {
                expanded(tokens, &path, found);
                path = before.to_vec();
            }
            Some("::") => {}
            Some("as") => {
                tokens.next();
            }
            Some(name) if !matches!(name, "," | "}" | ";") => path.push(name),
            end => {
                if path.len() > before.len() {
                    found.push(std::mem::replace(&mut path, before.to_vec()));
                }
                if end != Some(",") {
                    return;
                }
            }
        }
    }
}

/// Returns the paths of a file's `use` lines, and other paths that begin with `crate`, `super` or
/// `self`.
fn paths(code: &str) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut tokens = tokens(code).into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            "use" if tokens.peek() != Some(&"<") => expanded(&mut tokens, &[], &mut found),
            // The path of a `pub(in …)` is not an import.
            "pub" if tokens.next_if_eq(&"(").is_some() => {
                while tokens.next_if(|token| *token != ")").is_some() {}
            }
            "crate" | "super" | "self" => {
                let mut path = vec![token];
                while tokens.next_if_eq(&"::").is_some() {
                    path.extend(tokens.next());
                }
                // A path, unlike `pub(super)` or `&self`.
                if path.len() > 1 {
                    found.push(path);
                }
            }
            _ => {}
        }
    }
    found.into_iter().map(|path| path.into_iter().map(str::to_owned).collect()).collect()
}

/// Returns the modules named by each module, as far as they have their own file.
fn edges(files: &BTreeMap<Module, String>) -> BTreeMap<&Module, BTreeSet<&Module>> {
    let target = |own: &Module, path: &[String]| {
        let up = path.iter().take_while(|name| *name == "super").count();
        let mut whole: Module = match path[0].as_str() {
            "crate" => path[1..].to_vec(),
            "self" => [own.as_slice(), &path[1..]].concat(),
            "super" => [&own[..own.len().saturating_sub(up)], &path[up..]].concat(),
            // A bare name may be a child module.
            name => {
                let child = [own.as_slice(), &[name.to_owned()]].concat();
                files.get(&child)?;
                [own.as_slice(), path].concat()
            }
        };
        // The remaining path names items in the file.
        while !files.contains_key(&whole) {
            whole.pop()?;
        }
        let (found, _) = files.get_key_value(&whole)?;
        (found != own && !found.is_empty()).then_some(found)
    };
    let named = |own: &Module, text: &str| {
        paths(&bare(text)).iter().filter_map(|path| target(own, path)).collect()
    };
    files.iter().map(|(own, text)| (own, named(own, text))).collect()
}

/// Returns modules that name each other in a circle, directly or through other modules. A module
/// and its children are one family and may do so, unless `strict`.
fn circles(files: &BTreeMap<Module, String>, strict: bool) -> Vec<Vec<&Module>> {
    let edges = edges(files);
    let reached = |from: &Module| {
        let mut found: BTreeSet<&Module> = BTreeSet::new();
        let mut next: Vec<&Module> = edges[from].iter().copied().collect();
        while let Some(module) = next.pop() {
            if found.insert(module) {
                next.extend(&edges[module]);
            }
        }
        found
    };
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        files.keys().map(|module| (module, reached(module))).collect();
    let circle = |module: &Module| -> BTreeSet<&Module> {
        let back = |other: &&&Module| reached[**other].contains(module);
        reached[module].iter().filter(back).copied().collect()
    };
    let all: BTreeSet<BTreeSet<&Module>> = files.keys().map(circle).collect();
    all.into_iter()
        .map(Vec::from_iter)
        .filter(|circle| {
            if strict {
                return !circle.is_empty();
            }
            let top = circle.iter().min_by_key(|module| module.len());
            top.is_some_and(|top| !circle.iter().all(|module| module.starts_with(top)))
        })
        .collect()
}

/// Returns the module of a file by its path below the crate's folder.
fn module_of(file: &Path) -> Module {
    let names = file.with_extension("");
    let mut names: Module = names.iter().map(|name| name.to_str().unwrap().to_owned()).collect();
    if matches!(names.last().map(String::as_str), Some("mod" | "lib")) {
        names.pop();
    }
    names
}

#[test]
fn import_cycles_are_detected() {
    let circles_of = |files: &[(&str, &str)]| {
        let files: BTreeMap<Module, String> = files
            .iter()
            .map(|(file, text)| (module_of(Path::new(file)), (*text).to_owned()))
            .collect();
        let found = circles(&files, false);
        found
            .into_iter()
            .map(|circle| circle.iter().map(|module| module.join("/")).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    // Through braces, by a path in the code, and in a circle of three.
    assert_eq!(
        circles_of(&[
            ("a.rs", "mod b; mod c; mod d;"),
            ("a/b.rs", "use std::fmt;\nuse super::{c::{self, Text as Other}, e};"),
            ("a/c.rs", "fn f<'a>(x: &'a str) -> char { crate::a::d::g(x, '\"'); '\\'' }"),
            ("a/d.rs", "fn g() { let it = r#\"a \"quoted\" //\"#; super::b::f(it) }"),
        ]),
        [["a/b", "a/c", "a/d"]]
    );
    // A module and its children are one family under any path.
    assert!(
        circles_of(&[
            ("a/mod.rs", "mod b; pub use b::Text; use self::c::f; mod c;"),
            ("a/b.rs", "use super::Whole; use crate::a::c;"),
            ("a/c.rs", "use super::Whole;"),
        ])
        .is_empty()
    );
    // Comments and strings do not name modules.
    assert!(
        circles_of(&[
            ("a.rs", "use crate::b;"),
            ("b.rs", "//! use crate::a;\n/* crate::a */ const A: &str = \"\\\" crate::a\";"),
        ])
        .is_empty()
    );
    // A circle within a family whose parent names no module.
    assert_eq!(
        circles_of(&[
            ("providers/mod.rs", "mod x; mod y;"),
            ("providers/x.rs", "use crate::providers::y;"),
            ("providers/y.rs", "use super::x;"),
        ]),
        [["providers/x", "providers/y"]]
    );
}

#[test]
fn no_files_import_each_other_in_cycles() {
    let mut crates: BTreeMap<&str, BTreeMap<Module, String>> = BTreeMap::new();
    for Source { home, module, path, text } in sources() {
        if module != "main" {
            let module = module_of(path.strip_prefix(home).unwrap());
            crates.entry(home).or_default().insert(module, text);
        }
    }
    let checked: usize =
        crates.values().flat_map(|files| edges(files).into_values()).map(|to| to.len()).sum();
    assert!(checked > 1_000, "only {checked} names were read");
    let found: Vec<String> = crates
        .iter()
        .flat_map(|(home, files)| {
            circles(files, false).into_iter().map(move |circle| (home, circle))
        })
        .map(|(home, circle)| {
            let files = circle.iter().map(|module| format!("{home}/{}", module.join("/")));
            files.collect::<Vec<_>>().join("\n  ")
        })
        .collect();
    assert!(
        found.is_empty(),
        "these name each other: what they share belongs into a file below them, or into their \
         parent\n  {}",
        found.join("\n\n  ")
    );
}

/// In the pipeline, circles between a folder and its files are refused, too. Steps are functions,
/// so their imports are all their calls.
#[test]
fn no_files_of_the_pipeline_form_a_circle() {
    let files: BTreeMap<Module, String> = sources()
        .into_iter()
        .filter(|source| source.module == "pipeline")
        .map(|source| (module_of(source.path.strip_prefix("src").unwrap()), source.text))
        // The root declares the other modules and re-exports for servers.
        .filter(|(module, _)| module.len() > 1)
        .collect();
    assert!(files.len() > 100, "only {} files were read", files.len());
    let found = circles(&files, true);
    assert!(found.is_empty(), "these call each other: {found:#?}");
}

/// Methods are called without an import, wherever the type is known, so checking imports would miss
/// them. The methods of a pipeline type must be in the type's own file.
#[test]
fn types_of_the_pipeline_have_their_methods_beside_them() {
    // The calendar defines how an event shows its audience; the guard uses it.
    let exceptions = ["WriteAudience in src/pipeline/calendar/audience.rs"];
    let name = |text: &str| -> String {
        text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    let declared = |line: &str| {
        // Types inside `words!` are indented.
        let line = line.trim_start();
        let item = ["pub(crate) ", "pub(super) ", "pub "]
            .iter()
            .find_map(|shown| line.strip_prefix(shown))
            .unwrap_or(line);
        ["struct ", "enum "].iter().find_map(|kind| item.strip_prefix(kind)).map(name)
    };
    // The type of an inherent block follows its parameters.
    let implemented = |line: &str| {
        let block = line.strip_prefix("impl")?;
        let block = if block.starts_with('<') { block.split_once('>')?.1 } else { block };
        (!block.contains(" for ")).then(|| name(block.trim_start()))
    };
    let (mut wrong, mut checked) = (BTreeSet::new(), 0);
    for source in sources().into_iter().filter(|source| source.module == "pipeline") {
        let declared: BTreeSet<String> = source.text.lines().filter_map(declared).collect();
        for name in source.text.lines().filter_map(implemented) {
            checked += 1;
            if !declared.contains(&name) {
                wrong.insert(format!("{name} in {}", source.path.display()));
            }
        }
    }
    assert!(checked > 30, "only {checked} blocks were read");
    assert_eq!(wrong, exceptions.map(str::to_owned).into());
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
