//! Room that content takes in clips and on the page, and the visibility of a text at its position.

use super::super::sheets::media::SCREEN;
use super::super::style::computed::ComputedStyle;
use super::super::values::property::CssProperty as P;
use super::bounds::{ABOVE, ElementBounds, FAR};
use super::clip::{COMMON, ClipBox, ClipBoxes, NARROW, TextExtent, WIDE, is_tight, raised};
use crate::text::html::hidden::{CssVisibility, HidingReason};

impl ClipBoxes {
    /// Returns the clip that content of an element flows in.
    fn clip(&mut self, bounds: &ElementBounds) -> Option<&mut ClipBox> {
        self.clips.get_mut(bounds.clip.filter(|_| bounds.flows)?)
    }

    /// Ends a line in the current element.
    pub fn line_break(&mut self, bounds: &ElementBounds, style: &ComputedStyle) {
        let line = if is_tight(style) { 0.0 } else { style.font };
        self.flow += style.font * 2.0;
        if let Some(clip) = self.clip(bounds) {
            clip.used += line;
            clip.run = 0.0;
            clip.breaks += 1.0;
        }
        if let Some(broken) = self.broken.get_mut(bounds.block) {
            *broken = true;
        }
    }

    /// Records text that is shown.
    pub fn text(&mut self, bounds: &ElementBounds, style: &ComputedStyle, chars: usize) {
        let wide = chars as f32 * style.font;
        // `flow` is an upper bound; the sums of the clip are lower bounds.
        self.flow += wide * 1.5;
        if let Some(clip) = self.clip(bounds) {
            clip.run += wide * NARROW;
            clip.area = clip.area.map(|area| area + wide * style.font * COMMON);
        }
    }

    /// Leaves an element; `text` is true if it contained text.
    pub fn leave(&mut self, bounds: &ElementBounds, style: &ComputedStyle, text: bool) {
        if bounds.inline {
            // Raised text pushes the rest of its line down.
            if let Some(clip) = self.clip(bounds).filter(|_| text && raised(style) > style.font) {
                clip.used += raised(style);
            }
            return;
        }
        if let Some(clip) = bounds.floats_in.and_then(|at| self.clips.get_mut(at)) {
            // A float as wide as the clip pushes all later content down.
            if bounds.own.0.zip(clip.width).is_some_and(|(own, all)| own >= all) {
                clip.used += bounds.own.1.unwrap_or_default();
            }
        }
        let (wide, high) = bounds.own;
        if let Some(clip) = bounds.around.or(bounds.clip).and_then(|at| self.clips.get_mut(at)) {
            let own = wide.unwrap_or_default() * high.unwrap_or_default();
            clip.area = clip.area.map(|area| area + own);
        }
        let line = if text && !is_tight(style) { style.font } else { 0.0 };
        let room = bounds.height.unwrap_or(line);
        if let Some(clip) = bounds.around.and_then(|at| self.clips.get_mut(at)) {
            clip.used = if bounds.height.is_some() {
                bounds.before + room
            } else {
                clip.used.max(bounds.before + room)
            };
            clip.run = 0.0;
            clip.breaks += if text { 1.0 } else { 0.0 };
        }
    }

    /// Decides whether a text of `chars` characters is seen within bounds.
    pub fn visibility_at(
        &self,
        bounds: &ElementBounds,
        style: &ComputedStyle,
        chars: usize,
        scale: f32,
    ) -> CssVisibility {
        let first = self.broken.get(bounds.block).is_some_and(|broken| !broken);
        let indent = if first { bounds.indent } else { 0.0 };
        let own = chars as f32 * style.font * scale * WIDE;
        let reach = bounds.reach.unwrap_or(own).max(own);
        let x = bounds.x + indent;
        let tall = (reach / 200.0).max(1.0) * style.font * scale * 1.5;
        let extent = TextExtent { x, y: bounds.y, reach, tall };
        let mut doubt = None;
        let mut at = bounds.clip;
        let mut flows = bounds.flows;
        while let Some(clip) = at.and_then(|at| self.clips.get(at)) {
            if clip.hides(extent, style, flows) {
                return CssVisibility::Hidden;
            }
            // Earlier content counts only in the innermost clip.
            flows = false;
            at = clip.outer;
        }
        let edge = if bounds.lifted || indent < 0.0 { reach } else { reach.max(SCREEN.0) };
        if x <= FAR {
            if x + edge <= 0.0 {
                return CssVisibility::Hidden;
            }
            doubt = Some(HidingReason::Moved);
        }
        if x >= SCREEN.0 || bounds.fixed && bounds.y >= SCREEN.1 {
            // Fixed boxes cannot be scrolled into view.
            if bounds.fixed {
                return CssVisibility::Hidden;
            }
            doubt = Some(HidingReason::Moved);
        }
        let (limit, flow) = if bounds.lifted { (ABOVE, 0.0) } else { (FAR, self.flow) };
        if bounds.y <= limit {
            if bounds.y + flow + tall <= 0.0 {
                return CssVisibility::Hidden;
            }
            doubt = Some(HidingReason::Moved);
        }
        let inner = bounds.clip.and_then(|at| self.clips.get(at));
        // Lines without height, in a box that is as high as its lines.
        let flat = style.size(P::LineHeight).is_some_and(|size| size.n + size.part == 0.0);
        if inner.is_some_and(|clip| {
            clip.cuts(own, style)
                || clip.overflows(own * style.font)
                || bounds.flat
                || flat && clip.fitted && clip.used == 0.0 && bounds.flows
        }) {
            doubt = Some(HidingReason::Clipped);
        }
        if bounds.squeezed {
            doubt = Some(HidingReason::Clipped);
        }
        let narrow = |property, least: f32| {
            style.px(property, Some(style.font)).is_some_and(|px| px <= least * style.font)
        };
        let far = style.px(P::Spacing, None).is_some_and(|px| px >= -FAR);
        if far || narrow(P::Spacing, -0.4) || narrow(P::WordSpacing, -2.0) {
            doubt = Some(HidingReason::Moved);
        }
        doubt.map_or(CssVisibility::Shown, CssVisibility::Doubt)
    }
}
