//! Effects on whole elements: opacity, backgrounds, clipping and transforms.

use super::super::sheets::media::SCREEN;
use super::super::values::property::CssProperty as P;
use super::clip::SLIVER;
use super::transform::{BoxRemainder, left, moved};
use super::walker::{ElementFrame, VisibilityWalker};
use crate::text::visibility::{CLEAR, HidingMethod};

/// The scale up to which a shrunk element counts as gone.
const GONE: f32 = 0.055;

impl VisibilityWalker<'_> {
    /// Applies the properties that change how a whole element is drawn; returns true if it is
    /// invisible.
    pub(super) fn effects(&mut self, frame: &mut ElementFrame, name: &str) -> bool {
        if let Some(opacity) = frame.style.size(P::Opacity) {
            frame.alpha *= opacity.fraction().clamp(0.0, 1.0);
            frame.stacks |= opacity.fraction() < 1.0;
        }
        if frame.alpha < CLEAR {
            return true;
        }
        self.replace_ground(frame, name);
        // `clip` has no effect on other boxes.
        frame.style.is_lifted() && self.is_cut_away(frame, P::Clip)
            || self.is_cut_away(frame, P::ClipPath)
            // Transforms do not apply to inline boxes.
            || !frame.bounds.inline && self.transforms(frame)
    }

    /// Replaces the ground of the text by the element's background.
    fn replace_ground(&self, frame: &mut ElementFrame, name: &str) {
        let style = &frame.style;
        let (ground, opaque) = frame.ground.painted_with(style);
        let (width, height) = frame.bounds.size();
        let is_empty = |side: Option<f32>, pads: [P; 2]| {
            side.is_some_and(|side| side <= SLIVER)
                && pads.iter().all(|pad| style.size(*pad).is_none_or(|pad| pad.n + pad.part == 0.0))
        };
        // Text that overflows an empty box is not on its background.
        if is_empty(width, [P::PaddingLeft, P::PaddingRight])
            || is_empty(height, [P::PaddingTop, P::PaddingBottom])
        {
            return;
        }
        // The backgrounds of `html` and `body` are painted on the canvas, below everything.
        frame.opaque = opaque && !matches!(name, "html" | "body");
        if frame.opaque {
            self.paint(frame);
        }
        frame.ground = ground;
    }

    /// Returns true if `clip` or `clip-path` cuts off the whole element.
    fn is_cut_away(&self, frame: &mut ElementFrame, property: P) -> bool {
        let style = &frame.style;
        let scale = style.scale(self.cascade.rem());
        match left(style.calls(property), &scale, frame.bounds.size()) {
            BoxRemainder::Nothing => return true,
            BoxRemainder::Unknown => frame.doubt = Some(HidingMethod::Clipped),
            BoxRemainder::Some => {}
        }
        false
    }

    /// Applies transforms; returns true if the element vanishes.
    pub(super) fn transforms(&self, frame: &mut ElementFrame) -> bool {
        let calls = frame.style.calls(P::Transform);
        if calls.is_empty() {
            return false;
        }
        let (width, height) = (frame.bounds.width, frame.bounds.height);
        let size = (width.unwrap_or(SCREEN.0).max(1.0), height.unwrap_or(20.0).max(1.0));
        let moved = moved(calls, &frame.style.scale(self.cascade.rem()), size);
        frame.stacks = true;
        frame.scale *= moved.scale;
        frame.bounds.shift(moved.x, moved.y);
        moved.scale <= GONE
    }
}
