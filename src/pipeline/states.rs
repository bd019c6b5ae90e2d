//! The state that parts of the pipeline keep between calls. Each type is in the folder that uses
//! it.

use std::sync::Arc;

use super::access::sign_ins::SignIns;
use super::access::taint::TaintTracker;
use super::answer::shown::ShownRows;
use super::answer::snapshots::AnswerSnapshots;
use super::calendar::search::lists::CalendarLists;
use super::mail::listed_threads::ListedThreads;
use super::mail::send_recovery::SendRecovery;
use super::people_cache::KnownPeople;
use crate::outputs::ResultStore;
use crate::unsubscribe::post::OneClickUnsubscriber;

/// The state that parts of the pipeline keep between calls.
pub(super) struct KeptStates {
    /// Sign-ins that were started and not yet reported.
    pub(super) sign_ins: Arc<SignIns>,
    /// People that were listed lately.
    pub(super) known: KnownPeople,
    /// The threads of messages that were listed lately.
    pub(super) threads: ListedThreads,
    /// Calendars that were listed lately.
    pub(super) lists: CalendarLists,
    /// Answers recently returned in chunks.
    pub(super) snapshots: AnswerSnapshots,
    /// Rows that were shown lately.
    pub(super) shown: ShownRows,
    /// Answers that were shortened.
    pub(super) outputs: ResultStore,
    /// Posts the requests that leave mailing lists.
    pub(super) unsubscriber: OneClickUnsubscriber,
    /// The record of untrusted text that was shown.
    pub(super) taint: TaintTracker,
    /// The times that apply to a message in doubt.
    pub(super) send_recovery: SendRecovery,
}

impl KeptStates {
    /// Creates the states of a new process.
    pub(super) fn new(outputs: ResultStore, send_recovery: SendRecovery) -> Self {
        Self {
            sign_ins: Arc::default(),
            known: KnownPeople::default(),
            threads: ListedThreads::default(),
            lists: CalendarLists::default(),
            snapshots: AnswerSnapshots::default(),
            shown: ShownRows::default(),
            outputs,
            unsubscriber: OneClickUnsubscriber::new(),
            taint: TaintTracker::default(),
            send_recovery,
        }
    }
}
