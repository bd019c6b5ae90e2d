//! Detection of informative lines: dates, amounts, deadlines, questions.
//!
//! Signs are counted without being understood; a line with several is the better guess. The words
//! are from English, German, French, Spanish and Italian mail.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::text::search_text::each_word;

/// Words that state a deadline or an obligation by themselves.
const DEADLINES: &[&str] = &[
    "due", "deadline", "deadlines", "overdue", "expires", "expire", "asap", "eod", "rsvp",
    "urgent", "frist", "fällig", "spätestens", "dringend", "stichtag", "échéance", "délai",
    "délais", "urgente", "plazo", "vencimiento", "vence", "scadenza", "entro",
];
/// Words that state a deadline if a day or a number follows.
const UNTIL: &[&str] =
    &["by", "until", "till", "before", "bis", "vor", "avant", "jusqu", "hasta", "antes", "prima"];
/// Words for days, and unambiguous names of months.
const DAYS: &[&str] = &[
    "today", "tomorrow", "tonight", "noon", "midnight", "monday", "tuesday", "wednesday",
    "thursday", "friday", "saturday", "sunday", "heute", "mittag", "montag", "dienstag",
    "mittwoch", "donnerstag", "freitag", "samstag", "sonntag", "demain", "lundi", "mardi",
    "mercredi", "jeudi", "vendredi", "samedi", "dimanche", "mañana", "lunes", "martes",
    "miércoles", "jueves", "viernes", "sábado", "domani", "lunedì", "martedì", "mercoledì",
    "giovedì", "venerdì", "january", "february", "april", "june", "july", "august", "september",
    "october", "november", "december", "januar", "februar", "märz", "juni", "juli", "oktober",
    "dezember", "janvier", "février", "avril", "juin", "juillet", "août", "septembre", "octobre",
    "novembre", "décembre", "enero", "febrero", "abril", "junio", "julio", "agosto", "septiembre",
    "octubre", "noviembre", "diciembre", "gennaio", "febbraio", "aprile", "giugno", "luglio",
    "settembre", "ottobre", "dicembre",
];
/// Words that mean a day or a month only next to a number or after one of [`UNTIL`].
const MAYBE_DAYS: &[&str] = &[
    "jan", "feb", "mar", "march", "apr", "may", "jun", "jul", "aug", "sep", "sept", "oct", "nov",
    "dec", "mai", "mär", "okt", "dez", "mars", "mayo", "marzo", "maggio", "morgen", "end", "ende",
    "fin", "next", "mon", "tue", "wed", "thu", "fri", "sat", "sun",
];
/// Words that make a number a time.
const CLOCK: &[&str] = &["am", "pm", "uhr", "o", "h"];
/// Words that make a number an amount of money.
const MONEY: &[&str] =
    &["eur", "euro", "euros", "usd", "dollar", "dollars", "gbp", "chf", "franken", "jpy", "yen"];
/// Currency signs.
const CURRENCIES: &[char] = &['€', '$', '£', '¥', '₹', '₩', '₺', '₽'];

/// The number of kinds of signs.
pub(super) const MAX_KINDS: usize = 5;

/// Counts the kinds of signs in a line, up to [`MAX_KINDS`]: a deadline, a day or a date, a
/// time, a sum of money or a percentage, a question.
pub(super) fn salience(line: &str) -> usize {
    let mut found = numbers(line);
    // A question may be in quotes or emphasised.
    let asks = line.trim_end_matches(|c: char| c.is_whitespace() || "\"'»”)*_".contains(c));
    found.question = asks.ends_with(['?', '？', '؟']);
    words(line, &mut found);
    [found.deadline, found.day, found.time, found.amount, found.question]
        .into_iter()
        .filter(|sign| *sign)
        .count()
}

#[derive(Default)]
struct LineSigns {
    deadline: bool,
    day: bool,
    time: bool,
    amount: bool,
    question: bool,
}

/// The kind of a word, one per list above.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LineWord {
    Deadline,
    Until,
    Day,
    MaybeDay,
    Clock,
    Money,
}

/// All lists above in one map. If a word were in two lists, the later list would win.
static WORDS: LazyLock<HashMap<&str, LineWord>> = LazyLock::new(|| {
    let lists = [
        (DEADLINES, LineWord::Deadline),
        (UNTIL, LineWord::Until),
        (DAYS, LineWord::Day),
        (MAYBE_DAYS, LineWord::MaybeDay),
        (CLOCK, LineWord::Clock),
        (MONEY, LineWord::Money),
    ];
    let each = lists.iter().flat_map(|(words, is)| words.iter().map(|word| (*word, *is)));
    each.collect()
});

/// Records the signs in the words of a line, each in the context of the previous word.
fn words(line: &str, found: &mut LineSigns) {
    let mut before = None;
    let mut after_number = false;
    each_word(line, |word| {
        let is = WORDS.get(word).copied();
        let number = word.starts_with(|c: char| c.is_ascii_digit());
        let after_until = before == Some(LineWord::Until);
        let day = is == Some(LineWord::Day)
            || is == Some(LineWord::MaybeDay) && (after_number || after_until)
            || number && before == Some(LineWord::MaybeDay);
        found.day |= day;
        found.deadline |= is == Some(LineWord::Deadline) || after_until && (number || day);
        found.time |= after_number && is == Some(LineWord::Clock)
            || number && ends_with_any(word, &["am", "pm", "h"]);
        found.amount |= after_number && is == Some(LineWord::Money)
            || number && before == Some(LineWord::Money);
        before = is;
        after_number = is_number(word);
    });
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns true for `5pm`, `18h`, `18h05`: a number of one or two digits, the ending,
/// and at most two more digits.
fn ends_with_any(word: &str, endings: &[&str]) -> bool {
    let rest = word.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest_digits = rest.trim_end_matches(|c: char| c.is_ascii_digit());
    (1..3).contains(&(word.len() - rest.len()))
        && rest.len() - rest_digits.len() < 3
        && endings.contains(&rest_digits)
}

/// Finds the signs around numbers.
fn numbers(line: &str) -> LineSigns {
    let mut found = LineSigns::default();
    let mut before: Option<char> = None;
    let mut rest = line;
    while let Some(at) = rest.find(|c: char| c.is_ascii_digit()) {
        let (lead, number) = rest.split_at_checked(at).unwrap_or((rest, ""));
        before = lead.trim_end().chars().next_back().or(before);
        let apart = lead.is_empty() || !lead.ends_with(char::is_alphanumeric);
        // Dates, times and amounts contain these separators: `3/2/26`, `18:05`, `1'000.50`.
        let end = number
            // Digits within a word, such as an id, are not a number.
            .find(|c: char| !c.is_ascii_digit() && !".,:/-'’".contains(c))
            .unwrap_or(number.len());
        let (number, after) = number.split_at_checked(end).unwrap_or((number, ""));
        // A no-break space often precedes the currency of an amount.
        let next = after.trim_start_matches([' ', '\u{a0}', '\u{202f}']);
        if apart {
            let number = number.trim_end_matches([',', ':', '-', '/', '\'', '’']);
            let sign = |c: Option<char>| c.is_some_and(|c| CURRENCIES.contains(&c));
            found.amount |= sign(before) || sign(next.chars().next()) || next.starts_with('%');
            found.time |= is_time(number);
            found.day |= is_date(number);
        }
        before = None;
        rest = after;
    }
    found
}

/// Returns the lengths of the digit runs separated by `sign`; `None` if there is anything else.
fn lengths(number: &str, sign: char) -> Option<Vec<usize>> {
    let parts = number.split(sign);
    parts.map(|part| part.bytes().all(|b| b.is_ascii_digit()).then_some(part.len())).collect()
}

/// Returns true for `18:05`, `9:30:00`.
fn is_time(number: &str) -> bool {
    let lengths = lengths(number, ':');
    matches!(lengths.as_deref(), Some([1 | 2, 2] | [1 | 2, 2, 2]))
}

/// Returns true for `2026-02-03`, `3.2.2026`, `03.02.`, `3/2/26`.
fn is_date(number: &str) -> bool {
    let dashes = lengths(number, '-');
    let dots = lengths(number, '.');
    let slashes = lengths(number, '/');
    matches!(dashes.as_deref(), Some([4, 2, 2] | [1 | 2, 1 | 2, 2 | 4]))
        || matches!(dots.as_deref(), Some([1 | 2, 1 | 2, 0 | 2 | 4]))
        || matches!(slashes.as_deref(), Some([1 | 2, 1 | 2, 2 | 4] | [4, 1 | 2, 1 | 2]))
}
