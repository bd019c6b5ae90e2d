//! The sources of values in providers' JSON, by which the tables declare their columns.
//!
//! They only describe; reading, projecting and documenting them are left to other crates. The wire
//! names that they imply are in `wire.rs`.

/// The source of a cell's value in a provider's JSON.
///
/// Paths are object keys joined by `/`. Every variant but [`ValueSource::Event`] is pure over one JSON
/// object; a missing value reads as null. Values that only one column has are in [`ColumnReader`].
#[derive(Debug, Clone, Copy)]
pub enum ValueSource {
    /// The provider has no such value.
    Absent,
    /// The account the object was fetched from.
    Account,
    /// A value from elsewhere that the pipeline adds, described in words. No object contains it.
    Added(&'static str),
    /// The scalar at a path.
    Path(&'static str),
    /// The text at a path, converted from the form in which the provider writes it.
    Converted(&'static str, TextForm),
    /// True if the condition is false.
    Not(&'static ValueSource),
    /// True if the text at a path equals this one, ignoring case.
    Is(&'static str, &'static str),
    /// True if the list at a path contains this text.
    Has(&'static str, &'static str),
    /// True if the value at a path is anything except null, false or an empty list.
    There(&'static str),
    /// Milliseconds since 1970 at a path, as a number or as text.
    EpochMs(&'static str),
    /// An RFC 3339 instant at a path.
    Rfc3339(&'static str),
    /// The object at a path with a `date`, or a `dateTime` and its offset
    /// (Google Calendar).
    GoogleWhen(&'static str),
    /// The object at a path with a local `dateTime` and its `timeZone` (Graph).
    GraphWhen(&'static str),
    /// The second time, as the end of an event that begins at the first.
    Until(&'static ValueSource, &'static ValueSource),
    /// The first header field with this name, as text (Gmail).
    Header(&'static str),
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
    /// The second source, if the first one, a condition, holds.
    Provided(&'static ValueSource, &'static ValueSource),
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
    /// The column's property of an event, which the adapter makes from these paths. For an
    /// invitation that came by mail, the paths are iCalendar's properties.
    Event(&'static [&'static str]),
    /// The value of one column, read by a function of its own.
    Column(ColumnReader),
}

/// The form in which a provider writes a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextForm {
    /// HTML-escaped text.
    Escaped,
    /// HTML, or plain text; shown as one line of text.
    Markup,
    /// The IANA or Windows name of a time zone; shown as the IANA name.
    ZoneName,
}

/// The reader of a value that only one column has. Each variant has the name of its column.
#[derive(Debug, Clone, Copy)]
pub enum ColumnReader {
    /// `count`: the number of elements in the list at a path.
    Count(&'static str),
    /// `from`: the sender. A draft without one is sent from the account's address.
    From {
        /// The sender in the message.
        sender: &'static ValueSource,
        /// The condition that is true for drafts.
        draft: &'static ValueSource,
    },
    /// `snippet`: the beginning of a message's text, from its first informative words.
    Snippet {
        /// The beginning as the provider has it.
        text: &'static ValueSource,
        /// The subject, which is skipped if repeated.
        subject: &'static ValueSource,
    },
    /// `link`: the page of a thread in Gmail's web client, made from the thread's id at a path and
    /// the account's address, because the API returns no page.
    Link(&'static str),
    /// `bulk`: true if the list of header fields at a path has one with this name and, if words
    /// are given, its value without parameters is one of them.
    Bulk(&'static str, &'static str, &'static [&'static str]),
    /// `unsubscribe`: the way to leave a mailing list, from the list of header fields at a path
    /// (RFC 2369, RFC 8058).
    Unsubscribe(&'static str),
    /// `auth`: the receiving server's findings about the sender, from the first
    /// Authentication-Results in the list of header fields at a path (RFC 8601).
    Auth(&'static str),
    /// `warn`: warnings about the sender, about the beginning of the text, and about spam.
    Warn {
        /// The path of the list of header fields.
        headers: &'static str,
        /// The beginning of the text.
        text: &'static ValueSource,
        /// The label for spam, or the folder, which is read by its name if the names are known.
        spam: &'static ValueSource,
    },
}
