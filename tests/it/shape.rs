//! The size of functions: their lines, their parameters, and parameters that a caller could swap.
//! Functions that macros generate are not seen.

use syn::spanned::Spanned;
use syn::{Block, FnArg, ImplItem, Item, Signature, TraitItem, Type};

use crate::layers::sources;

/// The maximum lines of a function.
const MAX_LINES: usize = 100;
/// The maximum lines of a function of the pipeline, which is read most.
const MAX_PIPELINE_LINES: usize = 80;
/// The maximum parameters of a function, without `self`.
const MAX_PARAMETERS: usize = 5;

/// Longer functions, each with the reason.
const LONG: &[(&str, &str)] = &[];

/// Folders, each with the functions that take two `&str` or more, which a caller could swap unseen.
/// The number may only fall. The first folder that a file is below counts.
const TEXT_PAIRS: &[(&str, usize)] = &[
    ("providers/google", 10),
    ("providers/microsoft", 15),
    ("providers/sandbox", 64),
    ("providers", 11),
    ("schemas", 4),
    ("src/core", 61),
    ("src/extract", 13),
    ("src/pipeline", 15),
    ("src/store", 4),
    ("src", 33),
];

/// A function of a source file.
struct FunctionShape {
    /// The path of its file, with its name.
    name: String,
    lines: usize,
    parameters: usize,
    /// The parameters that are `&str`.
    texts: usize,
}

impl FunctionShape {
    fn new(path: &str, signature: &Signature, block: &Block) -> Self {
        let typed = signature.inputs.iter().filter_map(|input| match input {
            FnArg::Typed(typed) => Some(&*typed.ty),
            FnArg::Receiver(_) => None,
        });
        let first = signature.fn_token.span().start().line;
        Self {
            name: format!("{path}: {}", signature.ident),
            lines: block.span().end().line + 1 - first,
            parameters: typed.clone().count(),
            texts: typed.filter(|ty| is_text(ty)).count(),
        }
    }
}

/// Returns true for `&str`, with a lifetime or without.
fn is_text(ty: &Type) -> bool {
    match ty {
        Type::Reference(reference) => {
            matches!(&*reference.elem, Type::Path(path) if path.path.is_ident("str"))
        }
        _ => false,
    }
}

/// Adds all functions with a body.
fn add_functions(path: &str, items: &[Item], into: &mut Vec<FunctionShape>) {
    for item in items {
        match item {
            Item::Fn(function) => {
                into.push(FunctionShape::new(path, &function.sig, &function.block));
            }
            Item::Impl(block) => {
                for item in &block.items {
                    if let ImplItem::Fn(function) = item {
                        into.push(FunctionShape::new(path, &function.sig, &function.block));
                    }
                }
            }
            Item::Trait(defined) => {
                for item in &defined.items {
                    if let TraitItem::Fn(function) = item
                        && let Some(block) = &function.default
                    {
                        into.push(FunctionShape::new(path, &function.sig, block));
                    }
                }
            }
            Item::Mod(module) => {
                if let Some((_, items)) = &module.content {
                    add_functions(path, items, into);
                }
            }
            _ => {}
        }
    }
}

/// Returns the functions of all source files.
fn functions() -> Vec<FunctionShape> {
    let mut found = Vec::new();
    for source in sources() {
        let items = syn::parse_file(&source.text).unwrap().items;
        add_functions(source.path.to_str().unwrap(), &items, &mut found);
    }
    assert!(found.len() > 5_000, "only {} functions were read", found.len());
    found
}

/// Describes functions that are too long, and exceptions that are no longer needed.
fn wrong_lengths(functions: &[FunctionShape]) -> Vec<String> {
    let is_long = |function: &&FunctionShape| {
        let most =
            if function.name.starts_with("src/pipeline/") { MAX_PIPELINE_LINES } else { MAX_LINES };
        function.lines > most
    };
    let long: Vec<&FunctionShape> = functions.iter().filter(is_long).collect();
    let is_allowed = |name: &str| LONG.iter().any(|(allowed, _)| *allowed == name);
    let new = long.iter().filter(|function| !is_allowed(&function.name));
    let new = new.map(|one| format!("{}: {} lines; split it, or say why not", one.name, one.lines));
    let gone = LONG.iter().filter(|(name, _)| long.iter().all(|function| function.name != *name));
    new.chain(gone.map(|(name, _)| format!("{name}: take it off the list"))).collect()
}

/// Describes functions with too many parameters.
fn wide(functions: &[FunctionShape]) -> Vec<String> {
    let wide = functions.iter().filter(|function| function.parameters > MAX_PARAMETERS);
    wide.map(|one| format!("{}: {} parameters; group some", one.name, one.parameters)).collect()
}

/// Describes folders with another number of functions with two `&str` than the list has.
fn wrong_text_pairs(functions: &[FunctionShape]) -> Vec<String> {
    let mut counts = vec![Vec::new(); TEXT_PAIRS.len()];
    for function in functions.iter().filter(|function| function.texts > 1) {
        let place = TEXT_PAIRS.iter().position(|(folder, _)| function.name.starts_with(folder));
        counts[place.unwrap()].push(function.name.as_str());
    }
    let mut wrong = Vec::new();
    for ((folder, allowed), found) in TEXT_PAIRS.iter().zip(counts) {
        if found.len() > *allowed {
            let list = found.join("\n    ");
            wrong.push(format!("{folder}: {} of {allowed} at most:\n    {list}", found.len()));
        } else if found.len() < *allowed {
            wrong.push(format!("{folder}: lower the number to {}", found.len()));
        }
    }
    wrong
}

// One test, because reading the sources takes longest.
#[test]
fn functions_are_short_and_their_parameters_are_hard_to_swap() {
    let functions = functions();
    let wrong = [wrong_lengths(&functions), wide(&functions), wrong_text_pairs(&functions)];
    assert_eq!(wrong.concat(), Vec::<String>::new());
}
