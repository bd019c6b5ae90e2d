//! Effects on whole elements: opacity, filters, masks, backgrounds, clipping and transforms.

use super::super::sheets::media::SCREEN;
use super::super::values::property::{CssImage, CssProperty, CssProperty as P};
use super::backdrop::{ColourFilter, TextBackdrop};
use super::geometry::{BoxRemainder, left, moved};
use super::{CLEAR, ElementFrame, THICK, VisibilityWalker};
use crate::text::html::HidingReason;

/// The part of an area up to which a turned or shrunk element counts as gone.
const GONE: f32 = 0.003;

impl VisibilityWalker<'_> {
    /// Applies the properties that change how a whole element is drawn; returns true if it is
    /// invisible.
    pub(super) fn effects(&mut self, frame: &mut ElementFrame, name: &str) -> bool {
        let look = &frame.look;
        let rem = self.cascade.rem();
        if let Some(opacity) = look.size(CssProperty::Opacity) {
            frame.alpha *= opacity.fraction().clamp(0.0, 1.0);
            frame.stacks |= opacity.fraction() < 1.0;
        }
        let mut tints = Vec::new();
        for call in look.calls(CssProperty::Filter) {
            frame.stacks = true;
            let size = call.args.first().map(|arg| arg.compute(&look.scale(rem)));
            let by = size.map_or(1.0, super::super::values::value::ComputedNumber::fraction);
            match call.name {
                "opacity" => frame.alpha *= by.clamp(0.0, 1.0),
                // A blur as large as the font leaves no legible shape.
                "blur" if by >= look.font && size.is_some() => return true,
                "blur" if by >= look.font / 2.0 && size.is_some() => {
                    frame.doubt = Some(HidingReason::Blended);
                }
                "url" => frame.doubt = Some(HidingReason::Blended),
                name => tints.push(ColourFilter { name, by }),
            }
        }
        if !tints.is_empty() && self.cascade.spend(frame.tints.len()) {
            frame.tints = frame.tints.iter().copied().chain(tints).collect();
        }
        if frame.alpha < CLEAR {
            return true;
        }
        let masks = look.images(CssProperty::Mask);
        let faint = |image: &CssImage| match image {
            CssImage::Gradient(stops) => {
                stops.iter().all(|stop| look.paint(stop).is_some_and(|[.., alpha]| alpha < CLEAR))
            }
            _ => false,
        };
        if !masks.is_empty() && masks.iter().all(faint) {
            return true;
        }
        if !masks.is_empty() && look.is(CssProperty::MaskSize, "nothing") {
            return true;
        }
        // A mask that begins faint may hide the text.
        let begins = |image: &CssImage| match image {
            CssImage::Gradient(stops) => {
                let first = stops.first().and_then(|stop| look.paint(stop));
                first.is_none_or(|[.., alpha]| alpha < 0.5)
            }
            _ => false,
        };
        if masks.iter().any(begins)
            || !masks.is_empty() && look.is(CssProperty::MaskMode, "some")
            || !masks.is_empty() && look.is(CssProperty::MaskPlace, "far")
        {
            frame.doubt = Some(HidingReason::Blended);
        }
        let outline = look.px(CssProperty::Outline, None).unwrap_or_default();
        let inside = -look.px(CssProperty::OutlineOffset, None).unwrap_or_default();
        if outline >= THICK && inside >= THICK {
            frame.doubt = Some(HidingReason::Covered);
        }
        let strike = look.px(P::StrikeWidth, Some(look.font)).unwrap_or_default();
        if look.is(P::Strike, "line-through") && strike >= look.font * 0.4 {
            frame.doubt = Some(HidingReason::Covered);
        }
        if masks.contains(&CssImage::Picture) {
            frame.doubt = Some(HidingReason::Blended);
        }
        if look.word(CssProperty::Blend).is_some_and(|word| word != "normal") {
            frame.doubt = Some(HidingReason::Blended);
        }
        if look.is(CssProperty::BackgroundClip, "text") {
            // The background is painted only inside the glyphs, so it is not their ground.
            let (own, _) = TextBackdrop::page().of(look, frame.tints.len());
            frame.cut_out = Some(own.colors());
        } else {
            let (ground, opaque) = frame.ground.of(look, frame.tints.len());
            let (width, height) = frame.place.size();
            let empty = |side: Option<f32>, pads: [P; 2]| {
                side.is_some_and(|side| side <= 2.0)
                    && pads
                        .iter()
                        .all(|pad| look.size(*pad).is_none_or(|pad| pad.n + pad.part == 0.0))
            };
            if empty(width, [P::PaddingLeft, P::PaddingRight])
                || empty(height, [P::PaddingTop, P::PaddingBottom])
            {
                // Text that overflows an empty box is not on its background.
                return self.shaped(frame);
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
        self.shaped(frame)
    }

    /// Applies zoom, clipping and transforms; returns true if the element vanishes.
    pub(super) fn shaped(&self, frame: &mut ElementFrame) -> bool {
        let look = &frame.look;
        let rem = self.cascade.rem();
        if let Some(zoom) = look.size(CssProperty::Zoom).filter(|zoom| zoom.fraction() > 0.0) {
            frame.scale *= zoom.fraction();
        }
        let size = frame.place.size();
        let name = self.tree.name(frame.id);
        // SVG shows one child of a `switch`, depending on the reader's language.
        if name == "switch" {
            frame.doubt = Some(HidingReason::Script);
        }
        // `clip` has no effect on other boxes.
        if matches!(look.word(CssProperty::Position), Some("absolute" | "fixed")) {
            match left(look.calls(CssProperty::Clip), &look.scale(rem), size) {
                BoxRemainder::Nothing => return true,
                BoxRemainder::Unknown => frame.doubt = Some(HidingReason::Clipped),
                BoxRemainder::Some => {}
            }
        }
        match left(look.calls(CssProperty::ClipPath), &look.scale(rem), size) {
            BoxRemainder::Nothing => return true,
            BoxRemainder::Unknown => frame.doubt = Some(HidingReason::Clipped),
            BoxRemainder::Some => {}
        }
        // Transforms do not apply to inline boxes.
        !frame.place.inline && self.transforms(frame)
    }

    /// Applies transforms; returns true if the element vanishes.
    pub(super) fn transforms(&self, frame: &mut ElementFrame) -> bool {
        let look = &frame.look;
        let calls = || {
            [P::Translate, P::Rotate, P::Scale, P::Transform]
                .into_iter()
                .flat_map(|p| look.calls(p))
        };
        let around = &self.around().look;
        let deep =
            around.size(P::Perspective).is_some() || around.is(P::TransformStyle, "preserve-3d");
        let moves = calls().next().is_some();
        if deep && (moves || look.is(P::Backface, "hidden")) {
            // In three dimensions, the transforms of the parent count as well.
            frame.doubt = Some(HidingReason::Moved);
        }
        if !moves {
            return false;
        }
        frame.stacks = true;
        let size =
            (frame.place.width.unwrap_or(SCREEN.0 - 16.0), frame.place.height.unwrap_or(20.0));
        let origin = look.calls(P::TransformOrigin).first();
        let size = (size.0.max(1.0), size.1.max(1.0));
        let moved = moved(calls(), origin, &look.scale(self.cascade.rem()), size);
        if moved.behind || moved.area.abs() <= GONE {
            return true;
        }
        if moved.area < 0.0 && look.is(P::Backface, "hidden") {
            return true;
        }
        frame.scale *= moved.area.abs().sqrt();
        frame.place.shift(moved.x, moved.y);
        false
    }
}
