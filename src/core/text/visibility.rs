//! Visibility of text to people who read a message or a file.
//!
//! HTML, PDF, Office documents, rtf and sheets are judged by the same thresholds. Sizes are in points;
//! a pixel of CSS is three quarters of a point.

use color::{AlphaColor, Oklab, Srgb};
use serde::{Deserialize, Serialize};

/// Size of a pixel of CSS, in points.
pub const PIXEL: f64 = 0.75;
/// Size below which text is not read, in points.
pub const TINY: f64 = 1.5;
/// Size up to which text is hardly read, in points.
pub const SMALL: f64 = 3.75;
/// Size from which pale text is read, in points: a pale word across a page is a watermark.
pub const LARGE: f64 = 18.0;
/// Height of a line, or width of a column, up to which no text is seen, in points.
pub const FLAT: f64 = 1.5;
/// Opacity below which text is not seen in any colour.
pub const CLEAR: f32 = 0.04;

/// Minimum distance of colours that can be distinguished: `#f4f4f4` on white is not seen, `#eee`
/// is.
const ALIKE: f32 = 0.04;
/// The same for each of red, green and blue; `#0a0a0a` on black is not seen.
const NEAR: f32 = 0.045;
/// Minimum distance of text that is not easily overlooked: `#ddd` on white, but not `#eee`.
const PALE: f32 = 0.075;

/// A way in which text is hidden from people.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum HidingMethod {
    /// Drawn in an invisible rendering mode.
    Invisible,
    /// In the colour of its background.
    Colour,
    /// Hardly darker or lighter than its background.
    Pale,
    /// On a picture or a gradient that may have its colour.
    Picture,
    /// Too small to be read.
    Tiny,
    /// Outside the page.
    OffPage,
    /// Outside its clipping area.
    Clipped,
    /// Below an opaque shape.
    Covered,
    /// Transparent.
    Transparent,
    /// On a layer that is switched off.
    Layer,
    /// Marked as hidden.
    Marked,
    /// By a style that is not computed.
    Style,
    /// In a hidden row.
    Row,
    /// In a hidden column.
    Column,
    /// In a row that a filter hides.
    Filtered,
}

impl HidingMethod {
    /// Returns the method in words, as in "may be hidden (covered)"; empty for rows and columns, whose
    /// notes name the method.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Invisible => "invisible",
            Self::Colour => "in the background colour",
            Self::Pale => "pale",
            Self::Picture => "on a picture or gradient",
            Self::Tiny => "tiny",
            Self::OffPage => "off the page",
            Self::Clipped => "clipped",
            Self::Covered => "covered",
            Self::Transparent => "transparent",
            Self::Layer => "on layers that are switched off",
            Self::Marked => "marked as hidden",
            Self::Style => "by style",
            Self::Filtered => "by a filter",
            Self::Row | Self::Column => "",
        }
    }
}

/// The visibility of a text, in order of increasing certainty that it is hidden.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum TextVisibility {
    /// People see it.
    #[default]
    Seen,
    /// It may be hidden in this way.
    Doubt(HidingMethod),
    /// It is hidden in this way.
    Hidden(HidingMethod),
}

impl TextVisibility {
    /// Returns this visibility, or hidden in the way `how` if it is not hidden already.
    pub fn or(self, how: Option<HidingMethod>) -> Self {
        match (self, how) {
            (Self::Seen | Self::Doubt(_), Some(how)) => Self::Hidden(how),
            _ => self,
        }
    }

    /// Returns the visibility of text within an element of the visibility `outer`.
    pub fn within(self, outer: Self) -> Self {
        match outer {
            Self::Hidden(_) => outer,
            _ => self.max(outer),
        }
    }

    /// Returns true if people do not see the text.
    pub fn is_hidden(self) -> bool {
        matches!(self, Self::Hidden(_))
    }

    /// Returns the visibility of text of a size in points.
    pub fn of_size(size: f64) -> Self {
        if size < TINY {
            Self::Hidden(HidingMethod::Tiny)
        } else if size <= SMALL {
            Self::Doubt(HidingMethod::Tiny)
        } else {
            Self::Seen
        }
    }

    /// Returns the visibility of text in the colour `ink` on a background, both opaque. `alpha` is
    /// the opacity of the text, and `size` its size in points.
    pub fn of_colour(ink: Rgb, background: Rgb, alpha: f32, size: f64) -> Self {
        let apart = distance(ink, background) * alpha;
        if apart < ALIKE || nearest(ink, background) * alpha < NEAR {
            Self::Hidden(HidingMethod::Colour)
        } else if apart < PALE && size < LARGE {
            Self::Doubt(HidingMethod::Pale)
        } else {
            Self::Seen
        }
    }
}

/// Red, green and blue, from 0 to 1.
pub type Rgb = [f32; 3];

/// Returns the perceived distance between two colours in Oklab; black and white are 1 apart.
fn distance(one: Rgb, other: Rgb) -> f32 {
    let lab = |[r, g, b]: Rgb| AlphaColor::<Srgb>::new([r, g, b, 1.0]).convert::<Oklab>();
    let (a, b) = (lab(one).components, lab(other).components);
    a.iter().zip(b).take(3).map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt()
}

/// Returns the largest difference of two colours in red, green or blue.
fn nearest(one: Rgb, other: Rgb) -> f32 {
    one.iter().zip(other).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}
