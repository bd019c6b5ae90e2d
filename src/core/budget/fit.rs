//! Making an answer fit: the only place where anything is shortened.
//!
//! An answer that fits is written as it is. One that does not becomes chunks:
//! each is planned by [`plan_of`], written, and counted as it is read; what was
//! planned too dear is taken back. Every row stands in exactly one chunk, with
//! as many of its columns as there is room for, every long text as a window on
//! it, and the notes say what is missing and how to get it.
//!
//! What belongs together and what matters is the draft's to say. Nothing here
//! knows a provider, keeps anything, or reads a clock.

mod pieces;
mod view;
mod words;

use self::pieces::Pieces;
use self::view::Chosen;
use super::Draft;
use super::count::Tokenizer;
use super::plan::{TooSmall, plan_of};
use super::value::Strategy;
use crate::encode::Format;
use crate::error::{Error, Kind, Result};
use crate::row::Cell;
use crate::text::fence::Fence;
use crate::text::{LINE, wrapped};

/// The most bytes of an answer, whatever its budget: what clients take at once.
pub const CEILING: usize = 64 * 1024;

/// Tokens that are kept for the index of chunks: at most, and at least.
const INDEX: (usize, usize) = (160, 24);
/// How often a budget that would do is looked for.
const TRIES: usize = 64;

/// What an answer is fitted to.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// How it is written.
    pub format: Format,
    /// What tokens are counted in.
    pub tokenizer: Tokenizer,
    /// The most tokens of all its blocks, when it is told as it is.
    pub budget: usize,
    /// The most tokens when it is not: less, by what may be said of a part
    /// besides. All chunks of an answer are of the same room.
    pub room: usize,
    /// What the reader asked for, to be told.
    pub said: usize,
    /// Which chunk is wanted; the first is 1.
    pub chunk: usize,
    /// True when further chunks can be asked for; otherwise what does not fit
    /// is in the whole output alone.
    pub chunks: bool,
    /// How its items are valued.
    pub strategy: Strategy,
    /// What fences are made with.
    pub secret: &'a [u8; 32],
}

/// An answer that fits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fitted {
    /// Its text blocks: the document, long texts, notes.
    pub blocks: Vec<String>,
    /// What they cost.
    pub tokens: usize,
    /// What the plan took them to cost; nothing when none was made.
    pub planned: usize,
    /// Which chunk it is, of how many.
    pub chunk: (usize, usize),
    /// True when the last block is notes.
    pub notes: bool,
    /// How much of the items is shown how; nothing when all of it is.
    pub shortened: Option<Shortened>,
    /// How many cells of the whole answer show a part of their value.
    pub cut: usize,
}

/// What was shortened in one chunk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Shortened {
    /// Items that are shown, in whatever form.
    pub shown: usize,
    /// Items of the whole answer.
    pub of: usize,
    /// Shown items by their level, from the least.
    pub levels: [usize; 3],
    /// Shown items that lack columns.
    pub lowered: usize,
    /// Shown items whose long text is a window.
    pub windows: usize,
}

/// The blocks of a draft as they are, and where in them its long texts begin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Whole {
    /// Document, long texts and notes.
    pub blocks: Vec<String>,
    /// The number of the line, counted from 1, at which each long text begins.
    pub starts: Vec<usize>,
    /// True when the last block is notes.
    notes: bool,
}

impl Whole {
    /// All of a draft.
    pub fn of(draft: &Draft, format: Format, secret: &[u8; 32]) -> Self {
        let pieces = pieces::pieces(draft, &Sizes::none(format), secret);
        let chosen = pieces.whole();
        let view = view::view(draft, &pieces, &chosen, format);
        let mut line = 1;
        let mut starts = vec![0; draft.texts.len()];
        for (at, block) in view.blocks.iter().enumerate() {
            for text in view.texts.iter().filter(|text| text.block == at) {
                if let Some(start) = starts.get_mut(text.text) {
                    // The first line of a fence is its own.
                    *start = line + usize::from(text.fenced);
                }
            }
            line += lines(block).len().max(1) + usize::from(block.ends_with('\n'));
        }
        let mut blocks = view.blocks;
        let notes = draft.notes.iter().chain(&draft.legend).cloned();
        blocks.extend(words::block(notes));
        Self { blocks, starts, notes: !(draft.notes.is_empty() && draft.legend.is_empty()) }
    }

    /// All of a draft as it is kept to be read on in, whatever it was asked for.
    pub fn kept(draft: &Draft, secret: &[u8; 32]) -> Self {
        Self::of(draft, Format::default(), secret).with_cuts(draft, secret)
    }

    /// The same with the values that cells show a part of, in fences of their own.
    fn with_cuts(mut self, draft: &Draft, secret: &[u8; 32]) -> Self {
        let at = self.blocks.len() - usize::from(self.notes);
        let values = draft.document.tables.iter().flat_map(|table| {
            table.cuts().map(move |(row, cut)| {
                let name = match table.row(row) {
                    Some(([Cell::Handle(kind, number), ..], _)) => format!("{kind}{number}"),
                    _ => format!("{}[{}]", table.name(), row + 1),
                };
                let name = format!("{name}.{}", cut.column);
                Fence::new(&cut.whole, secret).around(&name, &cut.whole)
            })
        });
        self.blocks.splice(at..at, values);
        self
    }

    /// The blocks as one text of lines.
    pub fn text(&self) -> String {
        self.blocks.join("\n")
    }
}

/// How tokens are counted, and in which format.
#[derive(Debug, Clone, Copy)]
struct Sizes {
    format: Format,
    tokenizer: Option<Tokenizer>,
    /// The budget, above which no size is looked at.
    most: usize,
}

impl Sizes {
    fn none(format: Format) -> Self {
        Self { format, tokenizer: None, most: 0 }
    }

    fn count(&self, text: &str) -> usize {
        self.tokenizer.map_or(0, |tokenizer| tokenizer.count(text))
    }
}

/// The lines of a long text, as they are numbered; the newline stays with its
/// line.
fn lines(text: &str) -> Vec<&str> {
    wrapped(text, LINE)
}

/// Writes what of `draft` fits, or its chunk that is asked for.
///
/// `output` keeps the whole answer, and gives the id by which it is read; it is
/// called when something was shortened.
///
/// # Errors
/// [`Kind::BudgetTooSmall`] when not even the smallest form fits, with the
/// budget that does; [`Kind::Argument`] for a chunk that there is not.
pub fn fit(
    draft: &Draft,
    asked: &Asked<'_>,
    output: impl FnOnce(&Whole) -> String,
) -> Result<Fitted> {
    // What is kept is the same however it was asked for: it has lines to be
    // read by, and can be asked for again.
    let kept = || Whole::kept(draft, asked.secret);
    let cuts = draft.document.cuts();
    let cut = cuts.iter().map(|(_, count)| count).sum();
    let mut output = Some(output);
    let mut keep = |whole: &Whole| output.take().map(|output| output(whole)).unwrap_or_default();
    let noted;
    let (draft, known) = match cuts.is_empty() {
        true => (draft, None),
        false => {
            let whole = kept();
            let id = keep(&whole);
            noted = Draft {
                notes: [draft.notes.clone(), vec![words::cut(&cuts, &id)]].concat(),
                ..draft.clone()
            };
            (&noted, Some((whole, id)))
        }
    };
    let whole = Whole::of(draft, asked.format, asked.secret);
    if let Some(fitted) = as_it_is(&whole, asked) {
        return match asked.chunk {
            0 | 1 => Ok(Fitted { cut, ..fitted }),
            chunk => Err(no_such_chunk(chunk, 1)),
        };
    }
    let (kept, id) = known.unwrap_or_else(|| {
        let whole = kept();
        let id = keep(&whole);
        (whole, id)
    });
    let (pieces, chunks) = chunks(draft, asked, &id, &kept.starts).map_err(|short| {
        // What was found to be needed is what the first thing that did not fit
        // needs; it is tried until all does.
        let mut short = short;
        for _ in 0..TRIES {
            let Short::Tokens(needed) = short else {
                break;
            };
            let more = Asked {
                room: asked.room.saturating_add(needed.saturating_sub(asked.said)),
                said: needed,
                ..*asked
            };
            match self::chunks(draft, &more, &id, &kept.starts) {
                Ok(_) => break,
                Err(Short::Tokens(again)) => {
                    short = Short::Tokens(again.max(needed + 1 + needed / 64));
                }
                Err(other) => short = other,
            }
        }
        short.error()
    })?;
    let count = chunks.len();
    let wanted = asked.chunk.max(1);
    let Some(chunk) = chunks.get(wanted - 1) else {
        return Err(no_such_chunk(wanted, count));
    };
    let shortened = pieces.shortened(&chunk.chosen);
    let mut notes = words::notes(
        draft,
        &pieces,
        &chunk.chosen,
        &words::Said { budget: asked.said, chunk: (wanted, count), shortened, id: &id },
    );
    let mut blocks = chunk.blocks.clone();
    let spent: usize = blocks.iter().map(|block| asked.tokenizer.count(block)).sum();
    if wanted == 1 && count > 1 {
        let ranges: Vec<Vec<usize>> = chunks.iter().map(Chunk::items).collect();
        let room = asked.room.saturating_sub(spent);
        words::index(draft, &pieces, &ranges, &mut notes, |notes| {
            asked.tokenizer.count(notes) <= room
        });
    }
    blocks.extend(words::block(notes.into_iter()));
    let tokens = blocks.iter().map(|block| asked.tokenizer.count(block)).sum();
    Ok(Fitted {
        blocks,
        tokens,
        planned: chunk.planned,
        chunk: (wanted, count),
        notes: true,
        shortened: Some(shortened),
        cut,
    })
}

/// All chunks of an answer, whose whole has this id and texts that start there.
fn chunks(
    draft: &Draft,
    asked: &Asked<'_>,
    id: &str,
    starts: &[usize],
) -> std::result::Result<(Pieces, Vec<Chunk>), Short> {
    let sizes = Sizes { format: asked.format, tokenizer: Some(asked.tokenizer), most: asked.room };
    let mut pieces = pieces::pieces(draft, &sizes, asked.secret);
    pieces.value(draft, asked.strategy);
    pieces.pointer(id, starts);
    let fixed = Fixed::of_all(draft, &pieces, &sizes, asked.said);
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut left: Vec<usize> = (0..pieces.items.len()).collect();
    // Something is always shown, so there are no more chunks than items.
    while !left.is_empty() || chunks.is_empty() {
        let chunk = Chunk::next(draft, &pieces, &left, chunks.len() + 1, &fixed, asked)?;
        let before = left.len();
        left.retain(|item| !chunk.shows(*item));
        chunks.push(chunk);
        if left.len() == before || !asked.chunks {
            break;
        }
    }
    Ok((pieces, chunks))
}

/// All blocks, if they fit.
fn as_it_is(whole: &Whole, asked: &Asked<'_>) -> Option<Fitted> {
    let bytes: usize = whole.blocks.iter().map(String::len).sum();
    if bytes > CEILING {
        return None;
    }
    let tokens = whole.blocks.iter().map(|block| asked.tokenizer.count(block)).sum();
    (tokens <= asked.budget).then(|| Fitted {
        blocks: whole.blocks.clone(),
        tokens,
        planned: 0,
        chunk: (1, 1),
        notes: whole.notes,
        shortened: None,
        cut: 0,
    })
}

/// What an answer costs before any item is in it.
struct Fixed {
    /// Scalars and empty tables.
    document: usize,
    /// The notes of the first chunk but for the index, and those of the others.
    notes: (usize, usize),
}

impl Fixed {
    fn of_all(draft: &Draft, pieces: &Pieces, sizes: &Sizes, budget: usize) -> Self {
        let mut empty = draft.document.clone();
        empty.tables.retain(crate::row::RowTable::is_empty);
        let notes = |first| {
            let notes = words::likely(draft, pieces, budget, first);
            // Lines that are joined may cost a token more each.
            sizes.count(&notes.join("\n")) + notes.len()
        };
        Self {
            document: match draft.document == crate::encode::Document::default() {
                true => 0,
                false => sizes.count(&empty.encode(sizes.format)),
            },
            notes: (notes(true), notes(false)),
        }
    }

    fn of(&self, first: bool) -> (usize, usize) {
        let (own, others) = self.notes;
        (self.document, if first { own } else { others })
    }
}

/// One chunk, as it is written.
struct Chunk {
    chosen: Chosen,
    blocks: Vec<String>,
    planned: usize,
}

impl Chunk {
    /// The next chunk of what is left. The index of the others takes room in the
    /// first, if there are others.
    fn next(
        draft: &Draft,
        pieces: &Pieces,
        left: &[usize],
        number: usize,
        fixed: &Fixed,
        asked: &Asked<'_>,
    ) -> std::result::Result<Self, Short> {
        let first = number == 1;
        let make = |index| Self::make(draft, pieces, left, number, fixed.of(first), index, asked);
        let (most, least) = INDEX;
        let all = make(0);
        let whole = |chunk: &Self| left.iter().all(|item| chunk.shows(*item));
        if !first || !asked.chunks || left.len() < 2 || all.as_ref().is_ok_and(whole) {
            return all;
        }
        make(most.min(asked.room / 8).max(least)).or_else(|_| make(least))
    }

    /// Plans, writes and counts; what was planned too dear is taken back.
    /// `saying` and `index` are the tokens that notes may take.
    fn make(
        draft: &Draft,
        pieces: &Pieces,
        left: &[usize],
        number: usize,
        (document, saying): (usize, usize),
        index: usize,
        asked: &Asked<'_>,
    ) -> std::result::Result<Self, Short> {
        let kept = saying + index;
        let room = asked.room.saturating_sub(document + kept);
        let besides = asked.said.saturating_sub(asked.room);
        let mut plan = plan_of(&pieces.blocks, left, &pieces.headings, room)
            .map_err(|TooSmall { needed }| Short::Tokens(needed + document + kept + besides))?;
        loop {
            let chosen = plan.chosen().to_vec();
            let view = view::view(draft, pieces, &chosen, asked.format);
            let tokens: usize = view.blocks.iter().map(|block| asked.tokenizer.count(block)).sum();
            let notes = words::notes(
                draft,
                pieces,
                &chosen,
                &words::Said {
                    budget: asked.said,
                    // The numbers are not known yet; they are no longer than these.
                    chunk: (number, pieces.items.len().max(2)),
                    shortened: pieces.shortened(&chosen),
                    id: &pieces.id,
                },
            );
            let notes = notes.join("\n");
            let bytes: usize = view.blocks.iter().map(String::len).sum();
            // The index of chunks is not written yet.
            let bytes = bytes + notes.len() + 8 * index;
            let tokens = tokens + asked.tokenizer.count(&notes) + 1 + index;
            if tokens <= asked.room && bytes <= CEILING {
                return Ok(Self {
                    chosen,
                    blocks: view.blocks,
                    planned: plan.tokens() + document + kept,
                });
            }
            let over =
                tokens.saturating_sub(asked.room).max(bytes.saturating_sub(CEILING) / 8).max(1);
            let before = plan.tokens();
            let mut undone = false;
            while before.saturating_sub(plan.tokens()) < over && plan.undo() {
                undone = true;
            }
            if !undone {
                return Err(match bytes > CEILING {
                    true => Short::Bytes(bytes),
                    false => Short::Tokens(tokens + besides),
                });
            }
        }
    }

    fn shows(&self, item: usize) -> bool {
        matches!(self.chosen.get(item), Some(Some(_)))
    }

    fn items(&self) -> Vec<usize> {
        (0..self.chosen.len()).filter(|item| self.shows(*item)).collect()
    }
}

/// What an answer lacks that does not fit in its smallest form.
enum Short {
    /// It needs this budget.
    Tokens(usize),
    /// It has so many bytes.
    Bytes(usize),
}

impl Short {
    fn error(self) -> Error {
        match self {
            Self::Tokens(needed) => {
                Error::new(Kind::BudgetTooSmall, format!("budget_too_small needed={needed}"))
                    .next("set budget to at least that, or ask for less")
            }
            Self::Bytes(bytes) => Error::new(
                Kind::BudgetTooSmall,
                format!("the smallest form of the answer has {bytes} bytes, over {CEILING}"),
            )
            .next("ask for less: fewer ids, a lower limit, a shorter time"),
        }
    }
}

fn no_such_chunk(chunk: usize, count: usize) -> Error {
    let there = match count {
        1 => "there is one chunk".to_owned(),
        count => format!("there are {count} chunks"),
    };
    Error::argument(format!("chunk={chunk}: {there}"))
        .next("leave out `chunk`, or use the `next` cursor for what follows")
}
