//! Appearance of text, as far as it decides on visibility.

use daysheet_core::text::visibility::{FLAT, HidingMethod, LARGE, Rgb, TextVisibility};

/// The colour of paper.
pub const WHITE: InkColour = InkColour::Rgb([255; 3]);

/// The default size of text, in points.
const USUAL: f64 = 12.0;
/// The rise or drop, in points, from which text is outside any page.
const FAR: f64 = 500.0;
/// The rise or drop, in points, from which text may be outside a page or slide.
const RAISED: f64 = 100.0;
/// The largest average width of a character, as a fraction of its size.
const ADVANCE: f64 = 0.7;
/// The tightening between letters, as a fraction of their size, from which they overlap.
const CLOSE: f64 = 0.4;

/// A colour, if it can be determined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InkColour {
    /// An unknown colour, or the automatic one that contrasts with its background.
    Other,
    /// Red, green and blue.
    Rgb([u8; 3]),
}

impl InkColour {
    /// Returns true if both colours are known and look the same.
    pub fn alike(self, other: Self) -> bool {
        self.on(other, LARGE).is_hidden()
    }

    /// Returns the visibility of text of this colour and this size, in points, on a background.
    pub fn on(self, background: Self, size: f64) -> TextVisibility {
        // Without both colours there is no contrast to judge; automatic text is always legible.
        let (Self::Rgb(text), Self::Rgb(background)) = (self, background) else {
            return TextVisibility::Seen;
        };
        TextVisibility::of_colour(channels(text), channels(background), 1.0, size)
    }
}

/// The position of text relative to its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BaselineShift {
    /// On the line.
    #[default]
    Base,
    /// Above it, as an exponent.
    Up,
    /// Below it, as an index.
    Down,
}

impl BaselineShift {
    /// Returns the position of text that is raised by this distance.
    pub fn new(raised: f64) -> Self {
        match raised {
            raised if raised > 0.0 => Self::Up,
            raised if raised < 0.0 => Self::Down,
            _ => Self::Base,
        }
    }
}

/// The properties that a style or run states; `None` if it does not.
#[derive(Debug, Clone, Default)]
pub struct RunStyle {
    /// Marked as hidden.
    pub vanish: Option<bool>,
    /// The colour of the text.
    pub colour: Option<InkColour>,
    /// The colour behind the text.
    pub background: Option<InkColour>,
    /// True if `background` comes from a highlighter, which covers other backgrounds.
    pub marked: bool,
    /// The size in half points.
    pub size: Option<f64>,
    /// The width of the glyphs in per cent.
    pub width: Option<f64>,
    /// The factor by which the text is scaled.
    pub scale: Option<f64>,
    /// The extra space between letters, in points; negative if they are closer than usual.
    pub spacing: Option<f64>,
    /// The distance of the text above its line, in points.
    pub raised: Option<f64>,
    /// The same distance as a fraction of the text's size.
    pub lift: Option<f64>,
    /// The indent of the lines from the margin of the page, in points.
    pub left: Option<f64>,
    /// The indent of the first line relative to the others, in points.
    pub first: Option<f64>,
    /// True if the text has no fill.
    pub empty: Option<bool>,
    /// True if the text is struck out.
    pub struck: Option<bool>,
    /// The position of the text relative to its line.
    pub shift: Option<BaselineShift>,
    /// True while the properties of the text's fill are read.
    pub fill: bool,
    /// The height of lines in points; infinite if they adapt to their text.
    pub line: Option<f64>,
    /// The level of a heading, from 0; 9 is body text.
    pub outline: Option<usize>,
    /// The list that numbers the paragraph.
    pub list: Option<String>,
    /// The level in that list.
    pub level: Option<usize>,
}

impl RunStyle {
    /// Returns these properties, completed from `base`.
    pub fn over(&self, base: &Self) -> Self {
        Self {
            vanish: self.vanish.or(base.vanish),
            colour: self.colour.or(base.colour),
            background: self.background.or(base.background),
            size: self.size.or(base.size),
            width: self.width.or(base.width),
            empty: self.empty.or(base.empty),
            struck: self.struck.or(base.struck),
            shift: self.shift.or(base.shift),
            fill: false,
            marked: false,
            scale: self.scale.or(base.scale),
            spacing: self.spacing.or(base.spacing),
            raised: self.raised.or(base.raised),
            lift: self.lift.or(base.lift),
            left: self.left.or(base.left),
            first: self.first.or(base.first),
            line: self.line.or(base.line),
            outline: self.outline.or(base.outline),
            list: self.list.clone().or_else(|| base.list.clone()),
            level: self.level.or(base.level),
        }
    }

    /// Returns the visibility of text with these properties; `background` applies if they state no
    /// background.
    pub fn visibility(&self, background: InkColour) -> TextVisibility {
        let least = |value: Option<f64>, least: f64| value.is_some_and(|value| value <= least);
        let background = self.background.unwrap_or(background);
        let size = self.points();
        let colour = self.colour.map_or(TextVisibility::Seen, |text| text.on(background, size));
        // Letters this close are drawn over each other.
        let close = self.spacing.is_some_and(|spacing| spacing <= -CLOSE * size);
        let lift = self.lift.unwrap_or_default() * self.whole();
        let raised = (self.raised.unwrap_or_default() + lift).abs();
        let clipped = self.line.is_some_and(|line| line < FLAT || raised >= line);
        let hides = [
            (self.vanish == Some(true), HidingMethod::Marked),
            (least(self.width, 5.0) || close, HidingMethod::Tiny),
            (self.empty == Some(true), HidingMethod::Transparent),
            (clipped, HidingMethod::Clipped),
            (raised >= FAR, HidingMethod::OffPage),
        ];
        let hides = hides.into_iter().find_map(|(hides, how)| hides.then_some(how));
        match colour.or(hides).max(TextVisibility::of_size(size)) {
            TextVisibility::Seen if raised >= RAISED => {
                TextVisibility::Doubt(HidingMethod::OffPage)
            }
            visibility => visibility,
        }
    }

    /// Returns the way in which text with these properties is hidden, as in a cell.
    pub fn hidden(&self, background: InkColour) -> Option<HidingMethod> {
        match self.visibility(background) {
            TextVisibility::Hidden(how) => Some(how),
            _ => None,
        }
    }
}

impl RunStyle {
    /// Returns the size in points before scaling.
    fn whole(&self) -> f64 {
        self.size.map_or(USUAL, |size| size / 2.0)
    }

    /// Returns the size in points.
    fn points(&self) -> f64 {
        self.whole() * self.scale.unwrap_or(1.0)
    }

    /// Returns the visibility of a paragraph on a page of this width in points. It is off the page
    /// if even its longest line ends left of it, or if it begins beyond the right edge. `margins`
    /// are the smallest and largest left margins of lines without an indent.
    pub fn visibility_on_page(&self, text: &str, page: f64, margins: (f64, f64)) -> TextVisibility {
        let (left, first) = (self.left.unwrap_or_default(), self.first.unwrap_or_default());
        let reach = |line: &str| line.chars().count() as f64 * self.points() * ADVANCE;
        // Glyph widths are unknown here: overestimate the reach, so that visible text is never
        // hidden.
        let longest = text.lines().map(reach).fold(0.0, f64::max);
        let opening = text.lines().next().map(reach).unwrap_or_default().min(page);
        let ends = margins.1 + left.max(left + first) + longest;
        if left.min(left + first) + margins.0.min(page) >= page || ends < 0.0 {
            TextVisibility::Hidden(HidingMethod::OffPage)
        } else if margins.1 + left + first + opening < 0.0 {
            // Some programs apply a negative first-line indent, and some do not.
            TextVisibility::Doubt(HidingMethod::OffPage)
        } else {
            TextVisibility::Seen
        }
    }
}

/// The largest page of a document, in points.
#[derive(Debug, Clone, Copy)]
pub struct PageSize {
    /// Its width.
    pub wide: f64,
    /// Its height.
    pub high: f64,
    /// The largest margin on its left.
    pub margin: f64,
}

impl PageSize {
    /// Returns true if an object of the length `long` is off a page of the length `page` in this
    /// direction. `from` is its distance from `edge`: the page, its margin, or something else.
    pub fn is_beside(&self, (from, edge): (f64, &str), long: Option<f64>, page: f64) -> bool {
        // The rightmost possible origin of the distance.
        let begins = match edge {
            "page" => 0.0,
            "margin" => self.margin.max(page / 8.0),
            _ => page,
        };
        // A frame without a size is as large as its words.
        from >= page || begins + from + long.unwrap_or(page / 4.0) <= 0.0
    }
}

/// Parses a colour of six hexadecimal digits, with or without `#`.
pub fn colour(hex: &str) -> Option<[u8; 3]> {
    let hex = hex.trim().trim_start_matches('#');
    let value = u32::from_str_radix(hex, 16).ok().filter(|_| hex.len() == 6)?;
    let [_, red, green, blue] = value.to_be_bytes();
    Some([red, green, blue])
}

/// Returns the channels of a colour, from 0 to 1.
pub fn channels(colour: [u8; 3]) -> Rgb {
    colour.map(|channel| f32::from(channel) / 255.0)
}
