//! Distinction between tables of data and tables for layout.
//!
//! Newsletters consist of nested tables; written as tables, they are noise. Receipts and timetables
//! are tables as well; written as paragraphs, they lose their connections. So a row becomes one
//! line if its cells are short and contain only a line of text each, and a table of such rows is
//! written as one. Everything else becomes paragraphs.

use std::collections::{BTreeSet, HashMap};

use super::elements::picture_text;
use super::tree::{DomTree, NodeId, ROOT, TreeWalk, WalkStep};

/// Maximum length of the text of a cell that makes its table one of data.
const SHORT: usize = 120;
/// Maximum length of the text of a cell that fits into a line of such a table.
const LONG: usize = 300;
/// Maximum length of the text of a cell, and of a row, that is joined on its own.
const ALONE: usize = 60;
const ROW: usize = 160;
/// Number of columns that are distinguished.
const MAX_COLUMNS: usize = 60;
/// Maximum number of rows that a cell spans.
const MAX_ROWS: usize = 1_000;

/// The plan for the rows of all tables.
#[derive(Default)]
pub struct TablePlan {
    /// Rows that become one line, with their ends.
    pub rows: HashMap<NodeId, RowEnd>,
    /// The text before each cell of such a row.
    pub cells: HashMap<NodeId, String>,
}

/// The end of a row.
#[derive(Default)]
pub struct RowEnd {
    /// Right after the last cell.
    pub text: String,
    /// On a line of its own.
    pub rule: Option<String>,
}

/// The content of a cell.
#[derive(Debug, Clone, Copy, Default)]
struct CellContent {
    chars: usize,
    breaks: usize,
    /// True if it has content that needs lines of its own.
    tall: bool,
    /// True if it has more than bullets and other signs.
    words: bool,
}

impl CellContent {
    fn fits(self, chars: usize) -> bool {
        self.chars <= chars && !self.tall && self.breaks <= 2
    }

    /// Returns the separator before the next cell; a bullet is not separated from its text.
    fn bar(self) -> &'static str {
        if self.words { " | " } else { " " }
    }
}

/// A cell of a row.
struct TableCell {
    id: NodeId,
    /// Its columns: the first, and the first after the cell.
    columns: (usize, usize),
    content: CellContent,
}

/// One row with its cells.
struct TableRow {
    id: NodeId,
    cells: Vec<TableCell>,
}

impl TableRow {
    fn filled(&self) -> impl Iterator<Item = &TableCell> {
        self.cells.iter().filter(|cell| cell.content.chars > 0)
    }

    fn words(&self) -> usize {
        self.cells.iter().filter(|cell| cell.content.words).count()
    }

    /// Returns true if it has at least so many filled cells, and no cell is too long.
    fn fits(&self, filled: usize, chars: usize) -> bool {
        self.filled().count() >= filled && self.cells.iter().all(|cell| cell.content.fits(chars))
    }
}

/// Plans all tables of the document.
pub fn plan(tree: &DomTree, markdown: bool) -> TablePlan {
    let mut plan = TablePlan::default();
    let mut contents: HashMap<NodeId, CellContent> = HashMap::new();
    let mut open: Vec<CellContent> = vec![CellContent::default()];
    let mut walk = TreeWalk::new(ROOT);
    while let Some(step) = walk.step(tree) {
        match step {
            WalkStep::Enter(id) => {
                if matches!(tree.name(id), "td" | "th") {
                    open.push(CellContent::default());
                } else if let Some(cell) = open.last_mut() {
                    count(tree, id, cell);
                }
            }
            WalkStep::Leave(id) => match tree.name(id) {
                "td" | "th" => {
                    if open.len() > 1
                        && let Some(content) = open.pop()
                    {
                        contents.insert(id, content);
                    }
                }
                "table" => table(tree, id, &contents, markdown, &mut plan),
                _ => {}
            },
        }
    }
    plan
}

/// Adds one node to the content of the surrounding cell.
fn count(tree: &DomTree, id: NodeId, cell: &mut CellContent) {
    if let Some(text) = tree.text(id) {
        let seen = crate::text::invisible::visible(text);
        cell.chars += seen.split_whitespace().map(|word| word.chars().count() + 1).sum::<usize>();
        cell.words |= seen.contains(char::is_alphanumeric);
        return;
    }
    match tree.name(id) {
        "img" => {
            if let Some(text) = picture_text(tree, id) {
                cell.chars += text.len();
                cell.words = true;
            }
        }
        "br" | "p" => cell.breaks += 1,
        "table" | "ul" | "ol" | "dl" | "pre" | "blockquote" | "hr" => cell.tall = true,
        _ => {}
    }
}

/// Plans one table, after all tables within it.
fn table(
    tree: &DomTree,
    id: NodeId,
    contents: &HashMap<NodeId, CellContent>,
    markdown: bool,
    plan: &mut TablePlan,
) {
    let rows = rows(tree, id, contents);
    let layout = matches!(tree.attr(id, "role"), Some("presentation" | "none"));
    let data = rows.iter().filter(|row| row.fits(2, SHORT) && row.words() >= 2);
    // A table of data has at least two rows; others may still have rows that are better joined.
    if layout || data.count() < 2 {
        for row in &rows {
            let total: usize = row.cells.iter().map(|cell| cell.content.chars).sum();
            if row.fits(2, ALONE) && total <= ROW {
                join(row, plan);
            }
        }
        return;
    }
    let used = used_columns(&rows);
    let joined = rows.iter().filter(|row| row.fits(1, LONG));
    if markdown {
        for (number, row) in joined.enumerate() {
            join_markdown(row, &used, number == 0, plan);
        }
    } else {
        for row in joined {
            join_data(row, &used, plan);
        }
    }
}

fn rows(tree: &DomTree, table: NodeId, contents: &HashMap<NodeId, CellContent>) -> Vec<TableRow> {
    let sections =
        tree.children(table).filter(|id| matches!(tree.name(*id), "tbody" | "thead" | "tfoot"));
    // For each column, the number of rows that a cell from above still spans.
    let mut held = [0_usize; MAX_COLUMNS];
    std::iter::once(table)
        .chain(sections)
        .flat_map(|part| tree.children(part))
        .filter(|id| tree.name(*id) == "tr")
        .map(|id| TableRow { id, cells: placed_cells(tree, id, contents, &mut held) })
        .collect()
}

/// Returns the cells of a row, each in its columns.
fn placed_cells(
    tree: &DomTree,
    row: NodeId,
    contents: &HashMap<NodeId, CellContent>,
    held: &mut [usize; MAX_COLUMNS],
) -> Vec<TableCell> {
    let before = *held;
    for rows in held.iter_mut() {
        *rows = rows.saturating_sub(1);
    }
    let mut column = 0;
    let cells = tree.children(row).filter_map(|id| Some((id, *contents.get(&id)?)));
    let cells = cells.map(|(id, content)| {
        while before.get(column).is_some_and(|rows| *rows > 0) {
            column += 1;
        }
        let from = column;
        column += span(tree, id, "colspan", MAX_COLUMNS);
        let below = span(tree, id, "rowspan", MAX_ROWS) - 1;
        for rows in held.iter_mut().take(column).skip(from) {
            *rows = below;
        }
        TableCell { id, columns: (from, column), content }
    });
    cells.collect()
}

fn span(tree: &DomTree, cell: NodeId, name: &str, most: usize) -> usize {
    let span = tree.attr(cell, name).and_then(|span| span.trim().parse().ok());
    span.unwrap_or(1).clamp(1, most)
}

/// Returns the columns with content; the others only add width.
fn used_columns(rows: &[TableRow]) -> BTreeSet<usize> {
    let first = |cell: &TableCell| cell.columns.0;
    rows.iter().flat_map(TableRow::filled).map(first).filter(|at| *at < MAX_COLUMNS).collect()
}

/// Joins the filled cells of a single row with bars.
fn join(row: &TableRow, plan: &mut TablePlan) {
    let mut lead = "";
    for cell in row.filled() {
        plan.cells.insert(cell.id, lead.to_owned());
        lead = cell.content.bar();
    }
    plan.rows.insert(row.id, RowEnd::default());
}

/// Joins a row of a data table. Empty cells keep their place, up to the last filled one, and so do
/// cells that a cell from above spans.
fn join_data(row: &TableRow, used: &BTreeSet<usize>, plan: &mut TablePlan) {
    let mut lead = String::new();
    let mut next = 0;
    for cell in &row.cells {
        let (from, behind) = cell.columns;
        let passed = used.range(next.min(from)..from).count();
        (0..passed).for_each(|_| bar(&mut lead));
        next = behind;
        if cell.content.chars > 0 {
            plan.cells.insert(cell.id, std::mem::take(&mut lead));
            lead.push_str(cell.content.bar());
        } else if used.contains(&from) {
            bar(&mut lead);
        }
    }
    plan.rows.insert(row.id, RowEnd::default());
}

/// Adds a bar, with one space on either side.
fn bar(lead: &mut String) {
    lead.push_str(if lead.ends_with(' ') { "| " } else { " | " });
}

/// Joins a row of a Markdown table, with all its columns.
fn join_markdown(row: &TableRow, used: &BTreeSet<usize>, head: bool, plan: &mut TablePlan) {
    let cells: HashMap<usize, NodeId> =
        row.filled().map(|cell| (cell.columns.0, cell.id)).collect();
    let mut lead = String::from("| ");
    for column in used {
        if let Some(id) = cells.get(column) {
            plan.cells.insert(*id, std::mem::take(&mut lead));
        }
        bar(&mut lead);
    }
    let rule = head.then(|| format!("|{}", " --- |".repeat(used.len())));
    let text = lead.trim_end().to_owned();
    plan.rows.insert(row.id, RowEnd { text, rule });
}
