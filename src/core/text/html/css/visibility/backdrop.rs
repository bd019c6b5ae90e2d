//! The ground behind text, and its contrast with the text.

use std::rc::Rc;

use super::super::style::computed::ComputedStyle;
use super::super::values::color::{Rgba, WHITE, over};
use super::super::values::property::{CssImage, CssProperty, PropertyValue};
use crate::text::visibility::{HidingMethod, Rgb, TextVisibility};

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

    /// Returns the visibility of text in the colour `ink`, with the opacity `alpha` and a size in
    /// points.
    pub fn contrast(&self, ink: Rgba, alpha: f32, size: f64) -> TextVisibility {
        let all = self.colors.iter().map(|below| {
            TextVisibility::of_colour(opaque(over(ink, *below)), opaque(*below), alpha, size)
        });
        let (least, most) = all.fold((None, TextVisibility::Seen), |(least, most), one| {
            (Some(least.map_or(one, |least| one.min(least))), one.max(most))
        });
        match least {
            // On a picture, or on a part of a gradient.
            Some(least) if most.is_hidden() && (self.picture || !least.is_hidden()) => {
                TextVisibility::Doubt(HidingMethod::Picture)
            }
            // A picture need not have the colours below it.
            Some(least) if !self.picture => least,
            _ => TextVisibility::Seen,
        }
    }
}

fn opaque([r, g, b, _]: Rgba) -> Rgb {
    [r, g, b]
}

fn is_opaque([.., alpha]: Rgba) -> bool {
    alpha > 0.97
}
