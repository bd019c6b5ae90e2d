//! Moving the samples' dates by whole weeks, so that they are around another day.
//!
//! The samples were written for the days around Monday, 16 November 2026, and their texts mention
//! dates, which have to move with the messages. Weekdays and times of day remain. The supported
//! notations are the ones in the samples: RFC 5322, iCalendar, ISO 8601, `5.10.2026`, `11/10/2026`
//! (month first), and days with an English or French month name, single or in pairs (`23 and 25
//! November`). Text without a day (`in December`) is unchanged, as are the few dates in Russian and
//! Chinese.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::civil::{Date, date};
use jiff::{Span, Unit};
use mail_parser::{Encoding, MessageParser, PartType};
use regex::bytes::{Captures, Regex};

/// The first day on which the samples are current: their last messages arrived the day before, and
/// their busiest week begins three days later.
const PRESENT: Date = date(2026, 11, 13);

/// The separator between the words of a date: white space as in quoted-printable, encoded words,
/// quoted mail and folded lines.
const GAP: &str = r"(?:[ \t_\xa0]|=20|=C2=A0|\xc2\xa0|\r?\n[ \t>]*|&nbsp;)+";

/// Month names: English, abbreviated English, and French in quoted-printable UTF-8.
const MONTHS: [[&str; 12]; 3] = [
    [
        "January", "February", "March", "April", "May", "June", "July", "August", "September",
        "October", "November", "December",
    ],
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"],
    [
        "janvier", "f=C3=A9vrier", "mars", "avril", "mai", "juin", "juillet", "ao=C3=BBt",
        "septembre", "octobre", "novembre", "d=C3=A9cembre",
    ],
];

/// All notations of a date.
static DATES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // `3. May I …` is not a date, and the samples have no dates in May.
    let names = MONTHS.iter().flatten().filter(|name| **name != "May" && **name != "mai");
    let month = names.copied().collect::<Vec<_>>().join("|");
    let day = "0?[1-9]|[12][0-9]|3[01]";
    let year = "2026|2027";
    Regex::new(&format!(
        r"(?x-u)
        \b(?P<iso_y>{year})-(?P<iso_m>\d\d)-(?P<iso_d>\d\d)\b
        | \b(?P<ics_y>{year})(?P<ics_m>0[1-9]|1[0-2])(?P<ics_d>0[1-9]|[12]\d|3[01])(?P<ics_t>T\d{{6}}|\b)
        | \b(?P<dot_d>{day})\.(?P<dot_m>0?[1-9]|1[0-2])\.(?P<dot_y>{year})\b
        | \b(?P<us_m>0?[1-9]|1[0-2])/(?P<us_d>{day})/(?P<us_y>{year})\b
        | \b(?:(?P<from>{day})(?P<join>-|{GAP}(?:and|to|or){GAP}))?
          (?P<day>{day})(?P<ord>st|nd|rd|th)?(?P<of>\.?{GAP}(?:of{GAP})?)(?P<month>{month})\b
          (?:(?P<gap>,?{GAP})(?P<year>\d{{4}})\b)?
        | \b(?P<first>{month})(?P<then>{GAP})(?P<last>{day})\b",
        GAP = GAP.replace(' ', r"\x20"),
    ))
    .ok()
});

/// A run of encoded words in Base64, because one text may be split into several words.
static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let word = r"=\?(?i:utf-8\?b)\?([A-Za-z0-9+/=]+)\?=";
    Regex::new(&format!(r"(?-u){word}(?:\r\n\x20{word})*")).ok()
});

/// A move by whole weeks.
#[derive(Debug, Clone, Copy)]
pub(super) struct WeekShift {
    days: i64,
}

impl WeekShift {
    /// Returns the move that makes the samples current on `today`, or `None` if no move is
    /// necessary.
    pub(super) fn to(today: Option<Date>) -> Option<Self> {
        let days = i64::from(PRESENT.until((Unit::Day, today?)).ok()?.get_days());
        // Whole weeks keep weekdays true.
        let days = days.div_euclid(7) * 7;
        (days != 0).then_some(Self { days })
    }

    /// Returns a time in seconds, moved.
    pub(super) fn seconds(self, time: i64) -> i64 {
        time + self.days * 86_400
    }

    /// Returns a message with its dates moved, including encoded ones.
    pub(super) fn message(self, raw: &[u8]) -> Vec<u8> {
        let mut out = raw.to_vec();
        let parsed = MessageParser::default().parse(raw);
        let parts = parsed.iter().flat_map(|message| &message.parts);
        // Backwards, so that replacing a part does not shift the offsets of parts before it.
        for part in parts.rev() {
            let range = part.raw_body_offset() as usize..part.raw_end_offset() as usize;
            let is_text = matches!(part.body, PartType::Text(_) | PartType::Html(_));
            let Some(body) = raw.get(range.clone()).filter(|_| is_text) else { continue };
            let body = match part.encoding {
                Encoding::Base64 => {
                    let text = STANDARD.encode(self.text(&decode(body)));
                    // RFC 2045, 6.8: encoded lines have at most 76 characters.
                    let lines: Vec<&[u8]> = text.as_bytes().chunks(76).collect();
                    [&lines.join(&b"\r\n"[..]), &b"\r\n"[..]].concat()
                }
                // A soft line break may split a date; the dates themselves are moved below.
                Encoding::QuotedPrintable => {
                    String::from_utf8_lossy(body).replace("=\r\n", "").into_bytes()
                }
                // Unencoded text is moved below, together with the header section.
                Encoding::None => continue,
            };
            out.splice(range, body);
        }
        let moved = |run: &Captures<'_>| self.words(run);
        let words = WORDS.as_ref().map(|words| words.replace_all(&out, moved));
        self.text(words.as_deref().unwrap_or(&out))
    }

    /// Returns a run of encoded words with its dates moved, in words of at most 45 bytes.
    fn words(self, run: &Captures<'_>) -> Vec<u8> {
        let run = run.get(0).map(|run| run.as_bytes()).unwrap_or_default();
        let text: Vec<u8> = run
            .split(|byte| *byte == b' ')
            // Ten bytes are the length of `=?utf-8?B?`.
            .filter_map(|word| word.get(10..)?.split(|byte| *byte == b'?').next())
            .flat_map(decode)
            .collect();
        let moved = self.text(&text);
        // Unchanged text keeps its division into words.
        if moved == text {
            return run.to_vec();
        }
        let mut words: Vec<String> = vec![String::new()];
        for character in String::from_utf8_lossy(&moved).chars() {
            match words.last_mut() {
                // RFC 2047, 2: a word has at most 75 characters, which is 45 bytes in Base64. Below
                // 42 bytes, one more character of up to four bytes fits.
                Some(word) if word.len() < 42 => word.push(character),
                _ => words.push(character.to_string()),
            }
        }
        let words: Vec<_> =
            words.iter().map(|word| format!("=?utf-8?B?{}?=", STANDARD.encode(word))).collect();
        words.join("\r\n ").into_bytes()
    }

    /// Returns a text with its dates moved.
    pub(super) fn text(self, raw: &[u8]) -> Vec<u8> {
        match &*DATES {
            Some(dates) => {
                dates.replace_all(raw, |found: &Captures<'_>| self.moved(found)).into_owned()
            }
            None => raw.to_vec(),
        }
    }

    /// Returns a found date, moved, or unchanged if it is not a valid date.
    fn moved(self, found: &Captures<'_>) -> Vec<u8> {
        let whole = found.get(0).map(|all| all.as_bytes().to_vec()).unwrap_or_default();
        self.rewritten(found).unwrap_or(whole)
    }

    fn rewritten(self, found: &Captures<'_>) -> Option<Vec<u8>> {
        let text = |name: &str| {
            found.name(name).and_then(|part| std::str::from_utf8(part.as_bytes()).ok())
        };
        let number = |name: &str| text(name)?.parse::<i8>().ok();
        let year = |name: &str| text(name)?.parse::<i16>().ok();
        let padded = |name: &str, value: i8| {
            if text(name).is_some_and(|old| old.starts_with('0')) {
                format!("{value:02}")
            } else {
                value.to_string()
            }
        };
        let numeric =
            [("iso", "%Y-%m-%d"), ("ics", "%Y%m%d"), ("dot", "%d.%m.%Y"), ("us", "%m/%d/%Y")];
        for (notation, format) in numeric {
            if let Some(y) = year(&format!("{notation}_y")) {
                let part = |name: &str| number(&format!("{notation}_{name}"));
                let to = self.date(y, part("m")?, part("d")?)?;
                let time = text("ics_t").unwrap_or_default();
                return Some(format!("{}{time}", to.strftime(format)).into_bytes());
            }
        }
        if let Some(name) = text("first") {
            let (names, month) = month(name)?;
            let to = self.date(year_of(month), month, number("last")?)?;
            let name = names.get(usize::try_from(to.month()).ok()? - 1)?;
            return Some(
                [
                    name.as_bytes(),
                    found.name("then")?.as_bytes(),
                    padded("last", to.day()).as_bytes(),
                ]
                .concat(),
            );
        }
        let (names, month) = month(text("month")?)?;
        let year_before = year("year").unwrap_or_else(|| year_of(month));
        // Dates in other years are not around the present of the samples.
        if !(2026..=2027).contains(&year_before) {
            return None;
        }
        let name = |date: Date| names.get(usize::try_from(date.month()).ok()? - 1).copied();
        let to = self.date(year_before, month, number("day")?)?;
        let of = found.name("of")?.as_bytes();
        let mut out = Vec::new();
        if let (Some(from), Some(join)) = (number("from"), found.name("join")) {
            let from = self.date(year_before, month, from)?;
            out.extend(from.day().to_string().into_bytes());
            // The pair shared one month name; if the move separates them, the first day needs its
            // own.
            if from.month() != to.month() {
                out.extend_from_slice(b" ");
                out.extend_from_slice(name(from)?.as_bytes());
            }
            out.extend_from_slice(join.as_bytes());
        }
        out.extend(padded("day", to.day()).into_bytes());
        if text("ord").is_some() {
            out.extend_from_slice(ordinal(to.day()).as_bytes());
        }
        out.extend_from_slice(of);
        out.extend_from_slice(name(to)?.as_bytes());
        if let Some(gap) = found.name("gap") {
            out.extend_from_slice(gap.as_bytes());
            out.extend(to.year().to_string().into_bytes());
        }
        Some(out)
    }

    fn date(self, year: i16, month: i8, day: i8) -> Option<Date> {
        Date::new(year, month, day).ok()?.checked_add(Span::new().days(self.days)).ok()
    }
}

/// Decodes Base64 with or without line breaks, the only kind in the samples.
fn decode(text: &[u8]) -> Vec<u8> {
    let text: Vec<u8> = text.iter().copied().filter(u8::is_ascii_graphic).collect();
    STANDARD.decode(text).unwrap_or_default()
}

/// Returns a month's list of names in its language, and its number.
fn month(name: &str) -> Option<(&'static [&'static str; 12], i8)> {
    MONTHS.iter().find_map(|names| {
        let at = names.iter().position(|one| *one == name)?;
        Some((names, i8::try_from(at).ok()? + 1))
    })
}

/// Returns the year of a date without one.
const fn year_of(month: i8) -> i16 {
    if month < 6 { 2027 } else { 2026 }
}

/// Returns the suffix of an ordinal.
const fn ordinal(day: i8) -> &'static str {
    match (day, day % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    }
}
