//! CSS numbers: plain numbers, lengths, percentages and angles, alone or in `calc()`, `min()`,
//! `max()` and `clamp()`.
//!
//! Lengths relative to a font size remain [`WrittenNumber`]s until their element is known; percentages
//! remain percentages until their base is. Other mathematical functions are not computed: their
//! declaration is [unknown](super::property::PropertyValue::Unknown).

use std::sync::Arc;

use cssparser::{ParseError, Parser, Token};

/// The result of reading a value.
pub type ParseResult<T> = Result<T, ParseError<()>>;

/// Returns the error of an invalid value.
pub fn invalid<T>() -> ParseResult<T> {
    Err(ParseError::unexpected_token())
}

/// The kind of quantity that a number measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberKind {
    Number,
    Percent,
    /// Pixels, possibly with a percentage added.
    Length,
    /// Degrees.
    Angle,
}

/// The unit of a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberUnit {
    Is(NumberKind),
    /// Relative to the element's font size.
    Em,
    /// Relative to the root's font size.
    Rem,
}

/// A number as written.
#[derive(Debug, Clone, PartialEq)]
pub enum WrittenNumber {
    Plain(f32, NumberUnit),
    /// A function, as text.
    Math(NumberKind, Arc<str>),
}

/// A number as computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComputedNumber {
    pub kind: NumberKind,
    /// The number, in pixels or degrees.
    pub n: f32,
    /// The percentage; 1 is 100 %.
    pub part: f32,
    /// True if the number depends on a font size.
    pub relative: bool,
}

/// The sizes that relative units refer to, in pixels.
#[derive(Debug, Clone, Copy)]
pub struct UnitScale {
    pub em: f32,
    pub rem: f32,
}

impl UnitScale {
    /// Returns the scale of a page that sets no font sizes.
    pub const fn page() -> Self {
        Self { em: 16.0, rem: 16.0 }
    }
}

/// The base of percentages where two values are compared, in pixels.
const BASE: f32 = 1264.0;

impl ComputedNumber {
    /// Returns a number without a unit.
    pub fn number(n: f32) -> Self {
        Self { kind: NumberKind::Number, n, part: 0.0, relative: false }
    }

    /// Returns the length in pixels, with percentages of `base`.
    pub fn px(self, base: f32) -> f32 {
        self.n + self.part * base
    }

    /// Returns a number or a percentage as a fraction.
    pub fn fraction(self) -> f32 {
        self.n + self.part
    }

    fn plus(self, other: Self, sign: f32) -> ParseResult<Self> {
        let length = |kind| matches!(kind, NumberKind::Length | NumberKind::Percent);
        let kind = match (self.kind, other.kind) {
            (a, b) if a == b => a,
            (a, b) if length(a) && length(b) => NumberKind::Length,
            _ => return invalid(),
        };
        Ok(Self {
            kind,
            n: self.n + sign * other.n,
            part: self.part + sign * other.part,
            relative: self.relative || other.relative,
        })
    }

    /// Returns `bound` if `takes` says so of the two numbers, otherwise the number itself.
    fn bounded(self, bound: Self, takes: fn(f32, f32) -> bool) -> ParseResult<Self> {
        // Values that cannot be added cannot be compared.
        let sum = self.plus(bound, 1.0)?;
        let taken = if takes(self.px(BASE), bound.px(BASE)) { bound } else { self };
        Ok(Self { kind: sum.kind, relative: sum.relative, ..taken })
    }

    fn times(self, by: f32) -> Self {
        Self { n: self.n * by, part: self.part * by, ..self }
    }
}

impl WrittenNumber {
    /// Returns a length in pixels.
    pub const fn pixels(n: f32) -> Self {
        Self::Plain(n, NumberUnit::Is(NumberKind::Length))
    }

    /// Returns a percentage; 1 is 100 %.
    pub const fn percentage(n: f32) -> Self {
        Self::Plain(n, NumberUnit::Is(NumberKind::Percent))
    }

    /// Returns the kind of quantity that the number measures.
    pub fn kind(&self) -> NumberKind {
        match self {
            Self::Plain(_, NumberUnit::Is(kind)) | Self::Math(kind, _) => *kind,
            Self::Plain(..) => NumberKind::Length,
        }
    }

    /// Returns true for a plain number below zero; functions are clamped later.
    pub fn is_negative(&self) -> bool {
        matches!(self, Self::Plain(n, _) if *n < 0.0)
    }

    /// Returns the work of computing the number: zero, or by the length of a function's text.
    pub fn weight(&self) -> usize {
        match self {
            Self::Plain(..) => 0,
            Self::Math(_, text) => text.len() / 4,
        }
    }

    /// Computes the number.
    pub fn compute(&self, scale: &UnitScale) -> ComputedNumber {
        match self {
            Self::Plain(n, unit) => plain(*n, *unit, scale),
            Self::Math(_, text) => amount_of(&mut Parser::new(text), scale)
                .unwrap_or_else(|_| ComputedNumber::number(0.0)),
        }
    }
}

fn plain(n: f32, unit: NumberUnit, scale: &UnitScale) -> ComputedNumber {
    let length = |n| ComputedNumber { kind: NumberKind::Length, n, part: 0.0, relative: false };
    match unit {
        NumberUnit::Is(NumberKind::Percent) => {
            ComputedNumber { kind: NumberKind::Percent, n: 0.0, part: n, relative: false }
        }
        NumberUnit::Is(kind) => ComputedNumber { kind, ..length(n) },
        NumberUnit::Em => ComputedNumber { relative: true, ..length(n * scale.em) },
        NumberUnit::Rem => length(n * scale.rem),
    }
}

/// Reads one number, percentage, dimension or mathematical function.
pub fn amount(input: &mut Parser<'_>) -> ParseResult<WrittenNumber> {
    input.skip_whitespace();
    let start = input.position();
    let (n, unit) = match input.next()? {
        Token::Number { value, .. } => (*value, NumberUnit::Is(NumberKind::Number)),
        Token::Percentage { unit_value, .. } => (*unit_value, NumberUnit::Is(NumberKind::Percent)),
        Token::Dimension { value, unit, .. } => dimension(*value, unit)?,
        Token::Function(name) => {
            let name = name.to_ascii_lowercase();
            let read = function(&name, input, &UnitScale::page())?;
            return Ok(WrittenNumber::Math(read.kind, input.slice_from(start).into()));
        }
        _ => return invalid(),
    };
    Ok(WrittenNumber::Plain(n, unit))
}

/// Reads and computes a number, a function or a sum in brackets.
pub fn amount_of(input: &mut Parser<'_>, scale: &UnitScale) -> ParseResult<ComputedNumber> {
    Ok(match input.next()? {
        Token::Number { value, .. } => ComputedNumber::number(*value),
        Token::Percentage { unit_value, .. } => {
            plain(*unit_value, NumberUnit::Is(NumberKind::Percent), scale)
        }
        Token::Dimension { value, unit, .. } => {
            let (n, unit) = dimension(*value, unit)?;
            plain(n, unit, scale)
        }
        Token::ParenthesisBlock => input.parse_nested_block(|input| sum(input, scale))?,
        Token::Function(name) => {
            let name = name.to_ascii_lowercase();
            function(&name, input, scale)?
        }
        _ => return invalid(),
    })
}

fn dimension(n: f32, unit: &str) -> ParseResult<(f32, NumberUnit)> {
    let unit = unit.to_ascii_lowercase();
    let px = |by: f32| Ok((n * by, NumberUnit::Is(NumberKind::Length)));
    match unit.as_str() {
        "px" => px(1.0),
        "pt" => px(96.0 / 72.0),
        "pc" => px(16.0),
        "in" => px(96.0),
        "cm" => px(96.0 / 2.54),
        "mm" => px(96.0 / 25.4),
        "q" => px(96.0 / 101.6),
        "em" | "ic" => Ok((n, NumberUnit::Em)),
        // The metrics of fonts are unknown; CSS falls back to half an em for these units.
        "ex" | "ch" => Ok((n * 0.5, NumberUnit::Em)),
        "cap" => Ok((n * 0.7, NumberUnit::Em)),
        "lh" => Ok((n * 1.2, NumberUnit::Em)),
        "rem" | "ric" => Ok((n, NumberUnit::Rem)),
        "rex" | "rch" => Ok((n * 0.5, NumberUnit::Rem)),
        "rcap" => Ok((n * 0.7, NumberUnit::Rem)),
        "rlh" => Ok((n * 1.2, NumberUnit::Rem)),
        "deg" => Ok((n, NumberUnit::Is(NumberKind::Angle))),
        "grad" => Ok((n * 0.9, NumberUnit::Is(NumberKind::Angle))),
        "rad" => Ok((n.to_degrees(), NumberUnit::Is(NumberKind::Angle))),
        "turn" => Ok((n * 360.0, NumberUnit::Is(NumberKind::Angle))),
        other => match other.trim_start_matches(['s', 'l', 'd']) {
            // Units of a container are those of the screen if there is no container.
            "vw" | "vi" | "vmax" | "cqw" | "cqi" | "cqmax" => px(12.8),
            "vh" | "vb" | "vmin" | "cqh" | "cqb" | "cqmin" => px(8.0),
            _ => invalid(),
        },
    }
}

/// Reads the arguments of a function and computes it.
fn function(name: &str, input: &mut Parser<'_>, scale: &UnitScale) -> ParseResult<ComputedNumber> {
    let args = input.parse_nested_block(|input| {
        if name == "env" {
            return inset(input);
        }
        input.parse_comma_separated(|input| sum(input, scale))
    })?;
    match (name, args.as_slice()) {
        ("calc" | "-webkit-calc" | "-moz-calc" | "env", [one]) => Ok(*one),
        ("min", [first, rest @ ..]) => {
            rest.iter().try_fold(*first, |best, one| best.bounded(*one, |best, one| one < best))
        }
        ("max", [first, rest @ ..]) => {
            rest.iter().try_fold(*first, |best, one| best.bounded(*one, |best, one| one > best))
        }
        // The lower bound comes last, because it wins if the two contradict each other.
        ("clamp", [low, value, high]) => value
            .bounded(*high, |value, high| high < value)?
            .bounded(*low, |value, low| low > value),
        _ => invalid(),
    }
}

/// Reads the arguments of `env()`: a message is not overlaid, so its insets are zero. Other
/// variables depend on the device.
fn inset(input: &mut Parser<'_>) -> ParseResult<Vec<ComputedNumber>> {
    if !input.expect_ident()?.starts_with("safe-area-inset-") {
        return invalid();
    }
    while input.next().is_ok() {}
    Ok(vec![WrittenNumber::pixels(0.0).compute(&UnitScale::page())])
}

/// Reads `a + b - c`.
fn sum(input: &mut Parser<'_>, scale: &UnitScale) -> ParseResult<ComputedNumber> {
    let mut total = product(input, scale)?;
    loop {
        let start = input.state();
        let sign = match input.next() {
            Ok(Token::Delim('+')) => 1.0,
            Ok(Token::Delim('-')) => -1.0,
            Ok(_) => {
                input.reset(&start);
                return Ok(total);
            }
            Err(_) => return Ok(total),
        };
        total = total.plus(product(input, scale)?, sign)?;
    }
}

/// Reads `a * b / c`.
fn product(input: &mut Parser<'_>, scale: &UnitScale) -> ParseResult<ComputedNumber> {
    let mut total = amount_of(input, scale)?;
    loop {
        let start = input.state();
        let over = match input.next() {
            Ok(Token::Delim('*')) => false,
            Ok(Token::Delim('/')) => true,
            Ok(_) => {
                input.reset(&start);
                return Ok(total);
            }
            Err(_) => return Ok(total),
        };
        let by = amount_of(input, scale)?;
        total = match (total.kind, by.kind) {
            (_, NumberKind::Number) if over => total.times(1.0 / by.n),
            (_, NumberKind::Number) => total.times(by.n),
            (NumberKind::Number, _) if !over => by.times(total.n),
            (a, b) if over && a == b => ComputedNumber::number(total.px(BASE) / by.px(BASE)),
            _ => return invalid(),
        };
    }
}

/// Reads one of `words`.
pub fn keyword(input: &mut Parser<'_>, words: &[&'static str]) -> ParseResult<&'static str> {
    let read = input.expect_ident()?;
    match words.iter().find(|word| read.eq_ignore_ascii_case(word)) {
        Some(word) => Ok(word),
        None => invalid(),
    }
}

/// Reads a length; the flags allow negative lengths, percentages, and numbers without a unit.
pub fn length(
    input: &mut Parser<'_>,
    negative: bool,
    percent: bool,
    unitless: bool,
) -> ParseResult<WrittenNumber> {
    let read = amount(input)?;
    let fits = match (&read, read.kind()) {
        (_, NumberKind::Length) => true,
        (_, NumberKind::Percent) => percent,
        (WrittenNumber::Plain(n, _), NumberKind::Number) => *n == 0.0 || unitless,
        _ => false,
    };
    if fits && (negative || !read.is_negative()) { Ok(read) } else { invalid() }
}

/// Reads a number or a percentage.
pub fn number(input: &mut Parser<'_>) -> ParseResult<WrittenNumber> {
    let read = amount(input)?;
    if matches!(read.kind(), NumberKind::Number | NumberKind::Percent) {
        Ok(read)
    } else {
        invalid()
    }
}
