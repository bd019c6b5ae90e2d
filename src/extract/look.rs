//! How text looks, as far as it decides whether people see it.

use crate::How;

/// The colour of paper.
pub const WHITE: Paint = Paint::Rgb([255; 3]);

/// A colour, as far as it is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Paint {
    /// The one that contrasts with its ground, or one that is not known.
    Other,
    /// Red, green and blue.
    Rgb([u8; 3]),
}

impl Paint {
    /// Returns true for two colours that are known, and that nobody tells apart.
    pub fn alike(self, other: Self) -> bool {
        match (self, other) {
            (Self::Rgb(one), Self::Rgb(other)) => alike(one, other),
            _ => false,
        }
    }
}

/// Where text stands beside its line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shift {
    /// On it.
    #[default]
    Base,
    /// Above it, as an exponent.
    Up,
    /// Below it, as an index.
    Down,
}

impl Shift {
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
pub struct Look {
    /// Marked as hidden.
    pub vanish: Option<bool>,
    /// The colour of the text.
    pub colour: Option<Paint>,
    /// What lies behind the text.
    pub ground: Option<Paint>,
    /// The size in half points.
    pub size: Option<f64>,
    /// The width of the glyphs in per cent.
    pub width: Option<f64>,
    /// True if the text has no fill.
    pub empty: Option<bool>,
    /// True if the text is struck out.
    pub struck: Option<bool>,
    /// Where the text stands.
    pub shift: Option<Shift>,
    /// True while properties of the fill of the text are read.
    pub fill: bool,
    /// True if lines have no height.
    pub flat: Option<bool>,
    /// The level of a heading, from 0; 9 is text.
    pub outline: Option<usize>,
    /// The list that numbers the paragraph, and the level in it.
    pub list: Option<String>,
    /// The level in that list.
    pub level: Option<usize>,
}

impl Look {
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
            flat: self.flat.or(base.flat),
            outline: self.outline.or(base.outline),
            list: self.list.clone().or_else(|| base.list.clone()),
            level: self.level.or(base.level),
        }
    }

    /// Returns how text that looks so is hidden, on a ground that nothing else is known of.
    pub fn hidden(&self, ground: Paint) -> Option<How> {
        let least = |value: Option<f64>, least: f64| value.is_some_and(|value| value <= least);
        let ground = self.ground.unwrap_or(ground);
        let same = self.colour.is_some_and(|text| text.alike(ground));
        let hides = [
            (self.vanish == Some(true), How::Marked),
            (least(self.size, 2.0) || least(self.width, 5.0), How::Tiny),
            (self.empty == Some(true), How::Transparent),
            (self.flat == Some(true), How::Clipped),
            (same, How::Colour),
        ];
        hides.into_iter().find_map(|(hides, how)| hides.then_some(how))
    }
}

/// Reads a colour of six hexadecimal digits, with or without `#`.
pub fn colour(hex: &str) -> Option<[u8; 3]> {
    let hex = hex.trim().trim_start_matches('#');
    let value = u32::from_str_radix(hex, 16).ok().filter(|_| hex.len() == 6)?;
    let [_, red, green, blue] = value.to_be_bytes();
    Some([red, green, blue])
}

/// Returns true for colours that nobody tells apart.
pub fn alike(one: [u8; 3], other: [u8; 3]) -> bool {
    one.iter().zip(other).all(|(one, other)| one.abs_diff(other) <= 20)
}
