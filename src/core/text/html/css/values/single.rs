//! Values of single properties; shorthands are in [`grammar`](super::grammar).
//!
//! A value that a browser rejects is an error here, too.

use cssparser::{ParseError, Parser};

use super::boxes;
use super::color::{CLEAR, WrittenColour, paint};
use super::function;
use super::property::{CssProperty as P, PropertyValue, ValueMode};
use super::value::{
    NumberKind, ParseResult, UnitScale, WrittenNumber, amount, invalid, keyword, length, number,
};

const DISPLAY: &[&str] = &[
    "none", "block", "inline", "inline-block", "flex", "inline-flex", "grid", "inline-grid",
    "contents", "table", "inline-table", "table-row", "table-cell", "table-row-group",
    "table-header-group", "table-footer-group", "table-column", "table-column-group",
    "table-caption", "list-item", "flow-root", "flow", "run-in", "-webkit-box",
    "-webkit-inline-box", "-webkit-flex", "-webkit-inline-flex", "ruby", "ruby-text", "math",
];
const SIZE: &[&str] = &[
    "auto", "none", "min-content", "max-content", "fit-content", "-webkit-fill-available",
    "stretch", "content", "intrinsic", "min-intrinsic", "-webkit-min-content",
    "-webkit-max-content", "-webkit-fit-content",
];
const OVERFLOW: &[&str] = &["visible", "hidden", "clip", "scroll", "auto", "overlay"];
const BLEND: &[&str] = &[
    "normal", "multiply", "screen", "overlay", "darken", "lighten", "color-dodge", "color-burn",
    "hard-light", "soft-light", "difference", "exclusion", "hue", "saturation", "color",
    "luminosity", "plus-lighter", "plus-darker",
];
const FONT_SIZES: &[&str] = &[
    "xx-small", "x-small", "small", "medium", "large", "x-large", "xx-large", "xxx-large",
    "smaller", "larger", "math",
];
const LISTS: &[&str] = &[
    "inside", "outside", "none", "disc", "circle", "square", "decimal", "decimal-leading-zero",
    "lower-alpha", "lower-latin", "lower-roman", "upper-alpha", "upper-latin", "upper-roman",
];
const CONTAIN: &[&str] =
    &["none", "strict", "content", "size", "inline-size", "layout", "style", "paint"];
const WHITE_SPACE: &[&str] = &[
    "normal", "nowrap", "pre", "pre-wrap", "pre-line", "break-spaces", "wrap", "balance", "pretty",
    "stable", "collapse", "preserve", "auto", "preserve-breaks",
];
const VERTICAL_ALIGN: &[&str] = &[
    "baseline",
    "sub",
    "super",
    "top",
    "text-top",
    "middle",
    "bottom",
    "text-bottom",
    "-webkit-baseline-middle",
];

/// Reads the value of one property.
pub fn read_value(
    property: P,
    input: &mut Parser<'_>,
    mode: ValueMode,
) -> ParseResult<PropertyValue> {
    match property {
        P::Visibility
        | P::ContentVisibility
        | P::Blend
        | P::OverflowX
        | P::OverflowY
        | P::Position
        | P::Float
        | P::Clear
        | P::Direction
        | P::UnicodeBidi
        | P::Backface
        | P::TextSecurity
        | P::ContainerType
        | P::BoxSizing
        | P::FlexDirection
        | P::FlexWrap
        | P::TableLayout
        | P::TransformStyle => keyword(input, keywords(property)).map(PropertyValue::Word),
        P::FontSize => keyword_or_length(input, FONT_SIZES, (false, true), mode),
        P::Top | P::Right | P::Bottom | P::Left => {
            keyword_or_length(input, &["auto"], (true, true), mode)
        }
        P::MarginTop | P::MarginRight | P::MarginBottom | P::MarginLeft => {
            keyword_or_length(input, &["auto"], (true, true), mode)
        }
        P::Perspective => keyword_or_length(input, &["none"], (false, false), mode),
        P::StrikeWidth => keyword_or_length(input, &["auto", "from-font"], (true, true), mode),
        P::VerticalAlign => keyword_or_length(input, VERTICAL_ALIGN, (true, true), mode),
        P::Spacing | P::WordSpacing => keyword_or_length(input, &["normal"], (true, true), mode),
        P::Display => display(input),
        P::Opacity | P::FillOpacity | P::FlexGrow => number(input).map(PropertyValue::Amount),
        P::Color | P::BackgroundColor => paint(input, mode.quirks).map(PropertyValue::Paint),
        P::TextFill | P::StrokeColor => paint(input, false).map(PropertyValue::Paint),
        P::Fill => fill(input),
        P::BackgroundImage | P::Mask => function::images(input).map(PropertyValue::Images),
        P::BackgroundClip => background_clip(input),
        P::SizeAdjust => size_adjust(input),
        P::LineHeight | P::Zoom => factor_or_length(property, input),
        P::AnimationCount => animation_counts(input),
        P::TextIndent => length(input, true, true, mode.quirks).map(PropertyValue::Amount),
        P::WhiteSpace | P::WhiteSpaceCollapse => first_of(input, WHITE_SPACE),
        P::Width | P::Height | P::MinWidth | P::MinHeight => extent(input, "none", mode),
        P::MaxWidth | P::MaxHeight => extent(input, "auto", mode),
        P::PaddingTop | P::PaddingRight | P::PaddingBottom | P::PaddingLeft => {
            length(input, false, true, mode.quirks).map(PropertyValue::Amount)
        }
        P::ZIndex => z_index(input),
        P::ListStyle => list_style(input),
        P::Contain => contain(input),
        P::LineClamp => line_clamp(input),
        P::Content => function::content(input).map(PropertyValue::Word),
        P::Clip => function::clip(input).map(PropertyValue::Calls),
        P::ClipPath => function::shape(input).map(PropertyValue::Calls),
        P::Transform => function::transform(input).map(PropertyValue::Calls),
        P::Filter | P::Backdrop => function::filter(input).map(PropertyValue::Calls),
        P::Translate | P::Rotate | P::Scale => {
            function::single(property, input).map(PropertyValue::Calls)
        }
        P::OffsetPath => offset_path(input),
        P::AnimationName | P::AnimationFill | P::AnimationState => animation_names(input),
        P::AnimationDelay | P::AnimationLength => animation_times(input),
        P::AnimationTimeline => {
            let auto = input.try_parse(|input| keyword(input, &["auto"])).is_ok();
            skip_rest(input);
            Ok(PropertyValue::Names([if auto { "auto".into() } else { "other".into() }].into()))
        }
        P::ClipMargin => clip_margin(input),
        P::Strike => strike(input),
        P::TextShadow => boxes::text_shadow(input).map(PropertyValue::Images),
        P::AspectRatio => boxes::ratio(input),
        P::BackgroundSize | P::MaskSize => boxes::sizes(input),
        P::BorderTop | P::BorderRight | P::BorderBottom | P::BorderLeft | P::Outline => {
            boxes::edge(input, mode)
        }
        P::BoxShadow => boxes::shadow(input),
        P::ContainSize => {
            skip_rest(input);
            Ok(PropertyValue::Word("some"))
        }
        P::FlexBasis => match keyword_or_length(input, SIZE, (false, true), mode)? {
            PropertyValue::Word("none") => invalid(),
            value => Ok(value),
        },
        P::Columns => columns(input, mode),
        P::GridColumns | P::GridRows | P::GridRowsAuto => boxes::tracks(input),
        P::MaskMode => mask_mode(input),
        P::OutlineOffset => length(input, true, false, false).map(PropertyValue::Amount),
        P::PaintOrder => first_of(input, &["normal", "fill", "stroke", "markers"]),
        P::StrokeWidth => boxes::thickness(input, mode).map(PropertyValue::Amount),
        P::DrawnStroke => match input.try_parse(|input| keyword(input, &["none"])) {
            Ok(_) => Ok(PropertyValue::Paint(WrittenColour::Rgba(CLEAR))),
            Err(_) => paint(input, false).map(PropertyValue::Paint),
        },
        P::DrawnWidth => match input.try_parse(|input| length(input, false, true, false)) {
            Ok(width) => Ok(PropertyValue::Amount(width)),
            Err(_) => number(input).map(PropertyValue::Amount),
        },
        P::ColorScheme => color_scheme(input),
        P::MaskPlace => Ok(PropertyValue::Word(if boxes::is_far(input) { "far" } else { "near" })),
        P::TransformOrigin => function::origin(input).map(PropertyValue::Calls),
        P::WillChange => will_change(input),
        P::All => invalid(),
    }
}

/// Returns the keywords of a property that has no other values; empty for other properties.
fn keywords(property: P) -> &'static [&'static str] {
    match property {
        P::Visibility => &["visible", "hidden", "collapse"],
        P::ContentVisibility => &["visible", "hidden", "auto"],
        P::Blend => BLEND,
        P::OverflowX | P::OverflowY => OVERFLOW,
        P::Position => &["static", "relative", "absolute", "fixed", "sticky", "-webkit-sticky"],
        P::Float => &["none", "left", "right", "inline-start", "inline-end"],
        P::Clear => &["none", "left", "right", "both", "inline-start", "inline-end"],
        P::Direction => &["ltr", "rtl"],
        P::UnicodeBidi => {
            &["normal", "embed", "isolate", "bidi-override", "isolate-override", "plaintext"]
        }
        P::Backface => &["visible", "hidden"],
        P::TextSecurity => &["none", "disc", "circle", "square"],
        P::ContainerType => &["normal", "size", "inline-size", "scroll-state", "anchored"],
        P::BoxSizing => &["content-box", "border-box"],
        P::FlexDirection => boxes::DIRECTIONS,
        P::FlexWrap => boxes::WRAPS,
        P::TableLayout => &["auto", "fixed"],
        P::TransformStyle => &["flat", "preserve-3d"],
        _ => &[],
    }
}

/// Reads one of `words` or a length, which the flags allow to be negative or a percentage.
fn keyword_or_length(
    input: &mut Parser<'_>,
    words: &[&'static str],
    (negative, percent): (bool, bool),
    mode: ValueMode,
) -> ParseResult<PropertyValue> {
    match input.try_parse(|input| keyword(input, words)) {
        Ok(word) => Ok(PropertyValue::Word(word)),
        Err(_) => length(input, negative, percent, mode.quirks).map(PropertyValue::Amount),
    }
}

/// Reads one of `words`, and ignores the identifiers after it.
fn first_of(input: &mut Parser<'_>, words: &[&'static str]) -> ParseResult<PropertyValue> {
    let first = keyword(input, words)?;
    while input.try_parse(Parser::expect_ident_cloned).is_ok() {}
    Ok(PropertyValue::Word(first))
}

/// Reads the rest of the input without regard to its content.
fn skip_rest(input: &mut Parser<'_>) {
    while input.next().is_ok() {}
}

/// Reads `fill`.
fn fill(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    if let Ok(word) = input.try_parse(|input| keyword(input, &["none"])) {
        return Ok(PropertyValue::Word(word));
    }
    // A pattern or gradient elsewhere in the document may have any colour.
    if input.try_parse(Parser::expect_url).is_ok() {
        skip_rest(input);
        return Ok(PropertyValue::Unknown);
    }
    paint(input, false).map(PropertyValue::Paint)
}

/// Reads `background-clip`: "text" only if it is the word of every layer.
fn background_clip(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    const BOXES: &[&str] = &["border-box", "padding-box", "content-box", "text", "border-area"];
    let layers = input.parse_comma_separated(|input| keyword(input, BOXES))?;
    // If only some layers are cut to the text, the others still paint the box.
    let text = !layers.is_empty() && layers.iter().all(|word| *word == "text");
    Ok(PropertyValue::Word(if text { "text" } else { "border-box" }))
}

/// Reads `font-size-adjust`.
fn size_adjust(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    if let Ok(word) = input.try_parse(|input| keyword(input, &["none", "from-font"])) {
        return Ok(PropertyValue::Word(word));
    }
    let metric = &["ex-height", "cap-height", "ch-width", "ic-width", "ic-height"];
    let _ = input.try_parse(|input| keyword(input, metric));
    number(input).map(PropertyValue::Amount)
}

/// Reads a width or a height. `unset` is the word that the property does not have.
fn extent(input: &mut Parser<'_>, unset: &str, mode: ValueMode) -> ParseResult<PropertyValue> {
    let fitted = input.try_parse(|input| match input.expect_function()? {
        name if name.eq_ignore_ascii_case("fit-content") => Ok(()),
        _ => invalid(),
    });
    if fitted.is_ok() {
        return Ok(PropertyValue::Word("fit-content"));
    }
    match keyword_or_length(input, SIZE, (false, true), mode)? {
        PropertyValue::Word(word) if word == unset => invalid(),
        value => Ok(value),
    }
}

/// Reads `z-index`.
fn z_index(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    match input.try_parse(|input| keyword(input, &["auto"])) {
        Ok(word) => Ok(PropertyValue::Word(word)),
        Err(_) => match amount(input)? {
            read if read.kind() == NumberKind::Number => Ok(PropertyValue::Amount(read)),
            _ => invalid(),
        },
    }
}

/// Reads `list-style`.
fn list_style(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    let mut style = None;
    while !input.is_exhausted() {
        match input.try_parse(|input| keyword(input, LISTS)) {
            Ok("inside" | "outside") => {}
            Ok(word) => style = Some(word),
            // A picture, a string, or a style whose numerals are not computed.
            Err(_) => {
                input.next()?;
                style = style.or(Some("other"));
            }
        }
    }
    Ok(PropertyValue::Word(style.unwrap_or("disc")))
}

/// Reads `contain`.
fn contain(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    let (mut paints, mut sized, mut across) = (false, false, false);
    while !input.is_exhausted() {
        let word = keyword(input, CONTAIN)?;
        paints |= matches!(word, "strict" | "content" | "paint");
        sized |= matches!(word, "strict" | "size");
        across |= word == "inline-size";
    }
    Ok(PropertyValue::Word(match (paints, sized, across) {
        (true, true, _) => "strict",
        (false, true, _) => "size",
        (_, _, true) => "inline-size",
        (true, ..) => "paint",
        _ => "none",
    }))
}

/// Reads `line-clamp`.
fn line_clamp(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    match input.try_parse(|input| keyword(input, &["none", "auto"])) {
        Ok(word) => Ok(PropertyValue::Word(word)),
        Err(_) => match input.expect_integer()? {
            n if n > 0 => Ok(PropertyValue::Amount(WrittenNumber::number(n as f32))),
            _ => invalid(),
        },
    }
}

/// Reads `offset-path`.
fn offset_path(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    if let Ok(word) = input.try_parse(|input| keyword(input, &["none", "normal", "auto"])) {
        Ok(PropertyValue::Word(word))
    } else {
        input.expect_function()?;
        skip_rest(input);
        Ok(PropertyValue::Unknown)
    }
}

/// Reads the names of animations, or of their states.
fn animation_names(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    let names: Vec<Box<str>> = input.parse_comma_separated(|input| {
        Ok::<_, ParseError<()>>(input.expect_ident_or_string()?.as_ref().into())
    })?;
    Ok(PropertyValue::Names(names.into()))
}

/// Reads the durations or delays of animations, in seconds.
fn animation_times(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    let times: Vec<Box<str>> = input.parse_comma_separated(|input| {
        if input.try_parse(|input| keyword(input, &["auto"])).is_ok() {
            return Ok("0".into());
        }
        seconds(&amount(input)?).map_or_else(invalid, Ok)
    })?;
    Ok(PropertyValue::Names(times.into()))
}

/// Returns a time in seconds, as text; `None` for other kinds.
fn seconds(time: &WrittenNumber) -> Option<Box<str>> {
    let time = time.compute(&UnitScale::page());
    (time.kind == NumberKind::Time).then(|| time.n.to_string().into())
}

/// Reads the numbers of times that animations run; any finite one counts as 1.
fn animation_counts(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    let counts: Vec<Box<str>> = input.parse_comma_separated(|input| {
        let endless = input.try_parse(|i| i.expect_ident_matching("infinite")).is_ok();
        if endless { Ok("infinite".into()) } else { number(input).map(|_| "1".into()) }
    })?;
    Ok(PropertyValue::Names(counts.into()))
}

/// Reads `overflow-clip-margin`.
fn clip_margin(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    let side =
        |input: &mut Parser<'_>| keyword(input, &["content-box", "padding-box", "border-box"]);
    let _ = input.try_parse(side);
    let by = input.try_parse(|input| length(input, false, false, false));
    let _ = input.try_parse(side);
    Ok(PropertyValue::Amount(by.unwrap_or(WrittenNumber::pixels(0.0))))
}

/// Reads `text-decoration-line`.
fn strike(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    const LINES: &[&str] =
        &["none", "underline", "overline", "line-through", "blink", "spelling-error"];
    let mut through = false;
    while !input.is_exhausted() {
        through |= keyword(input, LINES)? == "line-through";
    }
    Ok(PropertyValue::Word(if through { "line-through" } else { "none" }))
}

/// Reads `columns` and its parts.
fn columns(input: &mut Parser<'_>, mode: ValueMode) -> ParseResult<PropertyValue> {
    let mut some = false;
    while !input.is_exhausted() {
        let value = keyword_or_length(input, &["auto"], (false, false), mode);
        some |= !matches!(value, Ok(PropertyValue::Word(_)));
    }
    Ok(PropertyValue::Word(if some { "some" } else { "auto" }))
}

/// Reads `mask-mode` and `mask-composite`.
fn mask_mode(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    let plain = |word: &str| matches!(word, "add" | "alpha" | "match-source" | "source-over");
    let words = input.parse_comma_separated(|input| {
        Ok::<_, ParseError<()>>(plain(&input.expect_ident()?.to_ascii_lowercase()))
    })?;
    Ok(PropertyValue::Word(if words.contains(&false) { "some" } else { "none" }))
}

/// Reads `color-scheme`.
fn color_scheme(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    let (mut dark, mut light) = (false, false);
    while !input.is_exhausted() {
        match input.expect_ident()?.to_ascii_lowercase().as_str() {
            "dark" => dark = true,
            "light" | "normal" => light = true,
            _ => {}
        }
    }
    Ok(PropertyValue::Word(if dark && !light { "dark" } else { "light" }))
}

/// Reads `will-change`.
fn will_change(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    const HOLD: &[&str] =
        &["backdrop-filter", "filter", "perspective", "rotate", "scale", "transform", "translate"];
    let words = input.parse_comma_separated(|input| {
        let word = input.expect_ident()?.to_ascii_lowercase();
        Ok::<_, ParseError<()>>(HOLD.contains(&word.as_str()))
    })?;
    Ok(PropertyValue::Word(if words.contains(&true) { "holds" } else { "auto" }))
}

/// Reads a number, a percentage, a word, or the length of a `line-height`.
pub fn factor_or_length(property: P, input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    if let Ok(word) = input.try_parse(|input| keyword(input, &["normal", "reset"])) {
        return Ok(PropertyValue::Word(word));
    }
    let read = amount(input)?;
    let length = property == P::LineHeight && read.kind() == NumberKind::Length;
    let fits = length || matches!(read.kind(), NumberKind::Number | NumberKind::Percent);
    if fits && !read.is_negative() { Ok(PropertyValue::Amount(read)) } else { invalid() }
}

/// Reads `display`, in one word or two.
fn display(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    let first = keyword(input, DISPLAY)?;
    if input.is_exhausted() {
        return Ok(PropertyValue::Word(first));
    }
    let second = keyword(input, DISPLAY)?;
    let both = [first, second];
    let has = |name: &str| both.contains(&name);
    if has("list-item") && (has("block") || has("inline") || has("flow") || has("flow-root")) {
        return Ok(PropertyValue::Word("list-item"));
    }
    let outer = usize::from(has("inline"));
    if !has("inline") && !has("block") {
        return invalid();
    }
    let inner = both.into_iter().find(|name| !matches!(*name, "inline" | "block"));
    let pairs: &[(&str, [&'static str; 2])] = &[
        ("flow", ["block", "inline"]),
        ("flow-root", ["block", "inline-block"]),
        ("flex", ["flex", "inline-flex"]),
        ("grid", ["grid", "inline-grid"]),
        ("table", ["table", "inline-table"]),
        ("ruby", ["block", "ruby"]),
    ];
    let found = pairs.iter().find(|(name, _)| inner == Some(*name));
    match found.and_then(|(_, words)| words.get(outer)) {
        Some(word) => Ok(PropertyValue::Word(word)),
        None => invalid(),
    }
}
