//! The wire names that a [`ValueSource`](crate::ValueSource) implies without spelling them.

/// Gmail: the list of a message's headers.
pub const HEADERS: &str = "payload/headers";
/// Gmail: a header's name, and its value.
pub const HEADER: (&str, &str) = ("name", "value");
/// Graph: the same list, which is returned only on request. The keys of name and value are
/// the same.
pub const GRAPH_HEADERS: &str = "internetMessageHeaders";
/// The header field with the receiving server's findings about the sender.
pub const RESULTS: &str = "Authentication-Results";
/// The header fields that describe how to leave a mailing list.
pub const UNSUBSCRIBE: [&str; 2] = ["List-Unsubscribe", "List-Unsubscribe-Post"];
/// The other header fields that warnings about the sender use: the author, and the addresses
/// for replies.
pub const SENDER: (&str, &str) = ("From", "Reply-To");
/// Gmail: the page of a thread, without the account's address and the thread's id.
pub const GMAIL_PAGE: (&str, &str) = ("https://mail.google.com/mail/?authuser=", "#all/");
/// Graph: the object inside a recipient.
pub const RECIPIENT: &str = "emailAddress";
/// Graph: a recipient's display name, and its address.
pub const ADDRESS: (&str, &str) = ("name", "address");
/// The parts of a calendar's time: a date, a date and time, and its zone.
pub const WHEN: (&str, &str, &str) = ("date", "dateTime", "timeZone");
