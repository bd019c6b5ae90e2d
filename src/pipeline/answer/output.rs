//! `output_read`: shortened answers, stored for further reading.
//!
//! An answer is read from memory, from the database if it is stored there, or by
//! repeating the call; that has to give the same answer.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::budget::{LongText, Response};
use crate::encode::{Document, Format};
use crate::error::{Error, Kind, Result};
use crate::outputs::page::{PageRequest, page};
use crate::outputs::{self, StoredOutput, grep::grep};
use crate::pipeline::Pipeline;
use crate::row::Cell;
use crate::text::brief;
use crate::tools::output::OutputRead;
use crate::tools::{self, Call, Effect};

/// The number of lines shown by default.
const LIMIT: u32 = 200;
/// Tokens of the answer apart from the lines.
const BESIDES: usize = 120;

/// The call that produced an answer, as the store keeps it.
#[derive(Serialize, Deserialize)]
struct Recipe {
    tool: String,
    /// `None` for calls that write: they are not repeated.
    arguments: Option<Map<String, Value>>,
}

impl Pipeline {
    /// Stores a complete answer that concerns these accounts, by their ids; returns its hash.
    ///
    /// If the store cannot be written to, this process still has it.
    ///
    /// # Errors
    /// [`Kind::Internal`].
    pub(super) async fn keep_output(
        &self,
        call: &Call,
        text: &str,
        accounts: Vec<String>,
    ) -> Result<String> {
        let arguments = (call.effect == Effect::Read).then(|| call.arguments.clone());
        let recipe = Recipe { tool: call.tool.to_owned(), arguments };
        let recipe = serde_json::to_string(&recipe)
            .map_err(|_| Error::new(Kind::Internal, "a recipe could not be saved"))?;
        Ok(self.outputs.keep(&recipe, text, &accounts).await)
    }

    /// Returns the complete text of an output, by its hash or URI.
    ///
    /// # Errors
    /// [`Kind::NotFound`] if there is none, or no longer; [`Kind::Conflict`] if the
    /// call was repeated and its answer has changed; the errors of the repeated call.
    pub async fn output_text(&self, id: &str) -> Result<Arc<str>> {
        let hash = outputs::parse_id(id).ok_or_else(|| unknown(id))?;
        let (recipe, accounts) = match self.outputs.get(hash).await? {
            None => return Err(unknown(hash)),
            Some(StoredOutput::Text(text)) => return Ok(text),
            Some(StoredOutput::Recipe { recipe, accounts }) => (recipe, accounts),
        };
        let (call, text, _) = self.repeat(hash, &recipe).await?;
        self.keep_output(&call, &text, accounts).await?;
        // As stored: the end of a text that is too long is missing.
        match self.outputs.get(hash).await? {
            Some(StoredOutput::Text(text)) => Ok(text),
            _ => Err(unknown(hash)),
        }
    }

    /// Returns true if there is an output with this hash.
    ///
    /// # Errors
    /// [`Kind::Store`].
    pub async fn has_output(&self, hash: &str) -> Result<bool> {
        Ok(self.outputs.get(hash).await?.is_some())
    }

    /// Returns an output as a document, with long texts as fields of its rows; the call is
    /// repeated, because only the text is kept. `None` if the call writes, and is not repeated.
    ///
    /// # Errors
    /// Those of [`Pipeline::output_text`].
    pub async fn output_document(&self, hash: &str) -> Result<Option<Document>> {
        let recipe = self.outputs.recipe(hash).await?.ok_or_else(|| unknown(hash))?;
        match self.repeat(hash, &recipe).await {
            Ok((_, _, document)) => Ok(Some(document)),
            Err(error) if error.kind() == Kind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Repeats the call of a recipe; returns the call and its complete answer, which has to be
    /// the one with this hash.
    ///
    /// Boxed, because the call may be of any tool.
    fn repeat<'a>(
        &'a self,
        hash: &'a str,
        recipe: &'a str,
    ) -> BoxFuture<'a, Result<(Call, String, Document)>> {
        Box::pin(async move {
            let recipe: Recipe = serde_json::from_str(recipe).map_err(|_| unknown(hash))?;
            let tool = tools::find(&recipe.tool).ok_or_else(|| unknown(hash))?;
            let request = recipe
                .arguments
                .map(|arguments| tools::read(tool, Some(arguments), Format::default()))
                .transpose()?;
            let Some(request) = request.filter(|request| request.call.effect == Effect::Read)
            else {
                return Err(Error::new(
                    Kind::NotFound,
                    format!("{}'s answer `{hash}` is no longer kept", tool.name),
                )
                .next("search for what it changed; it is not repeated"));
            };
            let call = request.call.clone();
            let (text, document) = self.whole_answer(request).await?;
            if outputs::hash(&text) != hash {
                return Err(Error::new(
                    Kind::Conflict,
                    format!("the answer `{hash}` has changed since (new mail?)"),
                )
                .next(format!("call {} again", tool.name)));
            }
            Ok((call, text, document))
        })
    }

    pub(in crate::pipeline) async fn output(
        &self,
        request: OutputRead,
        fields: bool,
    ) -> Result<Response> {
        let text = self.output_text(&request.id).await?;
        let budget = request.budget.map_or(self.config.budget, |most| most as usize);
        let ask = PageRequest {
            offset: request.offset.unwrap_or(1) as usize,
            limit: request.limit.unwrap_or(LIMIT) as usize,
            tokens: budget.saturating_sub(BESIDES),
            tokenizer: self.config.tokenizer,
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
            .map_err(|_| Error::new(Kind::Internal, "an output could not be read"))??;

        let mut response = Response { notes: page.notes, ..Response::default() };
        let hash = outputs::parse_id(&request.id).unwrap_or_default().to_owned();
        let scalars = &mut response.document.scalars;
        scalars.push(("output", Cell::Text(hash)));
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
}

fn count(lines: usize) -> Cell {
    Cell::Count(i64::try_from(lines).unwrap_or(i64::MAX))
}

fn unknown(id: &str) -> Error {
    Error::new(Kind::NotFound, format!("there is no output `{}`, or it expired", brief(id)))
        .next("use the id from the notes of a shortened answer")
}
