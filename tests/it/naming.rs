//! Words retired from identifiers, which use the terms of `docs/reference/glossary.md` instead.
//! Comments and texts in quotes are not checked.

use std::collections::BTreeSet;
use std::path::Path;

use proc_macro2::{TokenStream, TokenTree};

use crate::layers::{CRATES, OTHER_FOLDERS, walk};

/// Words that no identifier may contain, each with its replacement.
const RETIRED: &[(&str, &str)] = &[
    ("deed", "action, write"),
    ("deeds", "actions, writes"),
    ("desk", "context; in a test, setup"),
    ("letter", "message; a character"),
    ("letters", "messages; characters"),
    ("said", "what it is: name, text, value"),
    ("told", "reported, or what it is"),
    ("verdict", "warning, authentication results"),
    ("whereabouts", "send status"),
    ("whose", "what it is: account, owner"),
];

/// Unicode's general categories under the names of the crate that provides them.
const UNICODE: &[&str] = &[
    "LetterNumber", "LowercaseLetter", "ModifierLetter", "OtherLetter", "TitlecaseLetter",
    "UppercaseLetter",
];

/// Adds the identifiers of a source.
fn identifiers(source: TokenStream, into: &mut BTreeSet<String>) {
    for token in source {
        match token {
            TokenTree::Group(group) => identifiers(group.stream(), into),
            TokenTree::Ident(name) => _ = into.insert(name.to_string()),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Returns the words of an identifier: `draft_desk` and `DraftDesk` have `draft` and `desk`.
fn words(identifier: &str) -> Vec<String> {
    let mut found = vec![String::new()];
    let mut before = ' ';
    for c in identifier.chars() {
        if c == '_' || c.is_ascii_uppercase() && before.is_ascii_lowercase() {
            found.push(String::new());
        }
        if c != '_' {
            found.last_mut().unwrap().push(c.to_ascii_lowercase());
        }
        before = c;
    }
    found
}

#[test]
fn identifiers_have_no_retired_words() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for folder in CRATES.iter().chain(OTHER_FOLDERS) {
        walk(&root.join(folder), &mut files);
    }
    assert!(files.len() > 600, "{}", files.len());
    let mut wrong = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        let mut names = BTreeSet::new();
        identifiers(text.parse().unwrap(), &mut names);
        for name in names.iter().filter(|name| !UNICODE.contains(&name.as_str())) {
            for (retired, instead) in
                RETIRED.iter().filter(|(retired, _)| words(name).contains(&(*retired).into()))
            {
                let file = file.strip_prefix(root).unwrap().display();
                wrong.push(format!("{file}: `{name}` has `{retired}`: say {instead}"));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
    assert_eq!(words("draft_desk"), words("DraftDesk"));
}
