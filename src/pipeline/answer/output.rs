//! `output_read`: shortened answers, stored for further reading.
//!
//! An answer is kept in memory, in the database, or as its call, which
//! [`run`](super::super::run) repeats.

use std::sync::Arc;

use daysheet_core::budget::{LongText, WholeAnswer};
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::AccountId;
use daysheet_core::row::RowCell;
use daysheet_core::text::brief;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::outputs::page::{PageRequest, page};
use crate::outputs::{self, grep::grep};
use crate::pipeline::context::Context;
use crate::tools::output::OutputRead;
use crate::tools::{CallIdentity, ToolEffect};

/// The number of lines shown by default.
const LIMIT: u32 = 200;
/// Tokens of the answer apart from the lines.
const BESIDES: usize = 120;

/// The call that produced an answer, as the store keeps it.
#[derive(Serialize, Deserialize)]
pub(crate) struct OutputRecipe {
    pub(crate) tool: String,
    /// `None` for calls that write: they are not repeated.
    pub(crate) arguments: Option<Map<String, Value>>,
}

/// Stores a complete answer that concerns these accounts, by their ids; returns its hash.
///
/// If the store cannot be written to, this process still has it.
///
/// # Errors
/// [`ErrorKind::Internal`].
pub(crate) async fn keep_output(
    ctx: &Context,
    call: &CallIdentity,
    text: &str,
    accounts: Vec<AccountId>,
) -> Result<String> {
    let arguments = (call.effect == ToolEffect::Read).then(|| call.arguments.clone());
    let recipe = OutputRecipe { tool: call.tool.to_owned(), arguments };
    let recipe = serde_json::to_string(&recipe)
        .map_err(|_| Error::new(ErrorKind::Internal, "a recipe could not be saved"))?;
    Ok(ctx.states.outputs.keep(&recipe, text, &accounts).await)
}

/// Returns true if there is an output with this hash.
///
/// # Errors
/// [`ErrorKind::Store`].
pub async fn has_output(ctx: &Context, hash: &str) -> Result<bool> {
    Ok(ctx.states.outputs.get(hash).await?.is_some())
}

/// Returns the part of an output's `text` that a request reads.
pub(crate) async fn output_page(
    ctx: &Context,
    text: Arc<str>,
    request: OutputRead,
    fields: bool,
) -> Result<WholeAnswer> {
    let budget = request.budget.map_or(ctx.config.budget, |most| most as usize);
    let ask = PageRequest {
        offset: request.offset.unwrap_or(1) as usize,
        limit: request.limit.unwrap_or(LIMIT) as usize,
        tokens: budget.saturating_sub(BESIDES),
        tokenizer: ctx.config.tokenizer,
        fields,
    };
    // On a thread of its own: a pattern may take a second, and the session
    // has to answer meanwhile.
    let work = move || match request.grep {
        Some(pattern) => grep(&text, &pattern, ask),
        None => page(&text, ask),
    };
    let page = tokio::task::spawn_blocking(work)
        .await
        .map_err(|_| Error::new(ErrorKind::Internal, "an output could not be read"))??;

    let mut response = WholeAnswer { notes: page.notes, ..WholeAnswer::default() };
    let hash = outputs::parse_id(&request.id).unwrap_or_default().to_owned();
    let scalars = &mut response.document.scalars;
    scalars.push(("output", RowCell::Text(hash)));
    scalars.push(("lines", count(page.lines)));
    if let Some((from, to)) = page.shown {
        scalars.push(("from", count(from)));
        scalars.push(("to", count(to)));
        response.texts.push(LongText {
            name: "o1".to_owned(),
            text: page.text,
            page: true,
            ..LongText::default()
        });
    }
    if let Some(next) = page.next {
        response.document.scalars.push(("next", count(next)));
    }
    Ok(response)
}

fn count(lines: usize) -> RowCell {
    RowCell::Count(i64::try_from(lines).unwrap_or(i64::MAX))
}

/// Returns the error for an id that no output has.
pub(crate) fn unknown(id: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("there is no output `{}`, or it expired", brief(id)))
        .next("use the id from the notes of a shortened answer")
}
