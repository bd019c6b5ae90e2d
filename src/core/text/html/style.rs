//! The look of an element, as far as it decides whether text is visible.
//!
//! Some of it hides the element with its content ([`ComputedStyle::is_hidden`]); font size, colours
//! and visibility are inherited and can be undone further down, so they are carried
//! along and checked at each text ([`ComputedStyle::shows_text`]). Newsletters set `font-size:0`
//! on a cell and `16px` in it: that is layout, not hiding.

use super::css::{self, Color, Rgb};
use super::stylesheet::Matched;
use super::tree::{Id, Tree};
use super::valid;

/// Offsets beyond this many pixels put text out of sight.
const FAR: f32 = -900.0;

/// What is behind text.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Background {
    Known(Rgb),
    /// A picture, a gradient or a value not understood.
    Unknown,
}

/// The style of one element.
#[derive(Debug, Clone)]
pub struct ComputedStyle {
    font: f32,
    line: Option<f32>,
    color: Option<Color>,
    background: Background,
    unseen: bool,
    own: OwnStyle,
}

/// What an element does not hand on to those in it.
#[derive(Debug, Clone, Default)]
struct OwnStyle {
    /// Not laid out at all.
    none: bool,
    /// Fully transparent, by one property or another.
    faded: bool,
    filtered: bool,
    skipped: bool,
    /// What does not fit into the box is cut off.
    cropped: bool,
    flat: bool,
    narrow: bool,
    max_flat: bool,
    max_narrow: bool,
    /// A minimum size undoes the size.
    stretched: bool,
    /// Moved out of sight; `moved` counts only for boxes that are `lifted`.
    lifted: bool,
    moved: bool,
    away: bool,
    clipped: bool,
    cut_out: bool,
    shrunk: bool,
    outlook_only: bool,
    /// Has a background of its own.
    backed: bool,
}

impl ComputedStyle {
    /// Returns the look of the page before any element: black on white.
    pub fn page() -> Self {
        Self {
            font: 16.0,
            line: None,
            color: None,
            background: Background::Known([255, 255, 255]),
            unseen: false,
            own: OwnStyle::default(),
        }
    }

    /// Returns the look of the element `id` inside one that looks like `self`.
    pub fn of(&self, tree: &Tree, id: Id, sheet: &Matched<'_>) -> Self {
        let mut computed = Self { own: OwnStyle::default(), ..self.clone() };
        if tree.name(id) == "a" && tree.attr(id, "href").is_some() {
            // Links have a colour of their own unless it is set on them.
            computed.color = None;
        }
        computed.attributes(tree, id);
        if sheet.maybe_background {
            computed.set_background(None);
        }
        let own = css::declarations(tree.attr(id, "style").unwrap_or_default());
        let all = || sheet.declared.iter().copied().chain(own.iter());
        for important in [false, true] {
            for declaration in all().filter(|d| d.important == important) {
                computed.apply(&declaration.name, &declaration.value, self);
            }
        }
        computed
    }

    /// Applies presentation attributes, which any style overrides.
    fn attributes(&mut self, tree: &Tree, id: Id) {
        if let Some(color) = tree.attr(id, "color").and_then(css::attribute_color) {
            self.color = Some(color);
        }
        if tree.name(id) == "body"
            && let Some(color) = tree.attr(id, "text").and_then(css::attribute_color)
        {
            self.color = Some(color);
        }
        if let Some(value) = tree.attr(id, "bgcolor") {
            self.set_background(css::attribute_color(value));
        }
        if tree.attr(id, "background").is_some_and(|url| !url.is_empty()) {
            self.set_background(None);
        }
        let open = tree.attr(id, "open").is_some();
        self.own.none = tree.attr(id, "hidden").is_some() || tree.name(id) == "dialog" && !open;
    }

    fn set_background(&mut self, color: Option<Color>) {
        match color {
            Some(Color::Solid(rgb)) => self.background = Background::Known(rgb),
            Some(Color::Clear) => return,
            None => self.background = Background::Unknown,
        }
        self.own.backed = true;
    }

    fn apply(&mut self, name: &str, value: &str, parent: &Self) {
        if !valid::counts(name, value) {
            return;
        }
        let own = &mut self.own;
        match name {
            "display" => own.none = value == "none",
            "content-visibility" => own.skipped = value == "hidden",
            "visibility" => {
                self.unseen = match value {
                    "inherit" | "unset" | "revert" | "revert-layer" => parent.unseen,
                    value => matches!(value, "hidden" | "collapse"),
                }
            }
            "opacity" => own.faded = css::fraction(value).is_some_and(|o| o < 0.05),
            "filter" => own.filtered = value.contains("opacity(0)") || value.contains("opacity(0%"),
            "transform" => own.shrunk = value.contains("scale(0)") || value.contains("scale(0,"),
            "mso-hide" => own.outlook_only = value == "all",
            "overflow" => own.cropped = crops(value),
            // A box that is cropped one way is no other way visible, either.
            "overflow-x" | "overflow-y" => own.cropped |= crops(value),
            "height" => own.flat = tiny(value),
            "max-height" => own.max_flat = tiny(value),
            "width" => own.narrow = tiny(value),
            "max-width" => own.max_narrow = tiny(value),
            "min-width" | "min-height" => {
                own.stretched |= css::pixels(value, 100.0).is_some_and(|px| px > 1.0);
            }
            "position" => own.lifted = matches!(value, "absolute" | "fixed"),
            "left" | "right" | "top" | "bottom" => own.moved |= is_offscreen(value),
            "margin-left" | "margin-top" | "text-indent" => own.away |= is_offscreen(value),
            "clip" => own.clipped = clips_all(value),
            "clip-path" => own.cut_out = clips_all(value),
            "font-size" => self.font_size(value, parent),
            "font" => self.font_size(shorthand_size(value), parent),
            "line-height" => self.line = css::pixels(value, self.font.max(1.0)),
            "color" | "-webkit-text-fill-color" => match value {
                "inherit" | "currentcolor" | "unset" | "revert-layer" => {
                    self.color = parent.color;
                }
                _ => self.color = css::color(value),
            },
            "background-color" => self.background(css::color(value), value),
            "background-image" => self.background(None, value),
            "background" if value.contains("url(") || value.contains("gradient") => {
                self.set_background(None);
            }
            "background" => {
                let color = css::split(value, ' ').find_map(css::color);
                self.background(color, value);
            }
            _ => {}
        }
    }

    fn font_size(&mut self, value: &str, parent: &Self) {
        match value {
            "inherit" | "unset" | "revert-layer" => self.font = parent.font,
            "xx-small" | "x-small" | "small" | "medium" | "large" | "x-large" | "xx-large"
            | "initial" => self.font = 16.0,
            _ => {
                if let Some(px) = css::pixels(value, parent.font) {
                    self.font = px;
                }
            }
        }
    }

    fn background(&mut self, color: Option<Color>, value: &str) {
        if !matches!(value, "none" | "inherit" | "initial" | "unset" | "") {
            self.set_background(color);
        }
    }

    /// Returns true if neither the element nor anything in it can be seen. `tag` is its
    /// name: `mso-hide` hides only from Outlook, and what other programs show instead
    /// is a link or a box of its own.
    pub fn is_hidden(&self, tag: &str) -> bool {
        let own = &self.own;
        own.none
            || own.faded
            || own.filtered
            || own.skipped
            || own.shrunk
            || own.clipped
            || own.cut_out
            || own.away
            || own.moved && own.lifted
            || own.outlook_only && !own.backed && tag != "a"
            || own.max_flat
            || (own.flat || own.narrow || own.max_narrow) && own.cropped && !own.stretched
    }

    /// Returns true if text right in this element can be seen.
    pub fn shows_text(&self) -> bool {
        let squeezed = self.line.is_some_and(|line| line <= 1.0) && self.font <= 4.0;
        let blends = match (self.color, self.background) {
            (Some(Color::Clear), _) => true,
            (Some(Color::Solid(text)), Background::Known(ground)) => css::alike(text, ground),
            _ => false,
        };
        !(self.unseen || self.font <= 1.0 || squeezed || blends)
    }

    /// Returns true if pictures right in this element can be seen.
    pub fn shows_pictures(&self) -> bool {
        !self.unseen
    }
}

/// Returns true for a box that shows nothing beyond its edges unasked.
fn crops(value: &str) -> bool {
    ["hidden", "clip", "scroll", "auto"].iter().any(|word| value.contains(word))
}

/// Returns true for a length of at most one pixel, or of no part of something.
fn tiny(value: &str) -> bool {
    css::pixels(value, 100.0).is_some_and(|px| px <= 1.0)
}

/// Returns true for an offset that puts text out of sight: by a thousand pixels, or by
/// a whole screen, whatever its size.
fn is_offscreen(value: &str) -> bool {
    let screens = ["%", "vw", "vh"]
        .iter()
        .filter_map(|unit| value.strip_suffix(unit))
        .filter_map(|number| number.parse::<f32>().ok())
        .any(|number| number <= -100.0);
    screens || css::pixels(value, 16.0).is_some_and(|px| px <= FAR)
}

/// Returns true for the shapes that leave nothing, as used to keep text for screen readers only.
fn clips_all(value: &str) -> bool {
    let digits: String = value.chars().filter(|c| !matches!(c, ' ' | ',' | 'p' | 'x')).collect();
    ["rect(0000)", "rect(1111)", "inset(50%)", "inset(100%)", "circle(0"]
        .iter()
        .any(|shape| digits.starts_with(shape))
}

/// Returns the size in a `font` shorthand: the first length that is no weight.
fn shorthand_size(value: &str) -> &str {
    value
        .split(['/', ' '])
        .find(|part| {
            let weight = part.len() == 3 && part.ends_with("00");
            !weight && part.starts_with(|c: char| c.is_ascii_digit() || c == '.')
        })
        .unwrap_or_default()
}
