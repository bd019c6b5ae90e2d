//! Items as blocks: the ways to show each item, with costs and values.
//!
//! A row can be shown with its columns up to each level of its table, a long text in windows of
//! growing size. The renderings of an item grow in both.

use super::sizes::{AnswerSizer, in_json, lines};
use crate::budget::plan::{BlockRendering, PlannedBlock};
use crate::budget::response::{AnswerItem, LongText, WholeAnswer};
use crate::budget::value::{self, ValueHint, ValueStrategy};
use crate::budget::window::{self, HeadTailSplit};
use crate::row::{RowCell, RowTable};
use crate::schemas::ColumnLevel;
use crate::text::fence::Fence;

/// The number of tokens of the smallest window on a text.
const SMALLEST: usize = 40;
/// The number of tokens reserved for a line that marks a gap.
pub(super) const MARKER: usize = 22;
/// The number of tokens reserved for a fence.
const FENCE: usize = 24;
/// The share of an item's value that its long text carries.
const TEXT: f64 = 0.6;

/// The levels, the lowest first.
const LEVELS: [ColumnLevel; 3] = [ColumnLevel::Key, ColumnLevel::Core, ColumnLevel::More];

/// All items with their renderings.
pub(super) struct AnswerPieces {
    pub(super) items: Vec<AnswerItem>,
    /// The items in the allocator's form.
    pub(super) blocks: Vec<PlannedBlock>,
    /// The cost of the heading of each table at each level.
    pub(super) headings: Vec<usize>,
    /// The renderings of each item.
    pub(super) looks: Vec<Vec<ItemRendering>>,
    pub(super) texts: Vec<LongTextParts>,
    /// The id by which missing parts can be read.
    pub(super) id: String,
}

/// The chosen rendering of each item; `None` for an item that is not shown.
pub(super) type ChosenRenderings = Vec<Option<usize>>;

/// The counts of what was shortened in one chunk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShortenedCounts {
    /// Items that are shown, in any form.
    pub shown: usize,
    /// Items of the whole answer.
    pub of: usize,
    /// Shown items by level, the lowest first.
    pub levels: [usize; 3],
    /// Shown items that lack columns.
    pub lowered: usize,
    /// Shown items whose long text is a window.
    pub windows: usize,
}

/// One rendering of an item.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ItemRendering {
    /// The level of its rows' columns.
    pub(super) level: ColumnLevel,
    /// The shown part of its long text; `None` for all of it.
    pub(super) window: Option<TextWindow>,
}

/// The part of a long text that is shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextWindow {
    /// The shown lines.
    pub(super) shown: window::TextWindow,
    /// The number of characters shown of the first line, if no whole line fits.
    pub(super) chars: usize,
}

/// The fence and position of a long text.
pub(super) struct LongTextParts {
    pub(super) fence: Fence,
    /// The number of its first line in the stored output.
    pub(super) start: usize,
}

impl AnswerPieces {
    /// Chooses the fullest rendering of every item.
    pub(super) fn whole(&self) -> ChosenRenderings {
        self.looks.iter().map(|looks| looks.len().checked_sub(1)).collect()
    }

    /// Sets the id of the stored output, and the lines at which its texts begin.
    pub(super) fn pointer(&mut self, id: &str, starts: &[usize]) {
        id.clone_into(&mut self.id);
        for (text, start) in self.texts.iter_mut().zip(starts) {
            text.start = *start;
        }
    }

    /// Returns the chosen rendering of the item at `at`.
    pub(super) fn look(&self, chosen: &ChosenRenderings, at: usize) -> Option<&ItemRendering> {
        let number = (*chosen.get(at)?)?;
        self.looks.get(at)?.get(number)
    }

    /// Returns the line of the stored output at which the first cut text continues.
    pub(super) fn cut_at(&self, chosen: &ChosenRenderings) -> Option<usize> {
        self.items.iter().enumerate().find_map(|(at, item)| {
            let window = self.look(chosen, at)?.window.as_ref()?;
            let start = self.texts.get(item.text?)?.start;
            let head = window.shown.ranges.first().filter(|range| range.start == 0);
            Some(start + head.map_or(0, |range| range.end))
        })
    }

    /// Counts the shown items by level and the shortened ones.
    pub(super) fn count_shortened(&self, chosen: &ChosenRenderings) -> ShortenedCounts {
        let mut all = ShortenedCounts { of: self.items.len(), ..ShortenedCounts::default() };
        for (at, looks) in self.looks.iter().enumerate() {
            if let Some(look) = self.look(chosen, at) {
                let most = looks.iter().map(|look| look.level).max();
                all.shown += 1;
                if let Some(count) = all.levels.get_mut(look.level as usize) {
                    *count += 1;
                }
                all.lowered += usize::from(Some(look.level) < most);
                all.windows += usize::from(look.window.is_some());
            }
        }
        all
    }
}

/// Returns all items with their renderings. Without a tokenizer in `sizes`, each item has only
/// its fullest rendering.
pub(super) fn pieces(
    response: &WholeAnswer,
    sizes: &AnswerSizer,
    secret: &[u8; 32],
) -> AnswerPieces {
    let tables = &response.document.tables;
    let costs: Vec<RowCosts> = tables.iter().map(|table| RowCosts::new(table, sizes)).collect();
    let items = items(response);
    let renderings = items.iter().map(|item| {
        let mut renderings = ItemRenderings::new(item, tables, &costs);
        let levels = levels(item, tables, sizes);
        match item.text.and_then(|text| response.texts.get(text)) {
            Some(text) => renderings.add_windows(levels, windows(text, sizes)),
            None => renderings.add_levels(levels),
        }
        (renderings.block, renderings.looks)
    });
    let (blocks, looks) = renderings.unzip();
    AnswerPieces {
        items,
        blocks,
        headings: costs.iter().flat_map(|cost| cost.headings).collect(),
        looks,
        texts: text_parts(response, secret),
        id: String::new(),
    }
}

/// Returns the long texts with their fences, before the lines at which they begin are known.
fn text_parts(response: &WholeAnswer, secret: &[u8; 32]) -> Vec<LongTextParts> {
    let fence = |text: &LongText| match &text.word {
        Some(word) => Fence::from_word(word.clone()),
        None => Fence::new(&text.text, secret),
    };
    response.texts.iter().map(|text| LongTextParts { fence: fence(text), start: 1 }).collect()
}

/// Returns the levels at which the rows of an item differ, the lowest first; at least one.
fn levels(item: &AnswerItem, tables: &[RowTable], sizes: &AnswerSizer) -> Vec<ColumnLevel> {
    let mut levels: Vec<ColumnLevel> = LEVELS
        .into_iter()
        .filter(|level| {
            let mut own = item.rows.iter().filter_map(|(table, _)| tables.get(*table));
            own.any(|table| has_level(table, *level))
        })
        .collect();
    if levels.is_empty() {
        levels.push(ColumnLevel::Key);
    }
    if sizes.tokenizer.is_none() {
        levels.drain(..levels.len() - 1);
    }
    levels
}

/// A window on a text with its tokens and its share of the text's value. The window is `None` for
/// the whole text.
type CostedWindow = (Option<TextWindow>, (usize, f64));

/// The renderings of one item, collected one by one.
struct ItemRenderings<'a> {
    /// The item to render.
    item: &'a AnswerItem,
    /// The tables of the answer.
    tables: &'a [RowTable],
    /// The costs of the rows of each table.
    costs: &'a [RowCosts],
    /// The item in the allocator's form.
    block: PlannedBlock,
    /// The renderings so far.
    looks: Vec<ItemRendering>,
}

impl<'a> ItemRenderings<'a> {
    /// Creates an item without renderings.
    fn new(item: &'a AnswerItem, tables: &'a [RowTable], costs: &'a [RowCosts]) -> Self {
        let list = match (item.rows.as_slice(), item.text) {
            ([(table, _)], None) => Some(*table),
            _ => None,
        };
        let block =
            PlannedBlock { tier: item.tier, pinned: item.pinned, list, ..PlannedBlock::default() };
        Self { item, tables, costs, block, looks: Vec::new() }
    }

    /// Adds the renderings of an item without a text.
    fn add_levels(&mut self, levels: Vec<ColumnLevel>) {
        for level in levels {
            self.add(level, (None, (0, 0.0)));
        }
    }

    /// Adds the renderings of an item with a text. Columns are cheap compared with text, so they
    /// are added right after the smallest window.
    fn add_windows(&mut self, levels: Vec<ColumnLevel>, windows: Vec<CostedWindow>) {
        let mut levels = levels.into_iter();
        let mut level = levels.next().unwrap_or(ColumnLevel::Key);
        let mut windows = windows.into_iter();
        let smallest = windows.next().unwrap_or((None, (0, 1.0)));
        self.add(level, smallest.clone());
        for next in levels {
            level = next;
            self.add(level, smallest.clone());
        }
        for window in windows {
            self.add(level, window);
        }
    }

    /// Adds a rendering with the columns up to `level` and a window on the text.
    fn add(&mut self, level: ColumnLevel, (window, (tokens, part)): CostedWindow) {
        let rows = self.item.rows.iter();
        let own: usize =
            rows.clone().filter_map(|(table, row)| self.costs.get(*table)?.row(*row, level)).sum();
        let headings = rows.filter_map(|(table, _)| {
            let level = shown_level(self.tables.get(*table)?, level);
            Some(table * LEVELS.len() + level as usize)
        });
        let mut headings: Vec<usize> = headings.collect();
        // Rows of one table follow one another; a heading that is listed once per row would only
        // slow the plan down.
        headings.dedup();
        self.block.renderings.push(BlockRendering {
            tokens: own + tokens,
            value: match self.item.text {
                Some(_) => (1.0 - TEXT) * value::share(level) + TEXT * part,
                None => value::share(level),
            },
            headings,
        });
        self.looks.push(ItemRendering { level, window });
    }
}

impl AnswerPieces {
    /// Sets the value of each item.
    pub(super) fn value(&mut self, response: &WholeAnswer, strategy: ValueStrategy) {
        let given = response.items.is_some();
        let count = self.items.len();
        for (at, (item, block)) in self.items.iter().zip(&mut self.blocks).enumerate() {
            // Rows without declared items are a list, whose order is all that is known about
            // their value.
            let hint = if given {
                item.hint
            } else {
                ValueHint {
                    position: at,
                    of: count,
                    mentions: mentions(response, item),
                    ..item.hint
                }
            };
            let worth = value::value(strategy, &hint);
            for rendering in &mut block.renderings {
                rendering.value *= worth;
            }
            block.pinned |= value::pinned(strategy, &hint);
        }
    }
}

/// Returns the share of the searched words that occur in an item's rows.
fn mentions(response: &WholeAnswer, item: &AnswerItem) -> f64 {
    let cells = item.rows.iter().filter_map(|(table, row)| {
        let (cells, _) = response.document.tables.get(*table)?.row(*row)?;
        Some(cells)
    });
    let text: Vec<String> = cells
        .flatten()
        .filter_map(|cell| match cell {
            RowCell::Text(text) => Some(text.to_lowercase()),
            _ => None,
        })
        .collect();
    let found = |word: &&String| text.iter().any(|text| text.contains(word.as_str()));
    match response.words.len() {
        0 => 1.0,
        all => response.words.iter().filter(found).count() as f64 / all as f64,
    }
}

/// Returns the response's items, and one more for each row or text that belongs to no item.
fn items(response: &WholeAnswer) -> Vec<AnswerItem> {
    let mut items = response.items.clone().unwrap_or_default();
    let grouped: std::collections::HashSet<(usize, usize)> =
        items.iter().flat_map(|item| item.rows.clone()).collect();
    for (number, table) in response.document.tables.iter().enumerate() {
        let rows = (0..table.len()).map(|row| (number, row));
        items.extend(
            rows.filter(|row| !grouped.contains(row))
                .map(|row| AnswerItem { rows: vec![row], ..AnswerItem::default() }),
        );
    }
    for at in 0..response.texts.len() {
        if items.iter().any(|item| item.text == Some(at)) {
            continue;
        }
        let row = response.texts.get(at).and_then(|text| text.row);
        let owner = items
            .iter_mut()
            .find(|item| row.is_some_and(|row| item.rows.contains(&row)) && item.text.is_none());
        match owner {
            Some(item) => item.text = Some(at),
            // A text without a row is the answer itself.
            None => {
                items.push(AnswerItem { text: Some(at), pinned: true, ..AnswerItem::default() });
            }
        }
    }
    items
}

fn has_level(table: &RowTable, level: ColumnLevel) -> bool {
    let mut levels = table.columns().iter().enumerate().map(|(at, field)| match at {
        0 => ColumnLevel::Key,
        _ => field.least(),
    });
    levels.any(|own| own == level)
}

/// Returns the level at which a table's rows are shown if `level` is chosen: the highest one up
/// to `level` that has columns.
pub(super) fn shown_level(table: &RowTable, level: ColumnLevel) -> ColumnLevel {
    let mut below = LEVELS.into_iter().rev().filter(|one| *one <= level);
    below.find(|one| has_level(table, *one)).unwrap_or(ColumnLevel::Key)
}

/// The costs of the rows of one table at each level.
struct RowCosts {
    headings: [usize; 3],
    rows: [Vec<usize>; 3],
}

impl RowCosts {
    fn new(table: &RowTable, sizes: &AnswerSizer) -> Self {
        let mut costs = Self { headings: [0; 3], rows: [Vec::new(), Vec::new(), Vec::new()] };
        if sizes.tokenizer.is_none() || table.is_empty() {
            return costs;
        }
        let all: Vec<usize> = (0..table.len()).collect();
        let slots = costs.headings.iter_mut().zip(&mut costs.rows);
        for (level, (heading, rows)) in LEVELS.into_iter().zip(slots) {
            if shown_level(table, level) != level {
                continue;
            }
            let (head, lines) = sizes.format.pieces(&table.select(&all, level, true));
            // One more for the line break after the heading.
            *heading = sizes.count(&head) + 1;
            *rows = lines.iter().map(|line| sizes.count(line)).collect();
        }
        // A level without columns of its own costs as much as the level below.
        for at in 1..LEVELS.len() {
            if let (true, Some(below)) =
                (costs.rows.get(at).is_some_and(Vec::is_empty), costs.rows.get(at - 1).cloned())
                && let Some(rows) = costs.rows.get_mut(at)
            {
                *rows = below;
            }
        }
        costs
    }

    fn row(&self, at: usize, level: ColumnLevel) -> Option<usize> {
        self.rows.get(level as usize)?.get(at).copied()
    }
}

/// Returns the windows on a text, the smallest first, each with its tokens and its share of the
/// text's value. The last is the whole text.
fn windows(text: &LongText, sizes: &AnswerSizer) -> Vec<CostedWindow> {
    if sizes.tokenizer.is_none() {
        return vec![(None, (0, 1.0))];
    }
    let lines = lines(&text.text);
    let fields = sizes.format.has_text_fields();
    // Escapes make a line dearer in JSON and STC.
    let costs: Vec<usize> = lines
        .iter()
        .map(|line| if fields { sizes.count(&in_json(line)) } else { sizes.count(line) })
        .collect();
    let all: usize = costs.iter().sum();
    let lengths: Vec<usize> = lines.iter().map(|line| line.chars().count()).collect();
    let count: usize = lengths.iter().sum();
    let split = if text.tail { HeadTailSplit::Tail } else { HeadTailSplit::Head };
    let sizes_of = window::TextWindows::new(&lines, &costs, MARKER, split);
    let mut windows = Vec::new();
    let mut size = SMALLEST;
    while !text.page && size < all.min(sizes.most) {
        let mut window = TextWindow { shown: sizes_of.within(size), chars: 0 };
        let line_numbers = || window.shown.ranges.iter().cloned().flatten();
        let mut shown: usize = line_numbers().filter_map(|at| lengths.get(at)).sum();
        let mut tokens: usize = line_numbers().filter_map(|at| costs.get(at)).sum();
        let gaps = window.shown.gaps(lines.len()).len();
        if window.shown.lines() == 0 {
            let cost = costs.first().copied().unwrap_or(1).max(1);
            let first = lengths.first().copied().unwrap_or(0);
            // Cost per character varies within a line; half of the proportional share is
            // safe.
            window.chars = first * size.saturating_sub(MARKER) / cost / 2;
            shown = window.chars;
            tokens = size.saturating_sub(MARKER);
        }
        let step =
            (Some(window), (tokens + gaps * MARKER + FENCE, value::share_of_part(shown, count)));
        if windows.last() != Some(&step) {
            windows.push(step);
        }
        // Steps of a fifth keep the list short and leave less than a fifth of the tokens
        // unused.
        size += size / 5;
    }
    windows.push((None, (all + FENCE, 1.0)));
    // Drop windows that cost about as much as the whole text.
    let most = all + FENCE;
    windows.retain(|(window, (tokens, _))| window.is_none() || tokens + MARKER < most);
    windows
}
