//! Computed style: what the style sheets of a mail, its attributes and the browser's
//! own rules make of each element, and whether its text is seen.
//!
//! The way: [`sheets`] reads style sheets and their selectors, [`values`] what they set,
//! [`style`] decides which of that holds and computes the look of an element, and [`visibility`]
//! walks the document and decides for each text: shown, hidden, or in doubt. Nothing is laid out: a text is hidden when a bound proves it
//! out of sight, and what proves nothing either way is in doubt.

mod sheets;
mod style;
mod values;
mod visibility;

use cssparser::{Delimiter, ParseError, Parser};
pub use sheets::select::{MatchWork, WORK};
use values::property;
pub use visibility::{CssVisibility, VisibilityWalker};

/// `name: value`, with `!important` taken off the value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CssDeclaration {
    /// The property, in lower case.
    pub name: String,
    /// The value, in lower case, with single spaces.
    pub value: String,
}

/// Returns the declarations of a `style` attribute as they are written.
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
        found.extend(one.ok());
        if input.is_exhausted() {
            return found;
        }
    }
}

/// Returns true for a property that may hide text.
pub fn matters(name: &str) -> bool {
    !property::named(name).is_empty()
}
