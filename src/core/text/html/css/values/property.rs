//! The properties that decide whether text is seen, by name.
//!
//! About forty are computed; their grammar is in [`grammar`](super::grammar). Of all
//! [others](super::other), it is only known whether they are set to a harmless value.

use std::sync::Arc;

use super::color::WrittenColour;
use super::value::{ComputedNumber, WrittenNumber};

/// A property with one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CssProperty {
    BackgroundColor,
    BackgroundImage,
    Bottom,
    Clear,
    Clip,
    ClipPath,
    Color,
    Content,
    Direction,
    Display,
    Float,
    FontSize,
    Height,
    Left,
    LineHeight,
    ListStyle,
    MarginBottom,
    MarginLeft,
    MarginRight,
    MarginTop,
    MaxHeight,
    MaxWidth,
    MinHeight,
    MinWidth,
    Opacity,
    OverflowX,
    OverflowY,
    PaddingBottom,
    PaddingLeft,
    PaddingRight,
    PaddingTop,
    Position,
    Right,
    Strike,
    TextIndent,
    Top,
    Transform,
    UnicodeBidi,
    Visibility,
    WhiteSpace,
    Width,
    ZIndex,
    /// The shorthand `all`.
    All,
    /// A property that can hide text in a way that is not computed.
    Other(&'static str),
}

/// Keywords of all properties; the others, such as `revert`, are not computed.
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

/// An image of a background.
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
    /// A value that is not computed: text in the element is in doubt.
    Unknown,
    Word(&'static str),
    Amount(WrittenNumber),
    Paint(WrittenColour),
    Images(Arc<[CssImage]>),
    Calls(Arc<[NumericFunction]>),
    /// A computed number.
    Size(ComputedNumber),
}

impl PropertyValue {
    /// Returns the work of computing the value for an element, beyond a word's.
    pub fn weight(&self) -> usize {
        match self {
            Self::Amount(amount) => amount.weight(),
            Self::Images(images) => images
                .iter()
                .map(|image| match image {
                    CssImage::Gradient(stops) => stops.len(),
                    _ => 1,
                })
                .sum(),
            Self::Calls(calls) => calls
                .iter()
                .map(|call| 8 + call.args.iter().map(|arg| 1 + arg.weight()).sum::<usize>())
                .sum(),
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

/// Returns the computed properties that a name in lower case sets; empty for all others.
pub fn properties_of(name: &str) -> &'static [CssProperty] {
    use CssProperty as P;
    match name {
        "all" => &[P::All],
        "background" => &[P::BackgroundColor, P::BackgroundImage],
        "background-color" => &[P::BackgroundColor],
        "background-image" => &[P::BackgroundImage],
        // Logical names are mapped as in horizontal text from left to right.
        "bottom" | "inset-block-end" => &[P::Bottom],
        "clear" => &[P::Clear],
        "clip" => &[P::Clip],
        "clip-path" | "-webkit-clip-path" => &[P::ClipPath],
        "color" => &[P::Color],
        "content" => &[P::Content],
        "direction" => &[P::Direction],
        "display" => &[P::Display],
        "float" => &[P::Float],
        "font" => &[P::FontSize, P::LineHeight],
        "font-size" => &[P::FontSize],
        "height" | "block-size" | "-webkit-logical-height" => &[P::Height],
        "inset" => INSET,
        "inset-block" => &[P::Top, P::Bottom],
        "inset-inline" => &[P::Left, P::Right],
        "left" | "inset-inline-start" => &[P::Left],
        "line-height" => &[P::LineHeight],
        "list-style" | "list-style-type" => &[P::ListStyle],
        "margin" => MARGIN,
        "margin-block" => &[P::MarginTop, P::MarginBottom],
        "margin-bottom" | "margin-block-end" | "-webkit-margin-after" => &[P::MarginBottom],
        "margin-inline" => &[P::MarginLeft, P::MarginRight],
        "margin-left" | "margin-inline-start" | "-webkit-margin-start" => &[P::MarginLeft],
        "margin-right" | "margin-inline-end" | "-webkit-margin-end" => &[P::MarginRight],
        "margin-top" | "margin-block-start" | "-webkit-margin-before" => &[P::MarginTop],
        "max-height" | "max-block-size" => &[P::MaxHeight],
        "max-width" | "max-inline-size" => &[P::MaxWidth],
        "min-height" | "min-block-size" => &[P::MinHeight],
        "min-width" | "min-inline-size" => &[P::MinWidth],
        "opacity" | "-webkit-opacity" => &[P::Opacity],
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
        "position" => &[P::Position],
        "right" | "inset-inline-end" => &[P::Right],
        "text-decoration" | "text-decoration-line" => &[P::Strike],
        "text-indent" => &[P::TextIndent],
        "top" | "inset-block-start" => &[P::Top],
        "transform" | "-webkit-transform" => &[P::Transform],
        "unicode-bidi" => &[P::UnicodeBidi],
        "visibility" => &[P::Visibility],
        "white-space" | "white-space-collapse" => &[P::WhiteSpace],
        "width" | "inline-size" | "-webkit-logical-width" => &[P::Width],
        "z-index" => &[P::ZIndex],
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
    CssProperty::Direction,
    CssProperty::FontSize,
    CssProperty::LineHeight,
    CssProperty::ListStyle,
    CssProperty::TextIndent,
    CssProperty::Visibility,
    CssProperty::WhiteSpace,
];
