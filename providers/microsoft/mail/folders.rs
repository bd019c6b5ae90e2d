//! Outlook's tree of mail folders: their names, and which are in the trash.
//!
//! Graph lists one level at a time, so a tree costs one batch for the first level and the
//! well-known folders, and one for each further level. Well-known folders are named by the words of
//! [`PLACES`], whatever the mailbox's language, and other folders by path.

use std::collections::{HashMap, HashSet};

use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::query::{PLACES, place};
use daysheet_core::text::brief;
use serde_json::Value;

use crate::json::text;
use crate::microsoft::client::GraphAccount;
use crate::net;
use crate::similar;

/// Our words for well-known folders, and Graph's names, which serve as ids.
const KNOWN: &[(&str, &str)] = &[
    ("inbox", "inbox"),
    ("sent", "sentitems"),
    ("drafts", "drafts"),
    ("trash", "deleteditems"),
    ("spam", "junkemail"),
    ("archive", "archive"),
];
/// Graph's names of Outlook's other system folders, for which we have no word. Requested only for
/// lists of folders.
const OWN: &[&str] = &[
    "conversationhistory", "outbox", "syncissues", "conflicts", "localfailures", "serverfailures",
];
/// The key for a folder's kind (`system` or `user`), which Graph's objects lack.
pub const KIND: &str = "kind";
/// The maximum number of levels below the first that are read.
const DEPTH: usize = 16;
/// The maximum number of folders that are read; a note says if a mailbox has more.
const MAX_FOLDERS: usize = 5_000;
/// The maximum number of pages of the subfolders of one folder.
const PAGES: usize = 100;

/// The folders of a mailbox.
#[derive(Debug, Clone, Default)]
pub struct FolderTree {
    /// The folders depth first, with the inbox before its siblings.
    folders: Vec<OutlookFolder>,
    /// Folder id → well-known word, or else the path from the well-known word of the first folder
    /// on.
    names: HashMap<String, String>,
    /// Deleted Items (`trash`), Junk Email (`spam`) and the folders below them.
    hidden: HashMap<String, &'static str>,
    /// Outlook's other system folders, if they were requested.
    own: HashSet<String>,
    /// True if there are more folders than were read.
    cut: bool,
}

/// The folders above another folder.
#[derive(Debug, Clone, Default)]
struct ParentFolders {
    path: String,
    name: String,
    hidden: Option<&'static str>,
}

#[derive(Debug, Clone)]
struct OutlookFolder {
    id: String,
    /// Display names from the first level down.
    path: String,
    item: Value,
}

/// Returns Graph's name of a well-known folder, which works as an id.
pub fn well_known_id(place: &str) -> Option<&'static str> {
    let found = KNOWN.iter().find(|(word, _)| *word == place);
    found.map(|(_, name)| *name)
}

impl FolderTree {
    /// Reads the tree, with the additional properties in `select`.
    ///
    /// # Errors
    /// Graph's refusal of any part, except that a mailbox may lack well-known folders such as the
    /// archive.
    pub async fn load(graph: &GraphAccount, select: &[&str]) -> Result<Self> {
        let own = if select.is_empty() { &[] } else { OWN };
        let mut properties = vec!["id", "displayName", "childFolderCount", "isHidden"];
        properties.extend(select);
        let select = properties.join(",");
        let list = |path: &str| {
            // Messages may be in hidden folders, whose names are needed then.
            let query =
                [("$select", select.as_str()), ("$top", "100"), ("includeHiddenFolders", "true")];
            graph.mailbox_url(path, &query)
        };
        let mut first = vec![list("mailFolders")];
        first.extend(KNOWN.iter().map(|(_, name)| name).chain(own).map(|name| {
            let path = format!("mailFolders/{name}");
            graph.mailbox_url(&path, &[("$select", "id")])
        }));
        let mut answers = graph.batch(&first).await.into_iter();

        let mut level = vec![(None, answers.next().unwrap_or_else(|| Err(folders_missing()))?)];
        let (mut known, mut own_ids) = (HashMap::new(), HashSet::new());
        let words = KNOWN.iter().map(|(word, _)| Some(*word));
        for (word, answer) in words.chain(own.iter().map(|_| None)).zip(answers) {
            match (answer, word) {
                (Ok(folder), Some(word)) => {
                    known.insert(text(&folder, "id").to_owned(), word);
                }
                (Ok(folder), None) => {
                    own_ids.insert(text(&folder, "id").to_owned());
                }
                (Err(error), _) if error.kind() == ErrorKind::NotFound => {}
                (Err(error), _) => return Err(error),
            }
        }

        let mut found: Vec<(Option<usize>, Value)> = Vec::new();
        let mut cut = false;
        for depth in 0.. {
            let from = found.len();
            for (parent, page) in level {
                let room = MAX_FOLDERS.saturating_sub(found.len());
                let (mut items, whole) = graph.all(page, room, PAGES).await?;
                cut |= !whole || items.len() > room;
                items.truncate(room);
                found.extend(items.into_iter().map(|item| (parent, item)));
            }
            let parents: Vec<usize> = (from..found.len())
                .filter(|at| {
                    let count =
                        found.get(*at).and_then(|(_, item)| item.get("childFolderCount")?.as_u64());
                    count.is_some_and(|count| count > 0)
                })
                .collect();
            if parents.is_empty() {
                break;
            }
            if depth == DEPTH || found.len() >= MAX_FOLDERS {
                cut = true;
                break;
            }
            let requests: Vec<String> = parents
                .iter()
                .filter_map(|at| {
                    let id = net::path_segment(text(&found.get(*at)?.1, "id"));
                    Some(list(&format!("mailFolders/{id}/childFolders")))
                })
                .collect();
            level = Vec::new();
            for (parent, answer) in parents.into_iter().zip(graph.batch(&requests).await) {
                match answer {
                    Ok(page) => level.push((Some(parent), page)),
                    // It was deleted after the level above was read.
                    Err(error) if error.kind() == ErrorKind::NotFound => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(Self { own: own_ids, ..Self::grow(found, &known, cut) })
    }

    /// Orders folders, each given with the index of its parent.
    fn grow(
        found: Vec<(Option<usize>, Value)>,
        known: &HashMap<String, &'static str>,
        cut: bool,
    ) -> Self {
        let mut below: HashMap<Option<usize>, Vec<usize>> = HashMap::new();
        for (at, (parent, _)) in found.iter().enumerate() {
            below.entry(*parent).or_default().push(at);
        }
        let key = |at: &usize| {
            let item = found.get(*at).map(|(_, item)| item);
            let item = item.unwrap_or(&Value::Null);
            let rank = known
                .get(text(item, "id"))
                .and_then(|word| KNOWN.iter().position(|(known, _)| known == word));
            (rank.unwrap_or(KNOWN.len()), text(item, "displayName").to_lowercase())
        };
        for siblings in below.values_mut() {
            siblings.sort_by_cached_key(key);
        }
        let mut tree = Self { cut, ..Self::default() };
        let roots = below.remove(&None).unwrap_or_default();
        let mut open: Vec<(usize, ParentFolders)> =
            roots.into_iter().rev().map(|at| (at, ParentFolders::default())).collect();
        while let Some((at, ParentFolders { path: above, name: above_name, hidden })) = open.pop() {
            let Some((_, item)) = found.get(at) else {
                continue;
            };
            let id = text(item, "id").to_owned();
            let own = text(item, "displayName");
            let below_of = |above: &str| match above {
                "" => own.to_owned(),
                above => format!("{above}/{own}"),
            };
            let path = below_of(&above);
            let word = known.get(&id).copied();
            let hidden = hidden.or(word.filter(|word| matches!(*word, "trash" | "spam")));
            if let Some(word) = hidden {
                tree.hidden.insert(id.clone(), word);
            }
            let name = word.map_or_else(|| below_of(&above_name), str::to_owned);
            tree.names.insert(id.clone(), name.clone());
            let children = below.remove(&Some(at)).unwrap_or_default();
            let children = children.into_iter().rev();
            let parent = ParentFolders { path: path.clone(), name, hidden };
            open.extend(children.map(|child| (child, parent.clone())));
            tree.folders.push(OutlookFolder { id, path, item: item.clone() });
        }
        tree
    }

    /// Returns folder id → name in rows: a well-known word, or the display names joined by `/` from
    /// the word of the first folder on, if it has one.
    pub fn names(&self) -> &HashMap<String, String> {
        &self.names
    }

    /// Returns true for Deleted Items, Junk Email and folders below them.
    pub fn is_hidden(&self, id: &str) -> bool {
        self.hidden.contains_key(id)
    }

    /// Returns true for Deleted Items and folders below it.
    pub fn is_deleted(&self, id: &str) -> bool {
        self.hidden.get(id) == Some(&"trash")
    }

    /// Returns true if there are more folders than were read.
    pub fn is_cut(&self) -> bool {
        self.cut
    }

    /// Returns true if [`FolderTree::items`] omits empty system folders, which mail is not searched
    /// in.
    pub fn leaves_out_own(&self) -> bool {
        let is_left_out =
            |folder: &OutlookFolder| self.own.contains(&folder.id) && is_empty(folder);
        self.folders.iter().any(is_left_out)
    }

    /// Returns the folders that Outlook shows, as Graph's objects with [`KIND`]. System folders
    /// without a word of ours are included only if they contain messages.
    pub fn items(&self) -> Vec<Value> {
        let is_shown =
            |folder: &&OutlookFolder| folder.item.get("isHidden") != Some(&Value::Bool(true));
        let shown = self.folders.iter().filter(is_shown).filter_map(|folder| {
            let name = self.names.get(&folder.id)?;
            let is_own = self.own.contains(&folder.id);
            if is_own && is_empty(folder) {
                return None;
            }
            let is_system = is_own || PLACES.contains(&name.as_str());
            let mut item = folder.item.clone();
            let kind = if is_system { "system" } else { "user" };
            item.as_object_mut()?.insert(KIND.to_owned(), kind.into());
            Some(item)
        });
        shown.collect()
    }

    /// Returns the id of the folder called `requested`: an id, a well-known word, a path, or
    /// a name that only one folder has.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`], or [`ErrorKind::Argument`] with the paths to choose from.
    pub fn resolve(&self, requested: &str) -> Result<&str> {
        self.find(requested, &|folder| same_name(text(&folder.item, "displayName"), requested))
    }

    /// Returns the id of the folder at a path, which may also be an id or a well-known word.
    ///
    /// # Errors
    /// See [`FolderTree::resolve`].
    pub fn at_path(&self, requested: &str) -> Result<&str> {
        self.find(requested, &|_| false)
    }

    /// Returns the id of the folder named `requested`, or of the one that `otherwise` accepts.
    fn find(&self, requested: &str, otherwise: &dyn Fn(&OutlookFolder) -> bool) -> Result<&str> {
        let word = place(requested);
        let requested_name = match requested.split_once('/') {
            Some((first, rest)) => format!("{}/{rest}", place(first)),
            None => word.clone(),
        };
        let is_place = PLACES.contains(&word.as_str());
        let tests: [&dyn Fn(&OutlookFolder) -> bool; 4] = [
            &|folder| folder.id == requested,
            &|folder| is_place && self.names.get(&folder.id) == Some(&word),
            &|folder| {
                let name = self.names.get(&folder.id);
                same_name(&folder.path, requested)
                    || name.is_some_and(|name| same_name(name, &requested_name))
            },
            otherwise,
        ];
        for test in tests {
            let found: Vec<&OutlookFolder> =
                self.folders.iter().filter(|folder| test(folder)).collect();
            match found.as_slice() {
                [] => {}
                [one] => return Ok(&one.id),
                several => return Err(ambiguous(requested, several)),
            }
        }
        let names = self.names.values().map(String::as_str);
        Err(Error::new(ErrorKind::NotFound, format!("there is no folder `{}`", brief(requested)))
            .next(similar::instead(requested, names, "folders")))
    }
}

fn is_empty(folder: &OutlookFolder) -> bool {
    folder.item.get("totalItemCount") == Some(&0.into())
}

fn ambiguous(requested: &str, several: &[&OutlookFolder]) -> Error {
    let mut paths: Vec<&str> = several.iter().map(|folder| folder.path.as_str()).collect();
    paths.dedup();
    let shown: Vec<String> = paths.iter().take(8).map(|path| brief(path)).collect();
    let error =
        Error::argument(format!("{} folders are called `{}`", several.len(), brief(requested)));
    if paths.len() < several.len() {
        return error.next("give a handle from lookup kind=folders");
    }
    error.next(format!("name one by its path: {}", shown.join(", ")))
}

fn folders_missing() -> Error {
    Error::new(ErrorKind::Internal, "the answer with the folders is missing")
}

/// Returns true for equal names, ignoring case.
fn same_name(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}
