//! Position of an element within the one around it.

use super::super::sheets::media::SCREEN;
use super::super::style::computed::ComputedStyle;
use super::super::values::property::CssProperty as P;
use super::bounds::{ABOVE, ElementBounds, FAR};
use super::clip::{ClipBoxes, WIDE, raised};
use crate::text::html::tree::{DomTree, NodeId};

/// Returns the bounds of an element within another.
pub fn bounds_of(
    tree: &DomTree,
    id: NodeId,
    style: &ComputedStyle,
    outer: &ElementBounds,
    boxes: &mut ClipBoxes,
) -> ElementBounds {
    let display = style.keyword(P::Display).unwrap_or("inline");
    let position = style.keyword(P::Position).unwrap_or("static");
    let placed = matches!(position, "absolute" | "fixed");
    let floats = style.keyword(P::Float).is_some_and(|word| word != "none");
    let drawn = !tree.is_html(id) && tree.name(id) != "svg";
    let mut bounds = ElementBounds {
        contents: display == "contents",
        inline: matches!(display, "inline" | "ruby" | "ruby-text" | "contents")
            && !placed
            && !floats
            && (outer.stacks || outer.inline)
            && !drawn,
        positioned: false,
        rises: false,
        width: None,
        height: None,
        own: (None, None),
        before: 0.0,
        around: None,
        floats_in: None,
        ..outer.clone()
    };
    if bounds.contents {
        bounds.inline = true;
        return bounds;
    }
    bounds.positioned = position != "static";
    let px = |property, base| style.px(property, base);
    let margin_left = px(P::MarginLeft, outer.width).unwrap_or_default();
    let margin_top = px(P::MarginTop, outer.width).unwrap_or_default();
    if placed {
        bounds.lift(style, outer, position, margin_left, margin_top);
    } else {
        bounds.x += margin_left;
        // Top margins may collapse, so only negative ones are certain.
        bounds.y += if bounds.inline { 0.0 } else { margin_top.min(0.0) };
        if position == "relative" {
            let side = |one, other, base| match px(one, base) {
                Some(px) => px,
                None => px(other, base).map_or(0.0, |px| -px),
            };
            bounds.x += side(P::Left, P::Right, outer.width);
            bounds.y += side(P::Top, P::Bottom, outer.height);
        }
        bounds.rises = bounds.y < outer.y;
    }
    if drawn && tree.attr(id, "viewBox").is_none() {
        bounds.draw(tree, id, style);
    }
    if bounds.inline {
        bounds.y -= raised(style).min(0.0);
        bounds.rise(tree, id, outer);
        return bounds;
    }
    let name = tree.name(id);
    // Content that the page cuts off can be reached by scrolling.
    bounds.is_page = name == "html" || name == "body" && outer.is_page;
    bounds.measure(style, outer, display, placed || floats, boxes);
    bounds.is_page &= style.keyword(P::OverflowX).is_none_or(|word| word == "visible");
    bounds.rise(tree, id, outer);
    bounds
}

impl ElementBounds {
    /// Places a box that is out of the flow.
    fn lift(&mut self, style: &ComputedStyle, outer: &Self, position: &str, left: f32, top: f32) {
        // In a transformed box, a fixed box is placed like an absolute one (CSS Transforms).
        self.fixed = position == "fixed" && !outer.holds_fixed;
        let (x, y, page) = if self.fixed { (0.0, 0.0, true) } else { outer.base };
        // A box out of the flow is clipped only by the boxes that it is placed in.
        self.clip = if self.fixed { None } else { outer.clip_placed };
        self.flows = false;
        let across = style.px(P::Left, Some(SCREEN.0));
        let down = style.px(P::Top, Some(SCREEN.1));
        let right = style.px(P::Right, Some(SCREEN.0));
        let bottom = style.px(P::Bottom, Some(SCREEN.1));
        let width = style.px(P::Width, outer.width).unwrap_or_default();
        self.x = left
            + match (across, right) {
                (Some(left), _) => x + left,
                // It is taken to end left of the page.
                (_, Some(right)) if page && right + width >= SCREEN.0 => f32::from(i16::MIN),
                (_, Some(right)) => x + SCREEN.0 - right - width,
                _ => outer.x,
            };
        self.y = top
            + match (down, bottom) {
                (Some(top), _) => y + top,
                (_, Some(bottom)) => y + SCREEN.1 - bottom,
                _ => outer.y,
            };
        let set = [across, down, right, bottom].iter().any(Option::is_some);
        self.lifted = if page { set } else { outer.lifted };
        self.rises = true;
    }

    /// Places an SVG element by its coordinates.
    fn draw(&mut self, tree: &DomTree, id: NodeId, style: &ComputedStyle) {
        let at = |name| tree.attr(id, name).and_then(|n| n.trim().parse::<f32>().ok());
        self.x += at("x").unwrap_or_default() + at("dx").unwrap_or_default();
        // `y` is the baseline of text.
        self.y += at("y").map_or(0.0, |y| y - style.font);
    }

    /// Records how far text may reach in a box that was moved far.
    fn rise(&mut self, tree: &DomTree, id: NodeId, outer: &Self) {
        let far = self.x - outer.x <= FAR / 3.0 || self.y - outer.y <= ABOVE;
        if self.reach.is_none() && far {
            // Counted once on a path at most, because it walks over everything below.
            let chars = tree.below(id).filter_map(|id| tree.text(id)).map(str::len).sum::<usize>();
            self.reach = Some(chars as f32 * WIDE * 16.0);
        }
    }
}
