//! Changes of the state of Gmail messages.
//!
//! One request changes up to a thousand messages. Gmail confirms it as a whole, so the new states
//! are computed from the labels that were read before. Messages that are not confirmed, or whose
//! labels are unknown, are read again.

use async_trait::async_trait;
use daysheet_core::call::progress::counted;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::MessageId;
use daysheet_core::project::Projection;
use daysheet_core::provider::mail::{
    FolderKind, FolderRef, MailState, MessageAction, MessageActions,
};
use futures_util::stream::{self, StreamExt};
use hyper::Method;
use serde_json::{Value, json};

use super::mailbox::GmailMailbox;
use super::requests::check;
use super::states::{LabelDifference, grouped, labels, of_step, state, state_of};
use crate::google::client::IN_FLIGHT;
use crate::json::text;

/// The maximum number of messages that one request changes.
const AT_ONCE: usize = 1_000;
/// The number of cached label sets above which the cache is cleared.
const KEPT: usize = 10_000;

/// A request that changes several messages.
enum BatchWork {
    Labels(LabelDifference),
    Delete,
}

/// The outcome for one message.
#[derive(Clone)]
enum WriteOutcome {
    Done,
    /// It is unknown whether the change was made.
    Open(Error),
    Refused(Error),
}

#[async_trait]
impl MessageActions for GmailMailbox {
    async fn states(&self, ids: &[MessageId]) -> Vec<Result<MailState>> {
        let items = self.fetch_labels(ids).await;
        let mut known = self.known_labels.lock().await;
        if known.len() > KEPT {
            known.clear();
        }
        let read = items.iter().flatten();
        known.extend(read.map(|item| (text(item, "id").into(), labels(item))));
        drop(known);
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
            .map(|message| match check(message.id.as_str()) {
                Ok(()) => WriteOutcome::Done,
                Err(error) => WriteOutcome::Refused(error),
            })
            .collect();
        let work = match plan(messages, step, &mut sent) {
            Ok(work) => work,
            Err(error) => return all(error),
        };
        for (work, places) in &work {
            for some in places.chunks(AT_ONCE) {
                self.run_work(work, messages, some, &mut sent).await;
            }
        }
        self.outcomes(messages, &work, &sent).await
    }

    async fn find_folder(&self, name: &str, kind: FolderKind, create: bool) -> Result<FolderRef> {
        self.find_label(name, kind, create).await
    }
}

/// Returns the requests for a step, each with the positions of its messages in the list.
fn plan(
    messages: &[MailState],
    step: &MessageAction,
    sent: &mut [WriteOutcome],
) -> Result<Vec<(BatchWork, Vec<usize>)>> {
    let mut work = match step {
        MessageAction::Delete => vec![(BatchWork::Delete, (0..messages.len()).collect())],
        MessageAction::RestoreState(then) => {
            let (groups, unknown) = grouped(messages, then);
            for at in unknown {
                if let Some(sent) = sent.get_mut(at) {
                    *sent = WriteOutcome::Refused(Error::argument(
                        "the earlier state of this message is unknown",
                    ));
                }
            }
            let one = |(difference, places)| (BatchWork::Labels(difference), places);
            groups.into_iter().map(one).collect()
        }
        step => {
            let is_draft = |at: &usize| messages.get(*at).is_some_and(|one| one.draft);
            let (drafts, others) = match step {
                MessageAction::Untrash => (0..messages.len()).partition(is_draft),
                _ => (Vec::new(), (0..messages.len()).collect::<Vec<_>>()),
            };
            let mut work = vec![(BatchWork::Labels(of_step(step)?), others)];
            // A draft is never in the inbox, so restoring it does not put it there.
            work.push((BatchWork::Labels(LabelDifference::new(&[], &["SPAM", "TRASH"])), drafts));
            work
        }
    };
    for (_, places) in &mut work {
        places.retain(|at| matches!(sent.get(*at), Some(WriteOutcome::Done)));
    }
    Ok(work)
}

impl GmailMailbox {
    /// Fetches only the labels of messages, several at a time.
    async fn fetch_labels(&self, ids: &[MessageId]) -> Vec<Result<Value>> {
        let labels_alone = &Projection {
            paths: vec!["id".to_owned(), "labelIds".to_owned()],
            ..Projection::default()
        };
        let calls: Vec<_> =
            ids.iter().map(|id| self.fetch_message(id, labels_alone, "minimal")).collect();
        stream::iter(counted("messages", calls)).buffered(IN_FLIGHT).collect().await
    }

    /// Sends one request for the messages at `places`. If Gmail refuses it because some messages do
    /// not exist, those are found, and the others are sent again.
    async fn run_work(
        &self,
        work: &BatchWork,
        messages: &[MailState],
        places: &[usize],
        sent: &mut [WriteOutcome],
    ) {
        let mut set = |at: usize, how: WriteOutcome| {
            if let Some(sent) = sent.get_mut(at) {
                *sent = how;
            }
        };
        let ids = |places: &[usize]| -> Vec<MessageId> {
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
            let perhaps_missing =
                matches!(error.kind(), ErrorKind::NotFound | ErrorKind::Provider(400));
            // Looked up once: a second refusal has another reason.
            if perhaps_missing && !missing_known {
                missing_known = true;
                let found = self.fetch_labels(&ids(&places)).await;
                let mut there = Vec::new();
                for (at, found) in places.iter().zip(found) {
                    match found {
                        Err(error) if error.kind() == ErrorKind::NotFound => {
                            set(*at, WriteOutcome::Refused(error));
                        }
                        _ => there.push(*at),
                    }
                }
                // Gmail refused the whole request because of the missing ones.
                if there.len() < places.len() {
                    places = there;
                    continue;
                }
            }
            for at in places {
                set(
                    at,
                    if error.is_open() {
                        WriteOutcome::Open(error.clone())
                    } else {
                        WriteOutcome::Refused(error.clone())
                    },
                );
            }
            return;
        }
    }

    async fn write(&self, work: &BatchWork, ids: &[MessageId]) -> Result<()> {
        let (what, body) = match work {
            BatchWork::Labels(difference) if difference.is_empty() => return Ok(()),
            BatchWork::Labels(difference) => (
                "batchModify",
                json!({
                    "ids": ids,
                    "addLabelIds": difference.add,
                    "removeLabelIds": difference.remove,
                }),
            ),
            BatchWork::Delete => ("batchDelete", json!({ "ids": ids })),
        };
        self.change(Method::POST, &["messages", what], Some(&body)).await.map(drop)
    }

    /// Returns the new state of each message: confirmed by Gmail, or read again.
    async fn outcomes(
        &self,
        messages: &[MailState],
        work: &[(BatchWork, Vec<usize>)],
        sent: &[WriteOutcome],
    ) -> Vec<Result<Option<MailState>>> {
        let refused = sent.iter().map(|sent| match sent {
            WriteOutcome::Refused(error) => Some(Err(error.clone())),
            WriteOutcome::Done | WriteOutcome::Open(_) => None,
        });
        let mut answers: Vec<Option<Result<Option<MailState>>>> = refused.collect();
        let mut open: Vec<(usize, &BatchWork)> = Vec::new();
        let mut known = self.known_labels.lock().await;
        for (work, places) in work {
            for at in places {
                let (Some(answer @ None), Some(message)) =
                    (answers.get_mut(*at), messages.get(*at))
                else {
                    continue;
                };
                // Removed even if the outcome is unknown: the labels may be outdated by now.
                let before = known.remove(&message.id);
                match (sent.get(*at), work, before) {
                    (Some(WriteOutcome::Done), BatchWork::Labels(difference), Some(before)) => {
                        let now = difference.applied(before);
                        *answer = Some(Ok(Some(state(&message.id, &now))));
                        known.insert(message.id.clone(), now);
                    }
                    (Some(WriteOutcome::Done), BatchWork::Delete, Some(_)) => {
                        *answer = Some(Ok(None));
                    }
                    _ => open.push((*at, work)),
                }
            }
        }
        drop(known);
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

/// Returns the outcome for a message that was read again.
fn came_of(
    work: &BatchWork,
    sent: &WriteOutcome,
    found: Result<Value>,
) -> Result<Option<MailState>> {
    let failed = || match sent {
        WriteOutcome::Open(error) | WriteOutcome::Refused(error) => error.clone(),
        WriteOutcome::Done => as_before(),
    };
    match (work, found) {
        (BatchWork::Delete, Err(error)) if error.kind() == ErrorKind::NotFound => Ok(None),
        (BatchWork::Delete, Ok(_)) => Err(failed()),
        (BatchWork::Labels(difference), Ok(item)) if difference.agrees_with(&labels(&item)) => {
            Ok(Some(state_of(&item)))
        }
        (BatchWork::Labels(_), Ok(_)) => Err(failed()),
        (_, Err(error)) if error.kind() == ErrorKind::NotFound => Err(error),
        // Reading the state failed, too.
        (_, Err(error)) => Err(match sent {
            // The change was confirmed, although it cannot be read back.
            WriteOutcome::Done => Error::new(
                ErrorKind::Network,
                format!("it was changed, but could not be read back: {}", error.message()),
            ),
            WriteOutcome::Open(error) | WriteOutcome::Refused(error) => error.clone(),
        }),
    }
}

fn as_before() -> Error {
    Error::new(ErrorKind::Conflict, "Gmail accepted the change but did not apply it")
        .next("check the message; a filter or another program may have changed it")
}
