//! Effects on whole elements: opacity, filters, masks, backgrounds, clipping and transforms.

use super::super::sheets::media::SCREEN;
use super::super::style::computed::ComputedStyle;
use super::super::values::property::{CssImage, CssProperty, CssProperty as P};
use super::super::values::value::ComputedNumber;
use super::backdrop::{ColourFilter, TextBackdrop};
use super::geometry::{BoxRemainder, left, moved};
use super::walker::{CLEAR, ElementFrame, THICK, VisibilityWalker};
use crate::text::html::hidden::HidingReason;

/// The part of an area up to which a turned or shrunk element counts as gone.
const GONE: f32 = 0.003;

impl VisibilityWalker<'_> {
    /// Applies the properties that change how a whole element is drawn; returns true if it is
    /// invisible.
    pub(super) fn effects(&mut self, frame: &mut ElementFrame, name: &str) -> bool {
        if self.fades(frame) || is_masked(&frame.style) {
            return true;
        }
        if let Some(doubt) = drawing_doubt(&frame.style) {
            frame.doubt = Some(doubt);
        }
        self.replace_ground(frame, name);
        self.shaped(frame)
    }

    /// Applies opacity and filters. Returns true if they make the element invisible.
    fn fades(&self, frame: &mut ElementFrame) -> bool {
        let style = &frame.style;
        if let Some(opacity) = style.size(CssProperty::Opacity) {
            frame.alpha *= opacity.fraction().clamp(0.0, 1.0);
            frame.stacks |= opacity.fraction() < 1.0;
        }
        let mut tints = Vec::new();
        for call in style.calls(CssProperty::Filter) {
            frame.stacks = true;
            let scale = style.scale(self.cascade.rem());
            let size = call.args.first().map(|arg| arg.compute(&scale));
            let by = size.map_or(1.0, ComputedNumber::fraction);
            match call.name {
                "opacity" => frame.alpha *= by.clamp(0.0, 1.0),
                // A blur as large as the font leaves no legible shape.
                "blur" if by >= style.font && size.is_some() => return true,
                "blur" if by >= style.font / 2.0 && size.is_some() => {
                    frame.doubt = Some(HidingReason::Blended);
                }
                "url" => frame.doubt = Some(HidingReason::Blended),
                name => tints.push(ColourFilter { name, by }),
            }
        }
        if !tints.is_empty() && self.cascade.spend(frame.tints.len()) {
            frame.tints = frame.tints.iter().copied().chain(tints).collect();
        }
        frame.alpha < CLEAR
    }

    /// Replaces the ground of the text by the element's background.
    fn replace_ground(&self, frame: &mut ElementFrame, name: &str) {
        let style = &frame.style;
        if style.is(CssProperty::BackgroundClip, "text") {
            // The background is painted only inside the glyphs, so it is not their ground.
            let (own, _) = TextBackdrop::page().painted_with(style, frame.tints.len());
            frame.cut_out = Some(own.colors());
            return;
        }
        let (ground, opaque) = frame.ground.painted_with(style, frame.tints.len());
        let (width, height) = frame.bounds.size();
        let empty = |side: Option<f32>, pads: [P; 2]| {
            side.is_some_and(|side| side <= 2.0)
                && pads.iter().all(|pad| style.size(*pad).is_none_or(|pad| pad.n + pad.part == 0.0))
        };
        // Text that overflows an empty box is not on its background.
        if empty(width, [P::PaddingLeft, P::PaddingRight])
            || empty(height, [P::PaddingTop, P::PaddingBottom])
        {
            return;
        }
        // The backgrounds of `html` and `body` are painted on the canvas, below everything.
        frame.opaque = opaque && !matches!(name, "html" | "body");
        if opaque {
            frame.cut_out = None;
        }
        if frame.opaque {
            self.paint(frame);
        }
        frame.ground = ground;
    }

    /// Applies zoom, clipping and transforms; returns true if the element vanishes.
    pub(super) fn shaped(&self, frame: &mut ElementFrame) -> bool {
        let style = &frame.style;
        let rem = self.cascade.rem();
        if let Some(zoom) = style.size(CssProperty::Zoom).filter(|zoom| zoom.fraction() > 0.0) {
            frame.scale *= zoom.fraction();
        }
        let size = frame.bounds.size();
        let name = self.tree.name(frame.id);
        // SVG shows one child of a `switch`, depending on the reader's language.
        if name == "switch" {
            frame.doubt = Some(HidingReason::Script);
        }
        // `clip` has no effect on other boxes.
        if matches!(style.keyword(CssProperty::Position), Some("absolute" | "fixed")) {
            match left(style.calls(CssProperty::Clip), &style.scale(rem), size) {
                BoxRemainder::Nothing => return true,
                BoxRemainder::Unknown => frame.doubt = Some(HidingReason::Clipped),
                BoxRemainder::Some => {}
            }
        }
        match left(style.calls(CssProperty::ClipPath), &style.scale(rem), size) {
            BoxRemainder::Nothing => return true,
            BoxRemainder::Unknown => frame.doubt = Some(HidingReason::Clipped),
            BoxRemainder::Some => {}
        }
        // Transforms do not apply to inline boxes.
        !frame.bounds.inline && self.transforms(frame)
    }

    /// Applies transforms; returns true if the element vanishes.
    pub(super) fn transforms(&self, frame: &mut ElementFrame) -> bool {
        let style = &frame.style;
        let calls = || {
            [P::Translate, P::Rotate, P::Scale, P::Transform]
                .into_iter()
                .flat_map(|p| style.calls(p))
        };
        let around = &self.around().style;
        let deep =
            around.size(P::Perspective).is_some() || around.is(P::TransformStyle, "preserve-3d");
        let moves = calls().next().is_some();
        if deep && (moves || style.is(P::Backface, "hidden")) {
            // In three dimensions, the transforms of the parent count as well.
            frame.doubt = Some(HidingReason::Moved);
        }
        if !moves {
            return false;
        }
        frame.stacks = true;
        let size =
            (frame.bounds.width.unwrap_or(SCREEN.0 - 16.0), frame.bounds.height.unwrap_or(20.0));
        let origin = style.calls(P::TransformOrigin).first();
        let size = (size.0.max(1.0), size.1.max(1.0));
        let moved = moved(calls(), origin, &style.scale(self.cascade.rem()), size);
        if moved.behind || moved.area.abs() <= GONE {
            return true;
        }
        if moved.area < 0.0 && style.is(P::Backface, "hidden") {
            return true;
        }
        frame.scale *= moved.area.abs().sqrt();
        frame.bounds.shift(moved.x, moved.y);
        false
    }
}

/// Returns true if masks make an element invisible.
fn is_masked(style: &ComputedStyle) -> bool {
    let masks = style.images(CssProperty::Mask);
    let faint = |image: &CssImage| match image {
        CssImage::Gradient(stops) => {
            stops.iter().all(|stop| style.paint(stop).is_some_and(|[.., alpha]| alpha < CLEAR))
        }
        _ => false,
    };
    !masks.is_empty() && (masks.iter().all(faint) || style.is(CssProperty::MaskSize, "nothing"))
}

/// Returns the reason why masks, thick lines or blending may hide the text of an element.
fn drawing_doubt(style: &ComputedStyle) -> Option<HidingReason> {
    let masks = style.images(CssProperty::Mask);
    if masks.contains(&CssImage::Picture)
        || style.keyword(CssProperty::Blend).is_some_and(|word| word != "normal")
    {
        return Some(HidingReason::Blended);
    }
    let outline = style.px(CssProperty::Outline, None).unwrap_or_default();
    let inside = -style.px(CssProperty::OutlineOffset, None).unwrap_or_default();
    let strike = style.px(P::StrikeWidth, Some(style.font)).unwrap_or_default();
    if outline >= THICK && inside >= THICK
        || style.is(P::Strike, "line-through") && strike >= style.font * 0.4
    {
        return Some(HidingReason::Covered);
    }
    // A mask that begins faint may hide the text.
    let begins = |image: &CssImage| match image {
        CssImage::Gradient(stops) => {
            let first = stops.first().and_then(|stop| style.paint(stop));
            first.is_none_or(|[.., alpha]| alpha < 0.5)
        }
        _ => false,
    };
    let masked = masks.iter().any(begins)
        || !masks.is_empty()
            && (style.is(CssProperty::MaskMode, "some") || style.is(CssProperty::MaskPlace, "far"));
    masked.then_some(HidingReason::Blended)
}
