//! Text that may be outside the box on whose background it is seen.
//!
//! Floats and lifted boxes add no height to their parent, and moved boxes may leave it. If the text
//! could not be distinguished from the ground behind that box, it is in doubt. A box has a height
//! if something in it surely has one; the height itself is unknown.

use std::rc::Rc;

use super::super::values::property::CssProperty as P;
use super::walker::{ElementFrame, LoosePosition, PaintedBox, VisibilityWalker};
use crate::text::visibility::HidingMethod;

/// Displacement from which a box may have left its parent, in pixels.
const FAR: f32 = 20.0;

impl VisibilityWalker<'_> {
    /// Records that an element paints a background, before the ground is replaced.
    pub(super) fn paint(&self, frame: &mut ElementFrame) {
        let pads = [P::PaddingTop, P::PaddingBottom]
            .map(|side| frame.style.px(side, frame.bounds.width).unwrap_or_default());
        let (behind, bounds, at) = (frame.ground.clone(), frame.bounds.clone(), self.stack.len());
        frame.painter = Some(Rc::new(PaintedBox { behind, bounds, pads, at }));
        frame.loose = None;
    }

    /// Determines whether an element may be outside its background, and whether it has a height.
    pub(super) fn loosen(&self, frame: &mut ElementFrame, name: &str) {
        let style = &frame.style;
        let some = |side| style.size(side).is_some_and(|size| size.n + size.part > 0.0);
        frame.filled = matches!(name, "img" | "br" | "hr" | "input" | "button" | "select" | "svg")
            || [P::Height, P::MinHeight, P::PaddingTop, P::PaddingBottom].into_iter().any(some)
            // Clearing floats, often in `::after`, gives a box the height of the floats.
            || style.keyword(P::Clear).is_some_and(|word| word != "none")
            || [&style.before, &style.after]
                .into_iter()
                .flatten()
                .any(|part| part.keyword(P::Clear).is_some_and(|word| word != "none"));
        if frame.painter.as_ref().is_none_or(|painter| painter.at == self.stack.len()) {
            return;
        }
        let (_, down) = frame.bounds.from(&self.around().bounds);
        if is_out(frame) {
            let below = style.size(P::Top).is_none()
                && style.size(P::Bottom).is_some_and(|bottom| bottom.n + bottom.part >= 0.0);
            frame.loose = Some(if below { LoosePosition::Below } else { LoosePosition::Out });
        } else if (frame.bounds.positioned || frame.stacks) && down.abs() >= FAR {
            frame.loose = Some(LoosePosition::Moved);
        }
    }

    /// Returns true if text directly in the current element is lost outside its background. If that
    /// depends on the height of the box, the box records the text.
    pub(super) fn hangs(&mut self) -> bool {
        let frame = self.around();
        let Some((loose, painter)) = frame.loose.zip(frame.painter.clone()) else { return false };
        let beside = ElementFrame { ground: painter.behind.clone(), ..frame.clone() };
        // Text that is legible on the ground behind the box is seen in either case.
        if !self.contrast(&beside, &frame.style).is_hidden() {
            return false;
        }
        let (_, down) = frame.bounds.from(&painter.bounds);
        let [above, below] = painter.pads;
        match (painter.bounds.size().1, loose) {
            (Some(_), LoosePosition::Below) => false,
            (Some(height), _) => down >= height + below || down <= -above - FAR,
            (None, LoosePosition::Moved) => down >= below + FAR || down <= -above - FAR,
            (None, LoosePosition::Out | LoosePosition::Below) => {
                let text = self.shown.len();
                if let Some(holder) = self.stack.get_mut(painter.at) {
                    holder.hanging.push(text);
                }
                false
            }
        }
    }

    /// Passes the height of a finished element on to its parent, and puts the texts in doubt that
    /// depended on a missing height.
    pub(super) fn fill(&mut self, frame: &ElementFrame) {
        if !frame.filled {
            for at in &frame.hanging {
                if let Some((_, why)) = self.shown.get_mut(*at) {
                    why.get_or_insert(HidingMethod::OffPage);
                }
            }
        }
        let lifted = frame.style.is_lifted();
        if let Some(around) = self.stack.last_mut() {
            // Floats give a height only to a box that contains floats.
            around.filled |= frame.filled && (!is_out(frame) || !lifted && holds_floats(around));
        }
    }
}

/// Returns true for a box that adds no height to its parent.
fn is_out(frame: &ElementFrame) -> bool {
    frame.style.keyword(P::Float).is_some_and(|word| word != "none") || frame.style.is_lifted()
}

/// Returns true for a box that encloses its floats.
fn holds_floats(frame: &ElementFrame) -> bool {
    let plain = matches!(
        frame.style.keyword(P::Display),
        None | Some("block" | "inline" | "list-item" | "contents" | "table-row" | "table")
    );
    let cuts =
        |side| frame.style.keyword(side).is_some_and(|word| !matches!(word, "visible" | "clip"));
    !plain || cuts(P::OverflowX) || cuts(P::OverflowY) || is_out(frame)
}
