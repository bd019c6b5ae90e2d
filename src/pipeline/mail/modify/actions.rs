//! The verbs of `mail_modify` as steps of the port, each with the expected state of a message.
//!
//! Nothing is carried out here; see the parent module.

use std::collections::HashMap;

use daysheet_core::choice::WordChoice;
use daysheet_core::error::{Error, ErrorKind, Result};
use daysheet_core::ids::{AccountId, FolderId, MessageId};
use daysheet_core::provider::Mailbox;
use daysheet_core::provider::mail::{
    FolderKind, FolderRef, LabelLook, MailState, MessageAction, MessageFlag, SettingsChange,
};
use daysheet_core::query;
use daysheet_core::text::{Note, brief, note, quoted, quoted_list};
use jiff::Timestamp;

use crate::store::Store;
use crate::tools::mail::ModifyVerb;

/// One step of the port, and the state that it leads to.
#[derive(Debug, Clone)]
pub(super) struct PlannedAction {
    pub(super) step: MessageAction,
    expected: ExpectedState,
}

/// The expected state of a message after a step.
#[derive(Debug, Clone)]
enum ExpectedState {
    Unread(bool),
    Flag(MessageFlag),
    /// In this folder.
    In(FolderId),
    /// In none of these folders.
    OutOf(Vec<FolderId>),
    /// Under all labels of the first list and under none of the second, and not in that folder.
    Labelled {
        under: Vec<FolderId>,
        not_under: Vec<FolderId>,
        out_of: Option<FolderId>,
    },
    /// The earlier state, by the message's current id.
    Was(HashMap<MessageId, MailState>),
    /// No longer existing.
    Deleted,
    /// Copied, which no state shows.
    Copied,
}

/// The arguments in addition to the verb.
#[derive(Debug, Clone, Default)]
pub(crate) struct ActionArguments {
    pub(crate) to: Vec<String>,
    /// Labels that are removed in the same step.
    pub(crate) without: Vec<String>,
    pub(crate) create: bool,
    /// The argument that would have created a missing folder or label, if the call could have it.
    pub(crate) create_with: Option<&'static str>,
    pub(crate) due: Option<Timestamp>,
    pub(crate) dry_run: bool,
}

impl PlannedAction {
    /// Returns the action that restores these states.
    pub(super) fn put_back(states: Vec<MailState>) -> Self {
        let by_id = states.iter().map(|one| (one.id.clone(), one.clone()));
        Self {
            expected: ExpectedState::Was(by_id.collect()),
            step: MessageAction::RestoreState(states),
        }
    }

    /// Returns true if the message that had this id is in the expected state.
    pub(super) fn is_met_by(&self, id: &MessageId, state: &MailState) -> bool {
        match &self.expected {
            ExpectedState::Unread(unread) => state.unread == *unread,
            // A flag without a due date accepts any due date.
            ExpectedState::Flag(MessageFlag::Set { due: None }) => {
                matches!(state.flag, MessageFlag::Set { .. })
            }
            ExpectedState::Flag(flag) => state.flag == *flag,
            ExpectedState::In(folder) => state.folder == *folder,
            ExpectedState::OutOf(folders) => !folders.contains(&state.folder),
            ExpectedState::Labelled { under, not_under, out_of } => {
                under.iter().all(|one| state.labels.contains(one))
                    && !not_under.iter().any(|one| state.labels.contains(one))
                    && out_of.as_ref() != Some(&state.folder)
            }
            ExpectedState::Was(states) => states.get(id).is_some_and(|was| {
                (was.unread, &was.flag, &was.folder, &was.labels)
                    == (state.unread, &state.flag, &state.folder, &state.labels)
            }),
            // No state of an existing message shows these.
            ExpectedState::Deleted | ExpectedState::Copied => false,
        }
    }

    /// Returns true for a step that creates another copy whenever it is repeated.
    pub(super) fn is_copy(&self) -> bool {
        matches!(self.expected, ExpectedState::Copied)
    }

    /// Returns true if a message is in the expected state: `now` is its state, or
    /// `None` if it no longer exists.
    pub(super) fn is_done(&self, id: &MessageId, now: Option<&MailState>) -> bool {
        match (&self.expected, now) {
            (ExpectedState::Deleted, now) => now.is_none(),
            (ExpectedState::Copied, now) => now.is_some(),
            (_, Some(state)) => self.is_met_by(id, state),
            (_, None) => false,
        }
    }
}

/// Returns true for the verbs that need names in `to`.
fn needs_name(verb: ModifyVerb) -> bool {
    matches!(
        verb,
        ModifyVerb::Move
            | ModifyVerb::Copy
            | ModifyVerb::Label
            | ModifyVerb::Unlabel
            | ModifyVerb::Categorize
            | ModifyVerb::Uncategorize
    )
}

/// Splits the names in `to` into those to add, and those to remove, which begin with `-`. Only
/// verbs that add something have such names.
pub(super) fn signed(verb: ModifyVerb, names: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut add, mut remove) = (Vec::new(), Vec::new());
    for name in names {
        let removed = name.strip_prefix('-').map(str::trim).filter(|name| !name.is_empty());
        match removed {
            Some(removed)
                if matches!(
                    verb,
                    ModifyVerb::Move | ModifyVerb::Label | ModifyVerb::Categorize
                ) =>
            {
                remove.push(removed.to_owned());
            }
            _ => add.push(name.clone()),
        }
    }
    (add, remove)
}

/// Refuses arguments that contradict each other in any account.
pub(crate) fn check(verb: ModifyVerb, with: &ActionArguments) -> Result<()> {
    let word = verb.word();
    let is_removed = |name: &&String| {
        with.without.iter().any(|one| one.to_lowercase() == name.trim().to_lowercase())
    };
    if let Some(both) = with.to.iter().find(is_removed) {
        return Err(Error::argument(format!("{} is both added and removed", brief(both)))
            .next("name it once in `to`"));
    }
    match (needs_name(verb), with.to.as_slice()) {
        (true, []) if verb != ModifyVerb::Move && !with.without.is_empty() => Ok(()),
        (true, []) => Err(Error::argument(format!("do={word} needs `to`"))
            .next("give the folder's or label's name")),
        (true, [_, _, ..]) if matches!(verb, ModifyVerb::Move | ModifyVerb::Copy) => {
            Err(Error::argument(format!("do={word} takes one folder in `to`"))
                .next("call once per folder"))
        }
        (false, [_, ..]) => Err(Error::argument(format!("do={word} takes no `to`"))
            .next("leave it out, or use do=move, copy or label")),
        (false, []) if with.create => {
            Err(Error::argument(format!("do={word} takes no `create`")).next("leave it out"))
        }
        _ if with.due.is_some() && verb != ModifyVerb::Star => {
            Err(Error::argument(format!("do={word} takes no `due`")).next("use do=star"))
        }
        _ => Ok(()),
    }
}

/// A folder or label that was created for a change; in a dry run, one that would be.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct CreatedFolder {
    /// The provider's id; empty in a dry run.
    pub(crate) id: FolderId,
    pub(crate) name: String,
    /// True for a category: a label that is not a folder.
    pub(crate) category: bool,
    /// The levels above it that were created, too.
    pub(crate) above: Vec<String>,
}

impl CreatedFolder {
    /// Stores the levels above it, which are deleted with it while they are empty. If that fails,
    /// they only stay when the folder is deleted.
    pub(crate) async fn keep_levels(&self, store: &Store, account: &AccountId) {
        store.keep_created(account, &self.id, &self.above).await.ok();
    }

    /// Returns a note about it.
    pub(crate) fn note(&self) -> Note {
        let above = quoted_list(self.above.clone());
        match (self.id.is_empty(), self.above.is_empty()) {
            (true, true) => note!("{} would be created", quoted(&self.name)),
            (true, false) => {
                note!("{} would be created, and above it {}", quoted(&self.name), above)
            }
            (false, true) => note!("created {}", quoted(&self.name)),
            (false, false) => note!("created {}, and above it {}", quoted(&self.name), above),
        }
    }
}

/// Returns the levels above a new folder or label that are missing, the highest first.
pub(crate) async fn missing_above(
    mailbox: &dyn Mailbox,
    name: &str,
    kind: FolderKind,
) -> Vec<String> {
    // Categories have no levels.
    if kind == FolderKind::Label && !mailbox.capabilities().has_labels() {
        return Vec::new();
    }
    let same = |one: &str, other: &str| {
        query::place(one).to_lowercase() == query::place(other).to_lowercase()
    };
    let known = mailbox.names().await.unwrap_or_default();
    let name = name.trim().trim_matches('/');
    let above = name.match_indices('/').filter_map(|(at, _)| name.get(..at));
    above.filter(|above| !known.values().any(|one| same(one, above))).map(str::to_owned).collect()
}

/// Translates a verb into the steps of a mailbox. Folders and labels that were created for it
/// are added to `created`.
pub(super) async fn plan_actions(
    mailbox: &dyn Mailbox,
    verb: ModifyVerb,
    with: &ActionArguments,
    created: &mut Vec<CreatedFolder>,
) -> Result<Vec<PlannedAction>> {
    let can = mailbox.capabilities();
    let (step, expected) = match verb {
        ModifyVerb::Read => (MessageAction::Read(true), ExpectedState::Unread(false)),
        ModifyVerb::Unread => (MessageAction::Read(false), ExpectedState::Unread(true)),
        ModifyVerb::Star => {
            if !can.task_flags && with.due.is_some() {
                return Err(Error::argument(format!("{}'s stars have no due time", can.name))
                    .next("leave out `due`, or create an event with calendar_save"));
            }
            let flag = MessageFlag::Set { due: with.due };
            (MessageAction::Flag(flag.clone()), ExpectedState::Flag(flag))
        }
        ModifyVerb::Unstar => {
            (MessageAction::Flag(MessageFlag::None), ExpectedState::Flag(MessageFlag::None))
        }
        ModifyVerb::Done if !can.task_flags => {
            return Err(Error::argument(format!("{}'s stars cannot be marked done", can.name))
                .next("use do=unstar or do=archive"));
        }
        ModifyVerb::Done => {
            (MessageAction::Flag(MessageFlag::Done), ExpectedState::Flag(MessageFlag::Done))
        }
        ModifyVerb::Archive => return plan_folder_move(mailbox, FolderMove::Archive).await,
        ModifyVerb::Trash => return plan_folder_move(mailbox, FolderMove::Trash).await,
        ModifyVerb::Spam => return plan_folder_move(mailbox, FolderMove::Spam).await,
        ModifyVerb::Restore => return plan_folder_move(mailbox, FolderMove::Back).await,
        ModifyVerb::Move => return plan_move(mailbox, with, created).await,
        ModifyVerb::Copy => return plan_copy(mailbox, with, created).await,
        ModifyVerb::Label
        | ModifyVerb::Categorize
        | ModifyVerb::Unlabel
        | ModifyVerb::Uncategorize => return plan_labels(mailbox, verb, with, created).await,
        ModifyVerb::Delete => (MessageAction::Delete, ExpectedState::Deleted),
        ModifyVerb::Unsubscribe => {
            return Err(Error::new(ErrorKind::Internal, "unsubscribing is no step"));
        }
    };
    Ok(vec![PlannedAction { step, expected }])
}

/// Plans a move to the folder or label in `to`, which also removes labels.
async fn plan_move(
    mailbox: &dyn Mailbox,
    with: &ActionArguments,
    created: &mut Vec<CreatedFolder>,
) -> Result<Vec<PlannedAction>> {
    let can = mailbox.capabilities();
    let name = with.to.first().map_or("", String::as_str);
    let way = match query::place(name).as_str() {
        "inbox" => Some(FolderMove::Back),
        "archive" => Some(FolderMove::Archive),
        "trash" => Some(FolderMove::Trash),
        "spam" => Some(FolderMove::Spam),
        _ => None,
    };
    // Before a folder is created, so that a missing label leaves no new folder behind.
    let removed = find_removed(mailbox, with).await?;
    if let (true, Some(way)) = (can.has_labels(), way) {
        let mut actions = plan_folder_move(mailbox, way).await?;
        actions.extend(removal(removed));
        return Ok(actions);
    }
    let place = find(mailbox, name, FolderKind::Folder, with, created).await?;
    let Some(inbox) = can.system_label("inbox") else {
        let step = MessageAction::Move(place.id.clone());
        let moved = PlannedAction { step, expected: ExpectedState::In(place.id) };
        return Ok(std::iter::once(moved).chain(removal(removed)).collect());
    };
    let expected = ExpectedState::Labelled {
        under: vec![place.id.clone()],
        not_under: removed.clone(),
        out_of: Some(inbox.into()),
    };
    let step = if removed.is_empty() {
        MessageAction::Move(place.id)
    } else {
        // Here a move is a change of labels, too, so one request makes both.
        let away = ["inbox", "spam", "trash"].map(|word| can.system_label(word));
        let away = away.into_iter().flatten().map(FolderId::from);
        MessageAction::Label { add: vec![place.id], remove: away.chain(removed).collect() }
    };
    Ok(vec![PlannedAction { step, expected }])
}

/// Plans a copy to the folder or label in `to`.
async fn plan_copy(
    mailbox: &dyn Mailbox,
    with: &ActionArguments,
    created: &mut Vec<CreatedFolder>,
) -> Result<Vec<PlannedAction>> {
    let name = with.to.first().map_or("", String::as_str);
    let place = find(mailbox, name, FolderKind::Folder, with, created).await?;
    // Where folders are labels, a copy is the same message under another one, so its state
    // shows it.
    let expected = match mailbox.capabilities().system_label("inbox") {
        Some(_) => ExpectedState::Labelled {
            under: vec![place.id.clone()],
            not_under: Vec::new(),
            out_of: None,
        },
        None => ExpectedState::Copied,
    };
    Ok(vec![PlannedAction { step: MessageAction::Copy(place.id), expected }])
}

/// Plans a verb that adds or removes the labels in `to`.
async fn plan_labels(
    mailbox: &dyn Mailbox,
    verb: ModifyVerb,
    with: &ActionArguments,
    created: &mut Vec<CreatedFolder>,
) -> Result<Vec<PlannedAction>> {
    // Before a label is created, so that a refusal leaves no new label behind.
    let removed = find_removed(mailbox, with).await?;
    let named = find_labels(mailbox, &with.to, with, created).await?;
    Ok(vec![match verb {
        ModifyVerb::Label | ModifyVerb::Categorize => labelled(named, removed),
        _ => labelled(Vec::new(), named),
    }])
}

/// Returns the action that removes labels, if there are any.
fn removal(labels: Vec<FolderId>) -> Option<PlannedAction> {
    (!labels.is_empty()).then(|| labelled(Vec::new(), labels))
}

/// Returns the action that adds labels and removes others.
fn labelled(add: Vec<FolderId>, remove: Vec<FolderId>) -> PlannedAction {
    PlannedAction {
        step: MessageAction::Label { add: add.clone(), remove: remove.clone() },
        expected: ExpectedState::Labelled { under: add, not_under: remove, out_of: None },
    }
}

/// Returns the ids of labels, each once.
async fn find_labels(
    mailbox: &dyn Mailbox,
    names: &[String],
    with: &ActionArguments,
    created: &mut Vec<CreatedFolder>,
) -> Result<Vec<FolderId>> {
    let mut ids = Vec::new();
    for name in names {
        let place = find(mailbox, name, FolderKind::Label, with, created).await?;
        if !ids.contains(&place.id) {
            ids.push(place.id);
        }
    }
    Ok(ids)
}

/// Returns the ids of the labels to remove, which are never created.
async fn find_removed(mailbox: &dyn Mailbox, with: &ActionArguments) -> Result<Vec<FolderId>> {
    let existing = ActionArguments { create: false, create_with: None, ..with.clone() };
    find_labels(mailbox, &with.without, &existing, &mut Vec::new()).await
}

/// A move into or out of the folders that every mailbox has.
#[derive(Clone, Copy)]
enum FolderMove {
    Archive,
    Trash,
    Spam,
    Back,
}

/// Plans a move into or out of the folders that every mailbox has.
async fn plan_folder_move(mailbox: &dyn Mailbox, way: FolderMove) -> Result<Vec<PlannedAction>> {
    let can = mailbox.capabilities();
    let known = async |word: &str| match can.system_label(word) {
        Some(id) => Ok(FolderId::from(id)),
        None => mailbox.find_folder(word, FolderKind::Folder, false).await.map(|place| place.id),
    };
    let (step, expected) = match way {
        // A message outside the inbox is already archived, and one in the trash or in
        // spam stays there.
        FolderMove::Archive if can.has_labels() => {
            (MessageAction::Archive, ExpectedState::OutOf(vec![known("inbox").await?]))
        }
        FolderMove::Archive => (MessageAction::Archive, ExpectedState::In(known("archive").await?)),
        FolderMove::Trash => (MessageAction::Trash, ExpectedState::In(known("trash").await?)),
        FolderMove::Spam => (MessageAction::Spam, ExpectedState::In(known("spam").await?)),
        FolderMove::Back => {
            let mut away = Vec::new();
            for word in ["trash", "spam", "archive"] {
                away.push(known(word).await?);
            }
            (MessageAction::Untrash, ExpectedState::OutOf(away))
        }
    };
    Ok(vec![PlannedAction { step, expected }])
}

/// Finds the folder or label of a name; in a dry run, one that would be created has no id.
/// If it may be created, the error about a missing one says how.
pub(crate) async fn find(
    mailbox: &dyn Mailbox,
    name: &str,
    kind: FolderKind,
    with: &ActionArguments,
    created: &mut Vec<CreatedFolder>,
) -> Result<FolderRef> {
    // Mail can also be moved into the inbox; the other system labels are states.
    let inbox = name.trim().eq_ignore_ascii_case("inbox");
    let can = mailbox.capabilities();
    if can.has_labels() && (kind == FolderKind::Label || !inbox) {
        by_verb(name, kind, can.name)?;
    }
    let category = kind == FolderKind::Label && !can.has_labels();
    let create = with.create && !with.dry_run;
    let above = if with.create { missing_above(mailbox, name, kind).await } else { Vec::new() };
    match mailbox.find_folder(name, kind, create).await {
        Ok(place) => {
            if place.made {
                let (id, name) = (place.id.clone(), place.name.clone());
                created.push(CreatedFolder { id, name, category, above });
            }
            Ok(place)
        }
        Err(error) if with.create && with.dry_run && error.kind() == ErrorKind::NotFound => {
            let new_name = name.to_owned();
            let change = match kind {
                FolderKind::Folder => SettingsChange::CreateFolder { name: new_name },
                FolderKind::Label => {
                    SettingsChange::CreateCategory { name: new_name, look: LabelLook::default() }
                }
            };
            mailbox.rehearse(&change).await?;
            let (id, name) = (FolderId::default(), name.to_owned());
            created.push(CreatedFolder { id, name: name.clone(), category, above });
            Ok(FolderRef { id: FolderId::default(), name, made: true })
        }
        Err(error) => Err(match with.create_with {
            Some(argument) if error.kind() == ErrorKind::NotFound => {
                let instead = error.next_step().unwrap_or_default();
                let next = format!("{instead}; {argument} creates it");
                error.next(next)
            }
            _ => error,
        }),
    }
}

/// Refuses the provider's own labels that are states, which verbs change. Its categories and the
/// mark as important can be set, but messages cannot be moved there.
fn by_verb(name: &str, kind: FolderKind, provider: &str) -> Result<()> {
    let states = [
        ("inbox", "do=archive to take it out, do=move to=LABEL to also add one, or do=restore"),
        ("unread", "do=unread or do=read"),
        ("starred", "do=star or do=unstar"),
        ("trash", "do=trash or do=restore"),
        ("spam", "do=spam or do=restore"),
        ("sent", "a user label"),
        ("draft", "a user label"),
        ("drafts", "a user label"),
    ];
    let lower = name.trim().to_lowercase();
    let state = states.iter().find(|(word, _)| *word == lower);
    let is_mark = lower == "important" || lower.starts_with("category_");
    match state.map(|(_, instead)| *instead) {
        None if is_mark && kind == FolderKind::Folder => {
            Err(Error::argument(format!("`{lower}` is no folder at {provider}"))
                .next("use do=label or do=unlabel"))
        }
        None => Ok(()),
        Some(instead) => Err(Error::argument(format!("`{lower}` is not a user label"))
            .next(format!("use {instead}"))),
    }
}
