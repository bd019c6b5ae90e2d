//! Contrast of text with its ground, by fill, stroke and shadow.

use super::super::style::computed::ComputedStyle;
use super::super::values::color::{CLEAR, over};
use super::super::values::property::{CssImage, CssProperty as P, PropertyValue};
use super::super::values::value::ComputedNumber;
use super::backdrop::{TextContrast, ink};
use super::walker::{ElementFrame, VisibilityWalker};

/// Minimum thickness of the strokes of glyphs, in font sizes.
const STEM: f32 = 0.1;

impl VisibilityWalker<'_> {
    pub(super) fn contrast(
        &self,
        frame: &ElementFrame,
        style: &ComputedStyle,
        drawn: bool,
    ) -> TextContrast {
        let colors = frame.cut_out.as_deref().map_or(1, <[_]>::len) * frame.ground.colors().len();
        if colors * (1 + frame.tints.len()) > 1
            && !self.cascade.spend(colors * (1 + frame.tints.len()))
        {
            return TextContrast::Unknown;
        }
        let Some(ink) = ink(style, drawn) else { return TextContrast::Unknown };
        let (width, color) =
            if drawn { (P::DrawnWidth, P::DrawnStroke) } else { (P::StrokeWidth, P::StrokeColor) };
        // In SVG, a stroke without a width is one pixel wide.
        let thin = drawn.then_some(ComputedNumber::number(1.0));
        if let Some(stroke) = style.size(width).or(thin).filter(|width| width.n > 0.0) {
            let paint = match style.get(color) {
                Some(PropertyValue::Paint(paint)) => style.paint(paint),
                _ if drawn => Some(CLEAR),
                _ => style.color,
            };
            let Some(paint) = paint else { return TextContrast::Unknown };
            let (seen, [.., alpha]) =
                (frame.ground.contrast(paint, frame.alpha, &frame.tints), paint);
            // The stroke is painted over the glyph, half of it inside.
            let within = stroke.n >= style.font * STEM && !style.is(P::PaintOrder, "stroke");
            if seen != TextContrast::Lost && stroke.n >= 0.5 || within && alpha > 0.5 {
                return seen;
            }
        }
        // A legible shadow is enough, even if the text has the colour of its ground.
        for shadow in style.images(P::TextShadow) {
            let CssImage::Gradient(colors) = shadow else { continue };
            let color = colors.first().map(|color| style.paint(color));
            let seen =
                color.flatten().map(|ink| frame.ground.contrast(ink, frame.alpha, &frame.tints));
            if let Some(seen @ (TextContrast::Seen | TextContrast::Pale | TextContrast::Picture)) =
                seen
            {
                return seen;
            }
        }
        let through = frame.cut_out.as_deref().unwrap_or(&[]);
        let seen = |ink| frame.ground.contrast(ink, frame.alpha, &frame.tints);
        if through.is_empty() {
            return seen(ink);
        }
        // The background is seen through the text, so each of its colours has to be lost.
        let all: Vec<TextContrast> = through.iter().map(|below| seen(over(ink, *below))).collect();
        match all.iter().find(|one| **one != TextContrast::Lost) {
            Some(one) => *one,
            None => TextContrast::Lost,
        }
    }
}
