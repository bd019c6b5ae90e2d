//! Custom properties, and values that refer to them with `var()`.
//!
//! Text is substituted, as CSS specifies. A value that is nested more deeply or grows larger than
//! in any honest sheet is unknown.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

use cssparser::{Parser, Token};

use super::super::sheets::select::MatchWork;
use super::super::values::value::{ParseResult, invalid};

/// Maximum depth of references.
const MAX_DEEP: usize = 32;
/// Maximum length of a value after substitution, in bytes.
const MAX_TEXT: usize = 64 * 1024;

/// The custom properties of an element, including inherited ones.
pub type CustomProperties = Rc<HashMap<Arc<str>, Arc<str>>>;

/// The result of a substitution.
#[derive(Debug, Clone, PartialEq)]
pub enum ResolvedText {
    Known(Arc<str>),
    /// The value refers to itself, or to a missing property without a fallback.
    Invalid,
    /// The value can be computed only by a browser, or exceeds a limit.
    Unknown,
}

/// Returns `around` with the custom properties that an element declares.
pub fn declare(
    around: &CustomProperties,
    declared: &[(Arc<str>, Option<Arc<str>>)],
    work: &MatchWork,
) -> CustomProperties {
    let mut raw: HashMap<Arc<str>, Arc<str>> = HashMap::new();
    let mut all = (**around).clone();
    for (name, text) in declared {
        all.remove(name);
        raw.remove(name);
        match text {
            Some(text) => {
                raw.insert(Arc::clone(name), Arc::clone(text));
            }
            None => {
                if let Some(text) = around.get(name) {
                    all.insert(Arc::clone(name), Arc::clone(text));
                }
            }
        }
    }
    let resolver = VariableResolver { known: &all, raw: &raw, done: RefCell::default(), work };
    let mut out = all.clone();
    for name in raw.keys() {
        if let ResolvedText::Known(text) = resolver.get(name, 0) {
            out.insert(Arc::clone(name), text);
        }
    }
    Rc::new(out)
}

/// Substitutes the references in a value.
pub fn substitute(text: &str, vars: &CustomProperties, work: &MatchWork) -> ResolvedText {
    let raw = HashMap::new();
    VariableResolver { known: vars, raw: &raw, done: RefCell::default(), work }.whole(text, 0)
}

struct VariableResolver<'a> {
    known: &'a HashMap<Arc<str>, Arc<str>>,
    raw: &'a HashMap<Arc<str>, Arc<str>>,
    /// The results for properties in `raw`; `None` while one is being resolved.
    done: RefCell<HashMap<Arc<str>, Option<ResolvedText>>>,
    /// Counts all text that is read or copied, whether it is used or not.
    work: &'a MatchWork,
}

impl VariableResolver<'_> {
    fn get(&self, name: &str, deep: usize) -> ResolvedText {
        let Some((name, text)) = self.raw.get_key_value(name) else {
            return self
                .known
                .get(name)
                .map_or(ResolvedText::Invalid, |text| ResolvedText::Known(Arc::clone(text)));
        };
        if let Some(done) = self.done.borrow().get(name) {
            // A property that is still being resolved is part of a cycle.
            return done.clone().unwrap_or(ResolvedText::Invalid);
        }
        if deep > MAX_DEEP {
            return ResolvedText::Unknown;
        }
        self.done.borrow_mut().insert(Arc::clone(name), None);
        let text = self.whole(text, deep + 1);
        self.done.borrow_mut().insert(Arc::clone(name), Some(text.clone()));
        text
    }

    fn whole(&self, text: &str, deep: usize) -> ResolvedText {
        let mut out = String::new();
        let mut unknown = !self.work.spend(text.len() / 4 + 1);
        match self.copy(&mut Parser::new(text), &mut out, &mut unknown, deep) {
            _ if unknown || out.len() > MAX_TEXT => ResolvedText::Unknown,
            Ok(()) => ResolvedText::Known(out.trim().into()),
            Err(_) => ResolvedText::Invalid,
        }
    }

    /// Copies a value to `out` and substitutes its references.
    fn copy(
        &self,
        input: &mut Parser<'_>,
        out: &mut String,
        unknown: &mut bool,
        deep: usize,
    ) -> ParseResult<()> {
        loop {
            let start = input.position();
            let Ok(token) = input.next_including_whitespace_and_comments() else { return Ok(()) };
            let token = token.clone();
            if *unknown || out.len() > MAX_TEXT {
                *unknown = true;
                return Ok(());
            }
            let close = match &token {
                Token::Function(name) => match name.to_ascii_lowercase().as_str() {
                    "var" => {
                        let text =
                            input.parse_nested_block(|input| self.var(input, unknown, deep))?;
                        out.push_str(&text);
                        continue;
                    }
                    "env" => {
                        let text =
                            input.parse_nested_block(|input| self.env(input, unknown, deep))?;
                        out.push_str(&text);
                        continue;
                    }
                    "attr" | "if" | "random" | "sibling-index" | "sibling-count" | "inherit"
                    | "calc-size" | "progress" | "anchor" | "anchor-size" => {
                        *unknown = true;
                        continue;
                    }
                    name if name.starts_with("--") => {
                        *unknown = true;
                        continue;
                    }
                    _ => ")",
                },
                Token::ParenthesisBlock => ")",
                Token::SquareBracketBlock => "]",
                Token::CurlyBracketBlock => "}",
                Token::Comment(_) => {
                    // A comment separates the tokens around it.
                    out.push_str("/**/");
                    continue;
                }
                Token::BadString(_) | Token::BadUrl(_) => return invalid(),
                _ => {
                    out.push_str(input.slice_from(start));
                    continue;
                }
            };
            out.push_str(input.slice_from(start));
            input.parse_nested_block(|input| self.copy(input, out, unknown, deep))?;
            out.push_str(close);
        }
    }

    /// Reads the arguments of `env()` and returns its value for a message: insets are zero, because
    /// the page is not overlaid, and names that no browser sets have their fallback.
    fn env(&self, input: &mut Parser<'_>, unknown: &mut bool, deep: usize) -> ParseResult<String> {
        const NONE: &[&str] = &["safe-area-inset-", "keyboard-inset-"];
        const SET: &[&str] = &[
            "safe-area-max-inset-", "titlebar-area-", "viewport-segment-", "preferred-text-scale",
        ];
        let name = input.expect_ident_cloned()?;
        let is = |names: &[&str]| names.iter().any(|known| name.starts_with(known));
        while input.try_parse(Parser::expect_integer).is_ok() {}
        // A desktop has no insets; the other values depend on the device.
        if is(NONE) || is(SET) {
            *unknown |= is(SET);
            while input.next().is_ok() {}
            return Ok("/**/0px/**/".to_owned());
        }
        input.expect_comma()?;
        let mut other = String::new();
        self.copy(input, &mut other, unknown, deep + 1)?;
        Ok(format!("/**/{other}/**/"))
    }

    /// Reads the arguments of `var()` and returns its value.
    fn var(&self, input: &mut Parser<'_>, unknown: &mut bool, deep: usize) -> ParseResult<String> {
        let name = input.expect_ident_cloned()?;
        if !name.starts_with("--") {
            return invalid();
        }
        let fallback = input.try_parse(Parser::expect_comma).is_ok();
        let mut other = String::new();
        let mut lost = false;
        let value = self.get(&name, deep);
        // A fallback that is not used is not resolved: its errors do not matter.
        if fallback && value == ResolvedText::Invalid {
            self.copy(input, &mut other, &mut lost, deep + 1)?;
        } else {
            while input.next().is_ok() {}
        }
        if let ResolvedText::Known(text) = &value
            && !self.work.spend(text.len() / 4)
        {
            *unknown = true;
        }
        match value {
            // Comments around the value keep its tokens separate from adjacent ones.
            ResolvedText::Known(text) => Ok(format!("/**/{text}/**/")),
            ResolvedText::Unknown => {
                *unknown = true;
                Ok(String::new())
            }
            ResolvedText::Invalid if fallback => {
                *unknown |= lost;
                Ok(format!("/**/{other}/**/"))
            }
            ResolvedText::Invalid => invalid(),
        }
    }
}
