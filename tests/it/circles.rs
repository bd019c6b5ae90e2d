//! Circles of files, within each crate: files that depend on each other, directly or indirectly, by
//! imports, by paths in the code, and by calls of methods. This includes modules and their
//! children: a parent that calls its children is imported by none of them.
//!
//! Methods are found by their names, because types are unknown here. A method in the file of its
//! type is covered by imports: a file with a value of the type imports the type, or the function
//! that returned it. [`DistantMethods`] has the others.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use syn::{ImplItem, Item, Type};

use crate::layers::sources;

/// Names that functions of the standard library and of other crates have, too.
const FOREIGN: &[&str] = &["close", "insert"];

/// A module by its path in the crate: `["store", "keys"]`.
type Module = Vec<String>;

/// The dependencies of a source file, unresolved.
struct SourceNames {
    /// Identifiers, `::`, and single characters.
    tokens: Vec<String>,
    /// The types that it declares.
    types: BTreeSet<String>,
    /// The functions of its inherent `impl` blocks.
    methods: Vec<Method>,
}

/// A function of an inherent `impl` block.
struct Method {
    /// The name of the type.
    of: String,
    name: String,
}

impl SourceNames {
    fn read(text: &str) -> Self {
        let mut tokens = Vec::new();
        flatten(text.parse().unwrap(), &mut tokens);
        let declared = |pair: &[String]| {
            matches!(pair[0].as_str(), "struct" | "enum" | "union").then(|| pair[1].clone())
        };
        let types = tokens.windows(2).filter_map(declared).collect();
        let mut methods = Vec::new();
        add_methods(&syn::parse_file(text).unwrap().items, &mut methods);
        Self { tokens, types, methods }
    }
}

/// Adds the tokens of a source, without comments and literals.
fn flatten(source: TokenStream, into: &mut Vec<String>) {
    let mut colon = false;
    for token in source {
        match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                into.push(open.to_owned());
                flatten(group.stream(), into);
                into.push(close.to_owned());
            }
            TokenTree::Ident(name) => into.push(name.to_string()),
            TokenTree::Punct(punct) if punct.as_char() == ':' => {
                if std::mem::take(&mut colon) {
                    into.push("::".to_owned());
                } else if punct.spacing() == Spacing::Joint {
                    colon = true;
                } else {
                    into.push(":".to_owned());
                }
            }
            TokenTree::Punct(punct) => into.push(punct.as_char().to_string()),
            TokenTree::Literal(_) => into.push("\"\"".to_owned()),
        }
    }
}

/// Adds the functions of all inherent blocks.
fn add_methods(items: &[Item], into: &mut Vec<Method>) {
    for item in items {
        match item {
            Item::Impl(block) if block.trait_.is_none() => {
                let Type::Path(path) = &*block.self_ty else { continue };
                let of = path.path.segments.last().unwrap().ident.to_string();
                into.extend(block.items.iter().filter_map(|item| match item {
                    ImplItem::Fn(function) => {
                        Some(Method { of: of.clone(), name: function.sig.ident.to_string() })
                    }
                    _ => None,
                }));
            }
            Item::Mod(module) => {
                if let Some((_, items)) = &module.content {
                    add_methods(items, into);
                }
            }
            _ => {}
        }
    }
}

/// Adds the paths after `use`, with braces expanded.
fn expand<'t>(
    tokens: &mut impl Iterator<Item = &'t str>,
    before: &[&'t str],
    found: &mut Vec<Vec<&'t str>>,
) {
    let mut path = before.to_vec();
    loop {
        match tokens.next() {
            Some("{") => {
                expand(tokens, &path, found);
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

/// Returns all paths of a file, with `use` lines expanded.
fn paths(tokens: &[String]) -> Vec<Vec<&str>> {
    let mut found = Vec::new();
    let mut tokens = tokens.iter().map(String::as_str).peekable();
    while let Some(token) = tokens.next() {
        match token {
            "use" if tokens.peek() != Some(&"<") => expand(&mut tokens, &[], &mut found),
            // The path of a `pub(in …)` is not an import.
            "pub" if tokens.next_if_eq(&"(").is_some() => {
                while tokens.next_if(|token| *token != ")").is_some() {}
            }
            name if tokens.peek() == Some(&"::") => {
                let mut path = vec![name];
                while tokens.next_if_eq(&"::").is_some() {
                    path.extend(tokens.next());
                }
                found.push(path);
            }
            _ => {}
        }
    }
    found
}

/// Returns the module that a path leads to, seen from `own`; `None` if it leads to another crate or
/// to the crate's root.
fn target<'f>(
    files: &'f BTreeMap<Module, SourceNames>,
    own: &Module,
    path: &[&str],
) -> Option<&'f Module> {
    let owned = |path: &[&str]| path.iter().map(|name| (*name).to_owned()).collect::<Module>();
    let up = path.iter().take_while(|name| **name == "super").count();
    let mut whole = match path[0] {
        "crate" => owned(&path[1..]),
        "self" => [own.as_slice(), &owned(&path[1..])].concat(),
        "super" => [&own[..own.len().saturating_sub(up)], &owned(&path[up..])].concat(),
        // A bare name may be a child module.
        name => {
            let child = [own.as_slice(), &[name.to_owned()]].concat();
            files.get(&child)?;
            [own.as_slice(), &owned(path)].concat()
        }
    };
    // The remaining path names items in the file.
    while !files.contains_key(&whole) {
        whole.pop()?;
    }
    let (found, _) = files.get_key_value(&whole)?;
    (found != own && !found.is_empty()).then_some(found)
}

/// The functions of a crate's types that are not in the file of their type, each with its file and
/// its type. Only names that no other type of the crate has.
struct DistantMethods<'f>(BTreeMap<&'f str, (&'f Module, &'f str)>);

impl<'f> DistantMethods<'f> {
    fn find(files: &'f BTreeMap<Module, SourceNames>) -> Self {
        let mut defined: BTreeMap<&str, usize> = BTreeMap::new();
        let mut distant = BTreeMap::new();
        for (module, names) in files {
            for method in &names.methods {
                *defined.entry(&method.name).or_default() += 1;
                if !names.types.contains(&method.of) {
                    distant.insert(method.name.as_str(), (module, method.of.as_str()));
                }
            }
        }
        distant.retain(|name, _| defined[name] == 1 && !FOREIGN.contains(name));
        Self(distant)
    }

    /// Returns the files whose functions a file calls, with the names of these.
    fn called<'n>(&self, names: &'n SourceNames) -> BTreeMap<&'f Module, BTreeSet<&'n str>> {
        let named: BTreeSet<&str> = names.tokens.iter().map(String::as_str).collect();
        let mut found: BTreeMap<&Module, BTreeSet<&str>> = BTreeMap::new();
        for four in names.tokens.windows(4) {
            let [before, sign, name, after] = four else { continue };
            let Some((file, of)) = self.0.get(name.as_str()) else { continue };
            let called = match sign.as_str() {
                // A name of one word may be that of another crate's function.
                "." => {
                    let certain = name.contains('_') || named.contains(of);
                    certain && matches!(after.as_str(), "(" | "::")
                }
                "::" => before == of || before == "Self",
                _ => false,
            };
            if called {
                found.entry(file).or_default().insert(name);
            }
        }
        found
    }
}

/// The modules that each module depends on, each with the functions found by name.
type Edges<'f> = BTreeMap<&'f Module, BTreeMap<&'f Module, BTreeSet<&'f str>>>;

/// Returns the dependencies of all modules that have their own file.
fn edges(files: &BTreeMap<Module, SourceNames>) -> Edges<'_> {
    let distant = DistantMethods::find(files);
    files
        .iter()
        .map(|(own, names)| {
            let mut found = distant.called(names);
            for path in paths(&names.tokens) {
                if let Some(module) = target(files, own, &path) {
                    found.entry(module).or_default();
                }
            }
            found.remove(own);
            (own, found)
        })
        .collect()
}

/// Returns modules that depend on each other in a circle, directly or through other modules.
fn circles<'f>(edges: &Edges<'f>) -> Vec<Vec<&'f Module>> {
    let reached = |from: &Module| {
        let mut found: BTreeSet<&Module> = BTreeSet::new();
        let mut next: Vec<&Module> = edges[from].keys().copied().collect();
        while let Some(module) = next.pop() {
            if found.insert(module) {
                next.extend(edges[module].keys());
            }
        }
        found
    };
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        edges.keys().map(|module| (*module, reached(module))).collect();
    let circle = |module: &&'f Module| -> BTreeSet<&'f Module> {
        let back = |other: &&&Module| reached[**other].contains(*module);
        reached[*module].iter().filter(back).copied().collect()
    };
    let all: BTreeSet<BTreeSet<&Module>> = edges.keys().map(circle).collect();
    all.into_iter().filter(|circle| !circle.is_empty()).map(Vec::from_iter).collect()
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
fn circles_are_detected() {
    let circles_of = |files: &[(&str, &str)]| {
        let files = files
            .iter()
            .map(|(file, text)| (module_of(Path::new(file)), SourceNames::read(text)))
            .collect();
        circles(&edges(&files))
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
    // A parent that calls a child that imports from it.
    assert_eq!(
        circles_of(&[
            ("a/mod.rs", "mod b; mod c; pub use b::Text;"),
            ("a/b.rs", "use super::Whole;"),
            ("a/c.rs", "use super::Whole;"),
        ]),
        [["a", "a/b"]]
    );
    // The same without a `use` line.
    assert_eq!(
        circles_of(&[("a.rs", "mod b; fn f() { b::g() }"), ("a/b.rs", "fn g() { super::f() }"),]),
        [["a", "a/b"]]
    );
    // Comments and strings do not name modules.
    assert!(
        circles_of(&[
            ("a.rs", "use crate::b;"),
            ("b.rs", "//! use crate::a;\n/* crate::a */ const A: &str = \"\\\" crate::a\";"),
        ])
        .is_empty()
    );
    // Functions that are not in the file of their type: of a named type, or by a unique name.
    for (body, expected) in [
        ("fn f(it: Whole) { it.leap() }", vec![["b", "c"]]),
        ("fn f() { vec![Whole::make()] }", vec![["b", "c"]]),
        ("fn f(it: Whole) { it.here() }", vec![]),
        ("fn f() { part().leap_far() }", vec![["b", "c"]]),
        // Perhaps another type's.
        ("fn f() { part().leap() }", vec![]),
        ("fn f() { part().get_it() }", vec![]),
    ] {
        let found = circles_of(&[
            ("a.rs", "pub struct Whole; impl Whole { fn here(&self) {} }"),
            ("b.rs", body),
            (
                "c.rs",
                "use crate::b; use crate::a::Whole; impl Whole { \
                 fn leap(self) {} fn leap_far(self) {} fn get_it(&self) {} fn make() {} }",
            ),
            ("d.rs", "struct Other; impl Other { fn get_it(&self) {} }"),
        ]);
        assert_eq!(found, expected, "{body}");
    }
}

#[test]
fn no_files_depend_on_each_other() {
    let mut crates: BTreeMap<&str, BTreeMap<Module, SourceNames>> = BTreeMap::new();
    for source in sources() {
        if source.module != "main" {
            let module = module_of(source.path.strip_prefix(source.home).unwrap());
            crates.entry(source.home).or_default().insert(module, SourceNames::read(&source.text));
        }
    }
    let (mut found, mut checked) = (Vec::new(), 0);
    for (home, files) in &crates {
        let edges = edges(files);
        checked += edges.values().map(BTreeMap::len).sum::<usize>();
        for circle in circles(&edges) {
            found.push(String::new());
            for module in &circle {
                let to = edges[module].iter().filter(|(to, _)| circle.contains(to));
                let to: Vec<String> =
                    to.map(|(module, names)| format!("{} {names:?}", module.join("/"))).collect();
                found.push(format!("{home}/{}: {}", module.join("/"), to.join(", ")));
            }
        }
    }
    assert!(checked > 1_000, "only {checked} names were read");
    assert!(
        found.is_empty(),
        "these depend on each other: what they share belongs in a file below them\n  {}",
        found.join("\n  ")
    );
}

/// Steps of the pipeline are functions, so that their imports show their calls. The methods of its
/// types are in the file of the type.
#[test]
fn types_of_the_pipeline_have_their_methods_beside_them() {
    // The calendar defines how an event shows its audience; the guard uses it.
    let exceptions = ["WriteAudience in src/pipeline/calendar/audience.rs"];
    let (mut distant, mut checked) = (BTreeSet::new(), 0);
    for source in sources().into_iter().filter(|source| source.module == "pipeline") {
        let names = SourceNames::read(&source.text);
        checked += names.methods.len();
        let others = names.methods.iter().filter(|method| !names.types.contains(&method.of));
        distant.extend(others.map(|method| format!("{} in {}", method.of, source.path.display())));
    }
    assert!(checked > 100, "only {checked} methods were read");
    assert_eq!(distant, exceptions.map(str::to_owned).into());
}
