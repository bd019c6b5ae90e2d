//! The properties that decide whether text is seen, by name.
//!
//! Their grammar is in `grammar` and `single`, their computed values in `style` and `visibility`.

use std::sync::Arc;

use super::color::WrittenColour;
use super::value::{ComputedNumber, WrittenNumber};

/// A property with one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CssProperty {
    AnimationCount,
    AnimationDelay,
    AnimationFill,
    AnimationLength,
    AnimationName,
    AnimationState,
    AnimationTimeline,
    AspectRatio,
    Backdrop,
    Backface,
    BackgroundClip,
    BackgroundColor,
    BackgroundImage,
    BackgroundSize,
    Blend,
    BorderBottom,
    BorderLeft,
    BorderRight,
    BorderTop,
    Bottom,
    BoxShadow,
    BoxSizing,
    Clear,
    Clip,
    ClipMargin,
    ClipPath,
    Color,
    ColorScheme,
    Columns,
    ContainerType,
    Contain,
    ContainSize,
    Content,
    ContentVisibility,
    Direction,
    DrawnStroke,
    DrawnWidth,
    Display,
    Fill,
    FillOpacity,
    Filter,
    FlexBasis,
    FlexDirection,
    FlexGrow,
    FlexWrap,
    Float,
    FontSize,
    GridColumns,
    GridRows,
    GridRowsAuto,
    Height,
    Left,
    LineClamp,
    LineHeight,
    ListStyle,
    MarginBottom,
    MarginLeft,
    MarginRight,
    MarginTop,
    Mask,
    MaskMode,
    MaskPlace,
    MaskSize,
    MaxHeight,
    MaxWidth,
    MinHeight,
    MinWidth,
    OffsetPath,
    Opacity,
    Outline,
    OutlineOffset,
    OverflowX,
    OverflowY,
    PaddingBottom,
    PaddingLeft,
    PaddingRight,
    PaddingTop,
    PaintOrder,
    Perspective,
    Position,
    Right,
    Rotate,
    Scale,
    SizeAdjust,
    Spacing,
    Strike,
    StrikeWidth,
    StrokeColor,
    StrokeWidth,
    TableLayout,
    TextFill,
    TextIndent,
    TextSecurity,
    TextShadow,
    Top,
    Transform,
    TransformOrigin,
    TransformStyle,
    Translate,
    UnicodeBidi,
    VerticalAlign,
    Visibility,
    WhiteSpace,
    WhiteSpaceCollapse,
    Width,
    WillChange,
    WordSpacing,
    ZIndex,
    Zoom,
    /// The shorthand `all`.
    All,
}

/// The keywords that every property accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WideKeyword {
    Inherit,
    Initial,
    Unset,
}

/// A function with numeric arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct NumericFunction {
    pub name: &'static str,
    pub args: Vec<WrittenNumber>,
}

/// An image of a background or a mask.
#[derive(Debug, Clone, PartialEq)]
pub enum CssImage {
    None,
    /// The colours of a gradient.
    Gradient(Vec<WrittenColour>),
    Picture,
}

/// The value of a property.
#[derive(Debug, Clone, PartialEq)]
pub enum PropertyValue {
    Wide(WideKeyword),
    /// A valid value that is not computed.
    Unknown,
    Word(&'static str),
    Amount(WrittenNumber),
    Paint(WrittenColour),
    Images(Arc<[CssImage]>),
    Calls(Arc<[NumericFunction]>),
    Names(Arc<[Box<str>]>),
    /// A computed number.
    Size(ComputedNumber),
}

impl PropertyValue {
    /// Returns the work of computing the value for an element, beyond a word's.
    pub fn weight(&self) -> usize {
        match self {
            Self::Amount(amount) => amount.weight(),
            Self::Paint(paint) => paint.weight(),
            Self::Images(images) => images
                .iter()
                .map(|image| match image {
                    CssImage::Gradient(stops) => stops.iter().map(|stop| 1 + stop.weight()).sum(),
                    _ => 1,
                })
                .sum(),
            Self::Calls(calls) => calls
                .iter()
                .map(|call| 8 + call.args.iter().map(|arg| 1 + arg.weight()).sum::<usize>())
                .sum(),
            Self::Names(names) => names.len(),
            _ => 0,
        }
    }
}

/// The rules by which values are read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ValueMode {
    /// True for a document in quirks mode.
    pub quirks: bool,
    /// True for declarations in an attribute.
    pub inline: bool,
}

const INSET: &[CssProperty] =
    &[CssProperty::Top, CssProperty::Right, CssProperty::Bottom, CssProperty::Left];
const MARGIN: &[CssProperty] = &[
    CssProperty::MarginTop,
    CssProperty::MarginRight,
    CssProperty::MarginBottom,
    CssProperty::MarginLeft,
];
const PADDING: &[CssProperty] = &[
    CssProperty::PaddingTop,
    CssProperty::PaddingRight,
    CssProperty::PaddingBottom,
    CssProperty::PaddingLeft,
];
const BACKGROUND: &[CssProperty] = &[
    CssProperty::BackgroundImage,
    CssProperty::BackgroundClip,
    CssProperty::BackgroundColor,
    CssProperty::BackgroundSize,
];
const BORDER: &[CssProperty] = &[
    CssProperty::BorderTop,
    CssProperty::BorderRight,
    CssProperty::BorderBottom,
    CssProperty::BorderLeft,
];
pub const FLEX: &[CssProperty] = &[CssProperty::FlexGrow, CssProperty::FlexBasis];
pub const MASK: &[CssProperty] = &[CssProperty::Mask, CssProperty::MaskSize];
pub const STROKE: &[CssProperty] = &[CssProperty::StrokeWidth, CssProperty::StrokeColor];
pub const STRIKE: &[CssProperty] = &[CssProperty::Strike, CssProperty::StrikeWidth];
pub const ANIMATION: &[CssProperty] = &[
    CssProperty::AnimationName,
    CssProperty::AnimationFill,
    CssProperty::AnimationCount,
    CssProperty::AnimationState,
    CssProperty::AnimationLength,
    CssProperty::AnimationDelay,
    CssProperty::AnimationTimeline,
];

/// Returns the properties that a name in lower case sets; empty if it cannot hide text.
pub fn properties_of(name: &str) -> &'static [CssProperty] {
    use CssProperty as P;
    match name {
        "all" => &[P::All],
        "animation" | "-webkit-animation" => ANIMATION,
        "animation-delay" | "-webkit-animation-delay" => &[P::AnimationDelay],
        "animation-duration" | "-webkit-animation-duration" => &[P::AnimationLength],
        "animation-timeline" => &[P::AnimationTimeline],
        "animation-fill-mode" | "-webkit-animation-fill-mode" => &[P::AnimationFill],
        "animation-iteration-count" | "-webkit-animation-iteration-count" => &[P::AnimationCount],
        "animation-name" | "-webkit-animation-name" => &[P::AnimationName],
        "animation-play-state" | "-webkit-animation-play-state" => &[P::AnimationState],
        "aspect-ratio" => &[P::AspectRatio],
        "backdrop-filter" | "-webkit-backdrop-filter" => &[P::Backdrop],
        "backface-visibility" | "-webkit-backface-visibility" => &[P::Backface],
        "background" => BACKGROUND,
        "background-clip" | "-webkit-background-clip" => &[P::BackgroundClip],
        "background-color" => &[P::BackgroundColor],
        "background-image" => &[P::BackgroundImage],
        "background-size" | "-webkit-background-size" => &[P::BackgroundSize],
        "border" | "border-width" => BORDER,
        "border-bottom" | "border-bottom-width" => &[P::BorderBottom],
        "border-left" | "border-left-width" => &[P::BorderLeft],
        "border-right" | "border-right-width" => &[P::BorderRight],
        "border-top" | "border-top-width" => &[P::BorderTop],
        // Logical names are mapped as in horizontal text from left to right.
        "bottom" | "inset-block-end" => &[P::Bottom],
        "box-shadow" | "-webkit-box-shadow" => &[P::BoxShadow],
        "box-sizing" | "-webkit-box-sizing" => &[P::BoxSizing],
        "overflow-clip-margin" => &[P::ClipMargin],
        "clear" => &[P::Clear],
        "clip" => &[P::Clip],
        "clip-path" | "-webkit-clip-path" => &[P::ClipPath],
        "color" => &[P::Color],
        "color-scheme" => &[P::ColorScheme],
        "columns"
        | "column-count"
        | "column-width"
        | "-webkit-columns"
        | "-webkit-column-count"
        | "-webkit-column-width" => &[P::Columns],
        "contain" => &[P::Contain],
        "contain-intrinsic-size" | "contain-intrinsic-height" => &[P::ContainSize],
        "container-type" => &[P::ContainerType],
        "content" => &[P::Content],
        "content-visibility" => &[P::ContentVisibility],
        "direction" => &[P::Direction],
        "display" => &[P::Display],
        "fill" => &[P::Fill],
        "fill-opacity" => &[P::FillOpacity],
        "filter" | "-webkit-filter" => &[P::Filter],
        "flex" | "-webkit-flex" => FLEX,
        "flex-basis" | "-webkit-flex-basis" => &[P::FlexBasis],
        "flex-direction" => &[P::FlexDirection],
        "flex-flow" => &[P::FlexDirection, P::FlexWrap],
        "flex-grow" | "-webkit-flex-grow" => &[P::FlexGrow],
        "flex-wrap" | "-webkit-flex-wrap" => &[P::FlexWrap],
        "float" => &[P::Float],
        "font" => &[P::FontSize, P::LineHeight, P::SizeAdjust],
        "font-size" => &[P::FontSize],
        "font-size-adjust" => &[P::SizeAdjust],
        "grid" | "grid-template" => &[P::GridRows, P::GridColumns],
        "grid-auto-rows" => &[P::GridRowsAuto],
        "grid-template-columns" => &[P::GridColumns],
        "grid-template-rows" => &[P::GridRows],
        "height" | "block-size" => &[P::Height],
        "inset" => INSET,
        "inset-block" => &[P::Top, P::Bottom],
        "inset-inline" => &[P::Left, P::Right],
        "left" | "inset-inline-start" => &[P::Left],
        "letter-spacing" => &[P::Spacing],
        "line-clamp" | "-webkit-line-clamp" => &[P::LineClamp],
        "line-height" => &[P::LineHeight],
        "list-style" | "list-style-type" => &[P::ListStyle],
        "margin" => MARGIN,
        "margin-block" => &[P::MarginTop, P::MarginBottom],
        "margin-bottom" | "margin-block-end" => &[P::MarginBottom],
        "margin-inline" => &[P::MarginLeft, P::MarginRight],
        "margin-left" | "margin-inline-start" | "-webkit-margin-start" => &[P::MarginLeft],
        "margin-right" | "margin-inline-end" | "-webkit-margin-end" => &[P::MarginRight],
        "margin-top" | "margin-block-start" => &[P::MarginTop],
        "mask" | "-webkit-mask" => MASK,
        "mask-image" | "-webkit-mask-image" | "-webkit-mask-box-image" => &[P::Mask],
        "mask-composite" | "-webkit-mask-composite" | "mask-mode" => &[P::MaskMode],
        "mask-position" | "-webkit-mask-position" => &[P::MaskPlace],
        "mask-size" | "-webkit-mask-size" => &[P::MaskSize],
        "max-height" | "max-block-size" => &[P::MaxHeight],
        "max-width" | "max-inline-size" => &[P::MaxWidth],
        "min-height" | "min-block-size" => &[P::MinHeight],
        "min-width" | "min-inline-size" => &[P::MinWidth],
        "mix-blend-mode" => &[P::Blend],
        "offset-path" | "offset" => &[P::OffsetPath],
        "opacity" | "-webkit-opacity" => &[P::Opacity],
        "outline" | "outline-width" => &[P::Outline],
        "outline-offset" => &[P::OutlineOffset],
        "overflow" => &[P::OverflowX, P::OverflowY],
        "overflow-x" | "overflow-inline" => &[P::OverflowX],
        "overflow-y" | "overflow-block" => &[P::OverflowY],
        "padding" => PADDING,
        "padding-block" => &[P::PaddingTop, P::PaddingBottom],
        "padding-bottom" | "padding-block-end" => &[P::PaddingBottom],
        "padding-inline" => &[P::PaddingLeft, P::PaddingRight],
        "padding-left" | "padding-inline-start" => &[P::PaddingLeft],
        "padding-right" | "padding-inline-end" => &[P::PaddingRight],
        "padding-top" | "padding-block-start" => &[P::PaddingTop],
        "paint-order" => &[P::PaintOrder],
        "perspective" | "-webkit-perspective" => &[P::Perspective],
        "position" => &[P::Position],
        "right" | "inset-inline-end" => &[P::Right],
        "rotate" => &[P::Rotate],
        "scale" => &[P::Scale],
        "table-layout" => &[P::TableLayout],
        "text-decoration" => STRIKE,
        "text-decoration-line" => &[P::Strike],
        "text-decoration-thickness" => &[P::StrikeWidth],
        "text-shadow" => &[P::TextShadow],
        "stroke" => &[P::DrawnStroke],
        "stroke-width" => &[P::DrawnWidth],
        "text-indent" => &[P::TextIndent],
        "-webkit-text-fill-color" => &[P::TextFill],
        "-webkit-text-stroke" => STROKE,
        "-webkit-text-stroke-color" => &[P::StrokeColor],
        "-webkit-text-stroke-width" => &[P::StrokeWidth],
        "-webkit-text-security" => &[P::TextSecurity],
        "text-wrap" | "text-wrap-mode" => &[P::WhiteSpace],
        "white-space" => &[P::WhiteSpace, P::WhiteSpaceCollapse],
        "white-space-collapse" => &[P::WhiteSpaceCollapse],
        "top" | "inset-block-start" => &[P::Top],
        "transform" | "-webkit-transform" => &[P::Transform],
        "transform-origin" | "-webkit-transform-origin" => &[P::TransformOrigin],
        "transform-style" | "-webkit-transform-style" => &[P::TransformStyle],
        "will-change" => &[P::WillChange],
        "translate" => &[P::Translate],
        "unicode-bidi" => &[P::UnicodeBidi],
        "vertical-align" => &[P::VerticalAlign],
        "visibility" => &[P::Visibility],
        "width" | "inline-size" => &[P::Width],
        "word-spacing" => &[P::WordSpacing],
        "z-index" => &[P::ZIndex],
        "zoom" => &[P::Zoom],
        _ => &[],
    }
}

/// Returns true for inherited properties.
pub fn is_inherited(property: CssProperty) -> bool {
    INHERITED.contains(&property)
}

/// The inherited properties, which `all` resets even if no other declaration names them.
pub const INHERITED: &[CssProperty] = &[
    CssProperty::Color,
    CssProperty::ColorScheme,
    CssProperty::Direction,
    CssProperty::DrawnStroke,
    CssProperty::DrawnWidth,
    CssProperty::Fill,
    CssProperty::FillOpacity,
    CssProperty::FontSize,
    CssProperty::LineHeight,
    CssProperty::ListStyle,
    CssProperty::PaintOrder,
    CssProperty::SizeAdjust,
    CssProperty::Spacing,
    CssProperty::StrokeColor,
    CssProperty::StrokeWidth,
    CssProperty::TextFill,
    CssProperty::TextIndent,
    CssProperty::TextSecurity,
    CssProperty::TextShadow,
    CssProperty::Visibility,
    CssProperty::WhiteSpace,
    CssProperty::WhiteSpaceCollapse,
    CssProperty::WordSpacing,
];
