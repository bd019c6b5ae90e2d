//! The notes of a worker, which untrusted text may have taken over: only notes that this program
//! makes are passed on, and only with numbers and quoted text as their variable parts.

use daysheet_core::body::STYLES_UNREAD;
use daysheet_core::text::{Note, note, ours};

/// The notes of `body::readable`. `{}` is a placeholder for numbers, quoted text and [`WORDS`].
const KNOWN: &[&str] = &[
    "its text is too large to read whole: this is its first MiB",
    "it has no HTML: this is its plain text",
    "it is part {} of {} of a message sent in parts",
    "it is part {} of a message sent in parts",
    "it is encrypted (S/MIME): nothing can be read here",
    "it is signed and packed (S/MIME): mail_attachment as=text reads its attachment",
    "it is encrypted or packed (S/MIME): nothing can be read here",
    "it is encrypted (PGP/MIME): nothing can be read here",
    "its text is in text/enriched: mail_read body=raw shows it with its marks",
    "its text is in text/enriched: mail_attachment as=text shows it with its marks",
    "its text is in winmail.dat: mail_attachment as=text reads it",
    "all of its text is hidden: {} characters, which read like an order to an assistant",
    "all of its text is hidden: {} characters",
    "it has no text: 1 picture without a description",
    "it has no text: {} pictures without a description",
    "it has no text at all",
    "preview text of {} characters left out",
    "{} characters{} are hidden from readers and were left out; they read like an order to an \
     assistant",
    "{} characters{} are hidden from readers and were left out",
    "{} characters nested more than 250 elements deep were left out, as they may be hidden; \
     body=html has them",
    "{} characters may be hidden ({}) and are shown",
    STYLES_UNREAD,
    "the HTML is too large to read whole; body=html has its first MiB",
    "its plain-text part, which mail programs do not show, has {} words; this HTML text has {}; \
     body=raw has both",
    "its HTML has no text: this is its plain text, which mail programs do not show",
    "direction marks were removed: {} is shown to people as {}",
    "the word {} is split by invisible characters",
    "{} words are split by invisible characters, such as {}",
    "{} invisible characters encode hidden text, which was removed; it reads like an order to an \
     assistant",
    "{} invisible characters encode hidden text, which was removed",
    "{} invisible characters pad its preview",
    "a Markdown image that would load from {} is shown as text",
    "{} Markdown images that would load from {} are shown as text",
];
/// Words that may fill a placeholder: of lists, of places, and of reasons for doubt.
const WORDS: &str = "and more in places over on a picture or gradient pale tiny covered off the \
                     page clipped by style";
/// The maximum number of notes on one text.
const MAX_NOTES: usize = 20;

/// Returns the notes that this program makes, and one note that counts the others.
pub fn checked(notes: Vec<String>) -> Vec<Note> {
    let all = notes.len();
    let known = notes.into_iter().take(MAX_NOTES).filter(|text| is_known(text));
    let mut checked: Vec<Note> = known.map(|text| note!("{}", ours(text))).collect();
    if let others @ 1.. = all - checked.len() {
        checked.push(note!("notes about its text that were not understood: {}", others));
    }
    checked
}

fn is_known(text: &str) -> bool {
    KNOWN.iter().any(|literal| fits(literal, text))
}

/// Returns true if a note was made from a literal.
fn fits(literal: &str, text: &str) -> bool {
    let mut parts = literal.split("{}");
    let Some(mut rest) = text.strip_prefix(parts.next().unwrap_or_default()) else {
        return false;
    };
    let mut parts = parts.peekable();
    while let Some(part) = parts.next() {
        let end = if parts.peek().is_none() && part.is_empty() {
            Some(rest.len())
        } else if part.is_empty() {
            // Adjacent placeholders are filled as one.
            continue;
        } else {
            rest.find(part)
        };
        let Some((filler, after)) = end.and_then(|end| rest.split_at_checked(end)) else {
            return false;
        };
        if !is_filler(filler) {
            return false;
        }
        rest = after.get(part.len()..).unwrap_or_default();
    }
    rest.is_empty()
}

/// Returns true for text that may fill a placeholder: numbers, quoted text, and known words.
fn is_filler(text: &str) -> bool {
    // Text between backticks is quoted, and is every second piece.
    let mut own = text.split('`').step_by(2).flat_map(str::split_whitespace);
    let is_own = |word: &str| {
        let word = word.trim_matches(',');
        word.bytes().all(|byte| byte.is_ascii_digit()) || WORDS.split(' ').any(|one| one == word)
    };
    text.matches('`').count().is_multiple_of(2) && own.all(is_own)
}
