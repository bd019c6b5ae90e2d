//! The `message` table: one mail message, without its body.

use super::CellKind::{Count, Flag, Handle, Start, Text, Time, Words};
use super::ColumnLevel::{Key, More};
use super::Service::{Google, Microsoft};
use super::TextForm::Escaped;
use super::ValueSource::{
    Account, Added, Address, Addresses, Column, Converted, Either, EpochMs, First, Flags,
    GraphWhen, Has, Header, HeaderAddresses, Is, Join, Names, Not, Path, Provided, Rfc3339,
};
use super::wire::{GRAPH_HEADERS, HEADERS};
use super::{ColumnReader, Table, TableColumn, TableName, ValueSource, field, table};

/// One row per message.
pub const MESSAGE: Table = table(
    "message",
    "messages",
    1,
    "One mail message: who wrote when about what, and its state.",
    FIELDS,
);

const FIELDS: &[TableColumn] = &TableName("message").columns([
    field("id", Handle('m'), "Handle of the message; mail_read accepts it.")
        .level(Key)
        .sources(&[(Google, Path("id")), (Microsoft, Path("id"))]),
    field("date", Time, "When it arrived or was sent.")
        .level(Key)
        .sources(&[(Google, EpochMs("internalDate")), (Microsoft, Rfc3339("receivedDateTime"))]),
    field("from", Text, "Sender, as `Name <address>`.")
        .level(Key)
        .untrusted(80)
        .sources(&[(Google, GMAIL_SENDER), (Microsoft, OUTLOOK_SENDER)]),
    field("subject", Text, "Subject line.")
        .level(Key)
        .untrusted(72)
        .sources(&[(Google, Header("Subject")), (Microsoft, Path("subject"))]),
    field("snippet", Text, "How the text begins, without greeting or repeated subject.")
        .beginning(45)
        .sources(&[(Google, GMAIL_OPENING), (Microsoft, OUTLOOK_OPENING)]),
    field("flags", Words, "Any of: unread, starred, done, attachment, important, draft.")
        .level(Key)
        .sources(&[(Google, Flags(GMAIL_FLAGS)), (Microsoft, Flags(OUTLOOK_FLAGS))]),
    field("draft", Handle('d'), "Handle of the draft, which stays when the draft is edited.")
        .level(Key)
        .sparse()
        .sources(&[
            (Google, Provided(&GMAIL_DRAFT, &Path("id"))),
            (Microsoft, Provided(&OUTLOOK_DRAFT, &Path("id"))),
        ]),
    field("to", Text, "Recipients, the first five and a count of the rest.")
        .level(More)
        .untrusted(240)
        .sources(&[(Google, HeaderAddresses("To")), (Microsoft, Addresses("toRecipients"))]),
    field("cc", Text, "Copied recipients, the first five and a count of the rest.")
        .level(More)
        .untrusted(240)
        .sources(&[(Google, HeaderAddresses("Cc")), (Microsoft, Addresses("ccRecipients"))]),
    field("bcc", Text, "Blindly copied recipients, of drafts and sent messages.")
        .level(More)
        .sparse()
        .untrusted(240)
        .sources(&[(Google, HeaderAddresses("Bcc")), (Microsoft, Addresses("bccRecipients"))]),
    field("thread", Handle('t'), "Handle of its thread.")
        .level(More)
        .sources(&[(Google, Path("threadId")), (Microsoft, Path("conversationId"))]),
    field(
        "folder",
        Text,
        "Where it is: inbox, sent, drafts, spam, trash, archive, or a folder's name.",
    )
    .level(More)
    .untrusted(80)
    // Gmail has no label for archived messages: they have none of the others.
    .sources(&[(Google, First(GMAIL_FOLDERS, "archive")), (Microsoft, Names("parentFolderId"))]),
    field("labels", Text, "Labels or categories the user assigned.")
        .level(More)
        .untrusted(160)
        .sources(&[(Google, Names("labelIds")), (Microsoft, Join("categories"))]),
    field("size", Count, "Size in bytes, estimated by the provider.")
        .level(More)
        // Graph messages have no size; the Outlook adapter reads it from a MAPI property.
        .sources(&[(Google, Path("sizeEstimate")), (Microsoft, Path("size"))]),
    field(
        "has_attachments",
        Flag,
        "True if it has attachments; in Gmail, if it is multipart/mixed.",
    )
    .level(More)
    .sources(&[(Google, MIXED), (Microsoft, Path("hasAttachments"))]),
    field("due", Start, "When its flag is due; Outlook only. No column if none is.")
        .level(More)
        .sparse()
        .sources(&[(Microsoft, GraphWhen("flag/dueDateTime"))]),
    field("message_id", Text, "Its Message-ID, the same in every mailbox (RFC 5322).")
        .level(More)
        .untrusted(200)
        .sources(&[(Google, Header("Message-ID")), (Microsoft, Path("internetMessageId"))]),
    field(
        "bulk",
        Words,
        "Signs of bulk or automated mail, any of: list, bulk, auto, aside (Gmail's promotions, \
         social, updates and forums; Outlook's Other).",
    )
    .level(More)
    .sources(&[(Google, Flags(GMAIL_BULK)), (Microsoft, Flags(OUTLOOK_BULK))]),
    field(
        "unsubscribe",
        Text,
        "How do=unsubscribe leaves its mailing list: one-click, mail (by a draft), or page (the \
         user has to open it). No column if there is no list.",
    )
    .level(More)
    .ours()
    .sparse()
    .sources(&[
        (Google, Column(ColumnReader::Unsubscribe(HEADERS))),
        (Microsoft, Column(ColumnReader::Unsubscribe(GRAPH_HEADERS))),
    ]),
    field(
        "auth",
        Text,
        "The provider's authentication results: SPF, DKIM and DMARC, as in `passed: spf dkim \
         dmarc` or `failed: dmarc; none: spf dkim`; `not checked` without any, \
         with failures that another server reports.",
    )
    .level(More)
    .ours()
    .sparse()
    .sources(&[
        (Google, Column(ColumnReader::Auth(HEADERS))),
        (Microsoft, Column(ColumnReader::Auth(GRAPH_HEADERS))),
    ]),
    field(
        "warn",
        Words,
        "Warnings about the sender, any of: dmarc, spf, dkim (the check failed), name (shows \
         another address or domain), senders (several), reply_to (replies go elsewhere), script \
         (mixed), lookalike (of you, or of somebody you know), punycode, unchecked (spam without \
         results), injection (the text gives an assistant orders), payment (it names a new \
         account); lists judge only how the text begins, mail_read all of it. No column if \
         there are none.",
    )
    .level(Key)
    .sparse()
    .sources(&[(Google, Column(GMAIL_WARNINGS)), (Microsoft, Column(OUTLOOK_WARNINGS))]),
    field(
        "answered",
        Text,
        "Whether the account sent a later message in the thread: yes, no, or `draft m5` for a \
         draft that waits; null for one's own. Only if named, searched for, or in mail_read.",
    )
    .level(More)
    .ours()
    .sparse()
    .sources(&[(Google, THREAD), (Microsoft, THREAD)]),
    field("chars", Count, "Characters in its text, with what mail_read folds. Only if named.")
        .level(More)
        .on_request()
        .sources(&[(Google, TEXT), (Microsoft, TEXT)]),
    field("link", Text, "Its page in the web client; in Gmail, its thread's. Only if named.")
        .level(More)
        .on_request()
        .untrusted(400)
        .sources(&[(Google, Column(ColumnReader::Link("threadId"))), (Microsoft, Path("webLink"))]),
    field("account", Text, "Address of the account it is in.")
        .level(More)
        .ours()
        .sources(&[(Google, Account), (Microsoft, Account)]),
]);

/// The description of a value from the thread, because services do not report whether a message
/// was answered.
const THREAD: ValueSource = Added("the states of the messages of its thread");

/// The description of a value from the text, because neither service returns its length
/// separately.
const TEXT: ValueSource = Added("its text, which is fetched");

/// The beginning of a Gmail message.
pub(super) const GMAIL_OPENING: ValueSource =
    Column(ColumnReader::Snippet { text: &GMAIL_SNIPPET, subject: &Header("Subject") });

/// The beginning of an Outlook message.
pub(super) const OUTLOOK_OPENING: ValueSource =
    Column(ColumnReader::Snippet { text: &Path("bodyPreview"), subject: &Path("subject") });

/// Gmail's beginning of the text.
const GMAIL_SNIPPET: ValueSource = Converted("snippet", Escaped);

const GMAIL_WARNINGS: ColumnReader =
    ColumnReader::Warn { headers: HEADERS, text: &GMAIL_SNIPPET, spam: &Has("labelIds", "SPAM") };

const OUTLOOK_WARNINGS: ColumnReader = ColumnReader::Warn {
    headers: GRAPH_HEADERS,
    text: &Path("bodyPreview"),
    spam: &Names("parentFolderId"),
};

/// Gmail does not report attachments. The media type of their container does, and is returned
/// even with the headers alone.
pub(super) const MIXED: ValueSource = Is("payload/mimeType", "multipart/mixed");

/// The flag words from Gmail's system labels.
pub(super) const GMAIL_FLAGS: &[(&str, ValueSource)] = &[
    ("unread", Has("labelIds", "UNREAD")),
    ("starred", Has("labelIds", "STARRED")),
    ("attachment", MIXED),
    ("important", Has("labelIds", "IMPORTANT")),
    ("draft", GMAIL_DRAFT),
];

/// The flag words from Graph's message properties.
pub(super) const OUTLOOK_FLAGS: &[(&str, ValueSource)] = &[
    ("unread", Not(&Path("isRead"))),
    ("starred", Is("flag/flagStatus", "flagged")),
    ("done", Is("flag/flagStatus", "complete")),
    ("attachment", Is("hasAttachments", "true")),
    ("important", Is("importance", "high")),
    ("draft", OUTLOOK_DRAFT),
];

const GMAIL_DRAFT: ValueSource = Has("labelIds", "DRAFT");
const OUTLOOK_DRAFT: ValueSource = Is("isDraft", "true");

/// The sender of a Gmail message.
pub(super) const GMAIL_SENDER: ValueSource =
    Column(ColumnReader::From { sender: &HeaderAddresses("From"), draft: &GMAIL_DRAFT });

/// The sender of an Outlook message.
pub(super) const OUTLOOK_SENDER: ValueSource =
    Column(ColumnReader::From { sender: &Address("from"), draft: &OUTLOOK_DRAFT });

const GMAIL_FOLDERS: &[(&str, ValueSource)] = &[
    // The first one counts: in the trash or in spam, a message keeps its other labels.
    ("trash", Has("labelIds", "TRASH")),
    ("spam", Has("labelIds", "SPAM")),
    ("drafts", Has("labelIds", "DRAFT")),
    ("inbox", Has("labelIds", "INBOX")),
    ("sent", Has("labelIds", "SENT")),
];

/// Returns the sign of bulk mail in a header field.
const fn bulk(
    headers: &'static str,
    name: &'static str,
    words: &'static [&'static str],
) -> ValueSource {
    Column(ColumnReader::Bulk(headers, name, words))
}

/// Values of Precedence set by mailing programs.
const PRECEDENCE: &[&str] = &["bulk", "list", "junk"];
/// Values of Auto-Submitted for automatic messages (RFC 3834, RFC 5436).
const AUTO_SUBMITTED: &[&str] = &["auto-generated", "auto-replied", "auto-notified"];

const GMAIL_BULK: &[(&str, ValueSource)] = &[
    ("list", Either(&[bulk(HEADERS, "List-Unsubscribe", &[]), bulk(HEADERS, "List-Id", &[])])),
    ("bulk", bulk(HEADERS, "Precedence", PRECEDENCE)),
    ("auto", bulk(HEADERS, "Auto-Submitted", AUTO_SUBMITTED)),
    (
        "aside",
        Either(&[
            Has("labelIds", "CATEGORY_PROMOTIONS"),
            Has("labelIds", "CATEGORY_SOCIAL"),
            Has("labelIds", "CATEGORY_UPDATES"),
            Has("labelIds", "CATEGORY_FORUMS"),
        ]),
    ),
];

const OUTLOOK_BULK: &[(&str, ValueSource)] = &[
    (
        "list",
        Either(&[
            bulk(GRAPH_HEADERS, "List-Unsubscribe", &[]),
            bulk(GRAPH_HEADERS, "List-Id", &[]),
        ]),
    ),
    ("bulk", bulk(GRAPH_HEADERS, "Precedence", PRECEDENCE)),
    ("auto", bulk(GRAPH_HEADERS, "Auto-Submitted", AUTO_SUBMITTED)),
    ("aside", Is("inferenceClassification", "other")),
];
