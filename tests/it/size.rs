//! The lines of Rust in each area, held to `docs/reference/size.md`. Other languages and
//! documentation are not counted.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crate::layers::{CRATES, OTHER_FOLDERS, walk};

/// The maximum difference between an area and the table, in percent.
const MAX_CHANGE: usize = 3;

/// The difference in lines that every area may have.
const MIN_CHANGE: usize = 30;

/// Returns the areas of the table with their lines.
fn table(document: &str) -> BTreeMap<&str, usize> {
    let rows = document.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| {
        let (area, rest) = row.split_once("` | ").unwrap();
        let lines = rest.split(' ').next().unwrap().replace(',', "");
        (area, lines.parse().unwrap())
    })
    .collect()
}

/// Returns the smallest area that a file is in.
fn area_of<'a>(path: &str, areas: &BTreeMap<&'a str, usize>) -> Option<&'a str> {
    let stem = path.trim_end_matches(".rs");
    let has = |area: &&&str| Path::new(stem).starts_with(area);
    areas.keys().filter(has).max_by_key(|area| area.len()).copied()
}

#[test]
fn areas_have_the_size_that_the_table_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let document = fs::read_to_string(root.join("docs/reference/size.md")).unwrap();
    let expected = table(&document);
    let mut found: BTreeMap<&str, usize> = expected.keys().map(|area| (*area, 0)).collect();
    let mut files = Vec::new();
    for folder in CRATES.iter().chain(OTHER_FOLDERS) {
        walk(&root.join(folder), &mut files);
    }
    let mut wrong = Vec::new();
    for file in files {
        let path = file.strip_prefix(root).unwrap().to_str().unwrap();
        match area_of(path, &expected) {
            Some(area) => {
                *found.get_mut(area).unwrap() += fs::read_to_string(&file).unwrap().lines().count();
            }
            None => wrong.push(format!("{path} is in no area")),
        }
    }
    for (area, lines) in found {
        let expected = expected[area];
        if lines.abs_diff(expected) > (expected * MAX_CHANGE / 100).max(MIN_CHANGE) {
            wrong.push(format!("{area}: {expected} lines in the table, {lines} in the files"));
        }
    }
    assert!(
        wrong.is_empty(),
        "write the new size into docs/reference/size.md, with the reason if it grew:\n{}",
        wrong.join("\n")
    );
}
