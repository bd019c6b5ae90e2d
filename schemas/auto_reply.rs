//! The `auto_reply` table: what a mailbox answers by itself.
//!
//! Answers cross the port as a plain type; the rows are made from objects of ours.

use super::CellKind::{Start, Text};
use super::ColumnLevel::Key;
use super::Service::{Google, Local, Microsoft};
use super::TextForm::Markup;
use super::ValueSource::{Account, Converted, GoogleWhen, Path};
use super::{Table, TableColumn, TableName, field, table};

/// One row per account.
pub const AUTO_REPLY: Table =
    table("auto_reply", "auto_replies", 1, "The automatic reply of one mailbox.", FIELDS);

const FIELDS: &[TableColumn] = &TableName("auto_reply").columns([
    field("account", Text, "Address of the account.").level(Key).ours().sources(&[
        (Google, Account),
        (Microsoft, Account),
        (Local, Account),
    ]),
    field("status", Text, "on, off or scheduled.")
        .level(Key)
        .settable()
        .ours()
        .sources(&[(Local, Path("status"))]),
    field("from", Start, "When it starts.").settable().sources(&[(Local, GoogleWhen("from"))]),
    field("to", Start, "When it ends; a day is included.")
        .settable()
        .sources(&[(Local, GoogleWhen("to"))]),
    field("subject", Text, "Subject line; Gmail only.")
        .settable()
        .untrusted(120)
        .sources(&[(Local, Path("subject"))]),
    field(
        "text",
        Text,
        "How the text for everybody begins, with ¶ for line breaks; set as Markdown.",
    )
    .settable()
    .untrusted(240)
    .sources(&[(Local, Converted("text", Markup))]),
    field("text_internal", Text, "Outlook only: the text for people in the organization.")
        .settable()
        .untrusted(240)
        .sources(&[(Local, Converted("text_internal", Markup))]),
    field("text_external", Text, "Outlook only: the text for people outside, per `audience`.")
        .settable()
        .untrusted(240)
        .sources(&[(Local, Converted("text_external", Markup))]),
    field("audience", Text, "Who gets it: all, contacts or organization.")
        .settable()
        .ours()
        .sources(&[(Local, Path("audience"))]),
]);
