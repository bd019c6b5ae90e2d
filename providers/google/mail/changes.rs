//! What has happened to messages since a cursor, by Gmail's history.
//!
//! The history names messages and what was done to them, page by page; what is
//! left of a page in the end is fetched as a list would fetch it. A draft that is
//! edited or sent is another message afterwards: a cursor holds the messages of
//! the drafts, so that the draft is told of, and not that messages come and go.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::states::labels;
use super::{Gmail, LISTED, ME, Scope, format, list};
use crate::json::text;
use daysheet_core::error::{Error, Kind, Result};
use daysheet_core::project::Projection;
use daysheet_core::provider::Mailbox;
use daysheet_core::provider::calendar::Changes;

/// Records of the history that are read at once.
const AT_ONCE: u32 = 100;
/// Drafts that are followed.
const DRAFTS: &str = "500";
/// Stands in a cursor before the drafts.
const DRAFTED: char = ';';

/// The message of each draft, by the draft's id, which stays.
type Drafts = BTreeMap<String, String>;

/// What a page of the history comes to, of each message.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    New,
    Changed,
    Gone,
    /// A draft that is the message now.
    Sent,
    /// A draft that is in the trash, and one that is gone.
    Deleted,
    GoneDraft,
}

impl Gmail {
    pub(super) async fn since(
        &self,
        cursor: Option<&str>,
        projection: &Projection,
    ) -> Result<Changes> {
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
        let before: Drafts = serde_json::from_str(drafts).map_err(|_opaque| not_ours())?;
        let fields = "historyId,nextPageToken,\
                      history(messagesAdded/message(id,threadId,labelIds),\
                      messagesDeleted/message(id,threadId),\
                      labelsAdded/message(id,threadId,labelIds),\
                      labelsRemoved/message(id,threadId,labelIds))";
        let answer = call!(self, fields, |users| {
            let mut call = users.history_list(ME).start_history_id(start).max_results(AT_ONCE);
            if let Some(page) = page {
                call = call.page_token(page);
            }
            call
        });
        let answer = match answer {
            // Gmail keeps its history for about a week.
            Err(error) if error.kind() == Kind::NotFound => {
                return Ok(Changes { started_over: true, ..self.starting_now().await? });
            }
            answer => answer?,
        };
        let mut fates = fates(&answer);
        let mut drafts = before.clone();
        if !fates.is_empty() {
            drafts = self.drafts_now().await?;
            drafted(&mut fates, &before, &mut drafts);
        }
        let mut changes = self.fetch_changed(&fates, projection).await?;
        let next = text(&answer, "nextPageToken");
        changes.more = !next.is_empty();
        let cursor = match changes.more {
            true => format!("{start} {next}"),
            // Without anything new the number may be left out.
            false => number(&answer).unwrap_or_else(|| start.to_string()),
        };
        changes.cursor = with_drafts(cursor, &drafts)?;
        let items = [&changes.new, &changes.changed, &changes.sent, &changes.deleted];
        if projection.names && items.iter().any(|items| !items.is_empty()) {
            changes.names = self.names().await?;
        }
        Ok(changes)
    }

    /// Where to ask from next time.
    async fn starting_now(&self) -> Result<Changes> {
        let from = self.history_id().await?;
        Ok(Changes { cursor: with_drafts(from, &self.drafts_now().await?)?, ..Changes::default() })
    }

    /// The drafts there are, the newest of them.
    async fn drafts_now(&self) -> Result<Drafts> {
        let params = [("maxResults", DRAFTS), ("fields", "drafts(id,message/id)")];
        let page = self.get(&["drafts"], &params).await?;
        let drafts = list(&page, "drafts");
        let known = drafts.iter().filter_map(|draft| {
            let message = text(draft.get("message")?, "id");
            Some((text(draft, "id").to_owned(), message.to_owned()))
        });
        Ok(known.collect())
    }

    /// The messages, fetched where they are still there.
    async fn fetch_changed(
        &self,
        fates: &[(Value, Fate)],
        projection: &Projection,
    ) -> Result<Changes> {
        let mut changes = Changes::default();
        let listed = |wanted: Fate| -> Vec<Value> {
            let those = fates.iter().filter(|(_, fate)| *fate == wanted);
            those.map(|(message, _)| message.clone()).collect()
        };
        let ids = |list: Vec<Value>| list.into_iter().map(|one| text(&one, "id").to_owned());
        changes.gone = ids(listed(Fate::Gone)).collect();
        changes.gone_drafts = ids(listed(Fate::GoneDraft)).collect();
        let form = format(projection);
        for (fate, into) in [
            (Fate::New, &mut changes.new),
            (Fate::Changed, &mut changes.changed),
            (Fate::Sent, &mut changes.sent),
            (Fate::Deleted, &mut changes.deleted),
        ] {
            let page = self
                .each(listed(fate), LISTED, projection, |id| async move {
                    self.message(&id, projection, form).await
                })
                .await?;
            *into = page.items;
            for failed in page.failed {
                match failed.error.kind() {
                    // It went while we asked; what nobody has seen is not missed.
                    Kind::NotFound if fate == Fate::Changed => changes.gone.push(failed.id),
                    Kind::NotFound if fate == Fate::Deleted => changes.gone_drafts.push(failed.id),
                    Kind::NotFound => {}
                    _ => return Err(failed.error),
                }
            }
        }
        Ok(changes)
    }

    /// The number that the history has now.
    pub(super) async fn history_id(&self) -> Result<String> {
        let profile = call!(self, "historyId", |users| users.get_profile(ME))?;
        number(&profile).ok_or_else(|| {
            Error::new(Kind::Provider(200), "Gmail gave no starting point for changes")
        })
    }
}

/// Gmail writes its numbers as text, and the generated types as numbers.
fn number(answer: &Value) -> Option<String> {
    match answer.get("historyId")? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

/// What the records come to in the end, in the order of the first of each.
fn fates(answer: &Value) -> Vec<(Value, Fate)> {
    let mut fates: Vec<(Value, Option<Fate>)> = Vec::new();
    for record in list(answer, "history") {
        for (key, fate) in [
            ("messagesAdded", Fate::New),
            ("labelsAdded", Fate::Changed),
            ("labelsRemoved", Fate::Changed),
            ("messagesDeleted", Fate::Gone),
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
                            // Nobody has seen it: it neither came nor went.
                            (Some(Fate::New) | None, Fate::Gone) => None,
                            (Some(Fate::New), Fate::Changed) => Some(Fate::New),
                            (_, fate) => Some(fate),
                        };
                    }
                }
            }
        }
    }
    fates.into_iter().filter_map(|(message, fate)| Some((message, fate?))).collect()
}

/// Puts what became of drafts in the place of what became of their messages.
///
/// `before` are the drafts as the cursor has them, `now` those there are; of what
/// another page of the history tells, the state before stays.
fn drafted(fates: &mut Vec<(Value, Fate)>, before: &Drafts, now: &mut Drafts) {
    // Told with an earlier page.
    let known = |one: &Value| before.values().any(|message| message == text(one, "id"));
    fates.retain(|(one, fate)| *fate != Fate::New || !known(one));
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
                    Some((_, fate)) => *fate = Fate::Changed,
                    None => fates.push((json!({ "id": other }), Fate::Changed)),
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
                    Fate::Gone => Fate::GoneDraft,
                    _ if labels(one).contains("SENT") => Fate::Sent,
                    _ if trashed => Fate::Deleted,
                    fate => fate,
                };
                let sent = fates.iter().position(|(one, fate)| {
                    *fate == Fate::New
                        && text(one, "threadId") == thread
                        && labels(one).contains("SENT")
                });
                if let (Some(at), false) = (sent, trashed) {
                    if let Some((_, fate)) = fates.get_mut(at) {
                        *fate = Fate::Sent;
                    }
                    fates.retain(|(one, _)| text(one, "id") != message);
                }
            }
        }
    }
}

fn place(fates: &[(Value, Fate)], id: &str) -> Option<usize> {
    let mut all = fates.iter();
    all.position(|(one, _)| text(one, "id") == id)
}

fn with_drafts(cursor: String, drafts: &Drafts) -> Result<String> {
    if drafts.is_empty() {
        return Ok(cursor);
    }
    let drafts = serde_json::to_string(drafts)
        .map_err(|_opaque| Error::new(Kind::Internal, "a cursor could not be saved"))?;
    Ok(format!("{cursor}{DRAFTED}{drafts}"))
}
