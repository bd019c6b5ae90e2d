//! Ranks of declarations, and the declaration that wins for a property.

use std::borrow::Cow;

use super::super::sheets::select::MatchWork;
use super::super::values::property::{CssProperty, PropertyValue, WideKeyword, is_inherited};

/// Inherited properties, which `all` resets even if no other declaration names them.
const INHERITED: &[CssProperty] = &[
    CssProperty::Color,
    CssProperty::ColorScheme,
    CssProperty::Direction,
    CssProperty::DrawnStroke,
    CssProperty::DrawnWidth,
    CssProperty::Fill,
    CssProperty::FillOpacity,
    CssProperty::FontSize,
    CssProperty::LineHeight,
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

/// The precedence of a declaration: its origin, layer, specificity, proximity of scope, and
/// position.
pub type DeclarationRank = (CascadeTier, usize, u32, usize, usize);

/// The origin of a declaration, from the weakest to the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CascadeTier {
    Browser,
    Attribute,
    Author,
    Style,
    Animation,
    AuthorImportant,
    StyleImportant,
    BrowserImportant,
}

/// A declaration with its rank, after the substitution of custom properties.
pub type ResolvedDeclaration<'a> = (DeclarationRank, CssProperty, Cow<'a, PropertyValue>);

/// Returns the properties that declarations set, in the order in which they are computed.
pub fn in_order(declarations: &[ResolvedDeclaration<'_>]) -> Vec<CssProperty> {
    let mut properties: Vec<CssProperty> =
        declarations.iter().map(|(_, property, _)| *property).collect();
    if properties.contains(&CssProperty::All) {
        properties.extend(INHERITED);
    }
    properties.sort_unstable_by_key(|property| match property {
        // Other lengths depend on the font size, other colours on the colour of the text.
        CssProperty::FontSize | CssProperty::ColorScheme => (0, *property),
        CssProperty::Color => (1, *property),
        _ => (2, *property),
    });
    properties.dedup();
    properties.retain(|property| *property != CssProperty::All);
    properties
}

/// Returns the value that applies to a property, or `None` if no declaration is left.
pub fn winner<'v>(
    declarations: &'v [ResolvedDeclaration<'_>],
    property: CssProperty,
    work: &MatchWork,
) -> Option<&'v PropertyValue> {
    let mut left = declarations;
    loop {
        let about = |one: &(DeclarationRank, CssProperty, _)| {
            one.1 == property || one.1 == CssProperty::All
        };
        let at = left.iter().rposition(about)?;
        let (rank, _, value) = left.get(at)?;
        let below = |keep: &dyn Fn(&DeclarationRank) -> bool| {
            work.spend(left.len() / 8);
            let end = left.iter().position(|(rank, ..)| !keep(rank)).unwrap_or(at);
            left.get(..end.min(at)).unwrap_or_default()
        };
        left = match &**value {
            // In the browser's own sheet, `revert` acts as `unset` (CSS Cascade 5).
            PropertyValue::Wide(WideKeyword::Revert) if rank.0 <= CascadeTier::Browser => {
                return Some(if is_inherited(property) { &INHERIT } else { &INITIAL });
            }
            // Presentational attributes belong to the author's origin here, so they are reverted,
            // too.
            PropertyValue::Wide(WideKeyword::Revert) => {
                below(&|rank| rank.0 == CascadeTier::Browser)
            }
            PropertyValue::Wide(WideKeyword::RevertLayer) => {
                let own = (rank.0, rank.1);
                below(&|rank| (rank.0, rank.1) < own)
            }
            value => return Some(value),
        };
    }
}

static INHERIT: PropertyValue = PropertyValue::Wide(WideKeyword::Inherit);
static INITIAL: PropertyValue = PropertyValue::Wide(WideKeyword::Initial);
