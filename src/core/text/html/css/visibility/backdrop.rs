//! What is behind text, and whether text in its colour can be distinguished from it.

use std::rc::Rc;

use super::super::style::computed::ComputedStyle;
use super::super::values::color::{BLACK, CLEAR, Rgba, WHITE, WrittenColour, distance, over};
use super::super::values::property::{CssImage, CssProperty, PropertyValue};

/// Colours nearer to each other than this cannot be distinguished: `#f4f4f4` on white is
/// not seen, `#eee` is.
const ALIKE: f32 = 0.04;
/// The same for each of red, green and blue; `#0a0a0a` on black is not seen.
const NEAR: f32 = 0.045;
/// Text nearer than this to its ground is easily overlooked: `#eee` on white, not `#ddd`.
const PALE: f32 = 0.075;

/// A page in the dark.
const DARK: Rgba = [0.07, 0.07, 0.07, 1.0];

/// The most colours of a ground that are looked at.
const MAX_COLORS: usize = 256;

/// A change of all colours in an element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColourFilter {
    pub name: &'static str,
    pub by: f32,
}

/// What is behind text.
#[derive(Debug, Clone)]
pub struct TextBackdrop {
    /// Its colours: one, or those of a gradient.
    colors: Rc<[Rgba]>,
    /// True under a picture; the colours are what is below it.
    picture: bool,
    /// True if one of its colours is not computed.
    unknown: bool,
    /// How many tints there were around what was painted last.
    tints: usize,
}

/// How a text stands out from what is behind it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextContrast {
    Seen,
    /// Only by who looks for it.
    Pale,
    Lost,
    /// On a picture, or on a part of a gradient.
    Picture,
    Unknown,
}

impl TextBackdrop {
    /// Returns the white page.
    pub fn page() -> Self {
        Self { colors: Rc::new([WHITE]), picture: false, unknown: false, tints: 0 }
    }

    /// Returns the page of a dark scheme.
    pub fn dark() -> Self {
        Self { colors: Rc::new([DARK]), ..Self::page() }
    }

    /// Returns what is behind the text of an element, and whether it covers all below.
    pub fn of(&self, look: &ComputedStyle, tints: usize) -> (Self, bool) {
        let mut ground = self.clone();
        let mut covers = false;
        match look.get(CssProperty::BackgroundColor) {
            Some(PropertyValue::Paint(paint)) => match look.paint(paint) {
                Some(rgba) => covers |= ground.paint(rgba, tints),
                None => {
                    ground.unknown = true;
                    ground.tints = tints;
                }
            },
            _ if look.images(CssProperty::BackgroundImage).is_empty() => return (ground, false),
            _ => {}
        }
        if look.is(CssProperty::BackgroundSize, "nothing") {
            return (ground, covers);
        }
        for image in look.images(CssProperty::BackgroundImage).iter().rev() {
            match image {
                CssImage::None => {}
                CssImage::Picture => ground.picture = true,
                CssImage::Gradient(stops) => {
                    let stops: Option<Vec<Rgba>> =
                        stops.iter().map(|stop| look.paint(stop)).collect();
                    let Some(stops) = stops else {
                        ground.unknown = true;
                        continue;
                    };
                    let opaque = stops.iter().all(|stop| is_opaque(*stop));
                    let below = ground.colors.first().copied().unwrap_or(WHITE);
                    covers |= opaque;
                    ground.picture &= !opaque;
                    ground.unknown &= !opaque;
                    let mut colors: Vec<Rgba> =
                        stops.into_iter().map(|stop| over(stop, below)).collect();
                    if !opaque {
                        colors.extend(ground.colors.iter().skip(1));
                    }
                    colors.dedup();
                    // Grounds in each other would have ever more.
                    ground.unknown |= colors.len() > MAX_COLORS;
                    colors.truncate(MAX_COLORS);
                    ground.colors = colors.into();
                    ground.tints = tints;
                }
            }
        }
        (ground, covers)
    }

    /// Lays a colour over it; true if that covers all.
    fn paint(&mut self, rgba: Rgba, tints: usize) -> bool {
        let [.., alpha] = rgba;
        if alpha == 0.0 {
            return false;
        }
        self.colors = self.colors.iter().map(|below| over(rgba, *below)).collect();
        self.tints = tints;
        let opaque = is_opaque(rgba);
        if opaque {
            (self.picture, self.unknown) = (false, false);
            self.colors = Rc::new([rgba]);
        }
        opaque
    }

    /// Returns its own colours, where text is cut out of it.
    pub fn colors(&self) -> Rc<[Rgba]> {
        Rc::clone(&self.colors)
    }

    /// Returns how text of a colour stands out, if all of it is as opaque as `alpha`.
    pub fn contrast(&self, ink: Rgba, alpha: f32, tints: &[ColourFilter]) -> TextContrast {
        let ink_tinted = tinted(ink, tints);
        let inside = tints.get(..self.tints.min(tints.len())).unwrap_or_default();
        // The ground is within the tints that were around when it was painted.
        let (mut lost, mut pale) = (0, 0);
        for below in self.colors.iter() {
            let below = tinted(*below, inside);
            let seen = over(ink_tinted, below);
            let apart = distance(seen, below) * alpha;
            lost += usize::from(apart < ALIKE || nearest(seen, below) * alpha < NEAR);
            pale += usize::from(apart < PALE);
        }
        match (lost, self.picture) {
            (0, _) if self.unknown => TextContrast::Unknown,
            (0, false) if pale == self.colors.len() => TextContrast::Pale,
            (0, _) => TextContrast::Seen,
            (_, true) => TextContrast::Picture,
            (_, false) if self.unknown => TextContrast::Unknown,
            (lost, false) if lost == self.colors.len() => TextContrast::Lost,
            _ => TextContrast::Picture,
        }
    }
}

/// Returns how far two colours are apart in red, green or blue.
fn nearest(one: Rgba, other: Rgba) -> f32 {
    one.iter().zip(other).take(3).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

fn is_opaque([.., alpha]: Rgba) -> bool {
    alpha > 0.97
}

/// Returns a colour as filters change it.
fn tinted(rgba: Rgba, tints: &[ColourFilter]) -> Rgba {
    tints.iter().fold(rgba, |[r, g, b, a], tint| {
        let by = tint.by;
        let grey = 0.2126 * r + 0.7152 * g + 0.0722 * b;
        let each = |one: f32| {
            match tint.name {
                "brightness" => one * by,
                "contrast" => (one - 0.5) * by + 0.5,
                "invert" => one * (1.0 - by) + (1.0 - one) * by,
                "grayscale" => one * (1.0 - by.min(1.0)) + grey * by.min(1.0),
                _ => one,
            }
            .clamp(0.0, 1.0)
        };
        [each(r), each(g), each(b), a]
    })
}

/// Returns the paint of text in an element, if it is computed. `drawn` is for SVG.
pub fn ink(look: &ComputedStyle, drawn: bool) -> Option<Rgba> {
    let property = if drawn { CssProperty::Fill } else { CssProperty::TextFill };
    let paint = match look.get(property) {
        Some(PropertyValue::Paint(paint)) => paint.clone(),
        Some(PropertyValue::Word("none")) => WrittenColour::Rgba(CLEAR),
        Some(PropertyValue::Unknown) => WrittenColour::Unknown,
        _ if drawn => WrittenColour::Rgba(BLACK),
        _ => WrittenColour::Current,
    };
    let [r, g, b, a] = look.paint(&paint)?;
    let opacity = look.size(CssProperty::FillOpacity).filter(|_| drawn);
    Some([r, g, b, a * opacity.map_or(1.0, |size| size.fraction().clamp(0.0, 1.0))])
}
