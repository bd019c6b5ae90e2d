//! From a request to the blocks of its answer: steps 4 and 5, around the others.
//!
//! An answer in chunks is kept for a while, so that new data does not move its chunks.
//! The complete form of a shortened answer is stored as an output. `budget` fits an
//! answer to its size.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::accounts::steady;
use crate::budget::Response;
use crate::budget::fit::{
    self, CEILING, FitOptions, Fitted, Shortened, WholeBlocks, whole_document,
};
use crate::budget::value::{self, Strategy};
use crate::client::{ClientPrompts, NonInteractive};
use crate::encode::{Document, Format};
use crate::error::{Error, Kind, Result};
use crate::pipeline::Pipeline;
use crate::row::{Cell, RowTable};
use crate::schemas::EVENT;
use crate::text::{Note, note, ours};
use crate::tools::{self, Action, Call, Effect, Request};

/// How long an answer in chunks is kept.
const KEPT: Duration = Duration::from_secs(30 * 60);
/// The maximum number of such answers.
const MOST: usize = 16;
/// The maximum size of their texts together, in bytes.
const BYTES: usize = 32 * 1024 * 1024;
/// The largest budget.
const MOST_TOKENS: usize = 100_000;
/// Rows that are fitted on a thread of their own.
const MANY: usize = 100;
/// Tokens of the line with an answer's hash.
const HASH: usize = 12;
/// The value of `known` that asks for the hash, and for the id of the output.
const ASKED: &str = "?";
/// Tokens reserved for notes about a part, or for an output's id beside the hash.
const BESIDES: usize = HASH + 14;
/// Notes of the same kind about different objects, such as messages and events.
const ALIKE: usize = 20;
/// Bytes reserved for notes that are added after an answer was fitted to a client's limit.
const LATE_NOTES: usize = 80;
/// The note on a chunk that was requested without the first one.
const STALE: &str = "there is no snapshot of the first chunk: this one is of the current answer";

/// The result of a tool call, before it is converted to MCP.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Text blocks: the document in the requested format, with the most important notes before
    /// its rows, then fenced long texts, and last the other notes.
    pub blocks: Vec<String>,
    /// The size of the answer.
    pub stats: Stats,
    /// The id of the whole answer, when this is a part of it.
    pub output: Option<String>,
}

/// The size of an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    /// Tokens of all blocks.
    pub tokens: usize,
    /// The vocabulary they are counted in.
    pub tokenizer: &'static str,
    /// Bytes of all blocks.
    pub bytes: usize,
    /// Bytes of the JSON that the rows were made from, as the provider sent it; `None`
    /// if there was none.
    pub source_bytes: usize,
    /// The counts of what was shortened, if the answer is a part of a larger one.
    pub shortened: Option<Shortened>,
    /// The number of cells in the whole answer that show only a part of their value.
    pub cut: usize,
    /// The number of tokens that the plan estimated, if there was one.
    pub planned: usize,
    /// The number of the chunk, and of all chunks.
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
pub(super) struct AnswerOptions {
    pub(super) format: Format,
    pub(super) strategy: Strategy,
    pub(super) chunk: usize,
    /// True if further chunks can be requested.
    pub(super) chunks: bool,
    pub(super) budget: usize,
    /// Tokens that the call reserves for the caller's answer.
    pub(super) reserve: usize,
    /// Tokens reserved for additional notes.
    pub(super) besides: usize,
    /// The most bytes of all blocks.
    pub(super) ceiling: usize,
}

/// Answers recently returned in chunks, the latest last.
#[derive(Default)]
pub(in crate::pipeline) struct Snapshots(Mutex<VecDeque<Snapshot>>);

struct Snapshot {
    call: Call,
    response: Arc<Response>,
    /// The signed-in accounts, and since when.
    accounts: Vec<String>,
    /// The budget that the chunks were made for.
    budget: usize,
    /// The size limit of the client that received them: another limit gives other chunks.
    limit: Option<usize>,
    format: Format,
    made: Instant,
}

impl Snapshot {
    fn bytes(&self) -> usize {
        self.response.texts.iter().map(|text| text.text.len()).sum()
    }
}

impl Snapshots {
    fn keep(&self, snapshot: Snapshot) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.call != snapshot.call && one.made.elapsed() < KEPT);
        all.push_back(snapshot);
        while all.len() > MOST || all.iter().map(Snapshot::bytes).sum::<usize>() > BYTES {
            all.pop_front();
        }
    }

    /// Returns the stored answer to a call, if the same accounts are still signed in.
    fn find(
        &self,
        call: &Call,
        accounts: &[String],
        limit: Option<usize>,
    ) -> Option<(Arc<Response>, usize, Format)> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.made.elapsed() < KEPT && one.accounts == accounts);
        let found = all.iter().find(|one| one.call == *call && one.limit == limit)?;
        Some((Arc::clone(&found.response), found.budget, found.format))
    }

    /// Forgets all: somebody was signed out.
    pub(in crate::pipeline) fn clear(&self) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.clear();
    }
}

impl Pipeline {
    /// Carries out a request whose caller can be neither asked nor notified.
    ///
    /// # Errors
    /// Those of [`Pipeline::run_for`].
    pub async fn run(&self, request: Request) -> Result<Answer> {
        self.run_for(request, &NonInteractive).await
    }

    /// Carries out a request.
    ///
    /// # Errors
    /// Those of the tool; [`crate::error::Kind::BudgetTooSmall`] when not even
    /// the smallest form of the answer fits.
    pub async fn run_for(&self, request: Request, caller: &dyn ClientPrompts) -> Result<Answer> {
        let reads = tools::find(request.call.tool).is_some_and(|tool| tool.effect == Effect::Read);
        // Boxed, because a thread's stack is small.
        let call = Box::pin(self.answer_request(request, caller));
        match reads {
            true => steady(call).await,
            false => call.await,
        }
    }

    async fn answer_request(&self, request: Request, caller: &dyn ClientPrompts) -> Result<Answer> {
        let Request { action, format, view, call } = request;
        let mut budget = self.room(view.budget, view.reserve)?;
        let chunk = view.chunk.map_or(1, |chunk| chunk as usize);
        // A budget in the settings takes precedence over the limit of the client.
        let limit = caller.answer_limit().filter(|_| !self.config.budget_is_set);
        let accounts = self.accounts.list().await?;
        let since: Vec<String> =
            accounts.iter().map(|account| format!("{} {}", account.id, account.added)).collect();
        // Read before anything is written, so that a completed write can always be reported.
        let secret = self.store.fence_secret().await?;
        let snapshot = match chunk {
            1 => None,
            _ => self.snapshots.find(&call, &since, limit),
        };
        let (response, fresh) = match snapshot {
            Some((response, then, written)) => {
                // Other chunks would be cut elsewhere.
                if view.budget.is_some() && budget != then || format != written {
                    return Err(Error::argument(format!(
                        "chunk={chunk} is of an answer with budget={then}, and the budget or \
                         format differs"
                    ))
                    .next("give the same budget and format, or start again without chunk"));
                }
                budget = then;
                (response, false)
            }
            None => {
                let mut response =
                    self.build_noted_response(action, format, caller, &secret).await?;
                if format.has_text_fields() {
                    show_members(&mut response.document);
                }
                self.shown.note(&response.document);
                (Arc::new(response), true)
            }
        };
        let tool = tools::find(call.tool);
        let writes = call.effect != Effect::Read;
        match self.note_untrusted(&response).await {
            // A completed write is reported even if this cannot be stored.
            Err(error) if writes => tracing::warn!(%error, "what was shown is not noted"),
            noted => noted?,
        }
        let searched = !response.words.is_empty();
        let strategy = value::resolve(call.tool, &self.config.values, searched);
        let stale = fresh && chunk > 1;
        let asks_for_output = view.known.as_deref() == Some(ASKED) && !writes;
        let mut besides = usize::from(view.known.is_some()) * HASH;
        if stale || limit.is_some() || asks_for_output {
            besides = BESIDES;
        }
        let how = AnswerOptions {
            format,
            strategy,
            chunk,
            chunks: tool.is_some_and(|tool| tool.args.iter().any(|arg| arg.name == "chunk")),
            budget,
            reserve: self.reserve(view.reserve),
            besides,
            ceiling: limit.map_or(CEILING, |limit| limit.saturating_sub(LATE_NOTES).min(CEILING)),
        };
        let fits = self.fit_response(&response, how, secret).await;
        let (mut fitted, whole) = match fits {
            // A completed write is reported, even over budget.
            Err(error) if error.kind() == Kind::BudgetTooSmall && writes => {
                let budget = MOST_TOKENS;
                let how = AnswerOptions { budget, ceiling: CEILING, ..how };
                self.fit_response(&response, how, secret).await?
            }
            fits => fits?,
        };
        if stale {
            self.note(&mut fitted, &STALE.into());
        }
        if let (Some(limit), Some(_), Some(_)) = (limit, view.budget, &fitted.shortened)
            // The space is for one note. A token usually has three bytes or more.
            && !stale
            && limit < 3 * budget
        {
            let limit = note!("this client passes on {} bytes, whatever the budget", ours(limit));
            self.note(&mut fitted, &limit);
        }
        if fresh && fitted.chunk.1 > 1 {
            self.snapshots.keep(Snapshot {
                call: call.clone(),
                response: Arc::clone(&response),
                accounts: since,
                budget,
                limit,
                format,
                made: Instant::now(),
            });
        }
        // The notes of a shortened answer name its output.
        let names_output = asks_for_output && whole.is_none();
        let whole =
            whole.or_else(|| names_output.then(|| WholeBlocks::kept(&response, &secret).text()));
        let output = match whole {
            Some(whole) => {
                let accounts = accounts.into_iter().map(|account| account.id).collect();
                Some(self.keep_output(&call, &whole, accounts).await?)
            }
            None => None,
        };
        // The same data gives the same bytes, so a hash identifies an answer.
        let hash = crate::outputs::hash(&fitted.blocks.join("\n"));
        if view.known.as_ref() == Some(&hash) {
            return Ok(self.unchanged(hash, format));
        }
        if view.known.is_some() {
            if let Some(id) = output.as_ref().filter(|_| names_output) {
                self.note(&mut fitted, &note!("whole: output_read id={}", ours(id)));
            }
            self.note(&mut fitted, &note!("hash: {}", ours(&hash)));
        }
        Ok(Answer {
            stats: Stats {
                tokens: fitted.tokens,
                tokenizer: self.config.tokenizer.name(),
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

    /// Returns the complete response to a request, as the text of an output and as a document.
    pub(super) async fn whole_answer(&self, request: Request) -> Result<(String, Document)> {
        let secret = self.store.fence_secret().await?;
        let Request { action, format, .. } = request;
        let mut response =
            self.build_noted_response(action, format, &NonInteractive, &secret).await?;
        self.note_untrusted(&response).await?;
        let text = WholeBlocks::kept(&response, &secret).text();
        show_members(&mut response.document);
        Ok((text, whole_document(&response, &secret)))
    }

    /// Fits a response; stores the complete response as an output if it was shortened.
    pub(super) async fn fit_response(
        &self,
        response: &Arc<Response>,
        how: AnswerOptions,
        secret: [u8; 32],
    ) -> Result<(Fitted, Option<String>)> {
        let tokenizer = self.config.tokenizer;
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
        match long {
            // The session has to answer meanwhile.
            true => tokio::task::spawn_blocking(work)
                .await
                .map_err(|_| Error::new(Kind::Internal, "an answer could not be fitted"))?,
            false => work(),
        }
    }

    /// Returns the tokens that an answer leaves free: those the call names, or else the setting.
    pub(super) fn reserve(&self, reserve: Option<u32>) -> usize {
        reserve.map_or(self.config.reserve, |reserve| reserve as usize)
    }

    /// Tokens for the answer itself.
    pub(super) fn room(&self, budget: Option<u32>, reserve: Option<u32>) -> Result<usize> {
        let budget = budget.map_or(self.config.budget, |budget| budget as usize);
        let reserve = self.reserve(reserve);
        match budget.checked_sub(reserve) {
            Some(room) if room >= 100 => Ok(room),
            _ => Err(Error::argument(format!(
                "budget={budget} leaves under 100 tokens beyond reserve={reserve}"
            ))
            .next("raise `budget`, or lower `reserve`, which may be a setting")),
        }
    }

    /// Returns the response to an action; repeated notes are counted, and lines of ours
    /// within texts begin with the words of their fences.
    pub(super) async fn build_noted_response(
        &self,
        mut action: Action,
        format: Format,
        caller: &dyn ClientPrompts,
        secret: &[u8; 32],
    ) -> Result<Response> {
        let built = async {
            let names = self.resolve_names(&mut action).await?;
            let mut response = self.build_response(action, format, caller).await?;
            response.notes.extend(names);
            Ok(response)
        };
        let mut response = match built.await {
            Ok(response) => response,
            Err(error) => return Err(self.with_unoffered(self.suggest_people(error).await)),
        };
        self.note_unoffered(&mut response);
        let remarks = response.document.tables.iter().flat_map(RowTable::remarks);
        response.notes.extend(remarks);
        response.notes = Note::merge_repeats(response.notes, ALIKE);
        for text in &mut response.texts {
            text.fence(secret);
        }
        response.clean();
        Ok(response)
    }

    /// Adds a line to the notes.
    fn note(&self, fitted: &mut Fitted, line: &Note) {
        let notes = match fitted.notes {
            true => fitted.blocks.last_mut(),
            false => None,
        };
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
        fitted.tokens = fit::tokens_of(&fitted.blocks, self.config.tokenizer);
    }

    /// Returns the answer to a caller that already has it.
    fn unchanged(&self, hash: String, format: Format) -> Answer {
        let document =
            Document { scalars: vec![("unchanged", Cell::Text(hash.clone()))], tables: Vec::new() };
        let text = document.encode(format);
        Answer {
            stats: Stats {
                tokens: self.config.tokenizer.count(&text),
                tokenizer: self.config.tokenizer.name(),
                bytes: text.len(),
                chunk: (1, 1),
                hash,
                stc_version: format.stc_version(),
                ..Stats::default()
            },
            blocks: vec![text],
            output: None,
        }
    }
}

/// Shows all people of events: programs take them.
fn show_members(document: &mut Document) {
    let events = document.tables.iter_mut().filter(|table| *table.table() == EVENT);
    events.for_each(RowTable::show_members);
}
