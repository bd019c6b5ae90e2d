//! Proof of the promises in README, `docs/guide/writing.md`, `docs/guide/serving.md` and
//! `docs/concepts/architecture.md`: each section ends with a comment `held by:`, and the tests and
//! files it names exist.

use std::fs;
use std::path::{Path, PathBuf};

/// The folders of test programs.
const SUITES: [&str; 6] =
    ["tests/core", "tests/adapters", "tests/sandbox", "tests/auth", "tests/it", "tests/http"];

const DOCS: [&str; 4] = [
    "README.md",
    "docs/guide/writing.md",
    "docs/guide/serving.md",
    "docs/concepts/architecture.md",
];

/// Returns the names in the comments `<!-- held by: … -->` of a section.
fn holders(section: &str) -> Vec<&str> {
    let comments = section.split("<!-- held by:").skip(1);
    comments.flat_map(|rest| rest.split("-->").next().unwrap().split_whitespace()).collect()
}

/// Returns the tests that numbered paragraphs name in backticks: `module::test`.
fn tests(section: &str) -> Vec<&str> {
    let numbered = section.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    let code = numbered.flat_map(|line| line.split('`').skip(1).step_by(2));
    let name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == ':';
    code.filter(|code| code.contains("::") && code.chars().all(name)).collect()
}

/// Returns the sections of a document; lines of code are not headings.
fn sections(text: &str) -> Vec<String> {
    let mut sections = vec![String::new()];
    let mut code = false;
    for line in text.lines() {
        code ^= line.starts_with("```");
        if !code && line.starts_with('#') {
            sections.push(String::new());
        }
        let section = sections.last_mut().unwrap();
        section.push_str(line);
        section.push('\n');
    }
    sections.retain(|section| section.lines().skip(1).any(|line| !line.trim().is_empty()));
    sections
}

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
    if let Some(lint) = name.strip_prefix("lint:") {
        let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
        return manifest.contains(&format!("\n{lint} = \"deny\""));
    }
    if let Some(test) = name.strip_prefix("unit:") {
        return has_test([root.join("src"), root.join("providers")], test);
    }
    if let Some(file) = name.strip_prefix("transcripts::") {
        return root.join("tests/transcripts").join(file).with_extension("txt").exists();
    }
    match name.rsplit_once("::") {
        Some((module, test)) => {
            let module = module.replace("::", "/");
            has_test(
                SUITES.iter().flat_map(|suite| {
                    let path = root.join(suite).join(&module);
                    [path.with_extension("rs"), path]
                }),
                test,
            )
        }
        None => name.contains('/') && root.join(name).exists(),
    }
}

#[test]
fn every_section_names_existing_tests() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut wrong = Vec::new();
    let mut named = 0;
    for doc in DOCS {
        for section in sections(&fs::read_to_string(root.join(doc)).unwrap()) {
            let heading = section.lines().next().unwrap();
            let holders = holders(&section);
            if holders.is_empty() {
                wrong.push(format!("{doc}: `{heading}` has no `<!-- held by: … -->`"));
            }
            if holders == ["nothing", "is", "promised", "here"] {
                continue;
            }
            for name in holders.into_iter().chain(tests(&section)) {
                named += 1;
                if !exists(root, name) {
                    wrong.push(format!("{doc}: `{heading}`: there is no {name}"));
                }
            }
        }
    }
    assert!(named > 100, "{named}");
    assert_eq!(wrong, Vec::<String>::new());
}
