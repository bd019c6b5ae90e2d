//! The ground behind text, and its contrast with the text.

use std::rc::Rc;

use super::super::style::computed::ComputedStyle;
use super::super::values::color::{BLACK, CLEAR, Rgba, WHITE, WrittenColour, distance, over};
use super::super::values::property::{CssImage, CssProperty, PropertyValue};

/// Minimum distance of colours that can be distinguished: `#f4f4f4` on white is not seen, `#eee`
/// is.
const ALIKE: f32 = 0.04;
/// The same for each of red, green and blue; `#0a0a0a` on black is not seen.
const NEAR: f32 = 0.045;
/// Minimum distance of text that is not easily overlooked: `#ddd` on white, but not `#eee`.
const PALE: f32 = 0.075;

/// The canvas of a dark scheme.
const DARK: Rgba = [0.07, 0.07, 0.07, 1.0];

/// Maximum number of colours of a ground.
const MAX_COLORS: usize = 256;

/// A filter that changes all colours in an element.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColourFilter {
    pub name: &'static str,
    pub by: f32,
}

/// The ground behind text.
#[derive(Debug, Clone)]
pub struct TextBackdrop {
    /// Its colours: one, or several of gradients.
    colors: Rc<[Rgba]>,
    /// True under a picture; the colours are below it.
    picture: bool,
    /// True if one of its colours could not be computed.
    unknown: bool,
    /// The number of tints around the layer painted last.
    tints: usize,
}

/// The contrast of a text with its ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextContrast {
    Seen,
    /// Seen only by readers who look for it.
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

    /// Returns the ground of the text in an element, and true if it covers everything below.
    pub fn painted_with(&self, style: &ComputedStyle, tints: usize) -> (Self, bool) {
        let mut ground = self.clone();
        let mut covers = false;
        match style.get(CssProperty::BackgroundColor) {
            Some(PropertyValue::Paint(paint)) => {
                if let Some(rgba) = style.paint(paint) {
                    covers |= ground.paint(rgba, tints);
                } else {
                    ground.unknown = true;
                    ground.tints = tints;
                }
            }
            _ if style.images(CssProperty::BackgroundImage).is_empty() => return (ground, false),
            _ => {}
        }
        if style.is(CssProperty::BackgroundSize, "nothing") {
            return (ground, covers);
        }
        // Layers are painted from the last to the first.
        for image in style.images(CssProperty::BackgroundImage).iter().rev() {
            match image {
                CssImage::None => {}
                CssImage::Picture => ground.picture = true,
                CssImage::Gradient(stops) => {
                    let stops: Option<Vec<Rgba>> =
                        stops.iter().map(|stop| style.paint(stop)).collect();
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
                    // Nested backgrounds would add colours without limit.
                    ground.unknown |= colors.len() > MAX_COLORS;
                    colors.truncate(MAX_COLORS);
                    ground.colors = colors.into();
                    ground.tints = tints;
                }
            }
        }
        (ground, covers)
    }

    /// Paints a colour over it; returns true if that covers everything below.
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

    /// Returns its colours, for cut-out text.
    pub fn colors(&self) -> Rc<[Rgba]> {
        Rc::clone(&self.colors)
    }

    /// Returns the contrast of text in the colour `ink`, with the opacity `alpha`.
    pub fn contrast(&self, ink: Rgba, alpha: f32, tints: &[ColourFilter]) -> TextContrast {
        let ink_tinted = tinted(ink, tints);
        let inside = tints.get(..self.tints.min(tints.len())).unwrap_or_default();
        // Only the tints around the painted layer change the ground.
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

/// Returns the largest difference of two colours in red, green or blue.
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

/// Returns the colour of text in an element, or `None` if it is unknown. `drawn` is true for SVG.
pub fn ink(style: &ComputedStyle, drawn: bool) -> Option<Rgba> {
    let property = if drawn { CssProperty::Fill } else { CssProperty::TextFill };
    let paint = match style.get(property) {
        Some(PropertyValue::Paint(paint)) => paint.clone(),
        Some(PropertyValue::Word("none")) => WrittenColour::Rgba(CLEAR),
        Some(PropertyValue::Unknown) => WrittenColour::Unknown,
        _ if drawn => WrittenColour::Rgba(BLACK),
        _ => WrittenColour::Current,
    };
    let [r, g, b, a] = style.paint(&paint)?;
    let opacity = style.size(CssProperty::FillOpacity).filter(|_| drawn);
    Some([r, g, b, a * opacity.map_or(1.0, |size| size.fraction().clamp(0.0, 1.0))])
}
