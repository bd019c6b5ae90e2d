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
        tell(graph, rounds, &select, (&known, &mut points, drafts), &mut found).await?;
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
                    next.tracked.put(text(item, "id"), state(item));
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

/// Sorts the results of the rounds into new, changed, sent and deleted.
async fn tell(
    graph: &GraphAccount,
    rounds: FolderRounds,
    select: &[String],
    (known, points, drafts): (&DeltaPoints, &mut DeltaPoints, &str),
    found: &mut ChangeFeed,
) -> Result<()> {
    let mut order = Vec::new();
    let mut items: HashMap<String, Value> = HashMap::new();
    let mut gone = Vec::new();
    let mut add = |item: Value| {
        let id = text(&item, "id").to_owned();
        if items.insert(id.clone(), item).is_none() {
            order.push(id);
        }
    };
    // Messages that left the drafts.
    let mut left = Vec::new();
    for (folder, round) in rounds.followed {
        if folder == drafts {
            left.extend(round.gone.iter().cloned());
        }
        gone.extend(round.gone);
        round.items.into_iter().for_each(&mut add);
    }
    // A moved message is known in another folder, so it is new only if no folder knows it.
    let is_new = |item: &Value| {
        let (id, came) = (text(item, "id"), came(item));
        !known.is_empty() && known.values().all(|point| point.is_new(id, came))
    };
    // Of a newly followed folder, only messages that arrived or were moved there are changes.
    rounds
        .there
        .into_iter()
        .filter(|item| {
            let moved = gone.iter().any(|id| id == text(item, "id"));
            moved || is_new(item)
        })
        .for_each(add);
    // A moved message is removed from one folder and new in another.
    gone.retain(|id| !items.contains_key(id));
    gone.sort();
    gone.dedup();
    let was_draft = left.clone();
    // A draft that moved to another folder is already listed. Drafts in the trash, and other
    // messages, have to be looked up.
    left.retain(|id| !order.contains(id));
    order.extend(left.iter().take(LOOKED_FOR).cloned());
    order.extend(gone.iter().filter(|id| !left.contains(id)).take(LOOKED_FOR).cloned());
    let is_part = |id: &&String| {
        let item = items.get(*id);
        item.is_none_or(|item| select.iter().any(|key| item.get(key).is_none()))
    };
    let part: Vec<&String> = order.iter().filter(is_part).collect();
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
                if gone.contains(id)
                    && !left.contains(id)
                    && !found.names.contains_key(text(&whole, "parentFolderId")) => {}
            Ok(whole) => {
                items.insert(id.clone(), whole);
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                items.remove(id);
                gone.push(id.clone());
            }
            // It is reported with the properties that are known.
            Err(_) if items.contains_key(id) => {}
            Err(error) => return Err(error),
        }
    }
    gone.retain(|id| !items.contains_key(id));
    gone.sort();
    gone.dedup();
    let (drafts, gone) = gone.into_iter().partition(|id| left.contains(id));
    (found.gone_drafts, found.gone) = (drafts, gone);
    for id in order {
        let Some(item) = items.remove(&id) else {
            continue;
        };
        let difference = difference(&item, known, &found.names);
        if let Some(point) = points.get_mut(text(&item, "parentFolderId")) {
            point.tracked.put(&id, state(&item));
        }
        let draft = item.get("isDraft").and_then(Value::as_bool);
        let into = match (was_draft.contains(&id), draft) {
            (true, Some(false)) => &mut found.sent,
            (true, Some(true)) if left.contains(&id) => &mut found.deleted,
            _ if is_new(&item) => &mut found.new,
            // A change that was undone is not reported.
            _ if difference.as_ref().is_some_and(|one| one.words.is_empty()) => continue,
            _ => {
                found.differences.extend(difference.map(|one| (id, one)));
                &mut found.changed
            }
        };
        into.push(item);
    }
    Ok(())
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
