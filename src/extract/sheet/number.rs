//! Numbers, dates and times as a person reads them in a cell.

use calamine::{ExcelDateTime, ExcelDateTimeType};

/// The number of days that a workbook can count: up to the end of the year 9999.
const DAYS: f64 = 2_958_466.0;
/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// The meaning of a number in a cell.
#[derive(Debug, Clone, PartialEq, Default)]
pub enum NumberFormat {
    /// A number.
    #[default]
    Plain,
    /// A share of 1, displayed in hundredths.
    Percent,
    /// An amount of something: a currency, a unit.
    Unit(String),
    /// A number padded with zeros to this length.
    Padded(usize),
    /// A date, a time of day, or both.
    Date {
        /// True if the day is displayed.
        day: bool,
        /// True if the time is displayed.
        time: bool,
    },
    /// A length of time.
    Duration,
}

/// The visibility of a value in a section of a format.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum FormatSection {
    /// The value is displayed.
    Shown,
    /// Blank: the section has no characters.
    Empty,
    /// The value is displayed in white.
    White,
}

/// The sections of a format: for positive numbers, negative numbers, zero and text.
#[derive(Debug, Clone, Default)]
pub struct FormatSections(Vec<FormatSection>);

impl FormatSections {
    /// Parses a format code. The result is empty if its sections have conditions of their own.
    pub fn read(code: &str) -> Self {
        if code.trim().is_empty() {
            return Self::default();
        }
        let (mut sections, mut section) = (Vec::new(), FormatSection::Empty);
        let (mut text, mut colour) = (false, String::new());
        let code = code.replace("General", "@");
        let mut chars = code.chars();
        loop {
            let c = chars.next();
            match c {
                Some(';') | None => {
                    let white = colour.eq_ignore_ascii_case("white");
                    sections.push(match section {
                        // The fourth section displays text only where it has an `@`.
                        _ if sections.len() == 3 && !text => FormatSection::Empty,
                        FormatSection::Shown if white => FormatSection::White,
                        section => section,
                    });
                    (section, text) = (FormatSection::Empty, false);
                    colour.clear();
                    if c.is_none() {
                        break;
                    }
                }
                Some('"') => {
                    if chars.by_ref().take_while(|c| *c != '"').any(|c| !c.is_whitespace()) {
                        section = FormatSection::Shown;
                    }
                }
                // `_` and `*` take the next character as a width or filler, not as text.
                Some('_' | '*') => drop(chars.next()),
                Some('\\') => {
                    if chars.next().is_some_and(|c| !c.is_whitespace()) {
                        section = FormatSection::Shown;
                    }
                }
                Some('[') => {
                    let inside: String = chars.by_ref().take_while(|c| *c != ']').collect();
                    match inside.chars().next() {
                        Some('<' | '>' | '=') => return Self::default(),
                        // A currency, or an elapsed time such as `[h]`.
                        Some('$' | 'h' | 'H' | 'm' | 'M' | 's' | 'S') => {
                            section = FormatSection::Shown;
                        }
                        _ => colour = inside,
                    }
                }
                Some(c) => {
                    text |= c == '@';
                    if !c.is_whitespace() {
                        section = FormatSection::Shown;
                    }
                }
            }
        }
        Self(sections)
    }

    /// Returns the section for a number, or for text.
    pub fn section_for(&self, number: Option<f64>) -> FormatSection {
        let section = match number {
            Some(number) if number < 0.0 => 1,
            Some(0.0) => 2,
            Some(_) => 0,
            None => 3,
        };
        let usual = if number.is_some() { self.0.first() } else { None };
        self.0.get(section).or(usual).copied().unwrap_or(FormatSection::Shown)
    }
}

impl NumberFormat {
    /// Parses a format code.
    pub fn read(code: &str) -> Self {
        let code = code.replace("General", "");
        let (mut literal, mut percent, mut day, mut month, mut time) =
            (String::new(), false, false, false, false);
        let (mut zeros, mut digits) = (0, false);
        let mut chars = code.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '"' => literal.extend(chars.by_ref().take_while(|c| *c != '"')),
                '\\' => literal.extend(chars.next()),
                '_' | '*' => drop(chars.next()),
                '[' => {
                    let inside: String = chars.by_ref().take_while(|c| *c != ']').collect();
                    if let Some(symbol) = inside.strip_prefix('$') {
                        literal.push_str(symbol.split('-').next().unwrap_or_default());
                    } else if !inside.is_empty() && inside.chars().all(|c| "hmsHMS".contains(c)) {
                        // Elapsed time: hours, minutes or seconds that exceed a day.
                        return Self::Duration;
                    }
                }
                // Only the first section is read: it applies to positive numbers.
                ';' => break,
                '%' => percent = true,
                'd' | 'D' | 'y' | 'Y' => day = true,
                'm' | 'M' => month = true,
                'h' | 'H' | 's' | 'S' => time = true,
                '0' => zeros += 1,
                '#' | '?' | '.' | ',' => digits = true,
                '$' | '€' | '£' | '¥' | '₹' => literal.push(c),
                _ => {}
            }
        }
        let unit = literal.trim();
        if percent {
            Self::Percent
        } else if day || month || time {
            // `m` means months, but minutes next to hours or seconds.
            Self::Date { day: day || (month && !time), time }
        } else if !unit.is_empty()
            && unit.chars().count() <= 12
            && !unit.chars().any(|c| c.is_ascii_digit() || "/-()+:".contains(c))
        {
            Self::Unit(unit.to_owned())
        } else if (2..=20).contains(&zeros) && !digits {
            Self::Padded(zeros)
        } else {
            Self::Plain
        }
    }

    /// Returns the format that a number identifies instead of a code.
    pub fn built_in(id: u32) -> Self {
        let date = |day, time| Self::Date { day, time };
        match id {
            9 | 10 => Self::Percent,
            14..=17 | 27..=31 | 34..=36 | 50..=58 => date(true, false),
            18..=21 | 32 | 33 | 45 | 47 => date(false, true),
            22 => date(true, true),
            46 => Self::Duration,
            _ => Self::Plain,
        }
    }
}

/// Returns a number in JSON's notation, with at most the digits that a workbook displays.
pub fn number(value: f64) -> String {
    let value: f64 = format!("{value:.14e}").parse().unwrap_or(value);
    let size = value.abs();
    if size != 0.0 && !(1e-7..1e15).contains(&size) {
        return format!("{value:e}");
    }
    if value == 0.0 { "0".to_owned() } else { value.to_string() }
}

/// Returns a date or time, or `None` if the number is out of range.
pub fn date(value: f64, day: bool, clock: bool, from_1904: bool) -> Option<String> {
    if !(0.0..DAYS).contains(&value) {
        return None;
    }
    // Rounded to seconds, as sums of fractions are inexact. The small addition prevents a second
    // from being truncated.
    let value = (value * DAY).round() / DAY + 1e-9;
    let value = ExcelDateTime::new(value, ExcelDateTimeType::DateTime, from_1904);
    let (year, month, date, hour, minute, second, _) = value.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{date:02}");
    let clock = clock.then(|| time(u64::from(hour), minute, second));
    Some(match (day, clock) {
        (true, Some(clock)) => format!("{date} {clock}"),
        (_, None) => date,
        (false, Some(clock)) => clock,
    })
}

/// Returns a time of day.
pub fn time(hour: u64, minute: u8, second: u8) -> String {
    if second == 0 {
        format!("{hour:02}h{minute:02}")
    } else {
        format!("{hour:02}:{minute:02}:{second:02}")
    }
}

/// Returns a length of time, given in days.
pub fn duration(days: f64) -> String {
    let sign = if days < 0.0 { "-" } else { "" };
    let seconds = (days.abs() * DAY).round() as u64;
    let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if rest == 0 {
        format!("{sign}{hours}:{minutes:02}")
    } else {
        format!("{sign}{hours}:{minutes:02}:{rest:02}")
    }
}

/// Returns the name of a column by its index, from 0.
pub fn column(mut index: u32) -> String {
    let mut name = Vec::new();
    loop {
        name.push(char::from(b'A' + (index % 26) as u8));
        index /= 26;
        if index == 0 {
            return name.into_iter().rev().collect();
        }
        index -= 1;
    }
}
