//! The grammar of the properties' values.
//!
//! A value that a browser rejects is an error here too, so that the declaration before it applies.
//! Computed values are in `look` and `sight`.

use cssparser::{ParseError, Parser, Token};

use super::boxes;
use super::color::{WrittenColour, paint};
use super::function;
use super::property::{
    ANIMATION, CssImage, CssProperty, PropertyValue, ValueMode, WideKeyword, named,
};
use super::value::{NumberKind, ParseResult, WrittenNumber, amount, invalid, length, number, word};

/// Reads the value of the property `name` and adds the result to `out`.
pub fn read(
    name: &str,
    input: &mut Parser<'_>,
    mode: ValueMode,
    out: &mut Vec<(CssProperty, PropertyValue)>,
) -> ParseResult<()> {
    let properties = named(name);
    if properties.is_empty() {
        return invalid();
    }
    if let Ok(wide) = input.try_parse(wide) {
        out.extend(properties.iter().map(|property| (*property, PropertyValue::Wide(wide))));
        return Ok(());
    }
    let from = out.len();
    let read = match (name, properties) {
        ("all", _) => invalid(),
        ("background", _) => background(input, mode, out),
        ("font", _) => font(input, mode, out),
        ("animation" | "-webkit-animation", _) => animation(input, out),
        ("flex" | "-webkit-flex", _) => {
            boxes::flex(input, out, |input| one(CssProperty::FlexBasis, input, mode))
        }
        ("flex-flow", _) => boxes::flow(input, out),
        ("grid" | "grid-template", _) => boxes::grid(input, out),
        ("mask" | "-webkit-mask", _) => {
            let start = input.state();
            let far = boxes::is_far(input);
            input.reset(&start);
            function::images(input).map(|images| {
                out.push((
                    CssProperty::MaskPlace,
                    PropertyValue::Word(if far { "far" } else { "near" }),
                ));
                out.push((CssProperty::Mask, PropertyValue::Images(images)));
                out.push((CssProperty::MaskSize, PropertyValue::Word("some")));
            })
        }
        ("text-decoration", _) => boxes::decoration(input, mode, out),
        ("-webkit-text-stroke", _) => boxes::stroke(input, mode, out),
        ("border", properties) => boxes::edge(input, mode)
            .map(|edge| out.extend(properties.iter().map(|side| (*side, edge.clone())))),
        (_, [property]) => one(*property, input, mode).map(|value| out.push((*property, value))),
        (_, properties) => sides(properties, input, mode, out),
    };
    let read = read.and_then(|()| Ok(input.expect_exhausted()?));
    // An invalid shorthand sets none of its properties.
    if read.is_err() {
        out.truncate(from);
    }
    read
}

fn wide(input: &mut Parser<'_>) -> ParseResult<WideKeyword> {
    let wide = match input.expect_ident()?.to_ascii_lowercase().as_str() {
        "inherit" => WideKeyword::Inherit,
        "initial" => WideKeyword::Initial,
        "unset" => WideKeyword::Unset,
        "revert" => WideKeyword::Revert,
        "revert-layer" => WideKeyword::RevertLayer,
        _ => return invalid(),
    };
    input.expect_exhausted()?;
    Ok(wide)
}

/// Reads one to four values for as many sides.
fn sides(
    properties: &[CssProperty],
    input: &mut Parser<'_>,
    mode: ValueMode,
    out: &mut Vec<(CssProperty, PropertyValue)>,
) -> ParseResult<()> {
    let Some(first) = properties.first() else { return invalid() };
    let mut values = Vec::new();
    while values.len() < properties.len() && !input.is_exhausted() {
        values.push(one(*first, input, mode)?);
    }
    for (at, property) in properties.iter().enumerate() {
        // A missing fourth side repeats the second, any other missing side the first.
        let value = values.get(at).or_else(|| values.get(if at == 3 { 1 } else { 0 }));
        let Some(value) = value.or_else(|| values.first()) else { return invalid() };
        out.push((*property, value.clone()));
    }
    Ok(())
}

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

/// Reads the value of one property.
fn one(
    property: CssProperty,
    input: &mut Parser<'_>,
    mode: ValueMode,
) -> ParseResult<PropertyValue> {
    use CssProperty as P;
    let words = |input: &mut Parser<'_>, words: &[&'static str]| {
        word(input, words).map(PropertyValue::Word)
    };
    let or =
        |input: &mut Parser<'_>, all: &[&'static str], negative: bool, percent: bool| match input
            .try_parse(|input| word(input, all))
        {
            Ok(word) => Ok(PropertyValue::Word(word)),
            Err(_) => length(input, negative, percent, mode.quirks).map(PropertyValue::Amount),
        };
    match property {
        P::Display => display(input),
        P::Visibility => words(input, &["visible", "hidden", "collapse"]),
        P::ContentVisibility => words(input, &["visible", "hidden", "auto"]),
        P::Opacity | P::FillOpacity => number(input).map(PropertyValue::Amount),
        P::Color | P::BackgroundColor => paint(input, mode.quirks).map(PropertyValue::Paint),
        P::TextFill => paint(input, false).map(PropertyValue::Paint),
        P::Fill => match input.try_parse(|input| word(input, &["none"])) {
            Ok(word) => Ok(PropertyValue::Word(word)),
            // A pattern or gradient elsewhere in the document may have any colour.
            Err(_) if input.try_parse(Parser::expect_url).is_ok() => {
                while input.next().is_ok() {}
                Ok(PropertyValue::Unknown)
            }
            Err(_) => paint(input, false).map(PropertyValue::Paint),
        },
        P::BackgroundImage | P::Mask => function::images(input).map(PropertyValue::Images),
        P::BackgroundClip => Ok(PropertyValue::Word(layers(
            input,
            &["border-box", "padding-box", "content-box", "text", "border-area"],
        )?)),
        P::Blend => words(input, BLEND),
        P::FontSize => or(input, FONT_SIZES, false, true),
        P::SizeAdjust => match input.try_parse(|input| word(input, &["none", "from-font"])) {
            Ok(word) => Ok(PropertyValue::Word(word)),
            Err(_) => {
                let metric = &["ex-height", "cap-height", "ch-width", "ic-width", "ic-height"];
                let _ = input.try_parse(|input| word(input, metric));
                number(input).map(PropertyValue::Amount)
            }
        },
        P::LineHeight | P::Zoom | P::AnimationCount => loose(property, input),
        P::TextIndent => length(input, true, true, mode.quirks).map(PropertyValue::Amount),
        P::WhiteSpace | P::WhiteSpaceCollapse => {
            let first = words(
                input,
                &[
                    "normal", "nowrap", "pre", "pre-wrap", "pre-line", "break-spaces", "wrap",
                    "balance", "pretty", "stable", "collapse", "preserve", "auto",
                    "preserve-breaks",
                ],
            )?;
            while input.try_parse(cssparser::Parser::expect_ident_cloned).is_ok() {}
            Ok(first)
        }
        P::OverflowX | P::OverflowY => words(input, OVERFLOW),
        P::Width | P::Height | P::MinWidth | P::MinHeight | P::MaxWidth | P::MaxHeight => {
            let unset =
                if matches!(property, P::MaxWidth | P::MaxHeight) { "auto" } else { "none" };
            let fitted = input.try_parse(|input| match input.expect_function()? {
                name if name.eq_ignore_ascii_case("fit-content") => Ok(()),
                _ => invalid(),
            });
            if fitted.is_ok() {
                return Ok(PropertyValue::Word("fit-content"));
            }
            match or(input, SIZE, false, true)? {
                PropertyValue::Word(word) if word == unset => invalid(),
                value => Ok(value),
            }
        }
        P::Position => {
            words(input, &["static", "relative", "absolute", "fixed", "sticky", "-webkit-sticky"])
        }
        P::Top | P::Right | P::Bottom | P::Left => or(input, &["auto"], true, true),
        P::MarginTop | P::MarginRight | P::MarginBottom | P::MarginLeft => {
            or(input, &["auto"], true, true)
        }
        P::PaddingTop | P::PaddingRight | P::PaddingBottom | P::PaddingLeft => {
            length(input, false, true, mode.quirks).map(PropertyValue::Amount)
        }
        P::ZIndex => match input.try_parse(|input| word(input, &["auto"])) {
            Ok(word) => Ok(PropertyValue::Word(word)),
            Err(_) => match amount(input)? {
                read if read.kind() == NumberKind::Number => Ok(PropertyValue::Amount(read)),
                _ => invalid(),
            },
        },
        P::Float => words(input, &["none", "left", "right", "inline-start", "inline-end"]),
        P::Clear => words(input, &["none", "left", "right", "both", "inline-start", "inline-end"]),
        P::Direction => words(input, &["ltr", "rtl"]),
        P::UnicodeBidi => words(
            input,
            &["normal", "embed", "isolate", "bidi-override", "isolate-override", "plaintext"],
        ),
        P::ListStyle => {
            let mut style = None;
            while !input.is_exhausted() {
                match input.try_parse(|input| word(input, LISTS)) {
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
        P::Backface => words(input, &["visible", "hidden"]),
        P::TextSecurity => words(input, &["none", "disc", "circle", "square"]),
        P::ContainerType => {
            words(input, &["normal", "size", "inline-size", "scroll-state", "anchored"])
        }
        P::Contain => {
            let (mut paints, mut sized, mut across) = (false, false, false);
            while !input.is_exhausted() {
                let word = word(input, CONTAIN)?;
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
        P::LineClamp => match input.try_parse(|input| word(input, &["none", "auto"])) {
            Ok(word) => Ok(PropertyValue::Word(word)),
            Err(_) => match input.expect_integer()? {
                n if n > 0 => Ok(PropertyValue::Amount(WrittenNumber::number(n as f32))),
                _ => invalid(),
            },
        },
        P::Content => function::content(input).map(PropertyValue::Word),
        P::Clip => function::clip(input).map(PropertyValue::Calls),
        P::ClipPath => function::shape(input).map(PropertyValue::Calls),
        P::Transform => function::transform(input).map(PropertyValue::Calls),
        P::Filter | P::Backdrop => function::filter(input).map(PropertyValue::Calls),
        P::Translate | P::Rotate | P::Scale => {
            function::single(property, input).map(PropertyValue::Calls)
        }
        P::Perspective => or(input, &["none"], false, false),
        P::OffsetPath => match input.try_parse(|input| word(input, &["none", "normal", "auto"])) {
            Ok(word) => Ok(PropertyValue::Word(word)),
            Err(_) => {
                input.expect_function()?;
                while input.next().is_ok() {}
                Ok(PropertyValue::Unknown)
            }
        },
        P::AnimationName | P::AnimationFill | P::AnimationState => {
            let names: Vec<Box<str>> = input.parse_comma_separated(|input| {
                Ok::<_, ParseError<()>>(input.expect_ident_or_string()?.as_ref().into())
            })?;
            Ok(PropertyValue::Names(names.into()))
        }
        P::AnimationDelay | P::AnimationLength => {
            let times: Vec<Box<str>> = input.parse_comma_separated(|input| {
                if input.try_parse(|input| word(input, &["auto"])).is_ok() {
                    return Ok("0".into());
                }
                seconds(&amount(input)?).map_or_else(invalid, Ok)
            })?;
            Ok(PropertyValue::Names(times.into()))
        }
        P::AnimationTimeline => {
            let auto = input.try_parse(|input| word(input, &["auto"])).is_ok();
            while input.next().is_ok() {}
            Ok(PropertyValue::Names([if auto { "auto".into() } else { "other".into() }].into()))
        }
        P::BoxSizing => words(input, &["content-box", "border-box"]),
        P::ClipMargin => {
            let side =
                |input: &mut Parser<'_>| word(input, &["content-box", "padding-box", "border-box"]);
            let _ = input.try_parse(side);
            let by = input.try_parse(|input| length(input, false, false, false));
            let _ = input.try_parse(side);
            Ok(PropertyValue::Amount(by.unwrap_or(WrittenNumber::pixels(0.0))))
        }
        P::Strike => {
            const LINES: &[&str] =
                &["none", "underline", "overline", "line-through", "blink", "spelling-error"];
            let mut through = false;
            while !input.is_exhausted() {
                through |= word(input, LINES)? == "line-through";
            }
            Ok(PropertyValue::Word(if through { "line-through" } else { "none" }))
        }
        P::StrikeWidth => or(input, &["auto", "from-font"], true, true),
        P::TextShadow => boxes::text_shadow(input).map(PropertyValue::Images),
        P::AspectRatio => boxes::ratio(input),
        P::BackgroundSize | P::MaskSize => boxes::sizes(input),
        P::BorderTop | P::BorderRight | P::BorderBottom | P::BorderLeft | P::Outline => {
            boxes::edge(input, mode)
        }
        P::BoxShadow => boxes::shadow(input),
        P::ContainSize => {
            while input.next().is_ok() {}
            Ok(PropertyValue::Word("some"))
        }
        P::FlexBasis => match or(input, SIZE, false, true)? {
            PropertyValue::Word("none") => invalid(),
            value => Ok(value),
        },
        P::FlexDirection => words(input, boxes::DIRECTIONS),
        P::FlexWrap => words(input, boxes::WRAPS),
        P::Columns => {
            let mut some = false;
            while !input.is_exhausted() {
                some |= !matches!(or(input, &["auto"], false, false), Ok(PropertyValue::Word(_)));
            }
            Ok(PropertyValue::Word(if some { "some" } else { "auto" }))
        }
        P::TableLayout => words(input, &["auto", "fixed"]),
        P::VerticalAlign => {
            const LINES: &[&str] = &[
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
            or(input, LINES, true, true)
        }
        P::FlexGrow => number(input).map(PropertyValue::Amount),
        P::GridColumns | P::GridRows | P::GridRowsAuto => boxes::tracks(input),
        P::MaskMode => {
            let plain =
                |word: &str| matches!(word, "add" | "alpha" | "match-source" | "source-over");
            let words = input.parse_comma_separated(|input| {
                Ok::<_, ParseError<()>>(plain(&input.expect_ident()?.to_ascii_lowercase()))
            })?;
            Ok(PropertyValue::Word(if words.contains(&false) { "some" } else { "none" }))
        }
        P::OutlineOffset => length(input, true, false, false).map(PropertyValue::Amount),
        P::PaintOrder => {
            let first = words(input, &["normal", "fill", "stroke", "markers"])?;
            while input.try_parse(cssparser::Parser::expect_ident_cloned).is_ok() {}
            Ok(first)
        }
        P::Spacing | P::WordSpacing => or(input, &["normal"], true, true),
        P::StrokeColor => paint(input, false).map(PropertyValue::Paint),
        P::StrokeWidth => boxes::thickness(input, mode).map(PropertyValue::Amount),
        P::DrawnStroke => match input.try_parse(|input| word(input, &["none"])) {
            Ok(_) => Ok(PropertyValue::Paint(WrittenColour::Rgba(super::color::CLEAR))),
            Err(_) => paint(input, false).map(PropertyValue::Paint),
        },
        P::DrawnWidth => match input.try_parse(|input| length(input, false, true, false)) {
            Ok(width) => Ok(PropertyValue::Amount(width)),
            Err(_) => number(input).map(PropertyValue::Amount),
        },
        P::ColorScheme => {
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
        P::MaskPlace => Ok(PropertyValue::Word(if boxes::is_far(input) { "far" } else { "near" })),
        P::TransformOrigin => function::origin(input).map(PropertyValue::Calls),
        P::TransformStyle => words(input, &["flat", "preserve-3d"]),
        P::WillChange => {
            const HOLD: &[&str] = &[
                "backdrop-filter", "filter", "perspective", "rotate", "scale", "transform",
                "translate",
            ];
            let words = input.parse_comma_separated(|input| {
                let word = input.expect_ident()?.to_ascii_lowercase();
                Ok::<_, ParseError<()>>(HOLD.contains(&word.as_str()))
            })?;
            Ok(PropertyValue::Word(if words.contains(&true) { "holds" } else { "auto" }))
        }
        P::All => invalid(),
    }
}

/// Reads a number, a percentage, a word, or the length of a `line-height`.
fn loose(property: CssProperty, input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    if property == CssProperty::AnimationCount {
        let counts: Vec<Box<str>> = input.parse_comma_separated(|input| {
            let endless = input.try_parse(|i| i.expect_ident_matching("infinite")).is_ok();
            if endless { Ok("infinite".into()) } else { number(input).map(|_| "1".into()) }
        })?;
        return Ok(PropertyValue::Names(counts.into()));
    }
    if let Ok(word) = input.try_parse(|input| word(input, &["normal", "reset"])) {
        return Ok(PropertyValue::Word(word));
    }
    let read = amount(input)?;
    let length = property == CssProperty::LineHeight && read.kind() == NumberKind::Length;
    let fits = length || matches!(read.kind(), NumberKind::Number | NumberKind::Percent);
    if fits && !read.is_negative() { Ok(PropertyValue::Amount(read)) } else { invalid() }
}

/// Reads `display`, in one word or two.
fn display(input: &mut Parser<'_>) -> ParseResult<PropertyValue> {
    let first = word(input, DISPLAY)?;
    if input.is_exhausted() {
        return Ok(PropertyValue::Word(first));
    }
    let second = word(input, DISPLAY)?;
    let both = [first, second];
    let has = |name: &str| both.contains(&name);
    if has("list-item") && (has("block") || has("inline") || has("flow") || has("flow-root")) {
        return Ok(PropertyValue::Word("list-item"));
    }
    let outer = if has("inline") { 1 } else { 0 };
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

/// Reads one of `words` for each layer; "text" only if it is the word of every layer.
fn layers(input: &mut Parser<'_>, words: &[&'static str]) -> ParseResult<&'static str> {
    let read = input.parse_comma_separated(|input| word(input, words))?;
    // If only some layers are cut to the text, the others still paint the box.
    let text = !read.is_empty() && read.iter().all(|word| *word == "text");
    Ok(if text { "text" } else { "border-box" })
}

/// Reads `background`.
fn background(
    input: &mut Parser<'_>,
    mode: ValueMode,
    out: &mut Vec<(CssProperty, PropertyValue)>,
) -> ParseResult<()> {
    let mut color = None;
    let mut text = true;
    let images = input.parse_comma_separated(|input| {
        let mut image = None;
        let mut clips = false;
        let mut any = false;
        let mut nothing = false;
        let start = input.state();
        let beside = boxes::is_beside(input);
        input.reset(&start);
        while !input.is_exhausted() {
            any = true;
            if image.is_none()
                && let Ok(found) = input.try_parse(function::image)
            {
                image = Some(found);
            } else if color.is_none()
                && let Ok(found) = input.try_parse(|input| paint(input, mode.quirks))
            {
                color = Some(found);
            } else if input.try_parse(|input| input.expect_ident_matching("text")).is_ok() {
                clips = true;
            } else {
                nothing |= function::placing(input)?;
            }
        }
        text &= clips;
        let image = image.map(|image| match image {
            _ if nothing => CssImage::None,
            // A gradient that is small or away from the text may not be its ground, like a picture.
            CssImage::Gradient(_) if beside => CssImage::Picture,
            image => image,
        });
        if any { Ok(image.unwrap_or(CssImage::None)) } else { invalid() }
    })?;
    out.push((CssProperty::BackgroundImage, PropertyValue::Images(images.into())));
    let clip = if text { "text" } else { "border-box" };
    out.push((CssProperty::BackgroundClip, PropertyValue::Word(clip)));
    let color = color.unwrap_or(WrittenColour::Rgba(super::color::CLEAR));
    out.push((CssProperty::BackgroundColor, PropertyValue::Paint(color)));
    out.push((CssProperty::BackgroundSize, PropertyValue::Word("some")));
    Ok(())
}

/// Reads `font`.
fn font(
    input: &mut Parser<'_>,
    mode: ValueMode,
    out: &mut Vec<(CssProperty, PropertyValue)>,
) -> ParseResult<()> {
    const SYSTEM: &[&str] =
        &["caption", "icon", "menu", "message-box", "small-caption", "status-bar"];
    let plain =
        |out: &mut Vec<(CssProperty, PropertyValue)>, size: PropertyValue, line: PropertyValue| {
            out.push((CssProperty::FontSize, size));
            out.push((CssProperty::LineHeight, line));
            out.push((CssProperty::SizeAdjust, PropertyValue::Word("none")));
        };
    let system = input.try_parse(|input| {
        word(input, SYSTEM)?;
        Ok::<_, ParseError<()>>(input.expect_exhausted()?)
    });
    if system.is_ok() {
        plain(
            out,
            PropertyValue::Amount(WrittenNumber::pixels(13.33)),
            PropertyValue::Word("normal"),
        );
        return Ok(());
    }
    // Style, variant, weight and width come before the size, in any order; `oblique` may have an
    // angle.
    for _ in 0..5 {
        const BEFORE: &[&str] = &[
            "normal", "italic", "oblique", "bold", "bolder", "lighter", "small-caps", "condensed",
            "expanded", "semi-condensed", "semi-expanded", "extra-condensed", "extra-expanded",
            "ultra-condensed", "ultra-expanded",
        ];
        let weight = |input: &mut Parser<'_>| match input.next()? {
            Token::Number { value, .. } if (1.0..=1000.0).contains(value) => Ok(()),
            Token::Dimension { unit, .. } if unit.eq_ignore_ascii_case("deg") => Ok(()),
            _ => invalid(),
        };
        if input.try_parse(|input| word(input, BEFORE)).is_err() && input.try_parse(weight).is_err()
        {
            break;
        }
    }
    let size = one(CssProperty::FontSize, input, ValueMode { quirks: false, ..mode })?;
    let mut line = PropertyValue::Word("normal");
    if input.try_parse(|input| input.expect_delim('/')).is_ok() {
        line = loose(CssProperty::LineHeight, input)?;
    }
    // `font` is invalid without a family.
    input.expect_ident_or_string()?;
    while input.next().is_ok() {}
    plain(out, size, line);
    Ok(())
}

/// Returns a time in seconds, as text; `None` for other kinds.
fn seconds(time: &WrittenNumber) -> Option<Box<str>> {
    let time = time.compute(&super::value::UnitScale::page());
    (time.kind == NumberKind::Time).then(|| time.n.to_string().into())
}

/// Reads `animation`.
fn animation(
    input: &mut Parser<'_>,
    out: &mut Vec<(CssProperty, PropertyValue)>,
) -> ParseResult<()> {
    let all = input.parse_comma_separated(|input| {
        let [mut name, mut fill, mut count, mut state, timeline] =
            ["none", "none", "1", "running", "auto"].map(Box::<str>::from);
        let mut times: Vec<Box<str>> = Vec::new();
        while let Ok(token) = input.next().cloned() {
            match token {
                Token::Number { .. } => count = "1".into(),
                Token::QuotedString(text) => name = text.as_ref().into(),
                Token::Ident(text) => match text.to_ascii_lowercase().as_str() {
                    word @ ("forwards" | "backwards" | "both") => fill = word.into(),
                    "infinite" => count = "infinite".into(),
                    word @ ("paused" | "running") => state = word.into(),
                    "normal" | "reverse" | "alternate" | "alternate-reverse" | "linear"
                    | "ease" | "ease-in" | "ease-out" | "ease-in-out" | "step-start"
                    | "step-end" | "none" | "auto" => {}
                    _ => name = text.as_ref().into(),
                },
                Token::Dimension { value, unit, .. } => {
                    let n = if unit.eq_ignore_ascii_case("ms") { value / 1000.0 } else { value };
                    times.push(n.to_string().into());
                }
                Token::Function(name)
                    if matches!(
                        &*name.to_ascii_lowercase(),
                        "cubic-bezier" | "steps" | "linear" | "calc"
                    ) => {}
                _ => return invalid(),
            }
        }
        // The first time is the duration, the second the delay.
        times.resize(2, "0".into());
        Ok([vec![name, fill, count, state], times, vec![timeline]].concat())
    })?;
    for (at, property) in ANIMATION.iter().enumerate() {
        let values: Vec<Box<str>> = all.iter().filter_map(|one| one.get(at).cloned()).collect();
        out.push((*property, PropertyValue::Names(values.into())));
    }
    Ok(())
}
