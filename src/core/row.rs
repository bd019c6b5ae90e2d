//! Rows as the intermediate form: flattening makes them and the encoders read them.
//!
//! A [`RowTable`] is a table of the registry with the chosen columns and cells that are
//! ready to be written: dates are text, provider ids are replaced by handles later. It
//! knows no provider, no format and no JSON.

use std::borrow::Cow;

use crate::schemas::{CellKind, ColumnLevel, Table, TableColumn};
use crate::text::{Note, TextKind, ours, shown};

/// One value of one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowCell {
    /// The provider has no such value, or it was of the wrong type.
    Null,
    /// A truth value.
    Flag(bool),
    /// A whole number.
    Count(i64),
    /// One line of text, words or a formatted time.
    Text(String),
    /// A provider's own id, waiting to become a handle.
    Id(String),
    /// A handle: the letter of its kind and its number.
    Handle(char, u64),
}

impl RowCell {
    /// Cleans a text or an id.
    pub fn clean(&mut self) {
        if let Self::Text(text) | Self::Id(text) = self {
            clean(text);
        }
    }
}

/// Leaves nothing in the text of a cell that shows nothing. Texts that have lines, such as those of
/// drafts and signatures, keep them.
fn clean(text: &mut String) {
    let kind = if text.contains('\n') { TextKind::Lines } else { TextKind::Cell };
    if let Cow::Owned(clean) = shown(text, kind) {
        *text = clean;
    }
}

/// Rows of one table, all with the same columns.
#[derive(Debug, Clone, PartialEq)]
pub struct RowTable {
    table: &'static Table,
    /// Its name in the document; the table's plural if `None`.
    section: Option<&'static str>,
    /// The level that rows were lowered to, when the document has others of
    /// the same name.
    lowered: Option<ColumnLevel>,
    columns: Vec<&'static TableColumn>,
    cells: Vec<RowCell>,
    extras: Vec<RowExtra>,
    source_bytes: usize,
}

/// The data of a row that is not in cells; only JSON and STC show it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowExtra {
    /// The provider's own id of the object that the row is about.
    pub provider_id: Option<String>,
    /// A long text, which is a block of its own in TOON.
    pub text: Option<String>,
    /// The hidden rest of its cells; no format shows it.
    pub cuts: Vec<CutCell>,
    /// What has to be known of its cells, each with the name of the column.
    pub remarks: Vec<(&'static str, Note)>,
}

/// A cell that shows a part of its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutCell {
    /// The name of its column.
    pub column: &'static str,
    /// All of the value.
    pub whole: String,
    /// Of a list, all of its members, each cut as those that are shown are.
    pub members: Option<String>,
}

impl RowTable {
    /// Creates an empty table with the given columns.
    pub fn new(table: &'static Table, columns: Vec<&'static TableColumn>) -> Self {
        Self {
            table,
            section: None,
            lowered: None,
            columns,
            cells: Vec::new(),
            extras: Vec::new(),
            source_bytes: 0,
        }
    }

    /// Gives the table another name than its plural, for a document that has
    /// several of its kind.
    #[must_use]
    pub fn section(mut self, name: &'static str) -> Self {
        self.section = Some(name);
        self
    }

    /// Returns the table's name in the document: `messages`, or `messages_minimal` for
    /// rows that were lowered to fewer columns than others.
    pub fn name(&self) -> Cow<'static, str> {
        let name = self.section.unwrap_or(self.table.plural);
        match self.lowered {
            None => Cow::Borrowed(name),
            Some(level) => Cow::Owned(format!("{name}_{}", level.detail())),
        }
    }

    /// Returns some of the rows, in that order, with the columns up to `level`; named
    /// after it if `lowered`.
    #[must_use]
    pub fn part(&self, rows: &[usize], level: ColumnLevel, lowered: bool) -> Self {
        let keep: Vec<bool> = self
            .columns
            .iter()
            .enumerate()
            .map(|(at, field)| at == 0 || field.least() <= level)
            .collect();
        let mut part = self.narrowed(rows.iter().copied(), &keep);
        part.lowered = lowered.then_some(level);
        part
    }

    /// Drops the sparse columns in which no row has anything.
    pub fn drop_empty(&mut self) {
        let filled = |at: usize| {
            self.rows().any(|row| match row.get(at) {
                None | Some(RowCell::Null) => false,
                Some(RowCell::Text(text)) => !text.is_empty(),
                Some(_) => true,
            })
        };
        let columns = self.columns.iter().enumerate();
        let keep: Vec<bool> = columns.map(|(at, field)| !field.sparse || filled(at)).collect();
        if keep.contains(&false) {
            let lowered = self.lowered;
            let source_bytes = self.source_bytes;
            *self = Self { lowered, source_bytes, ..self.narrowed(0..self.len(), &keep) };
        }
    }

    /// Returns some of the rows, with the columns that are to be kept.
    fn narrowed(&self, rows: impl Iterator<Item = usize>, keep: &[bool]) -> Self {
        let kept = self.columns.iter().zip(keep);
        let columns = kept.filter(|(_, keep)| **keep).map(|(field, _)| *field);
        let mut part = Self::new(self.table, columns.collect());
        part.section = self.section;
        for (row, extra) in rows.filter_map(|at| self.row(at)) {
            let cells = row.iter().zip(keep).filter(|(_, keep)| **keep);
            part.cells.extend(cells.map(|(cell, _)| cell.clone()));
            part.extras.push(extra.clone());
        }
        part
    }

    /// Returns one row, and its extra data.
    pub fn row(&self, at: usize) -> Option<(&[RowCell], &RowExtra)> {
        let width = self.columns.len().max(1);
        let cells = self.cells.get(at * width..(at + 1) * width)?;
        Some((cells, self.extras.get(at)?))
    }

    /// Cleans every text that is shown of its rows.
    pub fn clean(&mut self) {
        self.cells.iter_mut().for_each(RowCell::clean);
        for extra in &mut self.extras {
            extra.provider_id.iter_mut().for_each(clean);
            for cut in &mut extra.cuts {
                clean(&mut cut.whole);
                cut.members.iter_mut().for_each(clean);
            }
        }
    }

    /// Returns the cell of the column called `name` in the row at `at`.
    pub fn cell_mut(&mut self, at: usize, name: &str) -> Option<&mut RowCell> {
        let width = self.columns.len().max(1);
        let column = self.columns.iter().position(|field| field.name == name)?;
        self.cells.get_mut(at * width + column)
    }

    /// Returns the cell of the column called `name` in the row at `at`.
    pub fn cell(&self, at: usize, name: &str) -> Option<&RowCell> {
        let column = self.columns.iter().position(|field| field.name == name)?;
        self.row(at)?.0.get(column)
    }

    /// Returns the size in bytes of the JSON that the rows were made from.
    pub fn source_bytes(&self) -> usize {
        self.source_bytes
    }

    /// Records the size in bytes of the JSON that the rows were made from.
    pub fn made_from(&mut self, bytes: usize) {
        self.source_bytes = bytes;
    }

    /// Adds a row; cells beyond the columns are dropped and missing ones are null.
    pub fn push(&mut self, mut cells: Vec<RowCell>, extra: RowExtra) {
        cells.resize(self.columns.len(), RowCell::Null);
        self.cells.append(&mut cells);
        self.extras.push(extra);
    }

    /// Inserts a row that is null except for its key at `at`, or at the end: an object
    /// that exists and could not be read.
    pub fn insert_unread(&mut self, at: usize, id: &str) {
        let at = at.min(self.len());
        let width = self.columns.len();
        let nulls = std::iter::repeat_n(RowCell::Null, width.saturating_sub(1));
        let cells = std::iter::once(RowCell::Id(id.to_owned())).chain(nulls);
        self.cells.splice(at * width..at * width, cells.take(width));
        let extra = RowExtra { provider_id: Some(id.to_owned()), ..RowExtra::default() };
        self.extras.insert(at, extra);
    }

    /// Appends the rows of `other`, whose columns must be the same.
    pub fn append(&mut self, mut other: Self) {
        self.cells.append(&mut other.cells);
        self.extras.append(&mut other.extras);
        self.source_bytes += other.source_bytes;
    }

    /// Keeps the rows that `keep` accepts.
    pub fn retain(&mut self, mut keep: impl FnMut(&[RowCell], &RowExtra) -> bool) {
        let mut remaining = Self {
            section: self.section,
            lowered: self.lowered,
            source_bytes: self.source_bytes,
            ..Self::new(self.table, std::mem::take(&mut self.columns))
        };
        let width = remaining.columns.len().max(1);
        let mut cells = std::mem::take(&mut self.cells).into_iter();
        for extra in std::mem::take(&mut self.extras) {
            let row: Vec<RowCell> = cells.by_ref().take(width).collect();
            if keep(&row, &extra) {
                remaining.push(row, extra);
            }
        }
        *self = remaining;
    }

    /// Merges the rows of several tables: `order` names the table of each row in turn,
    /// and each table is used from its beginning. All must have the same columns.
    pub fn interleave(tables: Vec<Self>, order: impl IntoIterator<Item = usize>) -> Option<Self> {
        let first = tables.first()?;
        let mut merged = Self {
            section: first.section,
            source_bytes: tables.iter().map(|table| table.source_bytes).sum(),
            ..Self::new(first.table, first.columns.clone())
        };
        let width = merged.columns.len().max(1);
        let mut sources: Vec<_> = tables
            .into_iter()
            .map(|table| (table.cells.into_iter(), table.extras.into_iter()))
            .collect();
        for at in order {
            if let Some((cells, extras)) = sources.get_mut(at)
                && let Some(extra) = extras.next()
            {
                merged.push(cells.by_ref().take(width).collect(), extra);
            }
        }
        Some(merged)
    }

    /// Returns the cut cells, each with the number of its row.
    pub fn cuts(&self) -> impl Iterator<Item = (usize, &CutCell)> {
        let shown = |cut: &&CutCell| self.columns.iter().any(|field| field.name == cut.column);
        let rows = self.extras.iter().enumerate();
        rows.flat_map(move |(at, extra)| extra.cuts.iter().filter(shown).map(move |cut| (at, cut)))
    }

    /// Returns the remarks on cells that are shown, under the name of their column and, in a
    /// table of several rows, that of their row.
    pub fn remarks(&self) -> impl Iterator<Item = Note> {
        self.extras.iter().enumerate().flat_map(move |(at, extra)| {
            let is_shown = |column: &str| self.columns.iter().any(|field| field.name == column);
            let shown = extra.remarks.iter().filter(move |(column, _)| is_shown(column));
            shown.map(move |(column, remark)| match self.len() {
                1 => remark.under(ours(column)),
                _ => remark.under(ours(column)).under(ours(self.row_name(at))),
            })
        })
    }

    /// Returns the name of the row at `at`: its handle, or its table and number.
    pub fn row_name(&self, at: usize) -> String {
        match self.row(at) {
            Some(([RowCell::Handle(kind, number), ..], _)) => format!("{kind}{number}"),
            _ => format!("{}[{}]", self.name(), at + 1),
        }
    }

    /// Shows all members of lists, each as the others are.
    pub fn show_members(&mut self) {
        let width = self.columns.len().max(1);
        let rows = self.cells.chunks_mut(width).zip(&mut self.extras);
        for (cells, extra) in rows {
            extra.cuts.retain_mut(|cut| {
                let column = self.columns.iter().position(|it| it.name == cut.column);
                let cell = column.and_then(|at| cells.get_mut(at));
                let (Some(members), Some(cell)) = (cut.members.take(), cell) else {
                    return true;
                };
                let all = members == cut.whole;
                *cell = RowCell::Text(members);
                !all
            });
        }
    }

    /// Shows every cell in full: for rows that other rows are computed from.
    pub fn show_whole(&mut self) {
        let width = self.columns.len().max(1);
        let rows = self.cells.chunks_mut(width).zip(&mut self.extras);
        for (cells, extra) in rows {
            for cut in std::mem::take(&mut extra.cuts) {
                let column = self.columns.iter().position(|it| it.name == cut.column);
                if let Some(cell) = column.and_then(|at| cells.get_mut(at)) {
                    *cell = RowCell::Text(cut.whole);
                }
            }
        }
    }

    /// Gives the row at `at` its long text.
    pub fn attach_text(&mut self, at: usize, text: Option<String>) {
        if let Some(extra) = self.extras.get_mut(at) {
            extra.text = text;
        }
    }

    /// Returns the table of the registry.
    pub fn table(&self) -> &'static Table {
        self.table
    }

    /// Returns the chosen columns, in the order of the document.
    pub fn columns(&self) -> &[&'static TableColumn] {
        &self.columns
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.extras.len()
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.extras.is_empty()
    }

    /// Returns the rows, each as one cell per column.
    pub fn rows(&self) -> impl Iterator<Item = &[RowCell]> {
        self.cells.chunks_exact(self.columns.len().max(1))
    }

    /// Returns the extra data of the rows, in their order.
    pub fn extras(&self) -> &[RowExtra] {
        &self.extras
    }

    /// Returns the provider ids of the handle columns whose letter is `kind`, each
    /// once, in the order of their first occurrence.
    pub fn ids(&self, kind: char) -> Vec<String> {
        let mut seen = std::collections::HashSet::new();
        self.of_kind(kind)
            .filter_map(|cell| match cell {
                RowCell::Id(id) if seen.insert(id.as_str()) => Some(id.clone()),
                _ => None,
            })
            .collect()
    }

    /// Replaces provider ids in the columns of `kind` by the handles that `handle` returns.
    pub fn replace_ids(&mut self, kind: char, handle: impl Fn(&str) -> Option<u64>) {
        let columns = &self.columns;
        let width = columns.len().max(1);
        for (at, cell) in self.cells.iter_mut().enumerate() {
            let here = columns.get(at % width).map(|field| field.kind);
            if here == Some(CellKind::Handle(kind))
                && let RowCell::Id(id) = cell
                && let Some(number) = handle(id)
            {
                *cell = RowCell::Handle(kind, number);
            }
        }
    }

    /// Returns the letters of the handle columns, each once.
    pub fn handle_kinds(&self) -> Vec<char> {
        let mut kinds: Vec<char> = Vec::new();
        for field in &self.columns {
            if let CellKind::Handle(kind) = field.kind
                && !kinds.contains(&kind)
            {
                kinds.push(kind);
            }
        }
        kinds
    }

    fn of_kind(&self, kind: char) -> impl Iterator<Item = &RowCell> {
        let width = self.columns.len().max(1);
        self.cells.iter().enumerate().filter_map(move |(at, cell)| {
            let field = self.columns.get(at % width)?;
            (field.kind == CellKind::Handle(kind)).then_some(cell)
        })
    }
}
