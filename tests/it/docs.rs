//! The pages of the project as a whole: links and their anchors, the table of contents of the site,
//! paths of pages in other files, and the limits of the README and the architecture.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use regex::Regex;

/// Folders with files that name pages.
const SOURCES: &[&str] = &[
    ".ci", ".config", ".github", "benches", "docs", "examples", "fuzz", "packaging", "providers",
    "schemas", "src", "tests",
];

/// Returns the folder of the project.
fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Adds the files below a folder, except those that package managers install.
fn files(folder: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with("node_modules") || path.ends_with("target") {
            continue;
        }
        if path.is_dir() {
            files(&path, into);
        } else {
            into.push(path);
        }
    }
}

/// Returns the files directly in a folder.
fn direct_files(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.filter(|path| path.is_file()).collect()
}

/// Returns the pages that people read: those at the top and all of `docs/`.
pub fn pages() -> Vec<PathBuf> {
    let mut all = direct_files(root());
    files(&root().join("docs"), &mut all);
    all.retain(|path| path.extension().is_some_and(|end| end == "md"));
    all.sort();
    all
}

/// Returns the prose of a page: its lines without blocks of code and code within lines.
fn prose(text: &str) -> String {
    let mut is_code = false;
    let mut out = String::new();
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        } else if !is_code {
            let outside = line.split('`').step_by(2);
            out += &outside.collect::<Vec<_>>().join("``");
            out.push('\n');
        }
    }
    out
}

/// Returns the anchors of a page: its headings as GitHub and mdBook name them.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut is_code = false;
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let mut all = BTreeSet::new();
    for line in text.lines() {
        is_code ^= line.starts_with("```");
        let Some((marks, heading)) = line.split_once(' ').filter(|_| !is_code) else { continue };
        if marks.is_empty() || !marks.chars().all(|c| c == '#') {
            continue;
        }
        let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
        let name: String = heading.chars().filter(kept).collect();
        let name = name.trim().to_lowercase().replace(' ', "-");
        let times = seen.entry(name.clone()).or_default();
        all.insert(if *times == 0 { name } else { format!("{name}-{times}") });
        *times += 1;
    }
    all
}

/// Returns a path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut path, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
        path
    })
}

/// Returns the links of a page that lead to files, with their anchors.
fn links(text: &str) -> Vec<(String, Option<String>)> {
    let link = Regex::new(r#"(?:\]\(|src="|srcset=")([^)"\s]+)"#).unwrap();
    let text = prose(text);
    let targets = link.captures_iter(&text).map(|found| found[1].to_owned());
    let local = targets.filter(|target| !target.contains("://") && !target.starts_with("mailto:"));
    local
        .map(|target| match target.split_once('#') {
            Some((path, anchor)) => (path.to_owned(), Some(anchor.to_owned())),
            None => (target, None),
        })
        .collect()
}

#[test]
fn every_link_leads_somewhere() {
    let mut wrong = Vec::new();
    let mut followed = 0;
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for (path, anchor) in links(&text) {
            followed += 1;
            let mut fail = |why: &str| {
                wrong.push(format!("{}: {path} {anchor:?}: {why}", page.display()));
            };
            let target = normal(&page.parent().unwrap().join(&path));
            let target = if path.is_empty() { page.clone() } else { target };
            // The pages of the site have to lead to one another.
            if page.starts_with(root().join("docs")) && !target.starts_with(root().join("docs")) {
                fail("it leads out of docs/");
            } else if !target.exists() {
                fail("there is no such file");
            } else if let Some(anchor) = &anchor
                && !anchors(&fs::read_to_string(&target).unwrap()).contains(anchor)
            {
                fail("there is no such heading");
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
    assert!(followed > 100, "only {followed} links were followed");
}

#[test]
fn table_of_contents_has_every_page_once() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let mut listed: Vec<PathBuf> =
        links(&summary).into_iter().map(|(path, _)| docs.join(path)).collect();
    listed.sort();
    let mut expected = pages();
    expected.retain(|page| page.starts_with(&docs) && !page.ends_with("SUMMARY.md"));
    assert_eq!(listed, expected);
}

/// Texts of the program and comments name pages by their paths from the root.
#[test]
fn every_named_page_exists() {
    let name = Regex::new(r"\bdocs/[a-z0-9/_-]+\.[a-z]+\b").unwrap();
    let mut all = direct_files(root());
    SOURCES.iter().for_each(|folder| files(&root().join(folder), &mut all));
    let mut wrong = BTreeSet::new();
    for file in all {
        // Names of other projects' pages are part of an address.
        let Ok(text) = fs::read_to_string(&file) else { continue };
        for found in name.find_iter(&text) {
            let before = text[..found.start()].chars().next_back();
            if before != Some('/') && !root().join(found.as_str()).exists() {
                wrong.insert(format!("{}: {}", file.display(), found.as_str()));
            }
        }
    }
    assert_eq!(wrong, BTreeSet::new());
}

#[test]
fn front_pages_stay_short() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    assert!(readme.len() <= 14_000, "README.md has {} bytes", readme.len());
    assert!(!readme.contains("<!--"), "README.md has hidden comments");
    let path = "docs/concepts/architecture.md";
    let words = fs::read_to_string(root().join(path)).unwrap().split_whitespace().count();
    assert!(words <= 2_000, "{path} has {words} words");
}

#[test]
fn figures_of_the_readme_are_those_of_the_comparison() {
    let readme = fs::read_to_string(root().join("README.md")).unwrap();
    let figures = fs::read_to_string(root().join("docs/concepts/peers.md")).unwrap();
    let (_, table) = readme.split_once("| | Daysheet |").unwrap();
    let (table, _) = table.split_once("\n\n").unwrap();
    let number = Regex::new(r"\d[\d,]*").unwrap();
    let rows = table.lines().skip(2).flat_map(|row| row.split(" | ").skip(1));
    let named: Vec<String> = rows
        .flat_map(|cell| number.find_iter(cell).map(|found| found.as_str().replace(',', "")))
        .collect();
    assert!(named.len() > 15, "{named:?}");
    for figure in named {
        assert!(figures.contains(&format!("| {figure} |")), "{figure} is not in the comparison");
    }
}

#[test]
fn anchors_are_named_as_on_the_site() {
    let page = "# A page\n## `outputs = \"disk\"`\n```\n# code\n```\n## Limits\n## Limits\n";
    let expected = ["a-page", "outputs--disk", "limits", "limits-1"].map(str::to_owned);
    assert_eq!(anchors(page), BTreeSet::from(expected));
}

/// `packaging/check` accepts a release only with the heading that Keep a Changelog has for it.
#[cfg(unix)]
#[test]
fn release_check_names_the_heading_to_change() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::TempDir::new().unwrap();
    std::fs::create_dir(folder.path().join("packaging")).unwrap();
    for file in ["packaging/check", "Cargo.toml"] {
        std::fs::copy(root.join(file), folder.path().join(file)).unwrap();
    }
    let changes = std::fs::read_to_string(root.join("CHANGELOG.md")).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let tag = format!("v{version}");
    let released = changes.replace("## [Unreleased]", &format!("## [{version}] - 2028-02-29"));
    let undated = changes.replace("## [Unreleased]", &format!("## [{version}]"));
    let check = |changes: &str, repository: &str, tag: &str| {
        std::fs::write(folder.path().join("CHANGELOG.md"), changes).unwrap();
        let mut check = std::process::Command::new("sh");
        let output = check.arg(folder.path().join("packaging/check")).args([repository, tag]);
        let output = output.output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        (output.status.success(), text.trim().to_owned())
    };
    let wrong = |heading: &str| {
        let text = format!(
            "the first section of CHANGELOG.md is `{heading}`: change that line to `## [{version}] \
             - YYYY-MM-DD`, with the day of the release, and tag the commit with the change"
        );
        (false, text)
    };
    let own = env!("CARGO_PKG_REPOSITORY");
    let good = (true, String::new());
    assert_eq!(check(&changes, own, ""), good);
    assert_eq!(check(&released, own, &tag), good);
    assert_eq!(check(&undated, own, &tag), wrong(&format!("## [{version}]")));
    // Between releases, the newest section is that of the next one.
    if changes.contains("## [Unreleased]") {
        assert_eq!(check(&changes, own, &tag), wrong("## [Unreleased]"));
    }
    let other = format!("the tag is v9.9.9, but Cargo.toml has version {version}: tag {tag}");
    assert_eq!(check(&released, own, "v9.9.9"), (false, other));
    let (passed, text) = check(&released, "https://github.example/other", &tag);
    assert!(!passed && text.ends_with("set workspace.package.repository"), "{text}");
}
