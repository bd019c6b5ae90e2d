//! The opening of a message, from its first words with content.
//!
//! A provider's snippet has no line breaks, so greetings, quotations and repeated subjects are
//! recognised by their words. They stay if too little would be left.

use super::cell;
use super::invisible::{is_invisible, spells};
use super::orders::gives_orders;

/// Minimum number of characters left after a removal.
const LEAST: usize = 12;
/// Maximum length of a greeting, in characters and in words.
const GREETING: usize = 60;
const GREETING_WORDS: usize = 5;
/// Maximum length of the line before a quotation, in characters.
const QUOTING: usize = 160;
/// Number of invisible characters in a row from which they pad a preview after a preheader.
const FILLER: usize = 3;

/// Words that greetings begin with, in lower case.
const GREETINGS: &str = "\
    dear|hi|hello|hey|good morning|good afternoon|good evening|attn|liebe|lieber|liebes|\
    hallo|sehr geehrte|sehr geehrter|guten tag|guten morgen|guten abend|grüß gott|moin|\
    servus|bonjour|bonsoir|salut|cher|chère|chers|chères|madame|monsieur|hola|estimado|\
    estimada|querido|querida|buenos días|buenas tardes|ciao|gentile|caro|cara|buongiorno|\
    olá|prezado|prezada|beste|geachte|hej|hei|kära|kære|szanowni|szanowna|szanowny|\
    dzień dobry|cześć|здравствуйте|привет|уважаемый|уважаемая|уважаемые|дорогой|дорогая|\
    добрый день|αγαπητέ|αγαπητή|γεια σου|عزيزي|عزيزتي|مرحبا";
/// Greetings that follow the name and are complete.
const AFTER_NAME: &str = "\
    様|您好：|您好,|您好，|你好：|你好，|здравствуй!";
/// Ends of the line before a quotation, in lower case.
const QUOTES: &[&str] = &[
    " wrote:", " schrieb:", " a écrit :", " a écrit:", " escribió:", " ha scritto:", " schreef:",
    " escreveu:", " skrev:",
];
/// Beginnings of such a line that have a date.
const DATED: &[&str] = &["On ", "Am ", "Le ", "El ", "Il giorno ", "Op ", "Em ", "Den "];
/// Returns the opening of a text on one clean line: without the padded preheader, the greeting, the
/// line before a quotation and the repeated subject at its beginning, and without a quotation at
/// its end.
///
/// It is never empty if `raw` is not. Orders to an assistant are replaced by words of ours.
pub fn opening(raw: &str, subject: &str) -> String {
    if gives_orders(raw) {
        return "(orders to an assistant, not shown)".to_owned();
    }
    let text = cell(after_filler(raw));
    let subject = cell(subject);
    let subject = bare(&subject);
    let mut rest = text.as_str();
    // A greeting may follow the subject, or precede it.
    for _ in 0..3 {
        let next = without(rest, subject).or_else(|| greeted(rest)).or_else(|| quoting(rest));
        match next {
            Some(next) if next.chars().nth(LEAST - 1).is_some() => rest = next,
            _ => break,
        }
    }
    let rest = before_quotation(rest).trim_end();
    // On one line, a quotation cannot be separated from the writer's own text below it.
    if rest.starts_with('>') { format!("(begins with a quote) {rest}") } else { rest.to_owned() }
}

/// Returns the text after a preheader that is padded with invisible characters, or the whole text
/// without one.
fn after_filler(raw: &str) -> &str {
    let (mut run, mut end) = (0, 0);
    for (at, c) in raw.char_indices() {
        match c {
            // Characters that spell a text are not padding; some flags are spelled.
            c if spells(c) => {}
            c if is_invisible(c) => run += 1,
            c if c.is_whitespace() => {}
            _ => {
                if run >= FILLER {
                    end = at;
                }
                run = 0;
            }
        }
    }
    let rest = raw.get(end..).unwrap_or_default();
    if cell(rest).chars().nth(LEAST - 1).is_some() { rest } else { raw }
}

/// Returns a subject without the marks of replies and forwards.
fn bare(subject: &str) -> &str {
    let mut rest = subject;
    while let Some((mark, after)) = rest.split_once(':')
        && matches!(mark.to_lowercase().as_str(), "re" | "aw" | "fw" | "fwd" | "wg" | "tr" | "sv")
    {
        rest = after.trim_start();
    }
    rest
}

/// Returns the text after the subject, if it begins with the subject.
fn without<'t>(text: &'t str, subject: &str) -> Option<&'t str> {
    let mut rest = text.chars();
    let mut count = 0;
    for c in subject.chars() {
        let same = rest.next().is_some_and(|own| own.to_lowercase().eq(c.to_lowercase()));
        if !same {
            return None;
        }
        count += 1;
    }
    let rest = rest.as_str();
    let ends = !rest.starts_with(char::is_alphanumeric);
    // A short subject may begin a sentence by chance.
    (count >= 8 && ends).then(|| trimmed(rest))
}

/// Returns the text after a greeting.
fn greeted(text: &str) -> Option<&str> {
    let head = text.get(..byte_after(text, GREETING)).unwrap_or_default();
    let lower = head.to_lowercase();
    let begins = |word: &str| {
        let rest = lower.strip_prefix(word);
        rest.is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
    };
    if GREETINGS.split('|').any(begins) {
        let ends =
            |c: char| matches!(c, ',' | '!' | ':' | ';' | '،' | '，' | '：' | '。' | '–' | '—');
        let (at, mark) = head.char_indices().find(|(_, c)| ends(*c))?;
        // A longer one is more than a greeting.
        if head.get(..at)?.split_whitespace().count() > GREETING_WORDS {
            return None;
        }
        return text.get(at + mark.len_utf8()..).map(trimmed);
    }
    let name = head.get(..byte_after(head, 24)).unwrap_or_default();
    let end = AFTER_NAME.split('|').filter_map(|word| {
        let end = name.find(word)? + word.len();
        // The character may be part of a longer word, as in 仕様書.
        let goes_on = word.ends_with(char::is_alphanumeric)
            && text.get(end..)?.starts_with(char::is_alphanumeric);
        (!goes_on).then_some(end)
    });
    text.get(end.min()?..).map(trimmed)
}

/// Returns the text after the line that introduces a quotation, if it begins with one.
fn quoting(text: &str) -> Option<&str> {
    let end = quoting_end(text)?;
    let head = text.get(..end)?;
    // Without a date, only a short line is taken for an introduction.
    let named = head.split(' ').count() <= 5;
    let dated = DATED.iter().any(|start| head.starts_with(start));
    (named || dated).then(|| trimmed(text.get(end..).unwrap_or_default()))
}

/// Returns the end of the first line that introduces a quotation, in bytes.
fn quoting_end(text: &str) -> Option<usize> {
    let head = text.get(..byte_after(text, QUOTING)).unwrap_or_default();
    QUOTES.iter().filter_map(|end| Some(head.find(end)? + end.len())).min()
}

/// Removes a quotation at the end of a text.
fn before_quotation(text: &str) -> &str {
    let starts = text.match_indices(' ').map(|(at, _)| at);
    let mut starts = starts.filter(|at| {
        let rest = text.get(at + 1..).unwrap_or_default();
        DATED.iter().any(|start| rest.starts_with(start)) && quoting_end(rest).is_some()
    });
    starts.next().and_then(|at| text.get(..at)).unwrap_or(text)
}

/// Removes the signs between a greeting and the text after it.
fn trimmed(text: &str) -> &str {
    text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '.' | '!' | ':' | '-'))
}

/// Returns the byte at which the character number `count` begins, or the end.
fn byte_after(text: &str, count: usize) -> usize {
    text.char_indices().nth(count).map_or(text.len(), |(at, _)| at)
}
