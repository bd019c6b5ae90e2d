//! Text assembled from paragraphs, tables and marks, and the count of text that was left out.

use daysheet_core::text::visibility::{HidingMethod, TextVisibility};
use std::collections::BTreeMap;

use daysheet_core::text::orders::gives_orders_unseen;

use crate::{
    BlockSpan, ContentBlock, Finding, HiddenUnit, OutputSink, PAGES, PIECE, PartUnit, PieceMark,
    ReadFailure, StopReason, TextBlock, TextPiece,
};

/// Bytes of hidden text that are kept to check for orders to an assistant.
const SAMPLE: usize = 4 << 10;

/// A text that grows line by line.
#[derive(Default)]
pub struct StoryWriter {
    pieces: Vec<TextPiece>,
    text: String,
    tables: Vec<OpenTable>,
}

/// An open table: the cells of its row so far, and the lines of the open cell.
#[derive(Default)]
struct OpenTable {
    row: Vec<Vec<String>>,
    cell: Option<Vec<String>>,
}

impl StoryWriter {
    /// Adds a line to the open cell, or to the text.
    pub fn line(&mut self, line: &str) {
        let line = line.trim_end();
        if let Some(table) = self.tables.last_mut() {
            if !line.trim().is_empty() {
                table.cell.get_or_insert_default().push(line.trim().to_owned());
            }
        } else if !line.is_empty() || !(self.text.is_empty() || self.text.ends_with("\n\n")) {
            self.text.push_str(line);
            self.text.push('\n');
        }
    }

    /// Adds a heading of a level, from 1.
    pub fn heading(&mut self, level: usize, line: &str) {
        // A `#` within a row of cells would no longer be at the beginning of a line.
        if self.tables.is_empty() {
            self.line("");
            self.line(&format!("{} {line}", "#".repeat(level.clamp(1, 6))));
        } else {
            self.line(line);
        }
    }

    /// Adds a mark that describes the next lines.
    pub fn mark(&mut self, mark: PieceMark) {
        self.cut();
        self.pieces.push(TextPiece::Mark(mark));
    }

    /// Opens a table.
    pub fn table(&mut self) {
        self.tables.push(OpenTable::default());
    }

    /// Opens a cell.
    pub fn cell(&mut self) {
        if let Some(table) = self.tables.last_mut() {
            table.cell = Some(Vec::new());
        }
    }

    /// Closes a cell.
    pub fn cell_end(&mut self) {
        if let Some(table) = self.tables.last_mut()
            && let Some(cell) = table.cell.take()
        {
            table.row.push(cell);
        }
    }

    /// Closes a row. Its cells become one line; a single cell keeps its lines.
    pub fn row_end(&mut self) {
        self.cell_end();
        // The table is taken off the stack so that `line` adds to the cell or text around it.
        let Some(mut table) = self.tables.pop() else { return };
        let row = std::mem::take(&mut table.row);
        match row.as_slice() {
            [only] => only.iter().for_each(|line| self.line(line)),
            cells if cells.iter().any(|cell| !cell.is_empty()) => {
                let cells: Vec<String> = cells.iter().map(|lines| lines.join(" ")).collect();
                self.line(&cells.join(" | ").replace('\n', " "));
            }
            _ => {}
        }
        self.tables.push(table);
    }

    /// Closes a table.
    pub fn table_end(&mut self) {
        self.row_end();
        self.tables.pop();
        self.line("");
    }

    /// Adds a text below a mark, unless it is blank.
    pub fn below(&mut self, mark: PieceMark, text: &str) {
        if !text.trim().is_empty() {
            self.mark(mark);
            text.trim_end().lines().for_each(|line| self.line(line));
        }
    }

    /// Adds all pieces of another text.
    pub fn append(&mut self, other: Self) {
        self.cut();
        self.pieces.extend(other.pieces());
    }

    /// Returns the text without its marks.
    pub fn plain(self) -> String {
        let text = self.pieces().into_iter().filter_map(|piece| match piece {
            TextPiece::Text(text) => Some(text),
            TextPiece::Mark(_) => None,
        });
        text.collect()
    }

    /// Returns the pieces. The list is empty if they contain only marks.
    pub fn pieces(mut self) -> Vec<TextPiece> {
        // A truncated file leaves tables open; their cells are text all the same.
        while !self.tables.is_empty() {
            self.table_end();
        }
        self.cut();
        let text = |piece: &TextPiece| matches!(piece, TextPiece::Text(_));
        if self.pieces.iter().any(text) { self.pieces } else { Vec::new() }
    }

    fn cut(&mut self) {
        let text = std::mem::take(&mut self.text);
        if !text.trim().is_empty() {
            self.pieces.push(TextPiece::Text(format!("{}\n", text.trim_end())));
        }
    }
}

/// Emits the requested piece of a text without pages.
///
/// # Errors
///
/// [`ReadFailure::Empty`] or [`ReadFailure::NoSuchPage`].
pub fn give(pieces: Vec<TextPiece>, out: &mut OutputSink<'_>) -> Result<(), StopReason> {
    let mut pages: Vec<Vec<TextPiece>> = vec![Vec::new()];
    let mut left = PIECE;
    for piece in pieces {
        let TextPiece::Text(text) = piece else {
            pages.last_mut().into_iter().for_each(|page| page.push(piece.clone()));
            continue;
        };
        let mut rest = text.as_str();
        while !rest.is_empty() {
            let mut end = rest.floor_char_boundary(left);
            if end < rest.len() {
                let line = rest.get(..end).and_then(|part| part.rfind('\n'));
                // A line longer than a page is broken; any other line that does not fit moves to
                // the next page.
                end = line.map_or(if left == PIECE { end } else { 0 }, |line| line + 1);
            }
            let (part, later) = rest.split_at(end);
            if !part.is_empty() {
                pages
                    .last_mut()
                    .into_iter()
                    .for_each(|page| page.push(TextPiece::Text(part.into())));
            }
            left -= end;
            rest = later;
            if !rest.is_empty() {
                pages.push(Vec::new());
                left = PIECE;
            }
        }
    }
    let of = pages.len() as u64;
    let page = out.request.page;
    let asked = pages.into_iter().nth(page.saturating_sub(1) as usize);
    let pieces = asked.ok_or(ReadFailure::NoSuchPage(of))?;
    if pieces.is_empty() {
        return Err(ReadFailure::Empty.into());
    }
    let (first, next) = (u64::from(page), (u64::from(page) < of).then_some(page + 1));
    let span = BlockSpan { unit: PartUnit::Piece, first, last: first, of, next };
    out.block(ContentBlock::Text(TextBlock { pieces, of: (of > 1).then_some(span) }))
}

/// The slides of a presentation, emitted one by one.
pub struct SlideDeck {
    of: u64,
    /// Counts of the text omitted from the slides.
    pub tally: OmissionTally,
    hidden: u64,
    text: bool,
}

impl SlideDeck {
    /// Creates the deck of a file with `of` slides.
    pub fn new(of: u64, tally: OmissionTally) -> Self {
        Self { of, tally, hidden: 0, text: false }
    }

    /// Emits the slide with this number, from 1. A hidden or empty slide is emitted without text,
    /// so that `page` continues after it.
    pub fn give(
        &mut self,
        number: u32,
        shown: bool,
        story: StoryWriter,
        out: &mut OutputSink<'_>,
    ) -> Result<(), StopReason> {
        let mut pieces = Vec::new();
        if shown {
            pieces = story.pieces();
        } else {
            self.hidden += 1;
            // The text of a hidden slide is not shown, but may still give orders.
            self.tally.keep(&story.plain());
        }
        self.text |= !pieces.is_empty();
        let at = u64::from(number);
        let next = (at < self.of).then_some(number + 1);
        let of = Some(BlockSpan { unit: PartUnit::Slide, first: at, last: at, of: self.of, next });
        out.block(ContentBlock::Text(TextBlock { pieces, of }))
    }

    /// Records the omitted text, even if the reading failed.
    ///
    /// # Errors
    ///
    /// The error of `ended`, or [`ReadFailure::Empty`] if no slide up to the last one has text.
    pub fn end(
        self,
        ended: Result<(), StopReason>,
        out: &mut OutputSink<'_>,
    ) -> Result<(), StopReason> {
        if self.hidden > 0 {
            out.find(Finding::Hidden {
                how: HidingMethod::Marked,
                count: self.hidden,
                of: HiddenUnit::Slides,
            });
        }
        self.tally.findings().into_iter().for_each(|finding| out.find(finding));
        ended?;
        // Slides of later pages may have text: only the last page may conclude that there is none.
        let last = u64::from(out.request.page.max(1)) + u64::from(PAGES) > self.of;
        if last && !self.text { Err(ReadFailure::Empty.into()) } else { Ok(()) }
    }
}

/// Counts of the text that is left out, and of content that has no text.
#[derive(Debug, Default)]
pub struct OmissionTally {
    hidden: BTreeMap<HidingMethod, u64>,
    doubts: BTreeMap<HidingMethod, u64>,
    sample: String,
    deleted: u64,
    inserted: u64,
    /// The number of pictures.
    pub pictures: u64,
}

impl OmissionTally {
    /// Counts the characters of hidden text.
    pub fn hide(&mut self, how: HidingMethod, text: &str) {
        *self.hidden.entry(how).or_default() += length(text);
        self.keep(text);
    }

    /// Counts text according to its visibility. Returns false for text to leave out.
    pub fn sees(&mut self, visibility: TextVisibility, text: &str) -> bool {
        match visibility {
            TextVisibility::Seen => return true,
            TextVisibility::Doubt(how) => *self.doubts.entry(how).or_default() += length(text),
            TextVisibility::Hidden(how) => self.hide(how, text),
        }
        matches!(visibility, TextVisibility::Doubt(_))
    }

    /// Counts deleted text.
    pub fn delete(&mut self, text: &str) {
        self.deleted += length(text);
        self.keep(text);
    }

    /// Counts inserted text, which is shown.
    pub fn insert(&mut self, text: &str) {
        self.inserted += length(text);
    }

    /// Keeps hidden text, up to a limit, to check it for orders.
    pub fn keep(&mut self, text: &str) {
        let room = SAMPLE.saturating_sub(self.sample.len());
        let (text, _) = text.split_at(text.floor_char_boundary(room));
        self.sample.push_str(text);
    }

    /// Ends a paragraph, so that the next hidden text is another sentence of the sample.
    pub fn paragraph(&mut self) {
        if !self.sample.is_empty() && !self.sample.ends_with('\n') {
            self.keep("\n");
        }
    }

    /// Returns true if no text is hidden.
    pub fn is_empty(&self) -> bool {
        self.hidden.is_empty()
    }

    /// Returns true if the text left out reads like an order to an assistant.
    pub fn orders(&self) -> bool {
        gives_orders_unseen(&self.sample)
    }

    /// Returns the findings.
    pub fn findings(self) -> Vec<Finding> {
        let orders = self.orders();
        let hidden = self.hidden.into_iter().filter(|(_, count)| *count > 0);
        let mut findings: Vec<Finding> = hidden
            .map(|(how, count)| Finding::Hidden { how, count, of: HiddenUnit::Characters })
            .collect();
        let doubts = self.doubts.into_iter().filter(|(_, count)| *count > 0);
        findings.extend(doubts.map(|(how, count)| Finding::Doubt { how, count }));
        let counts = [
            (self.deleted, Finding::Deleted as fn(u64) -> Finding),
            (self.inserted, Finding::Inserted),
            (self.pictures, Finding::Pictures),
        ];
        let counts = counts.into_iter().filter(|(count, _)| *count > 0);
        findings.extend(counts.map(|(count, finding)| finding(count)));
        if orders {
            findings.push(Finding::Order);
        }
        findings
    }
}

/// Counts the characters other than white space.
fn length(text: &str) -> u64 {
    text.chars().filter(|c| !c.is_whitespace()).count() as u64
}
