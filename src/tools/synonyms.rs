//! Common guesses for our names, accepted where they can mean only one thing.
//!
//! They are not listed in schemas, where they would cost tokens. An ambiguous guess is refused, and
//! the error names the nearest argument. `rewrite.rs` has the calls that mean another call.

/// The tools whose `from` and `to` are times; elsewhere they are addresses or folders.
const OF_RANGES: &[&str] = &["calendar_search", "calendar_free", "brief"];
/// The scope of a guess that means the same in every tool.
const ANY: &[&str] = &[];

/// Names of arguments: the guess, its meaning, and its tools, if not all. A guess applies to tools
/// that take the meaning, but not the guess itself. The guesses are names in other servers and in
/// the APIs of Google and Microsoft.
const ARGUMENTS: &[(&str, &str, &[&str])] = &[
    ("query", "q", ANY),
    ("search", "q", ANY),
    ("max_results", "limit", ANY),
    ("page_size", "limit", ANY),
    ("page_token", "cursor", ANY),
    ("start", "from", OF_RANGES),
    ("start_date", "from", OF_RANGES),
    ("start_time", "from", OF_RANGES),
    ("time_min", "from", OF_RANGES),
    ("end", "to", OF_RANGES),
    ("end_date", "to", OF_RANGES),
    ("end_time", "to", OF_RANGES),
    ("time_max", "to", OF_RANGES),
    // `end_date` and `attendees` are omitted because they are ambiguous: elsewhere, `end_date` is
    // the day after the last, and `attendees` may be guests to add rather than all guests.
    ("start_date", "start", ANY),
    ("start_time", "start", ANY),
    ("end_time", "end", ANY),
    ("timezone", "tz", ANY),
    ("time_zone", "tz", ANY),
    // A call about a single item may name it `id`.
    ("id", "ids", ANY),
    ("message_id", "id", ANY),
    ("message_id", "ids", ANY),
    ("message_ids", "ids", ANY),
    ("thread_id", "ids", ANY),
    ("thread_ids", "ids", ANY),
    ("draft_id", "id", ANY),
    ("event_id", "id", ANY),
    ("event_id", "ids", ANY),
    ("event_ids", "ids", ANY),
    ("attachment_id", "ids", ANY),
    ("attachment_ids", "ids", ANY),
    ("hash", "id", &["output_read"]),
    ("action", "do", ANY),
    ("attachments", "attach", ANY),
    ("calendar_id", "calendar", ANY),
    ("calendar_id", "calendars", ANY),
    ("calendar_ids", "calendars", ANY),
    ("attendees", "who", ANY),
    ("participants", "who", ANY),
    ("summary", "title", ANY),
    ("location", "where", ANY),
    ("description", "notes", ANY),
    ("recurrence", "repeats", ANY),
];

/// Words of choices: the argument, the guess, and its meaning.
const WORDS: &[(&str, &str, &str)] = &[
    ("do", "mark_read", "read"),
    ("do", "mark_as_read", "read"),
    ("do", "mark_unread", "unread"),
    ("do", "mark_as_unread", "unread"),
    ("do", "report_spam", "spam"),
    ("response", "accepted", "accept"),
    ("response", "declined", "decline"),
    ("response", "maybe", "tentative"),
    ("mode", "replyall", "reply_all"),
    ("mode", "reply_all", "reply_all"),
    ("body_format", "markdown", "md"),
    ("body", "markdown", "md"),
];

/// Returns the argument that `name` means in the tool or argument `of`, which takes the `declared`
/// names. Returns `None` if `name` is one of these.
pub(super) fn meant_argument(
    of: &str,
    name: &str,
    declared: impl Fn(&str) -> bool,
) -> Option<&'static str> {
    if declared(name) {
        return None;
    }
    let meant = |(guess, meant, tools): &&(&str, &str, &[&str])| {
        *guess == name && declared(meant) && (tools.is_empty() || tools.contains(&of))
    };
    ARGUMENTS.iter().find(meant).map(|(_, meant, _)| *meant)
}

/// Returns the word that a guess means in an argument. Guesses are never words of the argument
/// itself.
pub(super) fn meant_word<'w>(argument: &str, given: &'w str) -> &'w str {
    let same = |(of, guess, _): &&(&str, &str, &str)| {
        *of == argument && guess.eq_ignore_ascii_case(&given.replace([' ', '-'], "_"))
    };
    WORDS.iter().find(same).map_or(given, |(_, _, meant)| meant)
}
