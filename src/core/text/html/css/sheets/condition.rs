//! Conditions of `@supports`, and addresses that contain a sheet.

use cssparser::{Delimiter, ParseError, Parser, Token};
use selectors::parser::{ParseRelative, SelectorList};

use super::super::values::grammar;
use super::super::values::property::{self, ValueMode};
use super::super::values::value::{ParseResult, invalid};
use super::media::{self, ConditionTruth};
use super::pseudo::{SelectorGrammar, plain};

/// Evaluates the condition of `@supports`.
pub fn supports(input: &mut Parser<'_>) -> ParseResult<ConditionTruth> {
    media::combined(input, &mut |input| match input.next()?.clone() {
        Token::ParenthesisBlock => input.parse_nested_block(|input| {
            let start = input.state();
            if let Ok(nested) = input.try_parse(supports) {
                return Ok(nested);
            }
            input.reset(&start);
            // Unknown syntax in brackets is false and no error, so that `not (…)` around it holds.
            let known = input.try_parse(declared).unwrap_or(ConditionTruth::No);
            while input.next().is_ok() {}
            Ok(known)
        }),
        Token::Function(name) => input.parse_nested_block(|input| {
            let selector = name.eq_ignore_ascii_case("selector")
                && plain(SelectorList::parse(
                    &SelectorGrammar::default(),
                    input,
                    ParseRelative::No,
                ))
                .is_ok_and(|list| list.len() == 1);
            while input.next().is_ok() {}
            // The fonts and rules that a browser supports are not listed here.
            let asks = ["at-rule", "font-format", "font-tech", "named-feature"]
                .iter()
                .any(|known| name.eq_ignore_ascii_case(known));
            Ok(if asks { ConditionTruth::Perhaps } else { ConditionTruth::from(selector) })
        }),
        _ => invalid(),
    })
}

/// Reads `name: value` and returns whether a browser supports it.
fn declared(input: &mut Parser<'_>) -> ParseResult<ConditionTruth> {
    let name = input.expect_ident()?.to_ascii_lowercase();
    input.expect_colon()?;
    let taken = input.parse_until_before(Delimiter::Bang, |input| {
        let start = input.state();
        let mut read = Vec::new();
        let taken = grammar::read(&name, input, ValueMode::default(), &mut read);
        input.reset(&start);
        while input.next().is_ok() {}
        Ok::<_, ParseError<()>>(taken.is_ok())
    })?;
    // The value is checked only for properties with a grammar here.
    Ok(if !property::properties_of(&name).is_empty() {
        ConditionTruth::from(taken)
    } else if name.starts_with("--") {
        ConditionTruth::Yes
    } else if ["-ms-", "-moz-", "mso-"].iter().any(|prefix| name.starts_with(prefix)) {
        ConditionTruth::No
    } else {
        ConditionTruth::Perhaps
    })
}

/// Returns true for an address that contains a style sheet.
pub fn is_data(url: &str) -> bool {
    let scheme = url.trim().get(..5);
    scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case("data:"))
}
