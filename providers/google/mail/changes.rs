//! Changes to messages since a cursor, by Gmail's history.
//!
//! The history lists messages and what was done to them, page by page; the messages
//! that remain of a page are fetched as in a list. A draft that is edited or sent
//! becomes another message: a cursor has the messages of the drafts, so that the draft
//! is reported, and not messages that come and go.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::project::Projection;
use daysheet_core::provider::Mailbox;
use daysheet_core::provider::calendar::{ChangeFeed, ItemDifference};
use serde_json::{Value, json};

use super::states::{OWN, labels, state};
use super::{GmailMailbox, LISTED, ME, Scope, format, list};
use crate::json::text;
use crate::tracked::moved;

/// Records of the history that are read at once.
const AT_ONCE: u32 = 100;
/// Drafts that are followed.
const DRAFTS: &str = "500";
/// Precedes the drafts in a cursor.
const DRAFTED: char = ';';

/// The message of each draft, by the draft's id, which stays.
type DraftMessages = BTreeMap<String, String>;

/// The net effect of a page of the history on a message.
#[derive(Clone, Copy, PartialEq)]
enum HistoryOutcome {
    New,
    Changed,
    Gone,
    /// A draft that is the message now.
    Sent,
    /// A draft that was moved to the trash or deleted.
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
        // The history's number, and on a further page that page's token.
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
        // What was done and undone is no change.
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
            // Without anything new the number may be left out.
            number(&answer).unwrap_or_else(|| start.to_string())
        };
        changes.cursor = with_drafts(cursor, &drafts)?;
        let items = [&changes.new, &changes.changed, &changes.sent, &changes.deleted];
        let shown = projection.names && items.iter().any(|items| !items.is_empty());
        if shown || effects.values().any(LabelEffect::has_names) {
            changes.names = self.names().await?;
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

    /// Returns the cursor to start from.
    async fn starting_now(&self) -> Result<ChangeFeed> {
        let from = self.history_id().await?;
        Ok(ChangeFeed {
            cursor: with_drafts(from, &self.drafts_now().await?)?,
            ..ChangeFeed::default()
        })
    }

    /// Returns the newest of the present drafts.
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
                    self.message(&id, projection, form).await
                })
                .await?;
            *into = page.items;
            for failed in page.failed {
                match failed.error.kind() {
                    // It was deleted meanwhile; a message that was never shown is not reported.
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

    /// Returns the current history id.
    pub(super) async fn history_id(&self) -> Result<String> {
        let profile = call!(self, "historyId", |users| users.get_profile(ME))?;
        number(&profile).ok_or_else(|| {
            Error::new(ErrorKind::Provider(200), "Gmail gave no starting point for changes")
        })
    }
}

/// The labels that a message has got and lost.
#[derive(Default)]
struct LabelEffect {
    added: BTreeSet<String>,
    removed: BTreeSet<String>,
}

impl LabelEffect {
    fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }

    /// Returns true if the user's labels are among them.
    fn has_names(&self) -> bool {
        self.added.union(&self.removed).any(|label| label.starts_with(OWN))
    }

    /// Returns what happened to a message that has the labels `now`.
    fn words(&self, now: &BTreeSet<String>, names: &HashMap<String, String>) -> Vec<String> {
        let mut before: BTreeSet<String> = now.difference(&self.added).cloned().collect();
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
            for label in labels.iter().filter(|label| label.starts_with(OWN)) {
                let name = names.get(label).unwrap_or(label);
                words.push(format!("{word} {name}"));
            }
        }
        let mut labels = self.added.union(&self.removed);
        if labels.any(|label| label.starts_with("CATEGORY_")) {
            words.push("category".to_owned());
        }
        words
    }
}

/// Returns the folder of a message, by the words of the column `folder`.
fn folder(labels: &BTreeSet<String>) -> &'static str {
    match state("", labels).folder.as_str() {
        "TRASH" => "trash",
        "SPAM" => "spam",
        "INBOX" => "inbox",
        "DRAFT" => "drafts",
        "SENT" => "sent",
        _ => "archive",
    }
}

/// Returns the net effect of the records on the labels of messages, by their ids.
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

/// Gmail writes its numbers as text, and the generated types as numbers.
pub(super) fn number(answer: &Value) -> Option<String> {
    match answer.get("historyId")? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// Returns the net effect of the records, in the order of the first of each.
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
                        if message.get("labelIds").is_some() {
                            one.clone_from(message);
                        }
                        *known = match (*known, fate) {
                            // It came and went between two calls: not reported.
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

/// Replaces the fates of drafts' messages by those of the drafts.
///
/// `before` are the drafts as the cursor has them, `now` the present ones; drafts that
/// another page of the history reports keep their earlier state.
fn replace_draft_fates(
    fates: &mut Vec<(Value, HistoryOutcome)>,
    before: &DraftMessages,
    now: &mut DraftMessages,
) {
    // Reported with an earlier page.
    let known = |one: &Value| before.values().any(|message| message == text(one, "id"));
    fates.retain(|(one, fate)| *fate != HistoryOutcome::New || !known(one));
    for (draft, message) in before {
        let old = place(fates, message);
        match now.get(draft) {
            Some(same) if same == message => {}
            Some(other) => {
                // Edited: the message is another one.
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
