//! The ground behind text, and its contrast with the text.

use std::rc::Rc;

use super::super::style::computed::ComputedStyle;
use super::super::values::color::{Rgba, WHITE, distance, over};
use super::super::values::property::{CssImage, CssProperty, PropertyValue};

/// Minimum distance of colours that can be distinguished: `#f4f4f4` on white is not seen, `#eee`
/// is.
const ALIKE: f32 = 0.04;
/// The same for each of red, green and blue; `#0a0a0a` on black is not seen.
const NEAR: f32 = 0.045;
/// Minimum distance of text that is not easily overlooked: `#ddd` on white, but not `#eee`.
const PALE: f32 = 0.075;

/// Maximum number of colours of a ground.
const MAX_COLORS: usize = 256;

/// The ground behind text.
#[derive(Debug, Clone)]
pub struct TextBackdrop {
    /// Its colours: one, or several of gradients.
    colors: Rc<[Rgba]>,
    /// True under a picture; the colours are below it.
    picture: bool,
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
}

impl TextBackdrop {
    /// Returns the white page.
    pub fn page() -> Self {
        Self { colors: Rc::new([WHITE]), picture: false }
    }

    /// Returns the ground of the text in an element, and true if it covers everything below.
    pub fn painted_with(&self, style: &ComputedStyle) -> (Self, bool) {
        let mut ground = self.clone();
        let mut covers = false;
        if let Some(PropertyValue::Paint(paint)) = style.get(CssProperty::BackgroundColor) {
            covers |= ground.paint(style.paint(paint));
        }
        // Layers are painted from the last to the first.
        for image in style.images(CssProperty::BackgroundImage).iter().rev() {
            match image {
                CssImage::None => {}
                CssImage::Picture => ground.picture = true,
                CssImage::Gradient(stops) => {
                    let stops: Vec<Rgba> = stops.iter().map(|stop| style.paint(stop)).collect();
                    covers |= ground.paint_gradient(stops);
                }
            }
        }
        (ground, covers)
    }

    /// Paints a colour over it; returns true if that covers everything below.
    fn paint(&mut self, rgba: Rgba) -> bool {
        if is_opaque(rgba) {
            *self = Self { colors: Rc::new([rgba]), picture: false };
            return true;
        }
        self.colors = self.colors.iter().map(|below| over(rgba, *below)).collect();
        false
    }

    /// Paints a gradient over it; returns true if that covers everything below.
    fn paint_gradient(&mut self, stops: Vec<Rgba>) -> bool {
        let opaque = stops.iter().all(|stop| is_opaque(*stop));
        let below = self.colors.first().copied().unwrap_or(WHITE);
        let mut colors: Vec<Rgba> = stops.into_iter().map(|stop| over(stop, below)).collect();
        if !opaque {
            colors.extend(self.colors.iter().skip(1));
        }
        colors.dedup();
        // Nested backgrounds would add colours without limit.
        self.picture = self.picture && !opaque || colors.len() > MAX_COLORS;
        colors.truncate(MAX_COLORS);
        self.colors = colors.into();
        opaque
    }

    /// Returns the number of its colours.
    pub fn len(&self) -> usize {
        self.colors.len()
    }

    /// Returns the contrast of text in the colour `ink`, with the opacity `alpha`.
    pub fn contrast(&self, ink: Rgba, alpha: f32) -> TextContrast {
        let (mut lost, mut pale) = (0, 0);
        for below in self.colors.iter() {
            let seen = over(ink, *below);
            let apart = distance(seen, *below) * alpha;
            lost += usize::from(apart < ALIKE || nearest(seen, *below) * alpha < NEAR);
            pale += usize::from(apart < PALE);
        }
        match (lost, self.picture) {
            (0, false) if pale == self.colors.len() => TextContrast::Pale,
            (0, _) => TextContrast::Seen,
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
