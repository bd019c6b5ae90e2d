//! Room that content takes in clips and on the page, and the visibility of a text at its position.

use super::super::sheets::media::SCREEN;
use super::super::style::computed::ComputedStyle;
use super::bounds::{ElementBounds, FAR, NEAR};
use super::clip::{ClipBox, ClipBoxes, NARROW, TextExtent, WIDE};
use crate::text::visibility::{HidingMethod, TextVisibility};

impl ClipBoxes {
    /// Returns the clip that content of an element flows in.
    fn clip(&mut self, bounds: &ElementBounds) -> Option<&mut ClipBox> {
        self.clips.get_mut(bounds.clip.filter(|_| bounds.flows)?)
    }

    /// Ends a line in the current element.
    pub fn line_break(&mut self, bounds: &ElementBounds, style: &ComputedStyle) {
        self.flow += style.font * 2.0;
        if let Some(clip) = self.clip(bounds) {
            clip.used += style.font;
            clip.run = 0.0;
        }
        if let Some(broken) = self.broken.get_mut(bounds.block) {
            *broken = true;
        }
    }

    /// Records text that is shown.
    pub fn text(&mut self, bounds: &ElementBounds, style: &ComputedStyle, chars: usize) {
        let wide = chars as f32 * style.font;
        // `flow` is an upper bound.
        self.flow += wide * 1.5;
        if let Some(clip) = self.clip(bounds) {
            clip.run += wide * NARROW;
        }
    }

    /// Leaves an element; `text` is true if it contained text.
    pub fn leave(&mut self, bounds: &ElementBounds, style: &ComputedStyle, text: bool) {
        if bounds.inline {
            return;
        }
        if let Some(clip) = bounds.around.and_then(|at| self.clips.get_mut(at)) {
            let line = if text { style.font } else { 0.0 };
            clip.used = match bounds.height {
                Some(height) => bounds.start + height,
                None => clip.used.max(bounds.start + line),
            };
            clip.run = 0.0;
        }
    }

    /// Returns true if a box may have no room for its text: below `arranged` clips, boxes are placed
    /// in a way that is not computed.
    pub fn may_squeeze(&self, bounds: &ElementBounds, arranged: Option<usize>) -> bool {
        let Some((arranged, at)) = arranged.zip(bounds.clip) else { return false };
        // An outer clip that is as large as its content cuts nothing off.
        let cuts = |clip: &ClipBox| clip.is_sized && !clip.scrolls;
        at >= arranged || self.clips.get(at).is_some_and(cuts)
    }

    /// Decides whether a text of `chars` characters is seen within bounds.
    pub fn visibility_at(
        &self,
        bounds: &ElementBounds,
        style: &ComputedStyle,
        chars: usize,
        scale: f32,
    ) -> TextVisibility {
        let is_first = self.broken.get(bounds.block).is_some_and(|broken| !broken);
        let indent = if is_first { bounds.indent } else { 0.0 };
        let own = chars as f32 * style.font * scale * WIDE;
        let reach = bounds.reach.unwrap_or(own).max(own);
        let x = bounds.x + indent;
        let tall = (reach / 200.0).max(1.0) * style.font * scale * 1.5;
        let extent = TextExtent { x, y: bounds.y, reach, tall };
        let mut at = bounds.clip;
        while let Some(clip) = at.and_then(|at| self.clips.get(at)) {
            if clip.hides(extent, style) {
                return TextVisibility::Hidden(HidingMethod::Clipped);
            }
            at = clip.outer;
        }
        let is_off = if bounds.lifted {
            // Nothing is before a box that is placed from the corner of the page.
            x + reach <= 0.0 || bounds.y + tall <= 0.0
        } else {
            let edge = if indent < 0.0 { reach } else { reach.max(SCREEN.0) };
            x <= FAR && x + edge <= 0.0 || bounds.y <= FAR && bounds.y + self.flow + tall <= 0.0
        };
        // Fixed boxes cannot be scrolled into view.
        let is_beyond = bounds.fixed && (x >= SCREEN.0 || bounds.y >= SCREEN.1);
        if is_off || is_beyond {
            return TextVisibility::Hidden(HidingMethod::OffPage);
        }
        let above = if bounds.lifted { NEAR } else { FAR };
        let is_near_edge = x <= NEAR || x >= SCREEN.0 || bounds.y <= above;
        let inner = bounds.clip.filter(|_| bounds.flows).and_then(|at| self.clips.get(at));
        let wide = own * NARROW / WIDE;
        if bounds.squeezed || inner.is_some_and(|clip| clip.may_cut(wide, style)) {
            TextVisibility::Doubt(HidingMethod::Clipped)
        } else if is_near_edge {
            TextVisibility::Doubt(HidingMethod::OffPage)
        } else {
            TextVisibility::Seen
        }
    }
}
