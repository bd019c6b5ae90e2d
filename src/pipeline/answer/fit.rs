//! The answer to a call: its size, and the response fitted to it (steps 4 and 5).
//!
//! `budget` chooses what fits; the call itself is carried out in [`run`](super::super::run).

use std::sync::Arc;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::budget::fit::{self, CEILING, FitOptions, FittedAnswer, ShortenedCounts};
use daysheet_core::budget::value::ValueStrategy;
use daysheet_core::encode::{Document, Format};
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::row::{RowCell, RowTable};
use daysheet_core::text::Note;

use crate::pipeline::context::Context;

/// The number of rows above which a response is fitted on a thread of its own.
const MANY: usize = 100;
/// Tokens of the line with an answer's hash.
pub(crate) const HASH: usize = 12;
/// Tokens reserved for notes about a part, or for an output's id beside the hash.
pub(crate) const BESIDES: usize = HASH + 14;

/// The result of a tool call, before it is converted to MCP.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolAnswer {
    /// Text blocks: the document in the requested format, with the most important notes before
    /// its rows, then fenced long texts, and last the other notes.
    pub blocks: Vec<String>,
    /// The size of the answer.
    pub stats: AnswerStats,
    /// The id of the complete answer if this is a part of it.
    pub output: Option<String>,
}

/// The size of an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AnswerStats {
    /// Tokens of all blocks.
    pub tokens: usize,
    /// The vocabulary they are counted in.
    pub tokenizer: &'static str,
    /// Bytes of all blocks.
    pub bytes: usize,
    /// Bytes of the JSON that the rows were made from, as the provider sent it; 0 without such
    /// JSON.
    pub source_bytes: usize,
    /// The extent of the shortening, if the answer is a part of a larger one.
    pub shortened: Option<ShortenedCounts>,
    /// The number of cells in the whole answer that show only a part of their value.
    pub cut: usize,
    /// The number of tokens that the plan estimated, if there was one.
    pub planned: usize,
    /// The number of the chunk, and the total number of chunks.
    pub chunk: (usize, usize),
    /// The hash that identifies the answer.
    pub hash: String,
    /// The version of STC, when it is written in that.
    pub stc_version: Option<u32>,
    /// The order of the rows, as the argument `sort` names it.
    pub sort: Option<&'static str>,
}

/// The form in which an answer is returned.
#[derive(Clone, Copy)]
pub(crate) struct AnswerOptions {
    pub(crate) format: Format,
    pub(crate) strategy: ValueStrategy,
    pub(crate) chunk: usize,
    /// True if further chunks can be requested.
    pub(crate) chunks: bool,
    pub(crate) budget: usize,
    /// Tokens that the call reserves for the caller's answer.
    pub(crate) reserve: usize,
    /// Tokens reserved for additional notes.
    pub(crate) besides: usize,
    /// The most bytes of all blocks.
    pub(crate) ceiling: usize,
}

/// Fits a response; stores the complete response as an output if it was shortened.
pub(crate) async fn fit_response(
    ctx: &Context,
    response: &Arc<WholeAnswer>,
    how: AnswerOptions,
    secret: [u8; 32],
) -> Result<(FittedAnswer, Option<String>)> {
    let tokenizer = ctx.config.tokenizer;
    let response = Arc::clone(response);
    let bytes: usize = response.texts.iter().map(|text| text.text.len()).sum();
    let rows: usize = response.document.tables.iter().map(RowTable::len).sum();
    let long = bytes > CEILING || rows > MANY;
    let work = move || {
        let options = FitOptions {
            format: how.format,
            tokenizer,
            budget: how.budget.saturating_sub(how.besides),
            ceiling: how.ceiling,
            room: how.budget.saturating_sub(BESIDES),
            stated_budget: how.budget + how.reserve,
            chunk: how.chunk,
            chunks: how.chunks,
            strategy: how.strategy,
            secret: &secret,
        };
        let mut output = None;
        let fitted = fit::fit(&response, &options, |whole| {
            let text = whole.text();
            let hash = crate::outputs::hash(&text);
            output = Some(text);
            hash
        })?;
        Ok((fitted, output))
    };
    if long {
        // Fitting a long response would block a runtime thread that serves other calls.
        tokio::task::spawn_blocking(work)
            .await
            .map_err(|_| Error::new(ErrorKind::Internal, "an answer could not be fitted"))?
    } else {
        work()
    }
}

/// Returns the tokens that an answer leaves free: those the call names, or else the setting.
pub(crate) fn reserved_tokens(ctx: &Context, reserve: Option<u32>) -> usize {
    reserve.map_or(ctx.config.reserve, |reserve| reserve as usize)
}

/// Tokens for the answer itself.
pub(crate) fn answer_budget(
    ctx: &Context,
    budget: Option<u32>,
    reserve: Option<u32>,
) -> Result<usize> {
    let budget = budget.map_or(ctx.config.budget, |budget| budget as usize);
    let reserve = reserved_tokens(ctx, reserve);
    match budget.checked_sub(reserve) {
        Some(room) if room >= 100 => Ok(room),
        _ => Err(Error::argument(format!(
            "budget={budget} leaves under 100 tokens beyond reserve={reserve}"
        ))
        .next("raise `budget`, or lower `reserve`, which may be a setting")),
    }
}

/// Adds a line to the notes.
pub(crate) fn add_note(ctx: &Context, fitted: &mut FittedAnswer, line: &Note) {
    // If there are notes, they are the last block.
    let notes = if fitted.notes { fitted.blocks.last_mut() } else { None };
    match notes {
        Some(notes) => {
            notes.push('\n');
            notes.push_str(line);
        }
        None => {
            fitted.blocks.push(line.to_string());
            fitted.notes = true;
        }
    }
    fitted.tokens = fit::tokens_of(&fitted.blocks, ctx.config.tokenizer);
}

/// Returns the answer to a caller that already has it.
pub(crate) fn unchanged_answer(ctx: &Context, hash: String, format: Format) -> ToolAnswer {
    let document =
        Document { scalars: vec![("unchanged", RowCell::Text(hash.clone()))], tables: Vec::new() };
    let text = format.encode(&document);
    ToolAnswer {
        stats: AnswerStats {
            tokens: ctx.config.tokenizer.count(&text),
            tokenizer: ctx.config.tokenizer.name(),
            bytes: text.len(),
            chunk: (1, 1),
            hash,
            stc_version: format.stc_version(),
            ..AnswerStats::default()
        },
        blocks: vec![text],
        output: None,
    }
}
