//! Dates mentioned in a text: `2026-11-18`, `18.11.`, `18 November`, `Nov 18th`, `tomorrow`,
//! `Freitag`.
//!
//! Other people's texts are searched for dates in English, German, French, Spanish and Italian;
//! the rest of the text is not interpreted. A form that means different days in different
//! countries (`3/4/2026`) is skipped. Times written by the caller are parsed by [`super::read`],
//! which refuses what it does not understand.

use jiff::civil::Date;
use jiff::{Span, ToSpan};

/// The maximum distance between a weekday and its date, in words.
const NEAR: usize = 3;

const MONTHS: [&[&str]; 12] = [
    &["january", "jan", "januar", "jänner", "janvier", "enero", "gennaio"],
    &["february", "feb", "februar", "février", "febrero", "febbraio"],
    &["march", "mar", "märz", "mär", "mars", "marzo"],
    &["april", "apr", "avril", "abril", "aprile"],
    &["may", "mai", "mayo", "maggio"],
    &["june", "jun", "juni", "juin", "junio", "giugno"],
    &["july", "jul", "juli", "juillet", "julio", "luglio"],
    &["august", "aug", "août", "agosto"],
    &["september", "sep", "sept", "septembre", "septiembre", "settembre"],
    &["october", "oct", "oktober", "okt", "octobre", "octubre", "ottobre"],
    &["november", "nov", "novembre", "noviembre"],
    &["december", "dec", "dezember", "dez", "décembre", "diciembre", "dicembre"],
];
const WEEKDAYS: [&[&str]; 7] = [
    &["monday", "montag", "lundi", "lunes", "lunedì"],
    &["tuesday", "dienstag", "mardi", "martes", "martedì"],
    &["wednesday", "mittwoch", "mercredi", "miércoles", "mercoledì"],
    &["thursday", "donnerstag", "jeudi", "jueves", "giovedì"],
    &["friday", "freitag", "vendredi", "viernes", "venerdì"],
    &["saturday", "samstag", "sonnabend", "samedi", "sábado", "sabato"],
    &["sunday", "sonntag", "dimanche", "domingo", "domenica"],
];
/// Words next to a weekday in the past.
const PAST: &[&str] =
    &["last", "letzten", "letzter", "vergangenen", "dernier", "pasado", "scorso", "scorsa"];
/// Words before a weekday of next week.
const NEXT: &[&str] = &["next", "nächsten", "nächster"];

/// Returns the days mentioned in a text that was written on the day `written`. A weekday is the
/// first one from that day on, a day without a year the nearest one.
pub fn mentioned(text: &str, written: Date) -> Vec<Date> {
    let apart = |c: char| c.is_whitespace() || ",;()[]{}<>\"'’“”„«»!?|–—".contains(c);
    let words: Vec<String> =
        text.split(apart).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    let dated: Vec<(usize, Date)> =
        (0..words.len()).filter_map(|at| Some((at, dated(words.get(at..)?, written)?))).collect();
    let word = |at: Option<usize>| at.and_then(|at| words.get(at)).map_or("", |word| bare(word));
    let relative = words.iter().enumerate().filter_map(|(at, own)| {
        // A weekday next to a date belongs to the date.
        let is_beside = dated.iter().any(|(date, _)| date.abs_diff(at) <= NEAR);
        let (before, after) = (word(at.checked_sub(1)), word(Some(at + 1)));
        if is_beside { None } else { relative(bare(own), before, after, written) }
    });
    relative.chain(dated.iter().map(|(_, day)| *day)).collect()
}

/// Parses the date at the beginning of a text.
fn dated(words: &[String], written: Date) -> Option<Date> {
    let (first, rest) = words.split_first()?;
    // `18 de noviembre`, `18th of November`.
    let rest = match rest {
        [between, rest @ ..] if ["de", "of"].contains(&between.as_str()) => rest,
        rest => rest,
    };
    let second = rest.first().map_or("", |word| bare(word));
    let (day, month) = match (day_of_month(first), month(bare(first))) {
        (Some(day), _) => (day, month(second)?),
        (None, Some(month)) => (day_of_month(second)?, month),
        (None, None) => return numbers(first, written),
    };
    let year = rest.get(1).map_or("", |word| bare(word));
    match year.len() {
        4 => year
            .parse()
            .map_or_else(|_| nearest(month, day, written), |year| Date::new(year, month, day).ok()),
        _ => nearest(month, day, written),
    }
}

/// Parses a date in numbers.
fn numbers(word: &str, written: Date) -> Option<Date> {
    let word = word.split('T').next().unwrap_or_default().trim_end_matches(':');
    let parts = |sign: char| -> Vec<&str> { word.split(sign).collect() };
    let number = |text: &str| text.parse::<i8>().ok().filter(|_| text.len() < 3);
    let year = |text: &str| match text.len() {
        2 => text.parse::<i16>().ok().map(|year| 2_000 + year),
        4 => text.parse().ok(),
        _ => None,
    };
    let day = |of: &str, month: i8, day: i8| Date::new(year(of)?, month, day).ok();
    match (parts('-').as_slice(), parts('.').as_slice(), parts('/').as_slice()) {
        ([of, month, of_month], ..) | (.., [of, month, of_month]) if of.len() == 4 => {
            day(of, number(month)?, number(of_month.trim_end_matches('.'))?)
        }
        (_, [of_month, month, ""], _) => nearest(number(month)?, number(of_month)?, written),
        (_, [of_month, month, of] | [of_month, month, of, ""], _) => {
            day(of, number(month)?, number(of_month)?)
        }
        // Only a number above 12 shows which of the two is the day.
        (.., [one, other, of]) => match (number(one)?, number(other)?) {
            (of_month @ 13.., month) | (month, of_month @ 13..) => {
                day(of.trim_end_matches('.'), month, of_month)
            }
            _ => None,
        },
        _ => None,
    }
}

/// Parses a word for a relative day, or a weekday.
fn relative(word: &str, before: &str, after: &str, written: Date) -> Option<Date> {
    let is_morning = ["la", "esta", "guten", "good"].contains(&before.to_lowercase().as_str());
    let days = match (word, word.to_lowercase().as_str()) {
        (_, "today" | "tonight" | "heute" | "aujourd" | "hoy" | "oggi") => 0,
        (_, "tomorrow" | "demain" | "domani") => 1,
        // The German noun in upper case means the morning.
        ("morgen", _) => 1,
        (_, "mañana") if !is_morning => 1,
        (_, "übermorgen" | "après-demain" | "dopodomani") => 2,
        (_, lower) => {
            let weekday = position(&WEEKDAYS, lower)?;
            let beside = |words: &[&str], word: &str| words.contains(&word.to_lowercase().as_str());
            if beside(PAST, before) || beside(PAST, after) {
                return None;
            }
            let today = written.weekday().to_monday_zero_offset();
            if beside(NEXT, before) { 7 + weekday - today } else { (weekday - today).rem_euclid(7) }
        }
    };
    written.checked_add(Span::new().days(days)).ok()
}

/// Returns the day without a year that is nearest to `written`.
fn nearest(month: i8, day: i8, written: Date) -> Option<Date> {
    let years = (-1..=1).filter_map(|more| written.checked_add(more.years()).ok());
    let days = years.filter_map(|year| Date::new(year.year(), month, day).ok());
    days.min_by_key(|day| written.until(*day).map_or(i32::MAX, |span| span.get_days().abs()))
}

/// Returns the number in `5`, `5.`, `5th` or `1er`.
fn day_of_month(word: &str) -> Option<i8> {
    let word = word.trim_end_matches(['.', 'º', '°']);
    let endings = ["st", "nd", "rd", "th", "er"];
    let digits = endings.iter().find_map(|ending| word.strip_suffix(ending)).unwrap_or(word);
    digits.parse().ok().filter(|day| (1..=31).contains(day) && digits.len() < 3)
}

fn month(word: &str) -> Option<i8> {
    position(&MONTHS, &word.to_lowercase()).map(|at| at + 1)
}

fn position(names: &[&[&str]], word: &str) -> Option<i8> {
    let at = names.iter().position(|names| names.contains(&word))?;
    i8::try_from(at).ok()
}

/// Returns a word without punctuation around it.
fn bare(word: &str) -> &str {
    word.trim_matches(|c: char| !c.is_alphanumeric())
}
