//! Tools and their arguments, as data.
//!
//! The macros in `kinds.rs` create these values. Schemas, docs, completion and the reader of calls
//! follow from them; this module interprets no call.

use daysheet_core::access::AccessLevel;
use daysheet_core::schemas::Table;

/// The effect of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolEffect {
    /// Reads without changing anything.
    Read,
    /// Reaches other people, or deletes.
    Outward,
    /// Makes changes that can be reverted, possibly with some effort: an ended sign-in must be
    /// repeated.
    Reversible,
}

/// One argument of a tool.
#[derive(Debug, Clone, Copy)]
pub struct ToolArgument {
    /// Its name in `snake_case`.
    pub name: &'static str,
    /// The type of its value.
    pub kind: ArgKind,
    /// One short sentence, or empty if the name is clear enough.
    pub doc: &'static str,
    /// True if calls without it are refused.
    pub required: bool,
    /// True if many tools take it. Docs and errors give its limits and meaning, the server's
    /// instructions do so once, and the list of tools only names it.
    pub common: bool,
}

/// The types of arguments.
#[derive(Debug, Clone, Copy)]
pub enum ArgKind {
    /// Text.
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A list of texts.
    List,
    /// Names of columns of these tables.
    Columns(&'static [&'static Table]),
    /// A whole number: least, most, default.
    Number(u32, u32, u32),
    /// True or false; false by default.
    Switch,
    /// A list of objects with these members.
    Objects(&'static [ToolArgument]),
    /// Columns of a table, each `name=value`; or an object of them.
    Settings,
}

/// The tools, one variant each. Calls are read by a match on them, so that the compiler reports a
/// tool without a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ToolKind {
    /// `mail_search`.
    MailSearch,
    /// `mail_read`.
    MailRead,
    /// `lookup`.
    Lookup,
    /// `mail_attachment`.
    MailAttachment,
    /// `mail_draft`.
    MailDraft,
    /// `mail_send`.
    MailSend,
    /// `mail_modify`.
    MailModify,
    /// `accounts`.
    Accounts,
    /// `calendar_search`.
    CalendarSearch,
    /// `calendar_free`.
    CalendarFree,
    /// `calendar_save`.
    CalendarSave,
    /// `calendar_delete`.
    CalendarDelete,
    /// `calendar_respond`.
    CalendarRespond,
    /// `manage`.
    Manage,
    /// `changes`.
    Changes,
    /// `brief`.
    Brief,
    /// `output_read`.
    Output,
}

/// One tool.
#[derive(Debug, Clone, Copy)]
pub struct Tool {
    /// Its name.
    pub name: &'static str,
    /// The purpose; the first sentence is enough to choose the tool.
    pub doc: &'static str,
    /// The effect of a call.
    pub effect: ToolEffect,
    /// The lowest access level that offers it.
    pub access: AccessLevel,
    /// Its arguments, in the order of the docs.
    pub args: &'static [ToolArgument],
    /// The kind of its calls, by which they are read.
    pub(super) kind: ToolKind,
}

impl Tool {
    /// Returns true if the tool is offered at an access level to clients that want names with these
    /// prefixes; no prefixes mean all tools. Tools that the answers of others refer to are always
    /// offered: accounts, names and ids, and the rest of an answer.
    pub fn is_offered(&self, access: AccessLevel, names: &[String]) -> bool {
        let needed = matches!(self.name, "accounts" | "lookup" | "output_read");
        let named = || names.iter().any(|name| self.is_named(name));
        self.access <= access && (names.is_empty() || needed || named())
    }

    /// Returns true if `name` is its name, or the first words of its name.
    pub fn is_named(&self, name: &str) -> bool {
        let rest = self.name.strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
    }
}
