//! The sources of values in providers' JSON, by which the tables declare their columns.
//!
//! They only describe; reading, projecting and documenting them are left to other crates. The wire
//! names that they imply are in `wire.rs`.

/// The source of a cell's value in a provider's JSON.
///
/// Paths are object keys joined by `/`. Every variant is pure over one JSON object; a
/// missing value reads as null.
#[derive(Debug, Clone, Copy)]
pub enum ValueSource {
    /// The provider has no such value.
    Absent,
    /// The scalar at a path.
    Path(&'static str),
    /// The name of a person at a path; null for a name that could be taken for `me`, which means
    /// the account's owner in answers.
    Name(&'static str),
    /// Text at a path that the provider has HTML-escaped.
    Escaped(&'static str),
    /// The beginning of a message's text from the first source, from its first informative words.
    /// The second source is the subject, which is skipped if repeated.
    Opening(&'static ValueSource, &'static ValueSource),
    /// True if the flag at a path is false.
    Not(&'static str),
    /// True if the text at a path equals this one, ignoring case.
    Is(&'static str, &'static str),
    /// True if the list at a path contains this text.
    Has(&'static str, &'static str),
    /// Milliseconds since 1970 at a path, as a number or as text.
    EpochMs(&'static str),
    /// An RFC 3339 instant at a path.
    Rfc3339(&'static str),
    /// The first header field with this name, as text (Gmail).
    Header(&'static str),
    /// True if the list of header fields at a path has one with this name and, if words are
    /// given, its value without parameters is one of them.
    Heading(&'static str, &'static str, &'static [&'static str]),
    /// The receiving server's findings about the sender, from the first Authentication-Results in
    /// the list of header fields at a path (RFC 8601).
    SenderAuth(&'static str),
    /// Warnings about the sender from the list of header fields at a path, about the beginning of
    /// the text, and about spam. A folder is read by its name if the names are known.
    SenderWarnings(&'static str, &'static ValueSource, &'static ValueSource),
    /// The way to leave a mailing list, from the list of header fields at a path (RFC 2369,
    /// RFC 8058).
    Unsubscribe(&'static str),
    /// The addresses in the header fields with this name (Gmail).
    HeaderAddresses(&'static str),
    /// The one recipient at a path (Graph).
    Address(&'static str),
    /// The recipients in the list at a path (Graph).
    Addresses(&'static str),
    /// The texts of the list at a path, joined.
    Join(&'static str),
    /// The names of the ids in the text or list at a path. Ids without a name in the page are
    /// omitted.
    Names(&'static str),
    /// The words of all conditions that hold.
    Flags(&'static [(&'static str, ValueSource)]),
    /// The word of the first condition that holds, else the last argument; null if that is empty.
    First(&'static [(&'static str, ValueSource)], &'static str),
    /// The first source that has a value.
    Either(&'static [ValueSource]),
    /// The number of elements in the list at a path.
    Length(&'static str),
    /// The source in the oldest element that has it, of the list at a path.
    Oldest(&'static str, &'static ValueSource),
    /// The source in the newest element that has it, of the list at a path.
    Newest(&'static str, &'static ValueSource),
    /// The distinct values of the source in all elements of the list at a path, joined.
    Each(&'static str, &'static ValueSource),
    /// The number of elements of the list at a path for which the source is true.
    Tally(&'static str, &'static ValueSource),
    /// True if the source is true for any element of the list at a path.
    Any(&'static str, &'static ValueSource),
    /// The page of a thread in Gmail's web client, made from the thread's id at a path and the
    /// account's address, because the API returns no page.
    GmailPage(&'static str),
    /// The account the object was fetched from.
    Account,
    /// The address of that account, as that of a person.
    Owner,
    /// A value from elsewhere that the pipeline adds, described in words. No object contains it.
    Added(&'static str),
    /// True if the list at a path does not contain this text.
    Lacks(&'static str, &'static str),
    /// True if the value at a path is anything except null, false or an empty list.
    There(&'static str),
    /// The word, if the condition holds.
    Word(&'static str, &'static ValueSource),
    /// The source, if the condition holds.
    Provided(&'static ValueSource, &'static ValueSource),
    /// The texts at two paths joined by a slash, if both exist: an id that is unique only within
    /// another.
    Both(&'static str, &'static str),
    /// HTML, or plain text, at a path, as one line of text.
    Markup(&'static str),
    /// The IANA name of the time zone with an IANA or Windows name at a path.
    Zone(&'static str),
    /// The object at a path with a `date`, or a `dateTime` and its offset
    /// (Google Calendar).
    GoogleWhen(&'static str),
    /// The object at a path with a local `dateTime` and its `timeZone`; a date if the flag at the
    /// second path is true (Graph).
    GraphWhen(&'static str, &'static str),
    /// A time, followed by the local time in the zone of the second source.
    Beside(&'static ValueSource, &'static ValueSource),
    /// The value of the recurrence rule in the list of RFC 5545 lines at a path.
    Rule(&'static str),
    /// The second time, as the end of an event that begins at the first.
    Until(&'static ValueSource, &'static ValueSource),
    /// The people of a meeting with their answers; in short form and without the organizer if the
    /// flag is set.
    Guests(&'static GuestNames, bool),
}

/// A provider's names for the fields of a meeting's attendee.
#[derive(Debug)]
pub struct GuestNames {
    /// The path of the list of attendees.
    pub list: &'static str,
    /// The path of the display name.
    pub name: &'static str,
    /// The path of the address.
    pub address: &'static str,
    /// The path of the answer.
    pub answer: &'static str,
    /// The path of the flag for the account's owner; empty if only the address identifies them.
    pub me: &'static str,
    /// The path and the value that mark the organizer.
    pub organizer: (&'static str, &'static str),
    /// The path and the value that mark optional attendance.
    pub optional: (&'static str, &'static str),
    /// The path and the value that mark a room.
    pub room: (&'static str, &'static str),
    /// The path of the comment on the answer; empty if the provider does not support comments.
    pub comment: &'static str,
    /// The path of the guest's proposed time, an object with a start and an end; empty if the
    /// provider does not support proposals.
    pub proposed: &'static str,
}
