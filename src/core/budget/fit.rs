//! Fits a response to its budget. The only module that shortens answers.
//!
//! A response that fits is written unchanged. Any other is split into chunks: each chunk is
//! planned by [`plan_of`], written and counted, and if it exceeds the budget, upgrades are
//! undone. Every row is in exactly one chunk, with as many of its columns as the budget allows,
//! long texts are shown as windows, and `cut` and the notes state what is left out and how to get
//! it.
//!
//! The response states which parts belong together and how much they matter. This module is
//! independent of providers, stores nothing and reads no clock.

mod notes;
mod pieces;
mod sizes;
mod view;

use self::notes::AnswerLimit;
pub use self::pieces::ShortenedCounts;
use self::pieces::{AnswerPieces, ChosenRenderings};
use self::sizes::{AnswerSizer, lines};
use super::WholeAnswer;
use super::count::Tokenizer;
use super::plan::{TooSmall, plan_of};
use super::value::ValueStrategy;
use crate::encode::{Document, Format};
use crate::error::{Error, ErrorKind, Result};
use crate::text::fence::Fence;

/// The maximum size of an answer in bytes, whatever its budget. Clients accept answers of this
/// size.
pub const CEILING: usize = 64 * 1024;

/// The tokens reserved for the index of chunks: maximum and minimum.
const INDEX: (usize, usize) = (160, 24);
/// The maximum number of attempts to find a sufficient budget.
const TRIES: usize = 64;

/// The constraints that an answer is fitted to.
#[derive(Debug, Clone, Copy)]
pub struct FitOptions<'a> {
    /// The output format.
    pub format: Format,
    /// The tokenizer that counts.
    pub tokenizer: Tokenizer,
    /// The maximum number of tokens in all blocks of a complete answer.
    pub budget: usize,
    /// The maximum number of tokens in all blocks of a chunk. Less than `budget`, because notes
    /// about missing parts need space; the same for all chunks of an answer.
    pub room: usize,
    /// The maximum number of bytes in all blocks, at most [`CEILING`]. Some clients cut longer
    /// answers at an arbitrary place.
    pub ceiling: usize,
    /// The budget that the caller requested, for the notes.
    pub stated_budget: usize,
    /// The number of the requested chunk; the first is 1.
    pub chunk: usize,
    /// True if further chunks can be requested. If false, the rest is only in the complete
    /// output.
    pub chunks: bool,
    /// The strategy that rates the items.
    pub strategy: ValueStrategy,
    /// The secret that fences are derived from.
    pub secret: &'a [u8; 32],
}

/// An answer that fits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FittedAnswer {
    /// Its text blocks: the document, long texts, notes.
    pub blocks: Vec<String>,
    /// Their number of tokens.
    pub tokens: usize,
    /// The number of tokens that the plan estimated; 0 if there was no plan.
    pub planned: usize,
    /// The number of this chunk, and of all chunks.
    pub chunk: (usize, usize),
    /// True if the last block consists of notes.
    pub notes: bool,
    /// The numbers of shown and shortened items; `None` if the answer is complete.
    pub shortened: Option<ShortenedCounts>,
    /// The number of cells in the whole answer that show only a part of their value.
    pub cut: usize,
}

/// The blocks of a complete response, with the positions of its long texts.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WholeBlocks {
    /// Document, long texts and notes.
    pub blocks: Vec<String>,
    /// The number of the line, counted from 1, at which each long text begins.
    pub starts: Vec<usize>,
    /// True if the last block consists of notes.
    notes: bool,
}

impl WholeBlocks {
    /// Writes the complete response.
    pub fn new(response: &WholeAnswer, format: Format, secret: &[u8; 32]) -> Self {
        let pieces = pieces::pieces(response, &AnswerSizer::none(format), secret);
        let chosen = pieces.whole();
        let notes = response.notes.iter().cloned().chain(response.legend.note(|_| true)).collect();
        let (first, notes) = notes::split(response, notes);
        let view = view::view(response, &pieces, &chosen, first, format);
        let mut line = 1;
        let mut starts = vec![0; response.texts.len()];
        for (at, block) in view.blocks.iter().enumerate() {
            for text in view.texts.iter().filter(|text| text.block == at) {
                if let Some(start) = starts.get_mut(text.text) {
                    // The first line of a block with a fence is the fence itself.
                    *start = line + usize::from(text.fenced);
                }
            }
            line += lines(block).len().max(1) + usize::from(block.ends_with('\n'));
        }
        let mut blocks = view.blocks;
        blocks.extend(notes::block(&notes));
        Self { blocks, starts, notes: !notes.is_empty() }
    }

    /// Writes the complete response in the form that is stored for `output_read`, which is
    /// independent of the requested format.
    pub fn kept(response: &WholeAnswer, secret: &[u8; 32]) -> Self {
        let whole = Self::new(response, Format::default(), secret);
        whole.with_rows(response).with_cuts(response, secret)
    }

    /// Adds the name of its row to the fence of each text, because a search may show a single
    /// line of the text.
    fn with_rows(mut self, response: &WholeAnswer) -> Self {
        for text in &response.texts {
            let table = text.row.and_then(|(table, _)| response.document.tables.get(table));
            let (Some(table), Some((_, row))) = (table, text.row) else {
                continue;
            };
            let begin = format!("<<<{} ", text.name);
            if let Some(block) = self.blocks.iter_mut().find(|block| block.starts_with(&begin)) {
                block.insert_str("<<<".len(), &format!("{} ", table.row_name(row)));
            }
        }
        self
    }

    /// Adds the complete values of cut cells, each in its own fence.
    fn with_cuts(mut self, response: &WholeAnswer, secret: &[u8; 32]) -> Self {
        let at = self.blocks.len() - usize::from(self.notes);
        let values = response.document.tables.iter().flat_map(|table| {
            table.cuts().map(move |(row, cut)| {
                let name = format!("{}.{}", table.row_name(row), cut.column);
                Fence::new(&cut.whole, secret).around(&name, &cut.whole)
            })
        });
        self.blocks.splice(at..at, values);
        self
    }

    /// Returns the blocks joined into one text.
    pub fn text(&self) -> String {
        self.blocks.join("\n")
    }
}

/// Returns the complete document of a response, with its long texts as fields of their rows.
pub fn whole_document(response: &WholeAnswer, secret: &[u8; 32]) -> Document {
    let pieces = pieces::pieces(response, &AnswerSizer::none(Format::Json), secret);
    view::unwritten(response, &pieces, &pieces.whole(), Format::Json).document
}

/// Writes the part of `response` that fits, or the requested chunk of it.
///
/// `output` stores the complete answer and returns its id. It is called once if anything was
/// shortened, and not at all if nothing was.
///
/// # Errors
/// [`ErrorKind::BudgetTooSmall`], with a sufficient budget, if even the smallest form does not fit;
/// [`ErrorKind::Argument`] for a chunk that does not exist.
pub fn fit(
    response: &WholeAnswer,
    options: &FitOptions<'_>,
    output: impl FnOnce(&WholeBlocks) -> String,
) -> Result<FittedAnswer> {
    // The stored output has one form for every requested format, because it is read by line
    // numbers and may be produced again by a call in another format.
    let kept = || WholeBlocks::kept(response, options.secret);
    let cuts = response.document.cuts();
    let cut = cuts.iter().map(|(_, count)| count).sum();
    let mut output = Some(output);
    let mut keep =
        |whole: &WholeBlocks| output.take().map(|output| output(whole)).unwrap_or_default();
    let (whole, known) = if cuts.is_empty() {
        (WholeBlocks::new(response, options.format, options.secret), None)
    } else {
        let whole = kept();
        let id = keep(&whole);
        // The note is part of the answer and needs tokens, so it is added before checking
        // whether the answer fits.
        let mut noted = response.clone();
        noted.notes.push(notes::cut_note(&cuts, &id));
        (WholeBlocks::new(&noted, options.format, options.secret), Some((whole, id)))
    };
    if let Some(fitted) = as_it_is(&whole, options) {
        return match options.chunk {
            0 | 1 => Ok(FittedAnswer { cut, ..fitted }),
            chunk => Err(no_such_chunk(chunk, 1, None)),
        };
    }
    let (kept, id) = known.unwrap_or_else(|| {
        let whole = kept();
        let id = keep(&whole);
        (whole, id)
    });
    // Chunks reserve room for the longer form of the note.
    let is_over = bytes_of(&whole.blocks) > options.ceiling;
    let ceiling = is_over.then_some(options.ceiling);
    let limit = |options: &FitOptions<'_>| AnswerLimit { budget: options.stated_budget, ceiling };
    let stored = StoredAnswer { id: &id, starts: &kept.starts };
    let divide =
        |options: &FitOptions<'_>| chunks(response, options, limit(options), &cuts, stored);
    let (pieces, chunks) =
        divide(options).map_err(|short| sufficient(short, options, divide).error())?;
    let count = chunks.len();
    let number = options.chunk.max(1);
    let Some(chunk) = chunks.get(number - 1) else {
        let cut = chunks.iter().rev().find_map(|chunk| pieces.cut_at(&chunk.chosen));
        return Err(no_such_chunk(number, count, cut.map(|line| (id.as_str(), line))));
    };
    let shortened = pieces.count_shortened(&chunk.chosen);
    let notes = notes::notes(
        response,
        &pieces,
        &chunk.chosen,
        &notes::NoteContext {
            // If the bytes run out first, advising a larger budget would be wrong.
            limit: AnswerLimit {
                ceiling: ceiling.filter(|_| chunk.is_full_by_bytes),
                ..limit(options)
            },
            chunk: (number, count),
            shortened,
            cuts: &cuts,
            id: &id,
        },
    );
    let (first, mut notes) = notes::split(response, notes);
    let mut blocks = view::view(response, &pieces, &chunk.chosen, first, options.format).blocks;
    let spent = tokens_of(&blocks, options.tokenizer);
    if number == 1 && count > 1 {
        let ranges: Vec<Vec<usize>> = chunks.iter().map(AnswerChunk::items).collect();
        // One token more for the line break before the notes.
        let room = options.room.saturating_sub(spent + 1);
        notes::index(response, &pieces, &ranges, &mut notes, |notes| {
            options.tokenizer.count(notes) <= room
        });
    }
    blocks.extend(notes::block(&notes));
    Ok(FittedAnswer {
        tokens: tokens_of(&blocks, options.tokenizer),
        blocks,
        planned: chunk.planned,
        chunk: (number, count),
        notes: !notes.is_empty(),
        shortened: Some(shortened),
        cut,
    })
}

/// Returns a requirement that suffices for an answer that does not fit. Each attempt raises the
/// budget to what the first failing part needs, until everything fits or [`TRIES`] is reached.
fn sufficient<T>(
    mut short: DoesNotFit,
    options: &FitOptions<'_>,
    divide: impl Fn(&FitOptions<'_>) -> std::result::Result<T, DoesNotFit>,
) -> DoesNotFit {
    for _ in 0..TRIES {
        let DoesNotFit::Tokens(needed) = short else {
            break;
        };
        let more = FitOptions {
            room: options.room.saturating_add(needed.saturating_sub(options.stated_budget)),
            stated_budget: needed,
            ..*options
        };
        match divide(&more) {
            Ok(_) => break,
            Err(DoesNotFit::Tokens(again)) => {
                // Grows geometrically, so that a requirement that rises by single tokens does
                // not use up all attempts.
                short = DoesNotFit::Tokens(again.max(needed + 1 + needed / 64));
            }
            Err(other) => short = other,
        }
    }
    short
}

/// The stored complete answer, to which a shortened one points.
#[derive(Debug, Clone, Copy)]
struct StoredAnswer<'a> {
    /// Its id.
    id: &'a str,
    /// The lines at which its long texts begin.
    starts: &'a [usize],
}

/// Returns the items and all chunks of an answer.
fn chunks(
    response: &WholeAnswer,
    options: &FitOptions<'_>,
    limit: AnswerLimit,
    cuts: &[(&'static str, usize)],
    stored: StoredAnswer<'_>,
) -> std::result::Result<(AnswerPieces, Vec<AnswerChunk>), DoesNotFit> {
    let sizes = AnswerSizer {
        format: options.format,
        tokenizer: Some(options.tokenizer),
        most: options.room,
    };
    let mut pieces = pieces::pieces(response, &sizes, options.secret);
    pieces.value(response, options.strategy);
    pieces.pointer(stored.id, stored.starts);
    let fixed = FixedCost::of_all(response, &pieces, &sizes, cuts, limit);
    let mut chunks: Vec<AnswerChunk> = Vec::new();
    let mut left: Vec<usize> = (0..pieces.items.len()).collect();
    let source = ChunkSource { response, pieces: &pieces, cuts, fixed: &fixed, limit, options };
    // Each chunk shows at least one item, so there are no more chunks than items. An answer
    // without items has one chunk for its notes.
    while !left.is_empty() || chunks.is_empty() {
        let chunk = source.next(&left, chunks.len() + 1)?;
        let before = left.len();
        left.retain(|item| !chunk.shows(*item));
        chunks.push(chunk);
        if left.len() == before || !options.chunks {
            break;
        }
    }
    Ok((pieces, chunks))
}

/// Returns the number of tokens of all blocks, including a line break before each block but the
/// first. The server sends this line break, because some clients join blocks without a separator.
pub fn tokens_of(blocks: &[String], tokenizer: Tokenizer) -> usize {
    let tokens: usize = blocks.iter().map(|block| tokenizer.count(block)).sum();
    tokens + blocks.len().saturating_sub(1)
}

/// Returns the number of bytes of all blocks and the line breaks between them.
pub fn bytes_of(blocks: &[String]) -> usize {
    let bytes: usize = blocks.iter().map(String::len).sum();
    bytes + blocks.len().saturating_sub(1)
}

/// Returns the complete answer if it fits.
fn as_it_is(whole: &WholeBlocks, options: &FitOptions<'_>) -> Option<FittedAnswer> {
    if bytes_of(&whole.blocks) > options.ceiling {
        return None;
    }
    let tokens = tokens_of(&whole.blocks, options.tokenizer);
    (tokens <= options.budget).then(|| FittedAnswer {
        blocks: whole.blocks.clone(),
        tokens,
        planned: 0,
        chunk: (1, 1),
        notes: whole.notes,
        shortened: None,
        cut: 0,
    })
}

/// The cost of an answer without any item.
struct FixedCost {
    /// Scalars and empty tables.
    document: usize,
    /// The notes of the first chunk without the index, and of the other chunks.
    notes: (usize, usize),
}

impl FixedCost {
    fn of_all(
        response: &WholeAnswer,
        pieces: &AnswerPieces,
        sizes: &AnswerSizer,
        cuts: &[(&'static str, usize)],
        limit: AnswerLimit,
    ) -> Self {
        let mut empty = response.document.clone();
        empty.tables.retain(crate::row::RowTable::is_empty);
        let notes = |first| {
            let notes = notes::likely(response, pieces, cuts, limit, first);
            // Joining lines may cost a token more per line, and so may each key and quote.
            let keys = notes.iter().filter(|note| note.key().is_some()).count();
            sizes.count(&notes.join("\n")) + notes.len() + 3 * keys
        };
        Self {
            document: if response.document == crate::encode::Document::default() {
                0
            } else {
                sizes.count(&sizes.format.encode(&empty))
            },
            notes: (notes(true), notes(false)),
        }
    }

    fn cost(&self, first: bool) -> (usize, usize) {
        let (own, others) = self.notes;
        (self.document, if first { own } else { others })
    }
}

/// One chunk.
struct AnswerChunk {
    chosen: ChosenRenderings,
    planned: usize,
    /// True if the bytes limit it more than the tokens.
    is_full_by_bytes: bool,
}

/// The input from which chunks are produced.
struct ChunkSource<'a> {
    response: &'a WholeAnswer,
    pieces: &'a AnswerPieces,
    cuts: &'a [(&'static str, usize)],
    fixed: &'a FixedCost,
    limit: AnswerLimit,
    options: &'a FitOptions<'a>,
}

impl ChunkSource<'_> {
    /// Produces the next chunk of the items `left`. The first chunk reserves tokens for the index
    /// if there are further chunks.
    fn next(&self, left: &[usize], number: usize) -> std::result::Result<AnswerChunk, DoesNotFit> {
        let make = |index| self.make(left, number, index);
        let (most, least) = INDEX;
        let all = make(0);
        // Try without an index first: if everything fits, there are no other chunks to list.
        let whole = |chunk: &AnswerChunk| left.iter().all(|item| chunk.shows(*item));
        let options = self.options;
        if number > 1 || !options.chunks || left.len() < 2 || all.as_ref().is_ok_and(whole) {
            return all;
        }
        // An eighth of the budget at most, so that a small one is left to the rows.
        make(most.min(options.room / 8).max(least)).or_else(|_| make(least))
    }

    /// Plans, writes and counts a chunk, and undoes upgrades until it fits. `index` is the number
    /// of tokens reserved for the index of chunks.
    fn make(
        &self,
        left: &[usize],
        number: usize,
        index: usize,
    ) -> std::result::Result<AnswerChunk, DoesNotFit> {
        let Self { response, pieces, cuts, limit, options, .. } = *self;
        let (document, saying) = self.fixed.cost(number == 1);
        let reserved = saying + index;
        let room = options.room.saturating_sub(document + reserved);
        // Errors name a budget that the caller can set, which is larger than `room` by this
        // reserve.
        let besides = options.stated_budget.saturating_sub(options.room);
        let mut plan = plan_of(&pieces.blocks, left, &pieces.headings, room).map_err(
            |TooSmall { needed }| DoesNotFit::Tokens(needed + document + reserved + besides),
        )?;
        loop {
            let chosen = plan.chosen().to_vec();
            let notes = notes::notes(
                response,
                pieces,
                &chosen,
                &notes::NoteContext {
                    limit,
                    // The final numbers are unknown here; these are at least as long.
                    chunk: (number, pieces.items.len().max(2)),
                    shortened: pieces.count_shortened(&chosen),
                    cuts,
                    id: &pieces.id,
                },
            );
            let (first, notes) = notes::split(response, notes);
            let mut blocks = view::view(response, pieces, &chosen, first, options.format).blocks;
            blocks.extend(notes::block(&notes));
            // The index of chunks is written later. A token has about eight bytes at most.
            let bytes = bytes_of(&blocks) + 8 * index;
            let tokens = tokens_of(&blocks, options.tokenizer) + 1 + index;
            if tokens <= options.room && bytes <= options.ceiling {
                return Ok(AnswerChunk {
                    chosen,
                    planned: plan.tokens() + document + reserved,
                    // Compares `bytes / ceiling` with `tokens / room`, without dividing.
                    is_full_by_bytes: bytes * options.room > tokens * options.ceiling,
                });
            }
            // Undo as much as is missing before writing again: writing and counting is the
            // expensive part.
            let over = tokens
                .saturating_sub(options.room)
                .max(bytes.saturating_sub(options.ceiling) / 8)
                .max(1);
            let before = plan.tokens();
            let mut undone = false;
            while before.saturating_sub(plan.tokens()) < over && plan.undo() {
                undone = true;
            }
            if !undone {
                return Err(if bytes > options.ceiling {
                    DoesNotFit::Bytes { bytes, ceiling: options.ceiling }
                } else {
                    DoesNotFit::Tokens(tokens + besides)
                });
            }
        }
    }
}

impl AnswerChunk {
    fn shows(&self, item: usize) -> bool {
        matches!(self.chosen.get(item), Some(Some(_)))
    }

    fn items(&self) -> Vec<usize> {
        (0..self.chosen.len()).filter(|item| self.shows(*item)).collect()
    }
}

/// The reason why even the smallest form of an answer does not fit.
enum DoesNotFit {
    /// It needs a budget of this many tokens.
    Tokens(usize),
    /// It has more bytes than the ceiling allows.
    Bytes { bytes: usize, ceiling: usize },
}

impl DoesNotFit {
    fn error(self) -> Error {
        match self {
            Self::Tokens(needed) => {
                Error::new(ErrorKind::BudgetTooSmall, format!("budget_too_small needed={needed}"))
                    .next("set budget to at least that, or ask for less")
            }
            Self::Bytes { bytes, ceiling } => Error::new(
                ErrorKind::BudgetTooSmall,
                format!("the smallest form of the answer has {bytes} bytes, over {ceiling}"),
            )
            .next("ask for less: fewer ids, a lower limit, a shorter time"),
        }
    }
}

/// Returns the error for a chunk that does not exist. `cut` is the id of the output and the line
/// at which a cut text continues.
fn no_such_chunk(chunk: usize, count: usize, cut: Option<(&str, usize)>) -> Error {
    let there = match count {
        1 => "there is one chunk".to_owned(),
        count => format!("there are {count} chunks"),
    };
    match cut {
        Some((id, line)) => {
            Error::argument(format!("chunk={chunk}: {there}; a text was cut, not split"))
                .next(format!("output_read id={id} offset={line} goes on with it"))
        }
        None => Error::argument(format!("chunk={chunk}: {there}"))
            .next("leave out `chunk`, or use the `next` cursor for what follows"),
    }
}
