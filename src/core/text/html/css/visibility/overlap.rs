//! Boxes that cover text shown before, and text behind a background.
//!
//! Text that a box may cover is in doubt, because the sizes of both on the page are unknown.

use super::super::style::computed::ComputedStyle;
use super::super::values::other::OtherEffect;
use super::super::values::property::{CssImage, CssProperty, CssProperty as P};
use super::bounds::ElementBounds;
use super::walker::{ElementFrame, VisibilityWalker, is_unseen};
use crate::text::html::tree::NodeId;

/// Displacement up, or back, from which a box covers earlier text, in pixels.
const UP: f32 = 8.0;
const BACK: f32 = 20.0;

impl VisibilityWalker<'_> {
    /// Hides the element if it is behind the background of an element around it.
    pub(super) fn behind(&self, frame: &mut ElementFrame) {
        let z = frame.style.size(CssProperty::ZIndex).map(|size| size.n);
        let positioned = frame.bounds.positioned;
        if positioned && z.is_some_and(|z| z < 0.0) {
            let hides = self.stack.iter().rev().take_while(|frame| !frame.stacks);
            if hides.into_iter().any(|frame| frame.opaque) {
                frame.alpha = 0.0;
            }
        }
        frame.stacks |= positioned && z.is_some();
        if positioned {
            frame.covered = false;
        }
    }

    /// Records the texts shown so far that a box may cover. Only large boxes and boxes without text
    /// count. `whole` is false for a pseudo-element.
    pub(super) fn cover(&mut self, frame: &ElementFrame, whole: bool) {
        let style = &frame.style;
        let around = &self.around().bounds;
        // Pictures and inline blocks are painted with the lines, over the lines before them.
        let display = style.keyword(P::Display);
        let atomic = frame.picture || display == Some("inline-block");
        let (x, y) = frame.bounds.from(around);
        let up = y <= -UP || atomic && x <= -BACK;
        let lifted = style.is_lifted();
        // An opaque box that fills a lifted one covers as much as that one.
        let within = self.stack.iter().rposition(|frame| frame.style.is_lifted()).filter(|_| {
            let fills = |side, least| {
                style.size(side).is_some_and(|size| size.n >= least || size.part >= 0.5)
            };
            let wide = style.size(P::Width).is_none() && !frame.bounds.inline;
            whole
                && frame.opaque
                && !lifted
                && (wide || fills(P::Width, 200.0))
                && fills(P::Height, 20.0)
        });
        let over = frame.bounds.positioned || (frame.stacks || atomic) && up || within.is_some();
        if style.has(OtherEffect::Spreads) {
            self.covers.push(self.shown.len().saturating_sub(1)..self.shown.len());
        }
        let edges = style.has(OtherEffect::Paints) || style.has(OtherEffect::Spreads);
        let paints = frame.opaque
            || edges
            || style.unclear
            || frame.picture
            || style.images(P::BackgroundImage).contains(&CssImage::Picture);
        let under = frame.style.size(CssProperty::ZIndex).is_some_and(|z| z.n < 0.0);
        // A thin box does not cover a line of text, unless its borders are thick.
        let flat = |side: Option<f32>| side.is_some_and(|side| side < 20.0) && !edges;
        let (width, height) = frame.bounds.size();
        // Text under a translucent box can still be read.
        let faint = style.size(P::Opacity).is_some_and(|opacity| opacity.fraction() < 0.5);
        if !paints || under || faint || !over || flat(width) || flat(height) {
            return;
        }
        let text = |id: NodeId| {
            !self.cascade.spend(1) || self.tree.text(id).is_some_and(|text| !text.trim().is_empty())
        };
        let wide = |px: Option<f32>, [size, from, to]: [P; 3], least: f32| {
            px.is_some_and(|px| px >= least)
                || style.size(size).is_some_and(|size| size.part >= 0.5)
                || style.size(from).is_some() && style.size(to).is_some()
        };
        let large = lifted
            && wide(width, [P::Width, P::Left, P::Right], 200.0)
            && wide(height, [P::Height, P::Top, P::Bottom], 20.0);
        if whole && !large && self.tree.below(frame.id).any(text)
            || !lifted && within.is_none() && !frame.bounds.rises && !up
        {
            return;
        }
        // In the flow, only the last text before the box can be under it.
        if !lifted && within.is_none() {
            self.covers.push(self.shown.len().saturating_sub(1)..self.shown.len());
            return;
        }
        // A lifted box may cover everything in the positioned element around it.
        let end = within.unwrap_or(self.stack.len());
        let to = self.stack.get(end).map_or(self.shown.len(), |frame| frame.first_text);
        let holder = self.stack.iter().take(end).rposition(|frame| frame.bounds.positioned);
        let from = holder.and_then(|at| self.stack.get(at)).map_or(0, |frame| frame.first_text);
        self.covers.push(from..to);
        for frame in self.stack.iter_mut().take(end).skip(holder.unwrap_or(0)) {
            frame.covered = true;
        }
    }

    /// Records the texts that a pseudo-element with generated content may cover.
    pub(super) fn cover_generated(&mut self, style: Option<Box<ComputedStyle>>) {
        let Some((style, holder)) = style.zip(self.stack.last()) else { return };
        if !matches!(style.keyword(P::Content), Some("text" | "picture"))
            || style.is(P::Display, "none")
            || is_unseen(&style)
        {
            return;
        }
        let bounds =
            ElementBounds::of(self.tree, holder.id, &style, &holder.bounds, &mut self.boxes);
        let mut frame = ElementFrame {
            picture: style.is(P::Content, "picture"),
            stacks: style.size(P::Opacity).is_some_and(|opacity| opacity.n < 1.0),
            style: *style,
            bounds,
            ..holder.clone()
        };
        if !self.transforms(&mut frame) {
            frame.opaque = frame.ground.painted_with(&frame.style).1;
            self.cover(&frame, false);
        }
    }
}
