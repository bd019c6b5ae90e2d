//! Answers in chunks, kept for a while so that new data does not move their chunks.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use daysheet_core::budget::WholeAnswer;
use daysheet_core::encode::Format;

use crate::tools::CallIdentity;

/// Lifetime of an answer in chunks.
const KEPT: Duration = Duration::from_mins(30);
/// The maximum number of such answers.
const MAX_SNAPSHOTS: usize = 16;
/// The maximum size of their texts together, in bytes.
const BYTES: usize = 32 * 1024 * 1024;

/// Answers recently returned in chunks, the latest last.
#[derive(Default)]
pub(crate) struct AnswerSnapshots(Mutex<VecDeque<AnswerSnapshot>>);

/// An answer that was returned in chunks.
pub(crate) struct AnswerSnapshot {
    pub(crate) call: CallIdentity,
    pub(crate) response: Arc<WholeAnswer>,
    /// The signed-in accounts, each with the time at which it was added.
    pub(crate) accounts: Vec<String>,
    /// The budget that the chunks were made for.
    pub(crate) budget: usize,
    /// The size limit of the client that received them: another limit gives other chunks.
    pub(crate) limit: Option<usize>,
    pub(crate) format: Format,
    pub(crate) made: Instant,
}

impl AnswerSnapshot {
    fn bytes(&self) -> usize {
        self.response.texts.iter().map(|text| text.text.len()).sum()
    }
}

impl AnswerSnapshots {
    pub(crate) fn keep(&self, snapshot: AnswerSnapshot) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A new answer to the same call replaces the old one, whose chunks would not fit to it.
        all.retain(|one| one.call != snapshot.call && one.made.elapsed() < KEPT);
        all.push_back(snapshot);
        while all.len() > MAX_SNAPSHOTS
            || all.iter().map(AnswerSnapshot::bytes).sum::<usize>() > BYTES
        {
            all.pop_front();
        }
    }

    /// Returns the stored answer to a call, if the same accounts are still signed in.
    pub(crate) fn find(
        &self,
        call: &CallIdentity,
        accounts: &[String],
        limit: Option<usize>,
    ) -> Option<(Arc<WholeAnswer>, usize, Format)> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|one| one.made.elapsed() < KEPT && one.accounts == accounts);
        let found = all.iter().find(|one| one.call == *call && one.limit == limit)?;
        Some((Arc::clone(&found.response), found.budget, found.format))
    }

    /// Removes all answers, because an account was signed out.
    pub(crate) fn clear(&self) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.clear();
    }
}
