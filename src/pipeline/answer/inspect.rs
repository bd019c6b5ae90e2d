//! One answer in every format, next to the provider's JSON that its rows were made from.
//!
//! The call is made once. Its objects are recorded when they become rows, so that the comparison
//! covers exactly the answered data: the requested properties, without the texts of messages, which
//! no row has.

use daysheet_core::budget::fit::CEILING;
use daysheet_core::budget::{WholeAnswer, value};
use daysheet_core::call::client::NonInteractive;
use daysheet_core::encode::{Delimiter, Format};
use daysheet_core::error::{Error, Result};
use daysheet_core::ids::AccountId;
use daysheet_core::row::RowTable;
use daysheet_core::schemas::EVENT;
use serde_json::Value;

use super::fit::{AnswerOptions, answer_budget, fit_response, reserved_tokens};
use super::output::keep_output;
use super::recorded::recording;
use crate::pipeline::context::Context;
use crate::pipeline::run::build_noted_response;
use crate::tools::{self, ToolEffect, ToolRequest};

/// One form of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerForm {
    /// A short id.
    pub id: &'static str,
    /// Its name for people.
    pub name: &'static str,
    /// The complete text.
    pub text: String,
    /// The tokens of the text.
    pub tokens: usize,
}

/// The forms of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InspectedAnswer {
    /// Each form; the provider's JSON is the last.
    pub forms: Vec<AnswerForm>,
    /// The vocabulary that tokens are counted in.
    pub tokenizer: &'static str,
}

/// Carries out a request that only reads, and returns its answer in every format.
///
/// # Errors
/// [`ErrorKind::Argument`](daysheet_core::error::ErrorKind::Argument) for a tool that writes; the
/// errors of [`run_for`](crate::pipeline::run::run_for).
pub async fn inspect(ctx: &Context, request: ToolRequest) -> Result<InspectedAnswer> {
    let ToolRequest { action, view, call, .. } = request;
    let tool = tools::find(call.tool).filter(|_| call.effect == ToolEffect::Read);
    let tool = tool.ok_or_else(|| {
        Error::argument(format!("{} does not only read", call.tool))
            .next("choose a call that only reads")
    })?;
    let budget = answer_budget(ctx, view.budget, view.reserve)?;
    let accounts: Vec<AccountId> =
        ctx.accounts.list().await?.into_iter().map(|account| account.id).collect();
    let secret = ctx.store.fence_secret().await?;
    let answered = build_noted_response(ctx, action, Format::Json, &NonInteractive, &secret);
    let (response, objects) = recording(answered).await;
    let response = response?;
    let formats = [
        ("toon", "TOON", Format::Toon(Delimiter::Tab)),
        ("json", "JSON of the same rows", Format::Json),
        ("stc", "STC of the same rows", Format::Stc),
    ];
    let mut forms = Vec::new();
    for (id, name, format) in formats {
        let how = AnswerOptions {
            format,
            strategy: value::resolve(call.tool, &ctx.config.values, !response.words.is_empty()),
            chunk: 1,
            chunks: tool.args.iter().any(|arg| arg.name == "chunk"),
            budget,
            reserve: reserved_tokens(ctx, view.reserve),
            besides: 0,
            ceiling: CEILING,
        };
        let response = shown_in(format, &response);
        let (fitted, whole) = fit_response(ctx, &response.into(), how, secret).await?;
        // A shortened form names its output, which therefore has to exist.
        if let Some(whole) = whole {
            keep_output(ctx, &call, &whole, accounts.clone()).await?;
        }
        let text = fitted.blocks.join("\n\n");
        forms.push(AnswerForm { id, name, text, tokens: fitted.tokens });
    }
    let raw = Value::Array(objects).to_string();
    let tokens = ctx.config.tokenizer.count(&raw);
    forms.push(AnswerForm { id: "raw", name: "Raw API JSON of these objects", text: raw, tokens });
    Ok(InspectedAnswer { forms, tokenizer: ctx.config.tokenizer.name() })
}

/// Returns a response prepared for a format. A format with text fields shows all guests of an
/// event.
fn shown_in(format: Format, response: &WholeAnswer) -> WholeAnswer {
    let mut response = response.clone();
    if format.has_text_fields() {
        let tables = response.document.tables.iter_mut();
        tables.filter(|table| *table.table() == EVENT).for_each(RowTable::show_members);
    }
    response
}
