//! How text looks, as far as it decides whether people see it.

use crate::HidingMethod;

/// The colour of paper.
pub const WHITE: InkColour = InkColour::Rgb([255; 3]);

/// The size below which text is too small to be read, in points: 3 pixels.
pub const TINY: f64 = 2.25;
/// The size up to which few read it, in points: 5 pixels, as in HTML.
const SMALL: f64 = 3.75;
/// Differences of a channel, of 255, up to which nobody tells two colours apart.
pub const ALIKE: u8 = 20;
/// Differences up to which they are hard to tell apart.
pub const PALE: u8 = 36;
/// The size from which such text can be read, in points: a pale word across a page is a
/// watermark.
pub const LARGE: f64 = 24.0;
/// The size of text that states none, in points.
const USUAL: f64 = 12.0;
/// The height of a line, or the side of a box, below which nobody sees its text, in points.
pub const FLAT: f64 = 2.0;
/// The most that text can be raised or lowered, in points, without leaving any page.
const FAR: f64 = 500.0;
/// The most that text can be raised, in points, without leaving a page or a slide.
const RAISED: f64 = 100.0;
/// The greatest average width of a character, as a part of its size.
const ADVANCE: f64 = 0.7;
/// How much closer letters may stand, of their size: beyond it they lie on each other.
const CLOSE: f64 = 0.4;

/// Whether people see a text, the surest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum TextVisibility {
    /// They do.
    #[default]
    Seen,
    /// It may be hidden so.
    Doubt(HidingMethod),
    /// It is hidden so.
    Hidden(HidingMethod),
}

impl TextVisibility {
    /// Returns this, or that the text is hidden by something else.
    pub fn or(self, how: Option<HidingMethod>) -> Self {
        match (self, how) {
            (Self::Seen | Self::Doubt(_), Some(how)) => Self::Hidden(how),
            _ => self,
        }
    }

    /// Returns whether text of this sight is seen within something of that one.
    pub fn within(self, outer: Self) -> Self {
        match outer {
            Self::Hidden(_) => outer,
            _ => self.max(outer),
        }
    }
}

/// A colour, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InkColour {
    /// The one that contrasts with its ground, or one that is not known.
    Other,
    /// Red, green and blue.
    Rgb([u8; 3]),
}

impl InkColour {
    /// Returns true for two colours that are known, and that nobody tells apart.
    pub fn alike(self, other: Self) -> bool {
        match (self, other) {
            (Self::Rgb(one), Self::Rgb(other)) => apart(one, other) <= ALIKE,
            _ => false,
        }
    }

    /// Returns whether text of this colour, and of this size in points, is seen on a ground.
    pub fn on(self, ground: Self, size: f64) -> TextVisibility {
        let (Self::Rgb(text), Self::Rgb(ground)) = (self, ground) else {
            return TextVisibility::Seen;
        };
        match apart(text, ground) {
            apart if apart <= ALIKE => TextVisibility::Hidden(HidingMethod::Colour),
            apart if apart <= PALE && size < LARGE => TextVisibility::Doubt(HidingMethod::Colour),
            _ => TextVisibility::Seen,
        }
    }
}

/// Where text stands beside its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BaselineShift {
    /// On it.
    #[default]
    Base,
    /// Above it, as an exponent.
    Up,
    /// Below it, as an index.
    Down,
}

impl BaselineShift {
    /// Returns where text stands that is raised by so much.
    pub fn of(raised: f64) -> Self {
        match raised {
            raised if raised > 0.0 => Self::Up,
            raised if raised < 0.0 => Self::Down,
            _ => Self::Base,
        }
    }
}

/// What a style or a run says; `None` where it says nothing.
#[derive(Debug, Clone, Default)]
pub struct RunStyle {
    /// Marked as hidden.
    pub vanish: Option<bool>,
    /// The colour of the text.
    pub colour: Option<InkColour>,
    /// What lies behind the text.
    pub ground: Option<InkColour>,
    /// True if that is a marker's, which covers other grounds.
    pub marked: bool,
    /// The size in half points.
    pub size: Option<f64>,
    /// The width of the glyphs in per cent.
    pub width: Option<f64>,
    /// The part of that size that the text has.
    pub scale: Option<f64>,
    /// How much wider than usual letters stand apart, in points.
    pub spacing: Option<f64>,
    /// How far the text is above its line, in points.
    pub raised: Option<f64>,
    /// The same as a part of its size.
    pub lift: Option<f64>,
    /// How far lines are from the margin of the page, and the first one from the others, in
    /// points.
    pub left: Option<f64>,
    /// How far the first line is from the others.
    pub first: Option<f64>,
    /// True if the text has no fill.
    pub empty: Option<bool>,
    /// True if the text is struck out.
    pub struck: Option<bool>,
    /// Where the text stands.
    pub shift: Option<BaselineShift>,
    /// True while properties of the fill of the text are read.
    pub fill: bool,
    /// The height of lines in points; infinite if they are as high as their text.
    pub line: Option<f64>,
    /// The level of a heading, from 0; 9 is text.
    pub outline: Option<usize>,
    /// The list that numbers the paragraph, and the level in it.
    pub list: Option<String>,
    /// The level in that list.
    pub level: Option<usize>,
}

impl RunStyle {
    /// Returns this, with what it does not say from `base`.
    pub fn over(&self, base: &Self) -> Self {
        Self {
            vanish: self.vanish.or(base.vanish),
            colour: self.colour.or(base.colour),
            ground: self.ground.or(base.ground),
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

    /// Returns whether text that looks so is seen, on a ground that nothing else is known of.
    pub fn sight(&self, ground: InkColour) -> TextVisibility {
        let least = |value: Option<f64>, least: f64| value.is_some_and(|value| value <= least);
        let ground = self.ground.unwrap_or(ground);
        let size = self.points();
        let colour = self.colour.map_or(TextVisibility::Seen, |text| text.on(ground, size));
        let close = self.spacing.is_some_and(|spacing| spacing <= -CLOSE * size);
        let lift = self.lift.unwrap_or_default() * self.whole();
        let raised = (self.raised.unwrap_or_default() + lift).abs();
        let clipped = self.line.is_some_and(|line| line < FLAT || raised >= line);
        let hides = [
            (self.vanish == Some(true), HidingMethod::Marked),
            (size < TINY || least(self.width, 5.0) || close, HidingMethod::Tiny),
            (self.empty == Some(true), HidingMethod::Transparent),
            (clipped, HidingMethod::Clipped),
            (raised >= FAR, HidingMethod::OffPage),
        ];
        let hides = hides.into_iter().find_map(|(hides, how)| hides.then_some(how));
        match colour.or(hides) {
            TextVisibility::Seen if size <= SMALL => TextVisibility::Doubt(HidingMethod::Tiny),
            TextVisibility::Seen if raised >= RAISED => {
                TextVisibility::Doubt(HidingMethod::OffPage)
            }
            sight => sight,
        }
    }

    /// Returns how text that looks so is hidden, as of the text of a cell.
    pub fn hidden(&self, ground: InkColour) -> Option<HidingMethod> {
        match self.sight(ground) {
            TextVisibility::Hidden(how) => Some(how),
            _ => None,
        }
    }
}

impl RunStyle {
    /// Returns the size in points before it is scaled.
    fn whole(&self) -> f64 {
        self.size.map_or(USUAL, |size| size / 2.0)
    }

    /// Returns the size in points.
    fn points(&self) -> f64 {
        self.whole() * self.scale.unwrap_or(1.0)
    }

    /// Returns whether a paragraph of this text is on the page, which is so wide in points. It is
    /// not if all of it is on the left, as far as it could reach, or if it begins behind the
    /// right edge. `margins` are the least and the most that lines begin at which are not moved.
    pub fn place(&self, text: &str, page: f64, margins: (f64, f64)) -> TextVisibility {
        let (left, first) = (self.left.unwrap_or_default(), self.first.unwrap_or_default());
        let reach = |line: &str| line.chars().count() as f64 * self.points() * ADVANCE;
        let longest = text.lines().map(reach).fold(0.0, f64::max);
        let opening = text.lines().next().map(reach).unwrap_or_default().min(page);
        let ends = margins.1 + left.max(left + first) + longest;
        if left.min(left + first) + margins.0.min(page) >= page || ends < 0.0 {
            TextVisibility::Hidden(HidingMethod::OffPage)
        } else if margins.1 + left + first + opening < 0.0 {
            // Some programs move the first line back, and some do not.
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
    /// Returns true if something is beside a page that is so long in this direction. It is so far
    /// from the edge of the page, from its margin, or from something else.
    pub fn is_beside(&self, (from, edge): (f64, &str), long: Option<f64>, page: f64) -> bool {
        // Where it may begin at most.
        let begins = match edge {
            "page" => 0.0,
            "margin" => self.margin.max(page / 8.0),
            _ => page,
        };
        // A frame is as large as its words if it states no size.
        from >= page || begins + from + long.unwrap_or(page / 4.0) <= 0.0
    }
}

/// Reads a colour of six hexadecimal digits, with or without `#`.
pub fn colour(hex: &str) -> Option<[u8; 3]> {
    let hex = hex.trim().trim_start_matches('#');
    let value = u32::from_str_radix(hex, 16).ok().filter(|_| hex.len() == 6)?;
    let [_, red, green, blue] = value.to_be_bytes();
    Some([red, green, blue])
}

/// Returns the largest difference of a channel of two colours.
pub fn apart(one: [u8; 3], other: [u8; 3]) -> u8 {
    one.iter().zip(other).map(|(one, other)| one.abs_diff(other)).max().unwrap_or_default()
}
