//! Computed style of HTML: the effect of style sheets, attributes and the browser's own rules on
//! each element, and whether its text is seen.
//!
//! [`sheets`] reads style sheets and selectors, [`values`] their values. [`style`] selects the
//! declarations that apply to an element and computes its style. [`visibility`] walks the document and
//! decides for each text: shown, hidden, or in doubt. No layout is computed: a text is hidden if a
//! bound proves that it is out of sight; if no bound decides, it is in doubt.

mod sheets;
mod style;
mod values;
mod visibility;

use cssparser::{Delimiter, ParseError, Parser};
pub use sheets::select::{MatchWork, WORK};
use values::{other, property};
pub use visibility::VisibilityWalker;

/// A declaration: `name: value`, without its `!important`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CssDeclaration {
    /// The property, in lower case.
    pub name: String,
    /// The value, in lower case, with single spaces.
    pub value: String,
}

/// Returns the declarations of a `style` attribute as written.
pub fn declarations(block: &str) -> Vec<CssDeclaration> {
    let mut input = Parser::new(block);
    let mut found = Vec::new();
    loop {
        let one = input.parse_until_after(Delimiter::Semicolon, |input| {
            let name = input.expect_ident()?.to_ascii_lowercase();
            input.expect_colon()?;
            let value = input.parse_until_before(Delimiter::Bang, |input| {
                let start = input.position();
                while input.next().is_ok() {}
                Ok::<_, ParseError<()>>(input.slice_from(start))
            })?;
            while input.next().is_ok() {}
            let value = value.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
            Ok::<_, ParseError<()>>(CssDeclaration { name, value })
        });
        // As in a browser, a broken declaration is skipped up to its semicolon.
        found.extend(one.ok());
        if input.is_exhausted() {
            return found;
        }
    }
}

/// Returns true for the name of a property that may hide text.
pub fn matters(name: &str) -> bool {
    !property::properties_of(name).is_empty() || other::is_other(name)
}
