//! Rows, the intermediate form between flattening and the encoders.
//!
//! A [`RowTable`] is a table of the registry with chosen columns, and with cells that are ready
//! to be written: dates are text, and provider ids are later replaced by handles. It is
//! independent of providers, formats and JSON.

use std::borrow::Cow;

use crate::schemas::{CellKind, ColumnLevel, Table, TableColumn};
use crate::text::{Note, TextKind, ours, shown};

/// One value of one column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowCell {
    /// A missing value, or one of the wrong type.
    Null,
    /// A truth value.
    Flag(bool),
    /// A whole number.
    Count(i64),
    /// One line of text, words or a formatted time.
    Text(String),
    /// A provider's own id, until it is replaced by a handle.
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

/// Removes invisible characters from a cell's text. Texts with lines, such as drafts and
/// signatures, keep their lines.
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
    /// Its name in the document; `None` for the table's plural.
    section: Option<&'static str>,
    /// The level that its rows were lowered to, if the document has other tables of the same
    /// name.
    lowered: Option<ColumnLevel>,
    columns: Vec<&'static TableColumn>,
    cells: Vec<RowCell>,
    extras: Vec<RowExtra>,
    source_bytes: usize,
}

/// The data of a row outside of its cells. Only JSON and STC show it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RowExtra {
    /// The provider's own id of the row's object.
    pub provider_id: Option<String>,
    /// A long text, which is a separate block in TOON.
    pub text: Option<String>,
    /// The cut cells of the row, with their complete values; no format shows these.
    pub cuts: Vec<CutCell>,
    /// Remarks about its cells, each with the name of the column.
    pub remarks: Vec<(&'static str, Note)>,
}

/// A cell that shows part of its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CutCell {
    /// The name of its column.
    pub column: &'static str,
    /// The complete value.
    pub whole: String,
    /// For a list: all members, each cut like the shown ones.
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

    /// Sets a name other than the plural, for a document with several tables of a kind.
    #[must_use]
    pub fn section(mut self, name: &'static str) -> Self {
        self.section = Some(name);
        self
    }

    /// Returns the table's name in the document: `messages`, or `messages_minimal` for rows that
    /// were lowered to fewer columns.
    pub fn name(&self) -> Cow<'static, str> {
        let name = self.section.unwrap_or(self.table.plural);
        match self.lowered {
            None => Cow::Borrowed(name),
            Some(level) => Cow::Owned(format!("{name}_{}", level.detail())),
        }
    }

    /// Returns the given rows in that order, with the columns up to `level`. The table is named
    /// after the level if `lowered`.
    #[must_use]
    pub fn select(&self, rows: &[usize], level: ColumnLevel, lowered: bool) -> Self {
        let keep: Vec<bool> = self
            .columns
            .iter()
            .enumerate()
            .map(|(at, field)| at == 0 || field.least() <= level)
            .collect();
        // The key identifies a row at any level, so it is kept whatever its own.
        let mut part = self.narrowed(rows.iter().copied(), &keep);
        part.lowered = lowered.then_some(level);
        part
    }

    /// Drops the sparse columns in which every row is empty.
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
        // A narrowed table has neither the level nor the size of its source.
        if keep.contains(&false) {
            let lowered = self.lowered;
            let source_bytes = self.source_bytes;
            *self = Self { lowered, source_bytes, ..self.narrowed(0..self.len(), &keep) };
        }
    }

    /// Returns the given rows with the kept columns.
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

    /// Returns one row with its extra data.
    pub fn row(&self, at: usize) -> Option<(&[RowCell], &RowExtra)> {
        let width = self.columns.len().max(1);
        let cells = self.cells.get(at * width..(at + 1) * width)?;
        Some((cells, self.extras.get(at)?))
    }

    /// Cleans every text of its rows that can be shown.
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

    /// Returns the size in bytes of the JSON from which the rows were made.
    pub fn source_bytes(&self) -> usize {
        self.source_bytes
    }

    /// Records the size in bytes of the JSON from which the rows were made.
    pub fn made_from(&mut self, bytes: usize) {
        self.source_bytes = bytes;
    }

    /// Adds a row. Surplus cells are dropped, missing ones are null.
    pub fn push(&mut self, mut cells: Vec<RowCell>, extra: RowExtra) {
        cells.resize(self.columns.len(), RowCell::Null);
        self.cells.append(&mut cells);
        self.extras.push(extra);
    }

    /// Inserts a row that is null except for its key, at `at` or at the end. It represents an
    /// object that exists but could not be read.
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

    /// Merges the rows of several tables with the same columns. `order` names the table of each
    /// row in turn; each table's rows are used in order.
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

    /// Returns the cut cells of shown columns, each with the number of its row.
    pub fn cuts(&self) -> impl Iterator<Item = (usize, &CutCell)> {
        // Columns may have been dropped since the cells were cut.
        let shown = |cut: &&CutCell| self.columns.iter().any(|field| field.name == cut.column);
        let rows = self.extras.iter().enumerate();
        rows.flat_map(move |(at, extra)| extra.cuts.iter().filter(shown).map(move |cut| (at, cut)))
    }

    /// Returns the remarks on shown cells, prefixed with the name of the column and, in a table
    /// of several rows, of the row.
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

    /// Returns the name of a row: its handle, or the table's name and the row's number.
    pub fn row_name(&self, at: usize) -> String {
        match self.row(at) {
            Some(([RowCell::Handle(kind, number), ..], _)) => format!("{kind}{number}"),
            _ => format!("{}[{}]", self.name(), at + 1),
        }
    }

    /// Shows all members of lists, each cut like the others.
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
                // A list whose members are all shown in full is no longer cut.
                let all = members == cut.whole;
                *cell = RowCell::Text(members);
                !all
            });
        }
    }

    /// Shows every cell in full, for rows that other rows are computed from.
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

    /// Sets the long text of the row at `at`.
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
        // A chunk size of 0 would panic.
        self.cells.chunks_exact(self.columns.len().max(1))
    }

    /// Returns the extra data of the rows, in order.
    pub fn extras(&self) -> &[RowExtra] {
        &self.extras
    }

    /// Returns the provider ids in the handle columns of a kind, each once, in the order of their
    /// first occurrence.
    pub fn ids(&self, kind: char) -> Vec<String> {
        let mut seen = std::collections::HashSet::new();
        self.of_kind(kind)
            .filter_map(|cell| match cell {
                RowCell::Id(id) if seen.insert(id.as_str()) => Some(id.clone()),
                _ => None,
            })
            .collect()
    }

    /// Replaces provider ids in the columns of a kind by handles. Ids for which `handle` returns
    /// `None` stay.
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

    /// Returns the kinds of the handle columns, each once.
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
