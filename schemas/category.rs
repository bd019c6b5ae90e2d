//! The `category` table: one mark that the user can put on messages.

use super::CellKind::{Count, Text};
use super::ColumnLevel::{Key, More};
use super::Service::{Google, Microsoft};
use super::ValueSource::{self, Account, First, Is, Path};
use super::{Table, TableColumn, TableName, field, table};

/// The colours of Outlook's categories by the words that Outlook shows, `preset0` first.
pub const CATEGORY_COLORS: &[(&str, ValueSource)] = &[
    ("red", Is("color", "preset0")),
    ("orange", Is("color", "preset1")),
    ("brown", Is("color", "preset2")),
    ("yellow", Is("color", "preset3")),
    ("green", Is("color", "preset4")),
    ("teal", Is("color", "preset5")),
    ("olive", Is("color", "preset6")),
    ("blue", Is("color", "preset7")),
    ("purple", Is("color", "preset8")),
    ("cranberry", Is("color", "preset9")),
    ("steel", Is("color", "preset10")),
    ("darksteel", Is("color", "preset11")),
    ("gray", Is("color", "preset12")),
    ("darkgray", Is("color", "preset13")),
    ("black", Is("color", "preset14")),
    ("darkred", Is("color", "preset15")),
    ("darkorange", Is("color", "preset16")),
    ("darkbrown", Is("color", "preset17")),
    ("darkyellow", Is("color", "preset18")),
    ("darkgreen", Is("color", "preset19")),
    ("darkteal", Is("color", "preset20")),
    ("darkolive", Is("color", "preset21")),
    ("darkblue", Is("color", "preset22")),
    ("darkpurple", Is("color", "preset23")),
    ("darkcranberry", Is("color", "preset24")),
    ("none", Is("color", "none")),
];

/// One row per user label (Gmail) or category (Outlook).
pub const CATEGORY: Table = table(
    "category",
    "labels",
    1,
    "One label (Gmail) or category (Outlook, with its presets) for the user's messages.",
    FIELDS,
);

const FIELDS: &[TableColumn] = &TableName("category").columns([
    field("name", Text, "Name, for `label:` and `category:` in a query.")
        .level(Key)
        .settable()
        .untrusted(100)
        .sources(&[(Google, Path("name")), (Microsoft, Path("displayName"))]),
    field("color", Text, "Colour: a word such as blue (Outlook), a hex code (Gmail).")
        .settable()
        .level(More)
        .untrusted(20)
        .sources(&[
            (Google, Path("color/backgroundColor")),
            (Microsoft, First(CATEGORY_COLORS, "")),
        ]),
    field(
        "in_list",
        Text,
        "In the list of labels: show, unread (if it has any) or hide; Gmail only.",
    )
    .settable()
    .level(More)
    .ours()
    .sources(&[(
        Google,
        First(
            &[
                ("show", Is("labelListVisibility", "labelShow")),
                ("unread", Is("labelListVisibility", "labelShowIfUnread")),
                ("hide", Is("labelListVisibility", "labelHide")),
            ],
            "",
        ),
    )]),
    field("in_messages", Text, "On the messages of a list: show or hide; Gmail only.")
        .settable()
        .level(More)
        .ours()
        .sources(&[(
            Google,
            First(
                &[
                    ("show", Is("messageListVisibility", "show")),
                    ("hide", Is("messageListVisibility", "hide")),
                ],
                "",
            ),
        )]),
    // Gmail counts by a request for each label; so does Outlook, where the adapter adds the counts.
    field("unread", Count, "Unread messages with it.")
        .level(More)
        .sources(&[(Google, Path("messagesUnread")), (Microsoft, Path("unread"))]),
    field("total", Count, "Messages with it.")
        .level(More)
        .sources(&[(Google, Path("messagesTotal")), (Microsoft, Path("total"))]),
    field("account", Text, "Address of the account it belongs to.")
        .level(More)
        .ours()
        .sources(&[(Google, Account), (Microsoft, Account)]),
]);
