//! Sheets as tables: detection of headings, and of columns that share a unit.

use daysheet_core::text::visibility::HidingMethod;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::number::{self, NumberFormat, column};
use crate::story::OmissionTally;
use crate::{
    BlockSpan, CELLS, CellValue, Finding, HiddenUnit, PartUnit, PieceMark, ROWS, ReadFailure,
    SheetBlock, TextPiece,
};

/// Rows among which the table may begin.
const HEAD: usize = 20;
/// Maximum characters of a heading.
const LONG: usize = 60;
/// Maximum bytes of the cells of a page.
const BYTES: usize = 768 << 10;

/// A cell with visible content.
#[derive(Debug, Clone, PartialEq)]
pub enum HeadingCell {
    /// Text, including the text of dates and errors.
    Text(String),
    /// True or false.
    Flag(bool),
    /// A number with its format.
    Number(f64, NumberFormat),
}

/// A part of a sheet: first and last column, first and last row.
pub type CellRange = (u32, u32, u32, u32);

/// A row: its number in the sheet, and its cells by column.
type GridRow = (u32, Vec<(u32, HeadingCell)>);

/// A sheet that is being read, row by row. Only the rows of one page are kept.
#[derive(Default)]
pub struct SheetGrid {
    /// The requested page, or 0 to count rows only.
    page: u32,
    /// The first rows, until the heading among them is known.
    head: Option<Vec<GridRow>>,
    before: Vec<String>,
    heading: Option<Vec<(u32, HeadingCell)>>,
    /// Each column that has cells, with the format that all its numbers share.
    columns: BTreeMap<u32, Option<Option<NumberFormat>>>,
    kept: Vec<GridRow>,
    total: u64,
    /// The number of the page's first row.
    first: u64,
    gaps: bool,
    previous: Option<u32>,
    /// The page that is being filled, with its rows and bytes so far, and the columns that it
    /// needs.
    now: (u32, usize, usize),
    needed: BTreeSet<u32>,
    /// The number of cells cut in rows longer than a page.
    cut: u64,
    hidden: BTreeMap<HidingMethod, u64>,
    columns_hidden: BTreeSet<u32>,
    /// Merged areas from top to bottom; the number of areas begun by the last row; and the areas
    /// that have not ended.
    merged: Vec<CellRange>,
    begun: usize,
    open: Vec<CellRange>,
    at: u32,
    /// Text that people do not see.
    pub tally: OmissionTally,
    /// The number of formulas without a stored result.
    pub no_result: u64,
    /// Comments: place, author and text.
    pub comments: Vec<(String, String, String)>,
    /// The text of shapes on the sheet.
    pub shapes: String,
    /// True if the format does not record hidden rows and columns.
    pub unknown: bool,
}

impl SheetGrid {
    /// Creates an empty grid for the rows of a page.
    pub fn new(page: u32) -> Self {
        Self { page, head: Some(Vec::new()), now: (1, 0, 0), ..Self::default() }
    }

    /// Sets the merged areas, before any row. Each displays only its first cell.
    pub fn merge(&mut self, mut areas: Vec<CellRange>) {
        areas.sort_by_key(|area| area.2);
        self.merged = areas;
    }

    /// Finds the merged areas that a row is in.
    fn enter(&mut self, row: u32) {
        if std::mem::replace(&mut self.at, row) > row {
            // Rows come in order, except in files made to confuse.
            (self.begun, self.open) = (0, Vec::new());
        }
        while let Some(area) = self.merged.get(self.begun).filter(|area| area.2 <= row) {
            self.open.push(*area);
            self.begun += 1;
        }
        self.open.retain(|area| area.3 >= row);
    }

    /// Adds a row with its visible cells, sorted by column.
    pub fn row(&mut self, row: u32, mut cells: Vec<(u32, HeadingCell)>) {
        self.enter(row);
        let covered = |(left, right, top, _): &CellRange, column: u32| {
            (*left..=*right).contains(&column) && (column, row) != (*left, *top)
        };
        let is_covered = |(column, _): &mut (u32, HeadingCell)| {
            self.open.iter().any(|area| covered(area, *column))
        };
        let unseen: Vec<(u32, HeadingCell)> = cells.extract_if(.., is_covered).collect();
        self.hide(HidingMethod::Covered, &unseen);
        if cells.is_empty() {
            return;
        }
        let Some(head) = &mut self.head else { return self.data((row, cells)) };
        head.push((row, cells));
        let wide = head.iter().position(|(_, cells)| cells.len() > 1);
        if wide.map_or(head.len() >= HEAD, |wide| wide + 1 < head.len()) {
            self.begin();
        }
    }

    /// Counts cells, rows or columns that people do not see, and keeps their text.
    pub fn hide(&mut self, how: HidingMethod, cells: &[(u32, HeadingCell)]) {
        if cells.is_empty() {
            return;
        }
        match how {
            HidingMethod::Column => {
                self.columns_hidden.extend(cells.iter().map(|(column, _)| *column));
            }
            HidingMethod::Row | HidingMethod::Filtered => *self.hidden.entry(how).or_default() += 1,
            _ => *self.hidden.entry(how).or_default() += cells.len() as u64,
        }
        self.keep(cells);
    }

    /// Keeps hidden text to check it for orders.
    fn keep(&mut self, cells: &[(u32, HeadingCell)]) {
        for (_, cell) in cells {
            if let HeadingCell::Text(text) = cell {
                self.tally.keep(text);
                self.tally.paragraph();
            }
        }
    }

    /// Returns the number of rows of the table.
    pub fn rows(&mut self) -> u64 {
        self.begin();
        self.total
    }

    /// Returns true if the sheet has no content and no findings.
    pub fn is_empty(&self) -> bool {
        let nothing =
            self.hidden.is_empty() && self.columns_hidden.is_empty() && self.tally.is_empty();
        self.total == 0
            && self.before.is_empty()
            && self.shapes.is_empty()
            && self.comments.is_empty()
            && nothing
    }

    /// Returns true if hidden text, or the text of a hidden sheet, gives orders.
    pub fn orders(&self) -> bool {
        self.tally.orders()
    }

    /// Finds the beginning of the table, and its headings if it has any.
    fn begin(&mut self) {
        let Some(head) = self.head.take() else { return };
        let wide = head.iter().position(|(_, cells)| cells.len() > 1);
        let mut rows = head.into_iter();
        if let Some(wide) = wide {
            let before: Vec<GridRow> = rows.by_ref().take(wide).collect();
            let texts = before.into_iter().flat_map(|(_, cells)| cells);
            self.before = texts.map(|(_, cell)| shown(&cell)).collect();
        }
        let rows: Vec<GridRow> = rows.collect();
        let mut rows = rows.into_iter().peekable();
        if wide.is_some()
            && let Some((number, first)) = rows.next()
        {
            match rows.peek() {
                Some((_, second)) if heads(&first, second) => {
                    // A heading without cells below it still makes a column.
                    let columns = first.iter().map(|(column, _)| (*column, None));
                    self.columns.extend(columns);
                    self.heading = Some(first);
                }
                _ => self.data((number, first)),
            }
        }
        rows.for_each(|row| self.data(row));
    }

    /// Adds a row of the table.
    fn data(&mut self, mut row: GridRow) {
        // Page 0 is a hidden sheet, or one that is only counted: its text may still give orders.
        if self.page == 0 {
            self.keep(&row.1);
        }
        self.total += 1;
        self.gaps |= self.previous.is_some_and(|previous| row.0 != previous.saturating_add(1));
        self.previous = Some(row.0);
        for (column, cell) in &row.1 {
            let shared = self.columns.entry(*column).or_default();
            // A column shares a format only if all its numbers have it; one difference rules it
            // out.
            if let HeadingCell::Number(_, format) = cell {
                match shared {
                    None => *shared = Some(Some(format.clone())),
                    Some(Some(same)) if same == format => {}
                    Some(mixed) => *mixed = None,
                }
            }
        }
        let size =
            |row: &GridRow| row.1.iter().map(|(_, cell)| shown(cell).len() + 1).sum::<usize>();
        if size(&row) > BYTES {
            let room = BYTES / row.1.len().max(1);
            for (_, cell) in &mut row.1 {
                if let HeadingCell::Text(text) = cell
                    && text.len() > room
                {
                    text.truncate(text.floor_char_boundary(room));
                    self.cut += 1;
                }
            }
        }
        let size = size(&row);
        let (page, rows, bytes) = &mut self.now;
        let columns = || row.1.iter().map(|(column, _)| *column);
        let wide = self.needed.len() + columns().filter(|one| !self.needed.contains(one)).count();
        if *rows == ROWS || (*rows > 0 && (*bytes + size > BYTES || (*rows + 1) * wide > CELLS)) {
            (*page, *rows, *bytes) = (*page + 1, 0, 0);
            self.needed.clear();
        }
        self.needed.extend(columns());
        *rows += 1;
        *bytes += size;
        if *page == self.page {
            if self.kept.is_empty() {
                self.first = self.total;
            }
            self.kept.push(row);
        }
    }

    /// Returns the requested page, as a block with the name of the sheet.
    ///
    /// # Errors
    ///
    /// [`ReadFailure::NoSuchPage`].
    pub fn block(mut self, name: &str, hidden: bool) -> Result<SheetBlock, ReadFailure> {
        self.begin();
        if self.kept.is_empty() && self.page > 1 {
            return Err(ReadFailure::NoSuchPage(u64::from(self.now.0)));
        }
        let heading: BTreeMap<u32, HeadingCell> =
            self.heading.take().into_iter().flatten().collect();
        // Columns that only other pages use are left out.
        let kept = self.kept.iter().flat_map(|(_, cells)| cells).map(|(column, _)| *column);
        let needed: BTreeSet<u32> = kept.chain(heading.keys().copied()).collect();
        let shared = needed
            .into_iter()
            .map(|column| (column, self.columns.get(&column).cloned().flatten().flatten()));
        let shared: BTreeMap<u32, Option<NumberFormat>> = shared.collect();
        let mut names: HashMap<String, u32> = HashMap::new();
        let mut columns: Vec<String> = Vec::new();
        // Without gaps, the row number follows from the position.
        if self.gaps {
            names.insert("row".to_owned(), 1);
            columns.push("row".to_owned());
        }
        for (index, format) in &shared {
            let own = heading.get(index).map(shown).filter(|name| !name.is_empty());
            let mut name = own.unwrap_or_else(|| column(*index));
            let unit = match format {
                Some(NumberFormat::Percent) => "%",
                Some(NumberFormat::Unit(unit)) => unit,
                _ => "",
            };
            if !unit.is_empty() && !name.contains(unit) {
                name = format!("{name} ({unit})");
            }
            let count = names.entry(name.clone()).or_insert(0);
            *count += 1;
            columns.push(if *count == 1 { name } else { format!("{name}_{count}") });
        }
        let rows: Vec<(u32, Vec<CellValue>)> = self
            .kept
            .drain(..)
            .map(|(number, cells)| {
                let mut cells: BTreeMap<u32, HeadingCell> = cells.into_iter().collect();
                let row = self.gaps.then(|| CellValue::Number(number.to_string()));
                let values = shared.iter().map(|(index, format)| {
                    cells
                        .remove(index)
                        .map_or(CellValue::Null, |cell| value(cell, format.is_some()))
                });
                (number, row.into_iter().chain(values).collect())
            })
            .collect();
        let last = (self.first + rows.len() as u64).saturating_sub(1);
        let next = (last < self.total).then_some(self.page + 1);
        let of = BlockSpan { unit: PartUnit::Row, first: self.first, last, of: self.total, next };
        let after = self.after();
        Ok(SheetBlock {
            name: name.to_owned(),
            hidden,
            before: std::mem::take(&mut self.before),
            columns,
            rows,
            after,
            of,
            findings: self.findings(),
        })
    }

    /// Returns the text of shapes on the sheet, and the comments.
    fn after(&mut self) -> Vec<TextPiece> {
        let mut pieces = Vec::new();
        if !self.shapes.trim().is_empty() {
            pieces.push(TextPiece::Text(std::mem::take(&mut self.shapes)));
        }
        if !self.comments.is_empty() {
            pieces.push(TextPiece::Mark(PieceMark::Comments(self.comments.len() as u32)));
        }
        for (cell, author, text) in self.comments.drain(..) {
            pieces.push(TextPiece::Mark(PieceMark::Comment { author }));
            pieces.push(TextPiece::Text(format!("{cell}: {}\n", text.trim())));
        }
        pieces
    }

    fn findings(&mut self) -> Vec<Finding> {
        let of = |how| {
            if matches!(how, HidingMethod::Row | HidingMethod::Filtered) {
                HiddenUnit::Rows
            } else {
                HiddenUnit::Cells
            }
        };
        let hidden = |(how, count): (&HidingMethod, &u64)| Finding::Hidden {
            how: *how,
            count: *count,
            of: of(*how),
        };
        let mut findings: Vec<Finding> = self.hidden.iter().map(hidden).collect();
        let count = self.columns_hidden.len() as u64;
        if count > 0 {
            findings.push(Finding::Hidden {
                how: HidingMethod::Column,
                count,
                of: HiddenUnit::Columns,
            });
        }
        if self.cut > 0 {
            findings.push(Finding::CutCells(self.cut));
        }
        if self.no_result > 0 {
            findings.push(Finding::NoResult(self.no_result));
        }
        if self.unknown {
            findings.push(Finding::HiddenUnknown);
        }
        findings.extend(std::mem::take(&mut self.tally).findings());
        findings
    }
}

/// Returns true if a row has headings: short texts, or years after a text, above a row that is
/// hardly wider.
fn heads(first: &[(u32, HeadingCell)], second: &[(u32, HeadingCell)]) -> bool {
    let text = |cell: &HeadingCell| match cell {
        HeadingCell::Text(text) => !text.is_empty() && text.chars().count() <= LONG,
        HeadingCell::Number(value, NumberFormat::Plain) => {
            value.fract() == 0.0 && (1900.0..2100.0).contains(value)
        }
        _ => false,
    };
    let texts = first.iter().filter(|(_, cell)| matches!(cell, HeadingCell::Text(_))).count();
    let below = second.iter().filter(|(column, _)| first.iter().any(|(own, _)| own == column));
    texts > 0
        && first.iter().all(|(_, cell)| text(cell))
        && below.count() * 4 >= second.len() * 3
        && {
            // A row of years is data if the next one equals it.
            texts == first.len()
                || first.iter().zip(second).any(|((_, one), (_, other))| one != other)
        }
}

/// Returns the content of a cell as displayed on its own.
fn shown(cell: &HeadingCell) -> String {
    match cell {
        HeadingCell::Text(text) => text.clone(),
        HeadingCell::Flag(flag) => flag.to_string(),
        HeadingCell::Number(number, format) => match format {
            NumberFormat::Percent => format!("{}%", number::number(number * 100.0)),
            NumberFormat::Unit(unit) => format!("{} {unit}", number::number(*number)),
            _ => number::number(*number),
        },
    }
}

/// Returns the value of a cell; `shared` is true in a column whose numbers share a format.
fn value(cell: HeadingCell, shared: bool) -> CellValue {
    match cell {
        HeadingCell::Flag(flag) => CellValue::Flag(flag),
        HeadingCell::Number(number, NumberFormat::Percent) if shared => {
            CellValue::Number(number::number(number * 100.0))
        }
        HeadingCell::Number(number, NumberFormat::Unit(_)) if shared => {
            CellValue::Number(number::number(number))
        }
        HeadingCell::Number(number, NumberFormat::Plain) => {
            CellValue::Number(number::number(number))
        }
        other => CellValue::Text(shown(&other)),
    }
}
