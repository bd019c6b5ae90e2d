//! Organizes mail at Gmail.
//!
//! A thousand messages are changed by one request, whose response says nothing of any
//! of them. Their states are read afterwards: from the history, where a page covers
//! hundreds, and for those that the history does not list, one by one.

use std::collections::{BTreeSet, HashMap};
use std::time::Instant;

use async_trait::async_trait;
use futures_util::future::join;
use futures_util::stream::{self, StreamExt};
use hyper::Method;
use serde_json::{Value, json};

use super::changes::number;
use super::states::{Difference, grouped, labels, of_step, state, state_of};
use super::{Gmail, NAMES_LAST, check, list};
use crate::google::client::IN_FLIGHT;
use crate::json::text;
use daysheet_core::call::course::counted;
use daysheet_core::error::{Error, Kind, Result};
use daysheet_core::project::Projection;
use daysheet_core::provider::mail::{
    FolderKind, FolderRef, MailState, MessageAction, MessageActions,
};

/// The most messages that one request changes.
const AT_ONCE: usize = 1_000;
/// The most records of the history in one answer, and answers that are read.
const RECORDS: &str = "500";
const PAGES: usize = 8;

/// A request for some of the messages.
enum Work {
    Labels(Difference),
    Delete,
}

/// The progress of one message.
#[derive(Clone)]
enum WriteOutcome {
    Done,
    /// Nobody knows.
    Open(Error),
    Refused(Error),
}

/// The labels of changed messages, and the deleted messages, from Gmail's history.
#[derive(Default)]
struct LabelHistory {
    labels: HashMap<String, BTreeSet<String>>,
    deleted: BTreeSet<String>,
}

#[async_trait]
impl MessageActions for Gmail {
    async fn states(&self, ids: &[String]) -> Vec<Result<MailState>> {
        // A change of these messages is read from the history that begins here.
        let begin = Box::pin(self.begin_history());
        let (items, ()) = join(Box::pin(self.fetch_labels(ids)), begin).await;
        items.into_iter().map(|item| item.map(|item| state_of(&item))).collect()
    }

    async fn apply(
        &self,
        messages: &[MailState],
        step: &MessageAction,
    ) -> Vec<Result<Option<MailState>>> {
        let all = |error: Error| messages.iter().map(|_| Err(error.clone())).collect();
        let mut sent: Vec<_> = messages
            .iter()
            .map(|message| match check(&message.id) {
                Ok(()) => WriteOutcome::Done,
                Err(error) => WriteOutcome::Refused(error),
            })
            .collect();
        let work = match plan(messages, step, &mut sent) {
            Ok(work) => work,
            Err(error) => return all(error),
        };
        // Without a history id, every message is read one by one.
        let begun = self.history.lock().await.take();
        let since = match begun {
            Some((when, since)) if when.elapsed() < NAMES_LAST => Some(since),
            _ => match self.history_id().await {
                Ok(since) => Some(since),
                Err(error) if error.kind() == Kind::Auth => return all(error),
                Err(_) => None,
            },
        };
        for (work, places) in &work {
            for some in places.chunks(AT_ONCE) {
                self.run_work(work, messages, some, &mut sent).await;
            }
        }
        let history = match since {
            Some(since) => self.label_history(&since).await.unwrap_or_default(),
            None => LabelHistory::default(),
        };
        self.verify(messages, &work, &sent, history).await
    }

    async fn find_folder(&self, name: &str, kind: FolderKind, create: bool) -> Result<FolderRef> {
        self.find_label(name, kind, create).await
    }
}

/// Returns the requests, each with its messages by their positions in the list.
fn plan(
    messages: &[MailState],
    step: &MessageAction,
    sent: &mut [WriteOutcome],
) -> Result<Vec<(Work, Vec<usize>)>> {
    let mut work = match step {
        MessageAction::Delete => vec![(Work::Delete, (0..messages.len()).collect())],
        MessageAction::RestoreState(then) => {
            let (groups, unknown) = grouped(messages, then);
            for at in unknown {
                if let Some(sent) = sent.get_mut(at) {
                    *sent = WriteOutcome::Refused(Error::argument(
                        "the earlier state of this message is unknown",
                    ));
                }
            }
            let one = |(difference, places)| (Work::Labels(difference), places);
            groups.into_iter().map(one).collect()
        }
        step => {
            let is_draft = |at: &usize| messages.get(*at).is_some_and(|one| one.draft);
            let (drafts, others) = match step {
                MessageAction::Untrash => (0..messages.len()).partition(is_draft),
                _ => (Vec::new(), (0..messages.len()).collect::<Vec<_>>()),
            };
            let mut work = vec![(Work::Labels(of_step(step)?), others)];
            // A draft is never in the inbox.
            work.push((Work::Labels(Difference::new(&[], &["SPAM", "TRASH"])), drafts));
            work
        }
    };
    for (_, places) in &mut work {
        places.retain(|at| matches!(sent.get(*at), Some(WriteOutcome::Done)));
    }
    Ok(work)
}

impl Gmail {
    /// Fetches where the history is, if it is not known.
    async fn begin_history(&self) {
        let mut history = self.history.lock().await;
        if history.as_ref().is_none_or(|(when, _)| when.elapsed() >= NAMES_LAST) {
            // Without it, the change looks for it again.
            *history = self.history_id().await.ok().map(|id| (Instant::now(), id));
        }
    }

    /// Fetches messages with only their labels, several at a time.
    async fn fetch_labels(&self, ids: &[String]) -> Vec<Result<Value>> {
        let labels_alone = &Projection {
            paths: vec!["id".to_owned(), "labelIds".to_owned()],
            ..Projection::default()
        };
        let calls: Vec<_> =
            ids.iter().map(|id| self.message(id, labels_alone, "minimal")).collect();
        stream::iter(counted("messages", calls)).buffered(IN_FLIGHT).collect().await
    }

    /// Sends one request for these messages. If Gmail refuses all of them because some
    /// do not exist, those are found and the others sent again.
    async fn run_work(
        &self,
        work: &Work,
        messages: &[MailState],
        places: &[usize],
        sent: &mut [WriteOutcome],
    ) {
        let mut set = |at: usize, how: WriteOutcome| {
            if let Some(sent) = sent.get_mut(at) {
                *sent = how;
            }
        };
        let ids = |places: &[usize]| -> Vec<String> {
            let those = places.iter().filter_map(|at| messages.get(*at));
            those.map(|message| message.id.clone()).collect()
        };
        let mut places = places.to_vec();
        let mut missing_known = false;
        while !places.is_empty() {
            let error = match self.write(work, &ids(&places)).await {
                Ok(()) => return,
                Err(error) => error,
            };
            let perhaps_missing = matches!(error.kind(), Kind::NotFound | Kind::Provider(400));
            if perhaps_missing && !missing_known {
                missing_known = true;
                let found = self.fetch_labels(&ids(&places)).await;
                let mut there = Vec::new();
                for (at, found) in places.iter().zip(found) {
                    match found {
                        Err(error) if error.kind() == Kind::NotFound => {
                            set(*at, WriteOutcome::Refused(error));
                        }
                        _ => there.push(*at),
                    }
                }
                // Gmail refused the whole request because of these, so the others are sent again.
                if there.len() < places.len() {
                    places = there;
                    continue;
                }
            }
            for at in places {
                set(
                    at,
                    match error.is_open() {
                        true => WriteOutcome::Open(error.clone()),
                        false => WriteOutcome::Refused(error.clone()),
                    },
                );
            }
            return;
        }
    }

    async fn write(&self, work: &Work, ids: &[String]) -> Result<()> {
        let (what, body) = match work {
            Work::Labels(difference) if difference.is_empty() => return Ok(()),
            Work::Labels(difference) => (
                "batchModify",
                json!({
                    "ids": ids,
                    "addLabelIds": difference.add,
                    "removeLabelIds": difference.remove,
                }),
            ),
            Work::Delete => ("batchDelete", json!({ "ids": ids })),
        };
        self.change(Method::POST, &["messages", what], Some(&body)).await.map(drop)
    }

    /// Reads the history since then; nothing if there is too much of it.
    async fn label_history(&self, since: &str) -> Result<LabelHistory> {
        let mut history = LabelHistory::default();
        let mut token = String::new();
        for _ in 0..PAGES {
            let mut params = vec![
                ("startHistoryId", since),
                ("maxResults", RECORDS),
                ("historyTypes", "labelAdded"),
                ("historyTypes", "labelRemoved"),
                ("historyTypes", "messageDeleted"),
                (
                    "fields",
                    "historyId,nextPageToken,history(labelsAdded/message(id,labelIds),\
                     labelsRemoved/message(id,labelIds),messagesDeleted/message/id)",
                ),
            ];
            if !token.is_empty() {
                params.push(("pageToken", &token));
            }
            let page = self.get(&["history"], &params).await?;
            for record in list(&page, "history") {
                history.add(&record);
            }
            token = text(&page, "nextPageToken").to_owned();
            if token.is_empty() {
                *self.history.lock().await = number(&page).map(|id| (Instant::now(), id));
                return Ok(history);
            }
        }
        // The last records are missing, so that the labels may be out of date.
        Ok(LabelHistory::default())
    }

    /// Returns the state of each message afterwards, as Gmail reports it.
    async fn verify(
        &self,
        messages: &[MailState],
        work: &[(Work, Vec<usize>)],
        sent: &[WriteOutcome],
        history: LabelHistory,
    ) -> Vec<Result<Option<MailState>>> {
        let mut answers: Vec<Option<Result<Option<MailState>>>> = Vec::new();
        for (message, sent) in messages.iter().zip(sent) {
            answers.push(match sent {
                WriteOutcome::Refused(error) => Some(Err(error.clone())),
                _ if history.deleted.contains(&message.id) => Some(Ok(None)),
                _ => None,
            });
        }
        let mut open: Vec<(usize, &Work)> = Vec::new();
        for (work, places) in work {
            for at in places {
                let (Some(answer), Some(message)) = (answers.get_mut(*at), messages.get(*at))
                else {
                    continue;
                };
                if answer.is_some() {
                    continue;
                }
                match (work, history.labels.get(&message.id)) {
                    // The history confirms the change; the message need not be read.
                    (Work::Labels(difference), Some(labels)) if difference.holds(labels) => {
                        *answer = Some(Ok(Some(state(&message.id, labels))));
                    }
                    _ => open.push((*at, work)),
                }
            }
        }
        let ids: Vec<_> = open
            .iter()
            .filter_map(|(at, _)| messages.get(*at))
            .map(|message| message.id.clone())
            .collect();
        let found = self.fetch_labels(&ids).await;
        for ((at, work), found) in open.into_iter().zip(found) {
            if let (Some(answer), Some(sent)) = (answers.get_mut(at), sent.get(at)) {
                *answer = Some(came_of(work, sent, found));
            }
        }
        answers.into_iter().map(|answer| answer.unwrap_or_else(|| Err(as_before()))).collect()
    }
}

impl LabelHistory {
    fn add(&mut self, record: &Value) {
        for key in ["labelsAdded", "labelsRemoved"] {
            for entry in list(record, key) {
                let message = entry.get("message").unwrap_or(&Value::Null);
                // Labels may be missing; then the record has no information.
                if message.get("labelIds").is_some() {
                    self.labels.insert(text(message, "id").to_owned(), labels(message));
                }
            }
        }
        for entry in list(record, "messagesDeleted") {
            let message = entry.get("message").unwrap_or(&Value::Null);
            self.deleted.insert(text(message, "id").to_owned());
        }
    }
}

/// Returns the outcome for a message that was read again.
fn came_of(work: &Work, sent: &WriteOutcome, found: Result<Value>) -> Result<Option<MailState>> {
    let failed = || match sent {
        WriteOutcome::Open(error) | WriteOutcome::Refused(error) => error.clone(),
        WriteOutcome::Done => as_before(),
    };
    match (work, found) {
        (Work::Delete, Err(error)) if error.kind() == Kind::NotFound => Ok(None),
        (Work::Delete, Ok(_)) => Err(failed()),
        (Work::Labels(difference), Ok(item)) if difference.holds(&labels(&item)) => {
            Ok(Some(state_of(&item)))
        }
        (Work::Labels(_), Ok(_)) => Err(failed()),
        (_, Err(error)) if error.kind() == Kind::NotFound => Err(error),
        // It could not be read whether it was done.
        (_, Err(error)) => Err(match sent {
            // That it cannot be read does not mean that it was not done.
            WriteOutcome::Done => Error::new(
                Kind::Network,
                format!("it was changed, but could not be read back: {}", error.message()),
            ),
            WriteOutcome::Open(error) | WriteOutcome::Refused(error) => error.clone(),
        }),
    }
}

fn as_before() -> Error {
    Error::new(Kind::Conflict, "Gmail accepted the change but did not apply it")
        .next("check the message; a filter or another program may have changed it")
}
