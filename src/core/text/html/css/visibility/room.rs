//! Room that content takes in clips and on the page, and the visibility of a text at its position.

use super::super::sheets::media::SCREEN;
use super::super::style::computed::ComputedStyle;
use super::bounds::{ABOVE, ElementBounds, FAR, NEAR};
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

    /// Returns true if a box may have no room for its text: below `arranged` clips, boxes are placed in
    /// a way that is not computed.
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
        let mut doubt = None;
        let mut at = bounds.clip;
        while let Some(clip) = at.and_then(|at| self.clips.get(at)) {
            if clip.hides(extent, style) {
                return TextVisibility::Hidden(HidingMethod::Clipped);
            }
            at = clip.outer;
        }
        // Nothing is before a box that is placed from the corner of the page.
        if bounds.lifted && (x + reach <= 0.0 || bounds.y + tall <= 0.0) {
            return TextVisibility::Hidden(HidingMethod::OffPage);
        }
        if x <= NEAR || bounds.lifted && bounds.y <= NEAR {
            doubt = Some(HidingMethod::OffPage);
        }
        let edge = if bounds.lifted || indent < 0.0 { reach } else { reach.max(SCREEN.0) };
        if x <= FAR {
            if x + edge <= 0.0 {
                return TextVisibility::Hidden(HidingMethod::OffPage);
            }
            doubt = Some(HidingMethod::OffPage);
        }
        if x >= SCREEN.0 || bounds.fixed && bounds.y >= SCREEN.1 {
            // Fixed boxes cannot be scrolled into view.
            if bounds.fixed {
                return TextVisibility::Hidden(HidingMethod::OffPage);
            }
            doubt = Some(HidingMethod::OffPage);
        }
        let (limit, flow) = if bounds.lifted { (ABOVE, 0.0) } else { (FAR, self.flow) };
        if bounds.y <= limit {
            if bounds.y + flow + tall <= 0.0 {
                return TextVisibility::Hidden(HidingMethod::OffPage);
            }
            doubt = Some(HidingMethod::OffPage);
        }
        let inner = bounds.clip.filter(|_| bounds.flows).and_then(|at| self.clips.get(at));
        let wide = own * NARROW / WIDE;
        if bounds.squeezed || inner.is_some_and(|clip| clip.may_cut(wide, style)) {
            doubt = Some(HidingMethod::Clipped);
        }
        doubt.map_or(TextVisibility::Seen, TextVisibility::Doubt)
    }
}
