//! The registry: the tables, their columns, and the source of each column at every provider.
//!
//! One declaration per column decides what is fetched, how it is flattened, what it is called,
//! when it is dropped and how it is documented; all other crates read it from here. The tables
//! are constants checked by the compiler (see [`table`]). This crate contains the wire names of
//! the providers, but reads no JSON, does no I/O and uses only `std`.

mod account;
mod attachment;
mod attachment_text;
mod auto_reply;
mod body;
mod busy;
mod calendar;
mod category;
mod change;
mod clash;
mod contact;
mod event;
mod folder;
mod inside;
mod invitation;
mod message;
mod modified;
mod outcome;
mod report;
mod room;
mod rule;
mod section;
mod sender;
mod slot;
mod source;
mod tables;
mod thread;
pub mod wire;

pub use account::ACCOUNT;
pub use attachment::ATTACHMENT;
pub use attachment_text::ATTACHMENT_TEXT;
pub use auto_reply::AUTO_REPLY;
pub use body::BODY;
pub use busy::{BUSY, BUSY_TITLE};
pub use calendar::CALENDAR;
pub use category::{CATEGORY, CATEGORY_COLORS};
pub use change::CHANGE;
pub use clash::CLASH;
pub use contact::{CONTACT, CONTACT_ID, FROM_MAIL, SAVED};
pub use event::EVENT;
pub use folder::FOLDER;
pub use inside::INSIDE;
pub use invitation::INVITATION;
pub use message::MESSAGE;
pub use modified::MODIFIED;
pub use outcome::OUTCOME;
pub use report::REPORT;
pub use room::ROOM;
pub use rule::RULE;
pub use section::{
    DRAFTS, INVITED, NEEDS_ME, NEXT_DAY, SECTIONS, TODAY, TOMORROW, UNREAD, find_in_document,
};
pub use sender::SENDER;
pub use slot::SLOT;
pub use source::{ColumnReader, TextForm, ValueSource};
pub use tables::*;
pub use thread::THREAD;

/// The API from whose JSON a row is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// Gmail API v1, Google's Calendar API v3 and People API v1.
    Google,
    /// Microsoft Graph v1.0: mail, calendars and people.
    Microsoft,
    /// Objects made by Daysheet itself (accounts, outcomes, body windows).
    Local,
    /// A provider that maps the columns in its own folder.
    Other(&'static ColumnMapping),
}

/// The sources of our columns in a provider's objects, declared by the provider instead of in the
/// files of the tables.
#[derive(Debug)]
pub struct ColumnMapping {
    /// The name of its API, as in [`Service::name`].
    pub name: &'static str,
    /// As in [`Service::receivers`].
    pub receivers: &'static [&'static str],
    /// Sources by column and table. Columns that are not listed are absent, except for columns
    /// with [`ValueSource::Account`], which need no mapping.
    pub tables: &'static [(&'static str, &'static [(&'static str, ValueSource)])],
}

impl ColumnMapping {
    fn source(&self, field: &TableColumn) -> ValueSource {
        let tables = self.tables.iter().filter(|(table, _)| *table == field.table);
        let mut columns = tables.flat_map(|(_, columns)| *columns);
        match columns.find(|(name, _)| *name == field.name) {
            Some((_, source)) => *source,
            None if field.is_account() => ValueSource::Account,
            None => ValueSource::Absent,
        }
    }
}

/// Mappings are equal if they belong to the same API.
impl PartialEq for ColumnMapping {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for ColumnMapping {}

impl Service {
    /// Returns the names with which the service's receiving servers begin their own
    /// Authentication-Results (RFC 8601). Empty if there are none.
    pub const fn receivers(self) -> &'static [&'static str] {
        match self {
            Self::Google => &["mx.google.com"],
            // Exchange Online writes its results without the name that RFC 8601 requires.
            Self::Microsoft => &["", "mx.microsoft.com"],
            Self::Local => &[],
            Self::Other(mapping) => mapping.receivers,
        }
    }

    /// Returns the name used in docs and schemas.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Google => "gmail",
            Self::Microsoft => "outlook",
            Self::Local => "daysheet",
            Self::Other(mapping) => mapping.name,
        }
    }
}

/// The importance of a column in its table.
///
/// A call requests a level together with the levels below it. A budget drops whole levels from
/// the top, but never `Key`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColumnLevel {
    /// Always shown: enough to recognise the row.
    Key,
    /// Shown by default.
    Core,
    /// Shown only if requested.
    More,
}

impl ColumnLevel {
    /// Returns the word used in docs and schemas.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Key => "key",
            Self::Core => "core",
            Self::More => "more",
        }
    }

    /// Returns the word that requests it in a call.
    pub const fn detail(self) -> &'static str {
        match self {
            Self::Key => "minimal",
            Self::Core => "standard",
            Self::More => "full",
        }
    }
}

/// The type of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CellKind {
    /// A handle such as `m12`, with the letter of its kind.
    Handle(char),
    /// One line of text.
    Text,
    /// Short words of ours, separated by spaces; empty if none applies.
    Words,
    /// A point in time, minutes exact, in the zone of the document: `2026-02-03 18h05`.
    Time,
    /// The start of an event: `Tue 2026-02-03 18h05`, or the date alone for whole days. It may be
    /// followed by the local time in the event's own zone: ` = 19h05 Lisbon`.
    Start,
    /// The end of an event: `18h50` on the day of the start, else like [`CellKind::Start`]. For
    /// whole days, the last day without its weekday.
    End,
    /// True or false.
    Flag,
    /// A whole number.
    Count,
}

impl CellKind {
    /// Returns the name used in docs.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Handle(_) => "handle",
            Self::Text => "text",
            Self::Words => "words",
            Self::Time => "time",
            Self::Start => "start",
            Self::End => "end",
            Self::Flag => "flag",
            Self::Count => "count",
        }
    }
}

/// One column: its name, its meaning, its weight, and its source per provider.
#[derive(Debug, Clone, Copy)]
pub struct TableColumn {
    /// The name in every format, the same for all providers.
    pub name: &'static str,
    /// The type of its cells.
    pub kind: CellKind,
    /// One sentence on its meaning.
    pub doc: &'static str,
    /// Its importance in this table.
    pub level: ColumnLevel,
    /// Set for untrusted text: its maximum length in characters.
    pub untrusted: Option<u16>,
    /// True for text written by us or by the user.
    pub ours: bool,
    /// True if the text is a beginning by nature, so that cutting it loses nothing.
    pub beginning: bool,
    /// True if the column is left out of an answer in which all its values are empty, unless it
    /// was requested by name.
    pub sparse: bool,
    /// True if the column is shown only when requested by name, at no level.
    pub on_request: bool,
    /// True if `manage` can set it.
    pub settable: bool,
    /// The name of its table; empty for a column outside of tables.
    pub table: &'static str,
    /// The sources in the objects of each API. APIs that are not listed do not have the column.
    pub sources: &'static [(Service, ValueSource)],
}

/// Declares a column of [`ColumnLevel::Core`] without sources.
pub const fn field(name: &'static str, kind: CellKind, doc: &'static str) -> TableColumn {
    TableColumn {
        name,
        kind,
        doc,
        level: ColumnLevel::Core,
        untrusted: None,
        ours: false,
        beginning: false,
        sparse: false,
        on_request: false,
        settable: false,
        table: "",
        sources: &[],
    }
}

/// The name of the table that declares columns.
#[derive(Debug, Clone, Copy)]
pub struct TableName(pub &'static str);

impl TableName {
    /// Returns the columns, each with the name of its table.
    pub const fn columns<const N: usize>(self, mut columns: [TableColumn; N]) -> [TableColumn; N] {
        let mut rest: &mut [TableColumn] = &mut columns;
        while let [field, tail @ ..] = rest {
            field.table = self.0;
            rest = tail;
        }
        columns
    }
}

impl TableColumn {
    /// Returns the lowest level of rows that keep a chosen column. The account is kept at any
    /// level, because it is chosen only if the rows are from several accounts.
    pub const fn least(&self) -> ColumnLevel {
        if self.is_account() { ColumnLevel::Key } else { self.level }
    }

    /// Sets the level.
    pub const fn level(mut self, level: ColumnLevel) -> Self {
        self.level = level;
        self
    }

    /// Marks untrusted text, which is cleaned and cut at `cap` characters.
    pub const fn untrusted(mut self, cap: u16) -> Self {
        self.untrusted = Some(cap);
        self
    }

    /// Marks untrusted text that is a beginning by nature. It is cut at `cap` characters without
    /// a note.
    pub const fn beginning(mut self, cap: u16) -> Self {
        self.untrusted = Some(cap);
        self.beginning = true;
        self
    }

    /// Marks a column that is left out of an answer in which all its values are empty.
    pub const fn sparse(mut self) -> Self {
        self.sparse = true;
        self
    }

    /// Marks a column that is shown only when requested by name.
    pub const fn on_request(mut self) -> Self {
        self.on_request = true;
        self
    }

    /// Returns true if rows at this level show the column without a request by name.
    pub fn is_at(&self, level: ColumnLevel) -> bool {
        self.level <= level && !self.on_request
    }

    /// Marks text written by us or by the user, which is neither cleaned nor cut.
    pub const fn ours(mut self) -> Self {
        self.ours = true;
        self
    }

    /// Marks a column that `manage` can set.
    pub const fn settable(mut self) -> Self {
        self.settable = true;
        self
    }

    /// Declares the column's source at each API.
    pub const fn sources(mut self, sources: &'static [(Service, ValueSource)]) -> Self {
        self.sources = sources;
        self
    }

    /// Returns true for the account of a row, which no provider reports.
    pub const fn is_account(&self) -> bool {
        matches!(self.sources, [(_, ValueSource::Account), ..])
    }

    /// Returns the source in the objects of `api`.
    pub fn source(&self, api: Service) -> ValueSource {
        if let Service::Other(mapping) = api {
            return mapping.source(self);
        }
        let known = self.sources.iter().find(|(known, _)| *known == api);
        known.map_or(ValueSource::Absent, |(_, source)| *source)
    }
}

/// Columns of a table are equal if they have the same name.
impl PartialEq for TableColumn {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// A named set of columns.
#[derive(Debug, Clone, Copy)]
pub struct Table {
    /// The name of one row, singular.
    pub name: &'static str,
    /// The key of the table in a document.
    pub plural: &'static str,
    /// The version. It is raised if a column is renamed, removed or retyped, but not if one is
    /// added.
    pub version: u16,
    /// One sentence that describes a row.
    pub doc: &'static str,
    /// The columns in the order of the document; the first is the key.
    pub fields: &'static [TableColumn],
}

impl Table {
    /// Returns the column called `name`.
    pub fn field(&self, name: &str) -> Option<&'static TableColumn> {
        self.fields.iter().find(|field| field.name == name)
    }

    /// Returns the columns up to and including `level`.
    pub fn up_to(&self, level: ColumnLevel) -> Vec<&'static TableColumn> {
        self.fields.iter().filter(|field| field.is_at(level)).collect()
    }
}

/// Tables are equal if they have the same name.
impl PartialEq for Table {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Declares a table. A malformed declaration is a compile error.
///
/// The first column is the key; names are unique lower-case identifiers; every column is
/// documented; every text declares whether it is untrusted, and its maximum length.
pub const fn table(
    name: &'static str,
    plural: &'static str,
    version: u16,
    doc: &'static str,
    fields: &'static [TableColumn],
) -> Table {
    assert!(version > 0, "versions count from 1");
    assert!(identifier(name) && identifier(plural), "a table is named by an identifier");
    assert!(!doc.is_empty(), "a table is documented");
    // Loops over slices, because iterators cannot be used in constants.
    let mut rest = fields;
    let mut first = true;
    while let [field, tail @ ..] = rest {
        assert!(same(field.table, name), "columns are those of `In` the same table");
        assert!(identifier(field.name), "a column is named by an identifier");
        assert!(!field.doc.is_empty(), "a column is documented");
        assert!(!first || matches!(field.level, ColumnLevel::Key), "the first column is the key");
        if matches!(field.kind, CellKind::Text) {
            assert!(
                field.ours != field.untrusted.is_some(),
                "a text says whether strangers wrote it"
            );
        } else {
            assert!(
                !field.ours && field.untrusted.is_none(),
                "only a text is marked by its writer"
            );
        }
        if let Some(cap) = field.untrusted {
            assert!(cap > 0, "strangers' text is capped");
        }
        let mut later = tail;
        while let [other, more @ ..] = later {
            assert!(!same(field.name, other.name), "column names are unique");
            later = more;
        }
        rest = tail;
        first = false;
    }
    assert!(!first, "a table has columns");
    Table { name, plural, version, doc, fields }
}

/// Returns true for `[a-z][a-z0-9_]*`, a name that needs quotes in no format.
const fn identifier(name: &str) -> bool {
    let [start, rest @ ..] = name.as_bytes() else {
        return false;
    };
    let mut rest = rest;
    while let [byte, tail @ ..] = rest {
        if !(byte.is_ascii_lowercase() || byte.is_ascii_digit() || *byte == b'_') {
            return false;
        }
        rest = tail;
    }
    start.is_ascii_lowercase()
}

/// Compares strings, which `==` cannot do in constants.
const fn same(one: &str, other: &str) -> bool {
    let (mut one, mut other) = (one.as_bytes(), other.as_bytes());
    loop {
        match (one, other) {
            ([], []) => return true,
            ([a, rest @ ..], [b, others @ ..]) if *a == *b => (one, other) = (rest, others),
            _ => return false,
        }
    }
}
