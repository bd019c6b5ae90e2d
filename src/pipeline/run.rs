//! The course of a call: a request is dispatched to its tool, and its response is fitted to the
//! budget and returned.
//!
//! The complete form of a shortened answer is stored as an output, which is read from memory, from
//! the database, or by repeating the call. A repeated call must give the same answer.

use std::sync::Arc;
use std::time::Instant;

use daysheet_core::budget::WholeAnswer;
use daysheet_core::budget::fit::{self, CEILING, FittedAnswer, WholeBlocks, whole_document};
use daysheet_core::budget::value;
use daysheet_core::call::client::{ClientPrompts, NonInteractive};
use daysheet_core::encode::{Document, Format};
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::row::RowTable;
use daysheet_core::schemas::EVENT;
use daysheet_core::text::{Note, note, ours};
use futures_util::future::BoxFuture;

use super::access::sign_in::accounts;
use super::access::untrusted::{note_untrusted, quotes_shown};
use super::answer::fit::{
    AnswerOptions, AnswerStats, BESIDES, HASH, ToolAnswer, add_note, answer_budget, fit_response,
    reserved_tokens, unchanged_answer,
};
use super::answer::offered::{note_unoffered, with_unoffered};
use super::answer::output::{OutputRecipe, keep_output, output_page, unknown};
use super::answer::snapshots::AnswerSnapshot;
use super::brief::brief;
use super::calendar::delete::calendar_delete;
use super::calendar::free::calendar_free;
use super::calendar::respond::calendar_respond;
use super::calendar::save::calendar_save;
use super::calendar::search::calendar_search;
use super::changes::changes;
use super::context::Context;
use super::lookup::lookup;
use super::lookup::named::resolve_names;
use super::lookup::suggestions::suggest_people;
use super::mail::attachment::mail_attachment;
use super::mail::draft::mail_draft;
use super::mail::modify::mail_modify;
use super::mail::read::mail_read;
use super::mail::search::mail_search;
use super::mail::send::mail_send;
use super::settings::manage;
use super::undo::undo_change;
use super::write::interrupted::{self, run_recorded};
use super::write::log::interrupted_calls;
use super::write::report::{ItemOutcome, outcome_rows};
use crate::accounts::steady;
use crate::outputs::{self, StoredOutput};
use crate::tools::mail::MailModify;
use crate::tools::output::OutputRead;
use crate::tools::{self, AnswerView, CallIdentity, ToolAction, ToolEffect, ToolRequest};

/// The largest budget.
const MAX_TOKENS: usize = 100_000;
/// The value of `known` that asks for the hash, and for the id of the output.
const ASKED: &str = "?";
/// Notes of the same kind about different objects, such as messages and events.
const ALIKE: usize = 20;
/// Bytes reserved for notes that are added after an answer was fitted to a client's limit.
const LATE_NOTES: usize = 80;
/// The note on a chunk that was requested without the first one.
const STALE: &str = "there is no snapshot of the first chunk: this one is of the current answer";

/// Carries out a request.
///
/// # Errors
/// The errors of the tool; [`daysheet_core::error::ErrorKind::BudgetTooSmall`] if not even the smallest form of
/// the answer fits.
pub async fn run_for(
    ctx: &Context,
    request: ToolRequest,
    caller: &dyn ClientPrompts,
) -> Result<ToolAnswer> {
    let reads = tools::find(request.call.tool).is_some_and(|tool| tool.effect == ToolEffect::Read);
    // Boxed, because a thread's stack is small.
    let call = Box::pin(answer_request(ctx, request, caller));
    if reads { steady(call).await } else { call.await }
}

/// A requested call, with the data that its steps need in addition to the context.
struct RequestedCall<'a> {
    call: &'a CallIdentity,
    view: &'a AnswerView,
    format: Format,
    /// The most bytes that the client passes on, if its limit counts.
    limit: Option<usize>,
    /// The signed-in accounts, each with the time at which it was added.
    since: Vec<String>,
    secret: [u8; 32],
}

/// The complete response to a call, to be fitted.
struct CompleteResponse {
    response: Arc<WholeAnswer>,
    budget: usize,
    /// False if it is a snapshot of an earlier call, whose further chunk is requested.
    is_fresh: bool,
}

impl RequestedCall<'_> {
    /// The number of the requested chunk.
    fn chunk(&self) -> usize {
        self.view.chunk.map_or(1, |chunk| chunk as usize)
    }

    fn writes(&self) -> bool {
        self.call.effect != ToolEffect::Read
    }

    fn asks_for_output(&self) -> bool {
        self.view.known.as_deref() == Some(ASKED) && !self.writes()
    }
}

async fn answer_request(
    ctx: &Context,
    request: ToolRequest,
    caller: &dyn ClientPrompts,
) -> Result<ToolAnswer> {
    let ToolRequest { action, format, view, call } = request;
    let budget = answer_budget(ctx, view.budget, view.reserve)?;
    let accounts = ctx.accounts.list().await?;
    let requested = RequestedCall {
        call: &call,
        view: &view,
        format,
        // A budget in the settings takes precedence over the limit of the client.
        limit: caller.answer_limit().filter(|_| !ctx.config.budget_is_set),
        since: accounts.iter().map(|one| format!("{} {}", one.id, one.added)).collect(),
        // Read before anything is written, so that a completed write can always be reported.
        secret: ctx.store.fence_secret().await?,
    };
    let complete = match find_or_build(ctx, &requested, action, budget, caller).await {
        Err(error) => waiting_response(ctx, &requested, caller, error, budget)?,
        built => built?,
    };
    let response = &complete.response;
    match note_untrusted(ctx, response).await {
        // A completed write is reported even if this cannot be stored.
        Err(error) if requested.writes() => tracing::warn!(%error, "what was shown is not noted"),
        noted => noted?,
    }
    let (mut fitted, whole) = fit_complete(ctx, &requested, &complete).await?;
    add_notes_on_limits(ctx, &requested, &complete, &mut fitted);
    if complete.is_fresh && fitted.chunk.1 > 1 {
        ctx.states.snapshots.keep(AnswerSnapshot {
            call: call.clone(),
            response: Arc::clone(response),
            accounts: requested.since.clone(),
            budget: complete.budget,
            limit: requested.limit,
            format,
            made: Instant::now(),
        });
    }
    // The notes of a shortened answer name its output.
    let names_output = requested.asks_for_output() && whole.is_none();
    let whole = whole
        .or_else(|| names_output.then(|| WholeBlocks::kept(response, &requested.secret).text()));
    let ids = accounts.into_iter().map(|account| account.id).collect();
    let output = match whole {
        Some(whole) => Some(keep_output(ctx, &call, &whole, ids).await?),
        None => None,
    };
    // The same data gives the same bytes, so a hash identifies an answer.
    let hash = crate::outputs::hash(&fitted.blocks.join("\n"));
    if view.known.as_ref() == Some(&hash) {
        return Ok(unchanged_answer(ctx, hash, format));
    }
    if view.known.is_some() {
        if let Some(id) = output.as_ref().filter(|_| names_output) {
            add_note(ctx, &mut fitted, &note!("whole: output_read id={}", ours(id)));
        }
        add_note(ctx, &mut fitted, &note!("hash: {}", ours(&hash)));
    }
    Ok(ToolAnswer {
        stats: AnswerStats {
            tokens: fitted.tokens,
            tokenizer: ctx.config.tokenizer.name(),
            bytes: fit::bytes_of(&fitted.blocks),
            source_bytes: response.document.tables.iter().map(RowTable::source_bytes).sum(),
            shortened: fitted.shortened,
            cut: fitted.cut,
            planned: fitted.planned,
            chunk: fitted.chunk,
            hash,
            stc_version: format.stc_version(),
            sort: response.sort,
        },
        blocks: fitted.blocks,
        output,
    })
}

/// Returns the answer of a call that ended because its write waits for the user's approval, which
/// is not a failure.
///
/// # Errors
/// `error`, if the call ended for another reason.
fn waiting_response(
    ctx: &Context,
    requested: &RequestedCall<'_>,
    caller: &dyn ClientPrompts,
    error: Error,
    budget: usize,
) -> Result<CompleteResponse> {
    let next_step = caller.awaited_approval().ok_or(error)?;
    let outcome = ItemOutcome::new(requested.call.tool, "approval", "waiting", next_step);
    let rows = outcome_rows(ctx, &[outcome]);
    let document = Document { scalars: Vec::new(), tables: vec![rows] };
    let response = Arc::new(WholeAnswer { document, ..WholeAnswer::default() });
    Ok(CompleteResponse { response, budget, is_fresh: true })
}

/// Returns the snapshot of which a further chunk is requested, or else carries out the call.
async fn find_or_build(
    ctx: &Context,
    requested: &RequestedCall<'_>,
    action: ToolAction,
    budget: usize,
    caller: &dyn ClientPrompts,
) -> Result<CompleteResponse> {
    let RequestedCall { call, view, format, limit, since, secret } = requested;
    let chunk = requested.chunk();
    let snapshot = match chunk {
        // The first chunk is always cut from current data.
        1 => None,
        _ => ctx.states.snapshots.find(call, since, *limit),
    };
    let Some((response, then, written)) = snapshot else {
        let mut response = build_noted_response(ctx, action, *format, caller, secret).await?;
        if format.has_text_fields() {
            show_members(&mut response.document);
        }
        ctx.states.shown.note(&response.document);
        return Ok(CompleteResponse { response: Arc::new(response), budget, is_fresh: true });
    };
    // Other chunks would be cut elsewhere.
    if view.budget.is_some() && budget != then || *format != written {
        return Err(Error::argument(format!(
            "chunk={chunk} is of an answer with budget={then}, and the budget or format differs"
        ))
        .next("give the same budget and format, or start again without chunk"));
    }
    Ok(CompleteResponse { response, budget: then, is_fresh: false })
}

/// Fits a response to the budget of its call; returns also its text as an output, if it was
/// shortened.
async fn fit_complete(
    ctx: &Context,
    requested: &RequestedCall<'_>,
    complete: &CompleteResponse,
) -> Result<(FittedAnswer, Option<String>)> {
    let CompleteResponse { response, budget, is_fresh } = complete;
    let tool = tools::find(requested.call.tool);
    let is_stale = *is_fresh && requested.chunk() > 1;
    let besides = if is_stale || requested.limit.is_some() || requested.asks_for_output() {
        BESIDES
    } else {
        usize::from(requested.view.known.is_some()) * HASH
    };
    let searched = !response.words.is_empty();
    let how = AnswerOptions {
        format: requested.format,
        strategy: value::resolve(requested.call.tool, &ctx.config.values, searched),
        chunk: requested.chunk(),
        chunks: tool.is_some_and(|tool| tool.args.iter().any(|arg| arg.name == "chunk")),
        budget: *budget,
        reserve: reserved_tokens(ctx, requested.view.reserve),
        besides,
        ceiling: requested
            .limit
            .map_or(CEILING, |limit| limit.saturating_sub(LATE_NOTES).min(CEILING)),
    };
    match fit_response(ctx, response, how, requested.secret).await {
        // A completed write is reported, even over budget.
        Err(error) if error.kind() == ErrorKind::BudgetTooSmall && requested.writes() => {
            let how = AnswerOptions { budget: MAX_TOKENS, ceiling: CEILING, ..how };
            fit_response(ctx, response, how, requested.secret).await
        }
        fits => fits,
    }
}

/// Adds the notes on a chunk without a snapshot, and on a client that passes on less than the
/// budget.
fn add_notes_on_limits(
    ctx: &Context,
    requested: &RequestedCall<'_>,
    complete: &CompleteResponse,
    fitted: &mut FittedAnswer,
) {
    // The space is for one note.
    if complete.is_fresh && requested.chunk() > 1 {
        add_note(ctx, fitted, &STALE.into());
    } else if let (Some(limit), Some(_), Some(_)) =
        (requested.limit, requested.view.budget, &fitted.shortened)
        // A token usually has three bytes or more.
        && limit < 3 * complete.budget
    {
        let limit = note!("this client passes on {} bytes, whatever the budget", ours(limit));
        add_note(ctx, fitted, &limit);
    }
}

/// Returns the complete response to a request, as the text of an output and as a document.
pub(super) async fn whole_answer(
    ctx: &Context,
    request: ToolRequest,
) -> Result<(String, Document)> {
    let secret = ctx.store.fence_secret().await?;
    let ToolRequest { action, format, .. } = request;
    let mut response = build_noted_response(ctx, action, format, &NonInteractive, &secret).await?;
    note_untrusted(ctx, &response).await?;
    let text = WholeBlocks::kept(&response, &secret).text();
    show_members(&mut response.document);
    Ok((text, whole_document(&response, &secret)))
}

/// Returns the response to an action; repeated notes are counted, and lines of ours
/// within texts begin with the words of their fences.
pub(super) async fn build_noted_response(
    ctx: &Context,
    mut action: ToolAction,
    format: Format,
    caller: &dyn ClientPrompts,
    secret: &[u8; 32],
) -> Result<WholeAnswer> {
    let built = async {
        let names = resolve_names(ctx, &mut action).await?;
        let mut response = build_response(ctx, action, format, caller).await?;
        response.notes.extend(names);
        Ok(response)
    };
    let mut response = match built.await {
        Ok(response) => response,
        Err(error) => return Err(with_unoffered(ctx, suggest_people(ctx, error).await)),
    };
    note_unoffered(ctx, &mut response);
    let remarks = response.document.tables.iter().flat_map(RowTable::remarks);
    response.notes.extend(remarks);
    response.notes = Note::merge_repeats(response.notes, ALIKE);
    for text in &mut response.texts {
        text.fence(secret);
    }
    // Last, so that it covers all parts added above.
    response.clean();
    Ok(response)
}

/// Returns the complete response to a request.
async fn build_response(
    ctx: &Context,
    action: ToolAction,
    format: Format,
    caller: &dyn ClientPrompts,
) -> Result<WholeAnswer> {
    let what = interrupted::describe_write(&action);
    // Boxed, as are the others of its size: a thread's stack is small.
    let call = dispatch(ctx, action, format, caller);
    let mut response = run_recorded(what, call).await;
    // Even after an error, which may quote untrusted text.
    if let Err(error) = quotes_shown(ctx).await {
        tracing::warn!(%error, "what was shown is not noted");
    }
    if let Ok(response) = &mut response {
        response.notes.extend(interrupted_calls(ctx).await);
    }
    response
}

/// Returns the future of an action. A plain function, whose stack frame holds no futures:
/// `output_read` repeats a call from within one, on the same stack.
fn dispatch<'a>(
    ctx: &'a Context,
    action: ToolAction,
    format: Format,
    caller: &'a dyn ClientPrompts,
) -> BoxFuture<'a, Result<WholeAnswer>> {
    match action {
        ToolAction::MailSearch(request) => Box::pin(mail_search(ctx, request)),
        ToolAction::Lookup(request) => Box::pin(lookup(ctx, request)),
        ToolAction::MailRead(request) => Box::pin(mail_read(ctx, request)),
        ToolAction::MailAttachment(request) => Box::pin(mail_attachment(ctx, request)),
        ToolAction::MailDraft(request) => Box::pin(mail_draft(ctx, *request, caller)),
        ToolAction::MailSend(request) => Box::pin(mail_send(ctx, request, caller)),
        ToolAction::MailModify(MailModify { undo: Some(id), dry_run, .. }) => {
            Box::pin(undo_change(ctx, id, dry_run, caller))
        }
        ToolAction::MailModify(request) => Box::pin(mail_modify(ctx, request, caller)),
        ToolAction::Accounts(request) => Box::pin(accounts(ctx, request, caller)),
        ToolAction::CalendarSearch(request) => Box::pin(calendar_search(ctx, request)),
        ToolAction::CalendarFree(request) => Box::pin(calendar_free(ctx, request)),
        ToolAction::CalendarSave(mut request) => match request.undo.take() {
            Some(id) => Box::pin(undo_change(ctx, id, request.dry_run, caller)),
            None => Box::pin(calendar_save(ctx, *request, caller)),
        },
        ToolAction::CalendarDelete(request) => Box::pin(calendar_delete(ctx, request, caller)),
        ToolAction::CalendarRespond(request) => Box::pin(calendar_respond(ctx, request, caller)),
        ToolAction::Manage(request) => Box::pin(manage(ctx, request, caller)),
        ToolAction::Changes(request) => Box::pin(changes(ctx, request)),
        ToolAction::Brief(request) => Box::pin(brief(ctx, request)),
        ToolAction::Output(request) => Box::pin(read_output(ctx, request, format)),
    }
}

/// Returns a part of an output.
async fn read_output(ctx: &Context, request: OutputRead, format: Format) -> Result<WholeAnswer> {
    let text = output_text(ctx, &request.id).await?;
    output_page(ctx, text, request, format.has_text_fields()).await
}

/// Returns the complete text of an output, by its hash or URI.
///
/// # Errors
/// [`ErrorKind::NotFound`] if the output does not exist, or no longer; [`ErrorKind::Conflict`] if the call
/// was repeated and its answer has changed; the errors of the repeated call.
pub async fn output_text(ctx: &Context, id: &str) -> Result<Arc<str>> {
    let hash = outputs::parse_id(id).ok_or_else(|| unknown(id))?;
    let (recipe, accounts) = match ctx.states.outputs.get(hash).await? {
        None => return Err(unknown(hash)),
        Some(StoredOutput::Text(text)) => return Ok(text),
        Some(StoredOutput::Recipe { recipe, accounts }) => (recipe, accounts),
    };
    let (call, text, _) = repeat_call(ctx, hash, &recipe).await?;
    keep_output(ctx, &call, &text, accounts).await?;
    // As stored: the end of a text that is too long is missing.
    match ctx.states.outputs.get(hash).await? {
        Some(StoredOutput::Text(text)) => Ok(text),
        _ => Err(unknown(hash)),
    }
}

/// Returns an output as a document, with long texts as fields of its rows. The call is repeated,
/// because only the text is kept. `None` if the call writes, and is not repeated.
///
/// # Errors
/// The errors of [`output_text`].
pub async fn output_document(ctx: &Context, hash: &str) -> Result<Option<Document>> {
    let recipe = ctx.states.outputs.recipe(hash).await?.ok_or_else(|| unknown(hash))?;
    match repeat_call(ctx, hash, &recipe).await {
        Ok((_, _, document)) => Ok(Some(document)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Repeats the call of a recipe. Returns the call and its complete answer, which must have this
/// hash.
///
/// Boxed, because the call may be of any tool.
fn repeat_call<'a>(
    ctx: &'a Context,
    hash: &'a str,
    recipe: &'a str,
) -> BoxFuture<'a, Result<(CallIdentity, String, Document)>> {
    Box::pin(async move {
        let recipe: OutputRecipe = serde_json::from_str(recipe).map_err(|_| unknown(hash))?;
        let tool = tools::find(&recipe.tool).ok_or_else(|| unknown(hash))?;
        let request = recipe
            .arguments
            .map(|arguments| tools::read(tool, Some(arguments), Format::default()))
            .transpose()?;
        let Some(request) = request.filter(|request| request.call.effect == ToolEffect::Read)
        else {
            return Err(Error::new(
                ErrorKind::NotFound,
                format!("{}'s answer `{hash}` is no longer kept", tool.name),
            )
            .next("search for what it changed; it is not repeated"));
        };
        let call = request.call.clone();
        let (text, document) = whole_answer(ctx, request).await?;
        if outputs::hash(&text) != hash {
            return Err(Error::new(
                ErrorKind::Conflict,
                format!("the answer `{hash}` has changed since (new mail?)"),
            )
            .next(format!("call {} again", tool.name)));
        }
        Ok((call, text, document))
    })
}

/// Shows all people of events, for programs that read them.
fn show_members(document: &mut Document) {
    let events = document.tables.iter_mut().filter(|table| *table.table() == EVENT);
    events.for_each(RowTable::show_members);
}
