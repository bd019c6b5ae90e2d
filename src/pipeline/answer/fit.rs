//! From a request to the blocks of its answer: steps 4 and 5, around the others.
//!
//! An answer that is told in chunks is kept for a while, so that what arrives
//! meanwhile moves nothing. The whole of what was shortened is kept as an
//! output. How an answer is made to fit stands in `budget`.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::budget::Draft;
use crate::budget::fit::{self, Asked, CEILING, Fitted, Shortened, Whole};
use crate::budget::value::{self, Strategy};
use crate::caller::{Caller, Nobody};
use crate::encode::{Document, Format};
use crate::error::{Error, Kind, Result};
use crate::pipeline::Pipeline;
use crate::row::{Cell, RowTable};
use crate::schemas::EVENT;
use crate::text::{Note, note, ours};
use crate::tools::{self, Action, Call, Effect, Request};

/// How long an answer in chunks is kept.
const KEPT: Duration = Duration::from_secs(30 * 60);
/// How many such answers are kept at once.
const MOST: usize = 16;
/// How many bytes of text they may have together.
const BYTES: usize = 32 * 1024 * 1024;
/// The largest budget.
const MOST_TOKENS: usize = 100_000;
/// Rows that are fitted on a thread of their own.
const MANY: usize = 100;
/// Tokens of the line that tells an answer's hash.
const HASH: usize = 12;
/// Tokens of what may be said of a part besides.
const BESIDES: usize = HASH + 14;
/// Notes that say the same of different things, as letters and events.
const ALIKE: usize = 20;
/// What is said of a chunk without the first.
const STALE: &str = "the first chunk's snapshot expired: this chunk is of the current answer";

/// What a tool call answers with, before it is MCP.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// Text blocks: the document in the format asked for, fenced long texts,
    /// and last what the reader should know besides.
    pub blocks: Vec<String>,
    /// What the answer costs.
    pub stats: Stats,
    /// The id of the whole answer, when this is a part of it.
    pub output: Option<String>,
}

/// What an answer costs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stats {
    /// Tokens of all blocks.
    pub tokens: usize,
    /// The vocabulary they are counted in.
    pub tokenizer: &'static str,
    /// Bytes of all blocks.
    pub bytes: usize,
    /// Bytes of the JSON that the rows were made from, as the provider sent it;
    /// none where there was none.
    pub source_bytes: usize,
    /// What was shortened, when the answer is a part of a larger one.
    pub shortened: Option<Shortened>,
    /// How many cells of the whole answer show a part of their value.
    pub cut: usize,
    /// What the plan took its tokens to be, when there was one.
    pub planned: usize,
    /// Which chunk it is, of how many.
    pub chunk: (usize, usize),
    /// What the answer is known by.
    pub hash: String,
    /// The version of STC, when it is written in that.
    pub stc_version: Option<u32>,
}

/// How an answer is told.
#[derive(Clone, Copy)]
struct How {
    format: Format,
    strategy: Strategy,
    chunk: usize,
    /// True when further chunks can be asked for.
    chunks: bool,
    budget: usize,
    /// Tokens of what is said besides.
    besides: usize,
}

/// Answers that were told in chunks lately, the latest last.
#[derive(Default)]
pub(in crate::pipeline) struct Snapshots(Mutex<VecDeque<Snapshot>>);

struct Snapshot {
    call: Call,
    draft: Arc<Draft>,
    /// Who was signed in, and since when.
    accounts: Vec<String>,
    /// What the chunks were made for.
    budget: usize,
    format: Format,
    made: Instant,
}

impl Snapshot {
    fn bytes(&self) -> usize {
        self.draft.texts.iter().map(|text| text.text.len()).sum()
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

    /// What was kept of a call, while the same people are signed in.
    fn find(&self, call: &Call, accounts: &[String]) -> Option<(Arc<Draft>, usize, Format)> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.made.elapsed() < KEPT && one.accounts == accounts);
        let found = all.iter().find(|one| one.call == *call)?;
        Some((Arc::clone(&found.draft), found.budget, found.format))
    }

    /// Forgets all: somebody was signed out.
    pub(in crate::pipeline) fn clear(&self) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.clear();
    }
}

impl Pipeline {
    /// Carries out a request of somebody who can neither be asked nor told
    /// anything meanwhile.
    ///
    /// # Errors
    /// Those of [`Pipeline::run_for`].
    pub async fn run(&self, request: Request) -> Result<Answer> {
        self.run_for(request, &Nobody).await
    }

    /// Carries out a request.
    ///
    /// # Errors
    /// Those of the tool; [`crate::error::Kind::BudgetTooSmall`] when not even
    /// the smallest form of the answer fits.
    pub async fn run_for(&self, request: Request, caller: &dyn Caller) -> Result<Answer> {
        let Request { action, format, view, call } = request;
        let mut budget = self.room(view.budget, view.reserve)?;
        let chunk = view.chunk.map_or(1, |chunk| chunk as usize);
        let accounts = self.accounts.list().await?;
        let since: Vec<String> =
            accounts.iter().map(|account| format!("{} {}", account.id, account.added)).collect();
        // Had before anything is done: what was done is told.
        let secret = self.store.fence_secret().await?;
        let kept = match chunk {
            1 => None,
            _ => self.snapshots.find(&call, &since),
        };
        let (draft, fresh) = match kept {
            Some((draft, then, written)) => {
                // Other chunks would be cut elsewhere.
                if view.budget.is_some() && budget != then || format != written {
                    return Err(Error::argument(format!(
                        "chunk={chunk} is of an answer with budget={then}, and the budget or \
                         format differs"
                    ))
                    .next("give the same budget and format, or start again without chunk"));
                }
                budget = then;
                (draft, false)
            }
            None => {
                let mut draft = self.noted(action, format, caller).await?;
                if format.has_text_fields() {
                    // Programs take all people of an event.
                    let tables = draft.document.tables.iter_mut();
                    let events = tables.filter(|table| *table.table() == EVENT);
                    events.for_each(RowTable::show_members);
                }
                self.shown.note(&draft.document);
                (Arc::new(draft), true)
            }
        };
        let tool = tools::find(call.tool);
        let writes = tool.is_some_and(|tool| tool.effect != Effect::Read);
        match self.strangers_in(&draft).await {
            Err(error) if writes => tracing::warn!(%error, "what was shown is not noted"),
            noted => noted?,
        }
        let searched = !draft.words.is_empty();
        let strategy = value::resolve(call.tool, &self.config.values, searched);
        let stale = fresh && chunk > 1;
        let mut besides = usize::from(view.known.is_some()) * HASH;
        if stale {
            besides = BESIDES;
        }
        let how = How {
            format,
            strategy,
            chunk,
            chunks: tool.is_some_and(|tool| tool.args.iter().any(|arg| arg.name == "chunk")),
            budget,
            besides,
        };
        let fits = self.fitted(&draft, how, secret).await;
        let (mut fitted, whole) = match fits {
            // What was done is told, whatever it costs.
            Err(error) if error.kind() == Kind::BudgetTooSmall && writes => {
                let budget = MOST_TOKENS;
                self.fitted(&draft, How { budget, ..how }, secret).await?
            }
            fits => fits?,
        };
        if stale {
            self.note(&mut fitted, &STALE.into());
        }
        if fresh && fitted.chunk.1 > 1 {
            self.snapshots.keep(Snapshot {
                call: call.clone(),
                draft: Arc::clone(&draft),
                accounts: since,
                budget,
                format,
                made: Instant::now(),
            });
        }
        let output = match whole {
            Some(whole) => {
                let accounts = accounts.into_iter().map(|account| account.id).collect();
                Some(self.keep_output(&call, &whole, accounts).await?)
            }
            None => None,
        };
        let hash = crate::outputs::hash(&fitted.blocks.join("\n"));
        if view.known.as_ref() == Some(&hash) {
            return Ok(self.unchanged(hash, format));
        }
        if view.known.is_some() {
            self.note(&mut fitted, &note!("hash: {}", ours(&hash)));
        }
        Ok(Answer {
            stats: Stats {
                tokens: fitted.tokens,
                tokenizer: self.config.tokenizer.name(),
                bytes: fitted.blocks.iter().map(String::len).sum(),
                source_bytes: draft.document.tables.iter().map(RowTable::source_bytes).sum(),
                shortened: fitted.shortened,
                cut: fitted.cut,
                planned: fitted.planned,
                chunk: fitted.chunk,
                hash,
                stc_version: format.stc_version(),
            },
            blocks: fitted.blocks,
            output,
        })
    }

    /// The whole answer to a request, as the text that outputs are made of.
    pub(super) async fn whole_text(&self, request: Request) -> Result<String> {
        let draft = self.noted(request.action, request.format, &Nobody).await?;
        self.strangers_in(&draft).await?;
        let secret = self.store.fence_secret().await?;
        Ok(Whole::kept(&draft, &secret).text())
    }

    /// What fits of a draft; and the whole of it, when that is more.
    async fn fitted(
        &self,
        draft: &Arc<Draft>,
        how: How,
        secret: [u8; 32],
    ) -> Result<(Fitted, Option<String>)> {
        let tokenizer = self.config.tokenizer;
        let draft = Arc::clone(draft);
        let bytes: usize = draft.texts.iter().map(|text| text.text.len()).sum();
        let rows: usize = draft.document.tables.iter().map(RowTable::len).sum();
        let long = bytes > CEILING || rows > MANY;
        let work = move || {
            let asked = Asked {
                format: how.format,
                tokenizer,
                budget: how.budget.saturating_sub(how.besides),
                room: how.budget.saturating_sub(BESIDES),
                said: how.budget,
                chunk: how.chunk,
                chunks: how.chunks,
                strategy: how.strategy,
                secret: &secret,
            };
            let mut kept = None;
            let fitted = fit::fit(&draft, &asked, |whole| {
                let text = whole.text();
                let hash = crate::outputs::hash(&text);
                kept = Some(text);
                hash
            })?;
            Ok((fitted, kept))
        };
        match long {
            // The session has to answer meanwhile.
            true => tokio::task::spawn_blocking(work)
                .await
                .map_err(|_| Error::new(Kind::Internal, "an answer could not be fitted"))?,
            false => work(),
        }
    }

    /// Tokens for the answer itself.
    fn room(&self, budget: Option<u32>, reserve: Option<u32>) -> Result<usize> {
        let budget = budget.map_or(self.config.budget, |budget| budget as usize);
        let reserve = reserve.unwrap_or(0) as usize;
        match budget.checked_sub(reserve) {
            Some(room) if room >= 100 => Ok(room),
            _ => Err(Error::argument(format!(
                "budget={budget} leaves under 100 tokens beyond reserve={reserve}"
            ))
            .next("raise `budget` or lower `reserve`")),
        }
    }

    /// What an action answers; notes that repeat themselves are counted, and
    /// what is said within texts begins with the words of their fences.
    async fn noted(&self, action: Action, format: Format, caller: &dyn Caller) -> Result<Draft> {
        let mut draft = self.draft(action, format, caller).await?;
        draft.notes = Note::counted(draft.notes, ALIKE);
        let secret = self.store.fence_secret().await?;
        for text in &mut draft.texts {
            text.fence(&secret);
        }
        Ok(draft)
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
        let count = |block: &String| self.config.tokenizer.count(block);
        fitted.tokens = fitted.blocks.iter().map(count).sum();
    }

    /// The answer to who knows it already.
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
