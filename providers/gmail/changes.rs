//! What has happened to messages since a cursor, by Gmail's history.
//!
//! The history names messages and what was done to them, page by page; what is
//! left of a page in the end is fetched as a list would fetch it.

use serde_json::Value;

use super::{Gmail, LISTED, ME, Scope, format, list};
use crate::error::{Error, Kind, Result};
use crate::project::Projection;
use crate::provider::Mailbox;
use crate::provider::calendar::Changes;
use crate::providers::json::text;

/// Records of the history that are read at once.
const AT_ONCE: u32 = 100;

/// What a page of the history comes to, of each message.
#[derive(Clone, Copy, PartialEq)]
enum Fate {
    New,
    Changed,
    Gone,
}

impl Gmail {
    pub(super) async fn since(
        &self,
        cursor: Option<&str>,
        projection: &Projection,
    ) -> Result<Changes> {
        let Some(cursor) = cursor else {
            return Ok(Changes {
                cursor: self.history_id().await?,
                ..Changes::default()
            });
        };
        // The history's number, and on a further page that page's token.
        let (start, page) = match cursor.split_once(' ') {
            Some((start, page)) => (start, Some(page)),
            None => (cursor, None),
        };
        let start: u64 = start.parse().map_err(|_opaque| {
            Error::argument("the cursor is not one of Gmail's")
                .next("ask for changes without cursor")
        })?;
        let fields = "historyId,nextPageToken,history(messagesAdded/message(id,threadId),\
                      messagesDeleted/message(id,threadId),labelsAdded/message(id,threadId),\
                      labelsRemoved/message(id,threadId))";
        let answer = call!(self, fields, |users| {
            let mut call = users
                .history_list(ME)
                .start_history_id(start)
                .max_results(AT_ONCE);
            if let Some(page) = page {
                call = call.page_token(page);
            }
            call
        });
        let answer = match answer {
            // Gmail keeps its history for about a week.
            Err(error) if error.kind() == Kind::NotFound => {
                return Ok(Changes {
                    cursor: self.history_id().await?,
                    started_over: true,
                    ..Changes::default()
                });
            }
            answer => answer?,
        };
        let mut changes = self.told(&fates(&answer), projection).await?;
        let next = text(&answer, "nextPageToken");
        changes.more = !next.is_empty();
        changes.cursor = match changes.more {
            true => format!("{start} {next}"),
            // Without anything new the number may be left out.
            false => number(&answer).unwrap_or_else(|| start.to_string()),
        };
        if projection.names && !(changes.new.is_empty() && changes.changed.is_empty()) {
            changes.names = self.names().await?;
        }
        Ok(changes)
    }

    /// The messages, fetched where they are still there.
    async fn told(&self, fates: &[(Value, Fate)], projection: &Projection) -> Result<Changes> {
        let mut changes = Changes::default();
        let listed = |wanted: Fate| -> Vec<Value> {
            let those = fates.iter().filter(|(_, fate)| *fate == wanted);
            those.map(|(message, _)| message.clone()).collect()
        };
        let ids = |list: Vec<Value>| list.into_iter().map(|one| text(&one, "id").to_owned());
        changes.gone = ids(listed(Fate::Gone)).collect();
        let form = format(projection);
        for (fate, into) in [
            (Fate::New, &mut changes.new),
            (Fate::Changed, &mut changes.changed),
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
            Error::new(
                Kind::Provider(200),
                "Gmail does not say where changes could be asked from",
            )
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
                let Some(message) = entry
                    .get("message")
                    .filter(|one| !text(one, "id").is_empty())
                else {
                    continue;
                };
                let known = fates
                    .iter_mut()
                    .find(|(one, _)| text(one, "id") == text(message, "id"));
                match known {
                    None => fates.push((message.clone(), Some(fate))),
                    Some((_, known)) => {
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
    fates
        .into_iter()
        .filter_map(|(message, fate)| Some((message, fate?)))
        .collect()
}
