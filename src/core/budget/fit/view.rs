//! Writes the chosen renderings: the document, and the long texts after it.
//!
//! Rows of one table that are shown at several levels become one table per level, the fullest
//! first, which keeps the table's name. All choices were made before.

use std::ops::Range;

use super::pieces::{AnswerPieces, ChosenRenderings, ItemRendering, shown_level};
use super::sizes::lines;
use crate::budget::response::{LongText, WholeAnswer};
use crate::encode::{Document, Format};
use crate::row::{RowCell, RowTable};
use crate::schemas::ColumnLevel;
use crate::text::fence::Fence;

/// The written document and texts.
pub(super) struct DocumentView {
    /// The document, already written as the first block.
    pub(super) document: Document,
    pub(super) blocks: Vec<String>,
    /// The positions of the long texts.
    pub(super) texts: Vec<PlacedText>,
}

/// The position of a long text.
pub(super) struct PlacedText {
    pub(super) text: usize,
    pub(super) block: usize,
    pub(super) fenced: bool,
}

/// Writes the chosen renderings, with `first` among the values before the rows.
pub(super) fn view(
    response: &WholeAnswer,
    pieces: &AnswerPieces,
    chosen: &ChosenRenderings,
    first: Vec<(&'static str, RowCell)>,
    format: Format,
) -> DocumentView {
    let mut view = unwritten(response, pieces, chosen, format);
    // In JSON a long text may be appended to the values; `first` goes before it, so that
    // clients that cut an answer keep it.
    let at = response.document.scalars.len();
    view.document.scalars.splice(at..at, first);
    if view.document != Document::default() {
        view.blocks.insert(0, format.encode(&view.document));
        for text in &mut view.texts {
            text.block += 1;
        }
    }
    view
}

/// Returns the chosen renderings with the document not written yet.
pub(super) fn unwritten(
    response: &WholeAnswer,
    pieces: &AnswerPieces,
    chosen: &ChosenRenderings,
    format: Format,
) -> DocumentView {
    let mut document = response.document.clone();
    let mut view =
        DocumentView { document: Document::default(), blocks: Vec::new(), texts: Vec::new() };
    let mut levels: Vec<Vec<Option<ColumnLevel>>> =
        document.tables.iter().map(|table| vec![None; table.len()]).collect();
    for (at, item) in pieces.items.iter().enumerate() {
        let Some(look) = pieces.look(chosen, at) else {
            continue;
        };
        for (table, row) in &item.rows {
            let slot = levels.get_mut(*table).and_then(|rows| rows.get_mut(*row));
            let own = document.tables.get(*table);
            if let (Some(slot), Some(own)) = (slot, own) {
                *slot = Some(shown_level(own, look.level));
            }
        }
        if let Some(number) = item.text
            && let Some(text) = response.texts.get(number)
        {
            let shown = ShownText::new(text, number, look, pieces);
            shown.place(text, number, &mut document, &mut view, format);
        }
    }
    document.tables = document
        .tables
        .iter()
        .zip(&levels)
        .flat_map(|(table, levels)| by_level(table, levels))
        .collect();
    DocumentView { document, ..view }
}

/// Splits a table into one per level used, the fullest first.
fn by_level(table: &RowTable, levels: &[Option<ColumnLevel>]) -> Vec<RowTable> {
    // An empty table says that there are no rows, so it is kept.
    if table.is_empty() {
        return vec![table.clone()];
    }
    let mut tables = Vec::new();
    for level in [ColumnLevel::More, ColumnLevel::Core, ColumnLevel::Key] {
        let rows = levels.iter().enumerate();
        let rows: Vec<usize> =
            rows.filter(|(_, own)| **own == Some(level)).map(|(row, _)| row).collect();
        if !rows.is_empty() {
            tables.push(table.select(&rows, level, !tables.is_empty()));
        }
    }
    tables
}

/// The shown part of a long text.
struct ShownText<'a> {
    text: String,
    chars: usize,
    /// `None` for a text that replaces the document.
    fence: Option<&'a Fence>,
}

impl<'a> ShownText<'a> {
    fn new(text: &LongText, number: usize, look: &ItemRendering, pieces: &'a AnswerPieces) -> Self {
        let own = pieces.texts.get(number);
        let fence = own.map(|own| &own.fence).filter(|_| !text.name.is_empty());
        let chars = |text: &str| match fence {
            Some(fence) => fence.chars(text),
            None => text.chars().count(),
        };
        let Some(window) = &look.window else {
            return Self { text: text.text.clone(), chars: chars(&text.text), fence };
        };
        let start = own.map_or(1, |own| own.start);
        let lines = lines(&text.text);
        let mut shown = Self { text: String::new(), chars: 0, fence };
        // Inside a fence, only lines that begin with the fence's word are ours: the sender of
        // the text cannot know the word, and so cannot imitate a marker.
        let marker = |gap: &Range<usize>| {
            let word = fence.map_or_else(String::new, |fence| format!("{} ", fence.secret_word()));
            let (count, offset) = (gap.len(), start + gap.start);
            format!("…{word}{count} lines left out, offset={offset}\n")
        };
        if window.shown.lines() == 0 {
            let first = lines.first().copied().unwrap_or_default();
            let part: String = first.chars().take(window.chars).collect();
            shown.chars = part.chars().count();
            shown.text = format!("{}\n", part.trim_end_matches('\n'));
        }
        let mut ranges = window.shown.ranges.iter().peekable();
        let mut gaps = window.shown.gaps(lines.len()).into_iter().peekable();
        // Ranges and gaps are both sorted, and no two begin at the same line.
        loop {
            let first = ranges.peek().map_or(usize::MAX, |range| range.start);
            if let Some(gap) = gaps.next_if(|gap| gap.start < first) {
                shown.text.push_str(&marker(&gap));
                continue;
            }
            let Some(range) = ranges.next() else {
                break;
            };
            for line in lines.get(range.clone()).unwrap_or_default() {
                shown.chars += chars(line);
                shown.text.push_str(line);
            }
            if !shown.text.ends_with('\n') {
                shown.text.push('\n');
            }
        }
        shown.text.truncate(shown.text.trim_end_matches('\n').len());
        shown
    }

    /// Adds the text to its row, or to a block of its own.
    fn place(
        self,
        text: &LongText,
        number: usize,
        document: &mut Document,
        view: &mut DocumentView,
        format: Format,
    ) {
        if let Some((table, row)) = text.row
            && let Some(table) = document.tables.get_mut(table)
        {
            if let Some(cell @ RowCell::Count(_)) = table.cell_mut(row, "shown") {
                *cell = RowCell::Count(i64::try_from(self.chars).unwrap_or(i64::MAX));
            }
            if format.has_text_fields() {
                table.attach_text(row, Some(self.text));
                return;
            }
        } else if format.has_text_fields() && !text.name.is_empty() {
            let cell = RowCell::Text(self.text);
            // A draft's field names the block of its text. Here, the text takes that place.
            match document.scalars.iter_mut().find(|(name, _)| *name == "text") {
                Some((_, named)) => *named = cell,
                None => document.scalars.push(("text", cell)),
            }
            return;
        }
        view.texts.push(PlacedText {
            text: number,
            block: view.blocks.len(),
            fenced: self.fence.is_some(),
        });
        view.blocks.push(match self.fence {
            Some(fence) => fence.around(&text.name, &self.text),
            None => self.text,
        });
    }
}
