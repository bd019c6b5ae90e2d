//! Changes in Outlook's mail since a cursor.
//!
//! Graph reports changes folder by folder, and a first round would read every folder completely. A
//! filter for the last two weeks avoids that; changes of older messages are not reported. Messages
//! that a page has only in part are fetched, and so are messages that left the followed folders:
//! they were sent, moved to the trash or deleted. The cursor has the states of messages, so that
//! changes can be named.

use std::collections::HashMap;

use daysheet_core::error::{ErrorKind, Result};
use daysheet_core::project::Projection;
use daysheet_core::provider::calendar::{ChangeFeed, ItemDifference};
use daysheet_core::text::note;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::mailbox::OutlookMailbox;
use super::message::SIZE;
use crate::json::{is, nested, text};
use crate::microsoft::client::GraphAccount;
use crate::microsoft::delta::{
    DeltaPoint, DeltaPoints, DeltaRound, is_too_old, read, rounds, write,
};
use crate::net;
use crate::tracked::{moved, short};

/// The age up to which messages are followed.
const BACK: SignedDuration = SignedDuration::from_hours(14 * 24);
/// The maximum number of folders that are followed.
const FOLDERS: usize = 100;
/// The properties requested of every message.
const ALWAYS: [&str; 8] = [
    "id", "receivedDateTime", "createdDateTime", "parentFolderId", "isRead", "isDraft", "flag",
    "categories",
];
/// The maximum number of messages looked up after they left their folder.
const LOOKED_FOR: usize = 200;

/// Returns the changes since `cursor`, or only a cursor to start from.
pub async fn changes(
    outlook: &OutlookMailbox,
    cursor: Option<&str>,
    projection: &Projection,
    now: Timestamp,
) -> Result<ChangeFeed> {
    let graph = outlook.graph();
    let known: Option<DeltaPoints> = cursor.map(read).transpose()?;
    let tree = outlook.tree().await?;
    let folders: Vec<String> = tree
        .items()
        .iter()
        .map(|item| text(item, "id").to_owned())
        .filter(|id| !tree.is_hidden(id))
        .collect();
    let select = select(projection);
    let mut found = ChangeFeed { names: tree.names().clone(), ..ChangeFeed::default() };
    if folders.len() > FOLDERS || tree.is_cut() {
        found.notes.push(note!("only the mailbox's first {} folders are tracked", FOLDERS));
    }
    let point = |folder: &String| known.as_ref()?.get(folder);
    let (old, new): (Vec<&String>, Vec<&String>) =
        folders.iter().take(FOLDERS).partition(|folder| point(folder).is_some());
    let old: Vec<(&String, &DeltaPoint)> =
        old.into_iter().filter_map(|folder| Some((folder, point(folder)?))).collect();

    let mut rounds = FolderRounds::new(now);
    let requests: Vec<String> = old.iter().map(|(_, point)| point.link.clone()).collect();
    let mut begin = new;
    for ((folder, point), round) in old.into_iter().zip(self::rounds(graph, &requests).await) {
        match round {
            Ok(round) => rounds.keep(folder, Some(point), round),
            Err(error) if is_too_old(&error) => {
                found.started_over = true;
                begin.push(folder);
            }
            // It was deleted after the tree was read.
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    let requests: Vec<String> =
        begin.iter().map(|folder| start(graph, folder, &select, now)).collect();
    for (folder, round) in begin.into_iter().zip(self::rounds(graph, &requests).await) {
        match round {
            Ok(round) => rounds.keep(folder, None, round),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    found.more = rounds.more;
    let mut points = std::mem::take(&mut rounds.points);
    if let Some(known) = known {
        let names = tree.names();
        let drafts = names.iter().find(|(_, name)| *name == "drafts");
        let drafts = drafts.map(|(id, _)| id.as_str()).unwrap_or_default();
        let mut messages = FoundMessages::collect(rounds, &known, drafts);
        messages.complete(graph, &select, &found.names).await?;
        messages.sort_into(&known, &mut points, &mut found);
    }
    found.cursor = write(&points)?;
    Ok(found)
}

/// The results of the rounds.
struct FolderRounds {
    now: Timestamp,
    points: DeltaPoints,
    /// The rounds of folders that were followed before, by folder id.
    followed: Vec<(String, DeltaRound)>,
    /// Messages in folders that are followed from now on.
    there: Vec<Value>,
    more: bool,
}

impl FolderRounds {
    fn new(now: Timestamp) -> Self {
        Self {
            now,
            points: DeltaPoints::new(),
            followed: Vec::new(),
            there: Vec::new(),
            more: false,
        }
    }

    /// Adds the round of a folder, and its new position.
    fn keep(&mut self, folder: &str, point: Option<&DeltaPoint>, round: DeltaRound) {
        self.more |= round.more;
        let mut next = DeltaPoint::next(point, &round, self.now, came);
        match point {
            None => {
                for item in &round.items {
                    next.tracked.set_state(text(item, "id"), state(item));
                }
            }
            Some(_) => round.gone.iter().for_each(|id| next.tracked.remove(id)),
        }
        self.points.insert(folder.to_owned(), next);
        match point {
            Some(_) => self.followed.push((folder.to_owned(), round)),
            None => self.there.extend(round.items),
        }
    }
}

/// Returns the time at which a message was received or written.
fn came(message: &Value) -> Option<Timestamp> {
    let at = |key: &str| text(message, key).parse::<Timestamp>().ok();
    at("receivedDateTime").max(at("createdDateTime"))
}

/// Returns the properties that columns read, and [`ALWAYS`].
fn select(projection: &Projection) -> Vec<String> {
    let mut properties: Vec<String> = ALWAYS.map(str::to_owned).to_vec();
    for root in projection.roots() {
        // Graph's deltas have no MAPI properties.
        if root != SIZE && !properties.iter().any(|known| known == root) {
            properties.push(root.to_owned());
        }
    }
    properties
}

/// Returns the request that begins to follow a folder.
fn start(graph: &GraphAccount, folder: &str, select: &[String], now: Timestamp) -> String {
    let since = now.checked_sub(BACK).unwrap_or(now);
    let filter = format!("receivedDateTime ge {}", since.strftime("%Y-%m-%dT%H:%M:%SZ"));
    let path = format!("mailFolders/{}/messages/delta", net::path_segment(folder));
    let query = [("$filter", filter.as_str()), ("$select", &select.join(","))];
    graph.mailbox_url(&path, &query)
}

/// Messages that a call found, before they are sorted into new, changed, sent and deleted.
#[derive(Default)]
struct FoundMessages {
    /// The ids of messages to report, in the order of mention.
    order: Vec<String>,
    /// The messages that exist, by id; some only in part.
    items: HashMap<String, Value>,
    /// The ids of messages that left their folder and are in no other.
    gone: Vec<String>,
    /// The ids of messages that left the drafts.
    was_draft: Vec<String>,
    /// The ids of messages that left the drafts and are in no followed folder.
    left: Vec<String>,
}

impl FoundMessages {
    /// Collects the messages of the rounds. `drafts` is the id of the drafts folder.
    fn collect(rounds: FolderRounds, known: &DeltaPoints, drafts: &str) -> Self {
        let mut found = Self::default();
        for (folder, round) in rounds.followed {
            if folder == drafts {
                found.was_draft.extend(round.gone.iter().cloned());
            }
            found.gone.extend(round.gone);
            round.items.into_iter().for_each(|item| found.add(item));
        }
        // Of a newly followed folder, only messages that arrived or were moved there are changes.
        for item in rounds.there {
            let moved = found.gone.iter().any(|id| id == text(&item, "id"));
            if moved || is_new(&item, known) {
                found.add(item);
            }
        }
        // A moved message is removed from one folder and new in another.
        found.drop_existing();
        // A draft that moved to another folder is already listed. Drafts in the trash, and other
        // messages, have to be looked up.
        found.left.clone_from(&found.was_draft);
        found.left.retain(|id| !found.order.contains(id));
        found.order.extend(found.left.iter().take(LOOKED_FOR).cloned());
        let others = found.gone.iter().filter(|id| !found.left.contains(id));
        found.order.extend(others.take(LOOKED_FOR).cloned());
        found
    }

    /// Adds a message, or replaces its state in an earlier round.
    fn add(&mut self, item: Value) {
        let id = text(&item, "id").to_owned();
        if self.items.insert(id.clone(), item).is_none() {
            self.order.push(id);
        }
    }

    /// Drops messages that exist from the list of gone ones.
    fn drop_existing(&mut self) {
        self.gone.retain(|id| !self.items.contains_key(id));
        self.gone.sort();
        self.gone.dedup();
    }

    /// Fetches the messages that are known only in part, or not at all. `names` has the folders
    /// that users see.
    async fn complete(
        &mut self,
        graph: &GraphAccount,
        select: &[String],
        names: &HashMap<String, String>,
    ) -> Result<()> {
        let is_part = |id: &&String| {
            let item = self.items.get(*id);
            item.is_none_or(|item| select.iter().any(|key| item.get(key).is_none()))
        };
        let part: Vec<String> = self.order.iter().filter(is_part).cloned().collect();
        let requests: Vec<String> = part
            .iter()
            .map(|id| {
                let path = format!("messages/{}", net::path_segment(id));
                graph.mailbox_url(&path, &[("$select", &select.join(","))])
            })
            .collect();
        for (id, whole) in part.into_iter().zip(graph.batch(&requests).await) {
            match whole {
                // It was deleted, and is kept for a while in a folder that users do not see.
                Ok(whole)
                    if self.gone.contains(&id)
                        && !self.left.contains(&id)
                        && !names.contains_key(text(&whole, "parentFolderId")) => {}
                Ok(whole) => {
                    self.items.insert(id, whole);
                }
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    self.items.remove(&id);
                    self.gone.push(id);
                }
                // It is reported with the properties that are known.
                Err(_) if self.items.contains_key(&id) => {}
                Err(error) => return Err(error),
            }
        }
        self.drop_existing();
        Ok(())
    }

    /// Sorts the messages into new, changed, sent and deleted, and records their present states.
    fn sort_into(
        mut self,
        known: &DeltaPoints,
        points: &mut DeltaPoints,
        changes: &mut ChangeFeed,
    ) {
        let (drafts, gone) = self.gone.into_iter().partition(|id| self.left.contains(id));
        (changes.gone_drafts, changes.gone) = (drafts, gone);
        for id in self.order {
            let Some(item) = self.items.remove(&id) else {
                continue;
            };
            let difference = difference(&item, known, &changes.names);
            if let Some(point) = points.get_mut(text(&item, "parentFolderId")) {
                point.tracked.set_state(&id, state(&item));
            }
            let draft = item.get("isDraft").and_then(Value::as_bool);
            let into = match (self.was_draft.contains(&id), draft) {
                (true, Some(false)) => &mut changes.sent,
                (true, Some(true)) if self.left.contains(&id) => &mut changes.deleted,
                _ if is_new(&item, known) => &mut changes.new,
                // A change that was undone is not reported.
                _ if difference.as_ref().is_some_and(|one| one.words.is_empty()) => continue,
                _ => {
                    changes.differences.extend(difference.map(|one| (id, one)));
                    &mut changes.changed
                }
            };
            into.push(item);
        }
    }
}

/// Returns true if no folder knows a message: a moved one is known in another folder.
fn is_new(item: &Value, known: &DeltaPoints) -> bool {
    let (id, came) = (text(item, "id"), came(item));
    !known.is_empty() && known.values().all(|point| point.is_new(id, came))
}

/// Returns a message's state in the form of the cursor: letters for unread and starred, and a short
/// hash of each category.
fn state(message: &Value) -> String {
    let mut state = String::new();
    if !is(message, "isRead") {
        state.push('u');
    }
    if text(nested(message, "flag"), "flagStatus") == "flagged" {
        state.push('s');
    }
    state.push(' ');
    let mut categories: Vec<String> = categories(message).map(short).collect();
    categories.sort_unstable();
    state + &categories.join(" ")
}

fn categories(message: &Value) -> impl Iterator<Item = &str> {
    let list = message.get("categories").and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}

/// Returns the difference between a message and its tracked state; `None` for an untracked message.
/// `names` has the names of folders.
fn difference(
    message: &Value,
    known: &DeltaPoints,
    names: &HashMap<String, String>,
) -> Option<ItemDifference> {
    let id = text(message, "id");
    let (from, before) =
        known.iter().find_map(|(folder, point)| Some((folder, point.tracked.get(id)?)))?;
    let (flags, known) = before.split_once(' ')?;
    let now = state(message);
    let (now_flags, now_known) = now.split_once(' ')?;
    let name = |folder: &str| names.get(folder).map_or("", String::as_str);
    let mut words: Vec<String> = Vec::new();
    words.extend(moved(name(from), name(text(message, "parentFolderId"))));
    for (flag, on, off) in [('u', "unread", "read"), ('s', "starred", "unstarred")] {
        match (flags.contains(flag), now_flags.contains(flag)) {
            (false, true) => words.push(on.to_owned()),
            (true, false) => words.push(off.to_owned()),
            _ => {}
        }
    }
    let has = |list: &str, hash: &str| list.split(' ').any(|one| one == hash);
    let new = categories(message).filter(|category| !has(known, &short(category)));
    words.extend(new.map(|category| format!("labelled {category}")));
    // Of earlier categories, only hashes are known.
    if known.split(' ').any(|hash| !hash.is_empty() && !has(now_known, hash)) {
        words.push("unlabelled".to_owned());
    }
    if words.is_empty() && is(message, "isDraft") {
        words.push("edited".to_owned());
    }
    Some(ItemDifference { words, ..ItemDifference::default() })
}
