//! The tests that hold the invariants of `docs/concepts/architecture.md`: each invariant names them in
//! parentheses at its end, and they exist. Examples of all pages are run (`examples`), and generated
//! parts are compared with the code (`generated`, `levels`).

use std::fs;
use std::path::{Path, PathBuf};

/// The folders of test programs.
const SUITES: [&str; 6] =
    ["tests/core", "tests/adapters", "tests/sandbox", "tests/auth", "tests/it", "tests/http"];

/// The proof of an invariant that no test can hold.
const OTHER_PROOFS: [&str; 2] = ["by review", "lints in `Cargo.toml`"];

fn files(path: PathBuf, into: &mut Vec<PathBuf>) {
    if path.is_dir() {
        fs::read_dir(path).unwrap().for_each(|one| files(one.unwrap().path(), into));
    } else {
        into.push(path);
    }
}

/// Returns true if one of the files has a test of that name.
fn has_test(paths: impl IntoIterator<Item = PathBuf>, name: &str) -> bool {
    let mut all = Vec::new();
    paths.into_iter().filter(|path| path.exists()).for_each(|path| files(path, &mut all));
    all.iter().any(|path| {
        let text = fs::read_to_string(path).unwrap_or_default();
        text.match_indices(&format!("fn {name}("))
            .any(|(at, _)| text[..at].trim_end_matches("async ").trim_end().ends_with(']'))
    })
}

fn exists(root: &Path, name: &str) -> bool {
    if let Some(file) = name.strip_prefix("transcripts::") {
        return root.join("tests/transcripts").join(file).with_extension("txt").exists();
    }
    let Some((module, test)) = name.rsplit_once("::") else {
        return name.contains('/') && root.join(name).exists();
    };
    let module = module.replace("::", "/");
    let paths = SUITES.iter().flat_map(|suite| {
        let path = root.join(suite).join(&module);
        [path.with_extension("rs"), path]
    });
    has_test(paths, test)
}

#[test]
fn every_invariant_names_existing_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = fs::read_to_string(root.join("docs/concepts/architecture.md")).unwrap();
    let invariants: Vec<&str> =
        page.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit())).collect();
    let mut wrong = Vec::new();
    for (at, invariant) in invariants.iter().enumerate() {
        let (number, _) = invariant.split_once(". ").unwrap();
        assert_eq!(number, (at + 1).to_string(), "{invariant}");
        let proof = invariant.rsplit_once(" (").and_then(|(_, proof)| proof.strip_suffix(')'));
        let proof = proof.unwrap_or_else(|| panic!("no tests at the end: {invariant}"));
        if OTHER_PROOFS.contains(&proof) {
            continue;
        }
        for name in proof.split(", ") {
            let name = name.trim_matches('`');
            if !exists(root, name) {
                wrong.push(format!("{number}: there is no {name}"));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(invariants.len() >= 38, "{}", invariants.len());
}
