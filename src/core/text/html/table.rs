//! Which tables hold data and which only place things.
//!
//! Newsletters are tables in tables in tables; read as tables they are noise.
//! Receipts and timetables are tables, too, and read as paragraphs they lose
//! what belongs together. So a row becomes one line when its cells are short
//! and hold nothing but a line of text each, and a table of such rows is
//! written as one; everything else reads as paragraphs.

use std::collections::{BTreeSet, HashMap};

use super::elements::picture_text;
use super::tree::{Id, ROOT, Tree, Walk, WalkStep};

/// Longest text of a cell that makes its table one of data.
const SHORT: usize = 120;
/// Longest text of a cell in such a table that can stand in a line.
const LONG: usize = 300;
/// Longest text of a cell, and of a row, joined on its own account.
const ALONE: usize = 60;
const ROW: usize = 160;
/// Columns beyond this are not distinguished.
const MAX_COLUMNS: usize = 60;

/// How the rows of all tables are to be written.
#[derive(Default)]
pub struct TablePlan {
    /// Rows that become one line, and what ends it.
    pub rows: HashMap<Id, RowEnd>,
    /// What comes before the text of a cell in such a row.
    pub cells: HashMap<Id, String>,
}

/// What comes at the end of a row.
#[derive(Default)]
pub struct RowEnd {
    /// Right after the last cell.
    pub text: String,
    /// On a line of its own.
    pub rule: Option<String>,
}

/// What a cell holds.
#[derive(Debug, Clone, Copy, Default)]
struct Content {
    chars: usize,
    breaks: usize,
    /// Something that needs lines of its own.
    tall: bool,
    /// Anything but bullets and other signs.
    words: bool,
}

impl Content {
    fn fits(self, chars: usize) -> bool {
        self.chars <= chars && !self.tall && self.breaks <= 2
    }

    /// What parts it from the next cell: a bullet belongs to what it marks.
    fn bar(self) -> &'static str {
        if self.words { " | " } else { " " }
    }
}

/// One row with the contents of its cells.
struct TableRow {
    id: Id,
    cells: Vec<(Id, Content)>,
}

impl TableRow {
    fn filled(&self) -> usize {
        self.cells.iter().filter(|(_, c)| c.chars > 0).count()
    }

    fn words(&self) -> usize {
        self.cells.iter().filter(|(_, c)| c.words).count()
    }

    /// True if it has so many filled cells, and none of them is too long.
    fn fits(&self, filled: usize, chars: usize) -> bool {
        self.filled() >= filled && self.cells.iter().all(|(_, c)| c.fits(chars))
    }
}

/// Looks at all tables of the document.
pub fn plan(tree: &Tree, markdown: bool) -> TablePlan {
    let mut plan = TablePlan::default();
    let mut contents: HashMap<Id, Content> = HashMap::new();
    let mut open: Vec<Content> = vec![Content::default()];
    let mut walk = Walk::new(ROOT);
    while let Some(step) = walk.step(tree) {
        match step {
            WalkStep::Enter(id) => {
                if matches!(tree.name(id), "td" | "th") {
                    open.push(Content::default());
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

/// Adds one node to the content of the cell it is in.
fn count(tree: &Tree, id: Id, cell: &mut Content) {
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

/// Decides about one table, after all that are in it.
fn table(
    tree: &Tree,
    id: Id,
    contents: &HashMap<Id, Content>,
    markdown: bool,
    plan: &mut TablePlan,
) {
    let rows = rows(tree, id, contents);
    let data = rows.iter().filter(|row| row.fits(2, SHORT) && row.words() >= 2);
    let data = data.count() >= 2;
    if !data {
        for row in &rows {
            let total: usize = row.cells.iter().map(|(_, c)| c.chars).sum();
            if row.fits(2, ALONE) && total <= ROW {
                join(row, plan);
            }
        }
        return;
    }
    let used = used_columns(tree, &rows);
    let joined = rows.iter().filter(|row| row.fits(1, LONG));
    if markdown {
        for (number, row) in joined.enumerate() {
            join_markdown(tree, row, &used, number == 0, plan);
        }
    } else {
        for row in joined {
            join_data(tree, row, &used, plan);
        }
    }
}

fn rows(tree: &Tree, table: Id, contents: &HashMap<Id, Content>) -> Vec<TableRow> {
    let sections =
        tree.children(table).filter(|id| matches!(tree.name(*id), "tbody" | "thead" | "tfoot"));
    std::iter::once(table)
        .chain(sections)
        .flat_map(|part| tree.children(part))
        .filter(|id| tree.name(*id) == "tr")
        .map(|id| TableRow {
            id,
            cells: tree
                .children(id)
                .filter_map(|cell| Some((cell, *contents.get(&cell)?)))
                .collect(),
        })
        .collect()
}

/// Returns the cells of a row with the column each begins in.
fn placed_cells<'a>(
    tree: &'a Tree,
    row: &'a TableRow,
) -> impl Iterator<Item = (usize, Id, Content)> + 'a {
    let mut column = 0;
    row.cells.iter().map(move |(id, content)| {
        let at = column;
        column += span(tree, *id);
        (at, *id, *content)
    })
}

fn span(tree: &Tree, cell: Id) -> usize {
    tree.attr(cell, "colspan")
        .and_then(|span| span.trim().parse().ok())
        .unwrap_or(1)
        .clamp(1, MAX_COLUMNS)
}

/// Returns the columns that hold anything; the others are there for their width.
fn used_columns(tree: &Tree, rows: &[TableRow]) -> BTreeSet<usize> {
    rows.iter()
        .flat_map(|row| placed_cells(tree, row))
        .filter(|(column, _, content)| content.chars > 0 && *column < MAX_COLUMNS)
        .map(|(column, ..)| column)
        .collect()
}

/// A row on its own: what is in it, with bars between.
fn join(row: &TableRow, plan: &mut TablePlan) {
    let mut lead = "";
    for (id, content) in row.cells.iter().filter(|(_, content)| content.chars > 0) {
        plan.cells.insert(*id, lead.to_owned());
        lead = content.bar();
    }
    plan.rows.insert(row.id, RowEnd::default());
}

/// A row of a data table: empty cells keep their place, up to the last that
/// is not empty.
fn join_data(tree: &Tree, row: &TableRow, used: &BTreeSet<usize>, plan: &mut TablePlan) {
    let mut lead = String::new();
    for (column, id, content) in placed_cells(tree, row) {
        if content.chars > 0 {
            plan.cells.insert(id, std::mem::take(&mut lead));
            lead.push_str(content.bar());
        } else if used.contains(&column) {
            lead.push_str(" | ");
        }
    }
    plan.rows.insert(row.id, RowEnd::default());
}

/// A row of a Markdown table, with all its columns.
fn join_markdown(
    tree: &Tree,
    row: &TableRow,
    used: &BTreeSet<usize>,
    head: bool,
    plan: &mut TablePlan,
) {
    let mut cells: HashMap<usize, (Id, usize)> = HashMap::new();
    for (column, id, content) in placed_cells(tree, row) {
        cells.insert(column, (id, content.chars));
    }
    let mut lead = String::from("| ");
    for column in used {
        if let Some((id, chars)) = cells.get(column)
            && *chars > 0
        {
            plan.cells.insert(*id, std::mem::take(&mut lead));
        }
        lead.push_str(" | ");
    }
    let rule = head.then(|| format!("|{}", " --- |".repeat(used.len())));
    let text = lead.trim_end().to_owned();
    plan.rows.insert(row.id, RowEnd { text, rule });
}
