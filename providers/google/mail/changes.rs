//! Changes to messages since a cursor, by Gmail's history.
//!
//! The history lists messages and the actions on them, page by page; messages of a page that still
//! exist are fetched as in a list. Editing or sending a draft replaces its message. The cursor
//! therefore maps drafts to their messages, so that the draft is reported, and not messages that
//! come and go.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{FolderId, MessageId};
use daysheet_core::project::Projection;
use daysheet_core::provider::calendar::{ChangeFeed, ItemDifference};
use serde_json::{Value, json};

use super::fetch::{LISTED, format, history_of, list};
use super::mailbox::{GmailMailbox, ME, call};
use super::states::{OWN, labels, state};
use crate::json::text;
use crate::tracked::moved;

/// The number of history records per page.
const AT_ONCE: u32 = 100;
/// The maximum number of drafts that are followed.
const DRAFTS: &str = "500";
/// Separates the position in a cursor from the drafts.
const DRAFTED: char = ';';

/// Drafts' messages, by draft id; a draft keeps its id.
type DraftMessages = BTreeMap<String, String>;

/// The net effect of a page of the history on a message.
#[derive(Clone, Copy, PartialEq)]
enum HistoryOutcome {
    New,
    Changed,
    Gone,
    /// A draft that was sent as this message.
    Sent,
    /// A draft that was trashed or deleted.
    Deleted,
    GoneDraft,
}

impl GmailMailbox {
    pub(super) async fn since(
        &self,
        cursor: Option<&str>,
        projection: &Projection,
    ) -> Result<ChangeFeed> {
        let Some(cursor) = cursor else {
            return self.starting_now().await;
        };
        let (cursor, drafts) = cursor.split_once(DRAFTED).unwrap_or((cursor, "{}"));
        // A history id; on further pages, followed by the page token.
        let (start, page) = match cursor.split_once(' ') {
            Some((start, page)) => (start, Some(page)),
            None => (cursor, None),
        };
        let not_ours =
            || Error::argument("the cursor is not Gmail's").next("call changes without cursor");
        let start: u64 = start.parse().map_err(|_opaque| not_ours())?;
        let before: DraftMessages = serde_json::from_str(drafts).map_err(|_opaque| not_ours())?;
        let fields = "historyId,nextPageToken,\
                      history(messagesAdded/message(id,threadId,labelIds),\
                      messagesDeleted/message(id,threadId),\
                      labelsAdded(labelIds,message(id,threadId,labelIds)),\
                      labelsRemoved(labelIds,message(id,threadId,labelIds)))";
        let answer = call!(self, fields, |users| {
            let mut call = users.history_list(ME).start_history_id(start).max_results(AT_ONCE);
            if let Some(page) = page {
                call = call.page_token(page);
            }
            call
        });
        let answer = match answer {
            // Gmail keeps its history for about a week.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                return Ok(ChangeFeed { started_over: true, ..self.starting_now().await? });
            }
            answer => answer?,
        };
        let mut fates = fates(&answer);
        let effects = effects(&answer);
        // A label that was added and removed again is no change.
        let undone = |id: &str| effects.get(id).is_some_and(LabelEffect::is_empty);
        fates.retain(|(one, fate)| *fate != HistoryOutcome::Changed || !undone(text(one, "id")));
        let mut drafts = before.clone();
        if !fates.is_empty() {
            drafts = self.drafts_now().await?;
            replace_draft_fates(&mut fates, &before, &mut drafts);
        }
        let mut changes = self.fetch_changed(&fates, projection).await?;
        let next = text(&answer, "nextPageToken");
        changes.more = !next.is_empty();
        let cursor = if changes.more {
            format!("{start} {next}")
        } else {
            // Gmail may omit the id if the history has nothing new.
            history_of(&answer).unwrap_or_else(|| start.to_string())
        };
        changes.cursor = with_drafts(cursor, &drafts)?;
        let items = [&changes.new, &changes.changed, &changes.sent, &changes.deleted];
        // Names may cost a request, so they are fetched only if they are shown.
        let shown = projection.names && items.iter().any(|items| !items.is_empty());
        if shown || effects.values().any(LabelEffect::has_names) {
            changes.names = self.label_names().await?;
        }
        for item in &changes.changed {
            let id = text(item, "id");
            let now = labels(item);
            let words =
                effects.get(id).map_or_else(Vec::new, |one| one.words(&now, &changes.names));
            let words = if now.contains("DRAFT") && words.is_empty() {
                vec!["edited".to_owned()]
            } else {
                words
            };
            let difference = ItemDifference { words, ..ItemDifference::default() };
            changes.differences.insert(id.to_owned(), difference);
        }
        Ok(changes)
    }

    /// Starts over: a cursor at the present state, without changes.
    async fn starting_now(&self) -> Result<ChangeFeed> {
        let from = self.history_id().await?;
        Ok(ChangeFeed {
            cursor: with_drafts(from, &self.drafts_now().await?)?,
            ..ChangeFeed::default()
        })
    }

    /// Returns the present drafts, at most the newest [`DRAFTS`].
    async fn drafts_now(&self) -> Result<DraftMessages> {
        let params = [("maxResults", DRAFTS), ("fields", "drafts(id,message/id)")];
        let page = self.get(&["drafts"], &params).await?;
        let drafts = list(&page, "drafts");
        let known = drafts.iter().filter_map(|draft| {
            let message = text(draft.get("message")?, "id");
            Some((text(draft, "id").to_owned(), message.to_owned()))
        });
        Ok(known.collect())
    }

    /// Fetches the messages that still exist.
    async fn fetch_changed(
        &self,
        fates: &[(Value, HistoryOutcome)],
        projection: &Projection,
    ) -> Result<ChangeFeed> {
        let mut changes = ChangeFeed::default();
        let listed = |outcome: HistoryOutcome| -> Vec<Value> {
            let those = fates.iter().filter(|(_, fate)| *fate == outcome);
            those.map(|(message, _)| message.clone()).collect()
        };
        let ids = |list: Vec<Value>| list.into_iter().map(|one| text(&one, "id").to_owned());
        changes.gone = ids(listed(HistoryOutcome::Gone)).collect();
        changes.gone_drafts = ids(listed(HistoryOutcome::GoneDraft)).collect();
        let form = format(projection);
        for (fate, into) in [
            (HistoryOutcome::New, &mut changes.new),
            (HistoryOutcome::Changed, &mut changes.changed),
            (HistoryOutcome::Sent, &mut changes.sent),
            (HistoryOutcome::Deleted, &mut changes.deleted),
        ] {
            let page = self
                .each(listed(fate), LISTED, projection, |id| async move {
                    self.fetch_message(&id.into(), projection, form).await
                })
                .await?;
            *into = page.items;
            for failed in page.failed {
                match failed.error.kind() {
                    // It was deleted meanwhile. Messages that were never shown are not reported.
                    ErrorKind::NotFound if fate == HistoryOutcome::Changed => {
                        changes.gone.push(failed.id);
                    }
                    ErrorKind::NotFound if fate == HistoryOutcome::Deleted => {
                        changes.gone_drafts.push(failed.id);
                    }
                    ErrorKind::NotFound => {}
                    _ => return Err(failed.error),
                }
            }
        }
        Ok(changes)
    }
}

/// The labels that a message has gained and lost.
#[derive(Default)]
struct LabelEffect {
    added: BTreeSet<FolderId>,
    removed: BTreeSet<FolderId>,
}

impl LabelEffect {
    fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }

    /// Returns true if user labels are among them.
    fn has_names(&self) -> bool {
        self.added.union(&self.removed).any(|label| label.as_str().starts_with(OWN))
    }

    /// Describes the changes to a message that now has the labels `now`.
    fn words(&self, now: &BTreeSet<FolderId>, names: &HashMap<String, String>) -> Vec<String> {
        let mut before: BTreeSet<FolderId> = now.difference(&self.added).cloned().collect();
        before.extend(self.removed.iter().cloned());
        let mut words: Vec<String> = moved(folder(&before), folder(now)).into_iter().collect();
        for (label, on, off) in [
            ("UNREAD", "unread", "read"),
            ("STARRED", "starred", "unstarred"),
            ("IMPORTANT", "important", "not important"),
        ] {
            words.extend(self.added.contains(label).then(|| on.to_owned()));
            words.extend(self.removed.contains(label).then(|| off.to_owned()));
        }
        for (labels, word) in [(&self.added, "labelled"), (&self.removed, "unlabelled")] {
            for label in labels.iter().filter(|label| label.as_str().starts_with(OWN)) {
                let name = names.get(label.as_str()).map_or(label.as_str(), String::as_str);
                words.push(format!("{word} {name}"));
            }
        }
        let mut labels = self.added.union(&self.removed);
        if labels.any(|label| label.as_str().starts_with("CATEGORY_")) {
            words.push("category".to_owned());
        }
        words
    }
}

/// Returns the folder of a message, by the words of the column `folder`.
fn folder(labels: &BTreeSet<FolderId>) -> &'static str {
    match state(&MessageId::default(), labels).folder.as_str() {
        "TRASH" => "trash",
        "SPAM" => "spam",
        "INBOX" => "inbox",
        "DRAFT" => "drafts",
        "SENT" => "sent",
        _ => "archive",
    }
}

/// Returns the net effect of the records on the labels of messages, by message id.
fn effects(answer: &Value) -> HashMap<String, LabelEffect> {
    let mut effects: HashMap<String, LabelEffect> = HashMap::new();
    for record in list(answer, "history") {
        for (key, is_added) in [("labelsAdded", true), ("labelsRemoved", false)] {
            for entry in list(&record, key) {
                let id = entry.get("message").map_or("", |message| text(message, "id"));
                let effect = effects.entry(id.to_owned()).or_default();
                let (into, from) = if is_added {
                    (&mut effect.added, &mut effect.removed)
                } else {
                    (&mut effect.removed, &mut effect.added)
                };
                for label in labels(&entry) {
                    if !from.remove(&label) {
                        into.insert(label);
                    }
                }
            }
        }
    }
    effects
}

/// Returns the net effect of the records on each message, in the order of first mention.
fn fates(answer: &Value) -> Vec<(Value, HistoryOutcome)> {
    let mut fates: Vec<(Value, Option<HistoryOutcome>)> = Vec::new();
    for record in list(answer, "history") {
        for (key, fate) in [
            ("messagesAdded", HistoryOutcome::New),
            ("labelsAdded", HistoryOutcome::Changed),
            ("labelsRemoved", HistoryOutcome::Changed),
            ("messagesDeleted", HistoryOutcome::Gone),
        ] {
            for entry in list(&record, key) {
                let Some(message) = entry.get("message").filter(|one| !text(one, "id").is_empty())
                else {
                    continue;
                };
                let known =
                    fates.iter_mut().find(|(one, _)| text(one, "id") == text(message, "id"));
                match known {
                    None => fates.push((message.clone(), Some(fate))),
                    Some((one, known)) => {
                        // Records of deletions have no labels, and must not replace those of an
                        // earlier record.
                        if message.get("labelIds").is_some() {
                            one.clone_from(message);
                        }
                        *known = match (*known, fate) {
                            // It appeared and disappeared between two calls.
                            (Some(HistoryOutcome::New) | None, HistoryOutcome::Gone) => None,
                            (Some(HistoryOutcome::New), HistoryOutcome::Changed) => {
                                Some(HistoryOutcome::New)
                            }
                            (_, fate) => Some(fate),
                        };
                    }
                }
            }
        }
    }
    fates.into_iter().filter_map(|(message, fate)| Some((message, fate?))).collect()
}

/// Replaces entries for messages of drafts by entries for the drafts.
///
/// `before` has the drafts of the cursor, `now` the present ones. Drafts that another page of the
/// history will report keep their earlier entry in `now`.
fn replace_draft_fates(
    fates: &mut Vec<(Value, HistoryOutcome)>,
    before: &DraftMessages,
    now: &mut DraftMessages,
) {
    // These were reported with an earlier page.
    let known = |one: &Value| before.values().any(|message| message == text(one, "id"));
    fates.retain(|(one, fate)| *fate != HistoryOutcome::New || !known(one));
    for (draft, message) in before {
        let old = place(fates, message);
        match now.get(draft) {
            Some(same) if same == message => {}
            Some(other) => {
                // After editing, the draft has another message.
                if let Some(at) = old {
                    fates.remove(at);
                }
                match place(fates, other).and_then(|at| fates.get_mut(at)) {
                    Some((_, fate)) => *fate = HistoryOutcome::Changed,
                    None => fates.push((json!({ "id": other }), HistoryOutcome::Changed)),
                }
            }
            None => {
                let Some((one, fate)) = old.and_then(|at| fates.get_mut(at)) else {
                    // Another page of the history reports it; the next call has to find it here.
                    now.insert(draft.clone(), message.clone());
                    continue;
                };
                let thread = text(one, "threadId").to_owned();
                let trashed = labels(one).contains("TRASH");
                *fate = match *fate {
                    HistoryOutcome::Gone => HistoryOutcome::GoneDraft,
                    _ if labels(one).contains("SENT") => HistoryOutcome::Sent,
                    _ if trashed => HistoryOutcome::Deleted,
                    fate => fate,
                };
                // A sent draft has a new message in the same thread.
                let sent = fates.iter().position(|(one, fate)| {
                    *fate == HistoryOutcome::New
                        && text(one, "threadId") == thread
                        && labels(one).contains("SENT")
                });
                if let (Some(at), false) = (sent, trashed) {
                    if let Some((_, fate)) = fates.get_mut(at) {
                        *fate = HistoryOutcome::Sent;
                    }
                    fates.retain(|(one, _)| text(one, "id") != message);
                }
            }
        }
    }
}

fn place(fates: &[(Value, HistoryOutcome)], id: &str) -> Option<usize> {
    let mut all = fates.iter();
    all.position(|(one, _)| text(one, "id") == id)
}

fn with_drafts(cursor: String, drafts: &DraftMessages) -> Result<String> {
    if drafts.is_empty() {
        return Ok(cursor);
    }
    let drafts = serde_json::to_string(drafts)
        .map_err(|_opaque| Error::new(ErrorKind::Internal, "a cursor could not be saved"))?;
    Ok(format!("{cursor}{DRAFTED}{drafts}"))
}
